"""Feedback graphs: distances against quadrature, the paper's algorithms against literal loops."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.integrate import quad
from scipy.stats import chi2

from sklearn_okl.feedback import (
    BipartiteGraph,
    FeedbackGraph,
    RefinedSimilarityGraph,
    SimilarityGraph,
)
from sklearn_okl.feedback._bipartite import bipartite_graph, bipartite_laws
from sklearn_okl.feedback._distances import checked_distances, kernel_distances
from sklearn_okl.feedback._graphs import draw
from sklearn_okl.feedback._similarity import (
    greedy_set_cover,
    refining_edges,
    similarity_graph,
)
from sklearn_okl.kernels import kernel_list
from tests.oracles import graphs as oracle

SMALL = [{"kernel": ["rbf", "laplacian"], "gamma": [0.02, 0.5, 3.0, 400.0]}]


def value(kernel, r):
    return np.exp(-kernel["gamma"] * (r * r if kernel["kernel"] == "rbf" else r))


def test_distances_in_one_dimension_are_the_integrals():
    kernels = kernel_list(SMALL)
    distances = kernel_distances(kernels)
    edges = np.concatenate([[0.0], np.logspace(-4, 4, 60)])
    for i, first in enumerate(kernels):
        for j, second in enumerate(kernels):

            def integrand(r, first=first, second=second):
                return (value(first, r) - value(second, r)) ** 2

            pieces = [quad(integrand, a, b)[0] for a, b in pairwise(edges)]
            assert_allclose(distances[i, j], 2 * sum(pieces), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("dim", [2, 3])
def test_distances_in_more_dimensions(dim):
    kernels = kernel_list({"kernel": ["rbf", "laplacian"], "gamma": [0.8, 2.0]})
    nodes, weights = np.polynomial.legendre.leggauss(30)
    edges = np.array([0.0, 0.5, 1, 2, 4, 8, 16, 32])
    half = np.diff(edges)[:, None] / 2
    points = (edges[:-1, None] + half * (nodes + 1)).ravel()
    weights = (2 * half * weights).ravel()  # twice: both signs

    def overlap(first, second):  # of a product kernel, coordinate by coordinate
        return (weights @ (value(first, points) * value(second, points))) ** dim

    expected = [
        [overlap(a, a) + overlap(b, b) - 2 * overlap(a, b) for b in kernels] for a in kernels
    ]
    assert_allclose(kernel_distances(kernels, dim=dim), expected, rtol=1e-9, atol=1e-12)


def test_logarithms_of_distances_hold_in_any_dimension():
    kernels = kernel_list()
    logs = kernel_distances(kernels, dim=500, log=True)
    assert np.isfinite(logs).all()
    assert_array_equal(logs, logs.T)
    assert (np.diag(logs) == -1e300).all()
    off = logs[~np.eye(76, dtype=bool)]
    assert off.min() < -1000  # no float holds the exponentials
    assert off.max() > 1000
    twins = [{"kernel": "rbf", "gamma": 0.3}] * 2
    assert_array_equal(kernel_distances(twins), np.zeros((2, 2)))


def test_distances_refuse_what_has_no_closed_form():
    with pytest.raises(ValueError, match="'matern32'"):
        kernel_distances(kernel_list({"kernel": ["rbf", "matern32"], "gamma": [1.0]}))
    with pytest.raises(ValueError, match="gamma=0"):
        kernel_distances(kernel_list({"gamma": [0.0, 1.0]}))


def test_given_distances_are_taken_as_they_are():
    distances = np.array([[0.0, 2.0, 0.0], [2.0, 0.0, 5.0], [0.0, 5.0, 0.0]])
    logs = checked_distances(distances.tolist(), 3)
    assert_allclose(np.exp(logs), distances)
    assert np.isfinite(logs).all()
    kernels = kernel_list(SMALL)
    logs = kernel_distances(kernels, log=True)
    again = checked_distances(kernel_distances(kernels), len(kernels))
    assert_allclose(again, logs, atol=1e-12)


@pytest.mark.parametrize(
    ("distances", "message"),
    [
        (np.ones((2, 3)), "shape"),
        (np.ones(3), "shape"),
        ([[0, 1, np.nan], [1, 0, 1], [np.nan, 1, 0]], "NaN"),
        ([[0, 1, -1], [1, 0, 1], [-1, 1, 0]], "negative"),
        ([[0, 1, 2], [1, 0, 1], [3, 1, 0]], "symmetric"),
    ],
)
def test_given_distances_are_checked(distances, message):
    with pytest.raises(ValueError, match=message):
        checked_distances(distances, 3)


@pytest.mark.parametrize("n_selected", [1, 5, 10, 15, 20])
def test_equal_distances_lead_to_the_first_kernels(n_selected):
    graph = similarity_graph(checked_distances(np.ones((76, 76)), 76), n_selected)
    for j in range(76):
        others = [i for i in range(76) if i != j][: n_selected - 1]
        assert graph[:, j].nonzero()[0].tolist() == sorted([j, *others])


def test_neighbourhoods_of_the_paper_are_the_extremes_of_its_grid():
    kernels = kernel_list()
    graph = similarity_graph(kernel_distances(kernels, log=True), 10)
    shared = np.flatnonzero(graph.sum(axis=1) > 1)
    assert len(shared) == 11  # the other 65 are in no neighbourhood but their own
    sigmas = np.array([1 / kernels[i]["gamma"] for i in shared if kernels[i]["kernel"] != "rbf"])
    assert ((sigmas < 0.1) | (sigmas > 30)).all()
    assert len(greedy_set_cover(graph)) == 65


def test_in_many_dimensions_the_neighbourhoods_depend_on_the_order_of_the_kernels():
    kernels = kernel_list()
    graph, turned = (
        similarity_graph(kernel_distances(order, dim=20, log=True), 10)
        for order in (kernels, kernels[::-1])
    )
    assert (graph != turned[::-1, ::-1]).any()
    assert graph[:8].all()  # the first kernels of the dictionary are in every neighbourhood


@pytest.mark.long(every=3)
@pytest.mark.parametrize("n_selected", [1, 2, 5, 10, 100])
@pytest.mark.parametrize("seed", [None, 0, 1])
def test_similarity_graph_is_the_literal_greedy(n_selected, seed):
    if seed is None:
        logs = kernel_distances(kernel_list(), log=True)
    else:
        points = np.random.default_rng(seed).normal(size=(20, 3))
        squares = ((points[:, None] - points) ** 2).sum(axis=2)
        logs = np.log(np.maximum(squares, 1e-300))
    graph = similarity_graph(logs, n_selected)
    assert (graph.sum(axis=0) == min(n_selected, len(logs))).all()
    assert np.diag(graph).all()
    assert_array_equal(graph, oracle.similarity_graph(np.exp(logs), n_selected))


@pytest.mark.parametrize("seed", range(5))
def test_set_cover(seed):
    rng = np.random.default_rng(seed)
    graph = rng.random((30, 30)) < 0.15
    np.fill_diagonal(graph, True)
    cover = greedy_set_cover(graph)
    assert graph[:, cover].any(axis=1).all()
    assert len(set(cover.tolist())) == len(cover)
    assert cover.tolist() == oracle.set_cover(graph)


def test_set_cover_may_choose_a_node_that_is_covered_already():
    # 0 asks {0, 1, 2, 3}; 3, covered by then, asks {3, 4, 5} and finishes alone.
    graph = np.eye(6, dtype=bool)
    graph[:4, 0] = True
    graph[3:, 3] = True
    assert greedy_set_cover(graph).tolist() == [0, 3]


@pytest.mark.parametrize("seed", range(5))
def test_refinement_makes_the_set_dominate(seed):
    rng = np.random.default_rng(seed)
    logs = kernel_distances(kernel_list(), log=True)
    dominating = np.zeros(76, dtype=bool)
    dominating[rng.choice(76, size=10, replace=False)] = True
    askers = refining_edges(logs, dominating)
    graph = similarity_graph(logs, 3)
    refined = graph.copy()
    refined[np.arange(76), askers] = True
    assert refined[:, dominating].any(axis=1).all()
    assert_array_equal(refined, oracle.refined_graph(graph, np.exp(logs), dominating))


def test_refinement_by_all_nodes_adds_nothing():
    logs = kernel_distances(kernel_list(SMALL), log=True)
    assert_array_equal(refining_edges(logs, np.ones(8, dtype=bool)), np.arange(8))


def test_draw_inverts_the_distribution():
    law = np.array([0.25, 0.0, 0.5, 0.25])
    uniforms = np.array([0.0, 0.24, 0.25, 0.74, 0.75, 1 - 2.0**-53])
    assert draw(law, uniforms).tolist() == [0, 0, 2, 2, 3, 3]
    assert draw(3 * law, 0.25) == 2


def test_draws_follow_the_law():
    rng = np.random.RandomState(0)
    for n in (2, 10, 76):
        law = rng.dirichlet(np.ones(n)) * 0.9 + 0.1 / n
        counts = np.bincount(draw(law, rng.random_sample(20_000)), minlength=n)
        statistic = ((counts - 20_000 * law) ** 2 / (20_000 * law)).sum()
        assert statistic < chi2.isf(1e-6, n - 1)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("exploration", [0.1, 1.0])
def test_every_kernel_is_joined_as_often_as_equation_21_says(exploration):
    rng = np.random.RandomState(1)
    n_draws, n_selected = 20_000, 4
    weights = rng.dirichlet(np.ones(12))
    laws = bipartite_laws(weights, 3, exploration)
    assert_allclose(laws.sum(axis=0), 1)
    assert_allclose(laws[:, 1], (1 - exploration**2) * weights + exploration**2 / 12)
    counts = sum(
        bipartite_graph(laws, rng.random_sample((3, n_selected))).astype(int)
        for _ in range(n_draws)
    )
    joined = 1 - (1 - laws) ** n_selected
    deviations = (counts - n_draws * joined) / np.sqrt(n_draws * joined * (1 - joined))
    assert abs(deviations).max() < 6  # 36 of them: below 1e-6 together


GRAPHS = [
    BipartiteGraph(3, 2, freeze_after=5),
    SimilarityGraph(2, freeze_after=5),
    RefinedSimilarityGraph(2, freeze_after=5, n_dominating=2),
]


@pytest.mark.parametrize("graph", GRAPHS, ids=lambda graph: type(graph).__name__)
def test_a_drawn_node_asks_its_kernels_with_their_chances(graph):
    rng, log_weights = np.random.RandomState(0), np.linspace(0.0, 2.0, 8)
    state = graph.start(kernel_list(SMALL))
    for t in range(1, 12):
        graph.draw(state, log_weights, t, rng)
        edges, law = graph.edges(state), state["probabilities"]
        assert edges.shape == (8, len(law))
        assert_allclose(law.sum(), 1)
        asked = np.sort(state["asked"])
        assert_array_equal(asked, edges[:, state["node"]].nonzero()[0])
        assert 1 <= state["n_combined"] <= len(asked)
        if not isinstance(graph, BipartiteGraph):  # whose kernels have chances before the draw
            assert_allclose(state["chances"], edges[state["asked"]] @ law)
        assert ((state["chances"] > 0) & (state["chances"] <= 1 + 1e-12)).all()
        pool, stays = graph.pool(state, t)
        assert set(asked) <= set(pool)
        assert stays == (t > 5)
        graph.credit(state, 0.5, 1.0)


@pytest.mark.parametrize("graph", GRAPHS[1:], ids=lambda graph: type(graph).__name__)
def test_the_node_drawn_is_charged_for_its_forecast(graph):
    state = graph.start(kernel_list(SMALL))
    graph.draw(state, np.zeros(8), 1, np.random.RandomState(0))
    node = state["node"]
    graph.credit(state, 0.5, 2.0)
    expected = np.zeros(8)
    expected[node] = -0.5 * 2.0 / max(state["probabilities"][node], 0.2)
    assert_allclose(state["log_node_weights"], expected)


@pytest.mark.parametrize(
    ("verb", "arguments"), [("start", ([],)), ("draw", ({}, None, 1, None)), ("edges", ({},))]
)
def test_what_a_graph_must_say(verb, arguments):
    with pytest.raises(NotImplementedError, match="FeedbackGraph"):
        getattr(FeedbackGraph(), verb)(*arguments)
