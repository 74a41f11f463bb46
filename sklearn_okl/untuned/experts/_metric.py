"""Metrics for rows that tell of each other: how much a difference counts in each of their columns.

Where most columns say nothing of what a forecast misses, rows that are near by all of them are near
by chance. So columns have weights. Their logarithms descend along the gradient of the squared error
of a forecast that is corrected by what the nearest rows tell, as in K. Q. Weinberger, G. Tesauro,
"Metric learning for kernel regression", AISTATS 2007, there with a Gaussian kernel and rotations,
here with the shares of `_neighbours.py`. These know ratios of distances only, and so no unit: the
weights have a geometric mean of 1. Steps are those of AdaGrad (J. Duchi, E. Hazan, Y. Singer, JMLR
12, 2011), one for so many rows, each of which counts for 1 at most, whatever it misses.

One metric is of columns alone, one of the latest targets, too. The error has many minima, and where
two columns tell together only, a descent seldom finds them. So beside the second one is a third, a
challenger, which begins at random and descends, too. It is tried on the rows it learns from before
it does: once it has lost another one begins, and once it is surely better it goes on as the second,
as in Q. Wu et al., "ChaCha for online AutoML", ICML 2021.
"""

import numpy as np

N_VIEWS = 2  # metrics by which corrections are made
_RATE = 1.0  # of AdaGrad: a first step is by a factor of e
_SPREAD = 3.0  # standard deviation of a challenger's first logarithms
_SURELY = 3.0  # standard errors by which it is better
_FEWEST = 2  # and blocks
_FURTHEST = 7.0  # how far logarithms go: a thousandth, or a thousand times
_LEAST = 1e-6  # what is missed, in squares of what is told, below which nothing is small
_TINY = np.finfo(float).tiny


def start(width, n_lags, n_before, seed):
    """Return the state before the first row: all columns that a metric sees count the same.

    Under "scales" is what they count (1 + n_before, n_views, width), as they did before, in order,
    and now: 0 for the latest targets, the last `n_lags` columns, in the first one.
    """
    scales = np.ones((1 + n_before, N_VIEWS, width))
    scales[:, 0, width - n_lags :] = 0.0
    metric = {"scales": scales, "squares": np.zeros((N_VIEWS + 1, width))}
    return metric | {"seed": seed, "n_drawn": 0} | _challenger(width, seed, 0)


def _challenger(width, seed, n_drawn):
    logs = _SPREAD * np.random.RandomState([seed, n_drawn]).normal(size=(1, width))
    # the sums of its gains and of their squares, and in how many blocks
    return {"challenger": _as_scales(logs, np.ones_like(logs))[0], "gains": np.zeros(3)}


def as_before(metric):
    """Return the metrics after a step for which nothing was known."""
    return metric | {"scales": _after(metric["scales"], metric["scales"][-1])}


def of_all(metric):
    """Return what columns count now in both views and for the challenger, (n_views + 1, width)."""
    return np.concatenate([metric["scales"][-1], metric["challenger"][None]])


def distinct(scales):
    """Return metrics (m, width) without the second view where it is the first one.

    So it is of rows that are compared by no targets, until a challenger is better.
    """
    return scales[:1] if scales[0].tobytes() == scales[1].tobytes() else scales


def learn(metric, differences, told, missed, sizes, recent, counts):
    """Return the metrics after a step along the gradient of n rows.

    Of these there are squared `differences` (m, n, k, width) from their nearest by each of the m
    metrics, which are `recent` (m, n, k) farther, as others are later; what these have `told`
    (m, n, k, q) of q targets, and what was `missed` (n, q) of them. Corrections are made by as many
    neighbours as `sizes` say. The `counts` are how much neighbours weigh (m, n, k), and the rows
    (n,), or None twice.
    """
    scales, of_rows = of_all(metric), counts[1]
    losses, slopes = _slopes(scales, differences, told, missed, sizes, recent, counts)
    slope = np.average(slopes, axis=1, weights=of_rows)
    squares = metric["squares"] + slope * slope
    steps = _RATE * slope / np.sqrt(np.maximum(squares, _TINY))
    logs = np.log(scales, out=np.zeros_like(scales), where=scales > 0.0) - steps
    latest = _as_scales(logs, scales)
    gains = (losses[-2] - losses[-1]) * (1.0 if of_rows is None else of_rows)
    gains = metric["gains"] + [gains.sum(), np.square(gains).sum(), 1.0]
    is_better = gains[0] > _SURELY * np.sqrt(gains[1]) and gains[2] >= _FEWEST
    found = metric | {"challenger": latest[-1], "gains": gains}
    if is_better:
        latest[-2], squares[-2] = latest[-1], squares[-1]
    if is_better or not gains[0] > 0.0:
        n_drawn, squares[-1] = metric["n_drawn"] + 1, 0.0
        found |= {"n_drawn": n_drawn} | _challenger(len(slope[0]), metric["seed"], n_drawn)
    return found | {"scales": _after(metric["scales"], latest[:-1]), "squares": squares}


def _slopes(scales, differences, told, missed, sizes, recent, counts):
    """Return of each metric and row squared errors (m, n), and slopes (m, n, width) of theirs."""
    of_neighbours, of_rows = counts
    distances = (differences @ scales[:, None, :, None])[..., 0] + recent
    usual = np.average(np.square(missed), axis=0, weights=of_rows)
    usual = np.maximum(usual, np.maximum(_LEAST * np.square(told).mean(axis=(0, 1, 2)), _TINY))
    order, slopes = distances.argsort(axis=2), np.zeros((*recent.shape[:2], scales.shape[1]))
    losses = np.zeros(recent.shape[:2])
    for size in sizes:
        end = order[..., size, None]
        far = np.take_along_axis(distances, end, axis=2)
        shares = np.maximum(1.0 - distances / far, 0.0)
        falls = (shares > 0.0) / far  # of shares, as distances grow
        if of_neighbours is not None:
            shares, falls = shares * of_neighbours, falls * of_neighbours
        sums = 1.0 + shares.sum(axis=2, keepdims=True)
        corrections = (shares[:, :, None] @ told)[:, :, 0] / sums
        left = missed - corrections
        losses += (np.square(left) / usual).sum(axis=2)
        apart = ((told - corrections[:, :, None]) @ (left / usual)[..., None])[..., 0]
        apart *= falls / sums
        slopes += (apart[:, :, None] @ differences)[:, :, 0]
        at_end = (apart * distances).sum(axis=2, keepdims=True) / far
        slopes -= at_end * np.take_along_axis(differences, end[..., None], axis=2)[:, :, 0]
    slopes *= 2.0 * scales[:, None] / missed.shape[1]
    slopes /= np.maximum(np.abs(slopes).max(axis=2, keepdims=True), 1.0)
    return losses, slopes


def _as_scales(logs, before):
    """Return scales of such logarithms (m, width), but for their means; what was 0 remains so."""
    seen = before > 0.0
    means = np.add.reduce(logs, axis=1, where=seen) / np.maximum(seen.sum(axis=1), 1)
    logs = np.clip(logs - means[:, None], -_FURTHEST, _FURTHEST)
    return np.where(seen, np.exp(logs), 0.0)


def _after(scales, latest):
    return np.concatenate([scales[1:], latest[None]])
