"""Series of few rows: what is forecast before much is known."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import from_bytes, to_bytes
from sklearn_okl.series import OnlineForecaster, _mixture, _powers, _smoothing, _smoothing_rates


def over_the_latest(y, horizon, **arguments):
    """Return absolute errors of the next rows over those of the latest value."""
    model = OnlineForecaster(horizon, **arguments).fit(y[:-horizon])
    errors = np.abs(model.predict() - y[-horizon:]).mean()
    return errors / np.abs(y[-horizon - 1] - y[-horizon:]).mean()


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n", [8, 14, 20, 40])
def test_a_trend_is_followed(n):
    ratios = []
    for seed in range(12):
        rng = np.random.default_rng([seed, n])
        y = 1000.0 + 20.0 * np.arange(n + 6) + 10.0 * rng.normal(size=n + 6)
        ratios.append(over_the_latest(y, 6))
    assert np.mean(ratios) < 0.75  # 1.2 to 1.8 up to 20 rows when the first 16 taught nothing


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n", [8, 14, 20, 40])
def test_a_walk_is_not_taken_for_a_trend(n):
    ratios = []
    for seed in range(40):
        y = 1000.0 + 10.0 * np.random.default_rng([seed, n, 1]).normal(size=n + 6).cumsum()
        ratios.append(over_the_latest(y, 6))
    assert np.exp(np.mean(np.log(ratios))) < 1.2


@pytest.mark.long(every=50)
@pytest.mark.parametrize("n", [10, 16, 24, 40])
def test_a_season_that_is_named_is_known_after_two_cycles(n):
    ours, again = [], []
    for seed in range(12):
        rng = np.random.default_rng([seed, n, 2])
        y = np.tile(rng.normal(0.0, 10.0, 4), 20)[: n + 8] + rng.normal(size=n + 8)
        model = OnlineForecaster(8, season_lengths=(4,)).fit(y[:-8])
        ours.append(np.abs(model.predict() - y[-8:]).mean())
        again.append(np.abs(np.tile(y[n - 4 : n], 2) - y[n:]).mean())
    assert np.mean(ours) < (1.6 if n < 16 else 1.0) * np.mean(again)


def test_units_and_levels_do_not_matter():
    y = 100.0 + 3.0 * np.arange(20.0) + np.random.default_rng(0).normal(size=20)
    one, other = (OnlineForecaster(6).fit(rows).predict() for rows in (y, -1e4 + 1e3 * (-y)))
    assert_allclose(other, -1e4 - 1e3 * one, rtol=1e-6)


def test_steps_that_nobody_judged_are_lent_the_weights_of_the_last_that_was():
    errors = np.array([[0.1, 0.2, 0.0, 0.0], [0.3, 0.3, 0.0, 0.0]])[:, :, None] * 0.01
    weight = np.array([0.02, 0.01, 0.0, 0.0])[:, None]
    found = _powers.of_series(errors, weight)[..., 0]
    assert_allclose(found[:, 0], _powers.weights(errors[:, 0])[:, 0])
    assert_allclose(found[:, 2:], found[:, 1:2].repeat(2, axis=1))
    own = _powers.weights(errors[:, 1])[:, 0]
    assert own[0] < found[0, 1] < found[0, 0]  # it has heard of the step before


def test_who_knows_enough_is_lent_nothing():
    rng = np.random.default_rng(1)
    errors, weight = rng.uniform(size=(5, 3, 1)), np.full((3, 1), 64 * (1.0 - _powers.FADING))
    assert_allclose(_powers.of_series(errors, weight), _powers.weights(errors))
    few = _powers.of_series(errors, 0.9 * weight)
    assert np.abs(few - _powers.weights(errors)).max() > 1e-3


def test_regressions_are_expected_to_be_no_better_than_chance():
    state = _mixture.start(6, 2, 1)
    shares = _mixture._shares(state)
    assert (shares[0] > 0.98).all()


def test_first_rates_are_those_of_means_and_lines():
    state = _smoothing.start(3, 1)
    rows = np.array([3.0, 7.0, 4.0, 10.0, 6.0])
    for t, row in enumerate(rows):
        _smoothing.learn(state, np.array([row]), np.array([t == 0]))
    rates = _smoothing_rates.RATES
    slow = rates[_smoothing_rates.STEADY, :, 0] == 0.02
    assert_allclose(state["level"][_smoothing_rates.STEADY, slow], rows.mean())
    line = np.polyfit(np.arange(-1, 5), [3.0, *rows], 1)
    level, slope = _smoothing_rates.first_rates(np.array([0.0]))[0][:, 0, 0], None
    assert_allclose(level[[_smoothing_rates.STEADY, _smoothing_rates.SLOPED]], [1.0, 1.0])
    # without damping the recursion is least squares through a row before the first, too
    level, slope, before = 3.0, 0.0, 0
    for n, row in enumerate(rows):
        a, b = (rate[_smoothing_rates.SLOPED, 0, 0] for rate in _smoothing_rates.first_rates([n]))
        error = row - level - slope
        level, slope = level + slope + a * error, slope + b * error
    assert before == 0
    assert_allclose((slope, level), (line[0], np.polyval(line, 4)), rtol=1e-9)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("n", [20, 40])  # a look amid a block brings the rows so far into sums
@pytest.mark.parametrize("size", [0.0, 5.0])
def test_what_a_twin_learns_is_not_heard_by_the_model(n, size):
    y = 100.0 + 2.0 * np.arange(60.0) + np.random.default_rng(0).normal(size=60)
    y += size * np.tile([1.0, -1.0, 2.0, -2.0], 15)
    model, whole = OnlineForecaster(2).fit(y[:n]), OnlineForecaster(2).fit(y)
    twin = copy.copy(model)
    for _ in range(12):
        twin.partial_fit([7.0])
    model.partial_fit(y[n:])
    assert_allclose(model.predict(), whole.predict(), rtol=1e-12)
    assert_allclose(from_bytes(to_bytes(whole)).predict(), whole.predict(), rtol=1e-12)


@pytest.mark.parametrize("n", [12, 20, 31])
def test_a_fault_before_there_is_a_fence_costs_no_more_than_itself(n):
    rng = np.random.default_rng(n)
    y = 100.0 + 3.0 * np.arange(n + 6.0) + rng.normal(size=n + 6)
    for at in (0, 1, n - 3, n - 2, n - 1):
        rows = y[:n].copy()
        rows[at] = 1e6
        forecasts = OnlineForecaster(6).fit(rows).predict()
        assert (np.abs(forecasts) < 4e6).all()  # up to 1.6e10 where regressions heard of it


@pytest.mark.parametrize(("name", "value"), [("n_learnt", -1.0), ("losses", -1.0)])
def test_files_with_smoothing_that_is_none_are_refused(name, value):
    model = OnlineForecaster(2, windows=(3, 4, 6)).fit(np.arange(40.0) % 7)
    model._state["smoothing"][name] = np.full_like(model._state["smoothing"][name], value)
    with pytest.raises(ValueError, match=r"numbers|state|model"):
        from_bytes(to_bytes(model))


def test_first_rates_are_over_when_nobody_asks_for_them():
    rates, n = _smoothing_rates.rates(), np.array([float(_smoothing_rates.FIRST_ROWS)])
    level, slope = _smoothing_rates.first_rates(n)
    assert (level <= rates[0]).all()
    assert (slope <= rates[3]).all()


def test_of_what_never_moved_nothing_is_said():
    y = np.full((60, 3), 5.0)
    y[:59, 2] = np.nan
    y[:50, 1] = np.nan
    ends = OnlineForecaster(2, windows=(3, 4, 6)).fit(y).predict_interval(coverage=[0.9])
    assert (ends[:, 0, 0] == 5.0).all()
    assert np.isinf(ends[:, 1:]).all()


def test_what_begins_anew_is_heard_in_the_units_of_its_time():
    rng = np.random.default_rng(3)
    steps = np.where(np.arange(40) < 24, 1.0, 30.0) * rng.normal(size=40)
    y = 1e4 + steps.cumsum()  # whose unit has grown
    place = OnlineForecaster(4).fit(y[:31]).expert_names_.index("smoothing of logarithms")
    before, after = (OnlineForecaster(4).fit(y[:n]).expert_weights_[..., place] for n in (31, 32))
    assert np.abs(after - before).max() < 0.2


@pytest.mark.parametrize(("freq", "length", "n"), [("QS", 4, 31), ("MS", 12, 31), ("D", 7, 31)])
def test_a_cycle_of_the_calendar_is_seen_in_few_rows(freq, length, n):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    shape = 10.0 * rng.normal(size=length)
    y = 100.0 + shape[np.arange(n + 1) % length] + rng.normal(size=n + 1)
    dated = pandas.Series(y, pandas.date_range("2010-01-01", periods=n + 1, freq=freq))
    said = [OnlineForecaster().prequential_predict(one)[-4:, 0] for one in (dated, y)]
    errors = [np.abs(one - y[-4:]).mean() for one in said]
    assert errors[0] < 0.7 * errors[1]
