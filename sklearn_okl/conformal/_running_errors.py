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
        # of the latest `delay` rounds: scores seen by then, -1 where nothing was known at all,
        # the running size, and levels
        "issued": np.tile([-1.0, 0.0, *LEVELS], (delay, 1)),
    }


def learn(state, errors, faulty=None, weights=None, trace=None):
    """Learn errors of forecasts (n,), in order; return in how many rounds each level held.

    A `trace`, a list, gets the quantiles (199,) that were issued for each of the rounds.

    Where the target was `faulty` (n,), the error is a hit or a miss like any other, but no score:
    the next one is hardly of its size. Nor is one where the row has no weight; in the running size
    errors count by their `weights` (n,).
    """
    scores, levels, issued = state["scores"].tolist(), state["levels"], deque(state["issued"])
    said = None if trace is None else deque(_as_issued(state))
    latest, step, gone = _Window(scores), _step(state), state["seen"] - len(scores)
    judging = _Window(scores[: _n_then(issued[0], gone)]) if issued else latest
    covered = np.zeros(len(LEVELS), dtype=int)
    faulty = np.zeros(len(errors), dtype=bool) if faulty is None else faulty
    weights = np.ones(len(errors)) if weights is None else weights
    rounds = np.abs(errors).tolist(), (faulty | (weights == 0.0)).tolist(), weights.tolist()
    for error, no_score, weight in zip(*rounds, strict=True):
        unit = _unit(state)
        if trace is not None:
            said.append(_quantiles(latest.ordered, levels, unit, state["weight"], step))
            trace.append(said.popleft())
        judged = levels
        if issued:  # the interval was made before the errors of the latest rounds were known
            n_seen = gone + len(scores) if state["weight"] else -1.0
            issued.append(np.array([n_seen, unit, *levels]))
            then = issued.popleft()
            judging.move(scores, _n_then(then, gone))
            unit, judged = then[1], then[2:]
        if unit > 0.0:
            hit = judged >= _level_needed(judging.ordered, error / unit, step)
            covered += hit
            levels = levels + step * (LEVELS - hit)
        if no_score:
            continue
        if error > 0.0 or unit > 0.0:
            score = error / unit if unit > 0.0 else 1.0  # the first one is its own unit
            scores.append(score)
            latest.move(scores, len(scores))
        _learn_size(state, error, weight)
    state["seen"], state["levels"] = gone + len(scores), levels
    state["scores"] = np.array(scores[-WINDOW - len(issued) :])
    if issued:
        state["issued"] = np.array(issued)
    return covered


class _Window:
    """The latest `WINDOW` of some scores, `ordered` by their size."""

    def __init__(self, scores):
        self.ordered, self._n = sorted(scores[-WINDOW:]), len(scores)

    def move(self, scores, n):
        """Let the first n scores be all, where they were fewer."""
        for i in range(self._n, n):
            insort(self.ordered, scores[i])
            if len(self.ordered) > WINDOW:
                del self.ordered[bisect_left(self.ordered, scores[i - WINDOW])]
        self._n = max(n, self._n)


def _n_then(issued, gone):
    """Return how many scores a round's interval knew, of those that are not `gone`."""
    return max(int(issued[0]) - gone, 0)


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
    gone = state["seen"] - len(state["scores"])
    for issued in state["issued"]:
        ordered = np.sort(state["scores"][: _n_then(issued, gone)][-WINDOW:])
        weight = float(issued[0] >= 0.0)
        found.append(_quantiles(ordered, issued[2:], issued[1], weight, _step(state)))
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
