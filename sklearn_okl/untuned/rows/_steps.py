"""A tree on columns of few values: what steps and combinations of them say of the target.

Its forecast is one more column of what the experts see. It is grown anew when the past has grown by
a quarter, or by half where it stands alone, the split that explains most first, as long as that is
more than chance would explain: L. Breiman, J. Friedman, R. Olshen, C. Stone, "Classification and
Regression Trees", 1984. From then on the means of its leaves learn the rows that come. A column may
get as many values as it likes later: values are compared and not counted. A missing value is below
all others.
"""

import numpy as np

from ..._tail import Shared
from ...meta._past import Past
from ._pairs import best_cut, best_pair, n_pairs_of_cuts

N_LOOKED_AT = 64  # rows by which it is known which columns have few values
FEW = N_LOOKED_AT // 2  # distinct values of these
MOST = 16  # such columns, the first ones
N_ROWS = 2048  # latest rows that a tree is grown from
_FIRST = 16  # rows that the first tree is grown from
_N_LEAVES = 32
_LEAST = 3  # rows of a leaf
_LARGE = 32  # rows of a leaf that may be split by two columns at once
_LARGE_SHARE = 4  # and how many such leaves there can be
_LEVELS = 64  # values of a column that are told apart while a tree grows
_ROUNDING = 1e-9  # share of all squares that may be rounding
GAP = -1e101  # in place of a missing value: below all others
_LEAF = -1  # in place of the column of a split
_NEVER = 2**40  # rows


def columns_of_few(X, others):
    """Return the columns of first rows (n, d) that have few values; `others` are none of them."""
    if len(X) != N_LOOKED_AT:
        return np.empty(0, dtype=int)
    few = [len(np.unique(column[~np.isnan(column)])) <= FEW for column in X.T]
    return np.setdiff1d(np.flatnonzero(few), others)[:MOST]


def seen(X, columns):
    """Return the columns of rows (n, d) that a tree sees, without gaps."""
    rows = X[:, columns]
    return np.where(np.isnan(rows), GAP, rows)


def start(n_columns, first=_FIRST):
    """Return the state before the first row, of a tree that is grown once there are so many."""
    return {
        "past": _nothing(n_columns),  # the latest rows
        "tree": Shared(_stump()),
        "n_rows": 0,  # learnt so far
        "next": max(first, _FIRST),  # number of them from which the next tree is grown
        "sums": np.zeros(2),  # of the targets of each leaf, and of all
        "counts": np.zeros(2),
    }


def is_sound(state):
    """Tell whether a state, as from a file, may be one of these: a tree ends, and has its sums."""
    tree, (X, y) = state["tree"], state["past"].rows
    columns, children = tree["columns"], tree["children"]
    nodes, n = np.arange(len(columns)), len(columns)
    inner = columns != _LEAF
    shapes = columns.shape, tree["thresholds"].shape, children.shape
    return bool(
        shapes == ((n,), (n,), (n, 2))
        and columns.dtype.kind == children.dtype.kind == "i"
        and (columns >= _LEAF).all()
        and (columns < X.shape[1]).all()
        and ((children > nodes[:, None]) & (children < n))[inner].all()
        and state["sums"].shape == state["counts"].shape == (n + 1,)
        and (state["counts"] >= 0.0).all()
        and X.shape[:1] == y.shape
        and state["next"] >= _FIRST
        and 0 <= state["n_rows"] < state["next"]
    )


def forecasts(state, rows, y, asked, n_known, alone=False, most=None):
    """Return forecasts (n,) for rows asked (n, p), less the mean; learn rows on the way.

    A tree that stands alone finds pairs of columns, too, and its forecasts are not less the mean.

    Parameters
    ----------
    state : dict
    rows, y : ndarray of shape (n_past, p), ndarray of shape (n_past,)
        Rows that have not been learnt yet, as some may be that wait for their targets.
    asked : ndarray of shape (n, p)
    n_known : ndarray of int of shape (n + 1,)
        How many of the first are known before each row that is asked for, and after the last.
    alone : bool, default=False
    most : int, default=None
        Rows known from which on a tree stays as it was grown, and no row is kept. None: it is grown
        anew for ever.
    """
    path, i, low, n_before = np.zeros(len(asked)), 0, 0, state["n_rows"]
    state["n_rows"] += int(n_known[-1])
    while True:
        high = min(int(n_known[-1]), state["next"] - n_before)
        stop = len(asked) if high < state["next"] - n_before else np.searchsorted(n_known, high)
        places = [leaves(state["tree"], part) for part in (rows[low:high], asked[i:stop])]
        known = np.minimum(n_known[i:stop], high) - low
        path[i:stop] = _means(state, places[0], y[low:high], places[1], known, alone)
        if state["next"] < _NEVER:
            state["past"] += rows[low:high], y[low:high]
        i, low = min(stop, len(asked)), high
        if n_before + high < state["next"]:
            return path
        _begin_anew(state, alone)
        if most is not None and state["next"] > most:
            state |= {"next": _NEVER, "past": _nothing(rows.shape[1])}


def mean_of(state, leaf):
    """Return what a tree that stands alone forecasts of a row in some leaf."""
    return state["sums"].item(leaf) / max(state["counts"].item(leaf), 1.0)


def teach_row(state, row, leaf, target):
    """Learn a row (p,) of a leaf: `forecasts` of one row, in few calls."""
    state["n_rows"] += 1
    for name, term in (("sums", target), ("counts", 1.0)):
        state[name] = known = state[name].copy()
        known[leaf] += term
        known[-1] += term
    if state["next"] == _NEVER:
        return
    state["past"] += row[None], np.array([target])
    if state["n_rows"] == state["next"]:
        _begin_anew(state, pairs=True)


def _begin_anew(state, pairs):
    """Grow a tree from the latest rows; its leaves begin with the means of these."""
    rows, y = state["past"].rows
    state["tree"] = Shared(grown(rows, y, pairs))
    places = leaves(state["tree"], rows)
    n_nodes = len(state["tree"]["columns"])
    for name, weights in (("sums", y), ("counts", np.ones(len(y)))):
        of_leaves = np.bincount(places, weights=weights, minlength=n_nodes)
        state[name] = np.append(of_leaves, weights.sum())
    state["next"] += state["next"] // (2 if pairs else 4)


def _means(state, places, y, asked, n_known, alone):
    """Return the means (n,) of the leaves asked for, less that of all; learns on the way."""
    sums, counts = state["sums"].tolist(), state["counts"].tolist()
    low, y, places, asked = 0, y.tolist(), places.tolist(), asked.tolist()
    path = np.zeros(len(asked))
    for i, high in enumerate([*n_known.tolist(), len(y)]):
        for k, target in zip(places[low:high], y[low:high], strict=True):
            sums[k] += target
            counts[k] += 1.0
            sums[-1] += target
            counts[-1] += 1.0
        low = max(low, high)
        if i < len(asked) and (alone or len(sums) > 2):
            k = asked[i]
            path[i] = sums[k] / max(counts[k], 1.0) - (0.0 if alone else sums[-1] / counts[-1])
    state["sums"], state["counts"] = np.array(sums), np.array(counts)
    return path


def _nothing(n_columns):
    """Return the past before the first row."""
    return Past(np.empty((0, n_columns)), np.empty(0), N_ROWS)


def leaf_of(state, row):
    """Return the leaf of one row (p,): `leaves`, without its arrays."""
    tree, row = state["tree"], row.tolist()
    columns, thresholds, children = tree["columns"], tree["thresholds"], tree["children"]
    leaf = 0
    while (column := columns.item(leaf)) != _LEAF:
        leaf = children.item(leaf, int(row[column] > thresholds.item(leaf)))
    return leaf


def leaves(tree, rows):
    """Return the leaf (n,) of each row: its number among all nodes."""
    nodes, n = np.zeros(len(rows), dtype=int), np.arange(len(rows))
    while True:
        columns = tree["columns"][nodes]
        inner = columns != _LEAF
        if not inner.any():
            return nodes
        is_above = rows[n, columns] > tree["thresholds"][nodes]
        nodes = np.where(inner, tree["children"][nodes, is_above.astype(int)], nodes)


def boxes(state, n_columns):
    """Return between which ends (n_columns, m) the m leaves of a tree are, and their means (m,)."""
    tree, found = state["tree"], []
    ahead = [(0, np.full(n_columns, -np.inf), np.full(n_columns, np.inf))]
    while ahead:
        node, low, high = ahead.pop()
        column, threshold = tree["columns"][node], tree["thresholds"][node]
        if column == _LEAF:
            mean = state["sums"][node] / max(state["counts"][node], 1.0)
            found.append((low, high, mean))
            continue
        below, above = high.copy(), low.copy()
        below[column], above[column] = min(high[column], threshold), max(low[column], threshold)
        ahead += [(tree["children"][node, 0], low, below), (tree["children"][node, 1], above, high)]
    low, high, means = map(np.array, zip(*found, strict=True))
    return low.T, high.T, means


def grown(rows, y, pairs=False):
    """Return a tree grown from rows (n, p) and targets (n,); by pairs of columns, too, if asked."""
    bins, splits, is_coarse = _binned(rows)
    tree = {name: part.tolist() for name, part in _stump().items()}
    y = y - y.mean()
    all_squares = left = y @ y
    n_least = max(_LARGE, len(y) // _LARGE_SHARE) if pairs else len(y) + 1

    def best_of(mine):
        found = _best_cut(bins[mine], y[mine], splits)
        return found if len(mine) < n_least else _better(found, rows[mine], y[mine])

    members = {0: np.arange(len(y))}
    best = {0: best_of(members[0])}
    while len(members) < _N_LEAVES:
        node = max(best, key=lambda node: best[node][0] / (2 * len(best[node][1]) - 1))
        gain, cuts = best.pop(node)
        if len(cuts) == 1 and is_coarse[cuts[0][0]]:
            mine = members[node]
            gain, cuts = _brought_to_its_place(gain, *cuts[0], rows[mine], y[mine])
        variance = max(left - gain, 0.0) / max(len(y) - len(members) - 1, 1)
        chance = _chance(len(y), rows.shape[1], len(cuts))
        if gain <= max(chance * variance, _ROUNDING * all_squares):
            break
        left -= gain
        parts = {node: members.pop(node)}
        for cut in cuts:
            parts = _parted(tree, parts, rows, cut)
        members |= parts
        best |= {child: best_of(mine) for child, mine in parts.items()}
    kinds = {"columns": int, "thresholds": float, "children": int}
    return {name: np.array(tree[name], dtype=kind) for name, kind in kinds.items()}


def gain_of(rows, Y):
    """Return by how much a split of rows (n, p) lessens the sums of squares of targets (n, q)."""
    bins, splits, _ = _binned(seen(rows, np.arange(rows.shape[1])))
    return sum(_best_cut(bins, y, splits)[0] / max(len(y) * y.var(), 1e-300) for y in Y.T)


def share_by_chance(n, n_columns):
    """Return the share of a target that the best split of n rows would explain by chance alone."""
    return _chance(n, n_columns, 1) / n


def _chance(n, n_columns, n_cuts):
    """Return how many variances the best of so many splits would explain by chance alone."""
    if n_cuts == 1:
        return 2.0 * np.log(n * n_columns)
    return 3.0 + 2.0 * np.log(n_pairs_of_cuts(n, n_columns))


def _brought_to_its_place(gain, column, threshold, rows, y):
    """Return a split at the place of its column that explains most, of all that there are."""
    if gain == 0.0:
        return gain, [(column, threshold)]
    of_column = rows[:, column], np.ones((len(y), 1), dtype=bool), y - y.mean()
    gain, threshold = best_cut(*of_column, _LEAST, _ROUNDING, threshold)
    return gain, [(column, threshold)]


def _better(cut, rows, y):
    """Return a split by one column, or one by two that explains more for each of its three."""
    gain, cuts = best_pair(rows, y, _LEAST, _ROUNDING)
    return (gain, cuts) if gain > 3.0 * cut[0] and cuts else cut


def _parted(tree, parts, rows, cut):
    """Part leaves by a column and a threshold; return what becomes of them, with their rows."""
    (column, threshold), children = cut, {}
    for node, mine in parts.items():
        is_above = rows[mine, column] > threshold
        first = len(tree["columns"])
        tree["columns"][node], tree["thresholds"][node] = column, threshold
        tree["children"][node] = [first, first + 1]
        for name, empty in (("columns", _LEAF), ("thresholds", 0.0), ("children", [0, 0])):
            tree[name] += [empty, empty]
        children |= {first: mine[~is_above], first + 1: mine[is_above]}
    return children


def _stump():
    return {
        "columns": np.full(1, _LEAF),
        "thresholds": np.zeros(1),
        "children": np.zeros((1, 2), dtype=int),
    }


def _binned(rows):
    """Return where the values (n, p) stand among all splits, and these: columns and thresholds.

    And of which columns (p,) they are not all that there are.
    """
    bins, thresholds, low = np.empty(rows.shape, dtype=int), [], 0
    is_coarse = np.zeros(rows.shape[1], dtype=bool)
    for j, column in enumerate(rows.T):
        values = np.unique(column)
        middles = values[:-1] + 0.5 * (values[1:] - values[:-1])
        is_coarse[j] = len(middles) > _LEVELS
        middles = middles[:: -(-len(middles) // _LEVELS) or 1]
        bins[:, j] = low + np.searchsorted(middles, column)
        thresholds.append(np.append(middles, np.inf))  # the last one parts nothing
        low += len(middles) + 1
    columns = np.repeat(np.arange(rows.shape[1]), [len(part) for part in thresholds])
    return bins, (columns, np.concatenate(thresholds)), is_coarse


def _best_cut(bins, y, splits):
    """Return by how much the best split lessens the sum of squares, and its [(column, threshold)].

    Where there is none it lessens nothing.
    """
    columns, n = splits[0], len(y)
    if n < 2 * _LEAST:
        return 0.0, [(0, np.inf)]
    y, n_columns = y - y.mean(), bins.shape[1]
    counts = np.bincount(bins.ravel(), minlength=len(columns)).cumsum() - n * columns
    weights = np.repeat(y, n_columns)
    sums = np.bincount(bins.ravel(), weights=weights, minlength=len(columns)).cumsum()
    possible = (counts >= _LEAST) & (n - counts >= _LEAST)
    others = np.where(possible, counts * (n - counts), 1)
    gains = np.where(possible, np.square(sums) * n / others, 0.0)
    # of splits that part these rows alike rounding chooses none
    place = int(np.argmax(gains >= (1.0 - _ROUNDING) * gains.max()))
    return float(gains[place]), [(int(columns[place]), float(splits[1][place]))]
