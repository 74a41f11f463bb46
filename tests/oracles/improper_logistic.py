"""Jézéquel, Gaillard, Rudi (2020): AIOLI, each forecast by the minimum that defines it."""

import numpy as np


def logistic(value, label):
    """The logistic loss of a decision value, for a label -1 or +1."""
    return np.logaddexp(0.0, -label * value)


def surrogate(value, at, label, radius):
    """The quadratic that stands for the logistic loss at a decision value, taken at another."""
    wrong = 1.0 / (1.0 + np.exp(label * at))  # probability given to the other label
    eta = np.exp(label * at) / (1.0 + radius)
    slope = -label * wrong
    step = value - at
    return logistic(at, label) + slope * step + eta / 2.0 * (slope * step) ** 2


def forecast(past, x, alpha, radius):
    """Minimise the surrogates of the past, alpha |theta|^2 and both losses of the row x.

    `past` holds (x, label, forecast). By Newton's method on theta, with steps halved while the
    gradient grows. Returns theta.
    """
    d = len(x)
    A, b = 2.0 * alpha * np.eye(d), np.zeros(d)
    for z, label, at in past:
        wrong = 1.0 / (1.0 + np.exp(label * at))
        eta, g = np.exp(label * at) / (1.0 + radius), -label * wrong * z
        A += eta * np.outer(g, g)
        b += eta * (-label * wrong * at) * g - g

    def gradient(theta):
        return A @ theta - b + np.tanh(theta @ x / 2.0) * x

    theta = np.zeros(d)
    for _ in range(100):
        slope, before = np.tanh(theta @ x / 2.0), gradient(theta)
        step = np.linalg.solve(A + (1.0 - slope**2) / 2.0 * np.outer(x, x), before)
        rate = 1.0
        while np.linalg.norm(gradient(theta - rate * step)) > np.linalg.norm(before):
            rate /= 2.0
            if rate < 1e-3:  # nothing but rounding is left
                return theta
        theta = theta - rate * step
    return theta


def aioli(X, y, alpha, radius):
    """Decision values before each label, and the last past."""
    past, values = [], []
    for x, label in zip(X, y, strict=True):
        values.append(forecast(past, x, alpha, radius) @ x)
        past.append((x, label, values[-1]))
    return np.array(values), past


def online_newton(x, y, radius):
    """Hazan, Agarwal, Kale (2007), Algorithm 2, for one weight and rows of size at most 1.

    The logistic loss is exp(-B)-concave on [-B, B], with gradients of at most 1. Decision values.
    """
    gamma = 0.5 * min(1.0 / (8.0 * radius), np.exp(-radius))
    w, A, values = 0.0, 1.0 / (gamma * 2.0 * radius) ** 2, []
    for row, label in zip(x, y, strict=True):
        values.append(w * row)
        g = -label * row / (1.0 + np.exp(label * w * row))
        A += g * g
        w = np.clip(w - g / (gamma * A), -radius, radius)
    return np.array(values)


def log_probabilities(Z):
    """Logarithms of the softmax."""
    Z = Z - Z.max(axis=-1, keepdims=True)
    return Z - np.log(np.exp(Z).sum(axis=-1, keepdims=True))


def multinomial_curvature(radius, n_classes):
    """The share of the curvature of the log loss that its surrogates have."""
    m = np.log(1.0 + (n_classes - 1) * np.exp(radius))
    return 2.0 * (np.exp(-m) - 1.0 + m) / m**2


def multinomial_surrogate(z, at, label, share):
    """The quadratic that stands for the log loss of logits z, taken at others."""
    p, step = np.exp(log_probabilities(at)), z - at
    slope = p - np.eye(len(p))[label]
    mean = step @ p
    return -log_probabilities(at)[label] + step @ slope + share / 2.0 * ((step - mean) ** 2 @ p)


def multinomial_forecast(A, b, x):
    """Return the logits of a row x, by the minimum that defines them.

    The sum of the surrogates and the penalty is W' A W / 2 - b' W, W with a row a class, raveled.
    To it is added the log-sum-exp of the logits W x less half their inner product with S^-1 diag S,
    where S is what the inverse of A says of the row.
    """
    K = len(b) // len(x)
    rows = np.kron(np.eye(K), x)  # (K, K d)
    S = rows @ np.linalg.solve(A, rows.T)
    linear = rows.T @ np.linalg.solve(S, np.diag(S)) / 2.0

    def gradient(w):
        return A @ w - b + rows.T @ np.exp(log_probabilities(rows @ w)) - linear

    w = np.linalg.solve(A, b)
    for _ in range(100):
        p, before = np.exp(log_probabilities(rows @ w)), gradient(w)
        step = np.linalg.solve(A + rows.T @ (np.diag(p) - np.outer(p, p)) @ rows, before)
        rate = 1.0
        while np.linalg.norm(gradient(w - rate * step)) > np.linalg.norm(before):
            rate /= 2.0
            if rate < 1e-3:  # nothing but rounding is left
                return rows @ w
        w = w - rate * step
    return rows @ w


def improper_multinomial(X, y, n_classes, alpha, radius):
    """Logits before each label, and the last A and b."""
    K, d = n_classes, X.shape[1]
    share = multinomial_curvature(radius, K)
    A, b, logits = 2.0 * alpha * np.eye(K * d), np.zeros(K * d), []
    for x, label in zip(X, y, strict=True):
        z = multinomial_forecast(A, b, x)
        p, rows = np.exp(log_probabilities(z)), np.kron(np.eye(K), x)
        M = share * (np.diag(p) - np.outer(p, p))
        A = A + rows.T @ M @ rows
        b = b + rows.T @ (M @ z - (p - np.eye(K)[label]))
        logits.append(z)
    return np.array(logits), A, b
