"""What columns that are known ahead say of the row that they belong to: a regression without lags.

The residuals of this regression are a series like the series itself, and experts forecast them too:
regression with errors that last (A. C. Harvey, "Forecasting, structural time series models and the
Kalman filter", 1989, ch. 7). It is a ridge on the columns, standardised, on slow sines and cosines
of each, which bend a line as an additive model does, and on the phases of the seasons. It is learnt
as soon as a row is known.
"""

import numpy as np

from . import _delayed_ridge, _views

_FREQUENCIES = (0.7, 1.4)  # of sines and cosines of a column, in radians a standard deviation


def start(n_columns, n_phases, n_series):
    """Return the state of a regression that has seen no row."""
    shape = 1, 1, n_series
    return {
        "columns": _views.start(n_columns, 1),
        "ridge": _delayed_ridge.start(shape, width(n_columns, n_phases), 1, 1.0, 1.0),
    }


def snapshot(state, level, scale):
    """Return what a forecast reads; level and scale (m,) are those of the series."""
    columns = state["columns"]
    return {
        "mean": columns["mean"].copy(),
        "scale": _views.deviation(columns),
        "theta": state["ridge"]["theta"][0, 0] * scale[:, None],
        "level": level.copy(),
    }


def forecasts(known, X, phases):
    """Return forecasts (k, m) of rows X (k, d) with phases (k, p) from snapshots.

    The arrays of `known` have a leading axis k, or none for one snapshot of all rows. Missing
    values count as the mean, as all do of a column that has had one value only.
    """
    Z = _features(known["mean"], known["scale"], X, phases)
    return (known["theta"] @ Z[..., None])[..., 0] + known["level"]


def learn(state, x, phases, y, level, scale):
    """Learn the row x (d,) of targets y (m,), NaN where they are missing."""
    columns, ridge = state["columns"], state["ridge"]
    Z = _features(columns["mean"], _views.deviation(columns), x[None], phases[None])
    _delayed_ridge.learn(ridge, Z[None], ((y - level) / scale)[None, None, None])
    _views.push(columns, x, columns["values"][-1])


def _features(mean, scale, X, phases):
    return features(_views.standardised(X, mean, scale), phases)


def width(n_columns, n_phases):
    """Return how many features there are."""
    return 1 + (1 + 2 * len(_FREQUENCIES)) * n_columns + n_phases


def features(x, phases):
    """Return features (..., D) of standardised columns (..., d) and phases (..., p) of rows."""
    x = np.clip(x, -_views.FENCE, _views.FENCE)
    waves = [wave(frequency * x) for frequency in _FREQUENCIES for wave in (np.sin, np.cos)]
    return np.concatenate([np.ones((*x.shape[:-1], 1)), x, *waves, phases], axis=-1)
