"""An expert of steps: a tree on the columns as they came, where it sees what kernels do not.

What jumps, in a column or in a pair of columns, costs kernels many rows. After 256 rows, and
whenever there are twice as many up to 4096, a tree is tried on the latest 512: grown from the first
half of them it forecasts the others. Where its forecasts tell what the mixture has missed, by more
than chance, it is one more expert from then on, see `_steps.py`, for each target one. Elsewhere it
costs nothing, and where it is there in vain no more than its time, as the mixture hears who is
better: so little evidence is enough.

It sees no forecasts of other trees, which stand behind the columns: they wander as these learn, and
a split that parts two of them today parts others tomorrow.

Of many columns it sees those that tell most. That sizes tell of interactions is from Y. Fan, Y.
Kong, D. Li, Z. Zheng, "Innovated interaction screening for high-dimensional nonlinear
classification", Annals of Statistics 43(3), 2015; there they are squares.
"""

import numpy as np

from ..._tail import Shared
from ...base import _copied
from ..rows import _steps as steps

TRIALS = 256, 512, 1024, 2048, 4096  # rounds after which it is tried
MEMBER = {
    "kernel": "tree",
    "bandwidth": np.nan,
    "lags": False,
    "alpha": np.nan,
    "forgetting": 1.0,
    "ranks": False,
    "pairs": True,
    "learnt": False,
    "trees": True,
}
_N_ROWS = 512  # of a trial
_MOST = 24  # columns that it sees
_SURELY = 2.0  # standard errors by which it is to tell what the mixture has missed
_SHARE = 0.02  # and which share of the squares at least
_FEWEST = 64  # rows on which anything is tried


class Leaves:
    """Tries trees on q targets of a row, and lets those that have passed forecast and learn.

    Where they are `apart`, each target hears its tree for reasons of its own; else all or none do.
    """

    def __init__(self, n_targets, delay, apart):
        self.n_targets, self.delay, self.apart = n_targets, delay, apart

    def start(self, n_columns):
        """Return the state before the first row, of so many first columns: no tree yet."""
        nothing = np.empty((0, self.n_targets))
        return {
            "kept": Shared(rows=np.empty((0, n_columns)), y=nothing, forecasts=nothing),
            "columns": np.empty(0, dtype=int),  # that the trees see
            "trees": {},  # of each target, by its number, once there are any
            "heard": np.zeros(self.n_targets, dtype=bool),  # by which targets
            # the latest rows, whose targets no forecast knows yet, and how many there were before
            "waiting": Shared(rows=np.empty((0, 0)), y=nothing),
            "n_before": 0,
        }

    def keep(self, state, t, X, u, forecasts):
        """Keep the rows after round t with which trees will be tried, and what was forecast."""
        if all(t >= trial or t + len(u) <= trial - _N_ROWS for trial in TRIALS):
            return
        ends = t + 1 + np.arange(len(u))  # rounds
        wanted = np.zeros(len(u), dtype=bool)
        for trial in TRIALS:
            wanted |= (ends > trial - _N_ROWS) & (ends <= trial)
        n_columns = state["kept"]["rows"].shape[1]
        new = {"rows": X[:, :n_columns], "y": u.reshape(len(u), -1), "forecasts": forecasts}
        state["kept"] = Shared(
            {
                name: np.concatenate([kept, new[name][wanted]])[-_N_ROWS:]
                for name, kept in state["kept"].items()
            }
        )

    def try_out(self, state):
        """Let trees begin where one would have helped; return their losses a row, None if not."""
        rows, y, forecasts = (state["kept"][name] for name in ("rows", "y", "forecasts"))
        state["kept"] = Shared({name: part[:0] for name, part in state["kept"].items()})
        n = len(rows) // 2
        if state["trees"] or n < _FEWEST // 2 or n <= self.delay:
            return None
        columns = _telling(rows, y)
        rows, asked = steps.seen(rows, columns), slice(n + self.delay, None)
        F = np.stack([_grown(rows[:n], of_one[:n], rows[asked])[0] for of_one in y.T], axis=1)
        heard = self._are_better(y[asked], forecasts[asked], F)
        if not heard.any():
            return None
        known, waits = slice(len(rows) - self.delay), slice(len(rows) - self.delay, None)
        state |= {"columns": columns, "heard": heard, "n_before": len(rows[known])}
        state["trees"] = {
            str(j): _grown(rows[known], of_one[known], rows[:0])[1] for j, of_one in enumerate(y.T)
        }
        state["waiting"] = Shared(rows=rows[waits], y=y[waits])
        return np.square(y[asked] - F).mean(axis=0)

    def learn(self, state, X, u):
        """Learn rows (n, d) and their targets; return what was forecast for each, (n, q)."""
        waiting, rows = state["waiting"], self.seen(state, X)
        past = Shared(
            rows=np.concatenate([waiting["rows"], rows]),
            y=np.concatenate([waiting["y"], u.reshape(len(u), -1)]),
        )
        n_known = len(waiting["y"]) + np.arange(len(u) + 1) - self.delay
        F = self._asked(state, past, rows, np.maximum(n_known, 0))
        n = max(int(n_known[-1]), 0)
        state["waiting"] = Shared({name: part[n:].copy() for name, part in past.items()})
        state["n_before"] += n
        return F

    def look(self, state, X, ago=0):
        """Return what is forecast (n, q) by what was known some rounds ago; learns nothing."""
        rows, waiting = self.seen(state, X), state["waiting"]
        n_known = np.maximum(len(waiting["y"]) - np.broadcast_to(ago, len(X)), 0)
        return self._asked(_copied(state), waiting, rows, np.append(n_known, n_known[-1:]))

    def ask_row(self, state, X):
        """Return what is forecast (q,) of a row X (1, d) where no label is late."""
        row = self.seen(state, X)[0]
        return [steps.ask_row(tree, row)[0] for tree in state["trees"].values()]

    def teach_row(self, state, X, u):
        """Learn targets u (q,) of a row X (1, d) where no label is late."""
        row, n_before = self.seen(state, X)[0], state["n_before"]
        for tree, target in zip(state["trees"].values(), u.tolist(), strict=True):
            _, leaf = steps.ask_row(tree, row)
            steps.teach_row(tree, row, target, leaf, n_before)
        state["n_before"] = n_before + 1

    def seen(self, state, X):
        """Return the columns (n, p) of rows that the trees see, without gaps."""
        return steps.seen(X, state["columns"])

    def boxes(self, state):
        """Return the low and high ends (p, m) of the m leaves of each tree, and their means."""
        state, waiting = _copied(state), state["waiting"]
        everything = np.full(1, len(waiting["y"]))
        self._asked(state, waiting, waiting["rows"][:0], everything)
        return [steps.boxes(tree, len(state["columns"])) for tree in state["trees"].values()]

    def forget_target(self, state, j):
        """Forget what was learnt of target j: nothing of it counts as missed."""
        kept = state["kept"]
        y = np.where(np.arange(self.n_targets) == j, kept["forecasts"], kept["y"])
        state["kept"] = Shared(kept | {"y": y})
        if state["trees"]:
            state["trees"][str(j)] = steps.start(len(state["columns"]))

    def _are_better(self, y, forecasts, F):
        """Return for which targets (q,) forecasts F (n, q) tell what others miss."""
        if not self.apart:
            return np.full(self.n_targets, _is_better(y, forecasts, F))
        parts = zip(y.T, forecasts.T, F.T, strict=True)
        return np.array([_is_better(*(part[:, None] for part in parts_of)) for parts_of in parts])

    def _asked(self, state, past, rows, n_known):
        """Return forecasts (n, q) for rows before each of which so many of the past are known."""
        return np.stack(
            [
                steps.forecasts(
                    tree, past["rows"], of_one, rows, n_known, state["n_before"], alone=True
                )
                for tree, of_one in zip(state["trees"].values(), past["y"].T, strict=True)
            ],
            axis=1,
        )


def _grown(rows, y, asked):
    """Return forecasts for rows by a tree grown from others, and the tree."""
    tree, n_known = steps.start(rows.shape[1], len(rows)), np.full(len(asked) + 1, len(rows))
    return steps.forecasts(tree, rows, y, asked, n_known, 0, alone=True), tree


def _is_better(y, forecasts, F):
    """Tell whether forecasts F (n, q) tell what others miss of targets, of all q together."""
    weights = 1.0 / np.maximum(y.var(axis=0), np.finfo(float).tiny)
    misses, moves = y - forecasts, F - forecasts
    told = (misses * moves) @ weights
    missed, moved = (np.square(part) @ weights for part in (misses, moves))
    share = min(told.sum() / max(moved.sum(), np.finfo(float).tiny), 1.0)
    gain = share * (2.0 * told.sum() - share * moved.sum())
    is_sure = told.sum() > _SURELY * np.sqrt(np.square(told).sum())
    return bool(is_sure and gain > _SHARE * missed.sum())


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
