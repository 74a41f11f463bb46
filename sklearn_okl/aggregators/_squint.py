"""W. M. Koolen, T. van Erven, "Second-order quantile methods for experts" (2015): Squint."""

from __future__ import annotations

from numbers import Real

import numpy as np
from scipy.special import log_ndtr
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from ..base import ConvexAggregator
from ._second_order import BOARegressor

_LEAST = 1e-6  # of V: below it the interval is too narrow for a difference of logarithms


@inherit_documentation
@explained_by(BOARegressor)
class SquintRegressor(ConvexAggregator):
    r"""Squint: weights averaged over all learning rates, with nothing to fit.

    With the regrets :math:`r_{k,t}` of an expert k over a scale s, their sums :math:`R_{k,t}` and
    the sums of their squares :math:`V_{k,t}`, it has the weights

    .. math:: w_{k,t} \propto \pi_k \int_0^{1/2} e^{\eta R_{k,t-1} - \eta^2 V_{k,t-1}} \, d\eta ,

    which is the improper prior :math:`1 / \eta` over rates; the integral is one of a Gaussian.

    Parameters
    ----------
    scale : float, default=None
        The s that no regret exceeds, > 0, in units of the loss: the theorem's. None: the smallest
        power of two that no regret so far exceeds.

    See Also
    --------
    BOARegressor : One rate an expert, fitted to its regrets.
    MLProdRegressor : The same with products; it is Adapt-ML-Prod.

    Notes
    -----
    *Cost.*

    *Theorem.* With a `scale` that holds, against every expert, and against the mean of any set of
    experts of prior weight :math:`\pi` (Theorem 4 of [1]_),

    .. math:: \sum_t r_{k,t} \le s \sqrt{2 V_{k,T}} \Bigl( 1 + \sqrt{2 \ln
              \frac{\frac12 + \ln(T + 1)}{\pi_k}} \Bigr)
              + 5 s \ln \Bigl( 1 + \frac{1 + 2 \ln(T + 1)}{\pi_k} \Bigr) .

    *None of the other rules.* BOA and ML-Prod have the same quantities R and V, and one rate an
    expert that is fitted to them; here all rates are there at once, and weights are not of the form
    :math:`\pi \eta e^{\eta R - \eta^2 V}` for any one of them.

    *Departure.* A scale that is not known is one that may grow; the sums are then those of the
    regrets over the new one, and no theorem is at hand.

    *Sleeping experts.*

    References
    ----------
    .. [1] W. M. Koolen, T. van Erven, "Second-order quantile methods for experts and combinatorial
       games", Conference on Learning Theory (COLT), 2015.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import SquintRegressor
    >>> rng = np.random.default_rng(0)
    >>> y = rng.normal(size=500)
    >>> experts = y[:, None] + rng.normal(size=(500, 3)) * [0.1, 1.0, 1.0] + [0.0, 0.0, 1.0]
    >>> int(SquintRegressor().fit(experts, y).weights_.argmax())
    0
    """

    _test_parameters = ({}, {"scale": 50.0, "gradient_trick": False})
    _parameter_constraints = {
        **ConvexAggregator._parameter_constraints,
        "scale": [Interval(Real, 0, None, closed="neither"), None],
    }
    _structural = ("scale",)

    def __init__(
        self,
        scale: float | None = None,
        *,
        loss: Any = "squared_error",
        quantile: float = 0.5,
        gradient_trick: bool = True,
        prior_weights: ArrayLike | None = None,
        fallback: float | None = None,
        label_delay: int = 0,
    ) -> None:
        super().__init__(
            loss=loss,
            quantile=quantile,
            gradient_trick=gradient_trick,
            prior_weights=prior_weights,
            fallback=fallback,
            label_delay=label_delay,
        )
        self.scale = scale

    def _start_rule(self, log_prior):
        K = len(log_prior)
        # sums of regrets and of their squares, over the scale; 0 is none yet
        scale = 0.0 if self.scale is None else float(self.scale)
        return {"R": np.zeros(K), "V": np.zeros(K), "scale": scale}

    def _log_weights(self, state):
        # what is added to V moves no logarithm of a weight by more than 2.5e-7: eta is below 1/2
        R, V = state["R"], np.maximum(state["V"], _LEAST)
        low, high = -R / np.sqrt(2.0 * V), (V - R) / np.sqrt(2.0 * V)
        # by symmetry an interval above 0 is one below it, where logarithms keep their digits
        low, high = np.where(low > 0.0, [-high, -low], [low, high])
        mass = log_ndtr(high) + np.log(-np.expm1(log_ndtr(low) - log_ndtr(high)))
        return state["log_prior"] + R**2 / (4.0 * V) - np.log(V) / 2.0 + mass

    def _update(self, state, regrets, y):
        if self.scale is None:
            largest = float(np.abs(regrets).max())
            if largest > state["scale"]:
                scale = float(np.exp2(np.ceil(np.log2(largest))))
                shrunk = state["scale"] / scale
                state["R"] = state["R"] * shrunk
                state["V"] = state["V"] * shrunk**2
                state["scale"] = scale
        if state["scale"] > 0.0:
            regrets = regrets / state["scale"]
            state["R"] = state["R"] + regrets
            state["V"] = state["V"] + regrets**2
