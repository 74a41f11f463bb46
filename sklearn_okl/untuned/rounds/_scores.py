"""What a round is scored by: squared errors, from which intervals come, or the log loss."""

import numpy as np

from . import _conformal
from ._summary import summary_of_classes, summary_of_numbers


class SquaredErrors:
    """Sums of squared errors, and intervals from the sizes of the latest, for each target."""

    summary = staticmethod(summary_of_numbers)

    def start(self, n_targets, delay):
        """Return the state before the first round."""
        return {
            "loss": np.zeros(n_targets),
            "scored": np.zeros(2),  # number and weight of the rows in it
            "errors": [_conformal.start(delay) for _ in range(n_targets)],
        }

    def learn(self, state, misses, errors, weights):
        """Learn by how much forecasts have missed (n, q), and the errors that a guard makes of it.

        All in units of the targets.
        """
        weighted = errors if weights is None else weights[:, None] * errors
        for j in range(errors.shape[1]):
            state["loss"][j] += weighted[:, j] @ errors[:, j]
        state["scored"] += len(errors), len(errors) if weights is None else weights.sum()
        for known, missed, learnt in zip(state["errors"], misses.T, errors.T, strict=True):
            _conformal.learn(known, missed, missed != learnt, weights)

    def forget_target(self, state, j, delay):
        """Forget the errors of target j."""
        state["loss"][j] = 0.0
        state["errors"][j] = _conformal.start(delay)

    def forgive(self, state, j):
        """Let the misses of target j not count against its next intervals: they had a cause."""
        _conformal.forgive(state["errors"][j])


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
