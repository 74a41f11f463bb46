"""Slopes of targets along columns: they tell a new unit from values that vary more, or less.

Where the steps of a column have become ten times as large, the column may be in another unit, or
vary more, as when a machine starts. In another unit the slope of the targets along it is another
one, too, by the ratio of the scales; otherwise it is what it was. Which of them foretells targets
better is a matter of likelihoods: of n rows whose squared errors have sums S and S', that of the
latter is larger by n log(S / S') / 2 nats, where errors are Gaussian. Those are slopes of single
columns, within blocks of rows: what moves from block to block is left aside.

A column that stands elsewhere, as what a machine does that is off, has moved the mean of its
targets along that slope. In another unit nothing has happened. There the squared errors are those
of one mean, over the variance that means of blocks had.
"""

import numpy as np

_FADING = 0.9  # of what is known, per block: about the latest ten
_FEWEST = 3.0  # blocks after which their means are known to have a variance
_MOST = 50.0  # nats that a mean tells


def start(n_columns, n_targets):
    """Return what is known before the first row: no targets of this block, and no slopes."""
    return {
        "came": np.empty((0, n_targets)),
        # squares of columns from their means, faded sums, and their products with each target
        "together": np.zeros((1 + n_targets, n_columns)),
        # number of blocks, means of each target in these, and squared deviations, faded sums
        "means": np.zeros((1 + 2 * n_targets, n_columns)),
    }


def learned(together, rows, came, begin):
    """Return what is known after a block, rows (n, d) and targets (n, q); some columns `begin`."""
    rows, came = _centered(rows), _centered(_beside(came))
    products = (rows[:, None] * came).sum(axis=0)
    kept = np.where(begin, 0.0, _FADING)
    return kept * together + np.concatenate([np.square(rows).sum(axis=0)[None], products])


def with_means(known, came):
    """Return what is known of means after a block of targets (n, q)."""
    now = _beside(came).mean(axis=0)
    number, means, squares = _of_means(known)
    n = _FADING * number + 1.0
    off = np.where(number > 0.0, now - means, 0.0)
    means = np.where(number > 0.0, means + off / n, now)
    return np.concatenate([n, means, _FADING * squares + (1.0 - 1.0 / n) * np.square(off)])


def forget_target(state, j, mean):
    """Let target j have no slopes, and always the same mean."""
    for name in ("came", "together", "means"):
        state[name] = state[name].copy()
    state["came"][:, j], state["together"][1 + j] = mean, 0.0
    _, means, squares = _of_means(state["means"])
    means[j], squares[j] = mean, 0.0


def _of_means(known):
    """Return views of the number (1, d), the means and the squared deviations (q, d) of means."""
    q = len(known) // 2
    return known[:1], known[1 : 1 + q], known[1 + q :]


def as_before(state, rows, came, ratio, moved):
    """Return by how many nats (d,) targets are likelier if values (n, d) mean what they meant.

    The scale of a column is `ratio` times what it was, and its mean has moved by `moved` (d,); the
    targets are (n, q).
    """
    together = state["together"]
    slopes = together[1:] / np.where(together[0] > 0.0, together[0], 1.0)
    number, means, squares = _of_means(state["means"])
    off = _beside(came).mean(axis=0) - means
    # what the slope is not known well, in variances of a mean of as many rows
    unsure = 2.0 * len(rows) * np.square(moved) / np.where(together[0] > 0.0, together[0], np.inf)
    nats = np.square(off) - np.square(off - slopes * moved) / (1.0 + unsure)
    nats *= number / np.where(squares > 0.0, 2.0 * squares, 1.0)
    nats -= 0.5 * np.log1p(unsure)
    nats = np.where((number >= _FEWEST) & (squares > 0.0), nats, 0.0).sum(axis=0)
    return np.clip(nats, -_MOST, _MOST) + _of_slopes(slopes, rows, came, ratio)


def _of_slopes(slopes, rows, came, ratio):
    rows, came = _centered(rows)[:, None], _centered(_beside(came))
    same, other = (
        np.square(came - slope * rows).sum(axis=0) + np.finfo(float).tiny
        for slope in (slopes, slopes / ratio)
    )
    return 0.5 * len(rows) * np.log(other / same).sum(axis=0)


def _beside(came):
    """Return targets (n, q) with an axis of columns, which they may have one each of already."""
    return came if came.ndim == 3 else came[:, :, None]


def _centered(rows):
    return rows - rows.mean(axis=0)
