"""What the fields of a row hold."""

from datetime import date
from decimal import Decimal
from importlib.util import find_spec
from numbers import Real

import numpy as np

from ..features._columns import is_missing

_NUMBERS = {float, int, bool, type(None)}
_OTHER_NUMBERS = (Real, Decimal, np.bool_)
_AS_THEY_ARE = _NUMBERS | {str}


def are_numbers(values):
    """Tell whether all values are numbers or None; of most it is their type that tells."""
    kinds = set(map(type, values))
    return kinds <= _NUMBERS or all(issubclass(kind, _OTHER_NUMBERS) for kind in kinds - _NUMBERS)


def kept(x):
    """Return a copy of a row that is to wait, in which numbers and gaps are those of Python.

    Estimators read them so, and files take them.
    """
    return {
        name: value if type(value) in _AS_THEY_ARE else _plain(value) for name, value in x.items()
    }


def _plain(value):
    if is_missing(value):
        return None
    if not isinstance(value, (*_OTHER_NUMBERS, np.str_)):
        return value
    value = value.item() if isinstance(value, np.generic) else value
    return value if type(value) in _AS_THEY_ARE else float(value)


def may_be_text(values):
    """Tell whether a field of a first row of numbers is a gap: what it will hold nobody knows."""
    return any(map(is_missing, values)) and find_spec("pandas") is not None


def refuse_others(fields, values):
    """Refuse values that no estimator can use, by the name of their field."""
    known = (*_OTHER_NUMBERS, str, date, np.datetime64)
    for name, value in zip(fields, values, strict=True):
        if not (isinstance(value, known) or is_missing(value)):
            raise ValueError(
                f"The fields {[name]} hold {value!r}, a {type(value).__name__}: give a number, "
                "text, a date, or None for a gap."
            )
