"""The probability integral transform: where in its forecast each target fell."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from .._documentation import explained_by
from .._types import Any, Array, ArrayLike, Seed
from ._distribution_scores import _rows_of_draws, crps_from_distribution, crps_from_samples
from ._interval_scores import _is_known, _quantiles_in_order, crps_from_quantiles


@explained_by(crps_from_quantiles)
def pit_from_quantiles(
    y_true: ArrayLike, quantiles: ArrayLike, levels: ArrayLike, *, random_state: Seed = None
) -> Array:
    r"""Return the randomised probability integral transform, as far as quantiles tell it.

    A target between two quantiles has a number drawn evenly from between their levels; below the
    lowest from 0 to its level, above the highest from that to 1; at several equal ones, an atom,
    from between the levels below and above all of them. Of forecasts that are calibrated the
    numbers are uniform, and independent of each other if each knew the targets before it.

    Parameters
    ----------
    random_state : int, RandomState instance or None, default=None
        Source of the draws.

    Returns
    -------
    values : ndarray of shape (n_known,)
        Numbers from 0 to 1, in the order of the targets that are known and have a forecast.

    Raises
    ------
    ValueError
        If the shapes do not fit, quantiles cross, a target is infinite, or none is known.

    See Also
    --------
    PITDisplay : Their histogram.

    References
    ----------
    .. [1] Dawid 1984, section 5.3.
    .. [2] C. Czado, T. Gneiting, L. Held, "Predictive model assessment for count data", Biometrics
       65(4), 2009, of laws with atoms.

    Examples
    --------
    >>> from sklearn_okl.evaluation import pit_from_quantiles
    >>> values = pit_from_quantiles([3.0, 1.0], [[0.0, 2.0]] * 2, [0.25, 0.75], random_state=0)
    >>> bool(0.75 <= values[0] <= 1.0), bool(0.25 <= values[1] <= 0.75)
    (True, True)
    """
    y, quantiles, levels, _ = _quantiles_in_order(y_true, quantiles, levels)
    if (quantiles[:, 1:] < quantiles[:, :-1]).any():
        raise ValueError(
            "Some quantiles cross: one of a higher level is lower. Sort them along the last axis."
        )
    ends = np.concatenate([[0.0], levels, [1.0]])
    low = ends[(quantiles < y[:, None]).sum(axis=-1)]
    high = ends[(quantiles <= y[:, None]).sum(axis=-1) + 1]
    return _between(low, high, random_state)


@explained_by(pit_from_quantiles, crps_from_samples)
def pit_from_samples(y_true: ArrayLike, samples: ArrayLike, *, random_state: Seed = None) -> Array:
    """Return the randomised probability integral transform by samples of each forecast.

    Of m samples, a below the target and b equal to it, the number is drawn evenly from a / (m + 1)
    to (a + b + 1) / (m + 1): the rank of the target among them, ties broken by chance.

    Examples
    --------
    >>> from sklearn_okl.evaluation import pit_from_samples
    >>> bool(pit_from_samples([3.0], [[0.0, 1.0, 2.0]], random_state=0)[0] >= 0.75)
    True
    """
    y, samples = _rows_of_draws(y_true, samples)
    below, at_most = (samples < y[:, None]).sum(axis=-1), (samples <= y[:, None]).sum(axis=-1)
    m = samples.shape[-1]
    return _between(below / (m + 1.0), (at_most + 1.0) / (m + 1.0), random_state)


@explained_by(pit_from_quantiles, crps_from_distribution)
def pit_from_distribution(
    y_true: ArrayLike, distribution: Any, *, random_state: Seed = None
) -> Array:
    r"""Return the randomised probability integral transform by distribution functions F.

    The number is drawn evenly from :math:`F(y-)`, the chance of less than y, to :math:`F(y)`: it is
    :math:`F(y)` where there is no atom.

    Examples
    --------
    >>> from scipy.stats import norm
    >>> from sklearn_okl.evaluation import pit_from_distribution
    >>> pit_from_distribution([0.0], norm(0.0, 1.0)).round(3)
    array([0.5])
    """
    y = np.asarray(y_true, dtype=np.float64)
    there = np.where(_is_known(y), y, 0.0)
    at_most, below = (
        np.asarray(distribution.cdf(x), dtype=np.float64)
        for x in (there, np.nextafter(there, -np.inf))
    )
    if at_most.shape != y.shape:
        raise ValueError(
            f"The distribution functions have shape {at_most.shape}, but y_true has {y.shape}: the "
            "distribution is to have one row for each target."
        )
    known = _is_known(y, at_most)
    return _between(below[known], at_most[known], random_state)


def _between(low, high, random_state):
    drawn = check_random_state(random_state).uniform(size=len(low))
    return low + drawn * (high - low)
