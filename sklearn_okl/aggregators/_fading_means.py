"""Means under likelihoods that fade: dynamic model averaging, with one variance for all experts."""

import numpy as np

from .._delay import as_it_was, late
from ..features._moments import faded

_TINY = np.finfo(float).tiny


def start_likelihoods(n_experts, delay):
    """Return the state of likelihoods that fade, before the first row."""
    return {
        "losses": np.zeros(n_experts),
        "rounds": np.zeros(1),
        "past": {"losses": np.zeros((delay, n_experts)), "rounds": np.zeros((delay, 1))},
    }


def learn_likelihoods(state, squares, fading, weights=None):
    """Learn squared errors (n, K); return the faded sums (n, K) and counts (n, 1) read by each.

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
    """Return the faded sums (K,) and counts (1,) known some rounds ago."""
    return [as_it_was(state[name], past, ago) for name, past in state["past"].items()]


def likelihood_paths(state, squares, fading, weights=None):
    terms = {"losses": squares, "rounds": np.ones((len(squares), 1))}
    if weights is not None:
        terms = {name: term * weights[:, None] for name, term in terms.items()}
    return {name: faded(term, state[name], fading) for name, term in terms.items()}


def means_of(F, losses, rounds):
    """Return the means (n,) of forecasts F (n, K) under the likelihoods of those who are awake."""
    asleep = np.isnan(F)
    weights = likelihoods_of(np.where(asleep, np.inf, losses), rounds)
    return np.einsum("nk,nk->n", weights, np.where(asleep, 0.0, F)) / weights.sum(axis=1)


def likelihoods_of(losses, rounds):
    """Return likelihoods (n, K), the best one 1, of faded sums of squares and their counts."""
    least = losses.min(axis=1, keepdims=True)
    with np.errstate(over="ignore"):  # beside an expert without fault nobody else counts
        excess = (losses - least) / np.maximum(least, _TINY)
        return np.exp(-0.5 * np.maximum(rounds, _TINY) * excess)
