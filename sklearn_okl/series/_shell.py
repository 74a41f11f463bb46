"""What forecasters of series share: they take y first, and swap their states."""

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from ..base import SwapMixin
from . import _frames, _intake


class SeriesEstimator(SwapMixin, BaseEstimator):
    """Base of those who learn series; a state counts its rows under "t".

    A subclass says in `_known_ahead()` which columns are known ahead.
    """

    @property
    def n_samples_seen_(self) -> int:
        """Rows learnt so far, those filled in for gaps included."""
        return self._known_state()["t"]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags._skip_test = True  # it takes y first
        return tags

    def _learn_in_two(self, former, n, layout, given, X_future, *more):
        """Learn the first n rows, whose labels tell one step, and then those after them.

        `given` is what `_learn_given` takes, the series first and their columns last. What is
        forecast before a row knows of labels up to its own alone.
        """
        known = [part if part is None else _safe_indexing(part, slice(n)) for part in given]
        rest = [part if part is None else _safe_indexing(part, slice(n, None)) for part in given]
        X = rest[-1]
        if layout is None:
            layout = _intake.layout_of(_frames.series_of(known[0]), known[-1], self._known_ahead())
        future = _intake.ahead_of(layout, X, X_future, self.horizon)
        state, said = self._learn_given(former, *known, future, True, *more)
        state, others = self._learn_given(state, *rest, X_future, True, *more)
        return state, np.concatenate([said, others])

    def _known_state(self):
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which looks at all tags first
        return self._state
