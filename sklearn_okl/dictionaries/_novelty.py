"""Rules that look at the span: rows enter that earlier ones do not nearly span, or span at all."""

from ._nested import first_novel
from ._rule import EntryRule


class ALD(EntryRule):
    """Who enters: rows that are not approximately linearly dependent on the dictionary."""

    def __init__(self, novelty):
        self.novelty = novelty

    def first(self, kernel, state, rows, low, drawn):
        X, distances = rows.X[low:], rows.distances[low:]
        return low + first_novel(kernel, rows.basis, X, distances, self.novelty)


class FirstRows(ALD):
    """Who enters: the first rows that are linearly independent, as many as there is room for."""

    def __init__(self, budget):
        super().__init__(0.0)
        self.budget = budget

    def first(self, kernel, state, rows, low, drawn):
        if len(rows.atoms) >= self.budget:
            return len(rows.X)
        return super().first(kernel, state, rows, low, drawn)
