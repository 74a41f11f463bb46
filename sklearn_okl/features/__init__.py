"""Feature maps, lags and scalers: scikit-learn transformers."""

from ._fourier import FourierFeatures
from ._lags import LagFeatures
from ._nystroem import ALDNystroem, BudgetNystroem, OnlineNystroem
from ._quantiles import RunningQuantileTransformer
from ._scalers import (
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
)
from ._taylor import TaylorFeatures

__all__ = [
    "ALDNystroem",
    "BudgetNystroem",
    "FourierFeatures",
    "LagFeatures",
    "OnlineNystroem",
    "RunningMaxNormScaler",
    "RunningMinMaxScaler",
    "RunningQuantileTransformer",
    "RunningRobustScaler",
    "RunningStandardScaler",
    "TaylorFeatures",
]
