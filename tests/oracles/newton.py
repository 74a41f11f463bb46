"""Hazan et al. (2007), Calandriello et al. (2017): online Newton steps, literal loops."""

import numpy as np


def ons(Z, y, mu=1.0, radius=1.0, curvature=None, keep=None):
    """Forecasts (n,) and the last weights, not yet projected; A is inverted every round."""
    kappa = 1 / (16 * radius**2) if curvature is None else curvature
    A, w = mu * np.eye(Z.shape[1]), np.zeros(Z.shape[1])
    forecasts = np.empty(len(y))
    for t, z in enumerate(Z):
        w = projected(A, w, z, radius)
        forecasts[t] = w @ z
        g = 2 * (forecasts[t] - y[t]) * z
        if keep is None or keep[t]:
            A = A + kappa * np.outer(g, g)
        w = w - np.linalg.solve(A, g)
    return forecasts, w


def projected(A, w, z, radius):
    """Nearest weights in the norm of A that forecast within the radius for z (Theorem 4.9)."""
    f = w @ z
    direction = np.linalg.solve(A, z)
    if abs(f) > radius:
        w = w - np.sign(f) * (abs(f) - radius) / (z @ direction) * direction
    return w


def kons(K, y, mu=1.0, radius=1.0, keep=None):
    """KONS on explicit feature vectors, from the Cholesky factor of the whole kernel matrix."""
    return ons(np.linalg.cholesky(K), y, mu, radius, keep=keep)[0]


def kons_gram(K, y, mu=1.0, radius=1.0):
    """KONS in the dual, a linear system of the rows so far each round: O(t^3)."""
    kappa, n = 1 / (16 * radius**2), len(y)
    forecasts, coef, slopes = np.empty(n), np.zeros(n), np.empty(n)

    def solved(t, i):
        """Coefficients of A_{t-1}^-1 phi_i on the rows before t, and on row i itself."""
        D = np.sqrt(kappa) * slopes[:t]
        B = mu * np.eye(t) + D[:, None] * K[:t, :t] * D
        return -D * np.linalg.solve(B, D * K[:t, i]) / mu

    for t in range(n):
        past = solved(t, t)
        f = coef[:t] @ K[:t, t]
        size = K[t, t] / mu + past @ K[:t, t]
        excess = np.sign(f) * max(abs(f) - radius, 0)
        coef[:t] -= excess / size * past
        coef[t] -= excess / size / mu
        forecasts[t] = f - excess
        slopes[t] = 2 * (forecasts[t] - y[t])
        step = solved(t + 1, t)
        step[t] += 1 / mu
        coef[: t + 1] -= slopes[t] * step
    return forecasts


def kors(K, drawn, mu=1.0, beta=1.0, eps=0.5):
    """Which rows enter: the score of a row, itself counted in, at weight 1."""
    atoms, weights, entered = [], [], []
    for t, u in enumerate(drawn):
        with_row = [*atoms, t]
        S = np.diag([*weights, 1.0])
        k = S @ K[with_row, t]
        M = S @ K[np.ix_(with_row, with_row)] @ S + mu * np.eye(len(with_row))
        tau = (1 + eps) / mu * (K[t, t] - k @ np.linalg.solve(M, k))
        p = min(beta * tau, 1.0) if atoms else 1.0
        entered.append(u < p)
        if u < p:
            atoms.append(t)
            weights.append(1 / np.sqrt(p))
    return np.array(entered)


def nystroem_kons(K, y, entered, carry, mu=1.0, radius=1.0):
    """PROS-N-KONS, or CON-KONS with `carry`, in the Nyström maps of singular values.

    A row that enters does so after it was learnt.
    """
    kappa = 1 / (16 * radius**2)
    atoms, A, w = [], np.empty((0, 0)), np.empty(0)
    to_map = np.empty((0, 0))  # (J, J): Sigma^-1/2 U'
    forecasts = np.zeros(len(y))
    for t in range(len(y)):
        if atoms:
            z = to_map @ K[atoms, t]
            w = projected(A, w, z, radius)
            forecasts[t] = w @ z
            g = 2 * (forecasts[t] - y[t]) * z
            A = A + kappa * np.outer(g, g)
            w = w - np.linalg.solve(A, g)
        if entered[t]:
            new = [*atoms, t]
            U, sigma, _ = np.linalg.svd(K[np.ix_(new, new)])
            new_map = U.T / np.sqrt(sigma)[:, None]
            J = len(new)
            if carry:
                Q = new_map @ K[np.ix_(new, atoms)] @ to_map.T
                A = mu * np.eye(J) + Q @ (A - mu * np.eye(J - 1)) @ Q.T
                w = Q @ w
            else:
                A, w = mu * np.eye(J), np.zeros(J)
            atoms, to_map = new, new_map
    return forecasts
