"""Online kernel learning for people who live in scikit-learn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._citation import cite
from ._persistence import from_bytes, load, save, to_bytes, trusted_types
from .aggregators import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    FixedShareRegressor,
    MLPolyRegressor,
    MLProdRegressor,
    SquintRegressor,
    StackedBOARegressor,
)
from .algorithms import (
    AdaRakerClassifier,
    AdaRakerRegressor,
    AIOLIClassifier,
    AOGDALDRegressor,
    BAO2KSClassifier,
    ConcatenatedVAWRegressor,
    CONKONSRegressor,
    DiscountedVAWAARegressor,
    DVAWRegressor,
    ExpertsClassifier,
    ExpertsRegressor,
    FOGDClassifier,
    FOGDRegressor,
    HVAWDRegressor,
    ImproperLogisticClassifier,
    IOKSClassifier,
    IOKSRegressor,
    KernelAIOLIClassifier,
    KernelVAWRegressor,
    KOGDRegressor,
    KONSRegressor,
    LKMBooksClassifier,
    LKMBooksRegressor,
    MultiKernelRegressor,
    NOGDClassifier,
    NOGDRegressor,
    NONSALDRegressor,
    OKSClassifier,
    OKSPlusPlusClassifier,
    OKSPlusPlusRegressor,
    OKSRegressor,
    OMKLGFRegressor,
    OMKLSFGRegressor,
    OMKLSFGRRegressor,
    OMKRRegressor,
    PKAWVClassifier,
    PKAWVRegressor,
    PROSNKONSRegressor,
    RakerClassifier,
    RakerRegressor,
    RFIOKSClassifier,
    RFIOKSRegressor,
    RFOKSClassifier,
    RFOKSPlusPlusClassifier,
    RFOKSPlusPlusRegressor,
    RFOKSRegressor,
    RFOMKRRegressor,
    SketchedKONSRegressor,
    TVAWRegressor,
    VAW2Regressor,
    VAWAARegressor,
    VAWBOARegressor,
    VAWEWARegressor,
    VAWMLPolyRegressor,
    VAWMLProdRegressor,
)
from .features import (
    ALDNystroem,
    BackgroundReservoir,
    BudgetNystroem,
    CalendarFeatures,
    FourierFeatures,
    LagFeatures,
    MercerFeatures,
    OnlineNystroem,
    RunningImputer,
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningOneHotEncoder,
    RunningPowerTransformer,
    RunningQuantileTransformer,
    RunningRobustScaler,
    RunningStandardScaler,
    SectionFeatures,
    TaylorFeatures,
)
from .keyed import (
    KeyedClassifier,
    KeyedRegressor,
    RowClassifier,
    RowRegressor,
    Store,
    beam_learning,
    dask_learning,
    keyed_step,
)
from .learners import (
    DiscountedVAWRegressor,
    OGDRegressor,
    ONSRegressor,
    VAWRegressor,
)
from .meta import (
    CertifiedRegressor,
    OnlineConformalClassifier,
    OnlineConformalRegressor,
    RefitClassifier,
    RefitRegressor,
    ResidualRegressor,
    StreamingTransformedTargetRegressor,
    StronglyAdaptiveRegressor,
)
from .pipeline import StreamingPipeline, make_streaming_pipeline
from .series import AdaptedForecaster, OnlineForecaster
from .untuned import OnlineKernelClassifier, OnlineKernelRegressor

if TYPE_CHECKING:
    __version__: str
else:

    def __getattr__(name):
        """Look the version up, which pyproject.toml says, once somebody asks."""
        if name != "__version__":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from importlib.metadata import version

        return globals().setdefault(name, version(__name__))


__all__ = [
    "TRUSTED_TYPES",
    "AARegressor",
    "AIOLIClassifier",
    "ALDNystroem",
    "AOGDALDRegressor",
    "AdaRakerClassifier",
    "AdaRakerRegressor",
    "AdaptedForecaster",
    "BAO2KSClassifier",
    "BOARegressor",
    "BackgroundReservoir",
    "BudgetNystroem",
    "CONKONSRegressor",
    "CalendarFeatures",
    "CertifiedRegressor",
    "ConcatenatedVAWRegressor",
    "DVAWRegressor",
    "DiscountedVAWAARegressor",
    "DiscountedVAWRegressor",
    "EWARegressor",
    "ExpertsClassifier",
    "ExpertsRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "FixedShareRegressor",
    "FourierFeatures",
    "HVAWDRegressor",
    "IOKSClassifier",
    "IOKSRegressor",
    "ImproperLogisticClassifier",
    "KOGDRegressor",
    "KONSRegressor",
    "KernelAIOLIClassifier",
    "KernelVAWRegressor",
    "KeyedClassifier",
    "KeyedRegressor",
    "LKMBooksClassifier",
    "LKMBooksRegressor",
    "LagFeatures",
    "MLPolyRegressor",
    "MLProdRegressor",
    "MercerFeatures",
    "MultiKernelRegressor",
    "NOGDClassifier",
    "NOGDRegressor",
    "NONSALDRegressor",
    "OGDRegressor",
    "OKSClassifier",
    "OKSPlusPlusClassifier",
    "OKSPlusPlusRegressor",
    "OKSRegressor",
    "OMKLGFRegressor",
    "OMKLSFGRRegressor",
    "OMKLSFGRegressor",
    "OMKRRegressor",
    "ONSRegressor",
    "OnlineConformalClassifier",
    "OnlineConformalRegressor",
    "OnlineForecaster",
    "OnlineKernelClassifier",
    "OnlineKernelRegressor",
    "OnlineNystroem",
    "PKAWVClassifier",
    "PKAWVRegressor",
    "PROSNKONSRegressor",
    "RFIOKSClassifier",
    "RFIOKSRegressor",
    "RFOKSClassifier",
    "RFOKSPlusPlusClassifier",
    "RFOKSPlusPlusRegressor",
    "RFOKSRegressor",
    "RFOMKRRegressor",
    "RakerClassifier",
    "RakerRegressor",
    "RefitClassifier",
    "RefitRegressor",
    "ResidualRegressor",
    "RowClassifier",
    "RowRegressor",
    "RunningImputer",
    "RunningMaxNormScaler",
    "RunningMinMaxScaler",
    "RunningOneHotEncoder",
    "RunningPowerTransformer",
    "RunningQuantileTransformer",
    "RunningRobustScaler",
    "RunningStandardScaler",
    "SectionFeatures",
    "SketchedKONSRegressor",
    "SquintRegressor",
    "StackedBOARegressor",
    "Store",
    "StreamingPipeline",
    "StreamingTransformedTargetRegressor",
    "StronglyAdaptiveRegressor",
    "TVAWRegressor",
    "TaylorFeatures",
    "VAW2Regressor",
    "VAWAARegressor",
    "VAWBOARegressor",
    "VAWEWARegressor",
    "VAWMLPolyRegressor",
    "VAWMLProdRegressor",
    "VAWRegressor",
    "all_estimators",
    "beam_learning",
    "cite",
    "dask_learning",
    "from_bytes",
    "keyed_step",
    "load",
    "make_streaming_pipeline",
    "save",
    "to_bytes",
]


_FORECASTERS = AdaptedForecaster, OnlineForecaster
_OF_ROWS = RowClassifier, RowRegressor


def all_estimators() -> list[tuple[str, type]]:
    """Return every estimator of the package, as :func:`sklearn.utils.all_estimators` does.

    Those that scikit-learn's checks are for, that is: not :class:`OnlineForecaster` and
    :class:`AdaptedForecaster`, which take series first, nor :class:`RowRegressor` and
    :class:`RowClassifier`, which take dicts.

    Returns
    -------
    estimators : list of tuple of (str, type)
        Names and classes, in alphabetical order.

    Examples
    --------
    >>> from sklearn_okl import all_estimators
    >>> [name for name, _ in all_estimators()][:2]
    ['AARegressor', 'AIOLIClassifier']
    """
    public = ((name, globals().get(name)) for name in __all__)
    return sorted(
        (name, thing)
        for name, thing in public
        if isinstance(thing, type) and thing not in (*_FORECASTERS, *_OF_ROWS, Store)
    )


_CLASSES = [*(class_ for _, class_ in all_estimators()), *_FORECASTERS, *_OF_ROWS]
for class_ in _CLASSES:
    class_.__module__ = __name__  # where it is public: pickles and files name no private module
del class_

TRUSTED_TYPES = trusted_types(_CLASSES)
