"""By what columns are multiplied for kernels to be born: as far as those before depend on them."""

import numpy as np

from ._banks import slopes
from ._plan import LAGGED, MAIN

_TINY = np.finfo(float).tiny


def in_shares(squares):
    """Return numbers, none of them below 0, over their sum."""
    return squares / max(squares.sum(), _TINY)


def balanced(scales, columns, least):
    """Return scales whose mean square is 1 over some columns, and none of which is nearly none."""
    mean = np.sqrt(np.square(scales[columns]).mean())
    return np.maximum(scales / max(mean, _TINY), least)


def shares_of_two(banks, n_lags, shares_of_targets):
    """Return how much the kernels of a small model depend on what they see (n_columns,).

    The one that sees lags tells how much these matter beside all inputs; the one that sees none,
    which is smoother, how much each input does.
    """
    n_columns = banks[LAGGED]["features"]["scales"].shape[1]
    first, other = (
        slopes(banks[name], 0, slice(0, n), shares_of_targets)
        for name, n in ((MAIN, n_columns - n_lags), (LAGGED, n_columns))
    )
    other[: len(first)] = first * other[: len(first)].sum() / max(first.sum(), _TINY)
    return other
