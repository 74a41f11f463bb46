"""Nothing keeps the package from a browser's Python, which has no threads and no processes."""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

# What a browser's Python refuses or lacks; what others import at their own import comes before.
REFUSED = """
import sys
import scipy.linalg, scipy.optimize, scipy.special, scipy.stats
import sklearn.ensemble, sklearn.linear_model, sklearn.pipeline

def refuse(event, arguments):
    processes = "subprocess.Popen", "os.fork", "os.exec", "os.posix_spawn", "os.system"
    threads = "_thread.start_new_thread", "_thread.start_joinable_thread"
    if event in processes + threads:
        raise RuntimeError(f"there is no {event} in a browser")

class Absent:
    def find_spec(self, name, path=None, target=None):
        if name in ("sqlite3", "_sqlite3"):
            raise ModuleNotFoundError(name)

sys.addaudithook(refuse)
sys.meta_path.insert(0, Absent())
"""
IMPORTS = """
import importlib, pkgutil, threading
import sklearn_okl
for module in pkgutil.walk_packages(sklearn_okl.__path__, "sklearn_okl."):
    importlib.import_module(module.name)
assert threading.active_count() == 1
"""
LEARNS = """
import numpy as np
from sklearn_okl import OnlineForecaster, OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.datasets import make_friedman_stream
X, y = make_friedman_stream(80, random_state=0)
model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
assert np.isfinite(model.predict_interval(X[:2])).all()
OnlineKernelClassifier(budget="fast", random_state=0).fit(X, y > y.mean()).predict_proba(X[:2])
OnlineForecaster(horizon=3).fit(y).predict()
"""


@pytest.mark.parametrize(
    "done", [IMPORTS, pytest.param(LEARNS, marks=pytest.mark.long)], ids=["imports", "learns"]
)
def test_no_threads_and_no_processes_are_started(done):
    command = [sys.executable, "-c", REFUSED + done]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_wheel_is_pure():
    packed = {path.suffix for path in (ROOT / "sklearn_okl").rglob("*") if path.is_file()}
    assert packed - {".pyc"} == {".py", ".typed"}
    assert not (ROOT / "setup.py").exists()
    assert "ext-modules" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert "py3-none-any.whl" in (ROOT / ".ci" / "package").read_text(encoding="utf-8")


@pytest.fixture
def browser():
    spec = importlib.util.spec_from_file_location("browser", ROOT / "docs" / "browser.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_what_is_not_at_hand_is_said_and_no_error(browser, tmp_path, capsys):
    assert browser.main() == 0
    assert capsys.readouterr().out.startswith("Skipped. ")
    assert "not installed" in browser.missing(tmp_path, ["no_such_package"])
    assert "No folder" in browser.missing(None, [])
    assert "unpack" in browser.missing(tmp_path, [])
    packages = {name: {"file_name": f"{name}.whl"} for name in browser.NEEDED}
    (tmp_path / "pyodide-lock.json").write_text(json.dumps({"packages": packages}))
    assert "no wheel of numpy" in browser.missing(tmp_path, [])
    for name in browser.NEEDED:
        (tmp_path / f"{name}.whl").touch()
    assert browser.missing(tmp_path, []) is None


def test_notebooks_begin_by_loading_the_package(browser, tmp_path):
    notebook = {"cells": [{"cell_type": "code", "source": ["import sklearn_okl"]}]}
    browser.install_first(notebook, "plot_0.ipynb")
    assert [cell["cell_type"] for cell in notebook["cells"]] == ["code", "code"]
    assert "sklearn_okl" in notebook["cells"][0]["source"][0]
    told = browser.settings(ROOT, ROOT / "ours.whl", tmp_path)
    assert (tmp_path / "static" / "pyodide").resolve() == ROOT
    assert told["PipliteAddon"]["piplite_urls"] == [str(ROOT / "ours.whl")]
