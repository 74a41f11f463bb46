"""A snapshot of a state, gone back to where rows are in doubt, and taken again and again."""

import numpy as np

from ..._tail import Shared

_NESTED = {dict, list, Shared}


def keep(state, snapshot):
    """Take a snapshot of a state, in the arrays of the one before where they fit."""
    snapshot.update(_kept(state, snapshot))


def _kept(value, snapshot):
    if type(value) is dict:  # there are hundreds of parts: a call takes longer than a look
        known, kept = snapshot if isinstance(snapshot, dict) else {}, value.copy()
        for name, part in value.items():
            if isinstance(part, np.ndarray):
                if part.size:
                    kept[name] = _kept_array(part, known.get(name))
            elif type(part) in _NESTED:
                kept[name] = _kept(part, known.get(name))
        return kept
    if type(value) is Shared:
        return Shared(value)
    if type(value) is list:
        snapshots = snapshot if isinstance(snapshot, list) else [None] * len(value)
        return [_kept(part, place) for part, place in zip(value, snapshots, strict=True)]
    return _kept_array(value, snapshot) if isinstance(value, np.ndarray) else value


def _kept_array(value, snapshot):
    if not isinstance(snapshot, np.ndarray) or snapshot.shape != value.shape:
        return value.copy()
    np.copyto(snapshot, value)
    return snapshot


def go_back(state, snapshot):
    """Exchange a state, all but what it knows of its targets, for its snapshot."""
    for name in state.keys() - {"targets"}:
        state[name], snapshot[name] = snapshot[name], state[name]
