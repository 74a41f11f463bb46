"""Trackers of a level, of which the threshold is the quantile among the latest scores."""

from __future__ import annotations

from math import ceil, inf

import numpy as np

from .._documentation import explained_by, inherit_documentation
from .._types import Any
from ..aggregators import BOARegressor
from ._tracker import ConformalTracker, checked_count, checked_number

_ROUNDING = 1e-9  # of (1 - alpha) (n + 1), below which a rank is a whole number


class _LevelTracker(ConformalTracker):
    """Base: the latest scores, and quantiles of them.

    Parameters
    ----------
    window : int, default=500
        How many of the latest scores quantiles are taken of.
    """

    def start(self, coverage: float) -> dict[str, Any]:
        return {"scores": np.zeros(self.window), "n": 0, "alpha": 1.0 - coverage}

    def _keep(self, state, score):
        state["scores"][state["n"] % self.window] = score
        state["n"] += 1

    def _kept(self, state):
        return state["scores"][: min(state["n"], self.window)]

    def _threshold_at(self, state, alpha):
        """Return the smallest score that has a share 1 - alpha of all, the next one included."""
        scores = self._kept(state)
        rank = _rank(alpha, len(scores))
        if rank > len(scores):
            return inf
        return float(np.partition(scores, rank - 1)[rank - 1]) if rank > 0 else -inf


@inherit_documentation
class ACI(_LevelTracker):
    r"""Adaptive conformal inference: a level that rises with hits and falls with misses.

    With :math:`\alpha = 1 - c`, the threshold is the quantile :math:`1 - \alpha_t` of the latest
    scores, everything for :math:`\alpha_t \le 0` and nothing for :math:`\alpha_t \ge 1`, and

    .. math:: \alpha_{t+1} = \alpha_t + \gamma (\alpha - \mathrm{miss}_t), \quad \alpha_1 = \alpha.

    Parameters
    ----------
    gamma : float, default=0.02
        Step size, > 0: what one miss moves the level by. The larger, the sooner a change is
        noticed, and the more thresholds follow chance.

    See Also
    --------
    DtACI : Several step sizes, mixed by how they did.
    AgACI : Several step sizes, whose thresholds are mixed.

    Notes
    -----
    *Cost.* O(window) a round.

    *Theorem.* Whatever the scores, the share of misses in T rounds is within
    :math:`(\max(\alpha, 1 - \alpha) + \gamma) / (T \gamma)` of alpha [1]_.

    *Departure.* Quantiles are of the latest scores, not of a calibration set; the theorem does not
    mind.

    References
    ----------
    .. [1] Gibbs & Candès 2021, eq. (2), Proposition 4.1.

    Examples
    --------
    >>> from sklearn_okl.conformal import ACI
    >>> tracker = ACI()
    >>> state = tracker.start(0.5)
    >>> for score in [1.0, 2.0, 3.0]:
    ...     tracker.learn(state, score)
    >>> tracker.threshold(state)
    3.0
    """

    def __init__(self, gamma: float = 0.02, window: int = 500) -> None:
        self.gamma = gamma
        self.window = window
        checked_number(self, "gamma")
        checked_count(self, "window")

    def start(self, coverage: float) -> dict[str, Any]:
        state = super().start(coverage)
        return state | {"level": state["alpha"]}

    def threshold(self, state: dict[str, Any]) -> float:
        return self._threshold_at(state, state["level"])

    def learn(self, state: dict[str, Any], score: float) -> None:
        missed = score > self.threshold(state)
        state["level"] += self.gamma * (state["alpha"] - missed)
        self._keep(state, score)


@inherit_documentation
class DtACI(_LevelTracker):
    r"""Dynamically-tuned adaptive conformal inference: ACI of several step sizes, mixed.

    Each step size :math:`\gamma_k` has a level :math:`\alpha_{k,t}` that moves as that of
    :class:`ACI`. With :math:`\beta_t` the share of the latest scores that are not below the new one
    and :math:`\ell(\theta) = \alpha (\beta_t - \theta) - \min(0, \beta_t - \theta)`,

    .. math:: \bar w_k = w_{k,t} e^{-\eta \ell(\alpha_{k,t})}, \quad w_{k,t+1} = (1 - \sigma)
              \frac{\bar w_k}{\sum_j \bar w_j} + \frac{\sigma}{K}, \quad
              \alpha_t = \sum_k w_{k,t} \alpha_{k,t} .

    Parameters
    ----------
    gammas : tuple of float, default=(0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128)
        Step sizes, each > 0.
    interval : int, default=500
        Rounds I over which it is to be as good as the best step size: :math:`\sigma = 1 / (2 I)`
        and :math:`\eta = \sqrt{3 (\ln(K I) + 2) / (I ((1 - \alpha)^2 \alpha^3 + \alpha^2 (1 -
        \alpha)^3))}`.

    Notes
    -----
    *Cost.* O(window + K) a round.

    *Theorem.* With :math:`\tau_k` the level of step size k, on any rounds r, ..., s

    .. math:: \sum_{t=r}^s \ell_t(\alpha_t) \le \sum_{t=r}^s \ell_t(\tau_{k,t})
              + \frac{\ln(K / \sigma) + (s - r + 1) \ln(1 / (1 - \sigma))}{\eta}
              + \frac{\eta (s - r + 1)}{8} (1 + 2 \gamma_K)^2,

    the regret of exponential weights that share [1]_, by which the paper bounds the regret against
    levels that move. Of the share of misses it says that it nears alpha if eta and sigma vanish;
    with constant ones there is no bound.

    *Departure.* The level is the weighted mean, not one drawn by the weights: its loss is at most
    the mean loss, as :math:`\ell` is convex.

    References
    ----------
    .. [1] I. Gibbs, E. Candès, "Conformal inference for online prediction with arbitrary
       distribution shifts", Journal of Machine Learning Research 25, 2024 (first 2022),
       Algorithm 1, and on weights that share M. Herbster, M. K. Warmuth, "Tracking the best
       expert", Machine Learning 32, 1998.

    Examples
    --------
    >>> from sklearn_okl.conformal import DtACI
    >>> tracker = DtACI(gammas=(0.01, 0.1))
    >>> state = tracker.start(0.75)
    >>> for score in range(200):
    ...     tracker.learn(state, float(score % 10))
    >>> tracker.threshold(state)
    7.0
    """

    def __init__(
        self,
        gammas: tuple[float, ...] = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128),
        interval: int = 500,
        window: int = 500,
    ) -> None:
        self.gammas = tuple(gammas)
        self.interval = interval
        self.window = window
        _check_gammas(self)
        checked_count(self, "interval")
        checked_count(self, "window")

    def start(self, coverage: float) -> dict[str, Any]:
        state, K = super().start(coverage), len(self.gammas)
        return state | {"levels": np.full(K, state["alpha"]), "weights": np.full(K, 1.0 / K)}

    def threshold(self, state: dict[str, Any]) -> float:
        return self._threshold_at(state, float(state["weights"] @ state["levels"]))

    def learn(self, state: dict[str, Any], score: float) -> None:
        alpha, levels, weights = state["alpha"], state["levels"], state["weights"]
        K, scores = len(weights), self._kept(state)
        below = int((scores < score).sum())
        missed = np.array([_rank(level, len(scores)) <= below for level in levels.tolist()])
        beyond = 1.0 - below / (len(scores) + 1.0) - levels
        losses = alpha * beyond - np.minimum(beyond, 0.0)
        eta, sigma = self._rates(alpha)
        weights = weights * np.exp(-eta * (losses - losses.min()))
        state["weights"] = (1.0 - sigma) * weights / weights.sum() + sigma / K
        state["levels"] = levels + np.array(self.gammas) * (alpha - missed)
        self._keep(state, score)

    def _rates(self, alpha):
        spread = (1.0 - alpha) ** 2 * alpha**3 + alpha**2 * (1.0 - alpha) ** 3
        logs = np.log(len(self.gammas) * self.interval) + 2.0
        return np.sqrt(3.0 * logs / (self.interval * spread)), 0.5 / self.interval


@inherit_documentation
@explained_by(DtACI)
class AgACI(_LevelTracker):
    r"""Online expert aggregation on adaptive conformal inference: thresholds of several step sizes.

    Each step size :math:`\gamma_k` is an :class:`ACI` of its own, with a threshold
    :math:`q_{k,t}`. The threshold is their mean under the weights of
    :class:`~sklearn_okl.BOARegressor`, which learns the score as a target in the pinball loss
    whose best constant is the quantile c.

    See Also
    --------
    DtACI : Mixes the levels of step sizes, with weights that share.

    Notes
    -----
    *Cost.* O(window) a round for each step size.

    *Theorem.* While all thresholds are finite, BOA's: the pinball loss of the threshold is at most
    that of any fixed convex combination of the :math:`q_{k,t}` and a term of the order of the root
    of T. Of the share of misses nothing is known but that.

    *Departures.* In [1]_ the two ends of an interval are mixed each by itself; here scores have one
    end. A step size whose threshold is infinite is asleep in that round; where all are, so is the
    threshold. One that holds nothing counts as 0.

    References
    ----------
    .. [1] M. Zaffran, O. Féron, Y. Goude, J. Josse, A. Dieuleveut, "Adaptive conformal predictions
       for time series", International Conference on Machine Learning (ICML), 2022, Algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.conformal import AgACI
    >>> tracker, scores = AgACI(gammas=(0.01, 0.1)), np.arange(10.0)
    >>> state = tracker.start(0.75)
    >>> for score in np.tile(scores, 20):
    ...     tracker.learn(state, float(score))
    >>> 6.5 < tracker.threshold(state) < 8.5
    True
    """

    def __init__(
        self,
        gammas: tuple[float, ...] = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.064, 0.128),
        window: int = 500,
    ) -> None:
        self.gammas = tuple(gammas)
        self.window = window
        _check_gammas(self)
        checked_count(self, "window")

    def start(self, coverage: float) -> dict[str, Any]:
        state, K = super().start(coverage), len(self.gammas)
        mixture = _mixture(state)._start(K)
        return state | {"levels": np.full(K, state["alpha"])} | mixture

    def threshold(self, state: dict[str, Any]) -> float:
        own = self._own(state)
        if np.isnan(own).all():
            return inf
        return float(_mixture(state)._forecast(state, own[None])[0])

    def learn(self, state: dict[str, Any], score: float) -> None:
        own = self._own(state)
        missed = score > own  # who is asleep holds everything
        if not np.isnan(own).all():
            _mixture(state)._learn(state, own[None], np.array([score]))
        state["levels"] = state["levels"] + np.array(self.gammas) * (state["alpha"] - missed)
        self._keep(state, score)

    def _own(self, state):
        """Return the thresholds (K,) of the step sizes, NaN where one is infinite."""
        own = np.array([self._threshold_at(state, level) for level in state["levels"].tolist()])
        return np.where(own == inf, np.nan, np.maximum(own, 0.0))


def _mixture(state):
    """Return what mixes thresholds: BOA in the pinball loss of the coverage."""
    return BOARegressor(loss="pinball", quantile=1.0 - state["alpha"])


def _check_gammas(tracker):
    if not tracker.gammas or not all(0.0 < gamma < inf for gamma in tracker.gammas):
        raise ValueError(
            f"gammas={tracker.gammas!r} of {type(tracker).__name__}: give step sizes, each above 0."
        )


def _rank(alpha, n):
    """Return which of n scores, from 1 for the smallest, is the quantile 1 - alpha of n + 1."""
    return ceil((1.0 - alpha) * (n + 1.0) - _ROUNDING)
