"""Learners: features in, one forecast out; each is an estimator in its own right."""

from ._discounted_vaw import DiscountedVAWRegressor
from ._gradient import OGDRegressor
from ._newton import ONSRegressor
from ._vaw import VAWRegressor

__all__ = [
    "DiscountedVAWRegressor",
    "OGDRegressor",
    "ONSRegressor",
    "VAWRegressor",
]
