"""Which rows belong to which key, and who comes and goes on the way."""

from collections import OrderedDict
from typing import NamedTuple

import numpy as np


class Lives(NamedTuple):
    """The keys of a call, each once for every time that it begins.

    Attributes
    ----------
    keys : list
        The key of each life.
    entries : list of Entry or None
        What was known of it before the call; None where it begins.
    places : ndarray of shape (n,)
        The life of each row.
    last : dict
        Key -> its life at the end of the call, of those that have not gone.
    gone : set
        The keys that were known, or came, and have gone.
    n_dropped : int
        How often one went.
    at : list of int or None
        The places of all lives among the entries; None where one of them begins, or may have gone.
    """

    keys: list
    entries: list
    places: np.ndarray
    last: dict
    gone: set
    n_dropped: int
    at: list | None = None

    def rows(self):
        """Return the rows (n,) sorted by life, in order within each, and where each begins."""
        order = np.argsort(self.places, kind="stable")
        counts = np.bincount(self.places, minlength=len(self.keys))
        return order, np.concatenate([[0], np.cumsum(counts)])


def lives_of(entries, keys, t, max_keys=None, idle=None):
    """Return the lives of rows with these keys, after t others; a limit looks row by row."""
    if max_keys is not None or idle is not None:
        return _limited(entries, keys, t, max_keys, idle)
    index = {}
    for key in keys:
        if key not in index:
            index[key] = len(index)
    places = np.fromiter(map(index.__getitem__, keys), dtype=np.intp, count=len(keys))
    found, at = entries.found(index)
    return Lives(list(index), found, places, index, set(), 0, None if None in found else at)


def is_alive(entry, t, idle):
    """Tell whether a key is still known after t rows."""
    return entry is not None and (idle is None or t - entry.last < idle)


def outnumbered(entries, max_keys):
    """Return the keys whose latest rows are the oldest, as many as there are too many."""
    if max_keys is None or len(entries) <= max_keys:
        return []
    known = sorted(entries.items(), key=lambda item: item[1].last)
    return [key for key, _ in known[: len(entries) - max_keys]]


def overdue(entries, t, idle):
    """Return the keys that no row has had for too long, and that are still there."""
    if idle is None:
        return []
    return [key for key, entry in entries.items() if t - entry.last >= idle]


def _limited(entries, keys, t, max_keys, idle):
    """Return the lives where keys go, after `idle` rows or when too many are there."""
    names, begun, places = [], [], np.empty(len(keys), dtype=np.intp)
    lives, last, evicted, n_dropped = {}, {}, set(), 0
    recent = _recent(entries, keys, max_keys)
    for i, key in enumerate(keys):
        now = t + i
        if key not in lives:
            entry = entries.get(key)
            was_there = entry is not None and key not in evicted
            alive = was_there and is_alive(entry, now, idle)
            begins = True
        else:
            entry, was_there, begins = None, True, idle is not None and now - last[key] >= idle
            alive = not begins
        if begins:
            n_dropped += was_there and not alive
            lives[key] = len(names)
            names.append(key)
            begun.append(entry if alive else None)
        if recent is not None:
            if key not in recent:
                while len(recent) >= max_keys:
                    victim, _ = recent.popitem(last=False)
                    lives.pop(victim, None)
                    evicted.add(victim)
                    n_dropped += 1
            recent[key] = None
            recent.move_to_end(key)
        last[key] = now + 1
        places[i] = lives[key]
    return Lives(names, begun, places, lives, evicted - lives.keys(), n_dropped)


def _recent(entries, keys, max_keys):
    """Return all keys in the order of their latest rows, if there may be too many, or None."""
    if max_keys is None:
        return None
    new = {key for key in keys if entries.get(key) is None}
    if len(entries) + len(new) <= max_keys:
        return None
    known = sorted(entries.items(), key=lambda item: item[1].last)
    return OrderedDict((key, None) for key, _ in known)
