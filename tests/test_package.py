"""What packagers read: one version everywhere, and the same promises in every file."""

import re
import subprocess
import sys
import tomllib
from importlib import import_module, metadata
from inspect import isclass, isroutine, signature, unwrap
from pathlib import Path

import pytest

import sklearn_okl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = dict(text.split(">=") for text in PROJECT["dependencies"])


def test_the_version_is_that_of_pyproject():
    said = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1]
    assert said == PROJECT["version"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changes, re.M)[1] == PROJECT["version"]
    assert sklearn_okl.__version__ == metadata.version("sklearn_okl")
    hint = "the environment has another one: run `pip install -e .` once more"
    assert sklearn_okl.__version__ == PROJECT["version"], hint


def test_the_python_versions_promised_are_those_tested():
    promised = [
        entry.rsplit(" ", 1)[1]
        for entry in PROJECT["classifiers"]
        if re.search(r":: 3\.\d+$", entry)
    ]
    assert PROJECT["requires-python"] == f">={promised[0]}"
    workflow = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    (tested,) = re.findall(r"python: (\[.*\])", workflow)
    assert re.findall(r"[\d.]+", tested) == promised


def test_the_oldest_dependencies_are_those_promised():
    done = subprocess.run(
        [sys.executable, str(ROOT / ".ci" / "oldest.py")],
        capture_output=True,
        text=True,
        check=True,
    )
    pins = dict(line.split("==") for line in done.stdout.split() if "==" in line)
    assert OLDEST.items() <= pins.items()
    assert pins["pandas"]


def test_the_conda_recipe_builds_the_sdist_of_this_version():
    jinja2, yaml = pytest.importorskip("jinja2"), pytest.importorskip("yaml")
    folder = ROOT / ".ci" / "conda"

    def load_file_data(path, from_recipe_dir):
        assert from_recipe_dir
        return tomllib.loads((folder / path).read_text(encoding="utf-8"))

    template = jinja2.Template((folder / "meta.yaml").read_text(), undefined=jinja2.StrictUndefined)
    recipe = yaml.safe_load(template.render(load_file_data=load_file_data, PYTHON="python"))
    assert recipe["package"] == {"name": "sklearn_okl", "version": PROJECT["version"]}
    archive = (folder / recipe["source"]["path"]).resolve()
    assert archive == ROOT / "dist" / f"sklearn_okl-{PROJECT['version']}.tar.gz"
    assert set(PROJECT["dependencies"]) < set(recipe["requirements"]["run"])
    for path in recipe["test"]["source_files"]:
        assert (ROOT / path).exists()


MODULES = [
    "base",
    "conformal",
    "datasets",
    "evaluation",
    "feedback",
    "inspection",
    "kernels",
    "losses",
    "untuned",
]


def public_things():
    """Yield the public classes and functions with their full names."""
    for module in [sklearn_okl, *(import_module(f"sklearn_okl.{name}") for name in MODULES)]:
        for name in getattr(module, "__all__", dir(module)):
            thing = getattr(module, name)
            ours = getattr(thing, "__module__", "").startswith("sklearn_okl")
            if ours and not name.startswith("_") and (isclass(thing) or isroutine(thing)):
                yield f"{module.__name__}.{name}", thing


def functions_of(thing):
    """Yield what is public and written here of a class, or the function itself."""
    if not isclass(thing):
        yield unwrap(thing)
        return
    for name in dir(thing):
        owner = next((base for base in thing.__mro__ if name in vars(base)), object)
        if owner.__module__.startswith("sklearn_okl") and (name == "__init__" or name[0] != "_"):
            member = vars(owner)[name]
            member = getattr(member, "fget", None) or getattr(member, "fn", member)
            if isroutine(member) and unwrap(member).__module__.startswith("sklearn_okl"):
                yield unwrap(getattr(member, "__func__", member))


@pytest.mark.parametrize(("name", "thing"), list(public_things()))
def test_public_signatures_have_hints(name, thing):
    missing = []
    for function in functions_of(thing):
        hints = function.__annotations__
        given = [name for name in signature(function).parameters if name not in ("self", "cls")]
        missing += [f"{function.__qualname__}({name})" for name in given if name not in hints]
        if "return" not in hints:
            missing.append(f"{function.__qualname__} -> ?")
    assert not missing, f"{name}: no hints for {missing}"


def test_types_are_declared():
    assert (ROOT / "sklearn_okl" / "py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]


def test_the_paper_has_the_form_that_its_journal_asks_for():
    folder = ROOT / "docs" / "paper"
    _, head, text = (folder / "paper.md").read_text(encoding="utf-8").split("---\n", 2)
    for field in "title", "tags", "authors", "affiliations", "date", "bibliography":
        assert re.search(rf"^{field}:", head, re.M)
    headings = re.findall(r"^# (.*)$", text, re.M)
    asked = ["Summary", "Statement of need", "State of the field", "Software design"]
    asked += ["Research impact statement", "AI usage disclosure", "Acknowledgements", "References"]
    assert headings == asked
    assert 750 <= len(text.split()) <= 1750
    for rival in "River", "MAPIE", "statsforecast":
        assert f"*{rival}* [@" in text
    entries = re.findall(r"^@\w+\{(\w+),", (folder / "paper.bib").read_text("utf-8"), re.M)
    assert sorted(entries) == sorted(set(re.findall(r"@(\w+)", text)))
