"""How the entries of keys stand in a file, and those of keys that have gone there."""

import json
import os
import struct
import zlib
from contextlib import closing
from pathlib import Path

import numpy as np

from .._archives import MOST_BYTES
from .._persistence import from_bytes, to_bytes
from ._entries import Entry
from ._record import Record

COLUMNS = "key, n_rows, last, is_record, content, checksum"
FORMAT = 3
# what reading a damaged entry raises
DAMAGES = struct.error, json.JSONDecodeError, UnicodeDecodeError, TypeError
_SIZES = struct.Struct("<4q")  # numbers in the inverse, the rest, the rows and the first rows
_MOST_ASKED = 500  # keys of one question to the file


def sqlite():
    """Import what files of keys alone need."""
    import sqlite3

    return sqlite3


def packed(key, entry, trusted=()):
    """Return the columns of an entry."""
    name = text_of(key), entry.n_rows, entry.last
    if type(entry.model) is not Record:
        return summed(*name, 0, to_bytes(entry.model, trusted=trusted))
    parts = [np.empty(0) if part is None else part for part in (*entry.model, entry.first)]
    sizes = [-1 if part is None else part.size for part in (*entry.model, entry.first)]
    content = _SIZES.pack(*sizes) + b"".join(part.tobytes() for part in parts)
    return summed(*name, 1, content)


def summed(*columns):
    """Return columns, of which the content is the last, and a checksum of them."""
    *others, content = columns
    return *columns, zlib.crc32(content, zlib.crc32(repr(others).encode()))


def check_sum(*columns):
    """Refuse columns that are not those of which the last is the checksum."""
    if columns[-1] is not None and columns != summed(*columns[:-1]):  # before format 3 was none
        raise TypeError("bytes have changed since they were written")


def unpacked(row, trusted=(), max_bytes=MOST_BYTES):
    """Return an entry from its columns."""
    _, n_rows, last, is_record, content, _ = row
    check_sum(*row)
    if not is_record:
        return Entry(n_rows, last, from_bytes(content, trusted=trusted, max_bytes=max_bytes))
    sizes, at, parts = _SIZES.unpack_from(content), _SIZES.size, []
    numbers = np.frombuffer(content, dtype="<f8", offset=at)
    if sum(max(size, 0) for size in sizes) != len(numbers) or min(sizes) < -1:
        raise TypeError("a key has more numbers than it says, or fewer")
    if not np.isfinite(numbers).all():
        raise TypeError("a key has NaN or infinity in it")
    at = 0
    for size in sizes:
        parts.append(None if size < 0 else numbers[at : at + size].astype(np.float64))
        at += max(size, 0)
    inverse, rest, rows, first = parts
    return Entry(n_rows, last, Record(inverse, rest, rows), first)


def fetched(path, keys, mark):
    """Return the entries of those keys that have gone to a file, by key, if it has that mark."""
    found, keys = {}, {text_of(key): key for key in keys}
    if not keys:
        return found
    if not Path(path).exists():
        raise FileNotFoundError(
            f"{path} does not exist, and keys of this model are stored there. Put the file back; "
            "where it has been moved, load the model from it, or set_params(store=...)."
        )
    try:
        with closing(sqlite().connect(path)) as file:
            (version,) = file.execute("PRAGMA user_version").fetchone()
            if version != FORMAT:
                raise ValueError(
                    f"store={str(path)!r} is no store of this version. Give the path of one; Store "
                    "brings one of an older version up to date."
                )
            if mark_of(file) != mark:
                raise ValueError(
                    f"{path} is not the file that keys of this model are stored in, or another "
                    "model was committed to it since. Give the path of that file as store."
                )
            for row in _rows(file, COLUMNS, "away", list(keys)):
                found[keys.pop(row[0])] = unpacked(row)
            if any(_rows(file, "key", "keys", list(keys))):  # which have come back meanwhile
                raise ValueError(
                    f"{path} is ahead of this model, or behind it: it holds keys as of another "
                    "commit than that which this model knows of. Load the model from the store."
                )
    except (sqlite().DatabaseError, *DAMAGES) as error:
        raise damaged(path, error) from error
    return found


def _rows(file, columns, table, names):
    """Yield what a table of an open file holds of keys with these names."""
    for low in range(0, len(names), _MOST_ASKED):
        some = names[low : low + _MOST_ASKED]
        marks = ", ".join("?" * len(some))
        yield from file.execute(f"SELECT {columns} FROM {table} WHERE key IN ({marks})", some)


def mark_of(file):
    """Return the number of the model whose keys have gone to an open file; 0: no number yet."""
    return file.execute("PRAGMA application_id").fetchone()[0]


def set_mark(file, known):
    """Return the mark of an open file, which is to be that known to a model, or a new one."""
    if known and mark_of(file) == known:
        return known
    mark = 1 + int.from_bytes(os.urandom(3), "little")
    file.execute(f"PRAGMA application_id = {mark}")
    return mark


def damaged(path, error, what="damaged: {}. Take an older copy"):
    """Return the error of a file that is no store, or was one, or that another process holds."""
    if isinstance(error, sqlite().OperationalError) and "locked" in str(error):
        return OSError(f"{path} is held by another process: {error}. Try again when it is done.")
    return ValueError(f"{path} is {what.format(error)}.")


def text_of(key):
    """Return a key as text; numbers that are equal have one text."""
    parts = key if type(key) is tuple else (key,)
    plain = [
        int(p) if type(p) is bool or (type(p) is float and p.is_integer()) else p for p in parts
    ]
    return json.dumps(plain if type(key) is tuple else plain[0])


def key_of(text):
    """Return the key of a text."""
    key = json.loads(text)
    return tuple(key) if type(key) is list else key
