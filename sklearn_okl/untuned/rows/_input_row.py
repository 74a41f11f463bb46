"""One row of inputs: what `LaggedInputs` does with a block of one, in few calls.

Columns and targets are standardised by the same steps, so their sums stand side by side here, the
targets behind the columns. A row is looked at before it is learnt, and nothing is computed twice.
"""

import numpy as np

from ...features._units import deviations, mean_and_variance

_SUMS = "weights", "sums", "squares"


class InputRow:
    """A row that was seen by what was known before it, and may be learnt then.

    Parameters
    ----------
    inputs : LaggedInputs
        Without delay and ranks.
    state : dict of the inputs
        Without trees; see `takes`.
    """

    def __init__(self, inputs, state):
        self.inputs, self.units, self.state = inputs, inputs.units, state
        d, q = len(state["rows"]["weights"]), len(state["targets"]["weights"])
        self.d, self.n_lags = d, inputs.n_lags
        # the target behind each of the lags
        self.places = np.concatenate([np.arange(d), np.tile(d + np.arange(q), inputs.n_lags)])
        self.steady_counted = np.full(d + inputs.n_lag_columns, self.units.faulty)

    @staticmethod
    def takes(inputs, state):
        """Whether there is nothing but numbers, lags, and columns that have begun."""
        plain = not inputs.delay and not inputs.n_quantiles and not state["n_trees"]
        rows = state["rows"]
        return plain and not state["gaps"] and rows["origin"] is not None and inputs.n_lags > 0

    def ask(self, x):
        """Return a row x (d,) as kernels and as lines see it; None where values are not plain.

        Those are gaps, numbers that are none, and first ones of a column.
        """
        units, rows, targets = self.units, self.state["rows"], self.state["targets"]
        weights, sums, squares = self.sums = [
            np.concatenate([rows[name], targets[name]]) for name in _SUMS
        ]
        if not np.minimum.reduce(weights) > 0.0 or self._is_odd(rows, x):
            return None
        self.x = x
        means, variances = mean_and_variance(weights, sums, squares)
        centers = means.copy()
        centers[: self.d] += rows["origin"]
        scales = deviations(centers, variances)
        steady = np.concatenate([rows["steady"], targets["steady"]], axis=1)
        path, self.steady = units.steady(steady, weights[None], centers[None], scales[None])
        columns = np.concatenate([x, self.state["lags"].ravel()])
        counted = self.steady_counted
        counted[: self.d] = units._counted(rows)
        known = np.array([centers, scales])[:, self.places]
        self.scales = scales[self.d :]
        return units.seen(columns, known, path[0][:, self.places], counted)

    def walks(self):
        """Return the forecasts (2, q) of the random walks, and the scales (q,) of the targets."""
        last, count = self.state["lags"][0], self.sums[0][self.d]
        steps = last / max(count - 1.0, 1.0)
        return np.array([last, last + steps]), np.where(self.scales > 0.0, self.scales, 1.0)

    def teach(self, u):
        """Learn the row that was looked at last, and its targets (q,)."""
        units, state, d = self.units, self.state, self.d
        rows, targets, x = state["rows"], state["targets"], self.x
        before, rows["last"] = rows["last"][None], x
        units._learn_strange(rows, x[None], before)
        units._count_steps(rows, x[None], before)
        row = x - rows["origin"]
        values = np.concatenate([units._nearer(row, *rows["known"]), u])
        weights, sums, squares = self.sums
        after, total = weights + 1.0, sums + values
        terms = (values - sums / np.maximum(weights, 1.0)) * (
            values - total / np.maximum(after, 1.0)
        )
        for name, now in zip(_SUMS, (after, total, squares + terms), strict=True):
            rows[name], targets[name] = now[:d], now[d:]
        if self.steady is not None:
            rows["steady"], targets["steady"] = self.steady[:, :d], self.steady[:, d:]
        state["lags"] = np.concatenate([u[None], state["lags"][:-1]])
        rows["block"] = np.concatenate([rows["block"], row[None]])
        if len(rows["block"]) == units.block:
            units._end_block(rows)

    def _is_odd(self, rows, x):
        return not np.isfinite(np.add.reduce(x)) or (
            self.units._absurd(rows, x[None], rows["last"][None]) is not None
        )
