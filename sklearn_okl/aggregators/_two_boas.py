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
likelihoods of their errors. Rare rounds decide there, so these fade slowly, and no square counts
more than all usual ones that are remembered: beyond, those of both are divided by the same number.
A round in which one is off by half as much as the other tells much, and one in which they hardly
differ, little.

In all arrays the plain one comes first, so that a row costs both no more calls than one; so it is
with several targets, before them.
"""

from functools import cache
from typing import NamedTuple

import numpy as np

from .._delay import late
from .._linalg import any_of
from ..features._moments import faded
from . import _boas
from ._fading_means import (
    FEW,
    known_likelihoods,
    learn_likelihoods,
    likelihoods_of,
    means_of,
    share_of_second,
    start_likelihoods,
)

_FADING = 0.99  # of the squared errors that are usual
_SLOWLY = 0.9995  # and of the likelihoods of the two: errors that matter may be rare
_BOUND = 3.0  # usual squared errors that the regrets of a round count at most
_KNOWN = 3  # rounds from which on it is known what is usual
_LEAST = 1e-18  # of the largest loss that the least one counts as
_LARGEST = 1e300


def start(n_targets, n_ways, delay):
    """Return the state before the first row."""
    # faded sums of losses, and of rounds; the number of these
    width = n_targets, n_ways + 2
    usual = {"usual": np.zeros(width), "past usual": np.zeros((delay, *width))}
    likelihoods = {"likelihoods": start_likelihoods(n_targets, 2, delay)}
    return _boas.start(n_targets, 2, n_ways, delay) | usual | likelihoods


def learn(state, F, y, weights):
    """Learn rows as each of the two does, with weights (n,) or none; return their means (n, q).

    Forecasts F (n, q, K) are NaN where an expert is asleep.
    """
    of_rounds = np.ones((*y.shape, 2))
    of_rounds[..., 1], n_remembered = learn_usual(state, F, y, weights)
    if weights is not None:
        of_rounds *= weights[:, None, None]
    both = _boas.learn(state, F, y, 2.0 * of_rounds[..., None], bound)
    squares = np.square(both - y[..., None])
    sizes, most = squares.max(axis=-1) * of_rounds[..., 1], np.maximum(n_remembered, 1.0)
    if (sizes > most).any():
        squares *= (most / np.maximum(sizes, most))[..., None]
    known = learn_likelihoods(state["likelihoods"], squares, _SLOWLY, weights)
    return means_of(both, *known)


class Asked(NamedTuple):
    """What the two say of a row, (q, 2) before and after clips, and their means (q,)."""

    known: np.ndarray
    both: np.ndarray
    forecast: np.ndarray


def ask_row(weights, share, F, sleep):
    """Return what is `Asked` of forecasts F (q, K) of a row, any numbers of who is asleep.

    Weights (q, 2, K) are those of each, up to factors, and the share (q,) that of the second.
    """
    known = _boas.mixed_row(weights, _boas.pairs_of(F))
    both = _boas.within_row(known, F, sleep)
    plain = both[:, 0]
    return Asked(known, both, plain + share * (both[:, 1] - plain))


def share_now(state):
    """Return the share (q,) that the bounded one has in the next forecast."""
    likelihoods = state["likelihoods"]
    return share_of_second(likelihoods["losses"], likelihoods["rounds"][:, 0])


def learn_usual_of_row(state, F, sleep, y, weight):
    """Do what `learn_usual` does with a row; return one over the usual losses (q,) before it.

    Whoever calls it lets numbers overflow.
    """
    usual = state["usual"]
    if len(usual) > FEW:
        state["usual"], of_round = _usual_of_many(usual, F, sleep, y, weight)
        return of_round
    are_asleep = [None] * len(usual) if sleep is None else sleep.asleep.tolist()
    of_targets = zip(usual.tolist(), F.tolist(), y.tolist(), are_asleep, strict=True)
    now, of_round = zip(*[_usual_after(*one, weight) for one in of_targets], strict=True)
    state["usual"] = np.array(now)
    return np.array(of_round)


def teach_likelihoods(state, asked, y, factors, n_remembered, weight):
    """Learn of targets y (q,) which of the two is the likelier one.

    Factors (q,) are those of the bounded one's errors; usual losses remember so many rounds (q,).
    """
    known = state["likelihoods"]
    if len(y) > FEW:
        squares = _squares_of_many(asked.both, y, factors, n_remembered)
    else:
        parts = map(np.ndarray.tolist, (asked.both, y, factors, n_remembered))
        squares = np.array([_squares(*one) for one in zip(*parts, strict=True)])
    if weight != 1.0:
        squares *= weight
    known["losses"] = squares + _SLOWLY * known["losses"]
    known["rounds"] = weight + _SLOWLY * known["rounds"]


def _squares_of_many(both, y, factors, n_remembered):
    """Return the squared errors (q, 2) of a row, divided where one is more than all usual ones."""
    squares = both - y[:, None]
    squares *= squares
    sizes = np.maximum(squares[:, 0], squares[:, 1]) * (0.5 * factors)
    most = np.maximum(n_remembered, 1.0)
    if (sizes > most).any():
        squares *= (most / np.maximum(sizes, most))[:, None]
    return squares


def _squares(both, y, factor, n_remembered):
    """Return the same of one target, all of it numbers."""
    first, second = [(one - y) * (one - y) for one in both]
    size, most = max(first, second) * (0.5 * factor), max(n_remembered, 1.0)
    share = most / size if size > most else 1.0
    return first * share, second * share


@cache
def _fadings(n):
    """Return by what each of n sums that say what is usual fades: not the number of rounds."""
    return np.append(np.full(n - 1, _FADING), 1.0)


def forecast(state, F, ago):
    """Return the means (n, q) of forecasts F (n, q, K) by what was known some rounds ago."""
    return means_of(_boas.forecast(state, F, ago), *known_likelihoods(state["likelihoods"], ago))


def wait(state, n):
    """Let rounds pass, in what is usual too."""
    _boas.wait(state, n)
    usual = np.broadcast_to(state["usual"], (n, *state["usual"].shape))
    state["past usual"] = late(usual, state["past usual"])[1]


def weights(state):
    """Return the weights (q, K) of the forecasts in the mean for the next round."""
    shares = likelihoods_of(*known_likelihoods(state["likelihoods"]))
    shares /= shares.sum(axis=-1, keepdims=True)
    return np.einsum("qb,qbk->qk", shares, _boas.weights(state))


def bound(regrets):
    """Let the regrets (q, 2, K) of the bounded ones be at most so large, and no others behind."""
    bounded = regrets[:, 1]
    bound_by(_BOUND, bounded)


def bound_by(most, regrets):
    """Let regrets (q, K) be at most so large, (q, 1): those of a target shrink together."""
    sizes = np.abs(regrets)
    if any_of(sizes > most):
        largest = np.clip(sizes.max(axis=-1, keepdims=True), most, _LARGEST)
        np.clip(regrets, -_LARGEST, _LARGEST, out=regrets)
        regrets *= most / largest


def _usual_after(usual, F, y, asleep, weight):
    """Return what is usual of one target after a row, and one over the usual loss before it.

    All of it is numbers, which cost less than arrays of a few.
    """
    *losses, rounds, n_known = usual
    usually = min(losses)
    least = max(usually, _LEAST * max(losses))
    most, of_round = np.inf, 0.0
    if n_known >= _KNOWN and least > 0.0:
        most, of_round = usually or np.inf, min(rounds / least, _LARGEST)
    squares = [(f - y) * (f - y) for f in F]
    if asleep is not None:  # who sleeps is never the best
        of_each = list(zip(squares, asleep, strict=True))
        worst = max([square for square, is_asleep in of_each if not is_asleep], default=0.0)
        squares = [worst if is_asleep else square for square, is_asleep in of_each]
    if weight != 1.0:
        squares = [weight * square for square in squares]
    if most < max(squares):
        squares = [min(square, most) for square in squares]
    now = [loss * _FADING + square for loss, square in zip(losses, squares, strict=True)]
    return [*now, rounds * _FADING + 1.0, n_known + 1.0], of_round


def _usual_of_many(usual, F, sleep, y, weight):
    """Return the same of many targets, by arrays (q, K + 2) and (q,)."""
    squares = F - y[:, None]
    squares *= squares
    if sleep is not None:
        squares *= sleep.awake
        worst = np.maximum.reduce(squares, axis=-1, keepdims=True)
        np.copyto(squares, worst, where=sleep.asleep)
    if weight != 1.0:
        squares *= weight
    losses, rounds = usual[:, :-2], usual[:, -2]
    usually = np.minimum.reduce(losses, axis=-1)
    least = np.maximum(usually, _LEAST * np.maximum.reduce(losses, axis=-1))
    known = (usual[:, -1] >= _KNOWN) & (least > 0.0)
    of_round = np.divide(rounds, least, out=np.zeros(len(usual)), where=known)
    most = np.where(known & (usually > 0.0), usually, np.inf)
    np.minimum(squares, most[:, None], out=squares)
    now = usual * _fadings(usual.shape[1])
    now[:, :-2] += squares
    now[:, -2:] += 1.0
    return now, np.minimum(of_round, _LARGEST)


def _most(sums, n_known):
    """Return the loss from which on a row would double the usual one: all that is remembered.

    Of faded sums of losses and of rounds (..., K + 1); infinite where nothing is usual.
    """
    most = np.minimum.reduce(sums[..., :-1], axis=-1)
    return np.where((n_known >= _KNOWN) & (most > 0.0), most, np.inf)


def _cut(path, terms):
    """Return the sums before each row and after the last, where no row doubles what is usual."""
    for i, term in enumerate(terms):
        most = _most(path[i, :, :-1], path[i, :, -1])
        np.minimum(term[:, :-1], most[:, None], out=term[:, :-1])
        path[i + 1, :, :-1] = _FADING * path[i, :, :-1] + term
    return path


def learn_usual(state, F, y, weights):
    """Learn squared errors; return one over the usual losses (n, q) known before each row.

    And how many rounds (n, q) these remember. A loss is a squared error times the row's weight.
    """
    n, q, K = F.shape
    terms = np.ones((n, q, K + 1))
    squares = np.square(F - y[..., None], out=terms[..., :-1])
    asleep = np.isnan(squares)
    if asleep.any():  # who sleeps is never the best
        np.copyto(squares, np.fmax.reduce(squares, axis=-1, keepdims=True), where=asleep)
    if weights is not None:
        squares *= weights[:, None, None]
    path = np.empty((n + 1, q, K + 2))
    path[..., -1] = state["usual"][:, -1] + np.arange(n + 1)[:, None]
    path[..., :-1] = faded(terms, state["usual"][:, :-1], _FADING)
    most = _most(path[:-1, :, :-1], path[:-1, :, -1])
    cut = (squares > most[..., None]).any(axis=(0, 2))
    if cut.any():
        path[:, cut] = _cut(path[:, cut], terms[:, cut])
    state["usual"] = path[-1].copy()
    known, state["past usual"] = late(path[:-1], state["past usual"])
    losses, rounds, n_known = known[..., :-2], known[..., -2], known[..., -1]
    least = np.maximum(losses.min(axis=-1), _LEAST * losses.max(axis=-1))
    of_rounds = np.zeros((n, q))
    with np.errstate(over="ignore"):
        np.divide(rounds, least, out=of_rounds, where=(least > 0.0) & (n_known >= _KNOWN))
    return np.minimum(of_rounds, _LARGEST), rounds
