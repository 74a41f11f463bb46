"""Medians that are drawn to what seasons had nearby."""

import numpy as np
import pytest

from sklearn_okl.series import OnlineForecaster, _judge, _medians

SEASON = 12


def rows(n, m, seed, coefficients):
    """Make what draws forecasts (n, H, m) and errors whose medians these coefficients tell."""
    rng = np.random.default_rng(seed)
    drawn = np.clip(rng.normal(size=(n, 2, 4, m)), -0.25, 0.25)
    middle = (np.array(coefficients)[:, None, None] * drawn).sum(axis=1)
    noise = rng.exponential(size=middle.shape) - np.log(2.0)
    return drawn, middle + 0.3 * noise


@pytest.mark.parametrize("m", [1, 3])
def test_the_coefficients_are_those_of_medians(m):
    state, usual = _medians.start(m), np.full((4, m), 1.0)
    for drawn, errors in zip(*rows(3000, m, 0, (1.0, -0.5)), strict=True):
        counts = _medians._coefficients(state, 4)
        off = (counts[:, None] * drawn).sum(axis=0)
        _medians.learn(state, usual, np.concatenate([drawn, off[None]]), errors)
    assert _medians.is_sound(state)
    np.testing.assert_allclose(_medians._coefficients(state, 4).T, [[1.0, -0.5]] * m, atol=0.15)


def test_what_is_unknown_teaches_nothing():
    state, usual = _medians.start(2), np.array([[1.0, 0.0]])
    issued = np.full((3, 1, 2), 0.2)
    _medians.learn(state, usual, issued, np.array([[np.nan, 1.0]]))
    assert not state["sums"].any()
    _medians.learn(state, usual, issued, np.array([[1.0, 1.0]]))
    assert state["sums"][:, 0].all()
    assert not state["sums"][:, 1].any()
    assert _medians.is_sound(state)
    state["sums"][1] = 1.0  # more than the squares allow
    assert not _medians.is_sound(state)


def test_the_median_is_as_far_off_as_was_issued_and_no_farther_than_errors_are():
    rng = np.random.default_rng(0)
    kinds = rng.normal(size=(2, SEASON))
    y = np.concatenate([kinds[k] for k in (rng.random(40) < 0.5).astype(int)])
    model = OnlineForecaster(3, windows=(3, 4, 6), season_lengths=(SEASON,))
    model.fit(y + 0.1 * rng.normal(size=len(y)))
    state = model._state
    slot, usual = state["origin"]["slot"], _medians.sizes(state)
    counts = _medians._coefficients(state["medians"], 3)
    off = usual * (counts[:, None] * slot["turns"][:2]).sum(axis=0)
    np.testing.assert_allclose(slot["turns"][2], off)
    assert off.any()
    assert (np.abs(slot["turns"][:2]) <= 0.25).all()
    found = model._known_state()["origin"]["slot"]["mixed"][-1] + off * slot["change"]
    np.testing.assert_allclose(_judge.middle(slot, model.predict()[:, None]), found)


def test_no_columns_known_ahead_are_left_out_of_the_median():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    y = X[:, 0] + np.tile(rng.normal(size=SEASON), 5)
    model = OnlineForecaster(3, windows=(3, 4, 6), season_lengths=(SEASON,)).fit(y, X)
    assert not model._state["origin"]["slot"]["turns"].any()
