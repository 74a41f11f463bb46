"""Kernels in reserve: what a model with lags does where the latest targets tell nothing."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import (
    OnlineKernelClassifier,
    OnlineKernelRegressor,
)
from sklearn_okl.evaluation import ExpertWeightsDisplay
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts._plan import IN_RESERVE, MAIN
from sklearn_okl.untuned.rounds import _model

EARLY = Constants(judged=60, births=(160, 180), burn_in=10)


@pytest.fixture(autouse=True)
def judged(monkeypatch):
    monkeypatch.setattr(_model.DefaultModel, "constants", Constants(judged=256))


def stream(kind, n=240, seed=0):
    """Return rows whose targets tell nothing of the next ones, or all that is to be known."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)
    if kind == "lags tell":
        for t in range(2, n):
            y[t] = 1.6 * y[t - 1] * np.cos(y[t - 2]) * 0.5 + 0.2 * X[t, 0]
    return X, y


def model_of(delay=0, **arguments):
    arguments = {"budget": "fast", "random_state": 0} | arguments
    return OnlineKernelRegressor(label_delay=delay, **arguments)


def in_reserve(model):
    return [name for name in model.experts_["name"] if name.endswith(IN_RESERVE)]


@pytest.mark.parametrize("budget", ["fast", pytest.param("balanced", marks=pytest.mark.long)])
def test_where_lags_tell_nothing_kernels_are_those_of_a_model_without_lags(budget):
    X, y = stream("rows without order", 300)
    model = model_of(budget=budget).fit(X[:255], y[:255])
    assert in_reserve(model)
    model.partial_fit(X[255:], y[255:])
    assert not in_reserve(model)
    others = "linear", "persistence", "random walk", "a tree"
    kernels = {name for name in model.experts_["name"] if not name.startswith(others)}
    other = model_of(budget=budget, lags=0).fit(X, y)
    names = other.experts_["name"]
    assert kernels == {name for name in names if not name.startswith(others)}
    loss = dict(zip(names, other.experts_["mean_loss"], strict=True))
    for name, one in zip(model.experts_["name"], model.experts_["mean_loss"], strict=True):
        if name in kernels:
            assert_allclose(one, loss[name], rtol=1e-8)


def test_where_lags_tell_kernels_that_see_them_stay():
    X, y = stream("lags tell", 300)
    model = model_of().fit(X, y)
    assert not in_reserve(model)
    assert any(m["lags"] for m in model._state["banks"][MAIN]["members"])
    assert len(model._state["rounds"]) == len(model._state["mixture"]["experts"]["rates"][0, 0])


@pytest.mark.long(every=2)
@pytest.mark.parametrize("seed", range(4))
def test_rows_without_order_pay_hardly_for_lags(seed):
    X, y = stream("rows without order", 1200, seed)
    losses = [
        np.square(model_of(lags=lags).prequential_predict(X, y) - y)[400:].mean() for lags in (4, 0)
    ]
    assert losses[0] < 1.03 * losses[1]  # without it 1.38 to 1.47


@pytest.mark.long(every=3)
@pytest.mark.parametrize("kind", ["rows without order", "lags tell"])
@pytest.mark.parametrize("delay", [0, 1, 23, 70])
def test_forecasts_are_those_of_a_queue(kind, delay, monkeypatch):
    monkeypatch.setattr(_model.DefaultModel, "constants", EARLY)
    X, y = stream(kind)
    model, expected = model_of(delay), np.zeros(len(y))
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[row], y[row])
        expected[t] = model.predict(X[t : t + 1])[0]
    whole, cut = model_of(delay), model_of(delay)
    ends = [0, 1, 30, 59, 60, 61, 62, 60 + delay, 61 + delay, 130, 159, 200, len(y)]
    parts = [cut.prequential_predict(X[a:b], y[a:b]) for a, b in pairwise(sorted({*ends}))]
    for forecasts in (whole.prequential_predict(X, y), np.concatenate(parts)):
        assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ["rows without order", "lags tell"])
@pytest.mark.parametrize("case", ["plain", "weights", "targets", "gaps", "balanced", "path"])
def test_single_rows_are_blocks_of_one(kind, case, monkeypatch):
    monkeypatch.setattr(_model.DefaultModel, "constants", EARLY)
    X, y = stream(kind)
    weights = np.linspace(0.5, 2.0, len(y)) if case == "weights" else None
    if case == "targets":
        y = np.column_stack([y, -3.0 * y + X[:, 2]])
    if case == "gaps":
        X[20::7, 1] = np.nan
    arguments = {"budget": "balanced"} if case == "balanced" else {}
    whole, model = model_of(**arguments), model_of(**arguments)
    expected = whole.prequential_predict(X, y, sample_weight=weights)
    forecasts = np.zeros_like(y)
    if case == "path":
        model.partial_fit(X[:1], y[:1])
        with model.rows() as row:
            for t in range(1, len(y)):
                forecasts[t] = row.predict(X[t])
                row.learn(X[t], y[t])
    else:
        for t in range(len(y)):
            if t:
                forecasts[t] = model.predict(X[t : t + 1])[0]
            weight = None if weights is None else weights[t : t + 1]
            model.partial_fit(X[t : t + 1], y[t : t + 1], sample_weight=weight)
    assert_allclose(forecasts[1:], expected[1:], rtol=1e-7, atol=1e-7)


def test_the_display_names_who_has_gone():
    pytest.importorskip("matplotlib").use("agg")
    X, y = stream("rows without order", 300)
    model = model_of().fit(X, y)
    names = model.experts_["name"].tolist()
    display = ExpertWeightsDisplay.from_estimator(model_of(), X, y, over_time=True, n_points=5)
    assert display.labels[: len(names)] == names
    assert any(label.endswith(IN_RESERVE) for label in display.labels[len(names) :])
    (weights,) = display.weights.values()
    assert_allclose(weights[-1, : len(names)], model.weights_)
    assert_allclose(weights.sum(axis=1), 1.0)


@pytest.mark.parametrize(
    "model",
    [
        model_of(budget="tiny"),
        model_of(lags=0),
        model_of(delay=256),
        OnlineKernelClassifier(budget="fast"),
    ],
)
def test_some_have_nobody_in_reserve(model):
    X, y = stream("rows without order", 40)
    if isinstance(model, OnlineKernelClassifier):
        y = y > 0.0
    assert not in_reserve(model.fit(X, y))
