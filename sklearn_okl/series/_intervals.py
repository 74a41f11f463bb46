r"""Intervals of each step and series: adaptive conformal inference on forecasts of that age.

An interval of coverage c reaches :math:`u e^{r_c}` to both sides of the forecast, with u the faded
mean size of the errors of this step. When a target is known, each of the intervals issued for it is
judged as it was issued, and

.. math:: r_c \leftarrow r_c + \eta (\mathrm{miss} - (1 - c)),

which is adaptive conformal inference (I. Gibbs, E. Candès, "Adaptive conformal inference under
distribution shift", NeurIPS 2021, eq. (2)) on the logarithm of the radius in place of its level:
the quantile tracker of A. N. Angelopoulos, E. J. Candès, R. J. Tibshirani, "Conformal PID control
for time series prediction", NeurIPS 2023, eq. (4). Whatever the errors are, as long as r stays
within a range of width b, the share of misses in any T rounds is within :math:`b / (\eta T)` of
1 - c. In step h, h - 1 intervals are out while one is judged, and share one cause; its rate is
smaller.
"""

import numpy as np
from scipy.special import ndtri

LEVELS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99])
_GAUSSIAN = np.log(ndtri(0.5 + LEVELS / 2.0) * np.sqrt(np.pi / 2.0))  # quantiles over the mean size
_RATE = 0.05  # eta of the first step
_FADING = 0.99  # of the size of the errors


def start(horizon, n_series):
    """Return the state of intervals that have not been judged."""
    lead = horizon, n_series
    return {
        "size": np.zeros(lead),  # faded sum of abs(error), in running deviations of the series
        "weight": np.zeros(lead),
        "radius": np.broadcast_to(_GAUSSIAN, (*lead, len(LEVELS))).copy(),
    }


def reaches(state):
    """Return how far intervals of all `LEVELS` reach (H, m, levels); infinite before any error."""
    weight = state["weight"]
    unit = np.where(weight > 0.0, state["size"] / np.where(weight > 0.0, weight, 1.0), np.inf)
    ordered = np.maximum.accumulate(state["radius"], axis=-1)
    return unit[..., None] * np.exp(ordered)


def reach(state, coverage):
    """Return how far intervals of some coverages (k,) reach, (H, m, k)."""
    place = np.interp(
        ndtri(0.5 + coverage / 2.0), ndtri(0.5 + LEVELS / 2.0), np.arange(len(LEVELS))
    )
    low = np.minimum(place.astype(int), len(LEVELS) - 2)
    share = place - low
    known = reaches(state)
    with np.errstate(invalid="ignore"):
        mixed = (1.0 - share) * known[..., low] + share * known[..., low + 1]
    return np.where(np.isfinite(known[..., low]), mixed, np.inf)


def learn(state, errors, issued):
    """Learn errors (J, m) of the first J steps, NaN unknown, of intervals issued (J, m, levels)."""
    n_steps = len(errors)
    sizes = np.abs(errors)
    known = np.isfinite(errors)
    rate = _RATE / np.sqrt(np.arange(1.0, n_steps + 1.0))[:, None, None]
    judged = known[..., None] & np.isfinite(issued)
    missed = sizes[..., None] > issued
    state["radius"][:n_steps] += np.where(judged, rate * (missed - (1.0 - LEVELS)), 0.0)
    size, weight = state["size"][:n_steps], state["weight"][:n_steps]
    size += np.where(known, (_FADING - 1.0) * size + np.where(known, sizes, 0.0), 0.0)
    weight += np.where(known, (_FADING - 1.0) * weight + 1.0, 0.0)


def checked_coverage(coverage):
    """Return coverages as an array, or say what is wrong with them."""
    levels = np.atleast_1d(np.asarray(coverage, dtype=np.float64))
    if levels.ndim != 1 or not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"coverage={coverage!r}: give numbers above 0 and below 1, such as 0.9.")
    return levels
