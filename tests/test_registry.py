"""Audit: whatever is public is documented, tested, in the table, and in its place in the tree."""

import ast
import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_okl
from sklearn_okl import all_estimators
from tests.instances import ARGUMENTS, arguments_of

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "sklearn_okl"
# A module imports from the layers before its own, and not from its neighbours.
LAYERS = [
    {"_literature"},
    {
        *("_linalg", "_validation", "_documentation", "_delay"),
        *(
            "_archives",
            "_part_files",
            "_plain_types",
            "_types",
            "_values",
            "_prediction_frames",
            "_sentences",
        ),
    },
    {"_tail", "_citation", "_squeezed"},
    {"inspection"},
    {"kernels", "losses"},
    {"dictionaries", "feedback"},
    {"base"},
    {"features", "learners"},
    {"aggregators"},
    {"conformal"},
    {"algorithms", "meta"},
    {"series"},
    {"untuned"},
    {"_flow", "_delegating", "_model_parts"},
    {"_named_steps", "_flow_rows", "_warm_up"},
    {"pipeline"},
    {"_model_shapes"},
    {"_model_trials"},
    {"_model_checks"},
    {"_persistence"},
    {"keyed"},
    {"evaluation", "datasets", "sktime"},
]
FLOORS = ["rows", "experts", "rounds"]  # of untuned, each on those before


def test_arguments_of_instances_are_said_in_one_place_and_are_parameters():
    found = dict(all_estimators())
    assert set(ARGUMENTS) <= set(found)
    for name, class_ in found.items():
        said = vars(class_).get("_test_parameters")
        assert said is None or name not in ARGUMENTS, f"{name} is listed and says its own"
        for arguments in arguments_of(class_):
            assert set(arguments) <= set(inspect.signature(class_).parameters), name


def test_public_names_are_there():
    assert len(set(sklearn_okl.__all__)) == len(sklearn_okl.__all__)
    for name in sklearn_okl.__all__:
        assert hasattr(sklearn_okl, name)


@pytest.mark.parametrize(("name", "class_"), all_estimators())
def test_docstrings(name, class_):
    doc = inspect.getdoc(class_)
    sections = ["Parameters"] if inspect.signature(class_).parameters else []
    sections += ["Attributes", "Notes", "References", "Examples", "See Also"]
    missing = [section for section in sections if f"\n{section}\n---" not in doc]
    assert not missing, f"{name}'s docstring lacks {missing}"
    assert "*Cost.*" in doc, f"{name}'s Notes do not say what a round costs"
    for parameter in inspect.signature(class_).parameters:
        assert f"\n{parameter} : " in doc, f"{name}'s docstring does not describe {parameter!r}"
    for method in ("fit", "partial_fit", "prequential_predict", "predict", "transform"):
        if hasattr(class_, method):
            assert inspect.getdoc(getattr(class_, method)), f"{name}.{method} has no docstring"


@pytest.mark.parametrize(("name", "class_"), all_estimators())
def test_inheritance_is_shallow_and_no_named_class_has_heirs(name, class_):
    public = {other for _, other in all_estimators()}
    bases = [base for base in class_.__mro__[1:] if base.__module__.startswith("sklearn_okl")]
    assert not public & set(bases), f"{name} inherits another named algorithm"
    families = [base for base in bases if not base.__module__.startswith("sklearn_okl.base")]
    assert len(families) <= 2, f"{name} has more than a family and its branch below the shell"


def layer_of(module):
    (level,) = [level for level, names in enumerate(LAYERS) if module in names]
    return level


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    "path", sorted(PACKAGE.rglob("*.py")), ids=lambda p: str(p.relative_to(PACKAGE))
)
def test_imports_point_one_way(path):
    inside = path.relative_to(PACKAGE)
    mine = inside.parts[0].removesuffix(".py")
    if mine == "__init__":
        return
    modules = set().union(*LAYERS)
    for node in ast.walk(ast.parse(path.read_text())):
        targets = []
        if isinstance(node, ast.ImportFrom):
            module = (node.module or "").split(".")
            if node.level == len(inside.parts):
                targets = [module[0]] if node.module else [alias.name for alias in node.names]
            elif module[0] == "sklearn_okl" and len(module) > 1:
                targets = [module[1]]
        for target in modules.intersection(targets) - {mine}:
            assert layer_of(target) < layer_of(mine), f"{inside} imports from {target}"


@pytest.mark.parametrize("floor", FLOORS)
def test_a_floor_stands_on_those_below(floor):
    above = FLOORS[FLOORS.index(floor) + 1 :]
    files = [*(PACKAGE / "untuned" / floor).glob("*.py")]
    assert len(files) > 5
    for path in files:
        imported = re.findall(r"^from \.\.(\w+)[. ]", path.read_text(encoding="utf-8"), re.M)
        assert not set(above) & set(imported), f"{floor}/{path.name}"


@pytest.mark.long
def test_no_two_classes_have_one_name():
    """At fe656ae six names are those of two classes, `TargetFence` among them."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, []).append(str(path.relative_to(PACKAGE)))
    assert not {name: files for name, files in found.items() if len(files) > 1}


def test_the_figure_of_the_layers_is_that_of_the_imports():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    figure = text.split("## What stands on what")[1].split("```")[1].split("\n", 1)[1]
    top_down = [set(line.split()) for line in figure.splitlines() if line.strip()]
    assert top_down == [{"__init__"}, *reversed(LAYERS)]


def test_the_tree_in_the_documentation_names_every_file():
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    tree = text.split("## The tree")[1].split("```")[1]
    told = {}  # by folder or file at the top, the modules named there
    for line in tree.splitlines()[2:]:
        entry = re.match(r"[├└]── ([\w.]+)", line)
        if entry:
            named = told[entry[1]] = set()
        named.update(re.findall(r"(?<!\w)_[a-z]\w*", line))
    folders = {path.name: path for path in PACKAGE.iterdir() if (path / "__init__.py").exists()}
    for name, path in folders.items():
        files = {file.stem for file in path.rglob("*.py")} - {"__init__"}
        assert told.pop(name) == files, f"of {name}"
    assert set(told) == {path.name for path in PACKAGE.glob("*.py")}


def modules_after(code):
    """Return the modules that a fresh interpreter has loaded after some imports."""
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {code}; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


@pytest.mark.long
def test_import_loads_nothing_but_linear_models_and_ourselves():
    # NumPy's hints are loaded by all versions of SciPy but the oldest that is supported
    before = modules_after("sklearn.linear_model, joblib, numpy.typing")
    more = {name.split(".")[0] for name in modules_after("sklearn_okl") - before}
    assert more - sys.stdlib_module_names == {"sklearn_okl"}


@pytest.mark.long
def test_no_part_loads_what_only_some_of_its_names_need():
    # some versions of scikit-learn and SciPy load pandas by themselves
    before = modules_after("sklearn.utils.validation, scipy.stats")
    after = modules_after("sklearn_okl, sklearn_okl.evaluation, sklearn_okl.datasets")
    seldom = {"matplotlib", "pandas", "tqdm", "skops", "dask", "scipy.signal", "sqlite3"}
    assert sorted(seldom & (after - before)) == []


@pytest.mark.long
def test_families_in_the_readme_are_up_to_date_and_every_estimator_has_a_row():
    script = ROOT / "docs" / "make_table.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)
    page = (ROOT / "docs" / "algorithms.md").read_text(encoding="utf-8")
    assert "{{ algorithms }}" in page  # the table itself is made when the page is built


@pytest.mark.long
def test_the_readme_runs_as_it_stands(tmp_path, monkeypatch):
    pytest.importorskip("skops")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = [part.split("```")[0] for part in text.split("```python")[1:]]
    names = {}
    for block in blocks:
        exec(block, names)  # the README's own code
    assert names["resumed"].predict(names["X"]).shape == names["y"].shape


# Parameters and attributes that mean the same in every class: their type and their first sentence.
SAME_EVERYWHERE = (
    *("n_features_in_", "feature_names_in_", "n_samples_seen_", "random_state", "n_jobs"),
    *("quantile", "coef0", "probabilities_", "kernel_index_", "prior_weights", "fallback"),
)


@pytest.mark.parametrize("name", SAME_EVERYWHERE)
def test_equal_parameters_have_equal_words(name):
    words = {}
    for estimator, class_ in all_estimators():
        entry = re.search(rf"^{name} : (.*(?:\n {{4}}.+)+)", inspect.getdoc(class_), re.MULTILINE)
        if entry:
            kind, text = entry[1].split("\n", 1)
            sentence = re.match(r".*?\.(?= |$)", " ".join(text.split()))[0]
            words.setdefault((kind, sentence), []).append(estimator)
    assert len(words) == 1, words
