"""Geometric covering intervals: 1, 2, 4, ... blocks of rounds, each begun at its multiples."""

import math


def levels_begun(block):
    """Return how many intervals begin with a block (1, 2, ...): of 1, 2, 4, ... blocks."""
    return int(block & -block).bit_length()


def log_prior_of(block):
    """Return the logarithm of the prior of each interval that begins with a block (1, 2, ...).

    All of them together have 1: those of block j share 6 / (pi j)^2.
    """
    return math.log(6.0 / (math.pi * block) ** 2 / levels_begun(block))


def covering(start, stop, min_length):
    """Cut the rounds from start to before stop into covering intervals, the longest first.

    Returns
    -------
    pieces : list of tuple of (int, int)
        First block, counted from 1, and number of blocks of each.
    n_left : int
        Rounds at both ends that fill no block.
    """
    first, last = -(-start // min_length) + 1, stop // min_length + 1
    if first >= last:
        return [], stop - start
    pieces, block = [], first
    while block < last:
        size = block & -block
        while block + size > last:
            size //= 2
        pieces.append((block, size))
        block += size
    return pieces, stop - start - (last - first) * min_length
