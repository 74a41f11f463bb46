"""Li, Liao (2022): OKS, OKS++ and IOKS as literal loops over rounds and arms.

One uniform number a round, drawn before it. A sampler is called with the arm drawn, its loss and
its slope, and returns the step size lambda / p; its law is `p`.
"""

import math

import numpy as np

from .gradient import slope

SQRT2 = math.sqrt(2)


def value(name, y, f, quantile=0.5):
    if name == "squared_error":
        return (f - y) ** 2
    if name == "absolute_error":
        return abs(f - y)
    if name == "pinball":
        return quantile * (y - f) if f < y else (1 - quantile) * (f - y)
    if name == "log_loss":
        return math.log1p(math.exp(-y * f))
    return max(0.0, 1 - y * f) ** (2 if name == "squared_hinge" else 1)


def derivative(name, y, f, quantile=0.5):
    if name == "log_loss":
        return -y / (1 + math.exp(y * f))
    if name == "hinge":
        return -y if y * f < 1 else 0.0
    if name == "squared_hinge":
        return -2 * y * max(0.0, 1 - y * f)
    return slope(name, y, f, quantile)


def stretches(horizon):
    """Yield before every round its T, and whether the sampler starts afresh: the doubling trick."""
    t, guess = 0, 64
    while True:
        fresh = t == 0
        if horizon is None and t in (64, 2 * guess):
            guess, fresh = t, True
        yield max(guess if horizon is None else horizon, 40), fresh
        t += 1


class Exp3IX:
    """Neu (2015): losses divided by p + eta / 2, and no exploration beside."""

    def __init__(self, K, eta, step):
        self.L, self.p, self.eta, self.step = [0.0] * K, [1 / K] * K, eta, step

    def credit(self, i, loss, slope):
        biased = self.p[i] + self.eta / 2
        self.L[i] += loss / biased
        weights = [math.exp(-self.eta * (L - min(self.L))) for L in self.L]
        self.p = [w / sum(weights) for w in weights]
        return self.step / biased


class OKS:
    """Algorithm 1 with Remark 1's rates; `longest` bounds the step."""

    def __init__(self, K, horizon=None, scale=10.0, longest=math.inf):
        self.K, self.horizon, self.scale, self.longest = K, horizon, scale, longest
        self.rounds = stretches(horizon)
        self.next_round()

    def next_round(self):
        T, fresh = next(self.rounds)
        if fresh:
            K = self.K
            self.delta = min(K ** (1 / 3) * T ** (-1 / 3), 0.5)
            self.lam = self.scale * math.sqrt(self.delta / (K * T))
            self.lam = min(self.lam, self.longest * self.delta / K)
            self.eta = math.sqrt(2 * (1 - self.delta) * math.log(K)) / math.sqrt(K * T)
            self.w = [1.0] * K
        self.q = [w / sum(self.w) for w in self.w]
        self.p = [(1 - self.delta) * q + self.delta / self.K for q in self.q]

    def credit(self, i, loss, g):
        step = self.lam / self.p[i]
        self.w[i] *= math.exp(-self.eta * loss / self.p[i])
        self.next_round()
        return step


class OKSPlusPlus:
    """Theorem 3.1's rates in Algorithm 3's order."""

    def __init__(self, K, radius, C0, G=1.0):
        self.K, self.U, self.C0, self.G = K, radius, C0, G
        self.p, self.q, self.c = [1 / K] * K, [1 / K] * K, [0.0] * K
        self.squares = 0.0

    def credit(self, i, loss, g):
        K, U, GC = self.K, self.U, self.G * self.C0
        estimate, p = loss / self.p[i], self.p[i]
        self.c[i] += estimate
        total = sum(self.c)
        lam = U ** (4 / 3) * max(GC * U**2 * K**2, 8 * total) ** (-1 / 6)
        lam /= math.sqrt(4 / 3) * K ** (1 / 6) * GC ** (1 / 3) * math.sqrt(1 + self.c[i])
        base = GC ** (1 / 3) * (U * K) ** (2 / 3)
        delta = base / (2 * max(base, 2 * total ** (1 / 3)))
        self.squares += self.q[i] * estimate**2
        eta = math.sqrt(2 * math.log(K)) / math.sqrt(1 + self.squares)
        w = [math.exp(-eta * (c - min(self.c))) for c in self.c]
        self.q = [x / sum(w) for x in w]
        self.p = [(1 - delta) * q + delta / K for q in self.q]
        return lam / p


class IOKS:
    """Algorithm 2 with eq. (4)-(6) and the experiments' eta."""

    def __init__(self, K, radius, G1, horizon=None):
        self.K, self.U, self.G1 = K, radius, G1
        self.gradients = [0.0] * K
        self.rounds = stretches(horizon)
        self.next_round()

    def next_round(self):
        T, fresh = next(self.rounds)
        K = self.K
        if fresh:
            self.delta, self.growth = T ** (-3 / 4), math.exp(2 / (3 * math.log(T)))
            eta = 8 * K ** (3 / 8) / (self.U * self.G1 * math.sqrt(T * math.log(T)))
            self.eta, self.rho, self.q = [eta] * K, [2 * K] * K, [1 / K] * K
        self.p = [(1 - self.delta) * q + self.delta / K for q in self.q]
        for i in range(K):
            if not fresh and 1 / self.p[i] > self.rho[i]:
                self.rho[i] = 2 / self.p[i]
                self.eta[i] *= self.growth

    def credit(self, i, loss, g):
        p, top = self.p[i], max(self.eta)
        c = loss / p if p >= top else loss / (p + top)
        self.q = tsallis(self.q, self.eta, i, c)
        self.gradients[i] += (g / p) ** 2
        self.next_round()
        return self.U / (SQRT2 * math.sqrt(1 + self.gradients[i])) / p


def tsallis(q, eta, arm, c):
    """Eq. (5) by binary search, as in Appendix B."""

    def new(mu):
        bases = [q[i] ** (-7 / 8) + eta[i] * ((c if i == arm else 0) - mu) for i in range(len(q))]
        return [b ** (-8 / 7) if b > 0 else math.inf for b in bases]

    low, high = 0.0, c
    while low < (middle := (low + high) / 2) < high:
        if sum(new(middle)) < 1:
            low = middle
        else:
            high = middle
    return new(middle)


def select(X, y, kernels, sampler, rng, loss, radius=None, quantile=0.5):
    """Run a sampler on kernel expansions. Forecasts, arms, laws (n, K), coefficients, rows.

    A kernel is a function of rows (m, d) and a row (d,).
    """
    K, d = len(kernels), X.shape[1]
    rows, coef, norm_sq = [np.empty((0, d))] * K, [np.empty(0)] * K, [0.0] * K
    forecasts, arms, laws = np.empty(len(y)), np.empty(len(y), dtype=int), np.empty((len(y), K))
    for t in range(len(y)):
        laws[t], uniform, i, below = sampler.p, rng.random_sample(), 0, sampler.p[0]
        while uniform >= below and i < K - 1:
            i += 1
            below += sampler.p[i]
        f = coef[i] @ kernels[i](rows[i], X[t])
        g = derivative(loss, y[t], f, quantile)
        step = sampler.credit(i, value(loss, y[t], f, quantile), g)
        rows[i] = np.vstack([rows[i], X[t]])
        coef[i] = np.append(coef[i], -step * g)
        norm_sq[i] += (step * g) ** 2 - 2 * step * g * f
        if radius is not None and norm_sq[i] > radius**2:
            coef[i] = coef[i] * radius / math.sqrt(norm_sq[i])
            norm_sq[i] = radius**2
        forecasts[t], arms[t] = f, i
    return forecasts, arms, laws, coef, rows


def bao2ks(X, y, kernels, rng, radius=20.0, step=None, scale=5.0, n_hints=10, failure=0.01):
    """Liao, Li (2021), as their program has it but for what the docstring names.

    Functions are dicts of row -> coefficient, norms are taken of kernel matrices. `rng` is asked
    for two numbers before the first round and four in each. Forecasts and the last law.
    """
    K, n = len(kernels), len(y)
    G = [kernel(X, X) for kernel in kernels]
    f = [{} for _ in range(K)]
    sample, losses, total, tau = [], np.zeros(K), 0.0, 1
    forecasts = np.empty(n)

    def dense(part):
        a = np.zeros(n)
        for i, c in part.items():
            a[i] = c
        return a

    def hint():
        return {j: sum(y[j] for i in sample if i == j) / len(sample) for j in set(sample)}

    def added(part, other, factor):
        part = dict(part)
        for j, c in other.items():
            part[j] = part.get(j, 0.0) + factor * c
        return part

    def back(part, k):
        a = dense(part)
        norm = np.sqrt(max(a @ G[k] @ a, 0.0))
        return {j: c * min(1.0, radius / norm) if norm > 0 else c for j, c in part.items()}

    def law():
        epsilon = 0.5**tau
        p = np.exp(-epsilon / (4 * K) * (losses - losses.min()))
        p /= p.sum()
        p = np.where(p < epsilon / (2 * K), 0.0, p)
        return p / p.sum()

    def drawn(p, u):
        first = 0
        while first < K - 1 and u[0] >= p[: first + 1].sum():
            first += 1
        return first, int(u[1] * K)

    p, u = law(), rng.random_sample(2)
    first, second = drawn(p, u)
    for t in range(n):
        u = rng.random_sample(4)
        rate = scale / np.sqrt(t + 1) if step is None else step
        h = hint() if sample else {}
        ahead = [back(added(f[k], h, rate), k) for k in range(K)]
        values = [dense(ahead[k]) @ G[k][:, t] for k in range(K)]
        forecasts[t] = values[first]
        estimate = min(max(0.0, 1 - y[t] * values[first]) / (1 + radius), 1.0)
        estimate /= 0.5**tau / (4 * K) + p[first]
        losses[first] += estimate
        total += estimate
        if 0.25**tau * total > K * np.log(K / failure):
            tau, losses = tau + 1, np.zeros(K)
        for k in range(K):
            if k != second:
                f[k] = back(added(f[k], h, rate), k)
                continue
            gradient = {t: y[t]} if y[t] * values[k] < 1 else {}
            moved = added(added(f[k], h, rate), gradient, rate * K)
            f[k] = back(added(moved, h, -rate * K), k)
        if len(sample) < n_hints:
            sample.append(t)
        elif u[2] < n_hints / (t + 1):
            sample[int(u[3] * n_hints)] = t
        p = law()
        first, second = drawn(p, u)
    return forecasts, p
