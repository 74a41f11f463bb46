"""Measures of forecasts of series, by origin, step and series: scaled, in percent, of quantiles."""

from __future__ import annotations

import numpy as np

from ._interval_scores import quantiles_from_intervals


def scales(y, origins, season_length):
    """Return what last season loses in the rows before each origin.

    Parameters
    ----------
    y : ndarray of shape (n, m)
    origins : ndarray of int of shape (k,)
    season_length : int

    Returns
    -------
    absolute, squared : ndarray of shape (k, m)
        Mean absolute and mean squared error; NaN where there is none, or it is 0.
    """
    if season_length >= len(y):
        nothing = np.full((len(origins), y.shape[1]), np.nan)
        return nothing, nothing
    errors = y[season_length:] - y[:-season_length]
    known = ~np.isnan(errors)
    last = origins - season_length - 1  # of the errors known at each origin
    ends, found = np.maximum(last, 0), []
    for losses in (np.abs(errors), errors**2):
        sums = np.cumsum(np.where(known, losses, 0.0), axis=0)
        counts = np.cumsum(known, axis=0)
        there = (last >= 0)[:, None] & (counts[ends] > 0) & (sums[ends] > 0.0)
        found.append(np.where(there, sums[ends], np.nan) / np.where(there, counts[ends], 1))
    return tuple(found)


def measures(y, forecasts, intervals, coverage, scale, axes):
    """Return the measures of forecasts, means over some axes first and over series then.

    Parameters
    ----------
    y, forecasts : ndarray of shape (k, H, m)
        What came, and what was forecast; pairs with NaN are left out.
    intervals : ndarray of shape (k, H, m, levels, 2) or None
    coverage : ndarray of shape (levels,)
    scale : tuple of ndarray of shape (k, m)
        As `scales` returns them.
    axes : tuple of int
        Means are taken over these.

    Returns
    -------
    dict of str to ndarray
        Of the shape that the axes leave.
    """
    errors = forecasts - y
    sizes = np.abs(errors)
    both = np.abs(y) + np.abs(forecasts)
    percent = np.where(both > 0.0, 200.0 * sizes / np.where(both > 0.0, both, 1.0), 0.0 * sizes)
    absolute, squared = (part[:, None] for part in scale)
    found = {
        "MAE": mean(sizes, axes),
        "RMSE": np.sqrt(mean(errors**2, axes)),
        "MASE": mean(sizes / absolute, axes),
        "RMSSE": np.sqrt(mean(errors**2 / squared, axes)),
        "sMAPE": mean(percent, axes),
    }
    if intervals is not None:
        found["CRPS"] = mean(crps(y, forecasts, intervals, coverage), axes)
    return found


def mean(values, axes):
    """Return means over axes of what is no NaN; NaN where nothing is left."""
    known = ~np.isnan(values)
    n = known.sum(axis=axes)
    total = np.where(known, values, 0.0).sum(axis=axes)
    return np.where(n > 0, total, np.nan) / np.maximum(n, 1)


def crps(y, forecasts, intervals, coverage):
    """Return the score of each forecast, from the ends of its intervals and itself as the median.

    It is that of `crps_from_quantiles`; NaN where something of it is not known, or infinite.
    """
    quantiles, levels = quantiles_from_intervals(intervals, coverage)
    place = len(coverage)
    quantiles = np.insert(quantiles, place, forecasts, axis=-1)
    levels = np.insert(levels, place, 0.5)
    nearest = np.diff(np.concatenate([[0.0], (levels[1:] + levels[:-1]) / 2.0, [1.0]]))
    over = quantiles - y[..., None]
    losses = np.where(over > 0.0, (1.0 - levels) * over, -levels * over)
    found = 2.0 * losses @ nearest
    return np.where(np.isfinite(found), found, np.nan)


def held(y, intervals):
    """Return whether intervals held what came, 0 or 1, (k, H, m, levels); NaN is not known."""
    y = y[..., None]
    inside = (intervals[..., 0] <= y) & (y <= intervals[..., 1])
    known = ~np.isnan(y) & ~np.isnan(intervals).any(axis=-1)
    return np.where(known, inside, np.nan)
