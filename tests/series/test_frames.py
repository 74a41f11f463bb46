"""Series as frames: their index is held against what came before, and forecasts continue it."""

import pickle
from datetime import timedelta, timezone

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.utils import get_tags

from sklearn_okl import AdaptedForecaster, OnlineForecaster
from sklearn_okl.evaluation import backtest
from sklearn_okl.series import _seasons

pd = pytest.importorskip("pandas")
SMALL = {"windows": (3, 4, 6)}
SHOPS = [("north", "tea"), ("north", "milk")]


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


N_TOLD = 20
TOLD = {
    "days": pd.date_range("2024-01-01", periods=N_TOLD),
    "days of Berlin": pd.date_range("2024-03-25", periods=N_TOLD, tz="Europe/Berlin"),
    "weeks": pd.date_range("2024-01-01", periods=N_TOLD, freq="W"),
    "36 hours": pd.date_range("2024-01-01", periods=N_TOLD, freq="36h"),
    "hours": pd.date_range("2024-03-30 20:00", periods=N_TOLD, freq="h", tz="Europe/Berlin"),
    "an hour twice": pd.date_range("2024-10-27", periods=N_TOLD, freq="h", tz="UTC").tz_convert(
        "CET"
    ),
    "24 hours": pd.date_range("2024-03-25", periods=N_TOLD, freq="24h", tz="UTC").tz_convert(
        "Europe/Berlin"
    ),
    "business days": pd.date_range("2024-01-05", periods=N_TOLD, freq="B"),
    "months": pd.date_range("2024-01-01", periods=N_TOLD, freq="MS"),
    "ends of months": pd.date_range("2024-01-31", periods=N_TOLD, freq=pd.offsets.MonthEnd()),
    "last business days": pd.date_range("2024-01-31", periods=N_TOLD, freq=pd.offsets.BMonthEnd()),
    "quarters": pd.date_range("2024-02-01", periods=N_TOLD, freq="QS-FEB"),
    "years": pd.date_range("2000-12-31", periods=N_TOLD, freq=pd.offsets.YearEnd()),
    "days of bills": pd.date_range("2024-01-10", periods=N_TOLD, freq=pd.DateOffset(months=1)),
    "30th days": pd.date_range("2024-01-30", periods=N_TOLD, freq=pd.DateOffset(months=1, day=30)),
    "a day of years": pd.date_range("1990-07-04", periods=N_TOLD, freq=pd.DateOffset(years=1)),
    "numbers": pd.Index(np.arange(N_TOLD)),
    "even numbers": pd.Index(4 + 2 * np.arange(N_TOLD)),
    "multiples of seven": pd.Index(7 * np.arange(N_TOLD)),
}


def without_freq(index):
    return type(index)(list(index))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("gaps", ["refuse", "fill"])
@pytest.mark.parametrize("what", TOLD)
def test_labels_tell_the_step_however_rows_are_cut(what, gaps):
    index = TOLD[what]
    there = np.arange(17) if gaps == "refuse" else np.delete(np.arange(17), [1, 2, 5, 12])
    y = pd.Series(values(17)[there], index=without_freq(index)[there])
    model = OnlineForecaster(3, gaps=gaps, **SMALL)
    whole, fitted = clone(model), clone(model).fit(y)
    said = whole.prequential_predict(y)
    assert whole.n_samples_seen_ == 17
    assert_array_equal(whole.predict().index, index[17:])
    for first in (1, 2, 3):
        parts, told = clone(model), []
        for low, high in zip([0, *range(first, len(y))], range(first, len(y) + 1), strict=True):
            told.append(parts.prequential_predict(y[low:high]))
        assert_array_equal(np.concatenate(told), said)
        for other in (whole, fitted):
            assert_array_equal(parts.predict_interval(), other.predict_interval())
            assert pickle.dumps(parts._layout) == pickle.dumps(other._layout)


def test_a_step_that_no_label_tells_is_refused():
    for labels in (
        ["2024-01-14", "2024-02-14", "2024-03-15"],  # no day of business each
        ["2024-01-01 00:00:00", "2024-01-01 00:15:01", "2024-01-01 00:30:00"],
    ):
        y = pd.Series([1.0, 2.0, 3.0], index=pd.DatetimeIndex(labels))
        with pytest.raises(ValueError, match=r"not a whole number of steps .* its freq"):
            OnlineForecaster(gaps="fill").fit(y)


@pytest.mark.parametrize("what", ["days of bills", "30th days", "a day of years"])
def test_a_step_of_months_that_an_index_has_goes_on(what):
    index = TOLD[what]
    for zone in (None, "Europe/Berlin"):
        y = pd.Series(values(20), index=index.tz_localize(zone))
        y.index.freq = index.freq
        model = OnlineForecaster(3, **SMALL).fit(y[:10]).partial_fit(y[10:12]).partial_fit(y[12:17])
        assert_array_equal(model.predict().index, y.index[17:])
        again = OnlineForecaster(3, **SMALL).fit(y[:17]).predict().index
        assert OnlineForecaster(3, **SMALL).fit(pd.Series(values(3), again)).n_samples_seen_ == 3
    model = pickle.loads(pickle.dumps(model))
    assert_array_equal(model.partial_fit(y[17:18]).predict().index[:2], y.index[18:])
    with pytest.raises(ValueError, match=r"a gap in time"):
        OnlineForecaster(3, **SMALL).fit(y.drop(y.index[[3, 4]]))


def test_what_tells_no_step_is_told_by_labels_that_came():
    fridays = pd.date_range("2024-01-01", periods=12, freq="WOM-3FRI")
    told = r"has 2024-04-19 .* after 2024-03-15 .*to_period\('M'\)"
    with pytest.raises(ValueError, match=told):
        OnlineForecaster(3, **SMALL).fit(pd.Series(values(12), without_freq(fridays)))
    assert_array_equal(
        OnlineForecaster(3).fit(pd.Series(values(9), fridays[:9])).predict().index, fridays[9:]
    )


def test_one_label_tells_no_step_and_rows_without_any_tell_none():
    y = pd.Series(values(), index=without_freq(pd.date_range("2024-01-01", periods=60)))
    model = OnlineForecaster(3, **SMALL).fit(y[:1])
    assert isinstance(model.predict(), np.ndarray)
    model.partial_fit(y[1:30].to_numpy())
    assert isinstance(model.predict(), np.ndarray)
    model = OnlineForecaster(3, **SMALL).fit(y[:2]).partial_fit(y[2:57].to_numpy())
    assert_array_equal(model.predict().index, y.index[57:])


def test_columns_ahead_are_known_where_a_label_tells_another_step():
    index = without_freq(pd.date_range("2024-01-04", periods=12, freq="B"))  # from a Thursday on
    y = pd.Series(values(12), index=index)
    X = pd.DataFrame({"price": values(12) ** 2}, index=index)
    said = OnlineForecaster(3, **SMALL).prequential_predict(y[:9], X[:9], X[9:])
    parts, told = OnlineForecaster(3, **SMALL), []
    for t in range(9):
        ahead = X[t + 1 : t + 4].to_numpy()
        told.append(parts.prequential_predict(y[t : t + 1], X[t : t + 1], ahead)[0])
    assert_array_equal(told, said)
    assert np.isfinite(said[1:]).all()


def test_a_model_is_drawn_once_though_it_begins_anew():
    y = pd.Series(values(20), index=without_freq(pd.date_range("2024-01-05", periods=20, freq="B")))
    whole = OnlineForecaster(random_state=np.random.RandomState(3), **SMALL).fit(y)
    parts = OnlineForecaster(random_state=np.random.RandomState(3), **SMALL)
    for t in range(20):
        parts.partial_fit(y[t : t + 1])
    assert_array_equal(parts.predict(), whole.predict())


def test_a_clock_that_changes_is_no_other_season():
    index = pd.date_range("2024-03-25", periods=240, freq="h", tz="Europe/Berlin")
    days = np.sin(2 * np.pi * np.arange(240) / 24.0)
    y = pd.Series(days + 0.1 * values(240), index=index)
    whole = OnlineForecaster(3, **SMALL).fit(y)
    parts = OnlineForecaster(3, **SMALL)
    for low in range(0, 240, 20):
        parts.partial_fit(y[low : low + 20])
    assert_array_equal(parts.predict(), whole.predict())


LABELS = {
    "dates": pd.date_range("2024-01-01", periods=60),
    "dates with": pd.date_range("2024-01-01", periods=60, tz="Europe/Berlin"),
    "periods": pd.period_range("2024-01-01", periods=60, freq="D"),
    "periods of h": pd.period_range("2024-01-01", periods=60, freq="h"),
    "numbers": pd.RangeIndex(5, 65),
}


@pytest.mark.parametrize("before", LABELS)
def test_labels_of_another_kind_are_refused(before):
    model = OnlineForecaster(**SMALL).fit(pd.Series(values(30), index=LABELS[before][:30]))
    for other in LABELS.keys() - {before}:
        with pytest.raises(ValueError, match=r"The index of y holds"):
            model.partial_fit(pd.Series(values(30), index=LABELS[other][30:]))
        first = OnlineForecaster(**SMALL).fit(pd.Series([1.0], index=LABELS[before][[0]]))
        with pytest.raises(ValueError, match=r"The index of y holds"):
            first.partial_fit(pd.Series(values(30), index=LABELS[other][30:]))
    for kind in ("dates", "periods"):
        index = LABELS[kind].insert(3, pd.NaT)
        with pytest.raises(ValueError, match="has 1 label of NaT"):
            model.partial_fit(pd.Series(values(61), index=index))


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


@pytest.mark.parametrize("names", [("load", None), (None, "load"), (None, None), ("load", "load")])
def test_a_series_without_a_name_goes_on_whatever_its_name_was(names):
    index = pd.date_range("2024-01-01", periods=61, freq="h")
    y = values(61)
    model = OnlineForecaster(2, **SMALL).fit(pd.Series(y[:60], index[:60], name=names[0]))
    model.partial_fit(pd.Series(y[60:], index[60:], name=names[1]))
    assert model.predict().name == names[0]
    with pytest.raises(ValueError, match="Give the same series"):
        OnlineForecaster(2, **SMALL).fit(pd.Series(y, name="a")).partial_fit(pd.Series(y, name="b"))


@pytest.mark.long(every=4)
@pytest.mark.parametrize("has_columns", [False, True])
@pytest.mark.parametrize("kind", ["datetimes", "datetimes in a zone", "dates", "periods"])
def test_dates_in_an_index_of_objects_are_dates(kind, has_columns):
    """They were not looked at: no calendar, no labels, and gaps were no gaps."""
    index = pd.date_range("2024-01-01", periods=60, tz="UTC" if "zone" in kind else None)
    index = index.to_period() if kind == "periods" else index
    labels = [label.date() for label in index] if kind == "dates" else list(index)
    if kind.startswith("datetimes"):
        labels = list(index.to_pydatetime())
    X = pd.DataFrame({"a": values()[::-1]}) if has_columns else None
    said = []
    for one in (index, pd.Index(labels, dtype=object)):
        columns = None if X is None else X.set_axis(one)
        there = pd.Series(values(), one), columns
        said.append(
            OnlineForecaster(2, **SMALL)
            .fit(*there)
            .predict(values()[:2, None] if has_columns else None)
        )
    pd.testing.assert_series_equal(*[one.set_axis(one.index.astype(object)) for one in said])
    assert type(said[1].index) is type(index)


@pytest.mark.parametrize("name", ["y", "X"])
def test_durations_and_sparse_matrices_are_refused_as_what_they_are(name):
    """They were called dates, and values that are no numbers."""
    durations = pd.DataFrame({"a": pd.timedelta_range("1h", periods=60, freq="h")})
    for given, said in ((durations, "'a' of . holds durations"), (csr_array(np.eye(60)), "sparse")):
        y, X = (given, None) if name == "y" else (values(), given)
        with pytest.raises(TypeError, match=said):
            OnlineForecaster(2, **SMALL).fit(y, X)


def test_columns_of_several_levels_come_out_with_their_levels():
    """They were tuples, and no level could be chosen."""
    y = pd.DataFrame(np.c_[values(), values()[::-1]], columns=pd.MultiIndex.from_tuples(SHOPS))
    y.index = pd.date_range("2024-01-01", periods=60)
    said = OnlineForecaster(2, **SMALL).fit(y).predict()
    pd.testing.assert_index_equal(said.columns, y.columns)
    assert list(said["north"].columns) == ["tea", "milk"]


@pytest.mark.parametrize("mask", [[True, False], np.array([False, True])])
def test_a_mask_of_columns_known_ahead_is_refused(mask):
    # True and False were the columns 1 and 0
    with pytest.raises(ValueError, match="is a mask"):
        OnlineForecaster(2, known_ahead=mask, **SMALL).fit(values(), np.ones((60, 2)))


@pytest.mark.parametrize("as_frame", [False, True])
def test_complex_numbers_are_refused_as_what_they_are(as_frame):
    y = values() + 1j
    with pytest.raises(ValueError, match=r"complex numbers.*\.real"):
        OnlineForecaster(2, **SMALL).fit(pd.DataFrame({"a": y}) if as_frame else y)


@pytest.mark.long(every=7)
@pytest.mark.parametrize("has_freq", [False, True])
@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin", "dateutil/Europe/Berlin", "+02:00"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_dates_come_out_in_the_unit_and_zone_in_which_they_went_in(unit, zone, has_freq):
    """What came out was in microseconds, whatever went in, and a zone of dateutil an error."""
    try:
        index = pd.date_range("2024-01-01", periods=62, freq="h", tz=zone).as_unit(unit)
    except AttributeError:
        pytest.skip("the oldest pandas makes no dates in a zone of today's dateutil")
    given = index[:60] if has_freq else pd.DatetimeIndex(list(index[:60])).as_unit(unit)
    y = pd.Series(values(), given)
    at_once = OnlineForecaster(2, **SMALL).fit(y)
    one_by_one = OnlineForecaster(2, **SMALL)
    for k in range(0, 60, 7):
        one_by_one.partial_fit(y[k : k + 7])
    for model in (at_once, one_by_one):
        said = model.predict()
        assert said.index.dtype == index.dtype
        pd.testing.assert_index_equal(said.index, index[60:], exact="equiv")
        ends = model.predict_interval(coverage=[0.8], as_frame="wide")
        assert ends.index.dtype == index.dtype
        model.partial_fit(pd.Series([0.0], index[60:61].as_unit("ns")))
        assert model.predict().index.dtype == index.dtype
    assert backtest(at_once, y, origins=[50]).records["origin"].dtype == index.dtype


def test_a_zone_that_has_a_name_of_its_own_is_its_offset():
    zone = timezone(timedelta(hours=10), "EST")  # of Australia
    index = pd.date_range("2024-01-01", periods=62, freq="h", tz=zone)
    said = OnlineForecaster(2, **SMALL).fit(pd.Series(values(), index[:60])).predict()
    assert list(said.index) == list(index[60:])
    assert said.index[0].utcoffset() == timedelta(hours=10)


def test_a_step_that_later_labels_tell_may_be_finer_than_the_first_unit():
    index = pd.date_range("2024-01-01", periods=62, freq="500ms", unit="ms")
    model = OnlineForecaster(2, **SMALL).fit(
        pd.Series([1.0], pd.DatetimeIndex(["2024-01-01"]).as_unit("s"))
    )
    model.partial_fit(pd.Series(values()[1:], pd.DatetimeIndex(list(index[1:60])).as_unit("ms")))
    assert list(model.predict().index) == list(index[60:])


@pytest.mark.long(every=4)
@pytest.mark.parametrize("freq", ["SMS", "2SMS", "SM"])
@pytest.mark.parametrize("first", ["2023-01-20", "2024-02-01"])
@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
def test_half_months_need_no_freq(freq, first, zone):
    """They were refused, as days of which 14 are a step."""
    offset = pd.offsets.SemiMonthEnd() if freq == "SM" else freq
    index = pd.date_range(first, periods=40, freq=offset, tz=zone)
    y = values(40)
    told = pd.DatetimeIndex(list(index))
    at_once = OnlineForecaster(2, **SMALL).fit(pd.Series(y[:38], told[:38])).predict()
    assert list(at_once.index) == list(index[38:])
    one_by_one = OnlineForecaster(2, **SMALL)
    for k in range(38):
        one_by_one.partial_fit(pd.Series(y[k : k + 1], told[k : k + 1]))
    pd.testing.assert_series_equal(one_by_one.predict(), at_once)
    with_a_gap = pd.Series(y[:38], told[:38]).drop(told[20])
    with pytest.raises(ValueError, match="There is a gap in time: 1 row is missing"):
        OnlineForecaster(2, **SMALL).fit(with_a_gap)


def test_fortnights_are_no_half_months():
    index = pd.DatetimeIndex(["2023-02-01", "2023-02-15", "2023-03-01", "2023-03-15", "2023-03-29"])
    said = OnlineForecaster(1, **SMALL).fit(pd.Series(values(4), index[:4])).predict()
    assert list(said.index) == list(index[4:])


@pytest.mark.long(every=5)
@pytest.mark.parametrize("is_forward", [True, False])
@pytest.mark.parametrize("zone", ["America/Santiago", "Africa/Cairo", "America/Havana"])
@pytest.mark.parametrize("cut", [1, 7, 120])
def test_days_go_on_where_the_clock_is_put_forward_or_back_at_midnight(zone, cut, is_forward):
    days = pd.date_range("2023-07-01", periods=480, freq="D")
    index = days.tz_localize(zone, nonexistent="shift_forward", ambiguous=np.ones(480, dtype=bool))
    hours = np.diff([label.utcoffset() for label in index]) / timedelta(hours=1)
    changes = np.flatnonzero(hours > 0 if is_forward else hours < 0) + 1
    place = int(changes[changes > 60][0])
    assert not is_forward or index.hour[place] == 1  # that day begins later
    y = pd.Series(values(480), index=pd.DatetimeIndex(list(index)))[place - 60 : place + 60]
    model = OnlineForecaster(7, **SMALL)
    for low in range(0, 120, cut):
        model.partial_fit(y[low : low + cut])
        if low in range(50, 70):
            last = place - 60 + low + cut
            assert list(model.predict().index) == list(index[last : last + 7])
    assert list(model.predict().index) == list(index[place + 60 : place + 67])
    assert model.n_samples_seen_ == 120


def test_days_off_of_ones_own_are_refused_with_a_sentence():
    offset = pd.offsets.CustomBusinessDay(holidays=["2024-01-10"])
    y = pd.Series(values(), index=pd.date_range("2024-01-02", periods=60, freq=offset))
    with pytest.raises(ValueError, match="own days off are not kept"):
        OnlineForecaster(3, **SMALL).fit(y)
    model = OnlineForecaster(3, gaps="fill", **SMALL).fit(y.asfreq("B"))
    assert model.n_samples_seen_ == 61


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ["boolean", "Int64", "Float64"])
@pytest.mark.parametrize("as_frame", [False, True])
def test_what_is_missing_in_nullable_types_is_missing(kind, as_frame):
    numbers = np.arange(60.0) % 2
    numbers[[5, 20]] = np.nan
    y = pd.Series(numbers).astype(kind)
    X = pd.DataFrame({"a": y, "b": np.arange(60.0)})
    series = pd.DataFrame({"y": y, "z": np.arange(60)}) if as_frame else y
    plain = np.c_[numbers, np.arange(60)] if as_frame else numbers
    given, wanted = (OnlineForecaster(2, **SMALL) for _ in range(2))
    given.fit(series, X)
    wanted.fit(plain, X.to_numpy(dtype=float, na_value=np.nan))
    future = np.array([[0.0, 60.0], [1.0, 61.0]])
    assert_array_equal(given.predict(future), wanted.predict(future))


def test_columns_that_share_a_name_are_refused():
    X = np.random.default_rng(0).normal(size=(60, 2))
    frame = pd.DataFrame(X, columns=["t", "t"])
    with pytest.raises(ValueError, match="several columns of the names"):
        OnlineForecaster(3, **SMALL).fit(values(), frame)
    model = OnlineForecaster(3, **SMALL).fit(values(), X)
    with pytest.raises(ValueError, match="several columns of the names"):
        model.predict(frame[:3])
