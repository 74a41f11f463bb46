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


def ada_raker(X, y, frequencies, shrinkage=1e-3, eta0=0.35, restart="last", over=None):
    """Shen, Chen, Giannakis (2019), section 4, with the square loss: a Raker an interval.

    It begins with nothing, or with what the last one of its length ended with, or of half of it.
    Forecasts, and the intervals awake in the round after the last one; those that are over are
    appended to the list `over`.
    """
    Z = fourier_features(X, frequencies)  # (n, K, D)
    K, D = Z.shape[1:]
    awake, forecasts = [], np.empty(len(y))
    for t in range(1, len(y) + 2):  # rounds are counted from 1
        ended = {one["level"]: one for one in awake if t > one["last"]}
        if over is not None:
            over += ended.values()
        awake = [one for one in awake if t <= one["last"]]
        for j in range(t.bit_length()):
            if t % 2**j == 0:  # the interval [t, t + 2^j - 1] begins
                eta = min(0.5, eta0 / math.sqrt(2**j))
                theta, w = [np.zeros(D) for _ in range(K)], [1.0 / K] * K
                before = ended.get(j, ended.get(j - 1))
                if restart == "last" and before is not None:
                    theta = [part.copy() for part in before["theta"]]
                    w = [v / sum(before["w"]) * (1 - 1 / t) + 1 / (t * K) for v in before["w"]]
                one = {"level": j, "last": t + 2**j - 1, "eta": eta, "h": eta, "first": t}
                one |= {"theta": theta, "w": w, "start": [part.copy() for part in theta]}
                one |= {"regrets_sq": 0.0, "spreads_sq": 0.0, "slopes_sq": [0.0] * K}
                awake.append(one)
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
            one["regrets_sq"] += regret**2
            costs = []
            for k in range(K):
                theta, error = one["theta"][k], one["f"][k] - target
                costs.append(error**2 + shrinkage * theta @ theta)
                slope = 2 * error * z[k] + 2 * shrinkage * theta
                one["w"][k] *= math.exp(-eta * costs[k])
                one["theta"][k] = theta - eta * slope
                one["slopes_sq"][k] += slope @ slope
            one["spreads_sq"] += (max(costs) - min(costs)) ** 2
        forecasts[t - 1] = forecast
    return forecasts, awake


def ada_raker_bound(one, k, theta, shrinkage=1e-3):
    """What the parts of AdaRaker may lose on an interval to coefficients theta of kernel k.

    Sleeping experts as in Daniely et al. (2015), for at most 2 t intervals begun in t rounds;
    Hedge on the kernels, from a weight of at least 1 / (K first); gradient descent.
    """
    eta, n, K = one["eta"], one["last"] - one["first"] + 1, len(one["w"])
    mixing = math.log(2 * one["last"]) / eta + eta * one["regrets_sq"]
    kernels = math.log(K * one["first"]) / eta + eta * one["spreads_sq"] / 8
    away = np.sum((one["start"][k] - theta) ** 2)
    descent = away / (2 * eta) + eta * one["slopes_sq"][k] / 2
    return mixing + kernels + descent + shrinkage * n * theta @ theta


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
