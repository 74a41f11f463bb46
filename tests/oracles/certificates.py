"""Regret against the best in hindsight from whole streams: no recursion, all rows kept."""

import numpy as np


def ridge(Z, y, alpha, weights=None):
    """Return the minimiser of the weighted squares and the ridge, and the least value."""
    w = np.ones(len(y)) if weights is None else weights
    root = np.sqrt(w)[:, None]
    rows = np.vstack([root * Z, np.sqrt(alpha) * np.eye(Z.shape[1])])
    targets = np.concatenate([root[:, 0] * y, np.zeros(Z.shape[1])])
    u = np.linalg.lstsq(rows, targets, rcond=None)[0]
    return u, float(np.sum((targets - rows @ u) ** 2))


def regrets_of_experts(F, y, forecasts):
    """Return the regrets (K,) against experts in squared errors, in rounds with them awake."""
    found = np.zeros(F.shape[1])
    for f, target, forecast in zip(F, y, forecasts, strict=True):
        for k, one in enumerate(f):
            if not np.isnan(one):
                found[k] += (target - forecast) ** 2 - (target - one) ** 2
    return found
