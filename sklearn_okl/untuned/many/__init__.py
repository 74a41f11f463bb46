"""Small models of many streams at once, whose ordinary rows are learnt by common arrays."""

from ._kept import FIRST, Kept, whole
from ._many import distribute_together, forecast_together, learn_together

__all__ = [
    "FIRST",
    "Kept",
    "distribute_together",
    "forecast_together",
    "learn_together",
    "whole",
]
