r"""What is gone on from after a value that is far from its forecast: as much of it as lasts.

The next values may stay where it was, as at a new level, or come back, as after a fault. Which it
is the stream tells. Of a value that is off its forecast by d, more than `FAR` usual errors, a share
w of d is gone on from, and the error e of the next forecast says how much it should have been,

.. math:: w \leftarrow \min\bigl(\max(w + \eta e / d, 0), 1\bigr),

from w = 1/2, where either belief costs a quarter of what the other one would if it were wrong, with
a rate of 1 for the first such value and of one half for all others. What lasts in part, as in an
autoregression, leaves w as it is, since forecasts know that part. Of a second value in a row that
agrees with a far one another share is gone on from, which the third one tells in the same way: it
begins with 1, as faults are mostly alone. A third one that agrees is gone on from as it is. What is
back where the forecast was before one or two far values is no further far one: so much as was gone
on from was too much. A single one is then remembered as it was, as it may come in season.

As a target, which may be rare and no fault, such a value is off by w d, but by `FAR`
usual errors at least: by no more than that one row leads others astray (P. J. Huber, "Robust
estimation of a location parameter", Annals of Mathematical Statistics 35(1), 1964). Intervals, and
whoever says a season again, hear of it as it is: what comes every day is no fault. On made series
of a day's season, of which 5 % are off by some 8 deviations either way, squared errors of the
others were twice those of a forecaster that is told which, and are 1.3 times these.
"""

import numpy as np

FAR = 8.0  # usual errors, of which a far value is off by more: never one of a normal law
_START = 0.5, 1.0  # of one, and of two, that is gone on from before anything has told
_FEW = 16  # errors from which on it is known what is usual
_RATE = 0.02  # of what is usual, later on
_MOST = 4.0  # usual errors that one counts as at most


def start(n_series):
    """Return what is known before the first value."""
    nothing = np.zeros(n_series)
    return {
        "share": np.tile(np.array(_START)[:, None], n_series),  # after one far value, and two
        "usual": nothing,  # size of an error
        "count": nothing,  # errors so far
        "n_far": np.zeros((2, n_series)),  # values that have told each share
        "age": nothing,  # 1 after a far value, 2 after another one that agrees with it
        "base": nothing,  # what was forecast of the first one
        "off": nothing,  # by how much the latest of them is off that
    }


def is_sound(state):
    """Tell whether what is known, as from a file, are shares, sizes and counts."""
    sizes = [state[name] for name in ("usual", "count", "n_far", "age")]
    return bool(
        ((state["share"] >= 0.0) & (state["share"] <= 1.0)).all()
        and all(((one >= 0.0) & (one < np.inf)).all() for one in sizes)
        and all(np.isfinite(state[name]).all() for name in ("base", "off"))
    )


def move(state, by):
    """Move what was forecast of the latest far values by some amounts (m,)."""
    state["base"] = state["base"] + by


def learn(state, y, issued):
    """Learn values (m,), NaN where they are missing, of which forecasts were issued, or NaN.

    Returns
    -------
    taught, kept : ndarray of shape (m,)
        The values as targets, and as what is gone on from.
    before : ndarray of shape (m,)
        What is gone on from of the values before them after all, NaN where nothing has changed.
    """
    usual, off, base, age = (state[name] for name in ("usual", "off", "base", "age"))
    known = np.isfinite(y) & np.isfinite(issued)
    errors = np.where(known, y - issued, 0.0)
    sizes, far = np.abs(errors), FAR * usual
    is_off = known & (state["count"] >= _FEW) & (sizes > far)

    is_back = known & (age > 0.0) & (np.abs(y - base) <= far)
    agrees = known & (age > 0.0) & ~is_back & (np.abs(y - base - off) <= far)
    is_pair, is_third = agrees & (age == 1.0), agrees & (age == 2.0)
    is_first = is_off & ~is_back & ~agrees
    tell = known & (age == np.array([[1.0], [2.0]]))  # something of each share
    one, two = share = _told(state, tell, errors)

    of_pair = base + two * (y - base)
    kept = np.where(is_first, issued + one * errors, np.where(is_pair, of_pair, y))
    is_alone = is_back & (age == 1.0)  # it was there, and may be again
    as_it_was = np.where(is_third | is_alone, base + off, np.nan)
    before = np.where(is_pair, base + two * off, as_it_was)
    count = state["count"] + known
    rate = known * np.maximum(1.0 / np.maximum(count, 1.0), _RATE)
    heard = np.minimum(sizes, np.where(count > _FEW, _MOST * usual, np.inf))
    state.update(
        usual=usual + rate * (heard - usual),
        count=count,
        n_far=state["n_far"] + tell,
        share=share,
        age=np.where(known, 1.0 * is_first + 2.0 * is_pair, age),
        base=np.where(is_first, issued, base),
        off=np.where(is_first, errors, np.where(is_pair, y - base, off)),
    )
    bounded = is_off & (one < 1.0)
    taught = issued + np.sign(errors) * np.maximum(one * sizes, far)
    return np.where(bounded, taught, y), kept, before


def _told(state, tell, errors):
    """Return the shares (2, m) after errors (m,) of values, of which some tell something of each.

    These are the values after far ones.
    """
    off = np.where(tell.any(axis=0) & (state["off"] != 0.0), state["off"], np.inf)
    lasts = np.clip(errors / off, -1.0, 1.0)
    rate = tell / np.clip(state["n_far"] + 1.0, 1.0, 2.0)
    return np.clip(state["share"] + rate * lasts, 0.0, 1.0)
