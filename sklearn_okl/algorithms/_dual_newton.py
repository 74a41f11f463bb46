"""Newton steps in the space of one kernel: every row is kept, and the factor of their kernel grows.

With D = diag(sqrt(weight_s)) over the rows in A and B = mu I + D K D = L L', the inverse of A is
(I - Phi D B^-1 D Phi') / mu, and w = Phi a + Phi D L'^-1 h. When rows are added L gets new rows at
the end, and h gets zeros.
"""

from __future__ import annotations

import numpy as np

from .._types import Array
from ..base import AllRows
from ..dictionaries._factor import (
    PANEL,
    back_solved,
    corner_factor,
    extend,
    half_solved,
    start_factor,
)
from ..kernels import kernel_of
from ..learners._newton import newton_steps


class DualNewton(AllRows):
    """The recursion, beside a shell.

    A subclass says `_ridge()`, the mu that A starts from, and what a round does, ``_round(y,
    keep)``, see :func:`~sklearn_okl.learners._newton.newton_steps`; `_keep` says which of some rows
    enter A.
    """

    @property
    def dual_coef_(self) -> Array:
        """Coefficient of each row learnt, of shape (n_samples_seen,)."""
        state = self._fitted_state("dual_coef_")
        coef = state["coef"].copy()
        coef[state["kept"]] += state["weights"] * back_solved(state["factor"], state["white"])
        return coef

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "rows": np.empty((0, n_features)),
            "coef": np.empty(0),  # a, a number a row
            "kept": np.empty(0, dtype=np.intp),  # the rows in A
            "weights": np.empty(0),  # the diagonal of D
            "white": np.empty(0),  # h
            "trace": 0.0,  # of A - mu I
            "factor": start_factor(),  # L
        }

    def _keep(self, kernel, state, X):
        return np.ones(len(X), dtype=bool)

    def _learn(self, state, X, y):
        kernel, start, n = kernel_of(self), state["t"], len(y)
        keep = self._keep(kernel, state, X)
        state["rows"] = np.concatenate([state["rows"], X])
        state["coef"] = np.concatenate([state["coef"], np.zeros(n)])
        forecasts = np.empty(n)
        low = 0
        while low < n:  # in panels, but for extreme rows, which end a block
            block = slice(low, low + PANEL - (start + low) % PANEL)
            learnt = self._learn_block(kernel, state, X[block], y[block], keep[block])
            forecasts[low : low + len(learnt)] = learnt
            low += len(learnt)
        return forecasts

    def _learn_block(self, kernel, state, X, y, keep):
        """Learn rows up to the first of extreme gain, return their forecasts, one at least."""
        mu = self._ridge()
        before, V = self._meet(kernel, state, X)
        gram = (kernel(X, X) - V.T @ V) / mu  # inner products by the inverse of A
        norms = kernel.diagonal(X)
        steps = newton_steps(gram, before, self._round(y, keep), norms, mu + state["trace"])
        n, t = len(steps.forecasts), state["t"]
        # theta + sum_s b_s P_{s-1} phi_s, all in terms of P before the block
        coef = steps.solve(steps.moves, transposed=True).ravel() / mu
        state["coef"][t : t + n] = coef
        state["white"] -= V[:, :n] @ coef
        kept = np.flatnonzero(keep[:n])
        weights = steps.weights[kept]
        rest = mu * weights[:, None] * gram[np.ix_(kept, kept)] * weights  # D (K - V'V) D
        corner = corner_factor(rest, np.empty((0, len(kept))), np.full(len(kept), mu))
        _append(state["factor"], V[:, kept] * weights, corner)
        state["white"] = np.append(state["white"], np.zeros(len(kept)))
        state["kept"] = np.append(state["kept"], t + kept)
        state["weights"] = np.append(state["weights"], weights)
        state["trace"] += float(steps.weights**2 @ norms[:n])
        state["t"] = t + n
        return steps.forecasts

    def _meet(self, kernel, state, X):
        """Return what w says of X (n, d), and V = L^-1 D k(kept rows, X)."""
        t = state["t"]
        K = kernel(state["rows"][:t], X)
        V = K[state["kept"]]  # a copy
        V *= state["weights"][:, None]
        V = half_solved(state["factor"], V)
        return K.T @ state["coef"][:t] + V.T @ state["white"], V


def _append(factor, V, M):
    """Append rows [V', M] to L, panel by panel."""
    done = 0
    while done < len(M):
        room = PANEL - len(factor["corner"])
        rows = slice(done, done + room)
        extend(factor, np.concatenate([V[:, rows], M[rows, :done].T]), M[rows, rows])
        done = min(len(M), done + room)
