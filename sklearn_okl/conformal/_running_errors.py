r"""I. Gibbs, E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021.

Intervals around the forecasts of anybody, from the sizes of past errors. A score is the size of an
error over the running size of the errors before it. Each coverage c has a level, the paper's
:math:`1 - \alpha_t`, which moves by eq. (2),
:math:`\alpha_{t+1} = \alpha_t + \gamma (1 - c - \mathrm{miss}_t)`, and an interval holds the scores
up to that quantile of the latest `WINDOW` ones. Levels above 1 hold more than was ever seen, the
double for each step of :math:`\gamma`; levels below 0 hold nothing.

So a level stays within :math:`[-\gamma (1 - c), 1 + (k + c) \gamma)` if no score so far was more
than :math:`2^k` times the largest in its window, and as it moves by
:math:`\gamma (c - \mathrm{hit})` per round, the share of hits in any T rounds in a row is within
:math:`(1 + (k + 1) \gamma) / (T \gamma)` of c; Proposition 4.1 of the paper is k = 0.

Where errors come D rounds late, an interval is judged as it was issued, and D more follow before
its miss is known. With a step of :math:`\gamma / (D + 1)` a level stays as near as that, and the
share of hits within D + 1 times the bound.
"""

from collections import deque
from functools import cache

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .._delay import late
from .._linalg import row_slices
from ..features._moments import faded

WINDOW = 500  # latest scores that quantiles are taken of
STEP = 0.05  # gamma of the paper: what one miss moves a level by
LEVELS = np.arange(1, 100) / 100.0  # the coverages that are tracked
QUANTILES = np.concatenate([(1.0 - LEVELS[::-1]) / 2.0, [0.5], (1.0 + LEVELS) / 2.0])
_FADING = 0.98  # of the running size of the errors: about the last fifty
_LEAST = 1e-6  # least running size, over the largest error: a long run of zeros is no unit
_SUMS = "size", "weight", "largest"  # what the unit is made of
_TILE = 2**18  # scores that are looked at together


def start(delay=0, targets=(), window=WINDOW):
    """Return the state of trackers that have seen no error, and see each `delay` rounds late.

    There is one for each target of a row; `targets` is () or (q,). Quantiles are taken of so many
    of the latest scores as the `window` holds.
    """
    return ({} if window == WINDOW else {"window": window}) | {
        # those of the window and the delay in order; -1 behind those of who has fewer than others
        "scores": np.empty((*targets, 0)),
        "seen": np.zeros(targets, dtype=np.intp),  # how many there were in all
        "size": np.zeros(targets),  # faded sum of abs(error)
        "weight": np.zeros(targets),
        "largest": np.zeros(targets),
        "levels": np.tile(LEVELS, (*targets, 1)),
        # of the latest `delay` rounds: scores seen by then, -1 where nothing was known at all,
        # the running size, and levels
        "issued": np.tile([-1.0, 0.0, *LEVELS], (delay, *targets, 1)),
    }


def is_sound(state):
    """Tell whether the rounds that wait, as of a state from a file, knew scores that there were."""
    scores, issued, known = state["scores"], state["issued"], state["issued"][..., 0]
    are_scores = np.arange(scores.shape[-1]) < _n_kept(state)[..., None]
    return bool(
        0 < _window(state) <= WINDOW
        and scores.shape[-1] <= min(state["seen"].max(), _window(state) + len(issued))
        and np.isfinite(issued).all()
        and ((known >= -1.0) & (known <= state["seen"])).all()
        and (np.diff(known, axis=0) >= 0.0).all()
        and np.where(are_scores, scores >= 0.0, scores == -1.0).all()
    )


def learn(state, errors, faulty=None, weights=None, trace=None):
    """Learn errors of forecasts (n, ...), in order; return in how many rounds each level held.

    A `trace`, a list, gets the quantiles (..., 199) that were issued for each of the rounds.

    Where the target was `faulty` (n, ...), the error is a hit or a miss like any other, but no
    score: the next one is hardly of its size. Nor is one where the row has no weight; in the
    running size errors count by their `weights` (n,).
    """
    if not len(errors):
        return np.zeros(state["levels"].shape, dtype=int)
    errors = np.abs(errors)
    kept = np.ones(errors.shape, dtype=bool) if faulty is None else ~faulty
    if weights is not None:
        weights = weights.reshape(-1, *[1] * (errors.ndim - 1))
        kept &= weights > 0.0
    sums, sizes = _learn_sizes(state, errors, kept, weights)
    # intervals were made before the errors of the latest rounds were known
    units, _ = late(sizes, state["issued"][..., 1])
    have_units = units > 0.0
    # the first score is its own unit
    scores = np.divide(errors, units, out=np.ones(errors.shape), where=have_units)
    gone = state["seen"] - _n_kept(state)
    every, ends = _learn_scores(state, scores, kept & (have_units | (errors > 0.0)))
    known, judged = sums[:, 1] > 0.0, deque(state["issued"][..., 2:])
    if len(judged):
        heads = np.stack([np.where(known, ends + gone, -1.0), sizes], axis=-1)
        heads, waiting = late(heads, state["issued"][..., :2])
        ends, known = np.maximum(heads[..., 0].astype(np.intp) - gone, 0), heads[..., 0] >= 0.0
    needed = _levels_needed(every, ends, scores, _step(state), _window(state))
    path = None if trace is None else []
    covered = _learn_levels(state, judged, needed, have_units, path)
    if len(judged):
        state["issued"] = np.concatenate([waiting, np.array(judged)], axis=-1)
    if trace is not None:
        of_rounds = zip(ends, path, units, known, strict=True)
        moved = _step(state), _window(state)
        trace.extend([_of_targets(every, *of_round, *moved) for of_round in of_rounds])
    return covered


def learn_row(state, errors, weight=1.0):
    """Do what `learn` does with a row of errors (q,), none of them faulty, in few calls.

    Return False where they want more: labels that are late, targets with fewer scores than others,
    errors that have no unit yet. Then nothing is changed.
    """
    latest, n = state["scores"], state["scores"].shape[-1]
    if len(state["issued"]) or not weight > 0.0 or not n or min(state["seen"].tolist()) < n:
        return False
    sums = list(zip(*[state[name].tolist() for name in _SUMS], strict=True))
    units = [_unit_of(*of_target) for of_target in sums]
    if not min(units) > 0.0:
        return False
    errors = list(map(abs, errors.tolist()))
    scores = np.array([[error / unit] for error, unit in zip(errors, units, strict=True)])
    if len(latest) == 1:
        below = most = np.count_nonzero(latest < scores)
    else:
        below = np.add.reduce(latest < scores, axis=-1, keepdims=True)
        most = below.item(below.argmax())
    needed = below / (n + 1.0)
    if most == n:
        largest = np.maximum.reduce(latest, axis=-1, keepdims=True)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(largest > 0.0, scores / largest, np.inf)
            needed = np.where(below == n, 1.0 + STEP * np.log2(ratios), needed)
    levels = state["levels"]
    state["levels"] = levels + np.where(levels >= needed, *_moves(STEP))
    state["scores"] = np.concatenate([latest, scores], axis=-1)[:, -_window(state) :]
    sums = [_with_error(weight, *one) for one in zip(errors, sums, strict=True)]
    for name, now in zip(_SUMS, zip(*sums, strict=True), strict=True):
        state[name] = np.array(now)
    state["seen"] = state["seen"] + 1
    return True


def _learn_sizes(state, errors, kept, weights):
    """Learn those sizes of errors (n, ...) that are kept, with weights (n, ...) or none.

    Return the faded sums (n, 2, ...) of sizes and of weights before each, and the running size.
    """
    terms = np.ones((len(errors), 2, *errors.shape[1:]))
    terms[:, 0] = errors
    if weights is not None:
        terms *= weights[:, None]
    start = np.array([state["size"], state["weight"]])
    if kept.all():
        path = faded(terms, start, _FADING)
    else:
        path = np.concatenate([start[None], terms])
        for i, is_kept in enumerate(kept):
            path[i + 1] = np.where(is_kept, _FADING * path[i] + path[i + 1], path[i])
        errors = np.where(kept, errors, 0.0)
    largest = np.maximum.accumulate(np.concatenate([state["largest"][None], errors]))
    for name, now in zip(("size", "weight", "largest"), (*path[-1], largest[-1]), strict=True):
        state[name] = np.array(now)
    return path[:-1], _units(path[:-1, 0], path[:-1, 1], largest[:-1])


def _learn_scores(state, scores, are_scores):
    """Learn those of the scores (n, ...) that are some.

    Return all that are there now (..., m), and how many of them are from before each round.
    """
    latest, n_before = state["scores"], _n_kept(state)
    n, width, n_new = len(scores), latest.shape[-1], np.add.accumulate(are_scores, dtype=np.intp)
    is_even = are_scores.all() and n_before.min() == width
    if is_even:
        every = np.concatenate([latest, scores.T], axis=-1)
    else:
        every = np.full((*latest.shape[:-1], width + n), -1.0)
        every[..., :width] = latest
        rounds = np.nonzero(are_scores)
        every[(*rounds[1:], (n_before + n_new - 1)[rounds])] = scores[rounds]
    ends, size = n_before + n_new, _window(state) + len(state["issued"])
    if is_even:
        state["scores"] = every[..., -size:].copy()
    else:  # behind its last one each has -1
        first = np.maximum(ends[-1] - size, 0)
        places = first[..., None] + np.arange(int((ends[-1] - first).max()))
        state["scores"] = np.take_along_axis(every, places, axis=-1)
    state["seen"] = np.asarray(state["seen"] + n_new[-1])
    return every, ends - are_scores


def _n_kept(state):
    """Return how many scores of each target are there."""
    return np.minimum(state["seen"], state["scores"].shape[-1])


def _levels_needed(every, ends, scores, step=STEP, window=WINDOW):
    """Return the lowest levels (n, ...) whose intervals would hold scores.

    The intervals are those of the latest scores, a window, of `every` (..., m) before the `ends`.
    """
    n, front = len(ends), max(window - int(ends.min()), 0)
    if front:
        every = np.concatenate([np.full((*every.shape[:-1], front), -1.0), every], axis=-1)
    first, below = ends + (front - window), np.empty(scores.shape)
    low = int(first.flat[0])
    is_even = first.size == 1 or (low + np.arange(n) == first.T).all()
    if n == 1 and is_even:
        windows = every[..., None, low : low + window]
    else:
        windows = sliding_window_view(every, window, axis=-1)
        windows = windows[..., low : low + n, :] if is_even else windows
    for rows in row_slices(n, max(1, _TILE // (window * (scores.size // n)))):
        if is_even:
            of_rows = windows[..., rows, :]
        else:
            of_rows = np.take_along_axis(windows, first[rows].T[..., None], axis=-2)
        below[rows] = np.add.reduce(of_rows < scores[rows].T[..., None], axis=-1).T
    n_scores = np.minimum(ends, window)
    below += n_scores - window
    needed = below / (n_scores + 1.0)
    beyond = (below == n_scores) & (n_scores > 0)
    if np.logical_or.reduce(beyond, axis=None):
        for place in map(tuple, np.argwhere(beyond).tolist()):
            largest = every[place[1:]][first[place] : first[place] + window].max()
            ratio = scores[place] / largest if largest > 0.0 else np.inf
            needed[place] = 1.0 + step * np.log2(ratio)
    return needed


def _learn_levels(state, judged, needed, counts, path=None):
    """Move levels by those needed (n, ...) in rounds that count; return how often each held.

    The levels that were issued but not judged are first in a queue, as they are in the end. A
    `path`, a list, gets those that were judged.
    """
    levels, moves = state["levels"], _moves(_step(state))
    covered = np.zeros(levels.shape, dtype=np.intp)
    all_count = counts.all()
    for i, need in enumerate(needed[..., None]):
        judged.append(levels)
        held = judged.popleft()
        hit = held >= need
        move = np.where(hit, *moves)
        if not all_count:
            hit, move = hit & counts[i, ..., None], move * counts[i, ..., None]
        levels = levels + move
        covered += hit
        if path is not None:
            path.append(held)
    state["levels"] = levels
    return covered


@cache
def _moves(step):
    """Return by how much the levels move that hold, and that do not."""
    return step * (LEVELS - 1.0), step * LEVELS


def forgive(state, place=...):
    """Let no interval hold more than was ever seen: the misses had a cause that is gone."""
    levels = state["levels"].copy()
    levels[place] = np.minimum(levels[place], 1.0)
    state["levels"] = levels


def forget(state, j):
    """Let target j be one that has had no error."""
    fresh = start(len(state["issued"]), (1,))
    state["scores"][j] = -1.0
    for name in ("seen", "size", "weight", "largest", "levels"):
        state[name][j] = fresh[name][0]
    state["issued"][:, j] = fresh["issued"][:, 0]


def quantiles(state, ago=0):
    """Return how far the quantiles `QUANTILES` (..., 199) of the next targets are from forecasts.

    Before there is an error all but the median are infinite; they are 0 where all errors were 0.
    They are those of some rounds `ago`, at most as many as errors are late.
    """
    if ago:
        issued = state["issued"][-ago]
        ends = issued[..., 0] - (state["seen"] - _n_kept(state))
        ends = np.maximum(ends, 0.0).astype(np.intp)
        known = ends, issued[..., 2:], issued[..., 1], issued[..., 0] >= 0.0
    else:
        sizes = [state[name] for name in ("size", "weight", "largest")]
        known = _n_kept(state), state["levels"], _units(*sizes), state["weight"] > 0.0
    return _of_targets(state["scores"], *known, _step(state), _window(state))


def _of_targets(every, ends, levels, units, known, step, window):
    """Return the quantiles (..., 199) by the latest of scores (..., m) before the `ends`."""
    found = np.empty((*ends.shape, len(QUANTILES)))
    for j in np.ndindex(ends.shape):
        ordered = np.sort(every[j][: int(ends[j])][-window:])
        found[j] = _quantiles(ordered, levels[j], units[j], known[j], step)
    return found


def _quantiles(ordered, levels, unit, known, step):
    """Return those of scores in order, by levels, a running size, and a step of the levels."""
    if len(ordered) == 0:
        reach = np.full(len(LEVELS), 0.0 if known else np.inf)
    else:
        levels, n = _rising(levels), len(ordered)
        reach = np.interp(levels * (n + 1.0), np.arange(n), ordered)
        for k in np.flatnonzero(levels >= 1.0):
            reach[k] = _score_at(ordered, levels[k], step)
        lowest = np.minimum(levels * (n + 1.0), 1.0)  # no atom where the forecast is
        with np.errstate(over="ignore"):
            reach = unit * np.maximum.accumulate(reach * lowest)
    return np.concatenate([-reach[::-1], [0.0], reach])


def _rising(levels):
    """Return the nearest levels that rise, evenly between the middles of those that are the same.

    They begin with 0 at coverage 0: the law of a target has no atom that comes of the tracking.
    """
    from sklearn.isotonic import isotonic_regression  # slow to import

    values, which = np.unique(isotonic_regression(levels), return_inverse=True)
    middles = np.bincount(which, LEVELS) / np.bincount(which)
    middles, values = middles[values > 0.0], values[values > 0.0]
    if not len(values):
        return np.zeros(len(LEVELS))
    beyond = values[-1] + 1.0 - middles[-1]
    return np.interp(LEVELS, [0.0, *middles, 1.0], [0.0, *values, beyond])


def standard_deviation(state):
    """Return the running sizes of the errors as standard deviations, were they Gaussian."""
    weight = np.where(state["weight"] > 0.0, state["weight"], 1.0)
    return np.sqrt(np.pi / 2.0) * state["size"] / weight


def _learn_size(state, error, weight):
    state["size"] = _FADING * state["size"] + weight * error
    state["weight"] = _FADING * state["weight"] + weight
    state["largest"] = max(state["largest"], error)


def _unit(state):
    """Return the running size of the errors of one target; 0 where none was other than 0."""
    return _unit_of(*(state[name] for name in _SUMS))


def _unit_of(size, weight, largest):
    return max(size / (weight or 1.0), _LEAST * largest)


def _with_error(weight, error, sums):
    """Return the sums of a target with an error of some weight more."""
    size, known, largest = sums
    return weight * error + _FADING * size, weight + _FADING * known, max(largest, error)


def _units(size, weight, largest):
    """Return those of several."""
    return np.maximum(size / np.where(weight > 0.0, weight, 1.0), _LEAST * largest)


def _window(state):
    """Return how many of the latest scores quantiles are taken of."""
    return state.get("window", WINDOW)


def _step(state):
    """Return what one miss moves a level by: as many may follow from one cause as are out."""
    return STEP / (1.0 + len(state["issued"]))


def _score_at(ordered, level, step=STEP):
    """Return the largest score that a level's interval holds: the inverse of `_levels_needed`."""
    n = len(ordered)
    if level >= 1.0:
        with np.errstate(over="ignore"):  # an interval may be the whole line
            return ordered[-1] * np.exp2((level - 1.0) / step)
    if level < 0.0:
        return 0.0
    place = int(np.floor(level * (n + 1.0)))  # a score with as many below it is still held
    return ordered[min(place, n - 1)]
