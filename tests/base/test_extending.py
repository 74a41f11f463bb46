"""The engines and the bank of the page on extending, as its blocks use them: oracles and checks."""

import ast
import re
import sys
from pathlib import Path
from types import ModuleType
from unittest import SkipTest

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from tests.oracles import bandit_features, bandits, first_order, graphs

PAGE = Path(__file__).parents[2] / "docs" / "extending.md"
WIDTHS = {"kernel": ["rbf"], "gamma": [0.03, 0.1, 0.3, 1.0]}
NAMES = ["FeatureExp3IXRegressor", "NeighboursRegressor", "AdaRakerRegressor"]


def page_tree():
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S)
    return ast.parse("\n".join(blocks))


@pytest.fixture(scope="module")
def page():
    """The imports and classes of the page, as a module of their own."""
    module = ModuleType("classes_of_the_page")
    kept = [
        node
        for node in page_tree().body
        if isinstance(node, (ast.Import, ast.ImportFrom, ast.ClassDef))
    ]
    sys.modules[module.__name__] = module  # where pickles look
    exec(compile(ast.Module(kept, []), str(PAGE), "exec"), vars(module))
    yield module
    del sys.modules[module.__name__]


def stream(seed, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def rounds_generator(model, n_features, seed):
    """Return the generator of a model's own draws, which is made after its frequencies."""
    source = np.random.RandomState(seed)
    model._bank.start(n_features, source)
    return np.random.RandomState(source.randint(2**31 - 1))


@pytest.mark.long
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", NAMES)
def test_scikit_learn(page, name):
    for instance, check in estimator_checks_generator(getattr(page, name)(random_state=0)):
        try:
            check(instance)
        except SkipTest:
            continue


@pytest.mark.parametrize("seed", range(3))
def test_a_sampler_of_ones_own_on_features_is_its_loop(page, seed):
    X, y = stream(seed)
    model = page.FeatureExp3IXRegressor(WIDTHS, 0.3, 0.1, n_components=12, random_state=seed)
    forecasts = model.prequential_predict(X, y)
    maps = [bandit_features.paired(W) for W in model.frequencies_]
    sampler, rng = bandits.Exp3IX(4, 0.3, 0.1), rounds_generator(model, 3, seed)
    expected, _, _, w = bandit_features.select(
        X, y, maps, sampler, rng, "squared_error", 1 / np.sqrt(6)
    )
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.probabilities_, sampler.p, rtol=1e-9)
    assert_allclose(model.coef_, [v + np.zeros(12) for v in w], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_a_graph_of_ones_own_is_its_loop(page, seed):
    X, y = stream(seed)
    model = page.NeighboursRegressor(WIDTHS, 0.3, n_components=12, eta0=0.4, random_state=seed)
    forecasts = model.prequential_predict(X, y)
    rng = rounds_generator(model, 3, seed)
    expected, weights = graphs.neighbours(X, y, model.frequencies_, rng, 0.3, 0.4)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-9)
    assert_allclose(model.weights_, weights, rtol=1e-9)
    assert_array_equal(model.graph_.sum(axis=0), [2, 3, 3, 2])
    assert_array_equal(model.selected_, np.flatnonzero(model.graph_[:, model.node_]))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("options", [{}, {"eta0": 0.3, "shrinkage": 0.1}])
def test_adaraker_is_its_loop(page, options, seed):
    X, y = stream(seed, 150)
    model = page.AdaRakerRegressor(WIDTHS, n_components=12, random_state=seed, **options)
    cuts = slice(1), slice(1, 40), slice(40, None)
    found = np.concatenate([model.prequential_predict(X[rows], y[rows]) for rows in cuts])
    options = {"eta0": 1.0, "restart": "zero"} | options
    expected, awake = first_order.ada_raker(X, y, model.frequencies_, **options)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    awake.sort(key=lambda interval: -interval["eta"])  # of 1 and of 2 rounds eta may be the same
    assert len(awake) == 8  # log2(151), and one
    norms_sq = np.square(model._state["theta"]).sum(axis=(1, 2))
    expected = [np.square(interval["theta"]).sum() for interval in awake]
    assert_allclose(norms_sq[3:], expected[3:], rtol=1e-9)
    assert_allclose(np.exp(model._state["log_h"][3:]), [i["h"] for i in awake[3:]], rtol=1e-9)


def test_adaraker_needs_fewer_than_60_lines():
    (node,) = [n for n in page_tree().body if getattr(n, "name", None) == "AdaRakerRegressor"]
    assert node.end_lineno - node.lineno + 1 < 60


def test_bank_and_features_of_one_s_own_stay_while_the_parameters_do(page):
    X, y = stream(1, 30)
    model = page.AdaRakerRegressor(WIDTHS, n_components=12, random_state=0).fit(X, y)
    other = clone(model).fit(X, y)
    assert_array_equal(model.frequencies_, other.frequencies_)
    assert model.kernels_ == [{"kernel": "rbf", "gamma": gamma} for gamma in WIDTHS["gamma"]]
    with pytest.raises(ValueError, match=r"n_components.* of AdaRakerRegressor cannot change"):
        model.set_params(n_components=20).partial_fit(X, y)
