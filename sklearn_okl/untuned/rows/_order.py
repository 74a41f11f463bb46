"""Whether rows have an order: whether what came before tells anything of what comes.

Half of the kernels see the latest targets. Where rows come in no order these are noise, and each
such kernel is one that columns would have had. So the first rows are looked at once, and only where
nothing speaks for an order do kernels go on without lags. Two things speak for it: that a target,
or what a line on the rows leaves of it, goes with one before, with its square, or with its product
with a column; and a kernel ridge regression on normal scores that misses less, each row left out in
turn, where it sees lags, too. Later on it is asked of errors, see `..rounds._reordering`.
"""

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ...features._moments import moderate

_FEWEST = 32  # rows by which it is known
_LATEST = 1024  # and at most
_RARE = 8  # targets other than the commonest one, by which something is known
_MARGIN = 1.0  # standard errors beyond the largest one to be expected of so many correlations
_SURELY = 2.0  # and of errors, which are asked again and again
_MOST = 2**12  # products of lags and columns, the first ones
_HELPS = 0.9  # the mean square of errors with lags, over that without, at which these help
_WIDTHS = 1.0, 3.0  # of kernels, in root mean squares of the columns' differences
_RIDGES = 0.01, 0.1, 1.0
_FAR = 3.0  # deviations beyond which all count the same


def has_order(X, Y, n_lags, delay=0):
    """Tell whether first rows X (n, d) with targets Y (n, q) may have an order.

    Lags are seen `delay` rounds late. NaN in X is a gap, in Y a target of which nothing is known.
    Where hardly anything can be known the answer is yes.
    """
    Y = Y[:, [_n_others(column) >= _RARE for column in Y.T]]
    late = n_lags + delay
    if len(Y) - late < _FEWEST or not Y.shape[1]:
        return True
    X, ways = _standardised(X), (_scores(Y), _standardised(Y))
    for Y in ways:
        both = np.hstack([Y, _standardised(_left_out(X @ X.T, Y, 1.0))])
        if _go_with(both, n_lags, delay, X, _MARGIN):
            return True
    Y, X = ways[0], X[late:]
    y, lags = Y[late:], _lagged(Y, n_lags, delay)
    of_rows, of_lags = _distances(X), _distances(lags)
    with_lags = min(_least_error(of_lags, y), _least_error(of_rows + of_lags, y))
    return with_lags < _HELPS * _least_error(of_rows, y)


def errors_have_order(X, errors, n_lags, delay=0):
    """Tell whether errors (n, q) go with those before, by themselves or by columns of rows X."""
    errors = errors[-_LATEST:]
    if len(errors) - n_lags - delay < _FEWEST:
        return False
    X, ways = _standardised(X[-len(errors) :]), (_scores(errors), _standardised(errors))
    return any(_go_with(one, n_lags, delay, X, _SURELY) for one in ways)


def _lagged(Y, n_lags, delay):
    late = n_lags + delay
    return np.hstack([Y[late - delay - k : len(Y) - delay - k] for k in range(1, n_lags + 1)])


def _go_with(Y, n_lags, delay, X, margin):
    """Tell whether columns Y (n, m) surely go with their lags, squares and products of these."""
    late, lags = n_lags + delay, _lagged(Y, n_lags, delay)
    y, X = Y[late:], X[late:]
    n, n_columns = len(y), _MOST // max(lags.shape[1], 1)
    products = (lags[:, :, None] * X[:, None, :n_columns]).reshape(n, -1)
    for others in (lags, _standardised(np.hstack([lags * lags, products]))):
        found = np.abs(y.T @ others) / np.sqrt(n)
        if found.size and found.max() > np.sqrt(2.0 * np.log(found.size)) + margin:
            return True
    return False


def _n_others(y):
    """Return how many targets are known that are not the commonest one."""
    counts = np.unique(y[~np.isnan(y)], return_counts=True)[1]
    return counts.sum() - counts.max(initial=0)


def _scores(Y):
    """Return normal scores (n, q) of what varies, 0 where nothing is known.

    They tell of what most rows have in common; numbers as they are tell of what is large and rare.
    """
    scores = np.full_like(Y, np.nan)
    for values, column in zip(scores.T, Y.T, strict=True):
        known = ~np.isnan(column)
        values[known] = ndtri((rankdata(column[known]) - 0.5) / max(known.sum(), 1))
    return _standardised(scores)


def _standardised(X):
    """Return the columns that vary with mean 0 and variance 1, but for what is far; gaps are 0."""
    X, known = moderate(X), ~np.isnan(X)
    counts = np.maximum(known.sum(axis=0), 1)
    X = np.where(known, X - X.sum(axis=0, where=known) / counts, 0.0)
    sizes = np.abs(X).max(axis=0, initial=0.0)
    X = X[:, sizes > 0.0] / sizes[sizes > 0.0]  # so that squares are no less than they are
    scales = np.sqrt(np.square(X).sum(axis=0) / counts[sizes > 0.0])
    return np.clip(X / scales, -_FAR, _FAR)


def _distances(X):
    """Return the mean squares (n, n) of the differences between rows."""
    return np.square(X[:, None] - X).sum(axis=-1) / max(X.shape[1], 1)


def _least_error(distances, y):
    """Return the mean square that the best regression leaves of rows that it does not know."""
    kernels = [np.exp(-0.5 * distances / width**2) for width in _WIDTHS]
    return min(np.square(_left_out(K, y, ridge)).mean() for K in kernels for ridge in _RIDGES)


def _left_out(K, y, ridge):
    """Return what ridge regressions with a kernel miss y (n, q) by, each without the row's own."""
    inverse = np.linalg.inv(K + ridge * np.eye(len(K)))
    return inverse @ y / np.diag(inverse)[:, None]
