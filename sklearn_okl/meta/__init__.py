"""Estimators around estimators: batch models on a stream, corrections, scaled targets."""

from ._refit import RefitRegressor
from ._residual import ResidualRegressor
from ._target_scaling import StreamingTransformedTargetRegressor

__all__ = ["RefitRegressor", "ResidualRegressor", "StreamingTransformedTargetRegressor"]
