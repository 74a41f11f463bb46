"""What targets are measured from, and in: origins and units, now and some rounds ago."""

import numpy as np

from ..._delay import as_it_was, late

FARTHEST = 1e60  # in units: fourth powers stay finite
UNITS = 1e-300, 1e300


def unit(state):
    """Return the unit of the targets; 1 where all have been equal."""
    return state["unit"] or 1.0


def in_units(state, y):
    """Return targets in units."""
    with np.errstate(over="ignore"):
        return np.clip((y - state["origin"]) / unit(state), -FARTHEST, FARTHEST)


def unscaled(states, u, ago=0):
    """Return forecasts (..., q) in the units that the targets had some rounds ago."""
    known = as_it_was(*_now_and_past(states), ago) if ago else _now(states)
    return u * known[..., 1] + known[..., 0]


def units(states, ago=0):
    """Return the units (q,) that the targets had some rounds ago."""
    return as_it_was(*_now_and_past(states), ago)[:, 1]


def units_read(states, n):
    """Return the origins and units (2, n, q) in which forecasts of the next rounds were made."""
    now, past = _now_and_past(states)
    read = late(np.broadcast_to(now, (n, *now.shape)), past)[0]
    return read.transpose(2, 0, 1)


def _now_and_past(states):
    """Return origins and units now (q, 2), and before each of the latest rounds (D, q, 2)."""
    now = _now(states)
    past = [state["past"] for state in states]
    if not len(past[0]):
        return now, np.empty((0, *now.shape))
    return now, np.stack(past, axis=1)


def _now(states):
    """Return origins and units now (q, 2)."""
    return np.array([(state["origin"], unit(state)) for state in states])


def origin_and_unit(state):
    """Return what the targets are measured from, and in, (2,)."""
    return np.array([state["origin"], unit(state)])
