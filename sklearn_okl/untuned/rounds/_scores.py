"""What a round is scored by: squared errors, from which intervals come, or the log loss."""

import numpy as np

from ...conformal import _running_errors
from . import _one_error, _row_laws
from ._summary import summary_of_classes, summary_of_numbers


class SquaredErrors:
    """Sums of squared errors, and intervals from the sizes of the latest, for each target."""

    summary = staticmethod(summary_of_numbers)

    def start(self, n_targets, delay, is_small=False):
        """Return the state before the first round; small ones keep fewer of the latest errors."""
        return {
            "loss": np.zeros(n_targets),
            "scored": np.zeros(2),  # number and weight of the rows in it
            "errors": self._start_laws(n_targets, delay, is_small),
        }

    def learn(self, state, misses, errors, weights, trace=None):
        """Learn by how much forecasts have missed (n, q), and the errors that a guard makes of it.

        All in units of the targets. A `trace`, a list, gets the quantiles (q, 199) that were issued
        for each round.
        """
        weighted = errors if weights is None else weights[:, None] * errors
        state["loss"] += np.einsum("nq,nq->q", weighted, errors)
        state["scored"] += len(errors), len(errors) if weights is None else weights.sum()
        self._learn_laws(state, misses, misses != errors, weights, trace)

    def learn_row(self, state, errors, weight):
        """Learn by how much the forecasts of a row have missed (q,), no target of which is faulty.

        Return False where that is left to `learn`, and nothing has changed.
        """
        if not self._learn_law(state, errors, weight):
            return False
        state["loss"] += weight * (errors * errors)
        state["scored"] += 1.0, weight
        return True

    def forget_target(self, state, j, delay):
        """Forget the errors of target j."""
        state["loss"][j] = 0.0
        _running_errors.forget(state["errors"], j)

    def forgive(self, state, j):
        """Let the misses of target j not count against its next intervals: they had a cause."""
        _running_errors.forgive(state["errors"], j)

    def offsets(self, state, sizes, ago=0):
        """Return how far quantiles of targets lie from forecasts of some rounds ago, (q, 199)."""
        return _running_errors.quantiles(state["errors"], ago)

    def deviations(self, state):
        """Return the standard deviations (q,) of the errors."""
        return _running_errors.standard_deviation(state["errors"])

    def _start_laws(self, n_targets, delay, is_small):
        window = _running_errors.WINDOW // (4 if is_small else 1)
        return _running_errors.start(delay, (n_targets,), window)

    def _learn_law(self, state, errors, weight):
        return _running_errors.learn_row(state["errors"], errors, weight)

    def _learn_laws(self, state, misses, faulty, weights, trace):
        _running_errors.learn(state["errors"], misses, faulty, weights, trace)


class ErrorsOfRows(SquaredErrors):
    """The same, with intervals from the sizes of errors that rows tell."""

    def forget_target(self, state, j, delay):
        state["loss"][j] = 0.0
        state["errors"][j] = _row_laws.start(delay)

    def forgive(self, state, j):
        _row_laws.forgive(state["errors"][j])

    def offsets(self, state, sizes, ago=0):
        """Return those (n, q, 199) of rows whose errors are of such sizes (n, q)."""
        of_targets = zip(state["errors"], sizes.T, strict=True)
        return np.stack([_row_laws.offsets(*one, ago) for one in of_targets], axis=1)

    def deviations(self, state):
        return np.array([_row_laws.standard_deviation(errors) for errors in state["errors"]])

    def _start_laws(self, n_targets, delay, is_small):
        return [_row_laws.start(delay) for _ in range(n_targets)]

    def _learn_law(self, state, errors, weight):
        if not all(map(_one_error.takes, state["errors"])):
            return False
        sizes = state["sizes"].pop("issued")[-1]
        of_targets = zip(state["errors"], errors.tolist(), sizes.tolist(), strict=True)
        for known, missed, size in of_targets:
            _one_error.learn(known, missed, size, weight)
        return True

    def _learn_laws(self, state, misses, faulty, weights, trace):
        issued, said = state["sizes"].pop("issued"), []
        of_targets = zip(
            state["errors"], misses.T, issued[len(issued) - len(misses) :].T, faulty.T, strict=True
        )
        for known, missed, sizes, is_faulty in of_targets:
            said.append([])
            traced = None if trace is None else said[-1]
            _row_laws.learn(known, missed, sizes, is_faulty, weights, traced)
        if trace is not None:
            trace.extend(np.array(said).swapaxes(0, 1))


class LogLosses:
    """Sums of log losses, and of labels that were forecast wrongly."""

    summary = staticmethod(summary_of_classes)

    def start(self, n_classes, delay, is_small=False):
        """Return the state before the first round."""
        # weight of the rows scored, their log loss, and of the errors
        return {"scored": np.zeros(3), "n_classes": n_classes}

    def learn(self, state, P, y, weights):
        """Learn probabilities (n, C) of rows of places y (n,)."""
        losses = -np.log(P[np.arange(len(y)), y])
        scores = np.column_stack([np.ones(len(y)), losses, P.argmax(axis=1) != y])
        state["scored"] += scores.sum(axis=0) if weights is None else weights @ scores
