"""Estimators around estimators: batch models on a stream, corrections, scaled targets."""

from ._certified import CertifiedRegressor
from ._refit import RefitClassifier, RefitRegressor
from ._residual import ResidualRegressor
from ._strongly_adaptive import StronglyAdaptiveRegressor
from ._target_scaling import StreamingTransformedTargetRegressor

__all__ = [
    "CertifiedRegressor",
    "RefitClassifier",
    "RefitRegressor",
    "ResidualRegressor",
    "StreamingTransformedTargetRegressor",
    "StronglyAdaptiveRegressor",
]
