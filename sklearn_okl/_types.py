"""Names of types for hints: what goes in, what comes out."""

from collections.abc import Callable
from os import PathLike as _PathLike
from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Any", "Array", "Callable", "PathLike", "Rows", "Seed", "Self"]

Array: TypeAlias = NDArray[Any]
PathLike: TypeAlias = _PathLike[str]
Rows: TypeAlias = ArrayLike | Any  # arrays, sparse ones, frames of any library
Seed: TypeAlias = int | np.random.RandomState | None
