"""A forecaster forecasts the rows that follow, or says in a sentence what is wrong."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.evaluation import ForecastFanDisplay

ZONE = "Europe/Berlin"


def stream(n=168, start="2024-03-25", zone=ZONE):
    """Hours around the change to summer time, on the 31st of March."""
    rng = np.random.default_rng(n)
    index = pd.date_range(start, periods=n, freq="h", tz=zone)
    X = pd.DataFrame(rng.normal(size=(n, 2)), index, columns=["wind", "sun"])
    hours = np.sin(2 * np.pi * index.hour.to_numpy() / 24)
    return pd.Series(hours + X["wind"] + 0.1 * rng.normal(size=n), index, name="load"), X


def forecaster(horizon=8, **arguments):
    return OnlineForecaster(horizon, windows=(4, 8, 24), **arguments)


@pytest.fixture(scope="module")
def taught():
    y, X = stream()
    return forecaster().fit(y[:120], X[:120]), y, X


@pytest.mark.long(every=2)
@pytest.mark.parametrize("verb", ["predict", "predict_interval"])
@pytest.mark.parametrize("container", ["dates", "naive", "numbers", "periods"])
def test_other_rows_than_those_that_follow_are_refused(verb, container, taught):
    _, y, X = taught
    y, X = y.copy(), X.copy()
    if container == "naive":
        y.index = X.index = pd.date_range("2024-01-01", periods=len(X), freq="D")
    if container == "numbers":
        y.index = X.index = pd.RangeIndex(7, 7 + len(X))
    if container == "periods":
        y.index = X.index = pd.period_range("2024-03-01", periods=len(X), freq="h")
    model = forecaster().fit(y[:120], X[:120])
    ask = getattr(model, verb)
    right = np.asarray(ask(X[120:128]))
    assert_array_equal(ask(X[120:128].to_numpy()), right)
    for wrong in (X[120:128][::-1], X[121:129], X[:8], X[112:120], X[120:136:2]):
        with pytest.raises(ValueError, match="the rows that follow are"):
            ask(wrong)
    unlabelled = X[120:128].reset_index(drop=True)
    if container != "numbers":
        assert_array_equal(ask(unlabelled), right)


def test_zones_name_the_same_rows(taught):
    model, y, X = taught
    expected = model.predict(X[120:128])
    assert_array_equal(model.predict(X[120:128].tz_convert("UTC")), expected)
    other = forecaster().fit(y[:100], X[:100].tz_convert("Asia/Tokyo"))
    other.partial_fit(y[100:120].tz_convert("UTC"), X[100:120].tz_convert("US/Eastern"))
    pd.testing.assert_series_equal(other.predict(X[120:128]), expected)
    with pytest.raises(ValueError, match="has the zone None, but the series has Europe/Berlin"):
        model.predict(X[120:128].tz_localize(None))


def test_fewer_rows_than_the_horizon_are_forecast(taught):
    model, y, X = taught
    whole, intervals = model.predict(X[120:128]), model.predict_interval(X[120:128])
    for n in (1, 5, 8):
        some = X[120 : 120 + n]
        pd.testing.assert_series_equal(model.predict(some), whole[:n])
        assert_allclose(model.predict_interval(some), intervals[:n])
        assert_allclose(model.predict_interval(some, n_steps=n), intervals[:n])
    plain = forecaster().fit(y[:120])
    for n in (1, 5, 8):
        pd.testing.assert_series_equal(plain.predict(n_steps=n), plain.predict()[:n])
        assert plain.predict_interval(n_steps=n).shape == (n, 2, 2)
    for wrong in (0, 9, -1, 2.5):
        with pytest.raises(ValueError, match="a whole number from 1 to horizon=8"):
            plain.predict(n_steps=wrong)
    with pytest.raises(ValueError, match="and X_future has 5 rows"):
        model.predict(X[120:125], n_steps=4)
    with pytest.raises(ValueError, match="X_future has 9 rows, but horizon=8"):
        model.predict(X[120:129])


@pytest.mark.long
def test_every_local_midnight_is_one_call():
    y, X = stream(24 * 9 - 1)
    model, lengths = forecaster(25), []
    for _, day in y.groupby(y.index.date):
        if len(lengths) > 3:
            forecasts = model.predict(X.loc[day.index])
            assert forecasts.index.equals(day.index)
        model.partial_fit(day, X.loc[day.index])
        lengths.append(len(day))
    assert sorted(set(lengths)) == [23, 24]


def polars_frame(y):
    pl = pytest.importorskip("polars")
    return pl.DataFrame({"when": y.index.tz_convert(None).to_numpy(), "load": y.to_numpy()})


def test_what_is_no_series_is_named(taught):
    _, y, X = taught
    model = forecaster()
    frame = polars_frame(y)
    cases = [
        ((frame,), "Column 'when' of y holds dates"),
        ((y.reset_index(),), "Column 'index' of y holds dates"),
        ((y.to_numpy(), frame), "Column 'when' of X holds dates"),
        ((y.index,), "y holds dates"),
        ((frame.lazy(),), r"y is a LazyFrame.*y\.collect\(\)"),
        ((y.to_numpy(), frame.lazy()), r"X is a LazyFrame.*X\.collect\(\)"),
    ]
    for given, named in cases:
        with pytest.raises(TypeError, match=named):
            model.fit(*given)
    for column in ("a", pd.Categorical(["a"] * len(X))):
        with pytest.raises(ValueError, match="Column 'kind' of X holds values that are no numbers"):
            model.fit(y, X.assign(kind=column))
    for series, columns in ((X, y), (X.to_numpy(), y.to_numpy())):
        with pytest.raises(ValueError, match=r"swapped.*fit\(y, X\)"):
            model.fit(series, columns)
    assert not hasattr(model, "_state")


def test_fans_show_the_time_on_the_wall(taught):
    model, y, X = taught
    plt = pytest.importorskip("matplotlib.pyplot")
    display = ForecastFanDisplay.from_forecaster(model, X[120:128], y_past=y[100:120])
    axis = display.ax_.xaxis
    assert str(axis.get_major_locator().tz) == ZONE
    display.figure_.canvas.draw()
    labels = [text.get_text() for text in display.ax_.get_xticklabels()]
    places = display.ax_.get_xticks()
    from matplotlib.dates import num2date

    walls = [num2date(place, tz=axis.get_major_locator().tz) for place in places]
    shown = [(w.hour, text) for w, text in zip(walls, labels, strict=True) if ":" in text]
    assert shown
    assert all(text == f"{hour:02d}:00" for hour, text in shown)
    plt.close(display.figure_)
