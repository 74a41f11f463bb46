"""Trackers of conformal prediction, loop by loop: the thresholds before each of some scores."""

import math

import numpy as np

from .aggregation import boa


def aci(scores, coverage, gamma, window):
    """Gibbs and Candès (2021), equation (2), on quantiles of the latest scores."""
    alpha = level = 1.0 - coverage
    thresholds = []
    for t, score in enumerate(scores):
        q = quantile(scores[max(0, t - window) : t], level)
        thresholds.append(q)
        level = level + gamma * (alpha - (score > q))
    return np.array(thresholds)


def dtaci(scores, coverage, gammas, interval, window):
    """Gibbs and Candès (2022), Algorithm 1, with the mean level; and all losses, and that of it."""
    alpha, K = 1.0 - coverage, len(gammas)
    sigma = 1.0 / (2.0 * interval)
    inner = (1 - alpha) ** 2 * alpha**3 + alpha**2 * (1 - alpha) ** 3
    eta = math.sqrt(3.0 / interval) * math.sqrt((math.log(K * interval) + 2.0) / inner)
    levels, weights = [alpha] * K, [1.0 / K] * K
    thresholds, losses, own = [], [], []
    for t, score in enumerate(scores):
        past = scores[max(0, t - window) : t]
        level = sum(w * a for w, a in zip(weights, levels, strict=True))
        thresholds.append(quantile(past, level))
        beta = 1.0 - sum(s < score for s in past) / (len(past) + 1.0)
        losses.append([pinball_of_level(beta, a, alpha) for a in levels])
        own.append(pinball_of_level(beta, level, alpha))
        bar = [w * math.exp(-eta * loss) for w, loss in zip(weights, losses[-1], strict=True)]
        weights = [(1 - sigma) * w / sum(bar) + sigma / K for w in bar]
        levels = [
            a + gamma * (alpha - (score > quantile(past, a)))
            for a, gamma in zip(levels, gammas, strict=True)
        ]
    return np.array(thresholds), np.array(losses), np.array(own), eta, sigma


def agaci(scores, coverage, gammas, window):
    """Zaffran et al. (2022), Algorithm 1, for one end: thresholds, and those of each step size."""
    alpha, own = 1.0 - coverage, []
    for gamma in gammas:
        found = aci(scores, coverage, gamma, window)
        own.append([max(q, 0.0) if q < math.inf else math.nan for q in found])
    own = np.array(own).T
    rounds = ~np.isnan(own).all(axis=1)
    thresholds = np.full(len(scores), math.inf)
    of_rounds = own[rounds], np.asarray(scores)[rounds]
    thresholds[rounds] = boa(*of_rounds, loss="pinball", quantile=1.0 - alpha)[0]
    return thresholds, own


def sf_ogd(scores, coverage, eta):
    """Bhatnagar et al. (2023), section 4.2."""
    alpha, q, squares, thresholds = 1.0 - coverage, 0.0, 0.0, []
    for score in scores:
        thresholds.append(q)
        slope = alpha if score <= q else alpha - 1.0
        squares += slope**2
        q = q - eta * slope / math.sqrt(squares)
    return np.array(thresholds)


def saocp(scores, coverage, eta, lifetime):
    """Bhatnagar et al. (2023), Algorithm 1, as their program has it."""
    alpha, experts, thresholds = 1.0 - coverage, {}, []
    scale = eta * math.sqrt(3.0)

    def loss(score, q):
        return (1.0 - alpha) * (score - q) if score > q else alpha * (q - score)

    def weight(expert):
        n = expert["age"]
        return 0.0 if n == 0 else expert["z"] / n * (1.0 + expert["wz"])

    def mixed():
        if not experts:
            return 0.0
        prior = {t: 1.0 / (t**2 * (1 + math.floor(math.log2(t)))) for t in experts}
        total = sum(prior.values())
        prior = {t: p / total for t, p in prior.items()}
        shares = {t: prior[t] * max(0.0, weight(expert)) for t, expert in experts.items()}
        if sum(shares.values()) <= 0.0:
            shares = prior
        return sum(shares[t] * experts[t]["q"] for t in experts) / sum(shares.values())

    for t, score in enumerate(scores, start=1):
        q = mixed()
        thresholds.append(q)
        for born in [born for born, expert in experts.items() if expert["age"] > expert["life"]]:
            del experts[born]
        power = 1
        while t % (2 * power) == 0:
            power *= 2
        life = lifetime * power
        experts[t] = {"q": q, "life": life, "age": 0, "z": 0.0, "wz": 0.0, "squares": 0.0}
        of_all = loss(score, mixed())
        for expert in experts.values():
            w = weight(expert)
            g = (of_all - loss(score, expert["q"])) / scale / max(alpha, 1.0 - alpha)
            g = 0.0 if abs(g) < 1e-12 else g  # equal but for rounding
            g = min(1.0, max(g, -1.0 if w > 0.0 else 0.0))
            expert["z"] += g
            expert["wz"] += g * w
            expert["age"] += 1
            slope = alpha if score <= expert["q"] else alpha - 1.0
            expert["squares"] += slope**2
            expert["q"] = max(0.0, expert["q"] - eta * slope / math.sqrt(expert["squares"]))
    return np.array(thresholds)


def pid(scores, coverage, eta, gain, saturation):
    """Angelopoulos, Candès and Tibshirani (2023), equations (4) and (5), without a scorecaster."""
    alpha, p, excess, thresholds = 1.0 - coverage, 0.0, 0.0, []
    q = 0.0
    for t, score in enumerate(scores, start=1):
        thresholds.append(q)
        missed = 1.0 if score > q else 0.0
        p = p + eta * (missed - alpha)
        excess = excess + missed - alpha
        x = excess * math.log(t + 1) / (saturation * (t + 1))
        if gain == 0.0:
            q = p
        elif x >= math.pi / 2:
            q = math.inf
        elif x <= -math.pi / 2:
            q = -math.inf
        else:
            q = p + gain * math.tan(x)
    return np.array(thresholds)


def betting(scores, coverage, wealth, n_cells=1000):
    """Cover's universal portfolio of two assets, its integral by the midpoint rule.

    With b = sin(z)^2 the prior Beta(1/2, 1/2) is even in z, and what is integrated is a polynomial
    of cosines, for which the rule is exact if there are more cells than rounds.
    """
    alpha, thresholds = 1.0 - coverage, []
    z = (np.arange(n_cells) + 0.5) / n_cells * math.pi / 2.0
    b = np.sin(z) ** 2
    logs = np.zeros(n_cells)  # of the wealth of each constant share, over the first
    for score in scores:
        of_all = np.exp(logs - logs.max())
        share = (b * of_all).sum() / of_all.sum()
        total = wealth * np.exp(logs.max()) * of_all.mean()
        q = total * (share / alpha - (1.0 - share) / (1.0 - alpha))
        thresholds.append(q)
        logs = logs + (np.log(b / alpha) if score > q else np.log((1.0 - b) / (1.0 - alpha)))
    return np.array(thresholds)


def eci(scores, coverage, eta, sharpness):
    """Wu et al. (2025), whose second term is that of the latest round."""
    alpha, p, q, thresholds = 1.0 - coverage, 0.0, 0.0, []
    for score in scores:
        thresholds.append(q)
        e = math.exp(-sharpness * (score - q))
        term = (score - q) * sharpness * e / (1.0 + e) ** 2
        assert abs(term) <= 0.224
        p = p + eta * ((1.0 if score > q else 0.0) - alpha)
        q = p + eta * term
    return np.array(thresholds)


def quantile(scores, alpha):
    """Return the score with a share 1 - alpha of all, the next one included, at most it."""
    ordered, wanted = sorted(scores), (1.0 - alpha) * (len(scores) + 1)
    rank = math.ceil(round(wanted, 8))
    if rank <= 0:
        return -math.inf
    return ordered[rank - 1] if rank <= len(ordered) else math.inf


def pinball_of_level(beta, theta, alpha):
    """Return the loss of a level theta where beta would just have held."""
    return alpha * (beta - theta) - min(0.0, beta - theta)
