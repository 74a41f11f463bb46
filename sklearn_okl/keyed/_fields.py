"""What the fields of a row hold."""

from datetime import date
from decimal import Decimal
from importlib.util import find_spec
from numbers import Real

import numpy as np

from ..features._columns import is_missing

_NUMBERS = {float, int, bool, type(None)}
_OTHER_NUMBERS = (Real, Decimal, np.bool_)


def are_numbers(values):
    """Tell whether all values are numbers or None; of most it is their type that tells."""
    kinds = set(map(type, values))
    return kinds <= _NUMBERS or all(issubclass(kind, _OTHER_NUMBERS) for kind in kinds - _NUMBERS)


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
