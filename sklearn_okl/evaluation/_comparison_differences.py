"""Differences of models, paired by seed, with intervals."""

from itertools import combinations

import numpy as np
from scipy.stats import t as student


def differences_of(scores, streams, models, confidence):
    """Return the differences of each two models as :meth:`Comparison.differences` describes them.

    Parameters
    ----------
    scores : ndarray of shape (n_streams, n_models, n_seeds)
    streams, models : lists of str
    confidence : float
    """
    pairs = list(combinations(range(len(models)), 2))
    first, second = np.array(pairs).T
    gaps = (scores[:, first] - scores[:, second]).reshape(-1, scores.shape[2])
    n_seeds = gaps.shape[1]
    mean, reach = gaps.mean(axis=1), np.full(len(gaps), np.nan)
    if n_seeds > 1:
        deviations = gaps.std(axis=1, ddof=1)
        told = np.ptp(gaps, axis=1) > 1e-12 * np.abs(scores).max()  # beyond rounding
        factor = student.ppf((1.0 + confidence) / 2.0, n_seeds - 1) / np.sqrt(n_seeds)
        reach[told] = factor * deviations[told]
    return {
        "stream": np.repeat(streams, len(pairs)),
        "model": np.tile([models[a] for a in first], len(streams)),
        "other": np.tile([models[b] for b in second], len(streams)),
        "difference": mean,
        "lower": mean - reach,
        "upper": mean + reach,
    }
