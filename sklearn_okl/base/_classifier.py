"""The shell of classifiers by margin: two labels in place of -1 and +1."""

from __future__ import annotations

import numpy as np
from scipy.special import expit, log_expit, logsumexp
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import type_of_target

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from .._validation import refuse_arguments
from ..losses import LogisticLoss
from ._of_classes import OfClasses
from ._regressor import OnlineRegressor


def _has_probabilities(estimator):
    loss = getattr(estimator, "loss", None)
    return loss == "log_loss" or type(loss) is LogisticLoss


@inherit_documentation
class OnlineClassifier(OfClasses):
    """Base of all margin classifiers: two classes, -1 and +1 to the private verbs.

    The private verbs, those of :class:`OnlineRegressor`, get targets -1.0 and 1.0 and forecast
    decision values; a positive one means the second of the sorted classes. Probabilities are there
    for subclasses with ``loss="log_loss"``, whose decision values are log-odds.

    Attributes
    ----------
    classes_ : ndarray of shape (2,)
        The labels, sorted. Positive decision values mean the second.

    See Also
    --------
    OnlineRegressor : The same for numbers.
    sklearn_okl.evaluation.check_online_estimator : The laws that it is to keep.

    Notes
    -----
    *Cost.* As for :class:`OnlineRegressor`, and the look-up of the labels.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.base import OnlineClassifier
    >>> class PerceptronClassifier(OnlineClassifier):
    ...     def _start(self, n_features, n_targets=None):
    ...         return {"t": 0, "w": np.zeros(n_features)}
    ...
    ...     def _learn(self, state, X, y):
    ...         values = np.empty(len(y))
    ...         for t, (x, sign) in enumerate(zip(X, y)):
    ...             values[t] = x @ state["w"]
    ...             if sign * values[t] <= 0:
    ...                 state["w"] += sign * x
    ...         state["t"] += len(y)
    ...         return values
    ...
    ...     def _forecast(self, state, X):
    ...         return X @ state["w"]
    >>> model = PerceptronClassifier().fit([[1.0, 2.0], [2.0, -1.0], [1.0, 1.0]], ["b", "a", "b"])
    >>> model.predict([[0.0, 3.0], [1.0, -3.0]])
    array(['b', 'a'], dtype='<U1')
    """

    _all = "both"
    _advice = (
        "Only binary classification is supported: wrap the model in "
        "sklearn.multiclass.OneVsRestClassifier for more classes."
    )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    @explained_by(OnlineRegressor.predict)
    def decision_function(self, X: ArrayLike, **params: Any) -> Array:
        """Return the decision value of each row, as if it were the next one; changes nothing.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        refuse_arguments(self, "decision_function", params)
        model = self._as_of_now()
        return model._answered(*model._asked(X))

    @explained_by(OnlineRegressor.predict)
    def predict(self, X: ArrayLike, **params: Any) -> Array:
        """Forecast the label of each row as if it were the next one; changes nothing.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Labels.
        """
        refuse_arguments(self, "predict", params)
        model = self._as_of_now()
        return model._labels(model.decision_function(X))

    @available_if(_has_probabilities)
    @explained_by(predict)
    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probabilities that the logistic loss reads into the decision values.

        Only there with ``loss="log_loss"``, whose minimiser is the log-odds.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``. Of more than two classes each has the probability
            that its decision value gives it against the rest, divided by their sum.
        """
        return _probabilities(self.decision_function(X))

    @available_if(_has_probabilities)
    @explained_by(predict_proba)
    def predict_log_proba(self, X: ArrayLike) -> Array:
        """Return the logarithms of `predict_proba`, exact where a probability rounds to 0 or 1.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Columns in the order of ``classes_``.
        """
        return _log_probabilities(self.decision_function(X))

    @available_if(_has_probabilities)
    @explained_by(OfClasses.prequential_predict)
    def prequential_predict_proba(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the probabilities forecast on the way.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Those forecast for each row before its label was seen, columns in the order of
            ``classes_``.
        """
        refuse_arguments(self, "prequential_predict_proba", params)
        values = self._advance(X, y, restart=False, validation={"classes": classes})
        return _probabilities(values)

    def _labels(self, values):
        return self.classes_[(values > 0.0).astype(np.intp)]

    def _targets_of(self, places):
        return 2.0 * places - 1.0

    def _checked_classes(self, labels):
        classes = self._two_or_more(labels)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}. Wrap the model in "
                "sklearn.multiclass.OneVsRestClassifier for more classes."
            )
        return classes


def _log_probabilities(values):
    """Return logarithms of probabilities (n, C) of log-odds (n,), or (n, C) against the rest."""
    if values.ndim == 1:
        return np.column_stack([log_expit(-values), log_expit(values)])
    logs = log_expit(values)
    return logs - logsumexp(logs, axis=1, keepdims=True)


def _probabilities(values):
    if values.ndim == 1:
        return np.column_stack([expit(-values), expit(values)])
    return np.exp(_log_probabilities(values))
