"""A row of each of many models as their experts see it: what `InputRow` does with one."""

import numpy as np

from ...features._units import deviations, mean_and_variance

_ROWS, _TARGETS = ("inputs", "rows"), ("inputs", "targets")
_SUMS = "weights", "sums", "squares"
_OF_BLOCKS = (
    *("origin", *_SUMS, "known", "believed", "roughness", "steady", "step"),
    *("together", "means", "former", "doubt"),
)
_GROWING = "block", "came"  # of a block, row by row


class ManyRows:
    """Rows X (S, d) of S models, `parts` of their records, as seen by what each knew before.

    `n_first` (S,) are the rows of the first block of columns that each has had.
    """

    def __init__(self, inputs, parts, X, n_first):
        self.units, self.parts, self.X, self.d = inputs.units, parts, X, X.shape[1]
        self.n_first, self.young = n_first, np.flatnonzero(n_first < inputs.units.block)
        self.n_walks, self.n_lags = inputs.n_walks, inputs.n_lags
        self.rows, self.targets = (
            {path[-1]: part for path, part in parts.items() if path[:-1] == at}
            for at in (_ROWS, _TARGETS)
        )
        both = [np.concatenate([self.rows[name], self.targets[name]], axis=1) for name in _SUMS]
        self.sums = both
        self.places = np.concatenate([np.arange(self.d), np.full(self.n_lags, self.d)])

    def ask(self):
        """Return rows as kernels and as lines see them, each (S, u)."""
        means, variances = mean_and_variance(*self.sums)
        centers = means.copy()
        centers[:, : self.d] += self.rows["origin"]
        scales = deviations(centers, variances)
        self.scales = scales[:, self.d]
        first = self._steady(centers, scales)
        columns = np.concatenate([self.X, self.parts["inputs", "lags"][:, :, 0]], axis=1)
        known = np.stack([centers, scales], axis=1)[..., self.places]
        counted = np.full(columns.shape, self.units.faulty)
        counted[:, : self.d] = self.units._counted(self.rows)
        return self.units.seen(columns, known, first[..., self.places], counted)

    def _steady(self, centers, scales):
        """Return the centres and scales (S, 2, d + 1) of steady units; those after are noted."""
        first = np.concatenate([self.rows["steady"], self.targets["steady"]], axis=2)
        shape = first.transpose(1, 0, 2).shape
        flat = first.transpose(1, 0, 2).reshape(2, -1)
        moments = (part.reshape(1, -1) for part in (self.sums[0], centers, scales))
        path, now = self.units.steady(flat, *moments)
        self.steady = now.reshape(shape).transpose(1, 0, 2)
        return path[0].reshape(shape).transpose(1, 0, 2)

    def walks(self):
        """Return the forecasts (S, 2) of the random walks, and the scales (S,) of the targets."""
        last, count = self.parts["inputs", "lags"][:, :1, 0], self.sums[0][:, self.d :]
        steps = last / np.maximum(count - 1.0, 1.0)
        walks = np.concatenate([last, last + steps], axis=1)[:, : self.n_walks]
        return walks, np.where(self.scales > 0.0, self.scales, 1.0)

    def are_plain(self):
        """Tell which rows (S,) have begun columns, and no value that is odd or far off."""
        rows, units = self.rows, self.units
        center, scale = rows["known"][:, 0], rows["known"][:, 1]
        reach = np.where(scale > 0.0, units.oddest(rows["former"]) * scale, np.inf)
        row = self.X - rows["origin"]
        far_steps = np.where(rows["step"] >= 0.0, units.strange * rows["step"], np.inf)
        low, high = rows["believed"][:, 0], rows["believed"][:, 1]
        believed = (low <= self.X) & (high >= self.X) & (rows["former"][:, 1] == 0.0)
        plain = ((row >= center - reach) & (row <= center + reach)) | believed
        plain &= ~(np.abs(self.X - rows["last"]) > far_steps)
        if len(self.young):
            plain[self.young] &= ~self._first_steps()
        return plain.all(axis=1) & (self.sums[0] > 0.0).all(axis=1)

    def end_first_blocks(self):
        """Tell in which models (S,) the first block of columns ends with the row."""
        return self.n_first == self.units.block - 1

    def _first_steps(self):
        """Tell which values of young columns (Y, d) step after they have stood still."""
        n_steps, n_before = self.rows["n_steps"][self.young], self.n_first[self.young, None]
        return self.units._step_at_last(self._moves(), n_steps, n_before)

    def _moves(self):
        return self.rows["last"][self.young] != self.X[self.young]

    def teach(self, u):
        """Learn the rows and their targets u (S,)."""
        rows, targets, d = self.rows, self.targets, self.d
        if len(self.young):
            rows["n_steps"][self.young] += self._moves()
        rows["last"][:] = self.X
        row = self.X - rows["origin"]
        nearer = self.units._nearer(row, rows["known"][:, 0], rows["known"][:, 1])
        values = np.concatenate([nearer, u[:, None]], axis=1)
        weights, sums, squares = self.sums
        after, total = weights + 1.0, sums + values
        terms = (values - sums / np.maximum(weights, 1.0)) * (
            values - total / np.maximum(after, 1.0)
        )
        for name, now in zip(_SUMS, (after, total, squares + terms), strict=True):
            rows[name][:], targets[name][:] = now[:, :d], now[:, d:]
        rows["steady"][:], targets["steady"][:] = self.steady[..., :d], self.steady[..., d:]
        lags = self.parts["inputs", "lags"]
        if self.n_lags:
            lags[:, 1:] = lags[:, :-1].copy()
            lags[:, 0, 0] = u
        for name, now in zip(_GROWING, (row, u[:, None]), strict=True):
            lengths = self.parts["length", *_ROWS, name]
            rows[name][np.arange(len(row)), lengths.astype(np.intp)] = now
            lengths += 1.0
        full = np.flatnonzero(lengths == self.units.block)
        if len(full):
            self._end_blocks(full)

    def _end_blocks(self, full):
        """End the blocks of some models, whose columns are those of one for this."""
        rows, n = self.rows, len(full)
        known = {name: self._side_by_side(rows[name][full]) for name in (*_OF_BLOCKS, "block")}
        known |= {"have_units": np.ones(n * self.d, dtype=bool), "n_strange": np.zeros(2)}
        known["came"] = np.repeat(np.moveaxis(rows["came"][full], 0, -1), self.d, axis=-1)
        self.units._end_block(known)
        for name in _OF_BLOCKS:
            part = known[name].reshape(*known[name].shape[:-1], n, self.d)
            rows[name][full] = np.moveaxis(part, -2, 0)
        rows["n_strange"][full, 1] = rows["n_strange"][full, 0]
        rows["n_strange"][full, 0] = 0.0
        for name in _GROWING:
            self.parts["length", *_ROWS, name][full] = 0.0

    @staticmethod
    def _side_by_side(part):
        """Return what columns (n, ..., d) of n models are, (..., n d)."""
        moved = np.moveaxis(part, 0, -2)
        return moved.reshape(*moved.shape[:-2], -1)
