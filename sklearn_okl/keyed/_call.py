"""The rows of one learning call, by key."""

import numpy as np

from ._entries import entry_of


class CallByKey:
    """Rows, sorted by the lives of their keys, and what becomes of the models on the way.

    Attributes
    ----------
    models, first : list
        Of each life, as in `Entry`; None before its first row.
    n_rows : ndarray of int of shape (n_lives,)
        How many rows each had learnt before the call.
    done : ndarray of int of shape (n_lives,)
        How many of its rows have been learnt.
    order : ndarray of int of shape (n,)
        The rows, sorted by life.
    starts : ndarray of int of shape (n_lives + 1,)
        Where in `order` each life begins.
    answers : ndarray of shape (n, ...) or None
        Where the forecasts go, if they are wanted.
    """

    def __init__(self, lives, X, y, params):
        self.lives, self.X, self.y, self.params = lives, X, y, params
        self.order, self.starts = lives.rows()
        self.models = [entry and entry.model for entry in lives.entries]
        self.first = [entry and entry.first for entry in lives.entries]
        self.n_rows = np.array([entry.n_rows if entry else 0 for entry in lives.entries])
        self.done = np.zeros(len(self.models), dtype=np.intp)
        self.answers = None

    def left(self):
        """Return the lives that have rows to learn."""
        return np.flatnonzero(self.done < np.diff(self.starts))

    def rows(self, life):
        """Return the rows of a life that are to be learnt."""
        return self.order[self.starts[life] + self.done[life] : self.starts[life + 1]]

    def first_rows(self):
        """Return the first row of each life that begins."""
        begins = [place for place, entry in enumerate(self.lives.entries) if entry is None]
        return self.order[self.starts[begins]]

    def changed(self, entries, t):
        """Return entries as they are after a call that began at row t."""
        ends = (t + 1 + self.order[self.starts[1:] - 1]).tolist()
        counts = (self.n_rows + np.diff(self.starts)).tolist()
        found = list(map(entry_of, zip(counts, ends, self.models, self.first, strict=True)))
        if self.lives.at is not None:
            return entries.replaced(self.lives.at, found)
        return entries.changed(
            {key: found[k] for key, k in self.lives.last.items()}, self.lives.gone
        )
