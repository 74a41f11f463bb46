"""Rows of which only one of two models knows the like: values far outside of what the other saw.

A model that begins anew knows the rows since then. In a quiet time it may well be the better one,
and know nothing of what comes seldom. A value is strange to it that is as far from all that it
knows as these are from each other, unless it is to be expected of the rows that the old model knew.

`ranges` (2, 2, d) are the least and largest values of the columns, of the new model's rows but for
the latest ones, whose targets are late, and of all rows that were known when it began.
"""

import numpy as np

_MOST = 1e100  # values farther off count as this one, so that differences are numbers
_ENDS = np.fmin, np.fmax


def start(n_columns):
    """Return ranges before there is a new model."""
    return np.zeros((2, 2, n_columns))


def begin(X, n, delay):
    """Return ranges where a model begins with the latest n of the rows X, labels `delay` late.

    Of a column of which nothing is known no value is strange.
    """
    X = _bounded(X)
    first = max(len(X) - n, 0)
    ranges = np.stack([_range(X[first : max(len(X) - delay, first)]), _range(X)])
    return np.where(np.isnan(ranges), [[[-_MOST], [_MOST]]], ranges)


def learn(ranges, X, since):
    """Return ranges after rows X (n, d), and which of these were strange (n,).

    Rows `since` have come before, but forecasts of the first of X were made without them.
    """
    X, (mine, of_old) = _bounded(X), ranges
    rows = np.concatenate([_bounded(since), X])[: len(X)]
    low, high = (
        end.accumulate(np.concatenate([one[None], rows]))
        for end, one in zip(_ENDS, mine, strict=True)
    )
    return np.stack([[low[-1], high[-1]], of_old]), _are_strange(X, low[:-1], high[:-1], of_old)


def look(ranges, X, since):
    """Return which rows X are strange (n,), each as the next one after those `since`."""
    mine, of_old = ranges
    return _are_strange(_bounded(X), *_range(_bounded(since), mine), of_old)


def _bounded(X):
    return np.clip(X, -_MOST, _MOST)


def _range(X, known=(np.nan, np.nan)):
    """Return the least and largest values (2, d) of rows X (n, d), and of what is known."""
    ends = zip(_ENDS, known, strict=True)
    return np.stack([end(end.reduce(X, axis=0, initial=np.nan), one) for end, one in ends])


def _are_strange(X, low, high, of_old):
    far = [
        (2.0 * least - most > X) | (2.0 * most - least < X)
        for least, most in (
            (low, high),
            (np.fmin(low, of_old[0]), np.fmax(high, of_old[1])),
        )
    ]
    return (far[0] & ~far[1]).any(axis=1)
