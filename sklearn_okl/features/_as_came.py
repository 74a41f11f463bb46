"""Frames with categories and text, kept as numbers and handed on as they came.

A value is kept as its number in the order of first appearance, so that rows are arrays: they are
copied, stored and cut as any others. What is known of columns is a dict of plain values. Long text
is known again by its hash, and kept only while a row is kept that it is in.
"""

from itertools import count, islice

import numpy as np
from sklearn.utils import get_tags

from .._validation import NAMES, is_lazy, refuse_times, types_of
from ..base import described_structure
from ._columns import columns_of, distinct, names_of, numbers_of, remembered

NUMBERS, CATEGORIES, TEXT = "numbers", "categories", "text"
_CATEGORICAL = ("category", "categorical", "enum")  # how such types are called


class HandsOn:
    """Mixin for who hands frames of all kinds to others as they came, before its shell.

    A class says in `_handed_to` which estimators, not fitted, get the rows.
    """

    _frame = None  # what is known of columns, where there are categories or text

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = take_gaps(self._handed_to())
        return tags

    @property
    def _allow_nan(self):
        return self._frame is not None or take_gaps(self._handed_to())

    def _structure(self):
        return described_structure(self)

    def _validated_rows(self, X, y, restart, **validation):
        return validated_rows(self, super()._validated_rows, X, y, restart, **validation)

    def _asked(self, X):
        return asked(self, super()._asked, X)

    def _handed(self, state, X):
        """Return rows of numbers as they came."""
        return given_back(X, state.get("frame"))

    def _rows_kept(self, state):
        """Return the rows (n, d) that a state keeps, to be handed on later."""
        return np.empty((0, self.n_features_in_))

    def _look_back(self, state, X, y, forecasts):
        super()._look_back(state, X, y, forecasts)
        look_back(self, state)

    def _row_work(self):
        refuse_row_path(self)
        return super()._row_work()


def take_gaps(estimators):
    """Tell whether all of some estimators, of anybody's, take NaN."""
    return all(
        hasattr(part, "__sklearn_tags__") and get_tags(part).input_tags.allow_nan
        for part in estimators
    )


def refuse_row_path(estimator):
    """Refuse rows of plain numbers for one that was taught frames of other kinds."""
    if estimator._frame is not None:
        raise TypeError(
            f"This {type(estimator).__name__} was taught frames with categories or text, and rows "
            "of a row path are plain numbers: teach it by 'partial_fit', or give RowRegressor rows "
            "as dicts."
        )


def validated_rows(estimator, plain, X, y, restart, **validation):
    """Return rows as numbers, and targets; write what is known of the columns.

    Parameters
    ----------
    estimator : estimator
        It has an attribute `_frame`, None for rows of numbers only.
    plain : callable
        Validates rows of numbers, as ``_validated_rows`` of its shell does.
    X, y, restart, **validation
        What `plain` gets.
    """
    known = begin(X) if restart or estimator._frame is None else estimator._frame
    if known is not None and estimator._frame is None and not restart:
        raise ValueError(
            "X has columns of categories or text now, and had numbers only before. Give columns "
            "the types of the first call, or call 'fit' to start afresh."
        )
    estimator._frame = known
    if known is None:
        return plain(X, y, restart, **validation)
    Z, estimator._frame = read(estimator, X, known, restart)
    names = {name: vars(estimator).pop(name) for name in NAMES if name in vars(estimator)}
    rows = plain(Z, y, restart, **validation)
    vars(estimator).update(names)
    return rows


def look_back(estimator, state):
    """Let long text go that is in no row which the state of an estimator keeps.

    The first one stays: a model from a file is tried with text that it knows.
    """
    known = estimator._frame
    if known is None or not any(known["texts"]):
        return
    texts, rows = list(known["texts"]), estimator._rows_kept(state)
    for j, own in enumerate(texts):
        if len(own) > 2 * len(rows) + 1:  # not in each call: all rows that are kept are read
            kept = {min(own), *rows[:, j].tolist()}
            texts[j] = {code: text for code, text in own.items() if code in kept}
    estimator._frame = state["frame"] = known | {"texts": tuple(texts)}


def asked(estimator, plain, X):
    """Return the state, which knows the columns, and rows to forecast for as numbers."""
    if not estimator.__sklearn_is_fitted__() or estimator._frame is None:
        return plain(X)
    known, state = estimator._frame, estimator._state
    Z, known = read(estimator, X, known, False)
    estimator._check_structure()
    return state | {"frame": known}, Z


def begin(X):
    """Return what is known of the columns of a frame before its rows; None for numbers only."""
    if is_lazy(X) or not hasattr(X, "shape"):
        return None
    columns = types_of(X)
    kinds = [_kind(label, kind, X) for label, kind in columns]
    if not set(kinds) & {CATEGORIES, TEXT}:
        return None
    return {
        "kinds": tuple(kinds),
        "names": tuple(label for label, _ in columns),
        "values": ((),) * len(kinds),
        "texts": tuple({} for _ in kinds),  # by number, of long ones; values have their hashes
        "container": type(X).__module__.partition(".")[0],
    }


def read(estimator, X, known, start):
    """Return rows as numbers (n, d), NaN where a value is missing, and what is known after them."""
    columns = columns_of(estimator, X, reset=start)
    rows, values, texts = [], list(known["values"]), list(known["texts"])
    for j, (column, name) in enumerate(zip(columns, names_of(estimator), strict=True)):
        if known["kinds"][j] == NUMBERS:
            rows.append(numbers_of(column, name).astype(np.float64))
            continue
        found, places = distinct(column, name)
        codes = {value: code for code, value in enumerate(values[j])}
        keys = list(map(remembered, found))
        own = [np.nan if key is None else codes.setdefault(key, len(codes)) for key in keys]
        texts[j] = texts[j] | {
            code: value
            for code, value, key in zip(own, found, keys, strict=True)
            if isinstance(key, bytes)
        }
        rows.append(np.array(own, dtype=np.float64)[places])
        values[j] = tuple(codes)
    rows = np.stack(rows, axis=1)
    if np.isinf(rows).any():
        raise ValueError("Input X contains infinity. Leave such values out as missing.")
    return rows, known | {"values": tuple(values), "texts": tuple(texts)}


def given_back(X, known):
    """Return rows of numbers (n, d) as the frame that they came in; as they are without one."""
    if known is None:
        return X
    columns = {}
    parts = known["names"], known["kinds"], known["values"], known["texts"]
    for name, kind, values, texts, column in zip(*parts, X.T, strict=True):
        if kind == NUMBERS:
            columns[name] = column.copy()
            continue
        missing = np.isnan(column)
        codes = np.where(missing, -1, column).astype(np.intp)
        # those of later rows are nobody's business: the cut of the stream must not matter
        values = [_shown(*one, texts) for one in enumerate(values[: codes.max(initial=-1) + 1])]
        columns[name] = kind, codes, np.array([*values, None], dtype=object)
    make = _of_polars if known["container"] == "polars" else _of_pandas
    return make(columns)


def _shown(code, value, texts):
    """Return a value as it came; long text that is in no row, as one of categories, as its hash."""
    return texts.get(code, value.hex()) if isinstance(value, bytes) else value


def beside(known, name, n):
    """Return what is known of columns and of n more of numbers, called `name` and a number."""
    if known is None:
        return None
    taken = known["names"]
    by_name = all(isinstance(label, str) for label in taken)
    labels = (f"{name}{i}" if by_name else i for i in count())
    return known | {
        "kinds": (*known["kinds"], *[NUMBERS] * n),
        "names": (*taken, *islice((label for label in labels if label not in taken), n)),
        "values": (*known["values"], *[()] * n),
        "texts": (*known["texts"], *[{}] * n),
    }


def _of_pandas(columns):
    import pandas as pd

    def made(column):
        if not isinstance(column, tuple):
            return column
        kind, codes, values = column
        if kind == TEXT:
            return pd.Series(values[codes], dtype=object)
        return pd.Categorical.from_codes(codes, categories=values[:-1].tolist())

    return pd.DataFrame({name: made(column) for name, column in columns.items()})


def _of_polars(columns):
    import polars as pl

    def made(name, column):
        if not isinstance(column, tuple):
            return pl.Series(name, column).fill_nan(None)
        kind, codes, values = column
        text = pl.Series(name, values[codes].tolist())
        return text if kind == TEXT else text.cast(pl.String).cast(pl.Categorical)

    return pl.DataFrame([made(name, column) for name, column in columns.items()])


def _kind(label, kind, X):
    """Return what a column holds, by its type, and by its values where that says nothing."""
    named = str(getattr(kind, "name", kind)).lower()
    if named.startswith(_CATEGORICAL) or type(kind).__name__.lower() in _CATEGORICAL:
        return CATEGORIES
    said = "are not handed on: put CalendarFeatures in front, or leave it out."
    refuse_times(kind, f"Column {label!r} of X", said)
    is_text = type(kind).__name__ in ("String", "Utf8", "StringDtype") or (
        getattr(kind, "kind", "") == "O" and any(isinstance(value, str) for value in X[label])
    )
    return TEXT if is_text else NUMBERS
