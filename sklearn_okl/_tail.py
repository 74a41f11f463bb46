"""Large arrays that states share, and the rows since they were last replaced.

A call of one row must not copy what it hardly changes. So a state may hold large arrays as
*committed*: shared by all states that hold them, never written, replaced as a whole now and then.
The rows since wait in a *tail*, buffers that only grow.
"""

import numpy as np


class Committed:
    """An array that several states may hold: it is replaced, never written.

    Parameters
    ----------
    array : ndarray
        It becomes read-only.

    Attributes
    ----------
    array : ndarray
    is_finite : bool
        Whether all its numbers are: it is asked once.
    """

    def __init__(self, array):
        self.__setstate__({"array": array})

    def __getstate__(self):
        return {"array": self.array}

    def __setstate__(self, state):  # a flag is lost on the way through a file
        self.array = state["array"]
        self.array.flags.writeable = False
        self.is_finite = bool(np.isfinite(self.array.sum()))


class Tail:
    """Rows since the last commit, and what each of them taught, in buffers of fixed size.

    All tails that grew from one share its buffers, and know how much of them is theirs. Only one
    that holds all that was written may go on in place, unseen by the others; any other copies.

    Parameters
    ----------
    rows : ndarray of shape (..., size, D)
        Rows, scaled by the root of their weights.
    directions : ndarray of shape (..., size, D)
        Rows v of V in P - V' V.
    forgetting : float, default=1.0
        Factor by which the weight of a row fades with each row that follows; it is the rows in the
        tail that grow instead.
    length : int, default=0
        How many of them count.
    written : list of int, default=None
        How many were written by anybody: shared by all that share the buffers.
    """

    def __init__(self, rows, directions, forgetting=1.0, length=0, written=None):
        self.rows = rows
        self.directions = directions
        self.forgetting = forgetting
        self.length = length
        if written is None:  # nobody may go on in buffers that are mapped from a file
            written = [length if rows.flags.writeable and directions.flags.writeable else -1]
        self._written = written

    @classmethod
    def empty(cls, lead, size, width, forgetting):
        """Return a tail without rows for a bank of shape `lead`."""
        shape = (*lead, size, width)
        return cls(np.zeros(shape), np.zeros(shape), forgetting)

    @property
    def growth(self):
        """How much the last row has grown: the past is to fade by as much."""
        return self.forgetting**-self.length

    @property
    def is_full(self):
        """Whether no row fits in."""
        return self.length == self.rows.shape[-2]

    @property
    def is_finite(self):
        """Whether the latest row and what it taught are finite; those before it were asked."""
        last = slice(max(self.length - 1, 0), self.length)
        parts = self.rows[..., last, :], self.directions[..., last, :]
        return all(bool(np.isfinite(part.sum())) for part in parts)

    def filled(self):
        """Return the rows and the directions that count, of shape (..., length, D)."""
        return self.rows[..., : self.length, :], self.directions[..., : self.length, :]

    def and_row(self, row, direction):
        """Return this tail and one row more, each of shape (..., D)."""
        own = self if self._written[0] == self.length else self._alone()
        own.rows[..., self.length, :] = row
        own.directions[..., self.length, :] = direction
        own._written[0] = self.length + 1
        return Tail(own.rows, own.directions, self.forgetting, self.length + 1, own._written)

    def _alone(self):
        """Return a copy with buffers of its own, zeros behind the rows that count."""
        return Tail(**self.__getstate__())

    def __getstate__(self):
        state = {"forgetting": self.forgetting, "length": self.length}
        for name in ("rows", "directions"):
            state[name] = np.zeros_like(getattr(self, name))
            state[name][..., : self.length, :] = getattr(self, name)[..., : self.length, :]
        return state

    def __setstate__(self, state):
        self.__init__(**state)

    def __copy__(self):
        return self
