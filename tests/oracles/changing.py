"""Changing environments: literal loops of discounted VAW, its grid, interval experts, paths."""

import numpy as np

from . import vovk


def discounted_vaw(X, y, alpha=1.0, forgetting=0.99, hints=None, put_back=64):
    """Jacobsen and Cutkosky (2024): the minimiser with the hint in the place of the target.

    Every `put_back` rounds the ridge that was lost is put back; None: never, as in the paper.
    Returns the forecasts.
    """
    n, dim = X.shape
    hints = np.zeros(n) if hints is None else hints
    S, b, forecasts = alpha * np.eye(dim), np.zeros(dim), np.empty(n)
    for t, x in enumerate(X):
        S, b = forgetting * S + np.outer(x, x), forgetting * b
        forecasts[t] = np.linalg.solve(S, b + hints[t] * x) @ x
        b = b + y[t] * x
        if put_back and (t + 1) % put_back == 0:
            S = S + (1 - forgetting**put_back) * alpha * np.eye(dim)
    return forecasts


def discounted_grid(X, y, alpha=1.0, hints=None):
    """Members of all discounts, each run apart, and the aggregating algorithm on them."""
    n = len(y)
    hints = np.zeros(n) if hints is None else hints
    still = discounted_vaw(X, y, alpha, 1.0, hints)
    members, births = [still, hints], [0, 0]
    for i in range(1, int(np.log2(n)) + 1):
        members.append(born_at(X, y, alpha, 1 - 0.5**i, hints, 2**i))
        births.append(2**i)
    return specialists(np.array(members), births, y)


def born_at(X, y, alpha, forgetting, hints, birth):
    """A member that forgets nothing up to round `birth`; its earlier forecasts are not used."""
    n, dim = X.shape
    S, b, forecasts = alpha * np.eye(dim), np.zeros(dim), np.zeros(n)
    for t, x in enumerate(X):
        rate = forgetting if t >= birth else 1.0
        S, b = rate * S + np.outer(x, x), rate * b
        forecasts[t] = np.linalg.solve(S, b + hints[t] * x) @ x
        b = b + y[t] * x
        # the ridge comes back after rounds that are multiples of 64, or of fewer
        every = 64 if rate >= 0.7 else int(-10 / np.log10(rate))
        if rate < 1 and (t + 1) % every == 0:
            S = S + (1 - rate**every) * alpha * np.eye(dim)
    return forecasts


def subspaces_of_discounts(Zs, y, max_memory, alpha=1.0, aggregator_alpha=1.0):
    """Rokhlin (2025): members of all discounts in each of some subspaces, and VAW on all of them.

    Who is not born forecasts as the one that forgets nothing. Returns forecasts and members.
    """
    n, members = len(y), []
    for Z in Zs:
        still = discounted_vaw(Z, y, alpha, 1.0)
        members.append(still)
        for i in range(1, int(np.log2(max_memory)) + 1):
            one = born_at(Z, y, alpha, 1 - 0.5**i, np.zeros(n), 2**i)
            members.append(np.where(np.arange(n) < 2**i, still, one))
    F = np.array(members).T
    return discounted_vaw(F, y, aggregator_alpha, 1.0), F


def triple_vaw(X, y, frequencies, alpha=1.0, aggregator_alpha=1.0, final_alpha=1.0):
    """Gurtovaya (2025), with scalers that know the rows before each: eight VAW², and VAW on them.

    `frequencies` has a list of those of each kernel for each of the eight.
    """
    n = len(y)
    rows = {"standard": [], "minmax": [], "robust": [], "raw": list(X)}
    for t, x in enumerate(X):
        past = X[: max(t, 1)]
        rows["standard"].append(_within(x - past.mean(axis=0), past.std(axis=0), t))
        low, high = past.min(axis=0), past.max(axis=0)
        halves = _within(2 * x - low - high, high - low, t)
        rows["minmax"].append(0.5 + halves / 2 if t else 0 * x)
        known = max([k for k in (1, 2, 4, 8, 16, 32, 64) if k <= t], default=1)
        known = known if t < 64 else t // 64 * 64
        past = X[:known][-500:]
        quartiles = np.percentile(past, [25, 50, 75], axis=0)
        scale = quartiles[2] - quartiles[0]
        rows["robust"].append(_within(x - quartiles[1], scale, t))
    learnt, ends = np.empty(n), []
    for t in range(n):
        low, high = y[: t + 1].min(), y[: t + 1].max()
        learnt[t] = (y[t] - low) / _or_one(high - low)
        past = y[: max(t, 1)]
        ends.append((past.min(), _or_one(past.max() - past.min())))
    columns = []
    for j, (name, targets) in enumerate((a, b) for a in rows for b in ("raw", "minmax")):
        scaled = y if targets == "raw" else learnt
        f = vovk.vaw2(np.array(rows[name]), scaled, frequencies[j], alpha, aggregator_alpha)[0]
        if targets == "minmax":
            f = np.array([f[0], *(f[t] * ends[t][1] + ends[t][0] for t in range(1, n))])
        columns.append(f)
    return vovk.vaw(np.array(columns).T, y, final_alpha)


def _within(off, scale, n):
    """Few rows know no scale well; without one the first other value is 1 off."""
    reach = np.sqrt(max(n, 1)) if n < 32 else np.inf
    return np.clip(np.where(scale > 0, off / _or_one(scale), np.sign(off)), -reach, reach)


def _or_one(scale):
    return np.where(scale > 0, scale, 1.0)


def specialists(F, births, y):
    """The aggregating algorithm on rows of F, clipped, member k there from round births[k] on."""
    prior = np.array([1 / ((k + 1) * (k + 2)) for k in range(len(F))])
    losses, own = np.zeros(len(F)), 0.0
    low, high = np.inf, -np.inf
    forecasts = np.empty(len(y))
    for t, target in enumerate(y):
        there = [k for k, birth in enumerate(births) if birth <= t]
        for k, birth in enumerate(births):
            if birth == t:
                losses[k] = own
        known = low <= high
        f = np.clip(F[there, t], low, high) if known else F[there, t]
        rate = 2 / (high - low) ** 2 if known and high > low else 0.0
        w = prior[there] * np.exp(-rate * (losses[there] - losses[there].min()))
        w /= w.sum()
        if rate == 0.0:
            forecasts[t] = w @ f
        else:
            g = [-np.log(w @ np.exp(-rate * (end - f) ** 2)) / rate for end in (low, high)]
            forecasts[t] = (low + high) / 2 + (g[0] - g[1]) / (2 * (high - low))
        if known:
            clipped = min(max(target, low), high)
            losses[there] += (f - clipped) ** 2
            own += (forecasts[t] - clipped) ** 2
        low, high = min(low, target), max(high, target)
    return forecasts


def path_bound(X, y, path, alpha=1.0, forgetting=0.99, hints=None, put_back=64):
    """The theorem of discounted VAW, term by term, for squares without one half."""
    n, dim = X.shape
    hints = np.zeros(n) if hints is None else hints
    ridge, past, bound = alpha, [], 0.0

    def objective(w):  # F_t
        age = len(past) - 1
        sums = sum(forgetting ** (age - s) * (x @ w - v) ** 2 for s, (x, v) in enumerate(past))
        return ridge * w @ w + sums

    S = alpha * np.eye(dim)
    bound = forgetting * alpha * path[0] @ path[0]
    for t, x in enumerate(X):
        faded = forgetting * S
        S = faded + np.outer(x, x)
        growth = np.linalg.slogdet(S)[1] - np.linalg.slogdet(faded)[1]
        bound += (y[t] - hints[t]) ** 2 * growth
        ridge *= forgetting
        past.append((x, y[t]))
        if (t + 1) % put_back == 0:
            lost = (1 - forgetting**put_back) * alpha
            ridge, S = ridge + lost, S + lost * np.eye(dim)
            bound += lost * path[t] @ path[t]
        if t + 1 < n:
            bound += forgetting * (objective(path[t + 1]) - objective(path[t]))
    return bound


def fused_path(X, y, fusion, alpha=0.0):
    """The minimiser of errors, ridge on the first and squared steps, as one dense least squares."""
    n, dim = X.shape
    rows, targets = [], []
    for t in range(n):
        row = np.zeros((n, dim))
        row[t] = X[t]
        rows.append(row.ravel())
        targets.append(y[t])
    for t in range(n - 1):
        for j in range(dim):
            row = np.zeros((n, dim))
            row[t + 1, j], row[t, j] = np.sqrt(fusion), -np.sqrt(fusion)
            rows.append(row.ravel())
            targets.append(0.0)
    for j in range(dim):
        row = np.zeros((n, dim))
        row[0, j] = np.sqrt(alpha)
        rows.append(row.ravel())
        targets.append(0.0)
    return np.linalg.lstsq(np.array(rows), np.array(targets), rcond=None)[0].reshape(n, dim)


def worst_interval(excess, length=None):
    """The largest sum over consecutive rounds, of all intervals or those of one length."""
    best = (-np.inf, 0, 0)
    for start in range(len(excess)):
        for stop in range(start + 1, len(excess) + 1):
            if length in (None, stop - start):
                best = max(best, (excess[start:stop].sum(), start, stop), key=lambda part: part[0])
    return best


def strongly_adaptive(X, y, make, min_length):
    """Daniely et al. (2015): a learner on every covering interval, mixed by Vovk while awake.

    `make` returns a function of rows and targets to forecasts. Returns the forecasts, and for each
    interval its first and last round, and those of its learner, of one round more.
    """
    n = len(y)
    intervals = []
    for k in range(64):
        size = min_length * 2**k
        for i in range(1, n // size + 2):
            # blocks are counted from 1: interval i of level k begins with block i 2^k
            start = (i * 2**k - 1) * min_length
            stop = ((i + 1) * 2**k - 1) * min_length
            if start < n:
                stop = min(stop, n)
                # it forecasts one round more, in which those that begin know nothing
                rows = slice(start, stop + 1)
                prior = 6 / (np.pi * i * 2**k) ** 2 / ((i * 2**k) & -(i * 2**k)).bit_length()
                intervals.append((start, stop, prior, make()(X[rows], y[rows])))
        if (2**k - 1) * min_length >= n:
            break
    losses, low, high, forecasts = np.zeros(len(intervals)), np.inf, -np.inf, np.zeros(n)
    for t in range(n):
        # the first round of an interval passes without its learner
        awake = [j for j, (start, stop, *_) in enumerate(intervals) if start < t <= stop]
        known, width = low <= high, high - low
        if awake:
            f = np.array([intervals[j][3][t - intervals[j][0]] for j in awake])
            f = np.clip(f, low, high) if known else f
            rate = 2 / width**2 if known and width > 0 else 0.0
            w = np.array([intervals[j][2] for j in awake])
            w = w * np.exp(-rate * (losses[awake] - losses[awake].min()))
            w /= w.sum()
            forecasts[t] = w @ f
            if rate:
                g = [-np.log(w @ np.exp(-rate * (end - f) ** 2)) / rate for end in (low, high)]
                forecasts[t] = (low + high) / 2 + (g[0] - g[1]) / (2 * width)
        if known:
            clipped = min(max(y[t], low), high)
            everybody = np.full(len(intervals), (forecasts[t] - clipped) ** 2)
            if awake:
                everybody[awake] = (f - clipped) ** 2
            losses += everybody
        low, high = min(low, y[t]), max(high, y[t])
    return forecasts, intervals
