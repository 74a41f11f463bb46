"""Gaps in numbers are filled by what the other columns of the row say of them.

That is the conditional mean of a Gaussian whose correlations are those of the rows before, as in
the first step of A. P. Dempster, N. M. Laird, D. B. Rubin, "Maximum likelihood from incomplete data
via the EM algorithm", Journal of the Royal Statistical Society B 39(1), 1977. Before there are any,
and where there are too many columns, it is the running mean.
"""

import numpy as np

_BLOCK = 64  # rows after which correlations are taken anew
_WIDEST = 64  # columns up to which there are any
_RIDGE = 0.05
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
        """Return rows (n, d) without gaps, by what was known before each; learn them.

        Parameters
        ----------
        state : dict
            Empty before the first gap.
        X : ndarray of shape (n, d)
        known : ndarray of shape (n, 2, d)
            The centre and the scale of each column before each row.
        """
        gaps = np.isnan(X)
        is_first = not state
        if is_first and not np.logical_or.reduce(gaps, axis=None):
            return X
        if X.shape[1] > _WIDEST:
            return np.where(gaps, known[:, 0], X)
        if is_first:
            d = X.shape[1]
            state.update(n=0, folded=0, products=np.zeros((d, d)), rows=np.zeros((0, d)))
        low = int(gaps.any(axis=1).argmax()) if is_first else 0
        Z = _standardised(X, known, gaps)
        while low < len(X):
            n_known = max(state["n"] - self.delay, 0)
            until = _BLOCK - n_known % _BLOCK + max(self.delay - state["n"], 0)
            rows = slice(low, min(low + until, len(X)))
            while state["folded"] + _BLOCK <= n_known:
                block = state["rows"][:_BLOCK]
                state["products"] = state["products"] + block.T @ block
                state["rows"] = state["rows"][_BLOCK:].copy()
                state["folded"] += _BLOCK
            _fill(Z[rows], gaps[rows], state["products"], state["folded"])
            state["rows"] = np.concatenate([state["rows"], Z[rows]])
            state["n"] += rows.stop - low
            low = rows.stop
        return _in_units(X, Z, known, gaps)

    def look(self, state, X, known, ago=0):
        """Return rows without gaps, each as if the next, by what was known some rounds ago."""
        gaps = np.isnan(X)
        if not np.logical_or.reduce(gaps, axis=None):
            return X
        known = np.broadcast_to(known, (len(X), 2, X.shape[1]))
        Z = _standardised(X, known, gaps)
        if state:
            n_known = np.maximum(state["n"] - np.broadcast_to(ago, len(X)), 0)
            n_blocks = (n_known - state["folded"]) // _BLOCK
            for number in np.unique(n_blocks).tolist():
                products, mine = state["products"], n_blocks == number
                for k in range(number):
                    block = state["rows"][k * _BLOCK : (k + 1) * _BLOCK]
                    products = products + block.T @ block
                part = Z[mine]
                _fill(part, gaps[mine], products, state["folded"] + max(number, 0) * _BLOCK)
                Z[mine] = part
        return _in_units(X, Z, known, gaps)


def _standardised(X, known, gaps):
    scales = known[:, 1]
    there = ~gaps & (scales > 0.0)
    Z = np.divide(X - known[:, 0], scales, out=np.zeros_like(X), where=there)
    return np.clip(Z, -_CLIP, _CLIP)


def _in_units(X, Z, known, gaps):
    return np.where(gaps, known[:, 0] + known[:, 1] * Z, X)


def _fill(Z, gaps, products, n):
    """Put conditional means into the gaps of standardised rows, which are 0 there."""
    rows = np.flatnonzero(gaps.any(axis=1))
    if not n or not len(rows):
        return
    there = ~gaps[rows]
    K = products / n
    A = K * there[:, :, None] * there[:, None, :]
    A[:, np.arange(len(K)), np.arange(len(K))] += _RIDGE + _RIDGE_OF_FEW / n
    shares = np.linalg.solve(A, (Z[rows])[..., None])[..., 0] * there
    found = np.clip(shares @ K, -_CLIP, _CLIP)
    Z[rows] = np.where(there, Z[rows], found)
