"""OMKL-GF, -SFG, -SFG-R: oracles, laws of the draws, importance weights, laws."""

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from benchmarks.papers.graph_lines import ProgramSFG, ProgramSFGR
from sklearn_okl.algorithms._graphs import (
    OMKLGFRegressor,
    OMKLSFGRegressor,
    OMKLSFGRRegressor,
)
from sklearn_okl.base import GraphRounds, OnlineRegressor
from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.feedback import FeedbackGraph
from sklearn_okl.feedback._distances import kernel_distances
from sklearn_okl.kernels import kernel_list
from tests.oracles import graphs as oracle

CLASSES = [OMKLGFRegressor, OMKLSFGRegressor, OMKLSFGRRegressor]
GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.02, 0.2, 1.0]}
SMALL = {"kernels": GRID, "n_components": 20, "random_state": 0, "n_selected": 2}


class Pairs(FeedbackGraph):
    """Every node asks two kernels, and is as likely as any other: only what a graph must say."""

    def start(self, kernels):
        return {"probabilities": np.full(len(kernels), 1 / len(kernels))}

    def draw(self, state, log_weights, t, rng):
        n_kernels = len(log_weights)
        node = int(rng.randint(n_kernels))
        asked = np.array([node, (node + 1) % n_kernels])
        chances = np.full(2, 2 / n_kernels)
        state.update(node=node, asked=asked, n_combined=2, chances=chances)

    def edges(self, state):
        nodes = np.eye(len(state["probabilities"]), dtype=bool)
        return nodes | np.roll(nodes, 1, axis=0)


class PairsRegressor(GraphRounds, OnlineRegressor):
    """A graph of one's own in the engine."""

    def __init__(self, kernels=None, n_components=20, *, random_state=None):
        super().__init__(
            kernels,
            n_components=n_components,
            eta0=0.5,
            shrinkage=0.0,
            min_probability=0.0,
            random_state=random_state,
        )

    def _graph(self):
        return Pairs()


def stream(seed, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def generator(seed):
    """Return the generator of the draws of a model with this seed and given frequencies."""
    return np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1))


def random_frequencies(kernels, d, m, seed):
    rng = np.random.default_rng(seed)
    return [rng.normal(size=(d, m)) for _ in kernel_list(kernels)]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("freeze_after", [1, 50])
@pytest.mark.parametrize(
    "options",
    [{}, {"n_selective": 3, "exploration0": 1.0, "shrinkage": 0.05}, {"min_probability": 0.5}],
)
@pytest.mark.parametrize("kernels", [GRID, None])
def test_omkl_gf_is_its_listing(kernels, options, freeze_after):
    X, y = stream(1, n=100)
    frequencies = random_frequencies(kernels, 3, 10, 2)
    model = OMKLGFRegressor(
        kernels,
        n_selected=3,
        frequencies=frequencies,
        freeze_after=freeze_after,
        random_state=5,
        **options,
    )
    names = {"n_selective": "J", "min_probability": "bound"}
    renamed = {names.get(name, name): value for name, value in options.items()}
    expected, weights = oracle.omkl_gf(
        X, y, frequencies, generator(5), M=3, freeze_after=freeze_after, **renamed
    )
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(model.weights_, weights, rtol=1e-9, atol=1e-12)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("n_dominating", [None, 1, 4])
@pytest.mark.parametrize(
    ("freeze_after", "options", "kernels"),
    [
        (50, {}, GRID),
        (1, {"exploration0": 1.0, "eta0": 0.5, "power_t": 0.3}, GRID),
        (50, {"exploration0": 1.0, "eta0": 0.5, "power_t": 0.3}, None),
    ],
)
def test_omkl_sfg_and_sfg_r_are_their_listings(kernels, options, freeze_after, n_dominating):
    X, y = stream(1, n=100)
    frequencies = random_frequencies(kernels, 3, 10, 2)
    class_ = OMKLSFGRegressor if n_dominating is None else OMKLSFGRRegressor
    model = class_(
        kernels,
        n_selected=3,
        frequencies=frequencies,
        freeze_after=freeze_after,
        random_state=5,
        **options,
    )
    if n_dominating is not None:
        model.set_params(n_dominating=n_dominating)
    expected, weights = oracle.omkl_sfg(
        X,
        y,
        frequencies,
        generator(5),
        kernel_distances(kernel_list(kernels)),
        M=3,
        freeze_after=freeze_after,
        n_dominating=n_dominating,
        **options,
    )
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(model.weights_, weights, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("class_", [OMKLSFGRegressor, OMKLSFGRRegressor])
def test_given_distances_replace_those_of_the_paper(class_):
    X, y = stream(1)
    distances = kernel_distances(kernel_list(GRID), dim=3)
    given = class_(**SMALL, distances=distances, freeze_after=50)
    known = class_(**SMALL, dim=3, freeze_after=50)
    assert_allclose(given.prequential_predict(X, y), known.prequential_predict(X, y), rtol=1e-9)
    with pytest.raises(ValueError, match="'distances'"):
        given.set_params(distances=2 * distances).predict(X)
    with pytest.raises(ValueError, match="6 kernels"):
        class_(**SMALL, distances=np.ones((5, 5))).fit(X, y)


@pytest.mark.parametrize("class_", [OMKLSFGRegressor, OMKLSFGRRegressor])
def test_given_distances_serve_kernels_without_one(class_):
    X, y = stream(1)
    options = SMALL | {"kernels": {"kernel": ["cauchy"], "gamma": [0.1, 1.0, 10.0]}}
    model = class_(**options, distances=np.ones((3, 3)), freeze_after=50).fit(X, y)
    expected = [[True, True, True], [True, True, False], [False, False, True]]
    if class_ is OMKLSFGRegressor:
        assert_array_equal(model.graph_, expected)
    assert (model.graph_ >= expected).all()


@pytest.mark.long(every=3)
@pytest.mark.parametrize("program", [False, True])
@pytest.mark.parametrize("n_dominating", [None, 4])
def test_equal_distances_and_the_draws_of_the_published_program(n_dominating, program):
    """With all distances equal Algorithm 4 adds the first kernels, as with the program's NaN."""
    X, y = stream(1, n=100)
    frequencies = random_frequencies(None, 3, 10, 2)
    if program:
        class_ = ProgramSFG if n_dominating is None else ProgramSFGR
    else:
        class_ = OMKLSFGRegressor if n_dominating is None else OMKLSFGRRegressor
    options = {"frequencies": frequencies, "freeze_after": 60, "random_state": 5}
    model = class_(distances=np.ones((76, 76)), **options)
    if n_dominating is not None:
        model.set_params(n_dominating=n_dominating)
    expected, _ = oracle.omkl_sfg(
        X,
        y,
        frequencies,
        generator(5),
        np.ones((76, 76)),
        freeze_after=60,
        n_dominating=n_dominating,
        program=program,
    )
    assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-9, atol=1e-9)


def taught(class_, **options):
    """Return a model whose weights are no longer equal, still drawing."""
    X, y = stream(3, n=150)
    return class_(GRID, n_components=20, random_state=1, eta0=1.0, **options).fit(X, y)


def draws(model, n=10_000):
    """Draw the next round again and again; yield the state after each draw."""
    state, graph = copy.deepcopy(model._state), model._graph()
    for _ in range(n):
        graph.draw(state["graph"], state["log_weights"], state["t"] + 1, state["rng"])
        yield state["graph"]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("class_", CLASSES)
def test_nodes_are_drawn_as_often_as_their_law_says(class_):
    keep = 100 if class_ is OMKLGFRegressor else 1000  # a kept graph has one law
    model = taught(class_, n_selected=2, exploration0=1.0, freeze_after=keep)
    law = model.node_probabilities_
    assert_allclose(law.sum(), 1)
    counts = np.bincount([state["node"] for state in draws(model)], minlength=len(law))
    statistic = ((counts - 10_000 * law) ** 2 / (10_000 * law)).sum()
    assert statistic < chi2.isf(1e-6, len(law) - 1)
    assert counts[0] > 0  # the published code never draws it


@pytest.mark.long(every=2)
@pytest.mark.parametrize("class_", [OMKLSFGRegressor, OMKLSFGRRegressor])
def test_importance_weights_are_unbiased(class_):
    model = taught(class_, n_selected=2, freeze_after=1000, exploration0=1.0, power_t=0.2)
    assert_unbiased(model)


@pytest.mark.long
def test_importance_weights_of_omkl_gf_are_unbiased_under_full_exploration():
    assert_unbiased(taught(OMKLGFRegressor, n_selected=2, exploration0=1.0, power_t=0.0))


def assert_unbiased(model):
    n = 10_000
    sums, squares = np.zeros(6), np.zeros(6)
    for state in draws(model, n):
        quotients = 1 / state["chances"]  # no bound: the mean of 1/q over the rounds asked is 1
        sums[state["asked"]] += quotients
        squares[state["asked"]] += quotients**2
    variances = np.maximum(squares / n - (sums / n) ** 2, 0.0)  # rounding may sink a 0
    deviations = np.sqrt(variances / n)
    # a kernel that all nodes ask has deviation 0
    assert (abs(sums / n - 1) < 5.5 * deviations + 1e-9).all()


@pytest.mark.long
def test_importance_weights_of_omkl_gf_are_nearly_unbiased_otherwise():
    # eq. (21) takes the node's law as if it did not depend on the graph
    model = taught(OMKLGFRegressor, n_selected=3, exploration0=1.0, freeze_after=1000)
    sums = np.zeros(6)
    for state in draws(model):
        sums[state["asked"]] += 1 / state["chances"]
    assert_allclose(sums / 10_000, 1, atol=0.2)


@pytest.mark.long
@pytest.mark.parametrize("class_", CLASSES)
def test_an_only_kernel_is_drawn_in_silence(class_):
    """Its law is 1; pytest makes errors of warnings."""
    X, y = np.arange(60.0).reshape(20, 3) / 60, np.arange(20.0) / 20
    model = class_({"kernel": ["rbf"]}, n_components=5).partial_fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.long
def test_a_graph_of_one_s_own():
    check_online_estimator(PairsRegressor(GRID, random_state=0), random_state=1)
    X, y = stream(2, 400)
    model = PairsRegressor(GRID, random_state=0)
    forecasts = model.prequential_predict(X, y)
    assert np.mean((forecasts - y)[200:] ** 2) < np.var(y[200:])
    assert_array_equal(model.graph_.sum(axis=0), np.full(6, 2))
    assert model.graph_[model.selected_, model.node_].all()


@pytest.mark.long
def test_laws_with_phases():
    check_online_estimator(OMKLGFRegressor(**SMALL, form="phase"), random_state=1)


@pytest.mark.parametrize("class_", CLASSES)
def test_a_random_node_may_score_poorly(class_):
    assert class_().__sklearn_tags__().regressor_tags.poor_score


@pytest.mark.parametrize("class_", CLASSES)
def test_predict_is_the_next_forecast_and_changes_nothing(class_):
    X, y = stream(4)
    model = class_(**SMALL, freeze_after=100)
    for i in range(0, 200, 7):
        model.partial_fit(X[i : i + 6], y[i : i + 6])
        before = pickle.dumps(model)
        F = model.predict(X)
        assert pickle.dumps(model) == before
        if i + 6 < 200:
            assert_allclose(
                F[i + 6], model.prequential_predict(X[[i + 6]], y[[i + 6]])[0], rtol=1e-9
            )


@pytest.mark.long(every=2)
@pytest.mark.parametrize("class_", CLASSES)
def test_only_the_kernels_asked_learn(class_):
    X, y = stream(5)
    model = class_(**SMALL, freeze_after=50)
    model.partial_fit(X[:1], y[:1])
    for i in range(1, 120):
        graph, node, selected = model.graph_, model.node_, model.selected_
        asked = graph[:, node]
        assert set(selected) <= set(np.flatnonzero(asked))
        before = model._state["theta"].copy()
        model.partial_fit(X[[i]], y[[i]])
        assert_array_equal((model._state["theta"] != before).any(axis=1), asked)


@pytest.mark.parametrize("class_", CLASSES)
def test_a_shared_generator_is_used_once_and_not_kept(class_):
    X, y = stream(6)
    shared = np.random.RandomState(0)
    model = class_(**SMALL | {"random_state": shared}).partial_fit(X[:50], y[:50])
    position = shared.get_state()[2]
    rest = model.prequential_predict(X[50:], y[50:])
    assert shared.get_state()[2] == position
    fresh = class_(**SMALL).partial_fit(X[:50], y[:50])
    assert_array_equal(rest, fresh.prequential_predict(X[50:], y[50:]))


@pytest.mark.parametrize("class_", CLASSES)
def test_large_losses_and_many_rounds_stay_on_the_simplex(class_):
    X, y = stream(7, n=400)
    model = class_(**SMALL).fit(X, 1e4 * y)
    weights = model.weights_
    assert np.isfinite(weights).all()
    assert_allclose(weights.sum(), 1)
    assert_allclose(model.node_probabilities_.sum(), 1)


@pytest.mark.parametrize("class_", [OMKLSFGRegressor, OMKLSFGRRegressor])
def test_the_best_node_is_kept_in_the_end(class_):
    X, y = stream(8)
    model = class_(**SMALL, freeze_after=60).partial_fit(X[:60], y[:60])
    best = model.node_weights_.argmax()
    for i in range(60, 100):
        assert model.node_ == best
        model.partial_fit(X[[i]], y[[i]])
    with pytest.raises(ValueError, match="freeze_after"):
        model.set_params(freeze_after=30).predict(X)


def test_refined_graph_is_dominated_by_few_nodes():
    X, y = stream(8)
    model = OMKLSFGRRegressor(**SMALL, n_dominating=2).fit(X, y)
    best = model.dominating_set_
    assert len(best) == 2
    assert model.node_weights_[best].min() >= np.delete(model.node_weights_, best).max()
    assert model.graph_[:, best].any(axis=1).all()


@pytest.mark.parametrize("class_", CLASSES)
def test_refuses_a_ridge_in_the_grid(class_):
    X, y = stream(9)
    with pytest.raises(ValueError, match="'alpha'"):
        class_([{"gamma": [1.0], "alpha": [0.1, 1.0]}]).fit(X, y)


@pytest.mark.parametrize("class_", [OMKLSFGRegressor, OMKLSFGRRegressor])
def test_refuses_kernels_without_a_distance(class_):
    X, y = stream(9)
    with pytest.raises(ValueError, match="'cauchy'"):
        class_({"kernel": ["rbf", "cauchy"]}).fit(X, y)
