"""Frames with categories and text, kept as numbers and handed on as they came.

A value is kept as its number in the order of first appearance, so that rows are arrays: they are
copied, stored and cut as any others. What is known of columns is a dict of plain values.
"""

import numpy as np

from .._validation import holds_dates, is_lazy, types_of
from ._columns import columns_of, distinct, names_of, numbers_of

NUMBERS, CATEGORIES, TEXT = "numbers", "categories", "text"
_CATEGORICAL = ("category", "categorical", "enum")  # how such types are called


class AsTheyCame:
    """Estimators that hand rows on, above the shell of their kind.

    What they hand on is ``self._handed(state, X)``, of rows X (n, d) as numbers; the state knows
    the columns by its entry "frame", None for rows of numbers, which `_learn` is to set.
    """

    _frame = None

    def _validated_rows(self, X, y, restart, **validation):
        if restart:
            self._frame = begin(X)
        elif self._frame is None and begin(X) is not None:
            raise ValueError(
                "X has columns of categories or text now, and had numbers only before. Give "
                "columns the types of the first call, or call 'fit' to start afresh."
            )
        if self._frame is None:
            return super()._validated_rows(X, y, restart, **validation)
        Z, self._frame = read(self, X, self._frame, restart)
        names = vars(self).pop("feature_names_in_", None)
        rows = super()._validated_rows(Z, y, restart, **validation)
        if names is not None:
            self.feature_names_in_ = names
        return rows

    def _asked(self, X):
        if not self.__sklearn_is_fitted__() or self._frame is None:
            return super()._asked(X)
        frame, state = self._frame, self._state
        Z, frame = read(self, X, frame, False)
        self._check_structure()
        return state | {"frame": frame}, Z

    def _handed(self, state, X):
        """Return rows as they came."""
        return given_back(X, state.get("frame"))


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
        "container": type(X).__module__.partition(".")[0],
    }


def read(estimator, X, known, start):
    """Return rows as numbers (n, d), NaN where a value is missing, and what is known after them."""
    columns = columns_of(estimator, X, reset=start)
    rows, values = [], list(known["values"])
    for j, (column, name) in enumerate(zip(columns, names_of(estimator), strict=True)):
        if known["kinds"][j] == NUMBERS:
            rows.append(numbers_of(column, name).astype(np.float64))
            continue
        found, places = distinct(column, name)
        codes = {value: code for code, value in enumerate(values[j])}
        own = [np.nan if value is None else codes.setdefault(value, len(codes)) for value in found]
        rows.append(np.array(own, dtype=np.float64)[places])
        values[j] = tuple(codes)
    rows = np.stack(rows, axis=1)
    if np.isinf(rows).any():
        raise ValueError("Input X contains infinity. Leave such values out as missing.")
    return rows, known | {"values": tuple(values)}


def given_back(X, known):
    """Return rows of numbers (n, d) as the frame that they came in; as they are without one."""
    if known is None:
        return X
    columns = {}
    for name, kind, values, column in zip(
        known["names"], known["kinds"], known["values"], X.T, strict=True
    ):
        if kind == NUMBERS:
            columns[name] = column.copy()
            continue
        missing = np.isnan(column)
        codes = np.where(missing, -1, column).astype(np.intp)
        # those of later rows are nobody's business: the cut of the stream must not matter
        values = np.array([*values[: codes.max(initial=-1) + 1], None], dtype=object)
        columns[name] = kind, codes, values
    make = _of_polars if known["container"] == "polars" else _of_pandas
    return make(columns)


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
    if holds_dates(kind):
        raise TypeError(
            f"Column {label!r} of X holds dates, which are not handed on: put CalendarFeatures in "
            "front, or leave it out."
        )
    is_text = type(kind).__name__ in ("String", "Utf8", "StringDtype") or (
        getattr(kind, "kind", "") == "O" and any(isinstance(value, str) for value in X[label])
    )
    return TEXT if is_text else NUMBERS
