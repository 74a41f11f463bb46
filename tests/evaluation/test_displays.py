"""Displays: they store what the functions compute, and draw what they store."""

import subprocess
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LinearRegression, SGDClassifier, SGDRegressor
from sklearn.metrics import confusion_matrix, log_loss
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    AdaRakerRegressor,
    DiscountedVAWAARegressor,
    DVAWRegressor,
    ExpertsClassifier,
    FOGDClassifier,
    FOGDRegressor,
    FourierFeatures,
    MultiKernelRegressor,
    RakerClassifier,
    RunningStandardScaler,
    StronglyAdaptiveRegressor,
    TVAWRegressor,
    VAW2Regressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.aggregators import BOARegressor, EWARegressor
from sklearn_okl.evaluation import (
    ExpertWeightsDisplay,
    PrequentialCalibrationDisplay,
    PrequentialConfusionDisplay,
    PrequentialDisplay,
    RegretCurveDisplay,
    kernel_ridge_comparator,
    prequential,
    regret,
    ridge_comparator,
    vaw_logdet_bound,
    vaw_regret_bound,
)
from tests.late import LateRidge

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")

GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0, 100.0]}
LEARNERS = {"small": VAWRegressor(alpha=0.1), "large": VAWRegressor(alpha=100.0)}


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(120, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=120)


def drawn(line):
    return np.asarray(line.get_xdata()), np.asarray(line.get_ydata())


def legend_texts(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


def signed_model(seed=0, **kwargs):
    return VAW2Regressor(GRID, n_components=10, random_state=seed, **kwargs)


def convex_model(seed=0):
    return MultiKernelRegressor(
        GRID,
        aggregator=EWARegressor(y_range=(-3.0, 3.0)),
        clip_experts=True,
        y_range=(-3.0, 3.0),
        n_components=10,
        random_state=seed,
    )


# PrequentialDisplay


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_prequential_display_stores_and_draws_what_prequential_computes(stream, loss, window):
    X, y = stream
    display = PrequentialDisplay.from_estimator(LEARNERS, X, y, loss=loss, window=window)
    assert list(display.mean_losses) == ["small", "large"]
    assert len(display.lines_) == 2
    for line, (name, learner) in zip(display.lines_, LEARNERS.items(), strict=True):
        result = prequential(learner, X, y, loss=loss, window=window or 500)
        expected = result.running_loss if window is None else result.windowed_loss
        np.testing.assert_array_equal(display.mean_losses[name], expected)
        rounds, values = drawn(line)
        np.testing.assert_array_equal(rounds, np.arange(1, 121))
        np.testing.assert_array_equal(values, expected)


@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize(
    "learner", [VAWRegressor(), SGDRegressor(random_state=0)], ids=["online", "cold"]
)
def test_predictions_give_the_curves_of_the_estimator(stream, learner, window):
    X, y = stream
    forecasts = prequential(learner, X, y, chunk_size=5).forecasts
    of_estimator = PrequentialDisplay.from_estimator(learner, X, y, chunk_size=5, window=window)
    of_forecasts = PrequentialDisplay.from_predictions(y, forecasts, window=window)
    (expected,) = of_estimator.mean_losses.values()
    np.testing.assert_array_equal(of_forecasts.mean_losses["Forecasts"], expected)
    assert np.isnan(expected[:5]).all() == isinstance(learner, SGDRegressor)
    assert np.isfinite(expected[5:]).all()


@pytest.mark.long(every=3)
@pytest.mark.parametrize("delay", [None, 10, np.arange(120) + np.tile([8, 25, 3], 40)])
def test_late_labels_reach_the_curves_of_all_learners(stream, delay):
    X, y = stream
    learners = LEARNERS | {"cold": SGDRegressor(random_state=0), "late": LateRidge(10)}
    display = PrequentialDisplay.from_estimator(learners, X, y, delay=delay)
    for name, learner in learners.items():
        result = prequential(learner, X, y, delay=delay)
        np.testing.assert_array_equal(display.mean_losses[name], result.running_loss)
        drawn_again = PrequentialDisplay.from_predictions(y, result.forecasts)
        np.testing.assert_array_equal(drawn_again.mean_losses["Forecasts"], result.running_loss)


def test_predictions_of_labels_and_of_several_targets(stream):
    X, y = stream
    labels = np.where(y > 0, "up", "down")
    result = prequential(SGDClassifier(random_state=0), X, labels, loss="zero_one")
    display = PrequentialDisplay.from_predictions(labels, result.forecasts, loss="zero_one")
    np.testing.assert_array_equal(display.mean_losses["Forecasts"], result.running_loss)
    assert display.ax_.get_ylabel() == "Share of errors,\nrunning mean"

    Y = np.column_stack([y, -2 * y])
    result = prequential(VAWRegressor(), X, Y)
    display = PrequentialDisplay.from_predictions(Y, result.forecasts)
    np.testing.assert_array_equal(display.mean_losses["Forecasts"], result.running_loss)


def test_rows_without_a_target_are_left_out():
    y, forecasts = np.array([1.0, np.nan, 3.0, np.nan]), np.array([0.0, 5.0, 1.0, 2.0])
    display = PrequentialDisplay.from_predictions(y, forecasts)
    np.testing.assert_array_equal(display.mean_losses["Forecasts"], [1.0, 1.0, 2.5, 2.5])
    display = PrequentialDisplay.from_predictions(y, forecasts, window=2)
    np.testing.assert_array_equal(display.mean_losses["Forecasts"], [1.0, 1.0, 4.0, 4.0])


def test_a_failure_in_mid_stream_is_not_left_out():
    display = PrequentialDisplay.from_predictions(np.ones(4), [np.nan, 1.0, np.nan, 1.0])
    np.testing.assert_array_equal(display.mean_losses["Forecasts"], [np.nan, 0, np.nan, np.nan])


@pytest.mark.parametrize(
    ("loss", "window", "label"),
    [
        ("squared_error", None, "Squared error (unit of $y^2$),\nrunning mean"),
        ("absolute_error", 9, "Absolute error (unit of $y$),\nmean of 9 rounds"),
        (partial(lambda a, b: abs(a - b) ** 3), None, "Loss,\nrunning mean"),
    ],
)
def test_prequential_axis_labels(stream, loss, window, label):
    X, y = stream
    display = PrequentialDisplay.from_estimator(VAWRegressor(), X, y, loss=loss, window=window)
    assert display.ax_.get_ylabel() == label
    assert display.ax_.get_xlabel() == "Round"
    assert display.ax_.get_title() == ""


def test_a_callable_loss_labels_the_axis_by_its_name(stream):
    X, y = stream

    def cubic_error(y_true, y_pred):
        return np.abs(y_true - y_pred) ** 3

    display = PrequentialDisplay.from_estimator(VAWRegressor(), X, y, loss=cubic_error)
    assert display.ax_.get_ylabel() == "Cubic error,\nrunning mean"


def test_start_leaves_rounds_out_of_the_figure_and_not_out_of_the_means(stream):
    X, y = stream
    display = PrequentialDisplay.from_estimator(VAWRegressor(), X, y, start=20)
    result = prequential(VAWRegressor(), X, y)
    rounds, values = drawn(display.lines_[0])
    np.testing.assert_array_equal(rounds, np.arange(21, 121))
    assert values[-1] == result.mean_loss
    with pytest.raises(ValueError, match="start"):
        display.plot(start=120)


def test_losses_far_apart_are_drawn_on_a_log_scale():
    close = PrequentialDisplay({"a": np.linspace(1, 2, 50)})
    far = PrequentialDisplay({"a": np.linspace(1, 2, 50), "b": np.full(50, 0.01)})
    negative = PrequentialDisplay({"a": np.linspace(-1, 50, 50)})
    unknown = PrequentialDisplay({"a": np.full(3, np.nan)})
    assert close.plot().ax_.get_yscale() == "linear"
    assert far.plot().ax_.get_yscale() == "log"
    assert far.plot(yscale="linear", xscale="log").ax_.get_yscale() == "linear"
    assert far.ax_.get_xscale() == "log"
    assert negative.plot().ax_.get_yscale() == "linear"
    assert unknown.plot().ax_.get_yscale() == "linear"


def test_estimators_as_pairs_and_alone(stream):
    X, y = stream
    pairs = PrequentialDisplay.from_estimator(list(LEARNERS.items()), X, y)
    assert list(pairs.mean_losses) == ["small", "large"]
    alone = PrequentialDisplay.from_estimator(VAWRegressor(), X, y)
    assert legend_texts(alone) == ["VAWRegressor"]
    with pytest.raises(ValueError, match="same name"):
        PrequentialDisplay.from_estimator([("a", VAWRegressor()), ("a", VAWRegressor())], X, y)
    with pytest.raises(ValueError, match="no estimator"):
        PrequentialDisplay.from_estimator({}, X, y)


def test_legend_lists_curves_from_top_to_bottom():
    display = PrequentialDisplay({"low": np.array([9.0, 1.0]), "high": np.array([1.0, 2.0])})
    assert legend_texts(display.plot()) == ["high", "low"]


def test_wrong_predictions_are_refused():
    y = np.zeros(3)
    with pytest.raises(ValueError, match="shape of y_true"):
        PrequentialDisplay.from_predictions(y, np.zeros(4))
    with pytest.raises(ValueError, match="loss must be"):
        PrequentialDisplay.from_predictions(y, y, loss="square")
    with pytest.raises(ValueError, match="window"):
        PrequentialDisplay.from_predictions(y, y, window=0)
    with pytest.raises(ValueError, match="no forecasts"):
        PrequentialDisplay.from_predictions(y, {})


# RegretCurveDisplay


def test_regret_display_is_the_regret_against_the_best_linear_forecaster(stream):
    X, y = stream
    display = RegretCurveDisplay.from_estimator(LEARNERS, X, y)
    best = ridge_comparator(X, y)
    for line, (name, learner) in zip(display.lines_, LEARNERS.items(), strict=True):
        forecasts = prequential(learner, X, y).forecasts
        expected = regret(forecasts, y, comparator_losses=best.losses)
        np.testing.assert_allclose(display.regrets[name], expected, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(drawn(line)[1], display.regrets[name])
    assert display.bound_ is None
    assert display.ax_.get_ylabel() == "Regret (unit of $y^2$)"
    assert display.ax_.get_xlabel() == "Round"


def test_comparators_of_all_forms_agree(stream):
    X, y = stream
    comparator = partial(kernel_ridge_comparator, gamma=0.5, alpha=0.1)
    by_call = RegretCurveDisplay.from_estimator(VAWRegressor(), X, y, comparator=comparator)
    by_array = RegretCurveDisplay.from_estimator(
        VAWRegressor(), X, y, comparator=comparator(X, y).forecasts
    )
    expected = by_call.regrets["VAWRegressor"]
    np.testing.assert_array_equal(by_array.regrets["VAWRegressor"], expected)
    linear = RegretCurveDisplay.from_estimator(VAWRegressor(), X, y)
    assert expected[-1] > linear.regrets["VAWRegressor"][-1]  # a better comparator


def test_the_bound_is_drawn_and_lies_above(stream):
    X, y = stream
    best = ridge_comparator(X, y)
    scales = {"y_bound": np.abs(y).max(), "norm_sq": best.norm_sq}
    rows = vaw_logdet_bound(X, **scales)
    horizon = partial(vaw_regret_bound, n_features=3, feature_bound=3**0.5, **scales)
    for bound, expected in [
        (rows, rows),
        (horizon, horizon(np.arange(1, 121))),
        (float(rows[-1]), np.full(120, rows[-1])),
    ]:
        display = RegretCurveDisplay.from_estimator(VAWRegressor(), X, y, bound=bound)
        np.testing.assert_array_equal(display.bound, expected)
        np.testing.assert_array_equal(drawn(display.bound_)[1], expected)
        assert np.all(display.regrets["VAWRegressor"] <= display.bound)
        assert legend_texts(display) == ["Bound", "VAWRegressor"]
    assert len(drawn(display.plot(start=100).bound_)[0]) == 20


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [None, 4, np.arange(120) + np.tile([8, 25, 3], 40)])
def test_late_labels_reach_the_regret_of_all_learners(stream, delay):
    X, y = stream
    learners = {"at once": VAWRegressor(), "late": LateRidge(10)}
    display = RegretCurveDisplay.from_estimator(learners, X, y, delay=delay)
    best = ridge_comparator(X, y)
    for name, learner in learners.items():
        forecasts = prequential(learner, X, y, delay=delay).forecasts
        expected = regret(forecasts, y, comparator_losses=best.losses)
        np.testing.assert_allclose(display.regrets[name], expected, rtol=1e-12, atol=1e-12)
    assert np.isfinite(display.regrets["late"][-1])


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("alpha", [0.1, 10.0])
def test_the_bound_of_the_theorem_is_computed_and_holds(alpha, seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(100, 3)), rng.choice([-1.0, 1.0], size=100)
    model = VAWRegressor(alpha=alpha)
    display = RegretCurveDisplay.from_estimator(model, X, y, bound="theorem")
    norm_sq = ridge_comparator(X, y).norm_sq
    expected = vaw_logdet_bound(X, y_bound=1.0, norm_sq=norm_sq, alpha=alpha)
    np.testing.assert_allclose(display.bound, expected)
    assert np.all(display.regrets["VAWRegressor"] <= display.bound)
    best = ridge_comparator(X, y, alpha=3.0)
    display = RegretCurveDisplay.from_estimator(model, X, y, comparator=best, bound="theorem")
    assert np.all(display.regrets["VAWRegressor"] <= display.bound)


def test_a_bound_that_no_theorem_gives_is_not_drawn(stream):
    for given, words in [
        ({"estimator": VAWRegressor(forgetting=0.9)}, "is for one VAWRegressor"),
        ({"estimator": VAWRegressor(forecaster="ridge")}, "is for one VAWRegressor"),
        ({"estimator": LEARNERS}, "is for one VAWRegressor"),
        ({"delay": 3}, "labels come at once"),
        ({"estimator": VAWRegressor(fit_intercept=True)}, "column of ones"),
        ({"comparator": np.zeros(120)}, "needs the weights"),
        ({"comparator": kernel_ridge_comparator}, "needs the weights"),
        ({"bound": "best"}, "bound='best' is no bound"),
    ]:
        arguments = {"estimator": VAWRegressor(), "bound": "theorem", **given}
        with pytest.raises(ValueError, match=words):
            RegretCurveDisplay.from_estimator(X=stream[0], y=stream[1], **arguments)


def test_wrong_bounds_are_refused():
    y = np.zeros(5)
    for bound in (np.ones(4), lambda rounds: rounds[:, None]):
        with pytest.raises(ValueError, match="one number per row"):
            RegretCurveDisplay.from_predictions(y, y, y, bound=bound)


def test_the_bound_is_not_aliased():
    y, bound = np.zeros(5), np.ones(5)
    display = RegretCurveDisplay.from_predictions(y, {"a": y, "b": y + 1}, y, bound=bound)
    bound[:] = 7.0
    np.testing.assert_array_equal(display.bound, np.ones(5))
    np.testing.assert_array_equal(display.regrets["b"], np.arange(1.0, 6.0))


# ExpertWeightsDisplay


def test_terminal_weights_are_bars_side_by_side(stream):
    X, y = stream
    models = {"VAW²": signed_model().fit(X, y), "EWA": convex_model().fit(X, y)}
    display = ExpertWeightsDisplay.from_estimator(models)
    assert display.rounds is None
    assert display.lines_ is None
    assert display.areas_ is None
    for bars, (name, model) in zip(display.bars_, models.items(), strict=True):
        np.testing.assert_array_equal(display.weights[name], model.weights_)
        np.testing.assert_array_equal([bar.get_height() for bar in bars], model.weights_)
    lefts = np.sort([bar.get_x() for bars in display.bars_ for bar in bars])
    width = display.bars_[0][0].get_width()
    assert np.all(np.diff(lefts) >= width - 1e-9), "bars hide one another"
    assert display.ax_.get_xlabel() == "Expert"
    assert display.ax_.get_ylabel() == "Weight"
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == display.labels


def test_experts_are_named_by_kernels_columns_or_numbers(stream):
    X, y = stream
    of_kernels = ExpertWeightsDisplay.from_estimator(signed_model().fit(X, y))
    assert of_kernels.labels[:2] == ["rbf γ=0.1", "laplacian γ=0.1"]
    assert of_kernels.labels[-1] == "laplacian γ=100"
    grid = {"kernel": ["rbf"], "alpha": [0.5, 2.0]}
    ridges = ExpertWeightsDisplay.from_estimator(MultiKernelRegressor(grid).fit(X, y))
    assert ridges.labels == ["rbf γ=1/d α=0.5", "rbf γ=1/d α=2"]

    numbered = ExpertWeightsDisplay.from_estimator(EWARegressor().fit(X, y))
    assert numbered.labels == ["0", "1", "2"]
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X, columns=["arima", "trees", "naive"])
    model = VAWRegressor().fit(frame, y)
    by_column = ExpertWeightsDisplay.from_estimator(model)
    assert by_column.labels == ["arima", "trees", "naive"]
    np.testing.assert_array_equal(by_column.weights["VAWRegressor"], model.coef_)


@pytest.mark.parametrize(
    ("model", "first"),
    [
        (TVAWRegressor(GRID, n_components=4), "standard, raw"),
        (DiscountedVAWAARegressor(), "discount 1"),
        (DVAWRegressor(max_memory=8), "discount 1"),
        (StronglyAdaptiveRegressor(), "0"),
        (AdaRakerRegressor({"gamma": [0.1] * 7}, n_components=4), "0"),
        (FOGDRegressor(n_components=4), "0"),
        (make_streaming_pipeline(RunningStandardScaler(), signed_model()), "rbf γ=0.1"),
        (make_pipeline(StandardScaler(), signed_model()), "rbf γ=0.1"),
        (make_streaming_pipeline(RunningStandardScaler(), BOARegressor()), "p"),
        (make_streaming_pipeline(FourierFeatures(n_components=4), BOARegressor()), "{}0"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value)[:40],
)
def test_columns_of_a_frame_name_no_other_experts(stream, model, first):
    """AdaRaker has seven Rakers after these rows, and as many kernels; a rate each of three."""
    pd = pytest.importorskip("pandas")
    X, y = stream
    for columns in (["p", "q", "r"], ["p", "q", "r", "s", "t", "u", "v", "w"]):
        frame = pd.DataFrame(np.tile(X, 3)[:, : len(columns)], columns=columns)
        display = ExpertWeightsDisplay.from_estimator(model, frame, y)
        (weights,) = display.weights.values()
        assert (
            len(display.labels) == len(set(display.labels)) == len(weights) == len(display.bars_[0])
        )
        assert display.labels[0] == first.format("fourierfeatures")


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("make", [signed_model, convex_model])
def test_weights_over_time_are_those_of_prefixes(stream, make, seed):
    X, y = stream
    display = ExpertWeightsDisplay.from_estimator(make(seed), X, y, over_time=True, n_points=7)
    (weights,) = display.weights.values()
    assert weights.shape == (7, 6)
    assert display.rounds[-1] == 120
    for rounds, row in zip(display.rounds, weights, strict=True):
        expected = make(seed).fit(X[:rounds], y[:rounds]).weights_
        np.testing.assert_allclose(row, expected, rtol=1e-8, atol=1e-10)


def test_more_points_than_rows_and_lists(stream):
    X, y = stream
    display = ExpertWeightsDisplay.from_estimator(
        convex_model(), X[:9].tolist(), y[:9].tolist(), over_time=True
    )
    np.testing.assert_array_equal(display.rounds, np.arange(1, 10))


def test_convex_weights_are_areas_that_fill_the_axes(stream):
    X, y = stream
    display = ExpertWeightsDisplay.from_estimator(convex_model(), X, y, over_time=True, n_largest=2)
    assert display.lines_ is None
    assert len(display.areas_) == 3
    assert legend_texts(display)[0] == "4 others"
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in display.areas_]
    np.testing.assert_allclose(tops[-1], 1.0)
    assert display.ax_.get_ylim() == (0.0, 1.0)
    everyone = display.plot(n_largest=6)
    assert len(everyone.areas_) == 6
    assert not [text for text in legend_texts(everyone) if "other" in text]


def test_signed_weights_are_curves_of_the_largest_and_grey_ones(stream):
    X, y = stream
    display = ExpertWeightsDisplay.from_estimator(signed_model(), X, y, over_time=True, n_largest=5)
    assert display.areas_ is None
    assert len(display.lines_) == 6
    (weights,) = display.weights.values()
    order = np.argsort(-np.abs(weights).mean(axis=0))
    for line, expert in zip(display.lines_, order, strict=True):
        np.testing.assert_array_equal(drawn(line)[1], weights[:, expert])
    named = {line.get_label() for line in display.lines_[:5]}
    assert named == {display.labels[i] for i in order[:5]}
    assert legend_texts(display)[-1] == "1 other"
    assert len({line.get_color() for line in display.lines_}) == 6


def test_rows_given_are_learnt_by_clones(stream):
    X, y = stream
    model = signed_model()
    display = ExpertWeightsDisplay.from_estimator(model, X, y)
    assert not hasattr(model, "weights_")
    expected = signed_model().fit(X, y).weights_
    np.testing.assert_array_equal(display.weights["VAW2Regressor"], expected)


def test_seventy_six_kernels_fit(stream):
    X, y = stream
    display = ExpertWeightsDisplay.from_estimator(VAW2Regressor(n_components=2), X, y)
    assert len(display.bars_[0]) == 76
    assert len(display.ax_.get_xticks()) <= 26
    display.figure_.canvas.draw()


def test_impossible_weights_are_refused(stream):
    X, y = stream
    two = {"a": signed_model(), "b": convex_model()}
    with pytest.raises(ValueError, match="one estimator at a time"):
        ExpertWeightsDisplay.from_estimator(two, X, y, over_time=True)
    with pytest.raises(ValueError, match="one estimator at a time"):
        ExpertWeightsDisplay({"a": np.eye(2), "b": np.eye(2)}, ["0", "1"], rounds=[1, 2]).plot()
    with pytest.raises(ValueError, match="need the stream"):
        ExpertWeightsDisplay.from_estimator(signed_model(), over_time=True)
    with pytest.raises(ValueError, match="together"):
        ExpertWeightsDisplay.from_estimator(signed_model(), X)
    with pytest.raises(ValueError, match="same experts"):
        ExpertWeightsDisplay.from_estimator({"a": signed_model(), "b": EWARegressor()}, X, y)
    with pytest.raises(TypeError, match="no vector of weights"):
        ExpertWeightsDisplay.from_estimator(VAWRegressor().fit(X, np.column_stack([y, y])))
    with pytest.raises(TypeError, match="no partial_fit"):
        ExpertWeightsDisplay.from_estimator(LinearRegression(), X, y, over_time=True)


# all displays


def displays():
    curve = {"a": np.array([3.0, 2.0, 2.5])}
    return [
        PrequentialDisplay(curve),
        RegretCurveDisplay(curve, bound=np.full(3, 4.0)),
        ExpertWeightsDisplay({"a": np.array([0.7, -0.3])}, ["x", "y"]),
        ExpertWeightsDisplay({"a": np.eye(2)}, ["x", "y"], rounds=np.array([1, 2])),
        ExpertWeightsDisplay({"a": -np.eye(2)}, ["x", "y"], rounds=np.array([1, 2])),
    ]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("display", displays(), ids=lambda display: type(display).__name__)
def test_plot_returns_the_display_and_uses_the_axes_given(display):
    assert display.plot() is display
    assert display.figure_ is display.ax_.figure
    own = display.ax_
    figure, ax = plt.subplots()
    display.plot(ax)
    assert display.ax_ is ax
    assert display.ax_ is not own
    assert display.figure_ is figure
    assert ax.spines["top"].get_visible(), "the style of given axes was changed"
    assert len(plt.get_fignums()) == 2
    figure.canvas.draw()


@pytest.mark.parametrize("display", displays()[:2], ids=lambda display: type(display).__name__)
def test_keywords_reach_the_lines_and_a_second_plot_goes_on_with_the_colours(display):
    display.plot(linewidth=4.0, color="red")
    assert display.lines_[0].get_linewidth() == 4.0
    assert display.lines_[0].get_color() == "red"
    first = display.plot().lines_[0]
    second = display.plot(first.axes).lines_[0]
    assert first.get_color() != second.get_color()


def test_eight_learners_look_different():
    display = PrequentialDisplay({str(k): np.full(3, k + 1.0) for k in range(8)}).plot()
    looks = {(line.get_color(), line.get_linestyle()) for line in display.lines_}
    assert len(looks) == 8


@pytest.mark.long
def test_importing_evaluation_does_not_import_matplotlib():
    code = "import sys, sklearn_okl.evaluation; print('matplotlib' in sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


def test_without_matplotlib_there_is_a_sentence(stream, monkeypatch):
    X, y = stream
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for call, name in [
        (lambda: PrequentialDisplay({"a": y}).plot(), "PrequentialDisplay.plot"),
        (lambda: RegretCurveDisplay({"a": y}).plot(), "RegretCurveDisplay.plot"),
        (lambda: ExpertWeightsDisplay({"a": y}, list(y)).plot(), "ExpertWeightsDisplay.plot"),
        (lambda: PrequentialDisplay.from_estimator(0, X, y), "PrequentialDisplay.from_estimator"),
        (lambda: PrequentialDisplay.from_predictions(y, y), "PrequentialDisplay.from_predictions"),
        (lambda: RegretCurveDisplay.from_estimator(0, X, y), "RegretCurveDisplay.from_estimator"),
        (
            lambda: RegretCurveDisplay.from_predictions(y, y, y),
            "RegretCurveDisplay.from_predictions",
        ),
        (lambda: ExpertWeightsDisplay.from_estimator(0), "ExpertWeightsDisplay.from_estimator"),
    ]:
        with pytest.raises(ImportError, match=f"{name} requires matplotlib. You can install"):
            call()


def test_weights_of_several_classes_are_drawn(stream):
    X, y = stream
    names = np.array(["high", "low", "middle"])[np.digitize(y, [-0.5, 0.5])]
    model = RakerClassifier(GRID, n_components=10, random_state=0).fit(X, names)
    display = ExpertWeightsDisplay.from_estimator(model)
    assert legend_texts(display) == ["high", "low", "middle"]
    heights = [[bar.get_height() for bar in bars] for bars in display.bars_]
    np.testing.assert_array_equal(heights, model.weights_)
    of_one = ExpertWeightsDisplay.from_estimator(
        model, X, names, over_time=True, n_points=3, class_label="low"
    )
    (weights,) = of_one.weights.values()
    np.testing.assert_allclose(weights[-1], model.weights_[1])
    assert weights.shape == (3, 6)
    both = ExpertWeightsDisplay.from_estimator({"a": model, "b": model}, class_label="low")
    assert list(both.weights) == ["a, low", "b, low"]
    with pytest.raises(ValueError, match="weights for each of 3 classes"):
        ExpertWeightsDisplay.from_estimator(model, X, names, over_time=True)
    with pytest.raises(ValueError, match="'none' is none of the labels"):
        ExpertWeightsDisplay.from_estimator(model, class_label="none")


def test_experts_of_any_kind_have_their_names(stream):
    X, y = stream
    experts = [("sgd", SGDClassifier(loss="log_loss", random_state=0)), ("fogd", FOGDClassifier())]
    display = ExpertWeightsDisplay.from_estimator(ExpertsClassifier(experts), X, y > 0)
    assert display.labels == ["sgd", "fogd"]


# Displays of classes


def three_classes(n=200):
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.ones(3), size=n)
    return np.array(["a", "b", "c"])[[rng.choice(3, p=p) for p in P]], P


def test_log_losses_are_drawn():
    y, P = three_classes()
    display = PrequentialDisplay.from_predictions(y, P, loss="log_loss")
    np.testing.assert_allclose(display.mean_losses["Forecasts"][-1], log_loss(y, P))
    assert "Log loss (nats)" in display.ax_.get_ylabel()
    sure = PrequentialDisplay.from_predictions([0, 1], np.eye(2)[[1, 1]], loss="log_loss")
    np.testing.assert_allclose(
        sure.mean_losses["Forecasts"][-1], log_loss([0, 1], np.eye(2)[[1, 1]])
    )
    with pytest.raises(ValueError, match=r"a column for each label.* \(200, 3\), got \(200, 2\)"):
        PrequentialDisplay.from_predictions(y, P[:, :2], loss="log_loss")


def test_calibration_by_bins():
    y, P = three_classes()
    display = PrequentialCalibrationDisplay.from_predictions(y, {"true": P}, n_bins=4)
    right, sure = np.array(["a", "b", "c"])[P.argmax(axis=1)] == y, P.max(axis=1)
    expected, said = calibration_curve(right, sure, n_bins=4)
    np.testing.assert_allclose(display.curves["true"][0], said)
    np.testing.assert_allclose(display.curves["true"][1], expected)
    error = sum(
        abs((sure - right)[bin_ == np.minimum((4 * sure).astype(int), 3)].sum())
        for bin_ in range(4)
    )
    np.testing.assert_allclose(display.errors["true"], error / len(y))
    assert "true (calibration error" in legend_texts(display)[1]
    of_one = PrequentialCalibrationDisplay.from_predictions(y, P, class_label="b")
    expected, said = calibration_curve(y == "b", P[:, 1], n_bins=15)
    np.testing.assert_allclose(of_one.curves["Forecasts"][0], said)
    np.testing.assert_allclose(of_one.curves["Forecasts"][1], expected)
    assert of_one.ax_.get_xlabel() == "Probability of b"
    with pytest.raises(ValueError, match="'d' is none of the labels"):
        PrequentialCalibrationDisplay.from_predictions(y, P, class_label="d")
    with pytest.raises(ValueError, match="a column for each label"):
        PrequentialCalibrationDisplay.from_predictions(y, P[:, 1])


@pytest.mark.long
def test_displays_of_classes_run_the_stream(stream):
    X, y = stream
    labels = np.where(y > 0, "up", "down")
    model = FOGDClassifier(random_state=0)
    models = {"sgd": SGDClassifier(loss="log_loss", random_state=0), "ours": model}
    display = PrequentialCalibrationDisplay.from_estimator(models, X, labels, delay=3)
    for name, learner in models.items():
        P = prequential(learner, X, labels, delay=3, loss="log_loss").forecasts
        of_forecasts = PrequentialCalibrationDisplay.from_predictions(labels, P)
        assert display.errors[name] == of_forecasts.errors["Forecasts"]
        assert display.curves[name][2].sum() == 120 - 4
    forecasts = prequential(model, X, labels, loss="zero_one").forecasts
    confusion = PrequentialConfusionDisplay.from_estimator(model, X, labels, window=50)
    np.testing.assert_array_equal(
        confusion.confusion_matrix, confusion_matrix(labels[-50:], forecasts[-50:].astype(str))
    )
    shown = [text.get_text() for text in confusion.ax_.get_xticklabels()]
    assert shown == ["down", "up"]


def test_confusion_of_the_rows_that_had_a_forecast():
    y = np.array(["a", "b", "a", "c"])
    forecasts = np.array([np.nan, "b", "b", "a"], dtype=object)
    display = PrequentialConfusionDisplay.from_predictions(y, forecasts, window=10)
    np.testing.assert_array_equal(display.confusion_matrix, [[0, 1, 0], [0, 1, 0], [1, 0, 0]])
    shares = PrequentialConfusionDisplay.from_predictions(y, forecasts, normalize="true", window=2)
    np.testing.assert_allclose(shares.confusion_matrix, [[0, 1, 0], [0, 0, 0], [1, 0, 0]])
    with pytest.raises(ValueError, match="None of the last 1 rows"):
        PrequentialConfusionDisplay.from_predictions(y, np.full(4, np.nan), window=1)


@pytest.mark.parametrize(("n", "n_points"), [(0, 5), (1, 100), (9, 1)])
def test_weights_over_time_need_two_points(stream, n, n_points):
    X, y = stream
    arguments = {"over_time": True, "n_points": n_points}
    with pytest.raises(ValueError, match="there is one at most"):
        ExpertWeightsDisplay.from_estimator(EWARegressor(), X[:n], y[:n], **arguments)


def test_labels_are_counted_as_they_are_whatever_their_length():
    draw = PrequentialConfusionDisplay.from_predictions
    display = draw(np.array(["hi", "lo", "hi"]), np.array(["high", "lo", "hi"]))
    assert display.labels.tolist() == ["hi", "high", "lo"]
    np.testing.assert_array_equal(display.confusion_matrix, [[1, 1, 0], [0, 0, 0], [0, 0, 1]])
    display = draw(["a", "a"], np.array([np.nan, "a"], dtype=object))  # one label
    assert display.confusion_matrix.tolist() == [[1]]
    assert draw([1, 2], [np.nan, 2.0]).confusion_matrix.tolist() == [[0, 0], [0, 1]]
    assert draw([1, 2], [3.0, 2.0]).labels.tolist() == [1, 2, 3]
    for forecasts in ([1.7, 2.0], ["one", "two"]):
        with pytest.raises(ValueError, match="of another kind than the labels"):
            draw([1, 2], forecasts)


def test_calibration_needs_probabilities():
    with pytest.raises(ValueError, match="all of them are NaN"):
        PrequentialCalibrationDisplay.from_predictions(["a", "b"], np.full((2, 2), np.nan))
