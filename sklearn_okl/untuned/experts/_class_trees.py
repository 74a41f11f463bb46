"""Two batch models of classes: one of the rows, one besides of what the kernels' mixture says."""

import numpy as np

from ..._delay import as_it_was, late
from ...aggregators._class_mixture import ClassMixture
from ...features._lags import lagged
from ...meta._fits import ClassFits, boosted_classifier
from ...meta._refit import check_is_classifier
from ._classes import ClassTargets
from ._trees import Trees, seen

_LEAST = 1e-4  # probability that trees give to what they rule out
_EVERYBODY = np.ones(3, dtype=bool)


class ClassTrees(Trees):
    """Batch models beside experts that forecast classes, mixed with them as these are."""

    kind, of = ClassTargets, "classifier"
    boosted, check = staticmethod(boosted_classifier), staticmethod(check_is_classifier)
    names = ("trees", "trees on kernels")
    fits = ("rows", "kernels")

    def __init__(self, estimator, n, lags, experts):
        constants, self.kind = experts.constants, experts.kind
        self.n_classes, self.delay = n, experts.delay
        self.n_lag_columns = lags  # one a label, however many classes there are
        self.refit = ClassFits.of(estimator, self.delay)
        self.refit.classes_ = np.arange(n)
        self.mixture = ClassMixture(n, self.delay, constants.class_fadings, constants.pools[:1])

    def start(self, n_inputs, seed, a_row):
        """Return the state of models and mixture at the start; `a_row` is what a row may cost."""
        part = self.start_part(n_inputs, self.n_classes, seed, a_row, self.mixture.start(3))
        return {
            "trees": part
            | {
                "labels": np.full(self.n_lag_columns, -1.0),  # the latest places, the last first
                "past": np.full((self.delay, self.n_lag_columns), -1.0),
            }
        }

    def parts(self, state):
        """Return the states of the pairs: one for all classes."""
        return [state["trees"]]

    def learn_lags(self, state, y):
        """Return the latest places (n, k) known before each row."""
        trees = state["trees"]
        labels, trees["labels"] = lagged(trees["labels"], y.astype(float))
        labels, trees["past"] = late(labels, trees["past"])
        return labels

    def look_at_lags(self, state, of_inputs):
        """Return the latest places known some rounds ago."""
        return as_it_was(state["trees"]["labels"], state["trees"]["past"], of_inputs)

    def limits(self, state, y):
        """Return nothing: all probabilities are sane."""

    def learn(self, state, rows, y, of_kernels, limits, weights):
        """Learn rows and places y (n,); return the probabilities of the whole."""
        trees = state["trees"]
        taught = self.taught(trees, rows, y, np.log(of_kernels), y, weights)
        P = np.stack([of_kernels, *taught], axis=1)
        self.count(trees, self._squares(P[:, 1:], y), weights)
        return self.mixture.learn(trees["mixture"], _scores(P), y, _EVERYBODY, weights)

    def ask(self, state, rows, of_kernels, ago):
        """Return the probabilities (n, 3, C) of kernels and trees known some rounds ago."""
        trees, shape = state["trees"], (self.n_classes,)
        of_rows = self.asked(trees["rows"], rows, shape, ago)
        of_second = self.asked(trees["kernels"], seen(rows, np.log(of_kernels)), shape, ago)
        return np.stack([of_kernels, of_rows, of_second], axis=1)

    def mixed(self, state, P, ago, of_inputs):
        """Return the probabilities (n, C) that all make, by what was known some rounds ago."""
        mixture = state["trees"]["mixture"]
        return self.mixture.forecast(mixture, _scores(P), _EVERYBODY, ago, of_inputs)

    def log_weights(self, trees):
        """Return the logarithms of the weights (3,) in the last mixture."""
        return np.log(np.maximum(self.mixture._weights(trees["mixture"]), 1e-300))

    def _squares(self, P, y):
        """Return squared errors (n, m) of probabilities (n, m, C), as those of the scores are."""
        targets = self.kind.targets(y)[:, None]
        if self.kind.n_targets is None:
            return np.square(P[..., 1] - P[..., 0] - targets)
        return np.square(P - targets).sum(axis=-1)


def _scores(P):
    """Return scores (n, m, C) of which a calibration makes, at first, the same probabilities."""
    L = np.log(np.maximum(P, _LEAST))
    return 0.5 * (L - L.mean(axis=-1, keepdims=True))
