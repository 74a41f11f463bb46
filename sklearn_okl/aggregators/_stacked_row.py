"""One row of a stacked mixture: what `StackedBOARegressor` does with a block of one, in few calls.

All arrays have the targets first, (q, K); whoever is asleep is 0 in a forecast and marked beside. A
row is asked before it is taught, and nothing is computed twice. It knows of no late labels, and
gives up where an expert is beyond the range of the targets, which the block asks about.
"""

from functools import cache
from math import inf, log

import numpy as np

from . import _boas, _limits, _sides, _two_boas
from ._fading_means import log_likelihoods_of
from ._stacked import FARTHEST, HOPELESS, KNOWN, SAME


class MixtureRow:
    """A row of forecasts that a mixture was asked for, and may learn then.

    Parameters
    ----------
    mixture : StackedBOARegressor
        It has fading means, at least one, and no delay.
    state : dict of the mixture
    """

    def __init__(self, mixture, state):
        self.mixture, self.state = mixture, state
        self.regressions = [_sides.regression(*stack, False) for stack in mixture.stacks]
        self.fadings = np.array(mixture.fadings)[:, None, None]
        self.n_known = rows_until(KNOWN, mixture.fadings[-1])

    def close(self):
        """Let regressions share what is large with copies of their states."""
        for one, known in zip(self.regressions, self.state["stacks"], strict=True):
            one._close(known, grows=True)

    def known_limits(self):
        """Return the limits (q, 3) of sane forecasts of the next row."""
        of_targets, margin = self.state["limits"].tolist(), self.mixture.margin
        return np.array([_widened(margin, *one) for one in of_targets])

    def ask(self, F, asleep, scales):
        """Return the forecasts (q,) of all; None where one leads beyond the targets' range.

        Forecasts F (q, K) are NaN where there is no expert; no say has who is `asleep` (q, K).
        Numbers may overflow.
        """
        mixture, state = self.mixture, self.state
        self.limits = self.known_limits()
        self.everybody = _limits.sane(F, self.limits)
        losses = np.array([one["losses"] for one in state["fading"]])  # (m, q, K)
        rounds = np.array([one["rounds"] for one in state["fading"]])
        beyond = (self.everybody != F) > asleep
        if np.logical_or.reduce(beyond, axis=None):
            of_latest = np.where(asleep, np.nan, F), beyond, losses[-1], rounds[-1]
            if _limits.leading(*of_latest)[0].any():
                return None
        self.losses, self.rounds, n_direct = losses, rounds, mixture.n_direct
        if n_direct:
            asleep = asleep.copy()
            asleep[:, :n_direct] |= self._are_hopeless(asleep, losses[-1])
        F = self.F = np.where(asleep, 0.0, self.everybody)
        self.asleep, self.scales = asleep, scales
        n_means = 1 + len(losses)
        n_ways = n_means + len(self.regressions)
        ways = np.empty((len(F), n_ways + n_direct))
        known = np.empty((n_means, *F.shape))  # logarithms of weights
        known[0] = _boas.log_weights(state["experts"])[:, 0]
        known[1:] = log_likelihoods_of(np.where(asleep, np.inf, losses), rounds)
        means = _boas.mixed_row(known, F, asleep)  # (n_means, q, 1)
        ways[:, :n_means] = means[..., 0].T
        self.first = means[0][:, None]
        ways[:, :1] = _boas.within_row(self.first, F[:, None], asleep[:, None])
        base = self.base = ways[:, 1]
        D = F - base[:, None]
        D /= scales[:, None]
        np.copyto(D, 0.0, where=asleep)
        np.minimum(np.maximum(D, -FARTHEST, out=D), FARTHEST, out=D)
        self.met = [
            one._meet_row(known, D)
            for one, known in zip(self.regressions, state["stacks"], strict=True)
        ]
        for k, met in enumerate(self.met, n_means):
            ways[:, k] = base + scales * met.forecast[:, 0]
        ways[:, n_means:n_ways] = _limits.sane(ways[:, n_means:n_ways], self.limits)
        ways[:, n_ways:] = F[:, :n_direct]
        self.ways, self.of_boa = self._apart(ways, scales), ways[:, :1]
        self.away = np.zeros(ways.shape, dtype=bool)
        self.away[:, n_ways:] = asleep[:, :n_direct]
        self.last = _two_boas.ask_row(state["last"], self.ways, self.away)
        return self.last.forecast

    def teach(self, y, weight):
        """Learn the targets y (q,) of the row that was asked for last."""
        state = self.state
        known, target = zip(state["limits"].tolist(), y.tolist(), strict=True), y[:, None]
        now = [(min(low, one), max(high, one), n + 1.0) for (low, high, n), one in known]
        state["limits"] = np.array(now)
        of_boa = self.first, self.F[:, None], self.asleep[:, None], target[:, None], 2.0 * weight
        _boas.teach_row(state["experts"], *of_boa)
        squares = self.everybody - target
        np.copyto(squares, self.of_boa - target, where=np.isnan(squares))
        squares *= squares
        if weight != 1.0:
            squares *= weight
        losses, rounds = self.fadings * self.losses, self.fadings * self.rounds
        losses += squares
        rounds += weight
        for one, loss, count in zip(state["fading"], losses, rounds, strict=True):
            one["losses"], one["rounds"] = loss, count
        errors = (y - self.base) / self.scales
        errors = np.minimum(np.maximum(errors, -_sides.LARGEST), _sides.LARGEST)[:, None]
        parts = zip(self.regressions, state["stacks"], self.met, strict=True)
        for one, known, met in parts:
            one._teach_row(known, met, errors, weight)
        _two_boas.teach_row(state["last"], self.last, self.ways, self.away, y, weight)

    def _are_hopeless(self, asleep, losses):
        """Return which direct experts (q, n) lose much more of late than the best other one."""
        n = self.mixture.n_direct
        others = np.where(asleep, np.inf, losses)[:, n:]
        others = np.minimum.reduce(others, axis=-1, keepdims=True)
        hopeless = losses[:, :n] > HOPELESS * others
        hopeless |= self.limits[:, 2:] < self.n_known
        hopeless &= others < np.inf
        return hopeless

    def _apart(self, ways, scales):
        """Return ways that are equal where they differ by rounding only."""
        first = ways[:, :1]
        differences = ways - first
        differences[np.abs(differences) <= SAME * scales[:, None]] = 0.0
        return first + differences


def _widened(margin, low, high, n):
    """Return the limits of a target, so much of their distance farther out, and their rows."""
    return low - margin * (high - low), high + margin * (high - low), n


@cache
def rows_until(n_faded, fading):
    """Return after how many rows there are so many faded ones, infinite where there never are."""
    left = 1.0 - n_faded * (1.0 - fading)
    return log(left) / log(fading) if left > 0.0 else inf
