"""Estimators around estimators: batch models on a stream, corrections of forecasts."""

from ._refit import RefitRegressor
from ._residual import ResidualRegressor

__all__ = ["RefitRegressor", "ResidualRegressor"]
