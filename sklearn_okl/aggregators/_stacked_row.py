"""One row of a stacked mixture: what `StackedBOARegressor` does with a block of one, in few calls.

All arrays have the targets first, (q, K); whoever is asleep is 0 in a forecast and marked beside. A
row is asked before it is taught, and nothing is computed twice. It knows of no late labels, and
gives up where limits may give way, which is a matter of blocks: the best expert of late leads
beyond the range of the targets, or all are beyond it, or who was right where some are far apart.
"""

from copy import copy
from functools import cache, lru_cache
from math import inf, log
from typing import NamedTuple

import numpy as np

from .._linalg import any_of, column, least
from . import _apart as apart
from . import _boas, _limits, _sides, _two_boas
from ._boas import sleep_of
from ._fading_means import FEW, log_likelihoods_of
from ._stacked import FARTHEST, HOPELESS, KNOWN, SAME

_LOWEST, _HIGHEST = np.array(-FARTHEST), np.array(FARTHEST)  # cost arrays less than numbers do
_MASKS = 64  # of who is asleep, that are remembered
_N_BOAS = 3  # two of the ways, and one of the experts
_N_PARTED = 4  # means that tell how far direct experts and others part
_OF_STACKS = "theta", "b", "squares", "A", "P"  # arrays of regressions that rows add to


class Before(NamedTuple):
    """What is known before a row, whatever it is.

    Attributes
    ----------
    numbers : list
        Low and high end of the targets so far, and their rows, of each.
    limits : ndarray of shape (q, 3)
        The same, with a margin.
    silence : Silence
        Who has no say.
    weights : ndarray of shape (q, 3 + m, K)
        Of the last two BOAs, the first one, and m means, up to factors. Where there are direct
        experts the last three means are those that tell how far others part from them.
    share : ndarray of shape (q,)
        That of the second of these.
    """

    numbers: list
    limits: np.ndarray
    silence: object
    weights: np.ndarray
    share: np.ndarray


class Silence(NamedTuple):
    """Those whose forecasts of a row do not count.

    Attributes
    ----------
    sleep, away : Sleep or None
        Among the experts, and among the ways.
    barred : ndarray of shape (q, 3 + m, K)
        Infinite of who has no part in each BOA and mean, and 0 of others.
    awake : ndarray of shape (q, 3, K)
        0 of who has no part in each BOA, and 1 of others.
    """

    sleep: object
    away: object
    barred: np.ndarray
    awake: np.ndarray


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
        self.of_round = self.before = None  # what is known before the rows of a round
        self.boas = _boas.JoinedBoas([state["last"], state["experts"]])
        fading = state["fading"]  # faded sums of losses (q, m, K) and of rounds (q, m, 1)
        self.losses = np.concatenate([one["losses"][:, None] for one in fading], axis=1)
        self.rounds = np.concatenate([one["rounds"][:, None] for one in fading], axis=1)
        self.n_means = len(fading)
        self.lagless = state.get("lagless", np.zeros(len(missing), dtype=bool))
        # the sums by which each mean is made, those that tell of direct experts by the last ones
        places = [*range(self.n_means), *[-1] * (_N_PARTED if mixture.n_direct else 0)]
        self.sums_of, self.n_ways = np.array(places), state["last"]["rates"].shape[-1]

    def own(self, state, is_copy):
        """Go on with a state that may be written, the same or a copy of which others know."""
        self.state = state
        self.boas.own([state["last"], state["experts"]], is_copy)
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
        if "apart" in self.state:
            parts.append(self.state["apart"]["known"])
        return parts + [one[name] for one in stacks for name in _OF_STACKS if name in one]

    @property
    def is_finite(self):
        """Whether what regressions share with copies of their states is."""
        return all(one["inverse"].is_finite for one in self.state["stacks"] if "inverse" in one)

    def close(self):
        """Let regressions share what is large with copies of their states."""
        for one, known in zip(self.regressions, self.state["stacks"], strict=True):
            one._close(known, grows=True)

    def known_limits(self):
        """Return the limits (q, 3) of sane forecasts of the next row."""
        of_targets, margin = self.state["limits"].tolist(), self.mixture.margin
        return np.array([_widened(margin, *one) for one in of_targets])

    def ask(self, F, asleep, scales, t):
        """Return the forecasts (q,) of all; None where one leads beyond the targets' range.

        Forecasts F (q, K) are NaN where there is no expert; no say has who is `asleep` (q, K). What
        no row changes is kept for the round t. Numbers may overflow; a mean of nobody is none.
        """
        of_round = t, asleep.tobytes()
        if of_round != self.of_round:
            self.of_round, self.before = of_round, self._known_before(asleep)
        before, self.scales, self.together = self.before, scales, None
        everybody = self.everybody = _limits.sane(F, before.limits)
        self.awake = everybody.copy()
        np.copyto(self.awake, 0.0, where=asleep)
        beyond = (everybody != F) > asleep
        is_any_beyond = any_of(beyond)
        if is_any_beyond and self._leaves(self._led(F, asleep, beyond)):
            return None
        forecasts = self._mixed()
        if not self.mixture.n_direct:
            return forecasts
        known, self.others = self.state["apart"]["known"], None
        self.octaves, self.usual = apart.octaves_of_row(known, self.means)
        if self.octaves.item(self.octaves.argmax()) < 0:
            return forecasts
        self.others = self._heard_alone(F)
        weights = apart.weights_of(known, self.means, self.others, self.octaves)
        shares = apart.shares_of(weights, self.octaves)
        if not shares.any():
            return forecasts
        # who was right in such rows is heard beyond limits
        if is_any_beyond and self._leaves((shares > 0.0) & beyond.any(axis=-1)):
            return None
        is_any = ((shares > 0.0) & ~np.isnan(self.means.a)).any()
        together = self._without_direct(asleep, shares > 0.0) if is_any else forecasts
        self.together = np.where(shares > 0.0, together, np.nan)
        found = apart.others_say(weights, self.others, together)
        return forecasts + shares * (found - forecasts)

    def _heard_alone(self, F):
        """Return wide forecasts (q, K) of who has a say, but for direct experts."""
        others, sleep = _limits.nearly_sane(F, self.before.limits), self.before.silence.sleep
        if sleep is not None:
            others[sleep.asleep] = np.nan
        others[:, : self.mixture.n_direct] = np.nan
        return others

    def _without_direct(self, asleep, which):
        """Return forecasts (q,) of the same row without the direct experts of some targets (q,)."""
        other, n = copy(self), self.mixture.n_direct  # what the row is taught by stays as it is
        asleep = asleep.copy()
        asleep[:, :n] |= which[:, None]
        other.before = other._known_before(asleep)
        return other._mixed()

    def _mixed(self):
        """Return the forecasts (q,) of who is awake."""
        before, scales, F = self.before, self.scales, self.awake
        n, (sleep, away, *_) = _N_BOAS + self.n_means, before.silence
        weights, pairs = before.weights[..., : F.shape[1]], _boas.pairs_of(F)
        means = _boas.mixed_row(weights[:, _N_BOAS - 1 : n], pairs)
        first, self.base = _boas.within_row(means[:, :1], F, sleep), means[:, 1]
        self.of_boa = first
        if self.mixture.n_direct:
            of_both = _boas.mixed_row(weights[:, n:], pairs)
            self.means = apart.Parted(*of_both.T, self.losses[:, -1])
        ways = self.ways = _without_rounding(self._ways(first, means, F, scales), scales)
        weights = before.weights[:, : _N_BOAS - 1, : ways.shape[1]]
        self.last = _two_boas.ask_row(weights, before.share, ways, away)
        self.known_ways = np.concatenate([self.last.known, means[:, :1]], axis=1)
        return self.last.forecast

    def _leaves(self, which):
        """Tell whether a row is left to blocks as they are to see some of its targets (q,)."""
        return which.any()

    def _led(self, F, asleep, beyond):
        """Tell in which targets (q,) limits may give way to experts beyond them."""
        known = self.losses[:, -1], self.rounds[:, -1]
        return _limits.may_give_way(np.where(asleep, np.nan, F), beyond, *known)

    def _known_before(self, asleep):
        """Return what is known before a row, whatever it is."""
        state, n = self.state, self.mixture.n_direct
        numbers, limits = state["limits"].tolist(), self.known_limits()
        silent = asleep
        if n:
            silent = asleep.copy()
            silent[:, :n] |= self._are_hopeless(sleep_of(asleep), limits)
        known = np.zeros((len(asleep), _N_BOAS + len(self.sums_of), self.boas.width))
        silence = self._silence(asleep, silent, known.shape)
        barred, n_experts = silence.barred, asleep.shape[1]
        losses = self.losses.take(self.sums_of, axis=1)
        losses += barred[:, _N_BOAS:, :n_experts]
        known[:, :_N_BOAS] = self.boas.log_weights()
        known[:, _N_BOAS:, :n_experts] = log_likelihoods_of(
            losses, self.rounds.take(self.sums_of, axis=1)
        )
        known -= barred
        weights = _boas.weights_of_row(known, None)
        return Before(numbers, limits, silence, weights, _two_boas.share_now(state["last"]))

    def _silence(self, asleep, silent, joined):
        """Return who has no say, by masks (q, K), in arrays of the shape `joined`.

        Rows of few targets that follow each other hardly ever have other masks, those of many do.
        """
        counts = self.n_means, self.mixture.n_direct, self.n_ways
        if len(asleep) > FEW:
            return _silence_of(asleep, silent, self.lagless, joined, *counts)
        masks = asleep.tobytes(), silent.tobytes(), self.lagless.tobytes()
        return _known_silence(*masks, asleep.shape, joined, *counts)

    def _ways(self, first, means, F, scales):
        """Return the ways (q, W) of the last level: means, regressions of errors, direct experts.

        The regressions have met the row.
        """
        base, n_direct, sleep = self.base, self.mixture.n_direct, self.before.silence.sleep
        D = F - column(base)
        D /= column(scales)
        np.minimum(np.maximum(D, _LOWEST, out=D), _HIGHEST, out=D)
        if sleep is not None:
            D *= sleep.awake
        of_regressions = zip(self.regressions, self.state["stacks"], strict=True)
        self.met = [one._meet_row(known, D) for one, known in of_regressions]
        corrected = [base + scales * met.forecast[:, 0] for met in self.met]
        corrected = _limits.sane(np.array(corrected).T, self.before.limits)
        return np.concatenate([first, means[:, 1:], corrected, F[:, :n_direct]], axis=1)

    def teach(self, y, weight):
        """Learn the targets y (q,) of the row that was asked for last."""
        state, last = self.state, self.state["last"]
        known, target = zip(self.before.numbers, y.tolist(), strict=True), column(y)
        now = [(min(low, one), max(high, one), n + 1.0) for (low, high, n), one in known]
        state["limits"] = np.array(now)
        n_remembered = last["usual"][:, -2]
        factors = np.empty((len(y), _N_BOAS))
        factors.fill(2.0 * weight)
        silence, of_ways = self.before.silence, factors[:, 1]
        of_ways *= _two_boas.learn_usual_of_row(last, self.ways, silence.away, y, weight)
        _two_boas.teach_likelihoods(last, self.last, y, of_ways, n_remembered, weight)
        of_each = self.ways, self.awake
        of_row = silence.awake, target, factors, _two_boas.bound
        self.boas.teach(self.known_ways, of_each, *of_row)
        if self.mixture.n_direct:
            of_row = self.means, self.others, y, weight, self.octaves, self.usual, self.together
            known = apart.after_row(state["apart"]["known"], *of_row)
            state["apart"] = state["apart"] | {"known": known}
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

    def _are_hopeless(self, sleep, limits):
        """Return which direct experts (q, n) lose much more of late than the best other one."""
        n, losses = self.mixture.n_direct, self.losses[:, -1]
        others = losses[:, n:] if sleep is None else losses[:, n:] + sleep.barred[:, n:]
        others = least(others)
        hopeless = losses[:, :n] > HOPELESS * others
        are_young = limits[:, 2:] < self.n_known
        if any_of(are_young):
            hopeless |= are_young & (others < np.inf)
        return hopeless


@lru_cache(_MASKS)
def _known_silence(asleep, silent, lagless, shape, *more):
    masks = (np.frombuffer(mask, dtype=bool) for mask in (asleep, silent, lagless))
    asleep, silent, lagless = masks
    return _silence_of(asleep.reshape(shape), silent.reshape(shape), lagless, *more)


def _silence_of(asleep, silent, lagless, joined, n_means, n_direct, n_ways):
    """Return the silence of those that are `silent` of all (q, K), of which the first are direct.

    They have no part in the first BOA and most means. The last four, where there are direct
    experts, are of those of them that are heard, of all others that are, again of the former, or of
    all direct ones that are not asleep where none is heard, and of the `lagless` (K,) of the
    others. Direct experts are the last ways, too. Arrays are `joined`, with nobody behind.
    """
    n_targets, n_experts = silent.shape
    is_direct, n = np.arange(n_experts) < n_direct, _N_BOAS + n_means
    away = np.zeros((n_targets, n_ways), dtype=bool)
    away[:, n_ways - n_direct :] = silent[:, :n_direct]
    are_out = np.ones(joined, dtype=bool)
    are_out[:, : _N_BOAS - 1, :n_ways] = away[:, None]
    are_out[:, _N_BOAS - 1 : n, :n_experts] = silent[:, None]
    if n_direct:
        naive = np.where((is_direct > silent).any(axis=1, keepdims=True), silent, asleep)
        parts = silent | ~is_direct, silent | is_direct, naive | ~is_direct, silent | ~lagless
        are_out[:, n:, :n_experts] = np.stack(parts, axis=1)
    barred, awake = np.where(are_out, np.inf, 0.0), 1.0 - are_out[:, :_N_BOAS]
    return Silence(sleep_of(silent), sleep_of(away), barred, awake)


def _without_rounding(ways, scales):
    """Return ways that are equal where they differ by rounding only."""
    first = column(ways[:, 0])
    differences = ways - first
    differences *= np.abs(differences) > SAME * column(scales)
    differences += first
    return differences


def _widened(margin, low, high, n):
    """Return the limits of a target, so much of their distance farther out, and their rows."""
    return low - margin * (high - low), high + margin * (high - low), n


@cache
def rows_until(n_faded, fading):
    """Return after how many rows there are so many faded ones, infinite where there never are."""
    left = 1.0 - n_faded * (1.0 - fading)
    return log(left) / log(fading) if left > 0.0 else inf
