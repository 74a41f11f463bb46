"""Mixing regressors of any kind: prediction with expert advice over estimators of one's own."""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._delay import late
from .._documentation import inherit_documentation
from .._types import Any
from .._validation import refuse_arguments
from ..aggregators import BOARegressor
from ..base import ConvexAggregator, OnlineRegressor
from ..base._convex import learn_awake
from ..base._distributions import DistributionVerbs
from ..conformal import QuantileDistribution, _running_errors
from ._advised import Advised
from ._fence import N_FIRST, SaneRange, brought_near, moderate, were_far
from ._teaching import Numbers

_FARTHEST = 1e200  # in place of no bound: sums of some stay finite


class _AdvisedRegressor(DistributionVerbs, Advised, OnlineRegressor):
    """Base: what is numbers in a mixture of experts, and which of them are believed.

    Attributes
    ----------
    expert_losses_ : ndarray of shape (n_experts,)
        Sum of squared errors of each expert's own progressive forecasts, as far as it was awake.
    """

    def _combiner(self):
        return self._aggregator(BOARegressor() if self.aggregator is None else self.aggregator)

    @property
    def _has_rule(self):
        """Whether forecasts get weights of sum one; whoever is free in them can scale forecasts."""
        return self.aggregator is None or isinstance(self.aggregator, ConvexAggregator)

    def _fence(self):
        return SaneRange(self.initial_forecast)

    def _start(self, n_features, n_targets=None):
        return super()._start(n_features) | {
            "targets": {},  # their moments, from the first one on
            "errors": _running_errors.start(self.label_delay),  # of which the laws come
            # rounds that are judged as a whole, as long as they are not all there, forecasts too
            "first": (np.empty((0, n_features)), np.empty(0), np.empty((0, len(self.experts)))),
            # what was known of targets before the latest rounds: their mean, the largest sane one
            "past": np.tile([float(self.initial_forecast), _FARTHEST], (self.label_delay, 1)),
            "former": {},  # the mixture before it began anew, while its forecasts have no targets
        }

    def _learn(self, state, X, y):
        y, t, delay = moderate(y), state["t"], self.label_delay
        ends = {N_FIRST + some * delay - t for some in range(3)}
        cuts = [0, *sorted(end for end in ends if 0 < end < len(y)), len(y)]
        return np.concatenate(
            [self._learn_stretch(state, X[a:b], y[a:b]) for a, b in pairwise(cuts)]
        )

    def _rows_kept(self, state):
        rows = [super()._rows_kept(state), state["first"][0]]
        if state["former"]:
            rows.append(super()._rows_kept(state["former"]))
        return np.concatenate(rows)

    def _learn_stretch(self, state, X, y):
        """Learn rounds all before or all after each end, and judge the first ones at theirs.

        Targets are judged when there are 32, and forecasts when there are all that knew fewer.
        """
        F, forecasts = self._learn_rows(state, X, y)
        if state["former"]:
            with self._untraced():
                _, forecasts = self._learn_rows(state["former"], X, y)
        t, n_first = state["t"], N_FIRST + self.label_delay
        if t in (n_first, n_first + self.label_delay):
            state["former"] = {}
        if t > n_first:
            return forecasts
        parts = zip(state["first"], (X, y, F), strict=True)
        _, y, _ = state["first"] = tuple(map(np.concatenate, parts))
        if t == N_FIRST:
            targets = self._fence().judged(y)
            if (targets != y).any():
                self._begin_anew(state, targets)
        if t == n_first:
            _, y, F = state["first"]
            targets = self._fence().judged(y)
            if self._has_rule and were_far(F, targets):
                self._begin_anew(state, y, targets)
            state["first"] = tuple(part[:0] for part in state["first"])
        return forecasts

    def _begin_anew(self, state, y, near=None):
        """Learn the first rounds again, with targets (n,), and forecasts near such if given."""
        X, _, _ = state["first"]
        anew, former = self._start(X.shape[1]), {}
        with self._untraced():
            F, _ = self._learn_rows(anew, X, y, near)
        if self.label_delay:
            former = {key: part for key, part in state.items() if key != "first"}
        state.update(anew | {"first": (X, y, F), "former": former})

    def _learn_rows(self, state, X, y, near=None):
        """Return what the experts say (n, n_experts), and the forecasts (n,)."""
        state["frame"], came, t = self._frame, y, state["t"]
        means, reach, y = self._fence().learn(state["targets"], t, y)
        known = np.column_stack([means, np.minimum(reach, _FARTHEST)])
        known, state["past"] = late(known, state["past"])
        means, reach = known.T

        def make_way(rows, is_first):
            return Numbers(reach[rows], self.initial_forecast, is_first, handed)

        handed = partial(self._handed, state)
        own = self._taught(state, X, y, make_way)
        state["expert_losses"] += np.nansum(np.square(own - y[:, None]), axis=0)
        state["t"] += len(y)
        F = own if near is None else brought_near(own, near)
        combiner = self._combiner()
        learn = partial(combiner._learn, state["aggregator"])
        wait = partial(combiner._pass, state["aggregator"]) if self.label_delay else None
        forecasts = self._combined(partial(learn_awake, learn, wait), F, means, reach, y)
        self._learn_errors(state["errors"], t, came, forecasts, came != y)
        return own, forecasts

    def _learn_errors(self, errors, t, y, forecasts, faulty):
        """Learn what was missed from round t on; forecasts of the first rounds know nothing."""
        first, trace = max(1 + self.label_delay - t, 0), vars(self).get("_trace")
        if trace is not None:
            trace.extend(np.full((min(first, len(y)), len(_running_errors.QUANTILES)), np.nan))
        missed = (y - forecasts)[first:]
        _running_errors.learn(errors, missed, faulty[first:], trace=trace)

    @contextmanager
    def _untraced(self):
        """Let what is learnt a second time leave no trace."""
        trace = vars(self).pop("_trace", None)
        try:
            yield
        finally:
            if trace is not None:
                self._trace = trace

    def _law(self, X, ahead):
        state, X = self._asked(X)
        if ahead and len(X) > self.label_delay + 1:
            raise ValueError(
                f"X has {len(X)} rows, but with ahead=True at most label_delay + 1 = "
                f"{self.label_delay + 1} of them are known to come: give these, in order."
            )
        forecasts = self._forecast(state, X)
        return _law_around(forecasts, _running_errors.quantiles(state["errors"]))

    def _laws_on_the_way(self, X, y, weights):
        if weights is not None:
            refuse_arguments(self, "prequential_quantiles", {"sample_weight": weights})
        self._trace = []
        try:
            forecasts = self.prequential_predict(X, y)
            offsets = np.array(self._trace)
        finally:
            del self._trace
        return _law_around(forecasts, offsets), ~np.isnan(offsets[:, 0])

    def _forecast(self, state, X):
        mean, reach = self._fence().known(state["targets"], state["t"])
        F = self._forecast_experts(state, X)
        means, reach = np.full(len(X), mean), np.full(len(X), reach)

        def forecast(idle, F):
            asked = self._combiner()._forecast
            return asked(state["aggregator"], F) if len(F) else np.empty(0)

        return self._combined(forecast, F, means, reach)

    def _forecast_experts(self, state, X):
        _, reach = self._fence().known(state["targets"], state["t"])
        return self._asked_experts(
            state, X, Numbers(np.full(len(X), reach), handed=partial(self._handed, state))
        )

    def _combined(self, combine, F, means, reach, *targets):
        """Return the aggregator's forecasts; the mean of the past where it has nothing to mix."""
        combiner = self._combiner()
        asleep = np.isnan(F)
        if not combiner._allow_nan:
            F = np.where(asleep, means[:, None], F)
            idle = np.zeros(len(F), dtype=bool)
        elif getattr(combiner, "fallback", None) is None:
            idle = asleep.all(axis=1)
        else:
            idle = np.zeros(len(F), dtype=bool)
        forecasts = means.copy()
        forecasts[~idle] = combine(idle, F[~idle], *(part[~idle] for part in targets))
        return np.clip(forecasts, -reach, reach)


def _law_around(forecasts, offsets):
    """Return distributions whose quantiles lie so far from forecasts (n,)."""
    quantiles = forecasts[:, None] + offsets
    return QuantileDistribution(_running_errors.QUANTILES, quantiles)


@inherit_documentation
class ExpertsRegressor(_AdvisedRegressor):
    r"""Any regressors that learn by `partial_fit`, and an aggregator of their forecasts.

    Every round each expert k forecasts :math:`f_{k,t}` from the row, the aggregator makes one
    forecast of the K, the target is seen, and all learn. The loss is near that of the best expert,
    or of the best combination, in hindsight.

    Parameters
    ----------
    experts : list of tuple of (str, estimator)
        Names and regressors with `partial_fit` and `predict`: this package's, scikit-learn's or
        anybody's. They are cloned when the first row arrives and never changed.
    aggregator : online regressor or None, default=None
        What combines the forecasts: a regressor of :mod:`sklearn_okl.aggregators`, a
        :class:`VAWRegressor` or :class:`OGDRegressor`. None is ``BOARegressor()``, untuned.
    initial_forecast : float, default=0.0
        What an expert without `prequential_predict`, which cannot `predict` before it has learnt,
        forecasts in the first round: a typical target, in units of y.

    Raises
    ------
    TypeError
        If an expert is no regressor with `partial_fit`, or the aggregator has no weights.
    ValueError
        If names repeat, an expert fails, which is named, or its parameters change in mid-stream.

    Warns
    -----
    UserWarning
        If an expert without `prequential_predict` diverges until it fails, and sleeps for good.

    See Also
    --------
    MultiKernelRegressor : One expert per kernel, all of a type, learnt side by side.
    BOARegressor : The aggregator alone, for forecasts that you already have.
    sklearn.ensemble.VotingRegressor : Fixed weights, and no stream.

    Notes
    -----
    *Cost.* That of the experts, which each call copies, plus the aggregator's on K forecasts. Those
    with `prequential_predict`, this package's among them, learn all rows of a call at once; others
    go row by row, `predict` and then `partial_fit`, some 0.4 ms per row for `SGDRegressor`.

    *Theorem.* The experts never look at the aggregator, so its theorem holds for their forecasts,
    whatever they are, in the rounds in which nobody sleeps [1]_. For ``VAWRegressor(alpha)``,
    :math:`|y| \le Y` and :math:`|f_{k,t}| \le B`, against all weights u,

    .. math:: \sum_t (\hat y_t - y_t)^2 \le \sum_t (u^T f_t - y_t)^2 + \alpha \|u\|^2
              + K Y^2 \ln(1 + B^2 T / \alpha) .

    *Faults.* An expert sleeps in a round by forecasting NaN, or more than 100 times the root mean
    square of the targets so far. Faulty targets are learnt as nearer, and by convex rules forecasts
    that were far off in first rounds only: see the page on aggregation. An error names its expert.

    *Rows.* Frames with categories or text are handed on as they came, gaps too, and so are gaps in
    arrays if all experts take them. Other experts get arrays without feature names.

    *Distributions.* As :class:`OnlineKernelRegressor` with ``spread="running"``, of its own errors.
    *Names.* Parameters of one named ``"sgd"`` are set by
    ``set_params(sgd__alpha=1e-3)``, and the expert by ``set_params(sgd=other)``.

    References
    ----------
    .. [1] Cesa-Bianchi & Lugosi 2006, chapters 2 and 3.

    Examples
    --------
    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn_okl import ExpertsRegressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = ExpertsRegressor([("sgd", SGDRegressor(random_state=0)), ("vaw", VAWRegressor())])
    >>> forecasts = model.prequential_predict(X, y)  # each made before its target was seen
    >>> model.weights_.shape, model.predict_experts(X[:5]).shape
    ((2,), (5, 2))
    >>> model.named_experts_.vaw.coef_.shape
    (4,)
    """

    _parameter_constraints = {
        **Advised._parameter_constraints,
        "aggregator": [OnlineRegressor, None],
        "initial_forecast": [Interval(Real, None, None, closed="neither")],
    }

    def __init__(
        self,
        experts: Any,
        aggregator: Any = None,
        *,
        initial_forecast: float = 0.0,
        n_jobs: int | None = None,
        label_delay: int = 0,
    ) -> None:
        self.experts = experts
        self.aggregator = aggregator
        self.initial_forecast = initial_forecast
        self.n_jobs = n_jobs
        self.label_delay = label_delay
