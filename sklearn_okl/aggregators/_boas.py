"""BOAs side by side: of several targets, or that count rounds otherwise, as leading axes.

What one BOA does to a round, `BOARegressor` says; a round of many costs no more calls than one.
"""

from collections import deque
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from .._delay import as_it_was, late
from .._linalg import column, largest, least, softmax
from ..base._convex import ROUNDING, within
from ._second_order import BOARegressor

_BOA = BOARegressor()
_BY_TIME = "past", "past usual", "out"  # arrays whose first axis is of the latest rounds
_OF_ALL = "log_prior", "surprises"  # and that are the same for all targets
_OF_EXPERTS = "squares", "caps", "rates", "regrets", "log_prior", "surprises"
_LEARNT = "squares", "caps", "regrets"  # those of them that are written where they are
_SHORT = 8  # rounds for which it is worth while to leave out who sleeps
_REMEMBERED = 64  # shapes of BOAs, and masks of who is asleep, that rows have met


def start(n_targets, n_ways, n_experts, delay, boa=_BOA):
    """Return the state of BOAs, `n_ways` for each target, that mix the same number of experts."""
    state, lead = boa._start(n_experts, late=delay), (n_targets, n_ways)
    for name in _OF_EXPERTS:
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
    if asleep is not None:
        rows = _until_others_sleep(asleep)
        if rows is not None:
            parts = [learn(state, F[part], y[part], factors[part], bound) for part in rows]
            return np.concatenate(parts)
        awake = _awake_throughout(state, asleep)
        if awake is not None:
            return _learn_some(state, awake, F, y, factors, bound)
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
        if is_one:
            mixing -= mixing.item(mixing.argmax())
            total, weight = np.exp(mixing, out=mixing)[0, 0].dot(pair[0]).tolist()
            forecasts = known[i] = total / weight
            target, factor = target.item(), factor.item()
        else:
            mixing -= np.maximum.reduce(mixing, axis=-1, keepdims=True)
            sums = np.exp(mixing, out=mixing) @ pair
            forecasts = np.divide(sums[..., :1], sums[..., 1:], out=known[i])
        errors, regrets = forecasts - target, forecasts - f
        if state["unheard"]:  # of who wakes, or says the same, rounding would be all that is known
            rounding = _rounding(forecasts, target)
            errors *= np.abs(errors) > rounding
            regrets *= np.abs(regrets) > rounding
        errors *= factor
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


def _until_others_sleep(asleep):
    """Return slices of rounds in which the same experts sleep; None if it is one, or many."""
    changes = np.flatnonzero((asleep[1:] != asleep[:-1]).any(axis=(1, 2, 3))) + 1
    if not len(changes) or len(changes) * _SHORT > len(asleep):
        return None
    return [slice(*pair) for pair in pairwise([0, *changes.tolist(), len(asleep)])]


def _awake_throughout(state, asleep):
    """Return the experts (K,) who are awake in all rounds, while all others sleep through them.

    None where it is others in other rounds, or labels are late, or not all of them have been heard.
    """
    awake = ~asleep[0, 0, 0]
    if "past" in state or len(asleep) < _SHORT or not awake.any() or (asleep == awake).any():
        return None
    return awake if (state["squares"][..., awake] > state["start"]).all() else None


def _learn_some(state, awake, F, y, factors, bound):
    """Learn rounds in which all others sleep: what is known of them stays as it is."""
    some = state | {name: state[name][..., awake] for name in _OF_EXPERTS} | {"unheard": False}
    forecasts = learn(some, F[..., awake], y, factors, bound)
    for name in _LEARNT:
        state[name][..., awake] = some[name]
    rates = state["rates"].copy()
    rates[..., awake] = some["rates"]
    _BOA._put_rates(state, rates)
    state["t"] = some["t"]
    return forecasts


class Sleep(NamedTuple):
    """Who is asleep in a row, (..., K), as numbers: adding or multiplying takes less than a mask.

    `barred` is infinite for them and 0 for others, `awake` 0 and 1.
    """

    asleep: np.ndarray
    barred: np.ndarray
    awake: np.ndarray


def sleep_of(asleep):
    """Return what a mask says of who is asleep; None where nobody is.

    Rows that follow each other hardly ever have another one.
    """
    return _sleep_of(asleep.tobytes(), asleep.shape)


@lru_cache(_REMEMBERED)
def _sleep_of(mask, shape):
    asleep = np.frombuffer(mask, dtype=bool).reshape(shape)
    if not asleep.any():
        return None
    return Sleep(asleep, np.where(asleep, np.inf, 0.0), 1.0 - asleep)


def log_weights(state):
    """Return the logarithms of the weights (q, n_ways, K) now, up to constants."""
    return _BOA._log_weights(state)


def pairs_of(F):
    """Return pairs (..., K, 2) of forecasts and ones: a product with weights sums up both."""
    pairs = np.empty((*F.shape, 2))
    pairs[..., 0], pairs[..., 1] = F, 1.0
    return pairs


def weights_of_row(log_weights, sleep):
    """Return weights (q, n_ways, K), up to factors, whose logarithms are lost."""
    if sleep is not None:
        log_weights -= sleep.barred[:, None]
    log_weights -= np.maximum.reduce(log_weights, axis=-1, keepdims=True)
    return np.exp(log_weights, out=log_weights)


def mixed_row(weights, pairs):
    """Return means (q, n_ways) of `pairs` (q, K, 2) of a row under weights (q, n_ways, K).

    Forecasts of who is asleep, and has no weight, are any numbers.
    """
    sums = weights @ pairs
    return sums[..., 0] / sums[..., 1]


def within_row(known, F, sleep):
    """Return what `mixed_row` made (q, n_ways) of forecasts F (q, K) without what rounding adds."""
    low, high = (F, F) if sleep is None else (F + sleep.barred, F - sleep.barred)
    nearer = np.maximum(known, least(low))
    return np.minimum(nearer, largest(high), out=nearer)


def teach_row(state, known, F, sleep, target, factors, bound=None):
    """Learn targets (q,) of a row of which mixtures were `known` (q, n_ways) before clips.

    Factors are (q, n_ways), or a number; all else is as in `learn`.
    """
    target = column(target)
    rounding = _rounding(known, target) if state["unheard"] else None
    regrets = _regrets(known, F[:, None], target, factors, rounding)
    if sleep is not None:
        regrets *= sleep.awake[:, None]
    if bound is not None:
        bound(regrets)
    _BOA._update(state, regrets, target)
    state["t"] += 1


def _rounding(known, target):
    """Return how much of forecasts (q, n_ways), and of what they miss, may be rounding alone."""
    return ROUNDING * np.maximum(np.abs(known), abs(target))


def _regrets(known, F, target, factors, rounding):
    """Return the regrets (q, n_ways, K) of a row, of squared errors times factors (q, n_ways).

    Forecasts F are (q, n_ways, K), or (q, 1, K). As long as somebody is unheard there is rounding,
    which is no error and tells nobody apart.
    """
    errors, regrets = known - target, column(known) - F
    if rounding is not None:
        errors *= np.abs(errors) > rounding
        regrets *= np.abs(regrets) > rounding[..., None]
    errors *= factors
    regrets *= column(errors)
    return regrets


class JoinedBoas:
    """BOAs of the same targets as ways of one, for rows one by one: each of them in common arrays.

    What a row does to weights is done to those of all at once. Behind the experts of those that
    have fewer than others there is nobody, without a regret.

    Parameters
    ----------
    states : list of dict
        No label is late.
    """

    _WRITTEN = "squares", "caps", "regrets", "rates"

    def __init__(self, states):
        self.states = states
        # of states that are its own, and what they were: in every row others take their place
        self._rates = (), ()
        self._n_targets, *_ = states[0]["rates"].shape
        self._nobody, self._places = _joined(*[state["rates"].shape[1:] for state in states])
        self.width = self._nobody["rates"].shape[-1]
        self.common = {"start": self._nobody["start"]}
        for name in ("rates", "regrets", "log_prior"):  # what is asked for
            self._join(name)

    def _join(self, name):
        self.common[name] = joined = np.repeat(self._nobody[name], self._n_targets, axis=0)
        for part, state in zip(self.parts_of(joined), self.states, strict=True):
            part[...] = state[name]

    def own(self, states, is_copy):
        """Let the arrays of these states, which may be written, be parts of the common ones.

        They are equal to those of the states before, or a copy of them, of which others know.
        """
        self.states = states
        if is_copy:
            self.common |= {name: self.common[name].copy() for name in self._WRITTEN}
        for name in ("squares", "caps", "surprises"):
            if name not in self.common:
                self._join(name)
        for state, (ways, width) in zip(states, self._places, strict=True):
            for name in self._WRITTEN:
                state[name] = self.common[name][:, ways, :width]
        self._rates = states, [state["rates"] for state in states]

    @property
    def is_current(self):
        """Whether rates are those of the latest row of all."""
        return all(state["rates"] is part for state, part in zip(*self._rates, strict=True))

    @property
    def written(self):
        """Arrays that a row writes, of all of them."""
        return [self.common[name] for name in self._WRITTEN]

    def log_weights(self):
        """Return the logarithms of the weights (q, n_ways, K) of all ways."""
        return _BOA._log_weights(self.common)

    def parts_of(self, joined):
        """Return the parts (q, n_ways, K) of an array for all of them."""
        return [joined[:, ways, :width] for ways, width in self._places]

    def teach(self, known, of_each, awake, target, factors, bound):
        """Learn targets (q, 1) of a row of which all ways were `known` (q, n_ways) before clips.

        Forecasts (q, K) are those of each BOA; of nobody, and of who is not `awake` (q, n_ways, K),
        they are any numbers. Factors are (q, n_ways); `bound` may edit regrets.
        """
        self.common["unheard"] = any(state["unheard"] for state in self.states)
        rounding = _rounding(known, target) if self.common["unheard"] else None
        F = np.zeros(awake.shape)
        for (ways, width), forecasts in zip(self._places, of_each, strict=True):
            F[:, ways, :width] = forecasts[:, None]
        regrets = _regrets(known, F, target, factors, rounding)
        regrets *= awake
        bound(regrets)
        _BOA._update(self.common, regrets, target)
        squares, rates = self.common["squares"], self.common["rates"]
        for state, (ways, width) in zip(self.states, self._places, strict=True):
            state["t"] += 1
            if state["unheard"]:
                part = squares[:, ways, :width]
                state["unheard"] = not part.item(part.argmin()) > state["start"]
            state["rates"] = rates[:, ways, :width]
        self._rates = self.states, [state["rates"] for state in self.states]


@lru_cache(_REMEMBERED)
def _joined(*shapes):
    """Return BOAs of nobody in common arrays for some shapes (n_ways, K), and their places."""
    n_ways, widths = zip(*shapes, strict=True)
    ends = np.cumsum([0, *n_ways]).tolist()
    ways = [slice(*pair) for pair in pairwise(ends)]
    return start(1, ends[-1], max(widths), 0), list(zip(ways, widths, strict=True))


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
