"""The forecaster of series against the loop that keeps every origin."""

import numpy as np
import pytest
from sklearn.impute import SimpleImputer
from sklearn.kernel_ridge import KernelRidge
from sklearn.pipeline import make_pipeline

from sklearn_okl.series import (
    OnlineForecaster,
    _experts,
    _season_parts,
    _smoothing,
    _smoothing_rates,
)
from tests.oracles import series as oracle


def made(n, n_series=2, n_columns=0, seed=0):
    """Make series with a season of 12 rows, a trend, and errors that last."""
    rng = np.random.default_rng(seed)
    time, errors = np.arange(n), rng.normal(size=(n, n_series))
    for t in range(1, n):
        errors[t] += 0.7 * errors[t - 1]
    X = rng.normal(size=(n, n_columns))
    season = 3.0 * np.sin(2 * np.pi * time / 12)[:, None] * np.arange(1, n_series + 1)
    return 20.0 + 0.02 * time[:, None] + season + errors + X.sum(axis=1, keepdims=True), X


def smooth_model():
    """Return a batch model of which rounding makes no other one, as it does of trees."""
    return make_pipeline(
        SimpleImputer(keep_empty_features=True), KernelRidge(alpha=0.1, kernel="rbf", gamma=0.1)
    )


def forecasts_of_oracle(model, y, X, n_ahead):
    """Return what the loop forecasts of each row (n, H, m), with the model's random waves."""
    plan, state = model._plan(), model._state
    experts = [
        (*expert[:4], own.get("frequencies"), expert.by_phase)
        for expert, own in zip(plan.experts, state["experts"], strict=True)
    ]
    n, m = y.shape
    loop = oracle.Forecaster(
        *(plan.horizon, m, experts, n_ahead, X.shape[1] - n_ahead, model.season_lengths),
        smooth_model if model.trees else None,
    )
    forecasts = np.full((n, plan.horizon, m), np.nan)
    for t in range(n):
        origin = loop.issue()
        for h in range(plan.horizon):
            if n_ahead and t + h >= n:
                continue
            row = X[t + h, :n_ahead] if n_ahead else None
            forecasts[t, h] = [loop.forecast(origin, h, c, row) for c in range(m)]
        loop.learn(y[t], X[t, :n_ahead], X[t, n_ahead:])
    return forecasts, loop


CASES = {
    "one series": (1, 0, 0, {}),
    "two series": (2, 0, 0, {}),
    "pooled": (2, 0, 0, {"pooled": True}),
    "pooled, with columns": (2, 1, 1, {"pooled": True}),
    "columns known ahead": (1, 1, 1, {}),
    "both kinds of columns": (2, 2, 1, {"known_ahead": [0]}),
    "a column that begins late": (2, 2, 1, {"known_ahead": [0]}),
    "seasons given": (1, 0, 0, {"season_lengths": (5, 12)}),
    "logarithms end": (2, 0, 0, {}),
    "a unit that falls": (2, 0, 0, {}),
    "trees": (2, 0, 0, {"trees": KernelRidge(alpha=0.1, kernel="rbf", gamma=0.1)}),
    "trees, with columns": (2, 2, 1, {"known_ahead": [0], "trees": smooth_model()}),
    "trees, pooled": (2, 1, 1, {"pooled": True, "trees": smooth_model()}),
}


@pytest.mark.long(every=50)
@pytest.mark.parametrize("case", CASES)
def test_the_forecaster_is_the_loop_that_keeps_every_origin(case, monkeypatch):
    monkeypatch.setattr(_experts, "_N_FREQUENCIES", 3)  # the loop inverts in every round
    n_series, n_columns, n_ahead, arguments = CASES[case]
    y, X = made(111 if case == "a unit that falls" else 110, n_series, n_columns)
    y[40:43] = np.nan  # missing
    y[60, 0] = np.nan
    y[:9, -1] = np.nan  # starts later
    y[85, 0] = 1e6  # a fault
    y[95:, -1] += 1e4  # a new level, believed from its third row on
    X[70:72] = np.nan
    if case == "a column that begins late":
        X[:20, 0], X[80:, 0] = 1.0, 6.0 * X[80:, 0]  # and in another unit
    if case == "logarithms end":
        y[75:, 0] -= 20.0  # some are no longer positive
    if case == "a unit that falls":
        y[62:] *= 1e-4  # errors are so small that later rows count for more
    model = OnlineForecaster(3, windows=(3, 4, 6), **arguments)
    ours = model.prequential_predict(y, X if n_columns else None)
    theirs, loop = forecasts_of_oracle(model, y, X, n_ahead)
    assert list(model.season_lengths_) == loop.seasons
    if case == "a unit that falls":
        lately, faded = model._state["mixture"]["least"]
        assert (32.0 * lately < faded / model._state["mixture"]["weight"]).any()
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("horizon", [1, 5, 24, 100])
def test_weights_of_smoothing_between_the_steps_that_are_judged(horizon):
    rng, loop = np.random.default_rng(horizon), oracle.Forecaster(horizon, 2, [])
    state, n_members = _smoothing.start(horizon, 2), _smoothing_rates.N_MEMBERS
    assert loop.steps == _smoothing_rates.judged_steps(horizon).tolist()
    state["losses"] = rng.uniform(size=state["losses"].shape)
    said = rng.normal(size=(_smoothing_rates.N_BANKS, n_members, horizon, 2))
    weights = _smoothing_rates.shares(horizon) @ _smoothing._weights(state)
    found = (weights * said).sum(axis=1)
    for c in range(2):
        for k, member in enumerate(loop.members[c]):
            member.losses[loop.steps] = state["losses"][k // n_members, k % n_members, :, c]
        for h in range(horizon):
            expected = loop.smoothed(c, h, said[:, :, h, c].ravel())
            np.testing.assert_allclose(found[:, h, c], expected)


@pytest.mark.parametrize("has_logs", [(False, False), (True, True), (False, True)])
@pytest.mark.parametrize("lengths", [(), (4, 28)])
def test_a_bank_is_the_weighted_mean_of_its_members(lengths, has_logs, monkeypatch):
    monkeypatch.setattr(_smoothing, "_AT_A_TIME", 5 * 4 * 36 * 2)
    rng, horizon = np.random.default_rng(0), 33
    state = _smoothing.start(horizon, 2)
    shape = state["level"].shape
    state["level"], state["error"] = rng.normal(10.0, size=shape), rng.normal(size=shape)
    state["level"][_smoothing.LOGS] = np.log(10.0) + 0.1 * rng.normal(size=shape[1:])
    state["slope"] = 0.1 * rng.normal(size=state["slope"].shape)
    state["seasons"] = [
        [0.1 * rng.normal(size=(n, *shape)) for n in _season_parts.sizes(length)]
        for length in lengths
    ]
    state["losses"] = rng.uniform(size=state["losses"].shape)
    state.update(t=50, least=np.ones(2), has_logs=np.array(has_logs))
    last = np.array([9.0, 11.0])
    weights = _smoothing_rates.shares(horizon) @ _smoothing._weights(state)
    expected = (weights * _smoothing.forecasts(state, horizon, last)).sum(axis=1)
    np.testing.assert_allclose(_smoothing.mixed(state, horizon, last), expected, rtol=1e-11)


@pytest.mark.long
def test_smoothing_follows_seasons_over_many_weeks():
    rng = np.random.default_rng(0)
    week = rng.normal(size=168)
    y = np.tile(week, 9) + 0.5 * rng.normal(size=9 * 168)
    model = OnlineForecaster(24)
    errors = model.prequential_predict(y)[1200:-24, 12] - y[1212:-12]
    # of the season come again the variance of the errors is twice that of the noise
    assert np.mean(errors**2) < 1.5 * 0.25
    assert model.expert_weights_.shape[-1] == len(model._plan().views)
