"""Targets that are classes: experts are scored by all classes at once, and mixed in the log loss.

Two classes are one target, -1 or +1; more are one each, 0 or 1, all learnt with one inverse. What
the regressions forecast are scores, of which `_class_mixture.py` makes probabilities.
"""

from functools import partial

import numpy as np

from ...aggregators._class_mixture import ClassMixture
from ...aggregators._likelihoods import doubts, floored
from ._cells import SHARE, Cells
from ._neighbours import Neighbours
from ._told import ClassesTold

_TINY = np.finfo(float).tiny
_FARTHEST = 2.0  # scores of rows that are like no other say no more
_FARTHEST_COLUMN = 6.0  # deviations as which values count that are farther off
_LEAST_SHARE = 0.1  # of a probability that errors of equal codes leave
_LAG_COLUMNS = 8  # of the latest labels at most, where there are more than two classes
_LAST_COLUMNS = 32  # but for the very last one


class ClassTargets:
    """Scores experts on the class of a row, and mixes the probabilities that they make of it.

    It is asked as `NumberTargets` is, with the number of classes in place of that of targets.
    """

    own_gaps = False  # what missing values say is what they say of the first class
    first_counts = False
    takes_rows = False
    n_walks = 0  # the latest label is no forecast, but how often it stays is one
    shape = ()  # of the losses of an expert

    def __init__(self, n_classes, budget, lags, delay, constants):
        self.n_classes = n_classes
        self.budget = budget._replace(n_links=0)  # a chain corrects forecasts of numbers
        self.n_targets = None if n_classes == 2 else n_classes
        most = max(_LAG_COLUMNS // n_classes, int(n_classes <= _LAST_COLUMNS))
        self.n_lags = min(lags, most) if self.n_targets else lags
        pools = constants.pools[: budget.n_stacks]
        self.mixture = ClassMixture(n_classes, delay, constants.class_fadings, pools)
        of_near = constants.neighbours, budget.n_near, self.n_lags * (self.n_targets or 1)
        tell = ClassesTold(constants.link_share, delay)
        self.neighbours = Neighbours(*of_near, tell, constants.burn_in, delay)
        self.n_taught, self.begins_of_logarithms = self.n_targets, ()
        self.cells = Cells(ClassesTold(SHARE, delay), delay, not budget.compact)

    def start(self, n_experts, n_columns, seed, n_codes, ordered=True):
        """Return the state before the first row; similar rows see lags where these are ordered."""
        return {
            "mixture": self.mixture.start(n_experts),
            "boosting": {},
            "logarithms": {},
            "near": self.neighbours.start(n_columns, self.n_classes, seed, ordered),
            "cells": self.cells.start(*n_codes[:2], self.n_classes),
        }

    def no_targets(self):
        """Return what is kept of the latest places, before the first one."""
        return {"y": np.empty(0, dtype=np.intp)}

    def taught(self, state, u):
        """Return what banks learn: what is 1 for a class, and no curve of it."""
        return u

    def targets(self, y):
        """Return what the experts learn, (n,) or (n, C), of places y (n,)."""
        if self.n_targets is None:
            return 2.0 * y - 1.0
        return (y[:, None] == np.arange(self.n_classes)).astype(float)

    def as_targets(self, P):
        """Return probabilities (n, C) as forecasts of what the experts learn, (n, 1) or (n, C)."""
        return P[:, 1:] - P[:, :1] if self.n_targets is None else P

    def limits_of_heard(self, state, u=None, ago=0):
        """Return limits (1, 1, 3) of what experts hear: two classes are targets -1 and 1."""
        return np.array([[[-1.0, 1.0, 0.0]]])

    def squares(self, errors):
        """Return what errors (1, n, K) or (C, n, K) count in the losses, (n, K)."""
        return np.square(errors).sum(axis=0)

    def learn(self, state, F, y, seen, heard, weights=None):
        """Learn places y (n,), of which forecasts are F; return the probabilities of the whole."""
        n_known = state["mixture"]["t"] + np.arange(len(y)) - self.mixture.delay
        P = self.mixture.learn(state["mixture"], self._scores(F), y, heard[0], weights)
        u, doubted = np.eye(self.n_classes)[y], partial(_doubted, doubts(n_known, self.n_classes))
        if state["near"]:
            of_rows = self.compared(state["near"], seen.steady), P, u, doubted, weights
            P = self.neighbours.learn(state["near"], *of_rows)
        if state["cells"]:
            of_rows = seen.codes, P, u, lambda F: doubted(_as_probabilities(F)), weights
            P = self.cells.learn(state["cells"], *of_rows)
        return P

    def forecast(self, state, F, seen, heard, ago, of_inputs):
        """Return probabilities (n, C) by what was known some rounds ago; learns nothing."""
        return self._forecasts(state, F, seen, heard, ago, of_inputs)[1]

    def told(self, state, F, seen, heard):
        """Return what the classes of rows that are alike add to log-odds (n, q), see `lines`."""
        P, corrected = map(np.log, self._forecasts(state, F, seen, heard))
        return [self.as_targets(corrected - P)]

    def _forecasts(self, state, F, seen, heard, ago=0, of_inputs=0):
        """Return probabilities (n, C), and the same corrected by classes of rows that are alike."""
        of_rows = self._scores(F), heard[0], ago, of_inputs
        P = self.mixture.forecast(state["mixture"], *of_rows)
        n_known, corrected = np.full(len(P), state["mixture"]["t"] - ago), P
        doubted = partial(_doubted, doubts(n_known, self.n_classes))
        if state["near"]:
            of_rows = self.compared(state["near"], seen.steady), P, doubted, ago
            corrected = self.neighbours.forecast(state["near"], *of_rows)
        if state["cells"]:
            of_rows = seen.codes, corrected, lambda F: doubted(_as_probabilities(F)), ago
            corrected = self.cells.forecast(state["cells"], *of_rows)
        return P, corrected

    def compared(self, state, steady):
        """Return by what rows are near to each other, of what lines see, not as far as these.

        In units that stay as they were, so that rows that have come stay where they are.
        """
        n_lags = self.neighbours.n_lags
        n_columns = state["past"].rows[0].shape[1] - 2 - n_lags
        n_trees = steady.shape[1] - n_columns - n_lags
        if n_trees:  # their forecasts stand before the latest targets
            steady = np.delete(steady, n_columns + np.arange(n_trees), axis=1)
        return np.minimum(np.maximum(steady, -_FARTHEST_COLUMN), _FARTHEST_COLUMN)

    def lines(self, state, F, seen, heard):
        """Return what forecasts (q, n, K) are times to be the mean of the experts' log-odds.

        Weights (q, K) of the experts, None for links, and constants (q,), so that the sums are
        log-odds of the second of two classes, or logarithms of probabilities up to a number that
        all classes have in common.
        """
        mixture = state["mixture"]
        shares = np.where(np.isnan(F[0, 0]) | ~heard[0], 0.0, self.mixture._weights(mixture))
        shares /= max(shares.sum(), _TINY)
        theta = mixture["parameters"]["calibrations"]["theta"]  # (K, 1 + C)
        slopes, biases = shares * theta[:, 0], shares @ theta[:, 1:]
        if self.n_targets is None:
            return 2.0 * slopes[None], None, biases[1:] - biases[:1]
        return np.tile(2.0 * slopes, (self.n_targets, 1)), None, biases - slopes.sum()

    def of_each(self, state, F):
        """Return the calibrated probabilities (n, K, C) of each expert alone."""
        return self.mixture.calibrated(state["mixture"], self._scores(F))

    def weights(self, state):
        """Return the weights (1, K) of the experts in the mixture."""
        return [self.mixture._weights(state["mixture"])]

    def level(self, state):
        """Return the mean target so far, a number or (C,)."""
        shares = self.mixture.shares(state["mixture"])
        return shares[1] - shares[0] if self.n_targets is None else shares

    def pack(self, state):
        """Leave the mixture as it is: it keeps sums alone."""

    def shares(self, state):
        """Return by how much each target counts: all classes count alike."""

    def _scores(self, F):
        """Return scores (n, K, C), between -1 and 1 where an expert knows its classes."""
        if self.n_targets is None:
            S = np.stack([-F[0], F[0]], axis=-1)
        else:
            S = np.ascontiguousarray(F.transpose(1, 2, 0))
            S = 2.0 * S - 1.0
        return np.clip(S, -_FARTHEST, _FARTHEST, out=S)


def _doubted(shares, P):
    """Return probabilities (n, C, k), those but the first with shares of doubt (n,) of their own.

    So what mixes them has the doubt of the first, whatever the others are corrected by.
    """
    corrected = floored(P[..., 1:].swapaxes(1, 2), shares).swapaxes(1, 2)
    return np.concatenate([P[..., :1], corrected], axis=2)


def _as_probabilities(P):
    """Return as probabilities (n, C, 3) some that all but the first ones were corrected."""
    P = np.maximum(P, _LEAST_SHARE * P[..., :1])
    return P / P.sum(axis=1, keepdims=True)
