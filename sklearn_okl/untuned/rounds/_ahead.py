"""How many of the rows of a call are learnt at once: up to where a doubt is likely.

What comes behind a target in doubt is learnt in vain. In a stream that has shown doubts targets
tell where the next one may be, before anything is learnt: the first that is far from all that were
believed lately, and from all rows before it. It begins a call then. No forecast depends on that:
rows are the same however a call is cut.
"""

import numpy as np

from ._target_units import in_units


def n_before_far(fence, states, y):
    """Return how many of the rows of targets (n, q) come before one that is likely in doubt.

    And one if the first is.
    """
    n = len(y)
    for j, state in enumerate(states):
        has_doubted = state["n_runs"] > 0 or state["odds"] != fence.odds[0]
        if not (state["guarded"] and has_doubted):
            continue
        u, limit = in_units(state, y[:n, j]), fence.cap * fence.reach * state["deviation"]
        known = state["values"] if len(state["values"]) else in_units(state, state["latest"])
        high = np.maximum.accumulate(np.append(known.max(), u[:-1])) + limit
        low = np.minimum.accumulate(np.append(known.min(), u[:-1])) - limit
        are_far = (u > high) | (u < low)
        n = max(int(are_far.argmax()), 1) if are_far.any() else n
    return n
