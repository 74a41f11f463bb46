"""Copies of a learner on geometric covering intervals, mixed as experts who sleep outside them."""

from __future__ import annotations

from functools import partial
from numbers import Integral

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils._param_validation import HasMethods, Interval

from .._delay import delay_of
from .._documentation import explained_by, inherit_documentation
from .._linalg import softmax
from .._types import Any, Array
from ..aggregators._range import check_y_range
from ..aggregators._specialists import Specialists
from ..base import OnlineRegressor, _copied
from ..features._as_came import HandsOn
from ..learners import VAWRegressor
from . import _progressive
from ._covering import levels_begun, log_prior_of


@inherit_documentation
@explained_by(Specialists)
class StronglyAdaptiveRegressor(HandsOn, OnlineRegressor):
    r"""Any online regressor, begun anew on intervals of all lengths, and a mixture of the copies.

    Rounds go in blocks of `min_length`. With block :math:`j = 1, 2, \ldots` new copies begin for
    each power :math:`2^k` that divides j, and learn for :math:`2^k` blocks, so that each round lies
    in one interval of every length up to its past: these are the geometric covering intervals [1]_.
    The copies that are awake are mixed by Vovk's aggregating algorithm for experts who sleep, with
    priors :math:`\pi \propto 1 / j^2`, on clipped forecasts. A copy wakes when it has learnt its
    first round, for which those before it stay awake. Whatever interval one looks at, the loss is
    near that of a copy that began with it.

    Parameters
    ----------
    estimator : estimator object, default=None
        An online regressor, this package's or any with `partial_fit` and `predict`. None is
        :class:`VAWRegressor`. It is cloned, never changed. With an integer as its `random_state`
        all copies draw the same features.
    min_length : int, default=16
        Length of the shortest intervals, >= 1, in rounds. The papers' is 1; shorter ones than a
        learner needs to learn anything cost time and gain nothing.

    Attributes
    ----------
    estimators_ : list of estimators
        The copies that are awake, that of the shortest interval first.
    weights_ : ndarray of shape (n_copies,)
        Their weights for the next round.

    Raises
    ------
    TypeError, ValueError
        If the estimator is no regressor, or if its labels come late: it would not be known when a
        copy is to begin.

    See Also
    --------
    AdaRakerRegressor : The paper's own weights over Rakers, with shared features.
    DiscountedVAWAARegressor : Forgets at all rates, for one linear learner.

    Notes
    -----
    *Cost.* That of at most :math:`\log_2(t / min\_length) + 1` copies in round t. Those with
    `prequential_predict` learn the rows of a block at once, others row by row.

    *Theorem.* On each interval of the cover, against its copy, with r the range of the targets up
    to its end,

    .. math:: \sum_t (\hat y_t - y_t)^2 - (f_t - y_t)^2 \le \tfrac12 r^2 \ln(1 / \pi) + 4 r^2 ,

    where one r² is for the first round of the copy, in which it sleeps; any interval is cut into
    at most :math:`2 \log_2` of its length of them, and its ends (Lemma 1.2 of [1]_):
    :func:`sklearn_okl.evaluation.strongly_adaptive_regret_bound`. With the estimator's own regret
    of :math:`O(\ln T)`, as VAW's, that is :math:`O(\ln^2 T)` on every interval. The bound is
    sharper than that of [1]_ and [2]_, of order :math:`\sqrt{|I|}`, because the square loss is
    mixable.

    *Frames* with categories or text are handed on as they came, gaps too.

    *Departures.* [1]_ and [2]_ mix by rules for any convex loss; blocks are ours.

    References
    ----------
    .. [1] Daniely et al. 2015.
    .. [2] K.-S. Jun, F. Orabona, S. Wright, R. Willett, "Improved strongly adaptive online learning
       using coin betting", AISTATS 2017.
    .. [3] Chernov & Vovk 2009, for who sleeps.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import StronglyAdaptiveRegressor, VAWRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> y = X @ [1.0, -2.0, 0.5] * np.where(np.arange(600) < 300, 1.0, -1.0)
    >>> model = StronglyAdaptiveRegressor(VAWRegressor())
    >>> losses = (model.prequential_predict(X, y) - y) ** 2
    >>> alone = (VAWRegressor().prequential_predict(X, y) - y) ** 2
    >>> bool(losses[300:].sum() < 0.2 * alone[300:].sum()), len(model.estimators_)
    (True, 6)
    """

    _test_parameters = ({}, {"min_length": 5, "y_range": (-5.0, 5.0)})
    _parameter_constraints = {
        "estimator": [HasMethods(["partial_fit", "predict"]), None],
        "min_length": [Interval(Integral, 1, None, closed="left")],
        "y_range": ["array-like", None],
    }
    _structural = ("estimator", "min_length", "y_range")
    _has_nameless_weights = True  # of copies on intervals

    def __init__(self, estimator: Any = None, *, min_length: int = 16, y_range: Any = None) -> None:
        self.estimator = estimator
        self.min_length = min_length
        self.y_range = y_range

    @property
    def estimators_(self) -> list[Any]:
        """Copies of those that are awake, by the lengths of their intervals."""
        return _copied(self._fitted_state("estimators_")["copies"])

    @property
    def weights_(self) -> Array:
        """Weights of the copies for the next round."""
        return softmax(self._mixture().log_weights(self._fitted_state("weights_")["mixture"]))

    def _handed_to(self):
        return [self._unfitted()]

    def _unfitted(self):
        return VAWRegressor() if self.estimator is None else self.estimator

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)
        part = self.estimator
        if part is not None and (isinstance(part, type) or not is_regressor(part)):
            raise TypeError(
                f"estimator={part!r} is not an instance of a regressor. Give one that learns by "
                "'partial_fit', such as VAWRegressor()."
            )
        if delay_of(part):
            raise ValueError(
                f"The estimator has label_delay={delay_of(part)}: its copies begin and end with "
                "rounds whose labels are known. Set it to 0, and let prequential(delay=) wait."
            )

    def _mixture(self):
        return Specialists(self.y_range)

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "copies": [],  # by length of their intervals, the shortest first
            "mixture": self._mixture().start(),
        }

    def _begin(self, state):
        """Let the copies begin whose intervals do with the round that was just forecast."""
        block = state["t"] // self.min_length + 1
        for level in range(levels_begun(block)):
            copy = clone(self._unfitted())
            if level < len(state["copies"]):
                state["copies"][level] = copy
                self._mixture().renew(state["mixture"], level, log_prior_of(block))
            else:
                state["copies"].append(copy)
                self._mixture().add(state["mixture"], log_prior_of(block))
        return levels_begun(block)

    def _learn(self, state, X, y):
        state["frame"] = self._frame
        forecasts, low = np.empty(len(y)), 0
        while low < len(y):
            high = min(len(y), low + self.min_length - state["t"] % self.min_length)
            forecasts[low:high] = self._learn_block(state, X[low:high], y[low:high])
            state["t"] += high - low
            low = high
        return forecasts

    def _learn_block(self, state, X, y):
        """Learn rows of one block; its first one is forecast by the copies before it."""
        mixture, n_new, first = self._mixture(), 0, []
        if state["t"] % self.min_length == 0:
            first = mixture.learn(state["mixture"], self._of_copies(state, X[:1]), y[:1])
            n_new = self._begin(state)
        handed = partial(self._handed, state)
        F = [
            _progressive.numbers(copy, X, y, level < n_new, handed)
            for level, copy in enumerate(state["copies"])
        ]
        F = np.column_stack(F)[len(first) :]
        return np.concatenate([first, mixture.learn(state["mixture"], F, y[len(first) :])])

    def _of_copies(self, state, X):
        """Return the forecasts (n, K) of all copies."""
        rows, F = self._handed(state, X), np.empty((len(X), len(state["copies"])))
        for level, copy in enumerate(state["copies"]):
            F[:, level] = np.reshape(copy.predict(rows), len(X))
        return F

    def _forecast(self, state, X):
        return self._mixture().forecast(state["mixture"], self._of_copies(state, X))
