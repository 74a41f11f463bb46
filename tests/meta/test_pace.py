"""Batch models of our own choice are fitted as often as a share of the experts' work pays for."""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, RefitRegressor
from sklearn_okl.meta._pace import HISTOGRAMS, LIGHTGBM, round_paid


def stream(n=140):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, np.sin(2.0 * X[:, 0]) + 2.0 * np.sign(X[:, 1]) + 0.1 * rng.normal(size=n)


def model_of(**arguments):
    return OnlineKernelRegressor(**{"budget": "fast", "random_state": 0, "trees": True} | arguments)


@pytest.mark.parametrize("price", [HISTOGRAMS, LIGHTGBM], ids=["histograms", "LightGBM"])
@pytest.mark.parametrize("d", [3, 60])
@pytest.mark.parametrize("a_row", [0.05, 0.3, 5.0])
@pytest.mark.parametrize("n_outputs", [1, 4])
def test_a_fit_comes_in_the_first_round_that_has_paid_for_it(price, d, a_row, n_outputs):
    spent, due = 0.0, 30
    while due < 3000:
        n, latest = due, 2 * due * n_outputs**0.5
        while spent + price.of_fit(n, d, n_outputs) > a_row * n and n < latest:
            n += 1
        assert round_paid(price, due, d, n_outputs, spent, a_row) == n
        spent += price.of_fit(n, d, n_outputs)
        due = n + max(1, -(-n // 20))


def test_more_rows_columns_and_outputs_cost_more():
    of_fit = HISTOGRAMS.of_fit
    assert of_fit(100, 3, 1) < of_fit(400, 3, 1) < of_fit(2500, 3, 1) < of_fit(2500, 30, 1)
    assert of_fit(400, 3, 4) > 3.0 * of_fit(400, 3, 1)


def test_fits_cost_no_more_than_is_paid_for():
    model = model_of(budget="balanced").fit(*stream(300))
    for state in (model._state["trees"][0][name] for name in ("targets", "errors")):
        assert 0.0 < state["spent"] <= state["allowance"] * state["t"]
        assert state["n_fits"] >= 1
        assert state["due"] > state["t"]
    cheaper = model_of().fit(*stream(10))._state["trees"][0]["targets"]
    assert cheaper["allowance"] < 0.5 * state["allowance"]


def test_few_rows_make_small_trees():
    model = model_of().fit(*stream(400))
    _, fitted = model._state["trees"][0]["targets"]["fits"][-1]
    assert (fitted.max_iter, fitted.max_leaf_nodes) == (60, 16)


def test_what_is_given_keeps_its_schedule():
    from sklearn.linear_model import Ridge

    X, y = stream(100)
    n_fits = [
        model_of(trees=trees).fit(X, y)._state["trees"][0]["targets"]["n_fits"]
        for trees in (Ridge(), RefitRegressor(Ridge(), growth=0.5))
    ]
    expected, due = [0, 0], [30, 30]
    for which, growth in enumerate((0.05, 0.5)):
        while due[which] <= len(y):
            expected[which] += 1
            due[which] += max(1, int(np.ceil(growth * due[which])))
    assert n_fits == expected


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [0, 4])
def test_the_cut_of_the_stream_does_not_matter(delay):
    X, y = stream(420)
    whole, parts = model_of(label_delay=delay), model_of(label_delay=delay)
    expected = whole.prequential_predict(X, y)
    cuts = zip([0, 1, 150, 370], [1, 150, 370, 420], strict=True)
    found = [parts.prequential_predict(X[low:high], y[low:high]) for low, high in cuts]
    assert whole._state["trees"][0]["targets"]["n_fits"] > 0
    assert_allclose(np.concatenate(found), expected, rtol=1e-7, atol=1e-7)


def test_without_lightgbm_a_sentence_says_what_to_do(monkeypatch):
    monkeypatch.setitem(sys.modules, "lightgbm", None)
    X, y = stream(40)
    with pytest.raises(ValueError, match="pip install lightgbm"):
        model_of(trees="lightgbm").fit(X, y)
    with pytest.raises(ValueError, match="'trees' parameter"):
        model_of(trees="catboost").fit(X, y)


def test_lightgbm_takes_part_where_it_is_installed():
    pytest.importorskip("lightgbm")
    X, y = stream(300)
    model = model_of(trees="lightgbm").fit(X, y)
    assert model._state["trees"][0]["targets"]["n_fits"] > 1
    classes = OnlineKernelClassifier(budget="fast", trees="lightgbm", random_state=0)
    assert classes.fit(X, y > 0.0).predict_proba(X[:3]).shape == (3, 2)
