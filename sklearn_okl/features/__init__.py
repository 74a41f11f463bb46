"""Feature maps, lags, scalers, and columns of all kinds: scikit-learn transformers."""

from ._background import BackgroundReservoir
from ._calendar import CalendarFeatures
from ._fourier import FourierFeatures
from ._imputer import RunningImputer
from ._lags import LagFeatures
from ._mercer import MercerFeatures
from ._nystroem import ALDNystroem, BudgetNystroem, OnlineNystroem
from ._one_hot import RunningOneHotEncoder
from ._power import RunningPowerTransformer
from ._quantiles import RunningQuantileTransformer
from ._scalers import (
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
)
from ._sections import SectionFeatures
from ._taylor import TaylorFeatures

__all__ = [
    "ALDNystroem",
    "BackgroundReservoir",
    "BudgetNystroem",
    "CalendarFeatures",
    "FourierFeatures",
    "LagFeatures",
    "MercerFeatures",
    "OnlineNystroem",
    "RunningImputer",
    "RunningMaxNormScaler",
    "RunningMinMaxScaler",
    "RunningOneHotEncoder",
    "RunningPowerTransformer",
    "RunningQuantileTransformer",
    "RunningRobustScaler",
    "RunningStandardScaler",
    "SectionFeatures",
    "TaylorFeatures",
]
