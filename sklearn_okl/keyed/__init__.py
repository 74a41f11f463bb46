"""One model a key, rows as they come, and a file of all of it."""

from ._beam import beam_learning
from ._dask import dask_learning
from ._estimators import KeyedClassifier, KeyedRegressor
from ._rows import RowClassifier, RowRegressor
from ._step import keyed_step
from ._store import Store

__all__ = [
    "KeyedClassifier",
    "KeyedRegressor",
    "RowClassifier",
    "RowRegressor",
    "Store",
    "beam_learning",
    "dask_learning",
    "keyed_step",
]
