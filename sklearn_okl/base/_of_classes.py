"""What classifiers share: the public verbs, and labels outside where numbers are inside."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from .._documentation import explained_by
from .._types import Any, Array, ArrayLike, Self
from .._validation import (
    named_classes,
    plain_labels,
    refuse_arguments,
    refuse_dates,
    sorted_together,
    validated,
)
from ._estimator import OnlineEstimator, _aligned
from ._regressor import OnlineRegressor


class OfClasses(ClassifierMixin, OnlineEstimator):
    """The verbs of classifiers; how labels become targets, and forecasts labels, is for the shells.

    A shell says how::

        _checked_classes(labels) -> classes   sorted, or a sentence where they are too few or many
        _targets_of(places) -> targets        what `_learn` gets, of places (n,) in the classes
        _labels(values) -> labels             of such targets, and of forecasts
        _all                                  how many classes to name
        _advice                               what to do about labels that are unknown
    """

    __metadata_request__partial_fit = {"classes": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    @explained_by(OnlineRegressor.fit)
    def fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Labels: numbers, strings or booleans.
        """
        refuse_arguments(self, "fit", params)
        self._advance(X, y, restart=True)
        return self

    @explained_by(OnlineRegressor.partial_fit)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Learn the next rounds; the first call starts the model.

        Any way of cutting a stream into calls gives the same model. A call that fails or is
        interrupted leaves the model as it was.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels. Needed in the first call where `y` does not hold them all; later it may be
            left out.
        """
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False, validation={"classes": classes})
        return self

    @explained_by(partial_fit)
    def prequential_predict(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the labels forecast on the way.

        Parameters
        ----------
        classes : array-like of shape (n_classes,), default=None
            All labels, as in `partial_fit`.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The label forecast for each row before its own was seen: what a loop of `predict` and
            `partial_fit` over single rows would give, much faster.
        """
        refuse_arguments(self, "prequential_predict", params)
        values = self._advance(X, y, restart=False, validation={"classes": classes})
        return self._labels(values)

    def _validated_rows(self, X, y, restart, classes=None):
        refuse_dates(y)
        X, y = validated(
            self,
            X,
            plain_labels(y),
            reset=restart,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan" if self._allow_nan else True,
        )
        return _aligned(X), self._targets_of_labels(y, classes, restart)

    def _row_target(self, y):
        labels = plain_labels(np.asarray(y)[None])
        refuse_dates(labels)
        if labels.ndim > 1:
            raise ValueError(f"y has shape {labels.shape[1:]}, and a row has one label.")
        return self._targets_of_labels(labels, None, False)

    def _targets_of_labels(self, y, classes, restart):
        """Return the targets of labels (n,), and write which classes there are."""
        with sorted_together():
            if restart and classes is None:
                check_classification_targets(y)  # few rows of many classes look like numbers to it
            self._know_classes(y, None if classes is None else named_classes(classes), restart)
            places = self._places(y)
        return self._targets_of(places)

    def _know_classes(self, labels, classes, restart):
        """Write which classes there are, by labels and by those named, or say what is wrong.

        Those named are sorted, each once.
        """
        if restart:
            self.classes_ = self._checked_classes(labels if classes is None else classes)
        elif classes is not None and not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"classes={classes} are not the classes of the first call, {self.classes_}. Leave "
                "them out, or call 'fit' to start afresh."
            )

    def _places(self, labels):
        """Return the places (n,) of labels in the classes, or say which of them are unknown."""
        places = np.searchsorted(self.classes_, labels)
        places[places == len(self.classes_)] = 0
        # words and numbers may be sorted together as words, but are not equal
        unknown = labels[self.classes_[places] != labels]
        if len(unknown):
            raise ValueError(
                f"y holds labels {np.unique(unknown)} besides the classes {self.classes_} of this "
                f"model. {self._advice}"
            )
        return places

    def _two_or_more(self, labels):
        """Return the sorted labels, or say that there is one only."""
        classes = np.unique(labels)
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes; only one class, {classes}, is in the "
                f"labels. Name {self._all} in 'classes' in the first call of 'partial_fit'."
            )
        return classes
