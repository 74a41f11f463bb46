"""The job distributions at its smallest size."""

import json

import numpy as np

from benchmarks import distributions
from benchmarks.__main__ import main


def test_distributions(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = X[:, 0] + rng.normal(size=160)
    monkeypatch.setattr(distributions, "load_stream", lambda name: (X, y))
    job = ["distributions", "--quick", "--data", "airfoil", "--output", str(tmp_path)]
    assert main(job) == 0
    found = json.loads((tmp_path / "distributions.json").read_text(encoding="utf-8"))
    line = found["sets"]["airfoil"]
    assert line["ratio"] == line["CRPS"] / line["CRPS, intervals"]
    assert line["rows, ratio"] == line["rows"] / line["CRPS, intervals"]
    assert 0.9 < line["ratio"] < 1.1
    assert 0.85 < line["rows, ratio"] < 1.15
    assert 0.7 < line["90 %"] <= 1.0
    assert 0.7 < found["made"]["counts"][2] <= 1.0
    assert f"{line['ratio']:.4g}" in capsys.readouterr().out
