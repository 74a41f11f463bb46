"""Vovk's aggregating algorithm: exponential weights, and a forecast that is not their mean."""

from __future__ import annotations

import numpy as np

from .._documentation import inherit_documentation
from .._types import Any, ArrayLike
from ..base._convex import mix
from ..losses import SquaredError
from ._exponential import _POSITIVE, _STEEPEST, _inverse, _learn_runs, _OnTargetRange
from ._range import TargetRange

_FARTHEST = 1e200  # end of a range: sums and differences of some stay finite


@inherit_documentation
class AARegressor(_OnTargetRange):
    r"""Vovk's aggregating algorithm for the square loss.

    The weights are :math:`w_{k,t} \propto \pi_k \exp(-\eta \sum_{s<t} (z_{k,s} - y_s)^2)`, as in
    :class:`EWARegressor`, but at four times the rate; this is possible because the forecast is not
    the weighted mean of the experts' forecasts :math:`z_{k,t}` but (section 3.6 of [2]_)

    .. math:: \hat y_t = \frac{lo + hi}{2} + \frac{g_t(lo) - g_t(hi)}{2 (hi - lo)}, \qquad
              g_t(\omega) = -\frac1\eta \ln \sum_k w_{k,t} e^{-\eta (\omega - z_{k,t})^2},

    clipped to the range [lo, hi].

    Parameters
    ----------
    eta : float, default=None
        Learning rate, > 0, in units of one over the square of y. None is theory's value, the
        largest for which the square loss is mixable: :math:`2 / (hi - lo)^2`.
    y_range : tuple of (float, float), default=None
        Range (lo, hi) of the targets. None: the range of the targets seen before the round; until
        two different ones were seen, the forecast is the mean by the prior weights.

    See Also
    --------
    EWARegressor : Weighted means, and other losses.

    Notes
    -----
    *Cost.* O(K) per round for K experts. A call's rounds are learnt together, by sums of losses and
    softmaxes, which is exact; the rounds in which experts sleep, one by one.

    *Theorem.* If the targets lie in `y_range` and `eta` is None, then against every expert ([1]_;
    Proposition 3.2 of [2]_)

    .. math:: \sum_t (\hat y_t - y_t)^2 - \sum_t (z_{k,t} - y_t)^2
              \le \frac{\ln(1/\pi_k)}{\eta} = \tfrac12 (hi - lo)^2 \ln(1/\pi_k) .

    It does not hold for the running range: targets may then fall outside, and a forecast never
    leaves the range of the targets before it, whatever the experts say.

    *Sleeping experts.* NaN in a column of X says that this expert gives no forecast in that round:
    it gets no weight and no regret, which is to say that it is charged the loss of the forecast.
    The theorem then holds for the rounds in which expert k is awake [3]_.

    References
    ----------
    .. [1] V. Vovk, "A game of prediction with expert advice", Journal of Computer and System
       Sciences 56(2), 1998.
    .. [2] Cesa-Bianchi & Lugosi 2006, sections 3.5 and 3.6.
    .. [3] Chernov & Vovk 2009.

    Examples
    --------
    The first forecast is the substitution value, not the mean, which is 0.2:

    >>> from sklearn_okl.aggregators import AARegressor
    >>> model = AARegressor(y_range=(0, 1))
    >>> model.prequential_predict([[0.0, 0.4], [0.0, 0.4], [0.0, 0.4]], [0.5, 0.5, 0.5]).round(3)
    array([0.245, 0.286, 0.319])
    """

    _test_parameters = ({}, {"y_range": (-4, 4), "prior_weights": None})

    _parameter_constraints = {
        "eta": [_POSITIVE, None],
        **{
            name: _OnTargetRange._parameter_constraints[name]
            for name in ("y_range", "prior_weights", "fallback", "label_delay")
        },
    }

    def __init__(
        self,
        eta: float | None = None,
        *,
        y_range: Any = None,
        prior_weights: ArrayLike | None = None,
        fallback: float | None = None,
        label_delay: int = 0,
    ) -> None:
        super().__init__(
            eta,
            y_range=y_range,
            prior_weights=prior_weights,
            fallback=fallback,
            label_delay=label_delay,
        )

    def _for_log_loss(self):
        raise ValueError(
            "The forecasts of AARegressor are for the square loss. In the log loss the aggregating "
            "algorithm is EWARegressor()."
        )

    def _rates(self, n_experts, t, low, high):
        rates = 2.0 * _inverse(high - low) ** 2 if self.eta is None else self.eta
        return np.where(high > low, np.minimum(rates, _STEEPEST), 0.0)

    def _known(self, state):
        # the range as numbers that can be stored; it is empty before the first target
        ends = np.clip([state["low"], state["high"]], -_FARTHEST, _FARTHEST)
        return np.concatenate([state["losses"], ends])

    def _learn_rows(self, state, F, asleep, y):
        ends = np.clip(TargetRange(self.y_range)._learn(state, y), -_FARTHEST, _FARTHEST).T

        def forecast(sums, rows, sleeping):
            known = self._read(state, np.concatenate([sums, ends[rows]], axis=1))
            return self._substituted(state, known, F[rows], sleeping)

        return _learn_runs(state, F, asleep, y, SquaredError().value, forecast)

    def _forecast_rows(self, state, F, asleep):
        known = np.tile(self._known(state), (len(F), 1))
        return self._substituted(state, known, F, asleep)

    def _substituted(self, state, known, F, asleep):
        """Forecast by sums of losses and the ends of the range, known (n, K + 2)."""
        sums, low, high = known[:, :-2].copy(), known[:, -2], known[:, -1]
        rates = self._rates(F.shape[1], None, low, high)
        return substitute(sums, state["log_prior"], rates, low, high, F, asleep)


def substitute(sums, log_prior, rates, low, high, F, asleep):
    """Forecast by the substitution function; sums (n, K) are overwritten.

    The first rows may have the rate 0, as long as no range is known: they forecast the mean.
    """
    n = int(np.count_nonzero(rates == 0.0))
    if n:
        forecasts = np.empty(len(F))
        forecasts[:n] = mix(log_prior, F[:n], None if asleep is None else asleep[:n])
        if n < len(F):
            rest = (part[n:] for part in (rates, low, high, F))
            asleep = None if asleep is None else asleep[n:]
            forecasts[n:] = substitute(sums[n:], log_prior, *rest, asleep)
        return forecasts
    if asleep is not None:
        sums[asleep] = np.inf
    sums -= sums.min(axis=1, keepdims=True)
    ends = []
    for end in (low, high):
        exponents = np.square(end[:, None] - F)
        exponents += sums
        least = exponents.min(axis=1)
        exponents -= least[:, None]
        exponents *= -rates[:, None]
        exponents += log_prior
        np.exp(exponents, out=exponents)
        ends.append(least - np.log(exponents.sum(axis=1)) / rates)  # g, up to a common constant
    forecasts = (low + high) / 2 + (ends[0] - ends[1]) / (2 * (high - low))
    return np.clip(forecasts, low, high)
