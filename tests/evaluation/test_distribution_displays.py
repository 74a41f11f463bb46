"""Coverage over time, the histogram of the PIT, and fans over rows, drawn."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.evaluation import (
    CoverageDisplay,
    ForecastFanDisplay,
    PITDisplay,
    coverage_by_window,
    pit_from_quantiles,
)

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


def test_coverage_is_drawn_window_by_window():
    y = np.random.default_rng(0).normal(size=1050)
    intervals = np.tile([[-0.7, 0.7], [-1.6, 1.6]], (1050, 1, 1))
    display = CoverageDisplay.from_predictions(y, intervals, [0.5, 0.9], window=100)
    wide, narrow = display.lines_
    assert_array_equal(wide.get_xdata(), np.arange(100, 1001, 100))
    held = coverage_by_window(y, intervals, 100)
    assert_allclose(wide.get_ydata(), held[:, 1])
    assert_allclose(narrow.get_ydata(), held[:, 0])
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["90 %", "50 %"]
    again = display.plot(ax=plt.figure().add_subplot(), linewidth=3.0)
    assert again.lines_[0].get_linewidth() == 3.0
    with pytest.raises(ValueError, match="intervals of 2 levels"):
        CoverageDisplay.from_predictions(y, intervals, 0.9)


def test_the_histogram_counts_where_targets_fell():
    y = np.random.default_rng(0).uniform(size=800)
    levels = np.arange(1, 20) / 20.0
    quantiles = np.tile(levels, (800, 1))
    display = PITDisplay.from_predictions(y, quantiles, levels, n_bins=4, random_state=1)
    values = pit_from_quantiles(y, quantiles, levels, random_state=1)
    heights = [bar.get_height() for bar in display.bars_]
    assert_allclose(heights, np.histogram(values, 4, (0.0, 1.0))[0] / 200.0)
    assert_allclose(sum(heights), 4.0)
    for values in ([], [0.5, 1.5], [np.nan]):
        with pytest.raises(ValueError, match="numbers from 0 to 1"):
            PITDisplay.from_values(values)


def test_a_fan_over_rows_is_what_the_regressor_says():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Y = np.column_stack([X[:, 0], 5.0 + X[:, 1]])
    model = OnlineKernelRegressor(budget="fast", lags=0, random_state=0).fit(X[:50], Y[:50])
    display = ForecastFanDisplay.from_estimator(model, X[50:], y_true=Y[50:], series=1)
    assert_array_equal(display.line_.get_ydata(), model.predict(X[50:])[:, 1])
    expected = model.predict_interval(X[50:], [0.5, 0.8, 0.95])[:, 1]
    assert_array_equal(display.intervals, expected)
    assert_array_equal(display.true_.get_ydata(), Y[50:, 1])
    model.fit(X[:50], Y[:50, 0])
    display = ForecastFanDisplay.from_estimator(model, X[50:], coverage=0.9)
    assert display.intervals.shape == (10, 1, 2)
    pd = pytest.importorskip("pandas")
    times = pd.date_range("2024-01-01", periods=10, freq="h")
    frame = pd.DataFrame(X[50:], index=times)
    assert_array_equal(ForecastFanDisplay.from_estimator(model, frame).times, times)
