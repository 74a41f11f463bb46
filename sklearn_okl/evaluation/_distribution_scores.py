"""Scores of whole distributions: by their samples, by quantiles that they give, by densities."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from .._documentation import explained_by
from .._types import Any, ArrayLike
from ._interval_scores import _is_known, crps_from_quantiles, interval_score


@explained_by(crps_from_quantiles)
def crps_from_samples(y_true: ArrayLike, samples: ArrayLike) -> float:
    r"""Return the continuous ranked probability score of the empirical law of samples.

    With X and X' two of the m samples of a target y, drawn with replacement,

    .. math:: \mathsf E |X - y| - \tfrac12 \mathsf E |X - X'| .

    Parameters
    ----------
    samples : array-like of shape (..., n_draws)
        Draws from the forecast of each target, in any order; those of an ensemble, for example. All
        of them NaN: no forecast was issued. An infinite one makes the score infinite.

    Notes
    -----
    It is the score of the samples as they are, in O(m log m) a target. Of m draws from a law it is
    larger in the mean than the score of this law, by half the mean distance of two draws over m.

    References
    ----------
    .. [1] Gneiting & Raftery 2007, eq. (21).

    Examples
    --------
    >>> from sklearn_okl.evaluation import crps_from_samples
    >>> crps_from_samples([1.0], [[0.0, 2.0]])
    0.5
    """
    y, samples = _rows_of_draws(y_true, samples)
    if np.isinf(samples).any():
        return np.inf
    m = samples.shape[-1]
    ranks = 2.0 * np.arange(1, m + 1) - m - 1.0
    spread = np.sort(samples, axis=-1) @ ranks / m**2  # half the mean distance of two
    return float((np.abs(samples - y[:, None]).mean(axis=-1) - spread).mean())


@explained_by(crps_from_quantiles)
def crps_from_distribution(y_true: ArrayLike, distribution: Any, *, n_levels: int = 99) -> float:
    r"""Return the continuous ranked probability score of distributions that give quantiles.

    These are asked at the levels :math:`(k - 1/2) / K`, k from 1 to K, of which
    :func:`crps_from_quantiles` makes the score.

    Parameters
    ----------
    distribution : object
        What ``predict_distribution`` returns, or whatever has the method that is asked:
        ``ppf(levels)``, of shape (..., n_levels), ``cdf(y)`` or ``log_pdf(y)``, of that of y;
        SciPy's ``logpdf`` will do.
    n_levels : int, default=99
        The number K of levels.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from sklearn_okl.evaluation import crps_from_distribution
    >>> round(crps_from_distribution(0.0, norm(0.0, 1.0)), 3)
    0.234
    """
    check_scalar(n_levels, "n_levels", Integral, min_val=1)
    levels = (np.arange(n_levels) + 0.5) / n_levels
    return crps_from_quantiles(y_true, distribution.ppf(levels), levels)


@explained_by(crps_from_distribution)
def log_score(y_true: ArrayLike, distribution: Any) -> float:
    r"""Return the mean of minus the logarithm of the density at the targets.

    Less is better; for targets in another unit, c times as large, it is log c more.
    Of a target on an atom, a number that has a share of the probability to itself, the density is
    infinite, and the mean is -inf however many others there are: where numbers repeat, compare by
    :func:`crps_from_distribution`.

    References
    ----------
    .. [1] I. J. Good, "Rational decisions", Journal of the Royal Statistical Society B 14(1), 1952.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from sklearn_okl.evaluation import log_score
    >>> round(log_score([0.0, 0.0], norm(0.0, 1.0)), 4)  # log of the root of 2 pi
    0.9189
    """
    y = np.asarray(y_true, dtype=np.float64)
    density = getattr(distribution, "log_pdf", None) or distribution.logpdf
    logs = np.asarray(density(np.where(_is_known(y), y, 0.0)), dtype=np.float64)
    if logs.shape != y.shape:
        raise ValueError(
            f"The densities have shape {logs.shape}, but y_true has {y.shape}: the distribution is "
            "to have one row for each target."
        )
    return -float(logs[_is_known(y, logs)].mean())


@explained_by(crps_from_quantiles, interval_score)
def weighted_interval_score(
    y_true: ArrayLike, median: ArrayLike, intervals: ArrayLike, coverage: ArrayLike
) -> float:
    r"""Return the weighted interval score: the absolute error, and intervals of K coverages.

    With m the median, :math:`\alpha_k = 1 - c_k` and the interval scores :math:`S_k` it is

    .. math:: \frac{1}{K + 1/2} \left(\frac{|y - m|}{2}
              + \sum_{k=1}^K \frac{\alpha_k}{2} S_k\right),

    the mean over the 2 K + 1 quantiles of twice their pinball loss.

    Parameters
    ----------
    median : array-like of shape (...)
        Forecasts of the median.

    References
    ----------
    .. [1] J. Bracher, E. L. Ray, T. Gneiting, N. G. Reich, "Evaluating epidemic forecasts in an
       interval format", PLOS Computational Biology 17(2), 2021, eq. (1).

    Examples
    --------
    >>> from sklearn_okl.evaluation import weighted_interval_score
    >>> round(weighted_interval_score([4.0], [2.0], [[[0.0, 3.0]]], 0.8), 3)
    1.533
    """
    y, median = (np.asarray(values, dtype=np.float64) for values in (y_true, median))
    if median.shape != y.shape:
        raise ValueError(
            f"median has shape {median.shape}, but y_true has {y.shape}: give one for each target."
        )
    y, intervals = np.where(np.isnan(median), np.nan, y), np.asarray(intervals, dtype=np.float64)
    scores = interval_score(y, intervals, coverage)
    missed = np.abs(y - median)[_is_known(y, intervals)].mean()
    halves = 0.5 - np.atleast_1d(np.asarray(coverage, dtype=np.float64)) / 2.0
    return float((missed / 2.0 + halves @ scores) / (len(scores) + 0.5))


def _rows_of_draws(y_true, samples):
    """Return known targets (n,) and their samples (n, m)."""
    y, samples = (np.asarray(values, dtype=np.float64) for values in (y_true, samples))
    if samples.ndim == 0 or samples.shape[:-1] != y.shape or not samples.shape[-1]:
        raise ValueError(
            f"samples has shape {samples.shape}, but y_true has {y.shape}: give draws for each "
            "target, along the last axis."
        )
    gaps = np.isnan(samples)
    known = _is_known(np.where(gaps.all(axis=-1), np.nan, y))
    if gaps[known].any():
        raise ValueError("Some samples are NaN: leave these out, or the targets that they are of.")
    return y[known], samples[known]
