"""Made streams of known law, on which shares and the probability integral are looked at."""

import numpy as np
from scipy.stats import kstest

from sklearn_okl.evaluation import pit_from_quantiles

LEVELS = np.concatenate([[0.005], np.arange(1, 100) / 100.0, [0.995]])
N_ROWS = 7000
FIRST = 2000  # rows that are not looked at
WINDOW = 500


def heteroscedastic(rng, X):
    """Gaussian errors whose size the third input tells."""
    return _mean(X) + 0.3 * np.exp(0.7 * X[:, 2]) * rng.normal(size=len(X))


def skewed(rng, X):
    """Errors with a long tail to one side."""
    return _mean(X) + 0.5 * rng.gamma(1.5, size=len(X))


def heavy_tailed(rng, X):
    """Student's errors of three degrees of freedom."""
    return _mean(X) + 0.4 * rng.standard_t(3, size=len(X))


def counts(rng, X):
    """Poisson counts, of two in the mean."""
    return rng.poisson(np.exp(0.5 + 0.4 * X[:, 0] + 0.4 * X[:, 1])).astype(np.float64)


def zero_inflated(rng, X):
    """Amounts of which more than a half are 0."""
    chance = 1.0 / (1.0 + np.exp(0.4 - X[:, 0]))
    return np.where(rng.random(len(X)) < chance, rng.gamma(2.0, np.exp(0.4 * X[:, 1])), 0.0)


def drifting(rng, X):
    """A slope that turns, and errors that grow, slowly."""
    t = np.arange(len(X)) / N_ROWS
    return np.cos(3.0 * t) * X[:, 0] + X[:, 1] + (0.3 + 0.4 * t) * rng.normal(size=len(X))


MADE = (heteroscedastic, skewed, heavy_tailed, counts, zero_inflated, drifting)


def made(of, n_rows=N_ROWS, seed=0):
    """Return rows and targets of a law."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    return X, of(rng, X)


def calibration(model, X, y, first=FIRST, seed=0):
    """Return by how much shares of deciles are off at most, KS, and shares of 90 % by window."""
    Q = model.prequential_quantiles(X, y, LEVELS)[first:]
    y = y[first:]
    values = pit_from_quantiles(y, Q, LEVELS, random_state=seed)
    shares = np.histogram(values, bins=10, range=(0.0, 1.0))[0] / len(values)
    held = (Q[:, 5] <= y) & (y <= Q[:, 95])
    sums = np.concatenate([[0], np.cumsum(held)])
    windows = (sums[WINDOW:] - sums[:-WINDOW]) / WINDOW
    return np.abs(shares - 0.1).max(), kstest(values, "uniform").statistic, held.mean(), windows


def _mean(X):
    return np.sin(2.0 * X[:, 0]) + X[:, 1]
