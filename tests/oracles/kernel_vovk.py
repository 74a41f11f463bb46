"""Jézéquel, Gaillard, Rudi (2019): Kernel-AWV and PKAWV, by their definitions and algorithms."""

from itertools import product
from math import factorial

import numpy as np
from scipy.linalg import solve_triangular


def kernel_awv(K, y, alpha=1.0, forecaster="vaw"):
    """Eq. (3) by the representer theorem, solved afresh each round; ridge without the last term."""
    n = len(y)
    forecasts = np.zeros(y.shape)
    for t in range(n):
        if forecaster == "vaw":
            targets = np.concatenate([y[:t], np.zeros((1, *y.shape[1:]))])
            coef = np.linalg.solve(K[: t + 1, : t + 1] + alpha * np.eye(t + 1), targets)
            forecasts[t] = K[t, : t + 1] @ coef
        elif t > 0:
            forecasts[t] = K[t, :t] @ np.linalg.solve(K[:t, :t] + alpha * np.eye(t), y[:t])
    return forecasts


def taylor_powers(d, M):
    """Multi-indices |k| <= M of Theorem 4."""
    return np.array([k for k in product(range(M + 1), repeat=d) if sum(k) <= M])


def taylor(x, powers, sigma):
    """Eq. (6) for one row."""
    norms = np.array([sigma**t * np.sqrt(factorial(t)) for t in range(powers.max() + 1)])
    return np.exp(-x @ x / (2 * sigma**2)) * np.prod(x**powers / norms[powers], axis=1)


def algorithm_1(embed, X, y, r, alpha=1.0, forecaster="vaw"):
    """Algorithm 1, row by row; embed(x) gives the r coordinates of a row."""
    A_inv, b = np.eye(r) / alpha, np.zeros(r)
    forecasts = np.empty(len(y))
    for t, x in enumerate(X):
        v = embed(x)
        Av = A_inv @ v
        if forecaster == "ridge":
            forecasts[t] = Av @ b
        A_inv -= np.outer(Av, Av) / (1 + v @ Av)
        if forecaster == "vaw":
            forecasts[t] = v @ A_inv @ b
        b += v * y[t]
    return forecasts


def printed_taylor(x, sigma, M):
    """`taylor_phi` of Appendix H.2: all d^k products of k coordinates, equal ones repeated."""
    features, products = np.array([1.0]), np.array([1.0])
    for k in range(1, M + 1):
        products = np.outer(products, x).flatten()
        features = np.concatenate([features, products / (sigma**k * np.sqrt(factorial(k)))])
    return features * np.exp(-np.dot(x, x) / (2 * sigma**2))


def kors(K, uniforms, mu, beta=1.0, eps=0.5):
    """KORS on explicit matrices: which rows enter, a list of booleans."""
    atoms, s, entered = [], [], []
    for t in range(len(K)):
        S = np.diag([*s, 1.0])
        rows = [*atoms, t]
        k = K[rows, t]
        inverse = np.linalg.inv(S @ K[np.ix_(rows, rows)] @ S + mu * np.eye(len(rows)))
        tau = (1 + eps) / mu * (K[t, t] - k @ S @ inverse @ S @ k)
        p = min(beta * tau, 1.0) if atoms else 1.0
        entered.append(bool(uniforms[t] < p))
        if entered[-1]:
            atoms.append(t)
            s.append(1 / np.sqrt(p))
    return entered


def pkawv_nystroem(K, y, entered, alpha=1.0, forecaster="vaw"):
    """Eq. (4) with eq. (7), afresh each round in an orthonormal basis of the span of the atoms."""
    forecasts, atoms = np.zeros(y.shape), []
    for t in range(len(y)):
        if entered[t]:
            atoms.append(t)
        values, vectors = np.linalg.eigh(K[np.ix_(atoms, atoms)])
        kept = values > 1e-13 * values[-1]
        Phi = K[: t + 1][:, atoms] @ (vectors[:, kept] / np.sqrt(values[kept]))
        seen = Phi if forecaster == "vaw" else Phi[:t]
        A = seen.T @ seen + alpha * np.eye(Phi.shape[1])
        forecasts[t] = Phi[t] @ np.linalg.solve(A, Phi[:t].T @ y[:t])
    return forecasts


def cholup(R, u, sign):
    """Factor R'R + sign u u', R upper triangular."""
    R, u = R.copy(), u.copy()
    for k in range(len(u)):
        row, own = R[k, k + 1 :].copy(), R[k, k]
        R[k, k] = r = np.sqrt(own**2 + sign * u[k] ** 2)
        R[k, k + 1 :] = (own * row + sign * u[k] * u[k + 1 :]) / r
        u[k + 1 :] = (own * u[k + 1 :] - u[k] * row) / r
    return R


def algorithm_2(k, X, y, uniforms, alpha=1.0, mu=1.0, beta=1.0, eps=0.5):
    """Algorithm 2 and the program of Appendix H.2, row by row; k(X, Z) is the kernel matrix.

    As in the program a_t is the row of K_t in the update, its new column at an entry; the inverse
    of KORS is bordered; 1/sqrt(p) is stored where the program has 1/p.
    """
    n = len(y)
    atoms, s, R = [], np.zeros(0), np.zeros((0, 0))
    K, inverse = np.zeros((0, 0)), np.zeros((0, 0))
    forecasts = np.empty(n)
    for t, x in enumerate(X):
        row = k(x[None], X[atoms])[0] if atoms else np.zeros(0)
        own = k(x[None], x[None])[0, 0]
        K = np.vstack([K, row])
        weighted = inverse @ (s * row)
        rest = own - s * row @ weighted  # of the bordered matrix with weight 1
        p = min(beta * (1 + eps) * rest / (rest + mu), 1.0) if atoms else 1.0
        R = cholup(R, row, 1)
        if uniforms[t] < p:
            scale = 1 / np.sqrt(p)
            corner = scale**2 * rest + mu
            border = np.append(-scale * weighted, 1.0)
            inverse = np.pad(inverse, (0, 1)) + np.outer(border, border) / corner
            s = np.append(s, scale)
            a = k(X[: t + 1], x[None])[:, 0]
            c = K.T @ a + alpha * row
            d = a @ a + alpha * own
            K = np.column_stack([K, a])
            atoms.append(t)
            g = np.sqrt(1 + d)
            R = cholup(np.pad(R, (0, 1)), np.append(c / (1 + g), g), 1)
            R = cholup(R, np.append(c / (1 + g), -1.0), -1)
            row = np.append(row, own)
        half = solve_triangular(R, K[:t].T @ y[:t], trans=1)
        forecasts[t] = row @ solve_triangular(R, half)
    return forecasts, atoms
