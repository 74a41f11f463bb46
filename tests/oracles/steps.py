"""A tree on columns of few values, grown by trying all splits of all leaves, row by row."""

from itertools import combinations, pairwise

import numpy as np

GAP = -1e101


def forecasts(rows, y, delay=0, n_rows=2048):
    """Means of the rows known in the leaf of each row, less that of all; 0 without a split."""
    rows = np.where(np.isnan(rows), GAP, rows)
    found, trees = np.zeros(len(y)), {}
    for t in range(len(y)):
        known = max(t - delay, 0)
        fit = last_fit(known)
        if fit is None:
            continue
        first = max(fit - n_rows, 0)
        if fit not in trees:
            trees[fit] = grown(rows[first:fit], y[first:fit])
        mine = [leaf_of(trees[fit], row) for row in rows[first:known]]
        same = [place == leaf_of(trees[fit], rows[t]) for place in mine]
        past = y[first:known]
        found[t] = past[same].mean() - past.mean()
    return found


def last_fit(known):
    """Return from how many rows the tree was grown that is heard when so many are known."""
    last, due = None, 16
    while due <= known:
        last, due = due, due + due // 4
    return last


def grown(rows, y):
    """Return a tree: a mean, or (column, threshold, tree below, tree above)."""
    parts, splits = [np.arange(len(y))], {}
    paths = [()]
    while len(parts) < 32:
        best = max(
            ((*best_split(rows[part], y[part]), k) for k, part in enumerate(parts)),
            key=lambda split: split[0],
        )
        gain, column, threshold, k = best
        left = sum(((y[part] - y[part].mean()) ** 2).sum() for part in parts)
        variance = max(left - gain, 0.0) / max(len(y) - len(parts) - 1, 1)
        if gain <= 2.0 * np.log(rows.size) * variance or gain <= 1e-9 * len(y) * y.var():
            break
        part, path = parts.pop(k), paths.pop(k)
        splits[path] = column, threshold
        above = rows[part, column] > threshold
        parts += [part[~above], part[above]]
        paths += [(*path, 0), (*path, 1)]
    return splits


def best_split(rows, y):
    """Return gain, column and threshold of the split that explains most, the first of equals."""
    found = [(0.0, 0, 0.0)]
    for j in range(rows.shape[1]):
        values = np.unique(rows[:, j])
        for low, high in pairwise(values):
            above = rows[:, j] > low
            if min(above.sum(), (~above).sum()) >= 3:
                gain = sum(
                    side.sum() * (y[side].mean() - y.mean()) ** 2 for side in (above, ~above)
                )
                found.append((gain, j, low + 0.5 * (high - low)))
    most = max(gain for gain, _, _ in found)
    return next(split for split in found if split[0] >= (1.0 - 1e-9) * most)


def leaf_of(splits, row):
    """Return the way from the root to the leaf of a row."""
    path = ()
    while path in splits:
        column, threshold = splits[path]
        path = (*path, int(row[column] > threshold))
    return path


def best_pair(X, y, least):
    """Return what the best split by two columns explains, and its columns and thresholds."""
    y = y - y.mean()
    best = 0.0, []
    for i, j in combinations(range(X.shape[1]), 2):
        for a in np.sort(X[:, i])[:-1]:
            for b in np.sort(X[:, j])[:-1]:
                gain, sizes = 0.0, []
                for is_above_a in (False, True):
                    for is_above_b in (False, True):
                        part = y[((X[:, i] > a) == is_above_a) & ((X[:, j] > b) == is_above_b)]
                        sizes.append(len(part))
                        gain += part.sum() ** 2 / max(len(part), 1)
                if min(sizes) >= least and gain > best[0]:
                    best = gain, [(i, a), (j, b)]
    return best
