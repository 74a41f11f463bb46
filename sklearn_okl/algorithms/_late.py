"""Parts of a mixture that know nothing of late targets, each asked as it was some rounds ago."""

import numpy as np

from .._documentation import explained_by
from ._teaching import forecast_expert, learn_expert, teach_expert


class LateAggregator:
    """An aggregator that is learnt twice: all rounds, and those known so many rounds ago.

    Parameters
    ----------
    aggregator : online regressor
        With the three private verbs and ``_weights(state)``.
    """

    def __init__(self, aggregator):
        self._aggregator = aggregator
        self._allow_nan = aggregator._allow_nan
        self.fallback = getattr(aggregator, "fallback", None)

    def _validate(self):
        self._aggregator._validate()

    def _weights(self, state):
        return self._aggregator._weights(state["now"])

    def _start(self, n_experts, late):
        return {
            "late": late,
            "now": self._aggregator._start(n_experts),
            "then": self._aggregator._start(n_experts),
            # rounds that the latter does not know, those from which nothing is learnt included
            "waiting": {"F": np.empty((0, n_experts)), "y": np.empty(0), "idle": np.empty(0, bool)},
        }

    def _forecast(self, state, F):
        return self._aggregator._forecast(state["now"], F)

    def _learn(self, state, F, y):
        self._aggregator._learn(state["now"], F, y)
        forecasts = np.empty(len(y))
        for i in range(len(y)):
            row = slice(i, i + 1)
            forecasts[row] = self._aggregator._forecast(state["then"], F[row])
            self._wait(state, F[row], y[row], np.zeros(1, bool))
        return forecasts

    def _pass(self, state, n):
        n_experts = state["waiting"]["F"].shape[1]
        for _ in range(n):
            self._wait(state, np.zeros((1, n_experts)), np.zeros(1), np.ones(1, bool))

    def _wait(self, state, *row):
        waiting = {
            name: np.concatenate([part, one])
            for (name, part), one in zip(state["waiting"].items(), row, strict=True)
        }
        if len(waiting["y"]) > state["late"]:
            if not waiting["idle"][0]:
                self._aggregator._learn(state["then"], waiting["F"][:1], waiting["y"][:1])
            waiting = {name: part[1:] for name, part in waiting.items()}
        state["waiting"] = waiting


@explained_by(learn_expert)
def learn_late(name, expert, X, y, way, waiting, n_before, delay):
    """Teach an expert in place, as its own model of some rounds ago; return its forecasts.

    It knows the very first row from the start, and is not asked before it may.

    Parameters
    ----------
    waiting : tuple of ndarray
        X and y of the rows before these that it does not know yet, the oldest first.
    n_before : int
        Rounds before these, one at least.
    delay : int

    Returns
    -------
    forecasts : ndarray of shape (n,) or (n, C)
    """
    X_known, y_known = map(np.concatenate, zip(waiting, (X, y), strict=True))
    X, forecasts = X.copy(), way.unknown(len(y))  # our own memory, which an expert might change
    for i in range(len(y)):
        row = slice(i, i + 1)
        if n_before + i > delay:
            forecasts[row] = forecast_expert(name, expert, X[row], way, row)
        known = len(waiting[1]) + i - delay
        if known >= 0:
            rows = slice(known, known + 1)
            teach_expert(name, expert, X_known[rows], y_known[rows], way)
    return forecasts
