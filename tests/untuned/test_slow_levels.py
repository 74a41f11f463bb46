"""Levels that are not reached at once: ramps, and setpoints that a plant follows sluggishly."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.untuned.rounds._trust import Trust


def ramp(seed, n=1100):
    """Rows that say nothing, and a level that goes up by 50 a row from row 500 to row 900."""
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(n, 2)), np.arange(n)
    return X, 100.0 + 50.0 * np.clip(rows - 500, 0, 400) + rng.normal(size=n)


def approached(seed, n_rows, n=3000, every=300):
    """Rows that say nothing, and setpoints that are approached on a line within some rows."""
    rng = np.random.default_rng(seed)
    setpoints, rows = rng.uniform(0.0, 100.0, n // every), np.arange(n)
    levels, left = setpoints[rows // every], 1.0 - (rows % every + 1.0) / n_rows
    before = np.append(setpoints[:1], setpoints)[rows // every]
    y = levels + (before - levels) * np.maximum(left, 0.0) + 0.1 * rng.normal(size=n)
    return rng.normal(size=(n, 3)), y


def errors(X, y, budget="fast", **settings):
    model = OnlineKernelRegressor(budget=budget, random_state=0, **settings)
    return model.prequential_predict(X, y) - y


@pytest.mark.parametrize("odds", [18.0, 2.0, -4.5, -18.0])
def test_who_foretells_a_far_target_is_trusted_no_less_for_it(odds):
    """Rounds that are far apart have odds of their own from then on, which begin with all rows'."""
    trust = Trust()
    state = trust.start(1)
    trust.begin(state, 0, {"n": 1}, np.ones(1), np.array([1e3]))
    state["odds"][:] = odds
    zero, far = np.zeros((1, 1)), np.full((1, 1), 1e3)
    before = trust.mixed(state, zero, far)
    trust.learn(state, far, zero, far)
    assert trust.mixed(state, zero, far) >= before
    assert state["far"].max() == min(max(odds, -trust.odds) + trust.foretold, trust.settled)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_the_end_of_a_ramp_costs_little(seed):
    """The model that doubts it is off by thousands there, and had been lost long since."""
    X, y = ramp(seed)
    assert np.abs(errors(X, y)[901:]).max() < 200.0


@pytest.mark.long
def test_a_model_that_begins_anew_knows_of_levels_what_the_old_one_did():
    """First rows without a fault say nothing against levels that came before them."""
    X, y = approached(0, 10)
    rows, last = slice(1800, 1830), np.diff(y)[1799:1829]
    assert np.square(errors(X[:1830], y[:1830])[rows]).sum() < 3.0 * np.square(last).sum()
