"""Forecasts, and what corrections make of them: BOA mixes both, and begins with what was there.

Where no correction says anything, as after a target was forgotten, nothing is to be learnt: else
rounding alone would make regrets, and all weights of a mixture that has known no other.

Errors may be counted in usual ones, see `_two_boas.py`, so that first rounds in which all err much
are not what all later ones are measured by. A round then counts at most as all that are usual.
"""

from functools import partial

import numpy as np

from ..._linalg import are_all
from ...aggregators import BOARegressor, _boas, _two_boas

_USUAL = "usual", "past usual"


def start(n_targets, n_sums, share, delay, in_usual=False):
    """Return the state that begins with forecasts alone, of so many corrections of each target.

    Their prior weight, of all together, is a share: they are to show first that they are better.
    """
    boa = BOARegressor(prior_weights=[1.0 - share, *[share / n_sums] * n_sums])
    state = _boas.start(n_targets, 1, 1 + n_sums, delay, boa)
    if not in_usual:
        return state
    both = _two_boas.start(n_targets, 1 + n_sums, delay)
    return state | {name: both[name] for name in _USUAL}


def learn(state, F, u, weights=None):
    """Learn targets u (n, q) of forecasts F (n, q, 1 + n_sums); return those mixed (n, q)."""
    factors, most = _boas.factors_of(len(u), weights), None
    if "usual" in state:
        of_rounds, most = _two_boas.learn_usual(state, F, u, weights)
        factors, most = factors * of_rounds[..., None, None], iter(most)
    bound = partial(_bound, iter(_are_apart(F)), most)
    return _boas.learn(state, F, u, factors, bound)[..., 0]


def forecast(state, F, ago=0):
    """Return forecasts F (n, q, 1 + n_sums) as they were mixed some rounds ago, (n, q)."""
    return _boas.forecast(state, F, ago)[..., 0]


def ask_row(state, F):
    """Return mixed forecasts (q,) of those of a row F (q, 1 + n_sums), and what they were."""
    weights = _boas.weights_of_row(_boas.log_weights(state), None)
    known = _boas.mixed_row(weights, _boas.pairs_of(F))
    return _boas.within_row(known, F, None)[:, 0], known


def teach_row(state, known, F, u, weight):
    """Learn targets u (q,) of a row, of which forecasts were F, and `known` mixed."""
    factors, most = 2.0 * weight, None
    if "usual" in state:
        most = iter([state["usual"][:, -2]])
        factors = factors * _two_boas.learn_usual_of_row(state, F, None, u, weight)[:, None]
    apart, bound = _are_apart(F), None
    if most is not None or not are_all(apart):
        bound = partial(_bound, iter([apart]), most)
    _boas.teach_row(state, known, F, None, u, factors, bound)


def written(state):
    """Return the arrays that a row has written."""
    names = ("squares", "caps", "regrets", "rates", "usual")
    return [state[name] for name in names if name in state]


def weights(state):
    """Return the weights (q, 1 + n_sums) now."""
    return _boas.weights(state)[:, 0]


def forget_target(state, j, share):
    """Forget how corrections of target j have fared, where no label is waiting or some are."""
    n_sums, delay = state["log_prior"].shape[-1] - 1, len(state.get("past", ()))
    _boas.put(state, j, start(1, n_sums, share, delay, "usual" in state))


def _are_apart(F):
    """Return whether forecasts F (..., 1 + n_sums) are not all the same."""
    differ = F[..., :1] != F
    return np.logical_or.reduce(differ, axis=-1)


def _bound(are_apart, most, regrets):
    """Let regrets (q, 1, K) of the next round be none where forecasts of a target are the same.

    And at most so large, if anything.
    """
    if most is not None:
        _two_boas.bound_by(np.maximum(next(most), 1.0)[:, None], regrets[:, 0])
    regrets *= next(are_apart)[:, None, None]
