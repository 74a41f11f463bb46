"""The public verbs of an estimator that hands its rows to another one."""

from __future__ import annotations

from sklearn.utils.metaestimators import available_if

from ._documentation import explained_by
from ._prediction_frames import check_as_frame, interval_frame
from ._types import Any, Array, ArrayLike, Self
from .base import OnlineClassifier, OnlineMulticlassClassifier, OnlineRegressor
from .base._distributions import DECILES, DistributionVerbs, followed_coverage


def inner_has(method):
    """Return a check for `available_if`: whether the inner estimator has a method."""

    def check(outer):
        getattr(outer._inner, method)  # raises the AttributeError that tells most
        return True

    return check


class DelegatingVerbs:
    """Learning and forecasting by an inner estimator; it has the verbs that this one has.

    A subclass says::

        _inner                                     the inner estimator as it was given
        _advance(X, y, method, params, restart)    learn rows; return what the method returns
        _asked(X) -> estimator, rows               the fitted one, and rows as they reach it
        _routed(method, params) -> params          the metadata that its method gets
    """

    @explained_by(OnlineRegressor.fit)
    def fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        **params : dict
            Handed to the inner estimator, such as ``classes`` or ``sample_weight``.
        """
        self._advance(X, y, "fit", params, restart=True)
        return self

    @explained_by(fit, OnlineRegressor.partial_fit)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        self._advance(X, y, "partial_fit", params, restart=False)
        return self

    @available_if(inner_has("prequential_predict"))
    @explained_by(partial_fit, OnlineRegressor.prequential_predict)
    def prequential_predict(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Array:
        return self._advance(X, y, "prequential_predict", params, restart=False)

    @available_if(inner_has("prequential_predict_proba"))
    @explained_by(partial_fit, OnlineClassifier.prequential_predict_proba)
    def prequential_predict_proba(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Array:
        """Learn as `partial_fit` does, and return the probabilities forecast on the way.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Their labels.
        """
        return self._advance(X, y, "prequential_predict_proba", params, restart=False)

    @available_if(inner_has("predict"))
    @explained_by(OnlineRegressor.predict)
    def predict(self, X: ArrayLike, **params: Any) -> Array:
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        **params : dict
            Handed to the inner estimator's method of this name, such as ``ahead``.
        """
        return self._ask("predict", X, params)

    @available_if(inner_has("decision_function"))
    @explained_by(predict)
    def decision_function(self, X: ArrayLike, **params: Any) -> Array:
        """Return the decision values of the inner estimator; changes nothing.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Decision values.
        """
        return self._ask("decision_function", X, params)

    @available_if(inner_has("predict_proba"))
    @explained_by(predict, OnlineMulticlassClassifier.predict_proba)
    def predict_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Return the probabilities of the inner estimator; changes nothing."""
        return self._ask("predict_proba", X, params)

    @available_if(inner_has("predict_log_proba"))
    @explained_by(predict_proba, OnlineClassifier.predict_log_proba)
    def predict_log_proba(self, X: ArrayLike, **params: Any) -> Array:
        """Return the logarithms of the probabilities of the inner estimator; changes nothing."""
        return self._ask("predict_log_proba", X, params)

    @available_if(inner_has("predict_interval"))
    @explained_by(predict, interval_frame)
    def predict_interval(
        self,
        X: ArrayLike,
        coverage: float | ArrayLike | None = None,
        *,
        as_frame: str | None = None,
        **params: Any,
    ) -> Any:
        """Return the intervals of the inner estimator; changes nothing.

        Parameters
        ----------
        coverage : float or array-like of shape (n_levels,), default=None
            Share of targets to be held, or several of them. None leaves it to the inner estimator:
            0.9, or what it follows, as :class:`OnlineConformalRegressor` does.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_levels, 2), or DataFrame
            Low and high ends.
        """
        check_as_frame(as_frame)
        estimator, rows = self._asked(X)
        given = () if coverage is None else (coverage,)
        intervals = estimator.predict_interval(rows, *given, **params)
        levels = followed_coverage(estimator, 0.9) if coverage is None else coverage
        names = vars(self).get("_target_names")
        return interval_frame(intervals, levels, as_frame, index=X, names=names)

    @available_if(inner_has("predict_quantiles"))
    @explained_by(DistributionVerbs.predict_quantiles, predict)
    def predict_quantiles(
        self, X: ArrayLike, alpha: float | ArrayLike = DECILES, **params: Any
    ) -> Array:
        """Return the quantiles of the inner estimator; changes nothing."""
        estimator, rows = self._asked(X)
        return estimator.predict_quantiles(rows, alpha, **params)

    @available_if(inner_has("predict_distribution"))
    @explained_by(predict, DistributionVerbs.predict_distribution)
    def predict_distribution(self, X: ArrayLike, **params: Any) -> Any:
        """Return the distributions of the inner estimator; changes nothing."""
        estimator, rows = self._asked(X)
        return estimator.predict_distribution(rows, **params)

    @available_if(inner_has("predict_experts"))
    @explained_by(predict)
    def predict_experts(self, X: ArrayLike) -> Array:
        """Forecast each row by each expert of the inner estimator; changes nothing.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts)
            The experts' forecasts.
        """
        estimator, rows = self._asked(X)
        return estimator.predict_experts(rows)

    @available_if(inner_has("score"))
    @explained_by(fit)
    def score(self, X: ArrayLike, y: ArrayLike, **params: Any) -> float:
        """Return the score of the inner estimator on rows; changes nothing.

        Returns
        -------
        score : float
            R² of a regressor, accuracy of a classifier.
        """
        params = self._routed("score", params)
        estimator, rows = self._asked(X)
        return estimator.score(rows, y, **params)

    def _ask(self, method, X, params):
        """Return what a method of the fitted inner estimator says of rows."""
        params = self._routed(method, params)
        estimator, rows = self._asked(X)
        return getattr(estimator, method)(rows, **params)
