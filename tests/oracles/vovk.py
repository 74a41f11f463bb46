"""Rokhlin, Gurtovaya (2025): VAW, concatenated VAW, VAW² and its clipped variant."""

import numpy as np


def fourier_features(X, frequencies):
    """Section 4: (sin <theta, x>, cos <theta, x>) / sqrt(m) for each kernel; (n, K, 2m)."""
    blocks = []
    for omega in frequencies:  # (d, m)
        angles = X @ omega
        blocks.append(np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(omega.shape[1]))
    return np.stack(blocks, axis=1)


def vaw(Z, y, alpha=1.0, forecaster="vaw", forgetting=1.0, weights=None, late=0):
    """Eq. (2.4A), solved afresh every round; discounted and weighted as the docstring says.

    A late forecast is that of the model so many rounds ago.
    """
    n, dim = Z.shape
    weights = np.ones(n) if weights is None else weights
    S, b = alpha * np.eye(dim), np.zeros(dim)
    known = [(S, b)] * late
    forecasts = np.empty(n)
    for t, z in enumerate(Z):
        known.append((S, b))
        S_past, b_past = (forgetting * part for part in known.pop(0))
        seen = S_past + np.outer(z, z) if forecaster == "vaw" else S_past
        forecasts[t] = np.linalg.solve(seen, b_past) @ z
        S_past, b_past = forgetting * S, forgetting * b
        S = S_past + weights[t] * np.outer(z, z)
        b = b_past + weights[t] * y[t] * z
        if forgetting < 1 and (t + 1) % 64 == 0:
            S += (1 - forgetting**64) * alpha * np.eye(dim)
    return forecasts


class ShermanMorrison:
    """Eq. (2.4B) for one expert."""

    def __init__(self, dim, alpha, forecaster):
        self.P = np.eye(dim) / alpha
        self.b = np.zeros(dim)
        self.forecaster = forecaster

    def forecast(self, z):
        self.Pz = self.P @ z
        self.gain = 1 + z @ self.Pz
        ridge = self.b @ self.Pz
        return ridge / self.gain if self.forecaster == "vaw" else ridge

    def learn(self, z, y):
        self.P -= np.outer(self.Pz, self.Pz) / self.gain
        self.b += y * z


class StackedShermanMorrison:
    """The same for K experts at once, as fast as a loop over rows can be in NumPy."""

    def __init__(self, n_experts, dim, alpha, forecaster):
        self.P = np.tile(np.eye(dim) / alpha, (n_experts, 1, 1))
        self.b = np.zeros((n_experts, dim))
        self.forecaster = forecaster

    def forecast(self, Z):
        self.Pz = np.matmul(self.P, Z[:, :, None])[:, :, 0]
        self.gain = 1 + np.einsum("kd,kd->k", Z, self.Pz)
        ridge = np.einsum("kd,kd->k", self.b, self.Pz)
        return ridge / self.gain if self.forecaster == "vaw" else ridge

    def learn(self, Z, y):
        scaled = self.Pz / self.gain[:, None]
        self.P -= scaled[:, :, None] * self.Pz[:, None, :]
        self.b += y * Z


def vaw2(X, y, frequencies, alpha=1.0, aggregator_alpha=1.0, forecaster="vaw", y_range=None):
    """Theorem 2's two levels, row by row; clipped to y_range, eq. (3.25), if it is given."""
    n_experts, m = len(frequencies), frequencies[0].shape[1]
    experts = [ShermanMorrison(2 * m, alpha, forecaster) for _ in range(n_experts)]
    meta = ShermanMorrison(n_experts, aggregator_alpha, forecaster)
    forecasts, by_expert = np.empty(len(y)), np.empty((len(y), n_experts))
    for t, x in enumerate(X):
        Z = []
        for k, omega in enumerate(frequencies):
            angles = x @ omega
            Z.append(np.concatenate([np.sin(angles), np.cos(angles)]) / np.sqrt(m))
            by_expert[t, k] = experts[k].forecast(Z[k])
        z = by_expert[t] if y_range is None else np.clip(by_expert[t], *y_range)
        forecasts[t] = meta.forecast(z)
        meta.learn(z, y[t])
        for k in range(n_experts):
            experts[k].learn(Z[k], y[t])
    return forecasts, by_expert


def vaw2_stacked(X, y, frequencies, alpha=1.0, aggregator_alpha=1.0, forecaster="vaw"):
    """The loop over rows with all kernels of a row at once: not the paper's words, but faster."""
    stacked = np.stack(frequencies)  # (K, d, m)
    n_experts, _, m = stacked.shape
    experts = StackedShermanMorrison(n_experts, 2 * m, alpha, forecaster)
    meta = ShermanMorrison(n_experts, aggregator_alpha, forecaster)
    forecasts = np.empty(len(y))
    for t, x in enumerate(X):
        angles = np.matmul(x, stacked)  # (K, m)
        Z = np.concatenate([np.sin(angles), np.cos(angles)], axis=1) / np.sqrt(m)
        z = experts.forecast(Z)
        forecasts[t] = meta.forecast(z)
        meta.learn(z, y[t])
        experts.learn(Z, y[t])
    return forecasts


def vaw_convex(X, y, frequencies, rule, alpha=1.0, forecaster="vaw", y_range=None):
    """Theorem 3 and section 4: VAW forecasts, clipped by eq. (3.25), and a rule(F, y) on them.

    Where y_range is None the range is that of the targets before the round.
    """
    Z = fourier_features(X, frequencies)  # (n, K, 2m)
    experts = [ShermanMorrison(Z.shape[2], alpha, forecaster) for _ in frequencies]
    F = np.empty(Z.shape[:2])
    for t in range(len(y)):
        ends = y_range or ((y[:t].min(), y[:t].max()) if t else (-np.inf, np.inf))
        for k, expert in enumerate(experts):
            F[t, k] = np.clip(expert.forecast(Z[t, k]), *ends)
            expert.learn(Z[t, k], y[t])
    return rule(F, y)
