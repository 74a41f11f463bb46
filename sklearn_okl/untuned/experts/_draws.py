"""The frequencies of kernels, or, where memory counts more than time, what they are drawn from.

A small model keeps of each kernel a seed, its bandwidth and the scales of its columns. The draws
are made again where they are asked for, and remembered by the process, for all models of one seed.
Of a kernel on pairs whose waves are renewed, see `_renewed_waves.py`, it keeps the waves: which two
columns each of them sees, and how.
"""

from functools import lru_cache

import numpy as np

from ...kernels import sample_frequencies, shift_invariant_kernel
from ...kernels._named import KERNELS

WAVES = "columns", "waves"  # of features, the waves that are kept once they have been renewed
DRAWN = "draws", "scales", "bandwidths", *WAVES  # what frequencies are drawn from, of features
_REMEMBERED = 1024  # draws
_MOST = 2**24  # numbers that are drawn of a bank


def drawn(member, scales, m, rng):
    """Return frequencies (n_seen, m) of a member's kernel, whose columns have these scales.

    Of a kernel on pairs each frequency sees two columns, drawn by the squares of their scales.
    """
    n_seen = len(scales)
    n_joint = min(n_seen, 2) if member["pairs"] else n_seen
    width = shift_invariant_kernel(member["kernel"]).width(n_joint)
    gamma = member["bandwidth"] / width
    found = sample_frequencies(n_joint, m, kernel=member["kernel"], gamma=gamma, random_state=rng)
    if member["pairs"]:
        # the least of exponential waiting times: draws without replacement
        waits = -np.log1p(-rng.random_sample((n_seen, m))) / np.square(scales)[:, None]
        joint, found = found, np.zeros((n_seen, m))
        np.put_along_axis(found, np.argsort(waits, axis=0)[:n_joint], joint, axis=0)
    return found * scales[:, None]


def drawn_in_halves(member, scales, m, rng, n_spared):
    """Return what `drawn` does, but that half of the frequencies see so many last columns not."""
    n, half = len(scales) - n_spared, m // 2 * (n_spared > 0)
    found = np.zeros((len(scales), m))
    if half:
        found[:n, :half] = drawn(member, scales[:n], half, rng)
    found[:, half:] = drawn(member, scales, m - half, rng)
    return found


def no_draws(size, n_columns, m, n_spared=0, renewed=False):
    """Return what is kept of the frequencies of so many experts, none of which is there yet."""
    return {
        "columns": np.zeros((size, 2, m * renewed), dtype=np.intp),  # that each wave sees
        "waves": np.zeros((size, 2, m * renewed)),  # and its frequencies; 0: as they were drawn
        "n_frequencies": m,
        "n_spared": n_spared,  # last columns that half of the frequencies do not see
        "scales": np.zeros((size, n_columns)),  # 0 of columns that it does not see
        "bandwidths": np.ones(size),
        # of each a seed, the number of its kernel, 0 for nobody, and whether it sees pairs
        "draws": np.zeros((size, 3), dtype=np.intp),
    }


def is_sound(maps):
    """Tell whether what is kept of frequencies, as by a file, may be drawn from."""
    n, draws, (columns, waves) = int(maps["n_frequencies"]), maps["draws"], map(maps.get, WAVES)
    return bool(
        0 < n * maps["scales"].size <= _MOST
        and 0 <= maps["n_spared"] < maps["scales"].shape[1]
        and draws.shape == (len(maps["bandwidths"]), 3)
        and (draws[:, 0] < 2**32).all()
        and (draws[:, 1] <= len(KERNELS)).all()
        and (maps["bandwidths"] > 0.0).all()
        and columns.shape == waves.shape
        and waves.shape[:2] == (len(draws), 2)
        and waves.shape[2] in (0, n)
        and ((columns >= 0) & (columns < maps["scales"].shape[1])).all()
    )


def to_draw(maps, k, columns, member, scales, rng):
    """Write what the frequencies of expert k are drawn from; its columns have these scales."""
    maps["scales"][k, columns] = scales
    maps["bandwidths"][k] = member["bandwidth"]
    kernel = 1 + KERNELS.index(member["kernel"])
    maps["draws"][k] = rng.randint(2**31 - 1), kernel, member["pairs"]


def drawn_again(maps):
    """Return the frequencies (K, n_columns, m) of all experts, 0 of who is yet to be born."""
    m = int(maps["n_frequencies"])
    frequencies = np.zeros((*maps["scales"].shape, m))
    of_each = zip(maps["draws"].tolist(), maps["bandwidths"].tolist(), maps["scales"], strict=True)
    for k, ((seed, kernel, pairs), bandwidth, scales) in enumerate(of_each):
        if kernel:
            seen = scales > 0.0
            known = seed, KERNELS[kernel - 1], bool(pairs), bandwidth, m, int(maps["n_spared"])
            frequencies[k, seen] = _remembered(scales[seen].tobytes(), *known)
    for k in np.flatnonzero(maps["waves"].any(axis=(1, 2))):
        frequencies[k] = 0.0
        np.put_along_axis(frequencies[k], maps["columns"][k], maps["waves"][k], axis=0)
    return frequencies


def keep_waves(maps, k, frequencies):
    """Write the frequencies (n_columns, m) of expert k, each of which sees two columns at most."""
    columns = np.argsort(frequencies != 0.0, axis=0, kind="stable")[-2:]
    maps["columns"][k] = columns
    maps["waves"][k] = np.take_along_axis(frequencies, columns, axis=0)


@lru_cache(_REMEMBERED)
def _remembered(scales, seed, kernel, pairs, bandwidth, m, n_spared):
    member = {"kernel": kernel, "bandwidth": bandwidth, "pairs": pairs}
    return drawn_in_halves(member, np.frombuffer(scales), m, np.random.RandomState(seed), n_spared)
