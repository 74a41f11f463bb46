"""Numbers among targets that stand for none: -9999 and the like.

Reviews of the first targets find them where they are many. One that comes too seldom is found when
it is far off for the third time, if values hardly ever come twice: faults that are the same number
each time share a reason, and what is measured has noise. In a run it counts once. It lies apart
from all values; whoever sees X may know of it: then it is one. What was learnt of it when it was
near enough for a value, only a model that begins anew does not know.
"""

import numpy as np

from ...features import _faults
from ._target_units import in_units, unit

_N_MARKS = 16  # latest far targets among which one that comes again is looked for
LARGEST = 1e150  # that is remembered: its square is finite


def start():
    """Return what is known of a target before the first."""
    return {
        "nones": np.empty(0),  # targets, as they came, that stand for none
        "marks": np.empty(0),  # the latest far ones, as they came, one of each run
        "learnt": np.empty(0, dtype=bool),  # and which of these were learnt so
        "latest": 0.0,  # the latest one, as it came
        "within": np.empty(0),  # the lowest and the highest, as they came, that were near
    }


def forgotten(state):
    """Return what is known of a target, but for numbers that stand for none: rows explain them."""
    return state | {name: state[name][:0] for name in ("nones", "marks", "learnt")}


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
    known = in_units(state, state["nones"])  # few
    return (np.asarray(u)[..., None] == known).any(axis=-1)


def came_as_none(states, y):
    """Tell which targets (n, q), as they came, stand for none."""
    found = np.zeros(y.shape, dtype=bool)
    for j, state in enumerate(states):
        if len(state["nones"]):
            found[:, j] = np.isin(y[:, j], state["nones"])
    return found


def blanked(states, Y):
    """Return targets (n, q), as they came, with NaN for numbers that stand for none.

    Labels, which have no states, are what they are.
    """
    return np.where(came_as_none(states, Y), np.nan, Y) if states else Y


def comes_again(fence, state, y, i, target, values):
    """Tell whether one of the targets y (n,), as they came, is known to stand for none now.

    It is `target` in the units of the latest values.
    """
    n_before = np.count_nonzero(state["marks"] == y[i])
    if n_before == 0 or not _is_mark(state, y, i):
        return False
    values = values[-fence.latest :]
    others = [in_units(state, state[name]) for name in ("marks", "within")]
    known = np.concatenate([values, *others])
    middle = np.median(np.append(values, target))
    nearer = np.abs(known - middle) < abs(target - middle)
    nearer[: len(values)] = True
    return _faults.comes_again(target, n_before, known[nearer], fence.bound)


def n_known(fence, state, near, far, asks, y, u, errors, experts, reach):
    """Tell which of the targets (n,) stand for none, up to the first that is known to only now.

    Targets are y as they came, and u in units; some are `near`, some `far`, and some of these ask.
    Returned are the number of rows up to that one, n if there is none, and which of these (m,)
    stand for none.
    """
    known, nones = dict(state), are_none(state, u)
    for i in np.flatnonzero(far).tolist():
        known["within"] = _widened(state, y[:i], near[:i])
        values = np.concatenate([state["values"], u[:i]])
        is_again = asks[i] and comes_again(fence, known, y, i, u[i], values)
        if is_again and not is_explained(u[i], errors[i], experts[i], reach[i]):
            return i, nones[:i]
        if _is_mark(known, y, i):
            # it may tell that others are none
            _learn_mark(known, y[i], state["origin"], was_learnt=True)
            nones[i + 1 :] = are_none(known, u[i + 1 :])
    return len(u), nones


def learn(fence, states, y, u, forecasts, experts, reach):
    """Learn which of the targets y (q,) of a row, met alone, stand for none from now on.

    They are u, in units; forecasts of experts that see X are (q, K), and fences stand at some
    `reach` (q,). Return whether one of them was learnt before.
    """
    were_learnt = False
    of_targets = zip(states, y[:, None], u, np.abs(u - forecasts), experts, reach, strict=True)
    for state, number, target, error, said, limit in of_targets:
        is_sound = not error > limit or is_explained(target, error, said, limit)
        if is_sound or are_none(state, target):
            continue
        is_none = comes_again(fence, state, number, 0, target, state["values"])
        if is_none or _stands_beyond(fence, state, number[0], target):
            state["nones"] = np.append(state["nones"], number)
            were_learnt |= bool(state["learnt"][state["marks"] == number].any())
    return were_learnt


def is_the_same(fence, state, target, n_alike):
    """Tell whether a far target that is the one before, as few are, is no level for that.

    In a row of `n_alike` that agree each says it again.
    """
    return _faults.seldom_repeat(state["values"], target, fence.bound / max(n_alike, 1.0))


def _stands_beyond(fence, state, number, target):
    """Tell whether a far number, `target` in units, stands still where no state has been.

    It is beyond the latest values and beyond 0, in a stream whose values hardly ever repeat.
    """
    values = state["values"][-fence.latest :]
    if number != state["latest"] or not len(values):
        return False
    known = np.append(values * unit(state) + state["origin"], state["within"])
    is_beyond = _faults.lies_beyond(number, known)
    return is_beyond and is_the_same(fence, state, target, state["dispute"][0])


def is_across(state, target, near):
    """Tell whether a target, in units, lies across 0 from all values, and farther off than these.

    As far as they are, or `near` to that in units, is a level as any.
    """
    number, known = target * unit(state) + state["origin"], state["within"]
    return len(known) > 0 and _faults.lies_across(number, known, near * unit(state))


def stand_still(fence, state, far, y, u):
    """Tell which far targets (n,), y as they came, are the very number before, where few ever are.

    The second one of a run says no more than the first, wherever it lies.
    """
    still = far & (y == np.append(state["latest"], y[:-1]))
    for i in np.flatnonzero(still).tolist():
        values = np.concatenate([state["values"], u[:i]])[-fence.latest :]
        still[i] = _faults.seldom_repeat(values, u[i], fence.bound)
    return still


def remember(states, y, near, far, origins, learnt):
    """Remember which of the targets y (n, q), as they came, are near or far, and were `learnt` so.

    Of each the origin was known before the rows.
    """
    for j, (state, origin) in enumerate(zip(states, origins, strict=True)):
        for i in np.flatnonzero(far[:, j]).tolist():
            if _is_mark(state, y[:, j], i):
                _learn_mark(state, y[i, j], origin, learnt[i, j])
        state["within"] = _widened(state, y[:, j], near[:, j])
        state["latest"] = float(np.clip(y[-1, j], -LARGEST, LARGEST))


def remember_one(state, number, is_near, is_far):
    """Do what `remember` does with one target, as it came, and was learnt so."""
    if is_far and _is_mark(state, (number,), 0):
        _learn_mark(state, number, state["origin"], was_learnt=True)
    if is_near and number != state["latest"]:
        known = state["within"].tolist()
        if not known or number < known[0] or number > known[1]:
            seen = [min(max(one, -LARGEST), LARGEST) for one in (*known, number)]
            state["within"] = np.array([min(seen), max(seen)])
    state["latest"] = min(max(number, -LARGEST), LARGEST)


def _widened(state, y, near):
    """Return the lowest and the highest target with those of y (n,) that are near, and new."""
    new = y[near & (y != np.append(state["latest"], y[:-1]))]
    known = state["within"]
    if not len(new) or (len(known) and known[0] <= new.min() and new.max() <= known[1]):
        return known
    seen = np.clip(np.append(known, new), -LARGEST, LARGEST)
    return np.array([seen.min(), seen.max()])


def _learn_mark(state, number, origin, was_learnt):
    """Learn a far number: what lies little farther on its side may be the largest of all."""
    state["marks"] = np.append(state["marks"], number)[-_N_MARKS:]
    state["learnt"] = np.append(state["learnt"], was_learnt)[-_N_MARKS:]
    nones = state["nones"]
    if len(nones):
        with np.errstate(over="ignore"):
            ratios = (number - origin) / (nones - origin)
        state["nones"] = nones[~((ratios < 1.0) & (_faults.APART * ratios >= 1.0))]


def is_explained(target, error, experts, reach):
    """Tell whether some expert's forecast (K,) knows of the error, or of most of it."""
    return bool(are_known(np.abs(target - experts), abs(error), reach).any())


def are_known(distances, error, reach):
    """Tell whether experts that are so far off know of the size of an error, or of most of it."""
    return distances <= max(0.5 * reach, 0.25 * error)


def _is_mark(state, y, i):
    """Tell whether a far one of targets (n,), as they came, is the first of a run, and a value."""
    before = y[i - 1] if i else state["latest"]
    return abs(y[i]) < LARGEST and y[i] != before and y[i] not in state["nones"]
