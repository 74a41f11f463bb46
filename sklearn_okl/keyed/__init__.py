"""One model a key, rows as they come, and a file of all of it."""

from ._estimators import KeyedClassifier, KeyedRegressor

__all__ = ["KeyedClassifier", "KeyedRegressor"]
