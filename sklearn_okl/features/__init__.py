"""Feature maps and scalers: scikit-learn transformers."""

from ._fourier import FourierFeatures
from ._scalers import (
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
)
from ._taylor import TaylorFeatures

__all__ = [
    "FourierFeatures",
    "RunningMaxNormScaler",
    "RunningMinMaxScaler",
    "RunningRobustScaler",
    "RunningStandardScaler",
    "TaylorFeatures",
]
