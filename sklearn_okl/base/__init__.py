"""What estimators of your own derive from: the shells, the engines, and the parts these ask for."""

from ..dictionaries._growth import Rows
from ..dictionaries._rule import EntryRule
from ..feedback._sampler import Sampler
from ..kernels._fourier import FourierBank
from ._classifier import OnlineClassifier
from ._convex import ConvexAggregator
from ._distributions import DistributionVerbs  # noqa: F401  for the rest of the package
from ._estimator import NOT_SAVED, OnlineEstimator  # noqa: F401  for the rest of the package
from ._feature_selector import FeatureSelector
from ._full_information import FullInformationRegressor
from ._graph_rounds import GraphRounds
from ._growing import GrowingBasisRegressor
from ._multiclass import OnlineMulticlassClassifier  # noqa: F401  for the rest of the package
from ._of_experts import OfExperts  # noqa: F401  for the rest of the package
from ._on_fourier_features import OnFourierFeatures
from ._one_against_rest import OneAgainstRestClassifier  # noqa: F401  for the rest of the package
from ._one_kernel import AllRows, NovelRows, OneKernel, SampledRows  # noqa: F401  for the rest of the package
from ._regressor import OnlineRegressor
from ._row_path import RowPath
from ._selector import KernelSelector
from ._state import (  # noqa: F401  for the rest of the package
    _copied,
    _is_finite,
    _same,
    are_unchanged,
    as_they_are,
    described,
    described_structure,
    parameter_values,
    structural_parameters,
    twin,
)
from ._sums import SumsOfRows  # noqa: F401  for the rest of the package
from ._swap import SwapMixin  # noqa: F401  for the rest of the package
from ._transformer import OnlineTransformer
from ._weighted import (  # noqa: F401  for the rest of the package
    WeightedMulticlassClassifier,
    WeightedRegressor,
)

__all__ = [
    "ConvexAggregator",
    "EntryRule",
    "FeatureSelector",
    "FourierBank",
    "FullInformationRegressor",
    "GraphRounds",
    "GrowingBasisRegressor",
    "KernelSelector",
    "OnFourierFeatures",
    "OnlineClassifier",
    "OnlineRegressor",
    "OnlineTransformer",
    "RowPath",
    "Rows",
    "Sampler",
]

for class_ in (
    ConvexAggregator,
    EntryRule,
    FeatureSelector,
    FourierBank,
    FullInformationRegressor,
    GraphRounds,
    GrowingBasisRegressor,
    KernelSelector,
    OnFourierFeatures,
    OnlineClassifier,
    OnlineEstimator,
    OnlineRegressor,
    OnlineTransformer,
    RowPath,
    Rows,
    Sampler,
):
    class_.__module__ = __name__  # where it is public: pickles and files name no private module
del class_
