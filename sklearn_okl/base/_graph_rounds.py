"""The engine of learning under feedback graphs: rounds of the kernels that a drawn node asks."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._linalg import aligned_slices, softmax
from .._types import Array
from ._random_rounds import RandomRounds

_TILE = 128  # rows whose features are held at once
_AHEAD = 64  # rows for which features are computed at once, where it is known of which kernels


class GraphRounds(RandomRounds):
    r"""The rounds of a feedback graph: the kernels that a node asks forecast, and are taught alone.

    It goes with a bank of random features as its `_bank`. Whom the next round asks is drawn at the
    end of a round and kept in the state, so that forecasts are a function of it. A subclass says by
    which rule::

        _graph() -> FeedbackGraph

    Parameters
    ----------
    eta0 : float, default=0.1
        Scale of the learning rate :math:`\eta_t = eta0 / t^{power\_t}`, > 0, of the kernels'
        coefficients and of all weights; in units of one over the squared unit of y.
    power_t : float, default=0.5
        Decay of the learning rate and of the exploration, >= 0.
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
        The node that was drawn for the next round.
    node_probabilities_ : ndarray of shape (n_nodes,)
        The law from which it was drawn.
    selected_ : ndarray of int
        Indices of the kernels whose weighted mean is the next forecast.

    References
    ----------
    .. [1] P. M. Ghari, Y. Shen, "Graph-Aided Online Multi-Kernel Learning", Journal of Machine
       Learning Research 24, 2023, Algorithms 1-6, eq. (14)-(49), section 5.
    """

    _default_kernels = None  # the papers' grid
    _in_place_of_a_ridge = "Leave it out and set 'shrinkage'."
    _parameter_constraints = {
        "n_selected": [Interval(Integral, 1, None, closed="left")],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        "exploration0": [Interval(Real, 0, 1, closed="right")],
        "freeze_after": [Interval(Integral, 1, None, closed="left")],
        "min_probability": [Interval(Real, 0, 1, closed="left")],
    }
    _structural = ("n_selected", "freeze_after")

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
        features, n_kernels = bank._start(n_features, source), len(bank.kernels)
        return {
            "features": features,
            "theta": np.zeros((n_kernels, bank._n_components(features))),
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
            Z = bank._transform(_members(state["features"], pool), X[rows])
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
        eta = self.eta0 / t**self.power_t
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
            Z = bank._transform(maps, X[rows])  # (S, n, D)
            forecasts[rows] = weights @ (Z @ theta[:, :, None])[:, :, 0]
        return forecasts


def _members(maps, kernels):
    """Copy the maps of some kernels."""
    return {name: array[kernels] for name, array in maps.items()}
