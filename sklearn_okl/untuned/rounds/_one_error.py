"""One error at a time of laws told by the row: what `_row_laws.py` does with one, in few calls.

Of one error most of what is asked is a plain number, which costs less than an array of one.
"""

from functools import cache

import numpy as np

from . import _row_laws as laws
from ._row_laws import LEVELS

_REACHES = laws._REACHES.tolist()


def takes(state):
    """Whether errors are learnt so: no label is late."""
    return not len(state["issued"]["units"])


def learn(state, error, size, weight=1.0):
    """Learn the error of a forecast, and the size issued for its row: no fault, and no late one."""
    t, unit, is_kept = state["t"], laws._unit(state), weight > 0.0
    units, scales = np.array([unit]), laws._scales(np.array([unit]), np.array([size]))
    if is_kept:
        laws._learn_size(state, abs(error), weight)
    tables = state["tables"][None]
    is_due = t < laws._YOUNG or (t + 1) % laws._EVERY == 0
    dues, errors = np.arange(1, 1 + is_due), np.array([error])
    if is_due:
        laws._learn_tables(state, errors, scales, np.array([is_kept]), dues)
    elif is_kept:
        _learn_score(state, error, scales[:, :2])
    losses, shares = laws._losses(errors, units, scales, tables), state["shares"][None]
    laws._learn_shares(state, losses, dues)
    (law,), step = laws._mixed(shares, scales, tables), laws._step(state)
    needed, center, counts = _needed(law, error, step), float(state["center"]), unit > 0.0
    if counts:
        move = 0.5 * laws._CALM * step if needed > 2.0 * center else -0.5 * laws._CALM * step
        state["center"] = np.array(min(max(center + move, -laws._LEANING), laws._LEANING))
        held = state["levels"] >= _leaned(needed, center)
        state["levels"] = state["levels"] + np.where(held, *_moves(step))
    state["t"] = t + 1


def _learn_score(state, error, scales):
    """Let the scores of an error, by scales (1, 2), wait until tables are due."""
    has_unit = scales[0, 0] > 0.0  # the first error is its own unit
    if has_unit:
        scores, waiting = error / scales, state["density"]["pending"]
        new = np.concatenate([scores, scales], axis=1)
        state["density"]["pending"] = np.concatenate([waiting, new])
    else:
        scores = np.full((1, 2), np.sign(error))
    if has_unit or error != 0.0:
        state["scores"] = np.concatenate([state["scores"][1 - laws.WINDOW :], scores])


def _needed(law, error, step):
    """Return the level whose interval of a law (2, J) would just hold the error."""
    median = float(law[0, 0])
    beyond = error - median
    reach = np.abs(law[int(beyond > 0.0)] - median)
    np.maximum.accumulate(reach, out=reach)
    size, last = abs(beyond), len(_REACHES) - 1
    place = int(reach.searchsorted(size))
    if place > last:
        with np.errstate(divide="ignore"):
            needed = float(1.0 + step * np.log2(size / reach[-1]))
    else:
        inside = max(place, 1)
        low, high = reach[inside - 1 : inside + 1].tolist()
        share = (size - low) / (high - low) if high > low else 0.0
        needed = _REACHES[inside - 1] + share * (_REACHES[inside] - _REACHES[inside - 1])
    return needed if beyond > 0.0 else -needed


def _leaned(needed, center):
    """Return the level that holds what needs another one of the law itself, by its median."""
    beyond, slope = needed - 2.0 * center, 4.0 * center
    lean = beyond / (1.0 - slope) if beyond > 0.0 else -beyond / (1.0 + slope)
    return lean if lean <= 0.5 else abs(needed)


@cache
def _moves(step):
    """Return what levels move by when they have held, and when not."""
    return step * (LEVELS - 1.0), step * LEVELS
