"""The shell of classifiers of any number of classes: probabilities, in place of margins."""

from __future__ import annotations

from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments
from ._of_classes import OfClasses


class OnlineMulticlassClassifier(OfClasses):
    """Base of classifiers that forecast probabilities, of two classes or more.

    The private verbs, those of :class:`OnlineRegressor`, get as targets the places (n,) of the
    labels in ``classes_``, as integers, and forecast probabilities (n, n_classes). `_start` finds
    ``classes_`` in its place. The label forecast is the likeliest, the first of several.

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

    def prequential_predict_proba(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the probabilities forecast on the way.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (n_classes,), default=None
            All labels, as in `partial_fit`.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Those forecast for each row before its label was seen, columns in the order of
            ``classes_``.
        """
        refuse_arguments(self, "prequential_predict_proba", params)
        return self._advance(X, y, restart=False, validation={"classes": classes})

    def predict_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Return the probabilities of the classes for each row as if it were the next one.

        Changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            None are taken: any is refused.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        refuse_arguments(self, "predict_proba", params)
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast(state, X)

    def predict(self, X: ArrayLike, **params: Any) -> Array:
        """Forecast the label of each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            None are taken: any is refused.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        refuse_arguments(self, "predict", params)
        return self._labels(self.predict_proba(X))

    def _labels(self, values):
        return self.classes_[values if values.ndim == 1 else values.argmax(axis=1)]

    def _targets_of(self, places):
        return places

    def _checked_classes(self, labels):
        return self._two_or_more(labels)
