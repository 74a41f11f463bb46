"""Conformal prediction: trackers of how large a score is to be held, and distributions."""

from ._betting import PortfolioBetting
from ._distribution import QuantileDistribution
from ._levels import ACI, AgACI, DtACI
from ._saocp import SAOCP
from ._thresholds import ECI, SFOGD, ConformalPID
from ._tracker import ConformalTracker

__all__ = [
    "ACI",
    "ECI",
    "SAOCP",
    "SFOGD",
    "AgACI",
    "ConformalPID",
    "ConformalTracker",
    "DtACI",
    "PortfolioBetting",
    "QuantileDistribution",
]

for name in __all__:
    globals()[name].__module__ = __name__
del name
