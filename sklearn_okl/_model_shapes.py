"""A state held against one that has seen no row: the same parts, of the same kinds and shapes.

What is empty before the first row may be of any length later, and what of one part grows, grows
together. So of all that a file says, the numbers alone are left to be tried out.
"""

from numbers import Integral, Real

import numpy as np
from sklearn.base import BaseEstimator

from ._tail import TAIL, SharedInverse
from .meta._past import Past

_NO_SHAPE = "graph", "steps"  # who is held of a graph is drawn; a tree grows
_LIKE_THE_FIRST = ("looks",)  # of which more wait while targets are late
_SQUARE = {"A", "P", "factor"}
_TOGETHER = (  # arrays that have an entry for each of the same rows, or members
    {"X", "y", "gaps", "far", "faulty", "weights", "forecasts"},
    {"rows", "y", "forecasts"},
    {"rows", "coef"},
    {"rows", "targets", "Phi"},
    {"kept", "weights", "white"},
    {"atoms", "factor", "scales"},
    {"A", "P", "b", "theta"},
    {"count", "lags", "rows", "scale"},
    {"losses", "log_prior", "rounds"},
    {"theta", "log_h", "log_w"},
    {"levels", "shares", "tables", "units"},
    {"first", "faulty", "calendar"},
)


def unlike(fresh, state, where="state"):
    """Return in what a state is of another shape than a fresh one, or None."""
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
        pairs = [(name, part, state[name]) for name, part in fresh.items() if name not in _NO_SHAPE]
        pairs = [(name, _as_long(name, *both), both[1]) for name, *both in pairs]
    elif isinstance(fresh, (list, tuple)) and fresh:
        if not isinstance(state, (list, tuple)) or len(state) != len(fresh):
            return f"is not of its shape: {where} should hold {len(fresh)}"
        pairs = [(str(i), *pair) for i, pair in enumerate(zip(fresh, state, strict=True))]
    elif isinstance(fresh, Real):
        return _unlike_number(fresh, state, where)
    elif isinstance(fresh, Past):
        fits = isinstance(state, Past) and _goes_on(fresh, state)
        return None if fits else f"is not of its shape: {where} should be rows as wide as others"
    elif isinstance(fresh, BaseEstimator) and type(state) is not type(fresh):
        return f"is not of its shape: {where} should be a {type(fresh).__name__}"
    else:
        return None
    faults = (unlike(*pair, where=f"{where}[{name!r}]") for name, *pair in pairs)
    fault = next((fault for fault in faults if fault is not None), None)
    if fault is None and isinstance(fresh, dict):
        fault = _apart(fresh, state, where)
    return fault


def _as_long(name, fresh, state):
    """Return a fresh part, or as many of its first as there are by now where these become more."""
    grows = name in _LIKE_THE_FIRST and isinstance(state, tuple) and state
    return fresh[:1] * len(state) if grows else fresh


def _fits(fresh, state):
    """Tell whether an array is of the kind and shape of a fresh one; axes of length 0 may grow."""
    return (
        fresh.ndim == state.ndim
        and fresh.dtype.kind == state.dtype.kind
        and all(size in (0, n) for size, n in zip(fresh.shape, state.shape, strict=True))
    )


def _unlike_number(fresh, state, where):
    """Return why a number of a state is not one of the kind that a fresh one has, or None."""
    if isinstance(fresh, (bool, np.bool_)):
        fits, wanted = isinstance(state, (bool, np.bool_)), "true or false"
    elif isinstance(fresh, Integral):
        fits, wanted = isinstance(state, Integral), "a whole number"
    else:
        fits, wanted = isinstance(state, Real), "a number"
    return None if fits else f"is not of its shape: {where} should be {wanted}"


def _goes_on(fresh, state):
    """Tell whether rows that are kept are as wide as in a fresh past, and as few as it keeps."""
    (wide, deep), (X, y), weights = fresh.rows, state.rows, state.weights
    n = min(state.length, fresh.window or state.length)
    return (
        state.window == fresh.window
        and X.shape == (n, *wide.shape[1:])
        and y.shape == (n, *deep.shape[1:])
        and (weights is None or weights.shape == (n,))
    )


def _apart(fresh, state, where):
    """Return which arrays of a part have not grown as far as those beside them, or None."""
    grown = {
        name: state[name].shape
        for name, part in fresh.items()
        if isinstance(part, np.ndarray) and part.shape[:1] == (0,)
    }
    for names in _TOGETHER:
        lengths = {name: shape[0] for name, shape in grown.items() if name in names}
        if len(set(lengths.values())) > 1:
            return f"is not of its shape: {where} has parts of rows, {lengths}"
    for name in _SQUARE & grown.keys():
        if len(set(grown[name])) > 1:
            return f"is not of its shape: {where}[{name!r}] should be square"
    return None


def _unlike_inverse(shape, inverse):
    """Return in what a shared inverse is of another shape than matrices (..., D, D), or None."""
    parts = [part.array for _, *pair in inverse.groups for part in pair]
    committed = shape[-2:]
    if not shape[-1]:  # of a dictionary, which grows; what is committed may be smaller still
        shape = (*shape[:-2], *2 * inverse.tail.rows.shape[-1:])
        committed = 2 * (min(parts[0].shape[-1], shape[-1]),)
    tails = [inverse.tail] if inverse.former is None else [inverse.tail, inverse.former]
    rows = [part for tail in tails for part in (tail.rows, tail.directions)]
    sound = (
        all(part.ndim == len(shape) and part.shape[-2:] == committed for part in parts)
        and _are_all(inverse.groups, shape[:-2])
        and 0 <= inverse.n_replaced < len(inverse.groups)
        and inverse.floors.shape == shape[:-2]
        and all(part.shape[:-2] == shape[:-2] and part.shape[-1] == shape[-1] for part in rows)
        and all(_is_tail(tail) for tail in tails)
    )
    return None if sound else f"is not of its shape: inverses should be {shape}"


def _are_all(groups, lead):
    """Tell whether groups of matrices are all of a bank, one after the other."""
    if len(groups) == 1 or not lead:
        (place, *parts), *others = groups
        sound = not others and place == slice(None)
        return sound and all(part.array.shape[:-2] == lead for part in parts)
    end = 0
    for place, A, P in groups:
        if place != slice(end, end + len(A.array)) or len(A.array) != len(P.array):
            return False
        end = place.stop
    return (end,) == lead


def _is_tail(tail):
    """Tell whether rows that wait are so many as there is room for, and fade as they may."""
    size, length, signs = tail.rows.shape[-2], tail.length, tail.signs
    return (
        size in (0, TAIL)
        and tail.directions.shape == tail.rows.shape
        and isinstance(length, Integral)
        and 0 <= length <= size
        and 0.0 < tail.forgetting <= 1.0
        and (signs is None or (signs.shape == (TAIL,) and (np.abs(signs) == 1.0).all()))
    )


def n_numbers(state):
    """Return how many numbers the arrays of a state hold, and how many other things it does."""
    total, ahead = 0, [state]
    while ahead:
        part = ahead.pop()
        if isinstance(part, np.ndarray):
            total += part.size
        elif isinstance(part, SharedInverse):
            total += sum(array.size for array in arrays_of(part))
        elif isinstance(part, Past):  # what counts, not what there is room for
            total += sum(rows.size for rows in part.rows)
        elif isinstance(part, dict):
            ahead += part.values()
        elif isinstance(part, (list, tuple)):
            ahead += part
        elif hasattr(part, "__dict__"):
            ahead += vars(part).values()
        else:
            total += 1
    return total


def arrays_of(inverse):
    """Return the arrays of a shared inverse: what is committed, and what waits."""
    tails = [inverse.tail] if inverse.former is None else [inverse.tail, inverse.former]
    waits = [part for tail in tails for part in (tail.rows, tail.directions)]
    waits += [tail.signs for tail in tails if tail.signs is not None]
    return [part.array for _, *pair in inverse.groups for part in pair] + waits
