"""Which key a row belongs to: columns of the rows, or values beside them."""

from datetime import date, timedelta
from math import isfinite
from numbers import Integral, Real

import numpy as np
from scipy import sparse

from .._validation import holds_dates

_KINDS = {str: "text", bool: "a number", int: "a number", float: "a number"}


class Keys:
    """The keys of rows, and the rows without them.

    Parameters
    ----------
    key : None, str, int, or list of these
        Names or places of the columns that hold the keys; None: there are none among the columns.
    """

    def __init__(self, key):
        self.columns = [] if key is None else list(key) if isinstance(key, (list, tuple)) else [key]
        self.are_several = isinstance(key, (list, tuple)) and len(key) > 1

    def split(self, X, keys=None):
        """Return the keys of rows as a list, or None where there are none, and the other columns.

        Raises
        ------
        TypeError, ValueError
            If keys are missing, are neither text nor numbers, or come from two sides.
        """
        if keys is not None and self.columns:
            raise ValueError(
                "Keys come by keys= and by the columns that 'key' names: give one of the two, "
                "key=None where they come by keys=."
            )
        n = X.shape[0] if len(X.shape) else 0
        if keys is not None:
            return _joined(_columns_of(keys, n), n), X
        if not self.columns:
            return None, X
        if len(X.shape) != 2:
            raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead.")
        places = [_place(X, column) for column in self.columns]
        if len(set(places)) < len(places):
            raise ValueError(f"key={self.columns} names a column twice. Name each once.")
        found = [
            values_of(_column(X, place), f"Column {name!r}")
            for place, name in zip(places, self.columns, strict=True)
        ]
        return _joined(found, n), _others(X, places)

    def names_beside(self, model):
        """Return the names of a model's columns that hold no keys; None where it knows none."""
        names = getattr(model, "feature_names_in_", None)
        if names is None:
            return None
        mine = {name if isinstance(name, str) else names[name] for name in self.columns}
        return np.array([name for name in names if name not in mine], dtype=object)


def refuse_other_kinds(keys, kinds):
    """Refuse keys of another type than those before: 7 and "7" would be two models in silence."""
    first = keys[0]
    columns = zip(*keys, strict=False) if type(first) is tuple else [keys]
    mine = [{_KINDS[kind] for kind in set(map(type, column))} for column in columns]
    if len(mine) != len(kinds):
        raise ValueError(
            f"The number of columns of keys, such as {first!r}, is {len(mine)}, and was "
            f"{len(kinds)} before. Give as many in each call."
        )
    if mine != [{kind} for kind in kinds]:
        found = " and ".join(" or ".join(sorted(kind)) for kind in mine)
        raise TypeError(
            f"The keys, such as {first!r}, are {found}, and those before were "
            f"{' and '.join(kinds)}: 7 and '7' would have two models. Give keys of one type."
        )


def kinds_of(key):
    """Return what a key is made of, in words."""
    return tuple(_KINDS[type(part)] for part in (key if type(key) is tuple else (key,)))


def are_kinds(kinds, keys):
    """Tell whether kinds are such, and those of some keys; () where there is one model, of None."""
    if kinds == ():
        return all(key is None for key in keys)
    named = isinstance(kinds, tuple) and all(kind in _KINDS.values() for kind in kinds)
    return named and all(key is not None and kinds_of(key) == kinds for key in keys)


def _place(X, column):
    """Return the place of a column among those of X."""
    width = X.shape[1]
    if isinstance(column, str):
        names = list(getattr(X, "columns", ()))
        if column not in names:
            raise ValueError(
                f"X has no column {column!r}, which 'key' names"
                + (
                    f"; it has {names}."
                    if names
                    else ": an array has none with names. Give its place."
                )
            )
        return names.index(column)
    if not -width <= column < width:
        raise ValueError(f"X has {width} columns, and 'key' names that at place {column}.")
    return column % width


def _column(X, place):
    if hasattr(X, "iloc"):
        return X.iloc[:, place]
    if hasattr(X, "columns"):  # polars
        return X[:, place]
    return X[:, [place]].toarray()[:, 0] if sparse.issparse(X) else X[:, place]


def _others(X, places):
    if X.shape[1] == len(places):
        raise ValueError("Besides the keys X has no columns: there is nothing to learn from.")
    others = [place for place in range(X.shape[1]) if place not in places]
    if hasattr(X, "iloc"):
        return X.iloc[:, others]
    return X[:, others]


def _columns_of(keys, n):
    """Return what keys= holds, a list of values a column."""
    is_one = not getattr(keys, "shape", hasattr(keys, "__len__"))
    if isinstance(keys, (str, bytes)) or is_one:
        raise TypeError(f"keys={keys!r} is one value: give a list or an array, one for each row.")
    if hasattr(keys, "columns"):
        columns = [_column(keys, place) for place in range(keys.shape[1])]
    elif hasattr(keys, "dtype") and getattr(keys, "ndim", 1) == 2:
        columns = list(np.asarray(keys).T)
    else:
        columns = _parts_of(keys)
    if len(keys) != n:
        raise ValueError(f"There are {len(keys)} keys for {n} rows. Give one for each row.")
    if not columns:
        raise ValueError("The keys in keys= have no columns. Give each a value, or several.")
    return [values_of(column, "keys=") for column in columns]


def _parts_of(keys):
    """Return the columns of keys one after another: those that have parts are one a column each."""
    if not _has_parts(next(iter(keys), None)):
        return [keys]
    found = list(keys)
    if len({len(key) if _has_parts(key) else 0 for key in found}) > 1:
        raise ValueError("The keys in keys= have different lengths. Give each as many parts.")
    return [list(part) for part in zip(*found, strict=True)]


def _has_parts(key):
    return isinstance(key, (tuple, list)) or len(getattr(key, "shape", ())) == 1


def values_of(column, where):
    """Return the values of a column as plain objects that can be keys."""
    kind = getattr(column, "dtype", None)
    if holds_dates(kind):
        raise TypeError(f"{where} holds {_TIMES}")
    if isinstance(column, (list, tuple)):
        values = list(column)
        if not set(map(type, values)) <= _KINDS.keys():
            values = [value.item() if isinstance(value, np.generic) else value for value in values]
    elif hasattr(column, "to_list"):  # pandas, polars
        values = column.to_list()
    else:
        values = np.asarray(column).tolist()
    kinds = set(map(type, values))
    for value in kinds - _KINDS.keys():
        missing = value is type(None) or value.__name__ in ("NAType", "NaTType")
        if missing:
            raise ValueError(f"{where} holds a key that is missing (None). {_ADVICE}")
        if issubclass(value, (date, timedelta)):
            raise TypeError(f"{where} holds {_TIMES}")
        if not issubclass(value, (str, Integral, Real)):
            raise TypeError(f"{where} holds a {value.__name__}. Keys are text or numbers.")
        plain = str if issubclass(value, str) else int if issubclass(value, Integral) else float
        values = [plain(one) if type(one) is value else one for one in values]
    if kinds <= {str, int, bool}:
        return values
    if any(type(value) is float and not isfinite(value) for value in values):
        raise ValueError(f"{where} holds a key that is missing (NaN) or infinite. {_ADVICE}")
    return values


_TIMES = "dates or durations, which are no keys. Give them as text."
_ADVICE = "Leave such rows out, or give them a key of their own."


def _joined(columns, n):
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True)) if n else []
