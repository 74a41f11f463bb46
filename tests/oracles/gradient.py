"""Zinkevich (2003), Shen, Chen, Giannakis (2019): online gradient descent, row by row."""

import math

import numpy as np


def slope(loss, y, f, quantile=0.5):
    """Derivative of the loss in f, one number; 0 at the kinks."""
    if loss == "squared_error":
        return 2 * (f - y)
    if loss == "absolute_error":
        return 0.0 if f == y else math.copysign(1, f - y)
    if loss == "pinball":
        return 0.0 if f == y else (1 - quantile if f > y else -quantile)
    if loss == "log_loss":
        return -y / (1 + math.exp(y * f))
    if loss == "squared_hinge":
        return -2 * y * max(0.0, 1 - y * f)
    if loss == "hinge":
        return -y if y * f < 1 else 0.0
    raise KeyError(loss)


def ogd(
    Z, y, loss="squared_error", shrinkage=0.0, eta0=0.1, power_t=0.5, radius=None, quantile=0.5
):
    """Forecasts (n,) and the last theta."""
    theta = np.zeros(Z.shape[1])
    forecasts = np.empty(len(y))
    for t, z in enumerate(Z):
        forecasts[t] = theta @ z
        eta = eta0 / (t + 1) ** power_t
        g = slope(loss, y[t], forecasts[t], quantile)
        theta = theta - eta * (g * z + 2 * shrinkage * theta)
        if radius is not None:
            theta *= min(1.0, radius / max(np.linalg.norm(theta), 1e-300))
    return forecasts, theta
