"""Mixing classifiers of any kind: V. Vovk, "Aggregating strategies", COLT 1990, in the log loss."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._delay import late
from .._documentation import inherit_documentation
from .._types import Any, Array, ArrayLike
from ..aggregators import EWARegressor
from ..aggregators._likelihoods import doubts, floored
from ..base import ConvexAggregator, OnlineMulticlassClassifier
from ..base._convex import learn_awake
from ._advised import Advised
from ._teaching import Probabilities


@inherit_documentation
class _AdvisedClassifier(Advised, OnlineMulticlassClassifier):
    """Base: what is probabilities in a mixture of experts.

    Attributes
    ----------
    expert_losses_ : ndarray of shape (n_experts,)
        Sum of log losses of each expert's own progressive forecasts, as far as it was awake.
    """

    _of_classes = True

    def predict_experts(self, X: ArrayLike) -> Array:
        """Forecast each row by each expert; changes nothing.

        Returns
        -------
        P : ndarray of shape (n_samples, n_experts, n_classes)
            The experts' probabilities, with doubt, NaN for those asleep, in the order of
            ``classes_``.
        """
        return super().predict_experts(X)

    def _combiner(self):
        return (EWARegressor() if self.aggregator is None else self.aggregator)._for_log_loss()

    def _start(self, n_features, n_targets=None):
        return super()._start(n_features) | {
            "counts": np.zeros(self._n_places),
            "past": np.zeros((self.label_delay, self._n_places)),  # before the latest rounds
        }

    def _learn(self, state, X, y):
        n_known = state["t"] + np.arange(len(y)) - self.label_delay

        def make_way(rows, is_first):
            return Probabilities(self.classes_, is_first, handed)

        state["frame"], handed = self._frame, partial(self._handed, state)
        P = self._taught(state, X, y, make_way)
        P = floored(P, doubts(n_known, self._n_places))
        state["expert_losses"] -= np.nansum(np.log(P[np.arange(len(y)), :, y]), axis=0)
        of_class = y[:, None] == np.arange(self._n_places)
        counts = np.concatenate([state["counts"][None], state["counts"] + of_class.cumsum(axis=0)])
        state["counts"] = counts[-1]
        state["t"] += len(y)
        known, state["past"] = late(counts[:-1], state["past"])
        combiner = self._combiner()
        learn = partial(combiner._learn_classes, state["aggregator"])
        wait = partial(combiner._pass, state["aggregator"]) if self.label_delay else None
        return _combined(partial(learn_awake, learn, wait), P, known, y)

    def _forecast(self, state, X):
        def forecast(idle, P):
            return self._combiner()._forecast_classes(state["aggregator"], P)

        counts = np.tile(state["counts"], (len(X), 1))
        return _combined(forecast, self._forecast_experts(state, X), counts)

    def _forecast_experts(self, state, X):
        P = self._asked_experts(
            state, X, Probabilities(self.classes_, handed=partial(self._handed, state))
        )
        return floored(P, doubts(np.full(len(X), state["t"]), self._n_places))


def _combined(combine, P, counts, *places):
    """Return an aggregator's forecasts (n, C); how often each class came, where all are asleep."""
    forecasts = (counts + 1.0) / (counts + 1.0).sum(axis=1, keepdims=True)
    idle = np.isnan(P[..., 0]).all(axis=1)
    forecasts[~idle] = combine(idle, P[~idle], *(part[~idle] for part in places))
    return forecasts


_MIXED = {"aggregator": [ConvexAggregator, None]}


@inherit_documentation
class ExpertsClassifier(_AdvisedClassifier):
    r"""Any classifiers with probabilities that learn by `partial_fit`, mixed in the log loss.

    Every round each expert k gives class c the probability :math:`p_{k,t}(c)`, the forecast is
    their mean

    .. math:: p_t(c) = \sum_k w_{k,t} \, p_{k,t}(c), \qquad
              w_{k,t} \propto \prod_{s<t} p_{k,s}(y_s) ,

    then the label is seen, and all learn. Another aggregator makes other weights.

    Parameters
    ----------
    experts : list of tuple of (str, estimator)
        Names and classifiers with `partial_fit` and `predict_proba`: this package's,
        scikit-learn's or anybody's. They are cloned when the first row arrives and never changed.
    aggregator : ConvexAggregator or None, default=None
        The rule of the weights, which are compared in the log loss: its `loss` is not read. None is
        ``EWARegressor()``, here Vovk's aggregating algorithm, the one of the formula;
        ``FixedShareRegressor()`` is for a best expert that changes.

    Raises
    ------
    TypeError
        If an expert is no classifier with `partial_fit` and `predict_proba`.
    ValueError
        If names repeat, an expert fails, which is named, or its parameters change in mid-stream; if
        the aggregator has no rule for the log loss.

    Warns
    -----
    UserWarning
        If an expert without `prequential_predict_proba` diverges until it fails, and sleeps.

    See Also
    --------
    ExpertsRegressor : The same for real targets.
    OnlineKernelClassifier : Experts of its own, calibrated too.
    sklearn.ensemble.VotingClassifier : Fixed weights, and no stream.

    Notes
    -----
    *Cost.* That of the experts, which each call copies, plus :math:`O(K C)` for K experts and C
    classes. Those with `prequential_predict_proba`, most of this package's among them, learn all
    rows of a call at once; others go row by row, `predict_proba` and then `partial_fit`.

    *Doubt.* After t rounds a share :math:`1 / (t + C)` of each forecast is spread over all classes,
    so that no probability is 0, however sure an expert was.

    *Theorem.* In the log loss, with the default aggregator, over any T rounds in which nobody
    sleeps [1]_, against every expert k,

    .. math:: \sum_t -\ln p_t(y_t) \le \sum_t -\ln p_{k,t}(y_t) + \ln K
              + \ln \Bigl( 1 + \frac{T}{C - 1} \Bigr) ,

    where the last term is what doubt costs at most, and :math:`p_{k,t}` is without it.

    *Faults.* An expert sleeps in a round where its probabilities are NaN, negative or all 0; others
    are scaled to sum to one. Asleep, it is charged what the mixture loses. Where all sleep, the
    forecast is how often each class came.

    *Rows.* Frames with categories or text are handed on as they came, as by
    :class:`ExpertsRegressor`.

    *Names* of experts are those of their parameters, too: ``set_params(sgd__alpha=1e-3)``.

    References
    ----------
    .. [1] Vovk 1990.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sklearn.linear_model import SGDClassifier
    >>> from sklearn_okl import ExpertsClassifier, FOGDClassifier
    >>> X, y = make_classification(300, random_state=0)
    >>> model = ExpertsClassifier([
    ...     ("sgd", SGDClassifier(loss="log_loss", random_state=0)),
    ...     ("fogd", FOGDClassifier(random_state=0))])
    >>> P = model.prequential_predict_proba(X, y)  # each made before its label was seen
    >>> model.weights_.shape, model.predict_experts(X[:5]).shape
    ((2,), (5, 2, 2))
    """

    _parameter_constraints = {**Advised._parameter_constraints, **_MIXED}

    def __init__(
        self,
        experts: Any,
        aggregator: Any = None,
        *,
        n_jobs: int | None = None,
        label_delay: int = 0,
    ) -> None:
        self.experts = experts
        self.aggregator = aggregator
        self.n_jobs = n_jobs
        self.label_delay = label_delay
