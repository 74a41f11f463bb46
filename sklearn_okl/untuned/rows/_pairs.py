"""Splits by two columns at once: what depends on a pair, and on neither of the two alone.

Of all pairs of columns, and of cuts through both, the one whose four parts explain most, after Y.
Lou, R. Caruana, J. Gehrke, G. Hooker, "Accurate intelligible models with pairwise interactions",
KDD 2013: the sums of the parts are those of a table of bins, summed up along both of its axes. The
cuts of the best pair are then brought to their places among the values, one after the other.
"""

import numpy as np

_BINS = 8  # of a column, of as many rows each, while pairs are compared
_COMPARED = 512  # rows by which pairs are compared, at even distances
_ROUNDS = 3  # in which the cuts of a pair take turns


def best_pair(rows, y, least, rounding):
    """Return by how much a split by two columns lessens the sum of squares, and its cuts.

    Parameters
    ----------
    rows : ndarray of shape (n, p)
    y : ndarray of shape (n,)
    least : int
        Rows of a part.
    rounding : float
        Share of a gain that may be rounding: of cuts that are equally good it chooses none.

    Returns
    -------
    gain : float
    cuts : list of (int, float)
        Column and threshold of both, or an empty list where nothing can be parted.
    """
    n, p = rows.shape
    if p < 2 or n < 4 * least:
        return 0.0, []
    y = y - y.mean()
    some = slice(None, None, -(-n // _COMPARED))
    bins, edges = _binned(rows[some])
    pairs = np.column_stack(np.triu_indices(p, 1))
    gains = _gains(*_tables(bins, y[some], pairs), least)
    place = int(np.argmax(gains.ravel() >= (1.0 - rounding) * gains.max()))
    if not gains.max() > 0.0:
        return 0.0, []
    k, *at = np.unravel_index(place, gains.shape)
    i, j = pairs[k].tolist()
    cuts = [edges[i][at[0]], edges[j][at[1]]]
    gain = 0.0
    for _ in range(_ROUNDS):
        before = tuple(cuts)
        for side, (mine, other) in enumerate(((i, j), (j, i))):
            is_above = rows[:, other] > cuts[1 - side]
            sides = np.stack([~is_above, is_above], axis=1)
            gain, cuts[side] = best_cut(rows[:, mine], sides, y, least, rounding, cuts[side])
        if tuple(cuts) == before:
            break
    return gain, [(i, cuts[0]), (j, cuts[1])]


def n_pairs_of_cuts(n, n_columns):
    """Return among how many pairs of cuts of n rows, one of half bins, the best is looked for."""
    return n_columns * (n_columns - 1) // 2 * (2 * _BINS - 1) * n


def _binned(rows):
    """Return in which bin of its column each value (n, p) is, and the ends of bins."""
    places = np.linspace(0, len(rows), _BINS + 1).astype(int)[1:-1]
    ends = np.sort(rows, axis=0)[np.maximum(places, 1) - 1].T
    bins = [np.searchsorted(of_one, column) for of_one, column in zip(ends, rows.T, strict=True)]
    return np.column_stack(bins), np.column_stack([ends, ends[:, -1]])


def _tables(bins, y, pairs):
    """Return the numbers and sums (P, b, b) of the rows in the bins of pairs of columns."""
    places = bins[:, pairs[:, 0]] * _BINS + bins[:, pairs[:, 1]]
    places += np.arange(len(pairs)) * _BINS**2
    size, shape = len(pairs) * _BINS**2, (len(pairs), _BINS, _BINS)
    weights = np.repeat(y, len(pairs))
    counts = np.bincount(places.ravel(), minlength=size).astype(float)
    sums = np.bincount(places.ravel(), weights=weights, minlength=size)
    return counts.reshape(shape), sums.reshape(shape)


def _gains(counts, sums, least):
    """Return what the four parts of each pair of cuts explain, 0 where one has too few rows."""
    of_parts = zip(_parts(counts), _parts(sums), strict=True)
    gains, possible = np.zeros(counts.shape), np.ones(counts.shape, dtype=bool)
    for n, total in of_parts:
        gains += np.square(total) / np.maximum(n, 1.0)
        possible &= n >= least
    return np.where(possible, gains, 0.0)


def _parts(table):
    """Return the sums (P, b, b) of the four parts of tables, cut behind each of their places."""
    low = table.cumsum(axis=1).cumsum(axis=2)
    of_rows, of_columns, total = low[:, :, -1:], low[:, -1:, :], low[:, -1:, -1:]
    return low, of_rows - low, of_columns - low, total - of_rows - of_columns + low


def best_cut(column, sides, y, least, rounding, known):
    """Return what the best cut through all sides of a split explains, and its place.

    On which sides (n, k) rows are says the split that is there already: all are on one where there
    is none. Targets are less their mean, and `known` is the place where no cut is possible.
    """
    order = np.argsort(column, kind="stable")
    values, sides = column[order], sides[order]
    counts, sums = sides.cumsum(axis=0).astype(float), (sides * y[order, None]).cumsum(axis=0)
    others = counts[-1] - counts, sums[-1] - sums
    gains = sum(
        (np.square(total) / np.maximum(n, 1.0)).sum(axis=1) for n, total in ((counts, sums), others)
    )
    middles = 0.5 * (values[:-1] + values[1:])
    possible = (middles > values[:-1]) & (middles < values[1:])
    possible &= (np.minimum(counts, others[0])[:-1] >= least).all(axis=1)
    gains = np.where(possible, gains[:-1], 0.0)
    if not gains.max() > 0.0:
        return 0.0, known
    place = int(np.argmax(gains >= (1.0 - rounding) * gains.max()))
    return float(gains[place]), float(middles[place])
