"""Lu, Hoi, Wang, Zhao, Liu (2016): FOGD and NOGD, one row at a time."""

import numpy as np

from .gradient import ogd, slope


def fogd(X, y, frequencies, **steps):
    """Algorithm 1 on the paired map of frequencies (d, m). Forecasts and the last w."""
    Z = []
    for x in X:
        angles = [x @ omega for omega in frequencies.T]
        Z.append([*np.sin(angles), *np.cos(angles)] / np.sqrt(len(angles)))
    return ogd(np.array(Z), y, **steps)


def nogd(
    X,
    y,
    k,
    budget,
    loss="squared_error",
    eta0=0.1,
    power_t=0.5,
    radius=None,
    quantile=0.5,
):
    """Algorithm 2 with all eigenvalues kept; k(x, x') of two rows.

    Dual coefficients until the budget is full, then the map D^-1/2 V' k_S(x) of the stored rows
    and the function's coefficients in it. Forecasts and the stored rows.
    """
    stored, coef, w, root = [], [], None, None
    forecasts = np.empty(len(y))
    for t, x in enumerate(X):
        values = np.array([k(s, x) for s in stored])
        z = values if w is None else root @ values
        forecasts[t] = np.dot(coef if w is None else w, z) if stored else 0.0
        step = -eta0 / (t + 1) ** power_t * slope(loss, y[t], forecasts[t], quantile)
        if w is None:
            if step != 0:
                stored.append(x)
                coef.append(step)
            if radius is not None and stored:
                norm = np.sqrt(np.array(coef) @ gram(k, stored) @ np.array(coef))
                coef = [c * min(1.0, radius / max(norm, 1e-300)) for c in coef]
            if len(stored) == budget:
                values, V = np.linalg.eigh(gram(k, stored))
                V, values = V[:, values > 1e-10], values[values > 1e-10]
                root = (V / np.sqrt(values)).T
                w = np.sqrt(values) * (np.array(coef) @ V)
        else:
            w = w + step * z
            if radius is not None:
                w *= min(1.0, radius / max(np.linalg.norm(w), 1e-300))
    return forecasts, np.array(stored)


def gram(k, rows):
    """Kernel matrix, of kernel values of two rows."""
    half = np.array(
        [[k(a, b) if j <= i else 0.0 for j, b in enumerate(rows)] for i, a in enumerate(rows)]
    )
    return half + np.tril(half, -1).T
