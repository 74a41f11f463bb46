"""The shell of regressors: the public verbs."""

from __future__ import annotations

from sklearn.base import RegressorMixin

from .._documentation import explained_by
from .._types import Any, Array, ArrayLike, Self
from .._validation import refuse_arguments
from ._estimator import OnlineEstimator
from ._transformer import OnlineTransformer


class OnlineRegressor(RegressorMixin, OnlineEstimator):
    """Base of all regressors: rows are rounds, in order, and the cut into calls is invisible.

    A regressor of your own says in three private verbs how its state, a dict of arrays, scalars,
    random generators and estimators, which may nest, is made, taught and asked::

        _start(n_features, n_targets) -> state  its entry "t" counts the rounds
        _learn(state, X, y) -> forecasts        edits the state, row by row
        _forecast(state, X) -> forecasts        reads only

    Rows come as validated float64. From here it gets the public verbs, validation, safety against
    bad rows and interrupts, resuming, and ``n_samples_seen_``.

    See Also
    --------
    OnlineClassifier : The same for two classes.
    sklearn_okl.evaluation.check_online_estimator : The laws that it is to keep.

    Notes
    -----
    *Cost.* A call copies the state, so that a failure leaves the model as it was, and adds some
    tens of microseconds.

    *Late targets.* A regressor with an attribute `label_delay` forecasts late in
    `prequential_predict`; of any other ``prequential(delay=)`` makes the queue.

    A subclass may also set ``_parameter_constraints``, which are scikit-learn's and checked in
    every call; ``_structural``, the names of its parameters, beside its bases', that cannot change
    in mid-stream, for the state was built with them; ``_multi_output``, if targets may have
    columns; and ``_learns_banks``, if `_start` takes the list of kernels as `bank` and all arrays
    have a leading axis of experts, so that it can be the expert of
    :class:`~sklearn_okl.MultiKernelRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.base import OnlineRegressor
    >>> class RunningMeanRegressor(OnlineRegressor):
    ...     def _start(self, n_features, n_targets=None):
    ...         return {"t": 0, "sum": 0.0}
    ...
    ...     def _learn(self, state, X, y):
    ...         sums = np.cumsum([state["sum"], *y])
    ...         rounds = state["t"] + np.arange(len(y))
    ...         state.update(t=state["t"] + len(y), sum=float(sums[-1]))
    ...         return sums[:-1] / np.maximum(rounds, 1)
    ...
    ...     def _forecast(self, state, X):
    ...         return np.full(len(X), state["sum"] / max(state["t"], 1))
    >>> RunningMeanRegressor().prequential_predict(np.zeros((4, 1)), [2, 4, 6, 8])
    array([0., 2., 3., 4.])
    """

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = self._poor_score
        return tags

    @explained_by(OnlineTransformer.fit)
    def fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Targets.
        **params : dict
            No others are taken: any is refused, `sample_weight` too if it is none of the above.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        refuse_arguments(self, "fit", params)
        self._advance(X, y, restart=True)
        return self

    @explained_by(fit)
    def partial_fit(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Self:
        """Learn the next rounds; the first call starts the model.

        Any way of cutting a stream into calls gives the same model. A call that fails or is
        interrupted leaves the model as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : array-like of shape (n_samples,)
            Their targets.
        """
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False)
        return self

    @explained_by(partial_fit)
    def prequential_predict(self, X: ArrayLike, y: ArrayLike, **params: Any) -> Array:
        """Learn as `partial_fit` does, and return the forecasts made on the way.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            The forecast of each row made before its target was seen: what a loop of `predict`
            and `partial_fit` over single rows would give, much faster.

        See Also
        --------
        sklearn_okl.evaluation.prequential : With ``delay=``, each target so many rows late, also
            for estimators that have no `label_delay`.
        """
        refuse_arguments(self, "prequential_predict", params)
        return self._advance(X, y, restart=False)

    def predict(self, X: ArrayLike, **params: Any) -> Array:
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            No others are taken: any is refused.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Forecasts.
        """
        refuse_arguments(self, "predict", params)
        model = self._as_of_now()
        return model._answered(*model._asked(X))
