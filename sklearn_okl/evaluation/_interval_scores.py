"""Scores of intervals and of quantiles: how often they hold, how wide they are, and both in one."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.metrics import mean_pinball_loss
from sklearn.utils import check_scalar

from .._documentation import explained_by
from .._types import Array, ArrayLike


def interval_coverage(y_true: ArrayLike, intervals: ArrayLike) -> Array:
    """Return the share of targets that intervals hold.

    Parameters
    ----------
    y_true : array-like of shape (...)
        Targets, such as (n_samples,), or (horizon, n_series); those that are NaN are left out, and
        so are those of which a forecast, or something of it, is NaN: it was not issued.
    intervals : array-like of shape (..., n_levels, 2)
        Lower and upper ends, as `predict_interval` gives them. Beside targets those of one level
        may have the shape (..., 2). An infinite end makes the width infinite, and every score.

    Returns
    -------
    coverage : ndarray of shape (n_levels,)
        Shares from 0 to 1; ends belong to their interval.

    Raises
    ------
    ValueError
        If the shapes do not fit, a lower end is above its upper one, a target is infinite, or none
        is known.

    Examples
    --------
    >>> from sklearn_okl.evaluation import interval_coverage
    >>> interval_coverage([1.0, 2.0, 3.0, 4.0], [[[0.0, 3.5]]] * 4)
    array([0.75])
    """
    y, intervals, _ = _known(y_true, intervals)
    return _held(y, intervals).mean(axis=0)


@explained_by(interval_coverage)
def interval_width(intervals: ArrayLike) -> Array:
    """Return the mean width of intervals, for each level.

    Parameters
    ----------
    intervals : array-like of shape (n_samples, 2) or (..., n_levels, 2)
        Lower and upper ends. Those of shape (n_samples, 2) are of one level. There are no targets
        to tell it of more axes, such as (horizon, n_series): there one level needs an axis of its
        own, ``intervals[..., None, :]``. An infinite end makes the width infinite.

    Returns
    -------
    width : ndarray of shape (n_levels,)
        Mean widths, in the unit of the targets.

    Examples
    --------
    >>> from sklearn_okl.evaluation import interval_width
    >>> interval_width([[[0.0, 2.5]], [[0.0, 1.5]]])
    array([2.])
    >>> interval_width([[0.0, 2.5], [0.0, 1.5]])
    array([2.])
    """
    intervals = np.asarray(intervals, dtype=np.float64)
    if intervals.ndim == 2 and intervals.shape[1] == 2:
        intervals = intervals[:, None]
    _, intervals, _ = _known(np.zeros(intervals.shape[:-2]), intervals)
    return (intervals[..., 1] - intervals[..., 0]).mean(axis=0)


@explained_by(interval_coverage)
def interval_score(y_true: ArrayLike, intervals: ArrayLike, coverage: ArrayLike) -> Array:
    r"""Return the interval score, or Winkler score: the width, and what misses cost.

    For a target y and an interval [l, u] of coverage c it is

    .. math:: u - l + \frac{2}{1 - c} \left((l - y)_+ + (y - u)_+\right),

    which is least in the mean for the quantiles (1 - c) / 2 and (1 + c) / 2.

    Parameters
    ----------
    coverage : array-like of shape (n_levels,)
        Shares of targets that the intervals were asked to hold, above 0 and below 1.

    Returns
    -------
    score : ndarray of shape (n_levels,)
        Means over the targets, in their unit; less is better.

    References
    ----------
    .. [1] Gneiting & Raftery 2007, eq. (43).

    Examples
    --------
    >>> from sklearn_okl.evaluation import interval_score
    >>> interval_score([1.0, 4.0], [[[0.0, 3.0]], [[0.0, 3.0]]], 0.8)
    array([8.])
    """
    y, intervals, _ = _known(y_true, intervals)
    coverage = _checked_levels(coverage, "coverage", intervals.shape[1])
    low, high = intervals[..., 0], intervals[..., 1]
    misses = np.maximum(low - y, 0.0) + np.maximum(y - high, 0.0)
    return (high - low + 2.0 / (1.0 - coverage) * misses).mean(axis=0)


@explained_by(interval_score)
def quantiles_from_intervals(intervals: ArrayLike, coverage: ArrayLike) -> tuple[Array, Array]:
    """Return intervals as quantiles: one of coverage c ends at (1 - c) / 2 and (1 + c) / 2.

    Returns
    -------
    quantiles : ndarray of shape (..., 2 n_levels)
        The ends, in the order of `levels`.
    levels : ndarray of shape (2 n_levels,)
        Increasing, above 0 and below 1.

    Examples
    --------
    >>> from sklearn_okl.evaluation import quantiles_from_intervals
    >>> quantiles, levels = quantiles_from_intervals([[[1.0, 3.0], [0.0, 5.0]]], [0.5, 0.9])
    >>> quantiles, levels.round(2)
    (array([[0., 1., 3., 5.]]), array([0.05, 0.25, 0.75, 0.95]))
    """
    intervals = np.asarray(intervals, dtype=np.float64)
    if intervals.ndim < 2 or intervals.shape[-1] != 2:
        raise ValueError(_shape_sentence(intervals))
    coverage = _checked_levels(coverage, "coverage", intervals.shape[-2])
    levels = np.concatenate([0.5 - coverage / 2.0, 0.5 + coverage / 2.0])
    order = np.argsort(levels, kind="stable")
    ends = np.concatenate([intervals[..., 0], intervals[..., 1]], axis=-1)
    return ends[..., order], levels[order]


@explained_by(interval_score)
def crps_from_quantiles(y_true: ArrayLike, quantiles: ArrayLike, levels: ArrayLike) -> float:
    r"""Return the continuous ranked probability score, as far as some quantiles tell it.

    It is twice the integral of the pinball loss over all levels from 0 to 1, in which each level
    stands for those that are nearest to it: twice the mean over levels (k - 1/2) / K, where k goes
    from 1 to K. One quantile, the median, gives the absolute error.

    Parameters
    ----------
    quantiles : array-like of shape (..., n_levels)
        Forecasts of the quantiles. An infinite one makes the score infinite.
    levels : array-like of shape (n_levels,)
        Their levels, each another one above 0 and below 1. The more, the nearer the score is to
        that of the whole distribution.

    Returns
    -------
    score : float
        Mean over the targets, in their unit; less is better.

    Raises
    ------
    ValueError
        If the shapes do not fit, two levels are the same, a target is infinite, or none is known.

    See Also
    --------
    sklearn.metrics.mean_pinball_loss : The loss of one quantile.

    References
    ----------
    .. [1] T. Gneiting, R. Ranjan, "Comparing density forecasts using threshold- and
       quantile-weighted scoring rules", Journal of Business & Economic Statistics 29(3), 2011,
       eq. (15) and (16).

    Examples
    --------
    >>> from sklearn_okl.evaluation import crps_from_quantiles
    >>> crps_from_quantiles([1.0, 4.0], [[2.0], [2.0]], [0.5])
    1.5
    """
    y, quantiles, levels, nearest = _quantiles_in_order(y_true, quantiles, levels)
    if np.isinf(quantiles).any():
        return np.inf
    losses = [
        mean_pinball_loss(y, quantiles[:, k], alpha=level)
        for k, level in enumerate(levels.tolist())
    ]
    return 2.0 * float(nearest @ losses)


@explained_by(interval_coverage)
def coverage_by_window(y_true: ArrayLike, intervals: ArrayLike, window: int = 500) -> Array:
    """Return the share of targets that intervals hold in each of the windows of a stream.

    Parameters
    ----------
    window : int, default=500
        Number of known targets in each, at most all: the first ones, the next ones, and so on.
        Those that fill no window at the end are left out.

    Returns
    -------
    coverage : ndarray of shape (n_windows, n_levels)
        Shares from 0 to 1, in the order of the stream. Several series count in one window.

    Examples
    --------
    >>> from sklearn_okl.evaluation import coverage_by_window
    >>> coverage_by_window([1.0, 5.0, 1.0, 2.0], [[[0.0, 3.0]]] * 4, window=2)
    array([[0.5],
           [1. ]])
    """
    check_scalar(window, "window", Integral, min_val=1)
    y, intervals, _ = _known(y_true, intervals)
    if len(y) < window:
        raise ValueError(f"There are {len(y)} known targets, fewer than window={window}.")
    held = _held(y, intervals)[: len(y) // window * window]
    return held.reshape(-1, window, held.shape[1]).mean(axis=1)


@explained_by(interval_coverage)
def coverage_by_group(
    y_true: ArrayLike, intervals: ArrayLike, groups: ArrayLike
) -> tuple[Array, Array, Array]:
    """Return the share of targets that intervals hold in each group of them.

    Parameters
    ----------
    groups : array-like of shape (...)
        The group of each target: its hour, its customer, or a bin of its forecast.

    Returns
    -------
    labels : ndarray of shape (n_groups,)
        The groups that have a known target, sorted.
    coverage : ndarray of shape (n_groups, n_levels)
        Shares from 0 to 1.
    counts : ndarray of int of shape (n_groups,)
        Number of known targets in each.

    Raises
    ------
    TypeError
        If the groups have no order.

    Examples
    --------
    >>> from sklearn_okl.evaluation import coverage_by_group
    >>> labels, coverage, counts = coverage_by_group([1.0, 5.0, 1.0], [[[0.0, 3.0]]] * 3, [7, 8, 8])
    >>> labels, coverage.ravel(), counts
    (array([7, 8]), array([1. , 0.5]), array([1, 2]))
    """
    of_all, groups = np.asarray(y_true, dtype=np.float64), np.asarray(groups)
    if groups.shape != of_all.shape:
        raise ValueError(
            f"groups has shape {groups.shape}, but y_true has {of_all.shape}: give one for each "
            "target."
        )
    y, intervals, known = _known(of_all, intervals)
    labels, places = sorted_groups(groups[known])
    counts = np.bincount(places)
    held = np.zeros((len(labels), intervals.shape[1]))
    np.add.at(held, places, _held(y, intervals))
    return labels, held / counts[:, None], counts


def sorted_groups(groups):
    """Return the labels of groups (...), sorted, and the place of each among them (...)."""
    try:
        labels, places = np.unique(groups, return_inverse=True)
    except TypeError as error:
        raise TypeError(
            "groups holds labels that have no order, such as None beside text: give labels of one "
            "kind."
        ) from error
    return labels, places.reshape(groups.shape)


def _held(y, intervals):
    return (intervals[..., 0] <= y) & (y <= intervals[..., 1])


def _quantiles_in_order(y_true, quantiles, levels):
    """Return known targets (n,), quantiles (n, levels), rising levels, and the share of each.

    The share is that of all levels from 0 to 1 that are nearest to it.
    """
    y, quantiles = np.asarray(y_true, dtype=np.float64), np.asarray(quantiles, dtype=np.float64)
    if quantiles.ndim == 0 or quantiles.shape[:-1] != y.shape:
        raise ValueError(
            f"quantiles has shape {quantiles.shape}, but y_true has {y.shape}: give a forecast of "
            "each level for each target, with the levels last."
        )
    levels = _checked_levels(levels, "levels", quantiles.shape[-1])
    order = np.argsort(levels)
    levels, quantiles = levels[order], quantiles[..., order]
    if (np.diff(levels) == 0.0).any():
        raise ValueError(f"levels={levels.tolist()}: give each level once.")
    nearest = np.diff(np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2.0, [1.0]]))
    known = _is_known(y, quantiles)
    return y[known], quantiles[known], levels, nearest


def _known(y_true, intervals):
    """Return known targets (n, 1), their intervals (n, levels, 2), and which targets they are."""
    y, intervals = (np.asarray(values, dtype=np.float64) for values in (y_true, intervals))
    if intervals.ndim < 2 or intervals.shape[-1] != 2:
        raise ValueError(_shape_sentence(intervals))
    if intervals.shape[:-1] == y.shape:
        intervals = intervals[..., None, :]  # of one level, which was no list
    if intervals.shape[:-2] != y.shape:
        raise ValueError(
            f"intervals has shape {intervals.shape}, but y_true has {y.shape}: give "
            "(..., n_levels, 2) for targets of shape (...)."
        )
    known = _is_known(y, intervals)
    y, intervals = y[known][:, None], intervals[known]
    low, high = intervals[..., 0], intervals[..., 1]
    if (low > high).any():
        raise ValueError("Some intervals have a lower end above their upper one.")
    if ((low == high) & np.isinf(low)).any():
        raise ValueError("Some intervals have both ends at the same infinity: they hold nothing.")
    return y, intervals, known


def _is_known(y, *forecasts):
    """Return which targets (...) are known, and have forecasts (..., k) without NaN."""
    if np.isinf(y).any():
        raise ValueError("y_true holds infinity: give finite targets, NaN where none is known.")
    known = ~np.isnan(y)
    for of_all in forecasts:
        known = known & ~np.isnan(of_all).any(axis=tuple(range(y.ndim, of_all.ndim)))
    if not known.any():
        raise ValueError("No target is known that has a forecast, so there is nothing to score.")
    return known


def _shape_sentence(intervals):
    return (
        f"intervals has shape {intervals.shape}: give lower and upper ends of each level, "
        "(..., n_levels, 2)."
    )


def _checked_levels(levels, name, n):
    found = np.atleast_1d(np.asarray(levels, dtype=np.float64))
    if found.shape != (n,):
        raise ValueError(f"{name} has shape {found.shape}, but there are {n} levels: give each.")
    if not ((found > 0.0) & (found < 1.0)).all():
        raise ValueError(f"{name}={levels!r}: give numbers above 0 and below 1, such as 0.9.")
    return found
