"""One row of a stacked mixture: what `StackedBOARegressor` does with a block of one, in few calls.

All arrays have the targets first, (q, K); whoever is asleep is 0 in a forecast and marked beside. A
row is asked before it is taught, and nothing is computed twice. It knows of no late labels, and
gives up where an expert is beyond the range of the targets, which the block asks about.
"""

from functools import cache
from math import inf, log

import numpy as np

from . import _boas, _limits, _sides, _two_boas
from ._boas import sleep_of
from ._fading_means import log_likelihoods_of
from ._stacked import FARTHEST, HOPELESS, KNOWN, SAME

_OF_STACKS = "theta", "b", "squares", "A", "P"  # arrays of regressions that rows add to


class MixtureRow:
    """A row of forecasts that a mixture was asked for, and may learn then.

    Parameters
    ----------
    mixture : StackedBOARegressor
        It has fading means, at least one, and no delay.
    state : dict of the mixture
    missing : ndarray of bool of shape (K,)
        Experts of which there is no forecast yet, NaN.
    """

    def __init__(self, mixture, state, missing):
        self.mixture, self.state, self.missing = mixture, state, missing
        self.regressions = [_sides.regression(*stack, False) for stack in mixture.stacks]
        self.fadings = np.array(mixture.fadings)[:, None]
        self.n_known = rows_until(KNOWN, mixture.fadings[-1])
        self.boas = _boas.JoinedBoas([state["experts"], state["last"]])
        fading = state["fading"]  # faded sums of losses (q, m, K) and of rounds (q, m, 1)
        self.losses = np.concatenate([one["losses"][:, None] for one in fading], axis=1)
        self.rounds = np.concatenate([one["rounds"][:, None] for one in fading], axis=1)

    def own(self, state, is_copy):
        """Go on with a state that may be written, the same or a copy of which others know."""
        self.state = state
        self.boas.own([state["experts"], state["last"]], is_copy)
        if is_copy:
            self.losses, self.rounds = self.losses.copy(), self.rounds.copy()
        for i, one in enumerate(state["fading"]):
            one["losses"], one["rounds"] = self.losses[:, i], self.rounds[:, i]

    @property
    def is_current(self):
        """Whether nobody else has taught the mixture since its latest row."""
        return self.boas.is_current

    @property
    def written(self):
        """Arrays that a row of the mixture writes."""
        last, stacks = self.state["last"], self.state["stacks"]
        parts = [self.losses, self.rounds, *self.boas.written, last["usual"], self.state["limits"]]
        parts += [last["likelihoods"][name] for name in ("losses", "rounds")]
        return parts + [one[name] for one in stacks for name in _OF_STACKS if name in one]

    @property
    def is_finite(self):
        """Whether what regressions share with copies of their states is."""
        return all(one["inverse"].is_finite for one in self.state["stacks"] if "inverse" in one)

    def close(self):
        """Let regressions share what is large with copies of their states."""
        for one, known in zip(self.regressions, self.state["stacks"], strict=True):
            one._close(known, grows=True)

    def ask(self, F, asleep, scales):
        """Return the forecasts (q,) of all; None where an expert is beyond the targets' range.

        Forecasts F (q, K) are NaN where there is no expert; no say has who is `asleep` (q, K).
        Numbers may overflow.
        """
        mixture, state, losses = self.mixture, self.state, self.losses
        self.known_limits, margin = state["limits"].tolist(), mixture.margin
        self.limits = np.array([_widened(margin, *one) for one in self.known_limits])
        everybody = self.everybody = _limits.sane(F, self.limits)
        if ((everybody != F) > asleep).any():
            return None
        n_direct = mixture.n_direct
        if n_direct:
            asleep = asleep.copy()
            asleep[:, :n_direct] |= self._are_hopeless(sleep_of(asleep), losses[:, -1])
        sleep, self.scales = sleep_of(asleep), scales
        F = self.F = everybody.copy()
        barred = losses
        if sleep is not None:
            np.copyto(F, 0.0, where=asleep)
            barred = losses + sleep.barred[:, None]
        n_means = 1 + losses.shape[1]
        n_ways = n_means + len(self.regressions)
        of_experts, of_ways = self.boas.log_weights()
        known = np.concatenate([of_experts, log_likelihoods_of(barred, self.rounds)], axis=1)
        means = _boas.mixed_row(known, _boas.pairs_of(F), sleep)
        ways = np.empty((len(F), n_ways + n_direct))
        ways[:, :n_means] = means
        first = means[:, :1]
        ways[:, :1] = _boas.within_row(first, F, sleep)
        self.of_experts = F, sleep
        base = self.base = means[:, 1]
        D = F - base[:, None]
        D /= scales[:, None]
        np.minimum(np.maximum(D, -FARTHEST, out=D), FARTHEST, out=D)
        if sleep is not None:
            D *= sleep.awake
        of_regressions = zip(self.regressions, state["stacks"], strict=True)
        self.met = [one._meet_row(known, D) for one, known in of_regressions]
        for k, met in enumerate(self.met, n_means):
            ways[:, k] = base + scales * met.forecast[:, 0]
        ways[:, n_means:n_ways] = _limits.sane(ways[:, n_means:n_ways], self.limits)
        ways[:, n_ways:] = F[:, :n_direct]
        away = np.zeros(ways.shape, dtype=bool)
        away[:, n_ways:] = asleep[:, :n_direct]
        self.of_boa, ways = ways[:, :1].copy(), _apart(ways, scales)
        self.of_ways = ways, sleep_of(away)
        self.last = _two_boas.ask_row(state["last"], of_ways, *self.of_ways)
        self.known_ways = np.concatenate([first, self.last.known], axis=1)
        return self.last.forecast

    def teach(self, y, weight):
        """Learn the targets y (q,) of the row that was asked for last."""
        state, last = self.state, self.state["last"]
        known, target = zip(self.known_limits, y.tolist(), strict=True), y[:, None]
        now = [(min(low, one), max(high, one), n + 1.0) for (low, high, n), one in known]
        state["limits"] = np.array(now)
        n_remembered = last["usual"][:, -2]
        factors = np.full((len(y), 3), 2.0 * weight)
        factors[:, 2] *= _two_boas.learn_usual_of_row(last, *self.of_ways, y, weight)
        _two_boas.teach_likelihoods(last, self.last, y, factors[:, 2], n_remembered, weight)
        of_each = self.of_experts, self.of_ways
        self.boas.teach(self.known_ways, of_each, target, factors, (None, _two_boas.bound))
        squares = self.everybody - target
        np.copyto(squares, self.of_boa - target, where=self.missing)
        squares *= squares
        if weight != 1.0:
            squares *= weight
        self.losses *= self.fadings
        self.losses += squares[:, None]
        self.rounds *= self.fadings
        self.rounds += weight
        errors = (y - self.base) / self.scales
        errors = np.minimum(np.maximum(errors, -_sides.LARGEST), _sides.LARGEST)[:, None]
        parts = zip(self.regressions, state["stacks"], self.met, strict=True)
        for one, known, met in parts:
            one._teach_row(known, met, errors, weight)

    def _are_hopeless(self, sleep, losses):
        """Return which direct experts (q, n) lose much more of late than the best other one."""
        n = self.mixture.n_direct
        others = losses[:, n:] if sleep is None else losses[:, n:] + sleep.barred[:, n:]
        others = np.minimum.reduce(others, axis=-1, keepdims=True)
        hopeless = losses[:, :n] > HOPELESS * others
        hopeless |= self.limits[:, 2:] < self.n_known
        hopeless &= others < np.inf
        return hopeless


def _apart(ways, scales):
    """Return ways that are equal where they differ by rounding only."""
    first = ways[:, :1]
    differences = ways - first
    differences *= np.abs(differences) > SAME * scales[:, None]
    return first + differences


def _widened(margin, low, high, n):
    """Return the limits of a target, so much of their distance farther out, and their rows."""
    return low - margin * (high - low), high + margin * (high - low), n


@cache
def rows_until(n_faded, fading):
    """Return after how many rows there are so many faded ones, infinite where there never are."""
    left = 1.0 - n_faded * (1.0 - fading)
    return log(left) / log(fading) if left > 0.0 else inf
