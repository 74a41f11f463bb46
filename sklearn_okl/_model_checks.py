"""What can be known of a model from what it holds: whether it can forecast, and go on learning."""

import copy
import math
import warnings
from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags

from ._flow import joined
from ._tail import SharedInverse
from .base import OnlineEstimator, OnlineTransformer, SwapMixin, _same, parameter_values, twin
from .base._intercept import start_lookout
from .features import (
    CalendarFeatures,
    FourierFeatures,
    LagFeatures,
    RunningOneHotEncoder,
    TaylorFeatures,
)
from .meta import RefitClassifier, RefitRegressor
from .pipeline import StreamingPipeline
from .series import AdaptedForecaster, OnlineForecaster

_OURS = OnlineEstimator, OnlineTransformer
_OF_NUMBERS = *_OURS, FourierFeatures, TaylorFeatures
_MAPS = CalendarFeatures, FourierFeatures, TaylorFeatures  # they learn the width of rows, no more
_REFIT = RefitClassifier, RefitRegressor  # who may fit somebody else's model for a row
_ROUNDING = 1e-6  # relative asymmetry that rounding may leave in an inverse, generously
_LARGEST = 2**53  # numbers that count


def unsound_parameters(parts):
    """Return what is wrong with the parameters of a fitted estimator of ours, in words, or None.

    One that is not fitted looks at them when it is.
    """
    for part in parts:
        if _is_of_this_package(part):
            try:
                parameter_values(part)
            except AttributeError as error:
                return f"a {type(part).__name__} that lacks a parameter: {error}"
        if isinstance(part, _OURS) and part.__sklearn_is_fitted__():
            try:
                part._validate()
            except (AttributeError, TypeError, ValueError) as error:
                return f"a {type(part).__name__} with parameters that it does not take: {error}"
    return None


def _is_of_this_package(part):
    """Tell whether an estimator is one of ours, or derives from one."""
    kinds = type(part).__mro__ if isinstance(part, BaseEstimator) else ()
    return any(kind.__module__.partition(".")[0] == "sklearn_okl" for kind in kinds)


def unsound_state(parts):
    """Return what is wrong with the state of an estimator of ours, in words, or None.

    A state is held against a fresh one; a twin of the model forecasts, and learns some rows.
    """
    for part in parts:
        name, fault = type(part).__name__, None
        try:
            if isinstance(part, SwapMixin) and part.__sklearn_is_fitted__():
                fault = _fault_of_record(part)
            if fault is not None:
                pass
            elif isinstance(part, _OURS) and part.__sklearn_is_fitted__():
                fault = _fault(part)
            elif isinstance(part, _MAPS) and "n_features_in_" in vars(part):
                fault = _fault_of_map(part)
            elif isinstance(part, OnlineForecaster) and part.__sklearn_is_fitted__():
                _try_forecaster(part)
            elif isinstance(part, AdaptedForecaster) and part.__sklearn_is_fitted__():
                _try_adapted(part)
            elif isinstance(part, StreamingPipeline) and part.__sklearn_is_fitted__():
                _try_pipeline(part)
        except Exception as error:  # what does not fit together fails anywhere
            fault = f"cannot be used ({type(error).__name__}: {error})"
        if fault is not None:
            return f"a {name} whose state {fault}"
    return None


def _fault_of_record(part):
    """Return what is wrong with the record of the parameters that a state is of, or None."""
    known = vars(part).get("_built_with")
    if not isinstance(known, dict) or known.keys() != {"checked", "structure"}:
        return "is of no call that is known"
    if known["structure"].keys() != part._structure().keys():
        return "is of other parameters"
    return None if len(known["checked"]) == len(part._values()) else "is of no call that is known"


def _fault(part):
    state, d = part._state, vars(part).get("n_features_in_")
    if not (isinstance(state, dict) and _is_count(state.get("t"))):
        return "counts no rounds"
    if not _is_count(d) or d < 1:
        return f"is of {d!r} features"
    fault = _fault_of_numbers(state)
    if fault is not None or type(part).__module__.partition(".")[0] != "sklearn_okl":
        return fault
    if isinstance(part, OnlineTransformer):
        return _try(part)
    model = part._as_taught()
    if vars(part).get("_columns") is not None:  # text and categories, of which rows we cannot make
        return None
    fresh = _fresh(model)
    if "lookout" in state and "lookout" not in fresh:
        fresh["lookout"] = start_lookout(d, model._n_targets or 1)
    return _unlike(fresh, state) or _try(model)


def _is_count(value):
    return isinstance(value, Integral) and not isinstance(value, bool) and 0 <= value < _LARGEST


def _fault_of_numbers(state):
    """Return what is wrong with the numbers and the inverses of a state, or None."""
    ahead = [state]
    while ahead:
        part = ahead.pop()
        if isinstance(part, dict):
            ahead += part.values()
            inverses = [part["P"]] if {"A", "P"} <= part.keys() else []
        elif isinstance(part, list):  # tuples describe, as those of an expert's making do
            ahead += [one for one in part if not isinstance(one, Real)]  # or names categories
            continue
        elif isinstance(part, SharedInverse):
            inverses = [P.array for _, _, P in part.groups]
            ahead += [array for _, A, P in part.groups for array in (A.array, P.array)]
        elif isinstance(part, np.ndarray) and part.dtype.kind == "c":
            return "holds complex numbers"
        elif isinstance(part, Real) and not abs(part) < _LARGEST and not isinstance(part, float):
            return f"holds the number {part}"
        else:
            if isinstance(part, float) and math.isnan(part):
                return "holds a number that is none"
            continue
        if not all(map(_may_be_inverse, inverses)):
            return "holds an inverse that is none: it is not symmetric with a positive diagonal"
    return None


def _may_be_inverse(P):
    """Tell whether matrices (..., D, D) may be inverses of positive definite ones."""
    if P.ndim < 2 or P.shape[-1] != P.shape[-2]:
        return False
    diagonal = np.diagonal(P, axis1=-2, axis2=-1)
    if not (diagonal > 0.0).all():
        return False
    largest = np.abs(P).max(axis=(-2, -1), initial=0.0)
    # of a positive definite matrix the largest entry is on the diagonal
    if (largest > (1.0 + _ROUNDING) * diagonal.max(axis=-1, initial=0.0)).any():
        return False
    asymmetry = np.abs(P - P.swapaxes(-1, -2)).max(axis=(-2, -1), initial=0.0)
    return bool((asymmetry <= _ROUNDING * largest).all())


def _fresh(model):
    """Return the state that a model would start with; no generator of the model's is drawn from."""
    fresh = copy.copy(model)
    for name, value in fresh.get_params(deep=False).items():
        if isinstance(value, (np.random.RandomState, np.random.Generator)):
            setattr(fresh, name, 0)
    return fresh._start(fresh.n_features_in_, fresh._n_targets)


def _unlike(fresh, state, where="state"):
    """Return in what a state is of another shape than a fresh one, or None.

    What is empty, or None, before the first row may be of any length later.
    """
    if isinstance(fresh, np.ndarray):
        fits = isinstance(state, np.ndarray) and _fits(fresh, state)
        return None if fits else f"is not of its shape: {where} should be {fresh.shape}"
    if isinstance(fresh, dict):
        if not isinstance(state, dict):
            return f"is not of its shape: {where} is no dict"
        inverse = state.get("inverse")
        if isinstance(inverse, SharedInverse) and "P" in fresh:
            fault = _unlike_inverse(fresh["P"].shape, inverse)
            if fault is not None:
                return fault
            fresh = {name: part for name, part in fresh.items() if name not in ("A", "P")}
        missing = [name for name in fresh if name not in state]
        if missing:
            return f"lacks {missing[0]!r}"
        # who is held of a graph, and so its shapes, is drawn
        pairs = [(name, part, state[name]) for name, part in fresh.items() if name != "graph"]
        if {"rows", "coef", "norm_sq"} <= fresh.keys() and np.shape(state["rows"])[:1] != np.shape(
            state["coef"]
        ):
            return f"is not of its shape: {where} has not as many coefficients as rows"
        if {"X", "gaps", "y"} <= fresh.keys() and len({np.shape(state[n])[:1] for n in fresh}) > 1:
            return f"is not of its shape: {where} has parts of rows"
        if "norm_sq" in fresh and not isinstance(state["norm_sq"], Real):
            return f"is not of its shape: {where}['norm_sq'] should be a number"
    elif isinstance(fresh, (list, tuple)) and fresh:
        if not isinstance(state, (list, tuple)) or len(state) != len(fresh):
            return f"is not of its shape: {where} should hold {len(fresh)}"
        pairs = [(str(i), *pair) for i, pair in enumerate(zip(fresh, state, strict=True))]
    elif isinstance(fresh, Real):
        fits = state is None or isinstance(state, (Real, np.ndarray))
        return None if fits else f"is not of its shape: {where} should be a number"
    else:
        return None
    faults = (_unlike(*pair, where=f"{where}[{name!r}]") for name, *pair in pairs)
    return next((fault for fault in faults if fault is not None), None)


def _fits(fresh, state):
    """Tell whether an array is of the kind and shape of a fresh one; axes of length 0 may grow."""
    return (
        fresh.ndim == state.ndim
        and fresh.dtype.kind == state.dtype.kind
        and all(size in (0, n) for size, n in zip(fresh.shape, state.shape, strict=True))
    )


def _unlike_inverse(shape, inverse):
    """Return in what a shared inverse is of another shape than matrices (..., D, D), or None."""
    parts = [part.array for _, *pair in inverse.groups for part in pair]
    committed = shape[-2:]
    if not shape[-1]:  # of a dictionary, which grows; what is committed may be smaller still
        shape = (*shape[:-2], *2 * inverse.tail.rows.shape[-1:])
        committed = 2 * (min(parts[0].shape[-1], shape[-1]),)
    n_all = sum(len(part) for part in parts) if len(shape) == 3 else 2
    tails = [inverse.tail] if inverse.former is None else [inverse.tail, inverse.former]
    rows = [part for tail in tails for part in (tail.rows, tail.directions)]
    sound = (
        all(part.ndim == len(shape) and part.shape[-2:] == committed for part in parts)
        and n_all == (2 * shape[0] if len(shape) == 3 else 2)
        and inverse.floors.shape == shape[:-2]
        and all(part.shape[:-2] == shape[:-2] and part.shape[-1] == shape[-1] for part in rows)
    )
    return None if sound else f"is not of its shape: inverses should be {shape}"


def _try(part):
    """Let a twin forecast, and learn some rows; return what is wrong, or None."""
    model = twin(part)
    vars(model).pop("feature_names_in_", None)
    X = _rows(model)
    if isinstance(model, _REFIT):
        _put_off_fits(model)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        answers, y = [_asked(model, X)], _targets(model, len(X))
        model.partial_fit(X[:1], y[:1]).partial_fit(X[1:], y[1:])
        answers.append(_asked(model, X))
    return (
        None
        if all(np.isfinite(np.asarray(one)).all() for one in answers)
        else "makes no numbers of rows"
    )


def _rows(model):
    """Return rows of a trial, small numbers; of categories those that are known."""
    if isinstance(model, RunningOneHotEncoder):
        known = model._state["categories"]
        return np.array([[held[0] if held else None for held in known]] * 7, dtype=object)
    if isinstance(model, CalendarFeatures):
        days = np.datetime64("2024-01-01", "s") + np.arange(7).astype("timedelta64[D]")
        return np.tile(days[:, None], model.n_features_in_)
    return 0.1 * np.random.default_rng(0).normal(size=(7, model.n_features_in_))


def _put_off_fits(model):
    """Let a twin learn rows of a trial without fitting a model, which may be somebody else's."""
    if model._state["due"] <= model._state["t"]:
        raise ValueError("a fit is overdue")
    model._state = model._state | {"due": _LARGEST}


def _targets(model, n):
    """Return targets, or labels, for rows of a trial."""
    if is_classifier(model):
        return np.resize(model._checked_classes(model.classes_), n)
    q = vars(model).get("_n_targets")
    columns = () if q is None else (q,)
    if isinstance(model, LagFeatures):
        columns = model._state["lags"].shape[1:]
    return np.zeros((n, *columns))


def _asked(model, X):
    """Let a model answer in all its ways; return the first, numbers."""
    verbs = ("predict_proba", "decision_function", "predict", "transform")
    first, *_ = [getattr(model, verb)(X) for verb in verbs if hasattr(model, verb)]
    return first


def _fault_of_map(part):
    """Return what is wrong with a map, held against one of the same parameters and width, or None.

    Only numbers may be others: they may have been drawn.
    """
    model = twin(part)
    vars(model).pop("feature_names_in_", None)
    X, fresh = _rows(model), clone(model)
    fixed = {"random_state": 0} if "random_state" in fresh.get_params() else {}
    fresh.set_params(**fixed).fit(X)
    for name in vars(fresh).keys() - fresh.get_params().keys():
        known, value = vars(part).get(name), vars(fresh)[name]
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            fits = np.shape(known) == value.shape and np.isfinite(known).all()
        else:
            fits = _same(known, value)
        if not fits:
            return f"is not of its width: {name} should be another"
    return None if np.isfinite(np.asarray(model.transform(X))).all() else "makes no numbers of rows"


def _try_forecaster(model):
    """Let a twin of a forecaster forecast, and learn that; what it raises is wrong with it."""
    model = twin(model)
    if not model._is_sound(model._state):
        raise ValueError("it forecasts no numbers")
    layout, n = model._layout, min(model.horizon, 7)
    future = np.zeros((n, len(layout["ahead"]))) if layout["ahead"] else None
    y = model.predict(future, n)
    model.predict_interval(future, n_steps=n)
    model.partial_fit(y, np.zeros((n, layout["n_columns"])) if layout["n_columns"] else None)


def _try_adapted(model):
    """Let a twin of a corrector correct a base of zeros, and learn that, as `_try_forecaster`."""
    model = twin(model)
    layout = model.forecaster_._layout
    future = np.zeros((1, len(layout["ahead"]))) if layout["ahead"] else None
    base = np.zeros((model.horizon, layout["n_series"]))
    y = model.predict(base, future, 1)
    X = np.zeros((1, layout["n_columns"])) if layout["n_columns"] else None
    model.partial_fit(y, base[None], X)
    if not np.isfinite(np.asarray(model.predict(base, future, 1))).all():
        raise ValueError("it forecasts no numbers")


def _try_pipeline(model):
    """Let a twin of a pipeline forecast, and one of numbers learn; what it raises is wrong."""
    model = twin(model)
    model._validate()
    vars(model).pop("feature_names_in_", None)
    X = np.zeros((2, model.n_features_in_))
    if "steps_" not in vars(model):  # in its warm-up
        model.predict(X)
        joined(model._state["waiting"])
        return
    steps = [step for _, step in model.steps_ if not isinstance(step, str)]
    if any(isinstance(step, type) for step in steps):
        raise TypeError("a step is a class, not an estimator")
    if all(isinstance(one, _OF_NUMBERS) and not get_tags(one).input_tags.string for one in steps):
        _asked(model, X)
        if not isinstance(steps[-1], _REFIT):
            model.partial_fit(X, _targets(steps[-1], 2))
