"""An expert of steps: a tree on the columns as they came, where it sees what kernels do not.

What jumps, in a column or in a pair of columns, costs kernels many rows. After 256 rows, and
whenever there are twice as many up to 4096, trees are tried on all rows, or on as many of the
latest as they are grown from later, where what is rare is found, and on the latest 512, which know
the experts as they are now: grown from the first half of them they forecast the others.
One learns the targets, another what a linear expert leaves of them, and its forecasts are added to
those of that expert: steps on a slope are many for a tree, and few once the slope is known. The one
whose forecasts tell more of what the mixture has missed is an expert from then on, see `_steps.py`,
for each target one, if that is more than chance; the other may follow in a later trial. Elsewhere
they cost nothing, and where one is there in vain its time alone, as the mixture hears who is
better: so little evidence is enough.

They see no forecasts of other trees, which stand behind the columns: they wander as these learn,
and a split that parts two of them today parts others tomorrow.

Of many columns one sees those that tell most. That sizes tell of interactions is from Y. Fan, Y.
Kong, D. Li, Z. Zheng, "Innovated interaction screening for high-dimensional nonlinear
classification", Annals of Statistics 43(3), 2015; there they are squares.
"""

from itertools import product

import numpy as np

from ..._delay import in_order
from ..._tail import Shared
from ...base import _copied
from ...meta._past import Past
from ..rows import _steps as steps

TRIALS = 256, 512, 1024, 2048, 4096  # rounds after which it is tried
KINDS = "alone", "on a line"  # what trees are taught, and the last experts are, in this order
TREES = slice(-len(KINDS), None)  # where they are among all experts
MEMBERS = tuple(
    {
        "kernel": name,
        "bandwidth": np.nan,
        "lags": False,
        "alpha": np.nan,
        "forgetting": 1.0,
        "ranks": False,
        "pairs": True,
        "learnt": False,
        "trees": True,
        "whole": False,
    }
    for name in ("tree", "tree on a line")
)
_SIZE = 2**17  # the most numbers that are kept for trials: of wide rows fewer are
_LATEST = 512  # rows of a trial on the latest
_MOST = 24  # columns that it sees
_SURELY = 2.0  # standard errors by which it is to tell what the mixture has missed
_SHARE = 0.02  # and which share of the squares at least; of more rows than that it is known better
_LEAST = (
    0.1  # how far to go from the mixture's forecasts to them: who enters has some weight at once
)
_FEWEST = 64  # rows on which anything is tried


class Leaves:
    """Tries trees on q targets of a row, and lets those that have passed forecast and learn.

    Where they are `apart`, each target hears its tree for reasons of its own; else all or none do.
    Wherever `bases` (n, q, L) are asked for, they are what L linear experts forecast, one of which
    is the line of the trees on one.
    """

    def __init__(self, n_targets, delay, apart, n_lines):
        self.n_targets, self.delay, self.apart = n_targets, delay, apart
        self.n_lines = n_lines

    def start(self, n_columns):
        """Return the state before the first row, of so many first columns: no tree yet."""
        n_numbers = self.n_targets * (2 + self.n_lines)  # targets, forecasts, those of the lines
        window = min(steps.N_ROWS, max(_SIZE // (n_columns + n_numbers), TRIALS[0]))
        kept = Past(np.empty((0, n_columns)), np.empty((0, n_numbers)), window)
        return {"kept": kept} | {kind: self._nobody() for kind in KINDS}

    def _nobody(self):
        """Return the state of trees of a kind before there are any."""
        return {
            "columns": np.empty(0, dtype=int),  # that the trees see
            "trees": {},  # of each target, by its number, once there are any
            "heard": np.zeros(self.n_targets, dtype=bool),  # by which targets
            # the latest rows, whose targets no forecast knows yet, and how many there were before
            "waiting": Shared(rows=np.empty((0, 0)), y=np.empty((0, self.n_targets))),
            "n_before": 0,
            "began": 0,  # how many rows had come when they began
            "line": 0,  # which one of the lines they are on
        }

    def there(self, state):
        """Return of which kinds (2,) there are trees, in the order of `KINDS`."""
        return np.array(self.are_there(state))

    @staticmethod
    def are_there(state):
        """Return the same as a list."""
        return [bool(state[kind]["trees"]) for kind in KINDS]

    def bases(self, F, places):
        """Return, of forecasts F (q, n, K) or (q, K), those (n, q, L) or (q, L) of the lines.

        They are 0 where there are no lines, and no places of any.
        """
        if not len(places):
            return np.zeros((*F.shape[1:-1], len(F), self.n_lines))
        return F.take(places, axis=1) if F.ndim == 2 else np.moveaxis(F[..., places], 0, -2)

    def line(self, state):
        """Return which one of the lines trees are on: the first one sees lags, if any does."""
        return state[KINDS[1]]["line"]

    def heard(self, state, ago=0):
        """Return which targets heard trees of each kind some rounds ago, (2, q).

        What has let them begin was not known before: nobody hears them in forecasts of then.
        """
        parts = [state[kind] for kind in KINDS]
        return np.array([part["heard"] & (_n_rows(part) - part["began"] >= ago) for part in parts])

    def keep(self, state, t, X, u, forecasts, bases):
        """Keep the rows after round t with which trees will be tried, and what was forecast."""
        kept, n = state["kept"], max(TRIALS[-1] - t, 0)
        if n == 0 and kept.length == 0:
            return
        of_targets = _as_columns(u), _as_columns(forecasts), bases.reshape(len(u), -1)
        new = X[:n, : kept.width], np.concatenate(of_targets, axis=1)[:n]
        state["kept"] = kept + new if n else Past(*(part.copy() for part in new), kept.window)

    def _kept(self, state):
        """Return the rows kept (n, d), their targets and forecasts (n, q), those of the lines."""
        (rows, of_targets), q = state["kept"].rows, self.n_targets
        y, forecasts, bases = np.split(of_targets, [q, 2 * q], axis=1)
        return rows, y, forecasts, bases.reshape(len(y), q, self.n_lines)

    def try_out(self, state, line=None):
        """Let trees of a kind begin where they would have helped; None where no kind would have.

        The line is the best one so far, None where there are none. Returned are the place of the
        kind in `KINDS`, and the losses (q,) of its trees a row, in the trial.
        """
        rows, y, forecasts, bases = self._kept(state)
        if len(rows) < _FEWEST:
            return None
        taught = y, y if line is None else y - bases[..., line]
        kinds = np.flatnonzero(~self.there(state) & [True, line is not None]).tolist()
        lengths = sorted({min(_LATEST, len(rows)), len(rows)})
        tried = {}
        for kind, length in product(kinds, [n for n in lengths if n // 2 > self.delay]):
            of_rows = rows, taught[kind], forecasts - (y - taught[kind])
            tried[kind, length] = self._tried(*(part[-length:] for part in of_rows), length // 2)
        best = max(tried, key=lambda one: tried[one][2].sum(), default=None)
        if best is None or not tried[best][2].any():
            return None
        (columns, heard, _, losses), (kind, length) = tried[best], best
        part = self._begun(rows[-length:], taught[kind][-length:], columns, heard)
        state[KINDS[kind]] = part | {"line": int(line or 0)}
        return kind, losses

    def _tried(self, rows, y, forecasts, n):
        """Return what columns trees see, whom they help, by how much, and their losses a row."""
        columns = _telling(rows, y)
        rows, asked = steps.seen(rows, columns), slice(n + self.delay, None)
        F = np.stack([_grown(rows[:n], of_one[:n], rows[asked])[0] for of_one in y.T], axis=1)
        gains = self._gains(y[asked], forecasts[asked], F)
        return columns, gains > 0.0, gains, np.square(y[asked] - F).mean(axis=0)

    def _begun(self, rows, y, columns, heard):
        """Return the state of trees of a kind that know these rows, as far as labels are there."""
        rows = steps.seen(rows, columns)
        known, waits = slice(len(rows) - self.delay), slice(len(rows) - self.delay, None)
        trees = {
            str(j): _grown(rows[known], of_one[known], rows[:0])[1] for j, of_one in enumerate(y.T)
        }
        return {
            "columns": columns,
            "trees": trees,
            "heard": heard,
            "waiting": Shared(rows=rows[waits], y=y[waits]),
            "n_before": len(rows[known]),
            "began": len(rows),
        }

    def learn(self, state, X, u, bases):
        """Learn rows (n, d) and their targets; return what was forecast for each, (n, q, 2)."""
        F = np.full((len(X), self.n_targets, len(KINDS)), np.nan)
        for k, (part, of_base) in self._parts(state, bases):
            F[..., k] = of_base + self._learn(part, X, _as_columns(u) - of_base)
        return F

    def look(self, state, X, bases, ago=0):
        """Return what is forecast (n, q, 2) by what was known some rounds ago; learns nothing."""
        F = np.full((len(X), self.n_targets, len(KINDS)), np.nan)
        for k, (part, of_base) in self._parts(state, bases):
            rows, waiting = self.seen(part, X), part["waiting"]
            n_known = np.maximum(len(waiting["y"]) - np.broadcast_to(ago, len(X)), 0)
            n_known = np.append(n_known, n_known[-1:])
            F[..., k] = of_base + self._asked(_copied(part), waiting, rows, n_known)
        return F

    def _parts(self, state, bases):
        """Yield the places of kinds of which there are trees, their states, and what is added."""
        for k, kind in enumerate(KINDS):
            part = state[kind]
            if part["trees"]:
                yield k, (part, bases[..., part["line"]] if k else 0.0)

    def _learn(self, part, X, u):
        waiting, rows = part["waiting"], self.seen(part, X)
        past = Shared(
            rows=np.concatenate([waiting["rows"], rows]), y=np.concatenate([waiting["y"], u])
        )
        n_known = len(waiting["y"]) + np.arange(len(u) + 1) - self.delay
        F = self._asked(part, past, rows, np.maximum(n_known, 0))
        n = max(int(n_known[-1]), 0)
        part["waiting"] = Shared({name: known[n:].copy() for name, known in past.items()})
        part["n_before"] += n
        return F

    def ask_row(self, state, X, bases):
        """Return what is forecast (q, 2) of a row X (1, d) where no label is late; bases (q, L).

        It has no gaps. And of trees of each kind there are the row as they see it, and in which
        leaves it is.
        """
        F, met = np.empty((self.n_targets, len(KINDS))), []
        F.fill(np.nan)
        for k, (part, of_base) in self._parts(state, bases):
            row, trees = X[0].take(part["columns"]), _trees(part)
            places = [steps.leaf_of(tree, row) for tree in trees]
            F[:, k] = list(map(steps.mean_of, trees, places))
            F[:, k] += of_base
            met.append((row, places))
        return F, met

    def teach_row(self, state, met, u, bases):
        """Learn targets u (q,) of a row that was `met` where no label is late."""
        parts = zip(self._parts(state, bases), met, strict=True)
        for (_, (part, of_base)), (row, places) in parts:
            of_trees = zip(_trees(part), places, (u - of_base).tolist(), strict=True)
            for tree, leaf, target in of_trees:
                steps.teach_row(tree, row, leaf, target)
            part["n_before"] += 1

    def seen(self, part, X):
        """Return the columns (n, p) of rows that trees of a kind see, without gaps."""
        return steps.seen(X, part["columns"])

    def boxes(self, part):
        """Return the low and high ends (p, m) of the m leaves of trees of a kind, and their means.

        One of each for each target.
        """
        part, waiting = _copied(part), part["waiting"]
        everything = np.full(1, len(waiting["y"]))
        self._asked(part, waiting, waiting["rows"][:0], everything)
        return [steps.boxes(tree, len(part["columns"])) for tree in _trees(part)]

    def forget_target(self, state, j, latest):
        """Forget what was learnt of target j: nothing of it counts as missed.

        Rows that wait have the latest of its targets, the last one first.
        """
        (rows, of_targets), window = state["kept"].rows, state["kept"].window
        of_targets = of_targets.copy()
        of_targets[:, j] = of_targets[:, self.n_targets + j]
        state["kept"] = Past(rows.copy(), of_targets, window, len(rows))
        for part in (state[kind] for kind in KINDS):
            if part["trees"]:
                part["trees"][str(j)] = steps.start(len(part["columns"]))
                y = part["waiting"]["y"].copy()
                y[:, j] = in_order(latest, len(y))
                part["waiting"] = Shared(part["waiting"], y=y)

    def _gains(self, y, forecasts, F):
        """Return of each target (q,) which share of what others miss forecasts F (n, q) tell."""
        if not self.apart:
            return np.full(self.n_targets, told_of_missed(y, forecasts, F))
        parts = zip(y.T, forecasts.T, F.T, strict=True)
        return np.array([told_of_missed(*(one[:, None] for one in part)) for part in parts])

    def _asked(self, part, past, rows, n_known):
        """Return forecasts (n, q) for rows before each of which so many of the past are known."""
        return np.stack(
            [
                steps.forecasts(tree, past["rows"], of_one, rows, n_known, alone=True)
                for tree, of_one in zip(_trees(part), past["y"].T, strict=True)
            ],
            axis=1,
        )


def _trees(part):
    """Return the trees of a kind, one for each target."""
    return part["trees"].values()


def _n_rows(part):
    """Return how many rows trees of a kind have seen, those included whose targets are late."""
    return part["n_before"] + len(part["waiting"]["y"])


def _as_columns(values):
    """Return values (n,) or (n, q) as (n, 1) or (n, q)."""
    return values.reshape(len(values), -1)


def _grown(rows, y, asked):
    """Return forecasts for rows by a tree grown from others, and the tree."""
    tree, n_known = steps.start(rows.shape[1], len(rows)), np.full(len(asked) + 1, len(rows))
    return steps.forecasts(tree, rows, y, asked, n_known, alone=True), tree


def told_of_missed(y, forecasts, F):
    """Return which share of what others miss of targets, of all q, forecasts F (n, q) tell.

    0 where that is not sure, or too little.
    """
    weights = 1.0 / np.maximum(y.var(axis=0), np.finfo(float).tiny)
    misses, moves = y - forecasts, F - forecasts
    told = (misses * moves) @ weights
    missed, moved = (np.square(part) @ weights for part in (misses, moves))
    share = min(told.sum() / max(moved.sum(), np.finfo(float).tiny), 1.0)
    gain = share * (2.0 * told.sum() - share * moved.sum())
    is_sure = told.sum() > _SURELY * np.sqrt(np.square(told).sum())
    least = _SHARE * min(1.0, np.sqrt(_LATEST / 2 / len(y)))
    is_enough = gain > least * missed.sum() and share > _LEAST
    return gain / missed.sum() if is_sure and is_enough else 0.0


def _telling(rows, y):
    """Return the columns of rows (n, d) that trees are to see: all, or those that tell most.

    After those that tell more than chance would come those whose distances from the middle do so of
    those of the targets: columns of an interaction may say nothing else on their own.
    """
    n, n_columns = rows.shape
    if n_columns <= _MOST:
        return np.arange(n_columns)
    rows = steps.seen(rows, np.arange(n_columns))
    shares, of_distances = (
        np.array([steps.gain_of(X[:, [j]], u) for j in range(n_columns)])
        for X, u in ((rows, y), (_distances(rows), _distances(y)))
    )
    least = y.shape[1] * steps.share_by_chance(n, n_columns)
    is_sure = shares > least
    tells_of_sizes = ~is_sure & (of_distances > least)
    keys = np.where(tells_of_sizes, of_distances, shares), tells_of_sizes, is_sure
    return np.sort(np.lexsort(keys)[-_MOST:])


def _distances(values):
    return np.abs(values - np.median(values, axis=0))
