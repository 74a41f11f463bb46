"""Which rows belong to which key, and who comes and goes on the way."""

from collections import OrderedDict
from typing import Any, NamedTuple

import numpy as np


class Lives(NamedTuple):
    """The keys of a call, each once for every time that it begins.

    Attributes
    ----------
    order : ndarray of int of shape (n,)
        The rows, sorted by life, in order within each.
    starts : ndarray of int of shape (n_lives + 1,)
        Where in `order` each life begins.
    at : ndarray of int of shape (n_lives,)
        The place among the entries of what was known of it; one that is none where it begins.
    to : ndarray of int
        The places of those that are there at the end of the call.
    ends : ndarray of int or None
        Which those are; None: all.
    new : list
        The keys that get the next places.
    gone : list of int
        The places of the keys that have gone.
    n_dropped : int
        How often one went.
    """

    order: np.ndarray
    starts: np.ndarray
    at: np.ndarray
    to: np.ndarray
    ends: Any = None
    new: Any = ()
    gone: Any = ()
    n_dropped: int = 0


def lives_of(entries, keys, t, max_keys=None, idle=None):
    """Return the lives of rows with these keys, after t others; a limit looks row by row."""
    if max_keys is not None or idle is not None:
        return _limited(entries, keys, t, max_keys, idle)
    places, new = entries.places(keys)
    order = _sorted(places, entries.size + len(new))
    places = places[order]
    starts = np.flatnonzero(np.diff(places, prepend=-1, append=-1))
    at = places[starts[:-1]]
    return Lives(order, starts, at, at, new=new)


def _sorted(places, size):
    """Return the order of places below a size; short numbers are sorted in one pass."""
    return np.argsort(places.astype(np.min_scalar_type(size)), kind="stable")


def is_alive(last, t, idle):
    """Tell whether a key whose latest row was number `last` is still known after t rows."""
    return idle is None or t - last < idle


def outnumbered(entries, max_keys):
    """Return the keys whose latest rows are the oldest, as many as there are too many."""
    if max_keys is None or len(entries) <= max_keys:
        return []
    return _by_age(entries)[: len(entries) - max_keys]


def overdue(entries, t, idle):
    """Return the keys that no row has had for too long, and that are still there."""
    if idle is None:
        return []
    keys, last = entries.lasts()
    return [keys[i] for i in np.flatnonzero(t - last >= idle).tolist()]


def _by_age(entries):
    keys, last = entries.lasts()
    return [keys[i] for i in np.argsort(last, kind="stable").tolist()]


def _limited(entries, keys, t, max_keys, idle):
    """Return the lives where keys go, after `idle` rows or when too many are there."""
    at, ends_of, places = [], {}, np.empty(len(keys), dtype=np.intp)
    last, evicted, n_dropped = {}, set(), 0
    recent = _recent(entries, keys, max_keys)
    for i, key in enumerate(keys):
        now = t + i
        if key not in ends_of:
            place = None if key in evicted else entries.place(key)
            alive = place is not None and is_alive(entries.one(place)[1], now, idle)
            was_there, begins = place is not None, True
        else:
            place, was_there, begins = None, True, idle is not None and now - last[key] >= idle
            alive = not begins
        if begins:
            n_dropped += was_there and not alive
            ends_of[key] = len(at)
            at.append(place if alive else entries.size + len(keys))
        if recent is not None:
            if key not in recent:
                while len(recent) >= max_keys:
                    victim, _ = recent.popitem(last=False)
                    ends_of.pop(victim, None)
                    evicted.add(victim)
                    n_dropped += 1
            recent[key] = None
            recent.move_to_end(key)
        last[key] = now + 1
        places[i] = ends_of[key]
    order = _sorted(places, len(at))
    starts = np.searchsorted(places[order], np.arange(len(at) + 1))
    gone = [entries.place(key) for key in evicted - ends_of.keys()]
    to, new = entries.places(list(ends_of))
    ends = np.fromiter(ends_of.values(), np.intp, len(ends_of))
    gone = [place for place in gone if place is not None]
    return Lives(order, starts, np.array(at), to, ends, new, gone, n_dropped)


def _recent(entries, keys, max_keys):
    """Return all keys in the order of their latest rows, if there may be too many, or None."""
    if max_keys is None:
        return None
    new = {key for key in keys if entries.place(key) is None}
    if len(entries) + len(new) <= max_keys:
        return None
    return OrderedDict.fromkeys(_by_age(entries))
