"""What packagers read: one version everywhere, and the same promises in every file."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest

import sklearn_okl

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST = dict(text.split(">=") for text in PROJECT["dependencies"])


def test_the_version_is_that_of_pyproject():
    said = re.search(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1]
    assert said == PROJECT["version"]
    assert re.match(
        rf"## {re.escape(PROJECT['version'])}\b",
        (ROOT / "CHANGELOG.md").read_text(encoding="utf-8").split("\n", 2)[2],
    )
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


def test_types_are_declared():
    assert (ROOT / "sklearn_okl" / "py.typed").exists()
    assert "Typing :: Typed" in PROJECT["classifiers"]
