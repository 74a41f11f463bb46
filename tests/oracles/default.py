"""The estimator without tuning, row by row from its definition, for streams without surprises.

No column changes its unit, no value is faulty, and no kernel is born: what these rules do is tested
by themselves.
"""

import numpy as np
from scipy.stats import norm

from sklearn_okl.untuned import Constants

from .aggregation import boa, likely_mean, two_boas
from .apart import where_naive_part
from .vovk import vaw


def default(X, y, experts, n_lags, fadings, stacks, delay=0, weights=None):
    """Return the progressive forecasts.

    `experts` are (frequencies, mask, alpha, forgetting, whether they see ranks). A mask of no width
    says that the expert does not see the inputs themselves, None in place of an expert that it is
    yet to be born. Nothing is known of the latest `delay` rows. The weights are those of the rows
    in what the experts and the mixture learn.
    """
    weights = np.ones(len(y)) if weights is None else weights
    targets = y - y[0]
    unit = np.abs(targets[targets != 0][0])
    targets = targets / unit
    U, steady, scales = inputs(X, targets, n_lags, delay)
    ranked = np.hstack([normal_scores(X, delay), U[:, X.shape[1] :]])
    columns = walks(targets, delay) if n_lags else []
    n_walks = len(columns)
    for expert in experts:
        if expert is None:
            columns.append(np.full(len(y), np.nan))
            continue
        frequencies, mask, alpha, forgetting, ranks = expert
        seen = ranked if ranks else U
        parts = [np.ones((len(y), 1))]
        if mask.size:
            # some see no lags, which stand behind the columns
            parts.append((seen if frequencies.size else steady)[:, : mask.size] * mask)
        if frequencies.size:
            u = U.shape[1]  # frequencies for ranks stand below those for the inputs, which are 0
            angles = seen @ (frequencies[u:] if ranks else frequencies[:u])
            m = frequencies.shape[1]
            parts += [np.sin(angles) / np.sqrt(m), np.cos(angles) / np.sqrt(m)]
        Z = np.hstack(parts)
        columns.append(vaw(Z, targets, alpha, "ridge", forgetting, weights, late=delay))
    F = np.column_stack(columns)
    mixed = mixture(F, targets, scales, fadings, stacks, n_walks, delay, weights)
    out = unit * mixed + y[0]
    out[: 1 + delay] = 0.0
    return out


def of_model(model, X, y, weights=None):
    """Return the forecasts of the loop with the experts that a model has, from row 0 on."""
    constants, experts = Constants(), []
    for bank in model._state["banks"].values():
        maps = bank["features"]
        for k, member in enumerate(bank["members"]):
            expert = maps["frequencies"][k], maps["masks"][k]
            experts.append((*expert, *(member[n] for n in ("alpha", "forgetting", "ranks"))))
        experts += [None] * (len(maps["masks"]) - len(bank["members"]))
    experts += [None] * 2  # trees that are not tried yet
    stacks = constants.stacks[: model._experts().budget.n_stacks]
    parts = experts, model.lags, constants.fadings, stacks, model.label_delay
    return default(X, y, *parts, weights=weights)


def walks(y, delay):
    """The last target that is known, and the mean step on top of it once for each round since."""
    last, drift = np.zeros(len(y)), np.zeros(len(y))
    for t in range(delay + 1, len(y)):
        known = y[: t - delay]
        last[t] = known[-1]
        drift[t] = last[t] + (delay + 1) * known[-1] / max(len(known) - 1, 1)
    return [last, drift]


def inputs(X, y, n_lags, delay):
    """Each row standardised by those known, and in the units first known of 4 rows or more.

    Rows of which there is no forecast are taught by all rows before them. Then nothing counts as
    known before there are 4 rows, if so many are out.
    """
    n = len(X)
    U, steady, scales = [], [], np.ones(n)
    for t in range(n):
        k = t if t <= delay else t - delay  # number of rows known
        scales[t] = (y[: max(t - delay, 0)].std() if t > delay else 0.0) or 1.0
        lags = np.array([y[k - 1 - j] if k - 1 - j >= 0 else 0.0 for j in range(n_lags)])
        row = np.concatenate([X[t], lags])
        known = np.hstack([X, np.repeat(y[:, None], n_lags, axis=1)])
        u, v = np.zeros(len(row)), np.zeros(len(row))
        for j in range(len(row)):
            center, spread = moments(known[:k, j])
            if spread == 0.0:
                continue
            if t <= delay or k > min(delay, 3):
                u[j] = np.clip((row[j] - center) / spread, -5, 5)
            for first in range(4, k + 1):
                origin, unit = moments(known[:first, j])
                if unit > 0.0:
                    v[j] = (
                        np.clip(row[j], center - 10 * spread, center + 10 * spread) - origin
                    ) / unit
                    break
        U.append(u)
        steady.append(v)
    return np.array(U), np.array(steady), scales


def normal_scores(X, delay):
    """Scores of each value among the rows before the last look: after 1, 2, 4, ..., 256 rows."""
    Z = np.zeros(X.shape)
    for t in range(1, len(X)):
        # rows of which there is no forecast are taught by all rows before them
        look = 2 ** int(np.log2(t - delay if t > delay else t))
        for j, x in enumerate(X[t]):
            past = np.sort(X[:look, j])
            levels = (np.arange(128) + 0.5) / 128
            quantiles = np.interp(levels * look, np.arange(look) + 0.5, past)
            equal = np.flatnonzero(quantiles == x)
            if len(equal):
                rank = equal.mean()
            elif x < quantiles[0] or x > quantiles[-1]:
                rank = 0 if x < quantiles[0] else 127
            else:
                rank = np.interp(x, quantiles, np.arange(128))
            least = 0.5 / look
            Z[t, j] = norm.ppf(np.clip((rank + 0.5) / 128, least, 1 - least))
    return Z


def moments(past):
    """Return mean and standard deviation, 0 where rounding alone could have made it."""
    if len(past) == 0 or past.std() <= 1e-12 * abs(past.mean()):
        return 0.0, 0.0
    return past.mean(), past.std()


def mixture(F, y, scales, fadings, stacks, n_plain, delay, weights=None, lagless=()):
    """What all say, and where the first `n_plain` part with all others, some of what these do.

    In such a row all are asked again without the plain ones. It is known which are `lagless`.
    """
    of_all = scales, fadings, stacks, n_plain, delay, weights
    forecasts, awake, everybody, wide, faded = mixture_of_all(F, y, *of_all)
    if not n_plain:
        return forecasts
    means = np.full((4, len(F)), np.nan)
    plain, others = slice(0, n_plain), slice(n_plain, None)
    for t, (losses, mass) in enumerate(faded):
        of_each = (awake, plain), (awake, others), (everybody, plain), (awake, list(lagless))
        for mean, (said, part) in zip(means, of_each, strict=True):
            up = ~np.isnan(said[t, part])
            if up.any():
                mean[t] = likely_mean(said[t, part][up], losses[part][up], mass)
    means[2] = np.where(np.isnan(means[0]), means[2], means[0])
    wide[:, plain] = np.nan

    def without(t):
        cut = scales[: t + 1], fadings, stacks, n_plain, delay
        cut += (None if weights is None else weights[: t + 1],)
        return mixture_of_all(F[: t + 1], y[: t + 1], *cut, is_without=True)[0][-1]

    lost = np.array([losses for losses, _ in faded])
    return where_naive_part(forecasts, means, wide, lost, y, delay, weights, without)[0]


def mixture_of_all(F, y, scales, fadings, stacks, n_plain, delay, weights=None, is_without=False):
    """BOA, means under fading likelihoods, regressions of the first mean's errors; BOA of these.

    The last one hears the first `n_plain` experts, too. They sleep while they are not known, or
    have lost much more of late than another, or in the last row if it is to be `without`. Errors
    weigh as their rows; known are so many rounds. Returns forecasts, those of who is awake, of all
    who are born, those of others a range wider, and the faded losses of the last mean.
    """
    n = len(F)
    weights = np.ones(n) if weights is None else weights
    born, F = ~np.isnan(F[0]), F.copy()
    everybody, others = F[:, born].copy(), F[:, born].copy()
    squares, awake = np.zeros((2, n, born.sum()))
    limits, odds = [], [0.0]  # before each round; that who leads beyond the range is right
    of_all = [4.0]  # and that all are who agree beyond it
    faded = {fading: [] for fading in fadings}
    for t in range(n):
        k = max(t - delay, 0)
        for fading in fadings:
            ages = fading ** np.arange(k - 1, -1, -1)
            losses = (ages * weights[:k]) @ squares[:k]
            faded[fading].append((losses, ages @ weights[:k]))
        rounds = ages.sum()  # those of the last fading
        best = losses.argmin()
        square = min([(of[-1][0] / of[-1][1])[best] for of in faded.values() if of[-1][1]] or [0])
        asked, narrow = F[t, born][best], range_of(y[:k]) + left_by(y[:k], delay)
        is_led, wide = gives_way(asked, narrow, k, square, odds[k])
        is_led &= rounds >= 60
        wide, nearest = agreed(F[t, born], narrow, wide if is_led else narrow, of_all[k])
        limits.append(wide)
        of_all.append(of_all[-1])
        if nearest is not None:
            near, far = (
                np.log1p((y[t] - f) ** 2 / max(square, 1e-300))
                for f in (np.clip(nearest, *narrow), nearest)
            )
            gain = np.clip(near - far, -3.0, 3.0) * min(weights[t], 1.0)
            of_all[-1] = np.clip(of_all[-1] + gain, -8.0, 7.0)
        odds.append(odds[-1])
        if is_led:
            near, far = (
                np.log1p((y[t] - f) ** 2 / square) for f in (np.clip(asked, *narrow), asked)
            )
            gain = np.clip(near - far, -3.0, 3.0) * min(weights[t], 1.0)
            odds[-1] = np.clip(odds[-1] + gain, -12.0, 3.0)
        low, high = limits[t]
        others[t] = np.clip(others[t], low - (high - low), high + (high - low))
        F[t] = np.clip(F[t], low, high)
        awake[t] = everybody[t] = F[t, born]
        squares[t] = (awake[t] - y[t]) ** 2
        for j in range(n_plain):
            if rounds < 24 or losses[j] > 1.2 * losses[n_plain:].min():
                awake[t, j] = np.nan
    if is_without:
        awake[-1, :n_plain] = np.nan
    F[:, born] = awake
    columns = [boa(F, y, late=delay, weights=weights)[0]]
    for fading in fadings:
        out = np.empty(n)
        for t, (losses, mass) in enumerate(faded[fading]):
            up = ~np.isnan(awake[t])
            out[t] = likely_mean(awake[t, up], losses[up], mass)
        columns.append(out)
    base = columns[1]
    D = np.clip(np.nan_to_num((F - base[:, None]) / scales[:, None]), -100.0, 100.0)
    for alpha, forgetting in stacks:
        errors = np.clip((y - base) / scales, -4.0, 4.0)
        forecaster = "ridge" if delay else "vaw"
        corrections = vaw(D, errors, alpha, forecaster, forgetting, weights, late=delay)
        column = base + scales * corrections
        columns.append(np.clip(column, *np.transpose(limits)))
    columns = np.column_stack([*columns, F[:, :n_plain]])
    same = np.abs(columns - columns[:, :1]) <= 1e-9 * scales[:, None]
    columns = np.where(same, columns[:, :1], columns)
    forecasts = two_boas(columns, y, delay, weights)
    return forecasts, awake, everybody, others, faded[fadings[-1]]


def left_by(past, delay):
    """How far targets have left the range that was known so many rounds before, below and above."""
    left = np.zeros(2)
    for t in range(delay + 1, len(past) if delay else 0):
        low, high = (of([0.0, *past[: t - delay]]) for of in (min, max))
        below, above = max(low - past[t], 0.0), max(past[t] - high, 0.0)
        left += (np.array([-below, above]) - left) / delay
    return left


def range_of(past):
    """The range of the past targets, 0 among them, widened by a tenth."""
    low, high = min([0.0, *past]), max([0.0, *past])
    return low - 0.1 * (high - low), high + 0.1 * (high - low)


def agreed(F, narrow, wide, odds):
    """Limits that give way to the nearest forecast where all are beyond the narrow ones, and it."""
    (low, high), there = narrow, F[~np.isnan(F)]
    share = max(2.0 / (1.0 + np.exp(-odds)) - 1.0, 0.0)
    if len(there) > 1 and 0.0 < there.min() - high <= 16.0 * (high - low):
        return (wide[0], max(wide[1], high + share * (there.min() - high))), there.min()
    if len(there) > 1 and 0.0 < low - there.max() <= 16.0 * (high - low):
        return (min(wide[0], low - share * (low - there.max())), wide[1]), there.max()
    return wide, None


def gives_way(asked, narrow, n, square, odds):
    """Whether a forecast leads beyond the limits of n targets, and how far these give way to it."""
    low, high = narrow
    off = asked - np.clip(asked, low, high)
    if off == 0.0 or abs(off) > 4.0 * (high - low) or square == 0.0:
        return False, narrow
    odds = np.exp(odds) * 2.0 * off**2 / (n * square)
    by = max((odds - 1.0) / (odds + 1.0), 0.0) * off
    return True, (low + min(by, 0.0), high + max(by, 0.0))
