"""Batch models, such as boosted trees, beside the kernels of the estimators without tuning.

One sees the rows and the latest targets, another one besides what the kernels' mixture says. Both
are fitted anew whenever the past has grown by a share, and mixed with the kernels. What the second
one learns, and how the three are mixed, is in `_number_trees.py` and `_class_trees.py`.
"""

import numpy as np

from ..._linalg import softmax
from ...meta._pace import allowance
from ._experts import Experts

WARMUP = 30  # first rounds, whose errors are large and say nothing of the later ones
_FARTHEST = 1e30  # in units of the targets: estimators may compute in single precision


class ExpertsAndTrees(Experts):
    """The experts, two batch models for each target or for all classes, and what mixes them.

    Parameters
    ----------
    trees : type
        `NumberTrees` or `ClassTrees`.
    estimator : regressor or classifier
    n, budget, forgetting, lags, delay, constants
        Those of `Experts`.
    """

    def __init__(self, trees, estimator, n, budget, forgetting, lags, delay, constants):
        super().__init__(trees.kind, n, budget, forgetting, lags, delay, constants)
        self.takes_rows = False  # batch models have a word in each of them
        self.trees = trees(estimator, n, lags, self)

    def start(self, n_features, seed, n_own, n_trees=0, *of_layout):
        plans = self.plan(n_own, n_trees)
        n_columns = n_features + self.trees.n_lag_columns
        more = self.trees.start(n_columns, seed, allowance(plans, 2 * self.trees.n_pairs))
        return super().start(n_features, seed, n_own, n_trees, *of_layout) | more

    def learn(self, state, X, y, ages, run, weights=None, codes=None):
        """Learn rows and targets; return the forecasts of the whole, and of the experts."""
        lags = self.trees.learn_lags(state, y)
        limits = self.trees.limits(state, y)  # before the mixture learns them itself
        of_kernels, F = super().learn(state, X, y, ages, run, weights, codes)
        return self.trees.learn(state, seen(X, lags), y, of_kernels, limits, weights), F

    def forecast(self, state, X, ages, ago=0, ahead=False, codes=None):
        """Return forecasts by what was known some rounds ago; learns nothing."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        F = self._ask_all(state, X, ages, ago, ahead, codes)
        return self.trees.mixed(state, F, ago, of_inputs)

    def forecasts(self, state, X, ages):
        """Return the forecasts of all: where trees are silent yet, the mixture of the rest."""
        F = self._ask_all(state, X, ages)
        of_trees = np.where(np.isnan(F), F[:, :1], F)[:, 1:]
        return np.concatenate([super().forecasts(state, X, ages), of_trees], axis=1)

    def losses(self, state):
        """Return the sums of squared errors, those of the trees once they speak."""
        losses = super().losses(state)
        of_trees = [trees["losses"] for trees in self.trees.parts(state)]
        return np.concatenate([losses, np.reshape(of_trees, (*losses.shape[:-1], 2))], axis=-1)

    def forget_target(self, state, j, latest):
        super().forget_target(state, j, latest)
        self.trees.forget_target(state, j)

    def _tables(self, state, ages, squared_units):
        """Return what each expert is and how it fares; weights are those in the last mixture."""
        tables = super()._tables(state, ages, squared_units)
        parts = tables, self.trees.parts(state), squared_units
        for table, trees, squared_unit in zip(*parts, strict=True):
            fits = [self.trees.refit._in_force(trees[name]) for name in self.trees.fits]
            silent = [False, *(not of_one for of_one in fits)]
            weights = softmax(np.where(silent, -np.inf, self.trees.log_weights(trees)))
            rows = _rows_of_table(self.trees, trees, weights, squared_unit)
            others = table | {"weight": table["weight"] * weights[0]}
            yield {name: np.concatenate([part, rows[name]]) for name, part in others.items()}

    def _ask_all(self, state, X, ages, ago=0, ahead=False, codes=None):
        """Return the forecasts (n, 3, q or C) of kernels and trees known some rounds ago."""
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        lags = self.trees.look_at_lags(state, of_inputs)
        rows = seen(X, np.broadcast_to(lags, (len(X), self.trees.n_lag_columns)))
        of_kernels = super().forecast(state, X, ages, ago, ahead, codes)
        return self.trees.ask(state, rows, of_kernels, ago)


class Trees:
    """Two batch models beside the kernels: what is the same for numbers and for classes.

    They are made of an estimator, the number of targets or classes, that of the latest ones which
    they see, and the experts that they stand beside.
    """

    n_pairs = 1  # of batch models

    def start_part(self, n_inputs, n_more, seed, a_row, mixture):
        """Return the state of two batch models, the second of which sees more columns.

        Each may cost so much a row.
        """
        widths = n_inputs, n_inputs + n_more
        of_fits = zip(self.fits, widths, strict=True)
        return {name: self.refit.start(width, seed, a_row) for name, width in of_fits} | {
            "mixture": mixture,
            "rounds": np.zeros(2, dtype=int),  # that were forecast
            "losses": np.zeros(2),
            "masses": np.zeros(2),
        }

    def forget_target(self, state, j):
        """Forget what was learnt of target j."""

    def taught(self, trees, rows, y, more, y_of_second, weights):
        """Let both learn rows; return their forecasts, NaN where they are silent yet.

        The second one leaves out the first rounds.
        """
        first, second = self.fits
        late_enough = slice(max(WARMUP + self.delay - trees[first]["t"], 0), None)
        of_first = self.refit._learn(trees[first], rows, y, weights)
        of_second = np.full_like(of_first, np.nan)
        of_second[late_enough] = self.refit._learn(
            trees[second],
            seen(rows, more)[late_enough],
            y_of_second[late_enough],
            None if weights is None else weights[late_enough],
        )
        return of_first, of_second

    def asked(self, state, rows, shape, ago):
        """Return a batch model's forecasts of some rounds ago, NaN where it had no fit."""
        known = np.full(len(rows), state["t"] - ago)
        return self.refit._forecast_known(state, rows, known, np.full((len(rows), *shape), np.nan))

    def count(self, trees, squares, weights):
        """Count squared errors (n, 2) of both, NaN where one is silent."""
        counted, speak = np.ones(len(squares)) if weights is None else weights, ~np.isnan(squares)
        trees["rounds"] += speak.sum(axis=0)
        trees["masses"] += counted @ speak
        trees["losses"] += counted @ np.where(speak, squares, 0.0)


def _rows_of_table(kind, trees, weights, squared_unit):
    """Return the last two rows of a table, whose `weights` (3,) begin with that of all others."""
    masses = trees["masses"]
    return {
        "name": kind.names,
        "kernel": kind.names,
        "bandwidth": [np.nan] * 2,
        "lags": [kind.n_lag_columns > 0] * 2,
        "alpha": [np.nan] * 2,
        "forgetting": [1.0] * 2,
        **{name: [False] * 2 for name in ("ranks", "pairs", "learnt", "trees", "whole")},
        "weight": weights[1:],
        "mean_loss": trees["losses"] * squared_unit / np.where(masses > 0.0, masses, 1.0),
        "n_rounds": trees["rounds"],
    }


def seen(X, more):
    """Return rows (n, d) with more columns behind them."""
    return np.column_stack([X, single(more)])


def single(values):
    """Round numbers to single precision.

    By rounding, which depends on how the stream is cut, trees would choose between splits that are
    equally good.
    """
    return np.clip(values, -_FARTHEST, _FARTHEST).astype(np.float32).astype(np.float64)
