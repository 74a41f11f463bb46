"""A copy of a state that is gone back to where rows are in doubt, made again and again."""

import numpy as np


def keep(state, room):
    """Copy a state into the arrays of a room, where they fit."""
    room.update(_kept(state, room))


def _kept(value, room):
    if type(value) is dict:
        room = room if isinstance(room, dict) else {}
        return {name: _kept(part, room.get(name)) for name, part in value.items()}
    if isinstance(value, list):
        rooms = room if isinstance(room, list) else [None] * len(value)
        return [_kept(part, place) for part, place in zip(value, rooms, strict=True)]
    if not isinstance(value, np.ndarray):
        return value
    if not isinstance(room, np.ndarray) or room.shape != value.shape:
        return value.copy()
    np.copyto(room, value)
    return room


def go_back(state, room):
    """Exchange a state, all but what it knows of its targets, for the one in a room."""
    for name in state.keys() - {"targets"}:
        state[name], room[name] = room[name], state[name]
