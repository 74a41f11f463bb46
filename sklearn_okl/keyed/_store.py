"""A file with the models of all keys, in which a commit writes those that changed."""

from __future__ import annotations

from contextlib import closing
from numbers import Integral
from pathlib import Path

from .._archives import MOST_BYTES
from .._documentation import explained_by
from .._persistence import from_bytes, load, to_bytes
from .._types import Any, PathLike, Self
from ._away import (
    COLUMNS,
    DAMAGES,
    FORMAT,
    check_sum,
    damaged,
    key_of,
    mark_of,
    packed,
    set_mark,
    sqlite,
    summed,
    text_of,
    unpacked,
)
from ._entries import Entries
from ._inner import changed, keyed_in, refuse_others
from ._stored import check_records, home_of, resolved, shaped
from ._waiting import divided, read_back, with_rows

_TABLES = """
CREATE TABLE IF NOT EXISTS shell (one INTEGER PRIMARY KEY CHECK (one = 1), batch INTEGER,
                                  content BLOB NOT NULL, checksum INTEGER);
CREATE TABLE IF NOT EXISTS keys (place INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE,
                                 n_rows INTEGER NOT NULL, last INTEGER NOT NULL,
                                 is_record INTEGER NOT NULL, content BLOB NOT NULL,
                                 checksum INTEGER);
CREATE TABLE IF NOT EXISTS away (key TEXT PRIMARY KEY, n_rows INTEGER NOT NULL,
                                 last INTEGER NOT NULL, is_record INTEGER NOT NULL,
                                 content BLOB NOT NULL, checksum INTEGER);
CREATE TABLE IF NOT EXISTS waiting (number INTEGER PRIMARY KEY, content BLOB NOT NULL,
                                    checksum INTEGER);
"""
_SUMS = {  # of a format, the tables that get checksums
    1: ("shell", "keys"),
    2: ("shell", "keys", "away"),
}
_UPDATED = (
    "n_rows = excluded.n_rows, last = excluded.last, is_record = excluded.is_record, "
    "content = excluded.content, checksum = excluded.checksum"
)


@explained_by(load)
class Store:
    """A file that a model is committed to, batch by batch, and that outlives the process.

    It is a SQLite database. A commit is one transaction: after a crash, whatever its moment, the
    file holds the model as of the last commit that returned, or of the one that was under way, and
    the number of its batch. Of a model of keys a commit writes the keys that have changed since the
    last one, and of rows that wait for their labels those that are new.

    Parameters
    ----------
    path : str or path-like
        The file; it is made if there is none. One process writes it at a time.
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
    milliseconds each. A row that waits in a :class:`RowRegressor` is written once, some hundred
    bytes; then a commit looks at it for a quarter of a microsecond. One that holds what `trusted`
    has to name, such as a date, is written by each commit while it waits, in half a millisecond.
    The first commit of an object writes all keys and rows.

    *Batches.* A queue that delivers at least once gives its batches numbers. One that is not above
    the last committed is refused, so that nothing is learnt twice::

        store = Store("fleet.db")
        model = store.load() if store.batch is not None else KeyedRegressor(key="device")
        for number, X, y in queue:
            if store.batch is None or number > store.batch:
                model.partial_fit(X, y)
                store.commit(model, number)

    *Wrappers.* Keys go from a :class:`KeyedRegressor` that is the estimator of a wrapper, or the
    last step of a pipeline, at any depth. A model that holds one with a `store` elsewhere is
    refused.

    *Damage.* Each key has a checksum, and so has the rest: a file is refused whose bytes are others
    than those that were written.

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
        self._whole_path = resolved(path)
        self._written = None  # key -> mark, as the file has it; None: nobody has looked
        self._written_rows = {}  # number -> row that waits
        self._is_closed = False
        if self.path.is_dir():
            raise ValueError(f"{self.path} is a folder. Give the path of a file in it.")
        if not self.path.parent.exists():
            raise FileNotFoundError(
                f"The folder {self.path.parent} does not exist. Create it first, or give another "
                "path."
            )
        try:
            self._file = sqlite().connect(self.path, isolation_level=None)
        except sqlite().OperationalError as error:
            raise OSError(f"{self.path} cannot be opened: {error}.") from error
        try:
            self._file.execute("PRAGMA synchronous = FULL")
            (version,) = self._file.execute("PRAGMA user_version").fetchone()
            tables = self._file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
            if version not in (*_SUMS, FORMAT) and (version or tables):
                raise ValueError(
                    f"{self.path} is a database of another program, or of another version of this "
                    f"one (format {version}, this is {FORMAT}). Give another path."
                )
            if version != FORMAT:
                more = "".join(
                    f"ALTER TABLE {table} ADD COLUMN checksum INTEGER; "
                    for table in _SUMS.get(version, ())
                )
                self._file.executescript(
                    f"BEGIN; {more} {_TABLES} PRAGMA user_version = {FORMAT}; COMMIT;"
                )
        except (sqlite().DatabaseError, UnicodeDecodeError) as error:  # it may name what is no text
            self._file.close()
            raise damaged(self.path, error, "no store, or a damaged one: {}") from error
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
        self._is_closed = True

    def _check_open(self):
        if self._is_closed:
            raise ValueError(f"This store of {self.path} is closed. Open it again: Store(path).")

    def _version(self):
        """Return a number that is another one when another connection has written the file."""
        return self._file.execute("PRAGMA data_version").fetchone()[0]

    @property
    def batch(self) -> int | None:
        """Number of the last batch that was committed, or None."""
        self._check_open()
        try:
            found = self._file.execute("SELECT batch FROM shell").fetchone()
        except sqlite().DatabaseError as error:
            raise damaged(self.path, error) from error
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
            Nothing is written. Or if keys of the model are stored in another file.
        OSError
            If the file has been removed, or cannot be written.
        """
        self._check_commit(model, batch)
        keyed = keyed_in(model)
        entries = Entries() if keyed is None else keyed._state["entries"]
        is_here, leaving, n_stored = self._away(keyed)
        settled = {"leaving": Entries(), "n_stored": n_stored + len(leaving)} if leaving else {}
        known = self._written, self._written_rows
        written, written_rows = ({}, {}) if self._written is None else known
        waiting, asked, others = divided(model, written_rows)
        # nothing of a file is asked of a model that is looked at, so that it knows of no keys there
        home = (str(keyed.store), self._whole_path, n_stored + len(leaving)) if is_here else None
        shut = {"entries": Entries(), "n_stored": 0, "home": home}
        rest = changed(with_rows(model, others), settled | shut)
        refuse_others(rest)
        shell = to_bytes(rest, trusted=self.trusted)
        now = entries.marks()
        new = [(key, entries.get(key)) for key in now if written.get(key) is not now[key]]
        gone = [(text_of(key),) for key in written if key not in now]
        rows, away = (
            [packed(key, entry, self.trusted) for key, entry in some]
            for some in (new, leaving.items())
        )
        try:
            self._file.execute("BEGIN IMMEDIATE")
            version = self._version()
            if self._written is not None and version != self._written_at:
                raise ValueError(
                    f"{self.path} was written by another Store since this one wrote or read it. "
                    "Load the model again, or commit once more, which writes all of this one."
                )
            last = self.batch
            if batch is not None and last is not None and batch <= last:
                raise ValueError(
                    f"Batch {batch} is not above {last}, the last that was committed: its rows "
                    "would count twice. Load the model again, and leave out batches up to there."
                )
            if is_here:
                mark = self._check_mark(keyed)
                settled |= {"home": (str(keyed.store), self._whole_path, mark)}
            self._write_keys(rows, gone, away, n_stored)
            self._write_rows(asked, [(one,) for one in written_rows if one not in waiting])
            kept = last if batch is None else int(batch)
            _, _, *columns = summed(len(now), len(waiting), kept, shell)
            self._file.execute("INSERT OR REPLACE INTO shell VALUES (1, ?, ?, ?)", columns)
            self._file.execute("COMMIT")
        except BaseException as error:
            if self._file.in_transaction:
                self._file.execute("ROLLBACK")
            self._written = None  # whatever was under way: the next commit writes all
            if isinstance(error, sqlite().OperationalError):
                raise OSError(f"{self.path} could not be written: {error}.") from error
            raise
        self._written, self._written_rows, self._written_at = now, waiting, version
        if any(keyed._state[name] != part for name, part in settled.items()):
            keyed._state = keyed._state | settled
        return self

    def _write_keys(self, rows, gone, away, n_stored):
        if self._written is None:
            self._file.execute("DELETE FROM keys")
        if not n_stored:  # so that those of another model do not come back
            self._file.execute("DELETE FROM away")
        self._file.executemany("DELETE FROM keys WHERE key = ?", gone)
        for table, some in (("keys", rows), ("away", away)):
            self._file.executemany(
                f"INSERT INTO {table} ({COLUMNS}) VALUES (?, ?, ?, ?, ?, ?) "
                f"ON CONFLICT (key) DO UPDATE SET {_UPDATED}",
                some,
            )
        back = [row[:1] for row in rows]
        self._file.executemany("DELETE FROM away WHERE key = ?", back)
        (n_found,) = self._file.execute("SELECT count(*) FROM away").fetchone()
        if n_found != n_stored + len(away):
            raise ValueError(
                f"{self.path} holds {n_found} keys that have gone, and this model knows of "
                f"{n_stored + len(away)}: it is not the one that they have gone from. Load "
                "the model again, or give it a store of its own."
            )

    def _write_rows(self, asked, told):
        if self._written is None:
            self._file.execute("DELETE FROM waiting")
        self._file.executemany("DELETE FROM waiting WHERE number = ?", told)
        self._file.executemany("INSERT OR REPLACE INTO waiting VALUES (?, ?, ?)", asked)

    def _check_commit(self, model, batch):
        if isinstance(model, type) or not hasattr(model, "__dict__"):
            raise TypeError(f"commit wants a model, got {model!r}.")
        self._check_open()
        if not Path(self._whole_path).exists():
            raise FileNotFoundError(
                f"{self.path} has been removed. Open a Store anew, which makes another file, and "
                "commit to that."
            )
        if batch is not None and (not isinstance(batch, Integral) or isinstance(batch, bool)):
            raise TypeError(f"batch={batch!r} is no whole number. Number the batches.")
        if batch is not None and not -(2**63) <= batch < 2**63:
            raise ValueError(f"batch={batch} is beyond 64 bits. Number the batches one by one.")

    def _away(self, keyed):
        """Return if keys go to this file, the entries that do now, and how many are there."""
        n_stored, leaving = (
            (0, {}) if keyed is None else (keyed._state["n_stored"], keyed._state["leaving"])
        )
        if keyed is None or (keyed.store is None and not (n_stored or len(leaving))):
            return False, {}, 0
        path, _ = home_of(keyed, keyed._state)
        if path != self._whole_path and (n_stored or resolved(keyed.store) != self._whole_path):
            if n_stored:
                raise ValueError(
                    f"{n_stored} keys of this model are stored in {path}, not in {self.path}, "
                    f"which would be without them. Commit to Store({path!r}), or, where the file "
                    f"has been moved here, say so: set_params(store={str(self.path)!r})."
                )
            return False, {}, 0  # they wait for a commit to their own
        return True, dict(leaving.items()), n_stored

    def _check_mark(self, keyed):
        """Return the mark of the file, which is to be that of a model whose keys are there."""
        _, known = home_of(keyed, keyed._state)
        if not keyed._state["n_stored"]:
            return set_mark(self._file, known)
        if mark_of(self._file) != known:
            raise ValueError(
                f"{self.path} is not the file that keys of this model are stored in, or another "
                f"model was committed to it since: it holds none of the {keyed._state['n_stored']} "
                "keys that the model knows of. Load the model that is in it."
            )
        return known

    def load(self) -> Any:
        """Return the model as of the last commit.

        Returns
        -------
        model : estimator object
            If its keys go to this file, its `store` is where the file is now.

        Raises
        ------
        ValueError
            If nothing was committed yet, the file is damaged, or lacks keys that have gone from the
            model. Where another process holds it, it is an OSError.
        """
        self._check_open()
        try:
            version = self._version()
            found = self._file.execute("SELECT batch, content, checksum FROM shell").fetchone()
            with closing(self._file.execute(f"SELECT {COLUMNS} FROM keys ORDER BY place")) as rows:
                given, entries = (self.trusted, self.max_bytes), {}
                for row in () if found is None else rows:
                    entries[key_of(row[0])] = unpacked(row, *given)
            waiting = self._file.execute("SELECT * FROM waiting ORDER BY number").fetchall()
            (n_away,) = self._file.execute("SELECT count(*) FROM away").fetchone()
            mark = mark_of(self._file)
            if found is not None:
                check_sum(len(entries), len(waiting), *found)
        except (sqlite().DatabaseError, *DAMAGES) as error:
            raise damaged(self.path, error) from error
        if found is None:
            raise ValueError(f"{self.path} holds no model yet: commit one first.")
        model = from_bytes(found[1], trusted=self.trusted, max_bytes=self.max_bytes)
        keyed = keyed_in(model)
        if keyed is not None:
            keyed._state["entries"] = Entries().changed(entries)
            check_records(keyed, self.path)
            entries = Entries().changed(shaped(keyed, entries))
            keyed._state |= {"entries": entries} | self._home_here(keyed, n_away, mark)
        try:
            self._written_rows = read_back(model, waiting)
        except (ValueError, *DAMAGES) as error:
            raise damaged(self.path, error) from error
        self._written, self._written_at = {} if keyed is None else entries.marks(), version
        return model

    def _home_here(self, keyed, n_away, mark):
        """Point a model that has been read at this file, where its keys have gone to it."""
        home, n_stored = keyed._state["home"], keyed._state["n_stored"]
        if home is not None:
            n_stored = home[-1]
        elif not n_stored:  # or what older versions wrote, who kept no such record
            return {}
        if n_stored != n_away:
            raise ValueError(
                f"{self.path} holds {n_away} of the {n_stored} keys that have gone from its model: "
                "the others are lost, or in another file. Take an older copy."
            )
        if keyed.store is None or resolved(keyed.store) != self._whole_path:
            keyed.store = str(self.path)
        return {"n_stored": n_stored, "home": (str(keyed.store), self._whole_path, mark)}
