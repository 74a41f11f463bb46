"""Categories for targets of several classes: the share that each class has among their rows."""

import numpy as np

from ._encoding import Encoder, has_tree, width_of


class ClassEncoder(Encoder):
    """Makes columns of numbers for experts that learn one target per class.

    A category is C numbers in place of one. All else is as for one target, that of the first class.

    Parameters
    ----------
    n_classes : int
    delay : int
        What is known of a row are the labels up to `delay` rounds before the last one.
    """

    def __init__(self, n_classes, delay=0):
        super().__init__(delay)
        self.n_others = n_classes - 1

    def width(self, layout, n_columns):
        """Return how many columns the experts see."""
        n_own = len(self._own(layout)) + has_tree(layout)
        return width_of(layout, n_columns) + self.n_others * n_own

    def n_trees(self, layout):
        """Return how many columns are forecasts of trees: the last ones."""
        return has_tree(layout) * (1 + self.n_others)

    def start(self, layout, n_columns):
        """Return the state before the first row: empty where rows are shown as they are."""
        first = super().start(layout, n_columns)
        if "all" not in first:
            return first
        return first | {
            "others": [
                super(ClassEncoder, self).start(layout, n_columns) for _ in range(self.n_others)
            ]
        }

    def forget_numbers(self, state, nominal):
        """Leave columns aside of which it has turned out that they are none of categories."""
        for other in state["columns"].get("others", ()):
            super().forget_numbers({"columns": other, "former": {}}, nominal)
        super().forget_numbers(state, nominal)

    def learn(self, state, X, Y):
        """Learn rows (n, d) and targets (n, C); return what was to be seen before each of them."""
        if "all" not in state:
            return X
        learn = super().learn
        return self._beside(
            learn(state, X, Y[:, 0]),
            [learn(other, X, y) for other, y in zip(state["others"], Y.T[1:], strict=True)],
            state,
        )

    def look(self, state, X, ago=0):
        """Return what is seen of rows, each as if the next, from what was known some rounds ago."""
        if "all" not in state:
            return X
        look = super().look
        others = [look(other, X, ago) for other in state["others"]]
        return self._beside(look(_first(state), X, ago), others, state)

    def _beside(self, Z, others, state):
        layout = state["layout"]
        own = self._own(layout)
        is_nominal = np.isin(own, layout["nominal"]) | (own < 0)  # the last one is of gaps
        of_others = (other[:, own] for other in others)
        # what nobody has seen yet, and what has turned out to be a number, says nothing of a class
        of_others = [np.where(is_nominal & ~np.isnan(C), C, 0.0) for C in of_others]
        Z, tree = np.split(Z, [Z.shape[1] - has_tree(layout)], axis=1)
        trees = [tree, *(other[:, -1:] for other in others)] if has_tree(layout) else []
        return np.hstack([Z, *of_others, *trees])

    def _own(self, layout):
        """Return the columns that each class has for itself."""
        return layout["at_first"]


def _first(state):
    return {name: part for name, part in state.items() if name != "others"}
