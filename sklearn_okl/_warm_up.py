"""What a pipeline forecasts while it is warming up: the mean of the targets, or their classes."""

import numpy as np


def means(targets, n_known):
    """Return the means of the first targets (k,) or (k, q), of so many for each row (n,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        sums = np.concatenate([np.zeros_like(targets[:1]), np.cumsum(targets, axis=0)])
    return (sums[n_known].T / np.maximum(n_known, 1)).T


def labels(targets, n_known, classes):
    """Return the most frequent of the first labels, of so many for each row (n,)."""
    return classes[np.argmax(_counts(targets, classes)[n_known], axis=1)]


def shares(targets, n_known, classes):
    """Return the shares (n, C) of classes among the first labels, of so many for each row (n,)."""
    counts = _counts(targets, classes)
    counts = np.where(counts.any(axis=1, keepdims=True), counts, 1)[n_known]  # at first all alike
    return counts / counts.sum(axis=1, keepdims=True)


def _counts(targets, classes):
    is_class = targets[:, None] == classes
    return np.vstack([np.zeros_like(classes, dtype=int), np.cumsum(is_class, axis=0)])
