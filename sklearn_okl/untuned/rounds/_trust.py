"""Whether targets in doubt had better be believed: a twin that does, and odds that persist.

What a fence does to targets in doubt is right for faults, and wrong for what the rows explain and
nobody has learnt yet. Which it is, forecasts tell later. So with a target in doubt a twin of the
model begins that believes every target, and both go on beside each other. They are mixed by the
odds that errors of a Cauchy distribution, whose scale is the usual error of the better of the two,
are those of the twin: a round counts the same in any unit, and little at most. More counts the
first target of a run that is far from the model's forecast, if the twin foretells it: it knows
nothing of a fault, nor of a new level, but lags know of the rest of a run. Once the odds are
settled one of the two is left.

Most rounds are quiet: the two are near, and the one that has learnt less of what was far is a bit
better. So what rounds have said in which the two were far apart is kept for the twins that follow,
and events that come back are believed sooner each time, whatever lies between.

The model that is left is not asked again at once: the more often in a row it has won, the longer
targets in doubt are met as it meets them, but for one much farther off than any that it has learnt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..._delay import late
from ..._tail import Shared
from ..._types import Any, ArrayLike
from ...aggregators._apart import N_BANDS, bands_of, nearness, octaves_of
from . import _lines
from ._target_units import unit

_NEAR = 1e-6  # usual errors between forecasts that are near
_LARGEST = 1e300  # loss in the units of another
_BELIEFS = "kept", "largest", "explained", "won"
_OF_TARGETS = "odds", "of_faults", "nones", "marks", "learnt"


@dataclass(frozen=True)
class Trust:
    """Says how far the twin that believes every target is to be trusted.

    Parameters
    ----------
    odds : float, default=4.5
        Log odds against the twin when one begins, at most, and for it if the one before it has won.
    doubted : float, default=8.0
        Usual errors up to which a target in doubt is as likely a rare one as a faulty one. Faults
        are of any size, rare targets the rarer the larger they are: beyond, the odds fall by the
        square, as do those of errors with two moments against faults of any order of magnitude.
    even : float, default=-0.5
        Log odds there, where a row that is strange may explain its target, and where first rows
        are judged by themselves. In steps of whole numbers no threshold is reached exactly, so that
        rounding does not decide.
    width : float, default=3.0
        Usual errors in the scale of the Cauchy distribution: smaller ones hardly count.
    bound : float, default=1.0
        Log odds that a round counts at most: a run of faults that look alike is no proof.
    reach, foretold : float, default=6.0 and 3.0
        Usual errors from which on a target is far, and the log odds that the first one of a run
        adds at most.
    settled : float, default=8.0
        Log odds from which on only one of the two is heard; the other one then ends with a block.
    limit : float, default=18.5
        Largest log odds.
    patience : int, default=512
        Rounds after which the likelier one is taken. Where the odds of both are not settled, what
        is kept from rounds far apart counts as well: those in between say little.
    apart : float, default=18.0
        Usual errors from which on both are far apart. Who is a little worse in most rows may be the
        one who knows when a target will jump. So once a far target has been foretold, as no fault
        is, such rows have log odds of their own, within `settled`: for the twin speaks in them only
        the first target of a run of far ones, if it was foretold, against it every round. They are
        kept by how far both are apart, as who is wrong by twenty usual errors may be right by
        a thousand, see `aggregators/_apart.py`: where nothing is known, by the band before.
    alike : float, default=0.1
        Usual errors by which the two differ at most, in the root mean square of the rows between
        two decisions, if their losses are all but the same whoever is taken: by a hundredth of the
        usual one. Then the likelier one is taken, too, as two cost twice what one does.
    rest : int, default=64
        Rounds after a first decision in which no other twin begins; twice as many after each one
        like it that follows.
    unheard_of : float, default=10.0
        Largest errors that were learnt, from which on the rest ends.
    pull : float, default=6.0
        Usual errors that the forecasts of the less likely of the two count as off at most.
    """

    odds: float = 4.5
    doubted: float = 8.0
    even: float = -0.5
    width: float = 3.0
    bound: float = 1.0
    reach: float = 6.0
    foretold: float = 3.0
    settled: float = 8.0
    limit: float = 18.5
    patience: int = 512
    apart: float = 18.0
    alike: float = 0.1
    rest: int = 64
    unheard_of: float = 10.0
    pull: float = 6.0

    def start(self, n_targets: Any, delay: Any = 0) -> Any:
        """Return the state before the first target."""
        return {
            "twin": {},  # the state of a model, or nothing
            "odds": np.full(1 + delay, -self.odds),  # after each of the latest rounds
            # those by bands where both are far apart, at the limit before anything was foretold
            "far": np.full((1 + delay, N_BANDS), -self.limit),
            # usual errors, as targets came, known then; 0 where there are none
            "scales": np.zeros((1 + delay, n_targets)),
            "largest": np.zeros(n_targets),  # errors of targets that were learnt as they came
            "is_far": False,  # whether the latest target was
            "kept": 0.0,  # log odds from rounds in which model and twins were far apart
            "explained": np.zeros(n_targets),  # the model's largest errors in those the twins won
            "since": 0,  # the round in which the twin began
            "rest": np.array([0, 0], dtype=np.intp),  # the round in which it ends, its last length
            "won": False,  # whether the twin has won last
            # squares, in usual errors, that the twin would have saved in the latest blocks
            "saved": 0.0,
            "surely": 0.0,  # log odds at the end of the block before, if they were the limit
            # rows since the latest decision, and (q,) sums of squares by which the two differed
            "between": np.zeros(1 + n_targets),
        }

    def believed(self, state: Any, t: Any) -> Any:
        """Return up to which size errors (q,) in round t put no target in doubt: the twin has won.

        Until the rest ends, see `rounds_of_rest`.
        """
        if state["won"] and not state["twin"] and t < state["rest"][0]:
            return self.unheard_of * state["largest"]
        return np.zeros(len(state["largest"]))

    def rounds_of_rest(self, state: Any, t: Any) -> Any:
        """Return for how many rounds the answer of `believed` is of one kind, 0 for ever."""
        return max(int(state["rest"][0]) - t, 0) if state["won"] and not state["twin"] else 0

    def wants_twin(self, state: Any, t: Any) -> Any:
        """Return whether a twin begins in round t with targets in doubt."""
        return not state["twin"] and (state["won"] or t >= state["rest"][0])

    def begin(
        self, state: Any, t: Any, twin: Any, scale: Any, errors: Any, is_strange: Any = False
    ) -> Any:
        """Let a twin begin in round t with targets off by `errors` (q,).

        The row may be strange, and so the reason. What nobody has heard of is believed by nobody.
        """
        odds = self.even if is_strange else self._first_odds(scale, errors)
        largest = np.maximum(state["largest"], state["explained"])
        is_heard_of = bool((np.abs(errors) <= self.unheard_of * largest).all())
        if is_heard_of and state["won"]:
            odds = self.odds
        kept = state["kept"] if is_heard_of else min(state["kept"], 0.0)
        odds = min(max(odds + kept, -self.limit), self.odds)
        state |= {"twin": twin, "since": t, "odds": np.full(len(state["odds"]), odds)}
        state["far"] = np.full(state["far"].shape, -self.limit)
        state |= {"surely": 0.0, "is_far": False, "saved": 0.0}
        state["between"] = np.zeros_like(state["between"])
        self.rescale(state, scale)

    def hear_of_lines(self, state: Any, guards: Any) -> None:
        """Trust the twin as lines say, see `_lines.py`, for which levels of targets have moved."""
        if not guards or not state["twin"]:
            return
        odds, far = state["odds"].copy(), state["far"].copy()
        odds[-1] = _lines.odds_of_twin(guards, odds[-1], self.bound)
        said = _lines.odds_of_twin(guards, far[-1], self.bound)
        far[-1] = np.where(far[-1] > -self.limit, said, far[-1])
        state |= {"odds": odds, "far": far}

    def _first_odds(self, scale, errors):
        """Return the log odds that targets off by `errors` (q,) are none of faults."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            sizes = np.abs(errors) / scale  # infinite in units that nobody knows
        farthest = float(np.fmax.reduce(sizes))
        return max(self.even - 2.0 * np.log(max(farthest / self.doubted, 1.0)), -self.odds)

    def rescale(self, state: Any, scale: ArrayLike) -> Any:
        """Measure errors (q,) in other units from here on."""
        state["scales"] = np.vstack([state["scales"][:-1], scale])

    def is_heard(self, state: Any, ago: Any = 0) -> Any:
        """Return whether the twin has a say in forecasts by what was known some rounds ago."""
        if not state["twin"]:
            return False
        likelier = max(state["odds"][-1 - ago], *state["far"][-1 - ago])
        return bool(likelier > -self.settled)

    def mixed(self, state: Any, ours: ArrayLike, theirs: ArrayLike, ago: Any = 0) -> Any:
        """Return what both forecasts (n, q) make, by what was known some rounds ago."""
        known = [state[name][-1 - ago] for name in ("odds", "far", "scales")]
        return self._mixed(self._odds_of(*known, ours, theirs), known[-1], ours, theirs)

    def share(self, state: Any) -> Any:
        """Return the share (q,) that the twin has now in what both make, where both are near."""
        scale = np.where(state["scales"][-1] > 0.0, state["scales"][-1], 1.0)
        near = _NEAR * scale
        return self._mixed(state["odds"][-1], scale, np.zeros_like(scale), near) / near

    def _odds_of(self, odds, far, scale, ours, theirs):
        """Return the log odds (n, 1) of rows: others (n, bands) are kept where both are far apart.

        Those of all rows, and those, may be the same for all: odds a number, and (bands,).
        """
        octaves = self._octaves(scale, ours, theirs)[:, None]
        far = np.broadcast_to(far, (len(octaves), N_BANDS))
        own = np.take_along_axis(far, bands_of(octaves), axis=1)
        nearer = np.take_along_axis(far, np.maximum(bands_of(octaves) - 1, 0), axis=1)
        best = np.maximum(odds, nearer)  # of what nobody has foretold yet, and is no miracle
        return np.where(octaves >= 0, np.where(own > -self.limit, own, best), odds)

    def _octaves(self, scale, ours, theirs):
        """Return by how many octaves rows (n,) of forecasts (n, q) are far apart, or -1.

        Errors are in units (q,) or (n, q), those of the target that is farthest.
        """
        limit = np.where(scale > 0.0, self.apart * scale, np.inf)
        with np.errstate(over="ignore"):
            ratios = (np.abs(theirs - ours) / limit).max(axis=1)
        return np.where(ratios > 1.0, octaves_of(np.maximum(ratios, 1.0)), -1)

    def _mixed(self, odds, scale, ours, theirs):
        """Mix forecasts by log odds, a number or (n, 1), errors in units (q,) or (n, q).

        The less likely one moves the other one by half of `pull` usual errors at most.
        """
        most = self.pull * scale
        with np.errstate(over="ignore"):
            apart = np.clip(theirs - ours, -most, most)
        minor = np.maximum(expit(-np.abs(odds)) - expit(-self.settled), 0.0)  # at once, not a step
        return np.where(odds > 0.0, theirs - minor * apart, ours + minor * apart)

    def learn(
        self,
        state: Any,
        y: ArrayLike,
        ours: ArrayLike,
        theirs: ArrayLike,
        told: Any = None,
        stuck: Any = False,
        nones: Any = False,
        lost: Any = False,
    ) -> Any:
        """Learn targets (n, q) and both forecasts of them; return what these make, mixed.

        A list `told` gets the log odds by which they were. Targets that are `stuck` (q,) tell
        neither for nor against the twin, nor do `nones` (n, q), which stand for none, but those
        that it foretold. Where there are many it foretells some by chance: none counts as a first.
        After rows (n,) where it has `lost` it is settled that it has.
        """
        says_nothing, odds = stuck | nones & ~self._foretells(state, y, ours, theirs), []
        asked = np.where(says_nothing, ours, theirs)
        state["between"] = state["between"] + [len(y), *self._squares_between(state, ours, theirs)]
        octaves = self._octaves(state["scales"][-1], ours, asked)
        gains, apart, begins = self._gains(state, y, ours, asked, nones, octaves)
        near, apart = nearness(octaves), apart[:, None]
        # who is right where both are farther apart is so there; who is wrong may be right farther
        right = np.maximum.accumulate(near[:, ::-1], axis=1)[:, ::-1]
        of_far = np.where(apart > 0.0, right, near) * apart
        begins = begins[:, None] & (near == 1.0)
        paths = self._walk(state, np.where(lost, -2.0 * self.limit, gains), of_far, begins)
        for name, path in zip(("odds", "far"), paths, strict=True):
            known, past = late(path[:-1], state[name][:-1])
            state[name] = np.concatenate([past, path[-1:]])
            odds.append(known)
        if told is not None:
            told.extend(odds[0])
        scales, past = late(np.tile(state["scales"][-1], (len(y), 1)), state["scales"][:-1])
        state["scales"] = np.vstack([past, state["scales"][-1:]])
        odds = self._odds_of(odds[0][:, None], odds[1], scales, ours, theirs)
        return self._mixed(odds, scales, ours, theirs)

    def _walk(self, state, gains, of_far, begins):
        """Return the log odds (n + 1,) before each of n rounds, and after them, near and far.

        The latter are by bands, of which a round may be the first that counts.
        """
        odds, far = [float(state["odds"][-1])], np.tile(state["far"][-1], (len(gains) + 1, 1))
        for gain in gains.tolist():
            odds.append(min(max(odds[-1] + gain, -self.limit), self.limit))
        for i in np.flatnonzero(of_far.any(axis=1)):
            own, known = of_far[i], far[i]
            now = np.clip(known + own, -self.settled, self.settled)
            # what speaks for the twin makes nobody trust it less than all rows have so far
            before = np.where(own > 0.0, max(known.max(), odds[i], -self.odds), -self.odds)
            first = np.where(begins[i], np.minimum(own + before, self.settled), known)
            far[i + 1 :] = np.where(known == -self.limit, first, now)
        return np.array(odds), far

    def _squares_between(self, state, ours, theirs):
        """Return the sums of squares (q,), in usual errors, by which forecasts (n, q) differ."""
        scale = np.where(state["scales"][-1] > 0.0, state["scales"][-1], 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            squares = np.square((theirs - ours) / scale).sum(axis=0)
        return np.fmin(squares, _LARGEST)

    def _gains(self, state, y, ours, theirs, nones, octaves):
        """Return what each of the targets (n, q) adds to the log odds of the twin, near and far.

        Where both are far apart only what was foretold speaks for the twin: no fault is, but the
        rows after one that look like it. And which rounds may be the first there.
        """
        scale = state["scales"][-1]
        scale = np.where(scale > 0.0, scale, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            mine, yours = ((y - F) / scale for F in (ours, theirs))
            scores = [np.log1p(np.square(e / self.width)) for e in (mine, yours)]
            gains = np.nan_to_num(scores[0] - scores[1]).mean(axis=1)
            far = (np.abs(mine) > self.reach).any(axis=1)
            apart = (np.abs(mine - yours) > self.reach).any(axis=1)
            sizes = np.abs(y - ours)[apart & (gains > 0.0)]
        knows = self._foretells(state, y, ours, theirs).all(axis=1)
        first = far & ~np.append(state["is_far"], far[:-1]) & ~np.any(nones, axis=-1)
        state["is_far"] = bool(far[-1])
        gains = np.clip(gains, -self.bound, np.where(first, self.foretold, self.bound))
        state["saved"] += self._saved(mine, yours, far, first)
        state["explained"] = np.maximum(state["explained"], sizes.max(axis=0, initial=0.0))
        for gain in gains[apart].tolist():
            kept = max(state["kept"] + gain, self.odds - self.limit)
            state["kept"] = min(kept, 2.0 * self.odds)
        counts = (gains < 0.0) | first & knows
        counts &= octaves >= 0
        return gains, np.where(counts, gains, 0.0), counts & (gains > 0.0)

    def _saved(self, mine, yours, far, first):
        """Return which squares of errors (n, q), in usual ones, the twin would have saved.

        Of a run of far targets only the first one speaks for it, by the share of a miss that it
        foretold: of a fault, however large, it foretells next to nothing.
        """
        sizes, least = np.minimum(np.abs(mine), self.apart), np.finfo(float).tiny
        with np.errstate(over="ignore", invalid="ignore"):
            shares = 1.0 - np.square(yours / np.maximum(np.abs(mine), least))
            shares = np.maximum(shares * np.square(sizes), -(self.apart**2))
        saved = np.nan_to_num(shares).mean(axis=1)
        return float(np.where(far & ~first, np.minimum(saved, 0.0), saved).sum())

    def _foretells(self, state, y, ours, theirs):
        """Tell which targets (n, q) the twin knows, or most of what the model misses of them."""
        scale = np.where(state["scales"][-1] > 0.0, state["scales"][-1], np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            enough = np.maximum(0.5 * self.reach * scale, 0.25 * np.abs(y - ours))
            return np.abs(y - theirs) <= enough

    def judge(self, state: Any, t: Any) -> Any:
        """Return whether, before round t, the twin has won, True, or lost, False; else None.

        One of them has won if it was far ahead at the ends of two blocks, the second of which is
        now: a new level or unit may have been learnt in between.
        """
        odds, far, before = state["odds"], state["far"], state["surely"]
        is_over = t - state["since"] >= self.patience or self._are_alike(state, t)
        saves, state["saved"] = state["saved"] > 0.0, 0.5 * state["saved"]
        state["between"] = np.zeros_like(state["between"])
        foretells = bool((far[-1] > 0.0).any())
        undecided = is_over and abs(odds[-1]) < self.settled
        likelier = odds[-1] + state["kept"] * undecided
        has_won = bool(likelier > 0.0 or (is_over and foretells))
        sign = 1.0 if has_won else -1.0
        if is_over:  # the likelier one is taken, and heard alone from here on
            odds[-1] = sign * self.limit
        is_sure = sign * odds[-1] > self.limit - 0.25 and (has_won or not foretells)
        state["surely"] = float(odds[-1]) if is_sure else 0.0
        if is_sure:
            far[-1] = np.where(far[-1] > -self.limit, sign * self.settled, far[-1])
        heard_alone = (sign * np.append(odds, far[far > -self.limit])).min() >= self.settled
        spared = saves and not has_won and not is_over
        if before * state["surely"] <= 0.0 or not heard_alone or spared:
            return None
        length = 2 * int(state["rest"][1]) if has_won == state["won"] else 0
        length = max(length, self.rest)
        state |= {"twin": {}, "rest": np.array([t + length, length]), "won": has_won}
        return has_won

    def _are_alike(self, state, t):
        """Return whether the two have hardly differed since the latest decision."""
        n, *squares = state["between"].tolist()
        return t - state["since"] > n > 0.0 and max(squares) <= n * self.alike**2


def usual_errors(state, twin=None):
    """Return the usual sizes of errors (q,), as targets came: 0 where a state knows none yet.

    With a twin those of the better of both.
    """
    deviations = np.array([guard["deviation"] for guard in state["targets"]])
    units = np.array([unit(guard) for guard in state["targets"]])
    ours = np.where(np.isfinite(deviations), deviations, 0.0) * units
    if twin is None:
        return ours
    theirs = usual_errors(twin)
    return np.where(theirs > 0.0, np.minimum(ours, theirs), ours)


def is_guarded(state):
    """Tell whether targets of a state may be in doubt."""
    return any(guard["guarded"] for guard in state["targets"])


def unguarded(state):
    """Return a state that believes every target, and the latest if it learns them again."""
    anew = {"guarded": False, "dispute": np.zeros(4), "moved": np.zeros(3)}
    anew["line"] = _lines.start()
    latest = state["latest"] | {"faulty": np.zeros_like(state["latest"]["faulty"])}
    believing = {"targets": [guard | anew for guard in state["targets"]], "latest": Shared(latest)}
    return state | believing


def with_beliefs(fresh, state):
    """Return a new state with what another one has found of the stream: whom to believe, and what.

    That is not forgotten with what was learnt: faults and levels come again as they came before.
    """
    of_trust = {name: state["beside"][name] for name in _BELIEFS}
    guards = [
        guard | {name: known[name] for name in _OF_TARGETS} | {"believed": known["odds"]}
        for guard, known in zip(fresh["targets"], state["targets"], strict=True)
    ]
    return fresh | {"targets": guards, "beside": fresh["beside"] | of_trust}


def successor(twin, state):
    """Return the state of a twin that goes on for a model: guarded, and with the model's record."""
    kept = "odds", "of_faults", "n_faulty"
    known = [{name: guard[name] for name in kept} for guard in state["targets"]]
    guards = [
        guard | {"guarded": True} | part for guard, part in zip(twin["targets"], known, strict=True)
    ]
    return twin | {"targets": guards} | record_of(state, twin)


def record_of(state, other):
    """Return what is kept of the losses of a state by another one that goes on in its place."""
    ratios = np.array([unit(guard) for guard in state["targets"]])
    ratios /= [unit(guard) for guard in other["targets"]]
    losses = np.minimum(state["loss"] * np.square(ratios), _LARGEST)
    return {"loss": losses} | {name: state[name] for name in ("scored", "has_warned")}
