"""Features of dates: against the calendar of the standard library, by container, by time zone."""

import pickle
from datetime import UTC, date, datetime, timedelta
from math import cos, isnan, pi, sin

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks

from sklearn_okl import (
    CalendarFeatures,
    OnlineKernelRegressor,
    RunningImputer,
    VAWRegressor,
    make_streaming_pipeline,
)

ALL = ("hour_of_day", "day_of_week", "day_of_year", "month", "is_weekend", "years")
NAMES = [
    *("hour_of_day_sin", "hour_of_day_cos", "day_of_week_sin", "day_of_week_cos"),
    *("day_of_year_sin", "day_of_year_cos", "month", "is_weekend", "years"),
]


def moments(n=200, seed=0):
    """Return moments from 1900 to 2100, among them those at which something begins."""
    rng = np.random.default_rng(seed)
    start = datetime(1900, 1, 1)
    found = [start + timedelta(seconds=float(s)) for s in rng.uniform(0, 200 * 365.25 * 86400, n)]
    edges = [
        *(datetime(1970, 1, 1), datetime(1969, 12, 31, 23, 59, 59, 999999), datetime(2000, 2, 29)),
        *(datetime(2024, 12, 31, 23), datetime(2023, 12, 31), datetime(1900, 3, 1)),
    ]
    return edges + found


def by_definition(when):
    """Return all features of a moment on the wall."""
    if when is None:
        return [np.nan] * 9
    day = datetime(when.year, when.month, when.day)
    year, next_year = datetime(when.year, 1, 1), datetime(when.year + 1, 1, 1)
    angles = [
        (when - day) / timedelta(days=1),
        when.weekday() / 7,
        (day - year) / (next_year - year),
    ]
    circles = [f(2 * pi * angle) for angle in angles for f in (sin, cos)]
    years = (when - datetime(2000, 1, 1)) / timedelta(days=365.2425)
    return [*circles, when.month, float(when.weekday() >= 5), years]


def test_definition_in_any_container():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    found = [*moments(), None]
    expected = np.array([by_definition(when) for when in found])
    array = np.array(found, dtype="datetime64[us]")
    for rows in (
        array[:, None],
        array.astype(object)[:, None],
        [[when] for when in found],
        pd.DataFrame({"when": array}),
        pd.DataFrame({"when": pd.Series(found, dtype=object)}),
        pd.DataFrame({"when": array}).astype({"when": pd.ArrowDtype(pa.timestamp("us"))}),
        pl.DataFrame({"when": found}),
        pl.DataFrame({"when": found}).to_arrow(),
    ):
        model = CalendarFeatures(ALL)
        assert_allclose(model.transform(rows), expected, atol=1e-12)  # unfitted
        assert vars(model) == {"features": ALL}
        assert_allclose(model.fit(rows).transform(rows), expected, atol=1e-12)
    days = [when.date() for when in found[:-1]]
    expected = [by_definition(datetime(d.year, d.month, d.day)) for d in days]
    for rows in (np.array(days)[:, None], pl.DataFrame({"d": days}), pd.DataFrame({"d": days})):
        assert_allclose(CalendarFeatures(ALL).transform(rows), expected, atol=1e-12)


@pytest.mark.parametrize("kind", ["date32", "date64"])
def test_days_of_arrow_in_pandas(kind):
    pd, pa = pytest.importorskip("pandas"), pytest.importorskip("pyarrow")
    days = [date(2024, 2, 29), None, date(1969, 12, 31)]
    of_arrow = pd.ArrowDtype(getattr(pa, kind)())
    frame = pd.DataFrame({"day": pd.Series(days, dtype=of_arrow), "b": [1.0, 2.0, 3.0]})
    expected = [by_definition(d and datetime(d.year, d.month, d.day)) for d in days]
    found = CalendarFeatures(ALL).fit_transform(frame[["day"]])
    assert_allclose(found, expected, atol=1e-12)
    model = OnlineKernelRegressor(budget="tiny").fit(frame, np.arange(3.0))
    dates = frame.assign(day=pd.to_datetime(pd.Series(days, dtype=object)))
    assert_allclose(model.predict(frame), model.predict(dates))


def test_the_time_on_the_wall():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    zones = pytest.importorskip("zoneinfo")
    try:
        zone = zones.ZoneInfo("America/New_York")
    except zones.ZoneInfoNotFoundError:
        pytest.skip("no data of time zones")
    start = datetime(2024, 11, 2, 22, tzinfo=UTC)
    aware = [(start + timedelta(hours=h)).astimezone(zone) for h in range(24)]  # a clock put back
    expected = [by_definition(when.replace(tzinfo=None)) for when in aware]
    frame = pd.DataFrame({"when": pd.DatetimeIndex(aware)})
    assert str(frame["when"].dt.tz) == "America/New_York"
    polars = pl.DataFrame({"when": pl.Series(aware).dt.convert_time_zone("America/New_York")})
    rows = [frame, frame.astype(object), np.array(aware)[:, None], polars]
    pa = pytest.importorskip("pyarrow")
    rows += [polars.to_arrow(), frame.astype(pd.ArrowDtype(pa.timestamp("us", "America/New_York")))]
    for given in rows:
        assert_allclose(CalendarFeatures(ALL).fit_transform(given), expected, atol=1e-12)


def test_each_row_by_itself():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [*moments(20), pd.NaT], "b": pd.date_range("2024", periods=27)})
    model = CalendarFeatures().fit(frame[:1])
    Z, before = model.transform(frame), pickle.dumps(model)
    for t in range(27):
        for row in (frame[t : t + 1], frame[t : t + 1].astype(object), frame[t : t + 1].T.T):
            assert_array_equal(model.transform(row), Z[t : t + 1])
    assert pickle.dumps(model) == before
    assert np.isnan(Z[-1, :6]).all()
    assert not np.isnan(Z[-1, 6:]).any()


def test_names_and_containers():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame({"u": moments(3), "v": moments(3)})
    model = CalendarFeatures(ALL).fit(frame)
    names = [f"{column}_{name}" for column in "uv" for name in NAMES]
    assert model.get_feature_names_out().tolist() == names
    assert model.feature_names_in_.tolist() == ["u", "v"]
    assert (
        clone(model).set_output(transform="pandas").fit_transform(frame).columns.tolist() == names
    )
    polars = clone(model).set_output(transform="polars").fit_transform(pl.from_pandas(frame))
    assert polars.columns == names
    months = CalendarFeatures(("month",)).fit(frame.to_numpy())
    assert months.get_feature_names_out().tolist() == ["x0_month", "x1_month"]
    with pytest.raises(NotFittedError):
        CalendarFeatures().get_feature_names_out()


@pytest.mark.filterwarnings("ignore:X (has|does not have valid) feature names")
def test_what_is_refused():
    pd, pl = pytest.importorskip("pandas"), pytest.importorskip("polars")
    frame = pd.DataFrame({"u": moments(3)})
    model = CalendarFeatures().fit(frame)
    for bad, error, message in [
        (frame.assign(u=1.0), TypeError, "'u' holds values of type float"),
        (frame.assign(u="2024-01-01"), TypeError, "'u' holds .*to_datetime"),
        (frame.assign(u=pd.Timedelta(1)), TypeError, "'u' holds values of type timedelta64"),
        (frame.assign(u=[*moments(3)[:-1], 3.0]), TypeError, "'u' holds values of type float"),
        (pl.DataFrame({"u": ["2024-01-01"]}), TypeError, "'u' holds"),
        (frame.rename(columns={"u": "v"}), ValueError, "feature names"),
        (frame.assign(v=frame["u"]), ValueError, "feature names"),
        (np.array(moments(3))[:, None].repeat(2, axis=1), ValueError, "2 features"),
        (np.array(moments(3)), ValueError, "Expected 2D array"),
        (frame[:0], ValueError, "0 sample"),
    ]:
        with pytest.raises(error, match=message):
            model.transform(bad)
    for features in (("hour",), (), ("month", 3), ("month", {})):
        with pytest.raises(ValueError, match="give some of 'hour_of_day'"):
            CalendarFeatures(features).fit(frame)


CHECKS = [  # of scikit-learn, those that need no rows
    *("estimator_cloneable", "estimator_tags_renamed", "valid_tag_types", "estimator_repr"),
    *("no_attributes_set_in_init", "do_not_raise_errors_in_init_or_set_params", "mixin_order"),
    *("param_validation", "parameters_default_constructible"),
]


@pytest.mark.parametrize("check", CHECKS)
def test_checks_of_scikit_learn_without_rows(check):
    getattr(estimator_checks, f"check_{check}")("CalendarFeatures", CalendarFeatures())


@pytest.mark.long
@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_in_a_column_transformer_row_by_row(package):
    library = pytest.importorskip(package)
    n = 24 * 14
    start = datetime(2024, 3, 1)
    when = [start + timedelta(hours=h) for h in range(n)]
    y = np.array([sin(2 * pi * w.hour / 24) + 0.5 * cos(2 * pi * w.weekday() / 7) for w in when])
    holes = [None if h % 50 == 7 else w for h, w in enumerate(when)]
    frame = library.DataFrame({"when": holes, "x": np.ones(n)})
    step = ColumnTransformer([("calendar", CalendarFeatures(), ["when"])], remainder="passthrough")
    model = make_streaming_pipeline(step, RunningImputer(), VAWRegressor(0.1))
    whole = clone(model).prequential_predict(frame, y)
    single = clone(model)
    one = frame.iloc if hasattr(frame, "iloc") else frame
    rows = [single.prequential_predict(one[t : t + 1], y[t : t + 1]) for t in range(n)]
    assert_allclose(np.concatenate(rows), whole, rtol=1e-8, atol=1e-8)
    there = [h for h in range(200, n) if holes[h] is not None]
    assert np.mean((whole - y)[there] ** 2) < 0.02 * np.var(y)


def test_the_first_row_may_have_no_date():
    pd = pytest.importorskip("pandas")
    model = CalendarFeatures().fit(pd.DataFrame({"when": [None]}))
    Z = model.transform(pd.DataFrame({"when": [date(2024, 1, 1)]}))
    assert not any(isnan(value) for value in Z[0])
