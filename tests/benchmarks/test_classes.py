"""The job classes at its smallest size, and its figures."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import classes
from benchmarks.__main__ import main
from benchmarks.classes_small import small_streams
from sklearn_okl.datasets import make_ar4


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    X, y = make_ar4(300)
    monkeypatch.setattr(classes, "load_dataset", lambda name, **_: (X, np.digitize(y, [-1, 1])))
    arguments = ["--quick", "--rows", "60", "--trees", "--data", "arena_electricity", "magic04"]
    assert main(["classes", *arguments, "--output", str(tmp_path)]) == 0
    content = json.loads((tmp_path / "classes.json").read_text(encoding="utf-8"))
    assert len(content["cells"]) == 2 * 5
    for cell in content["cells"]:
        assert 0.0 <= cell["runs"][0]["errors"] < 1.0
        assert cell["runs"][0]["log_loss"] > 0.0
    said = capsys.readouterr().out
    assert "(board)" not in said  # whole streams only
    assert "Probabilities of ours are from" in said
    # what others forecast is made once
    monkeypatch.setattr(classes, "Refitted", None)
    assert main(["classes", *arguments, "--only", "refitted", "--output", str(tmp_path)]) == 0
    again = json.loads((tmp_path / "classes.json").read_text(encoding="utf-8"))["cells"]
    assert again == [cell for cell in content["cells"] if "refitted" in cell["line"]]
    assert main(["classes", "--only", "unknown", "--output", str(tmp_path)]) == 1
    assert "ours, trees" in capsys.readouterr().out


@pytest.mark.long
def test_small_streams():
    found = small_streams(quick=True)
    assert len(found["rows"]) >= 4
    for row in found["rows"]:
        assert len(row) == 1 + len(found["header"])
        assert float(row[1]) > 0.0


def test_figures():
    y = np.array([0, 0, 1, 1, 0])
    P = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.2, 0.8], [0.0, 1.0]])
    found = classes.figures_of(lambda X, y, classes: P, np.zeros((5, 1)), y)
    losses = -np.log([0.9, 0.9, 0.1, 0.8, 1e-7])
    assert_allclose(found["log_loss"], losses.mean())
    assert found["errors"] == pytest.approx(0.4)
    assert found["kappa"] == pytest.approx(1.0 - 0.4 / 0.5)
    # three of .9, of which two are right, one of .8, and one of 1 that is wrong
    assert_allclose(found["calibration"], (0.7 + 0.2 + 1.0) / 5.0)
