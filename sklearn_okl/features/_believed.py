"""Values of a column that were believed: none between them is absurd.

What a rare flag says lies many standard deviations from what it mostly says, and has been there
before. What has been absurd when it came is none of these, so a fault that comes again is one.
"""

import numpy as np

_ANY = np.array([[-1e300], [1e300]])  # the ends of all that is believed; their sum is a number


def start(n_columns):
    """Return the least and largest value before the first row: the other way round, there is none.

    They are those known before a block, so that no cut of the stream matters.
    """
    return np.repeat([[1.0], [-1.0]], n_columns, axis=1)


def ends(state):
    """Return the least and largest value (2, d): of a column without units, all is believed."""
    return np.where(state["have_units"], state["believed"], _ANY)


def are_beyond(X, low, high):
    """Tell which values (n, d) are beyond the ends (d,)."""
    return (low > X) | (high < X)


def without_outages(state, absurd, share):
    """Return the block of a state, its outages as gaps, and of which columns (d,) it has many.

    These are numbers that stand still more than `absurd` scales off, in more than a `share` of the
    rows of a column that hardly ever repeats one. They say nothing of it: it keeps its usual step,
    and with that they stay absurd, however long they stand.
    """
    block, far = state["block"], _are_absurd(state, absurd) & (state["step"] > 0.0)
    if not far.any():
        return block, np.zeros(block.shape[1], dtype=bool)
    same = np.diff(block, axis=0, prepend=np.nan) == 0.0
    same[:-1] |= same[1:]
    far &= same
    are_many = far.sum(axis=0) > share * len(block)
    return np.where(far & are_many, state["known"][0], block), are_many


def after_block(state, nearer, absurd):
    """Return the ends (2, d) after the block of a state, whose units are those before it.

    So are all values believed that came but for what was more than `absurd` scales off, or lies so
    far from most of a column of which nothing was known that it is moved `nearer`.
    """
    block, origin = state["block"], state["origin"]
    (center, scale), (low, high) = state["known"], state["believed"]
    known = np.where(_are_absurd(state, absurd), center, block)
    values = np.where(scale > 0.0, known, nearer) + origin
    least, most = values.min(axis=0), values.max(axis=0)
    is_first = low > high
    return np.where(is_first, [least, most], [np.minimum(least, low), np.maximum(most, high)])


def _are_absurd(state, absurd):
    """Return which values of a block are so many scales off, and beyond what was believed."""
    block, (center, scale) = state["block"], state["known"]
    far = (np.abs(block - center) > absurd * scale) & (scale > 0.0)
    return far & are_beyond(block + state["origin"], *state["believed"])


def after_change(ends, columns, rows):
    """Return the ends where some columns are in a new unit, which is that of these rows alone."""
    if not columns.any():
        return ends
    return np.where(columns, [rows.min(axis=0), rows.max(axis=0)], ends)
