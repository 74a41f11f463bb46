"""Targets in doubt that are on a line: on a slope no two rows agree on a level.

Each is then as far from the one before it as that was from its own. The last sound target is the
first point of such a line, which is believed by the odds of a new level: each row where the line
led counts as one that agrees. The level then follows it row by row, as one that moves once, so that
what is known stays what it is if the level is back again; it is the twin that learns the slope.
"""

import numpy as np

BELIEVED, GOES_ON, BROKEN, IS_BACK = 1.0, 2.0, 3.0, -1.0


def start():
    """Return points in a row on a line, its last step, and what is said of it, or 0."""
    return np.zeros(3)


def believed(fence, state, n):
    """Tell whether a line of n points is one: beyond two each counts, but for faults on a line.

    That levels come at once says nothing for lines.
    """
    n -= state["of_faults"]
    return min(state["odds"], fence.odds[0]) + fence.bound * (n - 2.0) >= fence.settled


def learn_return(state, was_line):
    """Learn that a level is back again: after a line as many points are no sign of another one."""
    if was_line:
        state["of_faults"] += state["moved"][1] - 2.0
    state["line"] = np.array([0.0, 0.0, IS_BACK * was_line])


def learn(fence, state, error, is_far, reach):
    """Learn by how much a target in doubt was missed; tell whether a line leads there."""
    n, step, said = state["line"].tolist()
    n_disputed, off = state["dispute"][:2].tolist()
    if not is_far:
        state["line"] = start()
        return False
    is_next = n > 0.0 and (n_disputed > 0.0 or state["moved"][2] <= 1.0)
    now = error - off * (n_disputed > 0.0)
    # the first far one may have taught something, and what is level is none
    limit = reach * (1.0 + fence.cap * (n == 2.0))
    agrees = is_next and abs(now) > reach and abs(now - step) <= limit
    n = n + 1.0 if agrees else 2.0
    is_line = agrees and believed(fence, state, n)
    # what is far all along is one dispute, and counts once
    is_old = is_next and said > 0.0
    said = (GOES_ON if is_line else BROKEN) if is_old else BELIEVED * is_line
    state["line"] = np.array([n, now, said])
    return is_line


def are_like_faults(state):
    """Tell whether a target is on a line no longer than those that were faults."""
    n, _, said = state["line"].tolist()
    return said == 0.0 and 2.0 < n <= 2.0 + state["of_faults"]


def just_went_on(state):
    """Tell whether the level has just followed a line, so that it had no forecast to be off."""
    return state["moved"][2] == 0.0 and state["line"][2] == GOES_ON


def moves(state):
    """Tell whether it is a line, or that one is over, for which the level moves."""
    return state["line"][2] in (BELIEVED, GOES_ON, IS_BACK)


def n_rows(state):
    """Return how many rows of the line were in doubt, this one included."""
    n = int(state["line"][0]) - 2
    doubted = state["block"][len(state["block"]) - min(n, len(state["block"])) :, 4]
    return 1.0 + float(np.cumprod(doubted[::-1]).sum())


def odds_of_twin(guards, odds, bound):
    """Return the log odds of a twin that believes every target, where lines say something of it.

    With a line that is believed it is the likelier one, by what a round counts at most: if it is
    wrong it loses that at once. So it does where a level is back.
    """
    said = [guard["line"][2] for guard in guards]
    if BELIEVED in said:
        return np.maximum(odds, bound)
    return np.minimum(odds, -bound) if IS_BACK in said else odds
