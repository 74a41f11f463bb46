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
    """Weights proportional to exp(-cost), for costs that the algorithm itself accounts."""

    def _start(self, n_experts):
        return {"costs": np.zeros(n_experts)}

    def _weights(self, state):
        return softmax(-state["costs"])

    def _learn(self, state, F, costs):
        """Mix forecasts F (n, K), whose costs (n, K) are seen after each round."""
        # One running sum, so that the cut of the stream cannot change its rounding.
        costs = np.cumsum(np.vstack([state["costs"], costs]), axis=0)
        state["costs"] = costs[-1].copy()
        return mix(-costs[:-1], F)

    def _forecast(self, state, F):
        return mix(-state["costs"], F)
