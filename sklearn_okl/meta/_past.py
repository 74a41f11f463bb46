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
    y : ndarray of shape (room,)
    window : int or None
        How many of the latest rows are kept; None keeps all.
    length : int, default=0
        How many rows count, the first ones.
    """

    def __init__(self, X, y, window, length=0):
        self._X, self._y = X, y
        self.window = window
        self.length = length
        # by all that share the buffers; nobody may go on in buffers that are mapped from a file
        self._written = [length if X.flags.writeable and y.flags.writeable else -1]

    @classmethod
    def empty(cls, n_features, window):
        """Return a past without rows."""
        return cls(np.empty((_FEWEST, n_features)), np.empty(_FEWEST), window)

    @property
    def rows(self):
        """The rows kept and their targets, the oldest first: views."""
        low = max(self.length - self.window, 0) if self.window else 0
        return self._X[low : self.length], self._y[low : self.length]

    def __add__(self, rows):
        """Return this past and the rows (X, y) after it."""
        X, y = rows
        length = self.length + len(y)
        grown = object.__new__(Past)
        grown.__dict__.update(vars(self))
        if length > len(self._y) or self._written[0] != self.length:
            kept_X, kept_y = self.rows
            length = len(kept_y) + len(y)
            room = max(2 * length, _FEWEST)
            grown._X, grown._y = np.empty((room, X.shape[1])), np.empty(room)
            grown._X[: len(kept_y)], grown._y[: len(kept_y)] = kept_X, kept_y
            grown._written = [0]
        grown._X[length - len(y) : length], grown._y[length - len(y) : length] = X, y
        grown.length = grown._written[0] = length
        return grown

    def __getstate__(self):
        X, y = self.rows
        return {"X": X.copy(), "y": y.copy(), "window": self.window, "length": len(y)}

    def __setstate__(self, state):
        self.__init__(**state)

    def __copy__(self):
        return self
