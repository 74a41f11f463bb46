r"""How far beyond the range of the targets the forecasts of experts are believed.

The rates of a rule of weights fall with the largest regrets so far: after an expert that was far
off, all are told apart as slowly as if it still were. So no forecast counts as farther beyond the
range of the targets than this is wide; or than that beyond what the expert of least loss so far
says, or more than half of the row's, who may know why. Of the first rows it is the range that they
turned out to have, and there is nothing to be known.

For a loss that grows to both sides of the target, that makes nobody worse while targets are within.
One that is beyond, and that somebody knew, at least doubles the range and costs no more than the
square of its new width: all of them :math:`\tfrac43 r^2` at most, where r is the last width.
"""

import numpy as np

from .._delay import late
from ._fence import FARTHEST


def start(n_experts, delay, ends=(-FARTHEST, FARTHEST)):
    """Return the state before the first round; `ends` of the range are none at first."""
    now = np.array(ends, dtype=np.float64)
    return {
        "now": now,
        "past": np.tile([*now, *np.zeros(n_experts)], (delay, 1)),
        "said": np.array([FARTHEST, -FARTHEST]),  # the least and the largest of all forecasts
    }


def learn(state, losses, F, y):
    """Learn targets (n,), and what the experts' forecasts (n, K) of them lose.

    Returns what was known before each, ends (n, 2) and losses (n, K), and the losses (K,) now.
    """
    path = np.empty((len(y) + 1, 2 + len(losses)))
    path[0, :2], path[0, 2:] = state["now"], losses
    path[1:, :2], path[1:, 2:] = y[:, None], np.square(F - y[:, None])
    path[np.isnan(path)] = 0.0  # asleep
    for columns, extend in ((0, np.minimum), (1, np.maximum), (slice(2, None), np.add)):
        extend.accumulate(path[:, columns], axis=0, out=path[:, columns])
    state["now"] = path[-1, :2].copy()
    low, high = state["said"]
    state["said"] = np.array(
        [np.fmin.reduce(F, None, initial=low), np.fmax.reduce(F, None, initial=high)]
    )
    known, state["past"] = late(path[:-1], state["past"])
    return known[:, :2], known[:, 2:], path[-1, 2:].copy()


def was_left(state):
    """Tell whether some forecast was farther beyond the range than is believed without reasons."""
    ends, said = state["now"][None], state["said"][None]
    return not np.array_equal(believed(said, ends, None, is_strict=True), said)


def believed(F, ends, losses, is_strict=False):
    """Return forecasts (n, K), NaN of who sleeps, as far as they are believed.

    By the ends (n, 2) of the range and the losses (n, K) known before each row, or (1, ...) before
    all. Where that is strict, there is nothing to be known: the range is that of these targets.
    """
    low, high = ends[:, :1], ends[:, 1:]
    margin = np.where(high > low, high - low, np.inf)  # none of targets that are all the same
    if not is_strict:
        n = np.maximum((~np.isnan(F)).sum(axis=1, keepdims=True), 1)
        leader = np.where(np.isnan(F), np.inf, losses).argmin(axis=1, keepdims=True)
        best, ordered = np.take_along_axis(F, leader, axis=1), np.sort(F, axis=1)
        below, above = (np.take_along_axis(ordered, k, axis=1) for k in ((n - 1) // 2, n // 2))
        low, high = np.fmin(np.fmin(low, above), best), np.fmax(np.fmax(high, below), best)
    return np.clip(F, low - margin, high + margin)
