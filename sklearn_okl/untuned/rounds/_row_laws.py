r"""Laws of errors whose size is told by the row: what `_running_errors.py` is to running sizes.

Four laws are mixed, each a table of quantiles times a size: those of the sizes of the errors over
their running size, to both sides alike; those of the errors over the sizes issued for their rows,
to both sides alike; the same, each side by itself, which learns skewness with half as many scores;
and this by the latest `_BRIEF` scores alone, for forecasts that lean to one side for a while. The
other tables are of the latest `WINDOW` scores. All are taken anew every `_EVERY` rounds, and
weights are exponential in the CRPS, of which a loss convex in the quantiles is made: the mean of
the quantiles loses no more than the mean of the losses. The rates are second-order, as BOA's are,
and weights are shared (Herbster & Warmuth 1998), so that a law that was far ahead is left within
some tens of rounds when its time is over: errors that leaned to one side lean no more.

On top, levels move by eq. (2) of Gibbs & Candès for central intervals of this law, which are
nested. A target needs the level whose interval would just hold it. Up to `_REACHES[-1]` that is
told by the law; higher ones hold as much, and above 1 the double for each step of the distance from
the median. So the bound of `_running_errors.py` holds word by word with this step, where k counts
doublings over the outermost quantiles of the row.

Laws to both sides alike have the forecast for their median, which half of the targets need not lie
below. So the median is tracked as well: what stands for it is a quantile of the law whose level
moves by a quarter of the step, which costs less than a thousandth of the CRPS where it need not
move. Central intervals lean with it, those of half the targets and more not at all: all are nested.
"""

from collections import deque
from functools import cache

import numpy as np

from ..._delay import late
from ..._linalg import row_slices
from ...conformal._running_errors import (
    LEVELS,
    WINDOW,
    _learn_size,
    _rising,
    _unit,
    forgive,
    standard_deviation,
)
from . import _densities

__all__ = ["forgive", "learn", "offsets", "standard_deviation", "start"]

STEP = 0.02  # gamma: smaller than that of running sizes, as the law below knows more
_EVERY = 8  # rounds between two tables, once there are as many
_YOUNG = 32  # rounds in which each has its own
# coverages of the central intervals of a table; the last ones are the largest scores
_REACHES = np.concatenate([np.arange(0, 100, 2) / 100.0, [0.99, 0.996]])
_SIDES = np.concatenate([-_REACHES[:0:-1], _REACHES])  # the same, those below the median negative
_CALM = 0.25  # steps by which the median moves, over those of intervals
_LEANING = 0.2  # most that its level is off a half
_SCORED = np.arange(0, 50, 5)  # places of 0 to 90 %, in tens: 19 quantiles
_ALPHA = np.concatenate([0.5 - _REACHES[_SCORED] / 2.0, 0.5 + _REACHES[_SCORED[1:]] / 2.0])
_OF_ALPHA = np.concatenate([_SCORED, len(_REACHES) + _SCORED[1:]])  # where they are, side by side
_TILE = 128  # rows whose quantiles are held at once
_FADING = 0.998  # of the squares that rates are taken of
_RATE = 1.0  # the largest rate of their weights
_MOST = 0.5  # the largest gain of a law in a round, in running sizes: BOA's bound asks for half
_SHARE = 2.0 / WINDOW  # of the weights, a round, that goes evenly to all laws
_BRIEF = WINDOW // 4  # scores of the law that is soon found and soon forgotten
_N_LAWS = 4
_TINY = np.finfo(float).tiny
_BETWEEN = 1e-4, 1e4  # sizes of rows, over running ones


def start(delay=0):
    """Return the state of laws that have seen no error, and see each `delay` rounds late."""
    known = {
        "units": np.full((), -1.0),  # the running size of errors; -1 where none is known
        "shares": np.full(_N_LAWS, 1.0 / _N_LAWS),  # weights of the laws
        "tables": np.zeros((_N_LAWS, 2, len(_REACHES))),  # their quantiles to both sides, in sizes
        "levels": LEVELS.copy(),
        "center": np.zeros(()),  # level of the median, less a half
    }
    return known | {
        "t": 0,  # errors seen
        "size": 0.0,  # faded sum of abs(error)
        "weight": 0.0,
        "largest": 0.0,
        "scores": np.empty((0, 2)),  # the latest WINDOW: over running sizes, over those of rows
        "squares": np.zeros(_N_LAWS),  # faded sums of squared gains
        "density": _densities.start(),
        "since": np.zeros((2, _N_LAWS)),  # gains and their squares since weights were taken
        # what was known before each of the latest rounds
        "issued": {
            name: np.stack([part] * delay) if delay else np.empty((0, *part.shape))
            for name, part in known.items()
        },
    }


def learn(state, errors, sizes, faulty=None, weights=None, trace=None):
    """Learn errors of forecasts (n,), and the sizes (n,) issued for their rows.

    Returns in how many rounds each level held. A `trace`, a list, gets the quantiles (199,) issued
    for each. What is `faulty` (n,), or has no weight, is a hit or
    a miss, and no score.
    """
    weights = np.ones(len(errors)) if weights is None else weights
    kept = weights > 0.0 if faulty is None else (weights > 0.0) & ~faulty
    parts, covered = (errors, sizes, kept, weights), np.zeros(len(LEVELS), dtype=int)
    for rows in row_slices(len(errors), _TILE):
        covered += _learn_tile(state, *(part[rows] for part in parts), trace)
    return covered


def offsets(state, sizes, ago=0):
    """Return how far the `QUANTILES` (n, 199) lie from forecasts whose errors are of such sizes.

    By what was known some rounds `ago`, at most as many as errors are late.
    """
    n, unit, now = len(sizes), _unit(state), state
    known = bool(len(state["scores"])) or (state["weight"] > 0.0 and state["size"] == 0.0)
    if ago:
        now = {name: part[-ago] for name, part in state["issued"].items()}
        known, unit = bool(now["units"] >= 0.0), max(float(now["units"]), 0.0)
    scales = _scales(np.full(n, unit), sizes)
    law = _mixed(np.broadcast_to(now["shares"], (n, _N_LAWS)), scales, now["tables"][None])
    moved = np.tile(_rising(now["levels"]), (n, 1)), np.full(n, now["center"])
    return _offsets(law, *moved, np.full(n, known), _step(state))


def log_density(state, errors, sizes):
    """Return the logarithms (n,) of the densities of errors of such sizes, NaN where none is."""
    scales = _scales(np.full(len(sizes), _unit(state)), sizes)[:, :2]
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _densities.log_density(state["density"], errors, scales)
    return np.where((scales > 0.0).all(axis=1), found, np.nan)


def _offsets(law, levels, centers, known, step):
    """Return quantiles (n, 199) of laws (n, 2, J) by levels (n, 99), infinite if not `known`."""
    below, above = np.maximum.accumulate(np.stack([-law[:, 0], law[:, 1]]), axis=-1)
    law, median = np.concatenate([-below[:, :0:-1], above], axis=1), above[:, :1]
    inside, leaning = np.clip(levels, 0.0, _REACHES[-1]), 2.0 * centers[:, None]
    leaned = leaning * np.maximum(1.0 - 2.0 * inside, 0.0)
    places = np.concatenate([(leaned - inside)[:, ::-1], leaning, leaned + inside], axis=1)
    high = np.clip(np.searchsorted(_SIDES, places), 1, len(_SIDES) - 1)
    share = (places - _SIDES[high - 1]) / (_SIDES[high] - _SIDES[high - 1])
    low, high = (np.take_along_axis(law, at, axis=1) for at in (high - 1, high))
    found = low + share * (high - low)
    with np.errstate(over="ignore"):
        wider = np.exp2(np.maximum(levels - 1.0, 0.0) / step)
        wider = np.concatenate([wider[:, ::-1], np.ones_like(leaning), wider], axis=1)
        found = np.where(wider > 1.0, median + (found - median) * wider, found)
    middle = len(LEVELS)
    low, high = found[:, middle::-1], found[:, middle:]
    low, high = -np.maximum.accumulate(-low, axis=1), np.maximum.accumulate(high, axis=1)
    found = np.concatenate([low[:, :0:-1], high], axis=1)
    nothing = np.concatenate([np.full(middle, -np.inf), [0.0], np.full(middle, np.inf)])
    return np.where(known[:, None], found, nothing)


def _step(state):
    """Return the step of the levels, less where many are out: their misses may have one cause."""
    return STEP / (1.0 + len(state["issued"]["units"]))


def _learn_tile(state, errors, sizes, kept, weights, trace=None):
    """Learn a few rows; return in how many of them each level held."""
    n, issued = len(errors), state["issued"]
    path = _learn_units(state, np.abs(errors), kept, weights)
    units, issued["units"] = late(path, issued["units"])
    knows, units = units >= 0.0, np.maximum(units, 0.0)
    scales = _scales(units, sizes)
    dues = _dues(state["t"], n)
    of_rows = np.searchsorted(dues, np.arange(n), side="right")
    path = _learn_tables(state, errors, scales, kept, dues)[of_rows]
    tables, issued["tables"] = late(path, issued["tables"])
    losses = _losses(errors, units, scales, tables)
    path = _learn_shares(state, losses, dues)[of_rows]
    shares, issued["shares"] = late(path, issued["shares"])
    law, path = _mixed(shares, scales, tables), None if trace is None else []
    counts = units > 0.0
    needed = _needed(law, errors, _step(state))
    centers = _learn_centers(state, needed, counts)
    needed = _leaned(needed, centers)
    state["t"] += n
    covered = _learn_levels(state, needed, counts, path)
    if path is not None:
        trace.extend(_offsets(law, np.array(path), centers, knows, _step(state)))
    return covered


def _dues(t, n):
    """Return after how many of the rounds t, t + 1, ..., t + n - 1 tables are due."""
    old = max(t, _YOUNG)
    first = old - old % _EVERY + _EVERY - t
    young = range(1, min(_YOUNG - t, n) + 1)
    return np.array([*young, *range(first, n + 1, _EVERY)], dtype=np.intp)


def _learn_units(state, sizes, kept, weights):
    """Learn sizes of errors (n,); return the running size before each, -1 before the first."""
    path = np.empty(len(sizes))
    for i, (size, is_kept, weight) in enumerate(
        zip(sizes.tolist(), kept.tolist(), weights.tolist(), strict=True)
    ):
        path[i] = _unit(state) if state["weight"] > 0.0 else -1.0
        if is_kept:
            _learn_size(state, size, weight)
    return path


def _scales(units, sizes):
    """Return the sizes (n, 4) of the laws; those of rows not absurdly far from running."""
    sizes = np.where(sizes > 0.0, sizes, units)
    sizes = np.minimum(np.maximum(sizes, _BETWEEN[0] * units), _BETWEEN[1] * units)
    scales = np.empty((len(units), _N_LAWS))
    scales[:, 0], scales[:, 1:] = units, sizes[:, None]
    return scales


def _learn_tables(state, errors, scales, kept, dues):
    """Learn scores; return the tables now and whenever they are due, (1 + n_dues, 4, 2, J)."""
    scales, has_unit = scales[:, :2], scales[:, 0] > 0.0  # the first error is its own unit
    errors = np.where(has_unit, errors, np.sign(errors))[:, None]
    scores = errors / np.where(has_unit[:, None], scales, 1.0)
    smooth, says = kept & has_unit, kept & (errors[:, 0] != 0.0)
    says |= smooth
    seen = np.concatenate([state["scores"], scores[says]])
    ends = (len(state["scores"]) + np.add.accumulate(says, dtype=np.intp))[dues - 1].tolist()
    windows = [seen[max(end - WINDOW, 0) : end] for end in ends]
    counts = np.add.accumulate(smooth, dtype=np.intp)[dues - 1].tolist()
    _densities.learn(state["density"], scores[smooth], scales[smooth], windows, counts)
    state["scores"], tables = seen[-WINDOW:].copy(), state["tables"][None]
    if windows:
        tables = np.concatenate([tables, _tables(windows)])
        state["tables"] = tables[-1].copy()
    return tables


def _tables(windows):
    """Return the quantiles (w, 4, 2, J) of the laws, below and above, of windows (m, 2)."""
    m = len(windows[0])
    if any(len(window) != m for window in windows):
        return np.concatenate([_tables([window]) for window in windows])
    tables = np.zeros((len(windows), _N_LAWS, 2, len(_REACHES)))
    if not m:
        return tables
    scores = np.array(windows).transpose(2, 0, 1)  # (2, w, m)
    sizes = np.zeros((*scores.shape[:2], m + 1))
    np.abs(scores, out=sizes[..., 1:])
    sizes.sort(axis=-1)
    tables[:, :2, 1] = _between(sizes, *_places_of_sizes(m)).swapaxes(0, 1)
    tables[:, :2, 0] = -tables[:, :2, 1]
    for k, signed in ((2, scores[1]), (3, scores[1, :, -_BRIEF:])):
        tables[:, k] = _between(np.sort(signed), *_places_of_sides(signed.shape[-1]))
    return tables


def _between(ordered, low, high, share):
    """Return what lies between some of numbers (..., m) in order."""
    below = ordered[..., low]
    return below + share * (ordered[..., high] - below)


@cache
def _places_of_sizes(m):
    """Return where the quantiles (J,) of m sizes lie, behind a 0."""
    return _places(_REACHES * (m + 1.0), m)


@cache
def _places_of_sides(m):
    """Return where those (2, J) of m scores lie, below and above."""
    return _places((m + 1.0) * (1.0 + np.outer([-1.0, 1.0], _REACHES)) / 2.0 - 1.0, m - 1)


def _places(places, last):
    """Return numbers below and above places from 0 to the last one, and shares of the way."""
    places = np.clip(places, 0.0, last)
    low = np.minimum(places.astype(np.intp), max(last - 1, 0))
    return low, np.minimum(low + 1, last), places - low


def _losses(errors, units, scales, tables):
    """Return the CRPS (n, 4) of the laws by 19 quantiles, over that of 0, in running sizes.

    What a huge error costs all of them alike is left out: it would leave no digit of what differs.
    """
    quantiles = tables.reshape(*scales.shape, -1).take(_OF_ALPHA, axis=-1)
    quantiles *= scales[..., None]  # (n, 4, 19)
    errors = errors[:, None, None]
    losses = np.maximum(quantiles, errors) - np.maximum(errors, 0.0) - _ALPHA * quantiles
    units = np.where(units > 0.0, units, np.inf)[:, None]
    return 2.0 / len(_ALPHA) * np.add.reduce(losses, axis=-1) / units


def _learn_shares(state, losses, dues):
    """Learn what the laws have lost (n, 4); return weights now and when due, (1 + n_dues, 4)."""
    path, (since, squares), low = [state["shares"]], state["since"], 0
    for high in [*dues.tolist(), len(losses)]:
        part = losses[low:high]
        gains = np.minimum(np.maximum((part @ path[-1])[:, None] - part, -_MOST), _MOST)
        since = since + np.add.reduce(gains)
        squares = squares + np.add.reduce(gains * gains)
        if len(path) <= len(dues):
            path.append(_weights(state, path[-1], since, squares, state["t"] + high))
            since = squares = np.zeros(_N_LAWS)
        low = high
    state["shares"], state["since"] = path[-1], np.array([since, squares])
    return np.array(path)


def _weights(state, shares, gains, squares, t):
    """Return the weights (4,) of laws, from those of the last time and what was gained since."""
    n_rounds = 1 if t <= _YOUNG else _EVERY
    state["squares"] = _FADING**n_rounds * state["squares"] + squares
    rates = np.sqrt(np.log(_N_LAWS) / np.maximum(state["squares"], _TINY))
    rates = np.minimum(rates, _RATE)
    weights = shares * np.exp(rates * (gains - rates * squares))  # of a few gains, all moderate
    kept = (1.0 - _SHARE) ** n_rounds
    return kept / np.add.reduce(weights) * weights + (1.0 - kept) / _N_LAWS


def _mixed(shares, scales, tables):
    """Return the quantiles (n, 2, J) that laws of such weights and sizes (n, 4) make together."""
    flat = tables.reshape(len(tables), _N_LAWS, -1)
    return ((shares * scales)[:, None] @ flat).reshape(-1, *tables.shape[2:])


def _needed(law, errors, step):
    """Return the levels (n,) whose intervals of a law (n, 2, J) would just hold the errors.

    Those of errors below the median are negative.
    """
    rows, medians = np.arange(len(errors)), law[:, 0, 0]
    beyond = errors - medians
    is_above = beyond > 0.0
    reach = np.abs(law[rows, is_above.astype(np.intp)] - medians[:, None])
    np.maximum.accumulate(reach, axis=1, out=reach)
    sizes = np.abs(beyond)
    place = np.add.reduce(reach < sizes[:, None], axis=1, dtype=np.intp)
    inside = np.minimum(np.maximum(place, 1), len(_REACHES) - 1)
    low, below = reach[rows, inside - 1], _REACHES[inside - 1]
    apart = reach[rows, inside] - low
    share = (sizes - low) / np.where(apart > 0.0, apart, np.inf)
    needed = below + share * (_REACHES[inside] - below)
    beyond = place == len(_REACHES)
    if beyond.any():
        with np.errstate(divide="ignore"):
            needed[beyond] = 1.0 + step * np.log2(sizes[beyond] / reach[beyond, -1])
    return np.where(is_above, needed, -needed)


def _learn_centers(state, needed, counts):
    """Move the level of the median in the rounds that count; return it (n,) as it was issued."""
    step, center, issued = _CALM * _step(state), float(state["center"]), state["issued"]["center"]
    path = issued.tolist()
    for i, (need, is_counted) in enumerate(zip(needed.tolist(), counts.tolist(), strict=True)):
        path.append(center)
        if is_counted:
            center += 0.5 * step if need > 2.0 * path[i] else -0.5 * step
            center = min(max(center, -_LEANING), _LEANING)
    state["center"], path = np.array(center), np.array(path)
    state["issued"]["center"] = path[len(needed) :]
    return path[: len(needed)]


def _leaned(needed, centers):
    """Return the levels that hold what needs others (n,) of the law itself, by its medians."""
    beyond, slopes = needed - 2.0 * centers, 4.0 * centers
    lean = np.where(beyond > 0.0, beyond / (1.0 - slopes), -beyond / (1.0 + slopes))
    return np.where(lean <= 0.5, lean, np.abs(needed))


def _learn_levels(state, needed, counts, path):
    """Move levels by those needed (n,) in the rounds that count; return how often each held.

    The levels as they were issued are added to a `path`, as far as they rise.
    """
    step, levels, issued = _step(state), state["levels"], deque(state["issued"]["levels"])
    hits, moves = [], (step * (LEVELS - 1.0), step * LEVELS)
    for need, is_counted in zip(needed.tolist(), counts.tolist(), strict=True):
        held = levels
        if issued:
            issued.append(levels)
            held = issued.popleft()
        if path is not None:
            path.append(_rising(held))
        if is_counted:
            hits.append(held >= need)
            levels = levels + np.where(hits[-1], *moves)
    state["levels"] = levels
    if issued:
        state["issued"]["levels"] = np.array(issued)
    return np.add.reduce(hits, dtype=np.intp) if hits else np.zeros(len(LEVELS), dtype=np.intp)
