"""One row of inputs: what `LaggedInputs` does with a block of one, in few calls.

Columns and targets are standardised by the same steps, so their sums stand side by side here, the
targets behind the columns. A row is looked at before it is learnt, and nothing is computed twice.
"""

from functools import cache
from weakref import ref

import numpy as np
from scipy.special import ndtri

from ..._linalg import any_of, are_all
from ...features import _believed
from ...features import _quantiles as quantiles
from ...features._units import deviations, mean_and_variance

_SUMS = "weights", "sums", "squares"


class InputRow:
    """A row that was seen by what was known before it, and may be learnt then.

    Parameters
    ----------
    inputs : LaggedInputs
        Whose labels are not late; see `takes`.
    state : dict of the inputs
        That is, one of those that `takes` names.
    """

    def __init__(self, inputs, state):
        self.inputs, self.units, self.state = inputs, inputs.units, state
        self.d = d = len(state["rows"]["weights"])
        self.n_own = d - state["n_trees"]  # what is made of trees comes behind, for lines alone
        self.places = _places(d, len(state["targets"]["weights"]), inputs.n_lags)
        self.known = self.limits = None  # of this block
        self.all_steady = (None, b""), None  # centres and scales that stay, and as columns
        self.t = self.weights = None  # of the round whose rows it knows what is known before
        self.walks = None  # of that round: forecasts of the latest targets, and scales

    @staticmethod
    def takes(inputs, state):
        """Whether no labels are late, and columns have begun."""
        return not inputs.delay and state["rows"]["origin"] is not None

    def ask(self, x, t):
        """Return a row x (d + n_values,) as kernels and lines see it; None where it is not plain.

        Those are gaps, numbers that are none, and first ones of a column. What no row changes is
        kept for the round t.
        """
        units, rows, n = self.units, self.state["rows"], self.n_own
        x, values = x[: self.d], x[self.d :]
        if t != self.t or rows["weights"] is not self.weights:
            self._know(rows, self.state["targets"])
            self.t, self.weights = t, rows["weights"]
        if not self.have_begun or self._is_odd(rows, x):
            return None
        self.x = x
        columns = np.concatenate([x, self.state["lags"].ravel()])
        inputs, steady = units.seen(columns, *self.of_columns, self.counted)
        if len(values):  # behind all that other lines see
            steady = np.concatenate([steady, values * steady[:n].any()])
        if n < self.d:
            inputs = np.concatenate([inputs[:n], inputs[self.d :]])
        if "ranks" in self.state:
            shares = quantiles.ask(self.state["ranks"], x[None, :n])[0]
            inputs = np.concatenate([inputs, ndtri(shares), inputs[n:]])
        return inputs, steady

    def _know(self, rows, targets):
        """Find what is known before a row, whatever it is."""
        self.sums = [np.concatenate([rows[name], targets[name]]) for name in _SUMS]
        self.have_begun = are_all(self.sums[0] > 0.0)
        means, variances = mean_and_variance(*self.sums)
        centers = means.copy()
        centers[: self.d] += rows["origin"]
        scales = deviations(centers, variances)
        of_steady = rows["steady"], targets["steady"], self.sums[0], centers, scales
        self.moments = np.array([centers, scales])
        self.of_columns = self.moments.take(self.places, axis=1), self._steady(*of_steady)
        self.walks = self._walks(scales[self.d :])

    def _steady(self, of_rows, of_targets, *moments):
        """Return the centres and scales of steady units, of each column of a row with lags.

        Once all are known they stay as they are, and need no more than a look.
        """
        self.steady = None
        (known_of_rows, known_of_targets), found = self.all_steady
        now_of_targets = of_targets.tobytes()
        if of_rows is known_of_rows and now_of_targets == known_of_targets:
            return found
        first = np.concatenate([of_rows, of_targets], axis=1)
        path, now = self.units.steady(first, *(part[None] for part in moments))
        found = path[0][:, self.places]
        if now is first:
            self.all_steady = (of_rows, now_of_targets), found
        else:
            self.steady = now
        return found

    def are_strange(self, X):
        """Tell whether rows (1, d + n_values), or one of the latest, are far from those before."""
        return self.units.look(self.state["rows"], X[:, : self.d])[1]

    @property
    def written(self):
        """Sums that a row adds to, and the latest targets."""
        rows, targets = self.state["rows"], self.state["targets"]
        return [part[name] for part in (rows, targets) for name in _SUMS] + [self.state["lags"]]

    def _walks(self, scales):
        """Return the forecasts (2, q) of the random walks, and the scales (q,) of the targets.

        Without lags there are no such forecasts, (0, q). A scale is not 0.
        """
        last, count = self.state["lags"][:1], self.sums[0][self.d]
        steps = last / max(count - 1.0, 1.0)
        walks = np.concatenate([last, last + steps])[: self.inputs.n_walks]
        are_scales = scales > 0.0
        return walks, scales if are_all(are_scales) else np.where(are_scales, scales, 1.0)

    def teach(self, u):
        """Learn the row that was looked at last, and its targets (q,)."""
        units, state, d = self.units, self.state, self.d
        rows, targets, x = state["rows"], state["targets"], self.x
        before, rows["last"] = rows["last"][None], x
        if self.is_far or rows["n_first"] < units.block or rows["quiet"] < units.aftermath:
            units._learn_strange(rows, x[None], before)
            units._count_steps(rows, x[None], before)
        row = x - rows["origin"]
        low, high = self.limits[1]
        values = np.concatenate([np.minimum(np.maximum(row, low), high), u])
        weights, sums, squares = self.sums
        after, total = weights + 1.0, sums + values
        terms = (values - sums / np.maximum(weights, 1.0)) * (
            values - total / np.maximum(after, 1.0)
        )
        for name, now in zip(_SUMS, (after, total, squares + terms), strict=True):
            rows[name], targets[name] = now[:d], now[d:]
        if self.steady is not None:
            rows["steady"], targets["steady"] = self.steady[:, :d], self.steady[:, d:]
        state["lags"] = np.concatenate([u[None], state["lags"]])[: len(state["lags"])]
        rows["block"] = np.concatenate([rows["block"], row[None]])
        rows["came"] = np.concatenate([rows["came"], u[None]])
        changed = None
        if len(rows["block"]) == units.block:
            changed = units._end_block(rows)
            changed = changed if changed.any() else None
        if state["gaps"]:  # of other rows, which this one tells of
            moments = self.moments[None, :, : self.n_own]
            self.inputs.gaps.learn(state["gaps"], x[None, : self.n_own], moments)
        if "ranks" in state:
            changed = None if changed is None else changed[: self.n_own]
            quantiles.follow(state["ranks"], x[None, : self.n_own], changed=changed)

    def _is_odd(self, rows, x):
        """Tell whether a value is a gap, or may be absurd; note whether a step is a far one."""
        if rows["known"] is not self.known:
            self._begin_block(rows)
        (low, high), _ = self.limits
        row = x - rows["origin"]
        self.is_far = any_of(np.abs(x - rows["last"]) > self.far_steps)
        return not are_all((row >= low) & (row <= high))

    def _begin_block(self, rows):
        """Find what is the same for all rows of a block, which is kept from call to call.

        What was known before another block is not held for that.
        """
        self.known = rows["known"]
        known, of_block = vars(self.inputs).get("of_block", (None, None))
        if known is None or known() is not self.known:
            of_block = self._of_block(rows)
            self.inputs.of_block = ref(self.known), of_block
        self.limits, self.far_steps, self.counted = of_block

    def _of_block(self, rows):
        """Return limits of absurd and of faulty values, far steps, and how values count."""
        units, (center, scale) = self.units, rows["known"]
        # beyond the one values are odd, and moved nearer beyond the other
        reaches = [
            np.where(scale > 0.0, reach * scale, np.inf)
            for reach in (units.oddest(rows["former"]), units.faulty)
        ]
        limits = [(center - reach, center + reach) for reach in reaches]
        low, high = _believed.ends(rows) - rows["origin"]
        knows_one = rows["former"][1] == 0.0  # unit, in which nothing that is believed is odd
        (least, most), of_faulty = limits
        least = np.where(knows_one, np.minimum(least, low), least)
        limits = (least, np.where(knows_one, np.maximum(most, high), most)), of_faulty
        far_steps = np.where(rows["step"] >= 0.0, units.strange * rows["step"], np.inf)
        counted = np.full(len(self.places), units.faulty)
        counted[: self.d] = units._counted(rows)
        return limits, far_steps, counted


@cache
def _places(d, q, n_lags):
    """Return where in d columns and q targets each column of a row with lags is."""
    return np.concatenate([np.arange(d), np.tile(d + np.arange(q), n_lags)])
