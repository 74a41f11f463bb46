"""What comes in, held against what came before: series, columns and their index, as plain arrays.

The layout of a forecaster says what came in so far: how many series and columns, their names, which
columns are known ahead, and where in time the last row was. It is a dict of plain values, and of
the first rows, as long as their labels have yet to tell what the step is: where they tell another
one, all of them are learnt again.
"""

from typing import NamedTuple

import numpy as np

from .._sentences import counted
from . import _frames, _labels, _steps


class SeriesRows(NamedTuple):
    """Rows to learn, those that are missing in the index included.

    Attributes
    ----------
    y, ahead, now : ndarray of shape (n, ...)
        The series, the columns known ahead, and those known only up to now.
    calendar : ndarray of shape (n + horizon, c)
        Features of the times of these rows, and of those that follow.
    given : ndarray of int
        Which of the rows were given.
    """

    y: np.ndarray
    ahead: np.ndarray
    now: np.ndarray
    calendar: np.ndarray
    given: np.ndarray


def layout_of(series, X, known_ahead):
    """Return the layout of a forecaster that begins with some rows."""
    index, m = series.index, series.values.shape[1]
    time = None if index is None else _frames.time_of(index)
    is_told = index is None or _steps.given_step(index) is not None
    layout = {
        "n_series": m,
        "is_flat": series.is_flat,
        "names": series.names,
        "time": time,
        "cycles": _frames.cycles_of(time),
        "columns": None,
        "n_columns": 0,
        "ahead": [],
        "now": [],
    }
    if X is not None:
        shape = series.values.shape[: 1 if series.is_flat else 2]
        values, names = _frames.columns_of(X, shape)
        ahead = _places_ahead(known_ahead, values.shape[1], names)
        now = [k for k in range(values.shape[1]) if k not in ahead]
        layout |= {"columns": names, "n_columns": values.shape[1], "ahead": ahead, "now": now}
    return layout | {"first": None if is_told else _no_rows(m, layout["n_columns"])}


def _no_rows(n_series, n_columns):
    return {"labels": [], "y": np.empty((0, n_series)), "X": np.empty((0, n_columns))}


def told_anew(layout, series, X):
    """Return the layout, series and columns of all rows so far if they tell another step; or None.

    Raises
    ------
    ValueError
        If the rows do not continue what came before.
    """
    first, index = layout["first"], series.index
    if first is None or index is None or _frames.is_unlabelled(index, False):
        return None
    _check_series(layout, series)
    values = _columns(layout, X, len(series.values), index)
    _frames.check_after(layout["time"], index)
    labels = _frames.joined(layout["time"], first["labels"], index)
    time = _frames.time_of(labels, _steps.given_step(index))
    if time["step"] == layout["time"]["step"]:
        return None
    is_told = _steps.given_step(index) is not None
    no_rows = None if is_told else _no_rows(layout["n_series"], layout["n_columns"])
    layout = layout | {"time": time, "cycles": _frames.cycles_of(time), "first": no_rows}
    y = np.concatenate([first["y"], series.values])
    return layout, series._replace(values=y, index=labels), np.concatenate([first["X"], values])


def _places_ahead(known_ahead, n_columns, names):
    if isinstance(known_ahead, str):  # "all"
        return list(range(n_columns))
    places = []
    for name in known_ahead:
        if isinstance(name, (bool, np.bool_)):
            raise ValueError(
                f"known_ahead={known_ahead!r} is a mask: give the columns it marks, by their names "
                "or places, as numpy.flatnonzero does."
            )
        if names is not None and name in names:
            places.append(names.index(name))
        elif isinstance(name, (int, np.integer)) and 0 <= name < n_columns:
            places.append(int(name))
        else:
            raise ValueError(
                f"known_ahead has {name!r}, which is no column of X: "
                + (f"it has {names}." if names else f"it has the columns 0 to {n_columns - 1}.")
            )
    return sorted(set(places))


def n_of_one_step(layout, series):
    """Return how many rows come before the first label that tells another step than those before.

    A row is told by its own label, too; `layout` is None at a start.
    """
    index, n = series.index, len(series.values)
    is_start, labels = layout is None, index
    if index is None or _frames.is_unlabelled(index, is_start):
        return n
    if not is_start:
        if layout["first"] is None:
            return n
        _frames.check_after(layout["time"], index)
        labels = _frames.joined(layout["time"], layout["first"]["labels"], index)
    if _steps.given_step(index) is not None:
        return n
    n_before = len(labels) - n
    step = _steps.step_of(labels[: n_before + 1])
    for k in range(n_before + 2, min(len(labels), _steps.N_TELLING) + 1):
        if _steps.step_of(labels[:k]) != step:
            return k - 1 - n_before
    return n


def ahead_of(layout, X, X_future, horizon):
    """Return the columns known ahead (k, n_ahead), k <= horizon, of rows to come and of the next.

    X are the columns of those that are known already; None where none is known ahead.
    """
    if X is None or not layout["ahead"]:
        return None
    values = _frames.columns_of(X)[0][:, layout["ahead"]]
    future = future_of(layout | {"time": None}, X_future, horizon)
    return (values if future is None else np.concatenate([values, future]))[:horizon]


def rows_of(layout, series, X, horizon, is_start, max_gap):
    """Return the next rows, and the layout after them; `max_gap` rows in a row are filled in.

    Raises
    ------
    ValueError
        If they do not continue what came before.
    """
    _check_series(layout, series)
    values = _columns(layout, X, len(series.values), series.index)
    places, time = _places(layout, series, is_start)
    n = int(places[-1]) + 1
    gaps = places.copy()  # rows missing before each
    gaps[1:] -= places[:-1] + 1
    if (gaps > max_gap).any():
        k = int(np.flatnonzero(gaps > max_gap)[0])
        are = f"{counted(gaps[k], 'row')} {'is' if gaps[k] == 1 else 'are'}"
        what = f"There is a gap in time: {are} missing before {series.index[k]}."
        if not max_gap:
            raise ValueError(
                f"{what} Give them with NaN, or set gaps='fill', and they count as missing."
            )
        raise ValueError(
            f"{what} At most max_gap={max_gap} are filled in: after more of them little is known "
            "of the series, and the label may be wrong. Correct it, leave the row out, or set a "
            "larger 'max_gap'."
        )
    y = np.full((n, layout["n_series"]), np.nan)
    columns = np.full((n, layout["n_columns"]), np.nan)
    y[places], columns[places] = series.values, values
    calendar = np.zeros((n + horizon, 0))
    if time is not None:
        before, time = time, _moved(time, n)
        if layout["cycles"]:
            calendar = _calendar(layout["cycles"], before, n + horizon)
    rows = SeriesRows(y, columns[:, layout["ahead"]], columns[:, layout["now"]], calendar, places)
    return rows, layout | {"time": time, "first": _first(layout, series, values, is_start)}


def _first(layout, series, values, is_start):
    """Return the first rows with those that came; None where they no longer tell the step."""
    first, index = layout["first"], series.index
    if first is None or index is None or _frames.is_unlabelled(index, is_start):
        return None
    n = len(first["labels"]) + len(index)
    if n >= _steps.N_TELLING or (not is_start and _steps.given_step(index) is not None):
        return None
    return {
        "labels": [*first["labels"], *map(_frames.label_of, index)],
        "y": np.concatenate([first["y"], series.values]),
        "X": np.concatenate([first["X"], values]),
    }


def future_of(layout, X_future, horizon):
    """Return the columns known ahead (n, d) of the next rows, at most horizon; None as None."""
    n_ahead = len(layout["ahead"])
    if X_future is None:
        return None
    if not n_ahead:
        raise ValueError(
            "X_future was given, but no column is known ahead: "
            + ("known_ahead names none." if layout["n_columns"] else "no X has been learnt.")
        )
    values, names = _frames.columns_of(X_future)
    if not 1 <= len(values) <= horizon:
        raise ValueError(
            f"X_future has {counted(len(values), 'row')}, but horizon={horizon}: give the columns "
            "known ahead of the next rows, so many at most, NaN where a value is missing."
        )
    _frames.check_following(layout["time"], X_future)
    if names is not None and layout["columns"] is not None:
        wanted = [layout["columns"][k] for k in layout["ahead"]]
        missing = [name for name in wanted if name not in names]
        if missing:
            raise ValueError(f"X_future lacks the columns {missing}, which are known ahead.")
        return values[:, [names.index(name) for name in wanted]]
    if values.shape[1] == layout["n_columns"]:
        return values[:, layout["ahead"]]
    if values.shape[1] == n_ahead:
        return values
    raise ValueError(
        f"X_future has {counted(values.shape[1], 'column')}. Give all {layout['n_columns']} of X, "
        f"or only the {n_ahead} known ahead."
    )


def calendar_of(layout, horizon):
    """Return features of the times of the next rows (horizon, c)."""
    if not layout["cycles"]:
        return np.zeros((horizon, 0))
    return _calendar(layout["cycles"], layout["time"], horizon)


def _check_series(layout, series):
    n_series, n_before = series.values.shape[1], layout["n_series"]
    if n_series != n_before or series.is_flat != layout["is_flat"]:
        shapes = [
            "(n,)" if is_flat else f"(n, {m})"
            for is_flat, m in ((series.is_flat, n_series), (layout["is_flat"], n_before))
        ]
        raise ValueError(
            f"y has the shape {shapes[0]}, but the rows learnt had {shapes[1]}. The number of "
            "series cannot change: give NaN for one that has not begun or has ended, or call 'fit' "
            "to start afresh."
        )
    _labels.check_stranger(layout["time"], series.stranger, "y")
    names, known = (None if names == [None] else names for names in (series.names, layout["names"]))
    _frames.check_names("y", names, known, "series")


def _columns(layout, X, n, index):
    if X is None:
        if layout["n_columns"]:
            raise ValueError(
                f"X is missing: the rows learnt had {counted(layout['n_columns'], 'column')}. "
                "Give X with every row, NaN where a value is missing."
            )
        return np.empty((n, 0))
    values, names = _frames.columns_of(X)
    if values.shape[1] != layout["n_columns"]:
        raise ValueError(
            f"X has {counted(values.shape[1], 'column')}, but the rows learnt had "
            f"{layout['n_columns']}. Give the same columns with every row, or call 'fit' to start "
            "afresh."
        )
    _frames.check_names("X", names, layout["columns"])
    if len(values) != n:
        raise ValueError(
            f"X has {counted(len(values), 'row')}, but y has {n}. A row of X belongs to one of y."
        )
    if index is None:
        _labels.check_stranger(layout["time"], _labels.stranger_in(X, "X"), "X")
    other = getattr(X, "index", None)
    aligned = index is None or not hasattr(other, "get_indexer")
    if not aligned and not _frames.same_labels(index, other):
        raise ValueError("The indexes of y and X differ. Align the frames first.")
    return values


def _places(layout, series, is_start):
    """Return where rows come after those learnt (n,), from 0 on, and the time before them."""
    time, n = layout["time"], len(series.values)
    if time is None:
        return np.arange(n), None
    if is_start:
        time = _frames.before(series.index, time)
    elif series.index is None or _frames.is_unlabelled(series.index, is_start):
        return np.arange(n), None if time["step"] is None else time  # one date, and no other
    if time["step"] is None:  # one label, which tells none
        return np.arange(n), time
    return _frames.places(time, series.index) - 1, time


def _calendar(cycles, time, n):
    """Return features of the n rows after a time."""
    return _frames.calendar(_frames.continued(time, n), cycles)


def _moved(time, n):
    if time["step"] is None:
        return time
    return time | {"last": _frames.label_of(_frames.continued(time, n)[-1])}
