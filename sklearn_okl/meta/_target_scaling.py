"""Targets scaled by what was known of them before each row, around any regressor."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods

from .._delay import delay_of
from .._documentation import inherit_documentation
from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike
from ..base import OnlineRegressor, _copied, described
from ..features._moments import moderate
from ..features._scalers import RunningScaler, RunningStandardScaler, known_earlier
from ..learners import VAWRegressor


@inherit_documentation
class StreamingTransformedTargetRegressor(OnlineRegressor):
    """Scale the targets on the fly, learn them scaled, forecast in their own units.

    Parameters
    ----------
    regressor : estimator object, default=None
        An online regressor with `prequential_predict`, such as any of this package or a
        :class:`StreamingPipeline`. None is :class:`VAWRegressor`. It is cloned, never changed.
    transformer : running scaler, default=None
        A scaler of this package. None is :class:`RunningStandardScaler`.

    Attributes
    ----------
    label_delay : int
        How many rounds late the targets come: the regressor's parameter of this name, or 0.
    regressor_ : estimator object
        Copy of the fitted regressor, which knows scaled targets.

    See Also
    --------
    StreamingPipeline : Scales inputs on the fly.
    sklearn.compose.TransformedTargetRegressor : For data that are there at once.

    Notes
    -----
    *Cost.* That of the regressor, and O(1) per round.

    Round t unscales its forecast by what the targets before it have shown; the target, once it is
    known, counts for the scale at which it is learnt, so that no target is far out of range. The
    very first forecast is the regressor's own, not unscaled, for nothing is known of the unit.
    What was learnt under early scales stays as it was learnt. A faulty target, far from all before
    it, is learnt nearer by :class:`RunningStandardScaler` and :class:`RunningRobustScaler`, see
    there, and by the regressor as the scaler learns it; the other scalers take it for what it is.

    *Late targets.* With a regressor whose ``label_delay`` is D, round t unscales its forecast by
    what the targets up to t - 1 - D have shown, and the first D + 1 forecasts are the regressor's
    own. For this the latest D centres and scales are kept.

    References
    ----------
    .. [1] S. Ross, P. Mineiro, J. Langford, "Normalized online learning", Conference on
       Uncertainty in Artificial Intelligence, 2013, on why scales are to be learnt on the fly.

    Examples
    --------
    >>> from sklearn_okl import StreamingTransformedTargetRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = StreamingTransformedTargetRegressor().fit(X, 1e6 + 1e3 * y)
    >>> bool(abs(model.predict(X).mean() - 1e6) < 1e3)
    True
    """

    _parameter_constraints = {
        "regressor": [HasMethods(["partial_fit", "prequential_predict", "predict"]), None],
        "transformer": [HasMethods(["prequential_transform", "inverse_transform"]), None],
    }
    _structural = ("regressor", "transformer")

    def __init__(self, regressor: Any = None, transformer: Any = None) -> None:
        self.regressor = regressor
        self.transformer = transformer

    @property
    def label_delay(self) -> int:
        """How many rounds late the targets of the regressor come."""
        return getattr(self.regressor, "label_delay", 0)

    def predict(self, X: ArrayLike, **params: Any) -> Array:
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.
        **params : dict
            Handed to `predict` of the regressor, which must return forecasts and nothing else.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Forecasts.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast(state, X, **params)

    @property
    def regressor_(self) -> Any:
        """Copy of the fitted regressor."""
        return _copied(self._fitted_state("regressor_")["regressor"])

    def _validate(self):
        super()._validate()
        if not isinstance(self._scaler(), RunningScaler):
            raise TypeError(
                f"transformer={self.transformer!r} is no running scaler of this package, whose "
                "statistics of the past are needed here: give RunningStandardScaler(), say."
            )

    def _structure(self):
        return {name: described(getattr(self, name)) for name in self._structural}

    def _scaler(self):
        return RunningStandardScaler() if self.transformer is None else self.transformer

    def _start(self, n_features, n_targets=None):
        regressor = VAWRegressor() if self.regressor is None else clone(self.regressor)
        return {"t": 0, "regressor": regressor, "scaler": {}}

    def _learn(self, state, X, y):
        scaler, column, delay = self._scaler(), moderate(y)[:, None], delay_of(self.regressor)
        if not state["scaler"]:
            state["scaler"] = scaler._start(column[0])
        centers, scales, nearer = (
            np.broadcast_to(part, column.shape) for part in scaler._learn(state["scaler"], column)
        )
        center, scale = scaler._known(state["scaler"])
        learnt = scaler._scaled(
            nearer, np.vstack([centers[1:], center]), np.vstack([scales[1:], scale])
        )
        forecasts = state["regressor"].prequential_predict(X, learnt[:, 0])
        if delay:
            centers, scales = known_earlier(state["scaler"], centers, scales, delay)
        unscaled = scaler._unscaled(forecasts[:, None], centers, scales)[:, 0]
        n_cold = max(delay + 1 - state["t"], 0)  # rows before which no target was known
        unscaled[:n_cold] = forecasts[:n_cold]
        state["t"] += len(y)
        return unscaled

    def _forecast(self, state, X, **params):
        forecasts = state["regressor"].predict(X, **params)
        center, scale = self._scaler()._known(state["scaler"])
        return self._scaler()._unscaled(forecasts[:, None], center, scale)[:, 0]
