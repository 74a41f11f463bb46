"""Banks of experts: online ridge regressions on features of one shape, learnt together."""

from functools import cache
from operator import itemgetter

import numpy as np

from ..._tail import Shared
from ...features._fourier import fourier_map
from ...learners import VAWRegressor
from ._draws import drawn, drawn_again, no_draws, to_draw
from ._packed import PackedRidge


def inputs_of(bank, seen, said=None):
    """Return what a bank's experts see: steady units are for lines, kernels want small numbers.

    Behind the columns of kernels come their variances, where there are gaps. Before them comes what
    these hear of what experts of banks before have said (n, K), if it is given.
    """
    n_columns, m = frequencies_of(bank["features"]).shape[1:]
    if not m:
        sees_values = bank["features"]["masks"].shape[1] > seen.steady.shape[1]
        return np.hstack([seen.steady, seen.values]) if sees_values else seen.steady
    n = 0 if said is None else n_heard(bank["features"])
    parts = [said[:, :n]] if n else []
    parts += [part[:, :n_columns] for part in (seen.inputs, seen.spreads) if part is not None]
    return np.hstack(parts) if len(parts) > 1 else parts[0]


class MaskedFeatures:
    """Features of a bank: 1, the inputs that an expert sees, and Fourier features of them."""

    @staticmethod
    def transform(maps, U):
        """Return features (g, n, D) of inputs U (n, u), D = 1 + 2m, or 1 + u + 2m with masks.

        With ranks behind the inputs, U (n, 2u), an expert sees either u columns. With variances v
        behind all columns, the features are means over normal inputs: that of a wave of frequency
        w is the wave at the mean of the inputs, times exp(-w' diag(v) w / 2). What an expert hears
        comes before all, and takes the place of the inputs among the features.
        """
        masks, frequencies = maps["masks"], frequencies_of(maps)
        heard, U = np.hsplit(U, [n_heard(maps)])
        low, m = 1 + masks.shape[-1], frequencies.shape[-1]
        has_spreads = m > 0 and U.shape[1] > frequencies.shape[1]
        U, spreads = np.hsplit(U, 2) if has_spreads else (U, None)
        Z = np.empty((len(masks), len(U), low + 2 * m))
        Z[..., 0] = 1.0
        if low > 1:
            lines, width = (heard if heard.shape[1] else U), maps.get("width", low - 1)
            halves = lines.reshape(len(U), -1, width).swapaxes(0, 1)  # (1 or 2, n, width)
            halves = halves[..., : low - 1]
            seen = halves if len(halves) == 1 else halves[maps["halves"]]
            np.multiply(seen, masks[:, None, :], out=Z[..., 1:low])
        if m:
            fourier_map(U, frequencies, 2 * m, out=Z[..., low:])
        if has_spreads:
            rows = np.flatnonzero(spreads.any(axis=1))
            shrunk = np.exp(-0.5 * (spreads[rows] @ np.square(frequencies)))  # (g, r, m)
            Z[:, rows, low:] *= np.tile(shrunk, 2)
        return Z


def each_array(part, change):
    """Return a part of a state with what `change` makes of each of its arrays."""
    return {
        name: change(value) if isinstance(value, np.ndarray) else value
        for name, value in part.items()
    }


def n_heard(maps):
    """Return how many experts those of a bank hear, whose lines are what these say."""
    return maps["masks"].shape[1] if maps.get("hears") else 0


def frequencies_of(maps):
    """Return the frequencies (K, n_columns, m) of a bank's kernels, which it has or draws again."""
    return maps["frequencies"] if "frequencies" in maps else drawn_again(maps)


def start_bank(plan, rng, delay=0, n_targets=None, unseen=((), ())):
    """Return the state of a bank of experts: those that are planned, and room for others.

    Those that are planned do not see inputs in the places `unseen`, see `add_members`.
    """
    shape, members, size = plan
    expert = learner(shape.forgetting, shape.packed)
    u, m = shape.n_linear, shape.n_frequencies
    size_of_all = size, shape.n_columns, m
    kept, n_spared = {"frequencies": np.zeros(size_of_all)}, shape.n_lags * shape.spares_lags
    bank = {
        "members": (),  # a tuple of dicts that nobody edits, so that nobody need copy them
        "forgetting": shape.forgetting,
        "features": Shared(
            masks=np.zeros((size, u)),
            halves=np.zeros(size, dtype=np.intp),  # 1 for experts that see ranks
            **({"hears": True} if shape.n_heard else {}),
            **({"width": shape.n_inputs} if shape.n_heard < u < shape.n_inputs else {}),  # of half
            **(no_draws(*size_of_all, n_spared, not members) if shape.packed and m else kept),
        ),
        "experts": expert._start(shape.n_features, n_targets, bank=[{}] * size, late=delay),
    } | ({"packed": True} if shape.packed else {})
    add_members(bank, members, shape, rng, unseen=unseen)
    if shape.packed:
        expert._close(bank["experts"])
    return bank


def add_members(bank, members, shape, rng, level=0.0, scales=None, unseen=((), ())):
    """Let experts be born into the room that a bank has for them, at some level of the targets.

    Where nothing is known of them, they forecast the level, a number or (q,): theta is
    (level, 0, ...), and b is A theta, as after a past that has taught them so. Scales (n_columns,),
    one array per member, multiply what their kernels see. Inputs in the places `unseen` they do not
    see: the first ones, or the second ones if they see the whole row.
    """
    low = len(bank["members"])
    places = slice(low, low + len(members))
    n_targets = bank["experts"]["theta"].shape[2:]  # () or (q,)
    expert = learner_of(bank)
    fresh = expert._start(shape.n_features, *n_targets, bank=members)
    expert._open(fresh)
    expert._open(bank["experts"])
    for name in ("alpha", "A", "b", "P", "theta", "squares"):
        bank["experts"][name][places] = fresh[name]
    bank["experts"]["theta"][places, 0] = level
    levels = np.broadcast_to(level, n_targets)
    bank["experts"]["b"][places, 0] = np.multiply.outer(fresh["alpha"], levels)
    maps = each_array(bank["features"], np.copy)
    for k, member in enumerate(members, low):
        seen = shape.seen(member["lags"], member["trees"])
        seen[np.array(unseen[member["whole"]], dtype=int)] = False
        n_lines = shape.n_heard or int(seen[: len(seen) - shape.n_values].sum())
        maps["masks"][k] = (shape.n_heard > 0 or seen[: shape.n_linear]) / np.sqrt(n_lines)
        maps["halves"][k] = member["ranks"]
        if shape.n_frequencies:
            first = shape.columns(member["lags"], member["ranks"]).start
            columns = first + np.flatnonzero(seen)
            scale = np.ones(len(columns)) if scales is None else scales[k - low][columns]
            if "frequencies" in maps:
                maps["frequencies"][k, columns] = drawn(member, scale, shape.n_frequencies, rng)
            else:
                to_draw(maps, k, columns, member, scale, rng)
    bank["features"] = Shared(maps)
    bank["members"] += tuple({**member, "forgetting": shape.forgetting} for member in members)


def forget_target(bank, j):
    """Let experts know nothing of target j: they forecast 0 until they have learnt more."""
    for name in {"b", "theta", "squares", "past"} & bank["experts"].keys():
        bank["experts"][name][..., j] = 0.0


def awake(bank, ago=0):
    """Return a bank without the room for experts yet to be born: views of its arrays.

    Its forecasts are those of some rounds ago.
    """
    n = len(bank["members"])
    if n == len(bank["features"]["masks"]) and not ago:
        return bank
    those = itemgetter(slice(n))
    part = {name: each_array(bank[name], those) for name in ("features", "experts")}
    if ago:
        part["experts"]["theta"] = part["experts"]["past"][:, -ago]
    return part


def slopes(bank, k, columns, shares=None):
    """Return the mean squares of the derivatives of an expert's forecasts by the columns it sees.

    That is the diagonal of their average outer product over the rows learnt, up to a factor: the
    derivative of theta' z(x) by a column is g' z(x), as that of a sine is a cosine, and the sum of
    its squares is g' S g, with S the sum of the z z' that the expert keeps. Those of several
    targets are added up, by their shares (q,) where there are any.
    """
    masks, frequencies = bank["features"]["masks"][k], frequencies_of(bank["features"])[k]
    are_inputs = len(masks) > n_heard(bank["features"])  # what is heard is left aside
    experts, frequencies = bank["experts"], frequencies[columns]
    thetas, low = experts["theta"][k], 1 + len(masks)  # (D,) or (D, q)
    sines, cosines = np.split(np.arange(low, len(thetas)), 2)
    S = learner_of(bank)._sums(experts, k) - experts["alpha"][k] * np.eye(len(thetas))
    G = np.zeros((len(frequencies), len(thetas)))
    total = np.zeros(len(G))
    thetas = thetas.reshape(len(thetas), -1).T
    shares = np.ones(len(thetas)) if shares is None else shares
    for theta, share in zip(thetas, shares, strict=False):  # logarithms of targets come last
        if are_inputs:
            G[:, 0] = (masks * theta[1:low])[: len(G)]
        G[:, cosines] = frequencies * theta[sines]
        G[:, sines] = -frequencies * theta[cosines]
        total += share * np.maximum(np.einsum("ud,ud->u", G @ S, G), 0.0)
    return total


def learner_of(bank):
    """Return the forecaster of a bank."""
    return learner(bank["forgetting"], "packed" in bank)


def close_bank(bank, grows):
    """Let what is large in a bank be shared by copies of its state."""
    if not is_closed(bank["experts"]):
        learner_of(bank)._close(bank["experts"], grows)


def is_closed(state):
    """Tell whether what is large in a state of forecasters is shared with its copies, or packed."""
    return "inverse" in state or "sums" in state


@cache
def learner(forgetting, packed=False):
    """Return the forecaster of banks that forget so, and keep triangles only if they are packed."""
    kind = PackedRidge if packed else VAWRegressor
    return kind(forecaster="ridge", forgetting=forgetting)
