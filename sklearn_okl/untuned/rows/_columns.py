"""Columns of all kinds as numbers: a category is its number in the order of first appearance.

Kinds are known from the first call on. Numbers of categories name them and say nothing else, so it
does not matter when they are given; what is learnt of them is in `_encoding.py`.
"""

from datetime import date
from itertools import pairwise
from math import isinf
from numbers import Real

import numpy as np
from sklearn.utils import assert_all_finite

from ..._linalg import any_of
from ..._validation import NAMES, is_lazy, with_nan
from ...features._calendar import CalendarFeatures, _wall_time
from ...features._columns import (
    columns_of,
    distinct,
    hashed,
    is_missing,
    kind_of,
    names_of,
    numbers_of,
    remembered,
)

NUMBERS, CATEGORIES, DATES = "numbers", "categories", "dates"
N_OWN = 1024  # categories of a column that have a number of their own
N_SHARED = 64  # and numbers that all others share
UNKNOWN = -1  # in place of the number of a category that no row has shown
_OF_INPUTS = "n_features_in_", *NAMES
_CATEGORICAL = ("category", "categorical", "enum", "dictionary")  # how such types are called


def is_plain(X, categorical_features):
    """Tell whether rows are numbers that need no look at their columns."""
    declared = categorical_features is not None and not isinstance(categorical_features, str)
    if declared:
        return False
    if is_lazy(X) or not _is_frame(X) or categorical_features is None:
        return True
    return all(map(_is_numeric, _types(X)))


def begin(estimator, X):
    """Return what is known of columns before the first rows, whose number and names are written."""
    columns = columns_of(estimator, X, reset=True)
    declared = _declared(estimator, estimator.categorical_features)
    kinds = [CATEGORIES if j in declared else None for j in range(len(columns))]
    return {
        "kinds": tuple(kinds),
        "values": (None,) * len(kinds),  # of which kind the categories are: text or numbers
        "categories": ((),) * len(kinds),
        "empty": (),  # columns of numbers of which no value has been learnt
    }


def all_numbers(n_columns):
    """Return what is known of columns of numbers."""
    nothing = (None,) * n_columns
    return {
        "kinds": (NUMBERS,) * n_columns,
        "values": nothing,
        "categories": ((),) * n_columns,
        "empty": (),
    }


def read(estimator, X, known, start=False):
    """Return rows as numbers (n, d'), and what is known of the columns after them.

    A number that is missing, and a category before the first one, is NaN. Dates take six columns.
    """
    columns, names = columns_of(estimator, X, reset=False), names_of(estimator)
    kinds, values, categories = (list(known[name]) for name in ("kinds", "values", "categories"))
    was_unknown = np.array([kind is None for kind in kinds])
    looks = estimator.categorical_features is not None
    parts = []
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        given, column = column, marked(column, estimator.missing_values)
        now = kinds[j] or _kind(given if _is_categorical(_type(given)) else column, looks)
        if now == DATES and kinds[j] is None and not start:
            raise ValueError(
                f"Column {name!r} was empty in the first call, and now it holds dates, which take "
                "more than one column: start with rows that show them, or put CalendarFeatures in "
                "front."
            )
        kinds[j] = now
        if now == CATEGORIES:
            codes, values[j], categories[j] = _codes(column, name, values[j], categories[j], j)
            parts.append(codes[:, None])
        elif now == DATES:
            parts.append(_calendar(column, name))
        elif now == NUMBERS:
            parts.append(_numbers(column, name)[:, None])
        else:
            parts.append(np.full((len(column), 1), np.nan))
    rows = np.hstack(parts)
    assert_all_finite(rows, allow_nan=True, estimator_name=type(estimator).__name__, input_name="X")
    known = known | {
        "kinds": tuple(kinds),
        "values": tuple(values),
        "categories": tuple(categories),
    }
    is_new = was_unknown & np.array([kind == NUMBERS for kind in kinds])
    is_empty = np.repeat(is_new, widths(known))
    if start:
        is_empty &= np.isnan(rows[0])
    empty = known["empty"] + tuple(np.flatnonzero(is_empty).tolist())
    return rows, known | {"empty": empty}


def stretches(known, X):
    """Yield slices of rows (n, d), and what is known of the columns when each is learnt.

    A stretch ends before the first value of a column of numbers. Until then it may be one of
    categories: what later rows of a call say of its kind, nobody knows who has them one by one.
    """
    has_value = ~np.isnan(X[:, list(known["empty"])])
    first = np.where(has_value.any(axis=0), has_value.argmax(axis=0), len(X))
    for low, high in pairwise(sorted({0, len(X), *first.tolist()})):
        yield slice(low, high), after(known, X[: low + 1])


def after(known, X):
    """Return what is known of the columns once rows (n, d) are learnt."""
    is_empty = [j for j in known["empty"] if np.isnan(X[:, j]).all()]
    return known | {"empty": tuple(is_empty)}


def asked(estimator, X, known):
    """Return rows to forecast for as numbers: a category not yet seen is `UNKNOWN`."""
    # a column of unknown kind stays so: it has taught nothing
    kinds = [kind or NUMBERS for kind in known["kinds"]]
    columns, names = columns_of(estimator, X, reset=False), names_of(estimator)
    parts = []
    for j, (column, name) in enumerate(zip(columns, names, strict=True)):
        column = marked(column, estimator.missing_values)
        if known["kinds"][j] is None:
            parts.append(np.full((len(column), 1), np.nan))
        elif kinds[j] == CATEGORIES:
            seen = known["categories"][j]
            codes, _, now = _codes(column, name, known["values"][j], seen, j)
            is_new = (codes >= len(seen)) & (codes < len(now))
            parts.append(np.where(is_new, UNKNOWN, codes)[:, None])
        elif kinds[j] == DATES:
            parts.append(_calendar(column, name))
        else:
            parts.append(_numbers(column, name)[:, None])
    rows = np.hstack(parts)
    assert_all_finite(rows, allow_nan=True, estimator_name=type(estimator).__name__, input_name="X")
    return rows


def put_aside(y):
    """Return targets with 0 for those that are missing, and which are (None if none is)."""
    if type(y) is np.ndarray and y.dtype == np.float64 and not any_of(np.isnan(y)):
        return y, None
    values = np.asarray(with_nan(y))
    try:
        missing = np.isnan(values.astype(np.float64)) if values.dtype.kind in "fO" else None
    except (TypeError, ValueError):
        missing = None
    if missing is None or values.ndim not in (1, 2) or not missing.any():
        return y, None  # or the shell says what is wrong with it
    of_rows = missing.reshape(len(values), -1)
    in_part = of_rows.any(axis=1) & ~of_rows.all(axis=1)
    if in_part.any():
        raise ValueError(
            f"Row {in_part.argmax()} of y has some of its targets, and others are missing. Give "
            "all targets of a row, or NaN for each of them: such a row is forecast and not learnt."
        )
    return np.where(missing, 0.0, values.astype(np.float64)), missing


def said_missing(missing):
    """Return the numbers and texts that are said to stand for no value, or refuse others."""
    said = np.asarray(missing, dtype=object).ravel().tolist()
    if not all(value is None or isinstance(value, (str, Real)) for value in said):
        raise TypeError(
            f"missing_values={missing!r} holds what is neither number nor text: give these, or a "
            "list of them."
        )
    numbers = [value for value in said if isinstance(value, Real)]
    if any(map(isinf, numbers)):
        raise ValueError(
            f"missing_values={missing!r} holds infinity, which no row may hold: put NaN there."
        )
    return set(said), numbers


def marked(values, missing):
    """Return a column, or an array of numbers, with NaN or None for what is said to be missing."""
    if missing is None:
        return values
    said, numbers = said_missing(missing)
    array = np.asarray(values)
    if array.dtype.kind in "fiub":
        if array.dtype.kind == "f":  # in rows of float32 it was another number
            numbers += [float(np.float32(value)) for value in numbers]
        hits = np.isin(array, numbers)
        return np.where(hits, np.nan, array) if hits.any() else values
    if array.dtype.kind not in "OUT":
        return values  # dates
    hits = [isinstance(value, (str, Real)) and value in said for value in array.tolist()]
    if not any(hits):
        return values
    array = array.astype(object)
    array[hits] = None
    return array


def nominal(known):
    """Return which columns of numbers are those of categories, or may yet become so."""
    may_be = np.repeat([kind in (CATEGORIES, None) for kind in known["kinds"]], widths(known))
    may_be[list(known["empty"])] = True
    return np.flatnonzero(may_be)


def widths(known):
    """Return of how many columns of numbers each column becomes."""
    return [6 if kind == DATES else 1 for kind in known["kinds"]]


def names_put_aside(estimator, width):
    """Let rows as numbers be what an estimator expects; return what it expected before."""
    named = {name: vars(estimator).pop(name) for name in _OF_INPUTS if name in vars(estimator)}
    estimator.n_features_in_ = width
    return named


def names_put_back(estimator, named):
    """Let an estimator expect what it did before."""
    for name in _OF_INPUTS:
        vars(estimator).pop(name, None)
    vars(estimator).update(named)


def _codes(column, name, kind, known, j):
    """Return numbers (n,) of categories, NaN for missing ones, and what is known of them now."""
    values, places = distinct(column, name)
    for now in filter(None, map(kind_of, values)):
        kind = kind or now
        if now != kind:
            raise _other_kind(name, f"categories that are {kind}", now)
    own = {remembered(value): code for code, value in enumerate(known)}
    codes = []
    for value in values:
        kept = remembered(value)
        if value is not None and kept not in own and len(own) < N_OWN:
            own[kept] = len(own)
        shared = N_OWN + hashed(value, j, N_SHARED) if kept not in own else None
        codes.append(np.nan if value is None else own.get(kept, shared))
    return np.array(codes, dtype=np.float64)[places], kind, tuple(own)


def _numbers(column, name):
    """Return a column as floats, NaN where a value is missing; anything but numbers is an error."""
    array = np.asarray(column)
    if array.dtype.kind in "fiub" and array.ndim == 1:
        return array.astype(np.float64)
    for value in array.tolist():
        if isinstance(value, str):
            raise _other_kind(name, NUMBERS, "text")
        if isinstance(value, date) and not is_missing(value):
            raise _other_kind(name, NUMBERS, DATES)
    return numbers_of(column, name).astype(np.float64)


def _calendar(column, name):
    """Return the features of dates, (n, 6)."""
    try:
        times = _wall_time(column, name)
    except TypeError:
        raise _other_kind(name, DATES, "another kind") from None
    return CalendarFeatures().transform(times[:, None])


def _other_kind(name, before, now):
    return ValueError(
        f"Column {name!r} was of {before}, and now it is of {now}: a column is of one kind "
        "throughout, that of its first value. Give all its values in that kind, or call 'fit' to "
        "start afresh."
    )


def _kind(column, looks):
    """Return the kind of a column by its type, and by its values where the type says nothing."""
    if _is_categorical(_type(column)):
        return CATEGORIES
    array = np.asarray(column)
    if array.dtype.kind == "M":
        return DATES
    if array.dtype.kind in "iub":
        return NUMBERS
    if array.dtype.kind == "f":  # of missing values only, it may be of any kind
        return None if np.isnan(array).all() else NUMBERS
    for value in array.tolist():
        if isinstance(value, str):
            return CATEGORIES if looks else NUMBERS  # which is an error later
        if isinstance(value, date):
            return DATES
        if not is_missing(value):
            return NUMBERS
    return None


def _declared(estimator, categorical_features):
    """Return the indices of the columns that are declared to be categories."""
    if categorical_features is None or isinstance(categorical_features, str):
        return set()
    given, d = np.asarray(categorical_features), estimator.n_features_in_
    if given.shape == (0,):
        return set()
    if given.ndim != 1 or given.dtype.kind not in "biuOUT":
        raise TypeError(_WRONG.format(categorical_features))
    if given.dtype.kind == "b":
        if len(given) != d:
            raise ValueError(
                f"categorical_features is a mask of {len(given)} entries, but X has {d} columns."
            )
        return set(np.flatnonzero(given).tolist())
    if given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= d:
            raise ValueError(
                f"categorical_features={categorical_features!r} names columns that X does not "
                f"have: their numbers go from 0 to {d - 1}."
            )
        return set(given.tolist())
    if not all(isinstance(name, str) for name in given.tolist()):
        raise TypeError(_WRONG.format(categorical_features))
    names = list(getattr(estimator, "feature_names_in_", []))
    unknown = [name for name in given.tolist() if name not in names]
    if unknown:
        known = f"its columns are {names}" if names else "it has no names: give indices"
        raise ValueError(f"categorical_features names {unknown}, which X does not have; {known}.")
    return {names.index(name) for name in given.tolist()}


_WRONG = (
    "categorical_features={!r} must be 'from_dtype', None, or an array of booleans, of indices or "
    "of names."
)


def _is_frame(X):
    return hasattr(X, "columns") and hasattr(X, "shape")


def _types(X):
    """Return the types of the columns of a frame of pandas, polars or pyarrow."""
    if hasattr(X, "dtypes"):
        return list(X.dtypes)
    return list(X.schema.types)


def _type(column):
    return getattr(column, "dtype", getattr(column, "type", None))


def _is_categorical(kind):
    """Tell whether a type of pandas, polars or pyarrow is one of categories."""
    name = str(getattr(kind, "name", kind)).lower()
    return name.startswith(_CATEGORICAL) or type(kind).__name__.lower() in _CATEGORICAL


def _is_numeric(kind):
    """Tell whether a type of pandas, polars, pyarrow or NumPy is one of numbers or booleans."""
    if _is_categorical(kind):
        return False
    if hasattr(kind, "is_numeric"):  # of polars
        return kind.is_numeric() or str(kind) == "Boolean"
    return getattr(kind, "kind", "O") in "fiub"
