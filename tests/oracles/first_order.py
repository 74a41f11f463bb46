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


def ada_raker(X, y, frequencies, shrinkage=1e-3, eta0=1.0):
    """Shen, Chen, Giannakis (2019), section 4, with the square loss: a Raker an interval.

    Forecasts, and the intervals awake in the round after the last one.
    """
    Z = fourier_features(X, frequencies)  # (n, K, D)
    K, D = Z.shape[1:]
    awake, forecasts = [], np.empty(len(y))
    for t in range(1, len(y) + 2):  # rounds are counted from 1
        awake = [one for one in awake if t <= one["last"]]
        for j in range(t.bit_length()):
            if t % 2**j == 0:  # the interval [t, t + 2^j - 1] begins
                eta = min(0.5, eta0 / math.sqrt(2**j))
                theta, w = [np.zeros(D) for _ in range(K)], [1.0] * K
                awake.append({"last": t + 2**j - 1, "eta": eta, "h": eta, "theta": theta, "w": w})
        if t > len(y):
            break
        z, target = Z[t - 1], y[t - 1]
        for one in awake:
            one["f"] = [float(one["theta"][k] @ z[k]) for k in range(K)]
            one["forecast"] = sum(one["w"][k] * one["f"][k] for k in range(K)) / sum(one["w"])
        total = sum(one["h"] for one in awake)
        forecast = sum(one["h"] * one["forecast"] for one in awake) / total
        for one in awake:
            eta, regret = one["eta"], (forecast - target) ** 2 - (one["forecast"] - target) ** 2
            one["h"] *= math.exp(eta * regret)
            for k in range(K):
                theta, error = one["theta"][k], one["f"][k] - target
                one["w"][k] *= math.exp(-eta * (error**2 + shrinkage * theta @ theta))
                one["theta"][k] = theta - eta * (2 * error * z[k] + 2 * shrinkage * theta)
        forecasts[t - 1] = forecast
    return forecasts, awake


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
