"""A tracker that bets: the threshold is what a gambler without a rate stakes on the next miss."""

from __future__ import annotations

from math import exp, inf, lgamma, log, pi

from .._documentation import inherit_documentation
from .._types import Any
from ._tracker import ConformalTracker, checked_number

_LARGEST = 700.0  # logarithm of a threshold that is a number


@inherit_documentation
class PortfolioBetting(ConformalTracker):
    r"""Bet on misses by a universal portfolio of two assets: a threshold without a rate.

    Of a wealth :math:`W_{t-1}`, at first W, the share b is put on a miss and the rest on a hit; a
    miss multiplies what is on it by :math:`1 / \alpha`, a hit by :math:`1 / (1 - \alpha)`. The
    threshold is what such a portfolio stakes on :math:`\mathrm{miss}_t - \alpha`. Cover's universal
    portfolio with the prior Beta(1/2, 1/2) has, after m misses in t - 1 rounds,

    .. math:: b_t = \frac{m + 1/2}{t}, \quad
              q_t = W_{t-1} \frac{b_t - \alpha}{\alpha (1 - \alpha)}, \quad
              W_{t-1} = W \frac{\Gamma(m + \tfrac12) \Gamma(t - m - \tfrac12)}
                        {\pi \Gamma(t) \, \alpha^m (1 - \alpha)^{t-1-m}} .

    Parameters
    ----------
    wealth : float, default=1.0
        W > 0, in units of scores. Only its logarithm enters the bounds.

    See Also
    --------
    SFOGD : A descent, whose rate is the largest score.

    Notes
    -----
    *Cost.* O(1) a round; the state is two counts.

    *Theorem.* Whatever the scores, the sum of the pinball losses is at most that of any constant
    threshold u and

    .. math:: W + \frac{|u|}{2} \sqrt{T \ln(1 + T^2 u^2 / W^2)} .

    Of scores from 0 to D at least :math:`\alpha T - 1/2` of T rounds are misses, and at most

    .. math:: \alpha T + 1 + \sqrt{\tfrac{T}{2} \ln^+(D T^{3/2} / W)} .

    For the wealth is at least :math:`W e^{T \mathrm{kl}(m / T, \alpha)} / (2 \sqrt T)`, and a miss
    needs a threshold below D, a hit one that is not below 0. So it nears alpha from above, and D
    may grow as any power of T.

    *Departures.* Two assets, a universal portfolio and no rate are what the abstract of [1]_ says
    of UP-OCP; its text was not at hand, and its recursion may differ from this one, which is
    derived here: by [2]_ linear losses are learnt by betting, by [3]_ bets are mixed. After a long
    stretch of hits misses come in a row until the counts are even again.

    References
    ----------
    .. [1] T. Liu, E. Dobriban, F. Orabona, "Online conformal prediction via universal portfolio
       algorithms", arXiv 2602.03168, 2026.
    .. [2] F. Orabona, D. Pál, "Coin betting and parameter-free online learning", Advances in Neural
       Information Processing Systems 29, 2016.
    .. [3] T. M. Cover, E. Ordentlich, "Universal portfolios with side information", IEEE
       Transactions on Information Theory 42(2), 1996.

    Examples
    --------
    >>> from sklearn_okl.conformal import PortfolioBetting
    >>> bets = PortfolioBetting()
    >>> known = bets.start(0.8)
    >>> for score in [3.0, 1.0, 0.5]:
    ...     bets.learn(known, score)
    >>> round(bets.threshold(known), 3)
    0.534
    """

    def __init__(self, wealth: float = 1.0) -> None:
        self.wealth = wealth
        checked_number(self, "wealth")

    def start(self, coverage: float) -> dict[str, Any]:
        return {"alpha": 1.0 - coverage, "rounds": 0, "misses": 0}

    def threshold(self, state: dict[str, Any]) -> float:
        alpha, n, m = state["alpha"], state["rounds"], state["misses"]
        stake = ((m + 0.5) / (n + 1.0) - alpha) / (alpha * (1.0 - alpha))
        if stake == 0.0:
            return 0.0
        logs = lgamma(m + 0.5) + lgamma(n - m + 0.5) - lgamma(n + 1.0) - log(pi)
        logs -= m * log(alpha) + (n - m) * log(1.0 - alpha)
        logs += log(self.wealth) + log(abs(stake))
        size = exp(logs) if logs < _LARGEST else inf
        return size if stake > 0.0 else -size

    def learn(self, state: dict[str, Any], score: float) -> None:
        state["misses"] += int(score > self.threshold(state))
        state["rounds"] += 1
