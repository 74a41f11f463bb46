r"""Direct experts and all others that are suddenly far apart: odds by how far say who is right.

A naive forecast, such as the latest value, is hard to beat until the inputs show that a target will
jump. Then it is as far off as the others were in the rows in which they had yet to learn, and who
has lost less so far does not tell who is right now. What tells is who was in rows like this one:
in which the two, both right in the row before, have parted by about as much.

With a and b the means of both under the likelihoods that fade most slowly, and s what the better
one usually misses, a row is such a one if :math:`|a - b| > 8 s` and neither was off by as much in
the latest row. By the octave of :math:`|a - b| / s` it has log odds that the others are right: at
first 0, so that half of the way is gone. When the target comes they move by

.. math:: \ln \frac{(y - a)^2 + (3 s)^2}{(y - b)^2 + (3 s)^2},

the likelihood ratio of Cauchy errors, within 6, and by halves of it for each octave away. So what
is rare is soon known, and a fault, from which both are as far, says nothing. What is known fades
with rows of its kind.
"""

from math import sqrt

import numpy as np
from scipy.special import expit

from .._delay import as_it_was, late
from ..features._moments import faded
from ._fading_means import means_of

N_OCTAVES = 12
_FADING = 0.99  # of what is usually missed
_KNOWN = 7.5  # faded rows from which on that is known: eight have come
_FAR = 8.0  # usual errors from which on a and b are far apart
_WIDE = 3.0  # usual errors in the scale of the Cauchy distribution
_MOST = 6.0  # log odds that a row moves them by at most
_LIMIT = 8.0  # and that they are at most
_LEFT = 0.95  # of odds, when another row of their octave has come
_SETTLED = 4.0  # log odds from which on only one of the two is heard
_ROOTS, _ROWS, _OFF = N_OCTAVES, N_OCTAVES + 1, N_OCTAVES + 2  # places behind the odds


def start(n_targets, delay):
    """Return what is known before the first row: odds, what is usual, and the latest error."""
    known = np.zeros((n_targets, N_OCTAVES + 3))
    return {"known": known, "past": np.repeat(known[None], delay, axis=0)}


def known_ago(state, ago):
    """Return what was known (q, N_OCTAVES + 3) some rounds ago."""
    return as_it_was(state["known"], state["past"], ago)


def two_means(F, losses, rounds, n_direct):
    """Return the means (..., q) of direct experts and of all others, NaN where there are none.

    Of forecasts F (..., q, K), NaN of who sleeps, the first ones direct, by faded sums of squares
    (..., q, K) and their counts (..., q, 1).
    """
    found = []
    for part in (slice(0, n_direct), slice(n_direct, None)):
        there = ~np.isnan(F[..., part]).all(axis=-1)
        mean = np.full(there.shape, np.nan)
        mean[there] = means_of(F[..., part][there], losses[..., part][there], rounds[there])
        found.append(mean)
    return found


def shares(known, a, b):
    """Return how far to go (..., q) from what all say to what the others do, 0 where not apart.

    The means a and b (..., q) are NaN where there is nobody; what is `known` is of each.
    """
    octaves, _ = _octaves(known, a, b)
    if not (octaves >= 0).any():
        return np.zeros(octaves.shape)
    odds = np.broadcast_to(known, (*octaves.shape, known.shape[-1]))
    odds = np.take_along_axis(odds, np.maximum(octaves, 0)[..., None], axis=-1)[..., 0]
    least = expit(-_SETTLED)
    share = np.clip((expit(odds) - least) / (1.0 - 2.0 * least), 0.0, 1.0)
    return np.where(octaves >= 0, share, 0.0)


def learn(state, a, b, y, weights=None):
    """Learn targets (n, q); return shares (n, q) of rows as they came, and what is known then."""
    path = _path(state["known"], a, b, y, weights)
    known, past = late(path[:-1], state["past"])
    return shares(known, a, b), {"known": path[-1].copy(), "past": past}


def after_row(known, a, b, y, weight):
    """Return what is known after a row of targets (q,), as `learn` does."""
    now = known.copy()
    of_each = zip(a.tolist(), b.tolist(), y.tolist(), known[:, _ROOTS:].tolist(), strict=True)
    # numbers cost less than arrays of a few
    now[:, _ROOTS:] = [_after(*one) for one in of_each]
    if np.isnan(a).all():
        return now
    octaves, sizes = _octaves(known, a, b)
    misses = np.abs(np.stack([a, b]) - y)
    for j in np.flatnonzero(octaves >= 0):
        of_target = known[j, :N_OCTAVES], octaves[j], misses[:, j] / sizes[j], min(weight, 1.0)
        now[j, :N_OCTAVES] = _moved(*of_target)
    return now


def _after(a, b, y, known):
    """Return what is usual after a row of one target, all of them numbers."""
    misses = [abs(one - y) for one in (a, b) if one == one]  # not NaN
    roots, rows, _ = known
    return _FADING * roots + sqrt(min(misses)), _FADING * rows + 1.0, max(misses)


def wait(state, n):
    """Let rounds pass that teach nothing yet, as labels are late."""
    known = np.broadcast_to(state["known"], (n, *state["known"].shape))
    state["past"] = late(known, state["past"])[1]


def _path(known, a, b, y, weights):
    """Return what is known before each row and after the last, (n + 1, q, N_OCTAVES + 3)."""
    misses = np.abs(np.stack([a, b]) - y)
    terms = np.ones((*y.shape, 2))
    np.sqrt(np.fmin(*misses), out=terms[..., 0])
    path = np.empty((len(y) + 1, *known.shape))
    path[...] = known
    path[..., _ROOTS:_OFF] = faded(terms, known[:, _ROOTS:_OFF], _FADING)
    path[1:, :, _OFF] = np.fmax(*misses)
    octaves, sizes = _octaves(path[:-1], a, b)
    for i, j in np.argwhere(octaves >= 0):
        weight = 1.0 if weights is None else min(weights[i], 1.0)
        odds = _moved(path[i, j, :N_OCTAVES], octaves[i, j], misses[:, i, j] / sizes[i, j], weight)
        path[i + 1 :, j, :N_OCTAVES] = odds
    return path


def _moved(odds, octave, misses, weight):
    """Return the odds (N_OCTAVES,) after a row in which the two missed so many usual errors."""
    first, other = np.log(np.square(misses) + _WIDE**2)
    near = 0.5 ** np.abs(np.arange(N_OCTAVES) - octave)
    gain = weight * np.clip(first - other, -_MOST, _MOST)
    return np.clip(_LEFT**near * odds + near * gain, -_LIMIT, _LIMIT)


def _octaves(known, a, b):
    """Return the octaves (..., q) in which a and b are apart, -1 where not, and usual errors."""
    roots, rows, off = (known[..., place] for place in (_ROOTS, _ROWS, _OFF))
    sizes = np.square(roots / np.maximum(rows, 1.0))
    far = _FAR * sizes
    with np.errstate(invalid="ignore", over="ignore"):
        distances = np.abs(a - b)
        are_apart = (rows >= _KNOWN) & (sizes > 0.0) & (off <= far)
        are_apart = are_apart & (distances > far)
        ratios = np.where(are_apart, distances, 1.0) / np.where(are_apart, far, 1.0)
    octaves = np.minimum(np.log2(ratios), N_OCTAVES - 1.0).astype(np.intp)
    return np.where(are_apart, octaves, -1), sizes
