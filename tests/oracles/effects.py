"""Effects of values on a line, row by row: `sklearn_okl/untuned/experts/_effects.py`."""

import numpy as np

BLOCK, MOST, FARTHEST = 64, 64.0, 16.0
SHRUNK = 4.0, 1.0, 0.25, 1.0 / 16.0, 1.0 / 64.0, 1.0 / 256.0


def effects(codes, base, u, delay=0, weights=None):
    """Return the forecasts (n, q) of a line (n, q) and of what it left of each value of codes.

    At the end of every block each value of each code (n, m) has a mean of what the line, and the
    other codes as they were known before the block, left in its rows, drawn towards 0 by some rows
    more: for each target by that number of which the means would have lost least so far, one in the
    first block. A row is forecast as was known `delay` rows ago.
    """
    (n, m), q = codes.shape, u.shape[1]
    weights = np.ones(n) if weights is None else weights
    tables, F = [{} for _ in range(m)], np.empty_like(u)
    versions, shrunk, lost = [[{} for _ in range(m)]], [np.ones(q)], np.zeros((len(SHRUNK), q))
    for t in range(n):
        known, by = (part[max(t - delay, 0) // BLOCK] for part in (versions, shrunk))
        F[t] = base[t] + sum(_effect(known[j], codes[t, j], by) for j in range(m))
        if (t + 1) % BLOCK:
            continue
        block, before = range(t + 1 - BLOCK, t + 1), [dict(table) for table in tables]
        left = u[block] - base[block]
        most = FARTHEST * np.median(np.abs(left), axis=0)
        left = np.clip(left, -most, most)
        for i, row in zip(block, left, strict=True):
            for k, rows in enumerate(SHRUNK):
                told = sum(_effect(before[j], codes[i, j], np.full(q, rows)) for j in range(m))
                lost[k] += weights[i] * (row - told) ** 2
            for j in range(m):
                others = sum(
                    (_effect(before[k], codes[i, k], shrunk[-1]) for k in range(m) if k != j),
                    np.zeros(q),
                )
                count, total = tables[j].get(codes[i, j], (0.0, np.zeros(q)))
                now = count + weights[i], total + weights[i] * (row - others)
                tables[j][codes[i, j]] = now
        for j in range(m):
            for value in set(codes[block, j].tolist()):
                count, total = tables[j][value]
                faded = min(1.0, MOST / max(count, 1.0))
                tables[j][value] = faded * count, faded * total
        versions.append([dict(table) for table in tables])
        shrunk.append(np.array(SHRUNK)[lost.argmin(axis=0)])
    return F


def _effect(table, value, rows):
    count, total = table.get(value, (0.0, np.zeros(len(rows))))
    return total / (count + rows)
