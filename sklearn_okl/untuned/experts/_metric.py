"""A metric for rows that tell of each other: how much a difference counts in each of their columns.

Where most columns say nothing of what a forecast misses, rows that are near by all of them are near
by chance. So columns have weights. Their logarithms descend along the gradient of the squared error
of a forecast that is corrected by what the nearest rows tell, as in K. Q. Weinberger, G. Tesauro,
"Metric learning for kernel regression", AISTATS 2007, there with a Gaussian kernel and rotations,
here with the shares of `_neighbours.py`. These know ratios of distances only, and so no unit: the
weights have a geometric mean of 1. Steps are those of AdaGrad (J. Duchi, E. Hazan, Y. Singer, JMLR
12, 2011), one for so many rows, each of which counts for 1 at most, whatever it misses.
"""

import numpy as np

_RATE = 1.0  # of AdaGrad: a first step is by a factor of e
_FURTHEST = 7.0  # how far logarithms go: a thousandth, or a thousand times
_LEAST = 1e-6  # what is missed, in squares of what is told, below which nothing is small
_TINY = np.finfo(float).tiny


def start(width, n_before):
    """Return the state before the first row: all columns count the same.

    Under "scales" is what they count (1 + n_before, width): as they did before, in order, and now.
    """
    return {"scales": np.ones((1 + n_before, width)), "squares": np.zeros(width)}


def as_before(metric):
    """Return the metric after a step for which nothing was known."""
    return metric | {"scales": _after(metric["scales"], metric["scales"][-1])}


def learn(metric, differences, told, missed, sizes, recent, counts):
    """Return the metric after a step along the gradient of n rows.

    Of these there are squared `differences` (n, k, width) from their nearest by this metric, which
    are `recent` (n, k) farther, as others are later; what these have `told` (n, k, q) of q targets,
    and what was `missed` (n, q) of them. Corrections are made by as many neighbours as `sizes` say.
    The `counts` are how much neighbours weigh (n, k), and the rows (n,), or None twice.
    """
    (of_neighbours, of_rows), scales = counts, metric["scales"][-1]
    distances = differences @ scales + recent
    usual = np.average(np.square(missed), axis=0, weights=of_rows)
    usual = np.maximum(usual, np.maximum(_LEAST * np.square(told).mean(axis=(0, 1)), _TINY))
    order, slopes = distances.argsort(axis=1), np.zeros((len(missed), len(scales)))
    for size in sizes:
        end = order[:, size, None]
        far = np.take_along_axis(distances, end, axis=1)
        shares = np.maximum(1.0 - distances / far, 0.0)
        falls = (shares > 0.0) / far  # of shares, as distances grow
        if of_neighbours is not None:
            shares, falls = shares * of_neighbours, falls * of_neighbours
        sums = 1.0 + shares.sum(axis=1)[:, None]
        corrections = np.einsum("nk,nkq->nq", shares, told) / sums
        apart = np.einsum("nq,nkq->nk", (missed - corrections) / usual, told - corrections[:, None])
        apart *= falls / sums
        slopes += np.einsum("nk,nkw->nw", apart, differences)
        at_end = (apart * distances).sum(axis=1)[:, None] / far
        slopes -= at_end * np.take_along_axis(differences, end[..., None], axis=1)[:, 0]
    slopes *= 2.0 * scales / missed.shape[1]
    slopes /= np.maximum(np.abs(slopes).max(axis=1), 1.0)[:, None]
    slope = np.average(slopes, axis=0, weights=of_rows)
    squares = metric["squares"] + slope * slope
    logs = np.log(scales) - _RATE * slope / np.sqrt(np.maximum(squares, _TINY))
    logs -= logs.mean()
    latest = np.exp(np.clip(logs, -_FURTHEST, _FURTHEST))
    return {"scales": _after(metric["scales"], latest), "squares": squares}


def _after(scales, latest):
    return np.concatenate([scales[1:], latest[None]])
