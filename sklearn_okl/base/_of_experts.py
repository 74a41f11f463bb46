"""What estimators that mix experts show of these."""

from __future__ import annotations

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._types import Array, ArrayLike
from ._regressor import OnlineRegressor


class OfExperts:
    """Estimators that mix experts: how good each has been, and what each would forecast.

    A subclass keeps "expert_losses" in its state and says in ``_forecast_experts(state, X)`` what
    the experts forecast for rows.

    Attributes
    ----------
    expert_losses_ : ndarray of shape (n_kernels,) or (n_classes, n_kernels)
        Sum of losses of each expert's own progressive forecasts; of regressors, squared errors. A
        row for each of more than two classes.
    """

    @property
    def expert_losses_(self) -> Array:
        """Sum of losses of each expert's own progressive forecasts."""
        return self._fitted_state("expert_losses_")["expert_losses"].copy()

    @explained_by(OnlineRegressor.predict)
    def predict_experts(self, X: ArrayLike) -> Array:
        """Forecast each row by each expert; changes nothing.

        Returns
        -------
        F : ndarray of shape (n_samples, n_experts) or (n_samples, n_classes, n_experts)
            The experts' own forecasts, not clipped, NaN for those asleep; of classifiers their
            decision values, with an axis for the classes where they are more than two.
        """
        model = self._as_of_now()
        state, X = model._asked(X)
        with one_blas_thread:
            return model._forecast_experts(state, X)
