"""The errors of many small models: what `_running_errors.py` does with a row of one of them."""

import numpy as np

from ...conformal import _running_errors as running
from ._windows import append


class ManyErrors:
    """Trackers of S models, `parts` of records; some have seen more errors than others."""

    def __init__(self, parts):
        known = {path[-1]: part for path, part in parts.items() if path[0] == "errors"}
        self.sums = [known[name][:, 0] for name in running._SUMS]
        self.scores, self.levels, self.seen = (
            known["scores"][:, 0],
            known["levels"][:, 0],
            known["seen"],
        )
        self.lengths = parts["length", "errors", "scores"]

    def have_units(self):
        """Tell which models (S,) have seen an error other than 0."""
        sizes, weights, _ = self.sums
        return (weights > 0.0) & (sizes > 0.0)

    def learn(self, errors):
        """Learn errors (S,)."""
        sizes, weights, largest = self.sums
        errors = np.abs(errors)
        scores = errors / running._units(sizes, weights, largest)
        needed, levels = self._needed(scores), self.levels
        levels += np.where(levels >= needed[:, None], *running._moves(running.STEP))
        append(self.scores, self.lengths, scores)
        for sums, now in ((sizes, errors), (weights, 1.0)):
            sums *= running._FADING
            sums += now
        np.maximum(largest, errors, out=largest)
        self.seen += 1.0

    def _needed(self, scores):
        """Return the levels whose intervals would just hold some scores (S,)."""
        there = np.arange(self.scores.shape[1]) < self.lengths[:, None]
        below = np.add.reduce((self.scores < scores[:, None]) & there, axis=1)
        needed, beyond = below / (self.lengths + 1.0), np.flatnonzero(below == self.lengths)
        largest = np.where(there[beyond], self.scores[beyond], 0.0).max(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratios = np.where(largest > 0.0, scores[beyond] / largest, np.inf)
            needed[beyond] = 1.0 + running.STEP * np.log2(ratios)
        return needed
