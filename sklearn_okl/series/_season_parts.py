"""What a season of smoothing adds at each phase, in parts of some phases.

A row replaces the part that its phase is in, and no array is written: states share all the others.
"""

import numpy as np

_FEWEST = 8  # phases of a part, if there are as many
_MOST = 32  # parts, whatever length a file says


def sizes(length):
    """Return the phases of each part of a season; all but the last have as many."""
    size = max(-(-length // _MOST), _FEWEST)
    return [min(size, length - first) for first in range(0, length, size)]


def split(phases):
    """Return parts of phases (length, ...), views of them."""
    return np.split(phases, np.cumsum(sizes(len(phases)))[:-1])


def length(parts):
    """Return the phases of a season in parts."""
    return sum(len(part) for part in parts)


def of_row(parts, row):
    """Return what a season in parts (phases, 4, J, m) adds in a row (4, J, m)."""
    part, place = _place(parts, row)
    return parts[part][place]


def with_row(parts, row, added):
    """Return the parts of a season that adds (4, J, m) in a row."""
    part, place = _place(parts, row)
    changed = parts[part].copy()
    changed[place] = added
    return [*parts[:part], changed, *parts[part + 1 :]]


def add(said, parts, rows):
    """Add to forecasts (h, 4, J, m) of rows (h,) what a season adds in them."""
    part, place = _place(parts, rows)
    is_next = (rows[1:] - rows[:-1] == 1) & (place[1:] > 0)  # in the part of the row before
    starts = [0, *(np.flatnonzero(~is_next) + 1).tolist()]
    part, place = part.tolist(), place.tolist()
    for low, high in zip(starts, [*starts[1:], len(rows)], strict=True):
        said[low:high] += parts[part[low]][place[low] : place[low] + high - low]


def of_next(parts, row, n):
    """Return what a season adds (4, m, J, n) in the n rows from one on, a cycle of it at most."""
    part, place = _place(parts, row)
    added, low = np.empty((*parts[0].transpose(1, 3, 2, 0).shape[:-1], n)), 0
    while low < n:
        own = parts[part][place : place + n - low]
        added[..., low : low + len(own)] = own.transpose(1, 3, 2, 0)
        low, part, place = low + len(own), (part + 1) % len(parts), 0
    return added


def _place(parts, rows):
    """Return in which part rows are, and where in it."""
    return divmod(rows % length(parts), len(parts[0]))
