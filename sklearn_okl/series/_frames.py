"""What series come in and go out as: arrays, or frames with an index that forecasts continue.

pandas is imported only where a frame of pandas came in. What is kept of an index is plain: its
kind, its last label, its step and its time zone.
"""

from typing import NamedTuple

import numpy as np

from .._prediction_frames import interval_frame
from .._validation import holds_dates, is_lazy, types_of
from ..features import CalendarFeatures

_HARMONICS = {"hour_of_day": 3, "day_of_week": 2, "day_of_year": 2}
_LENGTHS = {"hour_of_day": 86400.0, "day_of_week": 7 * 86400.0, "day_of_year": 365.25 * 86400.0}
_FEWEST, _MOST = 2.0, 2000.0  # rows in a cycle that the calendar gives features of
_MOST_LABELS = 2**24  # that are gone through in search of one


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
    """

    values: np.ndarray
    is_flat: bool
    names: list | None
    index: object


def series_of(y):
    """Return the rows of y, an array or a frame of shape (n,) or (n, m); NaN is missing."""
    values = _numbers(y, "y")
    if values.ndim not in (1, 2):
        raise ValueError(
            f"y has {values.ndim} dimensions. Give one series as (n,), or several as (n, m), a "
            "column each."
        )
    names = None
    if hasattr(y, "columns"):
        names = list(y.columns)
    elif hasattr(y, "name"):
        names = [y.name]
    rows = values[:, None] if values.ndim == 1 else values
    if rows.shape[1] == 0:
        raise ValueError(f"y has shape {values.shape}, which is no series.")
    return Series(rows, values.ndim == 1, names, _index_of(y))


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
    names = list(X.columns) if hasattr(X, "columns") else None
    return values, names


def _numbers(given, name):
    if isinstance(given, np.ma.MaskedArray) and np.ma.is_masked(given):
        given = given.filled(np.nan)
    _refuse_columns(given, name)
    try:
        if hasattr(given, "to_numpy"):
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
    if is_lazy(given):
        raise TypeError(f"{name} is a LazyFrame, which holds no rows yet: give {name}.collect().")
    columns = types_of(given) or [(None, getattr(given, "dtype", None))]
    for label, kind in columns:
        which = name if label is None else f"Column {label!r} of {name}"
        if holds_dates(kind):
            raise TypeError(
                f"{which} holds dates, which are no series. Make them the index of a frame of "
                "pandas, by set_index: forecasts then continue it, and the calendar is seen."
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


def check_following(time, X):
    """Refuse rows whose index is not that of the next rows."""
    index = _index_of(X)
    if time is None or time["step"] is None or index is None or is_unlabelled(index, False):
        return
    wanted = continued(time, len(index))
    zones = [str(getattr(one, "tz", None)) for one in (index, wanted)]
    if ("None" in zones) and zones[0] != zones[1]:
        raise ValueError(
            f"The index of X_future has the zone {zones[0]}, but the series has {zones[1]}: give "
            "both with a zone, by tz_localize, or neither."
        )
    if not same_labels(index, wanted):
        raise ValueError(
            f"X_future is of the rows {_ends(index)}, but the rows that follow are "
            f"{_ends(wanted)}. Give their rows, in order."
        )


def same_labels(index, other):
    """Tell whether two indexes name the same rows, in whatever zone."""
    if getattr(index, "tz", None) is not None and getattr(other, "tz", None) is not None:
        index, other = index.tz_convert("UTC"), other.tz_convert("UTC")
    return index.equals(other)


def _ends(index):
    return f"{index[0]} to {index[-1]}"


def _index_of(given):
    """Return the index of a frame of pandas where it can be continued."""
    index = getattr(given, "index", None)
    if index is None or not hasattr(index, "get_indexer"):
        return None
    kind = type(index).__name__
    if kind in ("DatetimeIndex", "PeriodIndex") or getattr(index.dtype, "kind", "") in "iu":
        return index
    return None


def time_of(index, before=None):
    """Return what is kept of an index: kind, last label, step and zone; `before` knows the step."""
    kind = type(index).__name__
    if kind == "DatetimeIndex":
        step = index.freqstr or (before and before["step"]) or _step_of_dates(index)
        last, zone = _plain_label(index[-1]), None if index.tz is None else str(index.tz)
        return {"kind": "dates", "last": last, "step": step, "zone": zone}
    if kind == "PeriodIndex":
        return {"kind": "periods", "last": str(index[-1]), "step": index.freqstr, "zone": None}
    step = before["step"] if before else (int(index[1] - index[0]) if len(index) > 1 else 1)
    return {"kind": "numbers", "last": int(index[-1]), "step": step, "zone": None}


def _step_of_dates(index):
    """Return the step of dates as pandas writes it; None where one date tells none."""
    import pandas as pd

    if len(index) < 2:
        return None
    step = pd.infer_freq(index) if len(index) > 2 else None
    if step is None:  # rows may be missing: the commonest distance
        steps, counts = np.unique(np.diff(index.asi8), return_counts=True)
        unit = getattr(index, "unit", "ns")
        step = pd.tseries.frequencies.to_offset(
            pd.Timedelta(int(steps[np.argmax(counts)]), unit=unit)
        ).freqstr
    return step


def continued(time, n):
    """Return the n labels after the last one as an index of pandas."""
    import pandas as pd

    if time["kind"] == "dates":
        last = pd.Timestamp(time["last"])
        if time["zone"]:
            last = last.tz_convert(time["zone"])
        offset = pd.tseries.frequencies.to_offset(time["step"])
        return pd.date_range(last, periods=n + 1, freq=offset)[1:]
    if time["kind"] == "periods":
        return pd.period_range(time["last"], periods=n + 1, freq=time["step"])[1:]
    start, step = time["last"] + time["step"], time["step"]
    return pd.RangeIndex(start, start + n * step, step)


def places(time, index):
    """Return how many rows after the last one each label comes, from 1 on.

    Raises
    ------
    ValueError
        If labels are not in order, or not whole steps after the last one.
    """
    if not index.is_monotonic_increasing or not index.is_unique:
        raise ValueError(
            "The index of y is out of order, or has a label twice. Sort the rows by it, and leave "
            "one row of each label: rows are learnt in order."
        )
    if time["step"] is None:  # one row so far
        time = time | {"step": _step_of_dates(_with_last(time, index))}
    if time["kind"] == "numbers":
        found, remainder = np.divmod(np.asarray(index) - time["last"], time["step"])
        found[remainder != 0] = 0 if found[0] <= 0 else -1
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
        if index[0] < known[0]:
            found[0] = 0
    if found[0] <= 0 and (time["kind"] == "numbers" or index[0] < known[0]):
        raise ValueError(
            f"y begins at {index[0]}, but {time['last']} has been learnt: a target is out of "
            "order. Give rows after those learnt, or call 'fit' to start afresh."
        )
    if (found <= 0).any():
        label = index[np.flatnonzero(found <= 0)[0]]
        raise ValueError(
            f"The index of y has {label}, which is not a whole number of steps ({time['step']}) "
            f"after {time['last']}. Resample the series to regular steps first."
        )
    return found, time


def _with_last(time, index):
    import pandas as pd

    last = pd.Timestamp(time["last"])
    last = last.tz_convert(time["zone"]) if time["zone"] else last
    return index.insert(0, last)


def before(index, time):
    """Return the time one step before an index."""
    import pandas as pd

    if time["kind"] == "numbers":
        return time | {"last": int(index[0]) - time["step"]}
    if time["kind"] == "periods":
        return time | {"last": str(index[0] - 1)}
    if time["step"] is None:
        return time
    label = index[0] - pd.tseries.frequencies.to_offset(time["step"])
    return time | {"last": _plain_label(label)}


def is_unlabelled(index, is_start):
    """Tell whether an index only counts the rows of its own call from 0 on."""
    return type(index).__name__ == "RangeIndex" and index.start == 0 and not is_start


def _plain_label(label):
    return str(label if label.tzinfo is None else label.tz_convert("UTC"))


def cycles_of(index, time):
    """Return the cycles of the calendar that an index of dates goes through in 2 to 2000 rows."""
    if time is None or time["kind"] == "numbers":
        return ()
    if time["step"] is None:
        return ("hour_of_day", "day_of_week")
    times = _wall_times(index if len(index) > 1 else continued(time, 2))
    step = float(np.median(np.diff(times) / np.timedelta64(1, "s")))
    return tuple(name for name in _LENGTHS if _FEWEST <= _LENGTHS[name] / step <= _MOST)


def rows_in_cycles(time):
    """Return how many rows are in a day, a week and a year of an index of dates, if at least 2."""
    if time is None or time["kind"] == "numbers" or time["step"] is None:
        return ()
    times = _wall_times(continued(time, 25))
    step = (times[-1] - times[0]) / np.timedelta64(1, "s") / 24.0
    rows = [(seconds / step, abs(seconds / step % 1.0 - 0.5)) for seconds in _LENGTHS.values()]
    return tuple(round(n) for n, off in rows[:2] if n >= _FEWEST and off > 0.49) + tuple(
        round(n) for n, _ in rows[2:] if n >= _FEWEST
    )


def calendar(index, cycles):
    """Return sines and cosines of where dates are in cycles, with harmonics (n, c)."""
    if not cycles:
        return np.zeros((len(index), 0))
    circles = CalendarFeatures(cycles).transform(_wall_times(index)[:, None])
    parts = []
    for k, name in enumerate(cycles):
        turn = circles[:, 2 * k + 1] + 1j * circles[:, 2 * k]
        for power in range(1, _HARMONICS[name] + 1):
            parts += [(turn**power).imag, (turn**power).real]
    return np.stack(parts, axis=1)


def n_calendar(cycles):
    """Return how many features `calendar` gives."""
    return sum(2 * _HARMONICS[name] for name in cycles)


def _wall_times(index):
    if type(index).__name__ == "PeriodIndex":
        index = index.to_timestamp()
    if index.tz is not None:
        index = index.tz_localize(None)
    return index.to_numpy().astype("datetime64[us]")


def framed(values, is_flat, names, time):
    """Return forecasts (H, m) as the series came in: with the index that continues theirs."""
    if time is None or time["step"] is None:
        return values[:, 0] if is_flat else values
    import pandas as pd

    index = continued(time, len(values))
    if is_flat:
        return pd.Series(values[:, 0], index=index, name=names[0])
    return pd.DataFrame(values, index=index, columns=names)


def framed_intervals(ends, coverage, as_frame, layout):
    """Return intervals (H, m, n_levels, 2) as arrays, or as frames that continue the index."""
    ends = ends[:, 0] if layout["is_flat"] else ends
    time = layout["time"] if as_frame is not None else None
    index = None if time is None or time["step"] is None else continued(time, len(ends))
    return interval_frame(ends, coverage, as_frame, index=index, names=layout["names"])
