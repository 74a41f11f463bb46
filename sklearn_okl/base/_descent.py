r"""Gradient descent of a function of a Hilbert space, on nothing but inner products.

A round steps against the slope of the loss along the features of its row, and projects onto a ball,
where there is one:

.. math:: \bar f_{t+1} = f_t - \eta_t \ell'(\hat y_t) \varphi_t , \qquad
          f_{t+1} = \min\{1, U / \|\bar f_{t+1}\|\} \bar f_{t+1} .

The features may be those of a kernel, of which only the inner products are known.
"""

from math import isfinite, sqrt
from numbers import Real
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.utils._param_validation import Interval, StrOptions

from ..losses import SquaredError, get_loss

CLASS_LOSSES = {"loss": [StrOptions({"log_loss", "hinge", "squared_hinge"})]}


class GradientSteps:
    r"""What is descended and how far: flat parameters of gradient descent in a ball.

    Parameters
    ----------
    loss : {"squared_error", "absolute_error", "pinball"}, default="squared_error"
        What is descended, see :func:`sklearn_okl.losses.get_loss`. The square loss has no factor
        1/2: its slope is :math:`2 (\hat y - y)`.
    quantile : float, default=0.5
        Level of the pinball loss, strictly between 0 and 1. Other losses do not read it.
    eta0 : float, default=0.1
        First step size, > 0, of :math:`\eta_t = \eta_0 / t^p`.
    power_t : float, default=0.5
        Exponent p >= 0 of the decay; 0 keeps the step constant.
    radius : float, default=None
        U > 0, radius of the ball that the function is projected onto after each step: its norm in
        the RKHS, or that of its coefficients of random features. None does not project.
    """

    _parameter_constraints = {
        "loss": [StrOptions({"squared_error", "absolute_error", "pinball"})],
        "quantile": [Interval(Real, 0, 1, closed="neither")],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "power_t": [Interval(Real, 0, None, closed="left")],
        "radius": [Interval(Real, 0, None, closed="neither"), None],
    }

    def _loss(self):
        return get_loss(self.loss, getattr(self, "quantile", 0.5))  # classifiers have none

    def _step_sizes(self, t, n):
        """Return those of the n rounds after t."""
        return self.eta0 / np.arange(t + 1.0, t + n + 1) ** self.power_t


class Descended(NamedTuple):
    """What a block of n rounds of gradient descent did; see `descend`.

    Attributes
    ----------
    forecasts : ndarray of shape (n,)
        Of each row, made before its target.
    coef : ndarray of shape (n,)
        What the block adds to the function, in terms of its rows' features; 0 for a slope of 0.
    left : float
        What the ball leaves of the function before the block.
    norm_sq : float
        Squared norm of the function after the block.
    gradients_sq : float
        Sum of the squared norms of all gradients.
    """

    forecasts: np.ndarray
    coef: np.ndarray
    left: float
    norm_sq: float
    gradients_sq: float


def descend(gram, before, y, loss, etas, radius, norm_sq, gradients_sq=0.0):
    r"""Step along a block of rows, given what their inner products say of the function at them.

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Inner products of the rows' features.
    before : ndarray of shape (n,)
        Forecasts by the function before the block.
    y : ndarray of shape (n,)
    loss : object
        With a slope, see `sklearn_okl.losses`.
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
    if radius is None and isinstance(loss, SquaredError):
        forecasts, coef = solve_block(gram, before, y, 2.0 * etas)
        sizes, slopes = np.diagonal(gram), 2.0 * (forecasts - y)
        norm_sq += float(2.0 * coef @ forecasts + coef**2 @ sizes)
        return Descended(forecasts, coef, 1.0, norm_sq, gradients_sq + float(slopes**2 @ sizes))
    forecasts, coef, left = np.empty(len(y)), np.zeros(len(y)), 1.0
    given = [0.0] * len(y) if etas is None else etas.tolist()
    rounds = zip(y.tolist(), before.tolist(), np.diagonal(gram).tolist(), given, strict=True)
    for t, (target, start, size, eta) in enumerate(rounds):
        forecasts[t] = forecast = left * start + float(gram[t, :t].dot(coef[:t]))
        slope = float(loss.slope(target, forecast))
        gradients_sq += slope * slope * size
        if etas is None:
            eta = radius / sqrt(1.0 + gradients_sq)
        coef[t] = step = -eta * slope
        norm_sq = max(norm_sq + step * (2.0 * forecast + step * size), 0.0)
        if radius is not None and norm_sq > radius * radius:
            # nan where the norm overflowed, which is refused, not projected to 0
            shrink = radius / sqrt(norm_sq) + (norm_sq - norm_sq)
            left *= shrink
            coef[: t + 1] *= shrink
            norm_sq = radius * radius
    if not isfinite(gradients_sq):
        forecasts[-1] = np.nan  # an overflow is refused, not learnt as steps of 0
    return Descended(forecasts, coef, left, norm_sq, gradients_sq)


def descend_features(Z, theta, y, loss, etas, radius, gradients_sq=0.0):
    """Step along rows of features Z (n, D), which theta (D,) weighs.

    Returns
    -------
    theta : ndarray of shape (D,)
        The new weights.
    learnt : Descended
    """
    learnt = descend(Z @ Z.T, Z @ theta, y, loss, etas, radius, float(theta @ theta), gradients_sq)
    return learnt.left * theta + learnt.coef @ Z, learnt


def solve_block(gram, before, y, steps):
    """Step n times at once: each new coefficient is -steps_t (forecast_t - y_t).

    Parameters
    ----------
    gram : ndarray of shape (n, n)
        Kernel of the block's rows.
    before : ndarray of shape (n,)
        Forecasts by the function before the block.
    y : ndarray of shape (n,)
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
