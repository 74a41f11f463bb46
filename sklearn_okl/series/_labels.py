"""Which labels of rows say when these were, and which cannot be told and are refused.

Dates, periods and whole numbers can be continued. Names of rows say nothing of time, and count as
none; text that is dates, durations and panels in long form do, and are refused.
"""

import re

import numpy as np

from .._sentences import counted

_TEXT_OF_DATES = re.compile(
    r"\d{4}[-/.]\d{1,2}([-/.]\d{1,2})?([T ].*)?|\d{1,2}[-/.]\d{1,2}[-/.]\d{4}( .*)?"
    r"|(19|20)\d\d(0[1-9]|1[0-2])[0-3]\d|\d{4}-?[QW]\d{1,2}"
)
_EVEN = 1e-6  # of a distance, by which others differ that are the same


def kind_of(index):
    """Return what the labels are that an index holds, which can be continued."""
    kinds = {"DatetimeIndex": "dates", "PeriodIndex": "periods"}
    return kinds.get(type(index).__name__, "numbers")


def index_in(given, name="y"):
    """Return the index of a frame of pandas where it can be continued, and None of mere names.

    One that tells a time in a way that cannot be read is an error.
    """
    index = getattr(given, "index", None)
    if index is None or not hasattr(index, "get_indexer"):
        return None
    index = as_known(index)
    if kind_of(index) != "numbers" and index.hasnans:
        raise ValueError(
            f"The index has {counted(index.isna().sum(), 'label')} of NaT, which is no time: "
            "correct them, or leave their rows out."
        )
    if kind_of(index) != "numbers" or getattr(index.dtype, "kind", "") in "iu":
        return index
    _refuse_untold(index, name)
    return None


def _refuse_untold(index, name):
    """Refuse labels that have an order which is not seen."""
    if index.nlevels > 1:
        raise ValueError(
            f"The index of {name} has {index.nlevels} levels, as a panel in long form has: unstack "
            "it, one column per series, as by y.unstack(level=0), with the dates as its index."
        )
    kind = index.inferred_type
    if kind == "timedelta64":
        raise ValueError(
            f"The index of {name} holds durations, which are no time: add them to their start, as "
            "by pd.Timestamp('2024-01-01') + index, or count them, by index // "
            "pd.Timedelta(hours=1)."
        )
    if kind == "interval":
        raise ValueError(
            f"The index of {name} holds intervals, of which it is not seen which rows are missing: "
            "give their beginnings, by index.left."
        )
    if kind == "string" and all(map(_TEXT_OF_DATES.fullmatch, index)):
        raise ValueError(
            f"The index of {name} holds text that looks like dates, such as {index[0]!r}. Make it "
            "dates, by index = pd.to_datetime(index), or read the file with parse_dates: text has "
            "no order in time."
        )
    if kind == "floating" and not _is_even(np.asarray(index, dtype=np.float64)):
        raise ValueError(
            f"The index of {name} holds fractions that are out of order or at uneven distances. "
            "Give dates, periods or whole numbers, so that it is seen which rows are missing; or "
            "leave the labels out, by reset_index(drop=True)."
        )


def _is_even(labels):
    distances = np.diff(labels)
    if not distances.size:
        return True
    least = distances.min()
    return bool(least > 0.0 and np.ptp(distances) <= _EVEN * least)


def stranger_in(given, name="y"):
    """Return a label of a frame of pandas whose index cannot be continued, as text, or None."""
    index = getattr(given, "index", None)
    if not hasattr(index, "get_indexer") or not len(index) or index_in(given, name) is not None:
        return None
    return repr(index[0]) if isinstance(index[0], str) else str(index[0])


def check_stranger(time, label, name):
    """Refuse a label that `stranger_in` found where rows had dates or periods."""
    if label is not None and time is not None and time["kind"] != "numbers":
        raise ValueError(
            f"The index of {name} holds labels such as {label}, but that of the rows learnt held "
            f"{time['kind']}. Give {time['kind']}, so that it is seen which rows they are; or an "
            "array, whose rows are the next ones."
        )


def as_known(index):
    """Return an index that holds dates, periods or whole numbers as one of these; or as it is."""
    text, kind = str(index.dtype), index.inferred_type
    if kind == "floating" and len(index):
        labels = np.asarray(index, dtype=np.float64)
        whole = np.isfinite(labels).all() and not (labels % 1.0).any()
        return index.astype(np.int64) if whole else index
    if text == "category":
        return as_known(index.astype(index.categories.dtype))
    if text != "object" and not hasattr(index.dtype, "pyarrow_dtype"):
        return index
    if kind == "integer" and not index.hasnans:
        return index.astype(np.int64)
    if kind not in ("datetime", "datetime64", "date", "period"):
        return index
    import pandas as pd

    return pd.PeriodIndex(index) if kind == "period" else pd.DatetimeIndex(index)


def check_order(index):
    """Refuse labels that are not in order."""
    if not index.is_monotonic_increasing or not index.is_unique:
        raise ValueError(
            "The index of y is out of order, or has a label twice. Sort the rows by it, and leave "
            "one row of each label: rows are learnt in order."
        )


def wall_times(index):
    """Return dates, or the first ones of periods, as the clock on the wall has them."""
    if type(index).__name__ == "PeriodIndex":
        index = index.to_timestamp()
    if index.tz is not None:
        index = index.tz_localize(None)
    return index.to_numpy()
