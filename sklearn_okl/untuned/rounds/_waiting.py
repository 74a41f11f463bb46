"""Rows that a twin is yet to learn, and that are yet to be scored: together, not one by one.

A guard's model meets a target in doubt alone, and the rows around it where doubts are dense. Its
twin believes all targets, so nothing ends its blocks, and nobody asks what it has learnt, or how
large errors were, but at the ends of blocks, where something else is due, and where a call ends.
Until then rows wait: together they cost a part of what they cost one by one, and forecasts are the
same to rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from . import _blocks, _nones


class Part(NamedTuple):
    """Rows in a row that a model has learnt, and what it said of them.

    Attributes
    ----------
    X, y : ndarray of shape (n, d) and (n, q)
        The rows, and their targets as they came.
    weights : ndarray of shape (n,) or None
    answer : ndarray of shape (n, q)
        Forecasts; those of both are written into it.
    misses, errors : ndarray of shape (n, q)
        Errors of these in units, and what of them a guard learns.
    units : ndarray of shape (n, q)
    believed : ndarray of shape (n, q)
        Which targets were learnt as they came.
    n_first : int, default=0
        Rows among them that nobody has forecast.
    is_plain : bool, default=False
        Whether it is one row in no doubt, of a row path.
    """

    X: np.ndarray
    y: np.ndarray
    weights: np.ndarray | None
    answer: np.ndarray
    misses: np.ndarray
    errors: np.ndarray
    units: np.ndarray
    believed: np.ndarray
    n_first: int = 0
    is_plain: bool = False


class Waiting:
    """Lets rows wait until a twin learns them, and then is heard beside the model of a guard."""

    def __init__(self):
        self.parts, self.until, self.of_twin = [], 0, ({}, None)

    def put(self, guard, state, part):
        """Let rows that the model has just learnt wait; tell whether that is enough of them."""
        t, model, states = state["t"], guard.model, [state, *self._twins(guard)]
        if not self.parts:
            now = t - len(part.y)
            dues = [model._rounds_to_stop({**one, "t": now}) for one in states]
            self.until = now + min(guard.fence.block - now % guard.fence.block, *dues)
        stuck = np.tile(guard.fence.say_nothing(state["targets"]), (len(part.y), 1))
        nones, sizes = _nones.came_as_none(state["targets"], part.y), state.get("sizes") or {}
        self.parts.append((part, stuck, nones, sizes.pop("issued", None)))
        may_change = not all(known["unit"] for one in states for known in one["targets"])
        return may_change or t >= self.until or guard.call.trace is not None

    def end(self, guard, state):
        """Let the twin, if there is one, learn the rows that wait; hear it of them, and score."""
        parts, self.parts = self.parts, []
        if not parts:
            return
        known, stuck, nones, issued = map(list, zip(*parts, strict=True))
        part = known[0] if len(known) == 1 else _joined(known)
        if self._twins(guard):
            theirs = self._theirs(guard, part)
            of_rows = {"stuck": np.concatenate(stuck), "nones": np.concatenate(nones)}
            mixed = guard.trust.learn(guard.beside, part.y, part.answer, theirs, **of_rows)
            learnt = part.errors == part.misses
            part.misses[:] += (part.answer - mixed) / part.units
            part.errors[:] = np.where(learnt, part.misses, part.errors)
            low = 0
            for one in known:
                one.answer[:] = mixed[low : low + len(one.y)]
                low += len(one.y)
        if issued[0] is not None:
            state["sizes"]["issued"] = np.concatenate(issued)
        guard.score(state, part)

    def _twins(self, guard):
        return [guard.beside["twin"]] if guard.beside and guard.beside["twin"] else []

    def _theirs(self, guard, part):
        """Return the forecasts (n, q) of the twin, which learns all rows: it is not guarded."""
        twin, rounds, found, low = guard.beside["twin"], self._rounds(guard), [], 0
        while low < len(part.y):
            rows = slice(low, low + 1 if rounds.alone else None)
            weights = None if part.weights is None else part.weights[rows]
            found.append(rounds.learn(twin, part.X[rows], part.y[rows], weights))
            low += len(found[-1])
            guard.model._stop(twin, guard.call.run, rounds)
        return np.concatenate(found)

    def _rounds(self, guard):
        """Return what watches the twin, as long as this is the same one."""
        twin = guard.beside["twin"]
        if self.of_twin[0] is not twin:
            kept = guard.call.kept.get("beside", {}).get("twin", {})
            call = guard.call._replace(kept=kept, beyond=_blocks.NONE, trace=None, found=None)
            self.of_twin = twin, type(guard)(guard.model, twin, call)
        rounds = self.of_twin[1]
        rounds.apart = guard.apart
        return rounds


def _joined(parts):
    """Return parts as one; of weights, where some have none, these are 1."""
    weights = None
    if any(part.weights is not None for part in parts):
        weights = np.concatenate(
            [np.ones(len(part.y)) if part.weights is None else part.weights for part in parts]
        )
    of_rows = zip(*[part[:2] + part[3:8] for part in parts], strict=True)
    X, y, *others = (np.concatenate(arrays) for arrays in of_rows)
    # only the first rows of all have no forecasts
    return Part(X, y, weights, *others, sum(part.n_first for part in parts))
