"""Ridge regressions that are small at rest: between calls they keep their sums alone, as triangles.

The inverse of a small sum costs less than the memory that it takes: it is made when a call begins
and given up when the call ends. A row alone is added to the triangle, and the coefficients are the
solution of what is there then.
"""

from functools import cache

import numpy as np
from scipy.linalg.blas import dspr
from scipy.linalg.lapack import dppsv

from ..._linalg import inverse_spd
from ..._validation import weights_of
from ...learners import VAWRegressor


class PackedRidge(VAWRegressor):
    """Forecasts what :class:`~sklearn_okl.VAWRegressor` does, for a bank, and keeps less."""

    def _start(self, n_features, n_targets=None, bank=None, late=0):
        state = super()._start(n_features, n_targets, bank, late)
        self._close(state)
        return state

    def _open(self, state):
        """Let P and A be arrays of this state's own, to be written."""
        if "sums" in state:
            state["A"] = _unpacked(state.pop("sums"), state["b"].shape[1])
            state["P"] = inverse_spd(state["A"], state["alpha"])

    def _close(self, state, grows=False):
        """Keep the triangles of A alone."""
        if "A" in state:
            rows, columns, _ = _triangle(state["b"].shape[1])
            state["sums"] = state.pop("A")[:, rows, columns]
            del state["P"]

    def _sums(self, state, k):
        if "A" in state:
            return state["A"][k]
        return _unpacked(state["sums"][k : k + 1], state["b"].shape[1])[0]

    def _takes_rows(self, n):
        return n == 1

    def _learn(self, state, X, y, sample_weight=None):
        n = len(y)
        weights = None if sample_weight is None else weights_of(sample_weight, n)
        if n > 1 or "A" in state:  # this is a part of a longer call
            self._open(state)
            return self._learn_blocks(state, X, y, weights)
        forecast = self._learn_alone(state, X[:, 0], y[0], 1.0 if weights is None else weights[0])
        return forecast.reshape(len(forecast), *y.shape)

    def _learn_alone(self, state, z, y, weight):
        """Learn a row z (K, D) of targets y, () or (q,); return its forecasts (K, 1) or (K, q)."""
        n_experts, width = z.shape
        theta, b = (state[name].reshape(n_experts, width, -1) for name in ("theta", "b"))
        known = (z[:, None] @ theta)[:, 0]
        forecast = known
        if "past" in state:
            past = state["past"].reshape(n_experts, -1, *theta.shape[1:])
            forecast = (z[:, None] @ past[:, 0])[:, 0]
            past[:, :-1] = past[:, 1:]
            past[:, -1] = theta
        b *= self.forgetting
        b += z[..., None] * (weight * y)
        self._add_row(state, z, weight)
        self._solve(state, b, theta)
        # (1 + l) times the error after the row is that before it
        squares = weight * (y - known) * (y - (z[:, None] @ theta)[:, 0])
        state["squares"] = self.forgetting * state["squares"] + squares.reshape(
            state["squares"].shape
        )
        return forecast

    def _add_row(self, state, z, weight):
        """Add a row z (K, D) to the triangles, and to what counts rows."""
        width = z.shape[1]
        # triangles taken from matrices are not contiguous, and would be copied
        sums = np.multiply(self.forgetting, state["sums"], order="C")
        for row, one in zip(z, sums, strict=True):
            dspr(width, weight, row, one, lower=1, overwrite_ap=1)
        state["t"] += 1
        refresh = self._refresh_interval()
        if self.forgetting < 1.0 and state["t"] % refresh == 0:  # the ridge that has faded
            lost = (1.0 - self.forgetting**refresh) * state["alpha"]
            sums[:, _triangle(width)[2]] += lost[:, None]
        state["sums"] = sums
        state["mass"] = self.forgetting * state["mass"] + float(weight)

    def _solve(self, state, b, theta):
        """Write what solves A theta = b (K, D, q) of the triangles into theta, of that shape."""
        width = theta.shape[1]
        for k, sums in enumerate(state["sums"]):
            solution, failed = dppsv(width, sums.copy(), b[k], lower=1)
            if failed:  # rounding has made it indefinite
                A = _unpacked(sums[None], width)
                solution = (inverse_spd(A, state["alpha"][k]) @ b[k])[0]
            theta[k] = solution


@cache
def _triangle(width):
    """Return rows and columns of the places of a triangle, and which are on the diagonal."""
    rows, columns = np.triu_indices(width)
    return rows, columns, np.flatnonzero(rows == columns)


def _unpacked(sums, width):
    """Return the matrices (K, D, D) of triangles (K, D (D + 1) / 2)."""
    rows, columns, _ = _triangle(width)
    A = np.empty((len(sums), width, width))
    A[:, rows, columns] = A[:, columns, rows] = sums
    return A
