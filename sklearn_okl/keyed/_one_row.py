"""One row of one key of a bank: what `KeyedBank` does for many, without what that takes."""

from math import isfinite, sqrt

import numpy as np

from . import _scaled
from ._record import TAIL, YOUNG, numbers


def is_plain(array, ndim):
    """Tell whether an array holds finite numbers: of most a look takes less than the checks."""
    if type(array) is not np.ndarray or array.dtype != np.float64 or array.ndim != ndim:
        return False
    return array.size > 0 and bool(np.isfinite(array).all())


def learn_one(bank, shared, known, X, y, weight):
    """Learn the row (1, d) of a key; return its inverse, all else, and the forecast made before.

    None in place of all: the key is young, or not in the bank, or its inverse may not stand the
    row. The call of many rows sees to that.
    """
    n_rows, _, inverse, rest, _ = known
    if inverse is None or n_rows < YOUNG:
        return None
    layout, content = bank.layout(shared), inverse
    inverse, rest = numbers(inverse), numbers(rest).copy()
    if bank.has_scaler:
        moments = layout.split(rest[None]).moments
        X = _scaled.scale(moments, np.array([n_rows]), X, {})
    z, width = bank._design(shared, X)[0], layout.width
    theta, scalars, V = rest[:width], rest[width : width + 3], layout.tail(rest)
    n_waiting = int(scalars[2])
    if n_waiting == TAIL:
        inverse = inverse - (V.T @ V).ravel()
        content = inverse.tobytes()
        V[...] = scalars[2] = n_waiting = 0
    u, leverage, ridge = _seen(inverse, theta, V, n_waiting, z)
    gain = 1.0 + weight * leverage
    scale = sqrt(weight / gain)
    error = scale * (y - ridge)
    np.multiply(u, scale, out=V[n_waiting])
    theta += error * V[n_waiting]
    scalars += (error * error, weight, 1.0)
    if not (gain <= bank.GAIN_LIMIT and isfinite(rest.sum())):
        return None
    return content, rest.tobytes(), bank.answer(ridge, leverage)


def forecast_one(bank, shared, known, X):
    """Return the forecast of the row (1, d) of a key in the bank."""
    n_rows, _, inverse, rest, _ = known
    part = bank.layout(shared).split(numbers(rest)[None])
    if bank.has_scaler:
        X = _scaled.scaled(part.moments, np.array([n_rows]), X)
    z, n_waiting = bank._design(shared, X)[0], int(part.scalars[0, 2])
    _, leverage, ridge = _seen(numbers(inverse), part.theta[0], part.tail[0], n_waiting, z)
    return bank.answer(ridge, leverage)


def _seen(inverse, theta, tail, n_waiting, z):
    """Return P z, z'P z and theta'z."""
    u = inverse.reshape(len(z), -1) @ z
    if n_waiting:
        V = tail[:n_waiting]
        u -= (V @ z) @ V
    return u, max(float(z @ u), 0.0), float(z @ theta)
