r"""How far intervals reached when they were issued, told again when their row comes.

An interval h steps ahead is judged h rows later, as it was issued. To keep it until then would take
a number for each level, step, series and origin. But its radii were made from those before by what
missed (`_intervals.py`), and nothing else: so each step has a second copy of its radii, which is
the step's lag behind, and hears again what missed then. What waits is how many levels missed, one
small number for all levels, and the size that errors had.
"""

import numpy as np

from . import _intervals
from ._intervals import LEVELS

NOT_JUDGED = 255  # a number that files hold: none below 0 is a count


def start(intervals):
    """Return the radii (levels, H, m) of intervals that have not been judged."""
    return {name: intervals[name] for name in ("radius", "misses")}


def is_sound(state):
    """Tell whether radii, as in a file, are such as misses leave behind."""
    return _intervals.are_radii(state)


def reaches(state, sizes):
    """Return how far intervals of all levels reach (levels, H, m), each as it was issued.

    `sizes` (H, m) are the sizes of errors then.
    """
    return sizes * _intervals.factors(state)


def n_missed(errors, issued):
    """Return how many levels missed (H, m) of errors (H, m), `NOT_JUDGED` where nobody can tell.

    Reaches (levels, H, m) rise with the level, so these are the lowest ones.
    """
    judged = np.isfinite(errors) & (issued[0] >= 0.0)
    return np.where(judged, (np.abs(errors) > issued).sum(axis=0), NOT_JUDGED).astype(np.uint8)


def follow(state, n_missed):
    """Let the radii of each step hear what missed (H, m) in the row that their next origin knew."""
    judged = n_missed != NOT_JUDGED
    low = np.arange(len(LEVELS))[:, None, None] < n_missed
    missed = np.where(judged, low - (1.0 - LEVELS)[:, None, None], 0.0)
    _intervals.hear(state, missed, judged.sum(axis=-1, keepdims=True))
