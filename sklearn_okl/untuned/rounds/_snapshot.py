"""A snapshot of a state, gone back to where rows are in doubt, and taken again and again."""

import numpy as np


def keep(state, snapshot):
    """Take a snapshot of a state, in the arrays of the one before where they fit."""
    snapshot.update(_kept(state, snapshot))


def _kept(value, snapshot):
    if type(value) is dict:
        snapshot = snapshot if isinstance(snapshot, dict) else {}
        return {name: _kept(part, snapshot.get(name)) for name, part in value.items()}
    if isinstance(value, list):
        snapshots = snapshot if isinstance(snapshot, list) else [None] * len(value)
        return [_kept(part, place) for part, place in zip(value, snapshots, strict=True)]
    if not isinstance(value, np.ndarray):
        return value
    if not isinstance(snapshot, np.ndarray) or snapshot.shape != value.shape:
        return value.copy()
    np.copyto(snapshot, value)
    return snapshot


def go_back(state, snapshot):
    """Exchange a state, all but what it knows of its targets, for its snapshot."""
    for name in state.keys() - {"targets"}:
        state[name], snapshot[name] = snapshot[name], state[name]
