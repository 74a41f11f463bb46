"""Targets transformed by what was known of them before each row, around any regressor."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import HasMethods

from .._delay import delay_of, kept_late
from .._documentation import inherit_documentation
from .._linalg import one_blas_thread
from .._types import Any, Array, ArrayLike
from ..base import OnlineRegressor, _copied
from ..features import RunningStandardScaler
from ..features._as_came import HandsOn
from ..learners import VAWRegressor
from ._target_transforms import WINDOW, Smearing, of_targets


@inherit_documentation
class StreamingTransformedTargetRegressor(HandsOn, OnlineRegressor):
    """Transform the targets on the fly, learn them transformed, forecast in their own units.

    Parameters
    ----------
    regressor : estimator object, default=None
        An online regressor with `prequential_predict`, such as any of this package or a
        :class:`StreamingPipeline`. None is :class:`VAWRegressor`. It is cloned, never changed.
    transformer : transformer, default=None
        A running scaler of this package, :class:`RunningPowerTransformer`, or any transformer with
        `inverse_transform` that learns nothing, such as ``FunctionTransformer(np.log, np.exp)``, or
        nothing more. None is :class:`RunningStandardScaler`.
    smearing : bool, default=True
        Whether forecasts that are no line of the transformed ones are those of the mean, by the
        latest errors. False: of the median, where errors are symmetric once transformed.

    Attributes
    ----------
    label_delay : int
        How many rounds late the targets come: the regressor's parameter of this name, or 0.
    regressor_ : estimator object
        Copy of the fitted regressor, which knows transformed targets.

    See Also
    --------
    StreamingPipeline : Transforms inputs on the fly.
    OnlineKernelRegressor : Has a `target_range`, for targets that may be 0.
    sklearn.compose.TransformedTargetRegressor : For data that are there at once, without smearing.

    Notes
    -----
    *Cost.* That of the regressor, and of a round of the transformer; where forecasts are smeared,
    256 numbers that are transformed back.

    Round t undoes its forecast by what the targets before it have shown; the target, once it is
    known, counts for the transform in which it is learnt, so that no target is far out of range.
    With a running transformer the very first forecast is the regressor's own, for nothing is known
    of the unit. What was learnt under early scales stays as it was learnt. A faulty target, far
    from all before it, is learnt nearer by :class:`RunningStandardScaler` and
    :class:`RunningRobustScaler`, see there, and by the regressor as the scaler learns it; other
    transformers take it for what it is.

    *Smearing.* Exponentials of forecasts of a logarithm are medians, less than the mean. Duan's
    estimate of the mean [2]_ is the mean over past errors e of what f + e leads to, for f the
    transformed forecast; for logarithms that is :math:`e^f` times the mean of :math:`e^e`. Here it
    is over the latest 256 progressive errors without the first 32, which are a beginner's, once
    there are 32; one that is faulty, as :class:`RunningStandardScaler` has it, counts as 5 standard
    deviations. Forecasts by a scaler are lines of the transformed ones and need none.

    *Both.* A logarithm does not centre: around a regressor that wants centred targets put one of
    these in another, as below.

    *Late targets.* With a regressor whose ``label_delay`` is D, round t undoes its forecast by what
    the targets up to t - 1 - D have shown, errors included, and the first D + 1 forecasts of a
    running transformer are the regressor's own. For this the latest D of what is known are kept.

    References
    ----------
    .. [1] S. Ross, P. Mineiro, J. Langford, "Normalized online learning", Conference on
       Uncertainty in Artificial Intelligence, 2013, on why scales are to be learnt on the fly.
    .. [2] N. Duan, "Smearing estimate: a nonparametric retransformation method", Journal of the
       American Statistical Association 78(383), 1983.

    Examples
    --------
    >>> from sklearn_okl import StreamingTransformedTargetRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = StreamingTransformedTargetRegressor().fit(X, 1e6 + 1e3 * y)
    >>> bool(abs(model.predict(X).mean() - 1e6) < 1e3)
    True

    Amounts by their logarithms, which are scaled in turn:

    >>> import numpy as np
    >>> from sklearn.preprocessing import FunctionTransformer
    >>> logarithm = FunctionTransformer(np.log, np.exp)
    >>> model = StreamingTransformedTargetRegressor(model, logarithm).fit(X, np.exp(9 + 2 * y))
    >>> bool((model.predict(X) > 0).all())
    True
    """

    _parameter_constraints = {
        "regressor": [HasMethods(["partial_fit", "prequential_predict", "predict"]), None],
        "transformer": [HasMethods(["transform", "inverse_transform"]), None],
        "smearing": ["boolean"],
    }
    _structural = ("regressor", "transformer")

    def __init__(
        self, regressor: Any = None, transformer: Any = None, *, smearing: bool = True
    ) -> None:
        self.regressor = regressor
        self.transformer = transformer
        self.smearing = smearing

    def _handed_to(self):
        return [self._unfitted()]

    def _unfitted(self):
        return VAWRegressor() if self.regressor is None else self.regressor

    @property
    def label_delay(self) -> int:
        """How many rounds late the targets of the regressor come."""
        return getattr(self.regressor, "label_delay", 0)

    def predict(self, X: ArrayLike, **params: Any) -> Array:
        """Forecast each row as if it were the next one; changes nothing.

        Parameters
        ----------
        **params : dict
            Handed to `predict` of the regressor, which must return forecasts and nothing else.
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
        self._transforms()

    def _transforms(self):
        given = self.transformer
        return of_targets(RunningStandardScaler() if given is None else given)

    def _start(self, n_features, n_targets=None):
        regressor = clone(self._unfitted())
        return {"t": 0, "regressor": regressor, "transformer": {}, "smearing": Smearing().start()}

    def _learn(self, state, X, y):
        transforms, delay = self._transforms(), delay_of(self.regressor)
        state["frame"] = self._frame
        if not state["transformer"]:
            state["transformer"] = transforms.start(y)
        known, learnt = transforms.learn(state["transformer"], y)
        forecasts = state["regressor"].prequential_predict(self._handed(state, X), learnt)
        if delay:
            known = kept_late(state, known, delay)
        n_cold = max(transforms.n_cold * (delay + 1) - state["t"], 0)
        state["t"] += len(y)
        asked = state["transformer"], forecasts, known
        if transforms.is_line:
            answers = transforms.undone(*asked)
        else:
            errors = Smearing().learn(state["smearing"], learnt - forecasts, delay)
            answers = self._undone(transforms, *asked, errors)
        answers[:n_cold] = forecasts[:n_cold]
        return answers

    def _forecast(self, state, X, **params):
        transforms, n = self._transforms(), len(X)
        forecasts = state["regressor"].predict(self._handed(state, X), **params)
        asked = state["transformer"], forecasts, transforms.now(state["transformer"])
        if transforms.is_line:
            return transforms.undone(*asked)
        errors = np.broadcast_to(Smearing().now(state["smearing"]), (n, WINDOW))
        return self._undone(transforms, *asked, errors)

    def _undone(self, transforms, state, forecasts, known, errors):
        if not self.smearing:
            return transforms.undone(state, forecasts, known)
        return Smearing().smeared(transforms, state, forecasts, known, errors)
