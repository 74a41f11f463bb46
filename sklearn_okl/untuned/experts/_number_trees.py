"""Two batch models for each target: one learns it, the other the errors of the kernels' mixture."""

import numpy as np

from ..._delay import as_it_was, late
from ...aggregators import BOARegressor
from ...aggregators._limits import sane
from ...aggregators._second_order import mixed
from ...features._lags import lagged
from ...meta._fits import NumberFits, boosted_regressor
from ...meta._refit import check_is_regressor
from ._numbers import NumberTargets
from ._trees import Trees, seen, single

_BOA = BOARegressor()


class NumberTrees(Trees):
    """Batch models beside experts that forecast numbers, and BOA over the three forecasts."""

    kind, of = NumberTargets, "regressor"
    boosted, check = staticmethod(boosted_regressor), staticmethod(check_is_regressor)
    names = ("trees", "trees on errors")
    fits = ("targets", "errors")

    def __init__(self, estimator, n, lags, experts):
        self.n_targets, self.delay = n, experts.delay
        self.n_lag_columns, self.mixture = experts.lags, experts.kind.mixture
        self.refit = NumberFits.of(estimator, self.delay)

    @property
    def n_pairs(self):
        """Return the number of pairs of batch models."""
        return self.n_targets

    def start(self, n_inputs, seed, a_row):
        """Return the state before the first row, which may cost each batch model so much."""
        return {
            "trees": [self._start_part(n_inputs, seed, a_row) for _ in range(self.n_targets)],
            # before each of the latest rounds
            "lags of trees": np.zeros((self.delay, self.n_lag_columns)),
        }

    def parts(self, state):
        """Return the states of the targets' pairs."""
        return state["trees"]

    def learn_lags(self, state, u):
        """Return the latest targets (n, q k) known before each row."""
        lags = lagged(state["inputs"]["lags"], u)[0].reshape(len(u), self.n_lag_columns)
        lags, state["lags of trees"] = late(lags, state["lags of trees"])
        return lags

    def look_at_lags(self, state, of_inputs):
        """Return the latest targets known some rounds ago."""
        return as_it_was(state["inputs"]["lags"].ravel(), state["lags of trees"], of_inputs)

    def limits(self, state, u):
        """Return the limits (n, q, 3) of sane forecasts before each row."""
        return self.mixture._learn_limits(dict(state["mixture"]), u)

    def learn(self, state, rows, u, of_kernels, limits, weights):
        """Learn rows and targets u (n, q); return the forecasts of the whole."""
        forecasts = np.empty_like(u)
        for j, trees in enumerate(state["trees"]):
            y, base = u[:, j], of_kernels[:, j]
            taught = single(y), base, single(y - base), weights
            F = self._side_by_side(base, *self.taught(trees, rows, *taught), limits[:, j])
            self.count(trees, np.square(F[:, 1:] - y[:, None]), weights)
            forecasts[:, j] = _BOA._learn(trees["mixture"], F, y, weights)
        return forecasts

    def ask(self, state, rows, of_kernels, ago):
        """Return the forecasts (n, 3, q) of kernels and trees known some rounds ago."""
        F = np.empty((self.n_targets, len(rows), 3)).transpose(1, 2, 0)
        limits = self.mixture._known_limits(state["mixture"], ago)
        for j, (trees, base) in enumerate(zip(state["trees"], of_kernels.T, strict=True)):
            of_trees = self.asked(trees["targets"], rows, (), ago)
            errors = self.asked(trees["errors"], seen(rows, base), (), ago)
            F[..., j] = self._side_by_side(base, of_trees, errors, limits[j])
        return F

    def mixed(self, state, F, ago, of_inputs):
        """Return the forecasts (n, q) that all make, by what was known some rounds ago."""
        parts = enumerate(state["trees"])
        return np.column_stack([mixed(trees["mixture"], F[..., j], ago) for j, trees in parts])

    def log_weights(self, trees):
        """Return the logarithms of the weights (3,) in the last mixture."""
        return _BOA._log_weights(trees["mixture"])

    def forget_target(self, state, j):
        known = state["trees"][j]["targets"]
        state["trees"][j] = self._start_part(
            known["past"].rows[0].shape[1], known["seed"], known["allowance"]
        )

    def _start_part(self, n_inputs, seed, a_row):
        return self.start_part(n_inputs, 1, seed, a_row, _BOA._start(3, late=self.delay))

    def _side_by_side(self, of_kernels, of_trees, errors, limits):
        of_trees = sane(np.column_stack([of_trees, of_kernels + errors]), limits)
        return np.column_stack([of_kernels, of_trees])  # the kernels may know why they go beyond
