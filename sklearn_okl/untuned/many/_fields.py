"""Where in one array of numbers, a record, stands what an ordinary row changes of a small model.

Many models side by side are then one array, a row for each, and what one of them is made of is a
view of some columns. What no ordinary row changes stays in the state that a record was made of.
"""

from functools import cache
from itertools import accumulate, pairwise
from math import prod
from operator import itemgetter

import numpy as np

from ..._tail import Shared

GUARD = ("targets", 0)
JUDGED = "level", "long", "roughest", "power", "of_levels"  # of a target, when a block ends
_NUMBERS = "deviation", "latest", "origin", "unit", "suspect", "worse", *JUDGED, "usual"
_SUMS = "weights", "sums", "squares"
_OF_BOA = "squares", "caps", "rates", "regrets"
_WHOLE = ((), "rounds"), (("errors",), "seen"), (("inputs", "rows"), "n_strange")  # are integers
_NONE = np.empty(0, dtype=int)


class Fields:
    """The fields of records of models that are alike, `size` numbers.

    Parameters
    ----------
    arrays : list
        Of pairs: the path of a dict in a state, and pairs of a name and a shape in it.
    growing : list
        Of a path, a name and the largest shape: arrays whose first axis grows up to there, or, of
        scores, the last one.
    numbers : list of pairs
        Of a path, and names of plain numbers.
    """

    def __init__(self, arrays, growing, numbers):
        self.arrays, self.growing, self.numbers = arrays, growing, numbers
        self.getters = [(path, _getter([name for name, _ in parts])) for path, parts in arrays]
        self.fillers = [np.zeros(prod(shape)) for _, _, shape in growing]
        whole = [((*path, name), shape) for path, parts in arrays for name, shape in parts]
        named = whole + [((*path, name), shape) for path, name, shape in growing]
        named += [((*path, name), ()) for path, names in numbers for name in names]
        named += [(("length", *path, name), ()) for path, name, _ in growing]
        ends = [0, *accumulate(prod(shape) for _, shape in named)]
        self.size = ends[-1]
        of_each = zip(named, pairwise(ends), strict=True)
        self.places = {path: (*ends, shape) for (path, shape), ends in of_each}
        of_experts = dict.fromkeys(path for path, _ in arrays if path[-1:] == ("experts",))
        # of these it is asked whether they are finite: sums, which come first, show in all others
        self.asked = slice(ends[len(of_experts) - 1], ends[len(whole)])
        self.counted = [(), *of_experts, ("mixture", "last"), ("mixture", "stacks", 0)]
        self.is_young = any(path == ("latest",) for path, _, _ in growing)

    def record(self, state):
        """Return the record of a state."""
        parts, lengths = [], []
        for path, getter in self.getters:
            parts += getter(_at(state, path))
        for (path, name, _), filler in zip(self.growing, self.fillers, strict=True):
            part = _at(state, path)[name]
            parts += part, filler[part.size :]
            lengths.append(part.shape[_axis(name)])
        numbers = [_at(state, path)[name] for path, names in self.numbers for name in names]
        return np.concatenate([*parts, numbers, lengths], axis=None)

    def views(self, records):
        """Return the fields of records (S, N) by path, each (S, ...)."""
        n = len(records)
        return {
            path: records[:, low:high].reshape(n, *shape)
            for path, (low, high, shape) in self.places.items()
        }

    def of(self, record, path):
        """Return the field at a path of one record, an array or a number."""
        low, _, shape = self.places[path]
        if ("length", *path) in self.places:
            shape = list(shape)
            shape[_axis(path[-1])] = int(self.of(record, ("length", *path)))
        return record[low : low + prod(shape)].reshape(shape) if shape else record.item(low)

    def emptied(self, state):
        """Return a state without what is in its record."""
        copies = {(): dict(state)}
        for path, parts in self.arrays:
            _copy_at(copies, path).update(dict.fromkeys([name for name, _ in parts]))
        for path, name, _ in self.growing:
            _copy_at(copies, path)[name] = None
        if self.is_young:
            copies["latest",].update(dict.fromkeys(copies["latest",]))
        return copies[()]

    def filled(self, state, record, n):
        """Return a state without what is in a record, n rows later, with it.

        The arrays are parts of the record.
        """
        copies = {(): dict(state)}
        self._fill(copies, record)
        for path in self.counted:
            _copy_at(copies, path)["t"] += n
        for path, name in _WHOLE:
            part = _copy_at(copies, path)
            part[name] = part[name].astype(np.intp)
        for name in ("experts", "last"):
            boa = copies["mixture", name]
            boa["unheard"] = boa["unheard"] and not (boa["squares"] > boa["start"]).all()
        of_rows, most = copies["inputs", "rows"], self.places["inputs", "rows", "block"][2][0]
        of_rows["n_first"] = min(of_rows["n_first"] + n, most)
        if self.is_young:
            _complete(copies["latest",])
        if "beside" in state:  # it is no twin
            copies[()]["doubted"] = _NONE
        return copies[()]

    def _fill(self, copies, record):
        for path, parts in self.arrays:
            part = _copy_at(copies, path)
            for name, _ in parts:
                low, high, shape = self.places[(*path, name)]
                part[name] = record[low:high].reshape(shape)
        lengths = record[self.size - len(self.growing) :].tolist()
        for (path, name, shape), length in zip(self.growing, lengths, strict=True):
            shape, low = list(shape), self.places[(*path, name)][0]
            shape[_axis(name)] = int(length)
            _copy_at(copies, path)[name] = record[low : low + prod(shape)].reshape(shape)
        for path, names in self.numbers:
            low = self.places[(*path, names[0])][0]
            numbers = record[low : low + len(names)].tolist()
            _copy_at(copies, path).update(zip(names, numbers, strict=True))


def _axis(name):
    """Return which axis of a growing array grows."""
    return -1 if name == "scores" else 0


def _complete(latest):
    """Say of the latest rows that none of them was far off, or weighed more than others."""
    n, d = latest["X"].shape
    latest |= {name: np.zeros((n, d), dtype=bool) for name in ("gaps", "far")}
    latest |= {"faulty": latest["faulty"] > 0.0, "weights": np.ones(n)}


def _getter(names):
    return itemgetter(*names) if len(names) > 1 else lambda part: (part[names[0]],)


def _at(state, path):
    for name in path:
        state = state[name]
    return state


def _copy_at(copies, path):
    """Return a copy of the part at a path of a state, whose parents are copies, too."""
    part = copies.get(path)
    if part is None:
        parent = _copy_at(copies, path[:-1])
        before = parent[path[-1]]
        part = Shared(before) if type(before) is Shared else before.copy()
        parent[path[-1]] = copies[path] = part
    return part


def fields_of(state, fence, units):
    """Return the fields of a state, those of all that are like it.

    Whoever is young keeps the latest rows.
    """
    guard, mixture = state["targets"][0], state["mixture"]
    banks = tuple(
        (name, bank["experts"]["theta"].shape[1])
        for name, bank in state["banks"].items()
        if bank["members"]
    )
    sizes = {
        "d": len(state["inputs"]["rows"]["weights"]),
        "n_lags": len(state["inputs"]["lags"]),
        "n_experts": len(state["rounds"]),
        "n_ways": mixture["last"]["rates"].shape[-1],
        "n_fadings": len(mixture["fading"]),
        "n_apart": mixture["apart"]["known"].shape[-1] if "apart" in mixture else 0,
        "n_latest": fence.latest,
        "n_block": fence.block,
        "n_rows": units.block,
        "n_scores": state["errors"]["window"],
    }
    is_young = state["t"] - guard["since"] < fence.reviews[-1]
    return _fields(banks, is_young, "beside" in state, **sizes)


@cache
def _fields(banks, is_young, has_beside, **sizes):
    d, n_block = sizes["d"], sizes["n_block"]
    growing = [
        (("inputs", "rows"), "block", (sizes["n_rows"], d)),
        (("inputs", "rows"), "came", (sizes["n_rows"], 1)),
        (("errors",), "scores", (1, sizes["n_scores"])),
        *((GUARD, name, (sizes["n_latest"],)) for name in ("errors", "values")),
        (GUARD, "block", (n_block, 6)),
        (GUARD, "within", (2,)),
    ]
    if is_young:
        of_latest = ("X", d), ("y", 1), ("faulty", 1)
        growing += [(("latest",), name, (n_block, width)) for name, width in of_latest]
    numbers = [
        (GUARD, _NUMBERS),
        *((("banks", name, "experts"), ("mass",)) for name, _ in banks),
        (("mixture", "stacks", 0), ("mass",)),
    ]
    n_experts = sizes["n_experts"]
    of_mixture = n_experts, sizes["n_ways"], sizes["n_fadings"], sizes["n_apart"]
    arrays = [
        *_of_banks(banks),
        *_of_inputs(d, sizes["n_lags"]),
        *_of_mixture(*of_mixture),
        *_of_model(n_experts),
        *[(("beside",), [("largest", (1,))])] * has_beside,
    ]
    return Fields(arrays, growing, numbers)


def _of_banks(banks):
    """Return what is written of banks of one expert each, whose sums come first."""
    paths = [(("banks", name, "experts"), width) for name, width in banks]
    sums = [(path, [("sums", (1, width * (width + 1) // 2))]) for path, width in paths]
    for path, width in paths:
        of_expert = [(name, (1, width, 1)) for name in ("b", "theta")]
        sums.append((path, [*of_expert, ("squares", (1, 1))]))
    return sums


def _of_inputs(d, n_lags):
    columns = [(name, (d,)) for name in (*_SUMS, "origin", "last", "step", "n_steps")]
    wide = (
        ("known", 2),
        ("believed", 2),
        ("roughness", 3),
        ("steady", 2),
        ("former", 6),
        ("doubt", 2),
    )
    wide += ("together", 2), ("means", 3)
    columns += [(name, (n, d)) for name, n in wide]
    return [
        (("inputs", "rows"), [*columns, ("n_strange", (2,))]),
        (("inputs", "targets"), [*((name, (1,)) for name in _SUMS), ("steady", (2, 1))]),
        (("inputs",), [("lags", (n_lags, 1))]),
    ]


def _of_mixture(K, W, n_fadings, n_apart):
    """Return what is written of a mixture of K experts and W ways."""
    losses = [("losses", (1, K)), ("rounds", (1, 1))]
    stack = [(name, (1, K)) for name in ("b", "theta")] + [("squares", (1,))]
    stack += [(name, (1, K, K)) for name in ("A", "P")]
    usual = [("usual", (1, W + 2))]
    return [
        (("mixture", "experts"), [(name, (1, 1, K)) for name in _OF_BOA]),
        (("mixture", "last"), [(name, (1, 2, W)) for name in _OF_BOA] + usual),
        (("mixture", "last", "likelihoods"), [("losses", (1, 2)), ("rounds", (1, 1))]),
        *((("mixture", "fading", i), losses) for i in range(n_fadings)),
        (("mixture", "stacks", 0), stack),
        (("mixture",), [("limits", (1, 3))]),
        *[(("mixture", "apart"), [("known", (1, n_apart))])] * bool(n_apart),
    ]


def _of_model(K):
    """Return what is written of the whole, of its target and of K experts."""
    sums = [("losses", (1, K)), ("masses", (K,)), ("rounds", (K,)), ("loss", (1,))]
    errors = [(name, (1,)) for name in ("size", "weight", "largest", "seen")]
    return [
        (("errors",), [*errors, ("levels", (1, 99))]),
        (GUARD, [("moved", (3,))]),
        ((), [*sums, ("scored", (2,))]),
    ]
