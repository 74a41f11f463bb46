r"""Weights of experts by powers of their faded squared errors: :math:`m_e^{-4}` of means m.

In the beginning few targets are known, of the last steps none. Then a step is lent the errors of
the step before it, as if some targets of them had been heard for each row that its own forecasts
span, which overlap; the first step what is expected beforehand, if anything is. The more is known
of a step the less it is lent, and nothing from `_OWN` targets on.
"""

import numpy as np

FADING = 0.998  # of the squared errors: about the latest 500
_LARGEST = 20.0  # running deviations that an error counts as at most
_LENT = 2.0  # targets of the step before that count at a step, times the rows that forecasts span
_OWN = 64.0  # targets from which on a step has no need of others
_COMMON = 0.2  # weight of the mean of all series in errors: as if 100 of its rows had been heard
_TINY = 1e-12  # least mean squared error, over the sum of all: equals are averaged


def faded(means, errors, counts):
    """Return faded means of squares with those of errors, as much as each counts for, 0 to 1."""
    share = (1.0 - FADING) * counts
    change = squares(errors)
    change -= means
    change *= share
    change += means
    return change


def squares(errors):
    """Return squared errors as they count."""
    found = np.maximum(errors, -_LARGEST)
    np.minimum(found, _LARGEST, out=found)
    found *= found
    return found


def weights(errors):
    """Return weights (E, ...) of experts from their faded squared errors; equal where all are 0."""
    total = errors.sum(axis=0)
    errors = errors + np.where(total > 0.0, _TINY * total, 1.0)
    powers = errors.min(axis=0) / errors
    powers *= powers
    powers *= powers  # the power is 4
    powers /= powers.sum(axis=0)
    return powers


def of_series(errors, weight, expected=None, lent=_LENT):
    """Return weights (E, H, m) from errors of several series, each shrunk to the mean of all.

    `weight` (H, m) is what the errors of a series count for, 1 in the long run. `expected` (E,) is
    what errors are beforehand, as times of the least ones, and `lent` how many targets are lent.
    """
    known = weight
    if errors.shape[-1] > 1:
        total = weight.sum(axis=-1, keepdims=True)
        # a product: NumPy's sums along a short axis take several times as long
        sums = errors @ np.ones((errors.shape[-1], 1))
        mean = sums / np.where(total > 0.0, total, 1.0)
        errors = errors + _COMMON * mean
        known = np.minimum(weight + _COMMON, total)
        weight = weight + _COMMON * (total > 0.0)
    few = np.flatnonzero((known < _OWN * (1.0 - FADING)).any(axis=-1))
    return weights(_lent(errors, weight, known, few, expected, lent) if len(few) else errors)


def _lent(errors, weight, known, few, expected, lent):
    """Return errors (E, H, m), at steps of which few targets are known with those of others."""
    none = weight <= 0.0
    means = errors / np.where(none, 1.0, weight)
    spans = lent * (1.0 - FADING) * np.arange(1.0, len(weight) + 1.0)[:, None]
    shares = spans * np.maximum(1.0 - known / (_OWN * (1.0 - FADING)), 0.0)
    before = means[:, 0]
    if expected is not None:
        total = weight.sum(axis=0)
        least = errors.sum(axis=1).min(axis=0) / np.where(total > 0.0, total, 1.0)
        before = np.where(least > 0.0, least, 1.0) * expected[:, None]
    for h in few:
        before = means[:, h - 1] if h else before
        sums = weight[h] + shares[h]
        means[:, h] = (errors[:, h] + shares[h] * before) / np.where(sums > 0.0, sums, 1.0)
    return means
