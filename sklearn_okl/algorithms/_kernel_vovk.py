r"""R. Jézéquel, P. Gaillard, A. Rudi, "Efficient online learning with kernels" (2019), exact part.

The Vovk-Azoury-Warmuth forecaster in the space of one kernel, eq. (3): every row is kept.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import inherit_documentation
from .._linalg import aligned_slices
from .._types import Any, Array
from ..base import AllRows, OnlineRegressor
from ..dictionaries._factor import (
    PANEL,
    back_solved,
    corner_factor,
    extend,
    half_solved,
    solve_lower,
    start_factor,
)
from ..dictionaries._nested import JITTER
from ..kernels import kernel_of


class _ExactVovkRegressor(AllRows, OnlineRegressor):
    """The forecaster on the growing factor of the kernel matrix of all rows."""

    _parameter_constraints = {
        **AllRows._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "forecaster": [StrOptions({"vaw", "ridge"})],
    }
    _structural = ("alpha",)
    _multi_output = True

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        alpha: float = 1.0,
        forecaster: str = "vaw",
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.alpha = alpha
        self.forecaster = forecaster

    @property
    def dual_coef_(self) -> Array:
        """Coefficients, of shape (n_samples_seen,) or (n_samples_seen, n_targets)."""
        state = self._fitted_state("dual_coef_")
        return back_solved(state["factor"], state["white"])

    def _start(self, n_features, n_targets=None):
        targets = () if n_targets is None else (n_targets,)
        return {
            "t": 0,
            "rows": np.empty((0, n_features)),
            "white": np.empty((0, *targets)),  # L^-1 y
            "factor": start_factor(),
        }

    def _learn(self, state, X, y):
        kernel, factor, start, n = kernel_of(self), state["factor"], state["t"], len(y)
        Y = y.reshape(n, -1)
        rows = np.concatenate([state["rows"], X])
        white = np.empty((start + n, Y.shape[1]))
        white[:start] = state["white"].reshape(start, Y.shape[1])
        forecasts = np.empty_like(Y)
        for block in aligned_slices(start, n, PANEL):
            past = start + block.start
            V = half_solved(factor, kernel(rows[:past], X[block]))  # (past, b)
            gram = kernel(X[block], X[block])
            ridges = self._ridges(np.diagonal(gram))
            M = corner_factor(gram, V, ridges)
            before = V.T @ white[:past]
            errors = solve_lower(M, Y[block] - before)
            pivots = np.diagonal(M)[:, None]
            # Not y - pivot * error, its equal on paper: a forecast must not know its target.
            forecasts[block] = before + np.tril(M, -1) @ errors
            if self.forecaster == "vaw":
                forecasts[block] *= np.minimum(ridges[:, None] / pivots**2, 1.0)
            white[past : start + block.stop] = errors
            extend(factor, V, M)
        state.update(t=start + n, rows=rows, white=white.reshape(start + n, *y.shape[1:]))
        return forecasts.reshape(y.shape)

    def _forecast(self, state, X):
        kernel, white = kernel_of(self), state["white"]
        forecasts = np.empty((len(X), *white.shape[1:]))
        for block in gen_batches(len(X), PANEL):
            V = half_solved(state["factor"], kernel(state["rows"], X[block]))
            forecasts[block] = V.T @ white
            if self.forecaster == "vaw":
                own = kernel.diagonal(X[block])
                rest = np.maximum(own - np.einsum("ij,ij->j", V, V), 0.0)
                shrunk = 1.0 / (1.0 + rest / self._ridges(own))
                forecasts[block] = (forecasts[block].T * shrunk).T
        return forecasts

    def _ridges(self, own):
        """Return alpha for each row, or what rounding asks for, by its k(x, x)."""
        return np.maximum(self.alpha, JITTER * own)


@inherit_documentation
class KernelVAWRegressor(_ExactVovkRegressor):
    r"""Kernel-AWV, exact: the Vovk-Azoury-Warmuth forecaster in the whole space of a kernel.

    Round t forecasts :math:`\hat y_t = \hat f_t(x_t)` with (eq. (3) of [1]_)

    .. math:: \hat f_t = \arg\min_{f \in H} \sum_{s<t} (y_s - f(x_s))^2 + \alpha \|f\|_H^2
              + f(x_t)^2 .

    Kernel ridge regression is the same without the last term.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty, > 0, in the unit of the kernel (the paper's lambda, which is 1 in its
        experiments).
    forecaster : {"vaw", "ridge"}, default="vaw"
        ``"vaw"`` is the algorithm with the theorem; ``"ridge"`` is online kernel ridge regression.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples_seen,) or (n_samples_seen, n_targets)
        Coefficients :math:`(K + \alpha I)^{-1} y` of the rows learnt, those of kernel ridge
        regression.

    See Also
    --------
    PKAWVRegressor : The same in a subspace, at a cost that does not grow as the square of t.
    KOGDRegressor : First order in the same space, O(t) per round.
    VAWRegressor : The same on given features.
    sklearn.kernel_ridge.KernelRidge : Batch counterpart of ``forecaster="ridge"``.

    Notes
    -----
    *Cost.* :math:`O(t^2)` in round t, and as much memory: :math:`4 t^2` bytes, 400 MB at 10 000
    rows. The Cholesky factor L of :math:`K + \alpha I` grows. A block of 64 rows meets the past in
    one forward substitution, L V = k(past, block); M, the factor of its Schur complement
    :math:`k(block, block) + \alpha I - V^T V`, holds what the rows of the block teach each other,

    .. math:: e = M^{-1} (y - V^T c), \quad \hat y^{ridge} = V^T c + (M - \mathrm{diag}\, M) e,
              \quad \hat y_t = \frac{\alpha}{M_{tt}^2} \hat y^{ridge}_t ,

    with :math:`c = L^{-1} y` of the past: :math:`M_{tt}^2 - \alpha` is the variance of
    :math:`f(x_t)` that the past leaves, and the row's own term shrinks the forecast by it.

    *Theorem.* For :math:`|y_t| \le B` and every f in H (Proposition 1 of [1]_)

    .. math:: \sum_t (y_t - \hat y_t)^2 - \sum_t (y_t - f(x_t))^2 \le \alpha \|f\|_H^2
              + B^2 \ln \det(I + K / \alpha) ,

    for ``forecaster="vaw"``. It needs no bound of f, and no knowledge of B.

    *Numerics.* The condition of :math:`K + \alpha I` is at most :math:`1 + \|K\| / \alpha`,
    whatever the rows: repeated rows and very wide kernels are no trouble. An `alpha` below
    1e-13 k(x, x) is lost in the rounding of K, and such a row gets 1e-13 k(x, x) instead.

    References
    ----------
    .. [1] Jézéquel et al. 2019, eq. (3), Proposition 1.

    Examples
    --------
    >>> from sklearn_okl import KernelVAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = KernelVAWRegressor("rbf", 0.05)
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.dual_coef_.shape
    (300,)
    >>> bool(((y - forecasts) ** 2).mean() < y.var())
    True
    """

    _test_parameters = ({}, {"kernel": "laplacian", "alpha": 0.1, "forecaster": "ridge"})
