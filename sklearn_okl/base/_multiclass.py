"""The shell of classifiers of any number of classes: probabilities, in place of margins."""

from __future__ import annotations

import numpy as np

from .._documentation import explained_by
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments
from ._classifier import OnlineClassifier
from ._of_classes import OfClasses
from ._regressor import OnlineRegressor


class OnlineMulticlassClassifier(OfClasses):
    """Base of classifiers that forecast probabilities, of two classes or more.

    The private verbs, those of :class:`OnlineRegressor`, get as targets the places (n,) of the
    labels, as integers, and forecast probabilities (n, n_places). `_start` finds ``classes_`` and
    the number `_n_places` there. The label forecast is the likeliest, the first of several.

    Places are those in ``classes_``. With a parameter `max_classes` that is no None there are so
    many, in the order in which the classes became known, and some may be free: what is shown are
    the probabilities of ``classes_`` given that it is one of these.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels, sorted.

    See Also
    --------
    OnlineClassifier : For two classes, by the sign of a decision value.
    """

    _all = "all"
    _advice = (
        "Name all classes in 'classes' in the first call of 'partial_fit', or call 'fit' to start "
        "afresh."
    )

    @explained_by(OnlineClassifier.prequential_predict_proba)
    def prequential_predict_proba(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Array:
        refuse_arguments(self, "prequential_predict_proba", params)
        return self._shown(self._advance(X, y, restart=False, validation={"classes": classes}))

    @explained_by(OnlineRegressor.predict)
    def predict_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Return the probabilities of the classes for each row as if it were the next one.

        Changes nothing.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        refuse_arguments(self, "predict_proba", params)
        model = self._as_of_now()
        return model._shown(model._answered(*model._asked(X)))

    @explained_by(OnlineClassifier.predict_log_proba, predict_proba)
    def predict_log_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Return the logarithms of the probabilities of the classes; changes nothing."""
        refuse_arguments(self, "predict_log_proba", params)
        with np.errstate(divide="ignore"):  # of a class that a model has never met
            return np.log(self.predict_proba(X))

    @explained_by(OnlineClassifier.predict)
    def predict(self, X: ArrayLike, **params: Any) -> Array:
        refuse_arguments(self, "predict", params)
        model = self._as_of_now()
        places = model.predict_proba(X).argmax(axis=1)
        return model.classes_[places]

    def _labels(self, values):
        if values.ndim == 1:
            return (self.classes_ if self._by_place is None else self._by_place)[values]
        return self.classes_[self._shown(values).argmax(axis=1)]

    def _answer_shape(self, n):
        return n, self._n_places

    def _shown(self, probabilities):
        """Return probabilities (n, n_classes) of ``classes_`` from those of all places."""
        if self._by_place is None:
            return probabilities
        shown = probabilities[..., np.argsort(self._by_place)]
        return shown / shown.sum(axis=-1, keepdims=True)

    def _targets_of(self, places):
        return places if self._by_place is None else np.argsort(self._by_place)[places]

    def _know_classes(self, labels, classes, restart):
        most = getattr(self, "max_classes", None)
        if most is None:
            super()._know_classes(labels, classes, restart)
            self._by_place, self._n_places = None, len(self.classes_)
            return
        known = labels[:0]
        if not restart:
            known = self.classes_ if self._by_place is None else self._by_place
        named = known[:0] if classes is None else classes
        # objects are compared as they are, numbers beside words are made words
        kinds = {part.dtype.kind for part in (known, labels, named) if len(part)} - {"O"}
        if len({kind in "US" for kind in kinds}) > 1:
            raise TypeError("words and numbers")
        # classes that were named, and not met yet, come last: names change no place
        n_met = 0 if restart or self._by_place is None else self._n_met
        met = _in_order(known[:n_met], labels)
        found = _in_order(met, known, named)
        if len(found) > most:
            besides = "" if restart else f" besides the classes {self.classes_} of this model"
            raise ValueError(
                f"There are labels {np.setdiff1d(found, known)}{besides}, but "
                f"max_classes={most} allows for {most} in all. Set a larger 'max_classes', and "
                "call 'fit' to start afresh."
            )
        self._by_place, self._n_met, self._n_places = found, len(met), most
        self.classes_ = np.sort(found)

    def _checked_classes(self, labels):
        return self._two_or_more(labels)


def _in_order(*parts):
    """Return what arrays hold, each value once, in the order in which it comes first."""
    values = np.concatenate(parts)
    _, first = np.unique(values, return_index=True)
    return values[np.sort(first)]
