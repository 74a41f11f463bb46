"""Forecasts of a model of all keys, to which that of each key adds what it is trusted to know."""

import numpy as np

N_AGES = 64  # rows of a key, by powers of two


class InitialForecasts:
    """Adds up forecasts of all keys' model, and shares of what keys' own models say is missing.

    The share of a row is the ridge regression of what was left, in all rows before it of keys of
    its age, on what own models said of it: one usual row says 1, and it is held within 0 and 1.
    """

    @staticmethod
    def start():
        """Return sums before the first row: weights, squares of what was said, and products."""
        return np.zeros((N_AGES, 3))

    @staticmethod
    def are_sums(sums):
        """Tell whether these may be sums."""
        if type(sums) is not np.ndarray or sums.shape != (N_AGES, 3) or sums.dtype != np.float64:
            return False
        return bool(np.isfinite(sums).all() and (sums[:, :2] >= 0.0).all())

    @staticmethod
    def forecast(sums, n_rows, first, own):
        """Return forecasts (n, ...) of keys with these numbers of rows, by what is known now."""
        shares = _shares(sums[_ages(n_rows)].T)
        return first + own * shares.reshape(-1, *[1] * (own.ndim - 1))

    @staticmethod
    def learn(sums, n_rows, first, own, left, weights=None):
        """Learn what was left in rows; return other sums, and the forecasts made before each.

        A row in which NaN was left teaches nothing.
        """
        sums, ages, shares = sums.copy(), _ages(n_rows), np.empty(len(own))
        own_of, left_of = (part.reshape(len(own), -1) for part in (own, left))
        of_rows = np.ones(len(own)), np.square(own_of).sum(axis=1), (own_of * left_of).sum(axis=1)
        of_rows = np.column_stack(of_rows)
        if weights is not None:
            of_rows *= weights[:, None]
        of_rows[np.isnan(left_of).any(axis=1)] = 0.0
        for age in np.unique(ages).tolist():
            mine = np.flatnonzero(ages == age)
            path = np.cumsum(np.vstack([sums[age], of_rows[mine]]), axis=0)
            shares[mine], sums[age] = _shares(path[:-1].T), path[-1]
        if not np.isfinite(sums).all():
            raise OverflowError
        return sums, first + own * shares.reshape(-1, *[1] * (own.ndim - 1))


def _ages(n_rows):
    return np.frexp(np.asarray(n_rows, dtype=np.float64))[1]


def _shares(sums):
    """Return the shares (n,) that sums (3, n) make."""
    weights, squares, products = sums
    is_known = (weights > 0.0) & (squares > 0.0)
    usual = np.divide(squares, weights, out=np.ones(len(squares)), where=is_known)
    whole = np.where(is_known, squares + usual, 1.0)
    return np.clip(np.where(is_known, products + usual, 1.0) / whole, 0.0, 1.0)
