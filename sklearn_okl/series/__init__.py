"""Series in, horizon out: an online forecaster, and one that corrects any other."""

from ._adapted import AdaptedForecaster
from ._forecaster import OnlineForecaster

__all__ = ["AdaptedForecaster", "OnlineForecaster"]
