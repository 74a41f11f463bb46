"""The estimators without tuning, and the constants that a subclass of theirs may set."""

from ..features._units import RunningUnits
from ._classifier import OnlineKernelClassifier
from ._constants import Budget, Constants
from ._regressor import OnlineKernelRegressor
from .rounds._targets import TargetFence

__all__ = [
    "Budget",
    "Constants",
    "OnlineKernelClassifier",
    "OnlineKernelRegressor",
    "RunningUnits",
    "TargetFence",
]

for class_ in (Budget, Constants, RunningUnits, TargetFence):
    class_.__module__ = __name__  # where it is public: pickles and files name no private module
del class_
