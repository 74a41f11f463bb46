"""The rounds of the forecaster: an origin is issued, its targets come row by row, and are learnt.

Everything is done row by row, so that it is the same to the last bit however the stream is cut.
The origin of the next row is issued as soon as a row is learnt, and stands in the state: whoever
asks for forecasts reads it. All that an origin will be judged by is remembered: the forecasts of
its experts, how they were mixed, and what the regression on the columns known ahead was.

Arrays of a state are replaced, never written, so that states share them. Only those under "recent"
are written row by row, each row in a place of its own; a call that fills the free places has its
own (`_waiting.py`). So the state before a call does not see what is written after it.
"""

import numpy as np

from ..features import _faults
from . import (
    _again,
    _beyond,
    _delayed_ridge,
    _doubts,
    _echoes,
    _experts,
    _far_values,
    _intervals,
    _judge,
    _medians,
    _mixture,
    _new_levels,
    _new_seasons,
    _reached,
    _row_sizes,
    _seasons,
    _smoothing,
    _smoothing_rates,
    _static,
    _trees,
    _views,
    _votes,
    _waiting,
)
from ._experts import RAW, RESIDUAL
from ._waiting import SPARE

_SEEN = 32.0  # values from which on an error counts for more than half of what it does later


def start(plan, waves, seed=0):
    """Return the state before the first row, of a plan.

    Waves are drawn by `_experts.py`, and the seed is that of trees.
    """
    horizon, m = plan.horizon, plan.n_series
    longest = max(*plan.windows, *plan.seasons)  # whose first row is seen from the one after it
    n_rows = max(_seasons.N_ROWS, longest + 1)
    state = {
        "t": 0,
        "n_silent": 0,  # rows before the first value of any series, which are passed over
        "views": [  # of what is left of a series only the latest rows are read
            _views.start(m, n_rows + horizon if k == RAW else 1, longest + 1)
            for k in range(plan.n_views)
        ],
        "beyond": _beyond.start(m),  # of values beyond the fence
        "far": _far_values.start(m),
        "doubts": _doubts.start(m, plan.n_ahead + plan.n_now, plan.n_calendar),
        "seasons": np.array(plan.first_slots, dtype=np.int64),
        # where features and experts on them stand, which a season that is over has until another's
        "slots": np.array(plan.first_slots, dtype=np.int64),
        "echoes": _echoes.NONE,  # lengths of seasons that come again in further ways, 0 for none
        "smoothing": _smoothing.start(horizon, m),
        "experts": _experts.start(plan.experts, m, plan.n_common, horizon, waves),
        "mixture": _mixture.start(len(plan.views), horizon, m, plan.is_pooled),
        "now": _views.start(plan.n_now, 1),
        **_judge.start(plan),
    }
    if plan.n_ahead:
        state["static"] = _static.start(plan.n_ahead, plan.n_phases, m)
    if plan.trees is not None:
        width = _trees.width(plan.n_ahead, plan.n_phases, len(state["seasons"]))
        state["trees"] = _trees.start(plan.trees, width, m, plan.is_pooled, seed)
    state["origin"] = issue(plan, state, np.zeros(plan.n_calendar))
    waits = _waits(plan, state["origin"]["slot"]) | _judge.nothing(horizon, m)
    recent = _waiting.start(waits, horizon)
    return state | {"recent": recent | {"n_written": np.zeros(1, dtype=np.int64)}}


def drawn(state):
    """Return what was drawn at the start of a state: waves, and the seed of trees."""
    waves = [own.get("frequencies") for own in state["experts"]]
    return waves, state["trees"][0]["seed"] if "trees" in state else 0


def successor(state, n_rows):
    """Return a state that can learn so many rows without changing the one given.

    As long as there are any, rows go into the free places of what the state given remembers, if no
    others have.
    """
    t = state["t"]
    has_free_places = state["recent"]["n_written"][0] == t
    own = _copied(state, not has_free_places or n_rows >= SPARE - t % SPARE)
    if not has_free_places:
        _mixture.clear(own["mixture"], t)
    return own


def coefficients(state):
    """Return what the experts count for (E, H, m) at present, 0 for those that are silent."""
    return _mixture.coefficients(state["mixture"], state["origin"]["slot"]["forecasts"])


def _copied(state, copies_recent):
    """Return new dicts and lists of the same arrays, or of copies of those that are written."""
    if type(state) is list:
        return [_copied(part, copies_recent) if type(part) is dict else part for part in state]
    copy = dict(state)
    for name, part in state.items():
        if name == "recent" and copies_recent:
            copy[name] = {key: _waiting.own(arrays) for key, arrays in part.items()}
        elif type(part) in (dict, list) and name != "origin":  # which is replaced as a whole
            copy[name] = _copied(part, copies_recent)
    return copy


def phases(plan, state, calendar, t):
    """Return what is known of row t by its time alone (p,)."""
    if not plan.sees_phases:
        return calendar
    return np.concatenate([calendar, _seasons.phases(state["slots"], t)])


def issue(plan, state, calendar):
    """Return all that is said of the next rows before the first of them; `calendar` (c,) is its.

    Returns
    -------
    origin : dict
        The calendar, the features of the ridge regressions, and what will be remembered: with the
        forecasts (E, H, m) of the experts, without what the columns known ahead add.
    """
    views, horizon = state["views"], plan.horizon
    now = _standardised(state["now"], state["now"]["values"][-1])
    known = phases(plan, state, calendar, state["t"])
    common = np.concatenate([known, now])
    first = _seasons.phases(state["slots"][:1], state["t"])
    Z = _experts.features(plan.experts, state["experts"], views, common, first)
    levels = [_views.level(view) for view in views]
    latest = levels[RAW][0]
    forecasts = np.zeros((len(plan.views), horizon, plan.n_series))
    for k, (expert, own, z) in enumerate(zip(plan.experts, state["experts"], Z, strict=True)):
        said = _delayed_ridge.forecasts(own["ridge"], z).reshape(horizon, -1)
        # who has had one value only has no unit in which anything could be said
        forecasts[k] = said * _views.deviation(views[expert.view]) + levels[expert.view][0]
    smoothed = _smoothing.mixed(state["smoothing"], horizon, latest)
    if not state["smoothing"]["seasons"]:
        smoothed[_smoothing_rates.SHORT] = np.nan  # it would say what the steady bank says
    values = views[RAW]["values"]
    again = _again.snapshot(values, latest, state["slots"], state["echoes"])
    said = [_again.of_next(values, latest, again, horizon), smoothed]
    forecasts[len(Z) : plan.of_votes] = np.concatenate(said)
    voters = _votes.voters(state, horizon)
    weights = _mixture.weights_by_powers(state["mixture"])
    forecasts[plan.of_votes] = _votes.of_next(plan, state, voters, forecasts, weights)
    begun = _views.started(views[RAW])
    forecasts[..., ~begun] = 0.0
    mixed = latest + _mixture.forecasts(state["mixture"], forecasts - latest, weights)
    # others would make errors that a series without a unit has no measure for
    mixed[-1] = np.where(_views.constant(views[RAW]), latest, mixed[-1])
    slot = {
        "forecasts": forecasts,
        "mixed": mixed,
        "last": np.stack([last for last, _ in levels]),
        "scale": np.stack([_views.unit(view) for view in views]),
        "change": _views.change(views[RAW]),
        "begun": begun,
        **again,
        "members": _smoothing.members(state["smoothing"], horizon, latest),
        "size": _intervals.sizes(state["intervals"], state["t"], state["seasons"][0]),
    }
    slot["turns"] = _medians.drawn(state, None if plan.shares else voters, slot)
    for view, name in plan.shares.items():
        # shares that the mixtures have of what explains a part of the series, and adds it
        adds = np.where(np.isnan(forecasts), np.nan, (plan.views == view)[:, None, None])
        slot[name] = _mixture.forecasts(state["mixture"], adds, weights)
    if plan.trees is not None:
        lags = _trees.lags_of(state["seasons"], horizon)
        asked = _trees.snapshot(state["trees"], lags, views[RAW])
        slot |= {"trees_" + name: value for name, value in asked.items()}
    if plan.n_ahead:
        seen = _static.snapshot(state["static"], views[RAW]["mean"])
        slot |= {"static_" + name: value for name, value in seen.items()}
    if plan.knows_rows:
        columns = state["static"]["columns"] if plan.n_ahead else _views.start(0, 1)
        of_columns = columns["mean"], _views.deviation(columns)
        of_series = views[RAW]["mean"], levels[RAW][1]
        slot |= _row_sizes.snapshot(state["row_sizes"], of_columns, of_series)
    if plan.is_pooled:
        slot["theta"] = state["mixture"]["theta"]
    return {"calendar": calendar, "phases": known, "features": Z, "slot": slot}


def _waits(plan, slot):
    """Return what waits of all that is said of the next rows; the rest is told again."""
    kept = slot | {"forecasts": slot["forecasts"][plan.waiting]}
    if plan.is_pooled:
        names = "mixed", *plan.shares.values()
        kept |= {name: slot[name][_mixture.LASTING] for name in names}
    return kept


def forecast(plan, state, X_ahead, calendars):
    """Return the forecasts (H, m) of the next rows; NaN for series that have not begun.

    X_ahead (k, d) are the columns known ahead of the rows to come, k <= H, and calendars (H, c)
    their times; what is beyond the columns is NaN.
    """
    slot = state["origin"]["slot"]
    forecasts = slot["mixed"][-1].copy()
    n_known = len(X_ahead) if plan.n_ahead else plan.horizon
    forecasts[n_known:] = np.nan
    if n_known and plan.shares:
        X = X_ahead if plan.n_ahead else np.empty((n_known, 0))
        rows = _rows_ahead(plan, state, X, calendars)
        for view, added in _added(plan, state, slot, *rows, np.arange(n_known)).items():
            forecasts[:n_known] += slot[plan.shares[view]][-1, :n_known] * added
    forecasts[:, ~slot["begun"]] = np.nan
    return forecasts


def reaches(plan, state, X_ahead, calendars, forecasts):
    """Return how far intervals reach (levels, k, m) around forecasts (k, m); the rest as above."""
    slot, n = state["origin"]["slot"], len(forecasts)
    reach = _reached.reaches(state["intervals"], slot["size"])[:, :n]
    if not plan.knows_rows:
        return reach
    X = X_ahead[:n] if plan.n_ahead else np.empty((n, 0))
    known, rows = _row_sizes.told(slot, n), state["t"] + np.arange(n)
    X, times = _rows_ahead(plan, state, X, calendars)
    parts = _row_sizes.parts_of(rows, state["seasons"])
    Z = _row_sizes.features(known, X, times, parts, forecasts)
    return _row_sizes.issued(known, Z, reach)[1]


def of_columns(plan, state, X_ahead, calendars):
    """Return what columns known ahead (k, d) add to forecasts (k, m), over those at their means."""
    slot, n = state["origin"]["slot"], len(X_ahead)
    X_ahead, times = _rows_ahead(plan, state, X_ahead, calendars)
    said = [
        _static.forecasts(_known(slot), X, times) for X in (X_ahead, np.full_like(X_ahead, np.nan))
    ]
    return slot["columns_share"][-1, :n] * (said[0] - said[1])


def _rows_ahead(plan, state, X_ahead, calendars):
    """Return the columns known ahead of k rows to come, NaN for faults, and the phases (k, p)."""
    times = [phases(plan, state, calendars[h], state["t"] + h) for h in range(len(X_ahead))]
    if plan.guard and plan.n_ahead:
        columns = _columns(plan, state)
        X_ahead = _doubts.known_ahead(state["doubts"], columns, X_ahead, plan.n_series)
    return X_ahead, np.array(times)


def _said(plan, state, x_ahead):
    """Return what the latest origins, which are written, said of the row after the last of them.

    Returns
    -------
    F : ndarray of shape (E, H, m)
        Forecasts of the experts.
    mixed : ndarray of shape (4, H, m)
        Those of the mixtures.
    added : dict of int to ndarray of shape (H, m)
        What the columns known ahead say, and trees, which is in both, by the number of the view of
        what they leave.
    """
    recent, horizon = state["recent"], plan.horizon
    more = [name for name in recent if name.startswith(("theta", "static_", "trees_"))]
    names = "mixed", *_again.READ, *plan.shares.values(), *more
    said = _waiting.of_row(recent, names, state["t"], horizon)
    F, mixed = _again.of_row(plan, state["views"][RAW]["values"], said), said["mixed"]
    added = {}
    if plan.shares:
        rows = np.broadcast_to(x_ahead, (horizon, plan.n_ahead))
        times = np.broadcast_to(state["origin"]["phases"], (horizon, plan.n_phases))
        added = _added(plan, state, said, rows, times, np.zeros(horizon, dtype=int))
    for view, of_view in added.items():
        F[plan.views == view] += of_view
        mixed = mixed + said[plan.shares[view]] * of_view
    return F, _mixture.again(mixed, said["theta"], F) if plan.is_pooled else mixed, added


def _added(plan, state, slot, X, times, steps):
    """Return what explains rows (k, m), by the number of the view of what it leaves.

    The rows have columns X (k, d), and stand some steps (k,) after the values that are remembered.
    What is known of them is from one origin, or has a leading axis of k of these.
    """
    found = {}
    if plan.n_ahead:
        found[RESIDUAL] = _static.forecasts(_known(slot), X, times)
    if plan.trees is not None:
        known, values = _known(slot, "trees_"), _views.remembered(state["views"][RAW], plan.horizon)
        Z = _trees.features(known, values, X, times, steps)
        found[plan.of_trees] = _trees.forecasts(plan.trees, state["trees"], known, Z)
    return found


def absorb(plan, state, row):
    """Learn the row after the origin, series and columns (m + d,), and write the state.

    Returns
    -------
    is_fault : ndarray of bool of shape (m,)
        Which values of the series were taken for faults, and count as missing.
    """
    y, x = row[: plan.n_series], row[plan.n_series :]
    x_ahead, x_now = x[: plan.n_ahead], x[plan.n_ahead :]
    t, raw, recent = state["t"], state["views"][RAW], state["recent"]
    _waiting.write(recent, _waits(plan, state["origin"]["slot"]), t, plan.horizon)
    said = _said(plan, state, x_ahead)
    learnt, is_new = y, np.zeros(len(y), dtype=bool)
    if plan.guard:
        issued = said[1][-1, 0]
        of_values = y, issued, state["doubts"]["believed"][: len(y)]
        before = state["beyond"]
        learnt, state["beyond"], is_new = _beyond.as_learnt(raw, before, *of_values)
        _beyond.settle(raw, before, state["beyond"], y, issued, is_new)
        is_still = np.isnan(learnt) & (np.abs(y - raw["mean"]) <= _views.reach(raw))
        if is_new.any():
            _new_levels.move_series(plan, state, np.where(is_new, y - issued, 0.0))
            said = _said(plan, state, x_ahead)
        _take_back(plan, state, said[1][-1], y, is_still)
    came = np.where(is_new, np.nan, learnt)
    taught, kept = _bounded(state, came, said[1][-1, 0]) if plan.guard else (came, came)
    of_columns = taught
    if plan.n_ahead and plan.guard:
        of_raw = raw["mean"], _views.reach(raw)
        of_columns = _static.taught(state["static"], x_ahead, y, taught, *of_raw)
    _teach(plan, state, said, x_ahead, came, taught, np.where(is_new, np.nan, of_columns))
    _remember(plan, state, said, learnt, np.where(is_new, learnt, kept), x_now)
    state["recent"]["n_written"][0] = state["t"] = t + 1
    if _seasons.is_look_due(t + 1, plan.seasons):
        _new_seasons.look(plan, state)
    elif plan.n_calendar and _seasons.is_early_look_due(t + 1, plan.usual):
        _new_seasons.look_early(plan, state)
    return np.isnan(learnt) & ~np.isnan(y)


def _bounded(state, y, issued):
    """Return values (m,) as targets, and as what is gone on from, where they are far off."""
    issued = np.where(state["origin"]["slot"]["begun"], issued, np.nan)
    state["far"] = far = dict(state["far"])
    taught, kept, before = _far_values.learn(far, y, issued)
    _views.go_on_from(state["views"][RAW], before)
    return taught, kept


def _take_back(plan, state, issued, y, is_still):
    """Forget what was believed of series (m,) that stand still far off; y (m,) is none again.

    What they are filled in with, the first of what was issued of the row (H, m), was said before
    the first of these rows, which the origin after it believed.
    """
    raw = state["views"][RAW]
    for k in is_still.nonzero()[0]:
        if y[k] == raw["values"][-1, k]:  # so the row before was none, and was believed
            for view in state["views"]:
                _views.take_back(view, k)
            values = _views.remembered(raw, plan.horizon)[:, k]
            _smoothing.take_back(state["smoothing"], k, values)
        step = 1 + state["beyond"]["n_alike"][k]
        if step < plan.horizon:
            issued[0, k] = issued[step, k]


def _teach(plan, state, said, x_ahead, y, taught, of_columns):
    """Let all that forecast a row y (m,), NaN for what is unknown, learn it; `said` as `_said`.

    What is far off is taught as less, but to intervals, and to the regression on columns what is
    given for these.
    """
    F, mixed, added = said
    names, origin = ("last", "scale", "change", "begun", "members", "size"), state["origin"]
    known = _waiting.of_row(state["recent"], names, state["t"], plan.horizon)
    # (H, V, m) the first two, (H, m) the next two
    last, scale, change, begun, members, size = (known[name] for name in names)
    scale = np.where(scale > 0.0, scale, np.nan)  # what was hardly seen has no unit
    came, target = (np.where(begun, one, np.nan) for one in (y, taught))
    level, unit, issued = last[:, RAW], scale[:, RAW], mixed[-1]
    targets = [np.clip((target - level) / unit, -_views.FAR, _views.FAR)]
    unit = np.where(np.isnan(unit), _views.unit_so_far(state["views"][RAW], y), unit)
    n_known = state["views"][RAW]["count"]
    most = np.where(n_known < _views.JUDGED, _views.FAR, np.inf)  # as long as there is no fence
    near, trust = np.clip((target - level) / unit, -most, most), _trust(n_known, plan.horizon)
    F, three = (F - level) / unit, (mixed[:-1] - level) / unit
    _mixture.learn(state["mixture"], state["t"], F, three, near, trust)
    judged = _smoothing_rates.judged_steps(plan.horizon)
    errors = (members - target[judged]) / unit[judged]
    _smoothing.judge(state["smoothing"], errors, trust[judged])
    change = np.where(change > 0.0, change, np.nan)
    errors = np.where(came == issued, 0.0, (came - issued) / change)
    _judge.learn(plan, state, x_ahead, issued, errors, size, trust)
    for view, of_view in added.items():
        rest = (target - of_view - last[:, view]) / scale[:, view]
        targets.append(np.clip(rest, -_views.FAR, _views.FAR))
    for expert, own, z in zip(plan.experts, state["experts"], origin["features"], strict=True):
        n_targets = own["ridge"]["theta"].shape[-2]
        wanted = targets[expert.view].reshape(plan.horizon, *z.shape[:2], n_targets)
        _delayed_ridge.learn(own["ridge"], z, wanted)
    if plan.n_ahead:
        of_now = state["views"][RAW]["mean"], _views.deviation(state["views"][RAW])
        is_known = begun[0] & ~np.isnan(scale[0, RAW])
        known = np.where(is_known, of_columns, np.nan)
        _static.learn(state["static"], x_ahead, origin["phases"], known, *of_now)
    if plan.trees is not None:
        known = _known(origin["slot"], "trees_")
        values = _views.remembered(state["views"][RAW], plan.horizon)
        row = x_ahead[None], origin["phases"][None]
        Z = _trees.features(known, values, *row, np.zeros(1, dtype=int))
        wanted = np.where(np.isnan(scale[0, RAW]), np.nan, target[0])
        _trees.learn(plan.trees, state["trees"], known, Z, wanted)


def _trust(n_known, horizon):
    """Return what errors (H, m) count for, of series of which so many values (m,) were known.

    Who has hardly seen a series is soon another one than the one who erred.
    """
    n_seen = np.maximum(n_known - np.arange(horizon)[:, None], 0.0)  # by the origin of each step
    return n_seen / (n_seen + _SEEN)


def _remember(plan, state, said, learnt, kept, x_now):
    """Let the views move on by a row (m,), of which some is `kept`, filled in where it is missing.

    That is with what was forecast, within what experts said: of rows in a row that are filled in by
    one another the mixture could lead anywhere.
    """
    views, (F, mixed, added) = state["views"], said
    begun = state["origin"]["slot"]["begun"]
    within = np.clip(mixed[-1, 0], np.fmin.reduce(F[:, 0]), np.fmax.reduce(F[:, 0]))
    filled = np.where(begun, within, 0.0)
    for view, of_view in added.items():
        explained = np.where(begun, of_view[0], learnt)  # the first value leaves nothing
        rest = np.where(begun, filled - explained, 0.0)
        _views.push(views[view], kept - explained, rest)
    _smoothing.learn(state["smoothing"], kept, ~np.isnan(learnt) & ~_views.started(views[RAW]))
    _views.push(views[RAW], learnt, filled, kept)
    if plan.n_now:
        _views.push(state["now"], x_now, state["now"]["values"][-1])


def _said_of_next(plan, state, x_ahead):
    """Return what the latest origins, the last one first, said of the next row (H, m).

    NaN for series that had not begun.
    """
    recent, t, horizon = state["recent"], state["t"], plan.horizon
    _waiting.write(recent, _waits(plan, state["origin"]["slot"]), t, horizon)
    if plan.guard and plan.n_ahead:
        columns = _columns(plan, state)
        x_ahead = _doubts.known_ahead(state["doubts"], columns, x_ahead[None], plan.n_series)[0]
    said = _said(plan, state, x_ahead)[1][-1]
    return np.where(_waiting.of_row(recent, ("begun",), t, horizon)["begun"], said, np.nan)


def learn(plan, state, rows, future=None, heard=None):
    """Learn rows in order; return what was forecast before each (n, H, m) if `future` is given.

    It is the columns known ahead of the rows after the last, (k, d) with k <= H. Into the list
    `heard` goes what was said of each row (H, m) by the latest origins, the last one first, and
    which of its values were learnt (m,). Rows before the first value teach nothing.
    """
    n, horizon, calendar = len(rows.y), plan.horizon, rows.calendar
    came = np.concatenate([rows.y, rows.ahead, rows.now], axis=1)
    if future is not None:
        forecasts = np.empty((n, horizon, plan.n_series))
        ahead = np.concatenate([rows.ahead, future])
    for t in range(n):
        if not np.array_equal(state["origin"]["calendar"], calendar[t]):  # it was not known
            state["origin"] = issue(plan, state, calendar[t])
        if future is not None:
            to_come = slice(t, t + horizon)
            forecasts[t] = forecast(plan, state, ahead[to_come], calendar[to_come])
        if heard is not None:
            said, count = _said_of_next(plan, state, rows.ahead[t]), state["views"][RAW]["count"]
        if _views.is_silent(state["views"][RAW], rows.y[t]):
            state["n_silent"] += 1
        elif plan.guard:
            _judge_and_absorb(plan, state, came[t], calendar[t])
        else:
            absorb(plan, state, came[t])
        if heard is not None:
            heard.append((said, state["views"][RAW]["count"] > count))
        state["origin"] = issue(plan, state, calendar[t + 1])
    return None if future is None else forecasts


def _judge_and_absorb(plan, state, row, calendar):
    """Learn a row as it came, without what is no value; all first ones again if need be."""
    state["doubts"] = doubts = dict(state["doubts"])
    sound = _doubts.sound(doubts, _columns(plan, state), row)
    _new_levels.move_columns(plan, state, doubts["by"])
    is_fault = _absorb_but_faults(plan, state, row, sound)
    nones = doubts["nones"]
    values = state["views"][RAW]["values"]
    _doubts.remember(doubts, state["t"], values, row, is_fault)
    if _doubts.is_look_due(state["t"]):
        _doubts.look_again(doubts, values, row, plan.seasons)
    if state["t"] <= _doubts.N_ROWS:
        told_by = calendar, is_fault, nones, plan.seasons
        anew = _doubts.review(doubts, plan.n_series, row, *told_by)
        if anew is not None:
            _learn_again(plan, state, anew)
        if state["t"] == _doubts.N_ROWS:
            _doubts.forget_first(doubts)
    if not doubts["has_warned"]:
        doubts["has_warned"] = _faults.are_many(doubts["n_faulty"][: plan.n_series], state["t"])


def _learn_again(plan, state, rows):
    """Begin anew with the first rows (n, m + d), NaN for faults."""
    doubts, is_fault = state["doubts"], np.zeros(rows.shape, dtype=bool)
    waves, seed = drawn(state)
    del state["experts"], state["recent"]  # before there are others: these are large
    n_silent = state["t"] + state["n_silent"] - len(rows)  # rows before the first one
    state.update(start(plan, waves, seed), doubts=doubts, n_silent=n_silent)
    for t, sound in enumerate(rows):
        state["origin"] = issue(plan, state, doubts["calendar"][t])
        _new_levels.move_columns(plan, state, doubts["moved"][t])
        is_fault[t] = _absorb_but_faults(plan, state, doubts["first"][t], sound)
    _doubts.learnt_again(doubts, is_fault)


def _absorb_but_faults(plan, state, row, sound):
    """Learn a row, NaN where it is not sound; return which numbers of it were faults (m + d,)."""
    is_fault = np.isnan(sound) & ~np.isnan(row)
    if _views.is_silent(state["views"][RAW], sound[: plan.n_series]):
        state["n_silent"] += 1
    else:
        is_fault[: plan.n_series] |= absorb(plan, state, sound)
    return is_fault


def _columns(plan, state):
    """Return what is known of the columns, those known ahead first, as of series."""
    parts = [state["static"]["columns"]] if plan.n_ahead else []
    parts.append(state["now"])
    names = ("mean", "variance", "count")
    known = {name: np.concatenate([part[name] for part in parts]) for name in names}
    return known | {"values": state["doubts"]["columns"]}


def _known(slot, prefix="static_"):
    """Return what of a slot has a name with some beginning, without this."""
    n = len(prefix)
    return {name[n:]: value for name, value in slot.items() if name.startswith(prefix)}


def _standardised(columns, x):
    if not len(x):
        return x
    rows = _views.standardised(x, columns["mean"], _views.deviation(columns))
    return np.clip(rows, -_views.FENCE, _views.FENCE)
