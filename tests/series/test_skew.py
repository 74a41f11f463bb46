"""Quantiles of the forecaster say on which side errors lie."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import AdaptedForecaster, OnlineForecaster
from sklearn_okl.evaluation import crps_from_quantiles
from sklearn_okl.series import _intervals, _skew
from tests.oracles import series as oracle

ALPHA = np.arange(1, 20) / 20.0


@pytest.mark.parametrize(("horizon", "m", "seed"), [(1, 1, 0), (3, 2, 1), (12, 1, 2)])
def test_sides_are_those_of_the_loop(horizon, m, seed):
    rng, steps = np.random.default_rng(seed), np.arange(horizon)
    state, loop, sides = _skew.start(horizon, m), oracle.Skew(horizon, m), []
    for t in range(30):
        errors = rng.exponential(size=(horizon, m)) - 0.6
        errors[rng.random((horizon, m)) < 0.1] = np.nan
        errors[0, 0] = 0.0 if t == 7 else 90.0 if t == 9 else errors[0, 0]
        errors[steps > t] = np.nan
        sizes = rng.uniform(0.5, 2.0, (horizon, m))
        sides.append(_skew.bins(errors, sizes))
        nothing = np.full(m, _skew.NOT_JUDGED)
        before = np.stack([sides[t - h][h] if h <= t else nothing for h in steps])
        _skew.learn(state, sides[-1], before)
        loop.learn(errors, sizes)
    assert _skew.is_sound(state)
    found = 1.0 / (1.0 + np.exp(-state["odds"]))
    assert_allclose(found, [[loop.two[g, c] for c in range(m)] for g in loop.groups])
    assert (found != loop.prior).any()
    levels = _intervals.LEVELS
    reach = np.sort(rng.uniform(0.5, 3.0, (len(levels), horizon, m)), axis=0)
    alpha = np.concatenate([0.5 - levels[::-1] / 2.0, [0.5], 0.5 + levels / 2.0])
    of_model = _skew.sides(state, horizon), np.full(m, 2.0)
    quantiles = _skew.quantiles(np.ones((horizon, m)), reach, *of_model, alpha)
    for h, c in np.ndindex(horizon, m):
        of_levels = partial(np.interp, xp=levels, fp=reach[:, h, c])
        wanted = loop.quantiles(h, c, alpha, of_levels)
        assert_allclose(quantiles[h, c], 1.0 + 2.0 * wanted, rtol=1e-9)


def told(y, base=None, first=100):
    """Return quantiles (n, 19), and the ends of intervals, of each row but the first ones.

    Those of forecasts, or of a `base` (n, 1) that is corrected.
    """
    model, parts = OnlineForecaster(1, windows=(2, 6, 12), random_state=0), [y]
    if base is not None:
        model, parts = AdaptedForecaster(1, forecaster=model, window=3), [y, base]
    model.fit(*(part[:first] for part in parts))
    found = []
    for t in range(first, len(y)):
        said = [part[t] for part in parts[1:]]
        ends = model.predict_interval(*said, coverage=np.abs(2.0 * ALPHA - 1.0) + 1e-12)[0]
        ends = np.where(ALPHA < 0.5, ends[:, 0], ends[:, 1])
        found.append([model.predict_quantiles(*said, alpha=ALPHA)[0], ends])
        model.partial_fit(*(part[t : t + 1] for part in parts))
    return np.moveaxis(found, 1, 0)


@pytest.mark.long
@pytest.mark.parametrize("is_corrected", [False, True])
@pytest.mark.parametrize(("draw", "most"), [("exponential", 0.985), ("normal", 1.004)])
@pytest.mark.parametrize("seed", range(3))
def test_where_errors_are_skewed_quantiles_know_it(draw, most, is_corrected, seed):
    y = getattr(np.random.default_rng(seed), draw)(size=900)
    of_sides, of_ends = told(y, np.full((900, 1), 3.0) if is_corrected else None)
    score = [crps_from_quantiles(y[300:], one[200:], ALPHA) for one in (of_sides, of_ends)]
    assert score[0] < most * score[1]
    shares = (y[300:, None] <= of_sides[200:]).mean(axis=0)
    assert_allclose(shares[[1, 9, 17]], ALPHA[[1, 9, 17]], atol=0.05)


@pytest.mark.long
def test_sides_that_are_exchanged_are_soon_those():
    rng = np.random.default_rng(3)
    y = rng.exponential(size=1600) * np.where(np.arange(1600) < 500, 1.0, -1.0)
    of_sides, of_ends = told(y)
    late = slice(900, None)
    score = [crps_from_quantiles(y[100:][late], one[late], ALPHA) for one in (of_sides, of_ends)]
    assert score[0] < 1.01 * score[1]


@pytest.mark.long
def test_a_series_that_began_late_has_the_sides_of_its_panel():
    y = np.random.default_rng(4).exponential(size=(400, 12))
    y[:380, 0] = np.nan
    model = OnlineForecaster(1, windows=(2, 6, 12), pooled=True, random_state=0).fit(y)
    low, middle, high = np.moveaxis(model.predict_quantiles(alpha=[0.05, 0.5, 0.95])[0], -1, 0)
    assert (high - middle > 1.5 * (middle - low))[1:].mean() > 0.7
    assert high[0] - middle[0] > 1.2 * (middle[0] - low[0])


def test_a_series_that_is_a_number_has_quantiles_that_are_this_number():
    model = OnlineForecaster(2, windows=(2, 6, 12)).fit(np.full(60, 3.0))
    assert_array_equal(model.predict_quantiles(), np.full((2, 9), 3.0))


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.long)])
@pytest.mark.parametrize("times", [300.0, 50.0])
def test_where_errors_become_small_the_law_of_large_ones_does_not_rule(times, seed):
    y = np.random.default_rng(seed).exponential(size=500)
    y[:200] *= times
    of_sides, of_ends = told(y)
    score = [crps_from_quantiles(y[250:], one[150:], ALPHA) for one in (of_sides, of_ends)]
    assert score[0] < 1.15 * score[1]


def test_an_error_of_rounding_lies_on_no_side():
    errors, sizes = (
        np.array([[1e-12, 0.0, np.nan, -3.0, 1.0]]),
        np.array([[1.0, 1.0, 1.0, 1.0, 0.0]]),
    )
    assert (_skew.bins(errors, sizes) == _skew.NOT_JUDGED).tolist() == [[1, 1, 1, 0, 1]]


def test_intervals_are_no_longer_for_what_rounding_changed():
    rng, m = np.random.default_rng(8), 12
    base = rng.choice([0.1, 0.7, 5.11, 19.99, 3.3, 100.0], m)
    y = base * (1.0 + np.where(rng.random((24, m)) < 0.2, rng.exponential(size=(24, m)), 0.0))
    for n in (14, 18, 24):
        model = OnlineForecaster(1, windows=(2, 6, 12), pooled=True, random_state=0).fit(y[:n])
        ends = model.predict_interval(coverage=0.9)[0, :, 0]
        length = (ends[:, 1] - ends[:, 0]) / base
        assert (length[np.isfinite(length)] < 100.0).all()  # 1e10 and more
