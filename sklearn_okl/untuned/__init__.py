"""The estimators without tuning: kernels, ridges, scales and memories learnt from the stream."""

from ._classifier import OnlineKernelClassifier
from ._regressor import OnlineKernelRegressor

__all__ = ["OnlineKernelClassifier", "OnlineKernelRegressor"]
