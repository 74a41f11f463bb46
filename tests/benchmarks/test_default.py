"""The job default at its smallest size: it runs, varies, prints its tables, saves its numbers."""

import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import default
from benchmarks.__main__ import main


def made_up(name, return_X_y):
    rng = np.random.default_rng(0)
    X = 100 * rng.normal(size=(300, 3)) + 5
    y = np.tanh(X[:, 0] / 100) * X[:, 1]
    return X, np.where(y > 0, 1.0, -1.0) if name == "magic04" else y


def two_of_the_made_streams(n_rows, seed, made=default.synthetic_streams):
    streams = made(n_rows, seed)
    return {name: streams[name] for name in ("jump, 5", "AR(2)")}


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(default, "load_dataset", made_up)
    monkeypatch.setattr(default, "synthetic_streams", two_of_the_made_streams)
    some = {name: default.CHOICES[name] for name in ("the default", "no lags", "no refinement")}
    monkeypatch.setattr(default, "CHOICES", some)
    arguments = ["--data", "airfoil", "elevators", "magic04", "--quick", "--rows", "70"]
    assert main(["default", *arguments, "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert "Geometric mean of the ratios of the regression sets, balanced" in printed
    content = json.loads((tmp_path / "default.json").read_text(encoding="utf-8"))
    lines = {(cell["data"], cell["line"]) for cell in content["cells"]}
    assert {("magic04", "fast"), ("airfoil", "balanced")} <= lines
    assert ("elevators", "sklearn_okl: VAW²") in lines
    for cell in content["cells"]:
        best = default.PUBLISHED[cell["data"]].figure
        assert cell["rows"] == 70
        assert_allclose(cell["ratio"], np.mean(cell["figures"]) / best)
    assert content["choices"]["ratios"].keys() == some.keys()
    assert content["choices"]["synthetic"]["no lags"].keys() == {"jump, 5", "AR(2)"}
    assert "Friedman, rotation, 5 inputs, 70 rows" in content["drift"]
    assert "airfoil, permuted" in content["coverage"]


def test_nothing_to_run_on(tmp_path, capsys, monkeypatch):
    def missing(name, return_X_y):
        raise FileNotFoundError("no file")

    monkeypatch.setattr(default, "load_dataset", missing)
    assert main(["default", "--data", "airfoil", "--output", str(tmp_path)]) == 1
    assert "Left out airfoil. no file" in capsys.readouterr().err


def test_leave_one_out():
    ratios = {
        "a": {"x": 0.1, "y": 1.0, "z": 1.0},  # best by x alone
        "b": {"x": 0.5, "y": 0.5, "z": 0.9},
    }
    assert default.leave_one_out(ratios) == {"x": "b", "y": "a", "z": "a"}


def test_targets_and_orders(monkeypatch):
    monkeypatch.setattr(default, "load_dataset", made_up)
    stream = default.load_stream("elevators")
    assert_allclose((stream[1].min(), stream[1].max()), (0, 1))
    assert set(default.load_stream("magic04")[1]) == {-1, 1}
    _, y = default.ordered("elevators", stream, None, 0)
    assert not np.array_equal(y, stream[1])
    assert_allclose(np.sort(y), np.sort(stream[1]))
    assert default.ordered("airfoil", stream, 50, 0)[1].tolist() == stream[1][:50].tolist()
