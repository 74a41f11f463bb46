"""What scalers that learn on the fly share: how rows flow, when they freeze, what is merged."""

from __future__ import annotations

import hashlib
from numbers import Integral

import numpy as np
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted

from .._delay import read_late
from .._types import Any, Array, ArrayLike, Self
from .._validation import NAMES
from ..base import OnlineTransformer, _copied, _same
from . import _moments


class MergesStatistics:
    """Beside a transformer that learns statistics of rows whose order is of no matter.

    A subclass says what it adds::

        _merged(state, theirs)               edits the first
        _order_matters() -> str or None      why, as a sentence, if it does after all
        _waits(state) -> bool                whether rows wait in a state for late labels
    """

    def merge(self, other: Any) -> Self:
        """Learn what another scaler has learnt from other rows, whose order is of no matter.

        Parameters
        ----------
        other : object
            A transformer of the same class, fitted on rows of the same features; it is left as it
            is. Its parameters may be others: they say what becomes of rows, as `feature_range`
            does, and the one that is called keeps its own.

        Returns
        -------
        self : transformer
            The one that would have learnt the rows of both, but that what is faulty was judged in
            each part by itself, of fewer than 32 rows by the other part, and that quantiles are
            known up to their error.

        Notes
        -----
        A TypeError says where the order of rows matters after all: where the latest count for more,
        or alone. What does not fit together is a ValueError. A column that begins late has stood
        still in the one that is called: its rows count as those that came first.
        """
        if type(other) is not type(self):
            raise TypeError(
                f"merge needs another {type(self).__name__}, got {type(other).__name__}."
            )
        for one in (self, other):
            check_is_fitted(one)
            one._check_structure()
        why = self._order_matters() or other._order_matters()
        if why is not None:
            raise TypeError(f"A {type(self).__name__} cannot be merged: {why}")
        state, theirs = _copied(self._state), _copied(other._state)
        names = [[getattr(one, name, None) for name in NAMES] for one in (self, other)]
        if self.n_features_in_ != other.n_features_in_ or not _same(*names):
            raise ValueError("The two have learnt other features than each other.")
        if self._waits(state) or self._waits(theirs):
            raise ValueError("Who knows late labels cannot be merged: rows are waiting.")
        self._merged(state, theirs)
        self._state = state
        return self

    def _order_matters(self):
        return None

    def _waits(self, state):
        return "past" in state


class RunningScaler(MergesStatistics, OneToOneFeatureMixin, OnlineTransformer):
    """Base of the running scalers: z = (x - center) / scale, with statistics of the past.

    A subclass says::

        _start(row) -> state                 from the first row alone, not yet learnt
        _learn(state, X) -> centers, scales, learnt
                                             (n, d) each: what was known before each row, and the
                                             row as it was learnt, faulty values nearer; a scale is
                                             0 where there is none
        _known(state) -> center, scale       (d,) each: what is known now
        _merged(state, theirs)               adds what other rows have shown, where order is nothing

    The verbs get moderate numbers, see `_moments.LARGEST`, and a scale below the inverse of that is
    none: no row can then make the quotients of later ones overflow.

    Parameters
    ----------
    freeze_after : int, default=None
        Number of rows after which the statistics stay as they are: later rows are scaled, and
        neither learnt nor counted. A :class:`StreamingPipeline` of frozen steps merges, and
        unlearns the rows that came later. None never freezes.
    """

    _column_by_column = True
    _structural = ("freeze_after",)
    _parameter_constraints = {"freeze_after": [Interval(Integral, 1, None, closed="left"), None]}

    @property
    def learns_from_data(self) -> bool:
        """Whether rows are learnt still: not after `freeze_after` of them."""
        if self.freeze_after is None or not self.__sklearn_is_fitted__():
            return True
        return self._state["t"] < self.freeze_after

    def inverse_transform(self, X: ArrayLike) -> Array:
        """Undo the scaling of rows by what is known now; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Scaled rows.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            Rows in their own units.
        """
        X, dtype = self._asked(X)
        center, scale = self._known(self._state)
        return self._unscaled(X, center, _moments.or_one(scale)).astype(dtype, copy=False)

    def _order_matters(self):
        if self.freeze_after is not None:
            return f"with freeze_after={self.freeze_after} the first rows alone count."
        return None

    def _refuse_learnt(self, X):
        """Refuse rows that were learnt: they left as what was known then made them."""
        rows = _moments.moderate(self._asked(X)[0])
        if "seen" in self._state and np.isin(_names_of(rows), self._state["seen"]).any():
            raise ValueError(
                f"Of these rows some are among the first {self.freeze_after}, or equal one of "
                f"them: they were scaled before {type(self).__name__} froze, so that their part "
                "in what was learnt is not known. Name later rows only."
            )

    def _scaled(self, X, center, scale):
        return (X - center) / scale

    def _within(self, X, center, scale, count):
        """Return rows scaled, no further off than rows can be that know so many."""
        Z = self._scaled(X, center, _moments.or_one(scale))
        return _moments.within(Z, X, center, scale, count, self._ends)

    def _ends(self, reach):
        """Return what rows become that are so many scales off, low and high."""
        return _moments.both_sides(reach)

    def _counts(self, state, t):
        """Return how many rows are known in rounds t; a scaler that is frozen knows enough."""
        counts = self._counted(state, t)
        if self.freeze_after is None:
            return counts
        return np.where(t < self.freeze_after, counts, _moments.N_FIRST)

    def _counted(self, state, t):
        return t

    def _unscaled(self, X, center, scale):
        return X * scale + center

    def _begin(self, X, y):
        seen = {} if self.freeze_after is None else {"seen": np.empty(0, dtype=np.uint64)}
        return self._start(_moments.moderate(X[0])) | seen

    def _flow(self, state, X, y, delay):
        rows = _moments.moderate(X)
        t = state["t"]
        *known, _ = self._learn_first(state, rows)
        known.append(self._counts(state, t + np.arange(float(len(rows)))[:, None]))
        if delay:
            known = np.stack(np.broadcast_arrays(*known), axis=1)  # (n, 3, d)
            known = read_late(state, known, delay).swapaxes(0, 1)
        return self._within(rows, *known)

    def _learn_first(self, state, rows):
        """Do what `_learn` does with the rows that come before `freeze_after`; scale others."""
        if self.freeze_after is None:
            return self._learn(state, rows)
        n, parts = max(self.freeze_after - state["t"], 0), []
        for some, told in ((rows[:n], self._learn), (rows[n:], self._frozen)):
            if len(some):
                parts.append([np.broadcast_to(part, some.shape) for part in told(state, some)])
        if n > 0 and "seen" in state:
            state["seen"] = np.append(state["seen"], _names_of(rows[:n]))
        return [np.concatenate(part) for part in zip(*parts, strict=True)]

    def _frozen(self, state, rows):
        return *self._known(state), rows

    def _ask(self, state, X):
        return self._within(
            _moments.moderate(X), *self._known(state), self._counts(state, state["t"])
        )


def _names_of(rows):
    """Return numbers (n,) by which rows are known again."""
    rows = np.ascontiguousarray(rows + 0.0, dtype="<f8")  # there are two zeros
    digests = [hashlib.blake2b(row.tobytes(), digest_size=8).digest() for row in rows]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64)
