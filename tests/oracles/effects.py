"""A line of differences, and effects of values, row by row: `untuned/experts/_effects.py`."""

import numpy as np

BLOCK, MOST, ALPHA, FADING = 64, 64.0, 0.1, 0.9
SHRUNK = 4.0, 1.0, 0.25, 1.0 / 16.0, 1.0 / 64.0, 1.0 / 256.0


def effects(codes, X, u, delay=0, weights=None):
    """Return the forecasts (n, q) of a line on rows X (n, p) and of what values of codes add.

    At the end of every block each value of each code (n, m) knows how many rows it had, the sums of
    these, and of their targets less what other codes added as was known before the block. The line
    is a ridge on the differences of rows and targets from these means, of the first code, as
    known before the block, weighed by their variances. What a value adds is the mean of what the
    line leaves, drawn towards 0 by some rows: for each target by that number of which the means
    would have had the least geometric mean of the squared errors of blocks. A row is forecast as
    was known `delay` rows ago.
    """
    (n, m), q = codes.shape, u.shape[1]
    weights = np.ones(n) if weights is None else weights.copy()
    Z = np.column_stack([np.ones(n), X])
    p = Z.shape[1]
    A, b, lost = ALPHA * np.eye(p), np.zeros((p, q)), np.zeros((len(SHRUNK), q))
    tables = [{} for _ in range(m)]
    none = np.zeros((p, q)), [{} for _ in range(m)]
    versions, F = [none], np.empty_like(u)
    for t in range(n):
        theta, known = versions[max(t - delay, 0) // BLOCK]
        F[t] = Z[t] @ theta
        for j in range(m):
            F[t] += known[j].get(codes[t, j], np.zeros(q))
        if (t + 1) % BLOCK:
            continue
        block, before = range(t + 1 - BLOCK, t + 1), [dict(table) for table in tables]
        theta, known = versions[-1]
        squares = np.zeros(lost.shape)
        if X[block].any():  # rows that show nothing, as first ones, of which no number has a unit
            weights[block] *= X[block].any(axis=1)
        told = {(i, j): known[j].get(codes[i, j], np.zeros(q)) for i in block for j in range(m)}
        for i in block:
            for k, rows in enumerate(SHRUNK):
                off = u[i] - Z[i] @ theta
                for j in range(m):
                    count, targets, sums = _of(before[j], codes[i, j], q, p)
                    off = off - (targets - sums @ theta) / (count + rows)
                squares[k] += weights[i] * off**2
            less = u[i] - sum(told[i, j] for j in range(1, m))
            count, targets, sums = _of(before[0], codes[i, 0], q, p)
            weight = weights[i] * (count + ALPHA) / (count + ALPHA + 1.0)
            z, v = Z[i] - sums / (count + ALPHA), less - targets / (count + ALPHA)
            A, b = A + weight * np.outer(z, z), b + weight * np.outer(z, v)
            for j in range(m):
                less = u[i] - sum(told[i, k] for k in range(m) if k != j)
                count, targets, sums = _of(tables[j], codes[i, j], q, p)
                more = weights[i] * np.array([1.0, *less, *Z[i]])
                now = np.array([count, *targets, *sums]) + more
                tables[j][codes[i, j]] = now[0], now[1 : 1 + q], now[1 + q :]
        for j in range(m):
            for value in set(codes[block, j].tolist()):
                faded = min(1.0, MOST / max(tables[j][value][0], 1.0))
                tables[j][value] = tuple(faded * part for part in tables[j][value])
        lost = FADING * lost + np.log(squares)
        theta, rows = np.linalg.solve(A, b), np.array(SHRUNK)[lost.argmin(axis=0)]
        adds = [
            {value: (y - z @ theta) / (count + rows) for value, (count, y, z) in table.items()}
            for table in tables
        ]
        versions.append((theta, adds))
    return F


def _of(table, value, q, p):
    return table.get(value, (0.0, np.zeros(q), np.zeros(p)))
