"""The growth of a dictionary: who enters is decided first, then rows get their coordinates."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._documentation import explained_by
from .._linalg import aligned_slices
from .._types import Any, Array, ArrayLike
from ._nested import CLOSE, DEPENDENT, coordinates, grow_basis

_BLOCK = 128  # rows tested in one product


class Rows:
    """A block of n rows that meets a dictionary, as the rule of entry sees it.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        The rows.
    atoms : ndarray of shape (J, d)
        Rows in the dictionary as it is now.
    distances : ndarray of shape (n,)
        Squared distances of the rows' kernel functions to the span of the dictionary as it is now.

    See Also
    --------
    EntryRule : Which finds the row that enters.
    """

    def __init__(self, kernel: Any, X: ArrayLike, basis: Any = None) -> None:
        self.X = X
        self.basis = basis
        self._kernel = kernel
        self._met = None  # coordinates and distances, once somebody asks: not every rule does

    @property
    def atoms(self) -> Array:
        """Rows in the dictionary as it is now, of shape (J, d)."""
        return self.basis["atoms"]

    @property
    def distances(self) -> Array:
        """Squared distances to the span of the dictionary as it is now, of shape (n,)."""
        return self._meet()[1]

    def _meet(self):
        """Return the coordinates (n, J) of the rows in the basis as it is now, and distances."""
        if self._met is None:
            self._met = coordinates(self._kernel, self.basis, self.X)
        return self._met

    def _is_spanned(self, i):
        """Tell whether row i lies in the span of the dictionary up to rounding."""
        x = self.X[i : i + 1]
        distance, least = self.distances[i], DEPENDENT * self._kernel.diagonal(x)[0]
        if distance <= least + CLOSE:  # too near to say, so away from the block's rounding
            distance = coordinates(self._kernel, self.basis, x)[1][0]
        return not distance > least

    def _grow(self, i):
        """Add row i, which is not spanned, to the basis."""
        Phi, distances = self._meet()
        x = self.X[i : i + 1]
        row = grow_basis(self._kernel, self.basis, x[0])
        # not by row[-1]: the pivot is a little larger, see `grow_basis`
        added = self._kernel(self.X, x)[:, 0] - Phi @ row[:-1]
        added /= self.basis["factor"][-1, -1]
        self._met = np.column_stack([Phi, added]), np.maximum(distances - added**2, 0.0)


class Stretch(NamedTuple):
    """Rows that follow each other and meet the same dictionary.

    Attributes
    ----------
    rows : slice
        Their places in the stream.
    """

    rows: slice
    block: Rows
    first: int

    @property
    def coordinates(self):
        """Coordinates (m, J) of the rows in the basis as it is now, computed when asked for."""
        last = self.first + self.rows.stop - self.rows.start
        return self.block._meet()[0][self.first : last]


def growth(kernel, rule, state, basis, X, count, length=_BLOCK):
    """Let rows into a dictionary, and yield all rows in stretches that meet the same one.

    A stretch that meets one atom more than that before it starts with the row that entered. As
    coordinates are nested, the row has those in the old basis too: all of them but the last.

    Parameters
    ----------
    kernel : sklearn_okl.kernels.Kernel
    rule : EntryRule
    state : dict
        The state of the rule, edited.
    basis : dict
        The nested basis, which grows by the time a stretch is yielded that meets more of it. Rows
        that enter but lie in its span add nothing to it.
    X : ndarray of shape (n, d)
        The next rows.
    count : int
        Number of rows before them.
    length : int, default=128
        Most rows tested in one product: blocks end where the count is a multiple of it.

    Yields
    ------
    Stretch
        Of one row at least.
    """
    for places in aligned_slices(count, len(X), length):
        block = Rows(kernel, X[places], basis)
        first, start = 0, places.start
        for i in entering(kernel, rule, state, block, rule.draw(state, len(block.X))):
            if block._is_spanned(i):
                continue
            if i > first:
                yield Stretch(slice(start + first, start + i), block, first)
            block._grow(i)
            first = i
        yield Stretch(slice(start + first, places.stop), block, first)


@explained_by(growth)
def entering(kernel, rule, state, rows, drawn):
    """Yield the places of the rows of a block that enter, in order; the rule takes note of each.

    Parameters
    ----------
    rows : Rows
    drawn : object
        What the rule has drawn for the block.
    """
    low, n = 0, len(rows.X)
    while low < n:
        i = rule.first(kernel, state, rows, low, drawn)
        if i < n:
            rule.enter(kernel, state, rows.X[i])
            yield i
        low = i + 1
