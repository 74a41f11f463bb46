"""RF-OKS, RF-OKS++, RF-IOKS, LKMBooks and Raker for labels, one row and one kernel at a time."""

import math

import numpy as np

from .bandits import derivative, value


def paired(omega, phases=None):
    """Return the map of one row: sines, then cosines; or cosines with phases."""
    m = omega.shape[1]
    if phases is not None:
        return lambda x: np.sqrt(2 / m) * np.cos(x @ omega + phases)
    return lambda x: np.concatenate([np.sin(x @ omega), np.cos(x @ omega)]) / np.sqrt(m)


def select(X, y, maps, sampler, rng, loss, box, quantile=0.5):
    """Algorithms 3 and 4 with any sampler of `bandits`. Forecasts, arms, laws (n, K), weights.

    The uniform number of a round is drawn before it. A map is a function of a row.
    """
    K = len(maps)
    w = [0.0] * K
    forecasts, arms, laws = np.empty(len(y)), np.empty(len(y), dtype=int), np.empty((len(y), K))
    for t in range(len(y)):
        laws[t], uniform, i, below = sampler.p, rng.random_sample(), 0, sampler.p[0]
        while uniform >= below and i < K - 1:
            i += 1
            below += sampler.p[i]
        z = maps[i](X[t])
        f = float(np.sum(w[i] * z))
        g = derivative(loss, y[t], f, quantile)
        step = sampler.credit(i, value(loss, y[t], f, quantile), g * np.linalg.norm(z))
        moved = w[i] - step * g * z
        largest = np.maximum(np.abs(moved), 1e-300)
        w[i] = np.minimum(1, box / largest) * moved  # the solution of eq. (8)
        forecasts[t], arms[t] = f, i
    return forecasts, arms, laws, w


def lkmbooks(
    X, y, kernels, rng, loss, horizon, budget, nu=0.25, quantile=0.5, scale=1.0, longest=math.inf
):
    """Return the forecasts, the weights, and the rows and coefficients of the reservoir.

    A kernel is a function of two rows. One uniform number per row. Without a horizon the stretches
    begin after 0, 64, 128, 256, ... rounds, and no step is beyond `longest`.
    """
    K = len(kernels)
    T, begun, places, spread = (64 if horizon is None else horizon), 0, [], 0.0
    p, entered = np.full(K, 1 / K), 0
    out = np.empty(len(y))
    for t in range(len(y)):
        if horizon is None and t - begun == T:
            T, begun, p, entered = t, t, np.full(K, 1 / K), 0
        tau, B = t - begun + 1, min(budget, T)
        fx = np.array([sum(c * k(x, X[t]) for x, c in places) for k in kernels])
        out[t] = p @ fx
        g = derivative(loss, y[t], out[t], quantile)
        spread = max(spread, fx.max() - fx.min())
        if spread > 0:
            c = g * (fx - (fx.min() if g > 0 else fx.max())) / spread
            p = p * np.exp(-math.sqrt(8 * math.log(K) / T) * c)
            p = p / p.sum()
        chance = min(1.0, B / ((1 - nu) * T ** (1 - nu) * tau**nu))
        lam = scale * math.sqrt((1 + nu) * B) / (math.sqrt(1 - nu) * T)
        step = lam / chance if horizon is not None else min(lam / chance, longest)
        if rng.random_sample() < chance and entered < B and g != 0:
            places[entered : entered + 1] = [(X[t], -step * g)]
            entered += 1
    if horizon is None and len(y) - begun == T:
        p = np.full(K, 1 / K)
    rows = np.array([x for x, _ in places])
    return out, p, rows, np.array([c for _, c in places])


def raker(X, y, maps, loss, bound=1.0, eta0=0.1, power_t=0.5, shrinkage=1e-3):
    """Return the decision values (n,), the experts' (n, K), and the weights."""
    K = len(maps)
    theta, w = [0.0] * K, np.ones(K)
    out, F = np.empty(len(y)), np.empty((len(y), K))
    for t in range(len(y)):
        eta = eta0 / (t + 1) ** power_t
        before = w / w.sum()
        for i in range(K):
            z = maps[i](X[t])
            theta[i] = theta[i] + 0 * z
            F[t, i] = theta[i] @ z
            cost = value(loss, y[t], F[t, i]) / bound + shrinkage * theta[i] @ theta[i]
            w[i] *= math.exp(-eta * cost)
            gradient = derivative(loss, y[t], F[t, i]) * z + 2 * shrinkage * theta[i]
            theta[i] = theta[i] - eta * gradient
        out[t] = before @ F[t]
    return out, F, w / w.sum()
