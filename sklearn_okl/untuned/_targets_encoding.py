"""Categories and gaps as several targets know them: each has means of its own."""

import numpy as np

from . import _steps as steps
from ._class_encoding import ClassEncoder
from ._encoding import has_tree


class TargetsEncoder(ClassEncoder):
    """Makes columns of numbers for experts that learn q targets.

    A category is q numbers, and so is what missing values say.

    Parameters
    ----------
    n_targets : int
    delay : int
        What is known of a row are the targets up to `delay` rounds before the last one.
    """

    def forget_target(self, state, j):
        """Forget what was learnt of target j."""
        if "all" in state:
            mine = state["others"][j - 1] if j else state
            for name in ("sums", "counts", "all", "of_gaps"):
                mine[name] = np.zeros_like(mine[name])
            if "steps" in mine:
                mine["steps"] = steps.start(mine["few"].shape[1])

    def _own(self, layout):
        """Return the columns that each target has for itself."""
        return np.append(layout["at_first"], [-1 - has_tree(layout)] * layout["gaps"]).astype(int)
