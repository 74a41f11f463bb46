r"""Weights of experts by powers of their faded squared errors: :math:`m_e^{-4}` of means m."""

import numpy as np

FADING = 0.998  # of the squared errors: about the latest 500
_LARGEST = 20.0  # running deviations that an error counts as at most
_COMMON = 0.2  # weight of the mean of all series in errors: as if 100 of its rows had been heard
_TINY = 1e-12  # least mean squared error, over the sum of all: equals are averaged


def faded(means, errors, known):
    """Return faded means of squares with those of errors, where these are known."""
    share = (1.0 - FADING) * known
    change = squares(errors)
    change -= means
    change *= share
    change += means
    return change


def squares(errors):
    """Return squared errors as they count."""
    return np.square(np.clip(errors, -_LARGEST, _LARGEST))


def weights(errors):
    """Return weights (E, ...) of experts from their faded squared errors; equal where all are 0."""
    total = errors.sum(axis=0)
    errors = errors + np.where(total > 0.0, _TINY * total, 1.0)
    powers = errors.min(axis=0) / errors
    powers *= powers
    powers *= powers  # the power is 4
    powers /= powers.sum(axis=0)
    return powers


def of_series(errors, weight):
    """Return weights (E, H, m) from errors of several series, each shrunk to the mean of all.

    `weight` (H, m) is what the errors of a series count for, 1 in the long run.
    """
    if errors.shape[-1] > 1:
        total = weight.sum(axis=-1, keepdims=True)
        mean = errors.sum(axis=-1, keepdims=True) / np.where(total > 0.0, total, 1.0)
        errors = errors + _COMMON * mean
    return weights(errors)
