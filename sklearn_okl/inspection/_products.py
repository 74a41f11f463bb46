r"""Shapley values of products: each player has one factor in the row, another in the background.

The game of a coalition S is :math:`\prod_{j \in S} a_j \prod_{j \notin S} c_j`. Its Shapley value
is the integral of the derivative of its multilinear extension along the diagonal: G. Owen,
"Multilinear extensions of games", Management Science 18(5), 1972, equation (12),

.. math:: \phi_j = \int_0^1 (a_j - c_j) \prod_{k \neq j} (t a_k + (1 - t) c_k) \, dt ,

of a polynomial of degree d - 1 in t, which :math:`\lceil d / 2 \rceil` nodes of Gauss and Legendre
integrate without error. The products that leave one out are those of all before it and all after
it: nothing is divided by, so a factor may be 0.

Of waves, :math:`a_j = e^{i \alpha_j}` and :math:`c_j = e^{i \beta_j}`, with
:math:`\theta_j = \alpha_j - \beta_j` and :math:`u = 2 t - 1`,

.. math:: t a_j + (1 - t) c_j = e^{i (\alpha_j + \beta_j) / 2}
          (\cos \tfrac{\theta_j}2 + i u \sin \tfrac{\theta_j}2) ,

so that the nodes u and -u give conjugates: half of them are enough, and what is left is real.
"""

from functools import cache

import numpy as np

_ZERO = 1e-9  # nodes nearer to 0 are the one in the middle
_TILE = 1 << 15  # numbers of one array at a time: what the second cache holds
_LEAST = 1600  # of one player: smaller tiles are all calls


def product_values(A, C, coef):
    r"""Return the Shapley values of a sum of products, means over the rows of a background.

    Parameters
    ----------
    A : ndarray of shape (p, n, m)
        Factors of p players in n rows and m products, real or complex.
    C : ndarray of shape (p, b, m)
        Those in b rows of the background.
    coef : ndarray of shape (m, q)
        Coefficients of the products in each of q sums; of complex sums the real part counts.

    Returns
    -------
    values : ndarray of shape (n, p, q)

    Notes
    -----
    *Cost.* O(m p²) per row and row of the background, and memory for a tile of them.
    """
    nodes, weights = _rule(len(A))
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights

    def of_tile(a, c, coef):
        means = _means_of_products(a[:, :, None], c[:, None], nodes, weights)  # (p, n, m)
        return (means @ coef).real.swapaxes(0, 1)

    return _by_tiles(of_tile, A, C, coef)


def wave_values(A, C, coef):
    """Return the same where all factors are waves, twice as fast.

    A and C hold waves of half the angle, whose squares are the factors, and `coef` is complex.
    """
    nodes, weights = _rule(len(A))
    half = nodes > -_ZERO
    nodes, weights = nodes[half], weights[half] * np.where(nodes[half] > _ZERO, 1.0, 0.5)

    def of_tile(a, c, coef):
        n, b = a.shape[1], c.shape[1]
        integrals = _of_waves(a[:, :, None] * c[:, None].conj(), nodes, weights)  # (p, n, b, m)
        waves = a.prod(axis=0)[:, None] * c.prod(axis=0)  # (n, b, m)
        common = -2.0 / b * (waves[..., None] * coef).imag  # (n, b, m, q)
        integrals = integrals.swapaxes(0, 1).reshape(n, len(a), -1)
        return integrals @ common.reshape(n, -1, coef.shape[1])

    return _by_tiles(of_tile, A, C, coef)


@cache
def _rule(p):
    """Return nodes in (-1, 1) and weights that integrate polynomials of degree p - 1."""
    return np.polynomial.legendre.leggauss(max(1, (p + 1) // 2))


def _by_tiles(of_tile, A, C, coef):
    """Return the values (n, p, q) of all products, a few rows and products at a time."""
    (p, n, m), b = A.shape, C.shape[1]
    values = np.zeros((n, p, coef.shape[1]))
    if not p or not m:
        return values
    size = max(_TILE // p, _LEAST)
    n_rows = max(1, size // (b * m))
    n_products = min(m, max(1, size // (b * n_rows)))
    for low in range(0, n, n_rows):
        rows = slice(low, low + n_rows)
        for first in range(0, m, n_products):
            mine = slice(first, first + n_products)
            values[rows] += of_tile(A[:, rows, mine], C[:, :, mine], coef[mine])
    return values


def _of_waves(halves, nodes, weights):
    """Return the integrals (p, n, b, m) times the sines of half the angles between waves."""
    between, before = halves.copy(), np.empty_like(halves)
    sines, integrals = halves.imag.copy(), np.zeros(halves.shape)
    for node, weight in zip(nodes, weights, strict=True):
        np.multiply(sines, node, out=between.imag)
        before[0] = weight
        for j in range(1, len(halves)):
            np.multiply(before[j - 1], between[j - 1], out=before[j])
        after = between[-1].copy()
        integrals[-1] += before[-1].real
        for j in range(len(halves) - 2, -1, -1):
            before[j] *= after
            integrals[j] += before[j].real
            after *= between[j]
    integrals *= sines
    return integrals


def _means_of_products(a, c, nodes, weights):
    """Return the values (p, n, m) of factors a (p, n, 1, m), c (p, 1, b, m), means over b."""
    steps = a - c
    integrals = np.zeros_like(steps)
    before = np.empty_like(steps)
    for node, weight in zip(nodes, weights, strict=True):
        between = node * steps
        between += c
        before[0] = weight
        for j in range(1, len(steps)):
            np.multiply(before[j - 1], between[j - 1], out=before[j])
        after = between[-1].copy()
        integrals[-1] += before[-1]
        for j in range(len(steps) - 2, -1, -1):
            before[j] *= after
            integrals[j] += before[j]
            after *= between[j]
    integrals *= steps
    return integrals.mean(axis=2)
