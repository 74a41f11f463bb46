"""Probabilities of classes under the likelihoods of those who gave them, and the doubt in them.

In the log loss the mean of K experts' probabilities under their likelihoods is the aggregating
algorithm of V. Vovk, "Aggregating strategies", COLT 1990: it loses at most ln K more than the best
of them. It is the rule of Bayes.
"""

from itertools import pairwise

import numpy as np

from .._delay import late
from ..features._moments import faded


def scaled(P):
    """Return rows (n, C) scaled to sum to 1, NaN where they are no probabilities.

    These hold NaN or infinity, a negative number, or nothing but 0.
    """
    sums = P.sum(axis=1, keepdims=True)
    is_sane = (P >= 0.0).all(axis=1, keepdims=True) & (sums > 0.0) & np.isfinite(sums)
    return np.divide(P, sums, out=np.full(P.shape, np.nan), where=is_sane)


def or_equal(P):
    """Return rows (n, C), the same number for all classes where they are no probabilities."""
    return np.where(np.isnan(scaled(P)), 1.0 / P.shape[1], P)


def floored(P, doubts):
    """Return probabilities (n, ..., C) with a share of doubt (n,) spread over all classes."""
    shares = np.reshape(doubts, (-1, *[1] * (P.ndim - 1)))
    return (1.0 - shares) * P + shares / P.shape[-1]


def doubts(n_known, n_classes):
    """Return the share of doubt after so many rounds: that of an event that never happened."""
    return 1.0 / (np.maximum(n_known, 0) + n_classes)


def mean_under(known, P, absent=None):
    """Return the mean (n, C) of P (n, K, C), whose log-likelihoods are known, (K,) or (n, K)."""
    if absent is not None:
        known, P = np.where(absent, -np.inf, known), np.where(absent[..., None], 0.0, P)
    weights = np.exp(known - known.max(axis=-1, keepdims=True))
    weights /= weights.sum(axis=-1, keepdims=True)
    return (weights[..., None, :] @ P)[..., 0, :]


def learn_likelihoods(known, P, y, *, absent=None, fading=1.0, weights=None, past=()):
    """Learn rows in all of which the same experts are absent.

    Who is absent is charged what the mean loses, as specialists are: Y. Freund, R. E. Schapire,
    Y. Singer, M. K. Warmuth, "Using and combining predictors that specialize", STOC 1997.

    Parameters
    ----------
    known : ndarray of shape (K,)
        Logarithms of the likelihoods before the first of the rows.
    P : ndarray of shape (n, K, C)
        Probabilities, none of them 0.
    y : ndarray of int of shape (n,)
        Places of the classes.
    absent : ndarray of bool of shape (n, K), default=None
        Whose probabilities do not count, all rows alike. None: nobody is absent.
    fading : float, default=1.0
        Factor by which the logarithms fade per row.
    weights : float or ndarray of shape (n,), default=None
        Of the rows, in all losses.
    past : ndarray of shape (D, K), default=()
        What was known before each of the D rounds before them, where labels come so late.

    Returns
    -------
    means : ndarray of shape (n, C)
        By what was known, D rounds late, before each row.
    path : ndarray of shape (n + 1, K)
        Logarithms of the likelihoods before each row and after the last.
    """
    rows = np.arange(len(y))
    weights = 1.0 if weights is None else np.reshape(weights, (-1, 1))
    gains = np.log(P[rows, :, y]) * weights
    if absent is None:
        path = faded(gains, known, fading)
        return mean_under(late(path[:-1], past)[0], P), path
    path = faded(np.where(absent, 0.0, gains), known, fading)
    means = mean_under(late(path[:-1], past)[0], P, absent)
    charged = np.log(means[rows, y])[:, None] * weights
    return means, faded(np.where(absent, charged, gains), known, fading)


def runs_of(absent):
    """Return slices of rows in all of which the same experts are absent, of absent (n, K)."""
    changes = 1 + np.flatnonzero((absent[1:] != absent[:-1]).any(axis=1))
    ends = [0, *changes.tolist(), len(absent)]
    return [slice(low, high) for low, high in pairwise(ends)]
