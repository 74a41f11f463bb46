"""What a model says of its forecasts: exact attributions to columns, and effects of columns."""

from ._effects import PartialEffects
from ._explain import explain, partial_effects
from ._explanation import ShapleyExplanation

for class_ in (PartialEffects, ShapleyExplanation):
    class_.__module__ = __name__  # where it is public: pickles and files name no private module
del class_

__all__ = ["PartialEffects", "ShapleyExplanation", "explain", "partial_effects"]
