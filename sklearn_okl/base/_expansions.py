"""The functions of exact kernels that bandit feedback teaches: one expansion a kernel."""

from math import sqrt

import numpy as np

from ..kernels import shift_invariant_kernel
from ..kernels._distance import FAR

_FEWEST = 64  # rows that there is room for from the start


def start_expansions(n_kernels, n_features):
    """Return what a state keeps of as many functions that are nought."""
    return {
        "origin": np.empty((0, n_features)),  # the first row, once it is there
        "functions": [
            {"rows": np.empty((0, n_features + 2)), "coef": np.empty(0), "norm_sq": 0.0}
            for _ in range(n_kernels)
        ],
    }


class Expansions:
    """The kernels' functions for the length of a call; see `BanditRounds` for the verbs.

    Parameters
    ----------
    kernels : list of dict
        The dictionary.
    state : dict
        With what `start_expansions` returned.
    radius : float or None
        Of the ball that a function is projected onto after each step.
    """

    n_rows = 256

    def __init__(self, kernels, state, radius):
        self.kernels, self.stored, self.radius = kernels, state["functions"], radius
        self.origin = state["origin"]
        self.opened = {}  # of the kernels drawn

    def look_at(self, X):
        """Turn to other rows."""
        if len(self.origin) == 0:
            self.origin = X[:1].copy()
        self.rows = _augmented(X, self.origin)
        self.asking = -2.0 * self.rows

    def ask(self, arm, row):
        """Return a kernel's forecast for a row, and the squared length of its gradient there."""
        self.row, self.f = row, self._open(arm)
        self.forecast = self.f.values(self.asking[row]).item()
        return self.forecast, 1.0  # k(x, x) = 1 for all kernels of a grid

    def teach(self, coefficient):
        """Move the function that was asked last along its gradient."""
        self.f.add(self.rows[self.row], coefficient, self.forecast, self.radius)

    def values(self, arm):
        """Return a kernel's forecasts for all rows looked at."""
        return self._open(arm).values(self.asking)

    def store(self, state):
        """Write what was learnt into the state."""
        state["origin"] = self.origin
        for arm, f in self.opened.items():
            state["functions"][arm] = f.stored()

    def _open(self, arm):
        f = self.opened.get(arm)
        if f is None:
            kernel = shift_invariant_kernel(**self.kernels[arm])
            f = self.opened[arm] = _Expansion(kernel, self.stored[arm])
        return f


def _augmented(X, origin):
    """Return rows [x, 1, -|x|^2 / 2], x relative to the origin, of shape (n, d + 2).

    Their product with [x', -|x'|^2 / 2, 1] is -|x - x'|^2 / 2, and that of the rows times -2, which
    is exact, the squared distance. Kernels of a grid see differences only, and near the origin
    these lose nothing to an offset that the features share; far from it they would.
    """
    n, d = X.shape
    rows = np.ones((n, d + 2))
    np.subtract(X, origin, out=rows[:, :d])
    np.einsum("ij,ij->i", rows[:, :d], rows[:, :d], out=rows[:, -1])
    rows[:, -1] /= -2.0
    return rows


class _Expansion:
    """A function sum_s coef_s k(x_s, .), with room to grow while a call lasts.

    Its rows are kept as [x_s, -|x_s|^2 / 2, 1], see `_augmented`.
    """

    def __init__(self, kernel, stored):
        self.kernel, self.norm_sq = kernel, stored["norm_sq"]
        self.n, width = stored["rows"].shape
        room = max(2 * self.n, _FEWEST)
        self.rows, self.coef = np.empty((room, width)), np.empty(room)
        self.rows[: self.n], self.coef[: self.n] = stored["rows"], stored["coef"]
        self.gamma = kernel.gamma_for(width - 2)
        # whether it is a function of squared distances, which one product gives of rows nearby
        self.by_product = kernel.metric == "sqeuclidean"
        self._look_at(self.rows[: self.n, -2])

    def values(self, rows):
        """Return f at one augmented row times -2, (d + 2,), or at several (m, d + 2)."""
        stored = self.rows[: self.n]
        if self.by_product:
            D = rows.dot(stored.T)
            np.maximum(D, 0.0, out=D)  # rounding of a distance
            K = self.kernel.values_at(D, self.gamma, out=D)
        else:
            K = self.kernel(np.atleast_2d(rows)[:, :-2] * -0.5, stored[:, :-2])
        return K.dot(self.coef[: self.n])  # the method: half the overhead of @ for one row

    def add(self, row, coefficient, forecast, radius):
        """Add a term at a row where f is `forecast`; with a radius, project onto the ball."""
        n = self.n
        if n == len(self.coef):
            self.rows = np.concatenate([self.rows, np.empty_like(self.rows)])
            self.coef = np.concatenate([self.coef, np.empty_like(self.coef)])
        self.rows[n] = row
        self.rows[n, -2] = row[-1]
        self.rows[n, -1] = 1.0
        self.coef[n] = coefficient
        self._look_at(row[-1])
        self.n = n + 1
        # |f + c k(x, .)|^2 = |f|^2 + 2 c f(x) + c^2
        self.norm_sq = max(self.norm_sq + coefficient * (2.0 * forecast + coefficient), 0.0)
        if radius is not None and self.norm_sq > radius * radius:  # eq. (2)
            self.coef[: n + 1] *= radius / sqrt(self.norm_sq)
            self.norm_sq = radius * radius

    def _look_at(self, halves):
        self.by_product &= bool(np.all(-2.0 * self.gamma * halves <= FAR))

    def stored(self):
        """Return what a state keeps."""
        n = self.n
        return {"rows": self.rows[:n].copy(), "coef": self.coef[:n].copy(), "norm_sq": self.norm_sq}
