"""Names of types for hints: what goes in, what comes out."""

from collections.abc import Callable
from os import PathLike as _PathLike
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy import typing

__all__ = [
    "Any",
    "Array",
    "ArrayLike",
    "Budget",
    "Callable",
    "PathLike",
    "Seed",
    "Self",
]

Array: TypeAlias = typing.NDArray[Any]
ArrayLike: TypeAlias = typing.ArrayLike | Any  # arrays, sparse ones, frames of any library
Budget: TypeAlias = Literal["tiny", "fast", "balanced", "accurate"] | int
PathLike: TypeAlias = _PathLike[str]
Seed: TypeAlias = int | np.random.RandomState | None
