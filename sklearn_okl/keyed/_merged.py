"""Models of all keys merged: shards of one stream, learnt apart."""

from __future__ import annotations

import joblib
import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._types import Any, Self
from .._validation import NAMES
from ..base import SumsOfRows, _same, twin
from ._record import YOUNG, Record
from ._teaching import copied, labelled


class MergesKeys:
    """Beside models of keys: what another one has learnt is learnt too."""

    @explained_by(SumsOfRows.merge)
    def merge(self, other: Any) -> Self:
        """Learn what another such model knows, of the same keys or of others.

        Notes
        -----
        A key that one of the two knows keeps its model, whatever it is. A key of both needs models
        that merge, and so does the prior: :class:`VAWRegressor` is such a one. Where keys go, by
        `max_keys` or `idle`, the order of rows matters, and the call is a TypeError.
        """
        if type(other) is not type(self):
            raise TypeError(
                f"merge needs another {type(self).__name__}, got {type(other).__name__}."
            )
        for model in (self, other):
            check_is_fitted(model)
            model._check_structure()
        if self._as_built("max_keys") is not None or self._as_built("idle") is not None:
            raise TypeError(
                f"A {type(self).__name__} cannot be merged where keys go: by max_keys or idle the "
                "latest rows decide which do."
            )
        if self._as_built("prior") == "init":
            raise TypeError(
                f"A {type(self).__name__} with prior='init' cannot be merged: its keys learn what "
                "the model of all keys left at the time."
            )
        self._refuse_other(other)
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            former, model = self._state, twin(self)
            state = _merged(self, dict(former), other._state)
        self._take_over(former, model, state)
        return self

    def _refuse_other(self, other):
        """Refuse a model that does not fit to this one."""
        mine, theirs = self._state, other._state
        for name in ("n_features_in_", *NAMES, "classes_"):
            if not _same(getattr(self, name, None), getattr(other, name, None)):
                raise ValueError(f"The models have learnt rows of different {name.lstrip('_')}.")
        fault = None
        if not _same(self._built_with["structure"], other._built_with["structure"]):
            fault = "The models have other parameters than each other; give both the same."
        elif mine["kinds"] != theirs["kinds"]:
            fault = "The models have keys of other types than each other, or one has none."
        elif (
            mine["bank"] is not None
            and theirs["bank"] is not None
            and joblib.hash(mine["bank"]) != joblib.hash(theirs["bank"])
        ):
            fault = "The maps of the models differ: give both the same whole numbers as seeds."
        if fault is not None:
            raise ValueError(fault)


def _merged(keyed, state, theirs):
    """Add to a state what another one knows; return it."""
    bank, shared = keyed._bank(), state["bank"] or theirs["bank"]
    t, changed = state["t"], {}
    for key, entry in theirs["entries"].items():
        known = state["entries"].get(key)
        try:
            model = entry.model if known is None else _both(bank, shared, known, entry)
        except (ValueError, TypeError) as error:
            raise labelled(error, key) from error
        n_rows = entry.n_rows if known is None else known.n_rows + entry.n_rows
        changed[key] = entry._replace(n_rows=n_rows, last=t + entry.last, model=model)
    prior = state["prior"]
    if prior is None:
        prior = theirs["prior"]
    elif theirs["prior"] is not None:
        prior = _sum_of(copied(prior), theirs["prior"], "prior=None has no such model.")
    entries = state["entries"].changed(changed)
    return state | {
        "t": t + theirs["t"],
        "entries": entries,
        "prior": prior,
        "bank": shared,
        "lookout": None,  # each has said what it has to say
        "n_dropped": state["n_dropped"] + theirs["n_dropped"],
    }


def _both(bank, shared, *entries):
    """Return the model of a key that two know."""
    models = [
        bank.model(one, shared) if type(one.model) is Record else one.model for one in entries
    ]
    hint = "Only keys that one of the models knows can have such ones."
    model = _sum_of(copied(models[0]), models[1], hint)
    if not all(type(one.model) is Record for one in entries):
        return model
    final = model._state if hasattr(model, "_sums") else model[-1]._state
    rows = None
    if sum(one.n_rows for one in entries) < YOUNG:
        rows = np.concatenate([one.model.rows for one in entries])
    rest = np.zeros(entries[0].model.rest.size)
    width = len(final["theta"])
    rest[:width] = final["theta"]
    rest[width : width + 2] = final["squares"], final["mass"]
    return Record(final["P"].ravel().copy(), rest, rows)


def _sum_of(model, other, hint):
    """Return a model that has learnt what another has, or say why there is none."""
    if not hasattr(model, "merge"):
        raise TypeError(
            f"A {type(model).__name__} cannot be merged: what it has learnt depends on the order "
            f"of the rows. {hint}"
        )
    return model.merge(other)
