"""Small models of many streams at once: their rows are ordinary, and learnt by common arrays."""

from ._kept import FIRST, Kept, whole
from ._many import learn_together

__all__ = ["FIRST", "Kept", "learn_together", "whole"]
