"""Layers of conformal prediction: intervals and sets around any model that learns from a stream."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval

from .._delay import delay_of
from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments
from ..base import (
    OnlineMulticlassClassifier,
    OnlineRegressor,
    _copied,
    described,
    structural_parameters,
)
from ..conformal import ACI, ConformalTracker
from ..features import _as_came
from . import _progressive

_FADING = 0.98  # of the running size of errors: about the latest fifty
_LEAST = 1e-6  # least running size, over the largest error
_LARGEST = 1e100  # score handed to a tracker


class _ConformalLayer:
    r"""An estimator, and a tracker of its scores for each coverage, above the shell of its kind.

    Parameters
    ----------
    tracker : ConformalTracker, default=None
        How thresholds of scores are found, see :mod:`sklearn_okl.conformal`. None is
        :class:`~sklearn_okl.conformal.ACI`, with a theorem for any stream.
    coverage : float or array-like of shape (n_levels,), default=0.9
        Share of targets to be held, above 0 and below 1, or several of them.
    warmup : int, default=30
        Number of first rounds whose scores teach nothing; late labels are added to it. Until then
        everything is held: a beginner's errors say nothing of later ones.

    Attributes
    ----------
    estimator_ : estimator
        Copy of the estimator, fitted.
    thresholds_ : ndarray of shape (n_levels,)
        The largest scores that are held in the next row due, infinite where all are.
    """

    _parameter_constraints = {
        "tracker": [ConformalTracker, None],
        "coverage": [Interval(Real, 0, 1, closed="neither"), "array-like"],
        "warmup": [Interval(Integral, 0, None, closed="left")],
    }
    _structural = ("estimator", "tracker", "coverage", "warmup")
    _frame = None  # what is known of columns, where there are categories or text

    def __init__(
        self,
        estimator: Any,
        *,
        tracker: Any = None,
        coverage: float | ArrayLike = 0.9,
        warmup: int = 30,
    ) -> None:
        self.estimator = estimator
        self.tracker = tracker
        self.coverage = coverage
        self.warmup = warmup

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = get_tags(self.estimator).input_tags.allow_nan
        return tags

    @property
    def _allow_nan(self):
        return self._frame is not None or get_tags(self.estimator).input_tags.allow_nan

    @property
    def label_delay(self) -> Any:
        """The delay of the estimator, 0 of one that has none."""
        return getattr(self.estimator, "label_delay", 0)

    @property
    def estimator_(self) -> Any:
        """Copy of the fitted estimator."""
        return _copied(self._fitted_state("estimator_")["estimator"])

    @property
    def thresholds_(self) -> Array:
        """The largest scores held in the next row due, one for each coverage."""
        state = self._fitted_state("thresholds_")
        model = self._as_taught()
        return model._thresholds(state, state["t"] + model.label_delay)

    def _validate(self):
        super()._validate()
        self._check_kind()
        levels = np.asarray(self.coverage)
        numbers = levels.dtype.kind in "fiu" and levels.ndim <= 1 and levels.size
        if not (numbers and ((levels > 0.0) & (levels < 1.0)).all()):
            raise ValueError(
                f"coverage={self.coverage!r}: give a number above 0 and below 1, such as 0.9, or a "
                "list of such."
            )
        delay_of(self.estimator)

    def _check_kind(self):
        is_one, what = self._kind
        if isinstance(self.estimator, type) or not is_one(self.estimator):
            raise TypeError(f"estimator={self.estimator!r} is not an instance of a {what}.")

    def _structure(self):
        names = structural_parameters(type(self))
        return {name: described(getattr(self, name)) for name in names}

    def _validated_rows(self, X, y, restart, **validation):
        plain = super()._validated_rows
        return _as_came.validated_rows(self, plain, X, y, restart, **validation)

    def _asked(self, X):
        return _as_came.asked(self, super()._asked, X)

    def _handed(self, state, X):
        return _as_came.given_back(X, state.get("frame"))

    def _start(self, n_features, n_targets=None):
        levels, tracker = self._levels(), self._tracker()
        starts = [[tracker.start(c) for c in levels] for _ in range(self.label_delay + 1)]
        return {"t": 0, "estimator": clone(self.estimator), "trackers": starts}

    def _levels(self):
        return np.atleast_1d(np.asarray(self.coverage, dtype=np.float64)).tolist()

    def _tracker(self):
        return ACI() if self.tracker is None else self.tracker

    def _thresholds(self, state, t):
        """Return what is held in round t (n_levels,): no less at a higher coverage."""
        if t < self.warmup + self.label_delay:
            return np.full(len(self._levels()), np.inf)
        ask, turn = self._tracker().threshold, t % (self.label_delay + 1)
        found = np.array([ask(one) for one in state["trackers"][turn]])
        order = np.argsort(self._levels(), kind="stable")
        found[order] = np.maximum.accumulate(found[order])
        return found

    def _score(self, state, t, score):
        """Learn the score of round t."""
        if t >= self.warmup + self.label_delay:
            for one in state["trackers"][t % (self.label_delay + 1)]:
                self._tracker().learn(one, min(float(score), _LARGEST))

    def _of_one(self, held):
        """Return what is held without the axis of the levels, second, where there is one level."""
        return held[:, 0] if np.ndim(self.coverage) == 0 else held


@inherit_documentation
class OnlineConformalRegressor(_ConformalLayer, OnlineRegressor):
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
    each [2]_; a miss is noticed D + 1 rounds later.

    *Frames* with categories or text are handed on as they came.

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
        **_ConformalLayer._parameter_constraints,
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
    def predict_interval(self, X: ArrayLike, **params: Any) -> Array:
        """Return an interval for each row as if it were the next one due; changes nothing."""
        refuse_arguments(self, "predict_interval", params)
        model = self._as_of_now()
        state, X = model._asked(X)
        forecasts = model._answered(state, X)
        reach = model._reach(state, state["t"] + model.label_delay, state["sizes"])
        return model._of_one(_around(forecasts, np.broadcast_to(reach, (len(X), len(reach)))))

    def _start(self, n_features, n_targets=None):
        # faded sum of errors and of ones, and the largest error; before each of the latest rounds
        sizes = {"sizes": np.zeros(3), "past": np.zeros((self.label_delay, 3))}
        return super()._start(n_features) | sizes

    def _learn(self, state, X, y, issued=None):
        state["frame"] = self._frame
        rows, is_first = self._handed(state, X), state["t"] == 0
        forecasts = _progressive.numbers(state["estimator"], rows, y, is_first)
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
        return np.asarray(state["estimator"].predict(self._handed(state, X)), dtype=np.float64)


@inherit_documentation
@explained_by(OnlineConformalRegressor)
class OnlineConformalClassifier(_ConformalLayer, OnlineMulticlassClassifier):
    r"""Sets of labels around the probabilities of any classifier that learns from a stream.

    The score of a label is one less its probability; a set holds all labels whose score is at most
    the threshold that the tracker gives. It may hold none: then the row is unlike those before.

    Parameters
    ----------
    estimator : classifier
        It has `partial_fit` and `predict_proba`, and is cloned when the first row arrives.

    See Also
    --------
    OnlineConformalRegressor : Intervals.

    Notes
    -----
    *Cost.*

    *Theorem.* The tracker's, of the rounds after the warm-up; that of a descent for scores up to 1.

    *Late labels.*

    References
    ----------
    .. [1] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with bounded
       error levels", Journal of the American Statistical Association 114(525), 2019, on the score.
    .. [2] Weinberger & Ordentlich 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn_okl import ImproperLogisticClassifier, OnlineConformalClassifier
    >>> X, y = load_digits(n_class=3, return_X_y=True)
    >>> model = OnlineConformalClassifier(ImproperLogisticClassifier())
    >>> sets = model.prequential_set(X / 16.0, y)
    >>> sets.shape, float(sets[range(100, 500), y[100:500]].mean().round(2))
    ((537, 3), 0.9)
    """

    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "predict_proba"])],
        **_ConformalLayer._parameter_constraints,
    }
    _kind = is_classifier, "classifier with probabilities that learns by 'partial_fit'"

    @explained_by(OnlineMulticlassClassifier.prequential_predict)
    def prequential_set(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the sets issued on the way.

        Returns
        -------
        sets : ndarray of bool of shape (n_samples, n_classes) or (n_samples, n_levels, n_classes)
            Whether each of ``classes_`` was in the set; of several levels where `coverage` is a
            list.
        """
        refuse_arguments(self, "prequential_set", params)
        issued = []
        validation = {"classes": classes}
        self._advance(X, y, restart=False, validation=validation, issued=issued)
        return self._of_one(issued[0])

    @explained_by(OnlineRegressor.predict, prequential_set)
    def predict_set(self, X: ArrayLike, **params: Any) -> Array:
        """Return the set of labels of each row as if it were the next one due; changes nothing."""
        refuse_arguments(self, "predict_set", params)
        model = self._as_of_now()
        state, X = model._asked(X)
        P = model._answered(state, X)
        held = model._thresholds(state, state["t"] + model.label_delay)
        return model._of_one(1.0 - P[:, None] <= held[:, None])

    def _learn(self, state, X, y, issued=None):
        state["frame"] = self._frame
        rows, is_first = self._handed(state, X), state["t"] == 0
        labels = self.classes_[y]
        P = _progressive.probabilities(state["estimator"], rows, labels, self.classes_, is_first)
        thresholds = []
        for score in (1.0 - P[np.arange(len(y)), y]).tolist():
            thresholds.append(self._thresholds(state, state["t"]))
            self._score(state, state["t"], score)
            state["t"] += 1
        if issued is not None:
            issued.append(1.0 - P[:, None] <= np.array(thresholds)[:, :, None])
        return P

    def _forecast(self, state, X):
        estimator = state["estimator"]
        P = estimator.predict_proba(self._handed(state, X))
        return _progressive.placed(estimator, P, self.classes_)


def _unit(known):
    """Return the running size of errors, 0 where none was above 0."""
    total, number, largest = known
    return max(total / number, _LEAST * largest) if number else 0.0


def _around(forecasts, reach):
    """Return intervals (n, levels, 2) that reach so far (n, levels) to both sides."""
    return np.stack([forecasts[:, None] - reach, forecasts[:, None] + reach], axis=-1)
