"""The estimators without tuning: kernels, ridges, scales and memories learnt from the stream."""

from ._classifier import OnlineKernelClassifier
from ._constants import Constants
from ._regressor import OnlineKernelRegressor

__all__ = ["Constants", "OnlineKernelClassifier", "OnlineKernelRegressor"]

Constants.__module__ = __name__  # where it is public: pickles and files name no private module
