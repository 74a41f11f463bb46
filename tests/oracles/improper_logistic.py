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
