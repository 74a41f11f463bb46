"""The rounds of a correction: what a base says, what its errors tell, and who is believed.

A row comes with what the base said of it and of the rows after it, before it was known. Direct
regressions of the base's errors, each under its own delay, see the latest values, the latest errors
of its first step, and what it says of the rows to come. Base, corrected base and our own forecaster
are mixed twice: by `_mixture.py`, which is free in its weights, and then with this mixture once
more, by `_fixed_share.py`, which has a bound.

What our own forecaster says of a row may hang on columns that come with the row. So all that waits
is linear in it: a number a, and a share s of what it says, each less the latest value.
"""

import numpy as np

from ..base import _is_finite
from . import (
    _delayed_ridge,
    _fixed_share,
    _intervals,
    _judge,
    _mixture,
    _reached,
    _views,
    _waiting,
)

FORGETTING = 1.0, 0.999  # of the regressions of errors: one remembers all
N_STEPS = 24  # steps of the base's forecast that the regressions see, at most
N_CORRECTED = len(FORGETTING)
N_EXPERTS = 3 + N_CORRECTED  # base, corrected, ours, their mixture
PRIOR = np.array([0.5, *[0.5 / (N_EXPERTS - 1)] * (N_EXPERTS - 1)])
_ALPHA = 1.0  # ridge; each group of features is about 1 as a whole
_OURS = 1 + N_CORRECTED  # its place
_OF_STEPS = "experts", "loads", "mixed", "mixed_loads", "said", "said_load"  # what waits, of each


def start(horizon, n_series, window):
    """Return the state before the first row."""
    n_mixed = N_EXPERTS - 1
    width = 1 + 2 * window + len(_seen_steps(horizon))
    lead = horizon, n_series
    return {
        "t": 0,
        "view": _views.start(n_series, window + 1),
        "errors": np.zeros((n_series, window)),  # of the first step, the latest first
        "ridges": [
            _delayed_ridge.start((n_series, 1, 1), width, horizon, _ALPHA, forgetting)
            for forgetting in FORGETTING
        ],
        "mixture": _mixture.start(n_mixed, horizon, n_series),
        "shares": _fixed_share.start(PRIOR, horizon, n_series),
        **_judge.start_errors(horizon, n_series),
        "recent": {  # what waits of H origins
            "experts": np.full((horizon, n_mixed, *lead), np.nan),
            "loads": np.zeros((horizon, n_mixed, *lead)),
            "mixed": np.zeros((horizon, _mixture.N_MIXTURES, *lead)),
            "mixed_loads": np.zeros((horizon, _mixture.N_MIXTURES, *lead)),
            "said": np.zeros((horizon, *lead)),
            "said_load": np.zeros((horizon, *lead)),
            "last": np.zeros((horizon, n_series)),
            "unit": np.zeros((horizon, n_series)),
            "change": np.zeros((horizon, n_series)),
            **_waiting.start({"size": np.full(lead, -1.0)}, horizon),
            **_waiting.start(_judge.nothing(horizon, n_series), horizon),
        },
    }


def is_sound(state):
    """Tell whether all that corrections are made from are numbers."""
    numbers = [ridge[name] for ridge in state["ridges"] for name in ("theta", "P")]
    numbers += [state["view"][name] for name in ("mean", "variance", "values")]
    return _is_finite([*numbers, state["errors"], state["mixture"], state["shares"]])


def _seen_steps(horizon):
    return np.unique(np.rint(np.linspace(0, horizon - 1, min(horizon, N_STEPS))).astype(int))


def issue(state, base):
    """Return what is said of the next rows, of which the base said (H, m); NaN is not known.

    Returns
    -------
    slot : dict
        What will wait.
    features : ndarray of shape (m, 1, D)
    """
    view = state["view"]
    last, scale = _views.level(view)
    unit = _views.unit(view)
    is_known = ~np.isnan(base)
    apart = np.where(is_known, base - last, 0.0)
    features = _features(state, apart / scale, is_known)
    most = np.where(unit > 0.0, _views.FENCE * unit, np.inf)
    experts = np.zeros((N_EXPERTS - 1, *base.shape))
    loads = np.zeros(experts.shape)
    for k, ridge in enumerate(state["ridges"], start=1):
        corrected = apart + _delayed_ridge.forecasts(ridge, features)[..., 0, 0] * scale
        experts[k] = np.where(is_known, np.clip(corrected, -most, most), 0.0)
    loads[:_OURS] = ~is_known  # what the base leaves open, ours says
    loads[_OURS] = 1.0
    bounded = experts.copy()
    experts[0], bounded[0] = apart, np.clip(apart, -most, most)
    mixed = _mixture.forecasts(state["mixture"], bounded)
    mixed_loads = _mixture.forecasts(state["mixture"], loads)
    weights = _fixed_share.weights(state["shares"])
    is_judged = _intervals.lasting(state["intervals"])[0].any(axis=-1, keepdims=True)
    slot = {
        "experts": experts,
        "loads": loads,
        "mixed": mixed,
        "mixed_loads": mixed_loads,
        "said": (weights[:-1] * experts).sum(axis=0) + weights[-1] * mixed[-1],
        "said_load": (weights[:-1] * loads).sum(axis=0) + weights[-1] * mixed_loads[-1],
        "last": last,
        "unit": unit,
        "change": _views.change(view),
        "size": np.where(is_judged, _intervals.sizes(state["intervals"], state["t"], 0), -1.0),
    }
    return slot, features


def reaches(state, slot, n_steps):
    """Return how far intervals reach (levels, n_steps, m), below 0 where none is known, and units.

    `slot` is what was issued of the next rows.
    """
    reach = _reached.reaches(state["intervals"], slot["size"])[:, :n_steps]
    return reach, _views.unit_of_intervals(state["view"])


def reaches_and_sides(state, slot, n_steps):
    """Return reaches, as above, how they differ by side, and the units."""
    reach, units = reaches(state, slot, n_steps)
    return reach, _judge.sides(state, reach), units


def _features(state, apart, is_known):
    """Return the features (m, 1, D): none of a series whose base is silent."""
    window = state["errors"].shape[1]
    values = _views.windows(state["view"], window) / np.sqrt(window)
    path = apart[_seen_steps(len(apart))].T
    path = np.clip(path, -_views.FENCE, _views.FENCE) / np.sqrt(path.shape[1])
    errors = state["errors"] / np.sqrt(window)
    rows = np.concatenate([np.ones((len(values), 1)), values, errors, path], axis=1)
    there = _views.started(state["view"]) & is_known.any(axis=0)
    return (rows * there[:, None])[:, None]


def forecast(slot, ours):
    """Return the forecasts (H, m) of an origin, of which ours are (H, m)."""
    ours = _filled(ours - slot["last"], slot["experts"][0], slot["loads"][0] > 0.0)
    load = slot["said_load"]
    return slot["last"] + slot["said"] + np.where(load == 0.0, 0.0, load * ours)


def _filled(ours, base, is_silent):
    """Return what ours says; what it leaves open, the base says, if it is not silent."""
    return np.where(np.isnan(ours), np.where(is_silent, np.nan, base), ours)


def absorb(state, slot, features, base, ours, y):
    """Learn a row, and write the state.

    Parameters
    ----------
    slot, features
        As `issue` returned them for this row.
    base : ndarray of shape (H, m)
        What the base said of this row and those after it.
    ours : ndarray of shape (H, m)
        What our own forecaster said of this row 0, 1, ..., H - 1 rows ago.
    y : ndarray of shape (m,)
        What came; NaN for what is missing, or a fault.
    """
    t, recent, view, horizon = state["t"], state["recent"], state["view"], len(base)
    of_steps = {"size": slot["size"]}  # each waits as long as it takes
    _waiting.write(recent, of_steps, t, horizon)
    for name in slot.keys() - of_steps.keys():
        recent[name][t % horizon] = slot[name]
    steps = np.arange(horizon)
    past = (t - steps) % horizon  # the places of the latest origins, the last one first
    then = {name: recent[name][past, ..., steps, :] for name in _OF_STEPS}
    last, unit = recent["last"][past], recent["unit"][past]
    unit = np.where(unit > 0.0, unit, np.nan)
    base_then, silent = then["experts"][:, 0], then["loads"][:, 0] > 0.0
    ours = _filled(ours - last, base_then, silent)
    ours = np.where((steps <= t)[:, None], ours, np.nan)
    F, M = (
        (then[name] + np.where(then[load] == 0.0, 0.0, then[load] * ours[:, None])).swapaxes(0, 1)
        for name, load in (("experts", "loads"), ("mixed", "mixed_loads"))
    )
    said = then["said"] + np.where(then["said_load"] == 0.0, 0.0, then["said_load"] * ours)
    target = np.where(np.isnan(ours), np.nan, y - last)

    judged = np.where(view["count"] >= _views.JUDGED, target, np.nan)
    losses = (np.concatenate([F, M[-1:]]) - judged) ** 2
    _fixed_share.learn(state["shares"], losses, (said - judged) ** 2)
    bounded = np.clip(F / unit, -_views.FENCE, _views.FENCE)
    _mixture.learn(state["mixture"], t, bounded, M[:-1] / unit, target / unit)
    wrong = np.where(silent, np.nan, (target - base_then) / unit)
    wrong = np.clip(wrong, -_views.FAR, _views.FAR)
    change = recent["change"][past]
    farthest = _views.FENCE * unit
    missed = np.clip(judged - said, -farthest, farthest) / np.where(change > 0.0, change, np.nan)
    size = _waiting.of_row(recent, of_steps, t, horizon)["size"]
    reach = _reached.reaches(state["reached"], size)
    _judge.learn_errors(state, 0, missed, size, reach)
    for ridge in state["ridges"]:
        _delayed_ridge.learn(ridge, features, wrong[..., None, None])
    first = np.nan_to_num(wrong[0], nan=0.0)
    state["errors"] = np.concatenate([first[:, None], state["errors"][:, :-1]], axis=1)
    _views.push(view, y, slot["last"] + np.nan_to_num(said[0], nan=0.0))
    state["t"] = t + 1
