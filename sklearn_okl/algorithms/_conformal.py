r"""I. Gibbs, E. Candès, "Adaptive conformal inference under distribution shift", NeurIPS 2021.

Intervals around the forecasts of anybody, from the sizes of past errors.
"""

from bisect import bisect_left, insort

import numpy as np

WINDOW = 500  # latest scores that quantiles are taken of
STEP = 0.05  # gamma of the paper: what one miss moves a level by
LEVELS = np.arange(1, 100) / 100.0  # the coverages that are tracked
_FADING = 0.98  # of the running size of the errors: about the last fifty


def start():
    """Return the state of a tracker that has seen no error."""
    return {
        "scores": np.empty(0),  # errors over their running size, the latest WINDOW in order
        "size": 0.0,  # running mean of abs(error), biased
        "weight": 0.0,
        "levels": LEVELS.copy(),  # 1 - alpha_t of each coverage
    }


def learn(state, errors):
    r"""Learn the errors of forecasts (n,), in order; return how many of each level were covered.

    The level of each coverage c moves after each round by eq. (2) of the paper,
    :math:`\alpha_{t+1} = \alpha_t + \gamma (1 - c - \mathrm{miss}_t)`.
    """
    scores, ordered = state["scores"].tolist(), sorted(state["scores"].tolist())
    size, weight, levels = state["size"], state["weight"], state["levels"]
    covered = np.zeros(len(LEVELS), dtype=int)
    for error in np.abs(errors).tolist():
        unit = size / weight if weight > 0.0 and size > 0.0 else None
        if unit is not None:
            score = error / unit
            hit = levels >= _level_needed(ordered, score)
            covered += hit
            levels = levels + STEP * (LEVELS - hit)
            insort(ordered, score)
            scores.append(score)
            if len(scores) > WINDOW:
                del ordered[bisect_left(ordered, scores.pop(0))]
        size = _FADING * size + error
        weight = _FADING * weight + 1.0
    state.update(scores=np.array(scores), size=size, weight=weight, levels=levels)
    return covered


def radius(state, coverage):
    """Return the half width of the interval of some coverage around the next forecast."""
    if len(state["scores"]) == 0:
        return np.inf
    level = float(np.interp(coverage, LEVELS, state["levels"]))
    unit = state["size"] / state["weight"]
    return unit * _score_at(np.sort(state["scores"]), level)


def standard_deviation(state):
    """Return the running size of the errors as a standard deviation, were they Gaussian."""
    if state["weight"] == 0.0:
        return 0.0
    return float(np.sqrt(np.pi / 2.0) * state["size"] / state["weight"])


def _level_needed(ordered, score):
    """Return the lowest level whose interval would hold a score."""
    n = len(ordered)
    below = bisect_left(ordered, score)  # scores smaller than this one
    if below == n and n > 0 and ordered[-1] > 0.0 and score > ordered[-1]:
        # beyond all that was seen the interval doubles with each further miss
        return 1.0 + STEP * np.log2(score / ordered[-1])
    return below / (n + 1.0)


def _score_at(ordered, level):
    """Return the largest score that a level's interval holds: the inverse of `_level_needed`."""
    n = len(ordered)
    if level >= 1.0:
        return ordered[-1] * 2.0 ** ((level - 1.0) / STEP)
    place = int(np.floor(level * (n + 1.0)))  # scores with as many below are still held
    return ordered[min(max(place, 0), n - 1)] if level > 0.0 else 0.0
