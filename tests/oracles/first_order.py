"""Kernel gradient descent, OMKR, RFOMKR and Raker, one row and one kernel at a time."""

import math

import numpy as np

from .gradient import slope
from .vovk import fourier_features


def kogd(
    X,
    y,
    k,
    loss="squared_error",
    eta0=0.1,
    power_t=0.5,
    radius=None,
    adaptive=False,
    quantile=0.5,
):
    """Li, Liao (2023), eq. (2) and (3); k(x, x') of two rows. Forecasts and coefficients."""
    coef, forecasts, gradients_sq = [], np.empty(len(y)), 0.0
    for t, x in enumerate(X):
        forecasts[t] = sum(c * k(X[s], x) for s, c in enumerate(coef))
        g = slope(loss, y[t], forecasts[t], quantile)
        gradients_sq += g**2 * k(x, x)
        eta = radius / math.sqrt(1 + gradients_sq) if adaptive else eta0 / (t + 1) ** power_t
        coef.append(-eta * g)
        if radius is not None:
            norm_sq = sum(
                a * b * k(X[i], X[j]) for i, a in enumerate(coef) for j, b in enumerate(coef)
            )
            coef = [c * min(1.0, radius / math.sqrt(max(norm_sq, 1e-300))) for c in coef]
    return forecasts, np.array(coef)


def omkr(X, y, kernels, eta0=0.1, power_t=0.5, discount=0.5):
    """Sahoo, Hoi, Li (2014); kernels are functions of two rows. Forecasts, weights."""
    coef, weights = np.zeros((len(kernels), 0)), np.ones(len(kernels))
    forecasts = np.empty(len(y))
    for t, x in enumerate(X):
        past = [[k(X[s], x) for s in range(t)] for k in kernels]
        f = np.array([c @ np.array(values) for c, values in zip(coef, past, strict=True)])
        forecasts[t] = weights @ f / weights.sum()
        coef = np.c_[coef, -eta0 / (t + 1) ** power_t * (f - y[t])]
        weights = weights * discount ** ((f - y[t]) ** 2)
    return forecasts, weights / weights.sum()


def raker(X, y, frequencies, shrinkage=1e-3, eta0=0.1, power_t=0.5):
    """Ghari, Shen (2023), eq. (8), (9), with the square loss. Forecasts, weights."""
    Z = fourier_features(X, frequencies)  # (n, K, D)
    theta, weights = np.zeros(Z.shape[1:]), np.ones(Z.shape[1])
    forecasts = np.empty(len(y))
    for t in range(len(y)):
        eta = eta0 / (t + 1) ** power_t
        f = np.array([theta[i] @ Z[t, i] for i in range(len(theta))])
        forecasts[t] = weights @ f / weights.sum()
        for i in range(len(theta)):
            weights[i] *= math.exp(-eta * ((f[i] - y[t]) ** 2 + shrinkage * theta[i] @ theta[i]))
            theta[i] -= eta * (2 * (f[i] - y[t]) * Z[t, i] + 2 * shrinkage * theta[i])
        weights /= weights.sum()
    return forecasts, weights


def rfomkr(X, y, frequencies, aggregator, eta0=0.1, power_t=0.5, discount=0.5, step=0.1):
    """Sahoo, Hoi, Li (2019), weights normalised for Hedge. Forecasts, weights."""
    Z = fourier_features(X, frequencies)
    theta = np.zeros(Z.shape[1:])
    weights = np.ones(len(theta)) if aggregator == "hedge" else np.zeros(len(theta))
    forecasts = np.empty(len(y))
    for t in range(len(y)):
        decay = (t + 1) ** power_t
        f = np.array([theta[i] @ Z[t, i] for i in range(len(theta))])
        forecasts[t] = weights @ f
        if aggregator == "hedge":
            forecasts[t] /= weights.sum()
            weights = weights * discount ** ((f - y[t]) ** 2)
            weights /= weights.sum()
        else:
            weights = weights - step / decay * 2 * (forecasts[t] - y[t]) * f
        for i in range(len(theta)):
            theta[i] -= eta0 / decay * 2 * (f[i] - y[t]) * Z[t, i]
    return forecasts, weights
