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
        "radius": np.broadcast_to(_GAUSSIAN, (*lead, len(LEVELS))).copy(),
    }


def phases_of(rows, season):
    """Return in which part of the season each of some rows is; always the first without one."""
    return _N_PHASES * (np.asarray(rows) % season) // season if season else np.zeros_like(rows)


def reaches(state, phases):
    """Return how far intervals of all `LEVELS` reach (H, m, levels); -1 before any error is known.

    `phases` (H,) are those of the rows to come.
    """
    steps, weight = np.arange(len(phases)), state["weight"]
    factor = _factor(state["phase_size"][phases, steps], state["phase_weight"][phases, steps])
    unit = state["size"] / np.where(weight > 0.0, weight, 1.0) * factor
    found = unit[..., None] * np.exp(np.maximum.accumulate(state["radius"], axis=-1))
    return np.where(weight[..., None] > 0.0, found, -1.0)


def interpolated(known, coverage):
    """Return what of `reaches` (H, m, levels) belongs to other coverages (k,); infinite for -1."""
    deviations = ndtri(0.5 + coverage / 2.0), ndtri(0.5 + LEVELS / 2.0)
    place = np.interp(*deviations, np.arange(len(LEVELS)))
    low = np.minimum(place.astype(int), len(LEVELS) - 2)
    share = place - low
    mixed = (1.0 - share) * known[..., low] + share * known[..., low + 1]
    return np.where(mixed >= 0.0, mixed, np.inf)


def learn(state, errors, issued, phase):
    """Learn the errors (J, m) of the forecasts of a row, NaN unknown, 1 to J steps ahead.

    `issued` (J, m, levels) is how far the intervals of these reached, and `phase` the row's own.
    """
    n_steps, known = len(errors), np.isfinite(errors)
    sizes = np.where(known, np.abs(errors), 0.0)
    rate = _RATE / np.sqrt(np.arange(1.0, n_steps + 1.0))[:, None, None]
    missed = sizes[..., None] > issued
    judged = known[..., None] & (issued >= 0.0)
    state["radius"][:n_steps] += np.where(judged, rate * (missed - (1.0 - LEVELS)), 0.0)

    size, weight = state["size"][:n_steps], state["weight"][:n_steps]
    own, counted = state["phase_size"][phase, :n_steps], state["phase_weight"][phase, :n_steps]
    factor, there = _factor(own, counted), known & (size > 0.0)
    relative = sizes * weight / np.where(there, size, 1.0)
    own += np.where(there, (_PHASE_FADING - 1.0) * own + relative, 0.0)
    counted += np.where(there, (_PHASE_FADING - 1.0) * counted + 1.0, 0.0)
    size += np.where(known, (_FADING - 1.0) * size + sizes / factor, 0.0)
    weight += np.where(known, (_FADING - 1.0) * weight + 1.0, 0.0)


def checked_coverage(coverage):
    """Return coverages as an array, or say what is wrong with them."""
    levels = np.atleast_1d(np.asarray(coverage, dtype=np.float64))
    if levels.ndim != 1 or not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"coverage={coverage!r}: give numbers above 0 and below 1, such as 0.9.")
    return levels


def _factor(size, weight):
    return np.maximum(size / weight, 1e-3) ** _PHASE_POWER
