"""The engine of learning under feedback graphs: rounds of the kernels that a drawn node asks."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._linalg import aligned_slices, softmax
from .._types import Any, Array, Seed
from ._on_fourier_features import OnFourierFeatures
from ._random_rounds import RandomRounds

_TILE = 128  # rows whose features are held at once
_AHEAD = 64  # rows for which features are computed at once, where it is known of which kernels


@inherit_documentation
class GraphRounds(OnFourierFeatures, RandomRounds):
    r"""Base of learning under feedback graphs: the kernels that a drawn node asks, and no others.

    Each kernel of a dictionary gets random Fourier features and online gradient descent on them. A
    round draws a node of a graph; the weighted mean of forecasts of kernels that it asks is the
    forecast, and these kernels alone are computed and taught, with losses and gradients divided by
    the probability that they are asked. A subclass says who is drawn and whom it asks::

        _graph() -> FeedbackGraph

    It is asked in every call, so it reads the parameters as they are now. The engine goes before a
    shell in the list of bases, ``class MyRegressor(GraphRounds, OnlineRegressor)``.

    Parameters
    ----------
    eta0 : float, default=0.1
        Scale of the learning rate :math:`\eta_t = eta0 / t^{power\_t}`, > 0, of the kernels'
        coefficients and of all weights; in units of one over the squared unit of y.
    power_t : float, default=0.5
        Decay of the learning rate, and of the exploration of a graph that explores, >= 0.
    shrinkage : float, default=1e-3
        Penalty of the squared norm of a kernel's coefficients, >= 0 (the paper's lambda).
    min_probability : float, default=0.05
        Lower bound on the probability by which a kernel's loss and gradient are divided, in
        [0, 1). 0 is the paper's text, with steps so long at unlikely kernels that the model may
        overflow; the default is the published code's.

    Attributes
    ----------
    weights_ : ndarray of shape (n_kernels,)
        Weights of the kernels: not negative, of sum one.
    graph_ : ndarray of bool of shape (n_kernels, n_nodes)
        Whether a node, if drawn, asks a kernel in the next round.
    node_ : int
    node_probabilities_ : ndarray of shape (n_nodes,)
        The law from which it was drawn.
    selected_ : ndarray of int
        Indices of the kernels whose weighted mean is the next forecast.

    See Also
    --------
    sklearn_okl.feedback.FeedbackGraph : What `_graph` returns.
    FeatureSelector : One kernel a round, with a loss of one's choice.

    Notes
    -----
    *Cost.* O(d D S) in a round that asks S kernels, for d inputs and D features, and what the graph
    costs. No other kernel is touched.

    Whom the next round asks is drawn at the end of a round and kept in the state, so that `predict`
    is pure and equals what will be forecast. The loss is the square loss.

    *Subclasses.*

    References
    ----------
    .. [1] Ghari & Shen 2023, Algorithms 1-6, eq. (14)-(49), section 5.

    Examples
    --------
    >>> from sklearn_okl.base import GraphRounds, OnlineRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.feedback import BipartiteGraph
    >>> class ThreeNodesRegressor(GraphRounds, OnlineRegressor):
    ...     def _graph(self):
    ...         return BipartiteGraph(n_selective=3, n_selected=2)
    >>> X, y = make_ar4(300)
    >>> model = ThreeNodesRegressor({"gamma": [0.01, 0.1, 1.0]}, random_state=0).fit(X, y)
    >>> model.graph_.shape, len(model.selected_) <= 2
    ((3, 3), True)
    """

    _default_kernels = None  # the papers' grid
    _in_place_of_a_ridge = "Leave it out and set 'shrinkage'."
    _parameter_constraints = {
        **OnFourierFeatures._parameter_constraints,
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "min_probability": [Interval(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        kernels: Any = None,
        *,
        n_components: int = 100,
        eta0: float = 0.1,
        power_t: float = 0.5,
        shrinkage: float = 1e-3,
        min_probability: float = 0.05,
        form: str = "paired",
        sampling: str = "iid",
        frequencies: Any = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(
            kernels,
            n_components=n_components,
            form=form,
            sampling=sampling,
            frequencies=frequencies,
            random_state=random_state,
        )
        self.eta0 = eta0
        self.power_t = power_t
        self.shrinkage = shrinkage
        self.min_probability = min_probability

    @property
    def weights_(self) -> Array:
        """Weights of the kernels, not negative and of sum one, of shape (n_kernels,)."""
        return softmax(self._fitted_state("weights_")["log_weights"])

    @property
    def graph_(self) -> Array:
        """Which kernels each node asks in the next round, of shape (n_kernels, n_nodes)."""
        return self._as_taught()._graph().edges(self._fitted_state("graph_")["graph"])

    @property
    def node_(self) -> int:
        """The node that was drawn for the next round."""
        return self._fitted_state("node_")["graph"]["node"]

    @property
    def node_probabilities_(self) -> Array:
        """Law from which `node_` was drawn, of shape (n_nodes,)."""
        return self._fitted_state("node_probabilities_")["graph"]["probabilities"].copy()

    @property
    def selected_(self) -> Array:
        """Indices of the kernels that make the next forecast."""
        drawn = self._fitted_state("selected_")["graph"]
        return np.sort(drawn["asked"][: drawn["n_combined"]])

    def _start_functions(self, n_features, source):
        bank = self._bank
        features, n_kernels = bank.start(n_features, source), len(bank.kernels)
        return {
            "features": features,
            "theta": np.zeros((n_kernels, bank.n_features_out(features))),
            "log_weights": np.zeros(n_kernels),
        }

    def _start(self, n_features, n_targets=None):
        state, graph = super()._start(n_features, n_targets), self._graph()
        kernels = [
            kernel | {"gamma": 1 / n_features if kernel["gamma"] is None else kernel["gamma"]}
            for kernel in self._kernel_list()
        ]
        state["graph"] = graph.start(kernels)
        graph.draw(state["graph"], state["log_weights"], 1, state["rng"])
        return state

    def _learn(self, state, X, y):
        bank, graph, drawn = self._bank, self._graph(), state["graph"]
        place = np.empty(len(bank.kernels), dtype=np.intp)  # of a kernel in the features at hand
        forecasts = np.empty(len(y))
        low = 0
        while low < len(y):
            pool, stays = graph.pool(drawn, state["t"] + 1)
            size = _AHEAD if stays else 1
            rows = slice(low, low + next(aligned_slices(state["t"], len(y) - low, size)).stop)
            Z = bank.transform(_members(state["features"], pool), X[rows])
            place[pool] = np.arange(len(pool))
            for i, target in enumerate(y[rows].tolist()):
                Z_asked = Z[place[drawn["asked"]], i]
                forecasts[low + i] = self._learn_round(state, graph, Z_asked, target)
            low = rows.stop
        return forecasts

    def _learn_round(self, state, graph, Z, y):
        """Forecast and learn one row, with Z (S, D) its features of the kernels asked."""
        drawn = state["graph"]
        asked, n_combined = drawn["asked"], drawn["n_combined"]
        t = state["t"] + 1
        eta = self.eta0 / t ** float(self.power_t)
        theta = state["theta"][asked]  # (S, D), a copy
        log_weights = state["log_weights"][asked]
        F = np.einsum("sd,sd->s", theta, Z)
        forecast = float(softmax(log_weights[:n_combined]) @ F[:n_combined])
        errors = F - y
        losses = errors * errors + self.shrinkage * np.einsum("sd,sd->s", theta, theta)
        steps = eta / np.maximum(drawn["chances"], self.min_probability)
        theta *= (1 - 2 * self.shrinkage * steps)[:, None]
        theta -= (2 * steps * errors)[:, None] * Z
        state["theta"][asked] = theta
        state["log_weights"][asked] = log_weights - steps * losses
        graph.credit(drawn, eta, (forecast - y) ** 2)
        state["t"] = t
        graph.draw(drawn, state["log_weights"], t + 1, state["rng"])
        return forecast

    def _forecast(self, state, X):
        bank, drawn = self._bank, state["graph"]
        combined = drawn["asked"][: drawn["n_combined"]]
        maps, theta = _members(state["features"], combined), state["theta"][combined]
        weights = softmax(state["log_weights"][combined])
        forecasts = np.empty(len(X))
        for rows in gen_batches(len(X), _TILE):
            Z = bank.transform(maps, X[rows])  # (S, n, D)
            forecasts[rows] = weights @ (Z @ theta[:, :, None])[:, :, 0]
        return forecasts


def _members(maps, kernels):
    """Copy the maps of some kernels."""
    return {name: array[kernels] for name, array in maps.items()}
