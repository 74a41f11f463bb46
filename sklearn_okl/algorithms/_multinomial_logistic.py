r"""Improper logistic regression of any number of classes, with a proof of its own.

R. Jézéquel, P. Gaillard, A. Rudi (2020) regularise by the losses of both labels of the row that is
forecast, which does not extend to more classes: with the losses of all labels the proof breaks. N.
Agarwal, S. Kale, J. Zimmert, "Efficient methods for online multiclass logistic regression" (2022)
have an algorithm, FOLKLORE, with a bound of the order of the one here. Its recursion was not at
hand, so this one may be another.

Notation. Logits z = W x of a row, p their softmax, H(p) = diag(p) - p p', the curvature of the log
loss l(z, y). F is the sum of the surrogates so far and the penalty, A its Hessian, W~ its minimiser
and m its least value; S (C x C) is what A^-1 says of the row, x standing in each class's block.

The surrogate. Let q be the softmax of a rival's logits z, and p that of the forecast z^. Then
l(z, y) - l(z^, y) - (p - e_y)'(z - z^) = KL(p || q), and the variance of z - z^ under p is that of
r = ln(p / q). KL(p || q) is the mean of h(r) = exp(-r) - 1 + r, as exp(-r) has the mean 1, and
h(r) / r^2 falls with r. If no two logits of the rival are further apart than D, no q is less than
exp(-mu), mu = ln(1 + (C - 1) exp(D)), hence r <= mu, and KL(p || q) >= h(mu) / mu^2 times the
variance: the quadratic of curvature c H(p), c = 2 h(mu) / mu^2 >= 1 / (1 + mu / 2), lies below the
loss.

The forecast. With d = W~ x - z^, the least value m grows by the loss of the forecast plus the least
of (z - W~ x)' S^-1 (z - W~ x) / 2 + (p - e_y)'(z - z^) and a square, so that the loss less the
growth is at most (e_y - p)' d + (p - e_y)' S (p - e_y) / 2. The mean of that over labels drawn from
p is tr(H(p) S) / 2, whatever d. It is the same for all labels if d = S p - diag(S) / 2: this is the
equation of the forecast. So the loss is at most the growth plus tr(H(p) S) / 2.

The sum. With M = c H(p), tr(M S) <= rho / ln(1 + rho) times ln det(I + M S), which is what ln det A
grows by, as no eigenvalue of M S is above rho = c R^2 / (4 lambda). In the end m is at most what
the surrogates, hence the losses, and the penalty are for any rival.
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._linalg import inverse_spd, softmax
from .._types import Array
from ..base import OnlineMulticlassClassifier
from ..base._intercept import WithIntercept
from ._improper_logistic import AIOLIClassifier

_MOST_STEPS = 50  # of Newton's method
_PRECISION = 1e-28  # of the value, in which the step is squared
_ROUGH, _COOLING = 1e-3, 4.0  # at temperatures above 1, and how fast they fall
_MOST_COOLINGS = 16  # faster where it would take more
_NEAR = 1e-9  # of the value: nearer its minimum whole steps are safe, and rounding hides descent
_SHARE = 1e-4  # of what the slope promises, that a step must bring
_REBUILD = 4096  # rounds between two rebuilds of the inverse from the exact sum
_GAIN_LIMIT = 1e5  # a row that shrinks it more than this costs five digits


def equalised(raw, S):
    """Return the probabilities p of a row: p = softmax(raw + diag(S) / 2 - S p).

    They are found at a temperature that is as large as the numbers at first, and then cooled to 1:
    where S is large, the first guess is far from them.

    Parameters
    ----------
    raw : ndarray of shape (C,)
        The logits by the surrogates of the past.
    S : ndarray of shape (C, C)
        What the inverse of their Hessian says of the row.

    Returns
    -------
    logits : ndarray of shape (C,)
    p : ndarray of shape (C,)
    """
    a, p = raw + 0.5 * S.diagonal(), np.full(len(raw), 1.0 / len(raw))
    temperature = max(1.0, float(S.diagonal().max()), float(np.ptp(raw)))
    cooling = max(_COOLING, temperature ** (1.0 / _MOST_COOLINGS))
    while temperature > 1.0:
        p = _minimise(a / temperature, S / temperature, p, _ROUGH)
        temperature = max(1.0, temperature / cooling)
    z = a - S @ _minimise(a, S, p, _PRECISION)
    return z, softmax(z)


def _minimise(a, S, w, precision):
    """Return the minimiser w = softmax(a - S w) of lse(a - S w) + w' S w / 2 by Newton's method."""

    def value_at(w):
        z = a - S @ w
        top = z.max()
        return top + np.log(np.exp(z - top).sum()) + 0.5 * (w @ S @ w)

    for _ in range(_MOST_STEPS):
        p, value = softmax(a - S @ w), value_at(w)
        curve = p[:, None] * (S - p @ S)  # H(p) S
        curve[np.diag_indices_from(curve)] += 1.0
        step = np.linalg.solve(curve, p - w)
        descent = (p - w) @ S @ step
        if not descent > precision * (1.0 + abs(value)):
            break
        rate = 1.0
        while descent > _NEAR * (1.0 + abs(value)) and rate > _NEAR:
            if value_at(w + rate * step) <= value - _SHARE * rate * descent:
                break
            rate *= 0.5
        w = w + rate * step
    return w


class _EqualisedSteps(WithIntercept, OnlineMulticlassClassifier):
    r"""The rounds: what the past says of a row, the equation of the forecast, the surrogate.

    Parameters
    ----------
    alpha : float, default=1.0
        Ridge penalty :math:`\lambda` > 0, in squared units of the features.
    radius : float, default=5.0
        The most D > 0 that the logits of two classes are apart, by the rivals in the theorem: the
        log-odds of one against the other. It does not bound the forecasts. The larger, the flatter
        the surrogates.

    Attributes
    ----------
    coef_ : ndarray of shape (n_classes, n_features)
        The minimiser W, without the correction.
    """

    _parameter_constraints = {
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "radius": [Interval(Real, 0, None, closed="neither")],
        **WithIntercept._parameter_constraints,
    }
    _structural = ("alpha",)

    @property
    def coef_(self) -> Array:
        """The minimiser W, of shape (n_classes, n_features)."""
        return self._as_taught()._slopes(self._coefficients(self._fitted_state("coef_")))

    def _coefficients(self, state):
        return state["W"]

    def _start(self, n_features, n_targets=None):
        n_features = self._width(n_features)
        size, ridge = self._n_places * n_features, 2.0 * self.alpha  # the Hessian of the penalty
        return {
            "t": 0,
            "W": np.zeros((self._n_places, n_features)),
            "A": ridge * np.eye(size),
            "P": np.eye(size) / ridge,
        }

    def _learn(self, state, X, y):
        probabilities = np.empty((len(y), self._n_places))
        share = curvature(self.radius, self._n_places)
        for t, (x, label) in enumerate(zip(self._design(X), y.tolist(), strict=True)):
            U, S = _of_row(state["P"], x)
            raw = state["W"] @ x
            z, p = equalised(raw, S)
            probabilities[t] = p
            _update(state, x, label, p, raw - z, U, S, share)
        return probabilities

    def _forecast(self, state, X):
        X = self._design(X)
        logits = X @ state["W"].T
        rows = [
            equalised(raw, _of_row(state["P"], x)[1])[1] for raw, x in zip(logits, X, strict=True)
        ]
        return np.array(rows).reshape(len(X), self._n_places)


@inherit_documentation
@explained_by(AIOLIClassifier)
class ImproperLogisticClassifier(_EqualisedSteps):
    r"""Online logistic regression of many classes, of logarithmic regret without large constants.

    Round t has the probabilities :math:`p_t` and logits :math:`z_t` that solve

    .. math:: p_t = \mathrm{softmax}(z_t), \qquad
              z_t = W_t x_t + \tfrac12 \mathrm{diag}(S_t) - S_t p_t ,

    where :math:`W_t` minimises :math:`\sum_{s<t} \hat\ell_s(W) + \lambda \|W\|^2` and
    :math:`S_t` is what the inverse of its Hessian A says of the row, a number for each two classes.
    The correction makes all labels equally bad for the forecast. The surrogates
    :math:`\hat\ell_s` are quadratics that touch the log loss at :math:`z_s` and lie below it where
    no two logits are further apart than `radius`; their curvature is c times that of the loss.

    See Also
    --------
    AIOLIClassifier : For two classes, after its paper, with blocks of rows.
    OnlineKernelClassifier : Kernels, without tuning.

    Notes
    -----
    *Cost.* :math:`O(C^3 D^2)` per round for D features and C classes, row by row: an update of rank
    C of the inverse of A, :math:`C^2 D^2` numbers. Each call copies it.

    *Theorem.* Let :math:`\mu = \ln(1 + (C - 1) e^D)`, :math:`c = 2 (e^{-\mu} - 1 + \mu) / \mu^2`
    and :math:`\rho = c R^2 / (4 \lambda)` for rows of norm at most R. Against any W whose logits of
    two classes are never further apart than `radius`, with n features,

    .. math:: \sum_t \ell(z_t, y_t) - \sum_t \ell(W x_t, y_t) \le \lambda \|W\|^2 + \frac{\rho}
              {2 c \ln(1 + \rho)} \, n (C - 1) \ln \Bigl( 1 + \frac{c R^2 T}{2 \lambda n C} \Bigr) ,

    and :math:`1 / c \le 1 + \mu / 2`: no factor is exponential in D. The proof stands at the top of
    the source. [2]_ have a bound of the same order, and [1]_ one for two classes.

    *Departures.* The algorithm is of no paper; it is in the manner of [1]_.

    *Numerics.*

    *Features.*

    References
    ----------
    .. [1] Jézéquel et al. 2020.
    .. [2] N. Agarwal, S. Kale, J. Zimmert, "Efficient methods for online multiclass logistic
       regression", Algorithmic Learning Theory (ALT), 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import shuffle
    >>> from sklearn_okl import ImproperLogisticClassifier
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> labels = ImproperLogisticClassifier(alpha=0.1).prequential_predict(X, y)
    >>> bool((labels == y)[75:].mean() > 0.9)
    True
    """

    def __init__(
        self, alpha: float = 1.0, *, radius: float = 5.0, fit_intercept: bool = False
    ) -> None:
        self.alpha = alpha
        self.radius = radius
        self.fit_intercept = fit_intercept


def curvature(radius, n_classes):
    """Return the share c of the curvature of the log loss that its surrogates have."""
    mu = np.logaddexp(0.0, np.log(n_classes - 1) + radius)
    return 2.0 * (np.expm1(-mu) + mu) / mu**2


def _of_row(P, x):
    """Return P times x in each class's block (C d, C), and what P says of the row (C, C)."""
    d = len(x)
    n_classes = len(P) // d
    U = P.reshape(len(P), n_classes, d) @ x
    S = U.reshape(n_classes, d, n_classes).swapaxes(1, 2) @ x
    return U, 0.5 * (S + S.T)


def _update(state, x, label, p, distance, U, S, share):
    """Learn the surrogate of a row; `distance` is from the forecast's logits to the past's."""
    root = np.sqrt(p)
    L = np.sqrt(share) * (np.diag(root) - np.outer(p, root))  # L L' is the curvature
    slope = p + L @ (L.T @ distance)  # of the surrogate, where the past has its minimum
    slope[label] -= 1.0
    inner = L.T @ S @ L
    inner[np.diag_indices_from(inner)] += 1.0
    factor = np.linalg.cholesky(inner)
    V = np.linalg.solve(factor, (U @ L).T)  # (C, C d)
    moved = U @ slope - V.T @ np.linalg.solve(factor, L.T @ (S @ slope))
    state["W"] = state["W"] - moved.reshape(state["W"].shape)
    d, n_classes = len(x), len(p)
    places = state["A"].reshape(n_classes, d, n_classes, d)
    places += np.einsum("kl,i,j->kilj", L @ L.T, x, x)
    P = state["P"] - V.T @ V
    state["t"] += 1
    if state["t"] % _REBUILD == 0 or factor.diagonal().max() ** 2 > _GAIN_LIMIT:
        P = inverse_spd(state["A"], 0.0)
    state["P"] = P
