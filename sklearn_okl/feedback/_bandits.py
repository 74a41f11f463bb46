r"""Bandits: whom to ask next when only the loss of the one that was asked becomes known.

Three samplers of arms (kernels), one class each, and the step that goes with each: a round's loss
and gradient are divided by the probability of the draw, so the step size of the arm's own learner
is part of the same analysis. What they do is told in `Sampler`. The step that `credit` returns is
what multiplies the slope of the loss: :math:`\lambda_{t,i} / p_{t,i}`, so :math:`f_i \leftarrow
f_i - step \, \ell'(f_i(x), y) \, k_i(x, \cdot)`. Names and numbers of equations are those of
J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under Bandit Feedback",
ECML-PKDD 2022.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, log, sqrt

import numpy as np

from .._documentation import explained_by
from .._types import Any
from ._sampler import Sampler

_FIRST_HORIZON = 64  # of the doubling trick
_SHORTEST_HORIZON = 40  # Theorem 4.1 holds from here on
_MOST_EXPLORATION = 0.5
_MOST_STEPS = 200  # of a search that mostly takes four
_SUM_TOLERANCE = 1e-13  # of a Tsallis step's probabilities, and of its bracket, relatively


@dataclass(frozen=True)
class Exp3Sampler(Sampler):
    r"""Exponential weights on estimated losses, rates fixed by the horizon (OKS, Algorithm 1).

    The law is :math:`p = (1 - \delta) q + \delta / K` with q the softmax of the cumulated losses
    :math:`-\eta \sum \tilde c_{t,i}`, :math:`\tilde c_{t,i} = \ell_t / p_{t,i}` for the arm drawn
    and 0 for the others. The rates are Remark 1's.

    Parameters
    ----------
    n_arms : int
        K.
    horizon : int, default=None
        T. None guesses it by the doubling trick.
    step_scale : float, default=10.0
        c in the arms' step size :math:`\lambda = c \sqrt{\delta / (K T G^2)}`.
    loss_bound, slope_bound : float, default=1.0
        :math:`\ell_{max}` and G.
    longest_step : float, default=inf
        Most that a step :math:`\lambda / p` may come to; the step size is held to what makes the
        rarest draw's as long.
    """

    n_arms: int
    horizon: int | None = None
    step_scale: float = 10.0
    loss_bound: float = 1.0
    slope_bound: float = 1.0
    longest_step: float = inf

    def rates(self, horizon: Any) -> Any:
        """Return (exploration, eta, step size): Remark 1's delta, eta and lambda."""
        T, K, G = max(horizon, _SHORTEST_HORIZON), self.n_arms, self.slope_bound
        delta = min((G / self.loss_bound) ** (2 / 3) * (K / T) ** (1 / 3), _MOST_EXPLORATION)
        eta = sqrt(2 * (1 - delta) * log(K) / (K * T)) / self.loss_bound
        return delta, eta, self.step_scale * sqrt(delta / (K * T)) / G

    def start(self) -> Any:
        return {"round": 0, **self._fresh(_FIRST_HORIZON)}

    def _fresh(self, guess):
        exploration, eta, step_size = self.rates(guess if self.horizon is None else self.horizon)
        step_size = min(step_size, self.longest_step * exploration / self.n_arms)
        return {
            "log_weights": np.zeros(self.n_arms),
            "probabilities": np.full(self.n_arms, 1.0 / self.n_arms),
            "exploration": exploration,
            "eta": eta,
            "step_size": step_size,
        }

    def credit(self, state: Any, arm: Any, loss: Any, gradient_sq: Any) -> Any:
        chance = float(state["probabilities"][arm])
        log_weights, delta = state["log_weights"], state["exploration"]
        step = state["step_size"] / chance
        log_weights[arm] -= state["eta"] * loss / chance
        weights = np.exp(log_weights - max(log_weights.tolist()))
        weights *= (1 - delta) / sum(weights.tolist())  # twice as fast as NumPy's, for few arms
        weights += delta / self.n_arms
        state["probabilities"] = weights
        state["round"] += 1
        if self.horizon is None and is_restart(state["round"]):
            state.update(self._fresh(state["round"]))
        return step


@explained_by(Exp3Sampler)
@dataclass(frozen=True)
class AdaptiveExp3Sampler(Sampler):
    r"""Exponential weights on estimated losses, all rates from the losses seen (OKS++).

    Theorem 3.1's :math:`\delta_t`, :math:`\eta_t` and :math:`\lambda_{t,i}` look at all losses up
    to and with this round's. Needs no horizon.

    Parameters
    ----------
    radius : float
        U, of the ball the arms' functions stay in.
    smoothness : float
        :math:`C_0` of Assumption 1: `self_bounding` of the loss.
    slope_bound : float, default=1.0
        G: 1 in the experiments, and in the theorem for the square loss and squared hinge.
    """

    n_arms: int
    radius: float
    smoothness: float
    slope_bound: float = 1.0

    def start(self) -> Any:
        return {
            "losses": np.zeros(self.n_arms),  # cumulated estimated losses
            "variance": 0.0,  # cumulated q c^2
            "weights": np.full(self.n_arms, 1.0 / self.n_arms),  # q
            "probabilities": np.full(self.n_arms, 1.0 / self.n_arms),
        }

    def credit(self, state: Any, arm: Any, loss: Any, gradient_sq: Any) -> Any:
        K, U, GC = self.n_arms, self.radius, self.slope_bound * self.smoothness
        chance = float(state["probabilities"][arm])
        estimate = loss / chance
        state["losses"][arm] += estimate
        state["variance"] += float(state["weights"][arm]) * estimate**2
        losses = state["losses"]
        total = float(np.add.reduce(losses))  # half the overhead of the method
        floor = GC ** (1 / 3) * (U * K) ** (2 / 3)
        delta = 0.5 * floor / max(floor, 2 * total ** (1 / 3))
        eta = sqrt(2 * log(K) / (1 + state["variance"]))
        weights = np.exp(eta * (min(losses.tolist()) - losses))
        weights /= np.add.reduce(weights)
        state["weights"] = weights
        state["probabilities"] = (1 - delta) * weights + delta / K
        # lambda_{t,i}; GC U^2 K^2 = floor^3
        size = U ** (4 / 3) * max(floor**3, 8 * total) ** (-1 / 6)
        size /= K ** (1 / 6) * GC ** (1 / 3) * sqrt(4 / 3 * (1 + float(losses[arm])))
        return size / chance


@explained_by(Exp3Sampler, AdaptiveExp3Sampler)
@dataclass(frozen=True)
class TsallisSampler(Sampler):
    r"""Mirror descent with the Tsallis regulariser, alpha = 8, and rates that grow (IOKS).

    An arm's rate :math:`\eta_{t,i}` grows by the factor :math:`\upsilon = e^{2 / (3 \ln T)}`
    whenever :math:`1 / p_{t,i}` first exceeds :math:`\rho_{t,i}`, which is then set to twice that
    (Algorithm 2). Estimated losses are eq. (4), the step of q is eq. (5), the arms' step sizes
    :math:`\lambda_{t,i}` are eq. (6), where this round's gradient is included.

    Parameters
    ----------
    slope_bound : float
        :math:`G_1`, of the loss on that ball: 2 (U + 1) for the square loss, 1 for the absolute.
    loss_bound : float, default=1.0
        :math:`\ell_{max}`, by which losses are divided.
    """

    n_arms: int
    radius: float
    slope_bound: float
    horizon: int | None = None
    loss_bound: float = 1.0

    def rates(self, horizon: Any) -> Any:
        """Return (exploration, first eta, growth): delta, eta of the experiments, upsilon."""
        T = max(horizon, _SHORTEST_HORIZON)
        eta = 8 * self.loss_bound * self.n_arms ** (3 / 8)
        eta /= self.radius * self.slope_bound * sqrt(T * log(T))
        return T ** (-3 / 4), eta, exp(2 / (3 * log(T)))

    def start(self) -> Any:
        gradients = np.zeros(self.n_arms)  # cumulated squared norms of the estimated gradients
        return {"round": 0, "gradients_sq": gradients, **self._fresh(_FIRST_HORIZON)}

    def _fresh(self, guess):
        K = self.n_arms
        exploration, eta, growth = self.rates(guess if self.horizon is None else self.horizon)
        return {
            "weights": np.full(K, 1.0 / K),  # q
            "probabilities": np.full(K, 1.0 / K),
            "etas": np.full(K, eta),
            "thresholds": np.full(K, 2.0 * K),  # rho
            "exploration": exploration,
            "growth": growth,
        }

    def credit(self, state: Any, arm: Any, loss: Any, gradient_sq: Any) -> Any:
        chance, etas = float(state["probabilities"][arm]), state["etas"]
        largest = max(etas.tolist())  # five times as fast as NumPy's, for few arms
        biased = chance if chance >= largest else chance + largest  # eq. (4)
        weights = tsallis_step(state["weights"], etas, arm, loss / self.loss_bound / biased)
        delta = state["exploration"]
        probabilities = (1 - delta) * weights + delta / self.n_arms
        inverse = 1.0 / probabilities
        rare = inverse > state["thresholds"]
        if True in rare.tolist():
            state["thresholds"][rare] = 2.0 * inverse[rare]
            etas[rare] *= state["growth"]
        state["weights"], state["probabilities"] = weights, probabilities
        state["gradients_sq"][arm] += gradient_sq / chance**2
        step = self.radius / sqrt(2 * (1 + float(state["gradients_sq"][arm]))) / chance  # eq. (6)
        state["round"] += 1
        if self.horizon is None and is_restart(state["round"]):
            state.update(self._fresh(state["round"]))
        return step


def stable_step(loss):
    """Return the longest step that cannot overshoot where k(x, x) = 1: one over the smoothness.

    Beyond twice that, descent on a square diverges geometrically. It is infinite for losses that
    are not smooth: their slopes are bounded, and no step makes them run away.
    """
    return inf if loss.smoothness == inf else 1.0 / loss.smoothness


def is_restart(n_rounds):
    """Tell whether a sampler that was given no horizon starts afresh after so many rounds.

    The doubling trick: the first 64 rounds are played as if they were all, then as many as were
    played so far, and so on; new stretches begin after 64, 128, 256, ... rounds. A stretch has the
    rates of its own length and weights that start equal.
    """
    return n_rounds >= _FIRST_HORIZON and n_rounds & (n_rounds - 1) == 0


def tsallis_step(weights, etas, arm, loss):
    r"""One step of mirror descent on the simplex, with the Tsallis regulariser of alpha = 8.

    The new weights are :math:`(q_i^{-7/8} + \eta_i (\tilde c_i - \mu))^{-8/7}` (eq. 5), with
    :math:`\mu` such that their sum is 1.

    Parameters
    ----------
    weights : ndarray of shape (K,)
        q, positive, of sum 1.
    etas : ndarray of shape (K,)
        Rates, positive.
    arm : int
        The arm drawn.
    loss : float
        Its estimated loss, not negative; the others' is 0.

    Returns
    -------
    ndarray of shape (K,)
        New weights, of sum 1 up to 1e-12.

    Notes
    -----
    No weight exceeds 1, so no power's base :math:`b_i` falls below 1; write it
    :math:`b_i = 1 + \eta_i (d_i + s)` with :math:`d_i \geq 0` the distances of the poles from the
    nearest and s >= 0 the unknown. Nothing cancels then, whatever the rates and losses. The power
    mean :math:`M(s) = (\sum b_i^{-8/7})^{-7/8}` is increasing and concave and its root M = 1 lies
    between 0 and the s at which all bases have reached :math:`K^{7/8}`. Newton's steps from the
    left do not overshoot, and mostly three are enough; one that leaves the bracket is replaced by
    a bisection.
    """
    poles = weights ** (-7 / 8)
    poles -= 1.0
    poles[arm] += etas[arm] * loss
    poles /= etas
    nearest = min(poles.tolist())
    poles -= nearest
    ceiling = len(weights) ** (7 / 8) - 1.0
    low, high = 0.0, max((ceiling / etas - poles).tolist())
    s = min(nearest, high)  # mu = 0, where the sum is at most 1
    poles *= etas
    poles += 1.0
    for _ in range(_MOST_STEPS):
        bases = poles + s * etas
        new = bases ** (-8 / 7)
        total = float(np.add.reduce(new))
        if abs(total - 1.0) <= _SUM_TOLERANCE or high - low <= _SUM_TOLERANCE * high:
            break
        if total > 1.0:
            low = s
        else:
            high = s
        # M = total^(-7/8), and M' = M^(15/7) sum eta b^(-15/7)
        new /= bases
        s += (1.0 - total ** (-7 / 8)) * total ** (15 / 8) / float(new @ etas)
        if not low < s < high:
            s = (low + high) / 2
    return new
