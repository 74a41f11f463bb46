"""A chain of ridge regressions, each link of which learns what the links before it leave."""

import numpy as np

from .aggregation import boa


def boosted(Z, base, y, width, stride, alpha, first, share, delay=0, weights=None):
    """Return the forecasts (n,) of BOA over partial sums of a chain.

    The first rows are those of `base` alone; then its prior weight is 1 less a share, and that of
    all other sums the share.

    Z (K, n, D) are the features of K kernels, `width` of them beside each other a link. Ridge
    solutions are those of `delay` rounds before.
    """
    n_kernels, n, width_of_row = Z.shape
    weights = np.ones(n) if weights is None else weights
    A = np.tile(alpha * np.eye(width_of_row), (n_kernels, 1, 1))
    b = np.zeros((n_kernels, width_of_row))
    thetas = [np.zeros_like(b)] * (delay + 1)
    sums = np.empty((n, 1 + n_kernels // width))
    for t in range(n):
        known = thetas[-1 - delay]
        sums[t, 0] = base[t]
        for link in range(n_kernels // width):
            kernels = range(link * width, (link + 1) * width)
            step = np.mean([known[k] @ Z[k, t] for k in kernels])
            sums[t, link + 1] = sums[t, link] + step
            for k in kernels:
                A[k] += weights[t] * np.outer(Z[k, t], Z[k, t])
                b[k] += weights[t] * (y[t] - sums[t, link]) * Z[k, t]
        thetas.append(np.stack([np.linalg.solve(A[k], b[k]) for k in range(n_kernels)]))
    first += delay
    F, prior = sums[:, ::stride], np.full(1 + n_kernels // width // stride, share)
    prior[1:] /= len(prior) - 1
    prior[0] = 1.0 - share
    mixed = boa(F[first:], y[first:], prior=prior, late=delay, weights=weights[first:])[0]
    return np.append(base[:first], mixed)
