"""The job distributions at its smallest size."""

import json

import numpy as np
import pytest

from benchmarks import distributions
from benchmarks.__main__ import main
from benchmarks.distribution_rivals import (
    FIRST_NATURAL,
    by_own_levels,
    likelihoods,
    natural,
    one_gaussian,
)
from benchmarks.distribution_series import HORIZON, measured
from sklearn_okl import OnlineForecaster, OnlineKernelRegressor


def test_distributions(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = X[:, 0] + rng.normal(size=160)
    monkeypatch.setattr(distributions, "load_stream", lambda name: (X, y))
    monkeypatch.delenv("SKLEARN_OKL_DATA", raising=False)
    job = ["distributions", "--quick", "--trees", "--data", "airfoil", "--output", str(tmp_path)]
    assert main(job) == 0
    found = json.loads((tmp_path / "distributions.json").read_text(encoding="utf-8"))
    line = found["sets"]["airfoil"]
    assert line["ratio"] == line["running"] / line["intervals"]
    assert line["rows, ratio"] == line["rows"] / line["intervals"]
    assert line["rows, Gaussian"] == line["rows"] / line["Gaussian"]
    assert 0.9 < line["ratio"] < 1.1
    assert 0.85 < line["rows, ratio"] < 1.15
    assert 0.7 < line["90 %"] <= 1.0
    assert line["trees over boosted"] > 0.0
    assert 0.7 < found["made"]["counts"][2] <= 1.0
    assert found["series"] is None  # there is no file
    assert f"{line['ratio']:.4g}" in capsys.readouterr().out


def test_intervals_by_own_levels_are_those_of_the_model():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = X[:, 0] + rng.normal(size=120)
    model, alpha = OnlineKernelRegressor(budget="fast", random_state=0), distributions.ASKED
    law = model.prequential_quantiles(X, y, alpha)
    found, crossed = by_own_levels(y - law[:, 10], law[:, 10], alpha)
    calm = ~crossed[20:]
    assert calm.mean() > 0.5  # where levels rise they are nearly the law's
    assert np.median(np.abs(found[20:] - law[20:])[calm]) < 0.05
    assert (found[1:, 10] == law[1:, 10]).all()
    gaussian = one_gaussian(y - law[:, 10], law[:, 10], alpha)
    assert np.mean((gaussian[20:, 1] <= y[20:]) & (y[20:] <= gaussian[20:, -2])) > 0.8


def test_without_ngboost_its_lines_are_left_out(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    monkeypatch.setattr(distributions, "load_stream", lambda name: (X, X[:, 0]))
    monkeypatch.setattr(distributions, "has_natural", lambda: False)
    job = ["distributions", "--quick", "--data", "airfoil", "--kinds", "tables"]
    assert main([*job, "--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "distributions.json").read_text(encoding="utf-8"))
    assert "NGBoost" not in found["sets"]["airfoil"]
    assert "NGBoost is not installed, and left out." in capsys.readouterr().out


def test_ngboost_forecasts_from_the_past_alone(tmp_path, capsys, monkeypatch):
    pytest.importorskip(
        "ngboost", reason="NGBoost is not installed; it asks for scikit-learn below 1.7"
    )
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2))
    X[7, 1] = np.nan
    y = X[:, 0] + 0.1 * rng.normal(size=200)
    alpha = np.array([0.05, 0.5, 0.95])
    found = natural(X, y, alpha, 60)
    assert np.isnan(found[:FIRST_NATURAL]).all()
    assert (np.diff(found[FIRST_NATURAL:], axis=1) > 0.0).all()
    late = slice(100, None)
    assert np.corrcoef(found[late, 1], y[late])[0, 1] > 0.7
    assert 0.7 < np.mean((found[late, 0] <= y[late]) & (y[late] <= found[late, 2])) <= 1.0
    changed = np.where(np.arange(200) < 120, y, -y)
    assert (natural(X, changed, alpha, 60)[:121] == found[:121])[FIRST_NATURAL:].all()
    monkeypatch.setattr(distributions, "load_stream", lambda name: (X, y))
    job = ["distributions", "--quick", "--data", "airfoil", "--kinds", "tables"]
    assert main([*job, "--output", str(tmp_path)]) == 0
    told = json.loads((tmp_path / "distributions.json").read_text(encoding="utf-8"))
    line = told["sets"]["airfoil"]
    assert line["over NGBoost"] == line["rows"] / line["NGBoost"]
    assert told["mean"]["over NGBoost"] == pytest.approx(line["over NGBoost"])
    assert f"over NGBoost {line['over NGBoost']:.4f}" in capsys.readouterr().out


@pytest.mark.long
def test_last_windows_over_the_last_season():
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(400) * np.pi / 12.0)[:, None] + rng.normal(size=(400, 1))
    ours, naive = measured(OnlineForecaster(HORIZON, season_lengths=[24]), y, 2)
    assert ours[0] < naive[0]
    assert ours[1] < naive[1]


def test_likelihoods_of_gaussian_errors_are_nearly_those_of_one_gaussian():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 2))
    y = X[:, 0] + rng.normal(size=260)
    model = OnlineKernelRegressor(budget="fast", random_state=0, spread="rows")
    share, logs, gaussian = likelihoods(model, X, y, 200)
    assert 0.2 < share < 1.0
    assert abs(logs - gaussian) < 0.2
