"""The fence of the targets of one row: what `_targets.py` does with a block of one, in few calls.

Of one row each target is a plain number, which costs less than an array of one.
"""

import numpy as np

from . import _nones
from ._deviations import deviation
from ._target_units import FARTHEST


def scaled_row(fence, states, t, y):
    """Return what `scaled` does of the targets (q,) of one row, of which a new age may begin."""
    if all(state["unit"] for state in states):
        of_targets = zip(y.tolist(), states, strict=True)
        u = [(target - state["origin"]) / state["unit"] for target, state in of_targets]
        if max(map(abs, u)) <= FARTHEST:
            return np.array(u)
    fence.n_alike(states, t, y[None])
    return fence.scaled(states, y[None])[0]


def deviations_of_row(fence, states, t, u, sizes):
    """Return the deviations before round t and after it: the ends of a `path`.

    Targets u (q,) were missed by some `sizes`.
    """
    known, after = [state["deviation"] for state in states], []
    if (t + 1) % fence.refresh:
        return known, known
    for j, state in enumerate(states):
        counts = fence._first(state, t) == 0 and not _nones.are_none(state, u[j])
        new = (part[j : j + counts] for part in (sizes, u))
        parts = zip((state["errors"], state["values"]), new, strict=True)
        after.append(deviation(*(np.concatenate(part)[-fence.latest :] for part in parts)))
    return known, after


def is_sound(fence, states, t, y, u, sizes, experts, least, usual):
    """Return whether no target of round t is in doubt: what `n_sound` says of a row.

    Targets (q,) are y as they came, and u in units, missed by some `sizes`. Forecasts of experts
    are (q, K), the `usual` deviations those known before the round.
    """
    of_numbers = sizes.tolist(), least.tolist(), usual
    for j, (state, error, enough, size) in enumerate(zip(states, *of_numbers, strict=True)):
        is_none = len(state["nones"]) > 0 and bool(_nones.are_none(state, u[j]))
        is_beyond = error > enough
        if not state["guarded"] or not (is_beyond or is_none):
            continue
        age = t - state["since"] - state["delay"]
        reach = _factor_at(fence, age) * size
        limit = fence.cap * reach if age >= fence.block else reach
        asks = error > limit or is_none
        if error > reach and not asks and age >= fence.block:
            asks = bool(_nones.stand_still(fence, state, True, y[j : j + 1], u[j : j + 1])[0])
        if error > reach and not asks:
            asks = _nones.comes_again(fence, state, y[j : j + 1], 0, u[j], state["values"])
        is_sure = is_none and is_beyond
        if is_sure or (asks and not _nones.is_explained(u[j], error, experts[j], reach)):
            return False
    return True


def remember_far(fence, states, t, y, sizes, usual):
    """Do what `remember_far` does with targets (q,) of a row, by the deviations before it."""
    of_numbers = y.tolist(), sizes.tolist(), usual
    for state, number, error, size in zip(states, *of_numbers, strict=True):
        age = t - state["since"] - state["delay"]
        reach = _factor_at(fence, age) * size
        is_near = state["guarded"] and age >= fence.block and error <= reach
        _nones.remember_one(state, number, is_near, state["guarded"] and error > reach)


def learn_row(fence, states, t, u, sizes, of_experts, usual):
    """Do what `learn` does with targets (q,) of a row in no doubt; return what has moved.

    They were missed by some `sizes`. Forecasts, references and distances are (3, q), the
    deviations those after the row.
    """
    rows = np.array([u, *of_experts, np.zeros(len(u)), u]).T
    for j, (state, size) in enumerate(zip(states, usual, strict=True)):
        state["deviation"], state["stuck"] = size, False
        state["moved"][2] += 1
        if fence._first(state, t) == 0:
            for name, new in (("errors", sizes), ("values", u)):
                known = state[name][1 - fence.latest :]
                state[name] = np.concatenate([known, new[j : j + 1]])
        state["block"] = np.concatenate([state["block"], rows[j : j + 1]])
    return fence._judged(states, t + 1, True)


def _factor_at(fence, age):
    if age < fence.reviews[0]:
        return np.inf
    return fence.early_reach if age < fence.block else fence.reach
