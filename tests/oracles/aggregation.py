"""Prediction with expert advice, one literal loop a rule; NaN in F is a sleeping expert.

The second-order rules are those of the published aggregation package, found by fitting its numbers.
"""

import itertools

import numpy as np


def loss_and_slope(y, f, loss="squared_error", quantile=0.5):
    if loss == "squared_error":
        return (f - y) ** 2, 2 * (f - y)
    if loss == "absolute_error":
        return np.abs(f - y), np.sign(f - y)
    value = np.where(f < y, quantile * (y - f), (1 - quantile) * (f - y))
    return value, np.where(f < y, -quantile, np.where(f > y, 1 - quantile, 0.0))


def instant_regrets(y, f, p, awake, gradient_trick, **loss):
    """Loss of the forecast less the experts' losses; 0 where an expert sleeps."""
    if gradient_trick:
        slope = loss_and_slope(y, p, **loss)[1]
        regrets = slope * p - slope * f
    else:
        regrets = loss_and_slope(y, p, **loss)[0] - loss_and_slope(y, f, **loss)[0]
    return np.where(awake, regrets, 0.0)


def average(log_weights, f, awake):
    weights = np.where(awake, np.exp(log_weights - log_weights[awake].max()), 0.0)
    weights /= weights.sum()
    return weights, weights[awake] @ f[awake]


def known_range(y_range, past):
    if y_range is not None:
        return y_range
    return (min(past), max(past)) if len(set(past)) > 1 else None


def exponential_rate(t, past, K, eta, y_range, loss, quantile, gradient_trick):
    if not (eta is None or eta == "decreasing"):
        return eta
    ends = known_range(y_range, past)
    if ends is None:
        return 0.0
    width = ends[1] - ends[0]
    if eta is None and loss == "squared_error" and not gradient_trick:
        return 1 / (2 * width**2)
    spread = {
        "squared_error": width**2 * (2 if gradient_trick else 1),
        "absolute_error": width,
        "pinball": max(quantile, 1 - quantile) * width,
    }[loss]
    return np.sqrt(8 * np.log(K) / t) / spread


def ewa(
    F, y, eta=None, y_range=None, prior=None, loss="squared_error", quantile=0.5, gradient=False
):
    """vaw2, eq. (3.25A), on regrets instead of losses: the same while nobody sleeps."""
    T, K = F.shape
    log_prior = np.log(np.full(K, 1 / K) if prior is None else prior / np.sum(prior))
    R, out = np.zeros(K), np.empty(T)
    for t in range(T):
        rate = exponential_rate(t + 1, y[:t], K, eta, y_range, loss, quantile, gradient)
        awake = ~np.isnan(F[t])
        _, out[t] = average(log_prior + rate * R, F[t], awake)
        R += instant_regrets(y[t], F[t], out[t], awake, gradient, loss=loss, quantile=quantile)
    return out, average(
        log_prior + exponential_rate(T + 1, y, K, eta, y_range, loss, quantile, gradient) * R,
        np.zeros(K),
        np.ones(K, bool),
    )[0]


def fixed_share(
    F,
    y,
    share=0.01,
    eta=None,
    y_range=None,
    prior=None,
    loss="squared_error",
    quantile=0.5,
    gradient=False,
):
    """Herbster, Warmuth (1998): Bayes' rule, then a share of all weight goes back to the prior."""
    T, K = F.shape
    prior = np.full(K, 1 / K) if prior is None else prior / np.sum(prior)
    w, out = prior.copy(), np.empty(T)
    for t in range(T):
        rate = exponential_rate(t + 1, y[:t], K, eta, y_range, loss, quantile, gradient)
        awake = ~np.isnan(F[t])
        out[t] = w[awake] @ F[t, awake] / w[awake].sum()
        r = instant_regrets(y[t], F[t], out[t], awake, gradient, loss=loss, quantile=quantile)
        w = w * np.exp(rate * r)
        w = (1 - share) * w / w.sum() + share * prior
    return out, w


def aggregating(F, y, eta=None, y_range=None, prior=None):
    """Vovk's aggregating algorithm for the square loss, with its substitution function."""
    T, K = F.shape
    prior = np.full(K, 1 / K) if prior is None else prior / np.sum(prior)
    R, out = np.zeros(K), np.empty(T)
    for t in range(T):
        awake = ~np.isnan(F[t])
        ends = known_range(y_range, y[:t])
        f = F[t, awake]
        if ends is None:
            out[t] = prior[awake] @ f / prior[awake].sum()
        else:
            low, high = ends
            rate = 2 / (high - low) ** 2 if eta is None else eta
            w = prior[awake] * np.exp(rate * (R - R[awake].max()))[awake]
            w /= w.sum()
            g_low = -np.log(w @ np.exp(-rate * (low - f) ** 2)) / rate
            g_high = -np.log(w @ np.exp(-rate * (high - f) ** 2)) / rate
            out[t] = (low + high) / 2 + (g_low - g_high) / (2 * (high - low))
            out[t] = np.clip(out[t], low, high)
        R += instant_regrets(y[t], F[t], out[t], awake, False)
    return out


def boa(F, y, start=None, prior=None, gradient=True, late=0, weights=None, bound=np.inf, **loss):
    """Wintenberger (2017) as the package runs it: the rate of the regrets counts this round.

    Late forecasts are mixed by the weights of so many rounds ago, and squares of regrets then hold
    their products with those that were out (McMahan, Streeter 2014). The losses of rows may have
    weights of their own, and be less where a regret would be above a bound.
    """
    T, K = F.shape
    weights = np.ones(T) if weights is None else weights
    prior = np.full(K, 1 / K) if prior is None else prior / np.sum(prior)
    start = 0.0 if start is None else start
    B, V = np.full(K, start), np.full(K, start)
    eta, R, out = np.ones(K), np.zeros(K), np.empty(T)
    known, regrets = [np.log(prior)] * late, []
    for t in range(T):
        awake = ~np.isnan(F[t])
        known.append(np.log(prior * eta) + eta * R)
        _, out[t] = average(known.pop(0), F[t], awake)
        if np.ptp(F[t, awake]) == 0.0:
            out[t] = F[t, awake][0]  # rounding alone is no regret
        r = weights[t] * instant_regrets(y[t], F[t], out[t], awake, gradient, **loss)
        r = r * min(1.0, bound / max(np.abs(r).max(), 1e-300))
        B, V = np.maximum(B, np.abs(r)), V + r**2
        if late:
            V = V + 2 * np.abs(r * sum(regrets[-late:]))
        regrets.append(r)
        heard = start < V  # whether there was any regret, however small
        if heard.any():
            B2 = 2.0 ** np.ceil(np.log2(B[heard]))
            surprise = np.maximum(-np.log(prior[heard]), 1e-12)
            eta[heard] = np.minimum(1 / B2, np.sqrt(surprise / V[heard]))
            eta[~heard] = eta[heard].min()
            large = eta[heard] * r[heard] > 0.5
            R[heard] += (r[heard] - eta[heard] * r[heard] ** 2 + B2 * large) / 2
    return out, average(np.log(prior * eta) + eta * R, np.zeros(K), np.ones(K, bool))[0]


def bounded_boa(F, y, late=0, weights=None):
    """BOA of squared errors over the usual ones, three of which count at most."""
    of_rounds, _ = usual_losses(F, y, late, weights)
    weights = of_rounds if weights is None else weights * of_rounds
    return boa(F, y, late=late, weights=weights, bound=3.0)


def usual_losses(F, y, late=0, weights=None):
    """One over the least of the experts' faded mean losses, 0 where they are not known."""
    T, _ = F.shape
    squares = (F - y[:, None]) ** 2
    worst = np.nanmax(squares, axis=1, keepdims=True)
    losses = np.where(np.isnan(squares), worst, squares)
    if weights is not None:
        losses = losses * weights[:, None]
    of_rounds, n_remembered = np.zeros((2, T))
    for t in range(3, T):
        ages = 0.99 ** np.arange(t - 1, -1, -1)
        least = (ages @ losses[:t]).min()
        if least > 0.0:  # no row counts more than all before it
            losses[t] = np.minimum(losses[t], least)
    for t in range(3 + late, T):
        ages = 0.99 ** np.arange(t - late - 1, -1, -1)
        sums = ages @ losses[: t - late]
        least = max(sums.min(), 1e-18 * sums.max())
        of_rounds[t] = ages.sum() / least if least else 0.0
        n_remembered[t] = ages.sum()
    return of_rounds, n_remembered


def two_boas(F, y, late=0, weights=None):
    """Plain and bounded BOA, mixed by likelihoods of squares that are bounded."""
    T, _ = F.shape
    weights = np.ones(T) if weights is None else weights
    both = boa(F, y, late=late, weights=weights)[0], bounded_boa(F, y, late, weights)[0]
    both = np.column_stack(both)
    squares = (both - y[:, None]) ** 2
    for t, (of_round, n) in enumerate(zip(*usual_losses(F, y, late, weights), strict=True)):
        squares[t] /= max(1.0, squares[t].max() * weights[t] * of_round / max(n, 1.0))
    out = np.empty(T)
    for t in range(T):
        known = max(t - late, 0)
        ages = weights[:known] * 0.9995 ** np.arange(known - 1, -1, -1)
        out[t] = likely_mean(both[t], ages @ squares[:known], ages.sum())
    return out


def likely_mean(forecasts, losses, mass):
    """Mean under the likelihoods of Gaussian errors, the least mean square for the variance."""
    least = losses.min()
    variance = least / mass if mass else 0.0
    likelihoods = np.exp((least - losses) / (2 * variance)) if variance else losses == least
    return likelihoods @ forecasts / likelihoods.sum()


def ml_poly(F, y, start=None, prior=None, gradient=True, late=0, **loss):
    """Gaillard, Stoltz, van Erven (2014), ML-Poly, with a running bound B of all squares."""
    T, K = F.shape
    prior = np.full(K, 1 / K) if prior is None else prior / np.sum(prior)
    start = 1.0 if start is None else start
    eta, B, R, out = np.full(K, start), start, np.zeros(K), np.empty(T)
    known = [prior * eta * R] * late
    for t in range(T):
        awake = ~np.isnan(F[t])
        known.append(prior * eta * np.maximum(R, 0))
        w = np.where(awake, known.pop(0), 0.0)
        w = w if w.sum() > 0 else np.where(awake, prior, 0.0)
        out[t] = w[awake] @ F[t, awake] / w.sum()
        r = instant_regrets(y[t], F[t], out[t], awake, gradient, **loss)
        R += r
        B_new = max(B, (r**2).max())
        eta = 1 / (1 / eta + r**2 + B_new - B)
        B = B_new
    w = prior * eta * np.maximum(R, 0)
    return out, w / w.sum() if w.sum() > 0 else prior


def ml_prod(F, y, start=None, prior=None, gradient=True, late=0, **loss):
    """Gaillard, Stoltz, van Erven (2014), ML-Prod: products of 1 + eta r, in logarithms."""
    T, K = F.shape
    prior = np.full(K, 1 / K) if prior is None else prior / np.sum(prior)
    start = 1.0 if start is None else start
    B, V = np.full(K, start), np.full(K, start)
    eta, L, out = np.ones(K), np.zeros(K), np.empty(T)
    known = [np.log(prior)] * late
    for t in range(T):
        awake = ~np.isnan(F[t])
        known.append(np.log(prior * eta) + L)
        _, out[t] = average(known.pop(0), F[t], awake)
        r = instant_regrets(y[t], F[t], out[t], awake, gradient, **loss)
        B, V = np.maximum(B, np.abs(r)), V + r**2
        eta_new = np.minimum(1 / (2 * B), np.sqrt(np.maximum(-np.log(prior), 1e-12) / V))
        L = eta_new / eta * L + np.log(1 + eta_new * r)
        eta = eta_new
    return out, average(np.log(prior * eta) + L, np.zeros(K), np.ones(K, bool))[0]


def log_loss_mixture(P, y, rate=1.0, share=0.0, gradient=False):
    """Vovk (1990): the mean of probabilities P (T, K, C) under likelihoods; NaN: asleep.

    With a share, Herbster and Warmuth (1998). Returns the means, and the last weights.
    """
    T, K, C = P.shape
    weights, means = np.full(K, 1.0 / K), np.zeros((T, C))
    for t in range(T):
        awake = ~np.isnan(P[t, :, 0])
        for k in np.flatnonzero(awake):
            means[t] += weights[k] / weights[awake].sum() * P[t, k]
        for k in range(K):
            ratio = P[t, k, y[t]] / means[t, y[t]] if awake[k] else 1.0
            # the tangent of the loss at the mean, or the loss, less what the mean loses
            loss = 1.0 - ratio if gradient else -np.log(ratio)
            weights[k] *= np.exp(-rate * loss)
        weights /= weights.sum()
        weights = (1.0 - share) * weights + share / K
    return means, weights


def adapt_ml_prod(F, y, linear=False):
    """Gaillard, Stoltz, van Erven (2014), Corollary 4, to the letter; forecasts and regrets.

    For the square loss, or with `linear` the absolute one by its slope at the forecast.
    """
    n, K = F.shape
    w, V, rates = np.full(K, 1 / K), np.zeros(K), np.full(K, min(0.5, np.sqrt(np.log(K))))
    forecasts, regrets = np.empty(n), np.empty((n, K))
    for t in range(n):
        p = rates * w / (rates @ w)
        forecasts[t] = p @ F[t]
        losses = np.sign(forecasts[t] - y[t]) * F[t] if linear else (F[t] - y[t]) ** 2
        r = p @ losses - losses
        V += r**2
        former, rates = rates, np.minimum(0.5, np.sqrt(np.log(K) / (1 + V)))
        w = (w * (1 + former * r)) ** (rates / former)
        regrets[t] = r
    return forecasts, regrets


def squint(F, y, scale, n_rates=4001):
    """Koolen, van Erven (2015): the improper prior, by a sum over many rates."""
    n, K = F.shape
    etas = np.linspace(0, 0.5, n_rates)[:, None]
    inside = np.ones((n_rates, 1))
    inside[[0, -1]] = 0.5  # the trapezoidal rule
    R, V, forecasts = np.zeros(K), np.zeros(K), np.empty(n)
    for t in range(n):
        exponents = etas * R - etas**2 * V
        w = (inside * np.exp(exponents - exponents.max())).sum(axis=0)
        w /= w.sum()
        forecasts[t] = w @ F[t]
        r = ((forecasts[t] - y[t]) ** 2 - (F[t] - y[t]) ** 2) / scale
        R, V = R + r, V + r**2
    return forecasts


def soft_bayes(P, eta):
    """Orseau, Lattimore and Legg (2017), at a constant rate: densities of the mixtures (T,)."""
    w, out = np.full(P.shape[1], 1 / P.shape[1]), []
    for p in P:
        out.append(float(w @ p))
        w = w * (1 - eta + eta * p / out[-1])
    return np.array(out), w


def density_gradient(P, eta, floor):
    """Exponentiated gradient on the log score, with a share of the weight for all: (T,)."""
    K = P.shape[1]
    v, out = np.full(K, 1 / K), []
    for p in P:
        w = (1 - floor) * v + floor / K
        out.append(float(w @ p))
        v = v * np.exp(eta * p / out[-1])
        v = v / v.sum()
    return np.array(out), (1 - floor) * v + floor / K


def density_newton(P, floor, ridge):
    """Hazan, Agarwal and Kale (2007), Figure 3, over weights of at least floor / K: (T,)."""
    K = P.shape[1]
    w, A, out = np.full(K, 1 / K), ridge * np.eye(K), []
    Z = K / floor - 1
    beta = 2 * (Z - np.log(1 + Z)) / Z**2
    for p in P:
        out.append(float(w @ p))
        x = p / out[-1]
        A = A + np.outer(x, x)
        goal = w + np.linalg.solve(A, x) / beta
        w = nearest_weights(A, goal, floor / K)
    return np.array(out), w


def nearest_weights(A, goal, least):
    """Return the weights of at least so much that are nearest in a norm: of all active sets."""
    K, best = len(goal), (np.inf, None)
    for free in itertools.product([False, True], repeat=K):
        free = np.array(free)
        if not free.any():
            continue
        w = np.full(K, least)
        n = free.sum()
        # A w - A goal is the same for all that are free, whose sum is given
        system = np.block([[A[np.ix_(free, free)], np.ones((n, 1))], [np.ones((1, n)), 0]])
        right = (A @ goal)[free] - A[np.ix_(free, ~free)] @ w[~free]
        w[free] = np.linalg.solve(system, np.append(right, 1 - w[~free].sum()))[:n]
        if (w >= least - 1e-12).all():
            best = min(best, ((w - goal) @ A @ (w - goal), w), key=lambda one: one[0])
    return best[1]


def quantile_mixture(Q, y, alpha, rule, smoothing=0):
    """Berrisch and Ziel (2023): each level's weights by its pinball loss, averaged over levels."""
    T, K, q = Q.shape
    out = np.empty((T, q))
    for t in range(T):
        weights = []
        for j, level in enumerate(alpha):
            _, w = rule(Q[:t, :, j], y[:t], loss="pinball", quantile=level)
            weights.append(w)
        for j in range(q):
            total, mass = np.zeros(K), 0.0
            for i in range(q):
                near = max(smoothing + 1 - abs(i - j), 0)
                total, mass = total + near * weights[i], mass + near
            out[t, j] = total / mass @ Q[t, :, j]
    return np.sort(out, axis=1)


def forgiven(F, y, delay=0):
    """What rules hear of forecasts F (n, K), far off at first, of those who no longer are."""
    n_first, heard = 32 + delay, np.array(F)
    low, high = min(y[:n_first]), max(y[:n_first])
    width = high - low
    if len(y) < n_first or width == 0.0:
        return heard
    for k in range(F.shape[1]):
        ends = low - width, high + width
        if any(f < ends[0] or f > ends[1] for f in F[n_first - 8 : n_first, k]):
            continue
        for t in range(n_first):
            if not np.isnan(F[t, k]):
                heard[t, k] = min(max(F[t, k], ends[0]), ends[1])
    return heard
