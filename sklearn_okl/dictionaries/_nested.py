r"""Dictionaries of rows: the basis that they span.

A basis of J atoms S gives a row x the coordinates :math:`\varphi(x) = L^{-1} k_S(x)`, with L the
Cholesky factor of the atoms' kernel matrix, so that :math:`\varphi(x)^T \varphi(x')` is the kernel
of the projections onto their span. It is nested: a new atom appends a coordinate and leaves the
others as they are.

Here a basis is a dict of arrays, part of an estimator's state, which its copies share: an atom more
makes new arrays. What enters a dictionary is computed row by row; blocks only find out which row is
the first to enter.
"""

import numpy as np
from scipy.linalg.lapack import dtrtrs

from .._tail import Shared

CLOSE = 1e-9  # statistics as near as this to a threshold are computed again, row by row
JITTER = 1e-13  # share of k(x, x) that a new atom adds to its pivot
DEPENDENT = 1e-10  # distances below this share of k(x, x) are rounding: the row is in the span


def start_basis(n_features):
    """Return a basis without atoms."""
    return Shared(atoms=np.empty((0, n_features)), factor=np.empty((0, 0)))


def coordinates(kernel, basis, X):
    """Return where rows lie in a basis, and how far from its span.

    Parameters
    ----------
    kernel : sklearn_okl.kernels.Kernel
    basis : dict
    X : ndarray of shape (n, d)

    Returns
    -------
    Phi : ndarray of shape (n, J)
        Coordinates, a row each.
    distances : ndarray of shape (n,)
        Squared distance of k(x, .) to the span of the atoms.
    """
    Phi = half_solved(basis["factor"], kernel(X, basis["atoms"]))
    return Phi, rest_of(kernel.diagonal(X), Phi)


def dual(basis, theta):
    """Return coefficients (J,) or (J, q) of the atoms' kernel functions that make up theta."""
    if len(theta) == 0:
        return theta.copy()
    return dtrtrs(basis["factor"].T, theta, lower=0)[0].reshape(theta.shape)


def first_novel(kernel, basis, X, distances, novelty):
    """Return the first row farther than `novelty` from the span, or the number of rows.

    `distances` are those of `coordinates`. The answer is that of rows met one by one, whatever the
    rounding of a block. A row is never novel when its distance is below `DEPENDENT` times k(x, x),
    as rounding alone would make it; with `novelty` 0 this is the only condition.
    """
    sizes = kernel.diagonal(X)
    thresholds = np.maximum(novelty, DEPENDENT * sizes)
    close = np.minimum(CLOSE * np.maximum(sizes, 1.0), thresholds / 2)
    for i in np.flatnonzero(distances > thresholds - close).tolist():
        distance = distances[i]
        if distance <= thresholds[i] + close[i]:
            distance = coordinates(kernel, basis, X[i : i + 1])[1][0]
        if distance > thresholds[i]:
            return i
    return len(X)


def grow_basis(kernel, basis, x):
    """Add the row x, which must not lie in the span; return its coordinates (J + 1,).

    The factor is that of the kernel matrix with `JITTER` times its diagonal added, which moves the
    kernel of the projections by as much. Without it pivots of 1e-8 k(x, x) already let the rounding
    of the atoms' kernel matrix grow to multiples of k(x, x): its smallest eigenvalue is far less
    than the smallest pivot.
    """
    Phi, distances = coordinates(kernel, basis, x[None])
    pivot = np.sqrt(distances[0] + JITTER * kernel.diagonal(x[None])[0])
    basis["atoms"] = np.vstack([basis["atoms"], x])
    basis["factor"] = bordered(basis["factor"], np.append(Phi[0], pivot))
    return np.append(Phi[0], distances[0] / pivot)


def span_of(kernel, rows):
    """Return the nested basis of rows (B, d), and their coordinates (B, J) in it.

    It is met row by row, in order: a row in the span of those before it brings no coordinate.
    """
    gram = kernel(rows, rows)
    Phi, entered = np.zeros_like(gram), []
    for t, size in enumerate(np.diagonal(gram).tolist()):
        m = len(entered)
        novel = gram[t:, t] - Phi[t:, :m] @ Phi[t, :m]
        if novel[0] > DEPENDENT * size:
            novel[0] += JITTER * size
            Phi[t:, m] = novel / np.sqrt(novel[0])
            entered.append(t)
    Phi = Phi[:, : len(entered)].copy()
    return Shared(atoms=rows[entered], factor=Phi[entered]), Phi


def half_solved(factor, K):
    """Return V (n, J) with V' = factor^-1 K', for kernel values K (n, J)."""
    if len(factor) == 0:
        return np.empty((len(K), 0))
    solved, failed = dtrtrs(factor.T, K.T, lower=0, trans=1)  # C order read as transposes
    if failed:
        raise np.linalg.LinAlgError("The factor of a dictionary has a zero on its diagonal.")
    return solved.T


def rest_of(sizes, V):
    return np.maximum(sizes - np.einsum("ij,ij->i", V, V), 0.0)


def bordered(factor, row):
    """Append a last row to a lower triangular factor."""
    if not np.isfinite(row.sum()):
        raise np.linalg.LinAlgError("Overflow in the factor of a dictionary.")
    size = len(row)
    bordered = np.zeros((size, size))
    bordered[:-1, :-1] = factor
    bordered[-1] = row
    return bordered
