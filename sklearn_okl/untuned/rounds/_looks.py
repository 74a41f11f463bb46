"""Whether the rows explain the latest errors: then what was learnt before holds no longer.

A change of the function need not make errors larger. While rows of an old and of a new function
alternate their mean is learnt, and errors are as large when the old one has ceased. But then they
depend on the rows, as those of a function that is known do not.
"""

import numpy as np
from scipy.linalg import solve_triangular

from ..._types import Any, Array, ArrayLike

_LEAST = 1e-12  # share of the squares that is left


def nats_of_change(Z: ArrayLike, errors: ArrayLike, weights: Any = None) -> Array:
    """Return what errors (n, q) of rows (n, D) say for a change, in nats (4,).

    Of all n rows, and of the latest half, quarter and eighth of them; of the target for which it is
    most in the best of these.

    The logarithm of a Bayes factor: errors that are normal and of one size s, against those to
    which a function theta' z adds, theta normal with s^2 in each of its parts, that is one as large
    as the errors. Both leave s open, with the prior 1 / s. So the units of the errors do not
    matter, and of streams without a change one in exp(a) at most has more than a nats in a look
    (Pérez-Ortiz, Lardy, de Heide, Grünwald, "E-statistics, group invariance and anytime-valid
    testing", Annals of Statistics 52, 2024: this factor is an e-statistic).
    """
    if weights is not None:
        roots = np.sqrt(weights)[:, None]
        Z, errors = Z * roots, errors * roots
    n, high = len(Z), len(Z)
    A, b, squares, nats = np.eye(Z.shape[1]), 0.0, 0.0, []
    for part in (n // 8, n // 4, n // 2, n):
        rows, high = slice(n - part, high), n - part
        A = A + Z[rows].T @ Z[rows]
        b, squares = b + Z[rows].T @ errors[rows], squares + np.square(errors[rows]).sum(axis=0)
        L = np.linalg.cholesky(A)
        explained = np.square(solve_triangular(L, b, lower=True)).sum(axis=0)
        shares = np.divide(explained, squares, out=np.zeros_like(squares), where=squares > 0.0)
        left = np.maximum(1.0 - shares, _LEAST)
        nats.append(-np.log(np.diag(L)).sum() - 0.5 * part * np.log(left))
    nats = np.array(nats[::-1])
    return nats[:, nats.max(axis=0).argmax()]
