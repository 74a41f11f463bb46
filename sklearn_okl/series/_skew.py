r"""How errors lie above and below: quantiles whose two sides differ.

An interval reaches as far up as down, and holds its share whatever the errors are. A quantile is to
say on which side they lie. So each step and series has a law of its past errors, in the size that
was expected of them: faded counts in bins of :math:`\operatorname{arsinh}`, wide where errors are
large. With :math:`h_\alpha` its quantiles, :math:`s_c` that of the sizes alone,
and :math:`R_c` how far the interval of coverage :math:`c = |2 \alpha - 1|` reaches, the quantile is
the forecast and

.. math:: R_c \, h_\alpha / s_c,

which is :math:`\pm R_c` where the law is alike on both sides. What makes errors large or small by
now is in R, the law says how far each side goes over how large errors are.

Whether there are two sides is a doubt: so the law is a mixture of the one that was counted, and of
the same with both sides exchanged half of the time. Odds weigh them by what they said of each error
before it came (A. P. Dawid, "Statistical theory: the prequential approach", JRSS A 147, 1984), and
return by a share to where they began (M. Herbster, M. K. Warmuth, "Tracking the best expert",
Machine Learning 32, 1998). Errors h steps ahead overlap: h of them say as much as one. And what was
said of one, h rows ago, had not heard of those in between: so there is a second count, by as much
behind, as radii have one in `_reached.py`.

Where errors have become much smaller, the law is one of then and now for some hundreds of rows, in
which quantiles may be up to a tenth worse than the ends of intervals, which are too long there.

Steps share laws with those beside them, as few as members of smoothing are judged at. Few errors
are lent the law and the odds of all series, and these are lent a Gaussian law. On made series whose
errors are skewed quantiles have .86 to 1.0 of the pinball loss of those at the ends of intervals,
and where errors are alike on both sides 1.003 at most in the first 200 rows, and 1.000 later.
"""

from functools import cache

import numpy as np
from scipy.special import expit, ndtr, ndtri

from . import _intervals, _smoothing_rates
from ._intervals import LEVELS

NOT_JUDGED = 255  # a number that files hold: none below 0 is a bin
_N_BINS = 64  # half of them on each side
_FINE = 0.02  # sizes below which bins are about equally wide: errors may have become that small
_FARTHEST = 7.0  # arsinh of the last edge over these, 11 sizes
_TOGETHER = 4  # bins that are one where odds are learnt: finer ones are seldom hit
_ROUNDING = 1e-8  # of a size, up to which an error lies on no side
_FADING = 0.9995  # of the counts, per row
_OF_GAUSSIAN = 32.0  # rows that a Gaussian law counts for, and one for each that overlaps
_LENT = 32.0  # rows that the law of all series counts for, and one for each that overlaps
_LEVEL = 0.02  # of the Gaussian law, that all bins share: so no odds are without an end
_DOUBT = 0.1  # probability of two sides beforehand
_SHARE = 1e-3  # that odds return by, per row
_N = len(LEVELS)
_ALPHA = np.concatenate([0.5 - LEVELS[::-1] / 2.0, [0.5], 0.5 + LEVELS / 2.0])
_LEVEL_OF = np.abs(np.arange(-_N, _N + 1)) - 1  # place of the level that each is an end of
_LEVEL_OF[_N] = 0  # of the median, whose level is nearest


def start(horizon, n_series):
    """Return the counts before the first error, and the odds."""
    shape = len(_overlapping(horizon)), n_series
    return {
        # faded counts of errors by bin, for groups of steps, and as origins of the next row know it
        "counts": np.zeros((2, _N_BINS, *shape)),
        "odds": np.full(shape, np.log(_DOUBT / (1.0 - _DOUBT))),  # logarithms, of two sides
    }


def is_sound(state):
    """Tell whether counts, as in a file, are such, and odds within what they return to."""
    counts, most = state["counts"], 1.0 - np.log(_SHARE * _DOUBT)
    is_counted = (counts >= 0.0) & (counts < np.inf)
    return bool(is_counted.all() and (np.abs(state["odds"]) <= most).all())


def are_bins(places):
    """Tell whether numbers, as in a file, are such as `bins` returns."""
    return bool(((places < _N_BINS) | (places == NOT_JUDGED)).all())


def bins(errors, sizes):
    """Return in which bins errors (H, m) lie, in sizes (H, m); `NOT_JUDGED` where nobody can tell.

    One that is none but for rounding lies on no side.
    """
    judged = np.isfinite(errors) & (np.abs(errors) > _ROUNDING * sizes) & (sizes > 0.0)
    over = np.where(judged, errors, 0.0) / np.where(judged, _FINE * sizes, 1.0)
    places = (np.arcsinh(over) / _FARTHEST + 1.0) * (_N_BINS / 2.0)
    places = np.minimum(np.maximum(places, 0.0), _N_BINS - 1.0)
    return np.where(judged, places, NOT_JUDGED).astype(np.uint8)


def learn(state, came, before):
    """Learn the bins (H, m) of a row's errors, and of those that the next row's origins know."""
    horizon, heard = len(came), came != NOT_JUDGED
    known = _lent(state["counts"][1], horizon)
    known = known.reshape(-1, _TOGETHER, *known.shape[1:]).sum(axis=1)
    of_bins = np.where(heard, came // _TOGETHER, 0)
    places = of_bins, _groups(horizon)[:, None], np.arange(came.shape[1])
    counted, mirrored = known[places], known[::-1][places]
    said = np.where(heard, np.log(2.0 * counted / (counted + mirrored)), 0.0)
    odds = state["odds"] + _means(horizon) @ said / _overlapping(horizon)
    of_two = (1.0 - _SHARE) * expit(odds) + _SHARE * _DOUBT
    state["odds"] = np.log(of_two / (1.0 - of_two))
    state["counts"] = _with(state["counts"], np.array([came, before]))


def sides(state, horizon):
    """Return the quantiles of all `_ALPHA` as times of the reach of their level (2 n + 1, H, m)."""
    counted = _lent(state["counts"][0], horizon)
    is_alike = 1.0 - _of_two_sides(state, horizon)
    law = (1.0 - is_alike / 2.0) * counted + is_alike / 2.0 * counted[::-1]
    sizes = law[_N_BINS // 2 :] + law[: _N_BINS // 2][::-1]
    ends = _quantiles(law, _ALPHA, -1.0) / _quantiles(sizes, LEVELS, 0.0)[_LEVEL_OF]
    return ends[:, _groups(horizon)]


def _of_two_sides(state, horizon):
    """Return the probabilities (groups, m) of two sides; of few errors with that of all series."""
    n, found, overlap = state["counts"][0].sum(axis=0), expit(state["odds"]), _overlapping(horizon)
    n_gaussian, lent = _OF_GAUSSIAN + overlap, _LENT + overlap
    of_all = (n * found).sum(axis=-1, keepdims=True) + n_gaussian * _DOUBT
    of_all = of_all / (n.sum(axis=-1, keepdims=True) + n_gaussian)
    return (n * found + lent * of_all) / (n + lent)


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def quantiles(forecasts, known, sides, units, alpha):
    """Return quantiles (h, m, q) of levels (q,) around forecasts (h, m) of series in units (m,).

    Given are how far intervals reach (levels, h, m), -1 where nothing is known, and `sides` of as
    many steps. Where nothing is known quantiles are infinite, but for the median. They go on beyond
    the highest level as intervals do, on each side as far as it goes there.
    """
    offsets = known[_LEVEL_OF] * sides
    offsets[_N:] = np.maximum.accumulate(offsets[_N:])
    offsets[_N::-1] = np.minimum.accumulate(offsets[_N::-1])
    place = np.interp(ndtri(alpha), ndtri(_ALPHA), np.arange(2.0 * _N + 1.0))
    low = np.minimum(place.astype(int), 2 * _N - 1)
    share, is_upper = (place - low)[:, None, None], (alpha > 0.5)[:, None, None]
    found = (1.0 - share) * offsets[low] + share * offsets[low + 1]
    coverage = np.abs(2.0 * alpha - 1.0)
    if (coverage > LEVELS[-1]).any():
        reach = np.moveaxis(_intervals.interpolated(known, coverage), -1, 0)
        way = np.where(is_upper, np.abs(sides[-1]), -np.abs(sides[0]))
        found = found + way * np.maximum(reach - known[-1], 0.0)  # nothing below the highest level
    is_known = (known[0] >= 0.0) & np.isfinite(units) & np.isfinite(found)
    unknown = np.where(alpha == 0.5, 0.0, np.where(alpha > 0.5, np.inf, -np.inf))[:, None, None]
    return np.moveaxis(forecasts + np.where(is_known, found * units, unknown), 0, -1)


@cache
def _groups(horizon):
    """Return in which group of steps each is (H,)."""
    return np.searchsorted(_smoothing_rates.judged_steps(horizon), np.arange(horizon))


@cache
def _means(horizon):
    """Return what steps count for (groups, H) in the means of groups."""
    groups = _groups(horizon)
    return (groups == np.arange(groups[-1] + 1)[:, None]) * _shares(horizon).T


@cache
def _shares(horizon):
    """Return what each step counts for (H, 1) in its group."""
    groups = _groups(horizon)
    return (1.0 / np.bincount(groups)[groups])[:, None]


@cache
def _overlapping(horizon):
    """Return how many errors overlap (groups, 1), at the last step of each group."""
    return _smoothing_rates.judged_steps(horizon)[:, None] + 1.0


@cache
def _gaussian():
    """Return the probabilities (bins, 1, 1) of a Gaussian error over its mean size."""
    edges = _FINE * np.sinh(np.linspace(-_FARTHEST, _FARTHEST, _N_BINS + 1))
    edges[[0, -1]] = -np.inf, np.inf
    law = np.diff(ndtr(edges / np.sqrt(np.pi / 2.0)))
    return ((1.0 - _LEVEL) * law + _LEVEL / _N_BINS)[:, None, None]


def _lent(counts, horizon):
    """Return laws (bins, groups, m): of few errors with the law of all series, and a Gaussian."""
    overlap = _overlapping(horizon)
    # series that err together say less than as many that do not
    m = counts.shape[-1]
    of_all = counts @ np.full((m, 1), 1.0 / np.sqrt(m))
    of_all += (_OF_GAUSSIAN + overlap) * _gaussian()
    of_all *= (_LENT + overlap) / of_all.sum(axis=0)
    laws = counts + of_all
    laws /= laws.sum(axis=0)
    return laws


def _with(counts, came):
    """Return faded counts (2, bins, groups, m) with bins (2, H, m), a group's for one row."""
    _, n_bins, n_groups, m = counts.shape
    horizon, heard = came.shape[1], came != NOT_JUDGED
    groups, shares = _groups(horizon)[:, None], _shares(horizon)
    of_bins = np.where(heard, came, 0) + n_bins * np.arange(2)[:, None, None]
    places = (of_bins * n_groups + groups) * m + np.arange(m)
    new = np.bincount(places.ravel(), (heard * shares).ravel(), counts.size).reshape(counts.shape)
    left = 1.0 - (1.0 - _FADING) * new.sum(axis=1, keepdims=True)
    new += counts * left
    return new


def _quantiles(law, levels, first):
    """Return quantiles (levels, groups, m) of laws (bins, groups, m), linear within a bin.

    The bins are from `first` on, -1 for both sides and 0 for one, in parts of `_FARTHEST`.
    """
    n_bins, *shape = law.shape
    law = law.reshape(n_bins, -1).T
    below = np.cumsum(law, axis=1)
    columns = np.arange(len(law))
    # in one search: those of each law are beyond all of the law before it
    wanted = levels[:, None] * below[:, -1] + 2.0 * columns
    place = np.searchsorted((below + 2.0 * columns[:, None]).ravel(), wanted) - n_bins * columns
    place = np.minimum(place, n_bins - 1)
    share = (levels[:, None] * below[:, -1] - below[columns, place]) / law[columns, place] + 1.0
    ends = first + (place + np.clip(share, 0.0, 1.0)) * ((1.0 - first) / n_bins)
    return (_FINE * np.sinh(_FARTHEST * ends)).reshape(len(levels), *shape)
