"""What layers of conformal prediction share: an estimator, and a tracker for each coverage."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from .._delay import delay_of
from .._types import Any, Array, ArrayLike
from ..base import (
    _copied,
)
from ..conformal import ACI, ConformalTracker
from ..features._as_came import HandsOn

_LARGEST = 1e100  # score handed to a tracker


class ConformalLayer(HandsOn):
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

    def _handed_to(self):
        return [self.estimator]

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
