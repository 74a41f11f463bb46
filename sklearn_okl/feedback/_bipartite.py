"""The bipartite feedback graph: nodes beside the kernels, which draw them by their weights.

The names of equations and algorithms are those of P. M. Ghari, Y. Shen, "Graph-Aided Online
Multi-Kernel Learning", JMLR 24, 2023.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._linalg import softmax
from .._types import Any
from ._graphs import FeedbackGraph, draw


@dataclass(frozen=True)
class BipartiteGraph(FeedbackGraph):
    r"""Selective nodes draw kernels, the good ones more often (OMKL-GF, Algorithms 1 to 3).

    Parameters
    ----------
    n_selective : int, default=2
        Number J of selective nodes, the experiments' choice. The first explores most.
    n_selected : int, default=10
        Draws M of a node, with replacement: the most kernels that a round computes. The choice of
        the experiments; 5 does as well on most data at half the cost.
    exploration0 : float, default=0.1
        Scale of the exploration rate :math:`\eta_{e,t} = exploration0 / t^{power\_t}`, in (0, 1]:
        the share of the uniform law in drawing the node, and, to the power j, in draws by node
        j = 1, ..., J.
    power_t : float, default=0.5
        Decay of the exploration rate.
    freeze_after : int, default=300
        Round up to which the graph is made afresh, and then kept; the experiments' choice.
    """

    n_selective: int = 2
    n_selected: int = 10
    exploration0: float = 0.1
    power_t: float = 0.5
    freeze_after: int = 300

    def start(self, kernels: Any) -> Any:
        """Return the state before the first draw, which makes the graph."""
        return {"n_kernels": len(kernels)}

    def draw(self, state: Any, log_weights: Any, t: Any, rng: Any) -> None:
        """Draw the graph, while it is made, and a node in proportion to its kernels' weights."""
        exploration = self.exploration0 / t ** float(self.power_t)
        if t <= self.freeze_after:
            self._make(state, softmax(log_weights), exploration, rng)
        log_weights = log_weights[state["held"]]
        weights = np.exp(log_weights - log_weights.max()) @ state["held_graph"]  # eq. (18)
        p = weights * ((1 - exploration) / weights.sum()) + exploration / len(weights)  # eq. (19)
        node = int(draw(p, rng.random_sample()))
        chosen = state["held_graph"][:, node].nonzero()[0]
        state["node"], state["probabilities"] = node, p
        state["asked"] = state["held"][chosen]
        state["n_combined"] = len(chosen)
        state["chances"] = state["held_joined"][chosen] @ p  # eq. (21)

    def _make(self, state, weights, exploration, rng):
        """Draw the graph; keep its rows of kernels that some node holds."""
        laws = bipartite_laws(weights, self.n_selective, exploration)
        uniforms = (rng.random_sample(self.n_selected) for _ in range(self.n_selective))
        graph = bipartite_graph(laws, uniforms)
        held = graph.any(axis=1).nonzero()[0]
        state["held"] = held
        state["held_graph"] = graph[held].astype(np.float64)
        # Whether a node draws a kernel at least once, eq. (21); exact for small laws too.
        with np.errstate(divide="ignore"):  # the only kernel's law is 1
            state["held_joined"] = -np.expm1(self.n_selected * np.log1p(-laws[held]))

    def edges(self, state: Any) -> Any:
        graph = np.zeros((state["n_kernels"], self.n_selective), dtype=bool)
        graph[state["held"]] = state["held_graph"] > 0
        return graph

    def pool(self, state: Any, t: Any) -> Any:
        """Return the kernels of all nodes once the graph is kept, before that those asked."""
        stays = t > self.freeze_after
        return (state["held"] if stays else state["asked"]), stays


def bipartite_laws(weights, n_selective, exploration):
    """Laws by which selective nodes draw their kernels (eq. 20).

    Parameters
    ----------
    weights : ndarray of shape (K,)
        Weights of the kernels, of sum one.
    n_selective : int
        Number J of selective nodes.
    exploration : float
        Share of the uniform law at the first node, in (0, 1]; node j = 1, ..., J has its j-th
        power.

    Returns
    -------
    ndarray of shape (K, J)
        A law a column.
    """
    shares = exploration ** np.arange(1.0, n_selective + 1)
    return weights[:, None] * (1 - shares) + shares / len(weights)


def bipartite_graph(laws, uniforms):
    """Let each selective node draw kernels, with replacement (Algorithm 2).

    Parameters
    ----------
    laws : ndarray of shape (K, J)
        As :func:`bipartite_laws` returns them.
    uniforms : ndarray of shape (J, M), or iterable of J ndarrays of shape (M,)
        Independent uniform numbers from [0, 1), M a node.

    Returns
    -------
    ndarray of shape (K, J)
        The graph: at least one and at most M kernels a node.
    """
    graph = np.zeros(laws.shape, dtype=bool)
    for j, (law, points) in enumerate(zip(laws.T, uniforms, strict=True)):
        graph[draw(law, points), j] = True
    return graph
