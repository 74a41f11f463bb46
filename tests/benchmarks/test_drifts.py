"""The jobs drifts and hindsight at their smallest sizes."""

import json

import pytest

from benchmarks import drifts
from benchmarks.__main__ import main


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
