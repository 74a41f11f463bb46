"""Conformal trackers with parameters at which a short stream moves all of them."""

from sklearn_okl.conformal import (
    ACI,
    ECI,
    SAOCP,
    SFOGD,
    AgACI,
    ConformalPID,
    DtACI,
    PortfolioBetting,
)

TRACKERS = [
    ACI(0.05, 60),
    DtACI(window=60),
    AgACI(window=60),
    SFOGD(),
    SAOCP(),
    ConformalPID(),
    ECI(),
    PortfolioBetting(),
]
