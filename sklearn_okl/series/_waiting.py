"""What origins have said waits until it can be judged: each step for as long as it takes.

What was said h steps ahead is judged h rows later. So it waits in a ring of its own, of h + 1
places: half the numbers of all origins with all their steps. What an origin knows of no single
step, such as the level of a series, waits as long as the last of them.

Rings are written row by row. They have `SPARE` places more than they need, and a call that fills as
many has a copy of its own: so what is written in these is beside all that its states still read.
"""

from functools import cache

import numpy as np

from . import _smoothing_rates

SPARE = 8  # rows between two copies of what waits; more take more room

# steps are the axis -2 of these
_OF_STEPS = {"forecasts", "mixed", "columns_share", "trees_share", "size", "missed", "members"}
_OF_STEPS |= {"side", "rows_radii", "rows_size", "rows_shares", "theta", "turns"}


def start(slot, horizon):
    """Return rings that remember what an origin says, as if all before it had said so."""
    recent = {}
    for name, value in slot.items():
        steps = _steps(name, horizon)
        if steps is None:
            recent[name] = np.repeat(value[None], horizon + SPARE, axis=0)
        else:
            recent[name] = np.repeat(value.swapaxes(0, -2), steps + 1 + SPARE, axis=0)
    return recent


def n_places(horizon):
    """Return how many places there are for each number that is said of all steps."""
    return horizon * (horizon + 1) // 2 + horizon * SPARE


def write(recent, slot, t, horizon):
    """Write what the origin at row t says."""
    place, of_steps = t % (horizon + SPARE), _places("mixed", horizon, t)
    for name, value in slot.items():
        if name not in _OF_STEPS:
            recent[name][place] = value
        else:
            places = _places(name, horizon, t) if name == "members" else of_steps
            recent[name][places] = value.swapaxes(0, -2)


def of_row(recent, names, t, horizon):
    """Return by its name what was said of row t: by each step the one of its origin.

    What is known of no single step has a leading axis of the origins, the one at row t first.
    """
    rows = t - _steps("mixed", horizon)
    found, past, of_steps = {}, rows % (horizon + SPARE), _places("mixed", horizon, rows)
    for name in names:
        if name not in _OF_STEPS:
            found[name] = recent[name][past]
        else:
            places = of_steps
            if name == "members":
                places = _places(name, horizon, t - _steps(name, horizon))
            found[name] = recent[name][places].swapaxes(0, -2)
    return found


def at_row(recent, t, now, horizon):
    """Return rings at row t as they are at row `now`, where what waits is as old."""
    moved = {}
    for name, ring in recent.items():
        if _steps(name, horizon) is None:
            moved[name] = np.roll(ring, now - t, axis=0)
        else:
            rings = zip(*_rings(name, horizon), strict=True)
            places = [first + (np.arange(n) + t - now) % n for first, n in rings]
            moved[name] = ring[np.concatenate(places)]
    return moved


@cache
def _steps(name, horizon):
    """Return the steps that something is said of, None where it is of no single one."""
    if name not in _OF_STEPS:
        return None
    return _smoothing_rates.judged_steps(horizon) if name == "members" else np.arange(horizon)


def _places(name, horizon, rows):
    """Return where what is said of each step from some row, or from one each, is in its ring."""
    first, lengths = _rings(name, horizon)
    return first + rows % lengths


@cache
def _rings(name, horizon):
    """Return where the ring of each step begins, and how long it is."""
    lengths = _steps(name, horizon) + 1 + SPARE
    return np.cumsum(lengths) - lengths, lengths


def own(arrays):
    """Return an array to write into, or a list of arrays of which the last is written into."""
    return [*arrays[:-1], arrays[-1].copy()] if type(arrays) is list else arrays.copy()
