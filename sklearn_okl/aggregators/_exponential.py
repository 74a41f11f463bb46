"""Rules that weight experts by the exponential of their losses: EWA and fixed share."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import inherit_documentation
from .._types import Any, ArrayLike
from ..base._convex import ConvexAggregator, mix
from ..losses import Loss
from ._likelihoods import learn_likelihoods, runs_of
from ._range import TargetRange, check_y_range

_STEEPEST = 1e100  # largest rate: its products with losses stay finite
_POSITIVE = Interval(Real, 0, None, closed="neither")


class _OnTargetRange(ConvexAggregator):
    r"""Base: exponential weights, of a rate that the range of the targets makes.

    Parameters
    ----------
    eta : float, "decreasing" or None, default=None
        Learning rate. A positive number is used as it is, in units of one over the loss.
        ``"decreasing"`` is :math:`\eta_t = \sqrt{8 \ln K / t} / M`, where M is the largest
        difference between two experts' losses that `y_range` allows. None is theory's value: the
        largest for which the loss is exp-concave, :math:`1 / (2 (hi - lo)^2)` for the square loss
        without gradient trick, and 1 for the log loss of :class:`ExpertsClassifier`; otherwise, no
        constant rate being right at all times, ``"decreasing"``.
    y_range : tuple of (float, float), default=None
        Range (lo, hi) of the targets, for the learning rate. None: the range of the targets seen
        before the round; until two different ones were seen, the weights are the prior's.
    gradient_trick : bool, default=False
        Whether to replace the loss by its tangent at the forecast. Then the regret is small
        against the best fixed convex combination of the experts, not only the best single one,
        but it is of order :math:`\sqrt{T}` even for the square loss, whose curvature the tangent
        gives away: hence the default, which is also the published one.
    """

    _parameter_constraints = {
        **ConvexAggregator._parameter_constraints,
        "eta": [_POSITIVE, StrOptions({"decreasing"}), None],
        "y_range": ["array-like", None],
    }
    _structural = ("y_range",)

    def __init__(
        self,
        eta: float | str | None = None,
        *,
        y_range: Any = None,
        loss: Any = "squared_error",
        quantile: Any = 0.5,
        gradient_trick: bool = False,
        prior_weights: Any = None,
        fallback: Any = None,
        label_delay: int = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            quantile=quantile,
            gradient_trick=gradient_trick,
            prior_weights=prior_weights,
            fallback=fallback,
            label_delay=label_delay,
        )
        self.eta = eta
        self.y_range = y_range

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)
        if isinstance(self.loss, Loss):
            self._rates(2, 1, 0.0, 1.0)  # which asks it for its constants

    def _for_log_loss(self):
        if self.eta == "decreasing":
            raise ValueError(
                f"{type(self).__name__}(eta='decreasing') needs a loss with bounds, and the log "
                "loss has none. Leave 'eta' out: theory's rate for it is 1."
            )
        return clone(self).set_params(eta=1.0) if self.eta is None else self

    def _start_rule(self, log_prior):
        return {"losses": np.zeros(len(log_prior))} | TargetRange(self.y_range)._start()

    def _log_weights(self, state):
        rate = self._rates(len(state["losses"]), state["t"] + 1, state["low"], state["high"])
        return state["log_prior"] - rate * state["losses"]

    def _rates(self, n_experts, t, low, high):
        """Return the learning rates of rounds t (1, 2, ...), 0 before the range is known.

        Theory's constant rate is that of exp-concavity; the decreasing one is for losses whose
        differences lie within an interval that the range gives.
        """
        if isinstance(self.eta, Real):
            return np.full(np.shape(low), float(self.eta))[()]
        loss, width, rates = self._loss(), np.maximum(high - low, 1.0 / _STEEPEST), None
        if self.eta is None and not self.gradient_trick:
            rates = loss.exp_concavity(width / 2)
        if rates is None:
            steep = loss.lipschitz(width / 2) if self.gradient_trick else _steepness(loss, width)
            rates = np.sqrt(8.0 * np.log(n_experts) / t) * (1.0 / width) * _inverse(steep)
        return np.where(high > low, np.minimum(rates, _STEEPEST), 0.0)


@inherit_documentation
class EWARegressor(_OnTargetRange):
    r"""Exponentially weighted average forecaster, also known as Hedge.

    Before the target of round t is seen it forecasts the mean of the experts' forecasts, the
    columns of X, with weights (eq. (3.25A) of [1]_)

    .. math:: w_{k,t} \propto \pi_k \exp\Bigl( -\eta_t \sum_{s<t} \ell_{k,s} \Bigr) .

    See Also
    --------
    AARegressor : The same weights at four times the rate, for the square loss.
    FixedShareRegressor : For a best expert that changes.
    BOARegressor : Fits its rates to the losses.

    Notes
    -----
    *Cost.* O(K) per round for K experts. A call's rounds are learnt together, by sums of losses and
    a softmax, which is exact; the rounds in which experts sleep, and all rounds with the gradient
    trick, one by one.

    *Theorem.* If targets and forecasts lie in `y_range`, the square loss is plain and `eta` is
    None, then against every expert (Theorem 3 of [1]_, Proposition 3.1 of [2]_)

    .. math:: \sum_t \ell(\hat y_t, y_t) - \sum_t \ell_{k,t} \le \frac{\ln(1/\pi_k)}{\eta}
              = 2 (hi - lo)^2 \ln(1/\pi_k) .

    With ``"decreasing"`` and equal priors it is at most :math:`M (2 \sqrt{T \ln K / 2} +
    \sqrt{\ln K / 8})` (Theorem 2.3 of [2]_). Neither holds for the running range: the rates then
    depend on the targets and multiply the sums as they stand. Clip wild experts first.

    *Sleeping experts.* NaN in a column of X says that this expert gives no forecast in that round:
    it gets no weight and no regret, which is to say that it is charged the loss of the forecast,
    and the weights of the others are scaled up to sum to one. The first theorem then holds for
    the rounds in which expert k is awake [3]_.

    References
    ----------
    .. [1] Rokhlin & Gurtovaya 2025, eq. (3.25A).
    .. [2] Cesa-Bianchi & Lugosi 2006, sections 2.3 and 3.3.
    .. [3] Y. Freund, R. E. Schapire, Y. Singer, M. K. Warmuth, "Using and combining predictors
       that specialize", STOC 1997.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import EWARegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.uniform(size=300)
    >>> experts = np.c_[y, 1 - y, np.full(300, 0.5)]
    >>> model = EWARegressor(y_range=(0, 1))
    >>> forecasts = model.prequential_predict(experts, y)
    >>> model.weights_.round(2)
    array([1., 0., 0.])
    """

    _test_parameters = ({}, {"eta": 0.5, "fallback": 0.5}, {"gradient_trick": True})

    def _update(self, state, regrets, y):
        state["losses"] -= regrets
        state["losses"] -= state["losses"].min()
        TargetRange(self.y_range)._learn_one(state, y)

    def _learn_rows(self, state, F, asleep, y):
        if self.gradient_trick:  # losses depend on the forecasts
            return super()._learn_rows(state, F, asleep, y)
        low, high = TargetRange(self.y_range)._learn(state, y)
        rounds = np.arange(state["t"] + 1, state["t"] + 1 + len(y))
        rates = self._rates(F.shape[1], rounds, low, high)[:, None]

        def forecast(sums, rows, sleeping):
            sums *= -rates[rows]
            sums += state["log_prior"]
            return mix(self._read(state, sums), F[rows], sleeping)

        value = self._loss().value
        return _learn_runs(state, F, asleep, y, value, forecast)

    def _learn_classes(self, state, P, y):
        if self.gradient_trick:
            return super()._learn_classes(state, P, y)
        asleep, means = np.isnan(P[..., 0]), np.empty((len(y), P.shape[2]))
        known = state["log_prior"] - self.eta * state["losses"]
        for rows in runs_of(asleep):
            means[rows], path = learn_likelihoods(
                known,
                P[rows],
                y[rows],
                absent=asleep[rows],
                weights=self.eta,
                past=state.get("past", ()),
            )
            self._read(state, path[:-1])
            known = path[-1]
        losses = (state["log_prior"] - known) / self.eta
        state["losses"] = losses - losses.min()
        state["t"] += len(y)
        return means


@inherit_documentation
class FixedShareRegressor(_OnTargetRange):
    r"""Fixed share: exponential weights that never forget an expert, for a best one that changes.

    After each round the weights change as those of :class:`EWARegressor`; then the share
    :math:`\varepsilon` of all weight is handed back to the prior :math:`\pi`,

    .. math:: v_{k,t} \propto w_{k,t} e^{-\eta_t \ell_{k,t}}, \qquad
              w_{k,t+1} = (1 - \varepsilon) v_{k,t} + \varepsilon \pi_k ,

    so that an expert needs only some :math:`\ln(K / \varepsilon) / \eta` to come to the top.

    Parameters
    ----------
    share : float, default=0.01
        In [0, 1]; good is one over the rounds for which an expert is likely to stay the best. 0 is
        :class:`EWARegressor`, where the rate is constant, 1 the prior's mean.

    See Also
    --------
    EWARegressor : Without the share, in blocks.

    Notes
    -----
    *Cost.* O(K) per round for K experts, round by round.

    *Theorem.* Under the conditions of :class:`EWARegressor`'s first theorem and with equal priors,
    against any sequence of experts that switches m times in T rounds ([1]_; section 5.2 of [2]_),

    .. math:: \sum_t \ell(\hat y_t, y_t) - \sum_t \ell_{k_t,t} \le \frac1\eta \Bigl(
              (m + 1) \ln K + m \ln \frac1\varepsilon
              + (T - m - 1) \ln \frac{1}{1 - \varepsilon} \Bigr) .

    *Departure.* [1]_ hands an expert's share to the *others*; here, as in [2]_, to all.

    *Sleeping experts.* NaN in a column of X: no forecast, no weight and no regret in that round.
    The weights of the others are scaled up to sum to one. The share is handed to sleepers too.

    References
    ----------
    .. [1] M. Herbster, M. K. Warmuth, "Tracking the best expert", Machine Learning 32(2), 1998.
    .. [2] Cesa-Bianchi & Lugosi 2006, section 5.2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import FixedShareRegressor
    >>> X, y = np.tile([0.0, 1.0], (400, 1)), np.repeat([0.0, 1.0], 200)  # EWA would end at 0.5
    >>> float(FixedShareRegressor(y_range=(0, 1)).fit(X, y).predict(X[:1]).round(2)[0])
    0.99
    """

    _test_parameters = ({}, {"eta": 1.0, "share": 0.1})

    _parameter_constraints = {
        **_OnTargetRange._parameter_constraints,
        "share": [Interval(Real, 0, 1, closed="both")],
    }

    def __init__(
        self,
        share: float = 0.01,
        *,
        eta: float | str | None = None,
        y_range: Any = None,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        gradient_trick: bool = False,
        prior_weights: ArrayLike | None = None,
        fallback: float | None = None,
        label_delay: int = 0,
    ) -> None:
        super().__init__(
            eta,
            y_range=y_range,
            loss=loss,
            quantile=quantile,
            gradient_trick=gradient_trick,
            prior_weights=prior_weights,
            fallback=fallback,
            label_delay=label_delay,
        )
        self.share = share

    def _start_rule(self, log_prior):
        return {"log_weights": log_prior.copy()} | TargetRange(self.y_range)._start()

    def _log_weights(self, state):
        return state["log_weights"].copy()

    def _update(self, state, regrets, y):
        rate = self._rates(len(regrets), state["t"] + 1, state["low"], state["high"])
        TargetRange(self.y_range)._learn_one(state, y)
        posterior = state["log_weights"] + rate * regrets
        posterior -= posterior.max()
        posterior -= np.log(np.exp(posterior).sum())
        if self.share == 1.0:
            posterior = state["log_prior"].copy()
        elif self.share > 0.0:
            posterior += np.log1p(-self.share)
            posterior = np.logaddexp(posterior, np.log(self.share) + state["log_prior"])
        state["log_weights"] = posterior


def _inverse(width):
    """Return 1 / width where it is positive, bounded so that its square is finite; else 0."""
    return np.where(width > 0.0, 1.0 / np.maximum(width, 1.0 / _STEEPEST), 0.0)


@np.errstate(over="ignore")  # the rate is then 0
def _steepness(loss, width):
    """Return the largest loss in a range, over its width."""
    return np.maximum(loss.value(0.0, width), loss.value(width, 0.0)) / width


def _learn_runs(state, F, asleep, y, value, forecast):
    """Learn rows by sums of losses; return forecasts (n,).

    A row in which somebody sleeps ends a run of rows learnt together: who sleeps is charged the
    loss of the forecast, so the rows after it have to wait for that. Of each row only differences
    count: beside what all lose alike, what else they lose would be rounding.
    """
    forecasts = np.empty(len(y))
    losses = value(y[:, None], F)
    least = (losses if asleep is None else np.where(asleep, np.inf, losses)).min(axis=1)
    losses -= least[:, None]
    ends = [] if asleep is None else (np.flatnonzero(asleep.any(axis=1)) + 1).tolist()
    low = 0
    for high in sorted({*ends, len(y)}):
        rows = slice(low, high)
        sums = np.empty((high - low, F.shape[1]))  # of the losses before each row
        sums[0] = state["losses"]
        sums[1:] = losses[low : high - 1]
        np.cumsum(sums, axis=0, out=sums)
        before, last = sums[-1].copy(), losses[high - 1]
        sleeping = None if asleep is None else asleep[rows]
        forecasts[rows] = forecast(sums, rows, sleeping)  # overwrites sums
        if sleeping is not None:
            own = value(y[high - 1], forecasts[high - 1]) - least[high - 1]
            last = np.where(sleeping[-1], own, last)
        after = before + last
        state["losses"] = after - after.min()
        low = high
    state["t"] += len(y)
    return forecasts
