"""What categories and gaps say, row by row, and what fills a gap."""

import numpy as np


def means_of_categories(column, y, delay=0, shrunk=10.0):
    """Means of the targets of a category's earlier rows, less that of all rows, shrunk to it.

    None is a category as well, after the first value of the column; before it, it is a gap, NaN.
    """
    found = []
    for t, value in enumerate(column):
        past = range(max(t - delay, 0))
        mean = np.mean([y[s] for s in past]) if len(past) else 0.0
        if value is None and all(other is None for other in column[:t]):
            found.append(np.nan)
            continue
        begun = [s for s in past if any(other is not None for other in column[: s + 1])]
        mine = [y[s] - mean for s in begun if column[s] == value]
        found.append(sum(mine) / (len(mine) + shrunk))
    return np.array(found)


def what_gaps_say(X, y, delay=0, shrunk=10.0):
    """For each row the sum over its gaps of what the targets of earlier ones say, if they do."""
    found = []
    for t, row in enumerate(X):
        past = slice(0, max(t - delay, 0))
        said = 0.0
        for j in np.flatnonzero(np.isnan(row)):
            mine = y[past][np.isnan(X[past, j])] - (y[past].mean() if len(y[past]) else 0.0)
            if len(mine) and abs(mine.sum()) > 3.0 * np.sqrt(len(mine) * y[past].var()):
                said += mine.sum() / (len(mine) + shrunk)
        found.append(said)
    return np.array(found)


def filled(X, centers, scales, delay=0, block=64):
    """Rows with conditional means, by the correlations of whole blocks of rows before, in gaps.

    And the conditional variances of these, in squared scales; 0 where there is no gap.
    """
    begun = np.flatnonzero(np.isnan(X).any(axis=1))[0]
    Z, found, variances = [], X.copy(), 1.0 * (np.isnan(X) & (scales > 0.0))
    for t, row in enumerate(X):
        gap = np.isnan(row)
        z = np.zeros(len(row))
        there = ~gap & (scales[t] > 0)
        z[there] = np.clip((row[there] - centers[t][there]) / scales[t][there], -5, 5)
        if t >= begun:
            known = max(t - begun - delay, 0) // block * block
            if known and gap.any():
                past = np.array(Z[:known])
                K = past.T @ past / known
                o = np.flatnonzero(~gap)
                A = K[np.ix_(o, o)] + (0.002 + 10.0 / known) * np.eye(len(o))
                of_gaps = K[np.ix_(gap, o)]
                z[gap] = np.clip(of_gaps @ np.linalg.solve(A, z[o]), -5, 5)
                left = K[np.ix_(gap, gap)] - of_gaps @ np.linalg.solve(A, of_gaps.T)
                variances[t, gap] = np.clip(np.diagonal(left), 0, 1)
            Z.append(z)
        found[t] = np.where(gap, centers[t] + scales[t] * z, row)
    return found, variances
