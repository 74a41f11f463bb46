"""A time that cannot be read from labels is refused, and never dropped in silence."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import AdaptedForecaster, OnlineForecaster

DAYS = pd.date_range("2024-01-01", periods=60)
SMALL = {"windows": (4, 8, 24)}
STRANGE = {
    "text of dates": (DAYS.strftime("%Y-%m-%d"), r"looks like dates.*pd\.to_datetime"),
    "text of months": (DAYS.to_period("M").strftime("%Y-%m"), r"looks like dates"),
    "text of times": (DAYS.strftime("%d.%m.%Y %H:%M"), r"looks like dates"),
    "text without a dash": (DAYS.strftime("%Y%m%d"), r"looks like dates"),
    "durations": (DAYS - DAYS[0], r"holds durations.*Timestamp"),
    "levels": (pd.MultiIndex.from_product([["a", "b"], DAYS[:30]]), r"2 levels.*unstack"),
    "intervals": (pd.interval_range(pd.Timestamp("2024"), periods=60), r"holds intervals.*left"),
    "uneven fractions": (np.r_[np.arange(30) / 2, 20 + np.arange(30) / 2], r"fractions.*uneven"),
    "fractions that go back": (np.arange(60)[::-1] / 4, r"fractions.*out of order"),
}


def series(index=DAYS):
    return pd.Series(np.arange(60.0), index=index)


def forecaster(**arguments):
    return OnlineForecaster(2, **SMALL, **arguments)


@pytest.mark.parametrize("kind", STRANGE)
def test_a_time_that_cannot_be_read_is_refused(kind):
    index, told = STRANGE[kind]
    y = series(index)
    with pytest.raises(ValueError, match=f"index of y (?s:.*){told}"):
        forecaster().fit(y)
    dated = forecaster().fit(series()[:50])
    with pytest.raises(ValueError, match=f"index of y (?s:.*){told}"):
        dated.partial_fit(y)
    with pytest.raises(ValueError, match=r"index of y "):
        AdaptedForecaster(2).fit(y, np.zeros((60, 2)))
    assert dated.n_samples_seen_ == 50


def test_names_of_rows_are_no_time_and_none_goes_on_from_dates():
    names = [f"row {k}" for k in range(60)]
    plain = forecaster().fit(series().to_numpy())
    for index in (names, np.arange(60) / 4):
        named = forecaster().fit(series(index)[:50]).partial_fit(series(index)[50:])
        assert_array_equal(named.predict(), plain.predict())
    for known in (DAYS, DAYS.to_period()):
        model = forecaster().fit(series(known)[:50])
        with pytest.raises(ValueError, match=r"index of y holds labels such as 'row 50'.*an array"):
            model.partial_fit(series(names)[50:])
        with pytest.raises(ValueError, match=r"index of y holds labels such as 0\.25"):
            model.prequential_predict(series(np.arange(1, 61) / 4))
        assert model.n_samples_seen_ == 50


def test_columns_and_forecasts_of_a_base_are_of_dates_too():
    y, names = series(), [f"row {k}" for k in range(60)]
    X = pd.DataFrame({"price": np.arange(60.0) ** 2}, index=DAYS)
    model, told = forecaster().fit(y[:50], X[:50]), r"index of {} holds labels such as 'row 50'"
    with pytest.raises(ValueError, match=told.format("X")):
        model.partial_fit(y[50:].to_numpy(), X.set_axis(names)[50:])
    with pytest.raises(ValueError, match=told.format("X_future")):
        model.predict(X.set_axis(names)[50:52])
    with pytest.raises(ValueError, match=r"index of X_future holds text that looks like dates"):
        model.predict(X.set_axis(DAYS.strftime("%Y-%m-%d"))[50:52])
    base = pd.DataFrame(np.zeros((60, 2)), index=DAYS)
    model = AdaptedForecaster(2, forecaster=forecaster()).fit(y[:50], base[:50])
    with pytest.raises(ValueError, match=told.format("base_forecasts")):
        model.partial_fit(y[50:].to_numpy(), base.set_axis(names)[50:])
    with pytest.raises(ValueError, match=told.format("base_forecasts")):
        model.predict(pd.Series([0.0, 0.0], index=names[50:52]))


@pytest.mark.parametrize("dtype", [float, object])
def test_whole_numbers_are_numbers_whatever_they_are_kept_as(dtype):
    numbers = pd.Index(np.arange(60), dtype=dtype)
    y = series(numbers)
    assert_array_equal(forecaster().fit(y).predict().index, [60, 61])
    with pytest.raises(ValueError, match=r"a gap in time"):
        forecaster().fit(y.drop([20, 21]))
    with pytest.raises(ValueError, match=r"out of order"):
        forecaster().fit(y[::-1])


@pytest.mark.parametrize(
    "kind", ["timestamp[ns]", "timestamp[s, tz=UTC]", "date32", "date64", "int64", "category"]
)
def test_dates_are_dates_whatever_they_are_kept_as(kind):
    known = pd.RangeIndex(60) if kind == "int64" else DAYS
    known = known.tz_localize("UTC") if "UTC" in kind else known
    if kind == "category":
        other = pd.CategoricalIndex(known)
    else:
        pytest.importorskip("pyarrow")
        other = pd.Index(pd.Series(known).astype(f"{kind}[pyarrow]"))
    model, expected = (forecaster().fit(series(index)[:50]) for index in (other, known))
    pd.testing.assert_series_equal(model.predict(), expected.predict(), check_index=False)
    assert model.predict().index.equals(
        expected.predict().index.astype(model.predict().index.dtype)
    )
    assert model.partial_fit(series(known)[50:]).n_samples_seen_ == 60
    with pytest.raises(ValueError, match=r"a gap in time"):
        forecaster().fit(series(other).drop(other[[20, 21]]))
    with pytest.raises(ValueError, match=r"out of order"):
        forecaster().fit(series(other)[::-1])


def test_steps_count_rows_that_an_index_leaves_out():
    y = series().drop(DAYS[[40, 41]])
    said = forecaster(gaps="fill").prequential_predict(y)
    asked = forecaster(gaps="fill").fit(y[:39])
    assert_array_equal(said[39], asked.predict())  # of the rows 39 and 40 of all
    base = np.arange(58.0)[:, None] + [0.0, 1.0]  # what comes, by steps of time
    base[40:] += 2.0
    adapted = AdaptedForecaster(2, forecaster=forecaster(gaps="fill"))
    adapted.prequential_predict(y, base)
    assert (adapted.regret_certificate().experts[..., 0] >= 0.0).all()  # the base has no error
