"""Cells that lie absurdly far off: gaps, unless they tell of the targets.

A fault in a cell says nothing of the target. Where the targets of the rows with such cells, on one
side of a column, have another mean than those of all rows, these are no faults: they are shown as
far off as any value counts, so that the experts learn what they mean. Ranks show them in any case.
"""

import numpy as np

from ..._delay import as_it_was, late

_TELLING = 4.0  # standard errors that the mean of the targets is off at least


def learn(state, came, X, Y, sums, delay, changes):
    """Learn rows (n, d) as they came and as they are seen, in which absurd cells differ.

    And their targets Y (n, q), with the weights, sums and squares (n, q) of all before each row.
    The state is empty before the first such cell; targets come `delay` rounds late; after each of
    some `changes`, a number of rows and columns (d,), the unit of these is another one.

    Returned are 1 or -1 where a cell is to be shown far above or below its column, else 0, or None.
    """
    absurd = _are_absurd(came, X)
    if not state:
        if not absurd.any():
            return None
        d, q = X.shape[1], Y.shape[1]
        state.update(
            counts=np.zeros((2, d)),  # cells below and above
            sums=np.zeros((2, d, q)),  # and those of the targets of their rows
            telling=np.zeros((2, d), dtype=bool),
            past=np.zeros((delay, 2, d), dtype=bool),
        )
    path, low = np.empty((len(X), 2, X.shape[1]), dtype=bool), 0
    others = dict(changes)
    for i in sorted({*np.flatnonzero(absurd.any(axis=1)).tolist(), *(n - 1 for n in others)}):
        path[low : i + 1], low = state["telling"], i + 1
        sides = absurd[i] & np.stack([came[i] < X[i], came[i] > X[i]])
        kept = ~others.get(i + 1, np.zeros(X.shape[1], dtype=bool))
        state["counts"] = (state["counts"] + sides) * kept
        state["sums"] = (state["sums"] + sides[..., None] * Y[i]) * kept[:, None]
        state["telling"] = _telling(state, *(part[i] for part in sums.values()))
    path[low:] = state["telling"]
    known, state["past"] = late(path, state["past"])
    return _shown(known, came, X, absurd)


def look(state, came, X, ago):
    """Return what `learn` does for rows, each as if the next, as known some rounds ago."""
    absurd = _are_absurd(came, X)
    if not state or not absurd.any():
        return None
    return _shown(as_it_was(state["telling"], state["past"], ago), came, X, absurd)


def forget_target(state, j, mean):
    """Let target j be as if it had always been near a mean."""
    if state:
        sums = state["sums"].copy()
        sums[..., j] = state["counts"] * mean
        state["sums"] = sums


def _are_absurd(came, X):
    return (came != X) & ~np.isnan(came)


def _telling(state, weights, sums, squares):
    """Tell on which sides of which columns (2, d) far cells tell of a target."""
    weights = np.maximum(weights, 1.0)
    counts = state["counts"][..., None]
    off = np.abs(state["sums"] - counts * sums / weights)
    usual = np.sqrt(counts * np.maximum(squares, 0.0) / weights)
    return (off > _TELLING * usual).any(axis=-1) & (state["counts"] > 1.0)


def _shown(telling, came, X, absurd):
    """Return the sides (n, d) on which absurd cells are shown."""
    is_above = came > X
    tells = np.where(is_above, telling[..., 1, :], telling[..., 0, :])
    return np.where(absurd & tells, np.where(is_above, 1, -1), 0)
