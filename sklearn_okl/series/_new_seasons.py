"""What begins anew when other seasons are found: features, experts, smoothing, what is heard.

What begins is heard as what it would have been worth in the rows so far. That is told as times of
what the latest value was worth in the same rows: its record in the mixture was made in the units of
its time, which may have been others than today's.
"""

import numpy as np

from . import (
    _delayed_ridge,
    _echoes,
    _experts,
    _mixture,
    _powers,
    _row_sizes,
    _seasons,
    _smoothing,
    _smoothing_rates,
    _views,
)
from ._experts import RAW
from ._smoothing_rates import LOGS, SHORT, SLOPED, STEADY


def look(plan, state):
    """Look for seasons in the rows that are remembered, and let experts begin on new ones."""
    raw = state["views"][RAW]
    values = _views.remembered(raw, plan.horizon)[-state["t"] :]
    state["seasons"] = _seasons.found(values[:, _views.started(raw)], plan.usual, plan.seasons)
    slots = _seasons.settled(state["slots"], state["seasons"])
    for slot in np.flatnonzero(slots != state["slots"]):
        _begin_season(plan, state, slot, slots[slot], values)
    state["slots"] = slots
    lengths = [k for k in state["seasons"].tolist() if 0 < 2 * k <= len(values)]
    is_seen_better = _seasons.is_due_again(state["t"], plan.seasons)
    if is_seen_better or _smoothing.is_out_of_date(state["smoothing"], lengths):
        _begin_smoothing(plan, state, lengths, values, is_seen_better)
    _echoes.look(state, values / _views.level(raw)[1], len(plan.experts), plan.usual)
    n_rows = _seasons.n_remembered(state["t"], plan.n_series)
    _views.make_room(raw, n_rows + plan.horizon)


def look_early(plan, state):
    """Let a cycle of the calendar come again where that was worth it, before seasons are found."""
    raw = state["views"][RAW]
    values = _views.remembered(raw, plan.horizon)[-state["t"] :]
    _echoes.look(state, values / _views.level(raw)[1], len(plan.experts), plan.usual, True)


def _begin_season(plan, state, slot, season, values):
    """Let the features and experts on a season's place, which are of another one, begin anew."""
    if plan.sees_phases and state["slots"][slot]:
        n_features = 2 * _seasons.N_HARMONICS
        first = plan.n_calendar + slot * n_features
        places = slice(first, first + n_features)
        for own in state["experts"]:
            _delayed_ridge.forget(own["ridge"], plan.n_common, places)
        if plan.n_ahead:
            _delayed_ridge.forget(state["static"]["ridge"], plan.n_phases, places)
            n_last = plan.n_phases + _row_sizes.n_kinds(plan.n_ahead)
            _delayed_ridge.forget(state["row_sizes"]["ridge"], n_last, places)
    if slot == 0 and state["slots"][slot]:
        _experts.forget_first_season(plan.experts, state["experts"], plan.n_common)
    errors = _seasons.errors_again(values, int(season), plan.horizon)
    latest = len(plan.experts)  # the place of the latest value
    told = _told(state["mixture"], errors[:2], errors[2], latest)
    _mixture.begin_anew(state["mixture"], latest + 1 + slot, told[0])
    if slot == 0:
        _mixture.begin_anew(state["mixture"], latest + 1 + len(state["slots"]), told[1])


def _told(mixture, errors, of_latest, latest, steps=slice(None)):
    """Return mean squared errors (..., H, m) in the units of the mixture's record.

    They are told as times of those of the latest value in the same rows, (H, m), which stands at a
    place among the experts. NaN where it never erred.
    """
    record = _mixture.mean_squares(mixture)[latest][steps]
    return errors * (record / np.where(of_latest > 0.0, of_latest, np.nan))


def _begin_smoothing(plan, state, lengths, values, is_seen_better):
    """Let smoothing begin anew on seasons of these lengths, and the mixture hear what it is worth.

    They may be those before, which are seen better now. Where one more season is longer than all
    others, the bank without the longest season is what the steady one was, and is heard as that.
    """
    smoothing, mixture, before = state["smoothing"], state["mixture"], state["smoothing"]["lengths"]
    first, changed = plan.of_banks, [STEADY, SLOPED, LOGS, SHORT]
    is_same = lengths == before.tolist()
    if sorted(lengths)[:-1] == sorted(before.tolist()) != sorted(lengths):
        order = np.arange(len(plan.views))
        order[[first + STEADY, first + SHORT]] = first + SHORT, first + STEADY
        _mixture.exchange(mixture, order)
        state["recent"] = recent = dict(state["recent"])
        if plan.is_pooled:
            recent["theta"] = recent["theta"][:, order]
        order = np.searchsorted(plan.waiting, order[plan.waiting])
        recent["forecasts"] = recent["forecasts"][:, order]
        changed.remove(SHORT)
    elif is_same and not is_seen_better:
        changed = [LOGS]
    scale, steps = _views.level(state["views"][RAW])[1], _smoothing_rates.judged_steps(plan.horizon)
    found = _smoothing.errors_again(smoothing, lengths, values, plan.horizon, scale)
    if found is None and is_same and is_seen_better:
        return  # what members are worth is known, and would not be
    _smoothing.begin_anew(smoothing, lengths, values)
    if found is None and changed != [LOGS]:
        _believe(mixture, smoothing, changed, first)
    if found is None:
        return
    errors = _told(mixture, *found, len(plan.experts), steps)
    smoothing["losses"] = np.nan_to_num(errors) * mixture["weight"][steps]
    for bank in changed:
        shares = _powers.weights(errors[bank])
        told = _smoothing_rates.shares(plan.horizon) @ (shares * errors[bank]).sum(axis=0)
        _mixture.hear(mixture, first + bank, told)


def _believe(mixture, smoothing, banks, first):
    """Hear banks on new seasons as the best expert so far, as no rows tell what they are worth.

    What they were worth without these seasons says nothing of them. The first bank stands at a
    place among the experts.
    """
    best, losses = _mixture.mean_squares(mixture).min(axis=0), smoothing["losses"].copy()
    for bank in banks:
        _mixture.hear(mixture, first + bank, best)
        losses[bank] = losses[bank].min(axis=0)
    smoothing["losses"] = losses
