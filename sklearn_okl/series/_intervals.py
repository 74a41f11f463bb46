r"""Intervals of each step and series: adaptive conformal inference on forecasts of that age.

An interval of coverage c reaches :math:`u e^{r_c + \kappa s_c}` to both sides of the forecast, with
u what size errors of this step have. When a target is known, each of the intervals issued for it is
judged as it was issued, and

.. math:: r_c \leftarrow r_c + \eta (\mathrm{miss} - (1 - c)) + \eta' (\mathrm{misses} - (1 - c)),

which is adaptive conformal inference (I. Gibbs, E. Candès, "Adaptive conformal inference under
distribution shift", NeurIPS 2021, eq. (2)) on the logarithm of the radius in place of its level:
the quantile tracker of A. N. Angelopoulos, E. J. Candès, R. J. Tibshirani, "Conformal PID control
for time series prediction", NeurIPS 2023, eq. (4). The second term is new: the share of all series
whose intervals missed. What makes forecasts worse, a cold week, mostly does so for all of them, and
their mean says so with less noise. Whatever the errors are, as long as r stays within a range of
width b, the share of misses in any T rounds, of all series together, is within
:math:`b / ((\eta + \eta') T)` of 1 - c.

An r that is to hold whatever comes must be slow, or it follows chance. So s, the faded mean of how
many of all intervals missed, less 1 - c, is added to it: as a controller has a term for what is
wrong now beside the one for all that has been. It is forgotten with the time that it tells of, and
the bound above does not change. With it r needs half the rate, and intervals hold more evenly in
any 500 rows, and are no wider: so it was on rows of `ett_h1` before those that the benchmark
scores.

Nor does r fall further than one below that of Gaussian errors. While a sensor stands still all
intervals hold, and r would sink as long as it does, to rise again for as long when something moves.
The bound above then is one for misses beyond 1 - c only: what has much heavier tails holds more
often than asked.

The size u is a geometric mean of the size of errors in the long run and of their size lately, the
latter with the exponent :math:`.98^h / 2`: of errors h steps ahead one hears h rows later, when
what they say of the rows to come has faded, and half of what a few errors say is chance. Scores
agree: intervals that follow the latest errors of long horizons are wider, and no better (interval
scores on rows of `ett_h1` before those that the benchmark scores). Then u is multiplied by a power
of the size at this phase of the season, relative to that lately; without a season, by the root of
that of the latest rows. What a phase differs by may be chance, or where nights are quiet the most
that is known. So the power p of each step and series is learnt, from 1/2 on, by gradient descent on
weighted interval scores (J. Bracher, E. L. Ray, T. Gneiting, N. G. Reich, "Evaluating epidemic
forecasts in an interval format", PLOS Computational Biology 17(2), 2021), with the rates of AdaGrad
(J. Duchi, E. Hazan, Y. Singer, "Adaptive subgradient methods for online learning and stochastic
optimization", JMLR 12, 2011):

.. math:: p \leftarrow \Bigl[ p - \frac{\delta g}{\sqrt{1 + \sum g^2}} \Bigr]_0^1, \qquad
          g = -\frac{\ln f}{u} \, \mathrm{mean}_c \, (\mathrm{miss} - (1 - c)) R_c,

with f the relative size, R the reaches as they were issued, and :math:`\delta = 1/10`. On made
errors it is at most .1 % worse than the root where phases differ by chance or little, up to 16 %
better where they differ much; rates of .25 and .5 are within .7 % of it, .05 is up to 1.4 % worse.

Errors count in mean changes from row to row: these stay as they are where a series wanders off or
has a trend, and its deviation grows, and they grow with its level where errors do. Of few values
forecasts are worse, and the mean change is not known well: `_views.py` has it in the units, so that
first errors do not make later intervals too wide.

A series of which few errors are known is lent those of all, and the phase is heard from them as
well: over the mean of a few, an error is large by chance, without a bound. On panels of made walks
of 14 to 41 rows what should have been 1 was 1.1 in the mean, and up to 64. Short series have the
size of the mean series, not of the mean error, of which long ones have most. The first errors are
as those of the latest value of a random walk: the mean change, and larger by the root of the steps:
so there is an interval before an error is known. As the size of few errors is not known well, it
is larger by :math:`\sqrt{1 + 1 / n}`, as in Student's law: n are those of all series, and one. What
was forecast of a series that was hardly seen counts for less.
"""

from itertools import pairwise

import numpy as np
from scipy.special import ndtri

LEVELS = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98, 0.99])
_TAIL = 9  # place of that by which, and the highest, it is told how the tails go on
_GAUSSIAN = np.log(ndtri(0.5 + LEVELS / 2.0) * np.sqrt(np.pi / 2.0))  # quantiles over the mean size
_RATE, _SHARED_RATE = 0.002, 0.01  # eta, and that of all series together
_LEAST = _GAUSSIAN - 1.0  # that r falls to
_MOST = 300.0  # that it can rise to: thousands of rounds in which nothing held
_GAIN = 2.0  # kappa, of the misses lately, which fade like the errors
_FADING, _SLOW_FADING = 0.98, 0.9998  # of the sizes of the errors, per row
_POWER = 0.5  # of what errors were lately, and of what phases differ by as long as nobody knows
_POWER_RATE = 0.1  # delta
_LEAST_FACTOR = 0.03  # that a phase makes intervals shorter by: a quiet one may wake up
_N_PHASES = 24  # parts of the season that have a size of their own
_LENT = 3.0  # errors of all series, in units, that the size of few begins with: it differs by 1.8
_EXPECTED = 1.0  # errors that those of all series begin with
_WALK = 0.6  # size of the first of these, a walk's: the mean change, of four values, in units
_VARIANCE = 1.0  # relative one of the size of an error: of a Gaussian one .6, of Laplace's 1
_OWN = 64.0  # errors of a series from which on it has no need of others
_PHASE_FADING = 0.95  # of these, per season; .99, .998 and .9 are wider on early rows of `ett_h1`
_FASTEST = 0.8  # of these without a season, per row, however many series are heard
_PHASE_PRIOR = 5.0  # seasons that a size relative to all others begins with, at 1
_LARGEST = 5.0  # times its usual size that an error counts as in what all series say of a phase
_FADINGS = np.array([_FADING, _SLOW_FADING])[:, None, None]


def start(horizon, n_series):
    """Return the state of intervals that have not been judged."""
    lead = horizon, n_series
    return {
        # faded sums of abs(error), in mean changes of the series, and of their number
        "size": np.zeros((2, *lead)),
        "weight": np.zeros((2, *lead)),
        "phases": np.full((2, _N_PHASES, *lead), _PHASE_PRIOR),  # relative to these, and number
        "power": np.stack([np.full(lead, _POWER), np.ones(lead)]),  # of these, and squared slopes
        "misses": np.zeros((len(LEVELS), horizon, 1)),  # lately, less those wanted
        "radius": np.broadcast_to(_GAUSSIAN[:, None, None], (len(LEVELS), *lead)).copy(),
    }


def is_sound(state):
    """Tell whether what is known of intervals, as in a file, are sizes and shares of misses."""
    phases, power = state.get("phases", np.ones((2, 1))), state.get("power", np.ones((2, 1)))
    sizes = state["size"], state["weight"], phases, power
    return bool(
        all(((size >= 0.0) & (size < np.inf)).all() for size in sizes)
        and (phases[1] > 0.0).all()
        and (power[0] <= 1.0).all()
        and (power[1] >= 1.0).all()
        and are_radii(state)
    )


def are_radii(state):
    """Tell whether what is known of misses, as in a file, is such as they leave behind."""
    radius = state["radius"]
    return bool(
        (np.abs(state["misses"]) <= 1.0).all()
        and ((_LEAST[:, None, None] - 1e-3 <= radius) & (radius <= _MOST)).all()
    )


def phases_of(rows, season):
    """Return in which part of the season each of some rows is; always the first without one."""
    return _N_PHASES * (np.asarray(rows) % season) // season if season else np.zeros_like(rows)


def reaches(state, t, season):
    """Return how far intervals of all `LEVELS` reach (levels, H, m) for the rows from t on."""
    return sizes(state, t, season) * factors(state)


def sizes(state, t, season):
    """Return the size (H, m) that errors of the rows from t on have."""
    steps = np.arange(state["size"].shape[1])
    if season:
        here = state["phases"][:, phases_of(t + steps, season), steps]
    else:
        here = state["phases"][:, 0]
    relative = _relative(here)
    return usual(state) * _factor(state, season, relative)


def factors(state):
    """Return how many times the size of errors intervals of all levels reach (levels, H, m)."""
    found = radii(state)
    for below, own in pairwise(found):  # sooner than NumPy's accumulation
        np.maximum(below, own, out=own)
    return np.exp(found, out=found)


def usual(state):
    """Return the size (H, m) that errors have by now, and more where it is known of few of all."""
    (lately, always), _ = _sizes(state)
    share = (_POWER * _FADING ** np.arange(1.0, len(lately) + 1.0))[:, None]
    n_known = _of_all_series(state["weight"][1]) + _EXPECTED
    return lately**share * always ** (1.0 - share) * np.sqrt(1.0 + _VARIANCE / n_known)


def _sizes(state):
    """Return the sizes (2, H, m) of errors lately and in the long run, and how few are known.

    The latter is 1 where none is, and 0 where so many are that the other series do not count.
    """
    size, weight = state["size"], state["weight"]
    few = np.maximum(1.0 - weight[1] / _OWN, 0.0)
    if few.any():
        lent = _LENT * few
        size, weight = size + lent * _of_all(size, weight), weight + lent
    return size / weight, few


def _of_all(size, weight):
    """Return the mean size (2, H, 1) of the errors of all series; of few it begins as a walk's.

    Long series are others than short ones, if series differ: one that has more errors counts for
    more only as long as its mean is less known than how series differ.
    """
    shares = _LENT / (weight + _LENT)
    total = (shares * weight).sum(axis=-1, keepdims=True)
    means = (shares * size).sum(axis=-1, keepdims=True) / np.where(total > 0.0, total, 1.0)
    weight = weight.sum(axis=-1, keepdims=True)
    for h in np.flatnonzero(weight[1] < _OWN):
        before = means[:, h - 1] * np.sqrt((h + 1.0) / h) if h else _WALK
        own = weight[:, h] * means[:, h]
        means[:, h] = (own + _EXPECTED * before) / (weight[:, h] + _EXPECTED)
    return means


def lasting(state):
    """Return of which steps and series an error is known (H, m), and their size in the long run."""
    size, weight = state["size"][1], state["weight"][1]
    return weight > 0.0, size / np.where(weight > 0.0, weight, 1.0)


def radii(state):
    """Return the logarithms of the radii (levels, H, m), with what is wrong by now."""
    return state["radius"] + _GAIN * state["misses"]


def interpolated(known, coverage):
    """Return what of `reaches` (levels, H, m) belongs to other coverages (k,), as (H, m, k).

    It is infinite where `reaches` has -1. Below the lowest of `LEVELS` it goes on to 0 as a
    Gaussian's, above the highest as an exponential tail through this one and that of .9.
    """
    deviations = ndtri(0.5 + coverage / 2.0), ndtri(0.5 + LEVELS / 2.0)
    place = np.interp(*deviations, np.arange(len(LEVELS)))
    low = np.minimum(place.astype(int), len(LEVELS) - 2)
    share = (place - low)[:, None, None]
    mixed = (1.0 - share) * known[low] + share * known[low + 1]
    reach = np.where(mixed >= 0.0, mixed, np.inf)
    nearer = np.clip(deviations[0] / deviations[1][0], np.finfo(float).tiny, 1.0)
    highest = np.maximum(coverage, LEVELS[-1])
    farther = np.log((1.0 - LEVELS[-1]) / (1.0 - highest)) / np.log(
        (1.0 - LEVELS[_TAIL]) / (1.0 - LEVELS[-1])
    )
    nearer, farther = nearer[:, None, None], farther[:, None, None]
    beyond = reach + farther * (known[-1] - known[_TAIL])
    return np.moveaxis(np.where(farther > 0.0, beyond, nearer * reach), 0, -1)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def around(forecasts, known, units, coverage):
    """Return intervals (h, m, k, 2) of coverages (k,) around forecasts (h, m) of series in units.

    What is `known` is from `reaches`; where it is nothing, an interval is the whole line. So it is
    where sizes are beyond all numbers, or a coverage is 1 but for rounding.
    """
    reach = interpolated(known, coverage)[: len(forecasts)]
    is_known = np.isfinite(reach) & np.isfinite(units)[:, None]
    reach = np.where(is_known, reach, 1.0) * np.where(is_known, units[:, None], np.inf)
    return np.stack([forecasts[..., None] - reach, forecasts[..., None] + reach], axis=-1)


def learn(state, t, season, errors, issued, trust=1.0):
    """Learn the errors (H, m) of the forecasts of row t, NaN unknown, 1 to H steps ahead.

    `issued` (levels, H, m) is how far the intervals of these reached, `trust` (H, m) what an error
    counts for in sizes.
    """
    missed, n_judged = misses(errors, issued)
    hear(state, missed, n_judged)
    phase, (sizes, few) = phases_of(t, season), _sizes(state)
    here = state["phases"][:, phase]
    relative = _relative(here)
    factor = _factor(state, season, relative)
    if season:
        state["power"] = _with_misses(state["power"], missed * issued, sizes[0], relative)
    state["phases"] = state["phases"].copy()
    state["phases"][:, phase] = _with_errors(here, season, errors, sizes[0], few)
    measure(state, errors, factor, trust)


def _with_misses(power, missed, lately, relative):
    """Return the power (2, H, m) that has heard of misses times reaches (levels, H, m)."""
    known = lately > 0.0
    mean = missed.sum(axis=0) / len(missed)
    of_levels = np.where(known, mean, 0.0) / np.where(known, lately, 1.0)
    slopes = of_levels * np.log(relative)
    squares = power[1] + slopes**2
    moved = power[0] + _POWER_RATE * slopes / np.sqrt(squares)
    return np.array([np.minimum(np.maximum(moved, 0.0), 1.0), squares])


def _with_errors(phases, season, errors, lately, few):
    """Return a phase (2, H, m) that knows errors (H, m), too, by what size these have lately.

    Who knows few errors hears of the phase from all series, and without a season from each of them.
    """
    known = np.isfinite(errors) & (lately > 0.0)
    size, expected = np.where(known, np.abs(errors), 0.0), np.where(known, lately, 0.0)
    n, total = _of_all_series(known), _of_all_series(expected)
    shared = _of_all_series(np.minimum(size, _LARGEST * expected))
    shared = shared / np.where(total > 0.0, total, 1.0)
    relative = (1.0 - few) * size / np.where(known, lately, 1.0) + few * shared
    heard = (1.0 - few) * known + few * (n > 0)
    fading = _PHASE_FADING ** (heard if season else heard + few * np.maximum(n - 1.0, 0.0))
    return np.maximum(fading, _FASTEST) * phases + np.array([relative, heard])


def judge(state, errors, issued):
    """Let radii hear whether intervals of reaches (levels, H, m) held errors (H, m), as `learn`."""
    hear(state, *misses(errors, issued))


def hear(state, missed, n_judged):
    """Let radii hear what missed (levels, H, m), as `misses` tells it."""
    shared = _of_all_series(missed) / np.maximum(n_judged, 1)
    radius = state["radius"] + _RATE * missed + _SHARED_RATE * shared
    state["radius"] = np.maximum(radius, _LEAST[:, None, None])
    change = np.where(n_judged > 0, shared - state["misses"], 0.0)
    state["misses"] = state["misses"] + (1.0 - _FADING) * change


def misses(errors, issued):
    """Return which reaches missed, less how often they should, and how many series were judged."""
    judged = np.isfinite(errors) & (issued >= 0.0)
    missed = (np.abs(errors) > issued) - (1.0 - LEVELS)[:, None, None]
    return np.where(judged, missed, 0.0), judged.sum(axis=-1, keepdims=True)


def _of_all_series(numbers):
    """Return sums over series (..., 1): a product, as NumPy's along a short axis take longer."""
    return numbers @ np.ones((numbers.shape[-1], 1))


def measure(state, errors, factor, trust=1.0):
    """Learn the sizes of errors (H, m), NaN unknown, over a factor that is known of each.

    `trust` (H, m) is what an error counts for.
    """
    known = np.isfinite(errors)
    sizes = np.where(known, np.abs(errors), 0.0) / factor
    size, weight = state["size"], state["weight"]
    state["size"] = size + known * ((_FADINGS - 1.0) * size + trust * sizes)
    state["weight"] = weight + known * ((_FADINGS - 1.0) * weight + trust)


def checked_coverage(coverage, name="coverage"):
    """Return coverages, or levels of quantiles, as an array, or say what is wrong with them."""
    try:
        levels = np.atleast_1d(np.asarray(coverage, dtype=np.float64))
    except (TypeError, ValueError):
        levels = np.empty((0, 0))
    if levels.ndim != 1 or not levels.size or not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"{name}={coverage!r}: give numbers above 0 and below 1, such as 0.9.")
    return levels


def _relative(phases):
    """Return the size of errors at a phase (2, H, m), relative to that of all."""
    size, weight = phases
    return np.maximum(size / weight, 1e-3)


def _factor(state, season, relative):
    """Return what a relative size (H, m) makes of intervals."""
    return np.maximum(relative ** (state["power"][0] if season else _POWER), _LEAST_FACTOR)
