"""What a model is made of, at any depth, and what of it no file can hold."""

import copy
import sys
from collections import defaultdict
from functools import partial
from numbers import Real
from types import FunctionType, MethodType, ModuleType

import numpy as np

from .base import NOT_SAVED, OnlineEstimator, OnlineTransformer

# attributes that scikit-learn's callbacks leave on estimators, some of them during `fit` only
_CALLBACKS = {
    "_skl_callbacks",
    "_skl_callbacks_to_teardown",
    "_callback_fit_ctx",
    "_parent_callback_ctx",
}
_ATOMS = {str, int, float, bool, type(None)}


def parts_of(model):
    """Return the model and what it holds, each thing once; not its callbacks, and no numbers."""
    found, ahead = {}, [model]
    while ahead:
        part = ahead.pop()
        if type(part) not in _ATOMS and id(part) not in found:
            found[id(part)] = part
            ahead.extend(_held(part))
    return list(found.values())


def _held(part):
    if isinstance(part, dict):
        return list(part.values())
    if isinstance(part, (list, tuple, set, frozenset)):
        return list(part)
    if isinstance(part, np.ndarray):
        return np.asarray(part).ravel().tolist() if part.dtype == object else []
    if isinstance(part, partial):
        return [part.func, part.args, part.keywords]
    if isinstance(part, MethodType):
        return [part.__self__]
    if isinstance(part, (type, FunctionType, ModuleType)):
        return []
    return [value for name, value in _attributes(part).items() if name not in _CALLBACKS]


def _attributes(part):
    if hasattr(type(part), "_held"):  # whose dicts have keys of any type, and come back as lists
        return part._held()
    attributes = getattr(part, "__dict__", {}).copy()  # other threads write what they build
    attributes.pop(NOT_SAVED, None)
    return attributes


def have_callbacks(parts):
    """Tell whether an estimator among them has callbacks."""
    return any(not _CALLBACKS.isdisjoint(_attributes(part)) for part in parts)


def without_callbacks(model, parts):
    """Return a copy of the model without callbacks; it shares the arrays."""
    known = {id(a): a for a in parts if isinstance(a, np.ndarray) and a.dtype != object}
    for part in parts:
        for name in _CALLBACKS & _attributes(part).keys():
            known[id(_attributes(part)[name])] = None  # they may hold locks, which nobody can copy
    model = copy.deepcopy(model, known)
    for part in parts_of(model):
        for name in _CALLBACKS & _attributes(part).keys():
            del vars(part)[name]
    return model


def unsound(parts):
    """Return which estimator of ours has a state that is not finite, in words, or None.

    Every learning call ends with a state that is: our estimators and scalers see to it. Nor may a
    random generator stand at a place that it does not have: its next draw would end the process.
    """
    for part in parts:
        if isinstance(part, (np.random.RandomState, np.random.Generator)) and _is_astray(part):
            return f"a {type(part).__name__} that stands at a place that it does not have"
        if isinstance(part, (OnlineEstimator, OnlineTransformer)):
            state = vars(part).get("_state")
            if not part._is_sound(state):
                return (
                    f"a {type(part).__name__} with NaN or infinity in its state, which no learning "
                    "leaves behind"
                )
    return None


def _is_astray(generator):
    """Tell whether a generator would read beyond the numbers that it holds; NumPy does not look."""
    if isinstance(generator, np.random.RandomState):
        state = generator.get_state(legacy=False)
    else:
        state = generator.bit_generator.state
    held = state["state"]
    if "pos" in held:  # of a Mersenne twister
        return not 0 <= held["pos"] <= len(held["key"])
    return "buffer_pos" in state and not 0 <= state["buffer_pos"] <= len(state["buffer"])


def ambiguous(parts):
    """Return a dict whose keys would not come back, or None.

    The format writes keys as text, and reads them by calling their types: bool("False") is True.
    """
    for part in parts:
        if isinstance(part, dict) and not _come_back(part):
            return part
    return None


def _come_back(names):
    if all(type(name) is str for name in names):
        return True
    if isinstance(names, defaultdict):
        return False
    sound = all(isinstance(name, (str, Real)) and not isinstance(name, bool) for name in names)
    return sound and len({str(name) for name in names}) == len(names)


def nameless(parts, names):
    """Return what was defined inside a function or a class, among those full names."""
    found = set()
    for part in parts:
        thing = part if isinstance(part, (type, FunctionType)) else type(part)
        inside = thing.__name__ == "<lambda>" or thing.__qualname__ != thing.__name__
        if inside and f"{thing.__module__}.{thing.__name__}" in names:
            # the format looks at the top level, where another may have the name
            outside = getattr(sys.modules.get(thing.__module__), thing.__name__, None)
            if outside is not thing:
                found.add(f"{thing.__module__}.{thing.__qualname__}")
    return sorted(found)
