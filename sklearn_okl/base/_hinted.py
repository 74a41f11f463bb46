"""The shell of regressors that take a hint for each target: the public verbs."""

from __future__ import annotations

import numpy as np

from .._documentation import explained_by, inherit_documentation
from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike, Self
from .._validation import refuse_arguments
from ._answers import asked_quietly, told
from ._regressor import OnlineRegressor


@inherit_documentation
class HintedRegressor(OnlineRegressor):
    """The shell of regressors whose `_learn` and `_forecast` take hints, or None.

    A subclass has a parameter `hint`, of what a hint is where none is given, and keeps it in its
    state, as "latest": a number, or one for each target.
    """

    def fit(self, X: ArrayLike, y: ArrayLike, hint: ArrayLike | None = None, **params: Any) -> Self:
        """Forget all that was learnt, then learn every row once, in order.

        Parameters
        ----------
        hint : array-like of the shape of y, default=None
            What each target is expected to be, by what is known before it, in units of y. A hint
            changes the forecast of its round, not what is learnt. None: what the parameter says.
        """
        refuse_arguments(self, "fit", params)
        self._advance(X, y, restart=True, hint=hint)
        return self

    @explained_by(fit)
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, hint: ArrayLike | None = None, **params: Any
    ) -> Self:
        """Learn the next rounds, each with its hint; the first call starts the model."""
        refuse_arguments(self, "partial_fit", params)
        self._advance(X, y, restart=False, hint=hint)
        return self

    @explained_by(fit)
    def prequential_predict(
        self, X: ArrayLike, y: ArrayLike, hint: ArrayLike | None = None, **params: Any
    ) -> Array:
        """Learn as `partial_fit` does, and return the forecasts, which were made by the hints."""
        refuse_arguments(self, "prequential_predict", params)
        return self._advance(X, y, restart=False, hint=hint)

    def predict(self, X: ArrayLike, hint: ArrayLike | None = None, **params: Any) -> Array:
        """Forecast each row as if it were the next one, with its hint; changes nothing.

        Parameters
        ----------
        hint : array-like of shape (n_samples,) or (n_samples, n_targets), default=None
            What each target is expected to be. None: what the parameter says.
        """
        refuse_arguments(self, "predict", params)
        model = self._as_of_now()
        state, X = model._asked(X)
        with one_blas_thread, asked_quietly():
            return told(model._forecast(state, X, hint))

    def _hints(self, state, y, hint):
        """Return the hints for rounds with targets y, and remember the last target."""
        if hint is not None:
            hints = _checked(hint, y.shape)
        elif self.hint == "last":
            hints = np.concatenate([np.reshape(state["latest"], (1, *y.shape[1:])), y[:-1]])
        else:
            hints = np.zeros(y.shape)
        if self.hint == "last":
            state["latest"] = np.array(y[-1])
        return hints

    def _hints_for(self, state, n, hint):
        """Return the hints for n rows that are asked for."""
        shape = (n, *state["latest"].shape)
        return np.broadcast_to(state["latest"], shape) if hint is None else _checked(hint, shape)


def _checked(hint, shape):
    """Return hints as float64 of a shape, or say what is wrong with them."""
    try:
        hints = np.asarray(hint, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"hint must be numbers, one for each target: {error}.") from error
    if hints.shape != shape:
        raise ValueError(
            f"hint has shape {hints.shape}, but the targets have {shape}: give one hint for each "
            "target, or None."
        )
    if not np.isfinite(hints).all():
        raise ValueError(
            "hint holds NaN or infinity: give a number for each target, such as the last target "
            "where there is no forecast."
        )
    return hints
