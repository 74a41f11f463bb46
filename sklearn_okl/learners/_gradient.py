"""Online gradient descent on features."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._types import Any, Array
from ..base import OnlineRegressor
from ..base._intercept import MissesIntercept, WithIntercept
from ..base._loss import TARGET_LOSSES, LossOfTargets
from ..losses import SquaredError

_BLOCK = 64  # rows a block: fewer pay for calls, more for the n^2 products among them


class _Descent(LossOfTargets, MissesIntercept, OnlineRegressor):
    r"""Base: the recursion of gradient descent, row by row, or exactly in blocks.

    One model with the square loss and no ball learns 64 rows at once: the errors e of a block solve
    a unit-triangular system,

    .. math:: e_t + \sum_{s<t} 2 \eta_s c_{s+1} \cdots c_{t-1} z_s^T z_t \, e_s
              = c_1 \cdots c_{t-1} \theta_0^T z_t - y_t , \qquad c_s = 1 - 2 \lambda \eta_s ,

    whatever the steps and the shrinkage, a negative c included. Other losses, a ball, or a bank of
    models go row by row, which for a bank is quicker than blocks.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Current theta.
    """

    _multi_output = True
    _learns_banks = True

    @property
    def coef_(self) -> Array:
        """Coefficients, of shape (n_features,) or (n_targets, n_features)."""
        return self._as_taught()._weights(self._fitted_state("coef_"))

    def _weights(self, state):
        return self._slopes(self._coefficients(state))

    def _coefficients(self, state):
        return state["theta"]

    def _look_back(self, state, X, y, forecasts):
        if not _has_unlike_sides(self.loss):  # else the best errors have a mean
            super()._look_back(state, X, y, forecasts)

    def _start(self, n_features, n_targets=None, bank=None):
        """Return the state of one model, or of a bank with a leading axis, all of them alike."""
        if bank is not None and any("alpha" in member for member in bank):
            raise ValueError(
                "The grid of kernels has the key 'alpha', a ridge, which OGDRegressor does not "
                "have. Leave it out, or take VAWRegressor as the expert."
            )
        lead = () if bank is None else (len(bank),)
        targets = () if n_targets is None else (n_targets,)
        return {"t": 0, "theta": np.zeros((*lead, *targets, self._width(n_features)))}

    def _learn(self, state, X, y):
        X = self._design(X)
        lead, n = X.shape[:-2], len(y)
        Y = y.reshape(n, -1)
        theta = state["theta"].reshape(*lead, Y.shape[1], X.shape[-1])  # a view
        etas = self.eta0 / np.arange(state["t"] + 1.0, state["t"] + n + 1) ** self.power_t
        forecasts = np.empty((*lead, *Y.shape))
        loss = self._loss()
        if type(loss) is SquaredError and self.radius is None and not lead:
            low = 0
            while low < n:
                # Blocks end where the stream's own count is a multiple of their length, so that
                # most ways of cutting a stream lead through the very same blocks.
                high = min(n, low + _BLOCK - (state["t"] + low) % _BLOCK)
                rows = slice(low, high)
                forecasts[rows] = self._learn_block(theta, X[rows], Y[rows], etas[rows])
                low = high
        else:
            self._learn_rows(theta, X, Y, loss, etas, forecasts)
        state["t"] += n
        return forecasts.reshape(*lead, *y.shape)

    def _learn_block(self, theta, Z, Y, etas):
        """Step n times at once with the square loss: theta (q, D), Z (n, D), Y (n, q)."""
        n = len(Y)
        kept = 1.0 - 2.0 * self.shrinkage * etas
        # Row t holds what is left, before row t, of the step at row s: 2 eta_s c_{s+1} .. c_{t-1}.
        # Products, never quotients of products: c may be 0 or negative.
        left = np.where(np.tri(n + 1, n, -2, dtype=bool), np.append(1.0, kept)[:, None], 1.0)
        left = np.cumprod(left, axis=0) * (2.0 * etas)  # (n + 1, n)
        start_left = np.cumprod(np.append(1.0, kept))  # (n + 1,), of theta before the block
        taught = np.tril(left[:n] * (Z @ Z.T), -1)  # (n, n)
        start = start_left[:n, None] * (Z @ theta.T)  # (n, q)
        errors = solve_triangular(
            taught, start - Y, lower=True, unit_diagonal=True, check_finite=False
        )
        theta *= start_left[n]
        theta -= (left[n] * errors.T) @ Z
        # Not y + errors, its equal on paper: a target of 1e8 would wipe out its own forecast.
        return start - taught @ errors

    def _learn_rows(self, theta, Z, Y, loss, etas, out):
        """Step row by row: theta (..., q, D), Z (..., n, D), Y (n, q), out (..., n, q).

        Losses of labels are served too, for the private use of classifiers.
        """
        kept = (1.0 - 2.0 * self.shrinkage * etas).tolist()
        for t, eta in enumerate(etas.tolist()):
            z = Z[..., t, :]
            forecasts = (theta @ z[..., None])[..., 0]  # (..., q)
            out[..., t, :] = forecasts
            steps = eta * loss.slope(Y[t], forecasts)
            if self.shrinkage:
                theta *= kept[t]
            theta -= steps[..., None] * z[..., None, :]
            if self.radius is not None:
                norms = np.linalg.norm(theta, axis=-1, keepdims=True)
                theta *= self.radius / np.maximum(norms, self.radius)
                theta += norms - norms  # 0; or nan: an overflow is refused, not projected to 0

    def _forecast(self, state, X):
        X = self._design(X)
        lead, theta = X.shape[:-2], state["theta"]
        targets = theta.shape[len(lead) : -1]
        forecasts = X @ theta.reshape(*lead, -1, X.shape[-1]).swapaxes(-1, -2)
        return forecasts.reshape(*lead, X.shape[-2], *targets)


@inherit_documentation
class OGDRegressor(_Descent):
    r"""Online gradient descent: the cheapest linear learner, a few products of vectors per round.

    Round t forecasts :math:`\hat y_t = \theta_{t-1}^T z_t` and steps against the loss [1]_ [2]_:

    .. math:: \theta_t = \theta_{t-1}
              - \eta_t (\ell'(\hat y_t) z_t + 2 \lambda \theta_{t-1}) ,
              \qquad \eta_t = \eta_0 / t^p .

    Parameters
    ----------
    shrinkage : float, default=0.0
        :math:`\lambda \ge 0`, weight of :math:`\|\theta\|^2` beside the loss; Raker's is 1e-3.
    eta0 : float, default=0.1
        First step size, > 0; the papers' experiments use 0.1.
    power_t : float, default=0.5
        Exponent p >= 0 of the decay; 0 keeps the step constant, for streams that drift.
    radius : float, default=None
        Of the ball, one per target, that theta is projected onto after each step. None: no ball.

    See Also
    --------
    VAWRegressor : Second order: O(D^2) per round, no step size, a far smaller regret.
    sklearn.linear_model.SGDRegressor : Stochastic descent in epochs, with an intercept.

    Notes
    -----
    *Cost.* O(D) per round for D features, and O(D) memory. One model with the square loss and no
    ball learns 64 rows at once, which is exact. The t of the step size is `n_samples_seen_`.

    *Theorem.* For convex losses, the constant step :math:`\eta` and any u, with the gradients
    :math:`g_t = \ell'(\hat y_t) z_t`,

    .. math:: \sum_t \ell_t(\hat y_t) - \sum_t \ell_t(u^T z_t)
              \le \frac{\|u\|^2}{2 \eta} + \frac{\eta}{2} \sum_t \|g_t\|^2 .

    With ``power_t=0.5``, ``radius=U`` and :math:`\|g_t\| \le G` the regret in the ball is at most
    :math:`(2 U^2 / \eta_0 + \eta_0 G^2) \sqrt T` (Theorem 1 of [1]_, whose :math:`\eta_0` is 1).
    For the square loss, a constant step and :math:`2 \eta \|z_t\|^2 \le q < 1` the first bound is
    :math:`(1 - q) \sum_t \ell_t(\hat y_t) \le \sum_t \ell_t(u^T z_t) + \|u\|^2 / (2 \eta)` [3]_.
    With shrinkage all holds for the losses plus :math:`\lambda \|\theta\|^2`. Decreasing steps
    without a ball have no such bound in general.

    *Departures.* [1]_ projects always, here only with a `radius`. At a kink the slope is 0.

    *Features* are taken as they come. The square loss diverges while :math:`\eta_t \|z_t\|^2`, with
    the 1 of an intercept in z, stays above 1: scale them to norms of about 1, or lessen `eta0`.
    Without ``fit_intercept`` a mean of the errors that outweighs all else, within the first 1024
    rows, is warned of, once; not with a loss of two unlike sides, whose errors have one.

    References
    ----------
    .. [1] Zinkevich 2003, Theorem 1.
    .. [2] Shen et al. 2019.
    .. [3] N. Cesa-Bianchi, P. M. Long, M. K. Warmuth, "Worst-case quadratic loss bounds for
       prediction using linear functions and gradient descent", IEEE Transactions on Neural
       Networks 7(3), 1996.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.learners import OGDRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 3))
    >>> y = X @ [1.0, -2.0, 0.5]
    >>> OGDRegressor().fit(X, y).coef_.round(2)
    array([ 1. , -2. ,  0.5])
    """

    _test_parameters = ({}, {"shrinkage": 0.001}, {"loss": "absolute_error", "radius": 10.0})

    _parameter_constraints = {
        "shrinkage": [Interval(Real, 0, None, closed="left")],
        **TARGET_LOSSES,
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
        **WithIntercept._parameter_constraints,
    }

    def __init__(
        self,
        shrinkage: float = 0.0,
        *,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        eta0: float = 0.1,
        power_t: float = 0.5,
        radius: float | None = None,
        fit_intercept: bool = False,
    ) -> None:
        self.shrinkage = shrinkage
        self.loss = loss
        self.quantile = quantile
        self.eta0 = eta0
        self.power_t = power_t
        self.radius = radius
        self.fit_intercept = fit_intercept


def _has_unlike_sides(loss):
    if isinstance(loss, str):
        return loss == "pinball"
    return loss.slope(0.0, 1.0) != -loss.slope(0.0, -1.0)
