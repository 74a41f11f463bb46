"""What a block of targets says when it ends: whether level or unit are others, or all is.

If most of its targets were in doubt, or forecasts did worse than a constant would, a line through
the forecasts of a kernel that never forgets is asked for. One that explains the targets gives level
and unit; so does one that explains what moved the level again and again. Where errors are larger
than they have long been a model may begin anew, see `_renewal.py`, or where they are larger than
those of a constant: of a smaller unit they are no larger than before. Where they are much larger
this does not wait for the end.
"""

import numpy as np
from scipy.stats import theilslopes

from ._deviations import MAD, median
from ._nones import are_known, are_none
from ._target_units import FARTHEST, UNITS, unit

LEARNT = "what stands for none was learnt"  # and other reasons for which a model begins anew
DOUBTED = "it is time to ask whether rows explain what is in doubt"
ASKED = "suspect", "worse"  # what the latest rows of a target say of errors, see `suspicion`
ANY, NONE = (0.0, 0.0), (np.inf, np.inf)  # ratios by which errors must be larger, or worse
OTHERS = 2.0  # times all that errors can be larger by: nearly all are in doubt
_MARGIN = 1.2  # over the largest errors of a quarter of a block so far
_WORST = 32.0  # ratio of errors to those of a constant that counts at most
_FEW = 12  # errors of a block that say how large they are
_ENOUGH = 16  # blocks before that says something


def judge_doubts(fence, state, t):
    """Ask for a new unit before their errors are usual, if most of the latest are in doubt.

    Or if the level has moved again and again.
    """
    rows = state["block"][-fence.window :]
    if not state["guarded"] or t - state["since"] - state["delay"] <= fence.block:
        return None
    if are_restless(fence, [state]):
        line, rows = _unit_of_levels(fence, state), rows[:, 5:]
    elif len(rows) < fence.window or rows[:, 4].mean() < fence.most:
        return None
    else:
        line = _end_block(fence, state, t)
    if line is None:
        return None
    block, state["block"] = rows[::-1, 0].copy(), state["block"][:0]
    return _move(fence, state, line, block)


def are_restless(fence, states):
    """Return whether some level has moved again and again in this block."""
    return any(state["n_moves"] >= fence.restless for state in states)


def ask_for_another(states, beyond=ANY):
    """Return whether the latest errors, or the levels of a block, ask for a model that begins.

    Errors by more than two ratios, see `suspicion`; levels only if any ratio will do.
    """
    larger, worse = suspicion(states)
    return larger > beyond[0] or worse > beyond[1] or (beyond == ANY and have_moved(states))


def suspicion(states):
    """Return by how much the latest errors are larger than they have long been, 0 if usual.

    And by how much larger than those of the targets' median, 0 if little: where a unit is a smaller
    one errors are no larger, but a constant does better.
    """
    return max([state["suspect"] for state in states]), max([state["worse"] for state in states])


def have_moved(states):
    """Return whether some level has moved again and again in a block that has just ended."""
    return any(state["restless"] and not len(state["block"]) for state in states)


def have_erred(states):
    """Return whether it is errors that ask, in a block in which no level moved again and again.

    In a unit that is no new one: in that nothing is usual.
    """
    erred = any(state["suspect"] > 0.0 < state["long"] for state in states)
    return erred and not any(state["restless"] for state in states)


def _unit_of_levels(fence, state):
    """Return level and slope of the line if one new unit explains what moved the level.

    Since the level first moved rows must be nearer to the line than levels have foretold them.
    Where a level moves, and then stays, it foretells most rows; in a new unit each row asks for
    another one.
    """
    rows = state["block"][-fence.window :]
    if len(rows) < fence.fewest:
        return None
    line = _line(fence, rows[:, 5], rows[:, 2], state["usual"])
    if line is None or line[1] == 1.0:
        return None
    level, slope = line
    origins = state["block"][:, 5] - state["block"][:, 0]  # as distances from the one that is now
    moves = np.diff(origins, prepend=origins[0])[-len(rows) :]
    by_levels = np.abs(rows[:, 0] + moves - rows[:, 1])  # from the level before each row
    by_line = np.abs(rows[:, 5] - level - slope * rows[:, 2])
    first = int(np.argmax(np.abs(moves) > state["usual"]))  # others are rounding
    return line if median(by_line[first:]) < median(by_levels[first:]) else None


def judge_block(fence, state, t):
    """End a block before round t; return its targets, the latest first, if these have moved."""
    old_enough = t - state["since"] - state["delay"] > fence.block
    is_whole = len(state["block"]) == fence.block
    state["suspect"] = _suspicion(fence, state, not old_enough) if is_whole else 0.0
    latest = state["block"][-fence.window :]
    state["worse"] = _worse(latest, fence.abrupt) if is_whole else 0.0
    state["restless"] = are_restless(fence, [state])
    judged = state["guarded"] and old_enough and is_whole
    line = _unit_of_levels(fence, state) if judged and state["restless"] else None
    block = state["block"][::-1, 5 * (line is not None)].copy()
    if judged and line is None:
        line = _end_block(fence, state, t)
    if judged and line is None and _are_others(fence, state, latest):
        state["suspect"] = OTHERS * fence.cap
    state["n_moves"], state["missed"] = 0, 0.0
    state["block"] = state["block"][:0]
    state["level"] = float(median(block))
    state["usual"] = state["deviation"] if np.isfinite(state["deviation"]) else 0.0
    return None if line is None else _move(fence, state, line, block)


def _are_others(fence, state, rows):
    """Tell whether most rows are in doubt, of which no line tells why: the function is another."""
    return rows[:, 4].mean() >= fence.most and 2 * are_none(state, rows[:, 0]).sum() < len(rows)


def n_until_abrupt(fence, states, t, rows, beyond=ANY):
    """Return after how many rows (q, n, 6) of rounds t, ... of a block errors are much larger.

    By more than two ratios. That is asked at the end of each quarter of a block; n if nowhere.
    """
    return min(_n_until_abrupt(fence, *one, t, beyond) for one in zip(states, rows, strict=True))


def _n_until_abrupt(fence, state, rows, t, beyond):
    quarter = fence.block // 4
    n = len(state["block"]) % quarter
    both = np.concatenate([state["block"][len(state["block"]) - n :], rows])
    for end in range(quarter, len(both) + 1, quarter):
        found = _abrupt(fence, state, t + end - n, both[end - quarter : end])
        if found[0] > beyond[0] or found[1] > beyond[1]:
            return end - n
    return len(rows)


def err_abruptly(fence, states, t):
    """Tell whether in the latest quarter of a block, before round t, errors are much larger."""
    quarter = fence.block // 4
    return any(
        len(state["block"]) >= quarter
        and max(_abrupt(fence, state, t, state["block"][-quarter:])) > 0.0
        for state in states
    )


def judge_quarter(fence, state, t):
    """Learn by how much a quarter of a block, before round t, has larger errors, see `suspicion`.

    Much larger than a block's must be.
    """
    n, quarter = len(state["block"]), fence.block // 4
    is_quarter = n > 0 and n % quarter == 0
    found = _abrupt(fence, state, t, state["block"][-quarter:]) if is_quarter else ANY
    state |= zip(ASKED, found, strict=True)


def _abrupt(fence, state, t, rows):
    age, usual = t - state["since"] - state["delay"], state["long"]
    if age <= fence.block:
        return ANY
    is_young, sound = age <= _ENOUGH * fence.block, rows[rows[:, 4] == 0.0]
    worse = _worse(rows, fence.suspect if is_young else fence.worse)
    if is_young or usual == 0.0 or 2 * len(sound) < len(rows):
        return 0.0, worse
    ratio = _size(_errors(sound), fence.cap * usual) / usual
    return ratio * (ratio > max(fence.abrupt, _MARGIN * state["roughest"])), worse


def _worse(rows, least):
    """Return by how much forecasts miss sound targets more than the median does, 0 if little."""
    sound = rows[rows[:, 4] == 0.0]
    if 2 * len(sound) < len(rows):
        return 0.0
    errors, off = _errors(sound).mean(), np.abs(sound[:, 0] - median(sound[:, 0])).mean()
    return float(min(errors / off, _WORST)) if errors > least * off > 0.0 else 0.0


def _errors(rows):
    return np.abs(rows[:, 0] - rows[:, 1])


def _size(errors, limit):
    """Return the root mean square of errors (n,), each up to a limit."""
    return float(np.sqrt(np.square(np.minimum(errors, limit)).mean()))


def _suspicion(fence, state, is_first):
    """Learn how large the errors of a block are; return by how much they are larger, 0 if usual.

    Those of a first block say what is usual at most. In another age than the first one all that is
    known may be that targets were equal.
    """
    block, usual = state["block"], state["long"]
    errors = _errors(block[block[:, 4] == 0.0])
    if 2 * len(errors) < fence.block:  # a matter of levels and units
        return 0.0
    is_second = not is_first and state["power"] == 0.0
    if not is_first:
        _learn_powers(fence, state, errors)
    limit = fence.cap * (usual or MAD * median(errors))
    size = _size(errors, limit)
    if size == 0.0 or usual == 0.0:
        state["long"] = size
        return fence.cap * (size > 0.0 and state["since"] > 0)
    recall = 1.0 if is_second and size < usual else fence.recall  # the first one was a bound
    state["long"] = usual * (size / usual) ** recall
    if size > fence.suspect * usual:
        return size / usual
    largest = max(_size(part, limit) for part in np.split(_errors(block), 4)) / usual
    state["roughest"] = max(state["roughest"], largest)
    return 0.0


def _learn_powers(fence, state, errors):
    of_levels = state["missed"] / len(errors)
    for name, now in (("power", float(np.square(errors).mean())), ("of_levels", of_levels)):
        state[name] += (fence.recall if state[name] else 1.0) * (now - state[name])


def size_so_far(state, limit):
    """Return the root mean square of the errors of a block so far, each up to a limit, 0 for none.

    As targets came, those in doubt included.
    """
    errors = _errors(state["block"]) * unit(state)
    return _size(errors, limit) if len(errors) >= _FEW else 0.0


def _end_block(fence, state, t):
    """Return level and slope of the line if level or unit have changed, else None."""
    rows = state["block"][-fence.window :]
    are_nones = are_none(state, rows[:, 0])
    if 2 * np.count_nonzero(are_nones) > len(rows):
        return _stands_for_good(fence, state, t, rows[-1, 0]) if are_nones[-1] else None
    u, forecasts, references, distances, in_doubt, _ = rows[~are_nones].T
    most = in_doubt.mean() >= fence.most
    if most and median(np.abs(u)) == FARTHEST:
        return 0.0, FARTHEST  # the unit was next to nothing
    off, _, since = state["moved"].tolist()
    # after a new level, which one row has told, and which may have come with a new unit
    if off and fence.fewest <= since < fence.block + fence.fewest:
        n = min(int(since), fence.window)
        return _line(fence, u[-n:], references[-n:], state["usual"], any_line=True)
    errors, sound = np.abs(u - forecasts), in_doubt == 0.0
    constant = np.abs(u - median(u))
    if not most and errors[sound].mean() <= fence.worse * min(
        constant[sound].mean(), state["usual"]
    ):
        return None
    if most:
        u, references = u[in_doubt > 0.0], references[in_doubt > 0.0]
        distances = distances[in_doubt > 0.0]
    # what an expert sees in X is no new level, however little the one of reference knows of it
    far = median(np.abs(u - references))
    if are_known(median(distances), far, fence.reach * state["usual"]):
        return None
    return _line(fence, u, references, state["usual"])


def _stands_for_good(fence, state, t, none):
    """Return the line to what stands for none and came in most of all rows; None before."""
    is_near = abs(none) <= fence.level * state["usual"]
    return None if is_near or 2 * state["n_faulty"] <= t - state["since"] else (float(none), 1.0)


def _move(fence, state, line, block):
    """Let targets on a line through the old ones count as these; return a block of them.

    Where that is another unit it is doubted as the largest errors are: columns may have changed.
    Where it is what stands for none nothing is learnt there, and the level may return at once.
    """
    level, slope = line
    if slope == 1.0 and are_none(state, level):
        state["origin"] += level * unit(state)
        state["dispute"], state["moved"] = np.zeros(4), np.array([level, FARTHEST, 0.0])
        return block - level
    state["origin"] += level * unit(state)
    state["unit"] = float(np.clip(slope * unit(state), *UNITS))
    state["level"] = (state["level"] - level) / slope
    state["dispute"], state["moved"] = np.zeros(4), np.zeros(3)
    state |= {"long": 0.0, "power": 0.0, "of_levels": 0.0}
    if slope != 1.0:
        state["suspect"] = fence.cap
    state |= {"n_moves": 0, "missed": 0.0, "restless": False}  # that was the unit
    state["errors"] = np.abs(block - state["level"])[:0]
    state["values"] = state["errors"]
    return (block - level) / slope


def _line(fence, u, references, deviation, any_line=False):
    """Return level and slope of the line that explains the targets; None where none does.

    Nor where it says too little, a level that is near and a unit of less than a factor four,
    unless `any_line` will do. A unit is one of steps as well: all that has a trend is on a line.
    """
    slope, _, lowest, highest = theilslopes(u, references, alpha=0.99)
    is_known = lowest > 0.0 and not lowest <= 1.0 <= highest
    if not (is_known and _are_steps(u, references, lowest, highest)):
        slope = 1.0
    level = median(u - slope * references)
    spread = MAD * median(np.abs(u - level - slope * references))
    explained = spread <= fence.explained * slope * deviation
    other_unit = max(slope, 1.0 / slope) > fence.other_unit
    if explained and (any_line or other_unit or abs(level) > fence.level * deviation):
        return float(level), float(slope)
    return None


def _are_steps(u, references, lowest, highest):
    """Tell whether a slope between two is one of steps from row to row, too, as far as is known."""
    steps = np.diff(references)
    if not np.ptp(steps) > 0.0:
        return True
    _, _, low, high = theilslopes(np.diff(u), steps, alpha=0.99)
    return not (high < lowest or low > highest)
