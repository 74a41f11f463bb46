"""Quantiles of experts mixed level by level in the pinball loss: CRPS learning."""

from __future__ import annotations

import numpy as np

from .._documentation import explained_by
from .._linalg import softmax
from .._types import Any, Array, ArrayLike
from .._values import ValueObject
from ..base._convex import mix
from ._densities import DensityAggregator
from ._exponential import EWARegressor
from ._second_order import BOARegressor, MLPolyRegressor

_LEAST = 1e-300  # a weight whose logarithm is a number
_RULES = {"boa": BOARegressor, "ewa": EWARegressor, "ml-poly": MLPolyRegressor}


class QuantileMixture(ValueObject):
    r"""Mix quantiles of K experts, each level with weights of its own, learnt in its pinball loss.

    An expert may know the tails and another one the middle. The mean of twice the pinball losses
    over many levels is about the CRPS, so this is CRPS learning.

    Parameters
    ----------
    alpha : tuple of float
        Levels of the quantiles, rising, above 0 and below 1.
    rule : {"boa", "ewa", "ml-poly"}, default="boa"
        What learns the weights of a level: :class:`BOARegressor`, :class:`EWARegressor` or
        :class:`MLPolyRegressor`, with the gradient trick.
    smoothing : int, default=0
        How many levels on either side the weights of a level are averaged over, those nearer
        counting more: what is learnt at one level is of use at the next. 0 is none.

    See Also
    --------
    SoftBayes : Mixes densities by the log score.
    BOARegressor : With ``loss="pinball"`` the same for one level.

    Notes
    -----
    *Cost.* O(K) a round for each level.

    *Theorem.* Without smoothing that of the rule holds at each level, against every fixed convex
    combination of the experts' quantiles; so over all of them, in the mean of the losses. What
    crosses is put in order, which makes no mean over levels larger [2]_.

    *Departures.* Weights are smoothed by a moving triangle, where [1]_ has penalised splines.

    References
    ----------
    .. [1] J. Berrisch, F. Ziel, "CRPS learning", Journal of Econometrics 237(2), 2023.
    .. [2] V. Chernozhukov, I. Fernández-Val, A. Galichon, "Quantile and probability curves without
       crossing", Econometrica 78(3), 2010.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import QuantileMixture
    >>> rng = np.random.default_rng(0)
    >>> y, z = rng.normal(size=500), np.array([-1.28, 0.0, 1.28])
    >>> experts = np.broadcast_to([z, 3.0 * z], (500, 2, 3))
    >>> mixture = QuantileMixture(alpha=(0.1, 0.5, 0.9))
    >>> state = mixture.start(2)
    >>> issued = mixture.learn(state, experts, y)
    >>> mixture.weights(state)[[0, 2], 0].round(1)
    array([1., 1.])
    """

    def __init__(self, alpha: tuple[float, ...], rule: str = "boa", smoothing: int = 0) -> None:
        self.alpha = tuple(alpha)
        self.rule = rule
        self.smoothing = smoothing
        levels = np.asarray(self.alpha, dtype=np.float64)
        inside = levels.ndim == 1 and levels.size and ((levels > 0.0) & (levels < 1.0)).all()
        if not inside or (np.diff(levels) <= 0.0).any():
            raise ValueError(f"alpha={alpha!r}: give levels that rise, above 0 and below 1.")
        if rule not in _RULES:
            raise ValueError(f"rule={rule!r}: give one of {sorted(_RULES)}.")
        if not isinstance(smoothing, int) or smoothing < 0:
            raise ValueError(f"smoothing={smoothing!r}: give a whole number, at least 0.")

    @explained_by(DensityAggregator.start)
    def start(self, n_experts: int) -> dict[str, Any]:
        """Begin a run of rounds, with equal weights at each level."""
        return {"levels": [rule._start(n_experts) for rule in self._rules()]}

    @explained_by(DensityAggregator.weights)
    def weights(self, state: dict[str, Any]) -> Array:
        """Return the weights of the experts at each level for the next round; reads only.

        Returns
        -------
        weights : ndarray of shape (n_levels, n_experts)
        """
        return np.exp(self._log_weights(state))

    @explained_by(DensityAggregator.weights)
    def forecast(self, state: dict[str, Any], quantiles: ArrayLike) -> Array:
        """Mix quantiles of rows, each as if the next one; reads only.

        Parameters
        ----------
        quantiles : array-like of shape (n_rows, n_experts, n_levels)
            Those of the experts; NaN at a level for who is asleep there.

        Returns
        -------
        mixed : ndarray of shape (n_rows, n_levels)
            They never cross.
        """
        Q, log_weights = self._checked(quantiles), self._log_weights(state)
        asleep = np.isnan(Q)
        F = np.where(asleep, 0.0, Q)
        parts = zip(log_weights, F.transpose(2, 0, 1), asleep.transpose(2, 0, 1), strict=True)
        return np.sort(np.column_stack([mix(*part) for part in parts]), axis=1)

    @explained_by(forecast)
    def learn(self, state: dict[str, Any], quantiles: ArrayLike, y: ArrayLike) -> Array:
        """Mix rows as `forecast` does, and learn their targets, in order; edits the state.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            What the quantiles are of.

        Returns
        -------
        issued : ndarray of shape (n_rows, n_levels)
            Quantiles of the mixture before each target was learnt.
        """
        Q, y = self._checked(quantiles), np.asarray(y, dtype=np.float64)
        if y.shape != Q.shape[:1] or not np.isfinite(y).all():
            raise ValueError(f"y has shape {y.shape}; give a finite number for each row.")
        if not self.smoothing:
            return np.sort(self._learn_rows(state, Q, y), axis=1)
        issued = np.empty((len(y), len(self.alpha)))
        for t in range(len(y)):
            issued[t] = self.forecast(state, Q[t : t + 1])[0]
            self._learn_rows(state, Q[t : t + 1], y[t : t + 1])
        return issued

    def _learn_rows(self, state, Q, y):
        parts = zip(self._rules(), state["levels"], Q.transpose(2, 0, 1), strict=True)
        with np.errstate(over="ignore"):  # the first cap of a regret is next to nothing
            return np.column_stack([rule._learn(level, F, y) for rule, level, F in parts])

    def _rules(self):
        """Return what learns the weights of each level."""
        rule = _RULES[self.rule]
        return [rule(loss="pinball", quantile=level, gradient_trick=True) for level in self.alpha]

    def _log_weights(self, state):
        """Return the logarithms of the weights (n_levels, n_experts)."""
        parts = zip(self._rules(), state["levels"], strict=True)
        weights = np.array([softmax(rule._log_weights(level)) for rule, level in parts])
        places = np.arange(len(weights))
        near = self.smoothing + 1.0 - np.abs(places - places[:, None])
        near = np.maximum(near, 0.0)
        return np.log(np.maximum(near @ weights / near.sum(axis=1, keepdims=True), _LEAST))

    def _checked(self, quantiles):
        Q = np.asarray(quantiles, dtype=np.float64)
        if Q.ndim != 3 or Q.shape[2] != len(self.alpha):
            raise ValueError(
                f"quantiles has shape {Q.shape}; give (n_rows, n_experts, {len(self.alpha)}), a "
                "column for each level."
            )
        if np.isinf(Q).any() or np.isnan(Q).all(axis=1).any():
            raise ValueError(
                "quantiles holds infinity, or no expert's at some level: give numbers, and NaN for "
                "who is asleep while others are awake."
            )
        return Q
