"""First rows in another unit are as if they were missing, once others have told."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _first_rows

from .test_new_levels import stream


def loss(y, truth, after, seed=0):
    said = OnlineForecaster(random_state=seed).prequential_predict(y).ravel()
    return np.mean((said - truth)[after:] ** 2)


@pytest.mark.parametrize(("n_first", "factor"), [(5, 1000.0), (20, 100.0), (50, 1000.0)])
def test_first_rows_in_another_unit_cost_nothing_later(n_first, factor):
    after = max(2 * n_first, n_first + 32) + 16
    y, _ = stream(n_first, after + 100, effect=0.0)
    spoilt, told = y.copy(), y.copy()
    spoilt[:n_first] *= factor
    told[:n_first] = np.nan
    assert loss(spoilt, y, after) <= 1.1 * loss(told, y, after)


@pytest.mark.filterwarnings("ignore:More than one in twenty")
def test_rows_are_counted_once_however_often_they_are_learnt_again():
    y, x = stream(0, 300)
    y[:20] *= 1000.0
    y[230] = 1e9
    model = OnlineForecaster().fit(y, x[:, None])
    assert model.n_samples_seen_ == 300
    assert model._state["t"] + model._state["n_silent"] == 300
    assert model.n_faulty_[0] >= 20


def found(values, columns=None, calendar=None):
    columns = np.empty((len(values), 0)) if columns is None else columns
    calendar = np.empty((len(values), 0)) if calendar is None else calendar
    rows = np.column_stack([values, columns])
    return _first_rows.of_other_units(rows, 1, calendar).sum(axis=0)


def test_what_comes_back_or_is_told_or_is_a_walk_is_no_other_unit():
    rng = np.random.default_rng(0)
    y = rng.normal(size=96)
    other = np.where(np.arange(96) < 20, 1000.0 + 100.0 * y, y)
    assert_array_equal(found(other), [20])
    back = other.copy()
    back[80:83] = 1000.0, 1010.0, 990.0
    assert_array_equal(found(back), [0])
    odd = other.copy()
    odd[80:83] = -9999.0
    assert_array_equal(found(odd), [20])
    assert_array_equal(found(np.where(np.arange(96) < 40, 1000.0 + y, y)), [0])  # the fence sees it
    outage = np.where((np.arange(96) >= 5) & (np.arange(96) < 40), 1000.0 + y, y)
    assert_array_equal(found(outage), [40])  # it would not
    flag = (np.arange(96) < 20) * 1.0
    assert_array_equal(found(other, calendar=flag[:, None]), [0])
    # a column that is elsewhere itself tells nothing of the series
    assert_array_equal(found(other, columns=other), [20, 20])
    for walk in (np.cumsum(y), np.arange(96.0), np.exp(2.0 * y), np.zeros(96), y > 2.0):
        assert_array_equal(found(walk * 1.0), [0])
    assert_array_equal(found(np.where(np.arange(96) < 3, np.nan, other)), [20])
