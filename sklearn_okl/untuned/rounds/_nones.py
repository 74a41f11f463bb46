"""Numbers among targets that stand for none: -9999 and the like.

Reviews of the first targets find them where they are many. One that comes too seldom is found when
it is far off for the third time, if values hardly ever come twice: faults that are the same number
each time share a reason, and what is measured has noise. In a run it counts once. Whoever sees X
may know of it: then it is a value.
"""

import numpy as np

from ...features import _faults
from ._target_units import in_units

_N_MARKS = 16  # latest far targets among which one that comes again is looked for
_LARGEST = 1e150  # that is remembered: its square is finite


def start():
    """Return what is known of a target before the first."""
    return {
        "nones": np.empty(0),  # targets, as they came, that stand for none
        "marks": np.empty(0),  # the latest far ones, as they came, one of each run
        "latest": 0.0,  # the latest one, as it came
    }


def of_reviewed(y, nones):
    """Judge targets (n,) as `_faults.judged` does, and say which numbers among them stand for none.

    What is known to stand for none does so even where it comes in most of the rows.
    """
    known = np.isin(y, nones)
    if known.all():
        known[:] = False
    others, faulty = y[~known], known.copy()
    faulty[~known], middle, usual = _faults.judged(others)
    return faulty, middle, usual, np.union1d(y[known], _faults.stand_for_none(others))


def are_none(state, u):
    """Tell which targets (n,), or whether one, in units stand for none."""
    if not len(state["nones"]):
        return np.zeros(np.shape(u), dtype=bool)
    return np.isin(u, in_units(state, state["nones"]))


def came_as_none(states, y):
    """Tell which targets (n, q), as they came, stand for none."""
    return np.stack([np.isin(y[:, j], state["nones"]) for j, state in enumerate(states)], axis=1)


def comes_again(fence, state, y, i, values):
    """Tell whether one of the targets y (n,), as they came, is known to stand for none now."""
    again = _faults.comes_again(y[i], state["marks"], values[-fence.latest :], fence.bound)
    return again and _is_mark(state, y, i)


def first_again(fence, state, far, y, u, errors, experts, reach):
    """Return which of the `far` targets (n,) is the first known to stand for none now, n if none.

    Targets are y as they came, and u in units.
    """
    marks = state["marks"]
    for i in np.flatnonzero(far).tolist():
        known, values = state | {"marks": marks}, np.concatenate([state["values"], u[:i]])
        is_again = comes_again(fence, known, y, i, values)
        if is_again and not is_explained(u[i], errors[i], experts[i], reach[i]):
            return i
        if _is_mark(state, y, i):
            marks = np.append(marks, y[i])[-_N_MARKS:]
    return len(u)


def learn(fence, states, y, u, forecasts, experts, reach):
    """Learn which of the targets y (q,) of a row, met alone, stand for none from now on.

    They are u, in units; forecasts of experts that see X are (q, K), and fences stand at some
    `reach` (q,).
    """
    of_targets = zip(states, y[:, None], u, np.abs(u - forecasts), experts, reach, strict=True)
    for state, number, target, error, said, limit in of_targets:
        is_far = error > limit and not is_explained(target, error, said, limit)
        if is_far and comes_again(fence, state, number, 0, state["values"]):
            state["nones"] = np.append(state["nones"], number)


def remember(states, y, far):
    """Remember which of the targets y (n, q), as they came, are far."""
    for j, state in enumerate(states):
        for i in np.flatnonzero(far[:, j] & state["guarded"]).tolist():
            if _is_mark(state, y[:, j], i):
                state["marks"] = np.append(state["marks"], y[i, j])[-_N_MARKS:]
        state["latest"] = float(np.clip(y[-1, j], -_LARGEST, _LARGEST))


def is_explained(target, error, experts, reach):
    """Tell whether some expert's forecast (K,) knows of the error, or of most of it."""
    return bool(are_known(np.abs(target - experts), abs(error), reach).any())


def are_known(distances, error, reach):
    """Tell whether experts that are so far off know of the size of an error, or of most of it."""
    return distances <= max(0.5 * reach, 0.25 * error)


def _is_mark(state, y, i):
    """Tell whether a far one of targets (n,), as they came, is the first of a run, and a value."""
    before = y[i - 1] if i else state["latest"]
    return abs(y[i]) < _LARGEST and y[i] != before and y[i] not in state["nones"]
