r"""Gradient descent of a function of a Hilbert space, on nothing but inner products.

A round steps against the slope of the loss along the features of its row, and projects onto a ball,
where there is one:

.. math:: \bar f_{t+1} = f_t - \eta_t \ell'(\hat y_t) \varphi_t , \qquad
          f_{t+1} = \min\{1, U / \|\bar f_{t+1}\|\} \bar f_{t+1} .

The features may be those of a kernel, of which only the inner products are known.
"""

from __future__ import annotations

from math import inf, isfinite, sqrt
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils import gen_batches
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by
from .._linalg import aligned_slices, row_slices
from .._types import Any, Array
from ..kernels import kernel_of
from ..losses import SquaredError
from ._loss import TARGET_LOSSES, LossOfTargets, WithLoss
from ._one_kernel import AllRows
from ._regressor import OnlineRegressor

_BLOCK = 64  # rows learnt at once
_LEAST = 1e-100  # factors below are multiplied out, before a quotient by them overflows
_TILE = 4096  # stored rows met at once: bounds the memory for kernel values


class GradientSteps(WithLoss):
    r"""What is descended, and how far: flat parameters of gradient descent in a ball.

    Parameters
    ----------
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`.
    power_t : float, default=0.5
        Exponent p >= 0 of the decay; 0 keeps the step constant.
    radius : float, default=None
        U > 0, radius of the ball that the function is projected onto after each step: its norm in
        the RKHS, or that of its coefficients of random features. None does not project.
    """

    _parameter_constraints = {  # besides those of the loss
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
    }

    def _step_sizes(self, t, n):
        """Return those of the n rounds after t."""
        return self.eta0 / np.arange(t + 1.0, t + n + 1) ** self.power_t

    def _learn_features(self, state, Z, y):
        """Learn a block of features Z (n, D), which theta weighs; return forecasts."""
        etas = self._step_sizes(state["t"], len(y))
        state["theta"], learnt = descend_features(
            Z, state["theta"], y, self._loss(), etas, self.radius
        )
        state["t"] += len(y)
        return learnt.forecasts


class ExactDescentRegressor(LossOfTargets, AllRows, GradientSteps, OnlineRegressor):
    r"""Gradient descent in the RKHS of a kernel: a coefficient for every row of the past.

    Parameters
    ----------
    adaptive : bool, default=False
        Whether to take in place of `eta0` and `power_t` the steps
        :math:`\eta_t = U / \sqrt{1 + \sum_{s \le t} \ell'(\hat y_s)^2 k(x_s, x_s)}`,
        this round's gradient included. They need a `radius`.

    Attributes
    ----------
    dual_coef_ : ndarray of shape (n_samples_seen,)
        Coefficient of each row learnt.
    """

    _parameter_constraints = {
        **AllRows._parameter_constraints,
        **GradientSteps._parameter_constraints,
        **TARGET_LOSSES,
        "adaptive": ["boolean"],
    }

    def __init__(
        self,
        kernel: Any = "rbf",
        gamma: float | None = None,
        *,
        degree: int = 3,
        coef0: float = 1.0,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        eta0: float = 0.1,
        power_t: float = 0.5,
        radius: float | None = None,
        adaptive: bool = False,
    ) -> None:
        super().__init__(kernel, gamma, degree=degree, coef0=coef0)
        self.loss = loss
        self.quantile = quantile
        self.eta0 = eta0
        self.power_t = power_t
        self.radius = radius
        self.adaptive = adaptive

    @property
    def dual_coef_(self) -> Array:
        """Coefficient of each row learnt, of shape (n_samples_seen,)."""
        return self._fitted_state("dual_coef_")["coef"].copy()

    def _validate(self):
        super()._validate()
        if self.adaptive and self.radius is None:
            raise ValueError(
                "The adaptive steps are proportional to the radius of a ball: give 'radius', or "
                "set adaptive=False."
            )

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "rows": np.empty((0, n_features)),
            "coef": np.empty(0),
            "norm_sq": 0.0,  # squared norm of f
            "gradients_sq": 0.0,  # sum of the squared norms of all gradients
        }

    def _learn(self, state, X, y):
        kernel, loss, start, n = kernel_of(self), self._loss(), state["t"], len(y)
        rows = np.concatenate([state["rows"], X])
        coef = np.concatenate([state["coef"], np.zeros(n)])
        forecasts = np.empty(n)
        for block in aligned_slices(start, n, _BLOCK):
            past, end = start + block.start, start + block.stop
            learnt = descend(
                kernel(X[block], X[block]),
                values_of(kernel, X[block], rows[:past], coef[:past]),
                y[block],
                loss,
                None if self.adaptive else self._step_sizes(past, end - past),
                self.radius,
                state["norm_sq"],
                state["gradients_sq"],
            )
            forecasts[block], coef[past:end] = learnt.forecasts, learnt.coef
            coef[:past] *= learnt.left
            state.update(norm_sq=learnt.norm_sq, gradients_sq=learnt.gradients_sq)
        state.update(t=start + n, rows=rows, coef=coef)
        return forecasts

    def _forecast(self, state, X):
        kernel, forecasts = kernel_of(self), np.empty(len(X))
        for block in gen_batches(len(X), _BLOCK):
            forecasts[block] = values_of(kernel, X[block], state["rows"], state["coef"])
        return forecasts


class SecondOrderSteps:
    r"""What online Newton steps start from and are bounded by: flat parameters.

    Parameters
    ----------
    mu : float, default=1.0
        Start :math:`A = \mu I`, > 0, of the matrix whose inverse the steps are taken by; the
        experiments of Li and Liao (2023) try 1, 5 and 15.
    radius : float, default=1.0
        Bound > 0 of the forecasts, in units of the targets. The theorem, where there is one, wants
        it to bound the targets too.
    """

    _parameter_constraints = {
        "mu": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 1e-100, None, closed="left")],  # its square is a number
    }
    _structural = ("mu",)


class Descended(NamedTuple):
    """What a block of n rounds of gradient descent did; see `descend`.

    Attributes
    ----------
    forecasts : ndarray of shape (n,) or (n, q)
        Of each row, made before its target.
    coef : ndarray of shape (n,) or (n, q)
        What the block adds to the function, in terms of its rows' features; 0 for a slope of 0.
    left : float or ndarray of shape (q,)
        What the ball leaves of the function before the block.
    norm_sq : float or ndarray of shape (q,)
        Squared norm of the function after the block.
    gradients_sq : float or ndarray of shape (q,)
        Sum of the squared norms of all gradients.
    """

    forecasts: np.ndarray
    coef: np.ndarray
    left: float | np.ndarray
    norm_sq: float | np.ndarray
    gradients_sq: float | np.ndarray


def descend(gram, before, y, loss, etas, radius, norm_sq, gradients_sq=0.0):
    r"""Step along a block of rows, given what their inner products say of the function at them.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Inner products of the rows' features.
    before : ndarray of shape (n,)
        Forecasts by the function before the block.
    y : ndarray of shape (n,)
    loss : Loss
    etas : ndarray of shape (n,) or None
        Step sizes. None takes :math:`U / \sqrt{1 + \sum_s \|\nabla_s\|^2}`, with the radius U and
        all gradients so far, this round's included.
    radius : float or None
        Of the ball; None does not project.
    norm_sq, gradients_sq : float
        Squared norm of the function before the block, sum of all squared gradients' norms.

    Returns
    -------
    Descended
    """
    squared = type(loss) is SquaredError  # an heir may have another slope
    if squared and radius is None:
        forecasts, coef = solve_block(gram, before, y, 2.0 * etas)
        sizes, slopes = np.diagonal(gram), 2.0 * (forecasts - y)
        norm_sq += float(2.0 * coef @ forecasts + coef**2 @ sizes)
        return Descended(forecasts, coef, 1.0, norm_sq, gradients_sq + float(slopes**2 @ sizes))
    # The function is left (kept f_0 + sum_s coef_s phi_s): a projection scales one number.
    forecasts, coef, kept, left = np.empty(len(y)), np.zeros(len(y)), 1.0, 1.0
    ball = inf if radius is None else radius * radius
    given = [0.0] * len(y) if etas is None else etas.tolist()
    rounds = zip(y.tolist(), before.tolist(), np.diagonal(gram).tolist(), given, strict=True)
    for t, (target, start, size, eta) in enumerate(rounds):
        forecast = left * (kept * start + float(gram[t, :t].dot(coef[:t])))
        forecasts[t] = forecast
        # a call of NumPy per row would take as long as all the rest
        slope = 2.0 * (forecast - target) if squared else float(loss.slope(target, forecast))
        gradients_sq += slope * slope * size
        if etas is None:
            eta = radius / sqrt(1.0 + gradients_sq)
        step = -eta * slope
        coef[t] = step / left
        norm_sq = max(norm_sq + step * (2.0 * forecast + step * size), 0.0)
        if norm_sq > ball:
            # nan where the norm overflowed, which is refused, not projected to 0
            left *= radius / sqrt(norm_sq) + (norm_sq - norm_sq)
            norm_sq = ball
            if left < _LEAST:
                coef *= left
                kept, left = kept * left, 1.0
    coef *= left
    left *= kept
    if not isfinite(gradients_sq):
        forecasts[-1] = np.nan  # an overflow is refused, not learnt as steps of 0
    return Descended(forecasts, coef, left, norm_sq, gradients_sq)


@explained_by(descend)
def descend_columns(gram, before, Y, loss, etas, radius, norms_sq):
    """Step as `descend` does, for q functions of the same features, a column of targets each.

    One loop over the rows serves all columns.

    Parameters
    ----------
    before, Y : ndarray of shape (n, q)
    etas : ndarray of shape (n,)
    radius : float or None
        Of the ball of each function.
    norms_sq : ndarray of shape (q,)
        Squared norms of the functions before the block.
    """
    forecasts, coef = np.empty(Y.shape), np.zeros(Y.shape)
    q = Y.shape[1]
    # each function is left * (kept * f_0 + sum_s coef_s phi_s)
    kept, left, gradients_sq = np.ones(q), np.ones(q), np.zeros(q)
    sizes = np.diagonal(gram).tolist()
    for t, (size, eta) in enumerate(zip(sizes, etas.tolist(), strict=True)):
        forecasts[t] = left * (kept * before[t] + gram[t, :t] @ coef[:t])
        slopes = loss.slope(Y[t], forecasts[t])
        gradients_sq += slopes * slopes * size
        steps = -eta * slopes
        coef[t] = steps / left
        norms_sq = np.maximum(norms_sq + steps * (2.0 * forecasts[t] + steps * size), 0.0)
        if radius is None:
            continue
        outside = norms_sq > radius * radius
        # nan where the norm overflowed, which is refused, not projected to 0
        left[outside] *= radius / np.sqrt(norms_sq[outside]) + (norms_sq - norms_sq)[outside]
        norms_sq[outside] = radius * radius
        tiny = left < _LEAST
        if tiny.any():
            factors = np.where(tiny, left, 1.0)
            coef *= factors
            kept *= factors
            left[tiny] = 1.0
    coef *= left
    left *= kept
    forecasts[-1] += gradients_sq - gradients_sq  # an overflow is refused, not learnt as steps of 0
    return Descended(forecasts, coef, left, norms_sq, gradients_sq)


@explained_by(descend)
def descend_features(Z, theta, y, loss, etas, radius, gradients_sq=0.0):
    """Step along rows of features Z (n, D), which theta (D,), or (q, D) for columns of y, weighs.

    Returns
    -------
    theta : ndarray of shape (D,) or (q, D)
        The new weights.
    learnt : Descended
    """
    if theta.ndim == 2:
        norms_sq = np.einsum("qd,qd->q", theta, theta)
        learnt = descend_columns(Z @ Z.T, Z @ theta.T, y, loss, etas, radius, norms_sq)
        return learnt.left[:, None] * theta + learnt.coef.T @ Z, learnt
    learnt = descend(Z @ Z.T, Z @ theta, y, loss, etas, radius, float(theta @ theta), gradients_sq)
    return learnt.left * theta + learnt.coef @ Z, learnt


@explained_by(descend)
def solve_block(gram, before, y, steps):
    """Step n times at once: each new coefficient is -steps_t (forecast_t - y_t).

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel of the block's rows.
    steps : ndarray of shape (n,)

    Returns
    -------
    forecasts : ndarray of shape (n,)
    coef : ndarray of shape (n,)
    """
    taught = np.tril(gram, -1) * steps
    errors = solve_triangular(
        taught, before - y, lower=True, unit_diagonal=True, check_finite=False
    )
    # Not y + errors, its equal on paper: a target of 1e8 would wipe out its own forecast.
    return before - taught @ errors, -steps * errors


def values_of(kernel, X, rows, coef):
    """Return f at the rows of X (n, d), for f = sum_s coef_s k(rows_s, .)."""
    values = np.zeros(len(X))
    for tile in row_slices(len(rows), _TILE):
        values += kernel(X, rows[tile]) @ coef[tile]
    return values
