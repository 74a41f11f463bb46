"""The jobs drifts and hindsight at their smallest sizes."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import drifts
from benchmarks.__main__ import main
from sklearn_okl.datasets import make_friedman_drift


@pytest.mark.long
def test_drifts(tmp_path, capsys):
    options = ["--quick", "--budgets", "fast", "--output", str(tmp_path)]
    assert main(["drifts", *options]) == 0
    lines = json.loads((tmp_path / "drifts.json").read_text(encoding="utf-8"))["lines"]
    assert {line["stream"] for line in lines} == {*drifts.PUBLISHED, "hyperplane"}
    for line in lines:
        assert line["noise"] <= line["rmse"] < 4.5
        assert line["n_rows"] == 1000
    assert "SOKNL" in capsys.readouterr().out


@pytest.mark.long
def test_hindsight(tmp_path, capsys):
    assert main(["hindsight", "--quick", "--output", str(tmp_path)]) == 0
    lines = json.loads((tmp_path / "hindsight.json").read_text(encoding="utf-8"))["lines"]
    slack = [line["bar"] - line["ratio"] for line in lines]
    assert slack == sorted(slack)
    assert {line["kind"] for line in lines} == {"half", "after"}
    for line in lines:
        assert line["ratio"] == pytest.approx(line["rmse"] / line["best_rmse"])
        assert line["ratio"] <= line["bar"]
    assert "forgetting 0.98" in capsys.readouterr().out


class Row:
    def __init__(self, target):
        self.y_value = target


class Stream:
    def __init__(self, X, y, target_type):
        self.rows = iter(y)

    def get_schema(self):
        return "schema"

    def next_instance(self):
        return Row(next(self.rows))


class LastValue:
    """Forecasts the target before, and nothing before the first one."""

    def __init__(self, schema):
        self.last = None

    def predict(self, row):
        return self.last

    def train(self, row):
        self.last = row.y_value


def test_rivals_forecast_each_row_before_they_learn_it(tmp_path, monkeypatch):
    known = {
        "capymoa.regressor": SimpleNamespace(**dict.fromkeys(drifts.RIVALS, LastValue)),
        "capymoa.stream": SimpleNamespace(NumpyStream=Stream),
    }
    monkeypatch.setattr(drifts, "import_module", known.get)
    drifts.run(tmp_path, kinds=("local",), budgets=(), n_rows=1500, peers=True)
    lines = json.loads((tmp_path / "drifts.json").read_text(encoding="utf-8"))["lines"]
    assert {line["budget"] for line in lines} == set(drifts.RIVALS)
    _, y = make_friedman_drift(1500, drift="local", random_state=0)
    for line in lines:
        assert line["rmse"] == pytest.approx(np.sqrt(np.mean(np.diff(y, prepend=0.0) ** 2)))


def test_without_capymoa_it_is_said(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "capymoa", None)
    assert drifts._rivals() == {}
    assert "CapyMOA is left out" in capsys.readouterr().err
