"""Dictionaries row by row: approximate linear dependence, KORS, and the first rows.

A kernel is a function of two arrays of rows. Each function returns the indices of its atoms.
"""

import numpy as np


def ald_novelty(kernel, K_atoms, atoms, x):
    """Li, Liao (2023), eq. (4): squared distance of k(x, .) to the atoms' span."""
    size = kernel(x[None], x[None])[0, 0]
    if len(atoms) == 0:
        return size
    k = kernel(atoms, x[None])[:, 0]
    beta = np.linalg.solve(K_atoms, k)
    return size - k @ beta


def ald(kernel, X, novelty, chosen=()):
    """Li, Liao (2023), eq. (4) and (5): K_S solved afresh for each row, from given atoms on."""
    chosen = list(chosen)
    K_atoms = kernel(X[chosen], X[chosen]) if chosen else np.empty((0, 0))
    for t in range(max(chosen, default=-1) + 1, len(X)):
        if ald_novelty(kernel, K_atoms, X[chosen], X[t]) > novelty:
            chosen.append(t)
            K_atoms = kernel(X[chosen], X[chosen])
    return chosen


def kors(kernel, X, mu, beta, eps, uniforms):
    """Jézéquel et al. (2019), function KORS of Appendix H.2, with 1/sqrt(p) in place of 1/p.

    One uniform number per row decides in place of a binomial draw; the first row enters for sure.
    Returns the indices and every row's probability.
    """
    chosen, scales, probabilities = [], [], np.empty(len(X))
    for t in range(len(X)):
        rows, S = X[[*chosen, t]], np.array([*scales, 1.0])  # the row itself at weight 1
        K = kernel(rows, rows)
        M = S[:, None] * K * S + mu * np.eye(len(S))
        kS = S * K[:, -1]
        tau = (1 + eps) / mu * (K[-1, -1] - kS @ np.linalg.solve(M, kS))
        p = min(beta * tau, 1.0) if chosen else 1.0
        probabilities[t] = p
        if uniforms[t] < p:
            chosen.append(t)
            scales.append(1 / np.sqrt(p))
    return chosen, probabilities


def first_rows(X, budget):
    """Lu et al. (2016): the first rows, each only once."""
    chosen = []
    for t, x in enumerate(X):
        if len(chosen) < budget and not any(np.array_equal(x, X[s]) for s in chosen):
            chosen.append(t)
    return chosen


def projected(kernel, X, atoms):
    """The matrix of the projections onto the atoms' span, K_XS K_S^-1 K_SX."""
    K = kernel(X, atoms)
    return K @ np.linalg.solve(kernel(atoms, atoms), K.T)
