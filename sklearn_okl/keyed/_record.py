"""What a bank keeps of a key: some arrays, the large one shared until it changes."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from .._linalg import inverse_spd
from ._scaled import N_PARTS

TAIL = 8  # rows that wait before the inverse is written
_AT_ONCE = 2_600_000  # bytes of the keys of a round: fewer cost calls, more leave the caches
YOUNG = 32  # rows of a key up to which they are kept, to compute its inverse anew


class Record(NamedTuple):
    """What a bank keeps of a key; no array is ever edited.

    Attributes
    ----------
    inverse : ndarray of shape (D * D,)
        P before the rows of the tail.
    rest : ndarray of shape (L,)
        All else, see `Parts`.
    rows : ndarray of shape (n, D) or None
        The rows of a young key, times the roots of their weights: the first ones may shrink P by
        more than it can stand, as those behind a scaler do that has seen two rows.
    """

    inverse: np.ndarray
    rest: np.ndarray
    rows: Any


def numbers(content):
    """Return bytes as an array that is not to be written, or None."""
    return None if content is None else np.ndarray(len(content) // 8, np.float64, content)


class Young(NamedTuple):
    """What is kept besides of a key with few rows: `Record.rows`, and `Entry.first`."""

    rows: Any
    first: Any


class Parts(NamedTuple):
    """Views of the rest of some records (m, L).

    Attributes
    ----------
    theta : ndarray of shape (m, D)
        Coefficients.
    scalars : ndarray of shape (m, 3)
        Sum of squared normalised errors, sum of weights, rows in the tail.
    tail : ndarray of shape (m, 8, D)
        The rows v of P - V'V, and zeros.
    moments : ndarray of shape (m, 7, d)
        Of a scaler.
    """

    theta: np.ndarray
    scalars: np.ndarray
    tail: np.ndarray
    moments: np.ndarray


class Layout:
    """Where what stands in a record of D features, d of them scaled; `at_once` fit a cache."""

    def __init__(self, width, n_scaled, alpha):
        self.width, self.n_scaled = width, n_scaled
        self.size = width + 3 + TAIL * width + N_PARTS * n_scaled
        self.at_once = min(max(_AT_ONCE // (8 * (width**2 + self.size)), 8), 1024)
        self.alpha = np.array(alpha)
        self.start = (np.eye(width) / alpha).tobytes(), np.zeros(self.size).tobytes()

    def gathered(self, inverses, rests):
        """Return copies of inverses (m, D, D) and all else (m, L); None is that of a fresh key."""
        if None in inverses:
            inverses = [self.start[0] if one is None else one for one in inverses]
            rests = [self.start[1] if one is None else one for one in rests]
        return self._joined(inverses, rests)

    def records(self, records):
        """Do so with records."""
        return self._joined(*([record[i] for record in records] for i in (0, 1)))

    def _joined(self, inverses, rests):
        P, rest = (np.frombuffer(bytearray().join(some)) for some in (inverses, rests))
        return P.reshape(-1, self.width, self.width), rest.reshape(-1, self.size)

    def apart(self, rest):
        """Return all else of some records, the bytes of each."""
        content, size = rest.tobytes(), 8 * self.size
        return [content[low : low + size] for low in range(0, len(content), size)]

    def split(self, rest):
        """Return views of the parts."""
        m, width = len(rest), self.width
        tail = width + 3
        moments = tail + TAIL * width
        return Parts(
            rest[:, :width],
            rest[:, width:tail],
            rest[:, tail:moments].reshape(m, TAIL, width),
            rest[:, moments:].reshape(m, N_PARTS, self.n_scaled),
        )

    def tail(self, rest):
        """Return the tail (8, D) in all else of one record."""
        start = self.width + 3
        return rest[start : start + TAIL * self.width].reshape(TAIL, self.width)

    def rows(self, young):
        """Return the rows of a young key."""
        return np.empty((0, self.width)) if young is None else young.rows

    def sums(self, rows):
        """Return the inverse of P as rows make it."""
        return self.alpha * np.eye(self.width) + rows.T @ rows

    def rebuild(self, P, part, k, rows):
        """Compute an inverse from all rows of its key."""
        P[k] = inverse_spd(self.sums(rows), self.alpha)
        part.tail[k] = 0.0
        part.scalars[k, 2] = 0.0

    def commit(self, P, part, which):
        """Bring the tails of some keys into their inverses."""
        V = part.tail[which]
        P[which] -= np.matmul(V.swapaxes(1, 2), V)
        part.tail[which] = 0.0
        part.scalars[which, 2] = 0.0


layout_of = lru_cache(16)(Layout)  # nothing in it changes
