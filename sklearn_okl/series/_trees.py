"""Boosted trees on the row that is forecast: hours in which heat counts, holidays that are no days.

They see what is known of a row however far ahead it is: its columns, its time, and values of the
series as many rows ago as the horizon, or at least that and whole seasons. So one fit serves all
steps. Targets and values count in running deviations from the running mean, which a fit to other
times goes on with. What the trees leave is a series like the series itself, and experts forecast it
too, as they do what the columns leave (`_static.py`).

Trees are fitted anew to all rows so far, as often as about the forecaster's own work pays for
(`meta/_fits.py`). Each series has its own; pooled ones share one fit to all their rows.
What an origin has said was said by the latest fit before it. Until there is one they say the mean.
"""

import numpy as np

from ..meta._fits import NumberFits
from . import _views

_OF_ROW = 2.0  # milliseconds of a row of the forecaster, which fits may cost as much as


def fits_of(estimator, horizon, n_series, is_pooled):
    """Return what fits a batch model anew, and knows the fits that waiting origins have asked."""
    return NumberFits.of(estimator, horizon * (n_series if is_pooled else 1))


def start(fits, width, n_series, is_pooled, seed):
    """Return the states of the fits before the first row: one for each series, or one for all."""
    n_groups = 1 if is_pooled else n_series
    return [fits.start(width, seed + k, _OF_ROW / n_series) for k in range(n_groups)]


def width(n_columns, n_phases, n_seasons):
    """Return how many numbers trees see of a row."""
    return n_columns + n_phases + 1 + n_seasons


def lags_of(seasons, horizon):
    """Return how many rows ago the values are that are seen: known at all steps, whole seasons."""
    whole = [-(-horizon // season) * season if season else horizon for season in seasons.tolist()]
    return np.array([horizon, *whole], dtype=np.int64)


def snapshot(states, lags, view):
    """Return what forecasts of an origin read, with the memory of the series."""
    return {
        "lags": lags,
        "level": view["mean"],
        "unit": _views.level(view)[1],
        "n_known": np.array([state["t"] for state in states], dtype=np.int64),
    }


def features(known, values, X, times, steps):
    """Return features (k, m, D) of rows some steps (k,) after the values (n, m).

    X (k, d) are their columns and `times` (k, p) what is known by their time alone. The arrays of
    `known` have a leading axis k, or none for one snapshot of all rows.
    """
    places = len(values) + np.asarray(steps)[:, None] - known["lags"]  # (k, lags)
    lagged = values[np.maximum(places, 0)].swapaxes(1, 2)  # (k, m, lags)
    lagged = (lagged - known["level"][..., None]) / known["unit"][..., None]
    lagged = np.clip(lagged, -_views.FENCE, _views.FENCE)
    shape = lagged.shape[:2]
    of_row = [np.broadcast_to(part[:, None], (*shape, part.shape[1])) for part in (X, times)]
    return np.concatenate([*of_row, lagged], axis=2)


def forecasts(fits, states, known, Z):
    """Return the forecasts (k, m) of rows with features Z (k, m, D) from snapshots."""
    k, m, _ = Z.shape
    n_known = np.broadcast_to(known["n_known"], (k, len(states)))
    said = np.empty((k, m))
    for j, (state, own) in enumerate(zip(states, _groups(Z, len(states)), strict=True)):
        n_rows = len(own) // k
        n_of_rows = np.repeat(n_known[:, j], n_rows)
        before = np.zeros(len(own))  # which is the mean
        asked = fits._forecast_known(state, own, n_of_rows, before).reshape(k, n_rows)
        said[:, j : j + n_rows] = asked
    return known["level"] + known["unit"] * said


def learn(fits, states, known, Z, y):
    """Learn a row of features Z (1, m, D) and targets y (m,), NaN where they are missing."""
    target = np.clip((y - known["level"]) / known["unit"], -_views.FENCE, _views.FENCE)
    both = zip(states, _groups(Z, len(states)), _groups(target[None], len(states)), strict=True)
    for state, own, wanted in both:
        there = ~np.isnan(wanted)
        if there.any():
            state["past"] += own[there], wanted[there]
            state["t"] += int(there.sum())
            if state["t"] >= state["due"]:
                state["due"] = fits._due_after(state)
                fits._fit(state)


def _groups(rows, n_groups):
    """Return rows (k, m, ...) of each series (k, ...), or of all together (k m, ...)."""
    if n_groups > 1:
        return list(rows.swapaxes(0, 1))
    return [rows.reshape(-1, *rows.shape[2:])]
