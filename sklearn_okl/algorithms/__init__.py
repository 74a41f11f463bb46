"""The named algorithms, X to forecast: a file a family, the paper named in its first line."""

from ._experts import ExpertsRegressor
from ._multikernel import MultiKernelRegressor
from ._vovk import ConcatenatedVAWRegressor, VAW2Regressor
from ._vovk_convex import (
    VAWAARegressor,
    VAWBOARegressor,
    VAWEWARegressor,
    VAWMLPolyRegressor,
    VAWMLProdRegressor,
)

__all__ = [
    "ConcatenatedVAWRegressor",
    "ExpertsRegressor",
    "MultiKernelRegressor",
    "VAW2Regressor",
    "VAWAARegressor",
    "VAWBOARegressor",
    "VAWEWARegressor",
    "VAWMLPolyRegressor",
    "VAWMLProdRegressor",
]
