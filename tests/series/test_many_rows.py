"""Origins of many rows, which pooled series are: sums in place of a tail, the same regressions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _delayed_ridge, _waiting

HORIZON, WIDTH, N = 3, 5, 150  # past two returns of the ridge


def learnt(rows, forgetting, seed=0):
    """Return a bank, and the origins and targets (n, H, 1, R, 1) that it has learnt."""
    rng = np.random.default_rng(seed)
    state = _delayed_ridge.start((1, rows, 1), WIDTH, HORIZON, 1.0, forgetting)
    Z = rng.normal(size=(N, 1, rows, WIDTH))
    targets = rng.normal(size=(N, HORIZON, 1, rows, 1))
    targets[rng.uniform(size=targets.shape) < 0.1] = np.nan
    targets[: HORIZON - 1, 1:] = np.nan  # of origins that were none
    for z, y in zip(Z, targets, strict=True):
        _delayed_ridge.learn(state, z, y)
    return state, Z, targets


@pytest.mark.parametrize("forgetting", [1.0, 0.98])
@pytest.mark.parametrize("rows", [1, 4, 30])
def test_both_ways_are_the_same_regressions(rows, forgetting, monkeypatch):
    monkeypatch.setattr(_delayed_ridge, "_MANY", 0.0)
    tail, _, _ = learnt(rows, forgetting)
    monkeypatch.setattr(_delayed_ridge, "_MANY", np.inf)
    sums, _, _ = learnt(rows, forgetting)
    assert tail["recent"]["tail"].shape[1] == _delayed_ridge.BLOCK * rows
    assert sums["recent"]["tail"].shape[1] == 0
    assert_allclose(sums["theta"], tail["theta"], rtol=1e-10, atol=1e-12)
    assert _delayed_ridge.is_sound(sums)


def test_without_forgetting_it_is_the_ridge_solution():
    state, Z, targets = learnt(30, 1.0)
    assert np.isnan(targets[:, 0]).any()
    A, b = np.eye(WIDTH), np.zeros(WIDTH)
    theta = np.zeros(WIDTH)
    for z, y in zip(Z[:, 0], targets[:, 0, 0, :, 0], strict=True):
        y = np.where(np.isnan(y), z @ theta, y)  # as if it had been forecast rightly
        A, b = A + z.T @ z, b + z.T @ y
        theta = np.linalg.solve(A, b)
    assert_allclose(state["theta"][0, 0, 0], theta, rtol=1e-10)


def test_seasons_that_are_others_are_forgotten():
    state, _, _ = learnt(30, 0.98)
    for _ in range(-N % _delayed_ridge.BLOCK):
        _delayed_ridge.learn(state, np.ones((1, 30, WIDTH)), np.zeros((HORIZON, 1, 30, 1)))
    _delayed_ridge.forget(state, 2, slice(0, 2))
    assert_array_equal(state["theta"][..., -2:], 0.0)
    rest = np.linalg.inv(state["sums"][0][:-2, :-2])
    assert_allclose(state["P"][0][:-2, :-2], rest, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("n_series", [2, 12])
def test_pooled_series_forecast_the_same_either_way(n_series, monkeypatch):
    rng = np.random.default_rng(0)
    y = np.cumsum(rng.normal(size=(80, n_series)), axis=0)
    y[30:33, 0] = np.nan
    found = []
    for many in (0.0, 6.0, np.inf):
        monkeypatch.setattr(_delayed_ridge, "_MANY", many)
        model = OnlineForecaster(4, windows=(3, 4, 6), pooled=True)
        found.append(model.prequential_predict(y))
    assert_allclose(found[1], found[0], rtol=1e-9)
    assert_allclose(found[2], found[0], rtol=1e-9)


@pytest.mark.parametrize(("n_series", "is_pooled"), [(1, False), (32, False), (33, True)])
def test_more_than_some_dozens_of_series_are_pooled(n_series, is_pooled):
    y = np.random.default_rng(0).normal(size=(40, n_series))
    models = [
        OnlineForecaster(2, windows=(2, 3, 4), pooled=pooled).fit(y[:30])
        for pooled in ("auto", is_pooled)
    ]
    found = [model.partial_fit(y[30:]).predict() for model in models]
    assert_array_equal(found[0], found[1])
    assert ("moments" in models[0]._state["mixture"]) == is_pooled


def test_what_waits_takes_half_of_what_all_steps_of_all_origins_would():
    model = OnlineForecaster(100, windows=(2, 3, 4)).fit(np.arange(40.0) % 7)
    waiting = model._state["recent"]["forecasts"]
    assert len(waiting) == _waiting.n_places(100) == 100 * 101 // 2 + 100 * _waiting.SPARE


def test_each_step_waits_for_as_long_as_it_takes():
    rng, horizon = np.random.default_rng(0), 5
    said = {"forecasts": rng.normal(size=(60, 3, horizon, 2)), "last": rng.normal(size=(60, 2))}
    recent = _waiting.start({name: value[0] * 0.0 for name, value in said.items()}, horizon)
    for t in range(60):
        slot = {name: value[t] for name, value in said.items()}
        _waiting.write(recent, slot, t, horizon)
        found = _waiting.of_row(recent, said, t, horizon)
        for h in range(horizon):
            wanted = said["forecasts"][t - h, :, h] if h <= t else 0.0
            assert_array_equal(found["forecasts"][:, h], np.broadcast_to(wanted, (3, 2)))
            assert_array_equal(found["last"][h], said["last"][t - h] if h <= t else [0.0, 0.0])
