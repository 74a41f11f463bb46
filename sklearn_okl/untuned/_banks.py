"""Banks of experts: online ridge regressions on features of one shape, learnt together."""

from functools import cache

import numpy as np

from .._tail import Shared
from ..features._fourier import fourier_map
from ..kernels import sample_frequencies, shift_invariant_kernel
from ..learners import VAWRegressor


def inputs_of(bank, seen):
    """Return what a bank's experts see: steady units are for lines, kernels want small numbers."""
    return seen.inputs if bank["features"]["frequencies"].shape[-1] else seen.steady


class MaskedFeatures:
    """Features of a bank: 1, the inputs that an expert sees, and Fourier features of them."""

    @staticmethod
    def _transform(maps, U):
        """Return features (g, n, D) of inputs U (n, u), D = 1 + 2m, or 1 + u + 2m with masks."""
        masks, frequencies = maps["masks"], maps["frequencies"]
        low, m = 1 + masks.shape[-1], frequencies.shape[-1]
        Z = np.empty((len(masks), len(U), low + 2 * m))
        Z[..., 0] = 1.0
        if low > 1:
            np.multiply(U, masks[:, None, :], out=Z[..., 1:low])
        if m:
            fourier_map(U, frequencies, 2 * m, out=Z[..., low:])
        return Z


def start_bank(plan, rng, delay=0):
    """Return the state of a bank of experts: those that are planned, and room for others."""
    shape, members, size = plan
    u, m = shape.n_inputs, shape.n_frequencies
    bank = {
        "members": (),  # a tuple of dicts that nobody edits, so that nobody need copy them
        "forgetting": shape.forgetting,
        "features": Shared(
            masks=np.zeros((size, u if shape.linear else 0)),
            frequencies=np.zeros((size, u, m)),
        ),
        "experts": learner(shape.forgetting)._start(shape.n_features, bank=[{}] * size, late=delay),
    }
    add_members(bank, members, shape, rng)
    return bank


def add_members(bank, members, shape, rng, level=0.0):
    """Let experts be born into the room that a bank has for them, at some level of the targets.

    Where nothing is known of them, they forecast the level: theta is (level, 0, ...), and b is
    A theta, as after a past that has taught them so.
    """
    low = len(bank["members"])
    places = slice(low, low + len(members))
    fresh = learner(shape.forgetting)._start(shape.n_features, bank=members)
    learner(shape.forgetting)._open(bank["experts"])
    for name in ("alpha", "A", "b", "P", "theta", "squares"):
        bank["experts"][name][places] = fresh[name]
    bank["experts"]["theta"][places, 0] = level
    bank["experts"]["b"][places, 0] = level * fresh["alpha"]
    masks, frequencies = (bank["features"][name].copy() for name in ("masks", "frequencies"))
    for k, member in enumerate(members, low):
        seen = shape.n_inputs if member["lags"] else shape.n_inputs - shape.n_lags
        masks[k, :seen] = 1.0 / np.sqrt(seen)
        if shape.n_frequencies:
            width = shift_invariant_kernel(member["kernel"]).width(seen)
            frequencies[k, :seen] = sample_frequencies(
                seen,
                shape.n_frequencies,
                kernel=member["kernel"],
                gamma=member["bandwidth"] / width,
                random_state=rng,
            )
    bank["features"] = Shared(masks=masks, frequencies=frequencies)
    bank["members"] += tuple({**member, "forgetting": shape.forgetting} for member in members)


def awake(bank, ago=0):
    """Return a bank without the room for experts yet to be born: views of its arrays.

    Its forecasts are those of some rounds ago.
    """
    n = len(bank["members"])
    if n == len(bank["features"]["masks"]) and not ago:
        return bank
    part = {
        part: {
            name: value[:n] if isinstance(value, np.ndarray) else value
            for name, value in bank[part].items()
        }
        for part in ("features", "experts")
    }
    if ago:
        part["experts"]["theta"] = part["experts"]["past"][:, -ago]
    return part


@cache
def learner(forgetting):
    """Return the forecaster of a bank."""
    return VAWRegressor(forecaster="ridge", forgetting=forgetting)
