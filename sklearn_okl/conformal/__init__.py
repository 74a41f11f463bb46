"""Conformal prediction: trackers of how large a score is to be held, and distributions."""

from ._distribution import QuantileDistribution
from ._levels import ACI, DtACI
from ._saocp import SAOCP
from ._thresholds import ECI, SFOGD, ConformalPID
from ._tracker import ConformalTracker

__all__ = [
    "ACI",
    "ECI",
    "SAOCP",
    "SFOGD",
    "ConformalPID",
    "ConformalTracker",
    "DtACI",
    "QuantileDistribution",
]

for class_ in (ACI, ConformalPID, ConformalTracker, DtACI, ECI, QuantileDistribution, SAOCP, SFOGD):
    class_.__module__ = __name__
del class_
