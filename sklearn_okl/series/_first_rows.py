"""Whether the first values of a series, or cells of a column, were in another unit, or elsewhere.

Their unit would make the others small for as long as it is remembered. So once as many values have
come in another one, and as many as tell a deviation, the first ones are as if they were missing. A
unit that is larger is seen: of a smaller one the deviation soon says nothing.
"""

import numpy as np

from . import _views

EVERY = 16  # rows after which it is asked
LATEST = 256  # and the last time
_FAR = 30.0  # median distances that first values are off, about as many as 20 deviations
_FEWEST = 3  # of them, and of those that have come back: two that are off are faults
_NEARLY_ALL = 0.75  # of them are as far off, as those of a unit that is much larger are
_UNIT = 4.0  # of the median distances of both, that is another unit and no level


def is_look_due(n):
    """Tell whether it is asked after n rows."""
    return n % EVERY == 0 and 2 * EVERY <= n <= LATEST


def of_other_units(rows, m, calendar):
    """Return which of the first rows (n, m + d) are in another unit than those after them.

    A series is not where a column tells it, of those that are where they were, or a calendar.
    """
    found = np.zeros(rows.shape, dtype=bool)
    for k in reversed(range(rows.shape[1])):
        n = _n_apart(rows[:, k])
        if n and k < m:
            beside = np.concatenate([np.where(found, np.nan, rows)[:, m:], calendar], axis=1)
            n *= not _tell(beside, n)
        found[:n, k] = True
    return found


def _n_apart(values):
    """Return how many of the first values (n,) are in another unit, 0 if none are."""
    there = np.flatnonzero(~np.isnan(values))
    y, half = values[there], len(there) // 2
    if half < EVERY:
        return 0
    distances = np.abs(y - np.median(y[half:]))
    typical = np.median(distances[half:])
    far = distances > _FAR * typical
    counts = np.arange(1, half + 1)
    ends = far[:half] & (np.cumsum(far[:half]) >= _NEARLY_ALL * counts) & (counts >= _FEWEST)
    if typical == 0.0 or not ends.any():
        return 0
    n = int(np.flatnonzero(ends)[-1]) + 1
    first, later = y[:n], y[n:][far[n:]]
    is_back = np.count_nonzero((later >= first.min()) & (later <= first.max())) >= _FEWEST
    is_level = np.median(np.abs(first - np.median(first))) < _UNIT * typical
    is_seen = is_level and n > _views.JUDGED and far[:n].all()  # by the fence, which moves there
    if len(y) - n < _views.JUDGED or is_back or is_seen:
        return 0
    return int(there[n - 1]) + 1


def _tell(columns, n):
    """Tell whether one of the columns is elsewhere in the first n rows than in all others."""
    low, high = (
        (np.fmin.reduce(part), np.fmax.reduce(part)) for part in (columns[:n], columns[n:])
    )
    return bool(((low[1] < high[0]) | (high[1] < low[0])).any())
