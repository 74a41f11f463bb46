"""Slopes of targets along columns: they tell a new unit from values that vary more, or less.

Where the steps of a column have become ten times as large, the column may be in another unit, or
vary more, as when a machine starts. In another unit the slope of the targets along it is another
one, too, by the ratio of the scales; otherwise it is what it was. Which of them foretells targets
better is a matter of likelihoods: of n rows whose squared errors have sums S and S', that of the
latter is larger by n log(S / S') / 2 nats, where errors are Gaussian.

Slopes are of single columns, within blocks of rows: what moves from block to block is left aside.
"""

import numpy as np

_FADING = 0.9  # of what is known, per block: about the latest ten
_SURE = 3.0  # nats by which targets are likelier if values mean what they meant


def start(n_columns, n_targets):
    """Return what is known before the first row: no targets of this block, and no slopes."""
    return {
        "came": np.empty((0, n_targets)),
        # squares of columns from their means, faded sums, and their products with each target
        "together": np.zeros((1 + n_targets, n_columns)),
    }


def learned(together, rows, came, begin):
    """Return what is known after a block, rows (n, d) and targets (n, q); some columns `begin`."""
    rows, came = _centered(rows), _centered(_beside(came))
    products = (rows[:, None] * came).sum(axis=0)
    kept = np.where(begin, 0.0, _FADING)
    return kept * together + np.concatenate([np.square(rows).sum(axis=0)[None], products])


def are_as_before(together, rows, came, ratio):
    """Tell of which columns (d,) of rows (n, d) the values mean what they meant.

    The scale of a column is `ratio` times what it was; the targets are (n, q).
    """
    rows, came = _centered(rows)[:, None], _centered(_beside(came))
    slopes = together[1:] / np.where(together[0] > 0.0, together[0], 1.0)
    same, other = (
        np.square(came - slope * rows).sum(axis=0) + np.finfo(float).tiny
        for slope in (slopes, slopes / ratio)
    )
    return 0.5 * len(rows) * np.log(other / same).sum(axis=0) > _SURE


def _beside(came):
    """Return targets (n, q) with an axis of columns, which they may have one each of already."""
    return came if came.ndim == 3 else came[:, :, None]


def _centered(rows):
    return rows - rows.mean(axis=0)
