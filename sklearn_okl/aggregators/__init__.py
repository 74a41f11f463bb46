"""Aggregators: forecasts of experts, the columns of X, to one forecast; quantiles; densities."""

from ._aggregating import AARegressor
from ._densities import DensityAggregator, DensityGradient, DensityNewton, SoftBayes
from ._exponential import EWARegressor, FixedShareRegressor
from ._quantile_mixtures import QuantileMixture
from ._second_order import BOARegressor, MLPolyRegressor, MLProdRegressor
from ._squint import SquintRegressor
from ._stacked import StackedBOARegressor

__all__ = [
    "AARegressor",
    "BOARegressor",
    "DensityAggregator",
    "DensityGradient",
    "DensityNewton",
    "EWARegressor",
    "FixedShareRegressor",
    "MLPolyRegressor",
    "MLProdRegressor",
    "QuantileMixture",
    "SoftBayes",
    "SquintRegressor",
    "StackedBOARegressor",
]
