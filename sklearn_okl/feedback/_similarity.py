"""Similarity graphs: the nodes are the kernels, and ask others that are far from them.

Column j of such a graph is the out-neighbourhood of kernel j. The names of equations and algorithms
are those of P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", JMLR 24, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._documentation import explained_by
from .._linalg import softmax
from .._types import Any
from ._distances import checked_distances, kernel_distances
from ._graphs import FeedbackGraph, draw


@dataclass(frozen=True, eq=False)
class SimilarityGraph(FeedbackGraph):
    r"""Kernels ask kernels that are jointly dissimilar (OMKL-SFG, Algorithms 4 and 5).

    A node is charged with the losses of the forecasts made from it, and drawn by its weight, with
    exploration over a dominating set of the graph.

    Parameters
    ----------
    n_selected : int, default=10
        Size M of a neighbourhood; the experiments' choice.
    exploration0 : float, default=0.1
        Scale of the exploration rate :math:`\xi_t = exploration0 / t^{power\_t}`, in (0, 1]: the
        share of the dominating set in the draw of the node.
    power_t : float, default=0.5
        Decay of that share.
    freeze_after : int, default=300
        Round after which no node is drawn, but the one with the largest weight then is kept, and
        the refinement of the graph if there is one; the experiments' choice. Give a number beyond
        the last round to draw always.
    min_node_probability : float, default=0.2
        Lower bound on the probability by which the loss of the forecast is divided, which is
        credited to the node, in [0, 1); 0.2 is the published code's.
    dim : int, default=1
        Dimension in which kernels are compared (the paper's d). With many dimensions the widest
        kernel is the farthest from all, and the others are equally far from it up to rounding:
        neighbourhoods then hold the kernels that come first in the dictionary.
    distances : array-like of shape (n_kernels, n_kernels), default=None
        Distances between the kernels in the order of `kernels_`, in place of those of eq. (27):
        finite, not negative, symmetric, e.g. of another Bregman divergence (eq. 26). `dim` is then
        ignored. If all are equal, the neighbourhood of a kernel is itself and the kernels that
        come first in the dictionary, which is what the published figures come from; see the
        notes of :class:`~sklearn_okl.OMKLSFGRegressor`.
    """

    n_selected: int = 10
    exploration0: float = 0.1
    power_t: float = 0.5
    freeze_after: int = 300
    min_node_probability: float = 0.2
    dim: int = 1
    distances: object = None

    def start(self, kernels: Any) -> Any:
        """Return the state before the first draw, with the graph."""
        graph = similarity_graph(self._log_distances(kernels), self.n_selected)
        dominating = np.zeros(len(graph), dtype=bool)
        dominating[greedy_set_cover(graph)] = True
        return {
            "graph": graph,
            "dominating": dominating,
            "log_node_weights": np.zeros(len(graph)),
        }

    def _log_distances(self, kernels):
        if self.distances is not None:
            return checked_distances(self.distances, len(kernels))
        return kernel_distances(kernels, dim=self.dim, log=True)

    def draw(self, state: Any, log_weights: Any, t: Any, rng: Any) -> None:
        """Draw a node by its weight (eq. 33, 46), or take the best and stay; keep its law."""
        dominating = state["dominating"]
        exploration = self.exploration0 / t ** float(self.power_t)
        p = softmax(state["log_node_weights"]) * (1 - exploration)
        p[dominating] += exploration / np.count_nonzero(dominating)
        state["probabilities"] = p
        state["node"] = self._node(state, t, rng)
        self._ask(state)

    def _node(self, state, t, rng):
        if t <= self.freeze_after:
            return int(draw(state["probabilities"], rng.random_sample()))
        if t == self.freeze_after + 1:
            return int(state["log_node_weights"].argmax())
        return state["node"]

    def _ask(self, state):
        """Ask the kernels of the node drawn."""
        graph = state["graph"]
        asked = graph[:, state["node"]].nonzero()[0]
        state["asked"], state["n_combined"] = asked, len(asked)
        state["chances"] = graph[asked] @ state["probabilities"]  # eq. (36)

    def credit(self, state: Any, eta: Any, loss: Any) -> None:
        """Charge the drawn node with the loss of the forecast (eq. 37, 39b)."""
        node = state["node"]
        chance = max(state["probabilities"][node], self.min_node_probability)
        state["log_node_weights"][node] -= eta * loss / chance

    def edges(self, state: Any) -> Any:
        return state["graph"].copy()

    def pool(self, state: Any, t: Any) -> Any:
        """Return the kernels asked, which are those of all later rounds once a node is kept."""
        return state["asked"], t > self.freeze_after


@dataclass(frozen=True, eq=False)
class RefinedSimilarityGraph(SimilarityGraph):
    r"""A similarity graph with further edges in every round (OMKL-SFG-R, Algorithm 6).

    The nodes with the largest weights together ask every kernel. The forecast is made from the
    graph before refinement; the new edges are for learning.

    Parameters
    ----------
    n_selected, exploration0, power_t, freeze_after, min_node_probability, dim, distances : object
        As in :class:`SimilarityGraph`.
    n_dominating : int, default=10
        Number of nodes, those with the largest weights and all that equal the least of them, that
        together ask every kernel. It sets the paper's beta to :math:`(1 - \xi) u_{(n)} + \xi / K`,
        where :math:`u_{(n)}` is the n-th largest weight; the experiments' choice.
    """

    n_dominating: int = 10

    def start(self, kernels: Any) -> Any:
        """Return the state before the first draw, with the graph and the distances."""
        log_distances = self._log_distances(kernels)
        return {
            "log_distances": log_distances,
            "graph": similarity_graph(log_distances, self.n_selected),
            "log_node_weights": np.zeros(len(log_distances)),
        }

    def draw(self, state: Any, log_weights: Any, t: Any, rng: Any) -> None:
        """Refine the graph, while nodes are drawn, and draw one."""
        if t <= self.freeze_after:
            self._refine(state)
        super().draw(state, log_weights, t, rng)

    def _refine(self, state):
        """Find the best nodes (eq. 44) and the edges that make them dominate (eq. 45)."""
        log_u = state["log_node_weights"]
        rank = max(len(log_u) - self.n_dominating, 0)
        dominating = log_u >= np.partition(log_u, rank)[rank]
        askers = refining_edges(state["log_distances"], dominating)
        state["dominating"], state["askers"] = dominating, askers
        state["is_new"] = ~state["graph"][np.arange(len(askers)), askers]

    def _ask(self, state):
        """Ask the kernels of the node drawn, and those that it was given."""
        graph, node, p = state["graph"], state["node"], state["probabilities"]
        askers, is_new = state["askers"], state["is_new"]
        combined = graph[:, node].nonzero()[0]
        asked = np.concatenate([combined, (is_new & (askers == node)).nonzero()[0]])
        state["asked"], state["n_combined"] = asked, len(combined)
        state["chances"] = graph[asked] @ p + is_new[asked] * p[askers[asked]]

    def edges(self, state: Any) -> Any:
        graph = state["graph"].copy()
        graph[np.arange(len(graph)), state["askers"]] = True
        return graph


def similarity_graph(log_distances, n_selected):
    """Join every kernel to kernels that are jointly far from it and from each other.

    Algorithm 4: the out-neighbourhood of kernel j starts as {j}; the kernel with the largest sum
    of distances to those in it is added (eq. 31), the first of equals, until it holds
    min(`n_selected`, K) kernels, which is how eq. (32) sets the threshold. For squared distances
    in a Hilbert space, such as eq. (27), the sum is, but for a constant, that of the squared
    distance to the neighbourhood's mean: what is added are extremes, and near-twins of them.

    Parameters
    ----------
    log_distances : ndarray of shape (K, K)
        As :func:`kernel_distances` returns them with ``log=True``.
    n_selected : int
        Kernels in a neighbourhood, M.

    Returns
    -------
    ndarray of shape (K, K)
        The graph; column j is the out-neighbourhood of kernel j.
    """
    n_kernels = len(log_distances)
    nodes = np.arange(n_kernels)
    graph = np.eye(n_kernels, dtype=bool)
    sums = log_distances.copy()  # sums[i, j]: of kernel i to the neighbourhood of j
    for _ in range(min(n_selected, n_kernels) - 1):
        added = np.where(graph, -np.inf, sums).argmax(axis=0)
        graph[added, nodes] = True
        sums = np.logaddexp(sums, log_distances[:, added])
    return graph


def greedy_set_cover(graph):
    """Find few nodes that together ask every kernel (Chvátal's greedy heuristic).

    Parameters
    ----------
    graph : ndarray of shape (K, J)
        A graph in which every kernel is asked by some node.

    Returns
    -------
    ndarray of int
        Nodes, in the order of choice: each asks the most kernels not yet asked, the first of
        equals. In a similarity graph they are a dominating set.
    """
    uncovered = np.ones(len(graph), dtype=bool)
    cover = []
    while uncovered.any():
        node = int(graph[uncovered].sum(axis=0).argmax())
        cover.append(node)
        uncovered &= ~graph[:, node]
    return np.array(cover)


@explained_by(similarity_graph)
def refining_edges(log_distances, dominating):
    """Find the edges that make a set of kernels dominate the graph (Algorithm 6, eq. 45).

    Parameters
    ----------
    dominating : ndarray of shape (K,)
        Mask of the kernels in the set.

    Returns
    -------
    ndarray of int of shape (K,)
        The node that shall ask kernel i: outside the set the member farthest from i, the first of
        equals; inside it i itself, whose loop is in the graph already.
    """
    members = np.flatnonzero(dominating)
    askers = members[log_distances[members].argmax(axis=0)]
    askers[members] = members
    return askers
