"""Which of its values a number is that has few, such as an hour or a shop, or which category.

What a target owes to each of them may be a sum, which a line finds that sees an indicator for each.
Columns of more than two values in the first rows have a place for each of them: numbers of few
values, and whole ones of some more, of which not too many have come once only, and categories
beyond those of which all experts see indicators. A new value takes the next free place, in the
order in which they come: in the first rows of a stream there is hardly more than one month. Two
values are said by a number itself, so a column that had no more waits for the third. Places of
columns of many values come behind all others: one line does without them, see `_effects.py`.
"""

import numpy as np

from ._steps import FEW, GAP, N_LOOKED_AT

LINE = 2  # values that say no more than a number does
MOST = 256  # places in all, whatever the budget
UNIT = 2.0  # of an indicator: as much as numbers that are two deviations apart
AT_FIRST = 8  # categories up to which all experts see an indicator of each
# values of a column in the first rows at most, and which share of them has come once at most
_OF_WHOLE = 3 * N_LOOKED_AT // 4, 2.0 / 3.0
_OF_OTHERS = FEW, 1.0 / 3.0
_SHARE = 0.05  # of the work, at most, for the square of all places
_SPARE = 16  # places beside those of all values that are to be expected
_FREE = -1  # in place of a column
_NEW = object()


def none():
    """Return no places."""
    nothing = np.zeros(0, dtype=int)
    of_columns = {"valued": nothing, "are_many": np.zeros(0, dtype=bool)}
    return {"n_places": 0, "n_few": 0, "held": nothing, "values": np.zeros(0)} | of_columns


def room(work):
    """Return how many places there may be at a budget of so many multiplications a row."""
    return int(min(np.sqrt(_SHARE * work), MOST))


def found(X, nominal, many, most):
    """Return places of the values of columns of first rows (n, d): some are nominal, or have many.

    That is how many there are, up to the most, and before those of many; the columns, and whether
    they are such; and of each value that has a place already which of these it is of, in the order
    of places: columns of fewest values come first.
    """
    if len(X) != N_LOOKED_AT or not most:
        return none()
    known = [np.unique(column[~np.isnan(column)], return_counts=True) for column in X.T]
    columns = [j for j, one in enumerate(known) if _has_places(*one, j in nominal)]
    pairs, are_many = [], np.isin(columns, many)
    wanted = np.array([0, 0]) if are_many.all() else np.array([_SPARE, 0])
    for k in sorted(range(len(columns)), key=lambda k: len(known[columns[k]][0])):
        own = known[columns[k]][0].tolist()
        if LINE < len(own) <= most - len(pairs):
            pairs += [(k, value) for value in own]
            wanted[int(are_many[k])] += 2 * _n_classes(known[columns[k]][1])  # roughly estimated
    wanted[1] += _SPARE * are_many.all()
    n_held = sum([are_many[k] for k, _ in pairs])
    n_few = min(wanted[0], most - n_held)
    return {
        "n_places": min(n_few + wanted[1], most) if columns else 0,
        "n_few": int(n_few),
        "valued": np.array(columns, dtype=int),
        "are_many": are_many,
        "held": np.array([k for k, _ in pairs], dtype=int),
        "values": np.array([value for _, value in pairs], dtype=float),
    }


def _has_places(values, counts, is_nominal):
    """Tell whether a column has places: a measure that is mostly 0, say, has no values."""
    if is_nominal:
        return len(values) > AT_FIRST
    most, once = _OF_WHOLE if (values == np.floor(values)).all() else _OF_OTHERS
    return len(values) <= most and (counts == 1).sum() <= once * len(values)


def _n_classes(counts):
    """Return how many values there are, of which some have come so often, by Chao's estimator.

    A. Chao, "Nonparametric estimation of the number of classes in a population", Scandinavian
    Journal of Statistics 11, 1984.
    """
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    return len(counts) + once * (once - 1) // (2 * (twice + 1))


def start(layout):
    """Return the state before the first row; some values have a place already."""
    held, values, n_columns = layout["held"], layout["values"], len(layout["valued"])
    columns, numbers = np.full(layout["n_places"], _FREE), np.zeros(layout["n_places"])
    lows = np.array([low for low, _ in _rooms(layout)], dtype=int)[held]
    for low in np.unique(lows):
        which = lows == low
        places = slice(low, low + np.count_nonzero(which))
        columns[places], numbers[places] = held[which], values[which]
    return {
        "first": np.zeros((n_columns, LINE)),  # values of each column that have no place
        "n_values": np.bincount(held, minlength=n_columns),  # of each column that are known
        # of each place, in order
        "columns": columns,
        "values": numbers,
    }


def is_sound(state):
    """Tell whether the columns and counts of places, as of a file, can be theirs."""
    columns, counts = state["columns"], state["n_values"]
    n, n_places = len(counts), len(columns)
    return bool(
        state["first"].shape == (n, LINE)
        and state["values"].shape == columns.shape == (n_places,)
        and columns.dtype.kind == counts.dtype.kind == "i"
        and ((columns >= _FREE) & (columns < max(n, 1))).all()
        and (counts >= 0).all()
    )


def _rooms(layout):
    """Return between which places those of each column are: of many values behind all others."""
    n_few, n = layout["n_few"], layout["n_places"]
    return [(n_few, n) if is_many else (0, n_few) for is_many in layout["are_many"].tolist()]


def shown(layout, state, past, rows, n_known):
    """Return indicators (n, n_places) of rows (n, c), by the first n_known (n + 1,) of the past.

    A value that is new is shown in the place that it will have, of which nothing is known yet.
    Values are learnt of the past, up to the last of the numbers.
    """
    Z, low = np.zeros((len(rows), len(state["values"]))), 0
    places, past, rows, rooms = _places(state), past.tolist(), rows.tolist(), _rooms(layout)
    for i, high in enumerate(n_known.tolist()):
        for row in past[low:high]:
            for pair in enumerate(row):
                if pair not in places:
                    _learn(state, places, rooms[pair[0]], *pair)
        low = max(low, high)
        if i < len(rows):
            n_new = dict.fromkeys(rooms, 0)
            for room, pair in zip(rooms, enumerate(rows[i]), strict=True):
                known = places.get(pair, _NEW)
                place = _next_place(state, room, *pair, n_new[room]) if known is _NEW else known
                if place is not None:
                    Z[i, place] = UNIT
                    n_new[room] += known is _NEW
    return Z


def _places(state):
    """Return by column and value which place each has, None of the first ones."""
    counts, taken = state["n_values"].copy(), np.flatnonzero(state["columns"] != _FREE)
    columns, values = (state[name][taken].tolist() for name in ("columns", "values"))
    pairs = zip(columns, values, strict=True)
    known = dict(zip(pairs, taken.tolist(), strict=True))
    np.subtract.at(counts, columns, 1)
    for j in np.flatnonzero(counts).tolist():
        known |= dict.fromkeys([(j, value) for value in state["first"][j, : counts[j]].tolist()])
    return known


def _next_place(state, room, j, value, n_new=0):
    """Return the place that a new value will have, behind as many other new ones, None for none."""
    low, high = room
    place = low + int((state["columns"][low:high] != _FREE).sum()) + n_new
    has_one = state["n_values"].item(j) >= LINE and place < high and value != GAP
    return place if has_one else None


def _learn(state, places, room, j, value):
    """Know a value from now on, if there is room."""
    n, place = state["n_values"].item(j), _next_place(state, room, j, value)
    if n < LINE and value != GAP:
        state["first"][j, n] = value
    elif place is not None:
        state["columns"][place], state["values"][place] = j, value
    else:
        return
    places[j, value] = place
    state["n_values"][j] += 1
