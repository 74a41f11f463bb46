"""The shell of margin classifiers of any number of classes: each against the rest, in columns."""

from __future__ import annotations

import numpy as np

from .._documentation import inherit_documentation
from .._types import Any, Array, ArrayLike
from ._classifier import OnlineClassifier


@inherit_documentation
class OneAgainstRestClassifier(OnlineClassifier):
    """Base of margin classifiers of two classes or more, of which each has a column of targets.

    Two classes are those of :class:`OnlineClassifier`. Of C > 2 classes the private verbs get
    targets (n, C), 1.0 for the class of the row and -1.0 for all others, and forecast decision
    values (n, C): what the classes have in common, such as features, is in one state, once. The
    label forecast is the class of the largest decision value, the first of several.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted. Of two, positive decision values mean the second.

    See Also
    --------
    OnlineClassifier : For two classes only.
    """

    _all = "all"
    _advice = (
        "Name all classes in 'classes' in the first call of 'partial_fit', or call 'fit' to start "
        "afresh."
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = True
        return tags

    def decision_function(self, X: ArrayLike, **params: Any) -> Array:
        """Return the decision values of each row, as if it were the next one; changes nothing.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of two classes, positive for ``classes_[1]``. Of more, a column for each class against
            the rest, in the order of ``classes_``.
        """
        return super().decision_function(X, **params)

    def _labels(self, values):
        if values.ndim == 1:
            return super()._labels(values)
        return self.classes_[values.argmax(axis=1)]

    def _targets_of(self, places):
        if len(self.classes_) == 2:
            return super()._targets_of(places)
        return np.where(places[:, None] == np.arange(len(self.classes_)), 1.0, -1.0)

    def _checked_classes(self, labels):
        return self._two_or_more(labels)
