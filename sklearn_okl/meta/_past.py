"""Rows of a stream that are needed again, in buffers that copies of a state share."""

import numpy as np

_FEWEST = 64  # rows that there is room for from the start


class Past:
    """The rows and targets so far, or the latest of them.

    Copies share the buffers, and know how many rows of them are theirs. Only one that holds all
    that was written may go on in place, unseen by the others; any other copies.

    Parameters
    ----------
    X : ndarray of shape (room, n_features)
    y : ndarray of shape (room,) or (room, n_targets)
    window : int or None
        How many of the latest rows are kept; None keeps all.
    length : int, default=0
        How many rows count, the first ones.
    weights : ndarray of shape (room,) or None, default=None
        Weights of the rows, if any were given.
    """

    _is_never_written = True  # so copies of a state share it

    def __init__(self, X, y, window, length=0, weights=None):
        self._X, self._y, self._weights = X, y, weights
        self.window = window
        self.length = length
        # by all that share the buffers; nobody may go on in buffers that are mapped from a file
        self._written = [length if X.flags.writeable and y.flags.writeable else -1]

    @classmethod
    def empty(cls, n_features, window, n_targets=None):
        """Return a past without rows, whose targets have no axis of their own, or one."""
        targets = () if n_targets is None else (n_targets,)
        return cls(np.empty((_FEWEST, n_features)), np.empty((_FEWEST, *targets)), window)

    @property
    def rows(self):
        """The rows kept and their targets, the oldest first: views."""
        return self._X[self._kept], self._y[self._kept]

    @property
    def width(self):
        """How many features rows have."""
        return self._X.shape[1]

    @property
    def weights(self):
        """The weights of the rows kept, None where none were given."""
        return None if self._weights is None else self._weights[self._kept]

    @property
    def _kept(self):
        return slice(max(self.length - self.window, 0) if self.window else 0, self.length)

    def __add__(self, rows):
        """Return this past and the rows (X, y), or (X, y, weights), after it."""
        X, y, *weights = rows
        first, n = self.length, len(y)
        grown = object.__new__(Past)
        grown.__dict__.update(vars(self))
        if first + n > len(self._y) or self._written[0] != first:
            kept_X, kept_y = self.rows
            first = len(kept_y)
            room = max(2 * (first + n), _FEWEST)
            grown._X, grown._y = np.empty((room, X.shape[1])), np.empty((room, *y.shape[1:]))
            grown._X[:first], grown._y[:first] = kept_X, kept_y
            if self._weights is not None:
                grown._weights = np.ones(room)
                grown._weights[:first] = self.weights
            grown._written = [0]
        place = slice(first, first + n)
        grown._X[place], grown._y[place] = X, y
        if weights and grown._weights is None:
            grown._weights = np.ones(len(grown._y))
        if grown._weights is not None:
            grown._weights[place] = weights[0] if weights else 1.0
        grown.length = grown._written[0] = first + n
        return grown

    def __getstate__(self):
        X, y = self.rows
        state = {"X": X.copy(), "y": y.copy(), "window": self.window, "length": len(y)}
        return state if self._weights is None else state | {"weights": self.weights.copy()}

    def __setstate__(self, state):
        self.__init__(**state)

    def __copy__(self):
        return self
