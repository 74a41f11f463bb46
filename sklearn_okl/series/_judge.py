"""What a row teaches of how large errors are: intervals, those that know the row, and their sides.

All are judged as they were issued, by the latest origins, each at its step.
"""

import numpy as np

from . import _intervals, _medians, _reached, _row_sizes, _skew, _waiting


def start(plan):
    """Return the parts of a state before the first row."""
    horizon, m = plan.horizon, plan.n_series
    state = start_errors(horizon, m) | {"medians": _medians.start(m)}
    if plan.knows_rows:
        state["row_sizes"] = _row_sizes.start(plan.n_ahead, plan.n_phases, horizon, m)
    return state


def start_errors(horizon, n_series):
    """Return the parts that know errors alone, not the row."""
    intervals = _intervals.start(horizon, n_series)
    reached, skew = _reached.start(intervals), _skew.start(horizon, n_series)
    return {"intervals": intervals, "skew": skew, "reached": reached}


def nothing(horizon, n_series):
    """Return what waits of a row of which nothing was judged."""
    shape = horizon, n_series
    return {
        "missed": np.full(shape, _reached.NOT_JUDGED, dtype=np.uint8),
        "side": np.full(shape, _skew.NOT_JUDGED, dtype=np.uint8),
    }


def learn(plan, state, x_ahead, issued, errors, size, trust):
    """Learn the errors (H, m) of what was issued of a row of columns x_ahead (d,), NaN unknown.

    `size` (H, m) is what they were expected to be, `trust` what each counts for in sizes.
    """
    reach = _reached.reaches(state["reached"], size)
    if plan.knows_rows:
        _learn_row_sizes(plan, state, x_ahead, issued, errors, reach, trust)
    turns = _waiting.of_row(state["recent"], ("turns",), state["t"], plan.horizon)["turns"]
    state["medians"] = medians = dict(state["medians"])
    _medians.learn(medians, _medians.sizes(state), turns, errors)
    learn_errors(state, state["seasons"][0], errors, size, reach, trust, turns[-1])


def learn_errors(state, season, errors, size, reach, trust=1.0, off=0.0):
    """Let the parts that know errors alone learn those (H, m) of a row; the rest as above.

    `reach` (levels, H, m) is how far intervals reached; below 0, as `size`, where none was known.
    Laws of sides are of errors of what was as far `off` (H, m).
    """
    t, recent, horizon = state["t"], state["recent"], len(errors)
    _intervals.learn(state["intervals"], t, season, errors, reach, trust)
    judged = {"missed": _reached.n_missed(errors, reach), "side": _skew.bins(errors - off, size)}
    _waiting.write(recent, judged, t, horizon)
    before = _waiting.of_row(recent, judged, t, horizon)
    _reached.follow(state["reached"], before["missed"])
    _skew.learn(state["skew"], judged["side"], before["side"])


def sides(state, reach):
    """Return how reaches (levels, k, m) of the next k rows differ by side, as `_skew.sides`."""
    horizon, n_steps = state["intervals"]["size"].shape[1], reach.shape[1]
    return _skew.sides(state["skew"], horizon)[:, :n_steps]


def middle(slot, forecasts):
    """Return what laws are around, whose sides `sides` tells, from forecasts (k, m)."""
    n = len(forecasts)
    return forecasts + slot["turns"][-1, :n] * slot["change"]


def _learn_row_sizes(plan, state, x_ahead, issued, errors, reach, trust):
    """Let intervals that know the row learn the errors (H, m) of what was issued of it."""
    known = _row_sizes.told_by(state["recent"], state["t"], plan.horizon)
    size, weight, k = state["intervals"]["size"][1], state["intervals"]["weight"][1], plan.horizon
    X = np.broadcast_to(x_ahead, (k, plan.n_ahead))
    times = np.broadcast_to(state["origin"]["phases"], (k, plan.n_phases))
    parts = _row_sizes.parts_of(np.full(k, state["t"]), state["seasons"])
    Z = _row_sizes.features(known, X, times, parts, issued)
    sizes = size / np.where(weight > 0.0, weight, 1.0)
    _row_sizes.learn(state["row_sizes"], known, Z, reach, errors, sizes, trust)
