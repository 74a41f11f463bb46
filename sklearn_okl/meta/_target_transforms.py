"""How targets are learnt by the transformers that a target regressor takes, one kind each.

What is known before a round are some numbers, an array a row; with them a transformed forecast is
undone. A target is learnt as what is known after it makes of it.
"""

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..features import RunningPowerTransformer
from ..features._moments import learn as fenced
from ..features._moments import moderate, or_one
from ..features._moments import start as start_fence
from ..features._running import RunningScaler

_N_FIRST = 32  # errors that are those of a beginner, and errors before which nothing is smeared
WINDOW = 256  # latest errors that forecasts are smeared by
_ROWS = 256  # rows that are smeared at once


class _Running:
    """By a running transformer: a target is learnt as what is known after it makes of it."""

    n_cold = 1  # rows before which nothing is known

    def learn(self, state, y):
        known, column = self.known_before(state, y[:, None])
        after = np.concatenate([known[1:], self.now(state)[None]])
        return known, self.transformed(state, column, after)[:, 0]


class _Scaled(_Running):
    """By a running scaler: centre and scale are known, faulty targets are learnt nearer."""

    is_line = True

    def __init__(self, scaler):
        self.scaler = scaler

    def start(self, y):
        return self.scaler._start(moderate(y[:1]))

    def known_before(self, state, column):
        known = np.empty((len(column), 2, 1))
        known[:, 0], scales, nearer = self.scaler._learn_first(state, moderate(column))
        known[:, 1] = or_one(scales)
        return known, nearer

    def transformed(self, state, column, known):
        return self.scaler._scaled(column, known[:, 0], known[:, 1])

    def now(self, state):
        center, scale = self.scaler._known(state)
        return np.stack([center, or_one(scale)])

    def undone(self, state, z, known):
        return self.scaler._unscaled(z[:, None], known[..., 0, :], known[..., 1, :])[:, 0]


class _Powered(_Running):
    """By a running power transformer."""

    is_line = False

    def __init__(self, power):
        self.power = power

    def start(self, y):
        return self.power._start(self.power._moderate(y[:1]))

    def known_before(self, state, column):
        column = self.power._moderate(column)
        return self.power._learn(state, column), column

    def transformed(self, state, column, known):
        return self.power._forward(state, column, known)

    def now(self, state):
        return self.power._known(state)

    def undone(self, state, z, known):
        return self.power._backward(state, z[:, None], known)[:, 0]


class _Fixed:
    """By a transformer that learns nothing, or nothing more."""

    is_line = False
    n_cold = 0

    def __init__(self, transformer):
        self.transformer = transformer

    def start(self, y):
        return {"t": 0}

    def learn(self, state, y):
        with np.errstate(all="ignore"):
            z = np.asarray(self.transformer.transform(y[:, None]), dtype=np.float64).reshape(-1)
        sound = np.isfinite(z)
        if not sound.all():
            raise ValueError(
                f"{self.transformer!r} makes no number of the target {y[~sound][0]:.6g}. Leave "
                "such rows out, or give a transformer that takes all targets, such as "
                "FunctionTransformer(np.log1p, np.expm1) where some are 0."
            )
        state["t"] += len(y)
        return np.empty((len(y), 0)), z

    def now(self, state):
        return np.empty(0)

    def undone(self, state, z, known):
        return np.asarray(self.transformer.inverse_transform(z[:, None]), dtype=float).reshape(-1)


def of_targets(transformer):
    """Return how targets are learnt by a transformer, or say what to give in its place."""
    if isinstance(transformer, RunningScaler):
        return _Scaled(transformer)
    if isinstance(transformer, RunningPowerTransformer):
        return _Powered(transformer)
    if get_tags(transformer).requires_fit:
        try:
            check_is_fitted(transformer)
        except NotFittedError:
            name = type(transformer).__name__
            raise TypeError(
                f"transformer={transformer!r} learns from a whole batch, not on the way. Give a "
                "running scaler of this package, RunningPowerTransformer(), a transformer that "
                "learns nothing, such as FunctionTransformer(np.log, np.exp), or one that is "
                f"fitted, sklearn.frozen.FrozenEstimator({name}(...).fit(targets))."
            ) from None
    return _Fixed(transformer)


class Smearing:
    """Forecasts of the mean by Duan's smearing: mean over the latest errors of what they lead to.

    The errors of the first 32 forecasts are those of a beginner, and are left out; a faulty one
    counts as one 5 standard deviations off.
    """

    def start(self):
        return {"t": 0, "errors": np.empty(0), "fence": start_fence(np.zeros(1))}

    def learn(self, state, errors, delay):
        """Learn errors (n,) in order; return those known before each (n, 256), NaN for none.

        What is known is `delay` rounds old.
        """
        t = state["t"]
        learnt = fenced(state["fence"], errors[:, None])[2][:, 0]
        learnt[: max(_N_FIRST - t, 0)] = np.nan
        n_kept = WINDOW + delay
        past = np.concatenate([np.full(n_kept - len(state["errors"]), np.nan), state["errors"]])
        both = np.concatenate([past, learnt])
        kept = both[-n_kept:]
        state.update(t=t + len(errors), errors=kept[~np.isnan(kept)])
        windows = np.lib.stride_tricks.sliding_window_view(both, WINDOW)
        return windows[: len(errors)]

    def now(self, state):
        """Return the latest errors (256,), NaN for none."""
        errors = state["errors"][-WINDOW:]
        return np.concatenate([np.full(WINDOW - len(errors), np.nan), errors])

    def smeared(self, of, state, z, known, errors):
        """Return the mean over errors (n, 256) of forecasts (n,), transformed, undone."""
        answers = of.undone(state, z, known)
        known = np.broadcast_to(known, (len(z), *of.now(state).shape))
        enough = np.flatnonzero(np.isfinite(errors).sum(axis=-1) >= _N_FIRST)
        for low in range(0, len(enough), _ROWS):
            rows = enough[low : low + _ROWS]
            there = np.isfinite(errors[rows])
            led = of.undone(
                state,
                (z[rows, None] + errors[rows])[there],
                np.repeat(known[rows], there.sum(axis=1), axis=0),
            )
            ends = np.cumsum(there.sum(axis=1))
            answers[rows] = [part.mean() for part in np.split(led, ends[:-1])]
        return answers
