"""Rows as they are handed over, arrays or frames: their columns, and some of them exchanged."""

from __future__ import annotations

import numpy as np


def container_of_rows(X, name="X"):
    """Return rows as an array of two axes or a frame of pandas, or say what is wrong with them."""
    if hasattr(X, "iloc") and hasattr(X, "columns"):
        rows = X
    elif hasattr(X, "columns") or hasattr(X, "tocsr"):
        raise TypeError(
            f"{name} is a {type(X).__name__}, of which no rows can be made that have a column of "
            "another one. Give an array or a frame of pandas."
        )
    else:
        rows = np.asarray(X)
        if rows.ndim != 2:
            raise ValueError(
                f"{name} is to have rows and columns, but its shape is {rows.shape}. Give a single "
                "row as [row]."
            )
    if not len(rows):
        raise ValueError(f"{name} holds no rows. Give one at least.")
    return rows


def column_names(X):
    """Return the names (d,) of the columns: those of a frame, else x0, x1 and so on."""
    if hasattr(X, "iloc"):
        return [str(name) for name in X.columns]
    return [f"x{j}" for j in range(X.shape[1])]


def taken(X, places):
    """Return the rows at some places."""
    return X.iloc[places] if hasattr(X, "iloc") else X[places]


def column_of(X, j):
    """Return the values of column j."""
    return X.iloc[:, j].array if hasattr(X, "iloc") else X[:, j]


def exchanged(X, j, values):
    """Return rows in which column j has other values."""
    rows = X.copy()
    if hasattr(rows, "iloc"):
        rows[rows.columns[j]] = values
    else:
        rows[:, j] = values
    return rows


def stacked(parts):
    """Return rows of parts of one kind below each other."""
    if not hasattr(parts[0], "iloc"):
        return np.concatenate(parts)
    from pandas import concat

    return concat(parts, ignore_index=True)


def data_of(X, columns):
    """Return the values (n, p) of single columns; NaN for a player of several, or of none."""
    table = [
        np.asarray(column_of(X, mine[0])) if len(mine) == 1 else np.full(len(X), np.nan)
        for mine in columns
    ]
    is_number = all(column.dtype.kind in "fiub" for column in table)
    return np.column_stack([column.astype(float if is_number else object) for column in table])
