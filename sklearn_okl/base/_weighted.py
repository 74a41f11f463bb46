"""The shells of learners whose rows may have weights: the public verbs."""

from __future__ import annotations

import numpy as np

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike, Self
from .._validation import refuse_arguments
from ._multiclass import OnlineMulticlassClassifier
from ._regressor import OnlineRegressor


@inherit_documentation
class WeightedRegressor(OnlineRegressor):
    """The shell of regressors whose `_learn` takes weights of rows, `sample_weight`, or None."""

    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
        sample_weight : array-like of shape (n_samples,), default=None
            Weights >= 0 of the rows in the update.
        """
        refuse_arguments(self, "fit", params)
        _refuse_zeros(sample_weight)
        self._advance(X, y, restart=True, sample_weight=sample_weight)
        return self

    @explained_by(fit, OnlineRegressor.partial_fit)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False, sample_weight=sample_weight)
        return self

    @explained_by(fit, OnlineRegressor.prequential_predict)
    def prequential_predict(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the forecasts made on the way.

        Returns
        -------
        y_pred : ndarray of the shape of y
        """
        refuse_arguments(self, "prequential_predict", params)
        return self._advance(X, y, restart=False, sample_weight=sample_weight)


@inherit_documentation
class WeightedMulticlassClassifier(OnlineMulticlassClassifier):
    """The shell of classifiers of any number of classes whose `_learn` takes `sample_weight`."""

    @explained_by(OnlineMulticlassClassifier.fit, WeightedRegressor.fit)
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **params: Any
    ) -> Self:
        refuse_arguments(self, "fit", params)
        _refuse_zeros(sample_weight)
        self._advance(X, y, restart=True, sample_weight=sample_weight)
        return self

    @explained_by(OnlineMulticlassClassifier.partial_fit, WeightedRegressor.partial_fit)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Self:
        refuse_arguments(self, "partial_fit", params)
        self._teach(X, y, classes, sample_weight)
        return self

    @explained_by(
        OnlineMulticlassClassifier.prequential_predict, WeightedRegressor.prequential_predict
    )
    def prequential_predict(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Array:
        refuse_arguments(self, "prequential_predict", params)
        return self._labels(self._teach(X, y, classes, sample_weight))

    @explained_by(OnlineMulticlassClassifier.prequential_predict_proba, WeightedRegressor.fit)
    def prequential_predict_proba(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **params: Any,
    ) -> Array:
        refuse_arguments(self, "prequential_predict_proba", params)
        return self._shown(self._teach(X, y, classes, sample_weight))

    def _teach(self, X, y, classes, sample_weight):
        known = {"classes": classes}
        return self._advance(X, y, restart=False, validation=known, sample_weight=sample_weight)


def _refuse_zeros(sample_weight):
    if sample_weight is not None and not np.any(np.asarray(sample_weight)):
        raise ValueError(
            "All values in sample_weight are zero: nothing would be learnt. Give at least one "
            "positive weight, or use partial_fit."
        )
