"""Several classes by margins: one binary model a class, or functions that share stored rows."""

import numpy as np

from .budgeted_gradient import gram
from .gradient import slope


def signs(labels, classes):
    """Targets (n, C): 1 for the row's own class, -1 for all others."""
    return np.array([[1.0 if label == c else -1.0 for c in classes] for label in labels])


def models_apart(make, X, labels, classes):
    """A binary model a class, made by `make()` and taught its own targets; decision values."""
    columns = [
        make()._advance(X, targets, restart=True, validation={"classes": [-1, 1]})
        for targets in signs(labels, classes).T
    ]
    return np.array(columns).T


def nogd(X, Y, k, budget, loss, eta0=0.1, power_t=0.5, radius=None):
    """NOGD of C functions: a row is stored where any of them steps. Forecasts and stored rows."""
    n, C = Y.shape
    stored, coef, w, root = [], np.zeros((C, 0)), None, None
    forecasts = np.zeros((n, C))
    for t, x in enumerate(X):
        values = np.array([k(s, x) for s in stored])
        z = values if w is None else root @ values
        steps = np.zeros(C)
        for c in range(C):
            forecasts[t, c] = np.dot(coef[c] if w is None else w[c], z) if stored else 0.0
            steps[c] = -eta0 / (t + 1) ** power_t * slope(loss, Y[t, c], forecasts[t, c], 0.5)
        if w is None:
            if np.any(steps != 0):
                stored.append(x)
                coef = np.hstack([coef, steps[:, None]])
            K = gram(k, stored)
            for c in range(C):
                norm = np.sqrt(coef[c] @ K @ coef[c])
                if radius is not None and norm > radius:
                    coef[c] *= radius / norm
            if len(stored) == budget:
                values, V = np.linalg.eigh(K)
                V, values = V[:, values > 1e-10], values[values > 1e-10]
                root = (V / np.sqrt(values)).T
                w = (coef @ V) * np.sqrt(values)
        else:
            for c in range(C):
                w[c] = w[c] + steps[c] * z
                if radius is not None:
                    w[c] *= min(1.0, radius / np.linalg.norm(w[c]))
    return forecasts, np.array(stored)
