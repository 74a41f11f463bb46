"""The named algorithms, X to forecast: a file a family, the paper named in its first line."""

from ._budgeted_gradient import FOGDClassifier, FOGDRegressor, NOGDClassifier, NOGDRegressor
from ._experts import ExpertsRegressor
from ._gradient import KOGDRegressor
from ._graphs import OMKLGFRegressor, OMKLSFGRegressor, OMKLSFGRRegressor
from ._multikernel import MultiKernelRegressor
from ._random_features import OMKRRegressor, RakerRegressor, RFOMKRRegressor
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
    "FOGDClassifier",
    "FOGDRegressor",
    "KOGDRegressor",
    "MultiKernelRegressor",
    "NOGDClassifier",
    "NOGDRegressor",
    "OMKLGFRegressor",
    "OMKLSFGRRegressor",
    "OMKLSFGRegressor",
    "OMKRRegressor",
    "RFOMKRRegressor",
    "RakerRegressor",
    "VAW2Regressor",
    "VAWAARegressor",
    "VAWBOARegressor",
    "VAWEWARegressor",
    "VAWMLPolyRegressor",
    "VAWMLProdRegressor",
]
