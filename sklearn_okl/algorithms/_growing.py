r"""The growing-basis engine: online Newton steps on coordinates in a dictionary that grows.

A named algorithm declares three things::

    _rule() -> rule            who enters the dictionary, for instance `KORS`
    _newton() -> ONSRegressor  the learner on the coordinates
    _admit(rows, i)            what happens when row i enters, in the words of `Rows`

A rule has a state of its own, a dict of arrays, and four verbs: ``start(n_features)`` makes it,
``draw(state, n)`` gives n rows what chance says of each, ``first(kernel, state, rows, low, drawn)``
finds the first row from `low` on that enters, and ``enter(kernel, state, x)`` tells it that x did.
Who enters may depend on the rows, never on the targets.
"""

import numpy as np
from sklearn.utils import check_random_state, gen_batches

from ..base import OnlineRegressor
from ..features._dictionary import (
    CLOSE,
    coordinates,
    dual,
    entry_probabilities,
    first_entry,
    grow_basis,
    grow_sampler,
    start_basis,
    start_sampler,
    uniforms,
)
from ..kernels import kernel_of

_BLOCK = 128  # rows tested in one product
_DEPENDENT = 1e-10  # a row that leaves less of its size outside the span adds no coordinate


class GrowingBasisRegressor(OnlineRegressor):
    """Base of the online Newton algorithms on a dictionary of rows.

    Rows are tested a block at a time; those before the first that enters are learnt at once, the
    basis grows, the rest of the block gets its new coordinate, and so on.
    """

    @property
    def components_(self):
        """The rows whose kernel functions span the hypotheses, of shape (J, n_features)."""
        return self._fitted_state("components_")["basis"]["atoms"].copy()

    @property
    def dual_coef_(self):
        """Coefficient of each kernel function before clipping, of shape (J,)."""
        state = self._fitted_state("dual_coef_")
        return dual(state["basis"], state["newton"]["theta"])

    def _validate(self):
        super()._validate()
        kernel_of(self)

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "basis": start_basis(n_features),
            "rule": self._rule().start(n_features),
            "newton": self._newton()._start(0),
        }

    def _learn(self, state, X, y):
        kernel, rule, newton = kernel_of(self), self._rule(), self._newton()
        forecasts = np.empty(len(y))
        low = 0
        while low < len(y):
            # Blocks end where the stream's own count is a multiple of their length, so that most
            # ways of cutting a stream lead through the very same blocks.
            block = slice(low, low + _BLOCK - state["t"] % _BLOCK)
            rows = Rows(kernel, newton, state, X[block], y[block])
            n = len(rows.y)
            drawn = rule.draw(state["rule"], n)
            tested = 0
            while tested < n:
                i = rule.first(kernel, state["rule"], rows, tested, drawn)
                if i < n:
                    self._admit(rows, i)
                    rule.enter(kernel, state["rule"], rows.X[i])
                tested = i + 1
            rows.learn(n)
            forecasts[low : low + n] = rows.forecasts
            state["t"] += n
            low += n
        return forecasts

    def _close(self, state, grows=False):
        self._newton()._close(state["newton"], grows)

    def _forecast(self, state, X):
        kernel, newton = kernel_of(self), self._newton()
        forecasts = np.empty(len(X))
        for block in gen_batches(len(X), _BLOCK):
            Phi, _ = coordinates(kernel, state["basis"], X[block])
            forecasts[block] = newton._forecast(state["newton"], Phi)
        return forecasts


class Rows:
    """A block of rows on its way through the rounds, and what an entry can do to them.

    Attributes
    ----------
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    distances : ndarray of shape (n,)
        Squared distances to the span of the basis as it is now.
    basis : dict
        The basis as it is now.
    forecasts : ndarray of shape (n,)
        Of the rows learnt so far.
    """

    def __init__(self, kernel, newton, state, X, y):
        self.X, self.y, self.basis = X, y, state["basis"]
        self.forecasts = np.empty(len(y))
        self._kernel, self._newton, self._state = kernel, newton, state
        self._coordinates, self.distances = coordinates(kernel, self.basis, X)
        self._learnt = 0

    def learn(self, stop):
        """Forecast and learn all rows before `stop`, in the basis as it is now."""
        rows = slice(self._learnt, stop)
        if rows.start < stop:
            self.forecasts[rows] = self._newton._learn(
                self._state["newton"], self._coordinates[rows], self.y[rows]
            )
            self._learnt = stop

    def project(self, i):
        """Project the weights for row i, in the basis as it is now."""
        self._newton._project(self._state["newton"], self._coordinates[i])

    def grow(self, i):
        """Add row i to the basis; return whether it was linearly independent."""
        x = self.X[i : i + 1]
        distance, least = self.distances[i], _DEPENDENT * self._kernel.diagonal(x)[0]
        if distance <= least + CLOSE:  # too near to say, so away from the block's rounding
            distance = coordinates(self._kernel, self.basis, x)[1][0]
        if not distance > least:
            return False
        row = grow_basis(self._kernel, self.basis, x[0])
        values = self._kernel(self.X, x)[:, 0]
        # not by row[-1]: the pivot is a little larger, see `grow_basis`
        added = (values - self._coordinates @ row[:-1]) / self.basis["factor"][-1, -1]
        self._coordinates = np.column_stack([self._coordinates, added])
        self.distances = np.maximum(self.distances - added**2, 0.0)
        return True

    def restart(self):
        """Forget what was learnt: A = mu I and w = 0, in the basis as it is now."""
        size = len(self.basis["atoms"])
        self._state["newton"] = self._newton._start(size)

    def carry(self):
        """Take over what was learnt into a basis that has grown by one."""
        self._newton._grow(self._state["newton"])


class KORS:
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
