r"""P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", JMLR 24, 2023.

A round forecasts from a few kernels only, those that a randomly drawn node of a feedback graph
holds, and teaches only these: with importance weights, as the other kernels' losses stay unseen.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state, gen_batches
from sklearn.utils._param_validation import Interval

from ..base import OnlineRegressor
from ..base._convex import softmax
from ..feedback._graphs import (
    bipartite_graph,
    bipartite_laws,
    checked_distances,
    draw,
    greedy_set_cover,
    kernel_distances,
    refining_edges,
    similarity_graph,
)
from ._banks import BANK_CONSTRAINTS, BANK_STRUCTURE, fourier_bank

_TILE = 128  # rows whose features are held at once
_AHEAD = 64  # rows for which features are computed at once, where it is known of which kernels

_COUNT = [Interval(Integral, 1, None, closed="left")]
_SHARE = [Interval(Real, 0, 1, closed="left")]
_CONSTRAINTS = {
    **BANK_CONSTRAINTS,
    "n_selected": _COUNT,
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "power_t": [Interval(Real, 0, None, closed="left")],
    "shrinkage": [Interval(Real, 0, None, closed="left")],
    "exploration0": [Interval(Real, 0, 1, closed="right")],
    "freeze_after": _COUNT,
    "min_probability": _SHARE,
}
_SIMILARITY_CONSTRAINTS = {**_CONSTRAINTS, "min_node_probability": _SHARE, "dim": _COUNT}
_SIMILARITY_CONSTRAINTS["distances"] = [None, "array-like"]
_STRUCTURE = (*BANK_STRUCTURE, "n_selected", "freeze_after")


class PartialInformationRegressor(OnlineRegressor):
    """Base of the algorithms that ask, and teach, a few kernels per round.

    Whom the next round asks is drawn at the end of a round and kept in the state, so that
    forecasts are a function of it. A subclass says how::

        _start_graph(state, bank, n_features)   what the draws need
        _draw(state)                            draw the next round; see below
        _credit(state, eta, loss)               learn from the loss of the forecast

    `_draw` sets "node"; "node_probabilities" (J,); "asked", the kernels to be taught, of which the
    first "n_combined" make the forecast; and "chances", the probability of each to be asked.
    """

    _poor_score = True  # the node is random

    @property
    def weights_(self):
        """Weights of the kernels, not negative and of sum one, of shape (n_kernels,)."""
        return softmax(self._fitted_state("weights_")["log_weights"])

    @property
    def graph_(self):
        """Which kernels each node asks in the next round, of shape (n_kernels, n_nodes)."""
        return self._as_taught()._graph(self._fitted_state("graph_"))

    @property
    def node_(self):
        """Int : the node that was drawn for the next round."""
        return self._fitted_state("node_")["node"]

    @property
    def node_probabilities_(self):
        """Law from which `node_` was drawn, of shape (n_nodes,)."""
        return self._fitted_state("node_probabilities_")["node_probabilities"].copy()

    @property
    def selected_(self):
        """Indices of the kernels that make the next forecast."""
        state = self._fitted_state("selected_")
        return np.sort(state["asked"][: state["n_combined"]])

    @property
    def kernels_(self):
        """Parameters of each kernel."""
        self._fitted_state("kernels_")
        return [dict(kernel) for kernel in fourier_bank(self._as_taught()).kernels]

    @property
    def frequencies_(self):
        """Frequencies in use, of shape (n_kernels, n_features, m)."""
        return self._fitted_state("frequencies_")["features"]["frequencies"].copy()

    def _validate(self):
        super()._validate()
        if any("alpha" in kernel for kernel in fourier_bank(self).kernels):
            raise ValueError(
                f"The grid of kernels has the key 'alpha', a ridge, which {type(self).__name__} "
                "does not have. Leave it out and set 'shrinkage'."
            )

    def _start(self, n_features, n_targets=None):
        bank = fourier_bank(self)
        source = check_random_state(self.random_state)
        features = bank._start(n_features, source)
        state = {
            "t": 0,
            "features": features,
            "theta": np.zeros((len(bank.kernels), bank._n_components(features))),
            "log_weights": np.zeros(len(bank.kernels)),
            # A generator of our own: the user's may be shared, and is not ours to copy.
            "rng": np.random.RandomState(source.randint(2**31 - 1)),
        }
        self._start_graph(state, bank, n_features)
        self._draw(state)
        return state

    def _may_be_asked(self, state):
        """Return kernels and a number of rows for which to compute features at once."""
        return state["asked"], (1 if state["t"] < self.freeze_after else _AHEAD)

    def _learn(self, state, X, y):
        bank = fourier_bank(self)
        place = np.empty(len(bank.kernels), dtype=np.intp)  # of a kernel in the features at hand
        forecasts = np.empty(len(y))
        first = end = 0
        for i, target in enumerate(y.tolist()):
            if i == end:
                first, (pool, n_rows) = i, self._may_be_asked(state)
                # Blocks end where the stream's own count is a multiple of their length, so that
                # most ways of cutting a stream lead through the very same blocks.
                end = min(len(y), i + n_rows - state["t"] % n_rows)
                Z = bank._transform(_members(state["features"], pool), X[i:end])
                place[pool] = np.arange(len(pool))
            forecasts[i] = self._learn_round(state, Z[place[state["asked"]], i - first], target)
        return forecasts

    def _learn_round(self, state, Z, y):
        """Forecast and learn one row, with Z (S, D) its features of the kernels asked."""
        asked, n_combined = state["asked"], state["n_combined"]
        t = state["t"] + 1
        eta = self.eta0 / t**self.power_t
        theta = state["theta"][asked]  # (S, D), a copy
        log_weights = state["log_weights"][asked]
        F = np.einsum("sd,sd->s", theta, Z)
        forecast = float(softmax(log_weights[:n_combined]) @ F[:n_combined])
        errors = F - y
        losses = errors * errors + self.shrinkage * np.einsum("sd,sd->s", theta, theta)
        steps = eta / np.maximum(state["chances"], self.min_probability)
        theta *= (1 - 2 * self.shrinkage * steps)[:, None]
        theta -= (2 * steps * errors)[:, None] * Z
        state["theta"][asked] = theta
        state["log_weights"][asked] = log_weights - steps * losses
        self._credit(state, eta, (forecast - y) ** 2)
        state["t"] = t
        self._draw(state)
        return forecast

    def _forecast(self, state, X):
        bank = fourier_bank(self)
        combined = state["asked"][: state["n_combined"]]
        maps, theta = _members(state["features"], combined), state["theta"][combined]
        weights = softmax(state["log_weights"][combined])
        forecasts = np.empty(len(X))
        for rows in gen_batches(len(X), _TILE):
            Z = bank._transform(maps, X[rows])  # (S, n, D)
            forecasts[rows] = weights @ (Z @ theta[:, :, None])[:, :, 0]
        return forecasts


def _members(maps, kernels):
    """Copy the maps of some kernels."""
    return {name: array[kernels] for name, array in maps.items()}


class OMKLGFRegressor(PartialInformationRegressor):
    r"""OMKL-GF: online multi-kernel learning with a generated bipartite feedback graph.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them.
    A few selective nodes draw kernels, the good ones more often; in a round one node is drawn, the
    weighted mean of its kernels' forecasts is the forecast (eq. 17 of [1]_), and these kernels
    alone are computed and taught.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the paper's grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`.
    n_components : int, default=100
        Number of random features per kernel; the paper's 50 frequencies in paired form.
    n_selective : int, default=2
        Number J of selective nodes, the experiments' choice. The first explores most.
    n_selected : int, default=10
        Draws M of a node, with replacement: the most kernels per round computes. The experiments'
        choice; 5 does as well on most data at half the cost.
    eta0 : float, default=0.1
        Scale of the learning rate :math:`\eta_t = eta0 / t^{power\_t}`, > 0, of the kernels'
        coefficients and of all weights; in units of one over the squared unit of y.
    power_t : float, default=0.5
        Decay of the learning rate and of the exploration, >= 0.
    shrinkage : float, default=1e-3
        Penalty of the squared norm of a kernel's coefficients, >= 0 (the paper's lambda).
    exploration0 : float, default=0.1
        Scale of the exploration rate :math:`\eta_{e,t} = exploration0 / t^{power\_t}`, in (0, 1]:
        the share of the uniform law in the draw of the node, and, to the power j, in the draws of
        node j = 1, ..., J.
    freeze_after : int, default=300
        Round after which the graph is kept; the experiments' choice. Up to it the graph is made
        afresh every round.
    min_probability : float, default=0.05
        Lower bound on the probability by which a kernel's loss and gradient are divided, in
        [0, 1). 0 is the paper's text, with steps so long at unlikely kernels that the model may
        overflow; 0.05 is the published code's.
    form : {"paired", "phase"}, default="paired"
        Sines and cosines of each frequency (the paper), or cosines with random phases, see
        :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels: not negative, of sum one.
    graph_ : ndarray of bool of shape (n_kernels, n_nodes)
        Whether a node, if drawn, asks a kernel in the next round.
    node_ : int
        The node that was drawn for the next round.
    node_probabilities_ : ndarray of shape (n_nodes,)
        The law from which it was drawn.
    selected_ : ndarray of int
        Indices of the kernels whose weighted mean is the next forecast.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    OMKLSFGRegressor : A graph of dissimilar kernels, made once.
    OMKLSFGRRegressor : The same, refined every round.
    VAW2Regressor : All kernels every round, of second order.

    Notes
    -----
    *Cost.* O(d D M) per round for d inputs and D features, and O(K J + J M log K) for the graph
    while it is made; no kernel but those of the drawn node is touched. While the graph is kept,
    features of its at most J M kernels are computed for blocks of rows.

    *Theorem.* Theorem 2 of [1]_: for losses in [0, 1] with bounded gradients, and rates tuned to
    the horizon T (eq. 24: :math:`\eta = O(T^{-3/4})`, :math:`\eta_e = O(T^{-1/4})`), the expected
    regret against the best function of any kernel's RKHS is :math:`O(T^{3/4})`, with high
    probability over the frequencies if there are :math:`O(\sqrt{T} \ln T)` of them. It holds for
    the graph made afresh every round and ``min_probability=0``; the decreasing rates and the kept
    graph of the experiments, the defaults here, have no theorem.

    *Importance weights.* Losses are divided by eq. (21), the probability that a kernel is asked if
    node probabilities do not depend on the graph. They do (eq. 18-19), so the estimates are exactly
    unbiased only under full exploration, ``exploration0=1, power_t=0``. While the graph is kept the
    laws that made it stay in eq. (21).

    *Departures.* The published code never draws the first kernel, its cumulated sums being one
    place late: kernel i + 1 comes up with the probability of kernel i. Here all are drawn as eq.
    (20) says. It also takes the norm in a kernel's loss after the step, here before. Weights are
    kept as logarithms. The node of a round is drawn at the end of the round before, so that
    :meth:`predict` is what will be forecast.

    References
    ----------
    .. [1] P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", Journal of Machine
       Learning Research 24, 2023, Algorithms 1-3, eq. (14)-(24), section 5.

    Examples
    --------
    >>> from sklearn_okl import OMKLGFRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OMKLGFRegressor(n_components=20, n_selected=5, random_state=0).fit(X, y)
    >>> model.weights_.shape, model.graph_.shape, len(model.selected_) <= 5
    ((76,), (76, 2), True)
    """

    _parameter_constraints = {**_CONSTRAINTS, "n_selective": _COUNT}
    _structural = (*_STRUCTURE, "n_selective")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=100,
        n_selective=2,
        n_selected=10,
        eta0=0.1,
        power_t=0.5,
        shrinkage=1e-3,
        exploration0=0.1,
        freeze_after=300,
        min_probability=0.05,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.n_selective = n_selective
        self.n_selected = n_selected
        self.eta0 = eta0
        self.power_t = power_t
        self.shrinkage = shrinkage
        self.exploration0 = exploration0
        self.freeze_after = freeze_after
        self.min_probability = min_probability
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    def _start_graph(self, state, bank, n_features):
        pass  # the first draw makes it

    def _draw(self, state):
        t = state["t"] + 1  # of the round drawn for
        exploration = self.exploration0 / t**self.power_t
        if t <= self.freeze_after:
            self._make_graph(state, exploration)
        log_weights = state["log_weights"][state["held"]]
        weights = np.exp(log_weights - log_weights.max()) @ state["held_graph"]  # eq. (18)
        p = weights * ((1 - exploration) / weights.sum()) + exploration / len(weights)  # eq. (19)
        node = int(draw(p, state["rng"].random_sample()))
        chosen = state["held_graph"][:, node].nonzero()[0]
        state["node"], state["node_probabilities"] = node, p
        state["asked"] = state["held"][chosen]
        state["n_combined"] = len(chosen)
        state["chances"] = state["held_joined"][chosen] @ p  # eq. (21)

    def _make_graph(self, state, exploration):
        """Draw the graph; keep its rows of kernels that some node holds."""
        weights = softmax(state["log_weights"])
        laws = bipartite_laws(weights, self.n_selective, exploration)
        uniforms = state["rng"].random_sample((self.n_selective, self.n_selected))
        graph = bipartite_graph(laws, uniforms)
        held = graph.any(axis=1).nonzero()[0]
        state["held"] = held
        state["held_graph"] = graph[held].astype(np.float64)
        # Whether a node draws a kernel at least once, eq. (21); exact for small laws too.
        state["held_joined"] = -np.expm1(self.n_selected * np.log1p(-laws[held]))

    def _may_be_asked(self, state):
        kernels, n_rows = super()._may_be_asked(state)
        return (kernels if n_rows == 1 else state["held"]), n_rows

    def _credit(self, state, eta, loss):
        pass  # a node's weight is that of its kernels

    def _graph(self, state):
        graph = np.zeros((len(state["theta"]), self.n_selective), dtype=bool)
        graph[state["held"]] = state["held_graph"] > 0
        return graph


class OMKLSFGRegressor(PartialInformationRegressor):
    r"""OMKL-SFG: online multi-kernel learning with a similarity-based feedback graph.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them,
    and a neighbourhood of kernels that are jointly dissimilar. In a round one kernel is drawn, the
    weighted mean of its neighbourhood's forecasts is the forecast (eq. 34 of [1]_), and the
    neighbourhood alone is computed and taught.

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the paper's grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`. Gaussian and Laplacian kernels with positive
        gamma only, whose distances are known, unless `distances` are given.
    n_components : int, default=100
        Number of random features per kernel; the paper's 50 frequencies in paired form.
    n_selected : int, default=10
        Size M of a neighbourhood; the experiments' choice.
    eta0 : float, default=0.1
        Scale of the learning rate :math:`\eta_t = eta0 / t^{power\_t}`, > 0, of the kernels'
        coefficients and of all weights; in units of one over the squared unit of y.
    power_t : float, default=0.5
        Decay of the learning rate and of the exploration, >= 0.
    shrinkage : float, default=1e-3
        Penalty of the squared norm of a kernel's coefficients, >= 0 (the paper's lambda).
    exploration0 : float, default=0.1
        Scale of the exploration rate :math:`\xi_t = exploration0 / t^{power\_t}`, in (0, 1]: the
        share of the dominating set in the draw of the node.
    freeze_after : int, default=300
        Round after which no node is drawn, but the one with the largest weight then is kept; the
        experiments' choice. Give a number beyond the last round to draw always.
    min_probability : float, default=0.1
        Lower bound on the probability by which a kernel's loss and gradient are divided, in
        [0, 1). 0 is the paper's text; 0.1 is the published code's.
    min_node_probability : float, default=0.2
        The same for the loss of the forecast, which is credited to the node; 0.2 is the published
        code's.
    dim : int, default=1
        Dimension in which kernels are compared (the paper's d). With many dimensions the widest
        kernel is the farthest from all, and the others are equally far from it up to rounding:
        neighbourhoods then hold the kernels that come first in the dictionary.
    distances : array-like of shape (n_kernels, n_kernels), default=None
        Distances between the kernels in the order of `kernels_`, in place of those of eq. (27):
        finite, not negative, symmetric, e.g. of another Bregman divergence (eq. 26). `dim` is then
        ignored. If all are equal, the neighbourhood of a kernel is itself and the kernels that
        come first in the dictionary, which is what the published figures come from; see Notes.
    form : {"paired", "phase"}, default="paired"
        Sines and cosines of each frequency (the paper), or cosines with random phases, see
        :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels: not negative, of sum one.
    graph_ : ndarray of bool of shape (n_kernels, n_nodes)
        Whether a node, if drawn, asks a kernel in the next round.
    node_ : int
        The node that was drawn for the next round.
    node_probabilities_ : ndarray of shape (n_nodes,)
        The law from which it was drawn.
    selected_ : ndarray of int
        Indices of the kernels whose weighted mean is the next forecast.
    node_weights_ : ndarray of shape (n_kernels,)
        Weights of the nodes by the losses of forecasts made from them, of sum one.
    dominating_set_ : ndarray of int
        Nodes that share in the exploration: together they ask every kernel.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

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
    .. [1] P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", Journal of Machine
       Learning Research 24, 2023, Algorithms 4-5, eq. (26)-(41), section 5.
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

    _parameter_constraints = _SIMILARITY_CONSTRAINTS
    _structural = (*_STRUCTURE, "dim", "distances")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=100,
        n_selected=10,
        eta0=0.1,
        power_t=0.5,
        shrinkage=1e-3,
        exploration0=0.1,
        freeze_after=300,
        min_probability=0.1,
        min_node_probability=0.2,
        dim=1,
        distances=None,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.n_selected = n_selected
        self.eta0 = eta0
        self.power_t = power_t
        self.shrinkage = shrinkage
        self.exploration0 = exploration0
        self.freeze_after = freeze_after
        self.min_probability = min_probability
        self.min_node_probability = min_node_probability
        self.dim = dim
        self.distances = distances
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    @property
    def node_weights_(self):
        """Weights of the nodes, not negative and of sum one, of shape (n_kernels,)."""
        return softmax(self._fitted_state("node_weights_")["log_node_weights"])

    @property
    def dominating_set_(self):
        """Nodes that share in the exploration."""
        return self._fitted_state("dominating_set_")["dominating"].nonzero()[0]

    def _start_graph(self, state, bank, n_features):
        graph = similarity_graph(_log_distances(self, bank, n_features), self.n_selected)
        dominating = np.zeros(len(graph), dtype=bool)
        dominating[greedy_set_cover(graph)] = True
        state |= {
            "graph": graph,
            "dominating": dominating,
            "log_node_weights": np.zeros(len(graph)),
        }

    def _draw(self, state):
        node = _draw_node(self, state)
        asked = state["graph"][:, node].nonzero()[0]
        state["asked"], state["n_combined"] = asked, len(asked)
        state["chances"] = state["graph"][asked] @ state["node_probabilities"]  # eq. (36)

    def _credit(self, state, eta, loss):
        _credit_node(self, state, eta, loss)

    def _graph(self, state):
        return state["graph"].copy()


class OMKLSFGRRegressor(PartialInformationRegressor):
    r"""OMKL-SFG-R: online multi-kernel learning with a refined similarity-based feedback graph.

    :class:`OMKLSFGRegressor` whose graph gets further edges in every round, so that the best nodes
    so far ask every kernel: no kernel then goes unseen for long. The new edges are for learning;
    the forecast is made from the neighbourhood in the graph before refinement (eq. 47 of [1]_).

    Parameters
    ----------
    kernels : dict, list of dict or None, default=None
        The dictionary as a parameter grid, e.g. ``[{"kernel": ["rbf"], "gamma": [0.1, 1, 10]}]``.
        None is the paper's grid of 51 Gaussian and 25 Laplacian kernels,
        :func:`sklearn_okl.kernels.paper_kernel_grid`. Gaussian and Laplacian kernels with positive
        gamma only, whose distances are known, unless `distances` are given.
    n_components : int, default=100
        Number of random features per kernel; the paper's 50 frequencies in paired form.
    n_selected : int, default=10
        Size M of a neighbourhood; the experiments' choice.
    eta0 : float, default=0.1
        Scale of the learning rate :math:`\eta_t = eta0 / t^{power\_t}`, > 0, of the kernels'
        coefficients and of all weights; in units of one over the squared unit of y.
    power_t : float, default=0.5
        Decay of the learning rate and of the exploration, >= 0.
    shrinkage : float, default=1e-3
        Penalty of the squared norm of a kernel's coefficients, >= 0 (the paper's lambda).
    exploration0 : float, default=0.1
        Scale of the exploration rate :math:`\xi_t = exploration0 / t^{power\_t}`, in (0, 1]: the
        share of the dominating set in the draw of the node.
    freeze_after : int, default=300
        Round after which no node is drawn, but the one with the largest weight then is kept,
        and so is the refinement; the
        experiments' choice. Give a number beyond the last round to draw always.
    min_probability : float, default=0.1
        Lower bound on the probability by which a kernel's loss and gradient are divided, in
        [0, 1). 0 is the paper's text; 0.1 is the published code's.
    min_node_probability : float, default=0.2
        The same for the loss of the forecast, which is credited to the node; 0.2 is the published
        code's.
    dim : int, default=1
        Dimension in which kernels are compared (the paper's d). With many dimensions the widest
        kernel is the farthest from all, and the others are equally far from it up to rounding:
        neighbourhoods then hold the kernels that come first in the dictionary.
    distances : array-like of shape (n_kernels, n_kernels), default=None
        Distances between the kernels in the order of `kernels_`, in place of those of eq. (27):
        finite, not negative, symmetric, e.g. of another Bregman divergence (eq. 26). `dim` is then
        ignored. If all are equal, the neighbourhood of a kernel is itself and the kernels that
        come first in the dictionary, which is what the published figures come from; see Notes.
    n_dominating : int, default=10
        Number of nodes, those with the largest weights and all that equal the least of them, that
        together ask every kernel. It sets the paper's beta to
        :math:`(1 - \xi) u_{(n)} + \xi / K`, where :math:`u_{(n)}` is the n-th largest weight; the
        experiments' choice.
    form : {"paired", "phase"}, default="paired"
        Sines and cosines of each frequency (the paper), or cosines with random phases, see
        :class:`FourierFeatures`.
    sampling : {"iid", "orthogonal", "qmc"}, default="iid"
        How the frequencies are drawn, see :class:`FourierFeatures`.
    frequencies : sequence of ndarray of shape (n_features, m), default=None
        Frequencies to use in place of a draw, one array per kernel; `n_components` is then ignored.
    random_state : int, RandomState instance or None, default=None
        Source of all random draws, used once when the first row arrives.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels: not negative, of sum one.
    graph_ : ndarray of bool of shape (n_kernels, n_nodes)
        Whether a node, if drawn, asks a kernel in the next round.
    node_ : int
        The node that was drawn for the next round.
    node_probabilities_ : ndarray of shape (n_nodes,)
        The law from which it was drawn.
    selected_ : ndarray of int
        Indices of the kernels whose weighted mean is the next forecast.
    node_weights_ : ndarray of shape (n_kernels,)
        Weights of the nodes by the losses of forecasts made from them, of sum one.
    dominating_set_ : ndarray of int
        Nodes that share in the exploration: together they ask every kernel.
    kernels_ : list of dict
        Parameters of each kernel, in the order of `weights_`.
    frequencies_ : ndarray of shape (n_kernels, n_features, m)
        Frequencies in use.
    n_samples_seen_ : int
        Rounds learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

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

    *Importance weights.* A kernel is asked with the probability of its in-neighbours in the refined
    graph, so that with ``min_probability=0`` the quotients are unbiased estimates while nodes are
    drawn. Once a node is kept rather than drawn, the quotients still have the law from which it
    would have been drawn, as in the published code; they are then step sizes, larger for rarely
    asked kernels, and no longer importance weights.

    *The published figures* have all distances equal, as for :class:`OMKLSFGRegressor`: the first
    of the best nodes asks every kernel. ``distances=numpy.ones((76, 76))`` does the same.

    *Departures.* Those of :class:`OMKLSFGRegressor`. Edges are added as Algorithm 6 says, to every
    kernel outside the best nodes; by the text above eq. (45) only to kernels that none of them asks
    yet. The published code adds them to the best nodes too, and draws the node again after it has
    chosen the best, which therefore is never kept.

    References
    ----------
    .. [1] P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", Journal of Machine
       Learning Research 24, 2023, Algorithms 4 and 6, eq. (44)-(49), section 5.

    Examples
    --------
    >>> from sklearn_okl import OMKLSFGRRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(500)
    >>> model = OMKLSFGRRegressor(n_components=20, n_selected=5, random_state=0).fit(X, y)
    >>> bool(model.graph_[:, model.dominating_set_].any(axis=1).all())
    True
    """

    _parameter_constraints = {**_SIMILARITY_CONSTRAINTS, "n_dominating": _COUNT}
    _structural = (*_STRUCTURE, "dim", "distances")

    def __init__(
        self,
        kernels=None,
        *,
        n_components=100,
        n_selected=10,
        eta0=0.1,
        power_t=0.5,
        shrinkage=1e-3,
        exploration0=0.1,
        freeze_after=300,
        min_probability=0.1,
        min_node_probability=0.2,
        dim=1,
        distances=None,
        n_dominating=10,
        form="paired",
        sampling="iid",
        frequencies=None,
        random_state=None,
    ):
        self.kernels = kernels
        self.n_components = n_components
        self.n_selected = n_selected
        self.eta0 = eta0
        self.power_t = power_t
        self.shrinkage = shrinkage
        self.exploration0 = exploration0
        self.freeze_after = freeze_after
        self.min_probability = min_probability
        self.min_node_probability = min_node_probability
        self.dim = dim
        self.distances = distances
        self.n_dominating = n_dominating
        self.form = form
        self.sampling = sampling
        self.frequencies = frequencies
        self.random_state = random_state

    @property
    def node_weights_(self):
        """Weights of the nodes, not negative and of sum one, of shape (n_kernels,)."""
        return softmax(self._fitted_state("node_weights_")["log_node_weights"])

    @property
    def dominating_set_(self):
        """Nodes that share in the exploration."""
        return self._fitted_state("dominating_set_")["dominating"].nonzero()[0]

    def _start_graph(self, state, bank, n_features):
        log_distances = _log_distances(self, bank, n_features)
        state |= {
            "log_distances": log_distances,
            "graph": similarity_graph(log_distances, self.n_selected),
            "log_node_weights": np.zeros(len(log_distances)),
        }

    def _draw(self, state):
        graph = state["graph"]
        if state["t"] < self.freeze_after:
            self._refine(state)
        node = _draw_node(self, state)
        p, askers, is_new = state["node_probabilities"], state["askers"], state["is_new"]
        combined = graph[:, node].nonzero()[0]
        asked = np.concatenate([combined, (is_new & (askers == node)).nonzero()[0]])
        state["asked"], state["n_combined"] = asked, len(combined)
        state["chances"] = graph[asked] @ p + is_new[asked] * p[askers[asked]]

    def _refine(self, state):
        """Find the best nodes (eq. 44) and the edges that make them dominate (eq. 45)."""
        log_u = state["log_node_weights"]
        rank = max(len(log_u) - self.n_dominating, 0)
        dominating = log_u >= np.partition(log_u, rank)[rank]
        askers = refining_edges(state["log_distances"], dominating)
        state["dominating"], state["askers"] = dominating, askers
        state["is_new"] = ~state["graph"][np.arange(len(askers)), askers]

    def _credit(self, state, eta, loss):
        _credit_node(self, state, eta, loss)

    def _graph(self, state):
        graph = state["graph"].copy()
        graph[np.arange(len(graph)), state["askers"]] = True
        return graph


def _log_distances(estimator, bank, n_features):
    if estimator.distances is not None:
        return checked_distances(estimator.distances, len(bank.kernels))
    kernels = [
        kernel | {"gamma": 1 / n_features if kernel["gamma"] is None else kernel["gamma"]}
        for kernel in bank.kernels
    ]
    return kernel_distances(kernels, dim=estimator.dim, log=True)


def _draw_node(estimator, state):
    """Draw the next round's node (eq. 33, 46), or take the best and stay; keep its law."""
    t = state["t"] + 1
    log_u, dominating = state["log_node_weights"], state["dominating"]
    exploration = estimator.exploration0 / t**estimator.power_t
    p = softmax(log_u) * (1 - exploration)
    p[dominating] += exploration / np.count_nonzero(dominating)
    if t <= estimator.freeze_after:
        node = int(draw(p, state["rng"].random_sample()))
    elif t == estimator.freeze_after + 1:
        node = int(log_u.argmax())
    else:
        node = state["node"]
    state["node"], state["node_probabilities"] = node, p
    return node


def _credit_node(estimator, state, eta, loss):
    """Charge the drawn node with the loss of the forecast (eq. 37, 39b)."""
    node = state["node"]
    chance = max(state["node_probabilities"][node], estimator.min_node_probability)
    state["log_node_weights"][node] -= eta * loss / chance
