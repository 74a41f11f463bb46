"""Aggregators: forecasts of experts, the columns of X, to one forecast."""

from ._aggregating import AARegressor
from ._exponential import EWARegressor, FixedShareRegressor
from ._second_order import BOARegressor, MLPolyRegressor, MLProdRegressor
from ._squint import SquintRegressor
from ._stacked import StackedBOARegressor

__all__ = [
    "AARegressor",
    "BOARegressor",
    "EWARegressor",
    "FixedShareRegressor",
    "MLPolyRegressor",
    "MLProdRegressor",
    "SquintRegressor",
    "StackedBOARegressor",
]
