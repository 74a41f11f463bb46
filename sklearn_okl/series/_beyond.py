r"""What lies beyond the fence of a series: a fault, or the first value of a new level.

A value that is more than `FENCE` running deviations from the mean counts as missing: a single one
is a fault. Some in a row that agree with those before them, or are on a line with these, are a new
level: all that is remembered moves by as much as its forecast was off, and goes on as if the series
had always been there; the fifth in a row on a line is learnt as it is, since the series rises.
Where moving would not help, as forecasts are beyond the fence as well, or would cost the digits, it
is learnt as `FENCE` away; so is the eighth in a row of which none agree, as in another unit. One
beyond all values and 0, none of them of its sign nor as far from 0, is to be the 32nd: so is what
stands for none, whatever its last digits. The very number before is no further one where values
hardly ever repeat, as a sensor that is out writes it, up to the 32nd.

How many are needed the stream says. As for targets of tables (`untuned/rounds/_targets.py`), log
odds that what is in doubt is a new level are kept for ever: a level that was believed adds to them,
a value that came back takes from them, and each row of a dispute but the first adds as much. From
their start on the third row is believed; after two levels and no fault the first one is, and
nothing but it is lost; after faults one of up to eight. Odds are kept by octaves of the distance:
a fault says that what is farther is one, and a level that what is nearer is, or four times as far.
If values are back as soon as they were believed, or after two, they were faults: the level moves
back at once, and odds fall twice.
"""

import numpy as np

from ..features import _faults
from ._views import FENCE, reach

BELIEVED = 3  # values in a row beyond the fence, less than one apart, that are no fault at first
_START = -4.0  # log odds of a new level over a fault
_LEAST, _MOST = -19.0, 8.0  # and their limits: then eight rows are needed, or one
_N_OCTAVES, _LOWEST = 32, -8  # of distances, in the fence there was when a value was first beyond
_NEAR = 2  # octaves beyond a level in which it says that there may be another one
_BOUND = 3.0  # that a row, or a dispute that has ended, counts
_SETTLED = 2.0  # from which on a level is believed
_BELIEVED_ANYWAY = 8  # values in a row beyond the fence that are believed wherever they are
_BELIEVED_AT_LAST = 32  # and if they are the same number again and again
_STILL = 0.25  # of the fence, that the very number before is off at least where it is none
_LATEST = 113  # values that say whether they repeat
_FARTHEST = 1e8  # deviations that a level moves at most


def start(n_series):
    """Return what is known of values beyond the fence where there was none."""
    nothing = np.zeros(n_series, dtype=np.int64)
    return {
        "n": nothing,  # the latest values in a row that are beyond it
        "n_agreeing": nothing,  # of these the latest that are less than a fence apart
        "n_alike": nothing,  # the latest ones beyond it that are the number before
        "last": np.full(n_series, np.nan),
        "line": np.full((2, n_series), np.nan),  # the latest one beyond it, and its own change
        "n_on_line": nothing,  # and how many in a row have changed as that one did, by a fence
        "unit": np.zeros(n_series),  # how far off the fence was when one was first beyond it
        # log odds that what is beyond is a new level, by octaves of the distance
        "odds": np.full((_N_OCTAVES, n_series), _START),
        # its latest move, by how many values it was believed, and how many came since
        "moved": np.zeros((3, n_series)),
    }


def is_sound(beyond):
    """Tell whether what is known, as from a file, are counts, moves, and odds within limits."""
    counts, odds = ("n", "n_agreeing", "n_alike", "n_on_line"), beyond["odds"]
    return bool(
        all((beyond[name] >= 0).all() for name in counts)
        and ((odds >= _LEAST) & (odds <= _MOST)).all()
        and np.isfinite(beyond["moved"]).all()
        and ((beyond["unit"] >= 0.0) & (beyond["unit"] < np.inf)).all()
        and not any(np.isinf(beyond[name]).any() for name in ("last", "line"))
    )


def as_learnt(state, beyond, values, forecasts, believed):
    """Tell faults and new levels among values (m,), possibly NaN.

    Parameters
    ----------
    state : dict
        What is remembered of them: "values", "mean", "variance" and "count".
    beyond : dict
        As `start` begins it.
    values, forecasts, believed : ndarray of shape (m,)
        What came, what was forecast, and numbers that are no faults, NaN where there are none.

    Returns
    -------
    learnt : ndarray of shape (m,)
        The values as they are learnt, NaN for faults.
    beyond : dict
        With these values.
    is_new : ndarray of bool of shape (m,)
        Which values are of a new level, or of the one before it.
    """
    far = reach(state)
    low, high = state["mean"] - far, state["mean"] + far
    is_known, is_value = ~np.isnan(values), values == believed
    is_beyond = (values < low) | (values > high) | _stand_still(state, beyond["last"], values, far)
    is_beyond &= ~is_value
    unit = np.where(is_beyond & (beyond["unit"] == 0.0), far, beyond["unit"])
    beyond = beyond | {"unit": unit}
    counts = _counted(state, beyond, values, is_beyond, far)
    n_agreeing = counts["n_agreeing"]
    is_level = is_beyond & _are_enough(state, beyond, values, n_agreeing)
    is_doubtful = np.zeros(len(values), dtype=bool)
    for k in (is_level & (n_agreeing < _BELIEVED_AT_LAST)).nonzero()[0]:
        others = _latest(state, k)
        others = others[(others >= low[k]) & (others <= high[k])]
        is_doubtful[k] = _faults.lies_across(values[k], others, far[k])
    is_level &= ~is_doubtful
    is_level |= is_beyond & _are_back(state, beyond, values)
    is_enough = _come_to_stay(state, counts, values, is_beyond)
    is_enough |= (counts["n"] >= _BELIEVED_ANYWAY) & ~is_doubtful
    is_found = is_level & (np.abs(values - state["mean"]) <= _FARTHEST / FENCE * far)
    is_found &= (low <= forecasts) & (forecasts <= high)
    within = np.minimum(np.maximum(values, low), high)
    learnt = np.where(is_found | is_value, values, within)
    for name in ("n", "n_agreeing"):
        counts[name] = counts[name] * ~is_found
    last = np.where(is_beyond & ~is_found, values, np.nan)
    line = np.where(is_beyond, [values, values - beyond["line"][0]], np.nan)
    for name, one in (("last", last), ("line", line)):
        counts[name] = np.where(is_known, one, beyond[name])
    is_lost = is_beyond & ~(is_level | is_enough)
    is_new = is_found & (counts["n_on_line"] < BELIEVED)
    return np.where(is_lost, np.nan, learnt), beyond | counts, is_new


def _counted(state, beyond, values, is_beyond, far):
    """Return how many of the latest values (m,) are beyond, agree, are on a line, or the same."""
    last, is_alike = beyond["last"], values == beyond["last"]
    for k in is_alike.nonzero()[0]:
        is_alike[k] = _faults.seldom_repeat(_latest(state, k), values[k])
    agree = np.abs(values - last) <= far
    change = values - beyond["line"][0]
    is_on_line = (np.abs(change) > far) & (np.abs(change - beyond["line"][1]) <= far)
    n_before = np.where(is_on_line, BELIEVED - 1, beyond["n_agreeing"] * agree)
    counts = {
        "n": (beyond["n"] + ~is_alike) * is_beyond,
        "n_agreeing": (n_before + ~is_alike) * is_beyond,
        "n_alike": (beyond["n_alike"] + 1) * is_alike,
        "n_on_line": (beyond["n_on_line"] + 1) * (is_on_line & is_beyond),
    }
    is_known = ~np.isnan(values)
    return {name: np.where(is_known, count, beyond[name]) for name, count in counts.items()}


def _come_to_stay(state, counts, values, is_beyond):
    """Tell which values (m,) have come as often in a row as no fault does, not beyond all."""
    is_enough = is_beyond & (counts["n_alike"] >= _BELIEVED_AT_LAST)
    for k in (is_enough & (counts["n_alike"] <= state["count"])).nonzero()[0]:
        others = _latest(state, k)
        others = others[others != values[k]]  # of columns they are as they came
        is_enough[k] = not len(others) or not _faults.lies_beyond(values[k], others)
    return is_enough


def settle(state, before, beyond, values, forecasts, is_new):
    """Keep how disputes among values (m,) have ended; `before` is what was known.

    Some values are of a new level (m,), which moves by what they are off their forecasts.
    """
    by, is_known = np.where(is_new, values - forecasts, 0.0), ~np.isnan(values)
    is_back = is_new & _are_back(state, before, values)
    is_over = is_known & np.isnan(beyond["last"]) & ~np.isnan(before["last"]) & ~is_new
    octaves, k = np.arange(_N_OCTAVES)[:, None], _octaves(state, beyond, values)
    of_last = _octaves(state, beyond, before["last"])
    gains = (is_new & ~is_back) * (octaves <= k + _NEAR) - 2.0 * is_back * (octaves >= k)
    gains = _BOUND * (gains - 1.0 * is_over * (octaves >= of_last))
    beyond["odds"] = np.clip(before["odds"] + gains, _LEAST, _MOST)
    since = before["moved"] + is_known * np.array([[0.0], [0.0], [1.0]])
    moved = np.stack([by * ~is_back, before["n_agreeing"] + 1.0, np.zeros(len(by))])
    beyond["moved"] = np.where(is_new, moved, since)


def _octaves(state, beyond, values):
    """Return in which octaves (m,) the distances of values (m,) from the mean are."""
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        units = np.nan_to_num(np.abs(values - state["mean"]) / beyond["unit"])
    return np.clip(np.frexp(units)[1] - 1 - _LOWEST, 0, _N_OCTAVES - 1)


def _are_enough(state, beyond, values, n_agreeing):
    """Tell where so many values (m,) that agree are enough for a new level."""
    odds = np.take_along_axis(beyond["odds"], _octaves(state, beyond, values)[None], axis=0)[0]
    return (n_agreeing > 0) & (odds + _BOUND * (n_agreeing - 1) >= _SETTLED)


def _are_back(state, beyond, values):
    """Tell which values (m,) are back where the level was, as soon as it was believed."""
    moved, needed, since = beyond["moved"]
    is_back = np.abs(values - (state["mean"] - moved)) <= reach(state)
    return is_back & (moved != 0.0) & (since < np.maximum(needed, BELIEVED - 1))


def _stand_still(state, doubted, values, far):
    """Tell which values (m,) are the very number before, far from the mean, where few ever are."""
    still = values == doubted
    if len(state["values"]):
        still |= values == state["values"][-1]
    still &= (np.abs(values - state["mean"]) > _STILL * far) & (values != 0.0)
    for k in still.nonzero()[0]:
        still[k] = _faults.seldom_repeat(_latest(state, k), values[k])
    return still


def _latest(state, k):
    """Return the latest known values of a series, from which it is told whether they repeat."""
    n = int(min(state["count"][k], _LATEST, len(state["values"])))
    return state["values"][len(state["values"]) - n :, k]
