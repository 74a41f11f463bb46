"""A file with the models of all keys, in which a commit writes those that changed."""

from __future__ import annotations

import copy
import json
import struct
from contextlib import closing
from numbers import Integral
from pathlib import Path

import numpy as np

from .._archives import MOST_BYTES
from .._persistence import from_bytes, to_bytes
from .._types import Any, PathLike, Self
from ._entries import Entries, Entry
from ._keyed import Keyed, check_records
from ._record import Record

_FORMAT = 1
_TABLES = """
CREATE TABLE IF NOT EXISTS shell (one INTEGER PRIMARY KEY CHECK (one = 1), batch INTEGER,
                                  content BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS keys (place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
                                 n_rows INTEGER NOT NULL, last INTEGER NOT NULL,
                                 is_record INTEGER NOT NULL, content BLOB NOT NULL);
"""
_SIZES = struct.Struct("<4q")  # numbers in the inverse, the rest, the rows and the first rows


def _sqlite():
    """Import what stores alone need."""
    import sqlite3

    return sqlite3


class Store:
    """A file that a model is committed to, batch by batch, and that outlives the process.

    It is a SQLite database. A commit is one transaction: after a crash, whatever its moment, the
    file holds the model as of the last commit that returned, or of the one that was under way, and
    the number of its batch. Of a model of keys a commit writes the keys that have changed since the
    last one.

    Parameters
    ----------
    path : str or path-like
        The file; it is made if there is none. One process writes it at a time.
    trusted : sequence of str, default=()
        As in :func:`load`.
    max_bytes : int, default=536870912
        As in :func:`load`, for each of the models inside.

    Attributes
    ----------
    path : Path
        The file.
    batch : int or None
        Number of the last batch that was committed.

    See Also
    --------
    save : A file that is written as a whole.
    KeyedRegressor : One model a key.

    Notes
    -----
    *Cost.* That of writing the keys that have changed, some 10 kB each in a bank of 32 features,
    and one of waiting for the disk. Keys that are no bank are written as by :func:`to_bytes`, some
    milliseconds each. The first commit of an object writes all keys.

    *Batches.* A queue that delivers at least once gives its batches numbers. One that is not above
    the last committed is refused, so that nothing is learnt twice::

        store = Store("fleet.db")
        model = store.load() if store.batch is not None else KeyedRegressor(key="device")
        for number, X, y in queue:
            if store.batch is None or number > store.batch:
                model.partial_fit(X, y)
                store.commit(model, number)

    *Files of strangers.* No code in the file is run, as in :func:`load`, and the numbers of keys
    are held against their shapes.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_okl import KeyedRegressor, Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(pathlib.Path(folder) / "fleet.db") as store:
    ...         model = KeyedRegressor(key=0).fit([[1, 2.0], [2, 3.0]], [4.0, 5.0])
    ...         store = store.commit(model, batch=1)
    ...     with Store(pathlib.Path(folder) / "fleet.db") as store:
    ...         again, batch = store.load(), store.batch
    >>> again.keys_, batch
    ([1, 2], 1)
    """

    def __init__(
        self, path: str | PathLike, *, trusted: Any = (), max_bytes: int = MOST_BYTES
    ) -> None:
        self.path, self.trusted, self.max_bytes = Path(path), trusted, max_bytes
        self._written = None  # key -> entry, as the file has it; None: nobody has looked
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder. Give the path of a file in it.")
        self._file = _sqlite().connect(self.path, isolation_level=None)
        try:
            self._file.execute("PRAGMA synchronous = FULL")
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
            tables = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version != _FORMAT and (version or tables):
                raise ValueError(
                    f"{self.path} is a database of another program, or of another version of this "
                    f"one (format {version}, this is {_FORMAT}). Give another path."
                )
            if not version:
                self._file.executescript(
                    f"BEGIN; {_TABLES} PRAGMA user_version = {_FORMAT}; COMMIT;"
                )
        except _sqlite().DatabaseError as error:
            self._file.close()
            raise ValueError(f"{self.path} is no store, or a damaged one: {error}.") from error
        except BaseException:
            self._file.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; what was committed is on the disk already."""
        self._file.close()

    @property
    def batch(self) -> int | None:
        """Number of the last batch that was committed, or None."""
        found = self._file.execute("SELECT batch FROM shell").fetchone()
        return None if found is None else found[0]

    def commit(self, model: Any, batch: int | None = None) -> Self:
        """Write a model, all of it or nothing.

        Parameters
        ----------
        model : estimator object
            Any that :func:`to_bytes` takes.
        batch : int, default=None
            Number of the batch that it has learnt last, above that of the last commit. None keeps
            that.

        Returns
        -------
        self : object

        Raises
        ------
        ValueError
            If the batch was committed before: it has been learnt twice. Load the model again.
            Nothing is written.
        """
        if batch is not None and (not isinstance(batch, Integral) or isinstance(batch, bool)):
            raise TypeError(f"batch={batch!r} is no whole number. Number the batches.")
        keyed = _keyed_in(model)
        entries = Entries() if keyed is None else keyed._state["entries"]
        shell = to_bytes(_with_entries(model, Entries()), trusted=self.trusted)
        written = {} if self._written is None else self._written
        now = dict(entries.items())
        changed = [(key, entry) for key, entry in now.items() if written.get(key) is not entry]
        gone = [(_text(key),) for key in written if key not in now]
        rows = [(_text(key), *self._packed(entry)) for key, entry in changed]
        self._file.execute("BEGIN IMMEDIATE")
        try:
            last = self.batch
            if batch is not None and last is not None and batch <= last:
                raise ValueError(
                    f"Batch {batch} is not above {last}, the last that was committed: its rows "
                    "would count twice. Load the model again, and leave out batches up to there."
                )
            if self._written is None:
                self._file.execute("DELETE FROM keys")
            self._file.executemany("DELETE FROM keys WHERE key = ?", gone)
            self._file.executemany(
                "INSERT INTO keys (key, n_rows, last, is_record, content) VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT (key) DO UPDATE SET n_rows = excluded.n_rows, last = excluded.last, "
                "is_record = excluded.is_record, content = excluded.content",
                rows,
            )
            kept = last if batch is None else int(batch)
            self._file.execute("INSERT OR REPLACE INTO shell VALUES (1, ?, ?)", (kept, shell))
            self._file.execute("COMMIT")
        except BaseException:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            self._written = None  # whatever was under way: the next commit writes all
            raise
        self._written = now
        return self

    def load(self) -> Any:
        """Return the model as of the last commit.

        Returns
        -------
        model : estimator object

        Raises
        ------
        ValueError
            If nothing was committed yet, or the file is damaged.
        """
        try:
            found = self._file.execute("SELECT content FROM shell").fetchone()
            with closing(
                self._file.execute(
                    "SELECT key, n_rows, last, is_record, content FROM keys ORDER BY place"
                )
            ) as rows:
                entries = {} if found is None else {_key(row[0]): self._entry(row) for row in rows}
        except (_sqlite().DatabaseError, struct.error, json.JSONDecodeError, TypeError) as error:
            raise ValueError(f"{self.path} is damaged: {error}. Take an older copy.") from error
        if found is None:
            raise ValueError(f"{self.path} holds no model yet: commit one first.")
        model = from_bytes(found[0], trusted=self.trusted, max_bytes=self.max_bytes)
        keyed = _keyed_in(model)
        if keyed is not None:
            keyed._state["entries"] = Entries().changed(entries)
            check_records(keyed, self.path)
            bank, shared = keyed._bank(), keyed._state["bank"]
            entries = {
                key: bank.shaped(entry, shared) if type(entry.model) is Record else entry
                for key, entry in entries.items()
            }
            keyed._state["entries"] = Entries().changed(entries)
        self._written = entries
        return model

    def _packed(self, entry):
        """Return the columns of an entry."""
        if type(entry.model) is not Record:
            content = to_bytes(entry.model, trusted=self.trusted)
            return entry.n_rows, entry.last, 0, content
        parts = [np.empty(0) if part is None else part for part in (*entry.model, entry.first)]
        sizes = [-1 if part is None else part.size for part in (*entry.model, entry.first)]
        content = _SIZES.pack(*sizes) + b"".join(part.tobytes() for part in parts)
        return entry.n_rows, entry.last, 1, content

    def _entry(self, row):
        """Return an entry from its columns."""
        _, n_rows, last, is_record, content = row
        if not is_record:
            model = from_bytes(content, trusted=self.trusted, max_bytes=self.max_bytes)
            return Entry(n_rows, last, model)
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


def _keyed_in(model):
    """Return the fitted model of keys that a model is, or holds as `estimator_`."""
    inner = vars(model).get("estimator_", model)
    return inner if isinstance(inner, Keyed) and "_state" in vars(inner) else None


def _with_entries(model, entries):
    """Return a copy of a model whose keys are others."""
    inner = _keyed_in(model)
    if inner is None:
        return model
    twin = copy.copy(inner)
    twin._state = inner._state | {"entries": entries}
    if inner is model:
        return twin
    model = copy.copy(model)
    model.estimator_ = twin
    return model


def _text(key):
    """Return a key as text; numbers that are equal have one text."""
    parts = key if type(key) is tuple else (key,)
    plain = [
        int(p) if type(p) is bool or (type(p) is float and p.is_integer()) else p for p in parts
    ]
    return json.dumps(plain if type(key) is tuple else plain[0])


def _key(text):
    key = json.loads(text)
    return tuple(key) if type(key) is list else key
