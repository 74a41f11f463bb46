"""Comparators that move: their oracles, and what they refuse."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import DiscountedVAWRegressor
from sklearn_okl.evaluation import (
    RegretCurveDisplay,
    dynamic_regret,
    fused_ridge_comparator,
    path_length,
    regret,
    ridge_comparator,
    strongly_adaptive_regret,
)
from tests.oracles.changing import fused_path, worst_interval


def stream(seed, n=40, d=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, X[:, 0] * np.where(np.arange(n) < n // 2, 1.0, -2.0) + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("fusion", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("d", [1, 2, 4])
def test_the_path_is_the_dense_least_squares(fusion, d):
    X, y = stream(d, d=d)
    best = fused_ridge_comparator(X, y, fusion=fusion, alpha=0.3)
    expected = fused_path(X, y, fusion, 0.3)
    assert_allclose(best.path, expected, atol=1e-9)
    losses = ((X * expected).sum(axis=1) - y) ** 2
    steps = np.diff(expected, axis=0)
    assert_allclose(best.losses, losses, atol=1e-9)
    assert_allclose(best.path_length, np.linalg.norm(steps, axis=1).sum(), rtol=1e-8)
    objective = losses.sum() + 0.3 * expected[0] @ expected[0] + fusion * (steps**2).sum()
    assert_allclose(best.objective, objective, rtol=1e-8)


def test_one_row_has_no_steps():
    best = fused_ridge_comparator([[1.0]], [2.0], fusion=1.0, alpha=1.0)
    assert_allclose(best.path, [[1.0]])


@pytest.mark.parametrize("seed", [0, 1])
def test_longer_paths_lose_less_and_keep_their_length(seed):
    X, y = stream(seed)
    best = [fused_ridge_comparator(X, y, path_length=length) for length in (0, 0.5, 2.0, 4.0)]
    for length, found in zip((0, 0.5, 2.0, 4.0), best, strict=True):
        assert found.path_length <= length + 1e-9
        assert_allclose(found.path_length, length, rtol=1e-3)
        assert_allclose(path_length(found.path), found.path_length)
        assert_allclose(path_length(found.path, squared=True), found.squared_length)
    sums = [found.losses.sum() for found in best]
    assert sums == sorted(sums, reverse=True)
    fixed = ridge_comparator(X, y, alpha=1.0)
    assert_allclose(best[0].path, np.tile(fixed.coef, (len(X), 1)))


@pytest.mark.parametrize("length", [None, 1, 7, 40])
@pytest.mark.parametrize("seed", range(3))
def test_the_worst_interval_is_that_of_all(length, seed):
    rng = np.random.default_rng(seed)
    y, forecasts, others = rng.normal(size=40), rng.normal(size=40), rng.normal(size=(40, 3))
    found = strongly_adaptive_regret(forecasts, y, comparator_forecasts=others, length=length)
    excess = ((forecasts - y) ** 2)[:, None] - (others - y[:, None]) ** 2
    worst = [worst_interval(excess[:, k], length) for k in range(3)]
    assert_allclose(found.regret, max(part[0] for part in worst))
    assert_allclose(worst[found.comparator], (found.regret, found.start, found.stop))


def test_dynamic_regret_against_a_path_that_stays_is_regret():
    X, y = stream(3)
    forecasts = DiscountedVAWRegressor().prequential_predict(X, y)
    fixed = ridge_comparator(X, y)
    path = np.tile(fixed.coef, (len(X), 1))
    expected = regret(forecasts, y, comparator_forecasts=fixed.forecasts)
    assert_allclose(dynamic_regret(forecasts, X, y, path), expected)


def test_a_path_is_drawn_as_a_comparator():
    pytest.importorskip("matplotlib").use("agg")
    X, y = stream(4)
    comparator = partial(fused_ridge_comparator, path_length=3.0)
    display = RegretCurveDisplay.from_estimator(
        {"discounted": DiscountedVAWRegressor()}, X, y, comparator=comparator
    )
    (curve,) = display.regrets.values()
    forecasts = DiscountedVAWRegressor().prequential_predict(X, y)
    assert_allclose(curve, dynamic_regret(forecasts, X, y, comparator(X, y).path))


def test_refusals():
    X, y = stream(5)
    for wrong in ({}, {"fusion": 1.0, "path_length": 1.0}):
        with pytest.raises(ValueError, match="either fusion or path_length"):
            fused_ridge_comparator(X, y, **wrong)
    for wrong in ({"fusion": 0.0}, {"path_length": -1.0}, {"fusion": 1.0, "alpha": 0.0}):
        with pytest.raises(ValueError, match=r"fusion|path_length|alpha"):
            fused_ridge_comparator(X, y, **wrong)
    with pytest.raises(ValueError, match="a comparator for each row"):
        dynamic_regret(y, X, y, X[1:])
    with pytest.raises(ValueError, match="between 1 and the 40"):
        strongly_adaptive_regret(y, y, comparator_forecasts=y, length=41)
    with pytest.raises(ValueError, match="NaN"):
        strongly_adaptive_regret(np.where(y > 0, np.nan, y), y, comparator_forecasts=y)
