"""Running moments that a faulty value cannot spoil.

The moments are those of B. P. Welford, "Note on a method for calculating corrected sums of squares
and products", Technometrics 4(3), 1962; what counts as faulty is ours.

Of n values none is further than sqrt(n) standard deviations from their mean, however rare it is.
One that comes further off than that, than 20 deviations, and further from the range of those before
it than that is wide, is a fault. It is learnt as one 5 deviations off, which says little among some
tens of rows. But faults are not many: where they are more than one in eleven, each counts twice as
much as the one before it, in squares, so that a new level or unit of any size is followed within 10
to 30 rows.

The first rows tell nothing of what is far. They are learnt as they come, and judged as a whole when
there are enough.

Rows in which a column stands still say nothing of its unit. Counted, 200 of them make its deviation
after the first other value a fourteenth of what it will be. So a column that has stood still for as
many rows as are judged, or more, and moves, begins there, from one row of what it was.
"""

import numpy as np

from .._linalg import are_all
from . import _faults

N_FIRST = 32  # rows that are judged as a whole
LARGEST = 1e100  # larger numbers are learnt as this one; scales below its inverse are none
_FAULTY = 20.0  # standard deviations that a value must be off at least to count as faulty
LEARNT = 5.0  # and as how many off it is learnt
_FAULTY_AT_FIRST = 30.0  # robust ones, for the first values: clean tails may be heavy
_MOST = 0.1  # share of the first values that can be faults
_FEWEST = 8  # values that can be judged as a whole
_LONELY = 100.0  # distances of nearly all from the median that a lonely value is off
_ABSURD = 1e9  # and in medians, or numbers of 1, where nearly all values are equal
_MAD = 1.4826  # standard deviations in a median distance of Gaussian numbers
_RISE = 10.0  # of the alarm at a faulty value: whole numbers, which no cut of the stream rounds
_CHUNK = 512  # rows learnt at once
_CAUTIOUS = 16  # and after a faulty one


def or_one(scales):
    """Return scales, and 1 where there is none."""
    return np.where(scales > 1.0 / LARGEST, scales, 1.0)


def reaches(counts):
    """Return how many deviations off rows can leave that know so many others.

    Of n + 1 values, itself included, none is further than sqrt(n) deviations from their mean. Where
    there are enough of them a deviation is known well, and what is further off is so.
    """
    return np.where(counts < N_FIRST, np.sqrt(np.maximum(counts, 1.0)), np.inf)


def both_sides(reach):
    """Return the low and the high end of what is so far off."""
    return -reach, reach


def within(Z, X, centers, scales, counts, ends=both_sides):
    """Return rows X (n, d) as scaled, Z, no further off than rows can be that know so many others.

    Of `ends` are what values are scaled to that are so many scales off. One that differs from the
    centre of a column without a scale by more than rounding is one scale off.
    """
    none = scales <= 1.0 / LARGEST
    if none.any():
        (low, high), off, near = ends(1.0), X - centers, rounding(counts, centers)
        Z = np.where(none & (off > near), high, Z)
        Z = np.where(none & (off < -near), low, Z)
    low, high = ends(reaches(counts))
    return np.minimum(np.maximum(Z, low), high)


def standardised(X, means, deviations, counts):
    """Return rows (n, d) less means, in deviations, as far off as these can be of so many rows."""
    return within((X - means) / or_one(deviations), X, means, deviations, counts)


def width(low, high):
    """Return how wide ranges are: 0 where rounding alone could have made them so wide."""
    found = high - low
    return np.where(found > rounding(N_FIRST, np.maximum(np.abs(low), np.abs(high))), found, 0.0)


def rounding(weights, means):
    """Return how far off rounding may have put numbers of this size, of so many."""
    return weights * np.finfo(np.float64).eps * np.abs(means)


def first_moves(rows, low, high):
    """Return which values of rows (n, d) differ from all before, (d,), that were one number."""
    near = rounding(N_FIRST, high)
    still = high - low <= near
    return still & (np.abs(rows - low) > near) if still.any() else np.zeros_like(rows, dtype=bool)


def counted(t, begun):
    """Return how many rows are known in rounds t of columns (d,) that have begun, see `_begin`."""
    return np.where(t > begun, t - begun, t) if begun.any() else t


def start(row):
    """Return the moments of nothing, to be followed by a row (d,)."""
    nothing = np.zeros(len(row))
    return {
        "t": 0,
        "weight": nothing,
        "begun": nothing,  # rows that do not count, of columns that stood still at first
        "origin": row.copy(),  # sums of large numbers would lose the small differences
        "sums": nothing,
        "squares": nothing,  # of the distances from the mean
        "alarm": nothing,  # 10 for each faulty value, less 1 for each other one, and never below 0
        "range": np.stack([row, row]),  # smallest and largest values as they were learnt
        "first": np.empty((0, len(row))),  # rows not yet judged
    }


def learn(state, X, forgetting=1.0):
    """Learn rows (n, d) in order; any cut of the stream gives the same to the last bit.

    Returns
    -------
    means, deviations : ndarray of shape (n, d)
        What was known before each row. A deviation is 0 where a column has been constant.
    learnt : ndarray of shape (n, d)
        The rows as they were learnt, faulty values nearer; the first rows as they came, but for
        the last of them, with which they are judged.
    """
    if len(X) == 1 and state["t"] >= N_FIRST:
        return _learn_row(state, X, forgetting)
    means, deviations, learnt = np.empty_like(X), np.empty_like(X), X.copy()
    low, step = 0, _CHUNK
    while low < len(X):
        early = N_FIRST - state["t"]  # rows that come before the first judgement
        high = min(len(X), low + (early if early > 0 else step))
        if early <= 0:
            high = low + _begin(state, learnt[low:high])
        weights, sums, squares = _paths(state, learnt[low:high], forgetting)
        m, s = _mean_and_deviation(state["origin"], weights[:-1], sums[:-1], squares[:-1])
        if early <= 0:
            i, nearer = _first_faulty(state, learnt[low:high], weights[:-1], m, s)
            if i is None:
                step = min(2 * step, _CHUNK)
                state["alarm"] = np.maximum(state["alarm"] - (high - low), 0.0)
            else:
                # what follows is to be seen from there
                high, step = low + i + 1, _CAUTIOUS
                faulty = nearer != learnt[low + i]
                alarm = np.maximum(state["alarm"] - i, 0.0)
                state["alarm"] = np.maximum(alarm + np.where(faulty, _RISE, -1.0), 0.0)
                learnt[low + i] = nearer
                weights, sums, squares = _paths(state, learnt[low:high], forgetting)
        means[low:high], deviations[low:high] = m[: high - low], s[: high - low]
        state.update(
            t=state["t"] + high - low,
            weight=np.broadcast_to(weights[-1], state["weight"].shape).copy(),
            sums=sums[-1].copy(),
            squares=squares[-1].copy(),
            range=widened(state["range"], learnt[low:high]),
        )
        if early > 0:
            state["first"] = np.concatenate([state["first"], X[low:high]])
            if len(state["first"]) == N_FIRST:
                learnt[high - 1] = _judge(state, forgetting)
        low = high
    return means, deviations, learnt


def known(state):
    """Return the mean and the deviation (d,) of each column known now."""
    return _mean_and_deviation(state["origin"], state["weight"], state["sums"], state["squares"])


def merge(state, theirs):
    """Add the moments of other rows to a state, in place: sums of squares about the common mean.

    A part of few rows still holds them all, and nothing has judged them: the other one learns them.
    """
    if state["t"] < N_FIRST <= theirs["t"]:
        few = state["first"]
        state.update(theirs)
        learn(state, few)
        return
    if theirs["t"] < N_FIRST:
        learn(state, theirs["first"])
        return
    _begin_where(state, first_moves(theirs["range"], *state["range"]).any(axis=0))
    before, after = state["weight"], theirs["weight"]
    apart = theirs["origin"] + theirs["sums"] / after
    apart -= state["origin"] + state["sums"] / before
    shift = theirs["origin"] - state["origin"]
    shares = before * after / (before + after)
    state["sums"] = state["sums"] + theirs["sums"] + after * shift
    state["squares"] = state["squares"] + theirs["squares"] + apart**2 * shares
    state["t"], state["weight"] = state["t"] + theirs["t"], before + after
    state["begun"] = state["begun"] + theirs["begun"]
    state["alarm"] = np.maximum(state["alarm"], theirs["alarm"])
    state["range"] = widened(state["range"], theirs["range"])


def caution(weights):
    """Return by how much more a value must be off where few rows are remembered.

    Their deviation may be small by chance.
    """
    return np.maximum(1.0, N_FIRST / np.maximum(weights, 1.0))


def judged(rows):
    """Return first rows (n, d), the faulty values nearer: those far beyond nearly all others."""
    middle = np.median(rows, axis=0)
    distances = np.abs(rows - middle)
    spread = _MAD * np.median(distances, axis=0)
    far = distances > _FAULTY_AT_FIRST * spread
    # a column that is constant for the most part has no typical distance
    far &= (spread > rounding(len(rows), middle)) & (far.mean(axis=0) <= _MOST)
    nearer = np.clip(rows, middle - LEARNT * spread, middle + LEARNT * spread)
    return np.where(far, nearer, rows)


def medians(X):
    """Return the medians (d,) of columns, 0 where nothing is there. NaN is no value."""
    return _medians(*_ordered(X)[1:])


def lonely(X):
    """Return which of few rows' values (n, d) lie far beyond nearly all others of their column.

    And the medians (d,) of the columns. NaN is no value. Nearly all are nine in ten, and all but
    one. Where these are equal nothing tells what is far, and only absurd values are. A number that
    stands still beyond all others is far, too, if it comes in less than half of the rows.
    """
    (there, values, number), columns = _ordered(X), np.arange(X.shape[1])
    middle = _medians(values, number)
    distances = np.where(there, np.abs(X - middle), np.inf)
    nearly_all = np.maximum(number - 1 - np.maximum(1, (_MOST * number).astype(int)), 0)
    usual = np.sort(distances, axis=0)[nearly_all, columns]
    limit = np.where(usual > 0.0, _LONELY * usual, _ABSURD * np.maximum(np.abs(middle), 1.0))
    far = there & (distances > limit) & (number >= _FEWEST)
    if len(X) < _FEWEST:
        return far, middle
    n = _faults.ALIKE  # times that an end comes at least in a column that is looked at
    repeats = (values[0] == values[n - 1]) | (
        values[number - 1, columns] == values[number - n, columns]
    )
    for j in np.flatnonzero(repeats & (number >= _FEWEST)):
        far[:, j] |= np.isin(X[:, j], _faults.stand_beyond(X[there[:, j], j]))
    return far, middle


def _ordered(X):
    """Return which values are there, all (n, d) in order, others last, and their number (d,)."""
    there = np.isfinite(X)
    return there, np.sort(np.where(there, X, np.inf), axis=0), there.sum(axis=0)


def _medians(values, number):
    columns = np.arange(values.shape[1])
    halves = values[[np.maximum(number - 1, 0) // 2, number // 2 * (number > 0)], columns]
    return np.where(number > 0, halves.mean(axis=0), 0.0)


def faded(terms, start, forgetting=1.0):
    """Return the sums s_t = forgetting s_{t-1} + terms_t, from s_0 = start on, (n + 1, d)."""
    n = len(terms)
    if n == 1 or forgetting == 1.0:  # SciPy takes ten times as long to get ready
        sums = np.empty((n + 1, *terms.shape[1:]))
        sums[0] = start
        if n == 1:
            sums[1] = terms[0] + forgetting * start
            return sums
        sums[1:] = terms
        return np.add.accumulate(sums, axis=0, out=sums)
    from scipy.signal import lfilter  # slow to import, and seldom needed

    sums = lfilter([1.0], [1.0, -forgetting], terms, axis=0, zi=forgetting * start[None])[0]
    return np.concatenate([start[None], sums])


def paths(rows, weights, sums, squares, forgetting=1.0):
    """Return weights, sums and sums of squares, (n + 1, ...), before each row and after the last.

    The squares are of the distances from the mean, B. P. Welford's: no large mean does them harm.
    """
    weights = faded(np.ones((len(rows), *weights.shape)), weights, forgetting)
    sums = faded(rows, sums, forgetting)
    means = sums / np.maximum(weights, 1.0)  # below 1 only where there is nothing to divide
    terms = (rows - means[:-1]) * (rows - means[1:])
    return weights, sums, faded(terms, squares, forgetting)


def moderate(X):
    """Return rows without the numbers whose squares would overflow."""
    return brought_near(X, LARGEST)


def brought_near(X, most):
    """Return the nearest numbers that are no farther from 0 than most."""
    nearer = np.maximum(X, -most)  # `numpy.clip` takes longer to get ready
    return np.minimum(nearer, most, out=nearer)


def divided(X, scales):
    """Return numbers over scales, and 0 where these are none."""
    are_scales = scales > 0.0
    if are_all(are_scales):
        return X / scales
    return np.divide(X, scales, out=np.zeros(X.shape), where=are_scales)


def _begin(state, rows):
    """Let columns that stood still until the first of some rows begin there.

    Return how many of the rows come before the next such column moves, 1 at least.
    """
    moves = first_moves(rows, *state["range"])
    if not moves.any():
        return len(rows)
    begins = moves[0]
    _begin_where(state, begins)
    later = (moves[1:] & ~begins).any(axis=1)
    return 1 + int(later.argmax()) if later.any() else len(rows)


def _begin_where(state, begins):
    """Let columns (d,) that have stood still begin now, with one row of what they were."""
    if begins.any():
        state["begun"] = np.where(begins, state["t"] - 1.0, state["begun"])
        for name, now in (("weight", 1.0), ("sums", 0.0), ("squares", 0.0)):
            state[name] = np.where(begins, now, state[name])


def _learn_row(state, X, forgetting):
    """Do what `learn` does with a row (1, d) that comes after the first ones, in fewer calls."""
    x, origin = X[0], state["origin"]
    mean, deviation = known(state)
    if not np.logical_and.reduce(deviation):  # a look at fewer numbers than of all ranges
        _begin(state, X)
        mean, deviation = known(state)
    weight = state["weight"]
    factors, far = _far(x, state["alarm"], weight, mean, deviation)
    rise = -1.0
    if np.logical_or.reduce(far):
        nearer = _nearer(x, far, state["range"], factors, mean, deviation)
        if nearer is not None:
            rise, x = np.where(nearer != x, _RISE, -1.0), nearer
    state["alarm"] = np.maximum(state["alarm"] + rise, 0.0)
    after, row = 1.0 + forgetting * weight, x - origin
    sums = row + forgetting * state["sums"]
    terms = (row - state["sums"] / np.maximum(weight, 1.0)) * (row - sums / np.maximum(after, 1.0))
    low, high = state["range"]
    state.update(
        t=state["t"] + 1,
        weight=after,
        sums=sums,
        squares=terms + forgetting * state["squares"],
        range=np.array([np.minimum(low, x), np.maximum(high, x)]),
    )
    return mean[None], deviation[None], np.array([x])


def _judge(state, forgetting):
    """Take the moments of columns with faults from the first rows as judged; return the last."""
    rows = judged(state["first"])
    faulty = (rows != state["first"]).any(axis=0)
    if faulty.any():
        anew = start(np.median(rows, axis=0))  # the first row may have been the fault
        _, sums, squares = _paths(anew, rows, forgetting)
        for name, now in (("origin", anew["origin"]), ("sums", sums[-1]), ("squares", squares[-1])):
            state[name] = np.where(faulty, now, state[name])
        state["range"] = np.stack([rows.min(axis=0), rows.max(axis=0)])
    state["first"] = state["first"][:0]
    return rows[-1]


def _paths(state, X, forgetting):
    """Return weights (n + 1, 1 or d), sums and squares (n + 1, d), before each row of X."""
    weight = state["weight"]
    weight = weight if (weight != weight[0]).any() else weight[:1]
    return paths(X - state["origin"], weight, state["sums"], state["squares"], forgetting)


def _mean_and_deviation(origin, weights, sums, squares):
    """Return means, and deviations that are 0 where rounding alone could have made them."""
    weights = np.maximum(weights, 1.0)
    shifts, variances = sums / weights, squares / weights
    means = origin + shifts
    # values are rounded as large as they are, however many; sums as far as they are off the origin
    off = np.maximum(rounding(np.minimum(weights, N_FIRST), means), rounding(weights, shifts))
    floor = weights * np.finfo(np.float64).eps * variances + off**2
    none = (variances <= floor) | (variances <= LARGEST**-2)
    return means, np.sqrt(np.where(none, 0.0, variances))


def widened(limits, rows):
    """Return the smallest and the largest values (2, d) of a range and of rows."""
    return np.stack(
        [np.minimum(limits[0], rows.min(axis=0)), np.maximum(limits[1], rows.max(axis=0))]
    )


def _first_faulty(state, rows, weights, means, deviations):
    """Return the index of the first row with faulty values, and the row with these nearer."""
    alarms = np.maximum(state["alarm"] - np.arange(len(rows))[:, None], 0.0)
    factors, faulty = _far(rows, alarms, weights, means, deviations)
    # most rows are not even far, and need no look at the range
    for i in np.flatnonzero(faulty.any(axis=1)):
        limits = widened(state["range"], rows[:i]) if i > 0 else state["range"]
        nearer = _nearer(rows[i], faulty[i], limits, factors[i], means[i], deviations[i])
        if nearer is not None:
            return int(i), nearer
    return None, None


def _far(rows, alarms, weights, means, deviations):
    """Return the factors of caution at rows (n, d) or (d,), and which values are far off."""
    factors = caution(weights) * np.exp2(alarms / (2.0 * _RISE))
    far = np.maximum(_FAULTY * factors, np.sqrt(weights)) * deviations
    return factors, (np.abs(rows - means) > far) & (deviations > 0.0)


def _nearer(row, far, limits, factors, mean, deviation):
    """Return a row (d,) with its faulty values nearer: far off and outside of all limits (2, d)."""
    low, high = limits
    width = high - low
    outside = far & ((row < low - width) | (row > high + width))
    if not outside.any():
        return None
    size = LEARNT * factors * deviation
    return np.where(outside, np.clip(row, mean - size, mean + size), row)
