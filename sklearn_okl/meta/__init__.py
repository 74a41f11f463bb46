"""Estimators around estimators: batch models on a stream, corrections, scaled targets."""

from ._refit import RefitClassifier, RefitRegressor
from ._residual import ResidualRegressor
from ._target_scaling import StreamingTransformedTargetRegressor

__all__ = [
    "RefitClassifier",
    "RefitRegressor",
    "ResidualRegressor",
    "StreamingTransformedTargetRegressor",
]
