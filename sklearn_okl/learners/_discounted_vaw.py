"""The discounted Vovk-Azoury-Warmuth forecaster, with hints for the targets that are due."""

from __future__ import annotations

import numpy as np
from sklearn.utils._param_validation import StrOptions

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from .._validation import refuse_arguments
from ..base._hinted import HintedRegressor
from ..base._intercept import WithIntercept
from ..base._sums import refuse_weights
from ._ridge import RidgeRecursion
from ._vaw import VAWRegressor


@inherit_documentation
@explained_by(VAWRegressor)
class DiscountedVAWRegressor(HintedRegressor, RidgeRecursion):
    r"""Discounted VAW: online least squares that forgets, and expects a hint for each target.

    With :math:`S_t = \gamma S_{t-1} + z_t z_t^T`, :math:`S_0 = \alpha I`, :math:`b_t = \gamma
    b_{t-1} + y_t z_t` and a hint :math:`h_t`, known before the target, it forecasts [1]_

    .. math:: \hat y_t = (\gamma b_{t-1} + h_t z_t)^T S_t^{-1} z_t
              = \frac{p_t + l_t h_t}{1 + l_t}, \qquad
              l_t = z_t^T (\gamma S_{t-1})^{-1} z_t ,

    a mean of the hint and of the forecast :math:`p_t` of discounted ridge regression: the stranger
    the row, the more the hint weighs.

    Parameters
    ----------
    forgetting : float, default=0.99
        The discount :math:`\gamma` in (0, 1]; the memory is about ``1 / (1 - forgetting)`` rounds.
        1 forgets nothing. Which is best depends on how the comparators move:
        :class:`DiscountedVAWAARegressor` learns it.
    hint : {"zero", "last"}, default="zero"
        Hint for rounds that are given none: 0, which makes it :class:`VAWRegressor` with the same
        `forgetting`, or the last target learnt, 0 before the first: good where targets are not
        centred, or drift slowly.

    See Also
    --------
    DiscountedVAWAARegressor : A grid of discounts, mixed.
    VAWRegressor : Without hints; forgets nothing by default.

    Notes
    -----
    *Cost.* :math:`O(D^2)` per round for D features, in blocks of 32 as :class:`VAWRegressor`.

    *Theorem.* Let :math:`F_t(u) = \lambda_t \|u\|^2 + \sum_{s \le t} \gamma^{t-s} (u^T z_s -
    y_s)^2`, with :math:`\lambda_t` what is left of the ridge. Against every path
    :math:`u_1, \ldots, u_T` (Theorem 3.1 of [1]_, derived anew, here without its factors 1/2)

    .. math:: \sum_t (\hat y_t - y_t)^2 - (u_t^T z_t - y_t)^2 \le \gamma \alpha \|u_1\|^2
              + \sum_t (y_t - h_t)^2 \ln(1 + l_t)
              + \gamma \sum_{t<T} \bigl( F_t(u_{t+1}) - F_t(u_t) \bigr) + P ,

    where :math:`\sum_t \ln(1 + l_t) \le D \ln(1 + \sum_t \gamma^{T-t} \|z_t\|^2 / (\alpha D)) +
    D T \ln(1 / \gamma)`, and P is for the ridge that is put back, see there:
    :func:`sklearn_okl.evaluation.discounted_vaw_path_bound`.

    *Departure.* In [1]_ the ridge fades for good, and columns that stay 0 end it in a division by
    0. Here what is lost is put back every 64 rounds, as in :class:`VAWRegressor`; that adds
    :math:`P = (1 - \gamma^{64}) \alpha \sum_{64 | t} \|u_t\|^2` to the theorem, and nothing else.

    *Several targets* have hints of their own: a hint is given in the shape of y.

    References
    ----------
    .. [1] Jacobsen & Cutkosky 2024, Algorithm 1 and Theorem 3.1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import DiscountedVAWRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> y = X @ [1.0, -2.0, 0.5] * np.where(np.arange(600) < 300, 1.0, -1.0)  # all turns round
    >>> model = DiscountedVAWRegressor(forgetting=0.95).fit(X, y)
    >>> model.coef_.round(1)
    array([-1. ,  2. , -0.5])

    A forecast from elsewhere as the hint:

    >>> hints = y + rng.normal(size=600)
    >>> model = DiscountedVAWRegressor()
    >>> forecasts = model.prequential_predict(X[:5], y[:5], hint=hints[:5])
    >>> bool(model.predict(X[5:6], hint=hints[5:6])[0] == model.predict(X[5:6])[0])
    False
    """

    forecaster = "vaw"
    _learns_banks = False  # a hint is for one learner
    _tells_shrinkage = True
    _test_parameters = ({}, {"hint": "last", "forgetting": 0.95}, {"forgetting": 1.0})

    _parameter_constraints = {
        **{
            name: kinds
            for name, kinds in RidgeRecursion._parameter_constraints.items()
            if name != "forecaster"
        },
        **WithIntercept._parameter_constraints,
        "hint": [StrOptions({"zero", "last"})],
    }
    _structural = ("alpha",)

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        forgetting: float = 0.99,
        hint: str = "zero",
        fit_intercept: bool = False,
    ) -> None:
        self.alpha = alpha
        self.forgetting = forgetting
        self.hint = hint
        self.fit_intercept = fit_intercept

    @explained_by(RidgeRecursion.predict, HintedRegressor.predict)
    def predict(
        self,
        X: ArrayLike,
        return_std: bool = False,
        hint: ArrayLike | None = None,
        **params: Any,
    ) -> Any:
        """Forecast each row as if it were the next one, by ridge and hint; changes nothing."""
        refuse_arguments(self, "predict", params)
        state, X = self._asked(X)
        hints = self._hints_for(state, len(X), hint)
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts, leverages = self._forecast_with_leverages(state, self._design(X), hints)
        return self._told_with_std(state, forecasts, leverages, return_std)

    def _start(self, n_features, n_targets=None):
        targets = () if n_targets is None else (n_targets,)
        # the hint for a round that is given none
        return super()._start(n_features, n_targets) | {"latest": np.zeros(targets)}

    def _order_matters(self, has_age=False):
        if self.hint == "last":
            return "its hint is the last target. Models without an order have hint='zero'."
        return super()._order_matters(has_age)

    def _without(self, state, X, y, sample_weight):
        refuse_weights(self, sample_weight)
        super()._without(state, X, y, sample_weight)

    def _without_aged(self, state, X, y, sample_weight, age):
        refuse_weights(self, sample_weight)
        super()._without_aged(state, X, y, sample_weight, age)

    def _learn(self, state, X, y, hint=None):
        hints = self._hints(state, y, hint)
        told = super()._learn(state, X, y)  # (n, q + 1)
        return told[:, :-1].reshape(y.shape) + _by_rows(1.0 - told[:, -1], y.ndim) * hints

    def _forecast(self, state, X, hint=None):
        hints = self._hints_for(state, len(X), hint)
        return self._forecast_with_leverages(state, self._design(X), hints)[0]

    def _forecast_with_leverages(self, state, X, hints=0.0):
        forecasts, leverages = super()._forecast_with_leverages(state, X)
        shares = _by_rows(1.0 - 1.0 / (1.0 + leverages), forecasts.ndim)
        return forecasts + shares * hints, leverages


def _by_rows(numbers, ndim):
    return numbers[:, None] if ndim == 2 else numbers
