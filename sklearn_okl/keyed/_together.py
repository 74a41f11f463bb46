"""Small models of many keys, a row of each at a time: what `OnlineKernelRegressor` learns so."""

import numpy as np

from ..conformal import QuantileDistribution
from ..untuned import OnlineKernelRegressor
from ..untuned.many import FIRST, Kept, distribute_together, forecast_together, learn_together

_FEWEST = 4  # keys that are worth the calls of one
_TOGETHER = 32  # keys that make a round worth its calls, however many rows each has
_LONG = 8  # rows of a key that cost as much in a call of their own as in rounds of so many keys
_VERBS = "partial_fit", "prequential_predict"
# what is asked of the distributions of small models together
_OF_LAWS = {
    "predict_quantiles": QuantileDistribution.ppf,
    "predict_interval": QuantileDistribution.interval,
}


def may_learn_together(estimator, call, verb):
    """Tell whether models of keys may learn the rows of a call so."""
    return (
        _is_small(estimator)
        and verb in _VERBS
        and not call.params
        and call.y.ndim == 1
        and _are_numbers(call.X)
        and len(call.starts) > _FEWEST
    )


def _is_small(estimator):
    return type(estimator) is OnlineKernelRegressor and estimator.budget == "tiny"


def _are_numbers(X):
    return type(X) is np.ndarray and X.dtype == np.float64


def answer_in_one(estimator, verb, given, asked, models, X, lives, answers):
    """Write answers of rows by the `models` of their lives; return which lives are done.

    Those are the ones `asked` before, and others of which all rows are ordinary.
    """
    there = np.flatnonzero(np.repeat(~asked, np.diff(lives.starts)))
    is_known = verb == "predict" or verb in _OF_LAWS
    may_be = _is_small(estimator) and is_known and _are_numbers(X)
    if not may_be or len(there) < _FEWEST:
        return asked
    rows, left = lives.order[there], np.zeros(len(lives.order), dtype=bool)
    of_rows = np.repeat(models, np.diff(lives.starts))[there].tolist()
    if verb == "predict":
        found, said = forecast_together(of_rows, X[rows])
        said = said[found]
    else:
        found, laws = distribute_together(of_rows, X[rows])
        said = _OF_LAWS[verb](laws, *given)
    if not found.any():  # models of several targets, whose answers have other shapes, take no part
        return asked
    answers[rows[found]], left[there] = said, ~found
    return asked | ~np.logical_or.reduceat(left, lives.starts[:-1])


def learn_in_rounds(call, teach):
    """Learn the rows of a call as long as many keys have one: the next of each is a round.

    What is no case for all at once learns a model by itself: `teach` lets that of a life learn some
    rows, and as many as a model has to begin with.
    """
    while _are_worth(lives := call.left(), call):
        rows = call.order[call.starts[lives] + call.done[lives]]
        known = call.known.other[lives].tolist()
        learnt = _learnt(call, rows, known)
        for life, before, now in zip(lives.tolist(), known, learnt, strict=True):
            if now is None:
                teach(life, call.rows(life)[: _n_alone(before)])
            else:
                call.known.other[life] = now
                call.done[life] += 1


def _are_worth(lives, call):
    """Tell whether rounds of all lives cost less than all rows of each at once."""
    if len(lives) < _FEWEST:
        return False
    n_rows = int((call.starts[lives + 1] - call.starts[lives] - call.done[lives]).sum())
    return len(lives) >= min(_TOGETHER, _TOGETHER // _LONG * n_rows / len(lives))


def _learnt(call, rows, known):
    """Return what is kept of models that have learnt a row each, None of who has not."""
    there = [i for i, one in enumerate(known) if one is not None]
    learnt = [None] * len(known)
    if len(there) < _FEWEST:
        return learnt
    some = rows[there]
    models = [known[i] for i in there]
    found, forecasts = learn_together(models, call.X[some], call.y[some])
    for i, one, forecast in zip(there, found, forecasts.tolist(), strict=True):
        learnt[i] = one
        if one is not None and call.answers is not None:
            call.answers[rows[i]] = forecast
    return learnt


def _n_alone(model):
    """Return how many rows a model learns by itself, or None: all.

    Who has learnt some with others may soon do so again, but for one that was more than a look.
    """
    if type(model) is Kept:
        return 1
    t = 0 if model is None else model._state["t"]
    return FIRST - t if t < FIRST else None
