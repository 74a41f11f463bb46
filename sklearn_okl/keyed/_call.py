"""The rows of one learning call, by key."""

import numpy as np


class CallByKey:
    """Rows, sorted by the lives of their keys, and what becomes of the models on the way.

    Attributes
    ----------
    known : Columns
        Of each life; what is in it is replaced as rows are learnt, but for `n_rows` and `last`.
    done : ndarray of int of shape (n_lives,)
        How many of its rows have been learnt.
    order, starts : ndarray of int
        As in `Lives`.
    answers : ndarray of shape (n, ...) or None
        Where the forecasts go, if they are wanted.
    counted : ndarray of int of shape (n,) or None
        Whether rows, in the order of lives, have a target, without which they are only forecast;
        None: all.
    """

    def __init__(self, lives, entries, X, y, params):
        self.lives, self.X, self.y, self.params = lives, X, y, params
        self.order, self.starts = lives.order, lives.starts
        self._entries, self.known = entries, entries.taken(lives.at)
        self.done = np.zeros(len(lives.at), dtype=np.intp)
        self.answers = self.counted = None
        if y.dtype == np.float64 and (gaps := np.isnan(y)).any():
            self.counted = (~gaps.reshape(len(y), -1).all(axis=1)).astype(np.intp)[self.order]

    def entry(self, life):
        """Return the entry of a life as it was before the call, or None where it begins."""
        return self._entries.at(int(self.lives.at[life]))

    def left(self):
        """Return the lives that have rows to learn."""
        return np.flatnonzero(self.done < np.diff(self.starts))

    def rows(self, life):
        """Return the rows of a life that are to be learnt."""
        return self.order[self.starts[life] + self.done[life] : self.starts[life + 1]]

    def ages(self):
        """Return how many rows the key of each row had had, in the order of lives."""
        before = self._before()
        first = self.known.n_rows - before[self.starts[:-1]]
        return before[:-1] + np.repeat(first, np.diff(self.starts))

    def _before(self):
        """Return how many of the rows come before each, in the order of lives, and after all."""
        if self.counted is None:
            return np.arange(len(self.order) + 1)
        return np.concatenate([[0], np.cumsum(self.counted)])

    def first_rows(self, late=0):
        """Return the first rows of lives that begin: those before which no label is known."""
        if late or self.counted is not None:
            return self.order[self.ages() <= late]
        return self.order[self.starts[:-1][self.known.n_rows == 0]]

    def changed(self, t):
        """Return entries as they are after a call that began at row t."""
        lives = self.lives
        n_rows = self.known.n_rows + np.diff(self._before()[self.starts])
        last = t + 1 + self.order[self.starts[1:] - 1]
        found = self.known._replace(counts=np.column_stack([n_rows, last]))
        found.parts[n_rows == 0] = None  # of whom nothing is known
        if lives.ends is not None:
            found = type(found)(*(part[lives.ends] for part in found))
        return self._entries.written(lives.to, found, lives.new, lives.gone)
