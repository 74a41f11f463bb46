"""Series as frames: their index is held against what came before, and forecasts continue it."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.utils import get_tags

from sklearn_okl import AdaptedForecaster, OnlineForecaster
from sklearn_okl.series import _seasons

pd = pytest.importorskip("pandas")
SMALL = {"windows": (3, 4, 6)}


def values(n=60):
    return np.sin(np.arange(n) / 3.0) + np.random.default_rng(0).normal(size=n)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "index",
    [
        pd.date_range("2024-03-30", periods=63, freq="h", tz="Europe/Berlin"),  # clocks change
        pd.date_range("2024-01-01", periods=63, freq="15min"),
        pd.date_range("2015-01-01", periods=63, freq="MS"),
        pd.date_range("2024-01-01", periods=63, freq="B"),
        pd.period_range("2015-01", periods=63, freq="M"),
        pd.RangeIndex(5, 5 + 2 * 63, 2),
    ],
    ids=["hours", "quarters of an hour", "months", "weekdays", "periods", "numbers"],
)
def test_forecasts_continue_the_index(index):
    y = pd.Series(values(63), index=index, name="load")
    whole = OnlineForecaster(3, **SMALL).fit(y[:60])
    forecast = whole.predict()
    assert_array_equal(forecast.index, index[60:])
    assert forecast.name == "load"
    parts = OnlineForecaster(3, **SMALL).fit(y[:40])
    for t in range(40, 60):  # of one row no step can be seen
        parts.partial_fit(pd.Series(y.iloc[t], index=[index[t]], name="load"))
    assert_array_equal(parts.predict(), forecast)
    frame = OnlineForecaster(3, **SMALL).fit(y[:60].to_frame()).predict()
    assert list(frame.columns) == ["load"]
    assert_array_equal(frame["load"], forecast)


def test_gaps_in_time_are_missing_rows():
    index = pd.date_range("2024-01-01", periods=60, freq="h")
    y = pd.DataFrame({"a": values(), "b": values() ** 2}, index=index)
    there = np.delete(np.arange(60), [20, 21, 40])
    missing = y.copy()
    missing.iloc[[20, 21, 40]] = np.nan
    filling = OnlineForecaster(3, gaps="fill", **SMALL)
    forecasts = filling.prequential_predict(y.iloc[there])
    expected = OnlineForecaster(3, **SMALL).prequential_predict(missing)
    assert_array_equal(forecasts, expected[there])
    assert filling.n_samples_seen_ == 60


@pytest.mark.long
def test_the_clock_is_seen():
    index = pd.date_range("2024-01-01", periods=400, freq="h")
    busy = (index.hour == 9) * 5.0 + np.random.default_rng(0).normal(size=400)
    forecasts = OnlineForecaster(3, **SMALL).prequential_predict(pd.Series(busy, index=index))
    at_nine = index[200:397].hour == 9
    assert forecasts[200:397, 0][at_nine].mean() > 1.5
    assert abs(forecasts[200:397, 0][~at_nine].mean()) < 0.5


def test_series_may_have_columns_of_a_frame():
    index = pd.date_range("2024-01-01", periods=63, freq="D")
    X = pd.DataFrame({"price": values(63), "wind": values(63) ** 2}, index=index)
    y = pd.Series(values(63) + 3.0 * X["price"], index=index)
    model = OnlineForecaster(3, known_ahead=["price"], **SMALL).fit(y[:60], X[:60])
    forecast = model.predict(X[60:])
    assert_array_equal(forecast, model.predict(X[["price"]][60:]))
    assert_array_equal(forecast, model.predict(X[["wind", "price"]][60:]))
    arrays = OnlineForecaster(3, known_ahead=[0], **SMALL)
    assert arrays.fit(y[:60].to_numpy(), X[:60].to_numpy()).predict(X[60:]).shape == (3,)


def test_seasons_are_found_and_none_in_noise():
    time, rng = np.arange(600), np.random.default_rng(0)
    day, week = np.sin(2 * np.pi * time / 12), np.where(time % 84 < 24, 2.0, 0.0)
    noise = rng.normal(size=(600, 2))
    assert _seasons.found(day[:, None] + 0.5 * noise).tolist() == [12, 0, 0]
    assert _seasons.found((3 * day + week + 0.05 * time)[:, None] + 0.3 * noise).tolist() == [
        12,
        84,
        0,
    ]
    for n in (32, 64, 128, 600):
        assert _seasons.found(noise[:n]).tolist() == [0, 0, 0]
    assert _seasons.found(np.ones((100, 1))).tolist() == [0, 0, 0]


@pytest.mark.parametrize("seed", range(5))
def test_a_week_is_found_although_noise_moves_its_broad_peak(seed):
    time, noise = np.arange(1024), np.random.default_rng(seed).normal(size=1024)
    y = 2.0 * np.sin(2 * np.pi * time / 24) + np.sin(2 * np.pi * time / 168) + 0.5 * noise
    for n in (700, 1024):
        assert _seasons.found(y[:n, None]).tolist() == [24, 168, 0]


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_noise_is_forecast_by_its_mean(seed):
    # whatever the first values are: a unit taken from two of them may be anything
    y = np.random.default_rng(seed).normal(size=500)
    y[1] = y[0] + 1e-6
    forecasts = OnlineForecaster(4).prequential_predict(y)
    assert np.mean((forecasts[300:497, 0] - y[300:497]) ** 2) < 1.2 * np.var(y[300:497])


@pytest.mark.parametrize("model", [OnlineForecaster(3), AdaptedForecaster(3)], ids=repr)
def test_what_it_says_of_itself_is_so(model):
    tags = get_tags(model)
    assert tags.target_tags.required
    assert tags.target_tags.multi_output  # many series
    assert tags.input_tags.allow_nan  # and gaps
