"""Gaps in numbers are filled by what the other columns of the row say of them.

That is the conditional mean of a Gaussian whose correlations are those of the rows before, as in
the first step of A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data
via the EM algorithm", Journal of the Royal Statistical Society B 39(1), 1977. Before there are any,
and where there are too many columns, it is the running mean. What remains unknown is said too: the
conditional variance, by which features of a kernel are averaged, see `MaskedFeatures`.
"""

import numpy as np

from ..._linalg import ROUNDING

_BLOCK = 64  # rows after which correlations are taken anew
_WIDEST = 64  # columns up to which there are any
_RIDGE = 0.002  # for numerical reasons: a column may be the sum of others
_RIDGE_OF_FEW = 10.0  # over the number of rows
_CLIP = 5.0  # standard deviations


class GapFiller:
    """Fills gaps; what it knows begins with the first one.

    Parameters
    ----------
    delay : int
        How many rounds late a row's correlations are, as labels come so late.
    """

    def __init__(self, delay=0):
        self.delay = delay

    def learn(self, state, X, known):
        """Learn rows (n, d); return them without gaps, by what was known before each.

        Parameters
        ----------
        state : dict
            Empty before the first gap.
        X : ndarray of shape (n, d)
        known : ndarray of shape (n, 2, d)
            The centre and the scale of each column before each row.

        Returns
        -------
        X : ndarray of shape (n, d)
        spreads : ndarray of shape (n, d) or None
            Variances of what was filled in, in squared scales, 0 elsewhere; None without gaps.
        """
        gaps, is_first = np.isnan(X), not state
        has_gaps = np.logical_or.reduce(gaps, axis=None)
        if is_first and not has_gaps:
            return X, None
        if X.shape[1] > _WIDEST:
            return np.where(gaps, known[:, 0], X), _unknown(known, gaps)
        if is_first:
            d = X.shape[1]
            state.update(n=0, folded=0, products=np.zeros((d, d)), rows=np.zeros((0, d)))
        low = int(gaps.any(axis=1).argmax()) if is_first else 0
        Z, spreads = _standardised(X, known, gaps), _unknown(known, gaps)
        while low < len(X):
            n_known = max(state["n"] - self.delay, 0)
            until = _BLOCK - n_known % _BLOCK + max(self.delay - state["n"], 0)
            rows = slice(low, min(low + until, len(X)))
            while state["folded"] + _BLOCK <= n_known:
                block = state["rows"][:_BLOCK]
                state["products"] = state["products"] + block.T @ block
                state["rows"] = state["rows"][_BLOCK:].copy()
                state["folded"] += _BLOCK
            _fill(Z[rows], spreads[rows], gaps[rows], state["products"], state["folded"])
            state["rows"] = np.concatenate([state["rows"], Z[rows]])
            state["n"] += rows.stop - low
            low = rows.stop
        return _in_units(X, Z, known, gaps), spreads if has_gaps else None

    def look(self, state, X, known, ago=0):
        """Return rows without gaps, each as if the next, by what was known some rounds ago.

        And the variances of what was filled in, as `learn` does.
        """
        gaps = np.isnan(X)
        if not np.logical_or.reduce(gaps, axis=None):
            return X, None
        known = np.broadcast_to(known, (len(X), 2, X.shape[1]))
        Z, spreads = _standardised(X, known, gaps), _unknown(known, gaps)
        if state:
            n_known = np.maximum(state["n"] - np.broadcast_to(ago, len(X)), 0)
            n_blocks = (n_known - state["folded"]) // _BLOCK
            for number in np.unique(n_blocks).tolist():
                products, mine = state["products"], n_blocks == number
                for k in range(number):
                    block = state["rows"][k * _BLOCK : (k + 1) * _BLOCK]
                    products = products + block.T @ block
                part, variances = Z[mine], spreads[mine]
                n = state["folded"] + max(number, 0) * _BLOCK
                _fill(part, variances, gaps[mine], products, n)
                Z[mine], spreads[mine] = part, variances
        return _in_units(X, Z, known, gaps), spreads


def is_sound(state):
    """Tell whether what fills gaps, as from a file, may be of rows that were counted."""
    products, rows, folded = state["products"], state["rows"], state["folded"]
    d, most = len(products), _CLIP**2 * folded
    return bool(
        products.shape == (d, d)
        and rows.shape == (state["n"] - folded, d)
        and folded % _BLOCK == 0
        and (np.abs(rows) <= _CLIP).all()
        and (np.abs(products) <= most).all()
        and (np.abs(products - products.T) <= ROUNDING * most).all()
        and np.linalg.eigvalsh(products).min(initial=0.0) >= -ROUNDING * d * most
    )


def _standardised(X, known, gaps):
    scales = known[:, 1]
    there = ~gaps & (scales > 0.0)
    Z = np.divide(X - known[:, 0], scales, out=np.zeros_like(X), where=there)
    return np.clip(Z, -_CLIP, _CLIP)


def _unknown(known, gaps):
    """Return the variances of gaps of which nothing is known: 1 where a column has a scale."""
    return (gaps & (known[:, 1] > 0.0)).astype(np.float64)


def _in_units(X, Z, known, gaps):
    return np.where(gaps, known[:, 0] + known[:, 1] * Z, X)


def _fill(Z, spreads, gaps, products, n):
    """Put conditional means into the gaps of standardised rows, which are 0 there.

    And conditional variances into their spreads.
    """
    rows = np.flatnonzero(gaps.any(axis=1))
    if not n or not len(rows):
        return
    there = ~gaps[rows]
    K = products / n
    of_known = K * there[:, :, None]  # (r, d, d): of the values that are there with all
    A = of_known * there[:, None, :]
    A[:, np.arange(len(K)), np.arange(len(K))] += _RIDGE + _RIDGE_OF_FEW / n
    shares = np.linalg.solve(A, of_known)  # those of the known values in each column
    means = np.clip(np.einsum("ri,rij->rj", Z[rows], shares), -_CLIP, _CLIP)
    explained = np.einsum("rij,rij->rj", of_known, shares)
    Z[rows] = np.where(there, Z[rows], means)
    spreads[rows] = np.where(there, 0.0, np.clip(np.diagonal(K) - explained, 0.0, 1.0))
