"""Learners: features in, one forecast out; each is an estimator in its own right."""

from ._vaw import VAWRegressor

__all__ = ["VAWRegressor"]
