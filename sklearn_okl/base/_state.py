"""States and parameters: how they are copied, compared, and found to be finite."""

import copy
import math
import os
from functools import cache
from operator import attrgetter

import numpy as np
from sklearn.base import BaseEstimator

from .._tail import Committed, Shared, SharedInverse
from .._values import ValueObject

_SCALARS = {int, float, str, bool, type(None)}
_FIXED = {*_SCALARS, tuple}  # what copies of a state share: nothing can change it
_HELD = {*_FIXED, Committed, SharedInverse}  # and these are never written
_SHARED = {*_HELD, np.ndarray}  # nor are these, in what is shared
_PLAIN = {list, tuple, dict, np.ndarray}
_NO_NUMBERS = {*_SCALARS, np.ndarray}
_NUMBERS = np.dtype(np.float64)
_SMALL = 4096  # numbers of an array that are copied sooner than summed by a call of their own


@cache
def _parameters(kind):
    """Return the names of the parameters of a class; scikit-learn looks at its source each time."""
    return tuple(kind._get_param_names())


@cache
def structural_parameters(kind):
    """Return the parameters of a class that its states are built with, as it and its bases say.

    Each class names in `_structural` those that it adds; a name that a base has, and this class
    does not take as a parameter, is left out.
    """
    declared = [set(vars(base).get("_structural", ())) for base in kind.__mro__]
    unknown = declared[0] - set(_parameters(kind)) - set().union(*declared[1:])
    if unknown:
        raise TypeError(
            f"{kind.__name__}._structural names {sorted(unknown)}, which are no parameters of "
            f"{kind.__name__}. Name those that its __init__ takes."
        )
    return tuple(name for name in _parameters(kind) if name in set().union(*declared))


def parameter_values(estimator):
    """Return the values of the parameters of an estimator, in their order."""
    return list(_all_values(type(estimator))(estimator))


@cache
def _all_values(kind):
    """Return what reads all parameters of a class at once."""
    names = _parameters(kind)
    if len(names) > 1:
        return attrgetter(*names)
    return lambda estimator: [getattr(estimator, name) for name in names]


def as_they_are(values):
    """Return parameters to compare others with: those that can be edited in place are copied."""
    return [copy.deepcopy(value) if type(value) in _PLAIN else value for value in values]


def are_unchanged(values, known):
    """Tell whether parameters are those known, as far as a look can tell: estimators may differ."""
    if len(values) != len(known):
        return False
    for value, before in zip(values, known, strict=True):
        kind = type(value)
        if kind in _PLAIN:
            if type(before) is not kind or not _same(value, before):
                return False
        elif value is not before or not (kind in _SCALARS or isinstance(value, ValueObject)):
            return False
    return True


def twin(estimator):
    """Return an estimator of the same attributes: what is set on the one is not on the other."""
    other = object.__new__(type(estimator))
    other.__dict__.update(vars(estimator))
    return other


def nameless(estimator):
    """Return a twin that knows no names of columns, as rows of a row path have none, and these."""
    other = twin(estimator)
    return other, vars(other).pop("feature_names_in_", None)


def named(estimator, names):
    """Return a twin that knows the names that `nameless` took, if there were any."""
    other = twin(estimator)
    if names is not None:
        other.feature_names_in_ = names
    return other


def _copied(state):
    """Copy a state: arrays, scalars, generators and estimators in nested dicts and lists."""
    kind = type(state)
    if kind is dict or kind is list:
        copied, array, held = state.copy(), np.ndarray, _HELD
        ahead = [copied]
        for part in ahead:  # there are hundreds of parts: a call takes longer than a look
            for name, value in part.items() if type(part) is dict else enumerate(part):
                kind = type(value)
                if kind is array:
                    if value.size:
                        part[name] = value.copy()
                elif kind in held:
                    continue
                elif kind is dict or kind is list:
                    part[name] = value = value.copy()
                    if value:
                        ahead.append(value)
                elif kind is Shared and _SHARED.issuperset(map(type, value.values())):
                    part[name] = Shared(value)
                else:
                    part[name] = _copied(value)
        return copied
    if kind is np.ndarray:
        return state.copy()
    if kind in _FIXED:
        return state
    if kind is Shared:
        copied = Shared(state)
        if not _SHARED.issuperset(map(type, state.values())):
            for name, value in state.items():
                if not isinstance(value, np.ndarray):
                    copied[name] = _copied(value)
        return copied
    if getattr(kind, "_is_never_written", False):  # others grow from it
        return state
    if isinstance(state, np.ndarray):  # such as one mapped from a file
        return state.copy()
    if getattr(kind, "_swaps_state", False):
        return twin(state)
    if isinstance(state, np.random.RandomState) or hasattr(state, "partial_fit"):
        return copy.deepcopy(state)
    return state  # a scalar or a string, which nothing can change in place


def _is_finite(state, allow_nan=False):
    """Tell whether all floating-point numbers in the arrays of a state are finite, or missing."""
    total, arrays, ahead = 0.0, [], [[state]]
    for part in ahead:  # there are hundreds of parts: a call takes longer than a look
        for value in part if type(part) is list else part.values():
            kind = type(value)
            if kind is np.ndarray:
                arrays.append(value)
            elif kind in _FIXED:
                continue
            elif kind is dict or kind is list:
                ahead.append(value)
            elif kind is Shared:  # its arrays were asked when they were made
                if not _NO_NUMBERS.issuperset(map(type, value.values())):
                    ahead.append([one for one in value.values() if type(one) not in _NO_NUMBERS])
            elif kind is Committed or kind is SharedInverse:
                if not value.is_finite:
                    total = math.nan
            elif isinstance(value, np.ndarray):
                arrays.append(value)
    numbers = [array for array in arrays if array.dtype is _NUMBERS or array.dtype.kind == "f"]
    small = [array for array in numbers if array.size <= _SMALL]
    if len(small) < len(numbers):
        total += sum([float(np.add.reduce(one, axis=None)) for one in numbers if one.size > _SMALL])
    if small:  # one sum: any nan or inf survives it
        total += float(np.add.reduce(np.concatenate(small, axis=None)))
    return math.isfinite(total) or (allow_nan and not _has_infinity(state))


def _has_infinity(state):
    if isinstance(state, (dict, list)):
        return any(map(_has_infinity, state.values() if isinstance(state, dict) else state))
    return isinstance(state, np.ndarray) and state.dtype.kind == "f" and np.isinf(state).any()


def _same(a, b):
    """Compare parameter values, arrays inside lists and dicts included."""
    if a is b:
        return True
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.shape(a) == np.shape(b) and np.array_equal(a, b)
    if type(a) is type(b) and callable(getattr(a, "equals", None)):  # a series or index of pandas
        return bool(a.equals(b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if type(a) is type(b) and hasattr(a, "get_params") and not isinstance(a, type):
        return _same(described(a), described(b))  # a copy of an estimator does not equal it
    return (type(a) is type(b) and a == b) or (np.isscalar(a) and np.isscalar(b) and a == b)


def described_structure(model):
    """Return what a model's states are built with; estimators by what they are made with."""
    return {name: described(getattr(model, name)) for name in structural_parameters(type(model))}


def described(value):
    """Replace estimators, at any depth, by their types and parameters, which can be compared."""
    kind = type(value)
    if kind in _SCALARS:
        return value
    if hasattr(value, "get_params") and not isinstance(value, type):
        # scikit-learn's own looks at the source of the class each time
        plain = getattr(kind, "get_params", None) is BaseEstimator.get_params
        names = _parameters(kind) if plain else ()
        params = {name: getattr(value, name) for name in names}
        return kind.__name__, described(params if plain else value.get_params(deep=False))
    if isinstance(value, dict):
        return {name: described(part) for name, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [described(part) for part in value]
    if kind.__eq__ is object.__eq__ and copy.deepcopy(value) is not value:
        return kind.__name__  # e.g. a random generator: not even equal to its own copy
    return os.fspath(value) if isinstance(value, os.PathLike) else value  # as files have paths
