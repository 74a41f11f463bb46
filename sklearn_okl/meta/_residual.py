"""A correction that learns what the progressive forecasts of a base leave."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import clone, is_regressor
from sklearn.utils._param_validation import HasMethods, Interval

from .._delay import delay_of
from .._documentation import inherit_documentation
from .._types import Any
from ..base import OnlineRegressor, _copied
from ..features._as_came import HandsOn, beside, given_back
from ..learners import VAWRegressor
from ._refit import RefitRegressor

_VERBS = ["partial_fit", "prequential_predict", "predict"]


@inherit_documentation
class ResidualRegressor(HandsOn, OnlineRegressor):
    r"""Two regressors in a row: the second learns what the first one's forecasts leave.

    The base forecasts each target before it is seen, :math:`b_t`; the correction learns the errors
    :math:`y_t - b_t` of these progressive forecasts, never those of a fit that has seen the target,
    from the rows :math:`(x_t, b_t)`, and forecasts :math:`c_t`; the forecast is :math:`b_t + c_t`.

    Parameters
    ----------
    base : online regressor, default=None
        It has `partial_fit`, `prequential_predict` and `predict`, as all regressors of this
        package. None is :class:`VAWRegressor` with an intercept.
    correction : online regressor, default=None
        The same. None is :class:`RefitRegressor`, boosted trees fitted now and then.
    warmup : int, default=30
        Number of first rounds whose errors the correction does not learn, and in which the base
        forecasts alone: before it knows the level of the targets its errors say nothing of the
        later ones, and are larger than these. Late labels are added to it.
    passthrough : bool, default=True
        Whether the correction sees the base's forecast as a last column; without it the rows alone.

    Attributes
    ----------
    base_ : regressor
    correction_ : regressor

    See Also
    --------
    RefitRegressor : Any batch model on a stream.
    ExpertsRegressor : A mixture, where the best of several is to be found.

    Notes
    -----
    *Cost.* That of both.

    *Theorem.* The regret of the correction against any predictor of the base's errors is the
    regret of the sum against the base plus that predictor; against zero it is what the correction
    can lose.

    *Frames* with categories or text are handed on to both as they came, gaps too; the base's
    forecast is the column ``"base0"`` of the correction's, or the next name that is free.

    *Several targets.* Where both learn several, so does this one, and the correction sees the
    forecasts of all.

    *Late labels.* Where the base has a ``label_delay``, the correction is to have the same.

    References
    ----------
    .. [1] Friedman 2001: one step of it, on a stream.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import RakerRegressor, ResidualRegressor, VAWRegressor
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(300)
    >>> model = ResidualRegressor(VAWRegressor(), RakerRegressor(random_state=0)).fit(X, y)
    >>> base = model.base_.predict(X)
    >>> correction = model.correction_.predict(np.column_stack([X, base]))
    >>> bool((model.predict(X) == base + correction).all())
    True
    """

    _multi_output = True
    _parameter_constraints = {
        "base": [HasMethods(_VERBS), None],
        "correction": [HasMethods(_VERBS), None],
        "warmup": [Interval(Integral, 0, None, closed="left")],
        "passthrough": ["boolean"],
    }
    _structural = ("base", "correction", "warmup", "passthrough")

    def __init__(
        self,
        base: Any = None,
        correction: Any = None,
        *,
        warmup: int = 30,
        passthrough: bool = True,
    ) -> None:
        self.base = base
        self.correction = correction
        self.warmup = warmup
        self.passthrough = passthrough

    def _handed_to(self):
        return [self._base(), self._correction()]

    def _base(self):
        return VAWRegressor(fit_intercept=True) if self.base is None else self.base

    def _correction(self):
        return RefitRegressor() if self.correction is None else self.correction

    @property
    def label_delay(self) -> Any:
        """How many rounds late the labels of the base come."""
        return getattr(self.base, "label_delay", 0)

    @property
    def base_(self) -> Any:
        """Copy of the fitted base."""
        return _copied(self._fitted_state("base_")["base"])

    @property
    def correction_(self) -> Any:
        """Copy of the fitted correction."""
        return _copied(self._fitted_state("correction_")["correction"])

    def _validate(self):
        super()._validate()
        for name in ("base", "correction"):
            part = getattr(self, name)
            if part is not None and (isinstance(part, type) or not is_regressor(part)):
                raise TypeError(
                    f"{name}={part!r} is not an instance of a regressor. Give one that learns by "
                    "'partial_fit', such as VAWRegressor()."
                )
        delays = delay_of(self.base), delay_of(self.correction)
        if delays[0] != delays[1]:
            raise ValueError(
                f"The base has label_delay={delays[0]} and the correction {delays[1]}: an error of "
                "the base is known when its label is. Give both the same."
            )

    def _start(self, n_features, n_targets=None):
        return {"t": 0, "base": clone(self._base()), "correction": clone(self._correction())}

    def _learn(self, state, X, y):
        state["frame"], base = self._frame, state["base"]
        forecasts = np.array(base.prequential_predict(self._handed(state, X), y), dtype=np.float64)
        forecasts = forecasts.reshape(y.shape)
        n_alone = max(self.warmup + self.label_delay - state["t"], 0)
        if n_alone < len(y):
            base = forecasts[n_alone:]
            rows = self._rows(state, X[n_alone:], base)
            errors = state["correction"].prequential_predict(rows, y[n_alone:] - base)
            if state["t"] + n_alone == self.warmup + self.label_delay:
                errors[0] = 0.0  # whatever a regressor forecasts that has learnt nothing
            forecasts[n_alone:] += errors.reshape(base.shape)
        state["t"] += len(y)
        return forecasts

    def _forecast(self, state, X):
        forecasts = np.array(state["base"].predict(self._handed(state, X)), dtype=np.float64)
        if state["t"] > self.warmup + self.label_delay:
            errors = state["correction"].predict(self._rows(state, X, forecasts))
            forecasts += errors.reshape(forecasts.shape)
        return forecasts

    def _rows(self, state, X, forecasts):
        """Return rows as the correction gets them."""
        if not self.passthrough:
            return self._handed(state, X)
        both = np.column_stack([X, forecasts])
        return given_back(both, beside(state.get("frame"), "base", both.shape[1] - X.shape[1]))
