"""Aggregators: forecasts of experts, the columns of X, to one forecast."""

from ._exponential import AARegressor, EWARegressor, FixedShareRegressor
from ._second_order import BOARegressor, MLPolyRegressor, MLProdRegressor

__all__ = [
    "AARegressor",
    "BOARegressor",
    "EWARegressor",
    "FixedShareRegressor",
    "MLPolyRegressor",
    "MLProdRegressor",
]
