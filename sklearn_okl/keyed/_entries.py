"""A map from keys to what is known of each, whose copies share all that did not change."""

from itertools import pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from ..untuned import many
from ._record import Record, Young, numbers

_PAGE = 64  # places that are copied when what is known of one of them changes


class Entry(NamedTuple):
    """What is known of a key; it is never edited.

    Attributes
    ----------
    n_rows : int
        How many rows the key has had since it began.
    last : int
        How many rows of all keys there were when its latest had been learnt.
    model : object
        An estimator, or a `Record` of a bank.
    first : ndarray of shape (n, d)
        First rows that a scaler in a bank has not judged yet, or None.
    """

    n_rows: int
    last: int
    model: Any
    first: Any = None


class Columns(NamedTuple):
    """What is known of some keys, a column for each part: a batch needs no object of each key.

    Attributes
    ----------
    counts : ndarray of int of shape (n, 2)
        `n_rows` and `last` as in `Entry`; 0 where nothing is known.
    parts : ndarray of object of shape (n, 3)
        `inverse` and `rest`, the numbers of a record in a bank as bytes, or None; `other`, an
        estimator or what is `Kept` of one, or of a key in a bank `Young` or None.
    """

    counts: np.ndarray
    parts: np.ndarray

    n_rows = property(lambda self: self.counts[:, 0])
    last = property(lambda self: self.counts[:, 1])
    inverse = property(lambda self: self.parts[:, 0])
    rest = property(lambda self: self.parts[:, 1])
    other = property(lambda self: self.parts[:, 2])

    @classmethod
    def of(cls, n):
        """Return columns of n keys of which nothing is known."""
        return cls(np.zeros((n, 2), dtype=np.int64), np.full((n, 3), None))


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
        self._pages = []  # `Columns` of 64 places each

    def __len__(self):
        return self.n_keys

    def place(self, key):
        """Return the place of a key, or None where nothing is known of it."""
        place = self._places.get(key, self.size)
        if place >= self.size or not self._pages[place // _PAGE].counts[place % _PAGE, 0]:
            return None
        return place

    def get(self, key):
        """Return the entry of a key, or None."""
        try:
            place = self._places.get(key, self.size)
        except TypeError as error:
            raise TypeError(f"{key!r} is no key: give text, a number or a tuple.") from error
        return self.at(place)

    def at(self, place):
        """Return the entry at a place, or None."""
        if place >= self.size:
            return None
        n_rows, last, inverse, rest, other = self.one(place)
        if not n_rows:
            return None
        if other is None or type(other) is Young:
            rows, first = (None, None) if other is None else other
            record = Record(numbers(inverse), numbers(rest), rows)
            return Entry(n_rows, last, record, first)
        return Entry(n_rows, last, many.whole(other))

    def one(self, place):
        """Return what `Columns` hold of one place."""
        counts, parts = self._pages[place // _PAGE]
        return *counts[place % _PAGE].tolist(), *parts[place % _PAGE].tolist()

    def places(self, keys):
        """Return the place (n,) of each of some keys, and the keys that get the next ones."""
        size, new = self.size, {}
        places = np.fromiter(map(self._places.get, keys, repeat(size)), np.intp, len(keys))
        for i in np.flatnonzero(places >= size).tolist():
            places[i] = size + new.setdefault(keys[i], len(new))
        return places, list(new)

    def taken(self, places):
        """Return copies of the columns of places; a place that is none holds nothing."""
        found = Columns.of(len(places))
        for page, some, within in _by_page(places):
            if page < len(self._pages):
                for whole, part in zip(self._pages[page], found, strict=True):
                    part[some] = whole[within]
        return found

    def marks(self):
        """Return what stands for each key as it is now: another object once it has changed."""
        marks = {}
        for place in self.occupied().tolist():
            *_, rest, other = self.one(place)
            marks[self._names[place]] = other if rest is None else rest
        return marks

    def occupied(self):
        """Return the places of all keys that are there."""
        if not self._pages:
            return np.empty(0, dtype=np.intp)
        return np.flatnonzero(np.concatenate([page.n_rows for page in self._pages])[: self.size])

    def lasts(self):
        """Return the keys, and of each how many rows there were at its latest."""
        places = self.occupied()
        names = list(map(self._names.__getitem__, places.tolist()))
        return names, self.taken(places).last

    def items(self):
        """Yield keys and entries, in the order in which the keys came first."""
        for place in self.occupied().tolist():
            yield self._names[place], self.at(place)

    def written(self, places, columns, new=(), gone=()):
        """Return the map with other columns at some places, and new keys at the next ones.

        The keys at the places `gone` are there no more.
        """
        other = self._twin()
        for key in new:
            other._append(key)
        if len(gone):
            other._put(np.asarray(gone, dtype=np.intp), Columns.of(len(gone)))
        other._put(places, columns)
        return other._tidied()

    def written_one(self, place, counts, parts):
        """Return the map with others of a key that is there."""
        other, page = self._twin(), place // _PAGE
        mine = other._pages[page] = Columns(*(part.copy() for part in self._pages[page]))
        mine.counts[place % _PAGE], mine.parts[place % _PAGE] = counts, parts
        return other

    def changed(self, entries, gone=()):
        """Return the map with other entries, by key, without the keys that have gone."""
        known = [place for place in map(self.place, gone) if place is not None]
        places, new = self.places(list(entries))
        columns = Columns.of(len(entries))
        for i, entry in enumerate(entries.values()):
            columns.counts[i], columns.parts[i] = entry[:2], _parts_of(*entry[2:])
        return self.written(places, columns, new, known)

    def _twin(self):
        other = object.__new__(Entries)
        other.__dict__.update(self.__dict__)
        other._pages = self._pages.copy()
        return other

    def _put(self, places, columns):
        """Write columns at places, in pages that are copied before."""
        for page, some, within in _by_page(places):
            mine = self._pages[page] = Columns(*(part.copy() for part in self._pages[page]))
            before = np.count_nonzero(mine.n_rows)
            for whole, part in zip(mine, columns, strict=True):
                whole[within] = part[some]
            self.n_keys += int(np.count_nonzero(mine.n_rows) - before)

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
        if place == _PAGE * len(self._pages):
            self._pages.append(Columns.of(_PAGE))

    def _tidied(self):
        if self.size <= 2 * self.n_keys + _PAGE:
            return self
        places = self.occupied()  # many have gone for good
        names = list(map(self._names.__getitem__, places.tolist()))
        return Entries().written(np.arange(len(names)), self.taken(places), names)

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
                model = Record(inverse, rest, own)
            entries[key] = Entry(n_rows, last, model, first)
        self.__init__()
        vars(self).update(vars(self.changed(entries)))


def _by_page(places):
    """Yield pages, which of some places are in each, and where there."""
    pages, order = places // _PAGE, None
    if (np.diff(pages) < 0).any():
        order = np.argsort(pages, kind="stable")
        pages = pages[order]
    starts = np.flatnonzero(np.diff(pages, prepend=-1, append=-1)).tolist()
    for low, high in pairwise(starts):
        some = slice(low, high) if order is None else order[low:high]
        yield int(pages[low]), some, places[some] % _PAGE


def _parts_of(model, first):
    """Return what `Columns` hold of a model and its first rows."""
    if type(model) is not Record:
        return None, None, model
    inverse, rest, rows = model
    young = None if rows is None and first is None else Young(rows, first)
    return _bytes(inverse), _bytes(rest), young


def _bytes(array):
    return None if array is None else np.asarray(array, dtype=np.float64).tobytes()
