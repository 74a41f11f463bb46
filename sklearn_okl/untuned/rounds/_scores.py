"""What a round is scored by: squared errors, from which intervals come, or the log loss."""

import numpy as np

from ...conformal import _running_errors
from . import _row_laws
from ._summary import summary_of_classes, summary_of_numbers


class SquaredErrors:
    """Sums of squared errors, and intervals from the sizes of the latest, for each target."""

    summary = staticmethod(summary_of_numbers)
    laws = _running_errors

    def start(self, n_targets, delay):
        """Return the state before the first round."""
        return {
            "loss": np.zeros(n_targets),
            "scored": np.zeros(2),  # number and weight of the rows in it
            "errors": [self.laws.start(delay) for _ in range(n_targets)],
        }

    def learn(self, state, misses, errors, weights, trace=None):
        """Learn by how much forecasts have missed (n, q), and the errors that a guard makes of it.

        All in units of the targets. A `trace`, a list, gets the quantiles that were issued, a list
        for each target.
        """
        traces = [None if trace is None else [] for _ in state["errors"]]
        weighted = errors if weights is None else weights[:, None] * errors
        for j in range(errors.shape[1]):
            state["loss"][j] += weighted[:, j] @ errors[:, j]
        state["scored"] += len(errors), len(errors) if weights is None else weights.sum()
        of_targets = zip(
            state["errors"], misses.T, errors.T, self._sizes(state, misses), traces, strict=True
        )
        for known, missed, learnt, more, said in of_targets:
            self.laws.learn(known, missed, *more, missed != learnt, weights, said)
        if trace is not None:
            trace.extend(traces)

    def forget_target(self, state, j, delay):
        """Forget the errors of target j."""
        state["loss"][j] = 0.0
        state["errors"][j] = self.laws.start(delay)

    def forgive(self, state, j):
        """Let the misses of target j not count against its next intervals: they had a cause."""
        _running_errors.forgive(state["errors"][j])

    def offsets(self, state, sizes):
        """Return how far quantiles of the next targets lie from their forecasts, (q, 199)."""
        return np.array([_running_errors.quantiles(errors) for errors in state["errors"]])

    def _sizes(self, state, misses):
        """Return for each target what its law is told besides errors."""
        return [()] * misses.shape[1]


class ErrorsOfRows(SquaredErrors):
    """The same, with intervals from the sizes of errors that rows tell."""

    laws = _row_laws

    def offsets(self, state, sizes):
        """Return those (n, q, 199) of rows whose errors are of such sizes (n, q)."""
        of_targets = zip(state["errors"], sizes.T, strict=True)
        return np.stack([_row_laws.offsets(*one) for one in of_targets], axis=1)

    def _sizes(self, state, misses):
        issued = state["sizes"].pop("issued")
        return [(sizes,) for sizes in issued[len(issued) - len(misses) :].T]


class LogLosses:
    """Sums of log losses, and of labels that were forecast wrongly."""

    summary = staticmethod(summary_of_classes)

    def start(self, n_classes, delay):
        """Return the state before the first round."""
        # weight of the rows scored, their log loss, and of the errors
        return {"scored": np.zeros(3), "n_classes": n_classes}

    def learn(self, state, P, y, weights):
        """Learn probabilities (n, C) of rows of places y (n,)."""
        losses = -np.log(P[np.arange(len(y)), y])
        scores = np.column_stack([np.ones(len(y)), losses, P.argmax(axis=1) != y])
        state["scored"] += scores.sum(axis=0) if weights is None else weights @ scores
