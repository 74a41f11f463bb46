"""Strongly adaptive conformal prediction: descents of many lifetimes, mixed by coin betting."""

from __future__ import annotations

import numpy as np

from .._documentation import explained_by, inherit_documentation
from .._types import Any
from ._thresholds import SFOGD
from ._tracker import ConformalTracker, checked_count, checked_number

_ROUNDING = 1e-12  # of a difference of losses: whether a weight is above 0 hangs on its sign
_DOUBLINGS = 48  # of the number of rounds that there is room for


@inherit_documentation
@explained_by(SFOGD)
class SAOCP(ConformalTracker):
    r"""Strongly adaptive online conformal prediction: a descent begins in every round.

    The one that begins in round t lives for :math:`L 2^u` rounds, with :math:`2^u` the largest
    power of two that divides t; it starts from the threshold of all, and descends as
    :class:`SFOGD`, its thresholds cut at 0. With :math:`\pi_t \propto 1 / (t^2 (1 + \lfloor \log_2
    t \rfloor))` over those alive the threshold is the mean by weights :math:`\pi w_+`, or
    :math:`\pi` where no w is above 0. With :math:`\ell` the pinball loss of the threshold and
    :math:`\ell_k` that of descent k, of age n, the bets are

    .. math:: g_k = \frac{\ell - \ell_k}{\sqrt 3\, \eta \max(\alpha, 1 - \alpha)}, \quad
              w_k = \frac{\sum g_k}{n} \left(1 + \sum w_k g_k\right),

    where :math:`g_k` is cut at 1, and at -1, or at 0 if :math:`w_k \le 0`.

    Parameters
    ----------
    lifetime : int, default=8
        Rounds L that the shortest-lived live.

    Notes
    -----
    *Cost.* O(L log T) in round T, for so many are alive; the room for them is fixed.

    *Theorem.* On all intervals of k rounds the pinball loss is at most that of the best constant
    threshold there plus a term of the order of :math:`D \sqrt{k \ln T}` [1]_.

    *Departure.* As in the authors' program a descent lives one round longer, takes part in the
    round in which it begins, and weights need not sum to one half.

    References
    ----------
    .. [1] Bhatnagar et al. 2023, Algorithm 1, Proposition 4.1.

    Examples
    --------
    >>> from sklearn_okl.conformal import SAOCP
    >>> tracker = SAOCP()
    >>> state = tracker.start(0.5)
    >>> for score in range(100):
    ...     tracker.learn(state, 1.0)
    >>> 0.9 < tracker.threshold(state) < 1.1
    True
    """

    def __init__(self, eta: float = 3.0, lifetime: int = 8) -> None:
        self.eta = eta
        self.lifetime = lifetime
        checked_number(self, "eta")
        checked_count(self, "lifetime")

    def start(self, coverage: float) -> dict[str, Any]:
        # of those alive at once, L + 1 at most share a lifetime
        # of each lifetime L 2^u, whose births are 2^(u + 1) rounds apart, so many are alive at once
        none = np.zeros(_DOUBLINGS * (self.lifetime // 2 + 2))
        names = ("born", "age", "thresholds", "squares", "bets", "won")  # born in round 0: nobody
        return {"alpha": 1.0 - coverage, "t": 0} | {name: none.copy() for name in names}

    def threshold(self, state: dict[str, Any]) -> float:
        alive = np.flatnonzero(state["born"])
        if not len(alive):
            return 0.0
        return float(self._shares(state, alive) @ state["thresholds"][alive])

    def learn(self, state: dict[str, Any], score: float) -> None:
        before = self.threshold(state)
        state["t"] += 1
        self._renew(state, before)
        alive = np.flatnonzero(state["born"])
        of_all, scale = self.threshold(state), 3.0**0.5 * self.eta
        own, alpha = state["thresholds"][alive], state["alpha"]
        weights = self._weights(state, alive)
        gains = _pinball(score - of_all, alpha) - _pinball(score - own, alpha)
        gains = gains / (scale * max(alpha, 1.0 - alpha))
        gains[np.abs(gains) < _ROUNDING] = 0.0  # who began now is the mean of all, but for that
        gains = np.clip(gains, np.where(weights > 0.0, -1.0, 0.0), 1.0)
        state["bets"][alive] += gains
        state["won"][alive] += gains * weights
        state["age"][alive] += 1.0
        slopes = alpha - (score > own)
        state["squares"][alive] += slopes**2
        steps = self.eta / np.sqrt(state["squares"][alive])
        state["thresholds"][alive] = np.maximum(own - steps * slopes, 0.0)

    def _renew(self, state, threshold):
        """Let the old ones die, and one begin at a threshold."""
        t, born = state["t"], state["born"]
        lives = self.lifetime * _divisor(born)
        dead = (born > 0.0) & (state["age"] > lives)
        born[dead] = 0.0
        (place, *_) = np.flatnonzero(born == 0.0)
        for name in ("age", "squares", "bets", "won"):
            state[name][place] = 0.0
        state["thresholds"][place], born[place] = threshold, t

    def _weights(self, state, alive):
        age = state["age"][alive]
        bets = np.divide(state["bets"][alive], age, out=np.zeros(len(alive)), where=age > 0.0)
        return bets * (1.0 + state["won"][alive])

    def _shares(self, state, alive):
        t = state["born"][alive]
        prior = 1.0 / (t**2 * (1.0 + np.floor(np.log2(t))))
        shares = prior * np.maximum(self._weights(state, alive), 0.0)
        total = shares.sum()
        return shares / total if total > 0.0 else prior / prior.sum()


def _divisor(rounds):
    """Return the largest powers of two that divide rounds, as floats; 0 for round 0."""
    whole = rounds.astype(np.int64)
    return (whole & -whole).astype(np.float64)


def _pinball(beyond, alpha):
    """Return the pinball loss of level 1 - alpha of what is beyond a threshold."""
    return np.maximum((1.0 - alpha) * beyond, -alpha * beyond)
