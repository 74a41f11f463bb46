"""Large arrays that states share, and the rows since they were last replaced.

A call of one row must not copy what it hardly changes. So a state may hold large arrays as
*committed*: shared by all states that hold them, never written, replaced as a whole now and then.
The rows since wait in a *tail*, buffers that only grow.
"""

from itertools import pairwise
from math import isfinite

import numpy as np

from ._linalg import inverse_spd

TAIL = 32  # rows of short calls after which they are brought into A and P
_GROUP_BYTES = 400_000  # matrices P that are replaced together: so that no row pays for all
_MOST_GROUPS = 16  # at one a row all are replaced before the next tail is full


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


class Shared(dict):
    """Part of a state whose arrays are replaced, never written: copies of the state share them."""


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
    signs : ndarray of shape (size,), default=None
        -1 for rows that were taken away, and 1 for others; None where all were added.

    Attributes
    ----------
    is_asked : bool
        Whether somebody knows that what was written last is finite.
    """

    is_asked = False

    def __init__(self, rows, directions, forgetting=1.0, length=0, written=None, signs=None):
        self.rows = rows
        self.directions = directions
        self.forgetting = forgetting
        self.length = length
        self.signs = signs
        if written is None:  # nobody may go on in buffers that are mapped from a file
            written = [length if rows.flags.writeable and directions.flags.writeable else -1]
        self._written = written

    @classmethod
    def empty(cls, lead, width, forgetting, size=TAIL):
        """Return a tail without rows for a bank of shape `lead`; of size 0, one yet to be made."""
        shape = (*lead, size, width)
        return cls(np.zeros(shape), np.zeros(shape), forgetting)

    @property
    def growth(self):
        """How much the last row has grown: the past is to fade by as much."""
        return self.forgetting**-self.length

    @property
    def room(self):
        """How many rows fit in."""
        return TAIL - self.length

    @property
    def is_finite(self):
        """Whether the latest row and what it taught are finite; those before it were asked."""
        if not self.length or self.is_asked:
            return True
        last, add = self.length - 1, np.add.reduce
        total = add(self.rows[..., last, :], axis=None)
        return isfinite(total + add(self.directions[..., last, :], axis=None))

    def filled(self):
        """Return the rows and the directions that count, of shape (..., length, D)."""
        return self.rows[..., : self.length, :], self.directions[..., : self.length, :]

    def signed(self, parts, axis=-1):
        """Return numbers of the rows that count, those of rows taken away with the other sign."""
        if self.signs is None:
            return parts
        signs = self.signs[: self.length]
        return parts * (signs if axis == -1 else signs[:, None])

    def taken(self, Z):
        """Return Z V' V, by which P has shrunk for rows Z (..., n, D)."""
        V = self.directions[..., : self.length, :]
        shares = Z @ V.swapaxes(-1, -2)
        return (shares if self.signs is None else self.signed(shares)) @ V

    def and_rows(self, rows, directions, is_asked=False):
        """Return this tail and rows more, of shape (..., n, D), for which there is room."""
        n = self.length
        own = self if self._is_last(n) else self.alone()
        length = n + rows.shape[-2]
        own.rows[..., n:length, :] = rows
        own.directions[..., n:length, :] = directions
        own._written[0] = length
        tail = object.__new__(Tail)  # all else stays as it is
        tail.__dict__.update(own.__dict__)
        tail.length, tail.is_asked = length, is_asked
        return tail

    def wider(self):
        """Return a copy with one feature more, which was 0 in all rows."""
        parts = (np.pad(part, ((0, 0), (0, 1))) for part in (self.rows, self.directions))
        return Tail(*parts, self.forgetting, self.length, signs=self.signs)

    def written(self, n, row, direction, is_added=True):
        """Write row n, where n count, in place if nobody else has; return the tail it is in."""
        own = self if self._is_last(n) else self.with_length(n).alone()
        own.rows[..., n, :] = row
        own.directions[..., n, :] = direction
        own._written[0] = n + 1
        if is_added:
            return own
        signs = np.ones(TAIL) if self.signs is None else self.signs.copy()
        signs[n] = -1.0
        return Tail(own.rows, own.directions, own.forgetting, n + 1, own._written, signs)

    def _is_last(self, n):
        """Whether the buffers are made, and nobody has written more than n rows into them."""
        return self.rows.shape[-2] > 0 and self._written[0] == n

    def with_length(self, length):
        """Return a tail in the same buffers of which so many rows count."""
        return Tail(self.rows, self.directions, self.forgetting, length, self._written, self.signs)

    def alone(self):
        """Return a copy with buffers of its own, zeros behind the rows that count."""
        *lead, _, width = self.rows.shape
        own = Tail.empty(lead, width, self.forgetting)
        own.length, own.signs = self.length, self.signs
        for mine, part in zip(own.filled(), self.filled(), strict=True):
            mine[...] = part
        own._written = [self.length]
        return own

    def __getstate__(self):
        state = {"forgetting": self.forgetting, "length": self.length}
        if self.signs is not None:
            state["signs"] = self.signs
        for name in ("rows", "directions"):
            state[name] = np.zeros_like(getattr(self, name))
            state[name][..., : self.length, :] = getattr(self, name)[..., : self.length, :]
        return state

    def __setstate__(self, state):
        self.__init__(**state)

    def __copy__(self):
        return self


class SharedInverse:
    """Sums A of a bank of learners and their inverses P, shared by states, and the rows since.

    What is committed is replaced group by group, one per row, so that no row pays for all: a full
    tail is brought into the groups one after the other, while the next one fills. Nothing here is
    ever written but rows at the end of a tail, so any number of states may hold it.

    Parameters
    ----------
    A, P : ndarray of shape (..., D, D)
        The sums and their inverses, at most one leading axis; they become read-only.
    floors : ndarray of shape (...)
        Least eigenvalues that the sums have in exact arithmetic.
    forgetting : float, default=1.0
        Factor by which the past fades per row; below 1 the bank is one group.
    grows : bool, default=True
        Whether rows are learnt one by one just now: else the tail is made with the first of them.
    """

    def __init__(self, A, P, floors, forgetting=1.0, grows=True):
        n_groups, places = _n_groups(P, forgetting), [slice(None)]
        if n_groups > 1:
            ends = np.linspace(0, len(P), n_groups + 1).round().astype(int).tolist()
            places = [slice(low, high) for low, high in pairwise(ends)]
        self.groups = tuple((place, Committed(A[place]), Committed(P[place])) for place in places)
        self.floors = np.array(floors)
        size = TAIL if grows else 0
        self.tail = Tail.empty(P.shape[:-2], P.shape[-1], forgetting, size)
        self.former = None  # the full tail that only the first groups know of
        self.n_replaced = 0  # how many these are
        self.anew = False  # whether the others are to be inverted anew
        self.is_anew_due = False  # whether those of the next tail are

    @property
    def is_finite(self):
        """Whether all is finite; what is committed was asked when it was."""
        for _, A, P in self.groups:
            if not (A.is_finite and P.is_finite):
                return False
        return self.tail.is_finite

    @property
    def is_whole(self):
        """Whether there is one group only: it is replaced by `opened` and another one of these."""
        return len(self.groups) == 1

    def times(self, z):
        """Return S^-1 z (..., D), relative to the growth of the tail, for z of that shape."""
        product = np.empty_like(z)
        self.times_rows(z[..., None, :], product[..., None, :])
        return product

    def times_rows(self, Z, out):
        """Write Z S^-1 (..., n, D), relative to the growth of the tail, for rows Z."""
        first = self.groups[0][2].array
        n = first.shape[-1]
        if n < Z.shape[-1]:  # of a learner that grows
            out[..., n:] = Z[..., n:] / self.floors
            np.matmul(Z[..., :n], first, out=out[..., :n])
        elif len(self.groups) == 1:
            np.matmul(Z, first, out=out)
        else:
            for place, _, P in self.groups:
                np.matmul(Z[place], P.array, out=out[place])
        if self.former is not None:
            rest = slice(self.groups[self.n_replaced][0].start, None)
            V = self.former.filled()[1][rest]
            out[rest] -= (Z[rest] @ V.swapaxes(-1, -2)) @ V
        if self.tail.length:
            out -= self.tail.taken(Z)

    def sizes(self, Z):
        """Return z' S^-1 z (..., n) of rows Z (n, D) or (..., n, D), not less than 0."""
        lead = self.tail.rows.shape[:-2]
        if Z.ndim < len(lead) + 2:
            Z = np.broadcast_to(Z, (*lead, *Z.shape[-2:]))
        sizes, n = np.empty(Z.shape[:-1]), self._n_committed
        for place, _, P in self.groups:
            known = Z[place][..., :n]
            product = known @ P.array
            product *= known
            np.add.reduce(product, axis=-1, out=sizes[place])
        if n < Z.shape[-1]:
            sizes += np.square(Z[..., n:]).sum(axis=-1) / self.floors
        if self.former is not None:
            rest = slice(self.groups[self.n_replaced][0].start, None)
            V = self.former.filled()[1][rest]
            sizes[rest] -= np.square(Z[rest] @ V.swapaxes(-1, -2)).sum(axis=-1)
        if self.tail.length:
            V = self.tail.filled()[1]
            squares = self.tail.signed(np.square(Z @ V.swapaxes(-1, -2)))
            sizes -= np.add.reduce(squares, axis=-1)
            sizes *= self.tail.growth
        return np.maximum(sizes, 0.0, out=sizes)

    def and_rows(self, rows, directions, is_asked=False):
        """Return this and rows more, of shape (..., n, D), which may be known to be finite."""
        other = self._twin()
        other.tail = self.tail.and_rows(rows, directions, is_asked)
        return other

    def diagonals(self):
        """Return the diagonals (D,) of A and P of a single learner that forgets nothing."""
        _, A, P = self.groups[0]
        signs = self.tail.signed(np.ones(self.tail.length))
        rows, V = (signs @ (part * part) for part in self.tail.filled())
        return A.array.diagonal() + rows, P.array.diagonal() - V

    def with_filled(self, tail, n):
        """Return this with another tail, of which the first n rows count."""
        other = self._twin()
        other.tail = tail.with_length(n)
        return other

    def grown(self):
        """Return this with one feature more, which was 0 in all rows, for a single learner.

        What is committed stays as it is until the tail is full: beyond it A is its floor.
        """
        other = self._twin()
        other.tail = self.tail.wider()
        return other

    @property
    def _n_committed(self):
        return self.groups[0][2].array.shape[-1]

    def and_replaced(self):
        """Return this with one group more replaced, if a tail is full.

        Returns
        -------
        other : SharedInverse
        place : slice or None
            The group, if its matrices were inverted anew.
        """
        if self.former is None and self.tail.room:
            return self, None
        other = self._twin()
        if other.former is None:
            other.former, other.n_replaced = self.tail, 0
            other.anew, other.is_anew_due = self.is_anew_due, False
            shape = self.tail.rows.shape
            other.tail = Tail.empty(shape[:-2], shape[-1], self.tail.forgetting)
        k, groups = other.n_replaced, list(self.groups)
        place, A, P = groups[k]
        rows, V = (part[place] for part in other.former.filled())
        A = _added(A.array, rows, np.add)
        downdated = None if other.anew else _added(P.array, V, np.subtract)
        P = inverse_spd(A, self.floors[place]) if other.anew else downdated
        groups[k] = place, Committed(A), Committed(P)
        other.groups, other.n_replaced = tuple(groups), k + 1
        if other.n_replaced == len(groups):
            other.former, other.n_replaced = None, 0
        return other, place if other.anew else None

    def and_anew(self):
        """Return this, whose matrices P are to be inverted anew when the tail is full."""
        other = self._twin()
        other.is_anew_due = True
        return other

    def opened(self):
        """Return A and P with all rows in them, as arrays to be written."""
        n, width = self._n_committed, self.tail.rows.shape[-1]
        if self.former is None and not self.tail.length and n == width:
            _, *parts = zip(*self.groups, strict=True)
            if self.is_whole:
                return [part.array.copy() for (part,) in parts]
            return [np.concatenate([part.array for part in matrices]) for matrices in parts]
        A, P = (part.swapaxes(-1, -2) @ self.tail.signed(part, -2) for part in self.tail.filled())
        np.negative(P, out=P)
        for place, known_A, known_P in self.groups:
            A[place][..., :n, :n] += known_A.array
            P[place][..., :n, :n] += known_P.array
        for j in range(n, width):  # of a learner that has grown
            A[j, j] += self.floors
            P[j, j] += 1.0 / self.floors
        if self.former is not None:
            rest = slice(self.groups[self.n_replaced][0].start, None)
            rows, V = (part[rest] for part in self.former.filled())
            A[rest] += rows.swapaxes(-1, -2) @ rows
            P[rest] -= V.swapaxes(-1, -2) @ V
        if self.tail.forgetting < 1.0:
            A /= self.tail.growth
            P *= self.tail.growth
        return A, P

    def sums_of(self, k):
        """Return A (D, D) of one learner of the bank, all rows in it."""
        j = next(j for j, (place, *_) in enumerate(self.groups) if k < place.indices(k + 1)[1])
        place, A, _ = self.groups[j]
        tails = [self.tail]
        if self.former is not None and j >= self.n_replaced:
            tails.append(self.former)
        rows = np.concatenate([tail.filled()[0][k] for tail in tails])
        return (A.array[k - (place.start or 0)] + rows.T @ rows) / self.tail.growth

    def _twin(self):
        other = object.__new__(SharedInverse)
        other.__dict__.update(self.__dict__)
        return other

    def __getstate__(self):
        state = dict(self.__dict__)
        is_made = self.tail.rows.shape[-2] > 0
        if self.former is None and is_made and not self.is_whole:  # a file's size depends on no row
            state["former"] = Tail.empty(
                self.tail.rows.shape[:-2], self.tail.rows.shape[-1], self.tail.forgetting
            )
        return state

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.former is not None and self.former.length == 0:
            self.former = None

    def __copy__(self):
        return self


def _n_groups(P, forgetting):
    if P.ndim == 2 or forgetting < 1.0:
        return 1
    return int(np.clip(-(-P.nbytes // _GROUP_BYTES), 1, min(len(P), _MOST_GROUPS)))


def _added(committed, rows, sign):
    """Return a committed array (..., D, D) plus or minus the products of rows (..., n, D)."""
    products = rows.swapaxes(-1, -2) @ rows
    return sign(committed, products, out=products)
