"""Rules that mix densities by the log score: Soft-Bayes, and two whose weights have a floor."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.optimize import nnls

from .._documentation import explained_by, inherit_documentation
from .._types import Any, Array, ArrayLike
from .._values import ValueObject

_LEAST = -700.0  # logarithm of a weight, or what a round adds to it: none becomes 0


class DensityAggregator(ValueObject, ABC):
    r"""Base of the rules that weigh K experts, each of which issues a density, by the log score.

    Before the outcome of round t is seen the mixture is :math:`m_t = \sum_k w_{k,t} p_{k,t}`; then
    the densities at the outcome are learnt, and the mixture has lost :math:`-\ln m_t`. What a rule
    learns by is :math:`x_{k,t} = p_{k,t} / m_t`, whose mean under the weights is 1.

    A rule holds settings only. What it learns is a state, a dict of arrays, with weights that are
    never 0. A density that is NaN is that of an expert asleep, who counts in no mixture and learns
    nothing; where no expert awake allows the outcome, nobody does.

    See Also
    --------
    QuantileMixture : Mixes quantiles by the pinball loss.
    sklearn_okl.evaluation.log_score : How good the mixture is.
    """

    def start(self, n_experts: int) -> dict[str, Any]:
        """Begin a run of rounds, with equal weights.

        Parameters
        ----------
        n_experts : int

        Returns
        -------
        state : dict
        """
        return {"log_weights": np.full(n_experts, -np.log(n_experts))}

    def weights(self, state: dict[str, Any]) -> Array:
        """Return the weights of the experts for the next round; reads only.

        Parameters
        ----------
        state : dict of ndarray
            What `start` began and `learn` has changed.

        Returns
        -------
        weights : ndarray of shape (n_experts,)
        """
        return self._floored(np.exp(np.maximum(state["log_weights"], _LEAST)))

    @explained_by(weights)
    def learn(self, state: dict[str, Any], log_densities: ArrayLike) -> Array:
        """Learn rounds in order; edits the state.

        Parameters
        ----------
        log_densities : array-like of shape (n_rounds, n_experts)
            Logarithms of the experts' densities at the outcomes, NaN for who is asleep.

        Returns
        -------
        mixed : ndarray of shape (n_rounds,)
            Logarithms of the mixtures' densities, each issued before its outcome was learnt; NaN
            where everybody was asleep.
        """
        L = np.asarray(log_densities, dtype=np.float64)
        if L.ndim != 2 or L.shape[1:] != state["log_weights"].shape:
            raise ValueError(
                f"log_densities has shape {L.shape}; give a row for each round, and a column for "
                f"each of {len(state['log_weights'])} experts."
            )
        if np.isposinf(L).any():
            raise ValueError("log_densities holds infinity: a density is finite, or NaN for none.")
        known, mixed = dict(state), np.full(len(L), np.nan)
        for t, logs in enumerate(L):
            awake = ~np.isnan(logs)
            if not awake.any():
                continue
            weights = self.weights(known)[awake]
            mixed[t] = _log_sum(np.log(weights / weights.sum()) + logs[awake])
            if mixed[t] > -np.inf:
                ratios = np.ones(len(logs))
                ratios[awake] = np.exp(logs[awake] - mixed[t])
                known |= self._learnt(known, ratios)
        state.update(known)
        return mixed

    def _floored(self, weights):
        return weights

    @abstractmethod
    def _learnt(self, state, ratios):
        """Return what of a state changes by ratios (K,) of densities to the mixture."""


def _with_gains(state, gains):
    """Return the logarithms of weights with what a round has added, normalised."""
    log_weights = state["log_weights"] + gains
    return {"log_weights": log_weights - _log_sum(log_weights)}


@inherit_documentation
class SoftBayes(DensityAggregator):
    r"""Soft-Bayes: Bayes' rule that goes a part of the way.

    .. math:: w_{k,t+1} = w_{k,t} (1 - \eta + \eta \, x_{k,t}), \qquad
              x_{k,t} = p_{k,t} / m_t .

    Parameters
    ----------
    eta : float, default=0.2
        In (0, 1]: how far. 1 is Bayes' rule, which is for the best single expert; less keeps those
        alive who are good in a mixture.

    See Also
    --------
    DensityGradient : With a bound against every fixed mixture.

    Notes
    -----
    *Cost.* O(K).

    *Theorem.* Against every expert, whatever the densities,

    .. math:: \sum_t \ln p_{k,t} - \sum_t \ln m_t \le \frac{\ln K}{\eta},

    as :math:`\ln(1 - \eta + \eta x) \ge \eta \ln x` and no weight exceeds 1. Against every fixed
    mixture [1]_ has a regret of the order of :math:`\sqrt{K T \ln K}`, at a rate of
    :math:`\sqrt{\ln K / (K T)}`; :math:`2 \sqrt{K T \ln K} + \ln K` has held in all that was tried.

    References
    ----------
    .. [1] L. Orseau, T. Lattimore, S. Legg, "Soft-Bayes: Prod for mixtures of experts with
       log-loss", Algorithmic Learning Theory (ALT), 2017.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import SoftBayes
    >>> rule = SoftBayes(0.5)
    >>> state = rule.start(2)
    >>> rule.learn(state, np.log([[0.8, 0.2], [0.8, 0.2]])).round(3)
    array([-0.693, -0.528])
    >>> rule.weights(state).round(3)
    array([0.766, 0.234])
    """

    def __init__(self, eta: float = 0.2) -> None:
        self.eta = eta
        if not 0.0 < eta <= 1.0:
            raise ValueError(f"eta={eta!r} of SoftBayes: give a number above 0, at most 1.")

    def _learnt(self, state, ratios):
        with np.errstate(divide="ignore"):
            return _with_gains(state, np.maximum(np.log1p(self.eta * (ratios - 1.0)), _LEAST))


@inherit_documentation
class DensityGradient(DensityAggregator):
    r"""Exponentiated gradient on the log score, whose weights have a floor.

    .. math:: w_{k,t} = (1 - \varepsilon) v_{k,t} + \varepsilon / K, \qquad
              v_{k,t+1} \propto v_{k,t} \, e^{\eta x_{k,t}}, \qquad x_{k,t} = p_{k,t} / m_t .

    Parameters
    ----------
    eta : float, default=0.02
        Rate, > 0.
    floor : float, default=0.05
        :math:`\varepsilon`, in (0, 1): the share of all weight that is handed out evenly, so that
        no :math:`x_{k,t}` exceeds :math:`K / \varepsilon`.

    See Also
    --------
    SoftBayes : Without a floor, for the best expert.

    Notes
    -----
    *Cost.* O(K) a round.

    *Theorem.* If :math:`\eta K \le \varepsilon` and nobody sleeps, then against every fixed mixture
    :math:`a`, whatever the densities,

    .. math:: \sum_t \ln \sum_k a_k p_{k,t} - \sum_t \ln m_t \le \frac{\ln K}{\eta}
              + \frac{T}{1 - \varepsilon} \Bigl( \frac{\eta K}{\varepsilon} + \varepsilon \Bigr) ,

    as a logarithm lies below its tangent, :math:`e^z \le 1 + z + z^2` for :math:`z \le 1`, and
    :math:`\sum_k v_{k,t} x_{k,t} \le 1 / (1 - \varepsilon)`. In a universal portfolio it is the
    rule of [1]_.

    References
    ----------
    .. [1] D. P. Helmbold, R. E. Schapire, Y. Singer, M. K. Warmuth, "On-line portfolio selection
       using multiplicative updates", Mathematical Finance 8(4), 1998.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import DensityGradient
    >>> rule = DensityGradient(0.1, floor=0.2)
    >>> state = rule.start(2)
    >>> for _ in range(50):
    ...     mixed = rule.learn(state, np.log([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]]))
    >>> bool(rule.weights(state)[0] > 0.6)
    True
    """

    def __init__(self, eta: float = 0.02, floor: float = 0.05) -> None:
        self.eta = eta
        self.floor = floor
        if not 0.0 < eta < np.inf:
            raise ValueError(f"eta={eta!r} of DensityGradient: give a finite number above 0.")
        if not 0.0 < floor < 1.0:
            raise ValueError(f"floor={floor!r} of DensityGradient: give a number above 0, below 1.")

    def _floored(self, weights):
        return (1.0 - self.floor) * weights + self.floor / len(weights)

    def _learnt(self, state, ratios):
        return _with_gains(state, self.eta * ratios)


@inherit_documentation
@explained_by(DensityGradient)
class DensityNewton(DensityAggregator):
    r"""Online Newton step on the log score, whose weights have a floor: online Bayesian stacking.

    .. math:: A_t = A_{t-1} + x_t x_t^T, \qquad
              w_{t+1} = \arg\min_w \, \| w - w_t - A_t^{-1} x_t / \beta \|_{A_t},

    over weights that are at least :math:`\varepsilon / K`, with :math:`A_0 = \delta I`,
    :math:`x_{k,t} = p_{k,t} / m_t`, and :math:`\beta = 2 (Z - \ln(1 + Z)) / Z^2` for
    :math:`Z = K / \varepsilon - 1`, the largest for which the theorem holds.

    Parameters
    ----------
    floor : float, default=0.05
    ridge : float, default=1.0
        :math:`\delta > 0`.

    See Also
    --------
    DensityGradient : O(K) a round, and a regret of the order of a root.
    SoftBayes : For the best expert.

    Notes
    -----
    *Cost.* O(K³) a round: a least-squares problem of K weights that are not negative.

    *Theorem.* If nobody sleeps, then against every fixed mixture, whatever the densities, the
    logarithm of the likelihood is behind by at most

    .. math:: \frac{K}{2 \beta} \ln \Bigl( 1 + \frac{T K}{\delta \varepsilon^2} \Bigr)
              + \frac{\beta \delta}{2} + T \ln \frac{1}{1 - \varepsilon} ,

    for :math:`-\ln(1 + z) \ge -z + \beta z^2 / 2` up to Z, and no :math:`x_{k,t}` exceeds
    :math:`K / \varepsilon` [1]_. As stacking of Gaussian processes it is [2]_.

    References
    ----------
    .. [1] E. Hazan, A. Agarwal, S. Kale, "Logarithmic regret algorithms for online
       convex optimization", Machine Learning 69, 2007, Theorem 2.
    .. [2] D. Waxman, F. Llorente, P. M. Djurić, "Online Bayesian stacking", Transactions on Machine
       Learning Research, 2026.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.aggregators import DensityNewton
    >>> newton = DensityNewton(floor=0.1)
    >>> known = newton.start(2)
    >>> issued = newton.learn(known, np.log([[0.8, 0.2], [0.2, 0.8], [0.8, 0.2]] * 50))
    >>> bool(0.7 < newton.weights(known)[0] <= 0.95)
    True
    """

    def __init__(self, floor: float = 0.05, ridge: float = 1.0) -> None:
        self.floor = floor
        self.ridge = ridge
        if not 0.0 < floor < 1.0:
            raise ValueError(f"floor={floor!r} of DensityNewton: give a number above 0, below 1.")
        if not 0.0 < ridge < np.inf:
            raise ValueError(f"ridge={ridge!r} of DensityNewton: give a finite number above 0.")

    def start(self, n_experts: int) -> dict[str, Any]:
        return super().start(n_experts) | {"curvature": self.ridge * np.eye(n_experts)}

    def _learnt(self, state, ratios):
        K = len(ratios)
        most = K / self.floor - 1.0
        beta = 2.0 * (most - np.log1p(most)) / most**2
        A = state["curvature"] + np.outer(ratios, ratios)
        root = np.linalg.cholesky(A)  # A = root root'
        weights = np.exp(state["log_weights"])
        # the nearest u of the simplex, w = floor / K + (1 - floor) u: a sum of squares is least
        wanted = root.T @ (weights - self.floor / K) + np.linalg.solve(root, ratios) / beta
        columns = (1.0 - self.floor) * root.T - wanted[:, None]
        scale = np.abs(columns).max()
        u, _ = nnls(np.vstack([columns / scale, np.ones(K)]), np.append(np.zeros(K), 1.0))
        weights = self.floor / K + (1.0 - self.floor) * u / u.sum()
        return {"log_weights": np.log(weights), "curvature": A}


def _log_sum(logs):
    """Return the logarithm of the sum of exponentials."""
    most = logs.max()
    return most if np.isinf(most) else most + np.log(np.exp(logs - most).sum())
