"""What the estimators without tuning are made of: a dictionary of kernels, banks of experts."""

from functools import cache
from typing import NamedTuple

import numpy as np

from .._tail import Shared
from ..features._fourier import fourier_map
from ..kernels import sample_frequencies, shift_invariant_kernel
from ..learners import VAWRegressor

# Bandwidths in units that do not depend on the number d of inputs: of standardised rows, two have a
# squared distance of about 2d and an absolute one of about d. Half a decade apart, as a kernel
# ridge forecaster hardly notices less.
_BANDWIDTHS = (
    ("rbf", (0.2, 0.06, 0.6, 0.02, 2.0)),
    ("laplacian", (0.5, 0.15, 1.5, 0.05)),
    ("matern32", (1.0, 0.3, 3.0, 0.1)),
)
_REFINEMENT = 1.8  # about the root of the grid's ratio: between two of its points
_LINEAR_ALPHAS = (0.1, 10.0)
_OF_TARGETS = {"bandwidth": np.nan, "lags": True, "alpha": np.nan, "forgetting": 1.0}
WALKS = ({"kernel": "persistence"} | _OF_TARGETS, {"kernel": "random walk"} | _OF_TARGETS)


class Constants(NamedTuple):
    """The few constants that somebody had to choose; ``python -m benchmarks default`` varies them.

    Attributes
    ----------
    alphas : tuple of float
        Ridges of the kernels that never forget.
    births : tuple of int
        Rounds at which new kernels are born between the best ones and their neighbours.
    apprenticeship : int
        Rounds that a kernel born so learns before it is heard.
    fadings : tuple of float
        Factors by which the experts' likelihoods fade; the regressions start from the first.
    stacks : tuple of (float, float)
        Ridge and forgetting of each ridge regression of the second level.
    frequencies : float
        Factor of the number of frequencies per kernel; the work stays the same.
    """

    alphas: tuple = (0.3, 0.03)
    births: tuple = (512, 2048, 8192)
    apprenticeship: int = 256
    fadings: tuple = (0.95, 0.99)
    stacks: tuple = ((4.0, 0.998), (4.0, 1.0), (0.4, 0.99))
    frequencies: float = 1.0


def dictionary(alphas, lagged):
    """Return the kernels (kernel, bandwidth, sees lags, ridge), those of most use first.

    Half of them see the lags, if there are any.
    """
    kernels = [
        (name, bandwidths[i])
        for i in range(5)
        for name, bandwidths in _BANDWIDTHS
        if i < len(bandwidths)
    ]
    return [
        {"kernel": kernel, "bandwidth": bandwidth, "lags": lags, "alpha": alpha}
        for alpha in alphas
        for kernel, bandwidth in kernels
        for lags in ((False, True) if lagged else (False,))
    ]


def linear_members(forgetting, lagged):
    """Return the linear experts of one forgetting rate, those of most use first."""
    alphas = _LINEAR_ALPHAS if forgetting == 1.0 else (1.0,)
    return [
        {"kernel": "linear", "bandwidth": np.nan, "lags": lags, "alpha": alpha}
        for alpha in alphas
        for lags in ((True, False) if lagged else (False,))
    ]


def refined(members, losses, size, born):
    """Return new members between the best ones and their neighbours on the grid, not born yet."""
    children = [
        members[k] | {"bandwidth": members[k]["bandwidth"] * factor}
        for k in np.argsort(losses, kind="stable")
        for factor in (_REFINEMENT, 1.0 / _REFINEMENT)
    ]
    return [child for child in children if child not in born][:size]


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


class Shape(NamedTuple):
    """What a bank's experts have in common.

    Attributes
    ----------
    n_inputs : int
        Inputs, the latest targets included.
    n_lags : int
        The latest targets, at the end of the inputs.
    n_frequencies : int
        Frequencies per kernel, 0 for linear experts.
    linear : bool
        Whether the inputs are among the features.
    forgetting : float
        Their forgetting rate.
    """

    n_inputs: int
    n_lags: int
    n_frequencies: int
    linear: bool
    forgetting: float

    @property
    def n_features(self):
        """Features an expert."""
        return 1 + self.linear * self.n_inputs + 2 * self.n_frequencies

    @property
    def work(self):
        """Multiplications of an expert and a row, up to a factor."""
        # a past that fades is summed and inverted more often
        return self.n_features**2 * (1.0 if self.forgetting == 1.0 else 3.0)


def shape_of(n_features, n_lags, n_frequencies, forgetting):
    """Return the shape of kernel experts: without the inputs where they are the larger part.

    D^2 would then pay for them in every expert, and the linear experts have them already.
    """
    n_inputs = n_features + n_lags
    return Shape(n_inputs, n_lags, n_frequencies, n_inputs <= 2 * n_frequencies, forgetting)


def start_bank(members, shape, rng, size=None, delay=0):
    """Return the state of a bank of experts, with room for `size` of them."""
    size = len(members) if size is None else size
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
