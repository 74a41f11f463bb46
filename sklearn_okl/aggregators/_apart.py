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
together and half to each alone, by the inverses of their squared errors so far (J. M. Bates, C. W.
J. Granger, "The combination of forecasts", Operational Research Quarterly 20(4), 1969): who errs in
most rows seldom knows of a rare one. So what is rare is soon known: a kernel has never seen such
inputs, and a line has no need to. A fault, from which all are as far, says nothing. Direct experts
that have no say, as they have lost much more of late, still tell that a target will jump.
"""

from math import log2, sqrt
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from .._delay import as_it_was, late
from .._linalg import softmax
from ..features._moments import faded
from ._fading_means import FEW, means_of

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
# places of sums, of rows far off among them, of the latest errors, and of what is likely
_ROOTS, _ROWS, _WRONG, _OFF, _OFF_LAGLESS, _LIKELY = range(6)


class Parted(NamedTuple):
    """How far experts part, in means of targets (..., q), NaN where there is nobody.

    Attributes
    ----------
    a, b : ndarray of shape (..., q)
        Of the direct experts that have a say, and of all others.
    naive : ndarray of shape (..., q)
        Of the direct ones, where none has a say of all of them.
    lagless : ndarray of shape (..., q)
        Of those of the others that do not see the latest targets.
    losses : ndarray of shape (..., q, K)
        Faded sums of the squared errors of each expert so far.
    """

    a: np.ndarray
    b: np.ndarray
    naive: np.ndarray
    lagless: np.ndarray
    losses: np.ndarray

    def row(self, i):
        """Return those of row i, or of a row and a target."""
        return Parted(*(part[i] for part in self))


class Learnt(NamedTuple):
    """What is said of rows that were learnt.

    Attributes
    ----------
    shares, found : ndarray of shape (n, q)
        How far to go to what others say, and what that is.
    octaves : ndarray of shape (n, q)
        Those in which some were apart, -1 where not.
    state : dict of two arrays
        With what is known after the rows.
    """

    shares: np.ndarray
    found: np.ndarray
    octaves: np.ndarray
    state: dict


def start(n_targets, n_experts, delay):
    """Return what is known before the first row: what is usual, the latest error, who is likely."""
    known = np.zeros((n_targets, _LIKELY + N_BANDS * (2 + n_experts)))
    return {"known": known, "past": np.repeat(known[None], delay, axis=0)}


def known_ago(state, ago):
    """Return what was known (q, width) some rounds ago."""
    return as_it_was(state["known"], state["past"], ago)


def parted(F, everybody, losses, rounds, n_direct, lagless=None):
    """Return how far experts part who say F (..., q, K), NaN of who has no say, the first direct.

    What all direct ones say is in forecasts of `everybody`. Means are by faded sums of squares
    (..., q, K) and their counts (..., q, 1). Who is `lagless` (K,) may be known.
    """
    direct, others = slice(0, n_direct), slice(n_direct, None)
    a, b = (_mean(F[..., part], losses[..., part], rounds) for part in (direct, others))
    c = np.full(a.shape, np.nan)
    if lagless is not None and lagless.any():
        c = _mean(F[..., lagless], losses[..., lagless], rounds)
    is_none = np.isnan(a)
    if not is_none.any():
        return Parted(a, b, a, c, losses)
    naive = _mean(everybody[..., direct], losses[..., direct], rounds)
    return Parted(a, b, np.where(is_none, naive, a), c, losses)


def _mean(F, losses, rounds):
    there = ~np.isnan(F).all(axis=-1)
    if there.all():
        return means_of(F, losses, rounds)
    mean = np.full(there.shape, np.nan)
    mean[there] = means_of(F[there], losses[there], rounds[there])
    return mean


def octaves(known, means):
    """Return the octaves (..., q) in which some are apart, -1 where not, and usual errors."""
    rows, wrong = known[..., _ROWS], known[..., _WRONG]
    sizes, distances = _sizes(known), np.zeros(means.naive.shape)
    least = _FAR * sizes
    with np.errstate(invalid="ignore", over="ignore"):
        for place, part in ((_OFF, means.b), (_OFF_LAGLESS, means.lagless)):
            now = np.abs(means.naive - part)
            distances = np.where(known[..., place] <= least, np.fmax(now, distances), distances)
        are_apart = (rows >= _KNOWN) & (distances > least) & (least > 0.0)
        are_apart = are_apart & (~np.isnan(means.a) | (wrong <= _RARELY * rows))
        ratios = np.where(are_apart, distances, 1.0) / np.where(are_apart, least, 1.0)
    return np.where(are_apart, octaves_of(ratios), -1), sizes


def _sizes(known):
    """Return what the better one of the two usually misses (..., q)."""
    return np.square(known[..., _ROOTS] / np.maximum(known[..., _ROWS], 1.0))


def octaves_of_row(known, means):
    """Return what `octaves` does of a row, without arrays where targets (q,) are few."""
    if len(known) > FEW:
        return octaves(known, means)
    of_targets = zip(known[:, :_LIKELY].tolist(), *map(np.ndarray.tolist, means[:-1]), strict=True)
    found = [_octave(*of_known, *of_row) for of_known, *of_row in of_targets]
    return np.array([octave for octave, _ in found]), [size for _, size in found]


def _octave(roots, rows, wrong, off, off_lagless, a, b, naive, lagless):
    """Return the octave of one target, all of it numbers, and its usual error."""
    size = (roots / max(rows, 1.0)) ** 2
    least = _FAR * size
    both = (off, abs(naive - b)), (off_lagless, abs(naive - lagless))
    distance = max([now for before, now in both if before <= least and now == now], default=0.0)
    are_apart = rows >= _KNOWN and distance > least > 0.0
    if not are_apart or (a != a and wrong > _RARELY * rows):  # NaN
        return -1, size
    return int(log2(min(distance / least, _FARTHEST))), size


def weights_of(known, means, F, bands):
    """Return the weights (..., q, 2 + K) of what all say, of all others together, and of each.

    Forecasts F (..., q, K) are NaN of who has no say, and of direct experts. Without these the
    first two say the same. Where none are apart, in the octaves (..., q) of `bands`, weights are
    any numbers.
    """
    likely = np.broadcast_to(known[..., _LIKELY:], (*bands.shape, known.shape[-1] - _LIKELY))
    likely = likely.reshape(*bands.shape, N_BANDS, -1)
    logs = np.take_along_axis(likely, bands_of(bands)[..., None, None], axis=-2)[..., 0, :].copy()
    logs[..., 1:] += _OTHERS
    logs[..., 2:] += _by_errors(means.losses, np.isnan(F))
    weights, alone = softmax(logs), np.isnan(means.a)
    weights[..., 0] += np.where(alone, weights[..., 1], 0.0)
    weights[..., 1] *= ~alone
    return weights


def _by_errors(losses, is_asleep):
    """Return logarithms of shares (..., q, K) by the inverses of squared errors so far."""
    logs = np.where(is_asleep, -np.inf, -np.log(np.maximum(losses, _TINY)))
    nobody = is_asleep.all(axis=-1, keepdims=True)
    most = np.where(nobody, 0.0, logs.max(axis=-1, keepdims=True))
    shares = np.exp(logs - most).sum(axis=-1, keepdims=True)
    return logs - most - np.log(np.where(nobody, 1.0, shares))


def shares_of(weights, bands):
    """Return how far to go (..., q) from what all say to what others do, 0 where none are apart."""
    least = expit(-_SETTLED)
    share = np.clip((1.0 - weights[..., 0] - least) / (1.0 - 2.0 * least), 0.0, 1.0)
    return np.where(bands >= 0, share, 0.0)


def others_say(weights, F, together):
    """Return what is made (..., q) of what others say together and of what each says alone."""
    said = np.concatenate([np.expand_dims(together, -1), np.where(np.isnan(F), 0.0, F)], axis=-1)
    weights = weights[..., 1:]
    return (weights * said).sum(axis=-1) / np.maximum(weights.sum(axis=-1), _TINY)


def asked(known, means, F, together=None):
    """Return the shares (..., q) of rows by what is known, and what others say there.

    What they say `together` (..., q) is left out where it is not known yet.
    """
    bands, _ = octaves(known, means)
    if not (bands >= 0).any():
        return np.zeros(bands.shape), None
    weights = weights_of(known, means, F, bands)
    found = None if together is None else others_say(weights, F, together)
    return shares_of(weights, bands), found


def learn(state, means, F, y, weights=None, together=None):
    """Learn targets (n, q) of rows; return what is said of them as they came, and what is known.

    What others say `together` (n, q) counts in rows in which some are heard that part; where it is
    not known, NaN or None, their mean does.

    Returns
    -------
    Learnt
    """
    path, before = _usual_path(state["known"], means, y), state["past"]
    bands, sizes = octaves(path[:-1], means)
    delay, read = len(before), late(path[:-1], before)[0]
    asks = octaves(read, means)[0] if delay else bands
    shares, found = np.zeros(y.shape), np.zeros(y.shape)
    for i, j in np.argwhere((bands >= 0) | (asks >= 0)):
        row, said = means.row((i, j)), np.nan if together is None else together[i, j]
        if asks[i, j] >= 0:
            known = path[i - delay, j] if i >= delay else before[i, j]
            now = weights_of(known, row, F[i, j], asks[i, j])
            shares[i, j] = shares_of(now, asks[i, j])
            found[i, j] = others_say(now, F[i, j], said)
        if bands[i, j] >= 0:
            said = _said(row, F[i, j], said if shares[i, j] > 0.0 else np.nan)
            weight = 1.0 if weights is None else min(weights[i], 1.0)
            of_row = said, y[i, j], sizes[i, j], weight
            path[i + 1 :, j, _LIKELY:] = _moved(path[i, j, _LIKELY:], *of_row)
    known = {"known": path[-1].copy(), "past": late(path[:-1], before)[1]}
    return Learnt(shares, found, asks, known)


def after_row(known, means, F, y, weight, bands, sizes, together=None):
    """Return what is known after a row of targets (q,), as `learn` does.

    The octaves (q,) of `bands` and usual errors are those known before it; what others said
    `together` (q,) is NaN where it was not asked for.
    """
    if len(known) > FEW:
        now = _usual_path(known, means.row(None), y[None])[1]
    else:  # numbers cost less than arrays of a few
        of_row = map(np.ndarray.tolist, (*means[:-1], y, known[:, :_OFF]))
        now = known.copy()
        now[:, :_LIKELY] = [_after(*one) for one in zip(*of_row, strict=True)]
    if bands.item(bands.argmax()) < 0:
        return now
    for j in np.flatnonzero(bands >= 0):
        said = _said(means.row(j), F[j], np.nan if together is None else together[j])
        now[j, _LIKELY:] = _moved(known[j, _LIKELY:], said, y[j], sizes[j], min(weight, 1.0))
    return now


def _after(a, b, naive, lagless, y, known):
    """Return what is usual after a row of one target, all numbers, and the latest errors."""
    roots, rows, wrong = known
    least = _FAR * (roots / max(rows, 1.0)) ** 2
    root = sqrt(min([abs(one - y) for one in (a, b) if one == one]))  # not NaN
    wrong = _FADING * wrong + (abs(naive - y) > least)
    off = max([abs(one - y) for one in (b, naive) if one == one])
    both = [abs(one - y) for one in (lagless, naive) if one == one]
    off_lagless = max(both) if lagless == lagless else off
    return _FADING * roots + root, _FADING * rows + 1.0, wrong, off, off_lagless


def wait(state, n):
    """Let rounds pass that teach nothing yet, as labels are late."""
    known = np.broadcast_to(state["known"], (n, *state["known"].shape))
    state["past"] = late(known, state["past"])[1]


def _usual_path(known, means, y):
    """Return what is usual before each row and after the last, (n + 1, q, width).

    What is likely there is what it was before the first.
    """
    a, b, naive, lagless = (np.abs(part - y) for part in means[:-1])
    terms = np.ones((*y.shape, 2))
    np.sqrt(np.fmin(a, b), out=terms[..., 0])
    path = np.empty((len(y) + 1, *known.shape))
    path[...] = known
    path[..., :_WRONG] = faded(terms, known[:, :_WRONG], _FADING)
    wrong = (naive > _FAR * _sizes(path[:-1])).astype(float)
    path[..., _WRONG] = faded(wrong, known[:, _WRONG], _FADING)
    path[1:, :, _OFF] = off = np.fmax(naive, b)
    path[1:, :, _OFF_LAGLESS] = np.where(np.isnan(lagless), off, np.fmax(naive, lagless))
    return path


def _said(means, F, together):
    """Return forecasts (3 + K,) of a target: naive ones, of others together, and of each (K,).

    The first are those of all direct experts, and of those that have a say. Who has none, or none
    yet, is as good as all others together.
    """
    whole = means.b if np.isnan(together) else together
    said = np.concatenate([[means.naive, means.a, whole], F])
    return np.where(np.isnan(said), whole, said)


def nearness(octaves):
    """Return for how much each band (..., N_BANDS) counts what is of some octaves (...)."""
    above = np.expand_dims(octaves, -1) - np.arange(0, N_BANDS * _BAND, _BAND)
    return 0.5 ** np.maximum(np.maximum(-above, above - _BAND + 1), 0)


def bands_of(octaves):
    """Return the band of each octave, the first one where none is apart."""
    return np.maximum(octaves, 0) // _BAND


def octaves_of(ratios):
    """Return the octaves of distances over the least one, the last octave of all beyond it."""
    return np.log2(np.minimum(ratios, _FARTHEST)).astype(np.intp)


def _moved(likely, said, y, size, weight):
    """Return log-likelihoods, by bands, after a row of forecasts `said` (3 + K,).

    The band is that of how far the target was from naive forecasts or from what others said.
    """
    misses = np.abs(said - y) / size
    octave = int(np.log2(np.clip(max(misses[0], misses[2]) / _FAR, 1.0, _FARTHEST)))
    gains = -np.log(np.square(misses[1:]) + _WIDE**2)
    gains = weight * np.maximum(gains - gains.max(), -_MOST)
    near = nearness(octave)[:, None]
    likely = _LEFT**near * likely.reshape(N_BANDS, -1) + near * gains
    return np.maximum(likely - likely.max(axis=1, keepdims=True), -_LIMIT).ravel()
