"""What columns known ahead do is learnt whatever units, levels and gaps the first rows have."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineForecaster

NOISE = 0.25  # variance


def losses(forecasts, y, h, *ends):
    """Return the mean squared errors of step h (from 0) between some rows."""
    off = forecasts[: len(y) - h, h] - y[h:]
    return [float(np.nanmean(off[low - h : high - h] ** 2)) for low, high in pairwise(ends)]


def forecasts_of(x, y, horizon=6, **parameters):
    """Return what is forecast of all rows but the last ones, and their targets."""
    n = len(y) - horizon
    model = OnlineForecaster(horizon, **parameters)
    return model.prequential_predict(y[:n], x[:n, None], x[n:, None]), y[:n]


@pytest.mark.long(every=50)
@pytest.mark.parametrize("guard", [True, False])
@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("kind", ["runs of values", "runs of normals", "values", "rain"])
def test_a_line_is_learnt_whatever_the_first_rows_were(kind, seed, guard):
    rng = np.random.default_rng(seed)
    x = {
        "runs of values": lambda: np.repeat(rng.choice([20.0, 40.0, 60.0, 80.0], 30), 25),
        "runs of normals": lambda: np.repeat(20.0 * rng.normal(size=30), 25),
        "values": lambda: rng.choice([20.0, 40.0, 60.0, 80.0], 750),
        "rain": lambda: np.where(rng.random(750) < 0.04, rng.exponential(10.0, 750), 0.0),
    }[kind]()
    y = 0.9 * x + 0.5 * rng.normal(size=len(x))
    said, y = forecasts_of(x, y, guard=guard)
    for h in (0, 5):
        assert max(losses(said, y, h, 450, 600, 740)) <= 4.0 * NOISE


@pytest.mark.long(every=2)
@pytest.mark.parametrize("lead", [60, 300])
def test_what_a_column_does_that_was_off_at_first_is_known_when_it_is_off_again(lead):
    rng = np.random.default_rng(0)
    x = np.r_[np.zeros(lead), np.ones(200), np.zeros(20)]
    y = 10.0 + 50.0 * x + rng.normal(size=len(x))
    model = OnlineForecaster(6, guard=False).fit(y[:-20], x[:-20, None])
    before = model.predict(x[-20:-14, None])
    model.partial_fit(y[-20:-10], x[-20:-10, None])
    after = model.predict(x[-10:-4, None])
    assert (np.abs(before - 10.0) < 40.0).all()
    assert (np.abs(after - 10.0) < 15.0).all()


@pytest.mark.long
@pytest.mark.parametrize("pooled", [False, True])
def test_a_series_that_begins_late_or_pauses_learns_as_one_that_begins(pooled):
    rng = np.random.default_rng(1)
    x = rng.normal(size=1000)
    y = np.stack([x, 50.0 + 3.0 * x], axis=1) + 0.5 * rng.normal(size=(1000, 2))
    y[:600, 1] = np.nan
    model = OnlineForecaster(6, pooled=pooled)
    late = model.prequential_predict(y[:994], x[:994, None], x[994:, None])[..., 1]
    alone, own = forecasts_of(x[600:], y[600:, 1])
    for h in (0, 5):
        found = losses(late, y[:994, 1], h, 660, 700, 1000)
        assert_allclose(found, losses(alone, own, h, 60, 100, 400), rtol=0.6)
    y = y[:, 0] * 1.0
    y[50:600] = np.nan
    paused = forecasts_of(x, y)[0]
    assert max(losses(paused, y[:994], 5, 660, 700, 1000)) <= 2.0 * NOISE


@pytest.mark.long
def test_units_and_levels_of_columns_change_nothing():
    rng = np.random.default_rng(2)
    x, t = np.cumsum(rng.normal(size=300)), np.arange(300)
    y = 3.0 * x + np.sin(t / 4.0) + 0.1 * rng.normal(size=300)
    said, _ = forecasts_of(x, y)
    other, _ = forecasts_of(1e4 * x - 1e6, y)
    assert_allclose(other, said, rtol=1e-5, atol=1e-5)
    other, _ = forecasts_of(x, 7e3 * y)
    assert_allclose(other, 7e3 * said, rtol=1e-6)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_holidays_are_no_faults_each_time(seed):
    rng, x = np.random.default_rng(seed), np.zeros(910)
    x[[200, 365, 565, 730, 880]] = 1.0
    y = 100.0 - 60.0 * x + 3.0 * rng.normal(size=910)
    said, y = forecasts_of(x, y)
    off = [abs(said[t, 0] - y[t]) for t in (200, 365, 565, 730, 880)]
    assert off[0] > 40.0  # nobody knows yet
    assert np.mean(off[3:]) < 0.8 * off[0]
    rows = np.setdiff1d(np.arange(600, 900), [730, 880])
    assert np.mean((said[rows, 0] - y[rows]) ** 2) < 1.3 * 9.0


@pytest.mark.long
def test_a_fault_on_a_rare_day_is_bounded():
    rng, x = np.random.default_rng(0), np.zeros(910)
    x[[100, 200, 365, 565, 730, 880]] = 1.0
    y = 100.0 - 20.0 * x + 3.0 * rng.normal(size=910)
    y[365] = 1e6
    said, y = forecasts_of(x, y)
    assert max(abs(said[t, 0] - y[t]) for t in (565, 730, 880)) < 50.0
    rows = np.setdiff1d(np.arange(600, 900), [730, 880])
    assert np.mean((said[rows, 0] - y[rows]) ** 2) < 1.5 * 9.0


@pytest.mark.long
def test_amounts_over_orders_of_magnitude_are_no_faults():
    rng = np.random.default_rng(1)
    x = np.exp(1.2 * rng.normal(size=800))
    y = 5.0 + 2.0 * x + 0.5 * rng.normal(size=800)
    said, y = forecasts_of(x, y)
    assert losses(said, y, 5, 400, 790)[0] <= 4.0 * NOISE
    x[500] = -9999.0
    told, _ = forecasts_of(x, y=np.r_[y, np.zeros(6)])
    rows = np.r_[400:500, 501:790]
    assert np.mean((told[rows, 0] - y[rows]) ** 2) <= 4.0 * NOISE
