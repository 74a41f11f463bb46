"""What the step of an index is, as it says or as its labels tell.

The step is the one that an index has (`freq`, of periods, of a range). Where it has none the first
`N_TELLING` labels tell it: it is the smallest distance between two, or half of it, and all are
whole steps apart, in days and months on the clock of the zone, and else in hours. Days may be those
of business, and months begin or end with any day, or one of business, or have two halves, or all
labels are the same day of them: the step is that of which fewest labels are missing, and of several
the one of fewest units. So rows tell it, not calls.
"""

import re

import numpy as np

from ._labels import check_order, kind_of, wall_times

N_TELLING = 16  # labels that tell the step: so many quarters in a row may begin on weekdays
OF_MONTHS = re.compile(r"DateOffset\(months=(\d{1,4}), day=([1-9]|[12]\d|3[01])\)")  # a step
_DAY = np.timedelta64(1, "D")
_MIDDLE = 15  # of a month, where half months begin or end


def given_step(index):
    """Return the step that an index has, as plain text or a whole number; None if it has none."""
    if type(index).__name__ == "RangeIndex":
        return int(index.step)
    step, kind = getattr(index, "freqstr", None), kind_of(index)
    if type(getattr(index, "freq", None)).__name__.startswith("Custom"):
        raise ValueError(
            f"The index has the step {index.freq!r}, and its own days off are not kept: forecasts "
            "would go to them. Set the freq to 'B' and gaps='fill', so that they count as missing; "
            "or leave the dates out, by reset_index(drop=True)."
        )
    if kind == "dates" and type(index.freq).__name__ == "DateOffset":
        return _step_of_months(index)
    return step if step is None or kind == "periods" or _is_offset(step) else None


def _step_of_months(index):
    """Return the step of an index whose `freq` is some months or years and no more, else None."""
    parts = dict(index.freq.kwds)
    n = index.freq.n * (parts.pop("months", 0) + 12 * parts.pop("years", 0))
    day = parts.pop("day", index.day.max() if len(index) else 0)
    return _as_text(n, day) if n > 0 and not parts and _is_on_day(index, day) else None


def _as_text(n, day):
    return f"DateOffset(months={n}, day={day})"  # pandas has no name of it


def _is_on_day(index, day):
    """Tell whether all dates are of a day of the month, or where it is shorter of the last one."""
    return bool((index.day == np.minimum(day, index.days_in_month)).all())


def offset_of(step):
    """Return a step of dates as an offset of pandas."""
    import pandas as pd

    months = OF_MONTHS.fullmatch(step)
    if months is None:
        return pd.tseries.frequencies.to_offset(step)
    return pd.DateOffset(months=int(months[1]), day=int(months[2]))


def _is_offset(step):
    import pandas as pd

    try:
        return pd.tseries.frequencies.to_offset(step) is not None
    except ValueError:  # of an offset of one's own making
        return False


def step_of(index):
    """Return the step that an index has, or its first labels tell; None where it is one label."""
    step, first = given_step(index), index[:N_TELLING]
    check_order(index)
    if step is not None or len(first) < 2:
        return step
    if kind_of(index) == "numbers":
        return int(_smallest(np.diff(np.asarray(first, dtype=np.int64))))
    return _step_of_dates(first)


def _step_of_dates(index):
    """Return the step that dates tell, two or more, as pandas writes it."""
    import pandas as pd

    days = np.diff(wall_times(index))
    if (days % _DAY).any() or not days.all():  # an hour that comes twice is no day
        utc = index if index.tz is None else index.tz_convert("UTC").tz_localize(None)
        step = pd.Timedelta(_smallest(np.diff(utc.to_numpy())))
        hours, rest = divmod(step, pd.Timedelta(hours=1))  # a day of 24 hours is none of a zone
        offset = pd.tseries.frequencies.to_offset(step) if rest else pd.offsets.Hour(int(hours))
        return offset.freqstr
    found = [(*_missing_steps(days // _DAY), pd.offsets.Day)]
    dates = wall_times(index).astype("datetime64[D]")
    business = np.busday_count(dates[:-1], dates[1:])
    if np.is_busday(dates).all() and business.min() == 1:
        found.append((*_missing_steps(business), pd.offsets.BDay))
    months = 12 * index.year + index.month
    units = dict.fromkeys(("MonthBegin", "MonthEnd", "BMonthBegin", "BMonthEnd"), months)
    if found[0][0] > 0.0:  # these would be fortnights
        units["SemiMonthBegin"] = 2 * months + (index.day >= _MIDDLE)
        units["SemiMonthEnd"] = 2 * months + (index.day > _MIDDLE)
    for name, places_in in units.items():
        offset, distances = getattr(pd.offsets, name), np.diff(places_in)
        if (distances > 0).all() and all(map(offset().is_on_offset, index)):
            found.append((*_missing_steps(distances), offset))
    day, distances = index.day.max(), np.diff(months)
    has_other = found[-1][2] not in (pd.offsets.Day, pd.offsets.BDay)
    if not has_other and (distances > 0).all() and _is_on_day(index, day):
        found.append((*_missing_steps(distances), None))
    _, n, offset = min(found, key=lambda one: one[:2])
    return _as_text(n, day) if offset is None else offset(n).freqstr


def _missing_steps(distances):
    """Return how many labels are missing, infinity if there is no step, and the units of a step."""
    n = int(_smallest(distances))
    missing = np.inf if (distances % n).any() else (distances // n - 1).sum()
    return float(missing), n


def _smallest(distances):
    """Return the smallest distance between labels, or its half if that alone fits all of them."""
    n = distances.min()
    has_half = (distances % n).any() and not (2 * distances % n).any()
    return n // 2 if has_half else n
