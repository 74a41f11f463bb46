"""Forecasts, and what corrections make of them: BOA mixes both, and begins with what was there.

Where no correction says anything, as after a target was forgotten, nothing is to be learnt: else
rounding alone would make regrets, and all weights of a mixture that has known no other.
"""

from functools import partial

from ...aggregators import BOARegressor, _boas


def start(n_targets, n_sums, share, delay):
    """Return the state that begins with forecasts alone, of so many corrections of each target.

    Their prior weight, of all together, is a share: they are to show first that they are better.
    """
    boa = BOARegressor(prior_weights=[1.0 - share, *[share / n_sums] * n_sums])
    return _boas.start(n_targets, 1, 1 + n_sums, delay, boa)


def learn(state, F, u, weights=None):
    """Learn targets u (n, q) of forecasts F (n, q, 1 + n_sums); return those mixed (n, q)."""
    factors, bound = _boas.factors_of(len(u), weights), partial(_bound, iter(_are_apart(F)))
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
    bound = partial(_bound, iter([_are_apart(F)]))
    _boas.teach_row(state, known, F, None, u[:, None], 2.0 * weight, bound)


def written(state):
    """Return the arrays that a row has written."""
    return [state[name] for name in ("squares", "caps", "regrets", "rates")]


def weights(state):
    """Return the weights (q, 1 + n_sums) now."""
    return _boas.weights(state)[:, 0]


def forget_target(state, j, share):
    """Forget how corrections of target j have fared, where no label is waiting or some are."""
    n_sums, delay = state["log_prior"].shape[-1] - 1, len(state.get("past", ()))
    _boas.put(state, j, start(1, n_sums, share, delay))


def _are_apart(F):
    """Return whether forecasts F (..., 1 + n_sums) are not all the same."""
    return (F[..., :1] != F).any(axis=-1)


def _bound(are_apart, regrets):
    """Let regrets (q, 1, K) of the next round be none where forecasts of a target are the same."""
    regrets *= next(are_apart)[:, None, None]
