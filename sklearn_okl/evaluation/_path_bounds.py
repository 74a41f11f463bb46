"""Bounds of the regret against paths of comparators, and on intervals of rounds.

All are for sums of squared errors without the factor one half.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array, check_consistent_length, check_scalar

from .._documentation import cites, explained_by
from .._types import Any, Array, ArrayLike
from ..learners import DiscountedVAWRegressor
from ..meta import StronglyAdaptiveRegressor
from ..meta._covering import covering, log_prior_of
from ._bounds import (
    _check_count,
    _check_non_negative,
    _check_positive,
    _plain,
    vaw_logdet_bound,
    vaw_regret_bound,
)
from ._comparators import ridge_comparator
from ._paths import dynamic_regret


@cites
@explained_by(vaw_logdet_bound, dynamic_regret, ridge_comparator)
def discounted_vaw_path_bound(
    X: ArrayLike,
    y: ArrayLike,
    path: ArrayLike,
    *,
    forgetting: float,
    alpha: float = 1.0,
    hints: ArrayLike | None = None,
    birth: int = 0,
) -> Array:
    r"""Bound the regret of discounted VAW against a path, on given rows and targets.

    .. math:: \gamma \alpha \|u_1\|^2 + \sum_t (y_t - h_t)^2 \ln(1 + l_t)
              + \gamma \sum_{t<T} \bigl( F_t(u_{t+1}) - F_t(u_t) \bigr)
              + (1 - \gamma^m) \alpha \sum_{m | t} \|u_t\|^2 ,

    with the letters of :class:`~sklearn_okl.DiscountedVAWRegressor`, and m the rounds after which
    it puts the ridge back.

    Parameters
    ----------
    forgetting : float, in (0, 1]
        The discount.
    hints : array-like of shape (n_samples,), default=None
        Hints that were given. None: 0.
    birth : int, default=0
        Rounds at first in which the discount is 1, as for members of
        :class:`~sklearn_okl.DiscountedVAWAARegressor`; the discount of round t + 1 then stands
        before the difference of :math:`F_t`.

    Notes
    -----
    Cost O(n d^2). The proof: the squared error is the growth of the least objective of discounted
    ridge regression, plus the share of the hint times :math:`(y_t - h_t)^2`, less a square; the
    share is at most :math:`\ln(1 + l_t)`.

    References
    ----------
    Jacobsen & Cutkosky 2024, Theorem 3.1 and its proof.

    Examples
    --------
    >>> from sklearn_okl.evaluation import discounted_vaw_path_bound
    >>> discounted_vaw_path_bound([[1.0]] * 3, [1.0] * 3, [[1.0]] * 3, forgetting=0.5).round(3)
    array([1.599, 2.446, 3.208])
    """
    X, path = check_array(X, dtype=np.float64), check_array(path, dtype=np.float64)
    y = check_array(y, dtype=np.float64, ensure_2d=False)
    hints = np.zeros(len(y)) if hints is None else check_array(hints, ensure_2d=False)
    check_consistent_length(X, y, hints)
    if X.shape != path.shape:
        raise ValueError(
            f"path has shape {path.shape}, X {X.shape}: give a comparator for each row."
        )
    _check_positive(alpha=alpha)
    check_scalar(birth, "birth", Integral, min_val=0)
    every = _refresh(forgetting)
    n, d = X.shape
    A, b, bounds = alpha * np.eye(d), np.zeros(d), np.empty(n)
    discounts = np.where(np.arange(n + 1) < birth, 1.0, forgetting)
    bound = discounts[0] * alpha * path[0] @ path[0]
    for t, x in enumerate(X):
        A, b = discounts[t] * A, discounts[t] * b
        leverage = max(float(x @ np.linalg.solve(A, x)), 0.0)
        bound += (y[t] - hints[t]) ** 2 * np.log1p(leverage)
        A, b = A + np.outer(x, x), b + y[t] * x
        if discounts[t] < 1.0 and (t + 1) % every == 0:
            lost = (1.0 - forgetting**every) * alpha
            A += lost * np.eye(d)
            bound += lost * path[t] @ path[t]
        bounds[t] = bound
        if t + 1 < n:
            step, middle = path[t + 1] - path[t], path[t + 1] + path[t]
            bound += discounts[t + 1] * step @ (A @ middle - 2.0 * b)
    return bounds


def _refresh(forgetting):
    """Return after how many rounds the ridge that was lost is put back."""
    check_scalar(forgetting, "forgetting", Real, min_val=0, max_val=1, include_boundaries="right")
    return DiscountedVAWRegressor(forgetting=forgetting)._refresh_interval()


@explained_by(vaw_regret_bound, discounted_vaw_path_bound)
def discounted_vaw_regret_bound(
    horizon: int | ArrayLike,
    *,
    n_features: int,
    y_bound: float,
    feature_bound: float,
    forgetting: float,
    alpha: float = 1.0,
    norm_sq: float | ArrayLike = 0.0,
    variation: float | ArrayLike = 0.0,
) -> Any:
    r"""Bound the regret of discounted VAW against a path, whatever the rows.

    .. math:: \bigl( \gamma + (1 - \gamma^m) \lfloor T / m \rfloor \bigr) \alpha B^2 + d\,Y^2 \ln
        \Bigl( 1 + \frac{\rho^2}{\alpha d} \sum_{t<T} \gamma^t \Bigr)
        + d\,Y^2\,T \ln\frac1\gamma + \gamma V ,

    with Y a bound of the absolute differences of targets and hints, and :math:`B^2` the largest
    squared norm on the path.

    Parameters
    ----------
    variation : float or array-like, default=0.0
        :math:`V = \sum_{t<T} F_t(u_{t+1}) - F_t(u_t)`, 0 for a comparator that does not move.

    Notes
    -----
    With :math:`\sum_t (y_t - h_t)^2` in place of :math:`Y^2 T`, as it is sometimes written, the
    third term is too small: rows of 0, whose targets are their hints, let the past fade and cost
    nothing. The documentation's page on findings has such a stream.

    Examples
    --------
    >>> from sklearn_okl.evaluation import discounted_vaw_regret_bound
    >>> scales = {"n_features": 2, "y_bound": 1.0, "feature_bound": 1.0}
    >>> round(discounted_vaw_regret_bound(100, forgetting=0.99, **scales), 3)
    8.985
    """
    _check_count(n_features=n_features)
    _check_positive(y_bound=y_bound, feature_bound=feature_bound, alpha=alpha)
    every = _refresh(forgetting)
    horizon, norm_sq, variation = _check_non_negative(
        horizon=horizon, norm_sq=norm_sq, variation=variation
    )
    if forgetting < 1.0:
        rounds = (1.0 - forgetting**horizon) / (1.0 - forgetting)
        back = (1.0 - forgetting**every) * np.floor(horizon / every)
    else:
        rounds, back = horizon, 0.0
    growth = np.log1p(feature_bound**2 * rounds / (alpha * n_features))
    logs = n_features * y_bound**2 * (growth - horizon * np.log(forgetting))
    return _plain((forgetting + back) * alpha * norm_sq + logs + forgetting * variation)


@cites
def discounted_vaw_aa_regret_bound(
    memory: int, *, width: float, is_range_known: bool = False, first_loss: float = 0.0
) -> float:
    r"""Bound the regret of the grid of discounts against one of its members.

    .. math:: \tfrac12 r^2 \Bigl( \ln\frac1{\pi_k} + \ln\frac1{\pi_0} + 6 \Bigr) + \ell_1 ,

    of which the second logarithm falls away for the member that forgets nothing.

    Parameters
    ----------
    memory : int
        i for the discount :math:`1 - 2^{-i}`; 0 for the member that forgets nothing.
    width : float
        Range r of the targets, high less low, in the unit of y.
    is_range_known : bool, default=False
        Whether it was given as `y_range`; the 6 is then not there.
    first_loss : float, default=0.0
        Squared error of the first forecast, which counts apart where the range is not known.

    Returns
    -------
    most : float
        In the unit of y squared.

    Raises
    ------
    ValueError or TypeError
        If a number is out of its range.

    References
    ----------
    Jacobsen & Cutkosky 2024, section 4, for the grid; Chernov & Vovk 2009, for members
    that come later.

    Examples
    --------
    >>> from sklearn_okl.evaluation import discounted_vaw_aa_regret_bound
    >>> round(discounted_vaw_aa_regret_bound(3, width=1.0), 3)
    5.047
    """
    check_scalar(memory, "memory", Integral, min_val=0)
    _check_positive(width=width)
    k = memory + 1 if memory else 0
    logs = np.log((k + 1.0) * (k + 2.0)) + (np.log(2.0) if memory else 0.0)
    return _of_mixing(logs, width, is_range_known) + first_loss


@explained_by(discounted_vaw_aa_regret_bound, StronglyAdaptiveRegressor)
def strongly_adaptive_regret_bound(
    start: int,
    stop: int,
    *,
    width: float,
    min_length: int = 16,
    is_range_known: bool = False,
) -> float:
    r"""Bound what `StronglyAdaptiveRegressor` loses on an interval against copies begun in it.

    The interval is cut into those of the cover. Each costs :math:`\tfrac12 r^2 \ln(1 / \pi)` by the
    prior of its copy, and r² for its first round, in which the copy knows nothing; so does each
    round at the ends that no interval of the cover has.

    Parameters
    ----------
    start, stop : int
        The rounds, counted from 0, the first one and the one after the last.

    Raises
    ------
    TypeError, ValueError
        For a round that is no whole number, or numbers out of range.

    References
    ----------
    Daniely et al. 2015, Lemma 1.2, for the cover.

    Examples
    --------
    >>> from sklearn_okl.evaluation import strongly_adaptive_regret_bound
    >>> round(strongly_adaptive_regret_bound(256, 512, width=1.0), 1)
    27.1
    """
    check_scalar(start, "start", Integral, min_val=0)
    check_scalar(stop, "stop", Integral, min_val=start + 1)
    _check_positive(width=width)
    pieces, n_left = covering(start, stop, min_length)
    logs = sum(-log_prior_of(first) for first, _ in pieces)
    free = n_left + len(pieces)  # rounds that are lost whole
    return _of_mixing(logs, width, is_range_known) + free * width**2


def _of_mixing(logs, width, is_range_known):
    return float(width**2 * (0.5 * logs + (0.0 if is_range_known else 3.0)))
