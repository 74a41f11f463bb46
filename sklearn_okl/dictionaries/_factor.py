"""A Cholesky factor that grows by blocks of rows, in panels.

A factor L is a dict: "full", a tuple of panels (below (64, s), corner (64, 64)), where rows s to
s + 64 of L are [below, corner]; and "below" and "corner", the panel that still grows. What is in
the tuple never changes and need not be copied.
"""

import numpy as np
from scipy.linalg.lapack import dtrtrs

PANEL = 64  # rows learnt at once, and rows of the factor that lie together


def start_factor():
    """Return the factor of a matrix without rows."""
    return {"full": (), "below": np.empty((0, 0)), "corner": np.empty((0, 0))}


def _panels(factor):
    """Return all panels of a factor, the growing one, which may be empty, last."""
    return (*factor["full"], (factor["below"], factor["corner"]))


def is_sound(factor):
    """Tell whether panels go together, as those of a file may not."""
    low, panels = 0, _panels(factor)
    for below, corner in panels:
        size = len(corner)
        if np.shape(below) != (size, low) or np.shape(corner) != (size, size):
            return False
        low += size
    sizes = [len(corner) for _, corner in panels]
    return sizes[-1] < PANEL and all(size == PANEL for size in sizes[:-1])


def half_solved(factor, K):
    """Overwrite K (t, n) with L^-1 K, and return it."""
    low = 0
    for below, corner in _panels(factor):
        high = low + len(corner)
        if high > low:
            K[low:high] = solve_lower(corner, K[low:high] - below @ K[:low])
        low = high
    return K


def back_solved(factor, white):
    """Return L'^-1 white, for white (t,) or (t, q)."""
    coef = white.copy()
    high = len(coef)
    for below, corner in reversed(_panels(factor)):
        low = high - len(corner)
        if high > low:
            solved = dtrtrs(corner.T, coef[low:high], lower=0)[0]
            coef[low:high] = solved.reshape(coef[low:high].shape)
            coef[:low] -= below.T @ coef[low:high]
        high = low
    return coef


def extend(factor, V, M):
    """Append rows [V', M] to L; they do not cross the end of a panel."""
    below, corner = factor["below"], factor["corner"]
    grown, n = len(corner), len(M)
    split = len(V) - grown  # columns of the full panels
    size = grown + n
    wider = np.zeros((size, size))
    wider[:grown, :grown] = corner
    wider[grown:, :grown] = V[split:].T
    wider[grown:, grown:] = M
    below = np.concatenate([below, V[:split].T])
    if size < PANEL:
        factor.update(below=below, corner=wider)
    else:
        factor["full"] += ((below, wider),)
        factor.update(below=np.empty((0, split + size)), corner=np.empty((0, 0)))


def solve_lower(L, B):
    """Return L^-1 B for a lower triangular L (n, n) in C order."""
    return dtrtrs(L.T, B, lower=0, trans=1)[0]


def corner_factor(gram, V, ridges):
    """Return the lower Cholesky factor of gram + diag(ridges) - V'V, no pivot below its ridge."""
    gram = gram + np.diag(ridges) - V.T @ V
    try:
        return np.linalg.cholesky(gram)
    except np.linalg.LinAlgError:
        pass  # a kernel rounded by more than the ridge
    M = np.zeros_like(gram)
    for i, row in enumerate(gram):
        if i > 0:
            M[i, :i] = solve_lower(M[:i, :i].copy(), row[:i])
        M[i, i] = np.sqrt(max(row[i] - M[i, :i] @ M[i, :i], ridges[i]))
    return M
