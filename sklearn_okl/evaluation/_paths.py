"""Comparators that move: the best path in hindsight, the regret against paths and on intervals."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.linalg import LinAlgError, solveh_banded
from sklearn.utils import Bunch, check_array, check_consistent_length, check_scalar

from .._documentation import cites, explained_by
from .._types import Any, Array, ArrayLike
from ._comparators import regret, ridge_comparator, rows_and_targets

_HALVINGS = 50  # of the range of fusions, in logarithms: to a relative 1e-13
_WIDEST = 1e10  # how far fusions are looked for, as multiples of the mean squared norm of a row


@cites
@explained_by(ridge_comparator)
def fused_ridge_comparator(
    X: ArrayLike,
    y: ArrayLike,
    *,
    fusion: float | None = None,
    path_length: float | None = None,
    alpha: float = 1.0,
) -> Any:
    r"""Fit the best path of linear forecasters in hindsight.

    The minimiser over :math:`u_1, \ldots, u_n` of :math:`\sum_t (u_t^T x_t - y_t)^2 + \alpha
    \|u_1\|^2 + \mu \sum_{t<n} \|u_{t+1} - u_t\|^2`: fused ridge regression, which is the Kalman
    smoother of a random walk.

    Parameters
    ----------
    fusion : float, default=None
        The price :math:`\mu` > 0 of squared steps. Give this or `path_length`.
    path_length : float, default=None
        Sum of the norms of the steps that the path may have, >= 0: the smallest price that keeps to
        it. 0 is the best fixed forecaster.
    alpha : float > 0, default=1.0
        Ridge on the first point of the path.

    Returns
    -------
    best : Bunch
        ``path`` (n_samples, n_features); ``forecasts`` and ``losses`` (n_samples,), the squared
        errors; ``path_length``, the sum of the norms of its steps; ``squared_length``, that of
        their squares; ``fusion``; ``objective``, the minimum, in the unit of y squared.

    Notes
    -----
    Cost O(n d^3), by a banded Cholesky factor; fifty of them for a `path_length`. Of all paths with
    the same sum of *squared* steps none has a smaller objective; for a given sum of norms it is a
    good one, and the bounds hold against any.

    References
    ----------
    Jacobsen & Cutkosky 2024, where comparators are paths; R. E. Kalman, "A new approach to linear
    filtering and prediction problems", Journal of Basic Engineering 82, 1960.

    Examples
    --------
    >>> from sklearn_okl.evaluation import fused_ridge_comparator
    >>> X, y = [[1.0]] * 6, [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    >>> best = fused_ridge_comparator(X, y, path_length=0.5)
    >>> best.path[:, 0].round(2)
    array([0.21, 0.27, 0.39, 0.56, 0.66, 0.71])
    """
    X, y = rows_and_targets(X, y)
    check_scalar(alpha, "alpha", Real, min_val=0, include_boundaries="neither")
    if (fusion is None) == (path_length is None):
        raise ValueError("Give either fusion or path_length, and not both.")
    if fusion is not None:
        check_scalar(fusion, "fusion", Real, min_val=0, include_boundaries="neither")
        path = _fused(X, y, fusion, alpha)
    else:
        check_scalar(path_length, "path_length", Real, min_val=0)
        path, fusion = _of_length(X, y, path_length, alpha)
    steps_sq = np.square(np.diff(path, axis=0)).sum(axis=1)
    forecasts = np.einsum("nd,nd->n", X, path)
    losses = np.square(forecasts - y)
    squared_length = float(steps_sq.sum())
    price = fusion * squared_length if squared_length else 0.0
    return Bunch(
        path=path,
        forecasts=forecasts,
        losses=losses,
        path_length=float(np.sqrt(steps_sq).sum()),
        squared_length=squared_length,
        fusion=float(fusion),
        objective=float(losses.sum() + alpha * path[0] @ path[0] + price),
    )


def _fused(X, y, fusion, alpha):
    """Solve the normal equations, of n blocks of size d; those of neighbours touch."""
    n, d = X.shape
    if n == 1:
        return np.linalg.solve(alpha * np.eye(d) + np.outer(X[0], X[0]), X[0] * y[0])[None]
    bands = np.zeros((d + 1, n, d))  # below the diagonal: bands[j, t, i] is at (t d + i + j, .)
    for j in range(d):
        bands[j, :, : d - j] = X[:, j:] * X[:, : d - j]
    steps = np.full(n, 2.0)  # how many touch a point
    steps[[0, -1]] = 1.0
    bands[0] += fusion * steps[:, None]
    bands[0, 0] += alpha
    bands[d, :-1] -= fusion
    flat = bands.reshape(d + 1, n * d)
    try:
        return solveh_banded(flat, (X * y[:, None]).ravel(), lower=True).reshape(n, d)
    except LinAlgError as error:
        raise ValueError(
            f"The path is not determined to working precision at fusion={fusion:.3g} and "
            f"alpha={alpha:.3g}: take larger ones."
        ) from error


def _of_length(X, y, path_length, alpha):
    """Return the path of the smallest price that keeps to a length, and the price."""
    scale = max(float(np.square(X).sum(axis=1).mean()), np.finfo(float).tiny)
    low, high = np.log(scale / _WIDEST), np.log(scale * _WIDEST)
    still = np.tile(ridge_comparator(X, y, alpha=alpha).coef, (len(X), 1)), np.inf
    best = still
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        path = _fused(X, y, np.exp(middle), alpha)
        if np.linalg.norm(np.diff(path, axis=0), axis=1).sum() <= path_length:
            best, high = (path, np.exp(middle)), middle
        else:
            low = middle
    return best if path_length > 0 else still


@cites
def path_length(path: ArrayLike, *, squared: bool = False) -> float:
    r"""Return the length :math:`\sum_{t<T} \|u_{t+1} - u_t\|` of a path of comparators.

    Parameters
    ----------
    path : array-like of shape (n_samples, n_features)
        A comparator for each round, such as ``fused_ridge_comparator(X, y, ...).path``.
    squared : bool, default=False
        Whether to sum the squares of the norms.

    Returns
    -------
    length : float
        0 for a comparator that does not move.

    References
    ----------
    Zinkevich 2003, section 2.

    Examples
    --------
    >>> from sklearn_okl.evaluation import path_length
    >>> path_length([[0.0, 0.0], [3.0, 4.0], [3.0, 4.0]])
    5.0
    """
    steps = np.linalg.norm(np.diff(check_array(path, dtype=np.float64), axis=0), axis=1)
    return float(np.square(steps).sum() if squared else steps.sum())


@explained_by(regret, ridge_comparator, path_length)
def dynamic_regret(forecasts: ArrayLike, X: ArrayLike, y: ArrayLike, path: ArrayLike) -> Array:
    r"""Return the running regret against a path of linear forecasters, one for each round.

    Notes
    -----
    Cost O(n d).

    References
    ----------
    Jacobsen & Cutkosky 2024.

    Examples
    --------
    >>> from sklearn_okl.evaluation import dynamic_regret
    >>> dynamic_regret([0.0, 2.0], [[1.0], [1.0]], [1.0, 1.0], [[0.0], [1.0]])
    array([0., 1.])
    """
    X, path = check_array(X, dtype=np.float64), check_array(path, dtype=np.float64)
    if X.shape != path.shape:
        raise ValueError(
            f"path has shape {path.shape}, X {X.shape}: give a comparator for each row."
        )
    return regret(forecasts, y, comparator_forecasts=np.einsum("nd,nd->n", X, path))


@explained_by(regret)
def strongly_adaptive_regret(
    forecasts: ArrayLike,
    y: ArrayLike,
    *,
    comparator_forecasts: ArrayLike,
    length: int | None = None,
) -> Any:
    r"""Return the largest regret on any interval of rounds, against any of some comparators.

    .. math:: \max_k \max_{[a, b)} \sum_{a \le t < b} (\hat y_t - y_t)^2 - (f_{k,t} - y_t)^2 .

    Parameters
    ----------
    comparator_forecasts : array-like of shape (n_samples,) or (n_samples, n_comparators)
        Forecasts of each comparator in all rounds.
    length : int, default=None
        Number of rounds of the intervals. None: all of them.

    Returns
    -------
    worst : Bunch
        ``regret``, in the unit of y squared; ``start`` and ``stop``, the rounds from the first to
        before the last; ``comparator``, its column.

    Raises
    ------
    ValueError
        If lengths differ, something is NaN, or `length` is not between 1 and the rounds there are.

    Notes
    -----
    Cost O(n) a comparator. Leave out forecasts of a cold start.

    References
    ----------
    Daniely et al. 2015, equation (1).

    Examples
    --------
    >>> from sklearn_okl.evaluation import strongly_adaptive_regret
    >>> worst = strongly_adaptive_regret([0, 0, 0, 0], [0, 1, 1, 0], comparator_forecasts=[1] * 4)
    >>> worst.regret, worst.start, worst.stop
    (2.0, 1, 3)
    """
    forecasts, y = (np.asarray(part, dtype=np.float64) for part in (forecasts, y))
    others = check_array(comparator_forecasts, dtype=np.float64, ensure_2d=False)
    others = others.reshape(len(others), -1)
    check_consistent_length(forecasts, y, others)
    if not (np.isfinite(forecasts).all() and np.isfinite(y).all()):
        raise ValueError("forecasts or y hold NaN or infinity: leave such rounds out.")
    n = len(y)
    if length is not None and not 1 <= length <= n:
        raise ValueError(f"length must be between 1 and the {n} rounds there are; got {length}.")
    excess = np.square(forecasts - y)[:, None] - np.square(others - y[:, None])
    sums = np.concatenate([np.zeros((1, others.shape[1])), np.cumsum(excess, axis=0)])
    if length is None:
        lowest = np.minimum.accumulate(sums[:-1], axis=0)
        gains = sums[1:] - lowest
    else:
        gains = sums[length:] - sums[:-length]
    row, k = np.unravel_index(int(gains.argmax()), gains.shape)
    start = int(sums[: row + 1, k].argmin()) if length is None else int(row)
    stop = int(row) + (1 if length is None else length)
    return Bunch(regret=float(gains[row, k]), start=start, stop=stop, comparator=int(k))
