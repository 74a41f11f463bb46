r"""Experts that are suddenly far apart: who was right in rows like this one is heard in it.

A naive forecast, such as the latest value, is hard to beat until the inputs show that a target will
jump. Then it is as far off as the others were in the rows in which they had yet to learn, and who
has lost less so far does not tell who is right now. What tells is who was in rows like this one: in
which direct experts and all others, both right in the row before, have parted by about as much.

With a and b the means of both under the likelihoods that fade most slowly, and s what the better
one usually misses, a row is such a one if :math:`|a - b| > 8 s` and neither was off by as much in
the latest row. Then what all say is mixed with what they say without the direct experts, and with
what each of these says alone: by log-likelihoods

.. math:: \ell = -\ln ((y - f)^2 + (3 s)^2)

of Cauchy errors, a in the place of what all say, which count for 6 less than the best at most. They
are kept by bands of octaves of the distance, count for half in each octave beyond a band, and fade
with rows of their kind. At first half of the way is gone to others: of that, half to what they say
together and half to their mean. So what is rare is soon known: a kernel has never seen such inputs,
and a line has no need to. A fault, from which all are as far, says nothing. Direct experts that
have no say, as they have lost much more of late, still tell that a target will jump.
"""

from math import sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from .._delay import as_it_was, late
from .._linalg import softmax
from ..features._moments import faded
from ._fading_means import means_of

_FADING = 0.99  # of what is usually missed
_KNOWN = 7.5  # faded rows from which on that is known: eight have come
_FAR = 8.0  # usual errors from which on some are far apart
_WIDE = 3.0  # usual errors in the scale of the Cauchy distribution
_MOST = 6.0  # log-likelihoods that a row tells two apart by at most
_LIMIT = 8.0  # and that they are apart at most
_LEFT = 0.95  # of them, when another row of their band has come
_SETTLED = 4.0  # log odds from which on only what all say is heard, or not at all
_OTHERS = np.log(0.5)  # log odds of what others say together, and of all of them alone, at first
N_BANDS = 3
_BAND = 4  # octaves
_FARTHEST = 2.0 ** (N_BANDS * _BAND - 1)  # times 8 usual errors, the last octave
_TINY = np.finfo(float).tiny
_RARELY = 0.1  # of all rows in which direct experts without a say are far off at most
# places of sums, of rows far off among them, of the latest error, and of what is likely
_ROOTS, _ROWS, _WRONG, _OFF, _LIKELY = range(5)


class Parted(NamedTuple):
    """How far experts part, in means of targets (..., q), NaN where there is nobody.

    Attributes
    ----------
    a, b : ndarray of shape (..., q)
        Of the direct experts that have a say, and of all others.
    naive : ndarray of shape (..., q)
        Of the direct ones, where none has a say of all of them.
    """

    a: np.ndarray
    b: np.ndarray
    naive: np.ndarray

    def row(self, i):
        """Return those of row i."""
        return Parted(*(part[i] for part in self))


def start(n_targets, n_experts, delay):
    """Return what is known before the first row: what is usual, the latest error, who is likely."""
    known = np.zeros((n_targets, _LIKELY + N_BANDS * (2 + n_experts)))
    return {"known": known, "past": np.repeat(known[None], delay, axis=0)}


def known_ago(state, ago):
    """Return what was known (q, width) some rounds ago."""
    return as_it_was(state["known"], state["past"], ago)


def parted(F, everybody, losses, rounds, n_direct):
    """Return how far experts part who say F (..., q, K), NaN of who has no say, the first direct.

    What all direct ones say is in forecasts of `everybody`. Means are by faded sums of squares
    (..., q, K) and their counts (..., q, 1).
    """
    direct, others = slice(0, n_direct), slice(n_direct, None)
    a, b = (_mean(F[..., part], losses[..., part], rounds) for part in (direct, others))
    is_none = np.isnan(a)
    if not is_none.any():
        return Parted(a, b, a)
    naive = _mean(everybody[..., direct], losses[..., direct], rounds)
    return Parted(a, b, np.where(is_none, naive, a))


def _mean(F, losses, rounds):
    there = ~np.isnan(F).all(axis=-1)
    if there.all():
        return means_of(F, losses, rounds)
    mean = np.full(there.shape, np.nan)
    mean[there] = means_of(F[there], losses[there], rounds[there])
    return mean


def shares(known, means, F):
    """Return how far to go (..., q) from what all say to what others do, 0 where none are apart.

    Forecasts F (..., q, K) are NaN of who has no say, and of direct experts.
    """
    octaves, _ = _octaves(known, means)
    if not (octaves >= 0).any():
        return np.zeros(octaves.shape)
    least = expit(-_SETTLED)
    share = 1.0 - _weights(known, means, octaves, F)[..., 0]
    share = np.clip((share - least) / (1.0 - 2.0 * least), 0.0, 1.0)
    return np.where(octaves >= 0, share, 0.0)


def others_say(known, means, F, together):
    """Return what is made (..., q) of what others say together and of what each says alone."""
    weights = _weights(known, means, _octaves(known, means)[0], F)[..., 1:]
    said = np.concatenate([together[..., None], np.where(np.isnan(F), 0.0, F)], axis=-1)
    return (weights * said).sum(axis=-1) / np.maximum(weights.sum(axis=-1), _TINY)


def _weights(known, means, octaves, F):
    """Return the weights (..., q, 2 + K) of what all say, of all others together, and of each.

    Without direct experts the first two say the same.
    """
    is_asleep = np.isnan(F)
    likely = np.broadcast_to(known[..., _LIKELY:], (*octaves.shape, known.shape[-1] - _LIKELY))
    likely = likely.reshape(*octaves.shape, N_BANDS, -1)
    bands = np.maximum(octaves, 0) // _BAND
    logs = np.take_along_axis(likely, bands[..., None, None], axis=-2)[..., 0, :].copy()
    n = np.maximum((~is_asleep).sum(axis=-1, keepdims=True), 1)
    logs[..., 1:] += _OTHERS
    logs[..., 2:] += np.where(is_asleep, -np.inf, -np.log(n))
    weights, alone = softmax(logs), np.isnan(means.a)
    weights[..., 0] += np.where(alone, weights[..., 1], 0.0)
    weights[..., 1] *= ~alone
    return weights


def learn(state, means, F, y, weights=None, together=None):
    """Learn targets (n, q); return shares (n, q) of rows as they came, and what is known then.

    Of one row it may be known what others said `together` (1, q), NaN where it was not asked for.
    """
    path = _path(state["known"], means, F, y, weights, together)
    known, past = late(path[:-1], state["past"])
    return shares(known, means, F), {"known": path[-1].copy(), "past": past}


def after_row(known, means, F, y, weight, together=None):
    """Return what is known after a row of targets (q,), as `learn` does."""
    now = known.copy()
    of_row = (part.tolist() for part in (*means, y, known[:, :_OFF]))
    # numbers cost less than arrays of a few
    now[:, :_LIKELY] = [_after(*one) for one in zip(*of_row, strict=True)]
    octaves, sizes = _octaves(known, means)
    for j in np.flatnonzero(octaves >= 0):
        said = _said(means, F, together, j)
        now[j, _LIKELY:] = _moved(known[j, _LIKELY:], said, y[j], sizes[j], min(weight, 1.0))
    return now


def _after(a, b, naive, y, known):
    """Return what is usual after a row of one target, all of them numbers, and the latest error."""
    roots, rows, wrong = known
    least = _FAR * (roots / max(rows, 1.0)) ** 2
    root = sqrt(min(abs(one - y) for one in (a, b) if one == one))  # not NaN
    wrong = _FADING * wrong + (abs(naive - y) > least)
    off = max(abs(one - y) for one in (b, naive) if one == one)
    return _FADING * roots + root, _FADING * rows + 1.0, wrong, off


def wait(state, n):
    """Let rounds pass that teach nothing yet, as labels are late."""
    known = np.broadcast_to(state["known"], (n, *state["known"].shape))
    state["past"] = late(known, state["past"])[1]


def _path(known, means, F, y, weights, together):
    """Return what is known before each row and after the last, (n + 1, q, width)."""
    a, b, naive = (np.abs(part - y) for part in means)
    terms = np.ones((*y.shape, 2))
    np.sqrt(np.fmin(a, b), out=terms[..., 0])
    path = np.empty((len(y) + 1, *known.shape))
    path[...] = known
    path[..., :_WRONG] = faded(terms, known[:, :_WRONG], _FADING)
    wrong = (naive > _FAR * _sizes(path[:-1])).astype(float)
    path[..., _WRONG] = faded(wrong, known[:, _WRONG], _FADING)
    path[1:, :, _OFF] = np.fmax(naive, b)
    octaves, sizes = _octaves(path[:-1], means)
    for i, j in np.argwhere(octaves >= 0):
        said = _said(means.row(i), F[i], None if together is None else together[i], j)
        weight = 1.0 if weights is None else min(weights[i], 1.0)
        of_row = said, y[i, j], sizes[i, j], weight
        path[i + 1 :, j, _LIKELY:] = _moved(path[i, j, _LIKELY:], *of_row)
    return path


def _said(means, F, together, j):
    """Return forecasts (3 + K,) of a row of target j: naive ones, of others together, and of each.

    The first are those of all direct experts, and of those that have a say. Who has none, or none
    yet, is as good as all others together.
    """
    whole = means.b[j] if together is None or np.isnan(together[j]) else together[j]
    said = np.concatenate([[means.naive[j], means.a[j], whole], F[j]])
    return np.where(np.isnan(said), whole, said)


def _moved(likely, said, y, size, weight):
    """Return log-likelihoods, by bands, after a row of forecasts `said` (3 + K,).

    The band is that of how far the target was from naive forecasts or from what others said.
    """
    misses = np.abs(said - y) / size
    octave = int(np.log2(np.clip(max(misses[0], misses[2]) / _FAR, 1.0, _FARTHEST)))
    gains = -np.log(np.square(misses[1:]) + _WIDE**2)
    gains = weight * np.maximum(gains - gains.max(), -_MOST)
    above = octave - np.arange(0, N_BANDS * _BAND, _BAND)  # the first octave of each band
    beyond = np.maximum(np.maximum(-above, above - _BAND + 1), 0)
    near = 0.5 ** beyond[:, None]
    likely = _LEFT**near * likely.reshape(N_BANDS, -1) + near * gains
    return np.maximum(likely - likely.max(axis=1, keepdims=True), -_LIMIT).ravel()


def _octaves(known, means):
    """Return the octaves (..., q) in which some are apart, -1 where not, and usual errors."""
    rows, wrong, off = (known[..., place] for place in (_ROWS, _WRONG, _OFF))
    sizes = _sizes(known)
    least = _FAR * sizes
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.abs(means.naive - means.b)
        are_apart = (rows >= _KNOWN) & (off <= least) & (distances > least) & (least > 0.0)
        are_apart = are_apart & (~np.isnan(means.a) | (wrong <= _RARELY * rows))
        ratios = np.where(are_apart, distances, 1.0) / np.where(are_apart, least, 1.0)
    octaves = np.log2(np.minimum(ratios, _FARTHEST)).astype(np.intp)
    return np.where(are_apart, octaves, -1), sizes


def _sizes(known):
    """Return what the better one of the two usually misses (..., q)."""
    return np.square(known[..., _ROOTS] / np.maximum(known[..., _ROWS], 1.0))
