"""Combinations of experts in hindsight, the report that holds an aggregator against them."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize

from sklearn_okl import (
    BOARegressor,
    EWARegressor,
    ExpertsRegressor,
    MLPolyRegressor,
    StackedBOARegressor,
    VAWRegressor,
)
from sklearn_okl.evaluation import (
    ExpertLossesDisplay,
    RegretCurveDisplay,
    aggregation_report,
    combination_comparator,
    ridge_comparator,
)
from sklearn_okl.losses import PinballLoss

LOSSES = ("squared_error", "absolute_error", "absolute_percentage_error", PinballLoss(0.8))


def made(seed, n=200, n_experts=4):
    rng = np.random.default_rng(seed)
    y = rng.uniform(2.0, 8.0, size=n)
    return y[:, None] + rng.normal(size=n_experts) + rng.normal(size=(n, n_experts)), y


def loss_of(loss, y, forecasts):
    if isinstance(loss, PinballLoss):
        return np.maximum(0.8 * (y - forecasts), 0.2 * (forecasts - y))
    errors = np.abs(forecasts - y)
    return {"squared_error": errors**2, "absolute_error": errors}.get(loss, errors / y)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("seed", [3, 11])
@pytest.mark.parametrize("loss", LOSSES)
def test_no_weights_are_better_than_the_best(loss, seed):
    """The minima against a search, and against ten thousand random weights."""
    X, y = made(seed)
    sums = {}
    for kind in ("uniform", "expert", "convex", "linear"):
        found = combination_comparator(X, y, combination=kind, loss=loss)
        assert_allclose(found.losses, loss_of(loss, y, X @ found.coef), rtol=1e-9, atol=1e-12)
        sums[kind] = found.objective
        if kind != "linear":
            assert found.coef.min() >= 0
            assert_allclose(found.coef.sum(), 1.0)
    assert sums["linear"] < sums["convex"] < sums["expert"]
    assert sums["convex"] < sums["uniform"]
    assert_allclose(sums["expert"], loss_of(loss, y[:, None], X).sum(axis=0).min())
    weights = np.random.default_rng(seed).dirichlet(np.full(X.shape[1], 0.5), size=10_000)
    tried = loss_of(loss, y[:, None], X @ weights.T).sum(axis=0)
    assert sums["convex"] <= tried.min() <= 1.05 * sums["convex"]
    if loss == "squared_error":
        searched = minimize(
            lambda w: np.sum((X @ w - y) ** 2),
            np.full(4, 0.25),
            bounds=[(0, 1)] * 4,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            tol=1e-12,
        )
        assert_allclose(sums["convex"], searched.fun, rtol=1e-7)


@pytest.mark.parametrize("scale", [1e-8, 1e8])
@pytest.mark.parametrize("loss", LOSSES)
def test_units_change_no_weight(loss, scale):
    X, y = made(5, n=60)
    for kind in ("convex", "linear"):
        ours = combination_comparator(scale * X, scale * y, combination=kind, loss=loss)
        assert_allclose(
            ours.coef, combination_comparator(X, y, combination=kind, loss=loss).coef, atol=1e-5
        )


def test_few_rows_equal_experts_and_one_that_is_never_wrong():
    y = np.array([1.0, 2.0])
    X = np.array([[1.0, 0.0, 2.0, 2.0], [2.0, 1.0, 3.0, 3.0]])
    for kind in ("expert", "convex"):
        assert_array_equal(combination_comparator(X, y, combination=kind).coef, [1, 0, 0, 0])
    for loss in LOSSES:  # the second and the others, by halves, are right
        found = combination_comparator(X[:, 1:], y, loss=loss)
        assert_allclose(found.losses, 0.0, atol=1e-9)
        assert_allclose(found.coef[0], 0.5, atol=1e-6)


def test_what_cannot_be_compared_is_refused():
    X, y = made(0, n=20)
    for given, words in [
        ({"combination": "best"}, "combination='best' must be one of"),
        ({"loss": "hinge"}, "loss='hinge' must be one of"),
    ]:
        with pytest.raises(ValueError, match=words):
            combination_comparator(X, y, **given)
    with pytest.raises(ValueError, match="NaN"):
        combination_comparator(np.where(X > 8, np.nan, X), y)
    y[7] = 0.0
    with pytest.raises(ValueError, match="Row 7 has the target 0"):
        aggregation_report(BOARegressor(), X, y, loss="absolute_percentage_error")
    assert "       -\n" in aggregation_report(BOARegressor(), X, y)
    with pytest.raises(TypeError, match="mixes experts of its own"):
        aggregation_report(ExpertsRegressor([("a", VAWRegressor())]), X, y)
    with pytest.raises(ValueError, match="no row with a forecast in which every expert is awake"):
        aggregation_report(
            BOARegressor(), np.where(np.eye(20, 4, dtype=bool), X, np.nan)[:4], y[:4]
        )


@pytest.mark.parametrize(
    "model", [BOARegressor(), MLPolyRegressor(), StackedBOARegressor(), VAWRegressor()], ids=str
)
def test_the_report_is_of_what_the_aggregator_did(model):
    pandas = pytest.importorskip("pandas")
    X, y = made(1)
    names = ["arima", "forest", "naive", "trees"]
    frame = pandas.DataFrame(X, columns=names, index=range(7, 207))
    report = aggregation_report(model, frame, y, output_dict=True)
    learnt = model.__class__(**model.get_params()).fit(X, y)
    name = type(model).__name__
    weights = learnt.coef_ if name == "VAWRegressor" else learnt.weights_
    assert report["weights"][name] == dict(zip(names, weights.tolist(), strict=True))
    forecasts = model.__class__(**model.get_params()).prequential_predict(X, y)
    assert_allclose(report["losses"][name], np.mean((forecasts - y) ** 2))
    assert_allclose(report["percentages"][name], np.mean(np.abs(forecasts - y) / y))
    assert_allclose(report["losses"]["best expert"], min(report["experts"].values()))
    assert report["n_rows"] == 200
    assert not hasattr(model, "n_features_in_")  # a clone learnt
    text = aggregation_report(model, frame, y)
    assert all(word in text for word in [*names, name, "best convex combination"])


@pytest.mark.parametrize("given", ["pinball", PinballLoss(0.9)])
def test_who_mixes_quantiles_is_judged_by_the_loss_of_quantiles(given):
    rng = np.random.default_rng(0)
    y = rng.normal(size=400)
    X = np.column_stack([np.full(400, 0.9), np.full(400, 1.8), np.zeros(400)])
    quantile = {"quantile": 0.9} if given == "pinball" else {}
    model = BOARegressor(loss=given, **quantile)
    report = aggregation_report(model, X, y, output_dict=True)
    losses = PinballLoss(0.9).value(y[:, None], X).mean(axis=0)
    assert_allclose(list(report["experts"].values()), losses)
    best = report["losses"]["best convex combination"]
    assert best <= min(losses)
    assert abs(X[0] @ list(report["weights"]["best convex combination"].values()) - 1.28) < 0.2
    assert "pinball loss at 0.9" in aggregation_report(model, X, y)
    squares = aggregation_report(model, X, y, loss="squared_error", output_dict=True)
    assert_allclose(list(squares["experts"].values()), ((X - y[:, None]) ** 2).mean(axis=0))


@pytest.mark.parametrize("last", ["BOARegressor", "uniform mean"])
def test_names_that_would_hide_an_expert_are_refused(last):
    pandas = pytest.importorskip("pandas")
    X, y = made(1, n=20)
    with pytest.raises(ValueError, match="names of what they are compared with"):
        aggregation_report(BOARegressor(), pandas.DataFrame(X, columns=["a", "b", "c", last]), y)


def test_rows_in_which_somebody_sleeps_or_no_target_is_known_are_left_out():
    X, y = made(2)
    X[50:60, 1] = np.nan
    model = EWARegressor(y_range=(0, 10), label_delay=3)
    report = aggregation_report(model, X, y, output_dict=True)
    kept = np.r_[4:50, 60:200]
    assert report["n_rows"] == len(kept)
    forecasts = EWARegressor(y_range=(0, 10), label_delay=3).prequential_predict(X, y)
    assert_allclose(report["losses"]["EWARegressor"], np.mean((forecasts - y)[kept] ** 2))
    assert_allclose(report["losses"]["uniform mean"], np.mean((X.mean(axis=1) - y)[kept] ** 2))


def test_the_display_draws_the_figures_of_the_report():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = made(4)
    display = ExpertLossesDisplay.from_estimator(MLPolyRegressor(), X, y)
    report = aggregation_report(MLPolyRegressor(), X, y, output_dict=True)
    drawn = {
        text.get_text(): bar.get_width()
        for text, bar in zip(display.ax_.get_yticklabels(), display.bars_, strict=True)
    }
    expected = report["experts"] | report["losses"]
    del expected["best expert"]
    assert drawn.keys() == expected.keys()
    assert_allclose([drawn[name] for name in expected], list(expected.values()))
    assert list(drawn.values()) == sorted(drawn.values())

    forecasts = MLPolyRegressor().prequential_predict(X, y)
    display.plot(kind="regret")
    gains = (forecasts - y)[:, None] ** 2 - (X - y[:, None]) ** 2
    assert_allclose([line.get_ydata() for line in display.lines_], gains.cumsum(axis=0).T)
    display.plot(kind="residual")
    assert_allclose(display.lines_[2].get_ydata(), np.cumsum(y - X[:, 2]))
    assert_allclose(display.lines_[-1].get_ydata(), np.cumsum(y - forecasts))
    with pytest.raises(ValueError, match="kind='area' must be one of"):
        display.plot(kind="area")


def test_a_combination_is_a_comparator_for_regret_curves():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = made(6)
    linear = partial(combination_comparator, combination="linear")
    assert_allclose(linear(X, y).losses, ridge_comparator(X, y).losses)
    display = RegretCurveDisplay.from_estimator(VAWRegressor(), X, y, comparator=linear)
    other = RegretCurveDisplay.from_estimator(VAWRegressor(), X, y)
    assert_allclose(display.regrets["VAWRegressor"], other.regrets["VAWRegressor"], atol=1e-9)


@pytest.mark.parametrize("model", [BOARegressor(), EWARegressor(), StackedBOARegressor()], ids=str)
def test_the_summary_names_the_columns_and_what_they_weigh(model):
    pandas = pytest.importorskip("pandas")
    X, y = made(8)
    model.fit(pandas.DataFrame(X, columns=["a", "b", "c", "the longest"]), y)
    head, _, _, *lines = model.summary().splitlines()
    assert head == "After 200 rows:"
    said = {line[:11].strip(): float(line[11:]) for line in lines}
    assert_allclose([said[name] for name in model.feature_names_in_], model.weights_, atol=6e-4)
    assert list(said.values()) == sorted(said.values(), reverse=True)
    assert model.fit(X[:1], y[:1]).summary().startswith("After 1 row:\n\nexpert  weight\n")
