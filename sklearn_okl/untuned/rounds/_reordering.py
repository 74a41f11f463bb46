"""Whether rows that seemed to have no order have one after all, or the other way round.

Without an order kernels go on without lags, see `..rows._order`. The first rows may mislead: so it
is asked again as rows come. Where they speak otherwise than they did, a model that sees lags, or
whose kernels do not, learns the rows at hand. Had it lost less on the second half of them it takes
the place of the one that stands.
"""

import numpy as np

from ..rows._layout import ORDERED, UNORDERED
from ..rows._order import errors_have_order
from . import _nones
from ._renewal import in_place_of, long_errors, n_rows
from ._rounds import Call
from ._trust import with_beliefs

_BEYOND = 100.0  # usual errors beyond which nobody could have known: episodes are within
_NEVER = 2**52  # a number that counts, for files
_TINY = np.finfo(float).tiny


def takes_place(model, anew, state, run):
    """Put a model that sees rows otherwise in the place of a state's, if that one is better.

    Return whether it has been done.
    """
    renewal, is_ordered = model.constants.renewal, state["columns"]["layout"]["ordered"] > UNORDERED
    if not _is_time(model, anew, state) or _have_order(model, anew, state) == is_ordered:
        return False
    t, n = n_rows(state), min(len(anew["rows"].rows[1]), state["t"], renewal.look)
    anew["order_from"] = t * (2 if t < renewal.look else 4)  # of long streams it is little work
    X, Y, weights, _ = renewal.latest(anew, state, n)
    of_rows = X.shape[1], state["seed"], UNORDERED if is_ordered else ORDERED
    fresh = with_beliefs(model._start_rounds(*of_rows), state)
    forecasts, doubted = model._learn_rounds(fresh, X, Y, weights, Call(run, {}))
    if not _is_better(anew, state, forecasts, doubted):
        return False
    state |= in_place_of(state, fresh)
    return True


def _is_time(model, anew, state):
    """Tell whether it is asked now: if there are a quarter more rows, and nothing is tried."""
    renewal, t = model.constants.renewal, n_rows(state)
    block = renewal.block
    if anew["twin"] or state["beside"]["twin"] or t % block or t < anew["order_from"]:
        return False
    is_asked = model._experts().may_do_without_lags
    anew["order_from"] = t + max(t // 4 // block, 1) * block if is_asked else _NEVER
    return is_asked and state["t"] >= renewal.order_from


def _have_order(model, anew, state):
    """Tell whether lines that see lags are ahead of their likes, or errors go with those before."""
    experts, q = model._experts(), len(state["targets"])
    if experts.lags_help(state):
        return True
    X, known = (part[-state["t"] :] for part in anew["rows"].rows)
    errors = _nones.blanked(state["targets"], known[:, :q]) - known[:, q:]
    return errors_have_order(X, errors, experts.kind.n_lags, experts.delay)


def _is_better(anew, state, forecasts, doubted):
    """Tell whether forecasts (n, q) of the latest rows missed less than those that were made.

    By squares, in the second half of the rows, over those of each target, by half of a standard
    error or more. Rows in doubt are left out: who sees lags foretells faults that come in runs. But
    for the first one of a run that was foretold: it is none.
    """
    n, q, past = len(forecasts), len(state["targets"]), anew["rows"]
    y, ours = np.hsplit(past.rows[1][-n:], [q])
    usual = long_errors(state)
    limit = np.where(usual > 0.0, _BEYOND * usual, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        misses = np.minimum(np.abs([y - forecasts, y - ours]), limit)[:, n // 2 :]
        squares = np.square(misses / misses.max(axis=(0, 1), initial=_TINY))
    weights = np.ones(n) if past.weights is None else past.weights[-n:].copy()
    doubted = np.array(doubted, dtype=int)
    is_first = np.diff(doubted, prepend=-2) > 1
    was_foretold = (np.abs(y - ours) <= 0.25 * np.abs(y - forecasts)).all(axis=1)
    weights[doubted[~(is_first & was_foretold[doubted])]] = 0.0
    theirs, ours = weights[n // 2 :, None] * squares
    total = ours.sum(axis=0)
    gains = ((ours - theirs) / np.where(total > 0.0, total, np.inf)).sum(axis=1)
    return bool(gains.sum() > 0.5 * np.sqrt(np.square(gains).sum()))
