r"""Two BOAs of the same forecasts, one of which bounds what a round counts, and their mean.

The rates of BOA fall with the squares of all regrets so far. After a round in which everybody was a
hundred usual errors off, as at a new level, it takes as many rounds as ten thousand squared to
learn what it would have learnt at once. So the other one has the regrets of

.. math:: \ell_{k,t} = \frac{(y_t - f_{k,t})^2}{s_t}, \qquad
          s_t = \min_k \frac{\sum_{s < t} \lambda^{t - s} (y_s - f_{k,s})^2}
                           {\sum_{s < t} \lambda^{t - s}},

all of a round divided by the same number where one of them would be above three. For it holds BOA's
theorem, for a sum of losses in which rounds have weights; no bound of the plain sum follows.

Which of the two suits a stream is a doubt like others: where errors are large for good reasons, in
a corner where the target is steep, bounded rounds tell less. So what both say is mixed by
likelihoods that fade, of errors that are bounded, too. In all arrays the plain one comes first, so
that a row costs both no more calls than one.
"""

from collections import deque

import numpy as np

from .._delay import as_it_was, late
from .._linalg import softmax
from ..base._convex import ROUNDING, within
from ..features._moments import faded
from ._fading_means import (
    known_likelihoods,
    learn_likelihoods,
    likelihoods_of,
    means_of,
    start_likelihoods,
)
from ._second_order import BOARegressor

_BOA = BOARegressor()
_FADING = 0.99  # of the squared errors that are usual, and of the likelihoods of the two
_BOUND = 3.0  # usual squared errors that the regrets of a round count at most
_KNOWN = 3  # rounds from which on it is known what is usual
_LEAST = 1e-18  # of the largest loss that the least one counts as
_LARGEST = 1e300


def start(n_ways, delay):
    """Return the state before the first row."""
    state = _BOA._start(n_ways, late=delay)
    pairs = ("squares", "caps", "rates", "regrets", "past", "out")
    state |= {name: _twice(state[name]) for name in pairs if name in state}
    # faded sums of losses, and of rounds; the number of these
    usual = {"usual": np.zeros(n_ways + 2), "past usual": np.zeros((delay, n_ways + 2))}
    return state | usual | {"likelihoods": start_likelihoods(2, delay)}


def _twice(known):
    return np.stack([known, known], axis=-2)


def learn(state, F, y, weights):
    """Learn targets (n,) and forecasts F (n, K) of them, NaN where one is asleep.

    Rows may have weights (n,). Returns the means (n,).
    """
    of_rounds = np.column_stack([np.ones(len(y)), _learn_usual(state, F, y, weights)])
    if weights is not None:
        of_rounds *= weights[:, None]
    both = _learn_rows(state, F, y, of_rounds)
    squares = np.square(both - y[:, None])
    most = np.full(len(y), np.inf)
    np.divide(_BOUND, of_rounds[:, 1], out=most, where=of_rounds[:, 1] > 0.0)
    np.minimum(squares, most[:, None], out=squares)
    known = learn_likelihoods(state["likelihoods"], squares, _FADING, weights)
    return means_of(both, *known)


def forecast(state, F, ago):
    """Return the means (n,) of forecasts F (n, K) by what was known some rounds ago."""
    weights = _weights_of(state, np.isnan(F)[:, None], ago)
    both = np.einsum("nbk,nk->nb", weights, np.where(np.isnan(F), 0.0, F))
    return means_of(both, *np.atleast_2d(*known_likelihoods(state["likelihoods"], ago)))


def wait(state, n):
    """Let rounds pass from which nothing is learnt, where targets are late."""
    known = {"past": _BOA._log_weights(state), "past usual": state["usual"]}
    known["out"] = np.zeros_like(known["past"])
    for name, part in known.items():
        state[name] = late(np.tile(part, (n, *[1] * part.ndim)), state[name])[1]


def weights(state):
    """Return the weights (K,) of the forecasts in the mean for the next round."""
    shares = likelihoods_of(*np.atleast_2d(*known_likelihoods(state["likelihoods"])))[0]
    return shares @ _weights_of(state, False)[0] / shares.sum()


def _weights_of(state, asleep, ago=0):
    """Return the weights (n, 2, K) of both."""
    known = _BOA._log_weights(state)
    log_weights = known if np.all(ago == 0) else as_it_was(known, state["past"], ago)
    log_weights = np.where(asleep, -np.inf, log_weights.reshape(-1, *known.shape))
    return softmax(log_weights)


def _learn_rows(state, F, y, of_rounds):
    """Learn rows whose losses count as much for both (n, 2); return the forecasts (n, 2)."""
    asleep = np.isnan(F)
    asleep = asleep if asleep.any() else None
    pairs = np.ones((*F.shape, 2))
    pairs[..., 0] = F = F if asleep is None else np.where(asleep, 0.0, F)
    if asleep is not None:
        no_weight, awake = np.where(asleep, -np.inf, 0.0), 1.0 - asleep
    both, past = np.empty((len(y), 2, 1)), deque(state.get("past", ()))
    rounds = zip(F, pairs, y.tolist(), 2.0 * of_rounds[..., None], strict=True)
    for i, (f, pair, target, factors) in enumerate(rounds):
        past.append(_BOA._log_weights(state))
        mixing = past.popleft()
        if asleep is not None:
            mixing += no_weight[i]
        mixing -= np.maximum.reduce(mixing, axis=1, keepdims=True)
        sums = np.exp(mixing, out=mixing).dot(pair)
        both[i] = forecasts = sums[:, :1] / sums[:, 1:]
        regrets = forecasts - f
        errors = forecasts - target
        if state["unheard"]:  # of who wakes rounding would be all that is known
            errors[np.abs(errors) <= ROUNDING * np.abs(forecasts)] = 0.0
        regrets *= errors * factors
        if asleep is not None:
            regrets *= awake[i]
        _bound(regrets[1])
        _BOA._update(state, regrets, target)
    state["t"] += len(y)
    if "past" in state:
        state["past"] = np.array(past)
    return np.column_stack([within(part, F, asleep) for part in both[..., 0].T])


def _bound(regrets):
    largest = max(np.maximum.reduce(regrets), -np.minimum.reduce(regrets))
    if largest > _BOUND:
        np.clip(regrets, -_LARGEST, _LARGEST, out=regrets)
        regrets *= _BOUND / min(largest, _LARGEST)


def _most(sums, n_known):
    """Return the loss from which on a row would more than double the usual one.

    Of faded sums of losses and of rounds (..., K + 1); infinite where nothing is usual.
    """
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        most = sums[..., :-1].min(axis=-1) / ((1.0 - _FADING) * sums[..., -1])
    return np.where((n_known >= _KNOWN) & (most > 0.0), most, np.inf)


def _cut(path, terms):
    """Put in the sums before each row and after the last, where no row doubles what is usual."""
    for i, term in enumerate(terms):
        np.minimum(term[:-1], _most(path[i, :-1], path[i, -1]), out=term[:-1])
        path[i + 1, :-1] = _FADING * path[i, :-1] + term


def _learn_usual(state, F, y, weights):
    """Learn squared errors; return one over the usual losses (n,) known before each row.

    A loss is a squared error times the weight of its row.
    """
    terms = np.ones((len(y), F.shape[1] + 1))
    squares = np.square(F - y[:, None], out=terms[:, :-1])
    asleep = np.isnan(squares)
    if asleep.any():  # who sleeps is never the best
        np.copyto(squares, np.nanmax(squares, axis=1, keepdims=True), where=asleep)
    if weights is not None:
        squares *= weights[:, None]
    path = np.empty((len(y) + 1, F.shape[1] + 2))
    path[:, -1] = state["usual"][-1] + np.arange(len(path))
    path[:, :-1] = faded(terms, state["usual"][:-1], _FADING)
    if (squares > _most(path[:-1, None, :-1], path[:-1, -1:])).any():
        _cut(path, terms)
    state["usual"] = path[-1].copy()
    known, state["past usual"] = late(path[:-1], state["past usual"])
    losses, rounds, n_known = known[:, :-2], known[:, -2], known[:, -1]
    least = np.maximum(losses.min(axis=1), _LEAST * losses.max(axis=1))
    of_rounds = np.zeros(len(y))
    with np.errstate(over="ignore"):
        np.divide(rounds, least, out=of_rounds, where=(least > 0.0) & (n_known >= _KNOWN))
    return np.minimum(of_rounds, _LARGEST)
