"""Columns of any container, one by one, and their values, as they are whatever holds them.

The type of a column differs from chunk to chunk: codes of categories do, integers become floats
where one is missing, and a single row is often all objects. A value does not.
"""

from datetime import timedelta
from hashlib import blake2b
from numbers import Integral, Real

import numpy as np
from sklearn.utils import _safe_indexing, murmurhash3_32

from .._validation import (
    MISSING,
    OF_DURATIONS,
    checked,
    is_missing,
    refuse_containers,
    refuse_masks,
)

_EXACT = 2**53  # integers up to here are float64 too
_LONGEST = 64  # characters of text that is remembered as it is
_N_BYTES = 16  # of a hash: two of 1e9 texts are alike with probability 1e-21


def columns_of(estimator, X, reset):
    """Return the columns of rows as they come; write or compare their number and names."""
    refuse_containers(X)
    if not (hasattr(X, "columns") and hasattr(X, "shape")):
        refuse_masks(X)
        if isinstance(X, (list, tuple)):
            X = np.array(X, dtype=object)  # as an array of text, numbers would be text too
        return list(checked(estimator, X, reset=reset, dtype=None, ensure_all_finite=False).T)
    checked(estimator, X, reset=reset, skip_check_array=True)
    for length, things in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if length == 0:
            raise ValueError(
                f"Found array with 0 {things} (shape={tuple(X.shape)}) while a minimum of 1 is "
                f"required by {type(estimator).__name__}."
            )
    return [_safe_indexing(X, j, axis=1) for j in range(X.shape[1])]


def names_of(estimator):
    """Return the names of the columns, for those who read an error."""
    default = [f"x{j}" for j in range(estimator.n_features_in_)]
    return list(getattr(estimator, "feature_names_in_", default))


def names_beside(names, added, prefix):
    """Return names and those of columns added behind, with a prefix while one of them is taken."""
    while set(added).intersection(names):
        added = [f"{prefix}{name}" for name in added]
    return np.concatenate([names, added], dtype=object)


def kind_of(value):
    """Return "text" or "numbers", or None where a value is missing."""
    if value is None:
        return None
    return "text" if isinstance(value, str) else "numbers"


def distinct(column, name):
    """Return the distinct values of a column in the order in which they first appear.

    Returns
    -------
    values : list
        Text, numbers as float (integers too large for it as int), and None where one is missing.
    codes : ndarray of int of shape (n,)
        The index among them of the value of each row.

    Raises
    ------
    TypeError
        If there are values of other types.
    """
    array = np.asarray(column)
    if array.dtype.kind not in "biufOUT" or array.ndim != 1:
        raise _no_category(name, array.dtype)
    given = array.tolist()
    for kind in sorted(set(map(type, given)), key=repr):
        known = issubclass(kind, (str, Real, np.bool_, type(None))) and kind is not np.timedelta64
        if not known and kind.__name__ not in MISSING:
            raise _no_category(name, kind.__name__)
    as_given, values = {}, {}
    codes = [as_given.setdefault(value, len(as_given)) for value in given]
    places = [values.setdefault(_plain(value), len(values)) for value in as_given]
    return list(values), np.array(places)[np.array(codes)]


def numbers_of(column, name):
    """Return a column as floats, NaN where a value is missing; text and dates are an error."""
    array = np.asarray(column)
    try:
        if array.ndim != 1:
            raise TypeError("it has several values in a row")
        if array.dtype.kind == "f":
            return array.astype(np.promote_types(array.dtype, np.float32), copy=False)
        if array.dtype.kind in "OUT":
            return np.array([np.nan if is_missing(v) else float(v) for v in array.tolist()])
        if array.dtype.kind not in "biu":
            raise TypeError(f"it is of type {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise type(error)(f"Column {name!r} holds no numbers: {error}. {_advice(array)}") from None


def _advice(array):
    """Say how the values of a column that holds no numbers become some."""
    first = next((value for value in array.ravel() if not is_missing(value)), None)
    if array.dtype.kind == "m" or isinstance(first, timedelta):
        return OF_DURATIONS
    if type(first).__name__ == "Period":
        return "Periods are dates by '.dt.to_timestamp()'."
    return (
        "Let a ColumnTransformer choose the columns; RunningOneHotEncoder and CalendarFeatures "
        "make numbers of others."
    )


def _plain(value):
    if is_missing(value):
        return None
    if isinstance(value, str):
        return str(value)
    if isinstance(value, Integral) and abs(int(value)) > _EXACT:
        return int(value)
    return float(value) + 0.0  # no negative zero


def _no_category(name, kind):
    return TypeError(
        "The argument must be of strings, numbers, booleans and missing values, but column "
        f"{name!r} of X holds values of type {kind}. Give them as text, by '.astype(str)', or let "
        "a ColumnTransformer choose the columns."
    )


def remembered(value):
    """Return what is kept of a category to know it again: of a long text its hash, as bytes."""
    if isinstance(value, str) and len(value) > _LONGEST:
        text = value.encode("utf-8", "surrogatepass")
        return blake2b(text, digest_size=_N_BYTES).digest()
    return value


def hashed(value, j, n):
    """Return one of n numbers for a value of column j, the same in every process."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)  # as large integers are
    text = f"{kind_of(value)} {value}".encode("utf-8", "surrogatepass")
    return murmurhash3_32(text, seed=j, positive=True) % n
