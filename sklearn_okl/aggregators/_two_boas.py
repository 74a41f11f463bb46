"""Two BOAs of the same forecasts, one of which bounds what a round counts, and their mean."""

import numpy as np

from ._bounded import BoundedBOA
from ._fading_means import (
    known_likelihoods,
    learn_likelihoods,
    likelihoods_of,
    means_of,
    start_likelihoods,
)
from ._second_order import BOARegressor, mixed

_BOAS = {"plain": BOARegressor(), "bounded": BoundedBOA()}
_FADING = 0.99  # of the likelihoods that the two are weighted by


class TwoBOAs:
    """A state holds those of both, and how well they have done of late.

    Which of the two suits a stream is a doubt like others: where errors are large for good reasons,
    in a corner where the target is steep, bounded rounds tell less.
    """

    def start(self, n_features, delay):
        """Return the state before the first row."""
        states = {name: boa._start(n_features, late=delay) for name, boa in _BOAS.items()}
        return states | {"likelihoods": start_likelihoods(len(_BOAS), delay)}

    def learn(self, state, F, y, weights):
        """Learn targets (n,) and forecasts F (n, K) of them; return the means (n,)."""
        both = [boa._learn(state[name], F, y, weights) for name, boa in _BOAS.items()]
        both = np.column_stack(both)
        squares = np.square(both - y[:, None])
        known = learn_likelihoods(state["likelihoods"], squares, _FADING, weights)
        return means_of(both, *known)

    def forecast(self, state, F, ago):
        """Return the means (n,) of forecasts F (n, K) by what was known some rounds ago."""
        both = np.column_stack([mixed(state[name], F, ago) for name in _BOAS])
        return means_of(both, *np.atleast_2d(*known_likelihoods(state["likelihoods"], ago)))

    def wait(self, state, n):
        """Let rounds pass from which neither learns."""
        for name, boa in _BOAS.items():
            boa._pass(state[name], n)

    def weights(self, state):
        """Return the weights (K,) of the forecasts in the mean for the next round."""
        shares = likelihoods_of(*np.atleast_2d(*known_likelihoods(state["likelihoods"])))[0]
        parts = [boa._weights(state[name]) for name, boa in _BOAS.items()]
        return shares @ parts / shares.sum()
