"""Each kind of user, as a script written from the documentation alone, reaches its figure.

It has a minute of one processor for it, where the system can hold it to that.
"""

import ast
import importlib
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

try:
    import resource
except ImportError:  # Windows
    resource = None

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "docs" / "journeys"
NEEDS = {"from_river": ["river", "pandas"], "service": ["skops"]}  # beside what the package needs
NEEDS |= {name: ["pandas"] for name in ("energy", "table", "devices", "researcher", "combiner")}
NEEDS["student"] = []
QUICKEST = "combiner"
A_MINUTE = 60, 60  # of processor time, however busy the machine is: the process is ended after it


def within_a_minute():
    resource.setrlimit(resource.RLIMIT_CPU, A_MINUTE)


def test_there_are_eight():
    assert {path.stem for path in FOLDER.glob("*.py")} == set(NEEDS)
    assert len(NEEDS) == 8


@pytest.mark.parametrize("name", NEEDS)
def test_public_names_alone_are_imported_and_figures_asserted(name):
    path = FOLDER / f"{name}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    assert "To reach:" in " ".join(ast.get_docstring(tree).split())
    assert any(isinstance(node, ast.Assert) for node in ast.walk(tree))
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module.startswith("sklearn_okl"):
            public = importlib.import_module(node.module)
            for alias in node.names:
                assert alias.name in getattr(public, "__all__", dir(public))
                assert not alias.name.startswith("_")


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[] if name == QUICKEST else pytest.mark.long)
        for name in sorted(NEEDS)
    ],
)
def test_the_figure_is_reached(name, tmp_path):
    for package in NEEDS[name]:
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed")
    command = [sys.executable, "-W", "error", str(FOLDER / f"{name}.py")]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        preexec_fn=within_a_minute if resource else None,
    )
    assert done.returncode == 0, done.stderr or f"ended by signal {-done.returncode}"
