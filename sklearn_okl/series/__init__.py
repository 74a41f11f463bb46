"""Series in, horizon out: an online forecaster."""

from ._forecaster import OnlineForecaster

__all__ = ["OnlineForecaster"]
