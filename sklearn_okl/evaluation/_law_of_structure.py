"""The law of parameters that shape the state: those that `_structural` should name are found."""

import pickle
import re
from numbers import Integral, Real

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils._param_validation import StrOptions

from ..base import OnlineEstimator, structural_parameters

_ROWS = 60  # a parameter that shapes the state does so in its first rows


def check_structural(estimator, X, y):
    """Check that whoever is given another parameter in mid-stream heeds it, or refuses it by name.

    A parameter should be among `_structural` that makes another state to start with, and changes
    nothing later; or that fails later, in words that do not name it.
    """
    X, y = X[:_ROWS], y[:_ROWS]
    known = _forecasts(clone(estimator), X, y)
    params, structural = estimator.get_params(), structural_parameters(type(estimator))
    for name, value in params.items():
        head, _, last = name.rpartition("__")
        owner = params[head] if head else estimator
        is_named = name.partition("__")[0] in structural or last == "random_state"
        if is_named or not isinstance(owner, OnlineEstimator):
            continue
        for other in _others(value, owner._parameter_constraints.get(last, ())):
            if _matters(estimator, name, other, X, y, known):
                _check_change(estimator, name, other, X, y, known)
                break


def _others(value, constraints):
    """Return other values of a parameter that may do, by what it is and may be."""
    if isinstance(value, (bool, np.bool_)):
        return [not value]
    if isinstance(value, str):
        options = [one.options for one in constraints if isinstance(one, StrOptions)]
        return sorted(set().union(*options) - {value})
    if isinstance(value, Integral):
        return [value + 1, value + 7, 2 * value, value - 1]
    if isinstance(value, Real):
        return [2 * value, value / 2, value + 1, 0.5]
    return [3, 1.5, 0.5] if value is None else []


def _forecasts(model, X, y):
    """Return what a model says that has learnt the rows, the second half of them last."""
    half = len(y) // 2
    for rows in (slice(half), slice(half, None)):
        model.partial_fit(X[rows], y[rows], **_named(model))
    return asked(model, X)


def _named(model):
    return {"classes": np.array([0.0, 1.0])} if is_classifier(model) else {}


def asked(model, X):
    """Return what says more than labels, where there is such a thing."""
    verbs = ("decision_function", "predict_proba", "predict")
    return next(getattr(model, verb) for verb in verbs if hasattr(model, verb))(X)


def _matters(estimator, name, value, X, y, known):
    """Tell whether a model with another value of a parameter takes it, and forecasts otherwise."""
    try:
        return not np.array_equal(
            _forecasts(clone(estimator).set_params(**{name: value}), X, y), known
        )
    except Exception:  # whatever it says of such a value
        return False


def _started(model):
    """Return the state that a model would start with, to compare."""
    return pickle.dumps(model._start(model.n_features_in_, model._n_targets))


def _check_change(estimator, name, value, X, y, known):
    half = len(y) // 2
    before, model = (
        clone(estimator).partial_fit(X[:half], y[:half], **_named(estimator)) for _ in range(2)
    )
    try:
        model.set_params(**{name: value}).partial_fit(X[half:], y[half:])
        found = asked(model, X)
    except Exception as error:
        names = "|".join([*name.split("__"), *structural_parameters(type(estimator))])
        if isinstance(error, (ValueError, TypeError)) and re.search(rf"\b({names})\b", str(error)):
            return
        what = f"makes it fail: {type(error).__name__}: {error}"
    else:
        if not np.array_equal(found, known) or _started(model) == _started(before):
            return
        what = "changes nothing"
    raise AssertionError(
        f"{name}={value!r} makes another model of the same rows, but set in mid-stream it {what}. "
        f"If the state is built with it, name {name.partition('__')[0]!r} in _structural"
    )
