"""The shell of classifiers by margin: the public verbs, and labels in place of -1 and +1."""

import numpy as np
from scipy.special import expit
from sklearn.base import ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from .._linalg import one_blas_thread
from .._validation import plain_labels, refuse_arguments, validated
from ._estimator import OnlineEstimator, _aligned


def _has_probabilities(estimator):
    return getattr(estimator, "loss", None) == "log_loss"


class OnlineClassifier(ClassifierMixin, OnlineEstimator):
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

    __metadata_request__partial_fit = {"classes": True}

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = self._poor_score
        return tags

    def fit(self, X, y, **params):
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : array-like of shape (n_samples,)
            Labels of two kinds: numbers, strings or booleans.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "fit", params)
        self._advance(X, y, restart=True)
        return self

    def partial_fit(self, X, y, classes=None, **params):
        """Learn the next rounds; the first call starts the model.

        Any way of cutting a stream into calls gives the same model. A call that fails or is
        interrupted leaves the model as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            The two labels. Needed in the first call where `y` does not hold both; later it may be
            left out.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False, validation={"classes": classes})
        return self

    def prequential_predict(self, X, y, classes=None, **params):
        """Learn as `partial_fit` does, and return the labels forecast on the way.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their labels.
        classes : array-like of shape (2,), default=None
            The two labels, as in `partial_fit`.
        **params : dict
            None are taken: any is refused, `sample_weight` too.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The label forecast for each row before its own was seen: what a loop of `predict` and
            `partial_fit` over single rows would give, much faster.
        """
        refuse_arguments(self, "prequential_predict", params)
        values = self._advance(X, y, restart=False, validation={"classes": classes})
        return self._labels(values)

    def decision_function(self, X, **params):
        """Return the decision value of each row, as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            None are taken: any is refused.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Positive for ``classes_[1]``.
        """
        refuse_arguments(self, "decision_function", params)
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast(state, X)

    def predict(self, X, **params):
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
        return self._labels(self.decision_function(X))

    @available_if(_has_probabilities)
    def predict_proba(self, X):
        """Return the probabilities that the logistic loss reads into the decision values.

        Only there with ``loss="log_loss"``, whose minimiser is the log-odds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, 2)
            Columns in the order of ``classes_``.
        """
        values = self.decision_function(X)
        return np.column_stack([expit(-values), expit(values)])

    def _labels(self, values):
        return self.classes_[(values > 0.0).astype(np.intp)]

    def _validated_rows(self, X, y, restart, classes=None):
        X, y = validated(
            self,
            X,
            plain_labels(y),
            reset=restart,
            dtype=np.float64,
            order="C",
            ensure_all_finite="allow-nan" if self._allow_nan else True,
        )
        check_classification_targets(y)
        if restart:
            self.classes_ = self._two_classes(y if classes is None else classes)
        elif classes is not None and not np.array_equal(np.unique(classes), self.classes_):
            raise ValueError(
                f"classes={classes!r} are not the classes of the first call, {self.classes_}. "
                "Leave them out, or call 'fit' to start afresh."
            )
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise ValueError(
                f"y holds labels {unknown} besides the classes {self.classes_} of this model. "
                "Only binary classification is supported: wrap the model in "
                "sklearn.multiclass.OneVsRestClassifier for more classes."
            )
        return _aligned(X), np.where(y == self.classes_[1], 1.0, -1.0)

    def _two_classes(self, labels):
        classes = np.unique(labels)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}. Wrap the model in "
                "sklearn.multiclass.OneVsRestClassifier for more classes."
            )
        if len(classes) < 2:
            raise ValueError(
                f"{type(self).__name__} needs two classes; only one class, {classes}, is in the "
                "labels. Name both in 'classes' in the first call of 'partial_fit'."
            )
        return classes
