"""What a regressor says of the next targets besides one number: intervals, quantiles, laws."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_consistent_length, gen_batches
from sklearn.utils.validation import _num_samples

from .._documentation import explained_by
from .._prediction_frames import check_as_frame, interval_frame
from .._types import Any, Array, ArrayLike
from .._validation import refuse_no_targets, weights_of
from ._state import twin
from ._weighted import WeightedRegressor

_LEAST, _MOST = 0.01, 0.99  # coverages of intervals
_BLOCK = 1024  # rows whose laws are held at once
_NONE = np.empty(0, dtype=int)
DECILES = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class DistributionVerbs:
    """The verbs that ask for more than a point: all of them read one distribution a row, `_law`."""

    @explained_by(WeightedRegressor.predict)
    def predict_distribution(self, X: ArrayLike, *, ahead: bool = False) -> Any:
        r"""Return the distribution of the target of each row; changes nothing.

        Parameters
        ----------
        ahead : bool, default=False
            Whether the rows are the next ones in order, see `predict`.

        Returns
        -------
        distribution : QuantileDistribution
            One for each row, and each of several targets, within `target_range`, if the model has
            one; its methods are those of :class:`~sklearn_okl.conformal.QuantileDistribution`.

        Raises
        ------
        ValueError
            If there are more than ``label_delay + 1`` rows with ``ahead=True``.

        Notes
        -----
        Its median is the forecast of `predict`, and its size that of the latest errors, the same
        for every row; it is symmetric. With ``spread="rows"`` its size is what rows tell, it may
        lean to one side, and its median is not the forecast; `pdf` and `log_pdf` are then a smooth
        density of their own, which is no derivative of `cdf`: that one is held to shares. The whole
        line is all that is known in the first two rounds: means are NaN then.
        """
        return self._law(X, ahead)

    @explained_by(predict_distribution)
    def predict_quantiles(
        self, X: ArrayLike, alpha: float | ArrayLike = DECILES, *, ahead: bool = False
    ) -> Array:
        """Return quantiles of the target of each row, which never cross; changes nothing.

        Parameters
        ----------
        alpha : float or array-like of shape (q,), default=(0.1, 0.2, ..., 0.9)
            Their levels, above 0 and below 1.

        Returns
        -------
        quantiles : ndarray of shape (n_samples, q) or (n_samples, n_targets, q)
            Those of :meth:`predict_distribution`; without the last axis where `alpha` is a number.
        """
        alpha = checked_alpha(alpha)
        return self._asked_of_laws(X, ahead, lambda law: law.ppf(alpha))

    @explained_by(predict_quantiles, WeightedRegressor.prequential_predict)
    def prequential_quantiles(
        self,
        X: ArrayLike,
        y: ArrayLike,
        alpha: float | ArrayLike = DECILES,
        sample_weight: ArrayLike | None = None,
    ) -> Array:
        """Learn as `partial_fit` does, row by row, and return the quantiles issued on the way.

        Returns
        -------
        issued : ndarray of shape (n_samples, q) or (n_samples, n_targets, q)
            Each from what was known when the row was due; NaN for the very first row, or the first
            ``label_delay + 1`` and those without a target before these.

        Notes
        -----
        It is what a loop of `predict_quantiles` and `partial_fit` over single rows gives, in
        blocks. Labels that come D rounds late may find another model in place, one that began anew
        in these D rounds; then it is the law that this one would have issued.
        """
        alpha = checked_alpha(alpha)
        refuse_no_targets(self, y)
        check_consistent_length(X, y)
        n = _num_samples(y)
        weights = None if sample_weight is None else weights_of(sample_weight, n)
        before, model, found, doubted = vars(self).get("_state"), twin(self), [], []
        for rows in gen_batches(max(n, 1), _BLOCK):  # no rows are refused by the model
            given = (None if part is None else _rows(part, rows) for part in (X, y, weights))
            law, is_known = model._laws_on_the_way(*given)
            found.append(np.where(is_known.T, law.ppf(alpha).T, np.nan).T)
            doubted.append(rows.start + model._state.get("doubted", _NONE))
        if "doubted" in model._state:  # which rows of the call were faulty, not of its last block
            model._state = model._state | {"doubted": np.concatenate(doubted)}
        self._become(before, model)
        return np.concatenate(found)

    @explained_by(predict_distribution, interval_frame)
    def predict_interval(
        self,
        X: ArrayLike,
        coverage: float | ArrayLike = 0.9,
        *,
        ahead: bool = False,
        as_frame: str | None = None,
    ) -> Any:
        r"""Return intervals that hold the targets in a given share of the rounds.

        Parameters
        ----------
        coverage : float or array-like of shape (n_levels,), default=0.9
            Share of targets to be held, from 0.01 to 0.99, or several of them.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_levels, 2), or DataFrame
            Low and high ends around the forecasts of `predict`, brought within `target_range` after
            that; finite from row ``label_delay + 3`` on. Of several targets (n_samples, n_targets,
            2) or (n_samples, n_targets, n_levels, 2): each is held in the given share of the
            rounds, not all at once.

        Raises
        ------
        TypeError
            If `coverage` is neither a number nor a list of numbers.
        ValueError
            If it is not from 0.01 to 0.99, if there are too many rows with ``ahead=True``, or if
            there is no such kind of frame.

        Notes
        -----
        Adaptive conformal inference on the progressive errors: over T rounds in a row the share
        held is off by at most :math:`(1 + (k + 1) \gamma) / (T \gamma)`, :math:`\gamma = 0.05`, or
        0.042 over 500 rounds with k = 0, if in all rounds so far no error, in units of the latest
        fifty or so, was more than the largest of the 500 before it; k is 1 if one was up to
        twice as large, and one more for each further doubling. An interval of no width counts as
        empty. This holds for each of the 99 coverages of whole percents by its own level. Each
        moves by itself, and may fall below that of a lower coverage. Intervals are of the nearest
        levels that rise with the coverage, so that they are nested: they hold nearly
        what the own ones do. In between they are interpolated.

        With a `label_delay` of D an interval is judged, when its target comes, as it was issued.
        All that are out may miss for one cause, so :math:`\gamma` is 0.05 / (D + 1) then, and the
        bound up to D + 1 times as large. With ``spread="rows"`` it is 0.02 in place of 0.05, and k
        counts doublings over the outermost quantiles of the row.
        """
        check_as_frame(as_frame)
        levels = checked_coverages(coverage)
        ends = self._asked_of_laws(X, ahead, lambda law: law.interval(levels))
        names = vars(self).get("_target_names")
        return interval_frame(ends, levels, as_frame, index=X, names=names)

    def _asked_of_laws(self, X, ahead, ask):
        """Return what the laws of rows answer; of many rows, which do not hang together, in pieces.

        A law has 199 quantiles a row, and mostly few of them are wanted.
        """
        model = twin(self)  # another thread may install a new state meanwhile
        shape = getattr(X, "shape", ())
        if ahead or len(shape) != 2 or shape[0] <= _BLOCK:
            return ask(model._law(X, ahead))
        pieces = gen_batches(shape[0], _BLOCK)
        return np.concatenate([ask(model._law(_rows(X, rows), False)) for rows in pieces])


def _rows(values, rows):
    """Return a slice of the rows of anything."""
    return values.iloc[rows] if hasattr(values, "iloc") else values[rows]


def checked_alpha(alpha):
    """Return one level of a quantile or several as an array of no or one dimension."""
    levels = np.asarray(alpha)
    if levels.dtype.kind not in "fiu" or levels.ndim > 1 or not levels.size:
        raise TypeError(f"alpha={alpha!r} must be a number above 0 and below 1, or a list of such.")
    if not ((levels > 0.0) & (levels < 1.0)).all():
        raise ValueError(f"alpha={alpha!r} must lie above 0 and below 1.")
    return levels


def followed_coverage(estimator, default):
    """Return the coverage that a model, or the one that it hands rows to, follows for good."""
    while hasattr(estimator, "_inner"):
        estimator = estimator._inner
    return getattr(estimator, "coverage", default)


def asked_coverage(estimator, coverage):
    """Return the coverage that is asked of a model; None is what it follows, or else 0.9.

    One that follows its own says itself what may be asked.
    """
    followed = followed_coverage(estimator, None)
    if followed is None:
        return checked_coverages(0.9 if coverage is None else coverage)
    return followed if coverage is None else coverage


def checked_coverages(coverage):
    """Return one coverage or several as an array of no or one dimension."""
    levels = np.asarray(coverage)
    if levels.dtype.kind not in "fiu" or levels.ndim > 1 or not levels.size:
        raise TypeError(
            f"coverage={coverage!r} must be a number between 0.01 and 0.99, or a list of such."
        )
    if not ((levels >= _LEAST) & (levels <= _MOST)).all():
        raise ValueError(f"coverage={coverage!r} must lie between 0.01 and 0.99.")
    return levels
