"""VAW and ridge regression by rotations of a triangular root, in longer numbers than a double."""

import numpy as np


def vaw(Z, y, alpha=1.0, forecaster="vaw", forgetting=1.0, weights=None):
    """Eq. (2.4A) of Rokhlin & Gurtovaya (2025): R'R = S, and R'^-1 b beside it.

    The ridge that is forgotten comes back as in `tests.oracles.vovk.vaw`.
    """
    Z, y = np.asarray(Z, dtype=np.longdouble), np.asarray(y, dtype=np.longdouble)
    n, d = Z.shape
    weights = np.ones(n) if weights is None else weights
    root, q, forecasts = np.sqrt(np.longdouble(alpha)) * np.eye(d), np.zeros(d), np.empty(n)
    root, q = (part.astype(np.longdouble) for part in (root, q))
    for t, z in enumerate(Z):
        x = np.zeros(d, dtype=np.longdouble)
        for i in range(d):
            x[i] = (z[i] - root[:i, i] @ x[:i]) / root[i, i]
        forecasts[t] = x @ q
        if forecaster == "vaw":
            forecasts[t] /= 1 + x @ x / forgetting
        root, q = (np.sqrt(np.longdouble(forgetting)) * part for part in (root, q))
        rotate_in(root, q, np.sqrt(np.longdouble(weights[t])) * np.append(z, y[t]))
        if forgetting < 1 and (t + 1) % 64 == 0:
            for i in range(d):
                row = np.zeros(d + 1, dtype=np.longdouble)
                row[i] = np.sqrt((1 - np.longdouble(forgetting) ** 64) * alpha)
                rotate_in(root, q, row)
    return forecasts


def rotate_in(root, q, row):
    """Add a row of features and target by rotations, one for each column."""
    for i in range(len(q)):
        size = np.hypot(root[i, i], row[i])
        if size == 0.0:
            continue
        c, s = root[i, i] / size, row[i] / size
        known, came = np.append(root[i, i:], q[i]), row[i:].copy()
        mixed = c * known + s * came
        root[i, i:], q[i] = mixed[:-1], mixed[-1]
        row[i:] = c * came - s * known
        row[i] = 0.0
