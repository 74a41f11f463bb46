"""A number beyond all values and 0 stands for none, in season and with any last digits."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import OnlineForecaster

from .test_new_levels import stream

pytestmark = pytest.mark.filterwarnings("ignore:More than one in twenty")


def forecasts(y, seed=0, **settings):
    return OnlineForecaster(random_state=seed, **settings).prequential_predict(y).ravel()


def told_as_well(y, faulty, written):
    """Tell whether forecasts of late rows are those of a twin that is told which are missing."""
    ours, theirs = forecasts(np.where(faulty, written, y)), forecasts(np.where(faulty, np.nan, y))
    keep = ~faulty & (np.arange(len(y)) >= 72)
    loss, least = (np.mean((said - y)[keep] ** 2) for said in (ours, theirs))
    return loss <= 1.05 * least


@pytest.mark.parametrize(
    ("first", "season", "n_out", "number"),
    [
        (3, 24, 1, -9999.0),
        pytest.param(50, 24, 3, -9999.0, marks=pytest.mark.long),
        pytest.param(0, 24, 3, 9999.0, marks=pytest.mark.long),
        pytest.param(60, 60, 12, -9999.0, marks=pytest.mark.long),
        pytest.param(6, 7, 1, -500.0, marks=pytest.mark.long),
        pytest.param(290, 24, 2, -9999.0, marks=pytest.mark.long),
    ],
)
def test_a_number_beyond_all_is_none_though_it_comes_in_season(first, season, n_out, number):
    n = first + 200
    y, _ = stream(first, n, effect=0.0)
    t = np.arange(n)
    assert told_as_well(y, (t >= first) & ((t - first) % season < n_out), number)


@pytest.mark.parametrize("closed", [0.0, 60.0])
def test_what_is_closed_in_season_is_believed(closed):
    y, _ = stream(1, 150, effect=0.0)
    y[np.arange(150) % 24 < 6] = closed
    model = OnlineForecaster()
    said = model.prequential_predict(y).ravel()
    assert model.n_faulty_ == [0]
    assert np.abs(said[100:] - y[100:])[y[100:] == closed].mean() < 5.0


@pytest.mark.parametrize(
    ("level", "start", "n_out"),
    [
        (100.0, 90, 3),
        pytest.param(100.0, 90, 31, marks=pytest.mark.long),
        pytest.param(-300.0, 200, 3, marks=pytest.mark.long),
    ],
)
def test_an_outage_may_have_any_last_digits(level, start, n_out):
    n = start + n_out + 100
    y, _ = stream(start, n, effect=0.0)
    y += level - 100.0
    sign = 1.0 if level < 0.0 else -1.0
    jitter = np.random.default_rng(start).normal(size=n).round(1)
    t = np.arange(n)
    assert told_as_well(y, (t >= start) & (t < start + n_out), sign * 9999.0 + jitter)


@pytest.mark.long
@pytest.mark.parametrize(
    ("level", "step", "n_rows"), [(100, 1e3, 3), (0, 1e3, 3), (100, -1e3, 32), (1000, -1950, 3)]
)
def test_a_level_on_the_other_side_is_believed_later(level, step, n_rows):
    y, _ = stream(0, 200, effect=0.0)
    y += level - 100.0
    y[100:] += step
    model = OnlineForecaster()
    said = model.prequential_predict(y).ravel()
    assert np.abs(said - y)[100 : 100 + n_rows].min() > 0.5 * abs(step)
    assert np.abs(said - y)[101 + n_rows :].max() < 40.0
    assert_array_equal(model.n_faulty_, [n_rows - 1])
