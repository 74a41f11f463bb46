"""A map from keys to what is known of each, whose copies share all that did not change."""

from functools import partial
from itertools import repeat
from typing import Any, NamedTuple

import numpy as np

from ._record import Record

_PAGE = 256  # entries whose places are copied when one of them changes


class Entry(NamedTuple):
    """What is known of a key; it is never edited.

    Attributes
    ----------
    n_rows : int
        How many rows the key has had since it began.
    last : int
        How many rows of all keys there were when its latest had been learnt.
    model : object
        An estimator, or a record (L,) of a bank.
    first : ndarray of shape (n, d)
        First rows that a scaler in a bank has not judged yet, or None.
    """

    n_rows: int
    last: int
    model: Any
    first: Any = None


entry_of = partial(tuple.__new__, Entry)  # from its parts in one tuple, at a third of the time


class Entries:
    """Entries by key. `changed` returns another map, and leaves this one as it was.

    Places of keys are shared by all maps that come of one another: a key is appended once, and a
    map does not see those beyond its own `size`. So a call costs what it changes, not what there
    is.
    """

    def __init__(self):
        self.size = 0  # places in use, of keys that have gone too
        self.n_keys = 0
        self._places = {}  # key -> place, of this map or of one that came of it
        self._names = []  # place -> key
        self._pages = []  # lists of entries, None where a key has gone

    def __len__(self):
        return self.n_keys

    def get(self, key):
        """Return the entry of a key, or None."""
        place = self._places.get(key, self.size)
        return self._pages[place // _PAGE][place % _PAGE] if place < self.size else None

    def found(self, keys):
        """Return the entries of keys, None where there is none, and their places."""
        size, pages = self.size, self._pages
        places = list(map(self._places.get, keys, repeat(size)))
        if size and max(places, default=0) < size:
            return [pages[place // _PAGE][place % _PAGE] for place in places], places
        return [self.get(key) for key in keys], places

    def items(self):
        """Yield keys and entries, in the order in which the keys came first."""
        place = 0
        for page in self._pages:
            for entry in page:
                if entry is not None:
                    yield self._names[place], entry
                place += 1

    def replaced(self, places, entries):
        """Return the map with other entries of keys that are all there, by place."""
        other = object.__new__(Entries)
        other.__dict__.update(self.__dict__)
        pages = other._pages = self._pages.copy()
        for page in {place // _PAGE for place in places}:
            pages[page] = pages[page].copy()
        for place, entry in zip(places, entries, strict=True):
            pages[place // _PAGE][place % _PAGE] = entry
        return other

    def changed(self, entries, gone=()):
        """Return the map with other entries, by key, without the keys that have gone."""
        other = object.__new__(Entries)
        other.__dict__.update(self.__dict__)
        other._pages, own = self._pages.copy(), set()
        for key in gone:
            other._write(key, None, own)
        for key, entry in entries.items():
            other._write(key, entry, own)
        if other.size > 2 * other.n_keys + _PAGE:  # many have gone for good
            return Entries().changed(dict(other.items()))
        return other

    def _write(self, key, entry, own):
        place = self._places.get(key, self.size)
        if place >= self.size:
            if entry is None:
                return
            place = self._append(key)
        page = place // _PAGE
        if page == len(self._pages):
            self._pages.append([])
            own.add(page)
        elif page not in own:
            self._pages[page] = self._pages[page].copy()
            own.add(page)
        entries, place = self._pages[page], place % _PAGE
        if place == len(entries):
            entries.append(None)
        self.n_keys += (entry is not None) - (entries[place] is not None)
        entries[place] = entry

    def _append(self, key):
        """Give a key the next place, which another map that came of this one may have taken."""
        place = self.size
        if len(self._names) == place:
            self._names.append(key)
        if self._names[place] != key:
            self._names = [*self._names[:place], key]
            self._places = {name: i for i, name in enumerate(self._names)}
        self._places[key] = place
        self.size += 1
        return place

    def _held(self):
        """Return what files are to look at."""
        return {"models": [entry.model for _, entry in self.items()]}

    def __getstate__(self):
        items = list(self.items())
        records = [entry.model for _, entry in items if type(entry.model) is Record]
        return {
            "keys": [key for key, _ in items],
            "counts": np.array([entry[:2] for _, entry in items], dtype=np.int64).reshape(-1, 2),
            "inverses": np.array([record.inverse for record in records]),
            "rests": np.array([record.rest for record in records]),
            "rows": [record.rows for record in records],
            "models": [None if type(e.model) is Record else e.model for _, e in items],
            "first": [entry.first for _, entry in items],
        }

    def __setstate__(self, state):
        parts = state["inverses"], state["rests"]
        rows = [array for array in state["rows"] if array is not None]
        rows += [array for array in state["first"] if array is not None]
        if not all(part.dtype == float and np.isfinite(part).all() for part in (*parts, *rows)):
            raise ValueError("The model of a key holds what are no finite numbers. Fit it again.")
        records = zip(*parts, state["rows"], strict=True)
        known = [state[name] for name in ("keys", "models", "first")]
        entries = {}
        for key, model, first, (n_rows, last) in zip(*known, state["counts"].tolist(), strict=True):
            if model is None:
                inverse, rest, own = next(records)
                model = Record(inverse.copy(), rest.copy(), own)
            entries[key] = Entry(n_rows, last, model, first)
        self.__init__()
        vars(self).update(vars(self.changed(entries)))
