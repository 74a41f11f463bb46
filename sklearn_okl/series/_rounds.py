"""The rounds of the forecaster: an origin is issued, its targets come row by row, and are learnt.

Everything is done row by row, so that it is the same to the last bit however the stream is cut.
All that an origin will be judged by waits in rings of `horizon` slots: the forecasts of its
experts, how they were mixed, and what the regression on the columns known ahead was.
"""

import numpy as np

from . import _delayed_ridge, _experts, _intervals, _mixture, _seasons, _static, _views
from ._experts import RAW, RESIDUAL


def start(plan, rng):
    """Return the state before the first row, of a plan as in `_plan.py`."""
    horizon, m = plan.horizon, plan.n_series
    n_experts = len(plan.views)
    n_rows = max(_seasons.N_ROWS, max(plan.windows) + 1, *plan.seasons, 0)
    slots = {
        "forecasts": np.zeros((horizon, horizon, m, n_experts)),
        "mixed": np.zeros((horizon, horizon, m, _mixture.N_MIXTURES)),
        "mixed_share": np.zeros((horizon, horizon, m, _mixture.N_MIXTURES)),
        "last": np.zeros((horizon, plan.n_views, m)),
        "scale": np.ones((horizon, plan.n_views, m)),
        "begun": np.zeros((horizon, m), dtype=bool),
        "reach": np.full((horizon, horizon, m, len(_intervals.LEVELS)), -1.0),
    }
    state = {
        "t": 0,
        "views": [_views.start(m, n_rows) for _ in range(plan.n_views)],
        "seasons": np.array(plan.seasons or (0,) * _seasons.N_SEASONS, dtype=np.int64),
        "experts": _experts.start(plan.experts, m, plan.n_common, horizon, rng),
        "mixture": _mixture.start(n_experts, horizon, m),
        "intervals": _intervals.start(horizon, m),
        "now": _views.start(plan.n_now, 1),
    }
    if plan.n_ahead:
        state["static"] = _static.start(plan.n_ahead, plan.n_phases, m)
        known = _static.snapshot(state["static"], np.zeros(m), np.ones(m))
        for name, value in known.items():
            slots["static_" + name] = np.zeros((horizon, *value.shape))
    return state | {"ring": slots}


def successor(state, n_rows):
    """Return a copy of a state, to learn so many rows.

    Sums are replaced, never written, so they are shared. So are rings for a single row: it writes
    the slots that the state itself would write before it reads them.
    """
    kind = type(state)
    if kind is dict:
        return {
            name: value
            if name == "sums" or (name == "ring" and n_rows == 1)
            else successor(value, n_rows)
            for name, value in state.items()
        }
    if kind is list:
        return [successor(value, n_rows) for value in state]
    return state.copy() if kind is np.ndarray else state


def phases(plan, state, calendar, t):
    """Return what is known of row t by its time alone (p,)."""
    if plan.n_calendar and not plan.seasons:
        return calendar
    return np.concatenate([calendar, _seasons.phases(state["seasons"], t)])


def issue(plan, state, calendar):
    """Return all that is said of the next rows before the first of them; `calendar` (c,) is its.

    Returns
    -------
    origin : dict
        The features of the ridge regressions, what the slots remember, and the forecasts (H, m, E)
        without what the columns known ahead add.
    """
    views = state["views"]
    now = _standardised(state["now"], state["now"]["values"][-1])
    common = np.concatenate([phases(plan, state, calendar, state["t"]), now])
    Z = _experts.features(plan.experts, state["experts"], views, common)
    levels = [_views.level(view) for view in views]
    forecasts = np.empty((plan.horizon, plan.n_series, len(plan.views)))
    for k, (expert, own, z) in enumerate(zip(plan.experts, state["experts"], Z, strict=True)):
        last, scale = levels[expert.view]
        said = _delayed_ridge.forecasts(own["ridge"], z).reshape(plan.horizon, -1)
        forecasts[..., k] = said * scale + last
    simple = _experts.simple_forecasts(views, state["seasons"], plan.horizon, plan.n_ahead > 0)
    for k, said in enumerate(simple, start=len(Z)):
        forecasts[..., k] = said
    begun, last = _views.started(views[RAW]), levels[RAW][0][:, None]
    forecasts[:, ~begun] = 0.0
    mixtures = _mixture.coefficients(state["mixture"])
    season = state["seasons"][0]
    to_come = _intervals.phases_of(state["t"] + np.arange(plan.horizon), season)
    slot = {
        "forecasts": forecasts,
        # their weights sum to one: of differences to the latest value nothing is lost in rounding
        "mixed": last + (mixtures @ (forecasts - last)[..., None])[..., 0],
        # of what the columns known ahead add to the forecasts of residuals
        "mixed_share": mixtures[..., plan.views == RESIDUAL].sum(axis=-1),
        "last": np.stack([last for last, _ in levels]),
        "scale": np.stack([_views.unit(view) for view in views]),
        "begun": begun,
        "reach": _intervals.reaches(state["intervals"], to_come),
    }
    if plan.n_ahead:
        known = _static.snapshot(state["static"], views[RAW]["mean"], levels[RAW][1])
        slot |= {"static_" + name: value for name, value in known.items()}
    return {"features": Z, "slot": slot}


def forecast(plan, state, origin, X_ahead, calendars):
    """Return the forecasts (H, m) of an origin; NaN for series that have not begun.

    X_ahead (k, d) are the columns known ahead of the rows to come, k <= H, and calendars (H, c)
    their times; what is beyond the columns is NaN.
    """
    slot = origin["slot"]
    forecasts = slot["mixed"][..., -1].copy()
    if plan.n_ahead:
        t, n_known = state["t"], len(X_ahead)
        forecasts[n_known:] = np.nan
        if n_known:
            times = [phases(plan, state, calendars[h], t + h) for h in range(n_known)]
            known = _known(slot)
            added = _static.forecasts(known, X_ahead, np.array(times))
            forecasts[:n_known] += slot["mixed_share"][:n_known, :, -1] * added
    forecasts[:, ~slot["begun"]] = np.nan
    return forecasts


def absorb(plan, state, origin, y, x_ahead, x_now, calendar):
    """Learn the row after an origin, y (m,), its columns and its time, and write the state."""
    t, horizon, slots, views = state["t"], plan.horizon, state["ring"], state["views"]
    for name, value in origin["slot"].items():
        slots[name][t % horizon] = value
    steps = np.arange(min(t + 1, horizon))
    past = (t - steps) % horizon  # the slots of the latest origins, the last one first
    F = slots["forecasts"][past, steps]  # (J, m, E)
    mixed = slots["mixed"][past, steps]  # (J, m, mixtures)
    begun = slots["begun"][past]
    now = phases(plan, state, calendar, t)
    if plan.n_ahead:
        known = _known({name: slots[name][past] for name in slots})
        rows = np.broadcast_to(x_ahead, (len(steps), plan.n_ahead))
        times = np.broadcast_to(now, (len(steps), len(now)))
        added = _static.forecasts(known, rows, times)  # (J, m)
        F[..., plan.views == RESIDUAL] += added[..., None]
        mixed = mixed + slots["mixed_share"][past, steps] * added[..., None]
    issued = mixed[..., -1]
    learnt = _views.as_learnt(views[RAW], y)

    last, scale = slots["last"][past], slots["scale"][past]  # (J, V, m)
    target = np.where(begun, learnt, np.nan)
    scale = np.where(scale > 0.0, scale, np.nan)  # what was hardly seen has no unit
    units = last[:, RAW], scale[:, RAW]
    near = (target - units[0]) / units[1]
    targets = [np.clip(near, -_views.FAR, _views.FAR)]
    F, three = ((f - units[0][..., None]) / units[1][..., None] for f in (F, mixed[..., :-1]))
    _mixture.learn(state["mixture"], F, three, near)
    errors = np.where(target == issued, 0.0, (target - issued) / units[1])
    phase = _intervals.phases_of(t, state["seasons"][0])
    _intervals.learn(state["intervals"], errors, slots["reach"][past, steps], phase)
    if plan.n_ahead:
        rest = (target - added - last[:, RESIDUAL]) / scale[:, RESIDUAL]
        targets.append(np.clip(rest, -_views.FAR, _views.FAR))
    for expert, own, z in zip(plan.experts, state["experts"], origin["features"], strict=True):
        _delayed_ridge.meet(own["ridge"], z)
        n_targets = own["ridge"]["theta"].shape[-2]
        wanted = targets[expert.view].reshape(len(steps), *z.shape[:2], n_targets)
        _delayed_ridge.learn(own["ridge"], wanted)

    filled = np.where(begun[0], issued[0], 0.0)
    if plan.n_ahead:
        level, unit = views[RAW]["mean"], _views.level(views[RAW])[1]
        known = np.where(np.isnan(units[1][0]), np.nan, target[0])
        _static.learn(state["static"], x_ahead, now, known, level, unit)
        explained = np.where(begun[0], added[0], learnt)  # the first value leaves nothing
        rest = np.where(begun[0], filled - explained, 0.0)
        _views.push(views[RESIDUAL], learnt - explained, rest)
    _views.push(views[RAW], learnt, filled)
    _views.push(state["now"], x_now, state["now"]["values"][-1])
    state["t"] = t + 1
    values = views[RAW]["values"][-min(t + 1, _seasons.N_ROWS) :]
    if not plan.seasons and _seasons.is_look_due(t + 1, state["seasons"]):
        state["seasons"] = _seasons.found(values[:, _views.started(views[RAW])])


def learn(plan, state, rows, future=None):
    """Learn rows in order; return what was forecast before each (n, H, m) if `future` is given.

    It is the columns known ahead of the rows after the last, (k, d) with k <= H.
    """
    n, horizon = len(rows.y), plan.horizon
    if future is not None:
        forecasts = np.empty((n, horizon, plan.n_series))
        ahead = np.concatenate([rows.ahead, future])
    for t in range(n):
        origin = issue(plan, state, rows.calendar[t])
        if future is not None:
            to_come = slice(t, t + horizon)
            forecasts[t] = forecast(plan, state, origin, ahead[to_come], rows.calendar[to_come])
        absorb(plan, state, origin, rows.y[t], rows.ahead[t], rows.now[t], rows.calendar[t])
    return None if future is None else forecasts


def _known(slot):
    return {name[7:]: value for name, value in slot.items() if name.startswith("static_")}


def _standardised(columns, x):
    rows = (x - columns["mean"]) / _views.level(columns)[1]
    return np.nan_to_num(np.clip(rows, -_views.FENCE, _views.FENCE), nan=0.0)
