"""KORS, kernel online row sampling: rows enter at random, by their ridge leverage scores."""

import numpy as np
from sklearn.utils import check_random_state

from ._nested import entry_probabilities, first_entry, grow_sampler, start_sampler, uniforms
from ._rule import EntryRule


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
        return low + self.first_of(kernel, sampler, rows.X[low:], drawn[low:])

    def first_of(self, kernel, sampler, X, drawn):
        """Return the first of the rows of X (n, d) that enters, or n."""
        law = self.mu, self.beta, self.eps
        probabilities = entry_probabilities(kernel, sampler, X, *law)
        return first_entry(kernel, sampler, X, probabilities, drawn, *law)

    def enter(self, kernel, sampler, x):
        """Let the row x in."""
        grow_sampler(kernel, sampler, x, self.mu, self.beta, self.eps)
