"""Columns with long tails, and their logarithms, which stand beside them.

Where values go over orders of magnitude most of them lie close together in the column's own unit,
and a kernel cannot tell them apart: G. E. P. Box, D. R. Cox, "An analysis of transformations",
Journal of the Royal Statistical Society B 26(2), 1964, with a shift, so that there may be zeros.
Which columns these are is known from the first rows: the deciles of their positive values are an
order of magnitude apart, and logarithms are at most half as skewed, by deciles, as the column.
"""

import numpy as np

from ._steps import N_LOOKED_AT

MOST = 16  # such columns, the first ones
_FEWEST = N_LOOKED_AT // 2  # positive values by which a column is known
_VALUES = 8  # distinct values that are too few for a tail
_RATIO = 10.0  # of the last to the first decile of the positive values
_SHARE = 0.5  # of the skewness of a column that logarithms may have left


def long_tailed(X, others):
    """Return which columns of first rows (n, d) have long tails, and what is added to each.

    That is the first decile of the positive values; `others` are none of them.
    """
    found = {}
    if len(X) == N_LOOKED_AT:
        for j in np.setdiff1d(np.arange(X.shape[1]), others).tolist():
            shift = _shift(X[~np.isnan(X[:, j]), j])
            if shift:
                found[j] = shift
    columns = list(found)[:MOST]
    return np.array(columns, dtype=int), np.array([found[j] for j in columns])


def logarithms(X, columns, shifts):
    """Return logarithms (n, k) of columns of rows; what is below 0 is taken for 0, gaps stay."""
    return np.log(np.maximum(X[:, columns], 0.0) + shifts)


def _shift(values):
    """Return what is to be added to the values of a column, 0 if they have no long tail."""
    positive = values[values > 0.0]
    if len(positive) < _FEWEST or values.min() < 0.0 or len(np.unique(values)) <= _VALUES:
        return 0.0
    low, high = np.quantile(positive, [0.1, 0.9])
    if not high > _RATIO * low:
        return 0.0
    before, after = _skewness(values), _skewness(np.log(values + low))
    return low if abs(after) <= _SHARE * before and before > 0.0 else 0.0


def _skewness(values):
    """Return Bowley's measure with deciles, from -1 to 1 (K. Pearson, G. U. Yule, and others)."""
    low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
    return (high - middle - (middle - low)) / (high - low) if high > low else 0.0
