"""What a tracker is: the contract, and the parameters that all share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import inf
from numbers import Integral, Real

from .._documentation import explained_by
from .._types import Any
from .._values import ValueObject


class ConformalTracker(ValueObject, ABC):
    r"""Base of the rules that say how large a score the next prediction set is to hold.

    A score :math:`s_t \ge 0` says how badly a forecast missed. In round t the set holds all targets
    whose score would be at most the threshold :math:`q_t`; then the score is seen, and a score
    above the threshold is a miss. A share c of all rounds is to be held, whatever the scores are.

    A tracker holds settings only, numbers or tuples, which are not changed once it is made, and is
    equal to any of the same class and settings. What it learns is a state, a dict of finite numbers
    and arrays. One of your own writes the three methods below.

    See Also
    --------
    OnlineConformalRegressor : Takes one as its `tracker`.
    OnlineConformalClassifier : Does too, for sets of labels.

    Examples
    --------
    Steps of one size, the quantile tracker of Angelopoulos, Candès and Tibshirani (2023, eq. 4):

    >>> from sklearn_okl.conformal import ConformalTracker
    >>> class QuantileTracker(ConformalTracker):
    ...     def __init__(self, eta=0.1):
    ...         self.eta = eta
    ...
    ...     def start(self, coverage):
    ...         return {"coverage": coverage, "threshold": 0.0}
    ...
    ...     def threshold(self, state):
    ...         return state["threshold"]
    ...
    ...     def learn(self, state, score):
    ...         missed = float(score > state["threshold"])
    ...         state["threshold"] += self.eta * (missed - (1.0 - state["coverage"]))
    >>> tracker = QuantileTracker(0.5)
    >>> state = tracker.start(0.8)
    >>> tracker.learn(state, 3.0)
    >>> tracker.threshold(state)
    0.4
    """

    @abstractmethod
    def start(self, coverage: float) -> dict[str, Any]:
        """Begin a run of rounds.

        Parameters
        ----------
        coverage : float
            Share of rounds to be held, above 0 and below 1.

        Returns
        -------
        state : dict of float, int and ndarray
            What is known before the first round: finite, and of the same shapes ever after.
        """

    @abstractmethod
    def threshold(self, state: dict[str, Any]) -> float:
        """Return the largest score that the next set holds; reads only.

        Parameters
        ----------
        state : dict of float, int and ndarray
            As `start` began and `learn` left it.

        Returns
        -------
        threshold : float
            Infinite where the set holds everything, below 0 where it holds nothing.
        """

    @abstractmethod
    @explained_by(threshold)
    def learn(self, state: dict[str, Any], score: float) -> None:
        """Learn the score of the round that `threshold` was asked for, into the state.

        Parameters
        ----------
        score : float, finite and at least 0
            How badly the forecast missed.

        Returns
        -------
        None
        """


def checked_number(tracker, name, low=0.0, closed=False):
    """Refuse a setting that is no finite number above a low one, or, where closed, at least it."""
    value = getattr(tracker, name)
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not (is_number and (low <= value if closed else low < value) and value < inf):
        least = "at least" if closed else "above"
        raise ValueError(
            f"{name}={value!r} of {type(tracker).__name__}: give a finite number {least} {low:g}."
        )


def checked_count(tracker, name):
    """Refuse a setting that is no whole number of at least 1."""
    value = getattr(tracker, name)
    if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
        raise ValueError(
            f"{name}={value!r} of {type(tracker).__name__}: give a whole number of at least 1."
        )
