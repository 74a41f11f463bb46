r"""Intervals that know the row: what size errors have at this hour, on this kind of day, in heat.

The size of errors in the long run is multiplied by :math:`e^{g}`, with g a ridge regression of the
logarithm of their size on the row: the columns known ahead and the forecast itself, with slow sines
and cosines of each, the phases of the seasons, parts of the day and of the week, and whether a
column is low, usual or high. A row is learnt as soon as it is known, from the mean over the origins
that forecast it: regressions of log squared residuals (A. C. Harvey, "Estimating regression models
with multiplicative heteroscedasticity", Econometrica 44(3), 1976).

What misses teach beside the radii is linear in the kinds of rows :math:`k`, the part of these
features that says in which hour, on which day and in whose range a row is:

.. math:: \psi_c \leftarrow \psi_c + \frac{k}{20 + n_k} (\mathrm{miss} - (1 - c)),

with :math:`n_k` how many rows of a kind came: the quantile tracker by groups (I. Gibbs, J. J.
Cherian, E. J. Candès, "Conformal prediction with conditional guarantees", JRSS B 87, 2025) with
rates that fall (A. N. Angelopoulos, R. F. Barber, S. Bates, "Online conformal prediction with
decaying step sizes", ICML 2024). Constant rates follow the chance in errors of one row, which all
origins share: at .03 intervals of made series were 5 to 11 % worse by their score.

Where errors do not depend on the row all this is noise. So an interval is the mean of this one and
of that of `_intervals.py`, weighted by `_fixed_share.py`: losses are weighted interval scores (J.
Bracher, E. L. Ray, T. Gneiting, N. G. Reich, "Evaluating epidemic forecasts in an interval format",
PLOS Computational Biology 17(2), 2021), which are convex in the reach. So its bound holds: in no
stretch of rows is the score worse than that of the intervals that do not know the row by more.
"""

import numpy as np

from . import _delayed_ridge, _fixed_share, _intervals, _static, _views, _waiting

PRIOR = np.array([0.9, 0.1])  # of the intervals that do not know the row, and of these
_N_PARTS = 24  # of the first season, and at most of the second one
_BEGINNING = 20.0  # rows of a kind that its rate begins after
_LEAST = 0.1  # size over the usual one that an error counts as at least: its logarithm has no end
_FARTHEST = 2.0  # logarithm of how many times the usual size a size is at most
_ALPHA = 30.0  # ridge: the noise of a logarithm, 1, over what a feature may say of it, squared
_OF_ROWS = "mean", "scale", "level", "unit", "theta", "slopes"  # what snapshots have of any row
_OF_STEPS = "radii", "size", "shares"  # and of each step


def n_kinds(n_columns):
    """Return how many features say of what kind a row is."""
    return 2 * _N_PARTS + 3 * (n_columns + 1)


def width(n_columns, n_phases):
    """Return how many features there are."""
    return _static.width(n_columns + 1, n_phases) + n_kinds(n_columns)


def start(n_columns, n_phases, horizon, n_series):
    """Return the state before the first row."""
    intervals = _intervals.start(horizon, n_series)
    del intervals["phases"], intervals["power"]
    return {
        "ridge": _delayed_ridge.start((n_series, 1, 1), width(n_columns, n_phases), 1, _ALPHA, 1.0),
        "intervals": intervals,
        "shares": _fixed_share.start(PRIOR, horizon, n_series),
        "slopes": np.zeros((len(_intervals.LEVELS), n_kinds(n_columns))),  # psi
        "seen": np.zeros(n_kinds(n_columns)),  # rows of each kind
    }


def snapshot(state, of_columns, of_series):
    """Return what intervals of an origin read; given are the means and scales of both."""
    known = {
        **dict(zip(_OF_ROWS, (*of_columns, *of_series), strict=False)),
        "theta": state["ridge"]["theta"][0, :, 0],
        "slopes": state["slopes"],
        "radii": _intervals.radii(state["intervals"]),
        "size": _intervals.usual(state["intervals"]),
        "shares": _fixed_share.weights(state["shares"]),
    }
    return {"rows_" + name: value for name, value in known.items()}


def told(slot, n):
    """Return the snapshot in what is said of the next rows, for the first n of these."""
    known = {name: slot["rows_" + name] for name in _OF_ROWS}
    return known | {name: slot["rows_" + name][..., :n, :] for name in _OF_STEPS}


def told_by(recent, t, horizon):
    """Return the snapshots of H origins in what waits of row t, each for its step."""
    names = ["rows_" + name for name in (*_OF_ROWS, *_OF_STEPS)]
    known = _waiting.of_row(recent, names, t, horizon)
    return {name.removeprefix("rows_"): value for name, value in known.items()}


def features(known, X, times, parts, forecasts):
    """Return features (k, m, D) of rows X (k, d), the kinds last, from one snapshot or from k.

    `times` (k, p) are the phases of the rows, `parts` (k, 48) their parts of the seasons, and
    forecasts (k, m) what was said of them.
    """
    x = _views.standardised(X, known["mean"], known["scale"])[:, None]
    said = ((forecasts - known["level"]) / known["unit"])[..., None]
    x = np.concatenate([np.broadcast_to(x, (*said.shape[:2], x.shape[2])), said], axis=2)
    x = np.nan_to_num(x, nan=0.0)
    each = np.broadcast_to(times[:, None], (*said.shape[:2], times.shape[1]))
    there = np.broadcast_to(parts[:, None], (*said.shape[:2], parts.shape[1]))
    return np.concatenate([_static.features(x, each), there, _ranges(x)], axis=2)


def parts_of(rows, seasons):
    """Return in which part of the first two seasons each of k rows is (k, 48): one, or none."""
    rows = np.asarray(rows)
    parts = np.zeros((len(rows), 2, _N_PARTS))
    for k, season in enumerate(seasons[:2].tolist()):
        if season:  # days of a week, where there are days
            n_parts = round(season / seasons[0]) if k else season
            n_parts = min(max(n_parts, 2), _N_PARTS)
            parts[np.arange(len(rows)), k, n_parts * (rows % season) // season] = 1.0
    return parts.reshape(len(rows), -1)


def issued(known, Z, base):
    """Return what was said of rows of these features by an origin, or by one for each step.

    Returns
    -------
    reaches : ndarray of shape (2, levels, k, m)
        Those that do not know the row, which are given as `base`, and those that do.
    mixed : ndarray of shape (levels, k, m)
        Their mean, as it is issued; -1 where nothing is known.
    logarithms : ndarray of shape (k, m)
        Of how many times the usual size the errors of these rows have.
    """
    theta, slopes = known["theta"], known["slopes"]
    logarithms = np.clip((Z * theta).sum(axis=-1), -_FARTHEST, _FARTHEST)
    kinds = Z[..., -slopes.shape[-1] :]
    shift = np.moveaxis(kinds @ slopes.swapaxes(-1, -2), -1, 0)  # (levels, k, m)
    radii = np.maximum.accumulate(known["radii"] + np.clip(shift, -_FARTHEST, _FARTHEST))
    reach = known["size"] * np.exp(logarithms + radii)
    shares = known["shares"]
    mixed = shares[0] * base + shares[1] * reach
    return np.stack([base, reach]), np.where(base >= 0.0, mixed, -1.0), logarithms


def learn(state, known, Z, base, errors, sizes, trust=1.0):
    """Learn the errors (H, m) of the forecasts of a row, NaN unknown, 1 to H steps ahead.

    Parameters
    ----------
    known : dict
        Snapshots of the origins, with a leading axis H, those of steps at their step.
    Z : ndarray of shape (H, m, D)
        The features of the row, as of each of them.
    base : ndarray of shape (levels, H, m)
        What the intervals that do not know the row were.
    sizes : ndarray of shape (H, m)
        The size of errors in the long run, 0 where nothing is known.
    trust : ndarray of shape (H, m), default=1.0
        What each error counts for in sizes.
    """
    reaches, mixed, logarithms = issued(known, Z, base)
    judged = np.isfinite(errors) & (sizes > 0.0) & (base[0] >= 0.0)
    unit = np.where(judged, sizes, np.nan)
    losses = [_score(np.abs(errors), reach) / unit for reach in (*reaches, mixed)]
    _fixed_share.learn(state["shares"], np.stack(losses[:2]), losses[2])
    heard = np.where(judged, errors, np.nan)
    _track(state, Z[..., -len(state["seen"]) :], heard, reaches[1])
    _intervals.judge(state["intervals"], heard, reaches[1])
    _intervals.measure(state["intervals"], errors, np.exp(logarithms), trust)
    relative = np.log(np.maximum(np.abs(errors) / unit, _LEAST))
    n_known = np.maximum(judged.sum(axis=0), 1)
    row = np.where(judged[..., None], Z, 0.0).sum(axis=0) / n_known[:, None]
    target = np.where(judged.any(axis=0), np.where(judged, relative, 0.0).sum(axis=0), np.nan)
    _delayed_ridge.learn(state["ridge"], row[:, None], (target / n_known)[None, :, None, None])


def _track(state, kinds, errors, reach):
    """Let the kinds of a row (H, m, K) hear what missed, in the mean of all that said something."""
    missed, n_judged = _intervals.misses(errors, reach)
    n_judged = n_judged[0].sum()
    if n_judged:
        there = np.where(np.isfinite(errors)[..., None], kinds, 0.0)
        state["seen"] = state["seen"] + there.sum(axis=(0, 1)) / n_judged
        change = np.tensordot(missed, there, 2) / n_judged
        state["slopes"] = state["slopes"] + change / (_BEGINNING + state["seen"])


def _score(sizes, reach):
    """Return weighted interval scores (H, m), as multiples of one another."""
    outside = (1.0 - _intervals.LEVELS)[:, None, None]
    return (outside * reach + np.maximum(sizes - reach, 0.0)).mean(axis=0)


def _ranges(x):
    """Return how low, usual and high columns (..., d) are, which sums to one (..., 3 d)."""
    x = np.clip(x, -1.0, 1.0)
    return np.concatenate([np.maximum(-x, 0.0), 1.0 - np.abs(x), np.maximum(x, 0.0)], axis=-1)
