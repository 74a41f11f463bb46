"""Whether a model had better begin anew: a second one that does, and odds that persist.

A guard knows of levels and units. Of all else that may change, such as what columns mean, it knows
by errors only: where those of a block are larger than they have long been, a model without any past
begins beside the one that stands, with the rows since the change as far as it can be told. Once it
has learnt some it is heard. Then both are mixed by odds, as a twin is, see `_trust.py`, but by
squared errors: nothing is said to be a fault here. Who is behind for sure may lose soon, and wins
only after many rounds: what is learnt of a long past is not given up for a lucky stretch, nor where
both are as good again. So a change is never much worse than starting over, and a doubt costs the
time of two models until it is settled.

Where errors grow no larger, as when noise ceases and a change remains, it is asked now and then
whether the rows explain the latest errors, see `_looks.py`. If so, a model begins with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import expit
from scipy.stats import theilslopes

from ..._types import Any
from ...aggregators._apart import N_BANDS, nearness
from ...features import _faults
from ...meta._past import Past
from ..experts._experts import ages_of
from . import _blocks
from . import _strange as strange
from ._deviations import MAD
from ._target_units import unit
from ._trust import Trust, record_of, usual_errors

_FAR = 1e6  # usual errors: beyond them all count the same
_REACH = 20.0  # and where a change is looked for
_CUT = 5.0  # and where it is: a fault some rows before it must not be the likeliest place
_FACTORS = 2.0 ** np.arange(5)  # of the errors, over the least one that is suspect
_DOUBTED = 512  # rounds in doubt that are known
_TAIL = 4.0  # degrees of freedom: a few large errors are ordinary


@dataclass(frozen=True)
class Renewal(Trust):
    """Says how far a model that has begun anew is to be trusted.

    Parameters
    ----------
    block : int, default=64
        Rounds at whose ends decisions are taken.
    unheard, study : int, default=32 and 256
        Rounds that it learns before it is heard, and where it is to learn what levels follow. There
        a jump that it has foretold, by a quarter of what the old one missed, counts as `foretold`.
    margin : int, default=2
        Rows after it that are left out.
    n_ahead, n_behind : int, default=4 and 2
        Ends of blocks in a row at which it is settled that it has won, or lost.
    gain : float, default=0.5
        Log odds that a block must add to count as one by which it has won: where both are as good
        again the one that knows a longer past goes on.
    past : int, default=8
        And so it does until that has lasted for a part of what the old one knows, one of so many,
        where errors are the only reason for the new one.
    louder : float, default=sqrt(2)
        Ratio to the largest errors for which a model that began anew has lost, from which on the
        rest ends: twice their squares.
    smaller : float, default=8.0
        Ratio of the robust deviation of the old one's errors to the new one's root mean square from
        which on the unit may be a smaller one.
    early : float, default=2.0
        Ratio of forecasts to the targets that follow them, in a quarter of a block or half of it,
        from which on the unit, or the sign, is another one: less may be yet to be learnt.
    look : int, default=1024
        Rounds at whose ends it is asked whether the rows explain the latest errors: so one of half
        a budget's rows, which makes a few numbers of each, takes one or two hundredths of the time.
    order_from : int, default=128
        The round after which it is first asked whether rows without an order have one after all, or
        the other way round: as often as there are a quarter more, see `_reordering.py`.
    size : int, default=2**15
        The most numbers in rows that are kept: of wide ones fewer are than the budget says.
    n_waits : int, default=8
        Times `patience` that a model which rows have asked for is waited for, as long as nothing
        has come of what it is to know better: in other rows it may be as good, or worse.
    several : int, default=3
        Far targets that the old one alone has foretold, less those that the new one has, for which
        it goes on although it is behind in most rows: what it knows of what is rare would be lost.
    n_looks : int, default=4
        Looks left out after one whose model has lost: no more than an eighth of the time is lost.
    """

    bound: float = 1.0
    limit: float = 8.5
    pull: float = 3.0
    rest: int = 512
    block: int = 64
    unheard: int = 32
    study: int = 256
    margin: int = 2
    n_ahead: int = 4
    n_behind: int = 2
    gain: float = 0.5
    past: int = 8
    louder: float = 2.0**0.5
    smaller: float = 8.0
    early: float = 2.0
    look: int = 1024
    order_from: int = 128
    size: int = 2**15
    n_waits: int = 8
    several: int = 3
    n_looks: int = 4

    def start(self, n_targets: Any, delay: Any = 0, n_columns: Any = 0, n_rows: Any = 0) -> Any:
        """Return the state before the first target: a young model begins nothing anew.

        The latest `n_rows` are kept, or as many of them as there is room for.
        """
        window = max(min(n_rows, self.size // max(n_columns, 1)), 2 * self.block)
        known = {
            "rest": np.full(2, self.rest, dtype=np.intp),
            "heard_from": 0,  # the round from which on the new model is heard
            "studies": False,  # whether it is to learn what levels follow
            "gained": 0.0,  # log odds of the latest block
            "gained_apart": np.zeros(N_BANDS),  # and of all rounds in which both were far apart
            "asked_by": np.zeros(2),  # the ratios by which errors were larger, see `suspicion`
            "loudest": np.zeros(2),  # and the largest ones for which the new model has lost
            "by_look": False,  # whether it began as errors were explained, not as they grew
            "rest_of_looks": 0,  # the round from which on errors may be explained again
            "doubted": np.empty(0, dtype=int),  # the latest rounds whose targets were in doubt
            "former": {},  # all models heard before a trial ended, while forecasts have no labels
            "order_from": self.order_from,  # and that from which on rows may have an order
            "ranges": strange.start(n_columns),  # of the rows that both know
            # the latest, with which it begins, and of each row targets and forecasts side by side
            "rows": Past(np.empty((0, n_columns)), np.empty((0, 2 * n_targets)), window),
        }
        return super().start(n_targets, delay) | known

    def rounds_to_stop(self, anew: Any, t: Any) -> Any:
        """Return the number of rounds until something is decided, or may be."""
        if anew["twin"]:
            step = self._step(anew)
            due = step - t % step
            return min(due, anew["heard_from"] - t) if t < anew["heard_from"] else due
        due = self.look - t % self.look
        wait = int(anew["order_from"]) - t
        due = min(due, wait if wait > 0 else self.block - t % self.block)
        is_resting = not anew["won"] and t < anew["rest"][0]
        return min(due, int(anew["rest"][0]) - t) if is_resting else due

    def beyond(self, anew: Any, t: Any) -> Any:
        """Return by which ratios errors must be larger in round t for a model to begin anew.

        One that began by a look gives way to one that errors ask for, and any to one for which they
        are `louder`, but for one that is to learn what levels follow. So they must be for a while
        after one has lost; that they may be no more often than ratios double.
        """
        if anew["twin"] and not anew["by_look"]:
            return _blocks.NONE if anew["studies"] else self._louder(anew["asked_by"])
        if self._has_rested(anew, t) or self._is_first(anew):
            return _blocks.ANY
        # levels wait in any case
        return self._louder(anew["loudest"])

    def _louder(self, ratios):
        return tuple(np.maximum(self.louder * ratios, np.finfo(float).tiny).tolist())

    def is_due(self, anew: Any, state: Any, fence: Any) -> Any:
        """Return whether a suspected change is followed up, which may be that a model is young.

        Of such a one only what levels follow, what all targets follow, and where nearly all of each
        target are in doubt: others would begin anew for one that is wrong. So it is where errors of
        a quarter of a block are not much larger than a constant's. Beside a model that has begun as
        errors grew, or as rows have explained what was in doubt, another one begins only if this
        one errs, too.
        """
        t, guards = n_rows(state), state["targets"]
        twin = {} if anew["by_look"] and not anew["studies"] else anew["twin"]
        if twin and not _blocks.err_abruptly(fence, twin["targets"], twin["t"]):
            return False
        if any(guard["restless"] for guard in guards):
            return True
        larger, worse = _blocks.suspicion(guards)
        if min(guard["suspect"] for guard in guards) > fence.cap:
            return True
        is_sure = larger > 0.0 or worse >= fence.worse or t % self.block == 0
        is_young = self._is_first(anew) and not self._has_rested(anew, t - 1)
        if is_sure and not is_young:
            return True
        return self._otherwise(anew)[0] > 0

    def _otherwise(self, anew):
        """Return of how many of the latest rows all targets follow forecasts otherwise for sure.

        Of a quarter of a block, or half of it, or 0 of none: at one part of so many or less, or the
        other way. Those that stay where they are, as their columns do, follow nothing. And between
        which slopes (q,) they do.
        """
        for n in (self.block // 4, self.block // 2):
            low, high = _slopes(*np.split(anew["rows"].rows[1][-n:].T, 2))
            if ((low * high > 0.0) & (self.early * high <= 1.0)).all():
                return n, low, high
        return 0, low, high

    def looks_back(self, anew: Any, state: Any) -> Any:
        """Tell whether it is to be asked now if the rows explain the latest errors."""
        t = n_rows(state)
        is_time = t % self.look == 0 and state["t"] >= 2 * self.look
        return is_time and not anew["twin"] and t >= anew["rest_of_looks"]

    def n_seen(self, state: Any) -> Any:
        """Return how many of the latest rows tell: a quarter of all, as errors cease slowly."""
        return 1 << (state["t"].bit_length() - 3)

    def _step(self, anew):
        """Return after how many rounds errors are looked at: often while the new model is young."""
        return self.block if anew["twin"]["t"] >= 2 * self.block else self.block // 4

    def _has_rested(self, anew, t):
        return anew["won"] or t >= anew["rest"][0]

    def _is_first(self, anew):
        return int(anew["rest"][0]) == self.rest

    def remember(
        self, anew: Any, X: Any, y: Any, weights: Any, forecasts: Any, doubted: Any = ()
    ) -> Any:
        """Keep rows: as many of the latest as a change may be back that is found now.

        And the rounds of those that were `doubted`.
        """
        if len(doubted):
            anew["doubted"] = np.append(anew["doubted"], doubted).astype(int)[-_DOUBTED:]
        of_rows = X, np.concatenate([y, forecasts], axis=1)
        anew["rows"] += of_rows if weights is None else (*of_rows, weights)

    def n_kept(self, anew: Any) -> Any:
        """Return how many of the latest rows are kept."""
        return len(anew["rows"].rows[0])

    def latest(self, anew: Any, state: Any, n: Any) -> Any:
        """Return the latest n rows: X, y (n, q), weights or None, errors in usual ones, cut at 20.

        They are views.
        """
        past, q = anew["rows"], len(state["targets"])
        X, known, weights = (
            None if part is None else part[-n:] for part in (*past.rows, past.weights)
        )
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            misses = known[:, :q] - known[:, q:]
            usual = long_errors(state)
            if not usual.all():  # of a new unit nothing is usual, but of the one before
                older = misses[: max(len(misses) - self.block, 1)]
                usual = np.where(usual > 0.0, usual, MAD * np.median(np.abs(older), axis=0))
            errors = np.nan_to_num(misses / usual)
        return X, known[:, :q], weights, np.clip(errors, -_REACH, _REACH)

    def n_since_change(self, anew: Any, state: Any, factor: Any) -> Any:
        """Return how many rows have come since the change that is suspected.

        From the row on for which it is likeliest that errors are larger, by this factor or more.
        Errors of Student's law with `_TAIL` degrees of freedom: a few large ones among the rows
        before are rather none of those since.
        """
        *_, errors = self.latest(anew, state, 2 * self.block)
        squares = np.square(np.clip(errors, -_CUT, _CUT)).mean(axis=1) / _TAIL
        factors = factor * _FACTORS[:, None]
        ratios = np.log1p(squares) - np.log1p(squares / factors**2)
        evidence = 0.5 * (_TAIL + 1.0) * ratios - np.log(factors)
        evidence = evidence[:, ::-1].cumsum(axis=1)[:, ::-1].max(axis=0)
        # a row of the past among the first costs more than the loss of one of the others
        return max(len(squares) - int(evidence.argmax()) - self.margin, 1)

    def n_since_smaller(self, anew: Any, state: Any, factor: Any) -> Any:
        """Return how many rows have come in what may be a smaller unit: an eighth of a block.

        And as many again as long as those before are not farther apart by a factor. Where slopes
        alone tell, as of a sign, as many at most as these are of.
        """
        _, y, *_ = self.latest(anew, state, 2 * self.block)
        n, spread = self.block // 8, _spread(y[-(self.block // 8) :])
        n_told, low, high = self._otherwise(anew)
        is_apart = ((low > 0.0) & (factor * high <= 1.0)).all()
        most = n_told if n_told and not is_apart else self.block
        while 2 * n <= min(most, len(y)):
            before = _spread(y[-2 * n : -n])
            if (before > factor * spread).any():
                break
            n, spread = 2 * n, np.maximum(before, spread)
        return n

    def are_explained(self, anew: Any, state: Any) -> Any:
        """Tell of which targets (q,) the rows that are kept explain those that were in doubt.

        Each run of these, and of all that are as far off, is foretold by all other rows: no fault
        is. First targets are judged as a whole.
        """
        X, y, _, errors = self.latest(anew, state, self.n_kept(anew))
        faulty = np.isin(np.arange(n_rows(state) - len(y), n_rows(state)), anew["doubted"])
        is_known = anew["twin"] and anew["studies"]
        is_young = min(ages_of(state)) < self.block
        which = np.zeros(y.shape[1], dtype=bool)
        if is_known or is_young or faulty.all():
            return which
        of_each = faulty[:, None] & (np.abs(errors) > self.reach)
        for j in np.flatnonzero(of_each.any(axis=0)).tolist():
            mask = _faults.as_far(y[:, j], of_each[:, j])
            which[j] = _faults.are_explained(X, y[:, j], mask)
        return which

    def begin_anew(self, anew: Any, state: Any, fresh: Any, is_explained: Any = False) -> Any:
        """Let a model that knows the latest rows only go on beside that of a state.

        Where rows explain what was in doubt it is heard at once where both are far apart, and as
        long as it is right there: in most rows nothing is in doubt.
        """
        t = n_rows(state)
        guards = state["targets"]
        anew["studies"] = is_explained or _blocks.have_moved(guards)
        anew["by_look"] = not _blocks.ask_for_another(guards)
        anew["asked_by"] = np.array(_blocks.suspicion(guards))
        known = _errors(state, fresh, anew["studies"])
        self.begin(anew, t, fresh, known, np.inf)
        self.rescale(anew, _errors(state, fresh, anew["studies"], known, self.smaller))
        anew["odds"] = np.full(len(anew["odds"]), -self.limit)
        anew["far"][:] = self._far_odds(anew, np.maximum(anew["scales"][-1], long_errors(state)))
        anew["gained"], anew["gained_apart"] = 0.0, np.zeros(N_BANDS)
        anew["ranges"] = strange.begin(anew["rows"].rows[0], fresh["t"], len(anew["odds"]) - 1)
        self._hear_from(anew, t)
        self._let_be_heard(anew, t)
        if is_explained:
            anew["heard_from"], anew["far"][-1] = t, self.settled
            anew["doubted"] = anew["doubted"][:0]

    def _far_odds(self, anew, usual):
        """Return log odds (bands,) where both are far apart, from jumps among the latest targets.

        Of many `usual` errors (q,), and of as many usual steps as a target is far. Where the old
        one has foretold more of one than not it is likelier; from one whole jump on, else odds are
        those of all rows.
        """
        y, forecasts = np.split(anew["rows"].rows[1], 2, axis=1)
        with np.errstate(over="ignore", invalid="ignore"):
            steps, misses = np.abs(np.diff(y, axis=0)), np.abs(y - forecasts)[1:]
            jumps = steps > self.reach * MAD * np.median(steps, axis=0)
            jumps &= (steps > self.apart * usual) & (usual > 0.0)
            left = np.where(jumps, misses / np.where(jumps, steps, 1.0), 0.0).max(axis=1)
        gains = self.foretold * (1.0 - 2.0 * np.square(np.fmin(left, 1.0)))
        which = np.flatnonzero(jumps.any(axis=1))
        octaves = self._octaves(anew["scales"][-1], y[which], y[which + 1])
        odds = gains[which] @ nearness(octaves)
        return np.where(odds >= self.foretold, -np.minimum(odds, self.settled), -self.limit)

    def _hear_from(self, anew, t):
        unheard = self.study if anew["studies"] else self.unheard
        anew["heard_from"] = t + max(unheard + len(anew["odds"]) - 1 - anew["twin"]["t"], 0)

    def _let_be_heard(self, anew, t):
        if t == anew["heard_from"]:
            anew["odds"][-1] = -self.odds

    def learn(
        self, state: Any, X: Any, y: Any, ours: Any, theirs: Any, t: Any = 0, told: Any = None
    ) -> Any:
        """Learn rows of rounds t, ... and both forecasts (n, q); return what these make, mixed.

        Those of the new model count once it is heard, and not of rows that are strange to it. If
        the old one has foretold such a one, and the new one has not, this one has lost. A list
        `told` gets the log odds.
        """
        if t < state["heard_from"]:
            theirs = ours
        state["ranges"], is_strange = strange.learn(state["ranges"], X, self._since(state))
        with np.errstate(over="ignore", invalid="ignore"):
            misses = np.abs(y - theirs)
            far = misses > self.pull * state["scales"][-1]
            lost = (far & (np.abs(y - ours) <= 0.25 * misses)).any(axis=1) & is_strange
        known = np.where((is_strange & ~lost)[:, None], ours, theirs)
        mixed = super().learn(state, y, ours, known, told, lost=lost)
        return np.where(is_strange[:, None], ours, mixed)

    def mixed_of(self, state: Any, X: Any, ours: Any, theirs: Any, ago: Any = 0) -> Any:
        """Return what forecasts (n, q) of rows X make, by what was known some rounds ago."""
        since = self._since(state)
        is_strange = strange.look(state["ranges"], X, since[: max(len(since) - ago, 0)])
        return self.mixed(state, ours, np.where(is_strange[:, None], ours, theirs), ago)

    def _since(self, state):
        """Return the rows whose targets have come since forecasts of the next one were made."""
        X, delay = state["rows"].rows[0], len(state["odds"]) - 1
        return X[len(X) - min(delay, len(X)) :]

    def has_won(self, anew: Any, state: Any) -> Any:
        """At the end of a block, let the one go that has lost; tell whether the new one is left."""
        t = n_rows(state)
        if anew["studies"] and t < anew["heard_from"] and _blocks.have_erred(state["targets"]):
            anew["studies"] = False  # levels are not the reason
            self._hear_from(anew, t)
        self._let_be_heard(anew, t)
        if t == anew["heard_from"] or t % self._step(anew) == 0:
            of_both = anew["studies"], anew["scales"][-1], self.smaller
            self.rescale(anew, _errors(state, anew["twin"], *of_both))
        if t % self.block:
            return False
        is_over = t > anew["heard_from"] and self._is_over(anew, t, state["t"])
        return is_over and self._replaces(anew, state)

    def likelier(self, state: Any, ago: Any = 0) -> Any:
        """Return the state of who was likelier some rounds ago, whose errors make intervals."""
        anew = state["anew"]
        return anew["twin"] if anew["twin"] and anew["odds"][-1 - ago] > 0.0 else state

    def _is_over(self, anew, t, age):
        """Count the ends of blocks at which one of the two was settled on; tell if they suffice."""
        odds = anew["odds"]
        side = np.sign(odds[-1])
        is_settled = (side * odds).min() >= self.settled
        before = anew["surely"] if anew["surely"] * side > 0.0 else 0.0
        counts = side < 0.0 or anew["gained"] >= self.gain
        anew["surely"] = before + side * counts if is_settled else 0.0
        anew["gained"] = 0.0
        # who began by a look may need more rows, and is as sure as it was
        n_behind = np.inf if anew["by_look"] else self.n_behind
        past = 0 if anew["by_look"] else age // self.past  # and rows have told why it began
        n_ahead = max(self.n_ahead, past // self.block)
        enough = n_ahead if side > 0.0 else n_behind
        is_late = t - anew["since"] >= max(self.patience, past)
        is_late &= side < 0.0 or not counts
        if side > 0.0 and self._was_wrong(anew):
            return t - anew["since"] >= max(self.patience, past)
        if anew["far"][-1].max() > 0.0:
            # what is rare, and was told by rows, may not have come again yet
            longest = self.patience * (1 if self._was_right(anew) else self.n_waits)
            has_waited = t - anew["since"] >= max(longest, past)
            if side < 0.0:  # in most rows it may be the worse one
                return has_waited
            is_late &= has_waited  # or as good: blocks without what is rare add nothing
        return is_late or abs(anew["surely"]) >= enough

    def _replaces(self, anew, state):
        """End a trial; tell whether the new one goes on in place of the old one."""
        has_won = bool(anew["odds"][-1] > 0.0 and anew["surely"] >= self.n_ahead)
        has_won &= not self._was_wrong(anew)
        has_won |= self._was_right(anew)
        t, fresh = n_rows(state), anew["twin"]
        if anew["by_look"]:
            length = self.rest if has_won else self.n_looks * self.look
            anew |= {"twin": {}, "rest_of_looks": t + length}
        else:
            length = self.rest if has_won else 2 * int(anew["rest"][1])
            rest = np.array([t + length, length], dtype=np.intp)
            anew |= {"twin": {}, "rest": rest, "won": has_won}
            anew["loudest"] = np.maximum(anew["loudest"], anew["asked_by"] * (not has_won))
        if has_won:
            state |= in_place_of(state, fresh)
            anew["order_from"] = t + self.order_from
        return has_won

    def _was_wrong(self, anew):
        """Tell whether the old one has foretold several targets where both are far apart."""
        lost = anew["gained_apart"] <= -self.several * self.foretold
        return bool((lost & (anew["far"][-1] < 0.0) & (anew["far"][-1] > -self.limit)).any())

    def _was_right(self, anew):
        """Tell whether who was heard where both are far apart has been right there since."""
        return bool(((anew["gained_apart"] > 0.0) & (anew["far"][-1] > 0.0)).any())

    def _mixed(self, odds, scale, ours, theirs):
        """Mix forecasts by log odds: what is new moves them by `pull` usual errors until likely."""
        least, most = expit(-self.settled), expit(self.settled)
        share = np.clip((expit(odds) - least) / (most - least), 0.0, 1.0)
        with np.errstate(over="ignore"):
            reach = self.pull * scale * np.exp(np.maximum(2.0 * odds - self.settled, 0.0))
            return ours + share * np.clip(theirs - ours, -reach, reach)

    def _gains(self, state, y, ours, theirs, nones, octaves):
        """Return what each of the targets (n, q) adds to the log odds of the new model."""
        scale = state["scales"][-1]
        scale = np.where(scale > 0.0, scale, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            mine, yours = (np.minimum(np.abs(y - F) / scale, _FAR) for F in (ours, theirs))
        gains = 0.25 * np.nan_to_num(np.square(mine) - np.square(yours))
        # what a jump follows, and that it was foretold
        foretold = state["studies"] & (mine > self.pull) & (yours <= 0.25 * mine)
        most = np.where(foretold, self.foretold, self.bound)
        gains = np.clip(gains, -self.bound, most).mean(axis=1)
        state["gained"] += float(gains.sum())
        knows = (mine <= 0.25 * yours).all(axis=1) & (octaves >= 0)  # the old one alone
        counts = (state["far"][-1] > -self.limit).any() | np.logical_or.accumulate(knows)
        of_far = np.clip(np.square(mine) - np.square(yours), -self.foretold, self.foretold)
        of_far = np.where(counts & (octaves >= 0), of_far.mean(axis=1), 0.0)
        state["gained_apart"] = state["gained_apart"] + of_far @ nearness(octaves)
        return gains, of_far, knows | (of_far > 0.0)


def long_errors(state):
    """Return how large errors (q,) have long been, as targets came."""
    return np.array([guard["long"] * unit(guard) for guard in state["targets"]])


def n_rows(state):
    """Return the number of rows learnt so far, those before the model began anew included."""
    return state["n_before"] + state["t"]


def _errors(state, fresh, with_levels, known=0.0, smaller=np.inf):
    """Return the root mean squares of the latest errors (q,) of the better one, as targets came.

    What levels have cost is a part of them where a model may learn what these follow. Where one of
    the two has not ended a block yet they are no larger than what was `known`; nor than those of
    the new one in this block, if these are so much `smaller` than the robust deviation of the old
    one: so may the unit be, but not where both are quiet. Where neither has they are the robust
    deviation.
    """
    ours, theirs = (
        np.array([_size(guard, with_levels) * unit(guard) for guard in one["targets"]])
        for one in (state, fresh)
    )
    neither, both = (ours == 0.0) & (theirs == 0.0), (ours > 0.0) & (theirs > 0.0)
    one = np.where(known > 0.0, np.minimum(ours + theirs, known), ours + theirs)
    before = usual_errors(state)
    of_targets = zip(fresh["targets"], before, strict=True)
    now = np.array([_blocks.size_so_far(*one) for one in of_targets])
    is_smaller = (now > 0.0) & (smaller * now < before)
    one = np.where(is_smaller, np.minimum(one, now), one)
    found = np.where(both, np.minimum(ours, theirs), one)
    return np.where(neither, usual_errors(state, fresh), found)


def _slopes(targets, forecasts):
    """Return between which slopes (q,) targets (q, n) follow forecasts, NaN where these are one."""
    if not np.ptp(forecasts, axis=1).all():
        return np.full((2, len(targets)), np.nan)
    lines = map(partial(theilslopes, alpha=0.99), targets, forecasts)
    return np.array([line[2:] for line in lines]).T


def _spread(y):
    """Return how far a tenth of numbers (n, q) are from their medians: few are of another unit."""
    return np.quantile(np.abs(y - np.median(y, axis=0)), 0.9, axis=0)


def _size(guard, with_levels):
    """Return the root mean square of the latest errors, in units."""
    return np.sqrt(guard["power"] + with_levels * guard["of_levels"])


def in_place_of(state, fresh):
    """Return the state of a new model that goes on for another one, with its record."""
    guards = [
        guard | {name: before[name] for name in ("n_faulty", "guarded")}
        for guard, before in zip(fresh["targets"], state["targets"], strict=True)
    ]
    n_before, twin = n_rows(state) - fresh["t"], fresh["beside"]["twin"]
    if twin:  # it may go on for both
        twin["n_before"] = n_before
    return fresh | {"targets": guards, "n_before": n_before} | record_of(state, fresh)
