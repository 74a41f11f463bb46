"""What forecasters of series share: they take y first, and swap their states."""

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from ..base import SwapMixin


class SeriesEstimator(SwapMixin, BaseEstimator):
    """Base of those who learn series; a state counts its rows under "t"."""

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

    def _known_state(self):
        if not self.__sklearn_is_fitted__():
            check_is_fitted(self)  # which looks at all tags first
        return self._state
