"""What is remembered for labels that come late.

A forecast reads a few arrays: centres and scales, the latest targets, coefficients, weights. Where
labels are D rounds late, round t reads them as they were D rounds before; so of each the latest D
are kept, the oldest first.
"""

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar


def late(values, past):
    """Return what is read in rounds that know values (n, ...), D rounds late, and the new past.

    Parameters
    ----------
    values : ndarray of shape (n, ...)
        What is known before each of n rounds.
    past : ndarray of shape (D, ...)
        What was known before each of the D rounds before them.

    Returns
    -------
    read : ndarray of shape (n, ...)
    past : ndarray of shape (D, ...)
    """
    if not len(past):
        return values, past
    both = np.concatenate([past, values])
    return both[: len(values)], both[len(values) :].copy()


def rows_out(t_former, t, delay, n):
    """Yield which of n rows from round t on were due before what stood after `t_former` was left.

    Each as its place, and how many rounds before that it was forecast.
    """
    return enumerate(range(t_former + delay - t, 0, -1)[:n])


def kept_late(state, known, delay):
    """Return what is read in rounds that know values (n, ...), `delay` rounds late.

    At first that is what the first round knew. The state keeps what the next rounds need, "past".
    """
    past = state["past"] if "past" in state else np.repeat(known[:1], delay, axis=0)
    read, state["past"] = late(known, past)
    return read


def read_late(state, known, delay):
    """Return the same, but what all rows before them say to the first.

    These are rows 0 to `delay`: none of them is forecast, as no label is there. The state keeps how
    many of them are to come, "n_first".
    """
    read, n_first = kept_late(state, known, delay), state.get("n_first", delay + 1)
    read[:n_first], state["n_first"] = known[:n_first], max(n_first - len(known), 0)
    return read


def forecasts_late(past, theta, Z, steps):
    """Return the forecasts (..., n, q) of rows by the coefficients some rounds before each.

    Parameters
    ----------
    past : ndarray of shape (..., D, d, q)
        Coefficients before each of the latest D rounds; those that the next rows need are written.
    theta : ndarray of shape (..., d, q)
        Coefficients before the first row.
    Z : ndarray of shape (..., n, d)
        The rows that are forecast.
    steps : ndarray of shape (..., n, d, q)
        By how much each row moves the coefficients.
    """
    n, late = Z.shape[-2], past.shape[-3]
    path = np.concatenate([past, theta[..., None, :, :], steps], axis=-3)
    np.cumsum(path[..., late:, :, :], axis=-3, out=path[..., late:, :, :])
    past[...] = path[..., n : n + late, :, :]
    return np.einsum("...nd,...ndq->...nq", Z, path[..., :n, :, :])


def as_it_was(now, past, ago):
    """Return what was known some rounds ago, one number of rounds or one a row.

    Parameters
    ----------
    now : ndarray or float
        What is known now.
    past : ndarray of shape (D, ...)
        What was known before each of the latest D rounds.
    ago : int or ndarray of int of shape (n,)
        From 0 to D.

    Returns
    -------
    known : ndarray
        Of the shape of `now`, with a leading axis (n,) where `ago` has one.
    """
    if isinstance(ago, np.ndarray):
        return np.concatenate([past, np.asarray(now)[None]])[len(past) - ago]
    return past[-ago] if ago else now


def in_order(latest, n):
    """Return the targets (n,) of rows that wait, of which there are the latest, the last one first.

    Those before them are their mean.
    """
    latest = latest[:n]
    return np.append(np.full(n - len(latest), latest.mean() if n else 0.0), latest[::-1])


def delay_of(estimator):
    """Return how many rounds late an estimator gets its labels."""
    delay = getattr(estimator, "label_delay", 0)
    return check_scalar(delay, "label_delay", Integral, min_val=0)
