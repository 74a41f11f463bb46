r"""Shapley values of products: each player has one factor in the row, another in the background.

The game of a coalition S is :math:`\prod_{j \in S} a_j \prod_{j \notin S} c_j`. Its Shapley value
is the integral of the derivative of its multilinear extension along the diagonal: G. Owen,
"Multilinear extensions of games", Management Science 18(5), 1972, equation (12),

.. math:: \phi_j = \int_0^1 (a_j - c_j) \prod_{k \neq j} (t a_k + (1 - t) c_k) \, dt ,

of a polynomial of degree d - 1 in t, which :math:`\lceil d / 2 \rceil` nodes of Gauss and Legendre
integrate without error. The products that leave one out are those of all before it and all after
it: nothing is divided by, so a factor may be 0.
"""

import numpy as np

_TILE = 1 << 16  # numbers of one array at a time: what the second cache holds


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
    p, n, m = A.shape
    b = C.shape[1]
    values = np.zeros((n, p, coef.shape[1]))
    if not p or not m:
        return values
    nodes, weights = np.polynomial.legendre.leggauss((p + 1) // 2)
    nodes, weights = 0.5 * (nodes + 1.0), 0.5 * weights
    n_rows = max(1, _TILE // (p * b * m))
    n_products = min(m, max(1, _TILE // (p * b * n_rows)))
    for low in range(0, n, n_rows):
        rows = slice(low, low + n_rows)
        for first in range(0, m, n_products):
            products = slice(first, first + n_products)
            of_row, of_others = A[:, rows, None, products], C[:, None, :, products]
            means = _of_tile(of_row, of_others, nodes, weights)  # (p, n, m)
            values[rows] += (means @ coef[products]).real.swapaxes(0, 1)
    return values


def _of_tile(a, c, nodes, weights):
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
