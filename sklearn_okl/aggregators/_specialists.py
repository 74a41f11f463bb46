"""The aggregating algorithm over experts that come later and begin anew, on clipped forecasts."""

import numpy as np

from ._aggregating import substitute
from ._range import TargetRange

_NARROWEST = 1e-100  # a range below this counts as none: its square would vanish


class Specialists:
    r"""Mix experts by the exponential of their losses, in the range of the targets so far.

    The loss of an expert that is not there is that of the mixture, so that it enters as if it had
    forecast what the mixture did: the regret against it is that of the rounds in which it was
    there (Freund, Schapire, Singer and Warmuth, 1997; Chernov and Vovk, 2009). Forecasts, and
    targets in the losses, are clipped to the range known before the round, and the rate is the
    largest for which the square loss is mixable there, :math:`2 / (hi - lo)^2`; it never rises.

    Against an expert of prior :math:`\pi` that was there in a set I of consecutive rounds,

    .. math:: \sum_{t \in I} (\hat y_t - y_t)^2 - (f_t - y_t)^2
              \le \tfrac12 r^2 \ln(1 / \pi) + 3 r^2 ,

    with r the range at the end of I: a target beyond the range by g costs at most
    :math:`2 g r + g^2`, and all g add up to r at most. Where `y_range` is given and right, the
    last term is not there. The first round of all has no range and counts apart.

    Parameters
    ----------
    y_range : tuple of (float, float) or None, default=None
        Range (lo, hi) of all targets. None: the range of those seen before the round.
    """

    def __init__(self, y_range=None):
        self._range = TargetRange(y_range)

    def start(self):
        """Return the state, of no expert yet."""
        return {
            "log_prior": np.zeros(0),
            "losses": np.zeros(0),
            "own_loss": 0.0,
        } | self._range._start()

    def add(self, state, log_prior):
        """Let one more expert come, the last one."""
        state["log_prior"] = np.append(state["log_prior"], log_prior)
        state["losses"] = np.append(state["losses"], state["own_loss"])

    def renew(self, state, k, log_prior):
        """Let expert k be another one, who comes now."""
        state["log_prior"][k], state["losses"][k] = log_prior, state["own_loss"]

    def learn(self, state, F, y):
        """Learn forecasts F (n, K), NaN those of who is not there, and targets (n,).

        Returns the forecasts of the mixture; where nobody is there the middle of the range, or 0.
        """
        ends = np.flatnonzero(np.isnan(F).any(axis=1)) + 1
        forecasts, low = np.empty(len(y)), 0
        for high in sorted({*ends.tolist(), len(y)} - {0}):  # a row with somebody away ends a run
            rows = slice(low, high)
            forecasts[rows] = self._learn_run(state, F[rows], y[rows])
            low = high
        return forecasts

    def _learn_run(self, state, F, y):
        """Learn rows in which all are there, but perhaps in the last one."""
        low, high = self._range._learn(state, y)
        is_known = low <= high
        low, high = np.where(is_known, low, y), np.where(is_known, high, y)
        alone = np.where(is_known, 0.5 * low + 0.5 * high, 0.0)
        F = np.where(is_known[:, None], np.clip(F, low[:, None], high[:, None]), F)
        away, target = np.isnan(F), np.clip(y, low, high)
        losses = np.where(is_known[:, None], np.square(F - target[:, None]), 0.0)
        sums = np.cumsum(np.concatenate([state["losses"][None], losses]), axis=0)
        last = sums[-2].copy()
        forecasts = _mixed(state["log_prior"], sums[:-1], low, high, F, away, alone)
        own = np.where(is_known, np.square(forecasts - target), 0.0)
        state["losses"] = np.where(away[-1], last + own[-1], sums[-1])
        state["own_loss"] = float(np.cumsum(np.concatenate([[state["own_loss"]], own]))[-1])
        return forecasts

    def forecast(self, state, F):
        """Return the forecasts (n,) of the mixture of forecasts F (n, K), NaN those not there."""
        low, high = state["low"], state["high"]
        if low > high:
            low = high = 0.0  # no range: the mean under the priors
        else:
            F = np.clip(F, low, high)
        sums = np.tile(state["losses"], (len(F), 1))
        ends = np.full((3, len(F)), [[low], [high], [0.5 * low + 0.5 * high]])
        return _mixed(state["log_prior"], sums, *ends[:2], F, np.isnan(F), ends[2])

    def log_weights(self, state):
        """Return the logarithms of the weights (K,), up to a constant."""
        width = max(state["high"] - state["low"], 0.0)
        return state["log_prior"] - float(_rates(width)) * state["losses"]


def _rates(width):
    return np.where(width > _NARROWEST, 2.0 / np.square(np.maximum(width, _NARROWEST)), 0.0)


def _mixed(log_prior, sums, low, high, F, away, alone):
    """Forecast (n,) by sums of losses (n, K), which are overwritten; `alone` if nobody is there."""
    forecasts, there = np.array(alone), ~away.all(axis=1)
    if not there.any():
        return forecasts
    sums, low, high, F, away = (part[there] for part in (sums, low, high, F, away))
    away, F = away if away.any() else None, np.where(away, 0.0, F)
    rates = _rates(high - low)
    forecasts[there] = substitute(sums, log_prior, rates, low, high, F, away)
    return forecasts
