"""What is kept of a small model whose rows are ordinary: a record, and all that stays the same."""

from functools import lru_cache, partial

import numpy as np

from ..._tail import Shared
from ...base import _copied, twin
from ...base._bank import threads
from ...base._row_path import NOT_SAVED
from ...base._state import are_unchanged
from ...conformal import _running_errors as running
from ...features import _faults
from ..experts._draws import DRAWN
from ..rounds import _target_units as target_units
from ..rounds._renewal import n_rows
from ..rounds._rounds import Call
from ..rounds._scores import SquaredErrors
from ..rows import _layout
from ._fields import GUARD, fields_of

# what is known of a model and its twin, beside what is in the record of the first
_OF_BOTH = (
    *("odds", "far", "scales", "is_far", "kept", "explained", "since", "rest", "won", "saved"),
    *("surely", "between"),
)
_OF_ERRORS = "size", "weight", "largest", "seen", "levels", "scores"
_PLAIN = {int, float, bool, str, tuple, type(None)}
_DICTS = {dict, Shared}
_REMEMBERED = 64  # draws that models share
FIRST = 2  # rounds of a model, in which its target has no unit, that it learns by itself


class Kept:
    """A model of which a record says what its rows have changed; nothing of it is ever edited.

    Attributes
    ----------
    model : OnlineKernelRegressor
        As it was n rows ago, without what is in the record.
    fields : Fields
    record : ndarray of shape (N,)
        What these say of it now.
    draws : bytes
        What the frequencies of its kernels are drawn from: the same object if they are the same.
    since, t, n : int
        The rounds in which its target was new, and in which it is now, and the rows learnt since
        the record was made of a state.
    twin : tuple or None
        What is kept of a twin that believes every target, and what is known of both, see `Trust`.
    """

    __slots__ = "draws", "fields", "model", "n", "record", "since", "t", "twin"

    def __init__(self, model, fields, record, draws, since, t, n=0, twin=None):
        self.model, self.fields, self.record, self.draws = model, fields, record, draws
        self.since, self.t, self.n, self.twin = since, t, n, twin

    def n_first(self, units):
        """Return how many rows there were of the first block of columns."""
        return min(self.model._state["inputs"]["rows"]["n_first"] + self.n, units.block)

    def offsets(self):
        """Return how far the quantiles (199,) of the next target lie from its forecast."""
        state, of = self.model._state, partial(self.fields.of, self.record)
        errors = state["errors"] | {name: of(("errors", name)) for name in _OF_ERRORS}
        guard = state["targets"][0] | {"unit": of((*GUARD, "unit"))}
        return target_units.unit(guard) * running.quantiles(errors)[0]

    def moved(self, record, twin=None):
        """Return what is kept after one more row."""
        rounds = self.since, self.t + 1, self.n + 1
        return Kept(self.model, self.fields, record, self.draws, *rounds, twin)

    def whole(self):
        """Return the model."""
        model = twin(self.model)
        model._state = state = self.fields.filled(self.model._state, self.record, self.n)
        if self.twin is not None:
            kept, of_both = self.twin
            state["beside"] |= of_both | {"twin": kept.whole()._state}
        return model

    def is_due(self, experts, t):
        """Tell whether something else is due after round t than the end of a block."""
        age = t - self.since
        return t & (t - 1) == 0 or age & (age - 1) == 0 or t in experts.makes_kernels

    def settled(self, experts):
        """Return what is known once all is done that is due now: a model, or what is kept."""
        chooses = self.twin is not None and self.t % experts.fence.block == 0
        if chooses or self.is_due(experts, self.t):
            return _stopped(self.whole())
        return self


def _stopped(model):
    """Return a model that has done what is due after its latest row."""
    state = model._state = _copied(model._state)
    anew = state.pop("anew")  # the former is of no copy of the state
    with threads(model.n_jobs) as run:
        guard = model._guard(model, state, Call(run, {}))
        model._stop(state, run, guard)
    guard.ends(state, 1)
    guard.close(state)
    state["anew"] = anew
    model._close(state)
    return model


def whole(model):
    """Return a model, of which perhaps a record is kept."""
    return model.whole() if type(model) is Kept else model


def kept_of(model, experts, like=None):
    """Return what is kept of a model whose rows may be ordinary, or None.

    What is the same of another one, which is kept, is held once.
    """
    if not _takes_part(model, experts):
        return None
    kept, other = _kept(model, model._state, experts, like), model._state["beside"]["twin"]
    if kept is None or not other:
        return kept
    kept.model._state["beside"]["twin"] = {}
    beside = _kept(model, other, experts, kept)
    of_both = {name: model._state["beside"][name] for name in _OF_BOTH}
    if beside is None:
        return None
    kept.twin = beside, of_both
    return kept


def _kept(model, state, experts, like):
    """Return what is kept of a model of a state, or None."""
    if not _may_be_ordinary(state, experts):
        return None
    fields = fields_of(state, experts.fence, experts.inputs.units)
    record, model = fields.record(state), twin(model)
    model._state = fields.emptied(state)
    if like is not None:
        _share(model, like.model)
    return Kept(model, fields, record, _draws(state), state["targets"][0]["since"], state["t"])


def _share(model, other):
    """Let a model hold what is the same of another one, and all that is built from parameters."""
    model._state = _as_held(model._state, other._state)
    if are_unchanged(model._built_with["checked"], other._built_with["checked"]):
        model._built_with = other._built_with
        setattr(model, NOT_SAVED, getattr(other, NOT_SAVED))


def _as_held(part, other):
    """Return the other one of two dicts if they are equal, else one that shares what is equal."""
    found, is_same = type(part)(part), part.keys() == other.keys()
    for name, one in part.items():
        held = other.get(name)
        if one is held:  # as most are: nothing, and small numbers
            continue
        if type(one) is type(held):
            if type(one) in _DICTS:
                found[name] = one = _as_held(one, held)
            elif _are_equal(one, held):
                found[name] = one = held
        is_same = is_same and one is held
    return other if is_same else found


def _are_equal(one, other):
    """Tell whether two of one type are plain values, or arrays, and equal."""
    if type(one) is not np.ndarray:
        return type(one) in _PLAIN and one == other
    is_alike = one.shape == other.shape and one.dtype == other.dtype
    return is_alike and one.tobytes() == other.tobytes()


def _draws(state):
    """Return what all kernels of a state are drawn from, once for all models of one seed."""
    maps = [bank["features"] for bank in state["banks"].values() if bank["members"]]
    parts = [one[name] for one in maps if "draws" in one for name in DRAWN]
    return _one_of(b"".join([part.tobytes() for part in parts]))


@lru_cache(_REMEMBERED)
def _one_of(draws):
    return draws


def _takes_part(model, experts):
    """Tell whether models like this one are small, and of one target that comes at once."""
    return (
        experts.budget.compact
        and experts.takes_rows
        and type(model._record) is SquaredErrors
        and model._n_targets is None
        and model._columns is None
        and "feature_names_in_" not in vars(model)
        and not model.label_delay
        and model.missing_values is None
        and model.target_range is None
        and bool(experts.kind.mixture.fadings)
        and len(experts.kind.mixture.stacks) == 1
    )


def _may_be_ordinary(state, experts):
    """Tell whether a model has nothing to do but learn rows that are as others were."""
    n_faulty = [guard["n_faulty"] for guard in state["targets"]]
    return not (
        _is_in_doubt(state["targets"][0])
        or (not state["has_warned"] and _faults.will_be_many(n_faulty, n_rows(state)))
        or ("anew" in state and state["anew"]["twin"])
        or any(state.get(name) for name in ("former", "boosting", "sizes"))
        or any(experts.leaves.are_there(state["leaves"]))
        or "all" in state["columns"]
        or _layout.width_of(state["columns"]["layout"], 0) > 0
        or _are_unusual(state["inputs"], experts.inputs.units)
        or _are_odd(state["latest"])
        or not _is_even(state)
    )


def _is_in_doubt(guard):
    """Tell whether something is asked of the next targets."""
    return (
        any(guard[name] for name in ("n_moves", "missed", "restless", "stuck"))
        or guard["dispute"][0] > 0.0
        or len(guard["nones"]) > 0
    )


def _are_unusual(inputs, units):
    """Tell whether columns have not begun, or some value has been a gap or far off."""
    rows = inputs["rows"]
    return (
        rows["origin"] is None
        or rows["quiet"] < units.aftermath
        or bool(inputs["gaps"])
        or bool(inputs["far"])
    )


def _are_odd(latest):
    """Tell whether one of the latest rows was far off or has a weight of its own."""
    return any(latest[name].any() for name in ("gaps", "far")) or (latest["weights"] != 1.0).any()


def _is_even(state):
    """Tell whether what fades has learnt all rows of the model, and is closed."""
    stack, t = state["mixture"]["stacks"][0], state["t"]
    fading = [one for one in state["banks"].values() if one["members"] and one["forgetting"] < 1.0]
    return "P" in stack and stack["t"] == t and all(one["experts"]["t"] == t for one in fading)
