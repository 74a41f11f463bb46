"""A forecaster comes back from its bytes at any row, whatever has come until then."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import OnlineForecaster, from_bytes, to_bytes


@pytest.mark.long(every=4)
@pytest.mark.parametrize("n", [1, 5, 6, 7, 30])
@pytest.mark.parametrize("has_gap", [False, True])
def test_files_of_a_young_series_and_of_one_with_a_gap(n, has_gap):
    y = np.random.default_rng(n).normal(size=(n + 20, 2))
    if has_gap:
        y[max(n - 2, 0), 0] = np.nan
    model = OnlineForecaster(6).fit(y[:n])
    again = from_bytes(to_bytes(model))
    assert_array_equal(again.prequential_predict(y[n:]), model.prequential_predict(y[n:]))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("n", [20, 35, 70, 130])
def test_files_of_a_series_in_which_a_number_stands_for_none(n):
    rng = np.random.default_rng(n)
    y = rng.normal(size=(n + 20, 2))
    y[rng.uniform(size=y.shape) < 0.15] = -9999.0
    model = OnlineForecaster().fit(y[:n])
    again = from_bytes(to_bytes(model))
    assert_array_equal(again.prequential_predict(y[n:]), model.prequential_predict(y[n:]))


def test_files_of_a_young_panel_whose_errors_are_next_to_nothing():
    # 16 rows, told as they were forecast, and then one: what waits is to be found where it was
    y = [[np.nan, -0.31480037334398414, -1.1169430958078392], [0.4042611097851398, np.nan, np.nan]]
    model = OnlineForecaster(24, pooled=True).fit(np.array(y))
    assert_array_equal(from_bytes(to_bytes(model)).predict(), model.predict())


@pytest.mark.parametrize("n", [1, 2, 9])
def test_files_of_a_series_whose_labels_have_yet_to_tell_the_step(n):
    pd = pytest.importorskip("pandas")
    index = pd.DatetimeIndex(list(pd.date_range("2024-01-05", periods=30, freq="B")))
    y = pd.Series(np.random.default_rng(n).normal(size=30), index=index)
    model = OnlineForecaster(6).fit(y[:n])
    again = from_bytes(to_bytes(model))
    assert_array_equal(again.prequential_predict(y[n:]), model.prequential_predict(y[n:]))
