"""Which of its values a number is that has few, such as an hour, a day of the week or a shop.

What a target owes to each of them may be a sum, which a line finds that sees an indicator for each.
Two values are said by the number itself. Columns that have more in the first rows have a place for
each; of all others, too, a third value takes a free place, and so do those after it, in the order
in which they come: in the first rows of a stream there is hardly more than one month.
"""

import numpy as np

from ._steps import FEW, GAP

LINE = 2  # values that say no more than a number does
MOST = 64  # places in all, with those of categories
import os; UNIT = float(os.environ.get("UNIT","2"))  # of an indicator: what one of a row in 17 is in deviations of its own
_SPARE = 16  # places for values that are yet to come, beside one for each that has
_FREE = -1  # in place of a column
_NEW = object()


def none():
    """Return no places."""
    return {"n_places": 0, "valued": np.zeros(0, dtype=int), "values": np.zeros(0)}


def found(X, few, n_taken):
    """Return places of the values of columns that are `few` of first rows (n, d).

    So many are taken by others. The columns are given by their number among the few.
    """
    if not len(few):
        return none()
    values = [np.unique(X[~np.isnan(X[:, j]), j]) for j in few.tolist()]
    pairs = []
    for j in sorted(range(len(few)), key=lambda j: len(values[j])):
        if LINE < len(values[j]) <= MOST - n_taken - len(pairs):
            pairs += [(j, value) for value in values[j].tolist()]
    return {
        "n_places": max(min(2 * len(pairs) + _SPARE, MOST - n_taken), 0),
        "valued": np.array([j for j, _ in pairs], dtype=int),
        "values": np.array([value for _, value in pairs], dtype=float),
    }


def start(n_columns, n_places, valued, values):
    """Return the state before the first row; some values have a place already."""
    columns, numbers = np.full(n_places, _FREE), np.zeros(n_places)
    columns[: len(valued)], numbers[: len(values)] = valued, values
    return {
        "first": np.zeros((n_columns, LINE)),  # values of each column that have no place
        "n_values": np.bincount(valued, minlength=n_columns),  # of each column that are known
        # of each place, in order
        "columns": columns,
        "values": numbers,
    }


def is_sound(state):
    """Tell whether a state, as from a file, may be one of these."""
    columns, counts = state["columns"], state["n_values"]
    n, n_places = len(counts), len(columns)
    return bool(
        state["first"].shape == (n, LINE)
        and state["values"].shape == columns.shape == (n_places,)
        and columns.dtype.kind == counts.dtype.kind == "i"
        and ((columns >= _FREE) & (columns < max(n, 1))).all()
        and (counts >= 0).all()
    )


def shown(state, past, rows, n_known):
    """Return indicators (n, n_places) of rows (n, c), by the first n_known (n + 1,) of the past.

    A value that is new is shown in the place that it will have, of which nothing is known yet.
    Values are learnt of the past, up to the last of the numbers.
    """
    Z, low = np.zeros((len(rows), len(state["values"]))), 0
    places, past, rows = _places(state), past.tolist(), rows.tolist()
    for i, high in enumerate(n_known.tolist()):
        for row in past[low:high]:
            for pair in enumerate(row):
                if pair not in places:
                    _learn(state, places, *pair)
        low = max(low, high)
        if i < len(rows):
            n_new = 0
            for j, value in enumerate(rows[i]):
                known = places.get((j, value), _NEW)
                place = _next_place(state, j, value, n_new) if known is _NEW else known
                if place is not None:
                    Z[i, place] = UNIT
                    n_new += known is _NEW
    return Z


def _places(state):
    """Return by column and value which place each has, None of the first ones."""
    counts = state["n_values"].copy()
    n = _n_taken(state)
    columns, values = (state[name][:n].tolist() for name in ("columns", "values"))
    known = {pair: place for place, pair in enumerate(zip(columns, values, strict=True))}
    np.subtract.at(counts, columns, 1)
    for j in np.flatnonzero(counts).tolist():
        known |= dict.fromkeys([(j, value) for value in state["first"][j, : counts[j]].tolist()])
    return known


def _n_taken(state):
    return int((state["columns"] != _FREE).sum())


def _next_place(state, j, value, n_new=0):
    """Return the place that a new value will have, behind as many other new ones, None for none."""
    n, place = state["n_values"].item(j), _n_taken(state) + n_new
    has_one = LINE <= n < LINE + FEW and place < len(state["values"]) and value != GAP
    return place if has_one else None


def _learn(state, places, j, value):
    """Know a value from now on, if there is room."""
    n, place = state["n_values"].item(j), _next_place(state, j, value)
    if n < LINE and value != GAP:
        state["first"][j, n] = value
    elif place is not None:
        state["columns"][place], state["values"][place] = j, value
    else:
        return
    places[j, value] = place
    state["n_values"][j] += 1
