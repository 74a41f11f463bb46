"""The documentation: examples, reference and links, cheaply; its build where Sphinx is there."""

import ast
import doctest
import importlib.util
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_okl
from sklearn_okl import datasets, evaluation

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
EXAMPLES = sorted((DOCS / "examples").glob("*.py"))
GENERATED = {"_build", "api", "auto_examples"}  # at build time, not in a clone
PAGES = [
    path
    for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]
    if not GENERATED & set(path.relative_to(ROOT).parts)
]


@pytest.fixture(scope="module")
def make_reference():
    sys.path.insert(0, str(DOCS))  # it imports its neighbour make_table
    try:
        spec = importlib.util.spec_from_file_location("make_reference", DOCS / "make_reference.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(DOCS))
    return module


def code_of(page):
    return "\n".join(re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.S))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_that_a_page_includes_is_there(page):
    text = page.read_text(encoding="utf-8")
    for path, options in re.findall(r"```\{literalinclude\} (\S+)\n(.*?)```", text, re.S):
        source = (page.parent / path).read_text(encoding="utf-8")
        first, last = re.findall(r':(?:start|end)-at: "(.*)"', options)
        assert source.count(first) == 1, f"{page.name} includes from {first!r} on"
        assert last in source.split(first)[1], f"{page.name} includes up to {last!r}"


def test_the_page_on_extending_shows_all_that_the_base_lets_a_class_set():
    source = (ROOT / "sklearn_okl" / "base" / "_estimator.py").read_text(encoding="utf-8")
    shown = source.split("# what parameters may be")[1].split("_poor_score = False")[0]
    for name in "_parameter_constraints", "_multi_output", "_allow_nan", "_learns_banks":
        assert f"    {name} = " in shown
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    for name in "_structural", "_validate()", "_fault_of_loss(loss)":  # of its bases, or methods
        assert f"`{name}`" in page


def test_there_are_examples():
    assert len(EXAMPLES) >= 8


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_compile_and_import_public_names(path):
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    title, underline = ast.get_docstring(tree).splitlines()[:2]
    assert set(underline) == {"="}, "an example's docstring begins with a title"
    assert len(underline) >= len(title)
    assert path.stem.startswith("plot_"), "or the gallery would not run it"
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn_okl"):
            module = importlib.import_module(node.module)
            for alias in node.names:
                assert hasattr(module, alias.name), f"{path.name} imports {alias.name}"
        if isinstance(node, ast.Attribute) and getattr(node.value, "id", None) == "okl":
            assert hasattr(sklearn_okl, node.attr), f"{path.name} uses {node.attr}"


def test_every_public_name_is_in_the_reference(make_reference):
    text = make_reference.reference()
    listed = {}
    for title, module, names in make_reference.sections():
        listed.setdefault(module, []).extend(names)
        heading = f"{title}\n{'-' * len(title)}"
        section = text.split(heading)[1].split("\n---")[0]
        for name in names:
            assert re.search(rf"(   |py:data:: ){name}\n", section), f"{name} is not listed"
    assert sorted(listed["sklearn_okl"]) == sorted(sklearn_okl.__all__)
    assert sorted(listed["sklearn_okl.evaluation"]) == sorted(evaluation.__all__)
    assert sorted(listed["sklearn_okl.datasets"]) == sorted(datasets.__all__)
    assert {"kernel_matrix", "paper_kernel_grid"} <= set(listed["sklearn_okl.kernels"])
    assert "get_loss" in listed["sklearn_okl.losses"]


def test_the_reference_shows_the_verbs_and_nothing_of_scikit_learns(make_reference):
    methods = make_reference.methods()
    verbs = ["fit", "partial_fit", "prequential_predict", "predict"]
    assert methods["sklearn_okl.VAWRegressor"][:4] == verbs
    assert "predict_experts" in methods["sklearn_okl.VAW2Regressor"]
    assert "get_params" in methods["sklearn_okl.ExpertsRegressor"]  # its own
    assert not {"score", "set_params"} & set(methods["sklearn_okl.VAWRegressor"])
    assert not [m for found in methods.values() for m in found if m.endswith("_request")]


def test_a_new_class_gets_its_page_without_being_listed(make_reference, monkeypatch):
    class NewRegressor:
        pass

    monkeypatch.setattr(sklearn_okl, "NewRegressor", NewRegressor, raising=False)
    monkeypatch.setattr(sklearn_okl, "__all__", [*sklearn_okl.__all__, "NewRegressor"])
    assert "\n   NewRegressor\n" in make_reference.reference()


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"[a-z]+:|#", target):
            continue
        goal = (path.parent / target.split("#")[0]).resolve()
        if goal.parent == DOCS / "auto_examples":
            script = DOCS / "examples" / f"{goal.stem}.py"
            goal = DOCS / "examples" if goal.stem == "index" else script
        if goal.parent == DOCS / "api":
            continue  # generated; the build complains of what is missing
        assert goal.exists(), f"{path.name} links to {target}"


def test_classes_in_prose_are_public():
    for path in PAGES:
        text = path.read_text(encoding="utf-8")
        for module, name in re.findall(r"\{(?:class|func)\}`~(sklearn_okl[.\w]*)\.(\w+)`", text):
            # what is announced but not there yet is in the table of algorithms
            there = hasattr(importlib.import_module(module), name)
            assert there or name in (DOCS / "make_table.py").read_text(), f"{path.name}: {name}"


def test_the_glossary_has_the_words_of_the_code(monkeypatch):
    monkeypatch.syspath_prepend(str(DOCS))
    make_glossary = importlib.import_module("make_glossary")
    assert len(make_glossary.WORDS) >= 20
    for word, (meaning, _, file) in make_glossary.WORDS.items():
        path = ROOT / "sklearn_okl" / "untuned" / file
        code = path.read_text(encoding="utf-8").lower()
        assert re.search(rf"(?<![a-z]){word}s?(?![a-z])", code), f"{word!r} is not in {file}"
        assert f"| **{word}** | {meaning} |" in make_glossary.glossary()


RUN = {
    "index.md": "",
    "getting_started.md": "skops",
    "extending.md": "matplotlib",
    "files.md": "skops",
    "explaining.md": "",
    "many_devices.md": "skops",
    "questions.md": "",
    "coming_from_opera.md": "",
    "coming_from_river.md": "",
    "coming_from_sklearn.md": "",
    "day_ahead.md": "",
    "verified.md": "",
    "theory/first_lecture.md": "",
}


@pytest.mark.long
@pytest.mark.parametrize("page", RUN)
def test_pages_run_as_they_stand(page, tmp_path):
    if RUN[page]:
        pytest.importorskip(RUN[page])
    (tmp_path / "page.py").write_text(code_of(DOCS / page), encoding="utf-8")
    command = [sys.executable, "-W", "error", "page.py"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_every_page_with_code_is_run():
    pages = [path for path in DOCS.rglob("*.md") if path in PAGES and code_of(path)]
    with_code = {path.relative_to(DOCS).as_posix() for path in pages}
    assert with_code == set(RUN)
    conf = (DOCS / "conf.py").read_text(encoding="utf-8")
    listed = re.findall(r"^pages_that_run \+?= (.*)$", conf, re.M)
    assert {f"{name}.md" for part in listed for name in ast.literal_eval(part)} == set(RUN)


def test_what_code_prints_is_shown_below_it():
    spec = importlib.util.spec_from_file_location("show_outputs", DOCS / "show_outputs.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    page = (
        "A\n\n```python\nx = 2\n```\n\nB\n\n```python\nprint(x, 'twice')\nprint(2 * x)\n```\n\nC\n"
    )
    shown = module.run(page)
    assert shown.startswith(page[: page.index("\nC")])
    assert "```{code-block} none\n:class: output\n\n2 twice\n4\n```\n" in shown
    assert shown.count("code-block") == 1


def script(name):
    """Import one of the documentation's own scripts."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


check_pages, check_links = script("check_pages"), script("check_links")


@pytest.mark.parametrize("words", check_pages.SOUGHT)
def test_what_is_sought_stands_in_a_heading(words):
    text = (DOCS / f"{check_pages.SOUGHT[words]}.md").read_text(encoding="utf-8")
    sections = re.split(r"^##? ", text, flags=re.M)[1:]
    answers = [section for section in sections if words in section.split("\n")[0].lower()]
    assert len([section for section in answers if len(section.split()) > 30]) == 1


def test_links_of_pages_that_lead_nowhere_are_found(tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "other.html").write_text('<h1 id="here">Here</h1><a name="there"></a>')
    links = "../other.html#here", "../other.html#there", "#me", "https://example.org/no", "?q=1"
    lost = "../other.html#nowhere", "gone.html", "../../outside.html", "#you"
    page = "".join(f'<a href="{link}">link</a>' for link in (*links, *lost))
    (tmp_path / "folder" / "page.html").write_text(f'<p id="me">{page}<img src="no.png"></p>')
    faults = "".join(check_links.broken(tmp_path))
    assert all(link in faults for link in (*lost, "no.png"))
    assert faults.count("folder/page.html") == 5
    assert check_links.main(tmp_path) == 1
    assert "2 pages: 5 local links lead nowhere" in capsys.readouterr().out


@pytest.mark.long
def test_faults_of_pages_are_found(tmp_path, capsys):
    if reason := check_pages.missing():
        pytest.skip(reason)
    head = '<!doctype html><html lang="en"><title>A page</title><body style="background: white">'
    pale, wide = "<p style='color: #bbb'>pale</p>", "<p style='width: 900px'>wide</p>"
    (tmp_path / "bad.html").write_text(f"{head}{pale}{wide}<img src='data:,'>")
    (tmp_path / "good.html").write_text(f"{head}<p>dark</p><img src='data:,' alt='nothing'>")
    (tmp_path / "later.html").write_text(f"{head}<p>dark</p>{pale}")  # looks as one before
    assert check_pages.run(tmp_path, pages=["bad", "good", "later"]) == 5
    printed = capsys.readouterr().out
    assert "bad.html at 420: 9" in printed  # pixels
    assert printed.count("color-contrast, 1 times: <p style") == 2
    assert printed.count("image-alt, 1 times: <img") == 2
    assert "3 pages at 1400 and 420 pixels: 5 faults" in printed


def test_pages_are_looked_at_where_there_is_a_browser(monkeypatch, capsys):
    monkeypatch.setattr(check_pages, "missing", lambda: "There is no Chromium.")
    assert check_pages.main([]) == 0
    assert capsys.readouterr().out == "Skipped. There is no Chromium.\n"
    monkeypatch.undo()
    assert "not installed" in check_pages.missing(["no_such_package"])
    monkeypatch.delenv("CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", "")
    assert "no Chromium" in check_pages.missing([])
    monkeypatch.setenv("CHROMIUM", "/usr/bin/a-browser")
    assert check_pages.missing([]) is None


@pytest.mark.parametrize("page", RUN)
def test_pages_import_public_names_alone(page):
    for node in ast.walk(ast.parse(code_of(DOCS / page))):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn_okl"):
            public = importlib.import_module(node.module)
            names = getattr(public, "__all__", dir(public))
            private = [part for part in node.module.split(".") if part.startswith("_")]
            private += [alias.name for alias in node.names if alias.name not in names]
            assert not private, f"{page} imports {private} from {node.module}"


@pytest.mark.slow
def test_the_documentation_builds(full_size, tmp_path):
    if not full_size:
        pytest.skip("the documentation takes a minute to build: set OKL_FULL=1")
    for package in ("sphinx", "sphinx_gallery", "numpydoc", "myst_parser", "pydata_sphinx_theme"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install -e '.[docs]'")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, str(DOCS), str(tmp_path / "html")], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    for page in ("index", "choosing", "theory/vovk", "api/sklearn_okl.VAWRegressor"):
        assert (tmp_path / "html" / f"{page}.html").exists()
    for name in "Regressor", "Classifier":  # what a class says of an attribute is not lost
        page = tmp_path / "html" / "api" / f"sklearn_okl.OnlineKernel{name}.html"
        assert "mean_loss" in page.read_text(encoding="utf-8")
    assert check_links.main(tmp_path / "html") == 0
    assert check_pages.main([str(tmp_path / "html")]) == 0  # says so where there is no browser


METHODS = list(
    dict.fromkeys(
        method
        for _, class_ in sklearn_okl.all_estimators()
        for base in class_.__mro__
        if base.__module__.startswith("sklearn_okl")
        for method in vars(base).values()
        if inspect.isroutine(method) and ">>>" in (method.__doc__ or "")
    )
)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.__qualname__)
def test_examples_of_methods_run(method):
    # pytest collects those of the classes where these are public, and their methods nowhere
    (found,) = doctest.DocTestFinder().find(method, globs={})
    assert doctest.DocTestRunner().run(found).failed == 0


def test_there_are_examples_of_methods():
    assert sklearn_okl.VAWRegressor.merge in METHODS
