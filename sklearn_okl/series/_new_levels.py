"""What is remembered moves with a level, and goes on as if all had always been there."""

import numpy as np

from . import _far_values, _smoothing, _static, _views
from ._experts import RAW

_OF_COLUMNS = "static_usual", "static_centre", "rows_mean"  # of those known ahead, in a slot


def move_series(plan, state, by):
    """Move all that is remembered of series by some amounts (m,), as if they had been there."""
    recent = dict(state["recent"])
    _views.move(state["views"][RAW], by)
    state["far"] = dict(state["far"])
    _far_values.move(state["far"], by)
    if plan.n_ahead:
        _static.move(state["static"], by)
    _smoothing.move(state["smoothing"], by)
    recent["members"] = recent["members"] + by
    recent["forecasts"] = recent["forecasts"] + by * (plan.views == RAW)[plan.waiting, None]
    is_mean = np.arange(recent["beside"].shape[1]) < recent["beside"].shape[1] - 2
    recent["beside"] = recent["beside"] + by * is_mean[:, None]
    share = 1.0 - sum(recent[name] for name in plan.shares.values())
    recent["mixed"] = recent["mixed"] + by * share
    recent["last"] = recent["last"] + by * (np.arange(plan.n_views) == RAW)[:, None]
    for name in ("static_level", "trees_level", "rows_level"):
        if name in recent:
            recent[name] = recent[name] + by
    state["recent"] = recent


def move_columns(plan, state, by):
    """Move the levels of columns by some amounts (d,), those known ahead first.

    A line goes on from there, as that of an instrument that is set anew, and not through both
    levels.
    """
    of_ahead, of_now = by[: plan.n_ahead], by[plan.n_ahead :]
    if of_now.any():
        state["now"] = now = dict(state["now"])
        _views.begin_level(now, of_now)
    if not of_ahead.any():
        return
    state["static"] = static = state["static"] | {"columns": dict(state["static"]["columns"])}
    _static.move_columns(static, of_ahead)
    slot, recent = dict(state["origin"]["slot"]), dict(state["recent"])
    for name in _OF_COLUMNS:
        if name in slot:
            slot[name], recent[name] = slot[name] + of_ahead, recent[name] + of_ahead
    state["origin"], state["recent"] = state["origin"] | {"slot": slot}, recent
