"""A greedy adversary on the regret, Appendix G of R. Jézéquel, P. Gaillard, A. Rudi (2019).

The regret after t rounds is taken against the best function of the kernel's space H with its
penalty, without which every f that interpolates would have no loss,

    R_t = sum_s (y_s - forecast_s)^2 - min_f [ sum_s (y_s - f(x_s))^2 + lambda ||f||^2 ] .

A row (x, y) adds (y - forecast(x))^2 - c(x) (y - r(x))^2 to it, with r kernel ridge regression on
the rows so far, v(x) the variance of f(x) that they leave and c = lambda / (lambda + v). This is
convex in y as c <= 1, so that the worst target in [-1, 1] is -1 or +1, and only x is searched for.
"""

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize
from sklearn.metrics.pairwise import rbf_kernel

D = 5
N_ROUNDS = 80
GAMMA = 0.5  # sigma = 1
ALPHA = 1.0  # lambda
_TARGETS = np.array([-1.0, 1.0])
_N_DRAWN = 64  # rows tried in the box, and as many at its corners
_N_STARTS = 4  # best of them, from which scipy climbs
_STEP = 1e-6  # of the differences for the slope
_OPTIONS = {"maxiter": 25}


class Rival:
    """The best function in hindsight, and what a further row adds to its penalised loss."""

    def __init__(self, X, y):
        self.X = X
        self.factor = _factor(X)
        self.white = solve_triangular(self.factor, y, lower=True)

    def added(self, Z, target):
        """Return (m,), for rows Z (m, d) with one target."""
        V = solve_triangular(self.factor, rbf_kernel(self.X, Z, gamma=GAMMA), lower=True)
        rest = 1.0 - np.einsum("ij,ij->j", V, V)
        return (target - V.T @ self.white) ** 2 * ALPHA / (ALPHA + rest)


def play(model, n_rounds, rng, d=D, advance=None):
    """Let a learner meet the rows that are worst for it.

    Returns
    -------
    X : ndarray of shape (n_rounds, d)
    y : ndarray of shape (n_rounds,)
    forecasts : ndarray of shape (n_rounds,)
    """
    # Every learner starts from zero: all first rows are equally bad.
    X, y = rng.uniform(-1, 1, size=(1, d)), np.ones(1)
    forecasts = [model.prequential_predict(X, y)[0]]
    for _ in range(1, n_rounds):
        x, target = worst_row(model.predict, X, y, rng)
        forecasts.append(model.prequential_predict(x[None], [target])[0])
        X, y = np.vstack([X, x]), np.append(y, target)
        if advance is not None:
            advance(1)
    return X, y, np.array(forecasts)


def worst_row(predict, X, y, rng):
    """Return the row in [-1, 1]^d and the target that add most to the regret after X (t, d)."""
    rival, d = Rival(X, y), X.shape[1]

    def added(Z, target):
        return (target - predict(Z)) ** 2 - rival.added(Z, target)

    def falling(x, target):
        steps = added(np.vstack([x, x + _STEP * np.eye(d)]), target)
        return -steps[0], (steps[0] - steps[1:]) / _STEP

    drawn = rng.uniform(-1, 1, size=(2 * _N_DRAWN, d))
    drawn[_N_DRAWN:] = np.sign(drawn[_N_DRAWN:])
    tried = np.vstack([drawn, X])
    gains = np.column_stack([added(tried, target) for target in _TARGETS])
    found = []
    for best in np.argsort(gains, axis=None)[::-1][:_N_STARTS]:
        i, sign = np.unravel_index(best, gains.shape)
        target = _TARGETS[sign]
        climbed = minimize(
            falling, tried[i], (target,), "L-BFGS-B", True, bounds=[(-1, 1)] * d, options=_OPTIONS
        )
        # A forecast that jumps where a row would enter a dictionary may send the climb astray.
        found += [(gains[i, sign], i, tried[i], target), (-climbed.fun, i, climbed.x, target)]
    _, _, x, target = max(found, key=lambda one: one[0])
    return x, target


def regret(X, y, forecasts):
    """Return R_t of each round, of shape (n,)."""
    factor = _factor(X)
    white = solve_triangular(factor, y, lower=True)
    return np.cumsum((y - forecasts) ** 2) - ALPHA * np.cumsum(white**2)


def bound(X):
    """Return the bound of Proposition 1 of each round, for targets in [-1, 1]."""
    return np.cumsum(2 * np.log(np.diagonal(_factor(X))) - np.log(ALPHA))


def _factor(X):
    return cholesky(rbf_kernel(X, gamma=GAMMA) + ALPHA * np.eye(len(X)), lower=True)
