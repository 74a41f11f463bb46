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

from bisect import bisect_left, insort
from collections import deque

import numpy as np

WINDOW = 500  # latest scores that quantiles are taken of
STEP = 0.05  # gamma of the paper: what one miss moves a level by
LEVELS = np.arange(1, 100) / 100.0  # the coverages that are tracked
QUANTILES = np.concatenate([(1.0 - LEVELS[::-1]) / 2.0, [0.5], (1.0 + LEVELS) / 2.0])
_FADING = 0.98  # of the running size of the errors: about the last fifty
_LARGEST = 1e300  # score that the state can hold in place of an infinite one
_LEAST = 1e-6  # least running size, over the largest error: a long run of zeros is no unit


def start(delay=0):
    """Return the state of a tracker that has seen no error, and sees each `delay` rounds late."""
    return {
        "scores": np.empty(0),  # the latest WINDOW + delay, in their order
        "seen": 0,  # how many there were in all
        "size": 0.0,  # faded sum of abs(error)
        "weight": 0.0,
        "largest": 0.0,
        "levels": LEVELS.copy(),
        # running size and largest scores held, by level, in the latest `delay` rounds
        "issued": np.zeros((delay, 1 + len(LEVELS))),
        # scores seen by then, -1 where nothing was known at all, and levels
        "past": np.hstack([-np.ones((delay, 1)), np.tile(LEVELS, (delay, 1))]),
    }


def learn(state, errors, faulty=None, weights=None, trace=None):
    """Learn errors of forecasts (n,), in order; return in how many rounds each level held.

    A `trace`, a list, gets the quantiles (199,) that were issued for each of the rounds.

    Where the target was `faulty` (n,), the error is a hit or a miss like any other, but no score:
    the next one is hardly of its size. Nor is one where the row has no weight; in the running size
    errors count by their `weights` (n,).
    """
    scores, ordered = state["scores"].tolist(), np.sort(state["scores"][-WINDOW:]).tolist()
    levels, past = state["levels"], deque(state["past"])
    said = None if trace is None else deque(_as_issued(state))
    issued = deque((float(row[0]), row[1:]) for row in state["issued"])
    step = _step(state)
    covered = np.zeros(len(LEVELS), dtype=int)
    faulty = np.zeros(len(errors), dtype=bool) if faulty is None else faulty
    weights = np.ones(len(errors)) if weights is None else weights
    rounds = np.abs(errors).tolist(), (faulty | (weights == 0.0)).tolist(), weights.tolist()
    for error, no_score, weight in zip(*rounds, strict=True):
        unit = _unit(state)
        if trace is not None:
            said.append(_quantiles(ordered, levels, unit, state["weight"], _step(state)))
            trace.append(said.popleft())
        if issued:  # the interval was made before the errors of the latest rounds were known
            issued.append((unit, _held_at(ordered, levels, step)))
            unit, held = issued.popleft()
            past.append(np.concatenate([[state["seen"] if state["weight"] else -1.0], levels]))
            past.popleft()
        if unit > 0.0:
            score = error / unit
            hit = score <= held if issued else levels >= _level_needed(ordered, score, step)
            covered += hit
            levels = levels + step * (LEVELS - hit)
        if no_score:
            continue
        if error > 0.0 or unit > 0.0:
            score = error / unit if unit > 0.0 else 1.0  # the first one is its own unit
            insort(ordered, score)
            scores.append(score)
            state["seen"] += 1
            if len(ordered) > WINDOW:
                del ordered[bisect_left(ordered, scores[-WINDOW - 1])]
        _learn_size(state, error, weight)
    state["scores"], state["levels"] = np.array(scores[-WINDOW - len(past) :]), levels
    if issued:
        state["past"] = np.array(past)
        state["issued"] = np.array([[unit, *held] for unit, held in issued])
    return covered


def forgive(state):
    """Let no interval hold more than was ever seen: the misses had a cause that is gone."""
    state["levels"] = np.minimum(state["levels"], 1.0)


def quantiles(state):
    """Return how far the quantiles `QUANTILES` of the next target lie from its forecast.

    Before there is an error all but the median are infinite; they are 0 where all errors were 0.
    """
    ordered = np.sort(state["scores"][-WINDOW:])
    return _quantiles(ordered, state["levels"], _unit(state), state["weight"], _step(state))


def _quantiles(ordered, levels, unit, weight, step):
    """Return those of scores in order, by levels, a running size, and a step of the levels."""
    if len(ordered) == 0:
        reach = np.full(len(LEVELS), 0.0 if weight > 0.0 else np.inf)
    else:
        levels, n = _rising(levels), len(ordered)
        reach = np.interp(levels * (n + 1.0), np.arange(n), ordered)
        for k in np.flatnonzero(levels >= 1.0):
            reach[k] = _score_at(ordered, levels[k], step)
        lowest = np.minimum(levels * (n + 1.0), 1.0)  # no atom where the forecast is
        with np.errstate(over="ignore"):
            reach = unit * np.maximum.accumulate(reach * lowest)
    return np.concatenate([-reach[::-1], [0.0], reach])


def _as_issued(state):
    """Return the quantiles (D, 199) issued in the latest D rounds, whose targets are not known."""
    found = []
    for (seen, *levels), unit in zip(state["past"], state["issued"][:, 0], strict=True):
        scores = state["scores"][: len(state["scores"]) - state["seen"] + int(max(seen, 0.0))]
        weight = float(seen >= 0.0)
        ordered = np.sort(scores[-WINDOW:])
        found.append(_quantiles(ordered, np.array(levels), unit, weight, _step(state)))
    return found


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
    """Return the running size of the errors as a standard deviation, were they Gaussian."""
    return float(np.sqrt(np.pi / 2.0) * state["size"] / (state["weight"] or 1.0))


def _learn_size(state, error, weight):
    state["size"] = _FADING * state["size"] + weight * error
    state["weight"] = _FADING * state["weight"] + weight
    state["largest"] = max(state["largest"], error)


def _unit(state):
    """Return the running size of the errors; 0 where none was other than 0."""
    return max(state["size"] / (state["weight"] or 1.0), _LEAST * state["largest"])


def _step(state):
    """Return what one miss moves a level by: as many may follow from one cause as are out."""
    return STEP / (1.0 + len(state["issued"]))


def _level_needed(ordered, score, step=STEP):
    """Return the lowest level whose interval would hold a score."""
    n = len(ordered)
    below = bisect_left(ordered, score)  # scores smaller than this one
    if below == n and n > 0:
        return 1.0 + step * np.log2(score / ordered[-1]) if ordered[-1] > 0.0 else np.inf
    return below / (n + 1.0)


def _score_at(ordered, level, step=STEP):
    """Return the largest score that a level's interval holds: the inverse of `_level_needed`."""
    n = len(ordered)
    if level >= 1.0:
        with np.errstate(over="ignore"):  # an interval may be the whole line
            return ordered[-1] * np.exp2((level - 1.0) / step)
    if level < 0.0:
        return 0.0
    place = int(np.floor(level * (n + 1.0)))  # a score with as many below it is still held
    return ordered[min(place, n - 1)]


def _held_at(ordered, levels, step):
    """Return the largest score held by each level, finite, and less than any where none is."""
    n = len(ordered)
    if n == 0:
        return np.full(len(levels), _LARGEST)
    places = np.minimum(levels * (n + 1.0), n - 1.0).astype(int)
    held = np.array([ordered[place] for place in places.tolist()])
    held[levels < 0.0] = -1.0
    above = levels >= 1.0
    if np.logical_or.reduce(above):
        with np.errstate(over="ignore"):  # an interval may be the whole line
            beyond = ordered[-1] * np.exp2((levels[above] - 1.0) / step)
        held[above] = np.minimum(beyond, _LARGEST)
    return held
