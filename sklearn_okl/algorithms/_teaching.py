"""Experts of any kind: what they must be able to do, how they are asked, taught and fail."""

from contextlib import contextmanager

import numpy as np
from sklearn.base import is_classifier

from ._fence import sane


def check_experts(experts):
    """Refuse what is no list of names and regressors that learn from a stream."""
    if not experts:
        raise ValueError("experts is empty: give at least one pair (name, estimator).")
    for item in experts:
        if not (isinstance(item, (tuple, list)) and len(item) == 2 and isinstance(item[0], str)):
            raise TypeError(f"experts must be a list of pairs (name, estimator); got {item!r}.")
    for name, expert in experts:
        fault = _fault(expert)
        if fault:
            raise TypeError(
                f"The expert {name!r} {fault}. Give an instance of a regressor that learns by "
                "'partial_fit', such as SGDRegressor() or any regressor of this package."
            )


def forecast_expert(name, expert, X, reach):
    """Return one expert's forecasts (n,) for rows, NaN where they are not sane."""
    with _naming(name, expert, "forecast"):
        return sane(_as_column(expert.predict(X), len(X)), reach)


def learn_expert(name, expert, X, y, reach, initial_forecast):
    """Teach one expert rows in place.

    `initial_forecast` is None where the expert has learnt before.

    Returns
    -------
    forecasts : ndarray of shape (n,)
        Each made before its target, NaN where it was not sane.
    error : Exception or None
        What the expert failed with when it had no sane forecast: it has learnt no row since.
    """
    if hasattr(expert, "prequential_predict"):
        with _naming(name, expert, "learn"):
            forecasts = _as_column(expert.prequential_predict(X, y), len(X))
        return sane(forecasts, reach), None
    X, y = X.copy(), y.copy()  # the caller's own memory, which an expert might keep or change
    forecasts = np.full(len(y), np.nan)
    with np.errstate(over="ignore", invalid="ignore"):  # threads do not inherit the shell's
        for t in range(len(y)):
            row = slice(t, t + 1)
            if t == 0 and initial_forecast is not None:
                forecasts[0] = initial_forecast
            else:
                forecasts[row] = forecast_expert(name, expert, X[row], reach[row])
            try:
                with _naming(name, expert, "learn"):
                    expert.partial_fit(X[row], y[row])
            except ValueError as error:
                overflowed = isinstance(error.__cause__, (ValueError, ArithmeticError))
                if overflowed and np.isnan(forecasts[t]):
                    return forecasts, error.__cause__
                raise
    return forecasts, None


@contextmanager
def _naming(name, expert, verb):
    """Say which expert failed."""
    try:
        yield
    except Exception as error:
        raise ValueError(
            f"The expert {name!r} ({type(expert).__name__}) failed to {verb}: {error}"
        ) from error


def _as_column(forecasts, n):
    return np.asarray(forecasts, dtype=np.float64).reshape(n)


def _fault(expert):
    """Say why something cannot be an expert, or return None."""
    if isinstance(expert, type):
        return f"is the class {expert.__name__}, not an instance of it"
    if not all(hasattr(expert, verb) for verb in ("get_params", "predict")):
        return f"is no estimator: {expert!r}"
    if not hasattr(expert, "partial_fit"):
        return f"cannot learn from a stream: {type(expert).__name__} has no 'partial_fit'"
    if hasattr(expert, "__sklearn_tags__") and is_classifier(expert):
        return f"is a classifier, {type(expert).__name__}, and forecasts labels"
    return None
