"""The named algorithms, X to forecast: a file a family, the paper named in its first line."""

from ._multikernel import MultiKernelRegressor
from ._vovk import ConcatenatedVAWRegressor, VAW2Regressor

__all__ = ["ConcatenatedVAWRegressor", "MultiKernelRegressor", "VAW2Regressor"]
