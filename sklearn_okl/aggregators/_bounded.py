"""BOA whose rounds count little at most: one of huge errors would end what the others teach."""

import numpy as np

from .._delay import late
from .._documentation import inherit_documentation
from ..features._moments import faded
from ._second_order import BOARegressor

_FADING = 0.99  # of the squared errors that are usual
_BOUND = 3.0  # usual squared errors that the regrets of a round count at most
_KNOWN = 3  # rounds from which on it is known what is usual
_LEAST = 1e-18  # of the largest loss that the least one counts as
_LARGEST = 1e300


@inherit_documentation
class BoundedBOA(BOARegressor):
    r"""BOA of squared errors that are measured by the usual ones, and count three of them at most.

    The rates of BOA fall with the squares of all regrets so far. After a round in which everybody
    was a hundred usual errors off, as at a new level, it takes as many rounds as ten thousand
    squared to learn what it would have learnt at once. So regrets are those of

    .. math:: \ell_{k,t} = \frac{(y_t - f_{k,t})^2}{s_t}, \qquad
              s_t = \min_k \frac{\sum_{s < t} \lambda^{t - s} (y_s - f_{k,s})^2}
                               {\sum_{s < t} \lambda^{t - s}},

    all of a round divided by the same number where one of them would be above three.

    Notes
    -----
    *Theorem.* That of BOA, for a sum of the losses in which rounds have weights: they depend on
    the past, and on a round as far as its regrets are cut. No bound of the plain sum follows.
    """

    def _start(self, n_features, n_targets=None, late=None):
        state = super()._start(n_features, n_targets, late)
        late = self.label_delay if late is None else late
        # faded sums of squares, and of their weights; the number of rounds
        state["usual"] = np.zeros(n_features + 2)
        state["past usual"] = np.zeros((late, n_features + 2))
        return state

    def _pass(self, state, n):
        super()._pass(state, n)
        state["past usual"] = late(np.tile(state["usual"], (n, 1)), state["past usual"])[1]

    def _learn(self, state, X, y, weights=None):
        of_rounds = self._learn_usual(state, X, y, weights)
        return super()._learn(state, X, y, of_rounds if weights is None else weights * of_rounds)

    def _learn_usual(self, state, X, y, weights):
        """Learn squared errors; return one over the usual ones (n,) known before each row."""
        terms = np.ones((len(y), X.shape[1] + 1))
        squares = np.square(X - y[:, None], out=terms[:, :-1])
        asleep = np.isnan(squares)
        if asleep.any():  # who sleeps is never the best
            np.copyto(squares, np.nanmax(squares, axis=1, keepdims=True), where=asleep)
        if weights is not None:
            terms *= weights[:, None]
        path = np.empty((len(y) + 1, X.shape[1] + 2))
        path[:, :-1] = faded(terms, state["usual"][:-1], _FADING)
        path[:, -1] = state["usual"][-1] + np.arange(len(path))
        state["usual"] = path[-1].copy()
        known, state["past usual"] = late(path[:-1], state["past usual"])
        losses, mass, n_known = known[:, :-2], known[:, -2], known[:, -1]
        least = np.maximum(losses.min(axis=1), _LEAST * losses.max(axis=1))
        of_rounds = np.zeros(len(y))
        with np.errstate(over="ignore"):
            np.divide(mass, least, out=of_rounds, where=(least > 0.0) & (n_known >= _KNOWN))
        return np.minimum(of_rounds, _LARGEST)

    def _update(self, state, regrets, y):
        largest = max(np.maximum.reduce(regrets), -np.minimum.reduce(regrets))
        if largest > _BOUND:
            regrets = np.clip(regrets, -_LARGEST, _LARGEST)
            regrets *= _BOUND / min(largest, _LARGEST)
        super()._update(state, regrets, y)
