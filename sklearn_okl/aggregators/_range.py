"""The range of the targets: given by the user, or that of the targets seen so far."""

from numbers import Real

import numpy as np

from .._documentation import inherit_documentation


def check_y_range(y_range):
    """Return (lo, hi) as floats, or None; refuse anything that is not an interval."""
    if y_range is None:
        return None
    if np.shape(y_range) != (2,) or not all(isinstance(end, Real) for end in y_range):
        raise ValueError(f"y_range must be None or a pair (lo, hi) of numbers; got {y_range!r}.")
    low, high = map(float, y_range)
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise ValueError(
            f"y_range must be a pair (lo, hi) of finite numbers, lo < hi; got {y_range!r}."
        )
    return low, high


class TargetRange:
    """The range known before each round: fixed, or running over the targets already seen.

    Parameters
    ----------
    y_range : tuple of (float, float), default=None
        The range (lo, hi) of all targets. None: the range of the targets seen before the round.
    """

    def __init__(self, y_range=None):
        self.y_range = y_range

    def _start(self):
        low, high = check_y_range(self.y_range) or (np.inf, -np.inf)
        return {"low": low, "high": high}

    def _learn(self, state, y):
        """Return (lo, hi) as arrays (n,), each as known before its row; empty is (inf, -inf)."""
        if self.y_range is not None:
            return np.full(len(y), state["low"]), np.full(len(y), state["high"])
        low = np.minimum.accumulate(np.concatenate([[state["low"]], y]))
        high = np.maximum.accumulate(np.concatenate([[state["high"]], y]))
        state["low"], state["high"] = float(low[-1]), float(high[-1])
        return low[:-1], high[:-1]

    def _learn_one(self, state, y):
        """Learn one target, a float."""
        if self.y_range is None:
            state["low"], state["high"] = min(state["low"], y), max(state["high"], y)


@inherit_documentation
class Clip(TargetRange):
    """Clip expert forecasts (n, K) to the range of the targets; nothing before one is known."""

    def _validate(self):
        check_y_range(self.y_range)

    def _start(self, n_experts):
        return super()._start()

    def _learn(self, state, F, y):
        low, high = super()._learn(state, y)
        return _clip(F, low[:, None], high[:, None])

    def _forecast(self, state, F):
        return _clip(F, state["low"], state["high"])


def _clip(F, low, high):
    # where no target was seen, low > high: leave those rows alone
    return np.where(low <= high, np.clip(F, low, high), F)
