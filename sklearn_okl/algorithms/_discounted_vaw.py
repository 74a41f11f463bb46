"""A. Jacobsen, A. Cutkosky, "Online linear regression in dynamic environments via discounting".

A grid of discounts of Vovk-Azoury-Warmuth, mixed by the aggregating algorithm (2024).
"""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import explained_by, inherit_documentation
from .._linalg import softmax
from .._types import Any, Array
from ..aggregators._range import check_y_range
from ..aggregators._specialists import Specialists
from ..base._hinted import HintedRegressor
from ..base._intercept import MissesIntercept, WithIntercept
from ..learners import DiscountedVAWRegressor
from ._discount_grid import DiscountGrid


@explained_by(DiscountedVAWRegressor, Specialists)
class _GridOfDiscounts(MissesIntercept, HintedRegressor):
    """The members and their mixture.

    Attributes
    ----------
    weights_ : ndarray of shape (n_members,)
        Weights for the next round.
    discounts_ : ndarray of shape (n_members,)
        Discount of each member: 1, 0 (the hint), then 1/2, 3/4 and so on.
    coef_ : ndarray of shape (n_members, n_features)
        Ridge solution of each member, 0 that of the hint.
    """

    _parameter_constraints = {
        **WithIntercept._parameter_constraints,
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "hint": [StrOptions({"zero", "last"})],
        "y_range": ["array-like", None],
    }
    _structural = ("alpha", "y_range")

    @property
    def weights_(self) -> Array:
        """Weights of the members for the next round, of shape (n_members,)."""
        state = self._fitted_state("weights_")
        return softmax(self._mixture().log_weights(state["mixture"]))

    @property
    def discounts_(self) -> Array:
        """Discounts of the members, of shape (n_members,)."""
        n_born = len(self._fitted_state("discounts_")["born"])
        return np.array([1.0, 0.0, *(1.0 - 0.5**i for i in range(1, n_born + 1))])

    @property
    def coef_(self) -> Array:
        """Ridge solution of each member, of shape (n_members, n_features)."""
        return self._as_taught()._slopes(self._coefficients(self._fitted_state("coef_")))

    def _coefficients(self, state):
        still, *others = (member["theta"] for member in DiscountGrid.members(state))
        return np.array([still, np.zeros_like(still), *others])

    def _validate(self):
        super()._validate()
        check_y_range(self.y_range)

    def _mixture(self):
        return Specialists(self.y_range)

    def _grid(self):
        return DiscountGrid(self.alpha, self.fit_intercept)

    def _start(self, n_features, n_targets=None):
        return {
            "t": 0,
            "latest": np.zeros(()),  # the hint for a round that is given none
            "mixture": self._mixture().start(),
        } | self._grid().start(n_features)

    def _learn(self, state, X, y, hint=None):
        hints = self._hints(state, y, hint)
        mixture = self._mixture()
        if state["t"] == 0:
            mixture.add(state["mixture"], _log_prior(0))
            mixture.add(state["mixture"], _log_prior(1))
        forecasts, n_born = np.empty(len(y)), len(state["born"])
        for rows, F in self._grid().stretches(state, state["t"], X, y, hints):
            if F.shape[1] > n_born + 1:
                n_born += 1
                mixture.add(state["mixture"], _log_prior(n_born + 1))
            F = np.column_stack([F[:, 0], hints[rows], F[:, 1:]])
            forecasts[rows] = mixture.learn(state["mixture"], F, y[rows])
        if len(state["born"]) > n_born:
            mixture.add(state["mixture"], _log_prior(n_born + 2))
        state["t"] += len(y)
        return forecasts

    def _close(self, state, grows=False):
        self._grid().close(state, grows)

    def _forecast(self, state, X, hint=None):
        hints = self._hints_for(state, len(X), hint)
        F = self._grid().forecast(state, X, hints)
        F = np.column_stack([F[:, 0], hints, F[:, 1:]])
        return self._mixture().forecast(state["mixture"], F)


@inherit_documentation
@explained_by(DiscountedVAWRegressor, Specialists)
class DiscountedVAWAARegressor(_GridOfDiscounts):
    r"""Discounted VAW over a grid of discounts, mixed by the aggregating algorithm.

    Its members are VAW forecasters with the discounts :math:`\gamma = 1` and :math:`\gamma_i = 1 -
    2^{-i}`, the latter from round :math:`2^i + 1` on, and the hint itself, which is
    :math:`\gamma = 0`; up to round :math:`2^i` the forecaster of :math:`\gamma_i` has forgotten
    little, so that it begins as a copy of that of :math:`\gamma = 1`. They are mixed by Vovk's
    aggregating algorithm, as in :class:`AARegressor`, with the weights

    .. math:: w_{k,t} \propto \pi_k \exp(-2 L_{k,t-1} / r_t^2), \qquad
              \pi_k = \frac{1}{(k + 1) (k + 2)} ,

    where :math:`L` are sums of squared errors of clipped forecasts, and :math:`r_t` is the range of
    the targets before round t, to which forecasts are clipped. There is nothing to tune but the
    ridge.

    See Also
    --------
    DiscountedVAWRegressor : One of them.
    StronglyAdaptiveRegressor : Any learner, begun anew on intervals of all lengths.

    Notes
    -----
    *Cost.* :math:`O(D^2 \log t)` in round t: at most :math:`\log_2 t + 2` members. Rows between
    two powers of two are learnt together.

    *Theorem.* Against the member of any discount, for T rounds and the final range r of the
    targets,

    .. math:: \sum_{t \le T} (\hat y_t - y_t)^2 - (f_{k,t} - y_t)^2 \le
              \tfrac12 r^2 \Bigl( \ln \frac{1}{\pi_k} + \ln \frac{1}{\pi_0} + 6 \Bigr)
              + (\hat y_1 - y_1)^2 ,

    where before its birth the member's forecasts are those of :math:`\gamma = 1`, of prior
    :math:`\pi_0 = 1/2`, and :math:`3 r^2` less with a `y_range` that holds. Together with the
    theorem of :class:`DiscountedVAWRegressor` it is of the optimal order against every path [1]_.

    *Departures.* In [1]_ the grid needs T and the number of features, and exponential weights mix
    it; their bound is four times as large. A range that is wide for the noise makes the mixing
    slow: clip what is faulty before.

    References
    ----------
    .. [1] Jacobsen & Cutkosky 2024, section 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import DiscountedVAWAARegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 3))
    >>> y = X @ [1.0, -2.0, 0.5] * np.where(np.arange(600) < 300, 1.0, -1.0)
    >>> model = DiscountedVAWAARegressor()
    >>> forecasts = model.prequential_predict(X, y)
    >>> bool(model.discounts_[model.weights_.argmax()] < 1)
    True
    """

    _test_parameters = ({}, {"hint": "last", "fit_intercept": True}, {"y_range": (-3.0, 3.0)})

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        hint: str = "zero",
        y_range: Any = None,
        fit_intercept: bool = False,
    ) -> None:
        self.alpha = alpha
        self.hint = hint
        self.y_range = y_range
        self.fit_intercept = fit_intercept


def _log_prior(k):
    return -np.log((k + 1.0) * (k + 2.0))
