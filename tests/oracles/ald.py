"""Li, Liao (2023): NONS-ALD and AOGD-ALD, literal loops, and per-row loops in the nested basis."""

import numpy as np
from scipy.linalg.lapack import dtrtrs

from .newton import projected


def nons_ald(K, y, novelty, mu=1.0, radius=1.0, y_bound=1.0):
    """Algorithm 3 with Nyström features from singular values; K is the kernel matrix of all rows.

    A novel row is projected on in the old basis (eq. 12), forecast with the lifted weights and
    learnt. Forecasts (n,) and the rounds of the dictionary.
    """
    eta = 1 / (4 * (radius**2 + y_bound**2))
    S, A, w = [], np.empty((0, 0)), np.empty(0)
    root = np.empty((0, 0))  # Sigma^-1/2 U'
    forecasts = np.empty(len(y))
    for t in range(len(y)):
        phi = root @ K[S, t]
        if S:
            w = projected(A, w, phi, radius)
        beta = np.linalg.solve(K[np.ix_(S, S)], K[S, t])
        if K[t, t] - K[t, S] @ beta > novelty:
            new = [*S, t]
            U, sigma, _ = np.linalg.svd(K[np.ix_(new, new)])
            new_root = U.T / np.sqrt(sigma)[:, None]
            J = len(new)
            Q = new_root @ K[np.ix_(new, S)] @ root.T  # Q_{j,j-1} of Lemma 4.2
            A = mu * np.eye(J) + Q @ (A - mu * np.eye(J - 1)) @ Q.T
            w = Q @ w
            S, root = new, new_root
            phi = root @ K[S, t]
        forecasts[t] = w @ phi
        if S:
            g = 2 * (forecasts[t] - y[t]) * phi
            A = A + eta * np.outer(g, g)
            w = w - np.linalg.solve(A, g)
    return forecasts, S


def aogd_ald(K, y, novelty, radius=2.0, budget=np.inf):
    """Algorithm 1 in coefficients of kernel functions: eq. (2), (3), (6) and the steps eta_t."""
    S, a, gradients_sq = [], np.empty(0), 0.0
    forecasts = np.empty(len(y))
    for t in range(len(y)):
        forecasts[t] = K[t, S] @ a
        slope = 2 * (forecasts[t] - y[t])
        beta = np.linalg.solve(K[np.ix_(S, S)], K[S, t]) if len(S) < budget else None
        if beta is None or K[t, t] - K[t, S] @ beta > novelty:
            S = [*S, t]
            a, beta = np.append(a, 0.0), np.eye(len(S))[-1]  # k(x_t, .) itself
        gram = K[np.ix_(S, S)]
        gradients_sq += slope**2 * (beta @ gram @ beta)
        a = a - radius / np.sqrt(1 + gradients_sq) * slope * beta
        norm = np.sqrt(a @ gram @ a)
        if norm > radius:
            a = a * (radius / norm)
    return forecasts, S


class NestedBasis:
    """The growing Cholesky basis of a Gaussian kernel, a row at a time, in NumPy."""

    def __init__(self, gamma, novelty, d):
        self.gamma, self.novelty = gamma, novelty
        self.atoms, self.factor = np.empty((0, d)), np.empty((0, 0))

    def meet(self, x):
        """Coordinates of a row, and whether it is novel."""
        if not len(self.atoms):
            return np.empty(0), self.novelty < 1
        values = np.exp(-self.gamma * np.sum((self.atoms - x) ** 2, axis=1))
        phi = dtrtrs(self.factor, values, lower=1)[0]
        return phi, 1 - phi @ phi > self.novelty

    def grow(self, x, phi):
        """Add a row; its coordinates in the new basis."""
        phi = np.append(phi, np.sqrt(1 - phi @ phi))
        factor = np.zeros((len(phi), len(phi)), order="F")
        factor[:-1, :-1] = self.factor
        factor[-1] = phi
        self.atoms, self.factor = np.vstack([self.atoms, x]), factor
        return phi


def nons_ald_by_row(X, y, gamma, novelty, mu=1.0, radius=1.0, y_bound=1.0):
    """NONS-ALD a row at a time in the nested basis: what to be faster than."""
    eta = 1 / (4 * (radius**2 + y_bound**2))
    basis = NestedBasis(gamma, novelty, X.shape[1])
    P, w = np.empty((0, 0)), np.empty(0)
    forecasts = np.empty(len(y))
    for t, x in enumerate(X):
        phi, novel = basis.meet(x)
        f = w @ phi
        if abs(f) > radius:
            direction = P @ phi
            w = w - np.sign(f) * (abs(f) - radius) / (phi @ direction) * direction
            f = np.sign(f) * radius
        if novel:
            phi = basis.grow(x, phi)
            bordered = np.zeros((len(phi), len(phi)))
            bordered[:-1, :-1] = P
            bordered[-1, -1] = 1 / mu
            P, w = bordered, np.append(w, 0.0)
        forecasts[t] = f
        slope = 2 * (f - y[t])
        direction = P @ phi
        gain = 1 + eta * slope**2 * (phi @ direction)
        P -= np.outer(direction, (eta * slope**2 / gain) * direction)
        w = w - slope / gain * direction
    return forecasts, basis.atoms


def aogd_ald_by_row(X, y, gamma, novelty, radius=2.0):
    """AOGD-ALD a row at a time in the nested basis: what to be faster than."""
    basis = NestedBasis(gamma, novelty, X.shape[1])
    w, gradients_sq = np.empty(0), 0.0
    forecasts = np.empty(len(y))
    for t, x in enumerate(X):
        phi, novel = basis.meet(x)
        forecasts[t] = f = w @ phi
        if novel:
            phi, w = basis.grow(x, phi), np.append(w, 0.0)
        slope = 2 * (f - y[t])
        gradients_sq += slope**2 * (phi @ phi)
        w = w - radius / np.sqrt(1 + gradients_sq) * slope * phi
        norm = np.sqrt(w @ w)
        if norm > radius:
            w *= radius / norm
    return forecasts, basis.atoms
