"""Weights that an algorithm's own costs make, and the steps of its experts' descent."""

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from ..base._convex import mix, softmax

STEP_CONSTRAINTS = {
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "power_t": [Interval(Real, 0, None, closed="left")],
}
DISCOUNT_CONSTRAINTS = {"discount": [Interval(Real, 0, 1, closed="neither")]}


def step_sizes(eta0, power_t, t, n):
    """Return the step sizes of the n rounds after round t."""
    return eta0 / np.arange(t + 1.0, t + n + 1) ** power_t


class Hedge:
    """Weights proportional to exp(-cost), for costs that the algorithm itself accounts.

    Experts are the last axis; axes between rounds and experts, if any, hold independent mixtures.
    """

    def _start(self, *shape):
        return {"costs": np.zeros(shape)}

    def _weights(self, state):
        return softmax(-state["costs"])

    def _learn(self, state, F, costs):
        """Mix forecasts F (n, K), whose costs (n, K) are seen after each round."""
        # One running sum, so that the cut of the stream cannot change its rounding.
        costs = np.cumsum(np.concatenate([state["costs"][None], costs]), axis=0)
        state["costs"] = costs[-1].copy()
        K = F.shape[-1]
        return mix(-costs[:-1].reshape(-1, K), F.reshape(-1, K)).reshape(F.shape[:-1])

    def _forecast(self, state, F):
        costs, K = state["costs"], F.shape[-1]
        if costs.ndim == 1:
            return mix(-costs, F)
        costs = np.broadcast_to(costs, F.shape)
        return mix(-costs.reshape(-1, K), F.reshape(-1, K)).reshape(F.shape[:-1])
