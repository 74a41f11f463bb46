"""Means under likelihoods that fade: dynamic model averaging, with one variance for all experts."""

import numpy as np
from scipy.special import expit

from .._delay import as_it_was, late
from .._linalg import least
from ..features._moments import faded

_TINY = float(np.finfo(float).tiny)
FEW = 8  # targets up to which numbers cost less than arrays of a few


def start_likelihoods(n_targets, n_experts, delay):
    """Return the state of likelihoods that fade, those of each target, before the first row."""
    shapes = {"losses": (n_targets, n_experts), "rounds": (n_targets, 1)}
    past = {name: np.zeros((delay, *shape)) for name, shape in shapes.items()}
    return {name: np.zeros(shape) for name, shape in shapes.items()} | {"past": past}


def learn_likelihoods(state, squares, fading, weights=None):
    """Learn squared errors (n, q, K); return faded sums (n, q, K) and counts (n, q, 1) for each.

    Rows of weights (n,) count as much; with any weight, a row lets the past fade.
    """
    paths = likelihood_paths(state, squares, fading, weights)
    known = []
    for name, path in paths.items():
        state[name] = path[-1]
        read, state["past"][name] = late(path[:-1], state["past"][name])
        known.append(read)
    return known


def known_likelihoods(state, ago=0):
    """Return the faded sums (q, K) and counts (q, 1) known some rounds ago."""
    return [as_it_was(state[name], past, ago) for name, past in state["past"].items()]


def likelihood_paths(state, squares, fading, weights=None):
    terms = {"losses": squares, "rounds": np.ones((*squares.shape[:-1], 1))}
    if weights is not None:
        terms = {name: term * weights[:, None, None] for name, term in terms.items()}
    return {name: faded(term, state[name], fading) for name, term in terms.items()}


def means_of(F, losses, rounds):
    """Return the means (n, q) of forecasts F (n, q, K) under the likelihoods of who is awake."""
    asleep = np.isnan(F)
    if np.logical_or.reduce(asleep, axis=None):
        losses, F = np.where(asleep, np.inf, losses), np.where(asleep, 0.0, F)
    weights = likelihoods_of(losses, rounds)
    return np.einsum("...k,...k->...", weights, F) / np.add.reduce(weights, axis=-1)


def likelihoods_of(losses, rounds):
    """Return likelihoods (..., K), the best one 1, of faded sums of squares and their counts."""
    with np.errstate(over="ignore"):  # beside an expert without fault nobody else counts
        return np.exp(log_likelihoods_of(losses, rounds))


def log_likelihoods_of(losses, rounds):
    """Return the logarithms of `likelihoods_of`; numbers may overflow."""
    best = least(losses)
    excess = losses - best
    excess /= np.maximum(best, _TINY)
    excess *= -0.5 * np.maximum(rounds, _TINY)
    return excess


def share_of_second(losses, rounds):
    """Return the share (q,) that the second of two has by its likelihood; numbers may overflow.

    Of faded sums of squares (q, 2) and their counts (q,).
    """
    if len(losses) <= FEW:
        of_targets = zip(losses.tolist(), rounds.tolist(), strict=True)
        return expit(np.array([_odds_of_second(*one, n) for one, n in of_targets]))
    first, second = losses[:, 0], losses[:, 1]
    excess = second - first
    excess /= np.maximum(np.minimum(first, second), _TINY)
    excess *= -0.5 * np.maximum(rounds, _TINY)
    return expit(excess, out=excess)


def _odds_of_second(first, second, n):
    """Return the log odds of the second of two, all of it numbers."""
    return (second - first) / max(min(first, second), _TINY) * (-0.5 * max(n, _TINY))
