"""The experts of the classifier without tuning: banks of ridge regressions on classes.

Two classes are one target, -1 or +1; more are one each, 0 or 1, all learnt with one inverse. What
the regressions forecast are scores, of which `_class_mixture.py` makes probabilities.
"""

from functools import partial

import numpy as np

from ._banks import inputs_of, start_bank
from ._class_mixture import ClassMixture
from ._experts import Experts, _asked
from ._inputs import LaggedInputs

_FARTHEST = 2.0  # scores of rows that are like no other say no more
_LAG_COLUMNS = 8  # of the latest labels at most, where there are more than two classes


class ClassExperts(Experts):
    """Banks of kernels that learn classes together, and what mixes them.

    Parameters
    ----------
    n_classes : int
    budget : Budget
    forgetting : float or None
    lags, delay : int
    constants : Constants
    """

    def __init__(self, n_classes, budget, forgetting, lags, delay, constants):
        # a chain corrects forecasts of numbers
        self.n_classes, self.budget = n_classes, budget._replace(n_links=0)
        self.forgetting = forgetting
        self.delay, self.constants = delay, constants
        self.n_targets = None if n_classes == 2 else n_classes
        if self.n_targets and lags:
            lags = min(lags, _LAG_COLUMNS // n_classes)
        self.inputs = LaggedInputs(
            lags,
            delay,
            constants.units,
            constants.n_quantiles if budget.ranks else 0,
            self.n_targets,
            walks=False,
        )
        self.lags = self.inputs.n_lag_columns
        pools = constants.pools[: budget.n_stacks]
        self.mixture = ClassMixture(n_classes, delay, constants.class_fadings, pools)

    def start(self, n_features, seed, n_trees=0):
        """Return the state before the first row; the last features may be forecasts of trees."""
        rng, plans = np.random.RandomState(seed), self.plan(n_features - n_trees, n_trees)
        n_experts = sum(bank.room for bank in plans.values())
        return {
            "inputs": self.inputs.start(n_features, n_trees),
            "banks": {
                name: start_bank(bank, rng, self.delay, self.n_targets)
                for name, bank in plans.items()
            },
            "rounds": np.zeros(n_experts, dtype=int),
            "losses": np.zeros(n_experts),
            "masses": np.zeros(n_experts),  # sums of the weights of the rows forecast
            "mixture": self.mixture.start(n_experts),
            "boosting": {},
        }

    def targets(self, y):
        """Return what the banks learn, (n,) or (n, C), of places y (n,)."""
        if self.n_targets is None:
            return 2.0 * y - 1.0
        return (y[:, None] == np.arange(self.n_classes)).astype(float)

    def learn(self, state, X, y, age, run, weights=None):
        """Learn rows of places y (n,); return the probabilities (n, C) forecast on the way."""
        n_learnt, heard = self.n_learnt(state), self.heard(state, age, self.delay)
        yet_to_be_born, u = ~self._existed(state, self.delay), self.targets(y)
        seen, awake = self.inputs.learn(state["inputs"], X, u), self._awake(state)
        teach = partial(self._teach, u=u, run=run, weights=weights)
        F = self._forecasts(state, awake, seen, len(u), teach)
        for _, places in awake:
            state["rounds"][places] += len(u)
        F[:, yet_to_be_born] = np.nan
        counted = np.ones(len(u)) if weights is None else weights
        n_first = max(1 + self.delay - n_learnt, 0)  # whose forecasts are none
        squares = np.square(F - u[:, None]).reshape(*F.shape[:2], -1).sum(axis=-1)
        state["losses"] += np.nansum(squares[n_first:] * counted[n_first:, None], axis=0)
        state["masses"] += np.where(np.isnan(squares[-1]), 0.0, counted[n_first:].sum())
        return self.mixture.learn(state["mixture"], self._scores(F), y, heard, weights)

    def forecast(self, state, X, age, ago=0, ahead=False):
        """Return probabilities (n, C) by what was known some rounds ago; learns nothing."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        S = self._ask_scores(state, X, ago, of_inputs)
        heard = self.heard(state, age, ago)
        return self.mixture.forecast(state["mixture"], S, heard, ago, of_inputs)

    def forecasts(self, state, X, age):
        """Return the calibrated probabilities (n, n_experts, C) of the experts in the table."""
        S = self._ask_scores(state, X)
        P = self.mixture.calibrated(state["mixture"], S)
        return P[:, self.born(state)]

    def table(self, state, age, squared_unit):
        """Return what each expert is and how it fares."""
        weights = np.where(self.heard(state, age), self.mixture._weights(state["mixture"]), 0.0)
        return self._table(state, weights, state["losses"])

    def level(self, state):
        """Return the mean target so far, a number or (C,)."""
        shares = self.mixture.shares(state["mixture"])
        return shares[1] - shares[0] if self.n_targets is None else shares

    def _ask_scores(self, state, X, ago=0, of_inputs=0):
        seen = self.inputs.look(state["inputs"], X, of_inputs)
        ask = partial(_asked, ago=ago)
        return self._scores(self._forecasts(state, self._awake(state), seen, len(X), ask))

    def _scores(self, F):
        """Return scores (n, K, C), between -1 and 1 where an expert knows its classes."""
        S = np.stack([-F, F], axis=-1) if self.n_targets is None else 2.0 * F - 1.0
        return np.clip(S, -_FARTHEST, _FARTHEST, out=S)

    def _shares(self, state):
        """Return None: all classes count alike."""

    def _forecasts(self, state, awake, seen, n, of_bank):
        targets = () if self.n_targets is None else (self.n_targets,)
        F = np.full((n, len(state["rounds"]), *targets), np.nan)
        for bank, places in awake:
            F[:, places] = of_bank(bank, inputs_of(bank, seen))
        return F
