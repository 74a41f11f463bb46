"""How columns are shown to the experts: what their first rows ask for, and how wide that is.

A layout says which columns are categories, which of these have indicators, which columns have
their logarithms beside them, which columns of few values a tree sees, and whether gaps are shown;
and whether kernels see the latest targets, see `_order.py`. What is learnt of all this is in
`_encoding.py`.

Indicators of many categories, and logarithms, cost who has little to learn from them more rows than
they are worth at first. So only one line sees them from the start, and experts that are born later,
as far as those before depend on them. That line alone sees the values of numbers, see `_values.py`.
"""

import numpy as np

from . import _codes
from . import _steps as steps
from . import _tails as tails
from . import _values as values

FEW = 32  # categories of a column up to which each has an indicator
MOST = 64  # indicators in all
OTHERS = -2  # in place of a category: all those without an indicator
UNORDERED, MAYBE, ORDERED = range(3)  # whether rows have an order


def plain_layout(nominal, ordered=MAYBE):
    """Return how columns are shown before any row is known, of which some may be nominal."""
    return {
        "nominal": nominal,
        "at_first": nominal,  # and those of which no value was known, which may be numbers
        # column and category of each indicator
        "indicators": np.empty((0, 2), dtype=int),
        "tails": np.empty(0, dtype=int),  # columns with long tails
        "shifts": np.empty(0),  # and what is added to each before its logarithm is taken
        "few": np.empty(0, dtype=int),  # columns of few values, which a tree sees
        "gaps": False,  # whether a column says what a missing value says of the target
        "ordered": ordered,  # whether rows have an order, without which kernels see no lags
        **values.none(),
        **_codes.none(),
    }


def layout_of(nominal, X, ordered=MAYBE, most_values=0):
    """Return how columns are shown that have these rows in common."""
    found = []
    for j in nominal.tolist():
        codes = X[:, j]
        codes = np.unique(codes[~np.isnan(codes)]).astype(int).tolist()
        if 0 < len(codes) <= FEW:
            # beside the only one so far all others are what is none of it
            shown = [*codes, OTHERS] if len(codes) > 1 else codes
            found.append([(j, code) for code in shown])
    indicators, n = [], 0
    for pairs in sorted(found, key=len):
        if n + len(pairs) <= MOST:
            indicators += pairs
            n += len(pairs)
    few = steps.columns_of_few(X, nominal)
    long, shifts = tails.long_tailed(X, np.union1d(nominal, few))
    codes = _codes.found(X, nominal)
    many = codes["codes"][codes["many"], 0]
    return {
        "nominal": nominal,
        "at_first": np.union1d(nominal, np.flatnonzero(np.isnan(X).all(axis=0))),
        "indicators": np.array(indicators, dtype=int).reshape(-1, 2),
        "tails": long,
        "shifts": shifts,
        "few": few,
        "gaps": bool(np.isnan(np.delete(X, nominal, axis=1)).any()),
        "ordered": ordered,
        **values.found(X, nominal, many, most_values),
        **codes,
    }


def is_sound(layout):
    """Tell whether a layout, as from a file, may be one of these: nothing is divided by 0."""
    sized = (layout["tails"], layout["shifts"]), (layout["codes"][:, 0], layout["code_steps"])
    is_sized = all(one.shape == sizes.shape and (sizes > 0.0).all() for one, sizes in sized)
    n, held = layout["n_places"], layout["held"]
    is_sized = is_sized and held.shape == layout["values"].shape and len(held) <= n <= values.MOST
    are_held = ((held >= 0) & (held < len(layout["valued"]))).all()
    are_held = are_held and layout["are_many"].shape == layout["valued"].shape
    are_held = are_held and 0 <= layout["n_few"] <= n
    return is_sized and are_held and UNORDERED <= layout["ordered"] <= ORDERED


def is_same(layout, other):
    """Tell whether two layouts show the same."""
    names = "gaps", "ordered", "indicators", "tails", "few", "codes", "many", *values.none()
    return all(np.array_equal(layout[name], other[name]) for name in names)


def width_of(layout, n_columns):
    """Return how many columns a single target makes of rows."""
    n_beside = len(layout["indicators"]) + len(layout["tails"]) + layout["n_places"]
    return n_columns + n_beside + has_tree(layout) + layout["gaps"]


def seen_later(layout, n_columns):
    """Return the places of indicators and logarithms that most experts do not see at first.

    And of those indicators that the line which sees them does not: it sees places of values.
    """
    columns = layout["indicators"][:, 0]
    n_of_column = (columns[:, None] == columns).sum(axis=1)  # one of them for all others
    are_late = n_of_column > values.AT_FIRST + 1
    are_held = are_late & np.isin(columns, layout["valued"][layout["held"]])
    are_late = np.append(are_late, np.ones(len(layout["tails"]), dtype=bool))
    return n_columns + np.flatnonzero(are_late), n_columns + np.flatnonzero(are_held)


def has_tree(layout):
    """Tell whether a column is the forecast of a tree on columns of few values."""
    return len(layout["few"]) > 0


def mark_units(state):
    """Say in the state of a model of which columns that the experts see the unit may change.

    Of those that were numbers as they came: codes of categories, and what is made of them and of
    gaps, have none.
    """
    rows, layout = state["inputs"]["rows"], state["columns"]["layout"]
    places = np.arange(len(rows["have_units"]))
    is_number = places < state["latest"]["X"].shape[1]
    rows["have_units"] = is_number & ~np.isin(places, layout["nominal"])


def gaps_in_numbers(layout, X):
    """Return where numbers are missing (n, d); a missing category is a category."""
    is_gap = np.isnan(X)
    is_gap[:, layout["nominal"]] = False
    return is_gap
