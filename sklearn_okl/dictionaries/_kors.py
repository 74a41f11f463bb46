"""KORS, kernel online row sampling: rows enter at random, by their ridge leverage scores.

What the rule has learnt, a sampler, is a dict of arrays, part of an estimator's state, which its
copies share: an atom more makes new arrays.
"""

import numpy as np
from sklearn.utils import check_random_state

from .._tail import Shared
from ._nested import CLOSE, bordered, half_solved, rest_of
from ._rule import EntryRule

_FEW = 16  # rows tested at once after an entry; then twice as many, and so on


class KORS(EntryRule):
    """Who enters, by kernel online row sampling: more likely the rows of high leverage."""

    def __init__(self, mu, beta, eps, random_state):
        self.mu, self.beta, self.eps = mu, beta, eps
        self.random_state = random_state

    def start(self, n_features):
        """Return a sampler without atoms."""
        source = check_random_state(self.random_state)
        rng = np.random.RandomState(source.randint(2**31 - 1))
        return start_sampler(n_features, rng)

    def draw(self, sampler, n):
        """Return the uniform numbers of the next n rows."""
        return uniforms(sampler, n)

    def first(self, kernel, sampler, rows, low, drawn):
        n, law = len(rows.X), self._law()
        length = _FEW if low > 0 else n  # after an entry another may be near: test little in vain
        while low < n:
            X = rows.X[low : low + length]
            probabilities = entry_probabilities(kernel, sampler, X, *law)
            found = first_entry(kernel, sampler, X, probabilities, drawn[low : low + length], *law)
            low += found
            if found < len(X):
                return low
            length *= 2
        return n

    def enter(self, kernel, sampler, x):
        """Let the row x in."""
        grow_sampler(kernel, sampler, x, *self._law())

    def would_enter(self, kernel, sampler, X):
        """Tell of each row whether it would enter, were it the next one."""
        drawn, law = sampler["uniform"], self._law()
        probabilities = entry_probabilities(kernel, sampler, X, *law)
        enters = drawn < probabilities
        for i in np.flatnonzero(np.abs(probabilities - drawn) < CLOSE):
            enters[i] = drawn < entry_probabilities(kernel, sampler, X[i : i + 1], *law)[0]
        return enters

    def _law(self):
        return self.mu, self.beta, self.eps


def start_sampler(n_features, rng):
    """Return a sampler without atoms, with the uniform number of its first row."""
    return Shared(
        atoms=np.empty((0, n_features)),
        scales=np.empty(0),  # 1/sqrt(p) of each atom
        factor=np.empty((0, 0)),  # Cholesky factor of S K S + mu I, S = diag(scales)
        uniform=rng.uniform(),
        rng=rng,
    )


def uniforms(sampler, n):
    """Use up the uniform numbers of the next n rows; one more is drawn ahead."""
    drawn = np.append(sampler["uniform"], sampler["rng"].uniform(size=n))
    sampler["uniform"] = float(drawn[n])
    return drawn[:n]


def entry_probabilities(kernel, sampler, X, mu, beta, eps):
    r"""Return the probability of each row to enter, were it the next one.

    KORS estimates the ridge leverage score of a row, itself counted in, by

    .. math:: \tau = (1 + \epsilon) \frac{r}{r + \mu} , \qquad
              r = k(x, x) - k_S(x)^T S (S K S + \mu I)^{-1} S k_S(x) ,

    which is :math:`(1 + \epsilon) / \mu` times the residual of the bordered matrix, by the
    formula for its inverse, without its cancellation; and :math:`p = \min(\beta \tau, 1)`. The
    first row enters for sure.
    """
    if len(sampler["scales"]) == 0:
        return np.ones(len(X))
    V = half_solved(sampler["factor"], kernel(X, sampler["atoms"]) * sampler["scales"])
    rest = rest_of(kernel.diagonal(X), V)
    return np.minimum(beta * (1.0 + eps) * rest / (rest + mu), 1.0)


def first_entry(kernel, sampler, X, probabilities, drawn, mu, beta, eps):
    """Return the first row whose uniform number lets it in, or the number of rows."""
    for i in np.flatnonzero(drawn < probabilities + CLOSE).tolist():
        probability = probabilities[i]
        if drawn[i] > probability - CLOSE:
            probability = entry_probabilities(kernel, sampler, X[i : i + 1], mu, beta, eps)[0]
        if drawn[i] < probability:
            return i
    return len(X)


def grow_sampler(kernel, sampler, x, mu, beta, eps):
    """Let the row x in, at the weight that its probability gives it."""
    p = entry_probabilities(kernel, sampler, x[None], mu, beta, eps)[0]
    scale = 1.0 / np.sqrt(p)
    V = half_solved(sampler["factor"], kernel(x[None], sampler["atoms"]) * sampler["scales"])
    rest = rest_of(kernel.diagonal(x[None]), V)[0]
    row = np.append(scale * V[0], np.sqrt(scale**2 * rest + mu))
    sampler["atoms"] = np.vstack([sampler["atoms"], x])
    sampler["scales"] = np.append(sampler["scales"], scale)
    sampler["factor"] = bordered(sampler["factor"], row)
