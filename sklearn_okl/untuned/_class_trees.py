"""Batch models, such as boosted trees, beside the kernels of the classifier without tuning.

One sees the rows and the latest labels, another one besides what the kernels' mixture says. Both
are fitted anew whenever the past has grown by a share, and mixed with the kernels as these are.
"""

import numpy as np

from .._delay import as_it_was, late
from .._linalg import softmax
from ..features._lags import lagged
from ..meta import RefitClassifier
from ._class_experts import ClassExperts
from ._class_mixture import ClassMixture
from ._trees import _WARMUP, Fits, _seen, with_trees

NAMES = ("trees", "trees on kernels")
_LEAST = 1e-4  # probability that trees give to what they rule out


class Refit(Fits, RefitClassifier):
    """A batch model of classes 0, 1, ... fitted anew, once there are rows of two."""

    def _fit(self, state):
        weights = state["past"].weights
        y = state["past"].rows[1]
        if weights is None or len(np.unique(y[weights > 0.0])) > 1:
            super()._fit(state)


class ClassExpertsAndTrees(ClassExperts):
    """The experts, two batch models, and a mixture of their three forecasts.

    Parameters
    ----------
    estimator : classifier
    n_classes : int
    budget, forgetting, lags, delay, constants
        Those of `ClassExperts`.
    """

    def __init__(self, estimator, n_classes, budget, forgetting, lags, delay, constants):
        super().__init__(n_classes, budget, forgetting, lags, delay, constants)
        self.refit = Refit.of(estimator, delay)
        self.refit.classes_ = np.arange(n_classes)
        self.n_labels = lags  # which are a column each, however many classes there are
        self.last = ClassMixture(n_classes, delay, constants.class_fadings, constants.pools[:1])

    def start(self, n_features, seed, n_trees=0):
        """Return the state before the first row."""
        n_inputs = n_features + self.n_labels
        return super().start(n_features, seed, n_trees) | {
            "trees": {
                "labels": np.full(self.n_labels, -1.0),  # the latest places, the last one first
                "past": np.full((self.delay, self.n_labels), -1.0),
                "rows": self.refit._start(n_inputs) | {"seed": seed},
                "kernels": self.refit._start(n_inputs + self.n_classes) | {"seed": seed},
                "mixture": self.last.start(3),
                "rounds": np.zeros(2, dtype=int),  # that were forecast
                "losses": np.zeros(2),
                "masses": np.zeros(2),
            }
        }

    def learn(self, state, X, y, age, run, weights=None):
        """Learn rows of places y (n,); return the probabilities (n, C) forecast on the way."""
        trees = state["trees"]
        labels, trees["labels"] = lagged(trees["labels"], y.astype(float))
        labels, trees["past"] = late(labels, trees["past"])
        of_kernels = super().learn(state, X, y, age, run, weights)
        rows, P = _seen(X, labels), np.full((len(y), 3, self.n_classes), np.nan)
        late_enough = slice(max(_WARMUP + self.delay - trees["rows"]["t"], 0), None)
        P[:, 0], P[:, 1] = of_kernels, self.refit._learn(trees["rows"], rows, y, weights)
        P[late_enough, 2] = self.refit._learn(
            trees["kernels"],
            _seen(rows, np.log(of_kernels))[late_enough],
            y[late_enough],
            None if weights is None else weights[late_enough],
        )
        counted = np.ones(len(y)) if weights is None else weights
        squares = self._squares(P[:, 1:], y)
        speak = ~np.isnan(squares)
        trees["rounds"] += speak.sum(axis=0)
        trees["masses"] += counted @ speak
        trees["losses"] += counted @ np.where(speak, squares, 0.0)
        everybody = np.ones(3, dtype=bool)
        return self.last.learn(trees["mixture"], _scores(P), y, everybody, weights)

    def forecast(self, state, X, age, ago=0, ahead=False):
        """Return probabilities (n, C) by what was known some rounds ago; learns nothing."""
        P = self._ask_all(state, X, age, ago, ahead)
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        everybody, mixture = np.ones(3, dtype=bool), state["trees"]["mixture"]
        return self.last.forecast(mixture, _scores(P), everybody, ago, of_inputs)

    def forecasts(self, state, X, age):
        """Return the probabilities of all: where trees are silent yet, the mixture of the rest."""
        P = self._ask_all(state, X, age)
        P = np.where(np.isnan(P), P[:, :1], P)
        return np.concatenate([super().forecasts(state, X, age), P[:, 1:]], axis=1)

    def losses(self, state):
        """Return the sums of squared errors (n_experts,), those of the trees once they speak."""
        return np.append(super().losses(state), state["trees"]["losses"])

    def table(self, state, age, squared_unit):
        """Return what each expert is and how it fares; weights are those in the last mixture."""
        table, trees = super().table(state, age, squared_unit), state["trees"]
        fits = [self.refit._in_force(trees[name]) for name in ("rows", "kernels")]
        silent = [False, *(not of_one for of_one in fits)]
        weights = self.last._weights(trees["mixture"])
        weights = softmax(np.where(silent, -np.inf, np.log(np.maximum(weights, 1e-300))))
        return with_trees(table, NAMES, trees, weights, self.n_labels > 0)

    def _squares(self, P, y):
        """Return squared errors (n, m) of probabilities (n, m, C), as those of the scores are."""
        if self.n_targets is None:
            return np.square(P[..., 1] - P[..., 0] - self.targets(y)[:, None])
        return np.square(P - self.targets(y)[:, None]).sum(axis=-1)

    def _ask_all(self, state, X, age, ago=0, ahead=False):
        """Return the probabilities (n, 3, C) of kernels and trees known some rounds ago."""
        trees = state["trees"]
        of_inputs = self.delay - np.arange(len(X)) if ahead else ago
        labels = as_it_was(trees["labels"], trees["past"], of_inputs)
        rows = _seen(X, np.broadcast_to(labels, (len(X), self.n_labels)))
        of_kernels = super().forecast(state, X, age, ago, ahead)
        of_rows = self._ask_fits(trees["rows"], rows, ago)
        seen = _seen(rows, np.log(of_kernels))
        return np.stack([of_kernels, of_rows, self._ask_fits(trees["kernels"], seen, ago)], axis=1)

    def _ask_fits(self, state, rows, ago):
        """Return a batch model's forecasts (n, C) of some rounds ago, NaN where it had no fit."""
        known = np.full(len(rows), state["t"] - ago)
        return self.refit._forecast_known(
            state, rows, known, np.full((len(rows), self.n_classes), np.nan)
        )


def boosted_classifier():
    """Return the trees of the classifier."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import

    return HistGradientBoostingClassifier(early_stopping=False)


def _scores(P):
    """Return scores (n, m, C) of which a calibration makes, at first, the same probabilities."""
    L = np.log(np.maximum(P, _LEAST))
    return 0.5 * (L - L.mean(axis=-1, keepdims=True))
