"""Aggregators: forecasts of experts, the columns of X, to one forecast."""

from ._exponential import AARegressor, EWARegressor, FixedShareRegressor
from ._second_order import BOARegressor, MLPolyRegressor, MLProdRegressor
from ._stacked import StackedBOARegressor

__all__ = [
    "AARegressor",
    "BOARegressor",
    "EWARegressor",
    "FixedShareRegressor",
    "MLPolyRegressor",
    "MLProdRegressor",
    "StackedBOARegressor",
]
