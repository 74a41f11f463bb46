"""Whether a model had better begin anew: a second one that does, and odds that persist.

A guard knows of levels and units. Of all else that may change, such as what columns mean, it knows
by errors only: where those of a block are larger than they have long been, a model without any past
begins beside the one that stands, with the rows since the change as far as it can be told. Once it
has learnt some it is heard. Then both are mixed by odds, as a
twin is, see `_trust.py`, but by squared errors: nothing is said to be a fault here. Who is behind
for sure may lose soon, and wins only after many rounds: what is learnt of a long past is not given
up for a lucky stretch. So a change is never much worse than starting over, and a doubt costs the
time of two models until it is settled.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ..._tail import Shared
from ..._types import Any
from ._target_units import unit
from ._trust import Trust, record_of

_FAR = 1e6  # usual errors: beyond them all count the same
_REACH = 20.0  # and where a change is looked for
_NEVER = int(np.iinfo(np.intp).max)  # rounds
_FACTORS = 4.0 ** np.arange(5)  # of the squared errors, over the least one that is suspect


@dataclass(frozen=True)
class Renewal(Trust):
    """Says how far a model that has begun anew is to be trusted.

    Parameters
    ----------
    block : int, default=64
        Rounds at whose ends decisions are taken.
    unheard, study : int, default=32 and 256
        Rounds that it learns before it is heard, and where it is to learn what levels follow.
    margin : int, default=2
        Rows after it that are left out.
    n_ahead, n_behind : int, default=4 and 2
        Ends of blocks in a row at which it is settled that it has won, or lost.
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

    def start(self, n_targets: Any, delay: Any = 0, n_columns: Any = 0) -> Any:
        """Return the state before the first target: a young model begins nothing anew."""
        known = {
            "rest": np.full(2, self.rest, dtype=np.intp),
            "heard_from": 0,  # the round from which on the new model is heard
            "studies": False,  # whether it is to learn what levels follow
            "rows": _no_rows(n_columns, n_targets),  # the latest, with which it begins
        }
        return super().start(n_targets, delay) | known

    def rounds_to_stop(self, anew: Any, t: Any) -> Any:
        """Return the number of rounds until something is decided, or may be."""
        if anew["twin"]:
            due = self.block - t % self.block
            return min(due, anew["heard_from"] - t) if t < anew["heard_from"] else due
        is_resting = not anew["won"] and t < anew["rest"][0]
        return int(anew["rest"][0]) - t if is_resting else _NEVER

    def wants_twin(self, state: Any, t: Any) -> Any:
        """Return whether a model may begin anew in round t: early, if none has, for `is_due`."""
        return super().wants_twin(state, t) or (not state["twin"] and self._is_first(state))

    def is_due(self, anew: Any, state: Any) -> Any:
        """Return whether a suspected change is followed up: young, only what levels follow."""
        return super().wants_twin(anew, n_rows(state) - 1) or is_restless(state)

    def _is_first(self, anew):
        return int(anew["rest"][0]) == self.rest

    def remember(self, anew: Any, X: Any, y: Any, weights: Any, forecasts: Any) -> Any:
        """Keep the latest rows, as many as a change may be back that is suspected now."""
        gaps = np.isnan(X)
        counted = np.ones(len(X)) if weights is None else weights
        parts = np.where(gaps, 0.0, X), gaps, y, forecasts, counted
        n = 2 * self.block
        rows = zip(anew["rows"].items(), parts, strict=True)
        anew["rows"] = Shared(
            {name: np.concatenate([kept, part[-n:]])[-n:] for (name, kept), part in rows}
        )

    def since_change(self, anew: Any, state: Any, factor: Any) -> Any:
        """Return the rows since the change that is suspected: X, y (n, q) and weights, or None.

        From the row on for which it is likeliest that errors are larger, by this factor or more.
        """
        rows = anew["rows"]
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            usual = np.array([guard["long"] * unit(guard) for guard in state["targets"]])
            ratios = np.abs(rows["y"] - rows["forecasts"]) / usual
        squares = np.square(np.minimum(np.nan_to_num(ratios), _REACH)).mean(axis=1)
        factors = factor**2 * _FACTORS[:, None]
        evidence = 0.5 * (squares * (1.0 - 1.0 / factors) - np.log(factors))
        evidence = evidence[:, ::-1].cumsum(axis=1)[:, ::-1].max(axis=0)
        # a row of the past among the first costs more than the loss of one of the others
        since = slice(min(int(evidence.argmax()) + self.margin, len(squares) - 1), None)
        X, weights = np.where(rows["gaps"], np.nan, rows["X"])[since], rows["weights"][since]
        return X, rows["y"][since], None if (weights == 1.0).all() else weights

    def begin_anew(self, anew: Any, state: Any, fresh: Any) -> Any:
        """Let a model that knows the latest rows only go on beside that of a state."""
        t = n_rows(state)
        anew["studies"] = is_restless(state)
        self.begin(anew, t, fresh, _errors(state, fresh, anew["studies"]), np.inf)
        anew["odds"] = np.full(len(anew["odds"]), -self.limit)
        unheard = self.study if anew["studies"] else self.unheard
        anew["heard_from"] = t + max(unheard + len(anew["odds"]) - 1 - fresh["t"], 0)
        self._let_be_heard(anew, t)

    def _let_be_heard(self, anew, t):
        if t == anew["heard_from"]:
            anew["odds"][-1] = -self.odds

    def learn(
        self, state: Any, y: Any, ours: Any, theirs: Any, t: Any = 0, told: Any = None
    ) -> Any:
        """Learn targets of rounds t, ... and both forecasts (n, q); return what these make, mixed.

        Those of the new model count once it is heard. A list `told` gets the log odds.
        """
        return super().learn(state, y, ours, theirs if t >= state["heard_from"] else ours, told)

    def has_won(self, anew: Any, state: Any) -> Any:
        """At the end of a block, let the one go that has lost; tell whether the new one is left."""
        t = n_rows(state)
        self._let_be_heard(anew, t)
        if t % self.block:
            return False
        self.rescale(anew, _errors(state, anew["twin"], anew["studies"]))
        return t > anew["heard_from"] and self._is_over(anew, t) and self._replaces(anew, state)

    def likelier(self, state: Any) -> Any:
        """Return the state of the model that is the likelier one, whose errors make intervals."""
        anew = state["anew"]
        return anew["twin"] if anew["twin"] and anew["odds"][-1] > 0.0 else state

    def _is_over(self, anew, t):
        """Count the ends of blocks at which one of the two was settled on; tell if they suffice."""
        odds = anew["odds"]
        side = np.sign(odds[-1])
        is_settled = (side * odds).min() >= self.settled
        before = anew["surely"] if anew["surely"] * side > 0.0 else 0.0
        anew["surely"] = before + side if is_settled else 0.0
        enough = self.n_ahead if side > 0.0 else self.n_behind
        is_late = side < 0.0 and t - anew["since"] >= self.patience
        return is_late or abs(anew["surely"]) >= enough

    def _replaces(self, anew, state):
        """End a trial; tell whether the new one goes on in place of the old one."""
        t, has_won, fresh = n_rows(state), bool(anew["odds"][-1] > 0.0), anew["twin"]
        length = self.rest if has_won else 2 * int(anew["rest"][1])
        anew |= {"twin": {}, "rest": np.array([t + length, length], dtype=np.intp), "won": has_won}
        if has_won:
            state |= _in_place_of(state, fresh)
        return has_won

    def _mixed(self, odds, scale, ours, theirs):
        """Mix forecasts by log odds: what is new moves them by `pull` usual errors until likely."""
        least, most = expit(-self.settled), expit(self.settled)
        share = np.clip((expit(odds) - least) / (most - least), 0.0, 1.0)
        with np.errstate(over="ignore"):
            reach = self.pull * scale * np.exp(np.maximum(2.0 * odds - self.settled, 0.0))
            return ours + share * np.clip(theirs - ours, -reach, reach)

    def _gains(self, state, y, ours, theirs):
        """Return what each of the targets (n, q) adds to the log odds of the new model."""
        scale = state["scales"][-1]
        scale = np.where(scale > 0.0, scale, np.inf)
        with np.errstate(over="ignore", invalid="ignore"):
            losses = [np.square(np.minimum(np.abs(y - F) / scale, _FAR)) for F in (ours, theirs)]
        gains = 0.25 * np.nan_to_num(losses[0] - losses[1])
        return np.clip(gains, -self.bound, self.bound).mean(axis=1)


def is_suspect(state):
    """Tell whether a block that has just ended asks for a model that begins anew."""
    return any(guard["suspect"] and not len(guard["block"]) for guard in state["targets"])


def is_restless(state):
    """Tell whether the level of a target has moved often in the latest block."""
    return any(guard["restless"] for guard in state["targets"])


def n_rows(state):
    """Return the number of rows learnt so far, those before the model began anew included."""
    return state["n_before"] + state["t"]


def _no_rows(n_columns, n_targets):
    X, Y = np.empty((0, n_columns)), np.empty((0, n_targets))
    parts = {"X": X, "gaps": X.astype(bool), "y": Y, "forecasts": Y.copy()}
    return Shared(parts | {"weights": np.empty(0)})


def _errors(state, fresh, with_levels):
    """Return the root mean squares of the latest errors (q,) of the better one, as targets came.

    What levels have cost is a part of them where a model may learn what these follow.
    """
    with np.errstate(over="ignore"):
        ours, theirs = (
            np.array(
                [
                    np.sqrt(guard["power"] + with_levels * guard["of_levels"]) * unit(guard)
                    for guard in one["targets"]
                ]
            )
            for one in (state, fresh)
        )
    return np.where(theirs > 0.0, np.minimum(ours, theirs), ours)


def _in_place_of(state, fresh):
    """Return the state of a new model that goes on for another one, with its record."""
    guards = [
        guard | {name: before[name] for name in ("n_faulty", "guarded")}
        for guard, before in zip(fresh["targets"], state["targets"], strict=True)
    ]
    n_before = n_rows(state) - fresh["t"]
    return fresh | {"targets": guards, "n_before": n_before} | record_of(state, fresh)
