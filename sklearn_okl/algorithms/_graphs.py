r"""P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", JMLR 24, 2023.

A round forecasts from a few kernels only, those that a randomly drawn node of a feedback graph
holds, and teaches only these: with importance weights, as the other kernels' losses stay unseen.
"""

from __future__ import annotations

from numbers import Integral, Real

from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._linalg import softmax
from .._types import Any, Array, ArrayLike, Seed
from ..base import GraphRounds, OnlineRegressor
from ..feedback import BipartiteGraph, RefinedSimilarityGraph, SimilarityGraph

_COUNT = [Interval(Integral, 1, None, closed="left")]
_SHARE = [Interval(Real, 0, 1, closed="left")]
_CONSTRAINTS = {
    **GraphRounds._parameter_constraints,
    "n_selected": _COUNT,
    "exploration0": [Interval(Real, 0, 1, closed="right")],
    "freeze_after": _COUNT,
}


@inherit_documentation
@explained_by(BipartiteGraph)
class OMKLGFRegressor(GraphRounds, OnlineRegressor):
    r"""OMKL-GF: online multi-kernel learning with a generated bipartite feedback graph.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them.
    A few selective nodes draw kernels, the good ones more often. A round draws a node: its kernels
    alone are computed and taught, and their weighted mean is the forecast (eq. 17 of [1]_).

    See Also
    --------
    OMKLSFGRegressor : A graph of dissimilar kernels, made once.
    OMKLSFGRRegressor : The same, refined every round.
    VAW2Regressor : All kernels every round, of second order.

    Notes
    -----
    *Cost.* O(d D M) per round for d inputs and D features, of the drawn node's kernels alone, and
    O(K J + J M log K) for the graph while it is made. While it is kept, features of its at most J M
    kernels are computed for blocks of rows.

    *Theorem.* Theorem 2 of [1]_: for losses in [0, 1] with bounded gradients, and rates tuned to
    the horizon T (eq. 24: :math:`\eta = O(T^{-3/4})`, :math:`\eta_e = O(T^{-1/4})`), the expected
    regret against the best function of any kernel's RKHS is :math:`O(T^{3/4})`, with high
    probability over the frequencies if there are :math:`O(\sqrt{T} \ln T)` of them. It holds for a
    graph made afresh every round and ``min_probability=0``; the defaults, which are the
    experiments', have no theorem: decreasing rates, and a graph that is kept.

    *Importance weights.* Losses are divided by eq. (21), the probability that a kernel is asked if
    node probabilities do not depend on the graph. They do (eq. 18-19), so the estimates are exactly
    unbiased only under full exploration, ``exploration0=1, power_t=0``. While the graph is kept the
    laws that made it stay in eq. (21).

    *Departures.* The published code never draws the first kernel, its sums being one place late;
    here all are drawn as eq. (20) says. It also takes the norm in a kernel's loss after the step,
    here before. Weights are kept as logarithms. The node of a round is drawn at the end of the
    round before, so that :meth:`predict` is what will be forecast.

    Examples
    --------
    >>> from sklearn_okl import OMKLGFRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> model = OMKLGFRegressor(n_components=20, n_selected=5, random_state=0).fit(*make_ar4(500))
    >>> model.weights_.shape, model.graph_.shape, len(model.selected_) <= 5
    ((76,), (76, 2), True)
    """

    _test_parameters = ({"n_selected": 2, "freeze_after": 100},)

    _parameter_constraints = {**_CONSTRAINTS, "n_selective": _COUNT}
    _structural = ("n_selected", "freeze_after", "n_selective")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        n_selective: int = 2,
        n_selected: int = 10,
        eta0: float = 0.1,
        power_t: float = 0.5,
        shrinkage: float = 1e-3,
        exploration0: float = 0.1,
        freeze_after: int = 300,
        min_probability: float = 0.05,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            eta0=eta0,
            power_t=power_t,
            shrinkage=shrinkage,
            min_probability=min_probability,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.n_selective = n_selective
        self.n_selected = n_selected
        self.exploration0 = exploration0
        self.freeze_after = freeze_after

    def _graph(self):
        draws = self.exploration0, self.power_t, self.freeze_after
        return BipartiteGraph(self.n_selective, self.n_selected, *draws)


@explained_by(SimilarityGraph)
class _OnSimilarityGraph(GraphRounds):
    r"""What the two regressors on similarity graphs share beside the shell.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the paper's grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`. Gaussian and Laplacian kernels with positive
        gamma only, whose distances are known, unless `distances` are given.

    Attributes
    ----------
    node_weights_ : ndarray of shape (n_kernels,)
        Weights of the nodes by the losses of forecasts made from them, of sum one.
    dominating_set_ : ndarray of int
        Nodes that share in the exploration: together they ask every kernel.
    """

    _parameter_constraints = {
        **_CONSTRAINTS,
        "min_node_probability": _SHARE,
        "dim": _COUNT,
        "distances": [None, "array-like"],
    }
    _structural = ("n_selected", "freeze_after", "dim", "distances")

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        n_selected: int = 10,
        eta0: float = 0.1,
        power_t: float = 0.5,
        shrinkage: float = 1e-3,
        exploration0: float = 0.1,
        freeze_after: int = 300,
        min_probability: float = 0.1,
        min_node_probability: float = 0.2,
        dim: int = 1,
        distances: ArrayLike | None = None,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            eta0=eta0,
            power_t=power_t,
            shrinkage=shrinkage,
            min_probability=min_probability,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.n_selected = n_selected
        self.exploration0 = exploration0
        self.freeze_after = freeze_after
        self.min_node_probability = min_node_probability
        self.dim = dim
        self.distances = distances

    @property
    def node_weights_(self) -> Array:
        """Weights of the nodes, not negative and of sum one, of shape (n_kernels,)."""
        return softmax(self._fitted_state("node_weights_")["graph"]["log_node_weights"])

    @property
    def dominating_set_(self) -> Array:
        """Nodes that share in the exploration."""
        return self._fitted_state("dominating_set_")["graph"]["dominating"].nonzero()[0]

    def _graph_settings(self):
        return {
            "n_selected": self.n_selected,
            "exploration0": self.exploration0,
            "power_t": self.power_t,
            "freeze_after": self.freeze_after,
            "min_node_probability": self.min_node_probability,
            "dim": self.dim,
            "distances": self.distances,
        }


@inherit_documentation
class OMKLSFGRegressor(_OnSimilarityGraph, OnlineRegressor):
    r"""OMKL-SFG: online multi-kernel learning with a similarity-based feedback graph.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them,
    and a neighbourhood of kernels that are jointly dissimilar. In a round one kernel is drawn, the
    weighted mean of its neighbourhood's forecasts is the forecast (eq. 34 of [1]_), and the
    neighbourhood alone is computed and taught. The dominating set that shares in the draws is found
    by the greedy heuristic of [2]_.

    See Also
    --------
    OMKLSFGRRegressor : The graph refined every round, for a better theorem.
    OMKLGFRegressor : A graph that follows the losses; more accurate in the experiments.

    Notes
    -----
    *Cost.* O(d D M) per round for d inputs, D features and M selected kernels, and O(K M) additions
    for probabilities; no kernel outside the drawn neighbourhood is touched. Once O(K² M) for the
    graph.

    *Theorem.* Theorem 5 of [1]_: for losses in [0, 1] with bounded gradients, and rates tuned to
    the horizon T (eq. 41), the expected regret against the best function of any kernel's RKHS is
    :math:`O(T^{2/3})` in T, with high probability over the frequencies if there are
    :math:`O(T^{2/3} \ln T)` of them. It needs both bounds on probabilities 0 and a node drawn in
    every round.

    *Importance weights.* A kernel is asked with the probability of eq. (36), so that with
    ``min_probability=0`` the quotients are unbiased estimates while nodes are drawn. Once a node
    is kept rather than drawn, the quotients still have the law from which it would have been
    drawn, as in the published code; they are then step sizes, larger for rarely asked kernels, and
    no longer importance weights.

    *The published figures* are not those of Algorithm 4. The published function for the distance
    returns nothing, so that all distances are NaN, and every neighbourhood is the kernel itself and
    the first M - 1 others of the dictionary, in the paper's grid the narrowest Gaussians; Figure 2
    shows such a neighbourhood. ``distances=numpy.ones((76, 76))`` makes the same graph, and the
    published figures. By eq. (27) neighbourhoods hold the widest and the narrowest kernels: most
    kernels are in no neighbourhood but their own, are asked one round in 76 at first, and the
    error is greater on the paper's data.

    *Departures.* The published code never draws the first node, its cumulated sums being one place
    late; leaves covered nodes out of the greedy set cover; takes the norm in a kernel's loss after
    the step; and after `freeze_after` rounds keeps the first node whatever the weights. Here all of
    it is as in the paper, but for one thing: by section 5 the node with the largest weight would be
    sought in every round after `freeze_after`; as only the node in use is charged, that would lead
    from node to node for ever, and the first one found is kept. Weights are kept as logarithms. The
    node of a round is drawn at the end of the round before, so that :meth:`predict` is what will be
    forecast.

    References
    ----------
    .. [1] Ghari & Shen 2023, Algorithms 4-5, eq. (26)-(41), section 5.
    .. [2] V. Chvátal, "A greedy heuristic for the set-covering problem", Mathematics of Operations
       Research 4(3), 1979.

    Examples
    --------
    >>> from sklearn_okl import OMKLSFGRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OMKLSFGRegressor(n_components=20, n_selected=5, random_state=0).fit(X, y)
    >>> bool(model.graph_[model.selected_, model.node_].all()), len(model.selected_)
    (True, 5)
    """

    _test_parameters = ({"n_selected": 2, "freeze_after": 100},)

    def _graph(self):
        return SimilarityGraph(**self._graph_settings())


@inherit_documentation
@explained_by(RefinedSimilarityGraph)
class OMKLSFGRRegressor(_OnSimilarityGraph, OnlineRegressor):
    r"""OMKL-SFG-R: online multi-kernel learning with a refined similarity-based feedback graph.

    :class:`OMKLSFGRegressor` whose graph gets further edges in every round, so that the best nodes
    so far ask every kernel: no kernel then goes unseen for long. The new edges are for learning;
    the forecast is made from the neighbourhood in the graph before refinement (eq. 47 of [1]_).

    See Also
    --------
    OMKLSFGRegressor : The graph as it is, at less cost.
    OMKLGFRegressor : A graph that follows the losses; more accurate in the experiments.

    Notes
    -----
    *Cost.* O(d D S) per round for d inputs, D features and S kernels asked: M, and where one of the
    best nodes is drawn also those it was given, on average K / n_dominating and in the worst case
    all K. Until `freeze_after`, O(K n_dominating) for the refinement. Memory O(K²) for distances.

    *Theorem.* Theorem 6 of [1]_: for losses in [0, 1] with bounded gradients, a constant beta, and
    rates tuned to the horizon T (eq. 49: :math:`\eta` and :math:`\xi` of order
    :math:`1/\sqrt{T}`), the expected regret against the best function of any kernel's RKHS is
    :math:`O(\sqrt{T K \ln K})`, with high probability over the frequencies if there are
    :math:`O(T \ln T)` of them. It needs both bounds on probabilities 0 and a node drawn in every
    round.

    *Importance weights.* Those of :class:`OMKLSFGRegressor`, by the in-neighbours in the refined
    graph: unbiased estimates while nodes are drawn and ``min_probability=0``.

    *The published figures* have all distances equal, as for :class:`OMKLSFGRegressor`: the first
    of the best nodes asks every kernel. ``distances=numpy.ones((76, 76))`` does the same.

    *Departures.* Those of :class:`OMKLSFGRegressor`. Edges are added as Algorithm 6 says, to every
    kernel outside the best nodes; by the text above eq. (45) only to kernels that none of them asks
    yet. The published code adds them to the best nodes too, and draws the node again after it has
    chosen the best, which therefore is never kept.

    Examples
    --------
    >>> from sklearn_okl import OMKLSFGRRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OMKLSFGRRegressor(n_components=20, n_selected=5, random_state=0).fit(X, y)
    >>> bool(model.graph_[:, model.dominating_set_].any(axis=1).all())
    True
    """

    _test_parameters = ({"n_selected": 2, "freeze_after": 100},)

    _parameter_constraints = {**_OnSimilarityGraph._parameter_constraints, "n_dominating": _COUNT}

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        n_selected: int = 10,
        eta0: float = 0.1,
        power_t: float = 0.5,
        shrinkage: float = 1e-3,
        exploration0: float = 0.1,
        freeze_after: int = 300,
        min_probability: float = 0.1,
        min_node_probability: float = 0.2,
        dim: int = 1,
        distances: ArrayLike | None = None,
        n_dominating: int = 10,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            n_selected=n_selected,
            eta0=eta0,
            power_t=power_t,
            shrinkage=shrinkage,
            exploration0=exploration0,
            freeze_after=freeze_after,
            min_probability=min_probability,
            min_node_probability=min_node_probability,
            dim=dim,
            distances=distances,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.n_dominating = n_dominating

    def _graph(self):
        return RefinedSimilarityGraph(**self._graph_settings(), n_dominating=self.n_dominating)
