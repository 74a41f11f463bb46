"""Units that come back: a column that has given up its unit remembers it.

A column that hardly moves for a while, as what a machine does that is off, looks as if it was in
another unit. If that was taken for one, the first value of the machine at work would be thousands
of the new units away, and a line through these would follow it there. So values for which the new
unit has no place, and which are usual in the former one, are seen in that; and when most of a block
are so, or its steps are as large as those were, it is the unit again, and the other one the former.

Whether a column that moves less, where it always was, is in another unit is a doubt as well: it
stays in its unit until its targets have had as many rows to tell as a block of usual length.
"""

import numpy as np

_ROWS = 64.0  # that a doubt lasts for at most
_SURE = 3.0  # nats by which targets are likelier if values mean what they meant
_MOST = 10.0  # nats that are remembered, so that others may turn them


def start(n_columns):
    """Return what is known of columns before the first row: no former unit, and no doubt."""
    return {
        # centre and scale, those of steady units, weight, and the logarithm of the usual step
        "former": np.zeros((6, n_columns)),
        "doubt": np.zeros((2, n_columns)),  # rows of it, and nats that nothing has changed
    }


def known(state):
    """Return centre and scale, and those of steady units, (2, 2, d) of the former unit."""
    return state["former"][:4].reshape(2, 2, -1)


def are_of_former(X, former, of_block, clip, faulty):
    """Return which values (..., d) are far in the unit of the block, and usual in the former one.

    `former` (..., 2, 2, d) begins with its centre and scale, `of_block` (..., 2, d) has those known
    before the block; None where there is no former unit.
    """
    center, scale = former[..., 0, 0, :], former[..., 0, 1, :]
    if not np.logical_or.reduce(scale > 0.0, axis=None):
        return None
    far = np.abs(X - of_block[..., 0, :]) > faulty * of_block[..., 1, :]
    far &= (of_block[..., 1, :] > 0.0) & (scale > 0.0)
    return far & (np.abs(X - center) <= clip * scale)


def in_doubt(doubt, which, nats, n_rows):
    """Return whether columns (d,) are still in doubt, and how likely they are as before in nats.

    `which` have moved less in the latest block, of so many rows, whose targets tell so many nats.
    """
    rows, so_far = np.where(which, doubt + np.stack([np.full(len(nats), n_rows), nats]), 0.0)
    so_far = np.clip(so_far, -_MOST, _MOST)
    return np.stack([rows, so_far]), which & (rows < _ROWS) & (so_far >= -_SURE)


def are_sure(nats):
    """Tell where so many nats say that values mean what they meant."""
    return nats > _SURE


def remember(state, columns, before):
    """Remember the units that some columns (d,) give up, `before` their centres and scales."""
    of_unit = [*before, *state["steady"], state["weights"], state["roughness"][1]]
    state["former"] = np.where(columns, np.stack(of_unit), state["former"])


def take_back(state, usual, of_block, units):
    """Return which columns (d,) have come back to their former unit, which is theirs again.

    `usual` (d,) are the median steps of the block, and `of_block`, centres and scales, what was
    known before it. Returned are as well which are in a third unit, far in the present one, and
    with other steps than in the former.
    """
    block = state["block"] + state["origin"]
    center, scale, *steady, weight, step = state["former"]
    if not scale.any():
        return np.zeros((2, len(usual)), dtype=bool)
    cells = are_of_former(block, known(state), np.stack(of_block), units.clip, units.faulty)
    apart, tiny = np.log(units.apart), np.finfo(float).tiny
    size, before = (np.log(np.maximum(one, tiny)) for one in (usual, state["step"]))
    steps_as_then = (usual > 0.0) & (np.abs(size - step) <= apart)
    others_before = (state["step"] > 0.0) & (np.abs(size - before) > apart) & (scale > 0.0)
    is_there = np.abs(np.median(block, axis=0) - center) <= units.clip * scale
    are_cells = cells.mean(axis=0) >= 0.5
    back = are_cells & ((usual == 0.0) | steps_as_then) | steps_as_then & others_before & is_there
    if back.any():
        remember(state, back, of_block)
        center = center - state["origin"]
        sums = {"weights": weight, "sums": center * weight, "squares": scale**2 * weight}
        for name, values in sums.items():
            state[name] = np.where(back, values, state[name])
        state["steady"] = np.where(back, steady, state["steady"])
        rough = [np.full(len(back), float(units.patience)), step, np.zeros(len(back))]
        state["roughness"] = np.where(back, rough, state["roughness"])
    return np.stack([back, are_cells & ~back])
