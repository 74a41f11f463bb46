r"""Exponential smoothing with several seasons, many members at once, mixed to one expert.

A member follows a series by its level l, what each season k adds at this phase, and the error e
that the latest row left, which lasts:

.. math::
    \hat y_{t + h} = l_t + \sum_k s^k_{t + h} + \rho^{h + 1} e_t, \qquad
    e_t = y_t - l_{t - 1} - \sum_k s^k_t,

    l_t = l_{t - 1} + \alpha e_t, \qquad s^k_{t + n_k} = s^k_t + \gamma (1 - \alpha) e_t

(J. W. Taylor, "Short-term electricity demand forecasting using double seasonal exponential
smoothing", Journal of the Operational Research Society 54, 2003; R. J. Hyndman, A. B. Koehler,
J. K. Ord, R. D. Snyder, "Forecasting with exponential smoothing", 2008). What a season was over
many cycles is in it, which no window of the latest rows shows.

The rates are a grid. Members are weighted by their faded squared errors as experts are, at some
steps; between these the weights are interpolated. When the seasons change, members begin anew: with
the means of the phases in the rows that are remembered, shrunk by what chance has in them (W.
James, C. Stein, "Estimation with quadratic loss", 1961), through which they go again.
"""

from functools import cache
from itertools import product

import numpy as np

from . import _mixture, _seasons

_LEVEL = 0.02, 0.1, 0.3, 0.7
_SEASON = 0.05, 0.2, 0.5
_LASTING = 0.0, 0.7, 0.95
RATES = np.array(list(product(_LEVEL, _SEASON, _LASTING)))  # a member a row
_TINY, _LEAST = 1e-12, 1e-300
_N_STEPS = 8  # steps of the horizon that members are judged at, at most


@cache
def judged_steps(horizon):
    """Return the steps that members are judged at: the first, the last, some between."""
    return np.unique(np.rint(np.geomspace(1, horizon, _N_STEPS)).astype(int)) - 1


@cache
def _shares(horizon):
    """Return what the judged steps count for (H, steps) at each step: those beside it, linearly."""
    steps = judged_steps(horizon)
    return np.stack([np.interp(np.arange(horizon), steps, row) for row in np.eye(len(steps))], 1)


@cache
def _lasting(horizon):
    return RATES[:, 2, None] ** np.arange(1.0, horizon + 1.0)


def start(horizon, n_series):
    """Return the state before the first row."""
    n_members, n_steps = len(RATES), len(judged_steps(horizon))
    return {
        "t": 0,  # rows since the members began, where phases are counted from
        "lengths": np.empty(0, dtype=np.int64),  # of the seasons
        "level": np.zeros((n_members, n_series)),
        "error": np.zeros((n_members, n_series)),
        "seasons": [],  # what each season adds, (members, length, series)
        "losses": np.zeros((n_members, n_steps, n_series)),  # faded squared errors
    }


def forecasts(state, horizon):
    """Return the forecasts (J, H, m) of the members for the next rows."""
    said = _lasting(horizon)[:, :, None] * state["error"][:, None]
    said += state["level"][:, None]
    for of_season in state["seasons"]:
        said += of_season[:, (state["t"] + np.arange(horizon)) % of_season.shape[1]]
    return said


def mixed(state, said):
    """Return the forecast (H, m) of all members from theirs (J, H, m)."""
    weights = _shares(said.shape[1]) @ _mixture.weights(state["losses"])
    return np.einsum("jhm,jhm->hm", weights, said)


def judge(state, errors):
    """Learn errors (J, steps, m) of what was said of a row, in units; NaN is unknown."""
    known = np.isfinite(errors)
    state["losses"] = _mixture.faded(state["losses"], np.where(known, errors, 0.0), known)


def learn(state, y, is_first):
    """Learn a row (m,), NaN where it is missing; `is_first` (m,) of the series that begin.

    What the seasons add is written in place: a call has arrays of its own, see `own_seasons`.
    """
    state["level"] = np.where(is_first, y, state["level"])
    place = [state["t"] % of_season.shape[1] for of_season in state["seasons"]]
    added = [s[:, k] for s, k in zip(state["seasons"], place, strict=True)]
    error = y - state["level"] - sum(added)
    known = ~np.isnan(error)
    level, season, lasting = RATES.T[:, :, None]
    state["error"] = np.where(known, error, lasting * state["error"])
    error = np.where(known, error, 0.0)
    state["level"] = state["level"] + level * error
    change = season * (1.0 - level) * error
    for s, k in zip(state["seasons"], place, strict=True):
        s[:, k] += change
    state["t"] += 1


def own_seasons(state):
    """Let a state have arrays of its own where rows are written in place."""
    state["seasons"] = [of_season.copy() for of_season in state["seasons"]]


def begin_anew(state, lengths, values):
    """Begin with seasons of these lengths, from the rows (n, m) that are remembered."""
    n = len(values)
    level = values.mean(axis=0)
    rest, seasons = values - level, []
    for length in lengths:
        left, profile = _seasons.without(rest, length)
        profile *= _trusted(profile, left, n / length)
        rest = rest - profile[np.arange(n) % length]
        seasons.append(np.repeat(profile[None], len(RATES), axis=0))
    nothing = np.zeros_like(state["error"])
    state.update(t=0, lengths=np.array(lengths), seasons=seasons, error=nothing)
    state["level"] = nothing + level
    for k in range(n):
        learn(state, values[k], False)


def _trusted(profile, left, n_cycles):
    """Return what share of the means of phases (length, m) is no chance, from what they leave."""
    of_chance = (left**2).mean(axis=0) / max(n_cycles - 1.0, _TINY)
    size = (profile**2).mean(axis=0)
    return np.maximum(1.0 - of_chance / np.maximum(size, _TINY * of_chance + _LEAST), 0.0)


def move(state, by):
    """Move the levels by some amounts (m,)."""
    state["level"] = state["level"] + by
