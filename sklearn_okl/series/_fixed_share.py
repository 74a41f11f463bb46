r"""Fixed share with a rate of its own making, under delay, and the bound of its regret.

For each step of a horizon and each series K experts say numbers, the forecast is a mean of these,
and losses are squared errors. When the target of a round comes, with :math:`\ell_k` the losses of
the experts and :math:`\ell` that of the forecast as it was issued,

.. math::
    m_t = -c_t \ln \sum_k w_{t,k} e^{-\ell_{t,k} / c_t}, \qquad
    w_{t+1,k} = (1 - a_t) w_{t,k} e^{-(\ell_{t,k} - m_t) / c_t} + a_t \pi_k, \qquad
    a_t = \frac{1}{t + 1},

the fixed-share forecaster (M. Herbster, M. K. Warmuth, "Tracking the best expert", Machine Learning
32, 1998; N. Cesa-Bianchi, G. Lugosi, "Prediction, learning, and games", 2006, section 5.2), whose
switching rate falls so that it is good on every stretch (D. Adamskiy, W. M. Koolen, A. Chernov,
V. Vovk, "A closer look at adaptive regret", JMLR 17(23), 2016). Its inverse rate is the smallest
one that never falls and is never less than

.. math:: c_t \ge D_{t-1} + \max_k \ell_{t,k} - \min_k \ell_{t,k}, \qquad
          D_t = \sum_{s \le t} (\ell_s - m_s)_+,

the sum of the mixability gaps, as AdaHedge has it (S. de Rooij, T. van Erven, P. D. Grünwald, W. M.
Koolen, "Follow the leader if you can, hedge if you must", JMLR 15, 2014). A gap is taken from the
forecast as it was issued, h rounds before its target came: so it has what the delay costs in it, as
in AdaHedgeD (G. Flaspohler et al., "Online learning with optimism and delay", ICML 2021).

*Bound.* As :math:`w_{t+1,k} \ge (1 - a_t) w_{t,k} e^{-(\ell_{t,k} - m_t) / c_t}`, the logarithms
telescope: summed by parts over rounds r, ..., s, with :math:`c_t` that never falls, :math:`w_t \le
1` and :math:`w_{t,k} \ge \pi_k / t`,

.. math:: \sum_{t=r}^s (\ell_t - \ell_{t,k}) \le D_s - D_{r-1}
          + c_s \Bigl( \ln \frac{s}{\pi_k} + \ln \frac{s + 1}{r} \Bigr)

for every stretch and every expert, whatever came and however late. Without delay squared errors
below B² are exp-concave once :math:`c_t \ge 2 B^2`, and add to D no more: D is at most 3 B², c at
most 4 B², and the regret grows like :math:`\ln s`. With a delay of h rounds it is of the order of
:math:`B^2 \sqrt{h s}` at most.
"""

import numpy as np


def start(prior, horizon, n_series):
    """Return the state before the first round; `prior` (K,), the first expert is the base."""
    lead = horizon, n_series
    log_prior = np.log(prior)
    return {
        "log_prior": log_prior,
        "log_weights": np.broadcast_to(log_prior[:, None, None], (len(prior), *lead)).copy(),
        "n": np.zeros(lead),  # rounds
        "inverse_rate": np.zeros(lead),  # c
        "gaps": np.zeros(lead),  # D
        "regrets": np.zeros((len(prior), *lead)),  # losses of the forecasts less each expert's
    }


def is_sound(state):
    """Tell whether weights, as in a file, are weights, and what is counted is not below 0."""
    total = np.exp(np.minimum(state["log_weights"], 1.0)).sum(axis=0)
    known = [state[name] for name in ("n", "inverse_rate", "gaps")]
    return bool(
        (np.abs(total - 1.0) < 0.01).all()
        and all(((one >= 0.0) & (one < np.inf)).all() for one in known)
        and np.isfinite(state["log_weights"]).all()
        and np.isfinite(state["regrets"]).all()
        and abs(np.exp(np.minimum(state["log_prior"], 1.0)).sum() - 1.0) < 0.01
    )


def weights(state):
    """Return the weights (K, H, m) of the experts; the base has all before any round is judged."""
    found = np.exp(state["log_weights"])
    found /= found.sum(axis=0)
    only_base = np.zeros(found.shape)
    only_base[0] = 1.0
    return np.where(state["n"] > 0.0, found, only_base)


def learn(state, losses, loss):
    """Learn the losses (K, H, m) of experts and those (H, m) of the forecasts; NaN is unknown."""
    known = np.isfinite(loss)
    losses, loss = np.where(known, losses, 0.0), np.where(known, loss, 0.0)
    least = losses.min(axis=0)
    spread = losses.max(axis=0) - least
    rate = np.maximum(state["inverse_rate"], np.where(known, state["gaps"] + spread, 0.0))
    joint = state["log_weights"] - (losses - least) / np.where(rate > 0.0, rate, 1.0)
    total = np.log(np.exp(joint).sum(axis=0))  # at least -1: no loss is spread by more than a rate
    gap = np.maximum(loss - (least - rate * total), 0.0)
    n = state["n"] + known
    share = 1.0 / (n + 1.0)
    log_prior = state["log_prior"][:, None, None]
    new = np.logaddexp(np.log1p(-share * known) + joint - total, np.log(share) + log_prior)
    state["log_weights"] = np.where(known, new, state["log_weights"])
    state["inverse_rate"] = rate
    state["gaps"] = state["gaps"] + known * gap
    state["n"] = n
    state["regrets"] = state["regrets"] + (loss - losses)


def bounds(state):
    """Return what the regrets (K, H, m) are at most, on every stretch of rounds so far."""
    n = np.maximum(state["n"], 1.0)
    surprise = np.log(n) - state["log_prior"][:, None, None] + np.log(n + 1.0)
    return state["gaps"] + state["inverse_rate"] * surprise
