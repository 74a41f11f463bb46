"""One row and all banks at once: what `_banks.py` does bank by bank, one array for all experts.

Of all experts together there is one product for their waves, and one array each for features, steps
and coefficients, an expert's behind those of the one before; only what reads matrices goes bank by
bank. The recursion is `_learn_row` of `RidgeRecursion`, for experts that forecast by ridges.
"""

from functools import lru_cache
from itertools import pairwise
from math import isfinite
from operator import is_
from weakref import ref

import numpy as np

from ...learners._ridge import GAIN_LIMIT
from ._banks import frequencies_of, is_closed, learner_of, n_heard
from ._draws import DRAWN

_OF_EXPERTS = "theta", "b", "squares"  # of each bank, side by side in what is common
_REMEMBERED = 256  # layouts of small models
_BORN = ("masks",)  # of features, which are another array once somebody was born
_LAID_OUT = *_BORN, *DRAWN  # where an equal array may be that of another model


class BankLayout:
    """Where in common arrays of N features of E experts those of each bank are.

    Parameters
    ----------
    banks : sequence of dict
        Those with somebody awake, which come before all others. Those of all kernels see the same
        inputs, or their ranks, too.
    n_walks, n_experts : int
        How many experts come before those of the banks, and how many there may be in all.
    """

    def __init__(self, banks, n_walks, n_experts):
        shapes = [_shape(bank) for bank in banks]
        lengths = np.repeat([d for _, d in shapes], [g for g, _ in shapes])
        ends = np.cumsum([0, *[g * d for g, d in shapes]]).tolist()
        self.places = [slice(*pair) for pair in pairwise(ends)]
        members = np.cumsum([0, *[g for g, _ in shapes]]).tolist()
        self.members = [slice(*pair) for pair in pairwise(members)]
        self.shapes = [(g, 1, d) for g, d in shapes]
        self.starts = np.cumsum(lengths) - lengths
        self.owners = np.repeat(np.arange(len(lengths)), lengths)
        forgetting = np.array([bank["forgetting"] for bank in banks])
        self.of_banks = np.repeat(np.arange(len(banks)), [g for g, _ in shapes])
        self.forgetting = forgetting[self.of_banks][:, None]
        self.fades = bool((forgetting < 1.0).any())
        self.faded = self.forgetting[self.owners]
        of_members = zip(banks, shapes, strict=True)
        there = [np.arange(g) < len(bank["members"]) for bank, (g, _) in of_members]
        self.there = np.concatenate(there)
        self.there_of_all = np.arange(n_experts) < n_walks
        self.there_of_all[n_walks:][: len(self.there)] = self.there
        self.missing = ~self.there_of_all
        lows = zip(members[:-1], banks, strict=True)
        seen = [(low + k, one) for low, bank in lows for k, one in enumerate(bank["members"])]
        without = [n_walks + place for place, one in seen if not one["lags"]]
        self.without_lags = np.array(without, dtype=np.intp)
        self.heard = [n_heard(bank["features"]) for bank in banks]
        self.hears = any(self.heard)
        self._find_features(banks)

    def _find_features(self, banks):
        """Say which of 1, inputs, sines, cosines and steady inputs is a feature, times what.

        Ranks come behind the inputs; steady are these alone. What is heard is yet to be said: 1.
        """
        of_banks = [frequencies_of(bank["features"]) for bank in banks]
        shapes = [part.shape for part in of_banks]
        width, n_waves = max(n for _, n, m in shapes if m), sum(g * m for g, _, m in shapes)
        low, low_of_steady = 1 + width, 1 + width + 2 * n_waves
        places, factors, waves = [], [], []
        for bank, frequencies in zip(banks, of_banks, strict=True):
            g, n, m = frequencies.shape
            masks, halves = (bank["features"][name] for name in ("masks", "halves"))
            zeros, own = np.zeros((g, 1), dtype=np.intp), low + np.arange(g * m).reshape(g, m)
            u = masks.shape[1]
            width_of_half = bank["features"].get("width", u)
            inputs = (1 if m else low_of_steady) + np.arange(u) + width_of_half * halves[:, None]
            inputs *= not n_heard(bank["features"])
            places.append(np.hstack([zeros, inputs, own, own + n_waves]).ravel())
            of_waves = np.full((g, 2 * m), 1.0 / np.sqrt(max(m, 1)))
            factors.append(np.hstack([zeros + 1.0, masks, of_waves]).ravel())
            of_columns = frequencies.transpose(1, 0, 2).reshape(n, g * m)
            if m:
                waves.append(np.pad(of_columns, [(0, width - n), (0, 0)]) / 2.0)  # of half an angle
            low += g * m
        self._waves, self._taken = np.hstack(waves), np.concatenate(places)
        self._factors = np.concatenate(factors)

    def features(self, inputs, steady, out):
        """Write the features (N,) of a row (u,) or (2u,), as kernels and as lines see it."""
        tangents = inputs @ self._waves
        np.tan(tangents, out=tangents)
        radii = tangents * tangents
        radii += 1.0
        np.divide(2.0, radii, out=radii)
        tangents *= radii
        radii -= 1.0
        parts = np.concatenate([_ONE, inputs, tangents, radii, steady])
        np.multiply(parts.take(self._taken), self._factors, out=out)

    def views(self, joined):
        """Return the parts (g, 1, width) of an array (N,), one for each bank."""
        parts = zip(self.places, self.shapes, strict=True)
        return [joined[place].reshape(shape) for place, shape in parts]


class BankRow:
    """A row that all banks have forecast, and may learn then.

    Parameters
    ----------
    layout : BankLayout
    banks : list of dict
        With their states "experts".
    is_own : bool
        Whether the states may be written: their coefficients become views of common arrays.
    """

    is_finite = True  # the latest row, and matrices that were made of it and of those before

    def __init__(self, layout, banks, is_own):
        self.layout, self.banks, self.held = layout, banks, _held(banks)
        # features, these times a root of weights, and what they are times P: of this row
        self.z, self.rows, self.directions = np.empty((3, len(layout.owners)))
        self.by_bank = [layout.views(part) for part in (self.z, self.rows, self.directions)]
        self.common = {}
        self.stops = None  # rounds after which a bank's matrices may be due
        self._join("theta")
        if is_own:
            self.own(banks, is_copy=False)

    def own(self, banks, is_copy):
        """Go on with these banks, of states that are equal and may be written.

        They are a copy of those before where these are somebody's.
        """
        self.banks, self.held = banks, _held(banks)
        for name in _OF_EXPERTS:
            if name not in self.common:
                self._join(name)
            elif is_copy:
                self.common[name] = self.common[name].copy()
            flat, layout = self.common[name], self.layout
            places = layout.members if name == "squares" else layout.places
            for bank, place in zip(banks, places, strict=True):
                state = bank["experts"]
                state[name] = view = flat[place].reshape(state[name].shape)
                self.held.append((state, name, view))

    def _join(self, name):
        parts = [bank["experts"][name] for bank in self.banks]
        n_targets = parts[0].shape[-1]
        self.common[name] = np.concatenate([part.reshape(-1, n_targets) for part in parts])

    @property
    def is_current(self):
        """Whether nobody has put other arrays, or maps, into the states, or opened them."""
        now = [part[name] for part, name, _ in self.held]
        are_there = all(map(is_, now, [held for *_, held in self.held]))
        return are_there and all(map(is_closed, [bank["experts"] for bank in self.banks]))

    @property
    def written(self):
        """Coefficients and sums of all experts, which a row writes."""
        return list(self.common.values())

    def ask(self, inputs, steady):
        """Return the forecasts (E, q) of all experts for a row; changes nothing."""
        self.layout.features(inputs, steady, out=self.z)
        columns = self.common["theta"].T  # one by one, which costs less than as rows of few numbers
        sums = [np.add.reduceat(self.z * theta, self.layout.starts) for theta in columns]
        self.known = np.array(sums).T
        return self.known

    def teach(self, u, weight):
        """Learn targets u (q,) of the row that was asked for last."""
        layout, z, theta = self.layout, self.z, self.common["theta"]
        directions, growth, (of_z, _, of_directions) = self.directions, 1.0, self.by_bank
        if weight == 0.0:  # as if it had not come: what it is times P counts for nothing
            directions.fill(0.0)
        else:
            for bank, part, out in zip(self.banks, of_z, of_directions, strict=True):
                bank["experts"]["inverse"].times_rows(part, out)
        leverages = np.add.reduceat(z * directions, layout.starts)
        np.maximum(leverages, 0.0, out=leverages)
        if layout.fades:
            grown = [
                bank["experts"]["inverse"].tail.growth / bank["forgetting"] for bank in self.banks
            ]
            growth = np.array(grown)[layout.of_banks]
        roots = np.sqrt(weight * growth)
        gains = 1.0 + weight * growth * leverages
        scales = roots / np.sqrt(gains)
        directions *= scales.take(layout.owners)
        errors = scales[:, None] * (u - self.known)
        for coefficients, of_target in zip(theta.T, errors.T, strict=True):
            coefficients += directions * of_target.take(layout.owners)
        squares, b = self.common["squares"], self.common["b"]
        errors *= errors
        if layout.fades:  # in the sums it is the past that fades
            squares *= layout.forgetting
            b *= layout.faded
            errors /= growth[:, None]
            np.multiply(roots.take(layout.owners), z, out=self.rows)
        else:
            np.multiply(roots, z, out=self.rows)
        squares += errors
        for sums, of_target in zip(b.T, (weight * u).tolist(), strict=True):
            sums += z * of_target
        is_any_extreme = gains.item(gains.argmax()) > GAIN_LIMIT
        self._write(gains > GAIN_LIMIT if is_any_extreme else None, weight)

    def _write(self, are_extreme, weight):
        """Write the row and its directions into the tails, and do what is due of the matrices."""
        layout, (_, of_rows, of_directions) = self.layout, self.by_bank
        if self.stops is None:
            self.stops = [_next_stop(bank) for bank in self.banks]
        is_finite = isfinite(np.add.reduce(self.rows) + np.add.reduce(self.directions))
        self.is_finite = is_finite
        parts = zip(self.banks, of_rows, of_directions, strict=True)
        for i, (bank, *row) in enumerate(parts):
            state = bank["experts"]
            state["mass"] = bank["forgetting"] * state["mass"] + weight
            state["inverse"] = state["inverse"].and_rows(*row, is_finite)
            state["t"] += 1
            extreme = are_extreme is not None and bool(are_extreme[layout.members[i]].any())
            if extreme or state["t"] >= self.stops[i]:
                learner_of(bank)._commit(state, extreme)
                self.is_finite = self.is_finite and state["inverse"].is_finite
                self.stops[i] = _next_stop(bank)


class PackedBankRow(BankRow):
    """The same of small models, of which coefficients are the solution of triangles."""

    @property
    def written(self):
        """The same, and the triangles."""
        return super().written + [bank["experts"]["sums"] for bank in self.banks]

    def ask_in_turn(self, inputs, steady, limits, scale):
        """Return the forecasts (E, 1) of experts that hear each other, one a bank.

        In units of a scale of the target, and within limits (3,).
        """
        layout, theta, (low, high, _) = self.layout, self.common["theta"][:, 0], limits.tolist()
        z, known, said = self.z, [], np.empty(len(layout.starts))
        layout.features(inputs, steady, out=z)
        for k, (place, n) in enumerate(zip(layout.places, layout.heard, strict=True)):
            mine = z[place]
            if n:
                mine[1 : 1 + n] *= said[:n]
            known.append(float(mine @ theta[place]))
            said[k] = min(max(known[k], low), high) / scale
        self.known = np.array(known)[:, None]
        return self.known

    def teach(self, u, weight):
        layout, z, theta = self.layout, self.z, self.common["theta"]
        squares, b = self.common["squares"], self.common["b"]
        if layout.fades:
            squares *= layout.forgetting
            b *= layout.faded
        b += z[:, None] * (weight * u)
        parts = zip(self.banks, layout.places, layout.shapes, self.by_bank[0], strict=True)
        for bank, place, (g, _, width), row in parts:
            state, learner = bank["experts"], learner_of(bank)
            learner._add_row(state, row[:, 0], weight)
            of_bank = (part[place].reshape(g, width, -1) for part in (b, theta))
            learner._solve(state, *of_bank)
        after = np.add.reduceat(z[:, None] * theta, layout.starts, axis=0)
        squares += weight * (u - self.known) * (u - after)


_ONE = np.ones(1)


def _next_stop(bank):
    """Return after which round matrices may be due: those of large banks are each round."""
    state = bank["experts"]
    t, inverse = state["t"], state["inverse"]
    if not inverse.is_whole:
        return t + 1
    return t + min(learner_of(bank)._rounds_to_stop(t), inverse.tail.room)


def layout_of(experts, banks, n_experts):
    """Return where everything is: it is kept, for all threads, until somebody is born.

    That is of a model, of its twin, and of one that begins anew. Small models hold none: the
    process remembers those of the latest, once for all that are alike. Nor does anybody hold the
    maps of which it was, once they are others.
    """
    maps = [held for _, _, held in _maps(banks)]
    known = vars(experts).get("row_layouts", ())
    for of_maps, held in known:
        layout = held() if type(held) is ref else held
        if layout is not None and _are_same(maps, [part() for part in of_maps]):
            return layout
    n_walks = experts.inputs.n_walks
    if experts.budget.compact:
        layout = _remembered(tuple(map(_frozen, banks)), n_walks, n_experts)
        held = ref(layout)
    else:
        layout = held = BankLayout(banks, n_walks, n_experts)
    experts.row_layouts = (list(map(ref, maps)), held), *known[:2]
    return layout


@lru_cache(_REMEMBERED)
def _remembered(banks, n_walks, n_experts):
    return BankLayout(list(map(_thawed, banks)), n_walks, n_experts)


def _frozen(bank):
    """Return of a small bank what its layout is made of, as what can be compared."""
    maps = tuple(
        (name, part.tobytes(), part.shape, part.dtype.str)
        if isinstance(part, np.ndarray)
        else (name, part, None, None)
        for name, part in bank["features"].items()
    )
    return maps, tuple([member["lags"] for member in bank["members"]]), bank["forgetting"]


def _thawed(known):
    maps, lags, forgetting = known
    features = {
        name: part if shape is None else np.frombuffer(part, kind).reshape(shape)
        for name, part, shape, kind in maps
    }
    members = [{"lags": sees_lags} for sees_lags in lags]
    return {"features": features, "members": members, "forgetting": forgetting}


def _shape(bank):
    """Return how many experts a bank has room for, and how many features each of them."""
    frequencies, masks = frequencies_of(bank["features"]), bank["features"]["masks"]
    return len(masks), 1 + masks.shape[1] + 2 * frequencies.shape[-1]


def _maps(banks):
    """Return of each bank what is another one once somebody was born, and of another model.

    As a list of dicts, names, and what they hold under them.
    """
    found = []
    for bank in banks:
        features = bank["features"]
        names = _LAID_OUT if "draws" in features else _BORN
        found += [(features, name, features[name]) for name in names]
    return found


def _held(banks):
    """Return the same and the dicts that hold them: all that is still there if a row goes on."""
    return [(bank, "features", bank["features"]) for bank in banks] + _maps(banks)


def _are_same(arrays, known):
    return len(arrays) == len(known) and all(map(is_, arrays, known))
