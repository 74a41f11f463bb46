"""The named algorithms, X to forecast: a file a family, the paper named in its first line."""

from ._ada_raker import AdaRakerClassifier, AdaRakerRegressor
from ._ald import AOGDALDRegressor, NONSALDRegressor
from ._class_experts import ExpertsClassifier
from ._discounted_subspaces import DVAWRegressor, HVAWDRegressor
from ._discounted_vaw import DiscountedVAWAARegressor
from ._experts import ExpertsRegressor
from ._fourier_descent import FOGDClassifier, FOGDRegressor
from ._gradient import KOGDRegressor
from ._graphs import OMKLGFRegressor, OMKLSFGRegressor, OMKLSFGRRegressor
from ._improper_logistic import AIOLIClassifier, KernelAIOLIClassifier
from ._kernel_vovk import KernelVAWRegressor
from ._multikernel import MultiKernelRegressor
from ._multinomial_logistic import ImproperLogisticClassifier
from ._newton import CONKONSRegressor, KONSRegressor, PROSNKONSRegressor, SketchedKONSRegressor
from ._nystroem_descent import NOGDClassifier, NOGDRegressor
from ._omkr import OMKRRegressor, RFOMKRRegressor
from ._projected_vovk import PKAWVClassifier, PKAWVRegressor
from ._random_features import RakerClassifier, RakerRegressor
from ._reservoir import LKMBooksClassifier, LKMBooksRegressor
from ._selection import (
    IOKSClassifier,
    IOKSRegressor,
    OKSClassifier,
    OKSPlusPlusClassifier,
    OKSPlusPlusRegressor,
    OKSRegressor,
)
from ._selection_features import (
    RFIOKSClassifier,
    RFIOKSRegressor,
    RFOKSClassifier,
    RFOKSPlusPlusClassifier,
    RFOKSPlusPlusRegressor,
    RFOKSRegressor,
)
from ._triple_vaw import TVAWRegressor
from ._two_kernels import BAO2KSClassifier
from ._vovk import ConcatenatedVAWRegressor, VAW2Regressor
from ._vovk_convex import (
    VAWAARegressor,
    VAWBOARegressor,
    VAWEWARegressor,
    VAWMLPolyRegressor,
    VAWMLProdRegressor,
)

__all__ = [
    "AIOLIClassifier",
    "AOGDALDRegressor",
    "AdaRakerClassifier",
    "AdaRakerRegressor",
    "BAO2KSClassifier",
    "CONKONSRegressor",
    "ConcatenatedVAWRegressor",
    "DVAWRegressor",
    "DiscountedVAWAARegressor",
    "ExpertsClassifier",
    "ExpertsRegressor",
    "FOGDClassifier",
    "FOGDRegressor",
    "HVAWDRegressor",
    "IOKSClassifier",
    "IOKSRegressor",
    "ImproperLogisticClassifier",
    "KOGDRegressor",
    "KONSRegressor",
    "KernelAIOLIClassifier",
    "KernelVAWRegressor",
    "LKMBooksClassifier",
    "LKMBooksRegressor",
    "MultiKernelRegressor",
    "NOGDClassifier",
    "NOGDRegressor",
    "NONSALDRegressor",
    "OKSClassifier",
    "OKSPlusPlusClassifier",
    "OKSPlusPlusRegressor",
    "OKSRegressor",
    "OMKLGFRegressor",
    "OMKLSFGRRegressor",
    "OMKLSFGRegressor",
    "OMKRRegressor",
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
    "SketchedKONSRegressor",
    "TVAWRegressor",
    "VAW2Regressor",
    "VAWAARegressor",
    "VAWBOARegressor",
    "VAWEWARegressor",
    "VAWMLPolyRegressor",
    "VAWMLProdRegressor",
]
