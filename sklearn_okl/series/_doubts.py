"""Which values of series, and cells of columns, count as missing before they are learnt.

The first rows are judged as a whole after 8, 16, 32, ..., 256 of them: what lies far beyond nearly
all others of its series or column, alone or in a pair, and a number that comes again and again
apart from all others, was none. If it was learnt, all rows so far are learnt again without it. What
comes in every season, or is explained by the columns, is no fault; nor is a run of more than two
values, which may be a level. As long as there are at most 1024 rows they are learnt again where
another number is found to stand for none, too: at once, or when half as many rows have come as
were learnt again so far, and at row 1024 whatever is due. So these cost five times a row at most.

Later ones are judged one by one. A value of a series is doubted by its fence, see `_views.py`; a
cell by the same fence, if it is also farther from all cells before than these are apart, by
differences and, of what is above 0, by factors. A number that was doubted three times, in runs that
ended, stands for none from then on if it lies apart from all others, until it comes a fourth time
after as many rows as twice before: then it is a value that comes in season. If it has often come at
random it is asked for more: that of all its runs some are so by chance is to be unlikely. Where
others take few numbers, as counts do, it is a value that is seldom. Whether there is such a number
within the fence is asked of the latest rows at every 16th, and at every 64th later. One that lies
beyond all values and 0, where these hardly ever repeat, is none, though it is foretold, until it
has come in most of all rows.

Three cells in a row beyond the fence that agree are a new level, if the column has never been as
far off: it moves there, see `_new_levels.py`. Levels that it has moved between twice are what it
says. First rows in another unit are all missing, see `_first_rows.py`.
"""

import numpy as np

from ..features import _faults
from . import _beyond, _first_rows, _views

REVIEWS = (8, 16, 32, 64, 128, 256)  # rows after which the first ones are judged as a whole
N_ROWS = 1024  # the latest, among which numbers are looked for that stand for none
_APART = 64  # rows between two looks for these
_OFTEN = 16  # as long as what was learnt of them can be learnt again without them
_FAR = 30.0  # median distances, which are about as many as 20 deviations
_LONGEST = 2  # values in a row that can be faults, where they do not stand for none
_MOST = 2  # rows learnt again for such numbers, over those that have come, before more wait
_IN_SEASON = 0.8  # share of what comes in season, to be seasonal
_RUNS = 3  # of it in a season at most: closed Wednesdays and Sundays are two
_ALIKE = 3  # runs of a number that was doubted, after which it stands for none
_EVEN = 4  # and as many rows apart, after which it comes in season
_CHANCE = 0.02  # that as many would be so of numbers that come at random, at most


def start(n_series, n_columns, n_calendar):
    """Return what is known before the first row."""
    width = n_series + n_columns
    return {
        "first": np.empty((0, width)),  # rows as they came, until the last review
        "faulty": np.empty((0, width), dtype=bool),  # what of them counts as missing
        "of_other_unit": np.empty((0, width), dtype=bool),  # which all count as missing
        "calendar": np.empty((0, n_calendar)),  # features of their times
        "nones": np.full((2, width), np.nan),  # the latest numbers that stand for none
        "suspect": np.full(width, np.nan),  # the latest number that was doubted
        "believed": np.full(width, np.nan),  # and the latest one that is a value after all
        "n_suspect": np.zeros(width, dtype=np.int64),  # runs of it
        "began": np.zeros(width, dtype=np.int64),  # in which row the latest of them did
        "apart": np.zeros(width, dtype=np.int64),  # how many rows after the one before it
        "n_even": np.zeros(width, dtype=np.int64),  # the latest runs that are as many rows apart
        "was_doubted": np.zeros(width, dtype=bool),
        "columns": np.empty((0, n_columns)),  # the latest rows of the columns
        "cells": _beyond.start(n_columns),
        "range": np.stack([np.full(n_columns, np.inf), np.full(n_columns, -np.inf)]),
        "by": np.zeros(n_columns),  # how far the levels of columns have moved at the latest row
        "moved": np.empty((0, n_columns)),  # and in which of the first ones
        "n_levels": np.zeros(n_columns, dtype=np.int64),  # new ones of a column so far
        "n_faulty": np.zeros(width, dtype=np.int64),
        "n_again": 0,  # rows learnt again because of numbers that were found to stand for none
        "is_due": False,  # whether they are to be once more
        "has_warned": False,  # whether they were too many at some row
    }


def sound(doubts, columns, row):
    """Return a row (m + d,), NaN where it stands for none or a cell is a fault.

    The row is of m series and d columns, `columns` the memory of these. What is known of the cells
    is written, and by how much they are at a new level.
    """
    row, m = np.where(_is_none(doubts, row), np.nan, row), len(row) - len(columns["mean"])
    if m == len(row):
        return row
    cells = row[m:]
    of_cells = cells, columns["mean"], doubts["believed"][m:]
    learnt, doubts["cells"], is_new = _beyond.as_learnt(columns, doubts["cells"], *of_cells)
    is_outside = _is_outside(doubts, cells)
    row[m:] = np.where(np.isnan(learnt) & is_outside, np.nan, cells)
    doubts["by"] = by = _moved(doubts, columns, cells, is_new & is_outside)
    low, high = doubts["range"]
    moved = np.fmin(low + by, row[m:]), np.fmax(high + by, row[m:])
    # one that moves again may have several levels, which say something: it was at all of them
    is_again = (by != 0.0) & (doubts["n_levels"] > 0)
    both = np.fmin(low, moved[0]), np.fmax(high, moved[1])
    doubts["range"] = np.where(is_again, both, moved)
    doubts["n_levels"] = doubts["n_levels"] + (by != 0.0)
    return row


def _moved(doubts, columns, cells, which):
    """Return by how much columns (d,) have moved of which some are at a new level, and 0."""
    by = np.zeros(len(cells))
    if which.any():
        latest = np.concatenate([doubts["columns"][1 - _beyond.BELIEVED :], cells[None]])
        by[which] = np.nanmedian(latest[:, which], axis=0) - columns["mean"][which]
    return by


def known_ahead(doubts, columns, X, m):
    """Return rows (k, d) of the first d columns, NaN where cells would be faults now."""
    d = X.shape[1]
    far = np.abs(X - columns["mean"][:d]) > _views.reach(columns)[:d]
    far &= _is_outside(doubts, X)
    return np.where(far | _is_none(doubts, X, slice(m, m + d)), np.nan, X)


def remember(doubts, t, values, row, is_doubted):
    """Learn which numbers of row t, (m + d,) as it came, counted as missing.

    The latest values (n, m) of the series are those that are remembered.
    """
    doubts["n_faulty"] = doubts["n_faulty"] + is_doubted
    is_same = row == doubts["suspect"]
    begins = is_doubted & ~(doubts["was_doubted"] & is_same)
    n_runs = np.where(is_same, doubts["n_suspect"], 0) + begins
    _measure(doubts, t, begins, is_same)
    believed = is_same & ~is_doubted & doubts["was_doubted"]  # it was a level
    doubts["n_suspect"] = np.where(is_doubted, n_runs, np.where(believed, 0, doubts["n_suspect"]))
    doubts["suspect"] = np.where(is_doubted, row, doubts["suspect"])
    doubts["was_doubted"] = is_doubted
    m = len(row) - doubts["columns"].shape[1]
    cells = row[m:]
    doubts["columns"] = np.concatenate([doubts["columns"], cells[None]])[-N_ROWS:]
    stands = is_doubted & (doubts["n_suspect"] == _ALIKE) & ~_is_none(doubts, row)
    for k in stands.nonzero()[0]:
        if _faults.lies_apart(row[k], _latest(doubts, values, k)):
            _take_for_none(doubts, k, row[k : k + 1])
        else:
            _take_for_value(doubts, k, row[k])
    most = is_doubted & is_same & _is_none(doubts, row) & (2 * doubts["n_faulty"] > t + 1)
    for k in most.nonzero()[0]:  # what has come in most of all rows is what comes
        _take_for_value(doubts, k, row[k])
    if begins.any():
        for k in np.flatnonzero(begins & _come_evenly(doubts)):
            if not _faults.stands_beyond(row[k], _latest(doubts, values, k)):
                _take_for_value(doubts, k, row[k])


def _latest(doubts, values, k):
    """Return the latest known values of series k, from those of all (n, m), or cells as they came.

    Before the first row the values that are remembered are no further ones.
    """
    columns, m = doubts["columns"], values.shape[1]
    found = columns[:, k - m] if k >= m else values[-len(columns) :, k]
    return found[~np.isnan(found)]


def review(doubts, m, row, calendar, is_fault, nones, seasons=()):
    """Keep one of the first rows, as it came; judge them if it is time.

    Parameters
    ----------
    doubts, m : dict and int
        What is known so far, and how many numbers of a row are of series.
    row, calendar, is_fault : ndarray of shape (m + d,), (c,) and (m + d,)
        The row, what is known of its time, and what of it counts as missing.
    nones : ndarray of shape (2, m + d)
        The numbers that stood for none before the row was looked at.
    seasons : sequence of int, default=()
        Lengths that were given.

    Returns
    -------
    rows : ndarray of shape (n, m + d) or None
        All rows so far, NaN for faults, if they are to be learnt again.
    """
    doubts["first"] = rows = np.concatenate([doubts["first"], row[None]])
    doubts["faulty"] = before = np.concatenate([doubts["faulty"], is_fault[None]])
    doubts["calendar"] = calendars = np.concatenate([doubts["calendar"], calendar[None]])
    doubts["moved"] = _with_moves(doubts, rows[:, m:])
    is_review, moved = len(rows) in REVIEWS, _at_latest_level(doubts, rows, m)
    other_unit = doubts["of_other_unit"] = np.concatenate(
        [doubts["of_other_unit"], np.zeros((1, rows.shape[1]), dtype=bool)]
    )
    if _first_rows.is_look_due(len(rows)):
        doubts["of_other_unit"] = _first_rows.of_other_units(moved, m, calendars)
    is_other = (doubts["of_other_unit"] != other_unit).any()
    if not (is_review or is_other or _is_due(doubts, len(rows), nones)):
        return None
    known, faulty = np.concatenate([rows[:, m:], calendars], axis=1), before & ~other_unit
    judged = np.where(doubts["of_other_unit"], np.nan, rows)
    for k in range(rows.shape[1] if is_review else 0):
        told_by = known if k < m else known[:, :0], seasons
        faulty[:, k], numbers = _judged(judged[:, k], *told_by)
        _believe_foretold(doubts, k, rows[:, k], *told_by)
        if len(numbers):
            _take_for_none(doubts, k, numbers)
    # values of series that came after enough sound ones are left to their fence
    is_sound = ~(np.isnan(judged) | faulty)
    early = np.cumsum(is_sound, axis=0) - is_sound < _views.JUDGED
    early[:, m:] = True
    faulty = (faulty & early) | _is_none(doubts, rows) | doubts["of_other_unit"]
    if ((faulty | (before & ~early & ~other_unit)) == before).all():
        return None
    doubts["n_again"] += len(rows) if len(rows) > REVIEWS[-1] else 0
    cells = np.where(faulty, np.nan, moved)[:, m:]
    doubts["cells"] = _beyond.start(rows.shape[1] - m)
    doubts["range"] = np.stack([np.fmin.reduce(cells), np.fmax.reduce(cells)])
    return np.where(faulty, np.nan, rows)


def _at_latest_level(doubts, rows, m):
    """Return first rows (n, m + d), the columns that have moved once as if they had before."""
    if not doubts["moved"].any():
        return rows
    later = doubts["moved"].sum(axis=0) - np.cumsum(doubts["moved"], axis=0)
    rows = rows.copy()
    rows[:, m:] += np.where(doubts["n_levels"] > 1, 0.0, later)
    return rows


def _with_moves(doubts, cells):
    """Return in which of the first rows, whose cells are (n, d), levels have moved, and how far.

    The cells before the latest that were doubted and agree with it were at the new level.
    """
    by = doubts["by"]
    moved = np.concatenate([doubts["moved"], np.zeros((1, len(by)))])
    for k in np.flatnonzero(by):
        at, off = len(cells) - 1, np.abs(cells[:, k] - cells[-1, k])
        while at > 0 and not off[at - 1] > 0.5 * abs(by[k]):
            at -= 1
        moved[at, k] = by[k]
    return moved


def _is_due(doubts, n, nones):
    """Tell whether n rows are to be learnt again, as other numbers stand for none than did.

    What has to wait is noted.
    """
    is_due = doubts["is_due"] or (doubts["nones"] is not nones and n > REVIEWS[-1])
    is_time = doubts["n_again"] <= _MOST * n or n == N_ROWS
    doubts["is_due"] = is_due and not is_time
    return is_due and is_time


def learnt_again(doubts, is_fault):
    """End a review: of the first rows (n, m + d) these numbers were faults, and no others."""
    n_more = is_fault.sum(axis=0) - doubts["faulty"].sum(axis=0)
    doubts["faulty"], doubts["n_faulty"] = is_fault, doubts["n_faulty"] + n_more


def forget_first(doubts):
    """Forget the first rows, after the last review."""
    for name in ("first", "faulty", "of_other_unit", "calendar", "moved"):
        doubts[name] = doubts[name][:0].copy()


def is_look_due(t):
    """Tell whether numbers that stand for none are looked for after t rows."""
    return t > REVIEWS[-1] and t % (_OFTEN if t <= N_ROWS else _APART) == 0


def look_again(doubts, values, row, seasons=()):
    """Look for numbers that stand for none among the latest values (n, m) of series.

    Of these as many as there are rows of the columns. As long as first ones are kept, among which
    the latest row (m + d,) is not yet, what came again counts where it was doubted, too. `seasons`
    are lengths that were given.
    """
    known = doubts["columns"]
    values, first = values[-len(known) :], np.concatenate([doubts["first"], row[None]])
    for k, y in enumerate(values.T):
        if len(first) == len(known):
            y = np.where(_comes_again(first[:, k]), first[:, k], y)
        for number in _faults.stand_for_none(y, in_long_runs=True):
            found = y == number
            if number in doubts["nones"][:, k]:
                continue
            is_foretold = _is_seasonal(found, seasons) or _faults.are_explained(known, y, found)
            if not is_foretold or _faults.stands_beyond(number, y):
                _take_for_none(doubts, k, [number])


def _comes_again(values):
    """Tell which of values (n,) are numbers that came more than once."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (counts[places] > 1) & ~np.isnan(values)


def _judged(values, known, seasons):
    """Return which of the first values (n,) are faults, and the numbers that stand for none."""
    there = np.flatnonzero(~np.isnan(values))
    faulty = np.zeros(len(values), dtype=bool)
    if len(there) < REVIEWS[0]:
        return faulty, []
    y = values[there]
    found = _faults.judged(y, _FAR)[0]
    numbers = _faults.stand_for_none(y, in_long_runs=True)
    found |= np.isin(y, numbers)
    for first, end in zip(*_faults.runs(found & ~np.isin(y, numbers)), strict=True):
        found[first:end] = end - first <= _LONGEST
    beyond = _faults.stand_beyond(y)
    never = np.isin(values, beyond)
    faulty[there] = found
    faulty &= ~never
    if _are_foretold(faulty, np.where(never, np.nan, values), known, seasons):
        return never, beyond
    return faulty | never, np.union1d(numbers, beyond)


def _are_foretold(found, values, known, seasons):
    """Tell whether those that were found (n,) come in every season, or columns explain them."""
    there = ~np.isnan(values)
    return found.any() and (
        _is_seasonal(found, seasons) or _faults.explain(known[there], values[there], found[there])
    )


def _is_seasonal(mask, lengths=()):
    """Tell whether what is marked (n,) comes in every season to the end, thrice at least.

    A season holds up to three runs; of lengths that were given two seasons are enough. One mark in
    five may come, or not come, out of season: a holiday, an open Sunday.
    """
    starts, _ = _faults.runs(mask)
    if not len(starts):
        return False
    mask = mask[starts[0] :]
    seasons = [length for length in lengths if 2 * length <= len(mask)]
    for k in range(1, min(len(starts) // 3, _RUNS) + 1):
        distances, counts = np.unique(starts[k:] - starts[:-k], return_counts=True)
        seasons.append(int(distances[counts.argmax()]))
    return any(_comes_each(season, mask) for season in seasons)


def _comes_each(season, mask):
    """Tell whether what is marked (n,) comes at the same places of nearly every season."""
    phase = np.arange(len(mask)) % season
    shares = np.bincount(phase, mask) / np.bincount(phase)
    expected = (shares > 0.5)[phase]
    both = (expected & mask).sum()
    return bool(season > 1 and both >= _IN_SEASON * max(mask.sum(), expected.sum()))


def _is_none(doubts, rows, of=slice(None)):
    return (rows == doubts["nones"][0, of]) | (rows == doubts["nones"][1, of])


def _is_outside(doubts, cells):
    """Tell which cells are farther from all before them than these are apart.

    Of numbers above 0, such as amounts over orders of magnitude, in logarithms as well.
    """
    low, high = doubts["range"][:, : cells.shape[-1]]
    is_outside = (cells < 2.0 * low - high) | (cells > 2.0 * high - low)
    with np.errstate(divide="ignore", invalid="ignore"):
        is_near = np.abs(np.log(cells / np.clip(cells, low, high))) <= np.log(high / low)
    return is_outside & ~((low > 0.0) & (cells > 0.0) & is_near)


def _measure(doubts, t, begins, is_same):
    """Learn how far apart runs begin of the numbers that are suspect (m + d,)."""
    apart = np.where(is_same, t - doubts["began"], 0)
    is_even = is_same & (apart == doubts["apart"]) & (apart > 1)
    n_even = np.where(is_even, doubts["n_even"] + 1, 1 + is_same)
    now = {"began": t, "apart": apart, "n_even": n_even}
    for name, value in now.items():
        doubts[name] = np.where(begins, value, doubts[name])


def _come_evenly(doubts):
    """Tell which numbers (m + d,) have come more evenly than chance has it.

    At any share of the rows, what comes at random begins again k rows later with a probability of
    (1 - 1 / k)^(k - 1) / k at most if it comes alone, and of (k - 1) / 2^k if it comes in runs.
    """
    k = np.maximum(doubts["apart"], 2)
    once = np.maximum((1.0 - 1.0 / k) ** (k - 1) / k, (k - 1) / 2.0 ** np.minimum(k, 64))
    n_even = np.maximum(doubts["n_even"], _EVEN)
    by_chance = doubts["n_suspect"] * once ** (n_even - 2)
    return (doubts["n_even"] >= _EVEN) & (by_chance <= _CHANCE)


def _take_for_value(doubts, k, number):
    nones, believed = doubts["nones"].copy(), doubts["believed"].copy()
    nones[nones[:, k] == number, k], believed[k] = np.nan, number
    doubts.update(nones=nones, believed=believed)


def _take_for_none(doubts, k, numbers):
    nones = doubts["nones"].copy()
    nones[:, k] = [*numbers, *nones[:, k]][:2]
    doubts["nones"] = nones


def _believe_foretold(doubts, k, values, known, seasons):
    """Let numbers be values again that stood for none when fewer of the values (n,) had come."""
    are_values = [
        _are_foretold(values == number, values, known, seasons)
        and not _faults.stands_beyond(number, values[~np.isnan(values)])
        for number in doubts["nones"][:, k]
    ]
    if any(are_values):
        doubts["nones"] = doubts["nones"].copy()
        doubts["nones"][are_values, k] = np.nan
