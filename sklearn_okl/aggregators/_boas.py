"""BOAs side by side: of several targets, or that count rounds otherwise, as leading axes.

What one BOA does to a round, `BOARegressor` says; a round of many costs no more calls than one.
"""

from collections import deque

import numpy as np

from .._delay import as_it_was, late
from .._linalg import softmax
from ..base._convex import ROUNDING, within
from ._second_order import BOARegressor

_BOA = BOARegressor()
_BY_TIME = "past", "past usual", "out"  # arrays whose first axis is of the latest rounds
_OF_ALL = "log_prior", "surprises"  # and that are the same for all targets


def start(n_targets, n_ways, n_experts, delay, boa=_BOA):
    """Return the state of BOAs, `n_ways` for each target, that mix the same number of experts."""
    state, lead = boa._start(n_experts, late=delay), (n_targets, n_ways)
    for name in ("squares", "caps", "rates", "regrets", "log_prior", "surprises"):
        state[name] = np.tile(state[name], (*lead, 1))
    for name in {"past", "out"} & state.keys():
        state[name] = np.tile(state[name][:, None, None], (1, *lead, 1))
    return state


def learn(state, F, y, factors, bound=None):
    """Learn targets (n, q) and forecasts F (n, q, K) of them, NaN where one is asleep.

    Regrets are those of squared errors, whose slopes are errors times factors (n, q, n_ways, 1);
    `bound` may edit those of a round (q, n_ways, K). Returns forecasts (n, q, n_ways).
    """
    asleep = np.isnan(F)[:, :, None]
    asleep = asleep if asleep.any() else None
    pairs = np.ones((*F.shape, 2))
    pairs[..., 0] = F = F if asleep is None else np.where(asleep[:, :, 0], 0.0, F)
    if asleep is not None:
        no_weight, awake = np.where(asleep, -np.inf, 0.0), 1.0 - asleep
    F = F[:, :, None]
    known = np.empty((len(y), *state["rates"].shape[:-1], 1))
    is_one = known[0].size == 1  # then numbers will do, which cost less than arrays of one
    past = deque(state["past"]) if "past" in state else None
    rounds = zip(F, pairs, y[..., None, None], factors, strict=True)
    for i, (f, pair, target, factor) in enumerate(rounds):
        mixing = _BOA._log_weights(state)
        if past is not None:
            past.append(mixing)
            mixing = past.popleft()
        if asleep is not None:
            mixing += no_weight[i]
        mixing -= np.maximum.reduce(mixing, axis=None if is_one else -1, keepdims=not is_one)
        sums = np.exp(mixing, out=mixing) @ pair
        forecasts = np.divide(sums[..., :1], sums[..., 1:], out=known[i])
        if is_one:
            forecasts, target, factor = forecasts.item(), target.item(), factor.item()
        errors = forecasts - target
        if state["unheard"]:  # of who wakes rounding would be all that is known
            errors *= np.abs(errors) > ROUNDING * np.abs(forecasts)
        errors *= factor
        regrets = forecasts - f
        regrets *= errors
        if asleep is not None:
            regrets *= awake[i]
        if bound is not None:
            bound(regrets)
        _BOA._update(state, regrets, target)
    state["t"] += len(y)
    if past is not None:
        state["past"] = np.array(past)
    return within(known[..., 0], F, asleep)


def log_weights(state):
    """Return the logarithms of the weights (q, n_ways, K) now, up to constants."""
    return _BOA._log_weights(state)


def ask_row(state, F, asleep):
    """Return what the mixtures make (q, n_ways, 1) of forecasts F (q, 1, K) of a row, unclipped.

    Of who is `asleep` (q, 1, K) they are any numbers. Nothing is changed, and no label is late.
    """
    return mixed_row(log_weights(state), F, asleep)


def mixed_row(log_weights, F, asleep):
    """Return the means (..., 1) of forecasts F (..., K) under weights whose logarithms are lost."""
    np.copyto(log_weights, -np.inf, where=asleep)
    log_weights -= np.maximum.reduce(log_weights, axis=-1, keepdims=True)
    weights = np.exp(log_weights, out=log_weights)
    totals = np.add.reduce(weights, axis=-1, keepdims=True)
    weights *= F
    return np.add.reduce(weights, axis=-1, keepdims=True) / totals


def within_row(known, F, asleep):
    """Return mixtures (q, n_ways) of what `ask_row` has made without what rounding adds."""
    low = np.minimum.reduce(np.where(asleep, np.inf, F), axis=-1)
    high = np.maximum.reduce(np.where(asleep, -np.inf, F), axis=-1)
    clipped = np.maximum(known[..., 0], low)
    return np.minimum(clipped, high, out=clipped)


def teach_row(state, known, F, asleep, target, factor, bound=None):
    """Learn targets (q, 1, 1) of a row that was asked for; all else is as in `learn`."""
    errors = known - target
    if state["unheard"]:  # of who wakes rounding would be all that is known
        errors *= np.abs(errors) > ROUNDING * np.abs(known)
    errors *= factor
    regrets = known - F
    regrets *= errors
    np.copyto(regrets, 0.0, where=asleep)
    if bound is not None:
        bound(regrets)
    _BOA._update(state, regrets, target)
    state["t"] += 1


def forecast(state, F, ago=0):
    """Return forecasts (n, q, n_ways) by what was known some rounds ago."""
    asleep = np.isnan(F)[:, :, None]
    asleep = asleep if asleep.any() else None
    F = F if asleep is None else np.where(asleep[:, :, 0], 0.0, F)
    shares = weights(state, asleep, ago)
    return within(np.einsum("...bk,...k->...b", shares, F), F[:, :, None], asleep)


def weights(state, asleep=None, ago=0):
    """Return the weights (q, n_ways, K), or (n, q, n_ways, K), some rounds ago."""
    known = _BOA._log_weights(state)
    if "past" in state:
        known = as_it_was(known, state["past"], ago)
    return softmax(known if asleep is None else np.where(asleep, -np.inf, known))


def wait(state, n):
    """Let rounds pass from which nothing is learnt, where targets are late."""
    for name, known in {"past": _BOA._log_weights(state), "out": 0.0}.items():
        state[name] = late(np.broadcast_to(known, (n, *state["rates"].shape)), state[name])[1]


def factors_of(n, weights):
    """Return the factors of the errors in n rows that may have weights (n,)."""
    factors = np.full((n, 1, 1, 1), 2.0)
    return factors if weights is None else factors * weights[:, None, None, None]


def go_on_with(state, places):
    """Go on with the experts at these places, in their order."""
    n_experts = state["rates"].shape[-1]
    for name, part in state.items():
        if isinstance(part, np.ndarray) and part.shape[-1:] == (n_experts,):
            state[name] = part[..., places]


def put(state, j, fresh, axis=0):
    """Put what is known of one target, a fresh state, in the place of target j."""
    for name, value in fresh.items():
        of_targets = 1 if name in _BY_TIME else axis
        if isinstance(value, list):
            for known, part in zip(state[name], value, strict=True):
                put(known, j, part)
        elif isinstance(value, dict):
            put(state[name], j, value, of_targets)
        elif isinstance(value, np.ndarray) and name not in _OF_ALL:
            np.moveaxis(state[name], of_targets, 0)[j] = np.moveaxis(value, of_targets, 0)[0]
        elif name == "unheard":
            state[name] = value
