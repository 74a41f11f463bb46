"""A distribution for each of some rows, told by its quantiles."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state, check_scalar

from .._documentation import explained_by
from .._types import Array, ArrayLike, Seed

_TAIL = 0.05  # tails are exponential, as between the quantile of this level and the outermost


class QuantileDistribution:
    r"""Distributions of some rows that go evenly from quantile to quantile, with exponential tails.

    What ``predict_distribution`` returns. Between two quantiles the density is even; where several
    are equal there is an atom. Beyond the lowest and the highest it falls as an exponential whose
    scale is that between quantiles .05 and the lowest, and .95 and the highest, or those next to
    these. A row whose quantiles are all NaN is not known: what is told of it is NaN.

    Parameters
    ----------
    levels : array-like of shape (K,)
        Levels of the quantiles, rising, above 0 and below 1, some below 1/2 and some above.
    quantiles : array-like of shape (..., K)
        Quantiles of each row, none lower than one of a lower level.
    support : tuple of float, default=(-inf, inf)
        Range outside of which nothing lies, low < high; what would lie there is put at its ends.

    Raises
    ------
    ValueError
        If the shapes do not fit, levels or quantiles fall, levels lie on one side of 1/2, some
        quantiles of a row are NaN and others are not, or the support is no range.

    See Also
    --------
    sklearn_okl.evaluation.crps_from_distribution : How good such forecasts are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.conformal import QuantileDistribution
    >>> law = QuantileDistribution([0.05, 0.25, 0.75, 0.95], [[0.0, 2.0, 4.0, 6.0]])
    >>> law.ppf([0.25, 0.5]), law.cdf(5.0), law.mean()
    (array([[2., 3.]]), array([0.85]), array([3.]))
    """

    def __init__(
        self,
        levels: ArrayLike,
        quantiles: ArrayLike,
        support: tuple[float, float] = (-np.inf, np.inf),
    ) -> None:
        self.levels = _checked_levels(levels)
        self.support = _checked_support(support)
        self.quantiles = np.clip(np.asarray(quantiles, dtype=np.float64), *self.support)
        if self.quantiles.shape[-1:] != self.levels.shape:
            raise ValueError(
                f"quantiles has shape {self.quantiles.shape}, but there are {len(self.levels)} "
                "levels: give one of each, along the last axis."
            )
        if (np.isnan(self.quantiles) != self._is_unknown[..., None]).any():
            raise ValueError(
                "Some quantiles of a row are NaN, and others are not: give all of them, or NaN for "
                "all of a row that is not known."
            )
        with np.errstate(invalid="ignore"):  # the whole line goes from -inf to inf
            if (np.diff(self.quantiles, axis=-1) < 0.0).any():
                raise ValueError("Some quantiles cross: sort them along the last axis.")

    def ppf(self, p: ArrayLike) -> Array:
        """Return quantiles.

        Parameters
        ----------
        p : float or array-like of shape (q,)
            Levels, from 0 to 1.

        Returns
        -------
        quantiles : ndarray of shape (...) or (..., q)
            They rise with the level.
        """
        p = np.asarray(p, dtype=np.float64)
        if p.ndim > 1 or not ((p >= 0.0) & (p <= 1.0)).all():
            raise ValueError(f"p={p!r}: give levels from 0 to 1.")
        found = self._ppf(np.broadcast_to(np.ravel(p), (*self._rows, p.size)))
        return found if p.ndim else found[..., 0]

    def cdf(self, x: ArrayLike) -> Array:
        """Return the probabilities of at most some numbers.

        Parameters
        ----------
        x : float or array-like of shape (...)
            A number for all rows, or one for each.

        Returns
        -------
        probabilities : ndarray of shape (...)
            NaN where the number is.

        Raises
        ------
        ValueError
            If there is neither one number nor one for each row.
        """
        x, place, low, high = self._places(x)
        lower, upper = self._ends()
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            share = np.where(high > low, (x - low) / (high - low), 0.0)
            levels = self._levels_around(place)
            inside = levels[0] + share * (levels[1] - levels[0])
            below = self.levels[0] * np.exp((x - self.quantiles[..., 0]) / lower)
            above = 1.0 - (1.0 - self.levels[-1]) * np.exp((self.quantiles[..., -1] - x) / upper)
        inside = np.where(place == 0, np.where(lower > 0.0, below, 0.0), inside)
        found = np.where(place == len(self.levels), np.where(upper > 0.0, above, 1.0), inside)
        found = np.where(np.isnan(found), 0.5, found)  # the whole line
        found = np.where(x >= self.support[1], 1.0, np.where(x < self.support[0], 0.0, found))
        return self._of_known(found, x)

    @explained_by(cdf)
    def pdf(self, x: ArrayLike) -> Array:
        """Return the densities at some numbers: 0 where nothing lies, infinite at an atom.

        At an end of the support it is that of the tail, whatever of it is put there.

        Returns
        -------
        densities : ndarray of shape (...)
            NaN of a number that is NaN.
        """
        return np.exp(self.log_pdf(x))

    @explained_by(pdf)
    def log_pdf(self, x: ArrayLike) -> Array:
        """Return the logarithms of the densities, finite however far out in a tail."""
        x, place, low, high = self._places(x)
        lower, upper = self._ends()
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            levels = self._levels_around(place)
            inside = np.log(levels[1] - levels[0]) - np.log(high - low)
            below = (x - self.quantiles[..., 0]) / lower + np.log(self.levels[0] / lower)
            above = (self.quantiles[..., -1] - x) / upper + np.log((1.0 - self.levels[-1]) / upper)
        found = np.where(place == 0, np.where(lower > 0.0, below, -np.inf), inside)
        above = np.where(upper > 0.0, above, -np.inf)
        found = np.where(place == len(self.levels), above, found)
        found = np.where((self.quantiles == x[..., None]).sum(axis=-1) > 1, np.inf, found)
        outside = (x < self.support[0]) | (x > self.support[1])
        return self._of_known(np.where(outside | np.isnan(found), -np.inf, found), x)

    def mean(self) -> Array:
        """Return the means; NaN where nothing is known.

        Returns
        -------
        means : ndarray of shape (...)
        """
        with np.errstate(invalid="ignore"):
            return self._centre() + self._moments()[0]

    @explained_by(mean)
    def var(self) -> Array:
        """Return the variances.

        Returns
        -------
        variances : ndarray of shape (...)
        """
        first, second = self._moments()
        return np.maximum(second - first**2, 0.0)

    @explained_by(var)
    def std(self) -> Array:
        """Return the standard deviations."""
        return np.sqrt(self.var())

    def sample(self, n: int, random_state: Seed = None) -> Array:
        """Draw from each of the distributions, independently.

        Parameters
        ----------
        n : int
            Number of draws from each.
        random_state : int, RandomState instance or None, default=None
            Where draws come from.

        Returns
        -------
        draws : ndarray of shape (..., n)
        """
        check_scalar(n, "n", Integral, min_val=1)
        return self._ppf(check_random_state(random_state).uniform(size=(*self._rows, n)))

    def interval(self, coverage: float | ArrayLike) -> Array:
        """Return the intervals between two quantiles, with as much below as above.

        Parameters
        ----------
        coverage : float or array-like of shape (q,)
            Probabilities of the intervals, from 0 to 1.

        Returns
        -------
        intervals : ndarray of shape (..., 2) or (..., q, 2)
            Low and high ends; those of a higher coverage hold those of a lower one.
        """
        given, coverage = coverage, np.asarray(coverage, dtype=np.float64)
        if not ((coverage >= 0.0) & (coverage <= 1.0)).all():
            raise ValueError(f"coverage={given!r}: give probabilities from 0 to 1.")
        return np.stack([self.ppf((1.0 - coverage) / 2.0), self.ppf((1.0 + coverage) / 2.0)], -1)

    @property
    def _rows(self):
        return self.quantiles.shape[:-1]

    @property
    def _is_unknown(self):
        return np.isnan(self.quantiles[..., 0])

    def _of_known(self, found, x):
        """Return what was found at numbers x (...), NaN where nothing is known."""
        return np.where(self._is_unknown | np.isnan(x), np.nan, found)

    def _ppf(self, p):
        """Return quantiles of levels (..., q), those of each row."""
        place = np.searchsorted(self.levels, p)
        inside = np.clip(place, 1, len(self.levels) - 1)
        low, high = (np.take_along_axis(self.quantiles, at, axis=-1) for at in (inside - 1, inside))
        levels = self.levels[inside - 1], self.levels[inside]
        lower, upper = (scale[..., None] for scale in self._ends())
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            share = (p - levels[0]) / (levels[1] - levels[0])
            found = np.where(share == 1.0, high, low + share * (high - low))
            below = np.where(lower > 0.0, lower * np.log(p / self.levels[0]), 0.0)
            above = np.where(upper > 0.0, upper * np.log((1.0 - self.levels[-1]) / (1.0 - p)), 0.0)
            found = np.where(place == 0, self.quantiles[..., :1] + below, found)
            found = np.where(p > self.levels[-1], self.quantiles[..., -1:] + above, found)
        unknown = np.isnan(found)  # between the ends of the whole line
        found = np.where(unknown, np.where(p < 0.5, -np.inf, np.inf), found)
        found = np.where(self._is_unknown[..., None], np.nan, found)
        return np.clip(found, *self.support)

    def _ends(self):
        """Return the scales of the two tails (...), 0 where there is none."""
        quantiles, levels = self.quantiles, self.levels
        with np.errstate(invalid="ignore"):
            k = max(1, int(np.abs(levels - _TAIL).argmin()))
            lower = (quantiles[..., k] - quantiles[..., 0]) / np.log(levels[k] / levels[0])
            k = min(len(levels) - 2, int(np.abs(levels - 1.0 + _TAIL).argmin()))
            beyond = np.log((1.0 - levels[k]) / (1.0 - levels[-1]))
            return lower, (quantiles[..., -1] - quantiles[..., k]) / beyond

    def _places(self, x):
        """Return numbers (...), how many quantiles are at most each, and those around it."""
        x = self._one_each(x)
        place = (self.quantiles <= x[..., None]).sum(axis=-1)
        inside = np.clip(place, 1, len(self.levels) - 1)[..., None]
        low, high = (
            np.take_along_axis(self.quantiles, at, axis=-1)[..., 0] for at in (inside - 1, inside)
        )
        return x, place, low, high

    def _one_each(self, x):
        """Return a number (...) for each row."""
        x = np.asarray(x, dtype=np.float64)
        try:
            return np.broadcast_to(x, self._rows)
        except ValueError:
            raise ValueError(
                f"x has shape {x.shape}, but there are distributions of shape {self._rows}: give "
                "a number for all of them, or one for each."
            ) from None

    def _levels_around(self, place):
        inside = np.clip(place, 1, len(self.levels) - 1)
        return self.levels[inside - 1], self.levels[inside]

    def _centre(self):
        return self._ppf(np.full((*self._rows, 1), 0.5))[..., 0]

    def _moments(self):
        """Return the mean and the mean square of what is beyond the median."""
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            centre = self._centre()
            q, shares = self.quantiles - centre[..., None], np.diff(self.levels)
            low, high = q[..., :-1], q[..., 1:]
            first = ((low + high) / 2.0) @ shares
            second = ((low**2 + low * high + high**2) / 3.0) @ shares
            lower, upper = self._ends()
            tails = (
                (self.levels[0], -q[..., 0], lower, centre - self.support[0], -1.0),
                (1.0 - self.levels[-1], q[..., -1], upper, self.support[1] - centre, 1.0),
            )
            for share, start, scale, end, sign in tails:
                mean, square = _of_tail(start, scale, end)
                first, second = first + sign * share * mean, second + share * square
        return first, second


def _checked_levels(levels):
    """Return the levels (K,) of quantiles, or say what is wrong with them."""
    levels = np.asarray(levels, dtype=np.float64)
    inside = ((levels > 0.0) & (levels < 1.0)).all()
    if levels.ndim != 1 or not inside or (np.diff(levels) <= 0.0).any():
        raise ValueError("levels must rise, from above 0 to below 1.")
    if not ((levels < 0.5).any() and (levels > 0.5).any()):
        raise ValueError(
            f"levels={levels.tolist()}: give some below 1/2 and some above, so that both tails "
            "are known."
        )
    return levels


def _checked_support(support):
    """Return the ends of a range, or say that it is none."""
    ends = np.asarray(support, dtype=np.float64)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ValueError(f"support={support!r}: give (low, high) with low < high.")
    return support


def _of_tail(start, scale, end):
    """Return mean and mean square of an exponential from `start` on, cut at `end`.

    One of scale 0 is a number.
    """
    room = np.where(scale > 0.0, (end - start) / np.where(scale > 0.0, scale, 1.0), 0.0)
    kept = -np.expm1(-room)
    twice = np.where(np.isinf(room), 1.0, kept - np.where(np.isinf(room), 0.0, room) * (1.0 - kept))
    return start + scale * kept, start**2 + 2.0 * start * scale * kept + 2.0 * scale**2 * twice
