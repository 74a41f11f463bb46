"""Estimators around estimators: batch models, corrections, scaled targets, conformal layers."""

from ._certified import CertifiedRegressor
from ._conformal_classifier import OnlineConformalClassifier
from ._conformal_regressor import OnlineConformalRegressor
from ._refit import RefitClassifier, RefitRegressor
from ._residual import ResidualRegressor
from ._strongly_adaptive import StronglyAdaptiveRegressor
from ._target_scaling import StreamingTransformedTargetRegressor

__all__ = [
    "CertifiedRegressor",
    "OnlineConformalClassifier",
    "OnlineConformalRegressor",
    "RefitClassifier",
    "RefitRegressor",
    "ResidualRegressor",
    "StreamingTransformedTargetRegressor",
    "StronglyAdaptiveRegressor",
]
