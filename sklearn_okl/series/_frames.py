"""What series come in and go out as: arrays, or frames with an index that forecasts continue.

pandas is imported only where a frame of pandas came in. What is kept of an index is plain: its
kind, its last label, its step, its time zone, and the unit of its dates.
"""

from datetime import timezone
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.sparse import issparse

from .._prediction_frames import interval_frame
from .._validation import holds_dates, is_lazy, types_of
from ..features import CalendarFeatures
from ._labels import (
    as_known,
    check_order,
    check_stranger,
    index_in,
    kind_of,
    stranger_in,
    wall_times,
)
from ._steps import OF_MONTHS, offset_of, step_of

_HARMONICS = {"hour_of_day": 3, "day_of_week": 2, "day_of_year": 2}
_LENGTHS = {"hour_of_day": 86400.0, "day_of_week": 7 * 86400.0, "day_of_year": 365.25 * 86400.0}
_FEWEST, _MOST = 2.0, 2000.0  # rows in a cycle that the calendar gives features of
_MOST_LABELS = 2**24  # that are gone through in search of one
_N_USUAL = 26  # labels by which a step is measured: five weeks of business days
UNITS = {"dates": ("s", "ms", "us", "ns"), "periods": (None,), "numbers": (None,)}  # of labels


class Series(NamedTuple):
    """Rows of one or several series.

    Attributes
    ----------
    values : ndarray of shape (n, m)
    is_flat : bool
        Whether they came as one series (n,).
    names : list or None
        Of the columns of a frame, or of a single series.
    index : pandas.Index or None
        Of a kind that can be continued.
    stranger : str or None
        A label of an index of another kind.
    """

    values: np.ndarray
    is_flat: bool
    names: list | None
    index: object
    stranger: str | None


def series_of(y):
    """Return the rows of y, an array or a frame of shape (n,) or (n, m); NaN is missing."""
    values = _numbers(y, "y")
    if values.ndim not in (1, 2):
        raise ValueError(
            f"y has {values.ndim} dimensions. Give one series as (n,), or several as (n, m), a "
            "column each."
        )
    names = names_of(y)
    if names is None and hasattr(y, "name"):
        names = [y.name]
    rows = values[:, None] if values.ndim == 1 else values
    if rows.shape[1] == 0:
        raise ValueError(f"y has shape {values.shape}, which is no series.")
    return Series(rows, values.ndim == 1, names, index_in(y), stranger_in(y))


def columns_of(X, y_shape=None):
    """Return the columns of X (n, d) as numbers, and their names or None."""
    if np.ndim(X) == 1 and y_shape is not None and len(y_shape) == 2:
        raise ValueError(
            f"y has shape {y_shape} and X has {np.shape(X)}, as if they were swapped: a forecaster "
            "takes the series first, fit(y, X). If they are not, give columns as (n, d)."
        )
    values = _numbers(X, "X")
    if values.ndim == 1:
        raise ValueError(
            f"X has shape {values.shape}. Give columns as (n, d): X.reshape(-1, 1) if there is one."
        )
    names = names_of(X)
    if names is not None and len(set(names)) < len(names):
        twice = sorted({str(name) for name in names if names.count(name) > 1})
        raise ValueError(
            f"X has several columns of the names {twice}: give each a name of its own."
        )
    return values, names


def names_of(frame):
    """Return the names of the columns of a frame, None of what has none."""
    return list(frame.columns) if hasattr(frame, "columns") else None


def _numbers(given, name):
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        given = given.filled(np.nan)
    _refuse_columns(given, name)
    try:
        if hasattr(given, "iloc"):  # pandas has further kinds of missing
            values = np.array(given.to_numpy(dtype=np.float64, na_value=np.nan))
        elif hasattr(given, "to_numpy"):
            values = np.array(given.to_numpy(), dtype=np.float64)
        else:
            values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} holds values that are no numbers: {error}. Encode categories and dates as "
            "numbers; missing values are NaN."
        ) from error
    too_large = np.abs(values) > 1e100
    if too_large.any():
        if np.isinf(values).any():
            raise ValueError(
                f"{name} contains infinity. Leave such values out as NaN, which counts as missing."
            )
        raise ValueError(f"{name} contains values beyond 1e100, whose squares no sum holds.")
    return values


def _refuse_columns(given, name):
    """Refuse what would be read as numbers, or is none, with a sentence that names it."""
    if issparse(given):
        raise TypeError(f"{name} is a sparse matrix: give {name}.toarray().")
    if is_lazy(given):
        raise TypeError(f"{name} is a LazyFrame, which holds no rows yet: give {name}.collect().")
    columns = types_of(given) or [(None, getattr(given, "dtype", None))]
    for label, kind in columns:
        which = name if label is None else f"Column {label!r} of {name}"
        if getattr(kind, "kind", "") == "m" or str(kind).startswith("Duration"):  # of polars
            raise TypeError(
                f"{which} holds durations, which have no unit: divide them by one, as by "
                "pandas.Timedelta(hours=1)."
            )
        if holds_dates(kind):
            raise TypeError(
                f"{which} holds dates, which are no series. Make them the index of a frame of "
                "pandas, by set_index: forecasts then continue it, and the calendar is seen."
            )
        if getattr(kind, "kind", "") == "c":
            raise ValueError(
                f"{which} holds complex numbers: give their parts, .real and .imag, as columns of "
                "their own."
            )
        if not _is_numeric(kind):
            raise ValueError(
                f"{which} holds values that are no numbers but text or categories: encode them "
                "first, by RunningOneHotEncoder() or pandas.get_dummies."
            )


def _is_numeric(kind):
    is_numeric = getattr(kind, "is_numeric", None)  # of polars
    if callable(is_numeric):
        return is_numeric() or str(kind) in ("Boolean", "Null")
    kind = getattr(kind, "subtype", kind)
    return kind is None or getattr(kind, "kind", "O") in "biuf" or str(kind) == "object"


def check_names(name, names, known, things="columns"):
    """Refuse names of columns other than those known, or in another order; None is unnamed."""
    if names is not None and known is not None and names != known:
        raise ValueError(
            f"{name} has the columns {names}, but the rows learnt had {known}. Give the same "
            f"{things} in the same order."
        )


def check_following(time, X, name="X_future"):
    """Refuse rows whose index is not that of the next rows."""
    if time is None or time["step"] is None:
        return
    index = index_in(X, name)
    check_stranger(time, stranger_in(X, name), name)
    if index is None or is_unlabelled(index, False):
        return
    wanted = continued(time, len(index))
    zones = [str(getattr(one, "tz", None)) for one in (index, wanted)]
    if ("None" in zones) and zones[0] != zones[1]:
        raise ValueError(
            f"The index of {name} has the zone {zones[0]}, but the series has {zones[1]}: give "
            "both with a zone, by tz_localize, or neither."
        )
    if not same_labels(index, wanted):
        raise ValueError(
            f"{name} is of the rows {_ends(index)}, but the rows that follow are "
            f"{_ends(wanted)}. Give their rows, in order."
        )


def same_labels(index, other):
    """Tell whether two indexes name the same rows, in whatever zone."""
    index, other = as_known(index), as_known(other)
    if getattr(index, "tz", None) is not None and getattr(other, "tz", None) is not None:
        index, other = index.tz_convert("UTC"), other.tz_convert("UTC")
    return index.equals(other)


def _ends(index):
    return f"{index[0]} to {index[-1]}"


def time_of(index, step=None):
    """Return what is kept of an index: kind, last label, step, zone and unit; None for untold."""
    step, kind = step_of(index) if step is None else step, kind_of(index)
    zone = _zone_of(getattr(index, "tz", None))
    unit = index.unit if kind == "dates" else None
    return {"kind": kind, "last": label_of(index[-1]), "step": step, "zone": zone, "unit": unit}


def _zone_of(tz):
    """Return a zone as text that pandas reads, None for none."""
    if tz is None:
        return None
    name, offset = getattr(tz, "key", getattr(tz, "zone", None)), tz.utcoffset(None)
    _, is_of_dateutil, file = str(getattr(tz, "_filename", "")).rpartition("zoneinfo/")
    if is_of_dateutil:
        return f"dateutil/{file}"
    if name is None and offset is not None:  # whatever it is called
        return str(timezone(offset))
    if not name:
        raise ValueError(
            f"The index has the zone {tz}, which has no name to go on by: convert it first, by "
            "tz_convert('UTC')."
        )
    return str(name)


def label_of(label):
    """Return a label as it is kept: a whole number, or text, of dates with a zone that of UTC."""
    if isinstance(label, (int, np.integer)):
        return int(label)
    has_zone = getattr(label, "tzinfo", None) is not None
    return str(label.tz_convert("UTC") if has_zone else label)


def continued(time, n):
    """Return the n labels after the last one as an index of pandas."""
    import pandas as pd

    if time["kind"] == "dates":
        return _dates(last_of(time), time["step"], start=True, periods=n + 1)[1:].as_unit(
            time["unit"]
        )
    if time["kind"] == "periods":
        return pd.period_range(time["last"], periods=n + 1, freq=time["step"])[1:]
    start, step = time["last"] + time["step"], time["step"]
    return pd.RangeIndex(start, start + n * step, step)


def _dates(label, step, *, start, periods):
    """Return dates from a label on, or up to it, in its zone.

    Days go on by the clock on the wall. Where it is put forward at midnight, that day begins when
    it does.
    """
    import pandas as pd

    offset, end = offset_of(step), "start" if start else "end"
    is_time = isinstance(offset, pd.offsets.Tick) and not isinstance(offset, pd.offsets.Day)
    if label.tz is None or is_time:
        return pd.date_range(**{end: label}, periods=periods, freq=offset)
    wall = label.tz_localize(None)
    day = wall.normalize()
    if day.tz_localize(label.tz, nonexistent="shift_forward", ambiguous=True) == label:
        wall = day
    dates = pd.date_range(**{end: wall}, periods=periods, freq=offset)
    is_first = np.ones(periods, dtype=bool)  # of two hours that are called alike
    return dates.tz_localize(label.tz, nonexistent="shift_forward", ambiguous=is_first)


def check_after(time, index):
    """Refuse labels that are of another kind than the last one, out of order, or not after it."""
    check_order(index)
    kind, zone = kind_of(index), getattr(index, "tz", None)
    if kind != time["kind"] or (kind == "dates" and (zone is None) != (time["zone"] is None)):
        found, known = _described(kind, zone), _described(time["kind"], time["zone"])
        raise ValueError(
            f"The index of y holds {found}, but that of the rows learnt held {known}. Give the "
            "same kind of labels, or call 'fit' to start afresh."
        )
    if kind == "periods" and index.freqstr != time["step"]:
        raise ValueError(
            f"The index of y holds periods of {index.freqstr}, but that of the rows learnt held "
            f"periods of {time['step']}. Convert them, by asfreq, or call 'fit' to start afresh."
        )
    if not index[0] > last_of(time):
        raise ValueError(
            f"y begins at {index[0]}, but {time['last']} has been learnt: a target is out of "
            "order. Give rows after those learnt, or call 'fit' to start afresh."
        )


def _described(kind, zone):
    return kind if kind != "dates" else f"dates {'without' if zone is None else 'with'} a zone"


def last_of(time):
    """Return the last label as pandas has it."""
    import pandas as pd

    if time["kind"] == "dates":
        last = pd.Timestamp(time["last"])
        return last.tz_convert(time["zone"]) if time["zone"] else last
    return time["last"] if time["kind"] == "numbers" else pd.Period(time["last"], time["step"])


def places(time, index):
    """Return how many rows after the last one each label comes, from 1 on.

    Raises
    ------
    ValueError
        If labels are not in order, or not whole steps after the last one.
    """
    check_after(time, index)
    if time["kind"] == "numbers":
        steps = np.asarray(index, dtype=np.int64) - time["last"]
        found, remainder = np.divmod(steps, time["step"])
        found[remainder != 0] = 0
    else:
        n = 64 + 2 * len(index)
        known = continued(time, n)
        while known[-1] < index[-1]:
            n *= 4
            if n > _MOST_LABELS:
                raise ValueError(
                    f"The index of y has {index[-1]}, millions of steps ({time['step']}) after "
                    f"{time['last']}. Correct the label, or leave the row out."
                )
            known = continued(time, n)
        found = known.get_indexer(index) + 1
    if (found <= 0).any():
        k = int(np.flatnonzero(found <= 0)[0])
        of_months = (
            "" if time["kind"] == "numbers" else ", or make it periods, as by to_period('M')"
        )
        raise ValueError(
            f"The index of y has {index[k]}, which is not a whole number of steps ({time['step']}) "
            f"after {index[k - 1] if k else time['last']}. Resample the series to regular steps "
            f"first; if they are, give the index its freq{of_months}."
        )
    return found


def index_of(time, labels):
    """Return the index of labels as `label_of` keeps them, of the kind and zone of a time."""
    import pandas as pd

    if time["kind"] == "numbers":
        return pd.Index(labels)
    index = pd.DatetimeIndex([pd.Timestamp(label) for label in labels]).as_unit(time["unit"])
    return index.tz_convert(time["zone"]) if time["zone"] else index


def joined(time, labels, index):
    """Return an index with labels before it, as `index_of` takes them."""
    index = index.tz_convert(time["zone"]) if time["zone"] else index
    return index_of(time, labels).append(index)


def before(index, time):
    """Return the time one step before an index."""
    if time["step"] is None:
        return time
    if time["kind"] == "numbers":
        return time | {"last": int(index[0]) - time["step"]}
    if time["kind"] == "periods":
        return time | {"last": str(index[0] - 1)}
    return time | {"last": label_of(_dates(index[0], time["step"], start=False, periods=2)[0])}


def is_unlabelled(index, is_start):
    """Tell whether an index only counts the rows of its own call from 0 on."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and not is_start


def cycles_of(time):
    """Return the cycles of the calendar that dates of a step go through in 2 to 2000 rows."""
    if time is None or time["kind"] == "numbers" or time["step"] is None:
        return ()
    step = float(np.median(_usual_steps(time["kind"], time["step"])))
    return tuple(name for name in _LENGTHS if _FEWEST <= _LENGTHS[name] / step <= _MOST)


def rows_in_cycles(time):
    """Return how many rows are in a day, a week and a year of an index of dates, if at least 2."""
    if time is None or time["kind"] == "numbers" or time["step"] is None:
        return ()
    step = _usual_steps(time["kind"], time["step"]).mean()
    rows = [(seconds / step, abs(seconds / step % 1.0 - 0.5)) for seconds in _LENGTHS.values()]
    return tuple(round(n) for n, off in rows[:2] if n >= _FEWEST and off > 0.49) + tuple(
        round(n) for n, _ in rows[2:] if n >= _FEWEST
    )


@cache
def _usual_steps(kind, step):
    """Return the seconds between labels of a step, wherever a series stands, and in no zone."""
    import pandas as pd

    a_range = pd.date_range if kind == "dates" else pd.period_range
    offset, is_of_months = step, kind == "dates" and OF_MONTHS.fullmatch(step) is not None
    if is_of_months:
        offset = offset_of(step)
    labels = a_range("2001-01-01", periods=_N_USUAL + is_of_months, freq=offset)
    labels = labels[int(is_of_months) :]  # of which the first was a start alone
    return np.diff(wall_times(labels)) / np.timedelta64(1, "s")


def calendar(index, cycles):
    """Return sines and cosines of where dates are in cycles, with harmonics (n, c)."""
    if not cycles:
        return np.zeros((len(index), 0))
    times = wall_times(index).astype("datetime64[us]")
    circles = CalendarFeatures(cycles).transform(times[:, None])
    parts = []
    for k, name in enumerate(cycles):
        turn = circles[:, 2 * k + 1] + 1j * circles[:, 2 * k]
        for power in range(1, _HARMONICS[name] + 1):
            parts += [(turn**power).imag, (turn**power).real]
    return np.stack(parts, axis=1)


def n_calendar(cycles):
    """Return how many features `calendar` gives."""
    return sum(2 * _HARMONICS[name] for name in cycles)


def framed(values, is_flat, names, time):
    """Return forecasts (H, m) as the series came in: with the index that continues theirs."""
    if time is None or time["step"] is None:
        return values[:, 0] if is_flat else values
    import pandas as pd

    index = continued(time, len(values))
    if is_flat:
        return pd.Series(values[:, 0], index=index, name=names[0])
    return pd.DataFrame(values, index=index, columns=pd.Index(names))  # of tuples: of levels


def framed_intervals(ends, coverage, as_frame, layout):
    """Return intervals (H, m, n_levels, 2) as arrays, or as frames that continue the index."""
    ends = ends[:, 0] if layout["is_flat"] else ends
    time = layout["time"] if as_frame is not None else None
    index = None if time is None or time["step"] is None else continued(time, len(ends))
    return interval_frame(ends, coverage, as_frame, index=index, names=layout["names"])
