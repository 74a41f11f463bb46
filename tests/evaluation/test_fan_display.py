"""The fan of a forecaster, drawn."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl import (
    OnlineConformalRegressor,
    OnlineForecaster,
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import ForecastFanDisplay

pd = pytest.importorskip("pandas")
matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")
SMALL = {"windows": (3, 4, 6)}


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def frame(n=40):
    index = pd.date_range("2024-01-01", periods=n, freq="h")
    values = np.random.default_rng(0).normal([0.0, 50.0], size=(n, 2))
    return pd.DataFrame(values, index=index, columns=["load", "price"])


def test_a_fan_is_what_the_forecaster_says():
    y = frame()
    model = OnlineForecaster(4, **SMALL).fit(y[:36])
    arguments = {"coverage": [0.8, 0.5], "y_true": y[36:], "y_past": y[30:36], "series": "price"}
    display = ForecastFanDisplay.from_forecaster(model, **arguments)
    assert_array_equal(display.line_.get_ydata(), model.predict()["price"])
    assert_array_equal(display.intervals, model.predict_interval(coverage=[0.8, 0.5])[:, 1])
    assert_array_equal(display.times, y.index[36:])
    assert_array_equal(display.true_.get_ydata(), y["price"][36:])
    assert_array_equal(display.past_times, y.index[30:36])
    wide, narrow = (area.get_datalim(display.ax_.transData) for area in display.areas_)
    assert wide.y0 < narrow.y0 < narrow.y1 < wide.y1
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["Past", "What came", "Forecast", "50 %", "80 %"]
    again = display.plot(ax=plt.figure().add_subplot(), color="C3")
    assert again.line_.get_color() == "C3"


def test_arrays_count_rows_and_the_whole_line_is_not_drawn():
    intervals = np.array([[[-1.0, 1.0]], [[-np.inf, np.inf]], [[-2.0, 2.0]]])
    display = ForecastFanDisplay.from_predictions(
        [0.0, 1.0, 2.0], intervals, 0.9, y_past=[5.0, 6.0]
    )
    assert_array_equal(display.line_.get_xdata(), [0, 1, 2])
    assert_array_equal(display.past_.get_xdata(), [-2, -1])
    assert display.true_ is None
    assert np.isfinite(display.ax_.dataLim.get_points()).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"series": "wind"}, "none of the series: they are"),
        ({"series": 2}, "none of the series"),
        ({"coverage": [0.5, 0.8]}, "2 coverages"),
        ({"y_true": np.zeros((3, 2))}, "y_true has 3 rows"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, words):
    call = {"coverage": [0.9], **arguments}
    with pytest.raises(ValueError, match=words):
        ForecastFanDisplay.from_predictions(frame(4), np.zeros((4, 2, 1, 2)), **call)


def test_what_came_is_held_against_the_forecasts_of_an_estimator():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    model = OnlineConformalRegressor(VAWRegressor(), coverage=[0.5, 0.8]).fit(X, X[:, 0])
    display = ForecastFanDisplay.from_estimator(model, X[:5], coverage=[0.5, 0.8], y_true=X[:5, 0])
    assert_array_equal(display.intervals, model.predict_interval(X[:5]))
    assert_array_equal(display.true_.get_ydata(), X[:5, 0])
    for n in (4, 6):
        with pytest.raises(ValueError, match=f"y_true has {n} rows, but there are 5 forecasts"):
            ForecastFanDisplay.from_estimator(model, X[:5], coverage=[0.5, 0.8], y_true=X[:n, 0])
    with pytest.raises(ValueError, match="but this model follows coverage="):
        ForecastFanDisplay.from_estimator(model, X[:5], coverage=[0.5, 0.95])


@pytest.mark.parametrize("coverage", [0.9, [0.5, 0.8]])
def test_by_default_a_model_has_the_levels_that_it_follows(coverage):
    X = np.random.default_rng(0).normal(size=(40, 2))
    model = OnlineConformalRegressor(VAWRegressor(), coverage=coverage)
    for one in (model, make_streaming_pipeline(RunningStandardScaler(), model)):
        display = ForecastFanDisplay.from_estimator(one.fit(X, X[:, 0]), X[:5])
        assert_array_equal(display.coverage, np.atleast_1d(coverage))
        ends = one.predict_interval(X[:5], coverage)
        assert_array_equal(display.intervals, ends.reshape(display.intervals.shape))
    model = OnlineKernelRegressor(budget="tiny").fit(X, X[:, 0])
    assert len(ForecastFanDisplay.from_estimator(model, X[:5]).areas_) == 3


DAYS = pd.date_range("2024-01-01", periods=6)
AXES = {
    "levels": (pd.MultiIndex.from_product([["a", "b"], range(3)]), None),
    "intervals": (pd.interval_range(0, 6), None),
    "mixed": (pd.Index([1, "a", 2.0, None, "b", 3]), None),
    "names twice": (pd.Index(["a", "b"] * 3), None),
    "names": (pd.Index(list("abcdef")), list("abcdef")),
    "numbers": (pd.RangeIndex(5, 11), np.arange(5, 11)),
    "days": (pd.Index(DAYS.date), DAYS),
    "periods": (DAYS.to_period(), DAYS),
}


@pytest.mark.parametrize("kind", AXES)
def test_rows_whose_index_has_no_axis_are_numbered(kind):
    index, expected = AXES[kind]
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(6, 2)), index, columns=["a", "b"])
    model = OnlineConformalRegressor(VAWRegressor()).fit(rows, rows["a"])
    display = ForecastFanDisplay.from_estimator(model, rows)
    display.figure_.canvas.draw()
    known = display.line_.get_xdata() if display.times is None else display.times
    assert_array_equal(known, np.arange(6) if expected is None else expected)
