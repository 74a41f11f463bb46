"""What a row teaches of how large errors are: intervals, those that know the row, and their sides.

All are judged as they were issued, by the latest origins, each at its step.
"""

import numpy as np

from . import _intervals, _reached, _row_sizes, _skew, _waiting


def start(plan):
    """Return the parts of a state before the first row."""
    horizon, m = plan.horizon, plan.n_series
    state = {"intervals": _intervals.start(horizon, m), "skew": _skew.start(horizon, m)}
    state["reached"] = _reached.start(state["intervals"])
    if plan.knows_rows:
        state["row_sizes"] = _row_sizes.start(plan.n_ahead, plan.n_phases, horizon, m)
    return state


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
    reach, t, season = _reached.reaches(state["reached"], size), state["t"], state["seasons"][0]
    if plan.knows_rows:
        _learn_row_sizes(plan, state, x_ahead, issued, errors, reach, trust)
    _intervals.learn(state["intervals"], t, season, errors, reach, trust)
    judged = {"missed": _reached.n_missed(errors, reach), "side": _skew.bins(errors, size)}
    _waiting.write(state["recent"], judged, t, plan.horizon)
    before = _waiting.of_row(state["recent"], judged, t, plan.horizon)
    _reached.follow(state["reached"], before["missed"])
    _skew.learn(state["skew"], judged["side"], before["side"])


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
