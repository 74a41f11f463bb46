"""Learners: features in, one forecast out; each is an estimator in its own right."""

from ._gradient import OGDRegressor
from ._vaw import VAWRegressor

__all__ = ["OGDRegressor", "VAWRegressor"]
