"""What begins anew when other seasons are found: features, experts, smoothing, what is heard."""

import numpy as np

from . import (
    _delayed_ridge,
    _echoes,
    _mixture,
    _powers,
    _row_sizes,
    _seasons,
    _smoothing,
    _smoothing_rates,
    _views,
)
from ._experts import RAW
from ._smoothing_rates import LOGS, N_BANKS, SHORT, SLOPED, STEADY


def look(plan, state):
    """Look for seasons in the rows that are remembered, and let experts begin on new ones."""
    raw = state["views"][RAW]
    values = raw["values"][-state["t"] :]
    if not plan.seasons:
        state["seasons"] = _seasons.found(values[:, _views.started(raw)], plan.usual)
        slots = _seasons.settled(state["slots"], state["seasons"])
        for slot in np.flatnonzero(slots != state["slots"]):
            _begin_season(plan, state, slot, slots[slot], values)
        state["slots"] = slots
    lengths = [k for k in state["seasons"].tolist() if 0 < 2 * k <= len(values)]
    if _smoothing.is_out_of_date(state["smoothing"], lengths):
        _begin_smoothing(plan, state, lengths, values)
    usual = () if plan.seasons else plan.usual
    _echoes.look(state, values / _views.level(raw)[1], len(plan.experts), usual)
    _views.make_room(raw, _seasons.n_remembered(state["t"], plan.n_series))


def _begin_season(plan, state, slot, season, values):
    """Let the features and experts on a season's place, which are of another one, begin anew."""
    if not plan.n_calendar and state["slots"][slot]:
        n_features = 2 * _seasons.N_HARMONICS
        places = slice(slot * n_features, (slot + 1) * n_features)
        for own in state["experts"]:
            _delayed_ridge.forget(own["ridge"], plan.n_common, places)
        if plan.n_ahead:
            _delayed_ridge.forget(state["static"]["ridge"], plan.n_phases, places)
            n_last = plan.n_phases + _row_sizes.n_kinds(plan.n_ahead)
            _delayed_ridge.forget(state["row_sizes"]["ridge"], n_last, places)
    errors = _seasons.errors_again(values, int(season), plan.horizon)
    scale = _views.level(state["views"][RAW])[1]
    first = len(plan.experts) + 1
    _mixture.begin_anew(state["mixture"], first + slot, errors[0] / scale**2)
    if slot == 0:
        _mixture.begin_anew(state["mixture"], first + len(state["slots"]), errors[1] / scale**2)


def _begin_smoothing(plan, state, lengths, values):
    """Let smoothing begin anew on seasons of these lengths, and the mixture hear what it is worth.

    Where one more season is longer than all others, the bank without the longest season is what the
    steady one was, and is heard as that.
    """
    smoothing, mixture, before = state["smoothing"], state["mixture"], state["smoothing"]["lengths"]
    first, changed = len(plan.views) - N_BANKS - (plan.n_ahead > 0), [STEADY, SLOPED, LOGS, SHORT]
    if sorted(lengths)[:-1] == sorted(before.tolist()) != sorted(lengths):
        order = np.arange(len(plan.views))
        order[[first + STEADY, first + SHORT]] = first + SHORT, first + STEADY
        _mixture.exchange(mixture, order)
        state["recent"] = state["recent"] | {"forecasts": state["recent"]["forecasts"][:, order]}
        changed.remove(SHORT)
    elif lengths == before.tolist():
        changed = [LOGS]
    scale = _views.level(state["views"][RAW])[1]
    errors = _smoothing.errors_again(smoothing, lengths, values, plan.horizon, scale)
    _smoothing.begin_anew(smoothing, lengths, values)
    if errors is None:
        return
    smoothing["losses"] = errors * mixture["weight"][_smoothing_rates.judged_steps(plan.horizon)]
    for bank in changed:
        shares = _powers.weights(errors[bank])
        told = _smoothing_rates.shares(plan.horizon) @ (shares * errors[bank]).sum(axis=0)
        _mixture.hear(mixture, first + bank, told)
