r"""What columns that are known ahead say of the row that they belong to: a regression without lags.

The residuals of this regression are a series like the series itself, and experts forecast them too:
regression with errors that last (A. C. Harvey, "Forecasting, structural time series models and the
Kalman filter", 1989, ch. 7). It is a ridge on the columns, standardised, on slow sines and cosines
of each, which bend a line as an additive model does, and on the phases of the seasons. It is learnt
as soon as a row is known; each series has its own, and a row without its value teaches nothing,
nor do the first ones, which do not tell columns from chance.

The units of columns are held, as what was learnt in others is of other features: only where the
running deviation is by a factor of `_OFF` another one, or the mean that many units away, they
become those. What lines have learnt is then said in the new units: with T the change of the
features, S the sums and b the products,

.. math:: S' = \lambda I + T (S - \lambda I) T^T, \qquad b' = T b, \qquad \theta' = S'^{-1} b',

and likewise where the level that targets are learnt from becomes another one, as one feature is 1.
Waves of a column begin anew with its unit. A column at a new level, see `_doubts.py`, takes what
was learnt with it: rows at each level teach by how far they are from their mean.
"""

import numpy as np

from . import _delayed_ridge, _views

_FREQUENCIES = (0.7, 1.4)  # of sines and cosines of a column, in radians a standard deviation
_ALPHA = 1.0
_RARE = 4.0  # deviations: a column that is on in one row of 17, or what no normal law has
_OFF = 2.0  # times a unit that the deviation is another one at least, where it becomes the unit


def start(n_columns, n_phases, n_series):
    """Return the state of a regression that has seen no row."""
    columns = _views.start(n_columns, 1)
    # a column that was off so far is no series that nobody has measured
    columns["is_same"] = np.zeros_like(columns["is_same"])
    shape, n_features = (n_series, 1, 1), width(n_columns, n_phases)
    return {
        "columns": columns,
        "ridge": _delayed_ridge.start(shape, n_features, 1, _ALPHA, 1.0),
        "centre": np.zeros(n_columns),  # which are held
        "unit": np.zeros(n_columns),  # 0 of a column that has had one value only
        "level": np.zeros(n_series),
        "is_taught": np.zeros(n_series, dtype=bool),
    }


def is_sound(state):
    """Tell whether what is held, as in a file, are numbers, and no unit is below 0."""
    held = [state[name] for name in ("centre", "unit", "level")]
    return bool(all(np.isfinite(one).all() for one in held) and (state["unit"] >= 0.0).all())


def snapshot(state, level):
    """Return what a forecast reads; level (m,) is that of series that nobody has learnt yet."""
    return {
        "usual": state["columns"]["mean"],
        "centre": state["centre"],
        "unit": state["unit"],
        "theta": state["ridge"]["theta"][0, :, 0],
        "level": np.where(state["is_taught"], state["level"], level),
    }


def forecasts(known, X, phases):
    """Return forecasts (k, m) of rows X (k, d) with phases (k, p) from snapshots.

    The arrays of `known` have a leading axis k, or none for one snapshot of all rows. Missing
    values count as the mean, as all do of a column that has had one value only.
    """
    Z = _features(known, X, phases)
    return (known["theta"] @ Z[..., None])[..., 0] + known["level"]


def learn(state, x, phases, y, level, deviation):
    """Learn the row x (d,) of targets y (m,), NaN where they are missing.

    Given are the running means and deviations (m,) of the series.
    """
    columns, is_known = state["columns"], ~np.isnan(y)
    _views.push(columns, x, columns["values"][-1])
    _hold(state, is_known, level, deviation)
    Z = _features(state | {"usual": columns["mean"]}, x[None], phases[None])
    targets = (y - state["level"])[None, :, None, None]
    _delayed_ridge.learn(state["ridge"], is_known[:, None, None] * Z, targets)


def taught(state, x, y, bounded, mean, reach):
    """Return targets (m,): y within its fence where the columns are rare, elsewhere as `bounded`.

    What is rare in both is sooner explained than a fault, and explains nothing if it is never
    learnt: holidays would be faults each time.
    """
    columns = state["columns"]
    z = _views.standardised(x, columns["mean"], _views.deviation(columns))
    is_rare = (np.abs(z) >= _RARE).any()
    return np.clip(y, mean - reach, mean + reach) if is_rare else bounded


def move(state, by):
    """Move the levels of series by some amounts (m,), as if they had always been there."""
    state["level"] = state["level"] + by


def move_columns(state, by):
    """Move the levels of columns by some amounts (d,), and what lines have learnt with them.

    Where these went through is open again, as neither the way of a column nor of a series is known
    well by a few rows: rows before teach by how far they are from their mean.
    """
    _views.begin_level(state["columns"], by)
    state["centre"] = state["centre"] + by
    ridge = state["ridge"]
    sums, theta = _delayed_ridge.sums_of_one_step(ridge), ridge["theta"][0]
    b, eye = (sums @ theta.swapaxes(-1, -2))[..., 0], np.eye(theta.shape[-1])  # (m, D)
    data = sums - _ALPHA * eye
    shares = data[:, 0] / np.maximum(data[:, :1, 0], 1.0)  # of the mean row
    _become(ridge, data - shares[..., None] * data[:, :1], b - shares * b[:, :1])
    state["level"] = state["level"] + theta[:, 0, 0]


def _hold(state, is_known, level, deviation):
    """Let what is held be what it is now, where that is another one; series (m,) are known."""
    columns, unit, is_taught = state["columns"], state["unit"], state["is_taught"]
    mean, own = columns["mean"], _views.deviation(columns)
    is_other = (own > _OFF * unit) | (own * _OFF < unit)
    is_other = (own > 0.0) & (is_other | (np.abs(mean - state["centre"]) > _OFF * unit))
    is_moved = np.abs(level - state["level"]) > _OFF * deviation
    is_moved = is_known & (is_moved | ~is_taught)
    before = {name: state[name] for name in ("centre", "unit", "level")}
    state["centre"] = np.where(is_other | (own == 0.0), mean, state["centre"])
    state["unit"] = np.where(is_other, own, unit)
    state["level"] = np.where(is_moved, level, state["level"])
    state["is_taught"] = is_taught | is_known
    if is_other.any() or is_moved.any():
        _say_again(state, before, is_other)


def _say_again(state, before, is_other):
    """Let the ridge have learnt all rows from what is held now; waves of other columns are gone."""
    ridge, n = state["ridge"], len(is_other)
    sums = _delayed_ridge.sums_of_one_step(ridge)
    b = (sums @ ridge["theta"][0].swapaxes(-1, -2))[..., 0]  # (m, D)
    eye = np.eye(b.shape[1])
    T, lines = eye.copy(), 1 + np.flatnonzero(is_other)
    unit, by = state["unit"][is_other], (before["centre"] - state["centre"])[is_other]
    T[lines, lines], T[lines, 0] = before["unit"][is_other] / unit, by / unit
    waves = (lines + n * (1 + np.arange(2 * len(_FREQUENCIES))[:, None])).ravel()
    T[waves, waves] = 0.0
    data, b = T @ (sums - _ALPHA * eye) @ T.T, b @ T.T
    b += (before["level"] - state["level"])[:, None] * data[:, 0]
    _become(ridge, data, b)


def _become(ridge, data, b):
    """Let the ridge have learnt rows of which these are the sums (m, D, D) and products (m, D)."""
    sums = _ALPHA * np.eye(data.shape[-1]) + 0.5 * (data + data.swapaxes(-1, -2))
    theta = np.linalg.solve(sums, b[..., None]).swapaxes(-1, -2)
    _delayed_ridge.become(ridge, sums, theta[None])


def _features(known, X, phases):
    X = np.where(np.isnan(X), known["usual"], X)
    return features(_views.standardised(X, known["centre"], known["unit"]), phases)


def width(n_columns, n_phases):
    """Return how many features there are."""
    return 1 + (1 + 2 * len(_FREQUENCIES)) * n_columns + n_phases


def features(x, phases):
    """Return features (..., D) of standardised columns (..., d) and phases (..., p) of rows."""
    x = np.clip(x, -_views.FENCE, _views.FENCE)
    waves = [wave(frequency * x) for frequency in _FREQUENCIES for wave in (np.sin, np.cos)]
    return np.concatenate([np.ones((*x.shape[:-1], 1)), x, *waves, phases], axis=-1)
