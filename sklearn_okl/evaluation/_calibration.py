"""How far probabilities hold: how often is right what is said to be so likely."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_scalar

from .._documentation import cites
from .._types import ArrayLike

_ROUNDING = 1e-9  # of probabilities


@cites
def calibration_error(
    y_true: ArrayLike,
    y_prob: ArrayLike,
    *,
    labels: ArrayLike | None = None,
    n_bins: int = 15,
) -> float:
    """Return the expected calibration error of probabilities.

    Rows are put into bins by the probability of their likeliest class. In each bin the mean of
    these is held against the share of rows in which this class came true, and the error is the mean
    of the absolute differences, weighted by rows [1]_: 0 where 70 % sure is right in 70 of 100.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Labels.
    y_prob : array-like of shape (n_samples, n_classes)
        Probabilities, such as those of `prequential_predict_proba`. Rows with NaN are left out.
    labels : array-like of shape (n_classes,), default=None
        The class of each column. None: ``np.unique(y_true)``.
    n_bins : int, default=15
        Number of bins, of equal width.

    Returns
    -------
    error : float
        From 0 to 1.

    Raises
    ------
    ValueError
        If probabilities and labels do not fit each other, probabilities do not lie from 0 to 1, or
        no row has any.

    See Also
    --------
    PrequentialCalibrationDisplay : The same as curves.

    Notes
    -----
    A forecast of the frequencies has none, and says nothing: look at the log loss too. With few
    rows a bin the error is above 0 by chance alone.

    References
    ----------
    .. [1] Guo et al. 2017.

    Examples
    --------
    >>> from sklearn_okl.evaluation import calibration_error
    >>> calibration_error([0, 0, 0, 1], [[0.75, 0.25]] * 4)
    0.0
    >>> calibration_error([0, 0, 1, 1], [[0.75, 0.25]] * 4)
    0.25
    """
    check_scalar(n_bins, "n_bins", Integral, min_val=1)
    P, places = known_rows(y_true, y_prob, labels)
    return error_of(*by_bins(*of_the_likeliest(P, places), n_bins))


def known_rows(y_true, y_prob, labels=None):
    """Return probabilities (n, K) without rows of NaN, and the column of the label of each (n,)."""
    y_true, P = np.asarray(y_true), np.asarray(y_prob, dtype=np.float64)
    labels = np.unique(y_true) if labels is None else np.asarray(labels)
    if P.shape != (len(y_true), len(labels)):
        raise ValueError(
            "Probabilities must have a row for each of y_true and a column for each label, the "
            f"shape {(len(y_true), len(labels))}, got {P.shape}."
        )
    order = np.argsort(labels)
    places = order[np.searchsorted(labels, y_true, sorter=order).clip(max=len(labels) - 1)]
    unknown = labels[places] != y_true
    if unknown.any():
        raise ValueError(f"y_true has the label {y_true[unknown][0]}, which is none of {labels}.")
    known = ~np.isnan(P).any(axis=1)
    if not known.any():
        raise ValueError("No row has probabilities: all of them are NaN.")
    P = P[known]
    if not ((P >= -_ROUNDING) & (P <= 1.0 + _ROUNDING)).all():
        raise ValueError(
            f"Probabilities must lie from 0 to 1, but some go from {P.min():.6g} to {P.max():.6g}."
        )
    return P, places[known]


def of_the_likeliest(P, places):
    """Return the largest probability of each row, and whether its class came true."""
    return P.max(axis=1), P.argmax(axis=1) == places


def by_bins(said, came, n_bins):
    """Return mean probability, share of rows in which it came true, and rows, of bins with any."""
    bins = np.minimum((said * n_bins).astype(int), n_bins - 1)
    counts = np.bincount(bins, minlength=n_bins)
    sums = [np.bincount(bins, weights=part, minlength=n_bins) for part in (said, came)]
    filled = counts > 0
    return sums[0][filled] / counts[filled], sums[1][filled] / counts[filled], counts[filled]


def error_of(said, came, counts):
    """Return the mean distance of the two over all rows."""
    return float(np.abs(said - came) @ counts / counts.sum())
