"""Trackers of conformal prediction: how large a score the next set is to hold."""

from ._levels import ACI, DtACI
from ._saocp import SAOCP
from ._thresholds import ECI, SFOGD, ConformalPID
from ._tracker import ConformalTracker

__all__ = ["ACI", "ECI", "SAOCP", "SFOGD", "ConformalPID", "ConformalTracker", "DtACI"]

for class_ in (ACI, ConformalPID, ConformalTracker, DtACI, ECI, SAOCP, SFOGD):
    class_.__module__ = __name__
del class_
