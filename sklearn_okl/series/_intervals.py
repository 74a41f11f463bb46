r"""Intervals of each step and series: adaptive conformal inference on forecasts of that age.

An interval of coverage c reaches :math:`u e^{r_c}` to both sides of the forecast, with u the size
that errors of this step have had lately, and at this phase of the season. When a target is known,
each of the intervals issued for it is judged as it was issued, and

.. math:: r_c \leftarrow r_c + \eta_h (\mathrm{miss} - (1 - c)),

which is adaptive conformal inference (I. Gibbs, E. Candès, "Adaptive conformal inference under
distribution shift", NeurIPS 2021, eq. (2)) on the logarithm of the radius in place of its level:
the quantile tracker of A. N. Angelopoulos, E. J. Candès, R. J. Tibshirani, "Conformal PID control
for time series prediction", NeurIPS 2023, eq. (4). Whatever the errors are, as long as r stays
within a range of width b, the share of misses in any T rounds is within :math:`b / (\eta_h T)` of
1 - c. In step h, h - 1 intervals are out while one is judged, and share its cause; so the rate is
:math:`\eta_h = \eta / \sqrt h`.
"""

import numpy as np
from scipy.special import ndtri

LEVELS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99])
_GAUSSIAN = np.log(ndtri(0.5 + LEVELS / 2.0) * np.sqrt(np.pi / 2.0))  # quantiles over the mean size
_RATE = 0.05  # eta
_FADING = 0.98  # of the size of the errors, per row
_N_PHASES = 24  # parts of the season that have a size of their own
_PHASE_FADING = 0.99  # of these, per season
_PHASE_PRIOR = 5.0  # seasons that a size relative to all others begins with, at 1
_PHASE_POWER = 0.7  # a part of what a phase differs by is chance


def start(horizon, n_series):
    """Return the state of intervals that have not been judged."""
    lead = horizon, n_series
    return {
        "size": np.zeros(lead),  # faded sum of abs(error), in running deviations of the series
        "weight": np.zeros(lead),
        "phase_size": np.full((_N_PHASES, *lead), _PHASE_PRIOR),  # relative to the size
        "phase_weight": np.full((_N_PHASES, *lead), _PHASE_PRIOR),
        "radius": np.broadcast_to(_GAUSSIAN[:, None, None], (len(LEVELS), *lead)).copy(),
    }


def phases_of(rows, season):
    """Return in which part of the season each of some rows is; always the first without one."""
    return _N_PHASES * (np.asarray(rows) % season) // season if season else np.zeros_like(rows)


def reaches(state, t, season):
    """Return how far intervals of all `LEVELS` reach (levels, H, m) for the rows from t on.

    It is -1 before any error is known.
    """
    weight = state["weight"]
    steps = np.arange(len(weight))
    phases = phases_of(t + steps, season)
    factor = _factor(state["phase_size"][phases, steps], state["phase_weight"][phases, steps])
    unit = state["size"] / np.where(weight > 0.0, weight, 1.0) * factor
    found = unit * np.exp(np.maximum.accumulate(state["radius"]))
    return np.where(weight > 0.0, found, -1.0)


def interpolated(known, coverage):
    """Return what of `reaches` (levels, H, m) belongs to other coverages (k,), as (H, m, k).

    It is infinite where `reaches` has -1.
    """
    deviations = ndtri(0.5 + coverage / 2.0), ndtri(0.5 + LEVELS / 2.0)
    place = np.interp(*deviations, np.arange(len(LEVELS)))
    low = np.minimum(place.astype(int), len(LEVELS) - 2)
    share = (place - low)[:, None, None]
    mixed = (1.0 - share) * known[low] + share * known[low + 1]
    return np.moveaxis(np.where(mixed >= 0.0, mixed, np.inf), 0, -1)


def learn(state, t, season, errors, issued):
    """Learn the errors (H, m) of the forecasts of row t, NaN unknown, 1 to H steps ahead.

    `issued` (levels, H, m) is how far the intervals of these reached.
    """
    known = np.isfinite(errors)
    sizes = np.where(known, np.abs(errors), 0.0)
    rate = _RATE / np.sqrt(np.arange(1.0, len(errors) + 1.0))[:, None]
    missed = sizes > issued
    judged = known & (issued >= 0.0)
    aims = (1.0 - LEVELS)[:, None, None]
    state["radius"] = state["radius"] + np.where(judged, rate * (missed - aims), 0.0)

    phase = phases_of(t, season)
    size, weight = state["size"], state["weight"]
    own, counted = state["phase_size"], state["phase_weight"]
    factor, there = _factor(own[phase], counted[phase]), known & (size > 0.0)
    relative = sizes * weight / np.where(there, size, 1.0)
    state["phase_size"], state["phase_weight"] = own.copy(), counted.copy()
    state["phase_size"][phase] += np.where(there, (_PHASE_FADING - 1.0) * own[phase] + relative, 0)
    state["phase_weight"][phase] += np.where(there, (_PHASE_FADING - 1.0) * counted[phase] + 1.0, 0)
    state["size"] = size + np.where(known, (_FADING - 1.0) * size + sizes / factor, 0.0)
    state["weight"] = weight + np.where(known, (_FADING - 1.0) * weight + 1.0, 0.0)


def checked_coverage(coverage):
    """Return coverages as an array, or say what is wrong with them."""
    levels = np.atleast_1d(np.asarray(coverage, dtype=np.float64))
    if levels.ndim != 1 or not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"coverage={coverage!r}: give numbers above 0 and below 1, such as 0.9.")
    return levels


def _factor(size, weight):
    return np.maximum(size / weight, 1e-3) ** _PHASE_POWER
