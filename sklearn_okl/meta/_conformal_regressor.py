"""Intervals around any regressor that learns from a stream."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils._param_validation import HasMethods

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments
from ..base import OnlineRegressor
from . import _progressive
from ._conformal import ConformalLayer

_FADING = 0.98  # of the running size of errors: about the latest fifty
_LEAST = 1e-6  # least running size, over the largest error


@inherit_documentation
class OnlineConformalRegressor(ConformalLayer, OnlineRegressor):
    r"""Intervals around the forecasts of any regressor that learns from a stream.

    A score is the size of a progressive error over the running mean size of the errors before it;
    the tracker says how large a score the next interval holds.

    Parameters
    ----------
    estimator : regressor
        It has `partial_fit` and `predict`: this package's, scikit-learn's or anybody's. It is
        cloned when the first row arrives, and never changed.

    See Also
    --------
    OnlineConformalClassifier : Sets of labels.
    OnlineKernelRegressor : Has intervals and quantiles of its own.
    sklearn_okl.conformal.ConformalTracker : What a tracker is.

    Notes
    -----
    *Cost.* That of the estimator, and of a tracker for each coverage, some 10 to 40 µs a row. An
    estimator without `prequential_predict` goes row by row.

    *Theorem.* The tracker's, of the rounds after the warm-up in which some error was known: each
    has its own threshold, and of the thresholds of several coverages one that is below that of a
    lower coverage is raised to it, so that intervals are nested, and hold at least as often.

    *Late labels.* Where the estimator has a `label_delay` of D, D + 1 trackers take turns, so that
    each knows the score of its last round when it is asked. The theorem holds for the rounds of
    each [2]_; a miss is noticed D + 1 rounds later. An interval of coverage c is the whole line
    until its tracker has heard some c / (1 - c) scores, so for (D + 1) c / (1 - c) rounds: of 24
    hours and .9 for 216, of .99 for 2 376; and again now and then, as where c is high.

    *Frames* with categories or text are handed on as they came.

    *Faults.* A forecast that is NaN or infinite counts as 0, as that before any row.

    References
    ----------
    .. [1] Gibbs & Candès 2021.
    .. [2] Weinberger & Ordentlich 2002.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn_okl import OnlineConformalRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> from sklearn_okl.evaluation import interval_coverage
    >>> X, y = make_ar4(1000, random_state=0)
    >>> model = OnlineConformalRegressor(SGDRegressor(random_state=0), coverage=[0.5, 0.9])
    >>> intervals = model.prequential_interval(X, y)
    >>> interval_coverage(y[100:], intervals[100:]).round(2)
    array([0.51, 0.9 ])
    >>> model.predict_interval(X[:3]).shape
    (3, 2, 2)
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "predict"])],
        **ConformalLayer._parameter_constraints,
    }
    _kind = is_regressor, "regressor that learns by 'partial_fit', such as SGDRegressor()"

    @explained_by(OnlineRegressor.prequential_predict)
    def prequential_interval(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Array:
        """Learn as `partial_fit` does, and return the intervals issued on the way.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_levels, 2)
            Low and high ends, each from what was known before the row's target; of several levels
            where `coverage` is a list. The whole line while nothing is known.
        """
        refuse_arguments(self, "prequential_interval", params)
        issued = []
        self._advance(X, y, restart=False, issued=issued)
        return self._of_one(issued[0])

    @explained_by(OnlineRegressor.predict, prequential_interval)
    def predict_interval(
        self, X: ArrayLike, coverage: float | ArrayLike | None = None, **params: Any
    ) -> Array:
        """Return an interval for each row as if it were the next one due; changes nothing.

        Parameters
        ----------
        coverage : float or array-like of shape (n_levels,), default=None
            That of the model, which trackers follow from the first row on: no other can be asked
            for. None is the same. A list of one has the axis of levels.

        Raises
        ------
        ValueError
            If it is another one.
        """
        refuse_arguments(self, "predict_interval", params)
        own = self.coverage if coverage is None else coverage
        if not np.array_equal(np.atleast_1d(own), np.atleast_1d(self.coverage)):
            raise ValueError(
                f"coverage={coverage!r} is asked for, but this model follows coverage="
                f"{self.coverage!r} from its first row on: leave it out, or give the model others."
            )
        model = self._as_of_now()
        state, X = model._asked(X)
        forecasts = model._answered(state, X)
        reach = model._reach(state, state["t"] + model.label_delay, state["sizes"])
        ends = _around(forecasts, np.broadcast_to(reach, (len(X), len(reach))))
        return ends if np.ndim(own) else ends[:, 0]

    def _start(self, n_features, n_targets=None):
        # faded sum of errors and of ones, and the largest error; before each of the latest rounds
        sizes = {"sizes": np.zeros(3), "past": np.zeros((self.label_delay, 3))}
        return super()._start(n_features) | sizes

    def _learn(self, state, X, y, issued=None):
        state["frame"] = self._frame
        handed, is_first = partial(self._handed, state), state["t"] == 0
        forecasts = _or_0(_progressive.numbers(state["estimator"], X, y, is_first, handed))
        reaches, sizes, past = [], state["sizes"], list(state["past"])
        for error in np.abs(y - forecasts).tolist():
            t = state["t"]
            past.append(sizes)
            known = past.pop(0)
            reaches.append(self._reach(state, t, known))
            if _unit(known) > 0.0:
                self._score(state, t, error / _unit(known))
            if t >= self.warmup + self.label_delay - 1:  # beginners' errors are no size
                total, number, largest = sizes
                sizes = np.array(
                    [_FADING * total + error, _FADING * number + 1.0, max(largest, error)]
                )
            state["t"] += 1
        state["sizes"], state["past"] = sizes, np.reshape(past, (self.label_delay, 3))
        if issued is not None:
            issued.append(_around(forecasts, np.array(reaches)))
        return forecasts

    def _reach(self, state, t, known):
        """Return how far intervals of round t reach (n_levels,), by the sizes known then."""
        unit, thresholds = _unit(known), self._thresholds(state, t)
        if known[1] == 0.0:  # no error is known
            return np.full(len(thresholds), np.inf)
        return np.maximum(thresholds, 0.0) * unit if unit > 0.0 else np.zeros(len(thresholds))

    def _forecast(self, state, X):
        forecasts = state["estimator"].predict(self._handed(state, X))
        return _or_0(np.asarray(forecasts, dtype=np.float64))


def _or_0(forecasts):
    return np.where(np.isfinite(forecasts), forecasts, 0.0)


def _unit(known):
    """Return the running size of errors, 0 where none was above 0."""
    total, number, largest = known
    return max(total / number, _LEAST * largest) if number else 0.0


def _around(forecasts, reach):
    """Return intervals (n, levels, 2) that reach so far (n, levels) to both sides."""
    return np.stack([forecasts[:, None] - reach, forecasts[:, None] + reach], axis=-1)
