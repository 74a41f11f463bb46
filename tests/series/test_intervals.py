"""Intervals of the forecaster: against the loop, and how often they hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _intervals
from tests.oracles import series as oracle

SMALL = {"windows": (3, 4, 6)}


@pytest.mark.long(every=3)
@pytest.mark.parametrize("season", [0, 5, 48])
def test_intervals_are_those_of_the_loop(season):
    rng = np.random.default_rng(0)
    n, horizon, m = 90, 3, 2
    errors = rng.standard_t(3, size=(n, horizon, m))  # [i, h]: of row i + h
    errors[rng.random(errors.shape) < 0.1] = np.nan
    errors[:20, :, 1] = np.nan
    errors[30:33] = 0.0
    state, loop, issued = _intervals.start(horizon, m), oracle.Intervals(horizon, m, season), []
    for t in range(n):
        issued.append(_intervals.reaches(state, t, season))
        assert_allclose(issued[-1], loop.issue(), rtol=1e-8)
        known, trust = np.full((horizon, m), np.nan), rng.random((horizon, m))
        reach = np.full((len(_intervals.LEVELS), horizon, m), -1.0)
        for h in range(min(t + 1, horizon)):
            known[h], reach[:, h] = errors[t - h, h], issued[t - h][:, h]
        _intervals.learn(state, t, season, known, reach, trust)
        loop.learn(known, trust)


def held(y, first, horizon=2, coverage=(0.8, 0.9, 0.95)):
    """Return whether intervals held (n - first, levels), of all series, a step ahead."""
    model, hits = OnlineForecaster(horizon, **SMALL), []
    for t, row in enumerate(y):
        if t >= first:
            ends = model.predict_interval(coverage=coverage)[0]
            assert (np.diff(ends[..., 0], axis=-1) <= 0).all()  # nested
            hits.append(((row >= ends[..., 0].T) & (row <= ends[..., 1].T)).T)
        model.partial_fit(y[t : t + 1])
    return np.array(hits)


@pytest.mark.long
def test_intervals_hold_as_often_as_asked_for():
    rng = np.random.default_rng(0)
    y = rng.standard_t(4, size=500) * np.where(np.arange(500) < 250, 1.0, 4.0)
    assert_allclose(held(y, 100).mean(axis=0), [0.8, 0.9, 0.95], atol=0.045)


@pytest.mark.long
def test_series_share_what_makes_forecasts_worse():
    # eight series that become restless at once: soon intervals of all of them hold again
    rng = np.random.default_rng(0)
    y = rng.normal(size=(260, 8)) * np.where(np.arange(260) < 150, 1.0, 3.0)[:, None]
    hits = held(y, 150)[..., 1]
    assert hits[:20].mean() < 0.75
    assert 0.87 < hits[30:].mean() < 0.96


@pytest.mark.long
def test_a_sensor_that_stood_still_is_heard_again():
    rng = np.random.default_rng(0)
    y = rng.normal(size=2600)
    y[300:2200] = 0.0
    hits = held(y, 2200)[..., 1]
    assert hits[50:].mean() > 0.6  # 0.5 without a floor


@pytest.mark.long
def test_radii_have_a_floor():
    state = _intervals.start(1, 1)
    issued = np.full((len(_intervals.LEVELS), 1, 1), 1.0)
    for t in range(10_000):
        _intervals.learn(state, t, 0, np.full((1, 1), 1e-6), issued)
    start = _intervals.start(1, 1)["radius"]
    assert_allclose(state["radius"], start - 1.0)


@pytest.mark.parametrize("n_series", [None, 2])
def test_quantiles_never_cross_and_are_about_the_ends_where_sides_are_alike(n_series):
    rng = np.random.default_rng(1)
    y = rng.normal(size=400 if n_series is None else (400, n_series))
    model = OnlineForecaster(3, **SMALL)
    model.partial_fit(y[:2])
    assert np.isinf(model.predict_quantiles(alpha=[0.1, 0.9])).all()  # of two values
    assert np.isfinite(model.predict_quantiles(alpha=[0.5])).all()
    model.partial_fit(y[2:])
    alpha = np.array([0.001, 0.01, 0.05, 0.1, 0.3, 0.46, 0.49, 0.5, 0.51, 0.7, 0.9, 0.95, 0.9999])
    quantiles = model.predict_quantiles(alpha=alpha)
    assert quantiles.shape == (*np.shape(model.predict()), 13)
    assert (np.diff(quantiles, axis=-1) > 0.0).all()
    assert_allclose(quantiles[..., 7], model.predict(), atol=0.06)
    ends = model.predict_interval(coverage=[0.98, 0.9, 0.8, 0.4])
    assert_allclose(quantiles[..., [1, 2, 3, 4]], ends[..., 0], atol=0.15)
    assert_allclose(quantiles[..., [11, 10, 9]], ends[..., 1:, 1], atol=0.15)
    for k in range(13):  # each is the same alone
        assert_array_equal(model.predict_quantiles(alpha=alpha[k])[..., 0], quantiles[..., k])
    assert model.predict_quantiles(n_steps=2).shape == (*np.shape(model.predict(n_steps=2)), 9)
    with pytest.raises(ValueError, match="alpha=1"):
        model.predict_quantiles(alpha=1.0)


@pytest.mark.parametrize("seed", range(3))
def test_coverages_beyond_those_tracked_go_on(seed):
    y = np.random.default_rng(seed).normal(size=(200, 2))
    model = OnlineForecaster(2, **SMALL).fit(y)
    coverage = np.array([1e-300, 0.01, 0.05, 0.1, 0.9, 0.99, 0.995, 0.999, 0.9999])
    ends = model.predict_interval(coverage=coverage)
    assert (np.diff(ends[..., 0], axis=-1) < 0.0).all()  # nested, and no two the same
    assert (np.diff(ends[..., 1], axis=-1) > 0.0).all()
    assert_allclose(ends[..., 0, :], np.stack([model.predict()] * 2, -1), rtol=1e-9)
    width = ends[..., 1] - ends[..., 0]
    assert_allclose(width[..., 7] - width[..., 5], width[..., 5] - width[..., 4])
    assert_allclose(width[..., 1] / width[..., 3], norm.ppf(0.505) / norm.ppf(0.55))
    young = OnlineForecaster(2, **SMALL).fit(y[:2])
    assert np.isinf(young.predict_interval(coverage=coverage)).all()
    assert np.isinf(young.predict_quantiles(alpha=[1e-9, 0.49])).all()


@pytest.mark.long
@pytest.mark.parametrize("draw", ["normal", "laplace"])
def test_coverages_beyond_those_tracked_hold(draw):
    coverage = np.array([0.02, 0.05, 0.995, 0.999])
    y = getattr(np.random.default_rng(5), draw)(size=1500)
    shares = held(y, 300, coverage=coverage).mean(axis=0)
    assert_allclose(shares, coverage, atol=0.02)
    assert (shares[2:] > [0.985, 0.993]).all()


@pytest.mark.parametrize("ask", ["predict_interval", "predict_quantiles"])
def test_no_levels_at_all_are_refused(ask):
    model = OnlineForecaster(2, **SMALL).fit(np.arange(9.0))
    name = "coverage" if ask == "predict_interval" else "alpha"
    with pytest.raises(ValueError, match=name + r"=\[\]: give numbers above 0"):
        getattr(model, ask)(**{name: []})


def test_a_young_series_has_the_intervals_of_its_panel():
    rng, n = np.random.default_rng(5), 60
    y = 10.0 ** np.arange(4) * rng.normal(size=(n + 300, 4))
    y[: n - 6, 3] = np.nan  # six values are known of it
    y[: n - 1, 2] = np.nan  # and one of this
    model = OnlineForecaster(2, **SMALL).fit(y[:n])
    ends = model.predict_interval(coverage=[0.9])[:, :, 0]
    width = ends[..., 1] - ends[..., 0]
    assert np.isinf(width[:, 2]).all()  # nothing has moved: it has no unit
    assert ((width[:, 3] > 1e3) & (width[:, 3] < 1e4)).all()


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n", [4, 5, 10, 15, 17])
def test_a_young_series_alone_has_intervals_that_hold(n):
    held = []
    for seed in range(40):
        y = np.random.default_rng(seed).normal(size=n + 4).cumsum()
        ends = OnlineForecaster(4, **SMALL).fit(y[:n]).predict_interval(coverage=[0.5, 0.9])
        held.append((ends[..., 0] <= y[n:, None]) & (y[n:, None] <= ends[..., 1]))
        assert np.isfinite(ends).all()
    assert 0.38 < np.mean(held, axis=(0, 1))[0] < 0.68
    assert 0.75 < np.mean(held, axis=(0, 1))[1] < 0.96


def test_a_panel_has_intervals_of_steps_that_nobody_has_seen_yet():
    y = np.random.default_rng(1).normal(size=(28, 30)).cumsum(axis=0)
    ends = OnlineForecaster(18, **SMALL).fit(y[:10]).predict_interval(coverage=[0.9])[:, :, 0]
    assert np.isfinite(ends).all()
    held = (ends[..., 0] <= y[10:]) & (y[10:] <= ends[..., 1])
    assert 0.82 < held.mean() < 0.98
    width = (ends[..., 1] - ends[..., 0]).mean(axis=1)
    assert (np.diff(width) > 0.0).all()


@pytest.mark.long
@pytest.mark.parametrize("slope", [0.0, 0.5])
def test_intervals_are_no_wider_for_what_the_level_was(slope):
    """Intervals of 90 % held 97 % of walks and 99 % of trends of 150 rows."""
    held = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = (slope + 0.3 * rng.normal(size=156)).cumsum() + rng.normal(size=156)
        ends = OnlineForecaster(6, **SMALL).fit(y[:150]).predict_interval(coverage=[0.9])[:, 0]
        held.append((ends[..., 0] <= y[150:]) & (y[150:] <= ends[..., 1]))
    assert 0.84 < np.mean(held) < 0.955


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n", [6, 15])
def test_no_interval_is_a_multiple_of_those_of_series_that_are_alike(n, seed):
    """Some were 2 to 10 times as wide: errors were taken over the mean of a few, which may be 0."""
    rng, horizon, m = np.random.default_rng([seed, n]), 3, 200
    state, errors = _intervals.start(horizon, m), rng.normal(size=(n, horizon, m))
    for t, of_row in enumerate(errors):
        reach = _intervals.reaches(state, t, 0)
        _intervals.learn(state, t, 0, of_row, reach, (4.0 + t) / (36.0 + t))
    reach = _intervals.reaches(state, n, 0)[9]
    assert reach.max() < 1.8 * np.median(reach)
    assert_allclose(reach.mean(axis=1), 1.645, rtol=0.06)


@pytest.mark.parametrize("seed", range(3))
def test_first_errors_make_no_later_interval_too_wide(seed):
    """Of 90 % they held 95: nobody knows a line, or a unit, from the first four values."""
    rng, n, horizon, m = np.random.default_rng(seed), 20, 4, 160
    y = rng.normal(size=m) * np.arange(n + horizon)[:, None] + rng.normal(size=(n + horizon, m))
    model, held = OnlineForecaster(horizon, **SMALL).fit(y[:12]), []
    for t in range(12, n):
        ends, came = model.predict_interval(coverage=[0.9])[:, :, 0], y[t : t + horizon]
        held.append((ends[..., 0] <= came) & (came <= ends[..., 1]))
        model.partial_fit(y[t : t + 1])
    assert 0.88 < np.mean(held) < 0.94


def test_short_series_are_lent_the_size_of_the_mean_series():
    state, known = _intervals.start(1, 40), np.arange(40) < 10
    for t in range(40):  # long series, whose errors are twice as large, have most of them
        of_row = np.where(known, 2.0, 1.0 if t >= 36 else np.nan)[None]
        _intervals.learn(state, t, 0, of_row, np.full((13, 1, 40), 1.0))
    assert (_intervals.usual(state)[0, ~known] < 1.2).all()  # 1.33 where errors count alike


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_beyond_all_measure_have_ends_or_none():
    y = 1e-300 * np.random.default_rng(0).normal(size=300)
    y[[100, 150]] = -9999.0
    model = OnlineForecaster(3, **SMALL).fit(y)
    for ends in (model.predict_interval(), model.predict_quantiles()):
        assert not np.isnan(ends).any()
