"""KORS, kernel online row sampling: rows enter at random, by their ridge leverage scores."""

import numpy as np
from sklearn.utils import check_random_state

from ._nested import CLOSE, entry_probabilities, first_entry, grow_sampler, start_sampler, uniforms
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
        """Return the first of the rows from `low` on that enters, or their number."""
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
