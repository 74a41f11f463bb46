"""What is remembered of several series: their latest values, levels and scales.

Forecasts are made from what does not change with the units: values less the latest one, over the
running standard deviation. So series of any size share a model, and y -> a + b y changes forecasts
in the same way.

A value that is missing is filled in by whoever forecast it, and so is a fault, see `_beyond.py`.

A series that has had one value for eight rows or more begins with the first other one, unless that
value comes again.
"""

import numpy as np

FENCE = 20.0  # running standard deviations that a value, or a feature, may be off
FAR = 10.0  # running deviations that a target is learnt to be off the latest value at most
JUDGED = 32  # values after which there is a deviation to judge by
_MEASURED = 16  # values after which the deviation is a unit to learn in: of two it may be anything
_CONSTANT = 8  # equal values that may be none, as where nobody has measured yet
_CHANGES = 4  # values after which the mean change is a unit
_ROUNDING = 1e-12  # of a value, up to which a change is none
_MEMORY = 2000  # rows that means and deviations remember
_ROWS = "values", "kept"  # of each of which there is one a row


def start(n_series, n_rows, n_kept=None):
    """Return the memory of series of which nothing is known, for their latest rows."""
    n_kept = n_rows if n_kept is None else n_kept
    return {
        "values": np.zeros((n_rows, n_series)),  # the latest last
        "kept": np.zeros((n_kept, n_series)),  # and what of them is gone on from
        "mean": np.zeros(n_series),
        "variance": np.zeros(n_series),
        "change": np.zeros(n_series),  # mean size of the changes from row to row
        "count": np.zeros(n_series),  # values known so far
        "first": np.zeros(n_series),  # the first value
        "is_same": np.ones(n_series, dtype=bool),  # whether all have been this one
        "aside": np.zeros(n_series),  # how many of these do not count, as none has come again
        "foretold": np.zeros(n_series),  # what was forecast of the latest row
    }


def is_sound(state):
    """Tell whether what is known of series, as in a file, are numbers, counts and variances."""
    return bool(
        all(np.isfinite(state[name]).all() for name in (*_ROWS, "mean", "foretold", "first"))
        and all(
            ((state[name] >= 0.0) & (state[name] < np.inf)).all()
            for name in ("variance", "change", "count", "aside")
        )
    )


def started(state):
    """Return which series have had a value (m,)."""
    return state["count"] > 0


def constant(state):
    """Return which series have had one value only (m,), for a while."""
    return state["is_same"] & (state["count"] >= _CONSTANT)


def level(state):
    """Return the latest values (m,), 0 where a series has not begun, and the scales (m,)."""
    deviation = np.sqrt(state["variance"])
    last = np.where(started(state), state["kept"][-1], 0.0)
    return last, np.where(deviation > 0.0, deviation, 1.0)


def deviation(state):
    """Return the running deviations (m,); 0 where all values so far were one."""
    return np.sqrt(state["variance"])


def standardised(X, mean, deviation):
    """Return columns (..., d) in deviations from their mean, so that their unit says nothing.

    One that is missing counts as the mean, and so does one of a column without a deviation yet.
    """
    is_known = deviation > 0.0
    return np.nan_to_num(np.where(is_known, X - mean, 0.0) / np.where(is_known, deviation, 1.0))


def is_silent(state, values):
    """Tell whether nothing has begun before the next values (m,), and none of them is known."""
    return np.isnan(values).all() and not started(state).any()


def unit(state):
    """Return the running deviations (m,) that are learnt in; 0 for a series that has none yet."""
    return np.where(state["count"] >= _MEASURED, np.sqrt(state["variance"]), 0.0)


def unit_of_intervals(state):
    """Return the units (m,) that intervals reach in; infinite where none is known."""
    least = np.where(state["change"] > 0.0, _CHANGES, _MEASURED)
    return np.where(state["count"] < least, np.inf, _unit_of_errors(state))


def change(state):
    """Return the units (m,) that errors of intervals are learnt in; 0 where there is none yet."""
    return np.where(state["count"] >= _CHANGES, _unit_of_errors(state), 0.0)


def units_in_deviations(state):
    """Return how many running deviations the units (m,) of errors are."""
    return _unit_of_errors(state) / level(state)[1]


def _unit_of_errors(state):
    """Return the mean changes (m,), larger where few values are known.

    The line through n values forecasts the next one with a deviation larger by about 2 / n, and a
    mean of few changes is not known well. In these units first errors are about as large as those
    that follow.
    """
    return state["change"] * (1.0 + 2.0 / np.maximum(state["count"] - 1.0, 1.0))


def unit_so_far(state, values):
    """Return the deviations (m,) of all values so far and the next ones (m,); NaN where it is 0.

    An error of a forecast that lies among the values so far is only some of these: so errors can
    be compared before there is a unit to learn in.
    """
    share = 1.0 / np.clip(state["count"] + 1.0, 1.0, _MEMORY)
    variance = (1.0 - share) * (state["variance"] + share * (values - state["mean"]) ** 2)
    return np.sqrt(np.where(variance > 0.0, variance, np.nan))


def reach(state):
    """Return how far from their means (m,) values are believed without a doubt."""
    deviation = np.where(state["count"] >= JUDGED, np.sqrt(state["variance"]), 0.0)
    return np.where(deviation > 0.0, FENCE * deviation, np.inf)  # a constant has no unit


def take_back(state, k):
    """Remember of the latest row of a series what was forecast: it was none."""
    for name in _ROWS:
        state[name] = state[name].copy()
        state[name][-1, k] = state["foretold"][k]


def go_on_from(state, latest):
    """Go on from other latest values than what was kept of them, (m,), NaN where from these."""
    which = ~np.isnan(latest)
    if which.any():
        state["kept"] = kept = state["kept"].copy()
        kept[-1, which] = latest[which]


def move(state, by):
    """Move all that is remembered by some amounts (m,)."""
    for name in (*_ROWS, "mean", "foretold"):
        state[name] = state[name] + by


def begin_level(state, by):
    """Move all that is remembered where `by` (m,) is not 0, and let the latest rows count there."""
    move(state, by)
    few = np.minimum(state["count"], JUDGED)
    state["count"] = np.where(by != 0.0, few, state["count"])


def push(state, values, filled, kept=None):
    """Learn the next values (m,), NaN where they are missing, and remember them as `filled`.

    Of the values may be `kept` less than they are.
    """
    known, kept = np.isfinite(values), values if kept is None else kept
    _set_aside(state, known & started(state), values)
    first = known & ~started(state)
    state["first"] = np.where(first & state["is_same"], values, state["first"])
    state["count"] = state["count"] + known
    share = known / np.minimum(np.maximum(state["count"], 1.0), _MEMORY)
    size = np.where(known & ~first, np.abs(kept - state["kept"][-1]), 0.0)
    size *= size > _ROUNDING * np.abs(kept)  # after what was filled in
    of_changes = known / np.minimum(np.maximum(state["count"] - 1.0, 1.0), _MEMORY)
    state["change"] = state["change"] + of_changes * (size - state["change"])
    change = np.where(known, kept - state["mean"], 0.0)
    state["mean"] = state["mean"] + share * change
    state["variance"] = (1.0 - share) * (state["variance"] + share * change**2)
    for name, new in (("values", values), ("kept", kept)):
        state[name] = latest = np.concatenate([state[name][1:], new[None]])
        latest[-1, ~known] = filled[~known]
        if first.any():
            latest[:, first] = values[first]  # before its beginning a series is its first value
    state["foretold"] = np.where(first, values, filled)


def _set_aside(state, known, values):
    """Let series that have long had one value begin with the first other one: it may be none.

    What nobody has measured yet is written as one number, which is no level to remember, and the
    way from there no deviation. Once it comes again, as none of a demand does, it is a value.
    """
    if not (state["is_same"].any() or state["aside"].any()):
        return
    is_first = values == state["first"]
    is_over = known & ~is_first & constant(state)
    state["is_same"] = state["is_same"] & ~(known & ~is_first)
    is_back = known & is_first & (state["aside"] > 0.0)
    if is_back.any():
        _take_in(state, is_back)
    if is_over.any():
        state["aside"] = np.where(is_over, np.minimum(state["count"], _MEMORY), state["aside"])
        for name in ("mean", "change", "count"):
            state[name] = np.where(is_over, 0.0, state[name])


def _take_in(state, which):
    """Let the first values of some series (m,), which were set aside, count as all others do."""
    n, aside, off = state["count"], state["aside"], state["first"] - state["mean"]
    share = aside / np.maximum(n + aside, 1.0)  # 0 where there are none
    merged = {
        "mean": state["mean"] + share * off,
        "variance": (1.0 - share) * (state["variance"] + share * off**2),
        "change": ((n - 1.0) * state["change"] + np.abs(off)) / np.maximum(n + aside - 1.0, 1.0),
        "count": n + aside,
        "aside": np.zeros_like(aside),
    }
    for name in _ROWS:
        before = np.arange(len(state[name]), 0, -1)[:, None] > n
        merged[name] = np.where(before, state["first"], state[name])
    for name, array in merged.items():
        state[name] = np.where(which, array, state[name])


def make_room(state, n_rows):
    """Remember so many rows from now on, if they are more."""
    more = n_rows - len(state["values"])
    if more > 0:
        nothing = np.repeat(state["values"][:1], more, axis=0)
        state["values"] = np.concatenate([nothing, state["values"]])


def remembered(state, horizon):
    """Return the values (n, m) that are looked at.

    Those of some rows before them are only there for what was said of the next row earlier.
    """
    return state["values"][horizon:]


def windows(state, length):
    """Return features (m, length) of each series from its latest rows.

    The latest value less the mean, and differences of the length - 1 values before it to it, the
    latest of them first, all in running deviations, within the fence; 0 before a series begins. So
    those of a shorter window are the first of them.
    """
    last, scale = level(state)
    features = np.empty((len(last), length))
    features[:, 0] = last - state["mean"]
    features[:, 1:] = (state["kept"][-2 : -length - 1 : -1] - last).T
    features /= scale[:, None]
    np.maximum(features, -FENCE, out=features)
    np.minimum(features, FENCE, out=features)
    features[~started(state)] = 0.0
    return features
