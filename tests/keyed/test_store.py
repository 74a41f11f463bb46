"""Bytes, a file that outlives the process, and a step for engines."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from sklearn_okl import (
    KeyedRegressor,
    OnlineKernelRegressor,
    RowRegressor,
    RunningStandardScaler,
    Store,
    VAWRegressor,
    from_bytes,
    keyed_step,
    load,
    make_streaming_pipeline,
    save,
    to_bytes,
)


def stream(n=200, n_keys=6, seed=0):
    rng = np.random.default_rng(seed)
    keys, X = rng.integers(n_keys, size=n), rng.normal(size=(n, 3))
    return keys, X, X[:, 0] * keys + 0.1 * rng.normal(size=n)


def test_bytes_are_those_of_a_file(tmp_path):
    keys, X, y = stream(60)
    model = KeyedRegressor().fit(X, y, keys=keys)
    again = from_bytes(to_bytes(model))
    assert (again.predict(X, keys=keys) == model.predict(X, keys=keys)).all()
    (tmp_path / "m").write_bytes(to_bytes(VAWRegressor().fit(X, y)))
    assert load(tmp_path / "m").n_samples_seen_ == 60
    save(VAWRegressor().fit(X, y), tmp_path / "n")
    assert from_bytes((tmp_path / "n").read_bytes()).n_samples_seen_ == 60


def test_float32_halves_and_is_near():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 100))
    model = VAWRegressor().fit(X, X[:, 0] - X[:, 1])
    whole, half = to_bytes(model), to_bytes(model, dtype="float32")
    assert len(half) < 0.65 * len(whole)
    again = from_bytes(half)
    assert again._state["theta"].dtype == np.float64
    gap = abs(again.predict(X) - model.predict(X)).max()
    assert 0 < gap < 1e-4
    again.partial_fit(X, X[:, 0])
    with pytest.raises(ValueError, match="beyond float32"):
        to_bytes(VAWRegressor().fit(X[:5] * 1e30, X[:5, 0]), dtype="float32")
    with pytest.raises(ValueError, match="not known"):
        to_bytes(model, dtype="float16")


def test_bytes_that_are_damaged_or_too_many_are_refused():
    content = to_bytes(VAWRegressor().fit([[1.0]], [1.0]))
    for bad in (b"", content[:-300], b"PK" * 50):
        with pytest.raises(ValueError, match="The content"):
            from_bytes(bad)
    with pytest.raises(ValueError, match="max_bytes=100"):
        from_bytes(content, max_bytes=100)
    with pytest.raises(TypeError, match="wants bytes"):
        from_bytes("text")


@pytest.mark.parametrize("seed", [0, 1])
def test_a_store_goes_on_bit_for_bit(tmp_path, seed):
    keys, X, y = stream(seed=seed)
    parts = np.split(np.arange(200), [30, 60, 100, 101, 180])
    model = KeyedRegressor(idle=40)
    with Store(tmp_path / "s.db") as store:
        assert store.batch is None
        with pytest.raises(ValueError, match="no model yet"):
            store.load()
        for number, part in enumerate(parts):
            model.partial_fit(X[part], y[part], keys=keys[part])
            store.commit(model, number)
            with Store(tmp_path / "s.db") as other:
                again = other.load()
                assert other.batch == number
            assert again.keys_ == model.keys_
            assert again.n_dropped_ == model.n_dropped_
            one, two = (m.predict(X, keys=keys) for m in (model, again))
            assert (one == two).all()
        one, two = (m.prequential_predict(X, y, keys=keys) for m in (model, again))
        assert (one == two).all()


def test_a_commit_writes_what_changed(tmp_path):
    keys, X, y = stream(300, 50)
    model = KeyedRegressor(VAWRegressor()).fit(X, y, keys=keys)
    store = Store(tmp_path / "s.db").commit(model)
    before = dict(store._file.execute("SELECT key, content FROM keys"))
    count = store._file.total_changes
    store.commit(model.partial_fit(X[:2], y[:2], keys=[7, 9]))
    assert store._file.total_changes - count == 3  # two keys, and the rest
    after = dict(store._file.execute("SELECT key, content FROM keys"))
    assert {key for key in after if after[key] != before.get(key)} == {"7", "9"}
    assert store.batch is None


def test_a_batch_that_comes_again_is_refused_and_changes_nothing(tmp_path):
    keys, X, y = stream(60)
    model = KeyedRegressor().fit(X, y, keys=keys)
    store = Store(tmp_path / "s.db").commit(model, 5)
    content = (tmp_path / "s.db").read_bytes()
    for number in (5, 4):
        with pytest.raises(ValueError, match="not above 5"):
            store.commit(model.partial_fit(X, y, keys=keys), number)
    assert (tmp_path / "s.db").read_bytes() == content
    assert store.commit(model, 6).batch == 6
    for number in (True, 1.5, "7"):
        with pytest.raises(TypeError, match="no whole number"):
            store.commit(model, number)


def test_keys_of_all_types_models_of_any_kind_and_rows_that_wait(tmp_path):
    keys, X, y = stream(80, 3)
    several = [("s", int(k), k / 2) for k in keys]
    with Store(tmp_path / "s.db") as store:
        for estimator in (None, VAWRegressor(forgetting=0.99)):
            model = KeyedRegressor(estimator).fit(X, y, keys=several)
            again = store.commit(model).load()
            assert (again.predict(X, keys=several) == model.predict(X, keys=several)).all()
        model = RowRegressor(KeyedRegressor(key="k"))
        for t in range(40):
            model.ask((t, "id"), {"k": int(keys[t]), "u": X[t, 0]})
            if t % 3:
                model.tell((t, "id"), y[t])
        again = store.commit(model).load()
        assert (again.n_pending_, again.n_samples_seen_) == (model.n_pending_, 26)
        for m in (model, again):
            m.tell((3, "id"), y[3])
        x = {"k": 1, "u": 0.5}
        assert again.predict_one(x) == model.predict_one(x)
        assert store.commit(VAWRegressor().fit(X, y)).load().n_samples_seen_ == 80


def waiting(n, estimator, **parameters):
    """A model of rows that has learnt two, and has n that wait."""
    model = RowRegressor(estimator, **parameters)
    for t in range(n + 2):
        model.ask(("row", t), {"k": t % 2, "u": float(t)})
    return model.tell(("row", 0), 1.0).tell(("row", 1), 2.0)


@pytest.mark.parametrize("estimator", [KeyedRegressor(key="k"), VAWRegressor()])
def test_a_commit_writes_rows_that_wait_once(tmp_path, estimator):
    """Each commit wrote all of them."""
    sizes = []
    for n in (3, 300):
        model = waiting(n, estimator)
        store = Store(tmp_path / f"{n}.db").commit(model)
        for is_read in (False, True):
            model = store.load() if is_read else model
            model.ask("new", {"k": 0, "u": 0.5})
            count = store._file.total_changes
            store.commit(model)
            assert store._file.total_changes - count == 2  # the row, and the rest
            count = store._file.total_changes
            store.commit(model.tell("new", 1.0))
            n_keys = 1 if isinstance(estimator, KeyedRegressor) else 0
            assert store._file.total_changes - count == 2 + n_keys
        sizes.append(len(store._file.execute("SELECT content FROM shell").fetchone()[0]))
    assert abs(sizes[1] - sizes[0]) < 100


@pytest.mark.parametrize("is_told", [False, True])
def test_rows_of_all_kinds_wait_on_in_order(tmp_path, monkeypatch, is_told):
    monkeypatch.setattr(RowRegressor, "_refuse_never", lambda *_: None)  # who takes all of them
    rows = {
        1: {"u": 1, "v": 2.5},
        ("a", (2, 0.5)): {"u": None, "v": float("inf")},
        np.int64(7): {"u": np.float32(0.1), "v": np.True_},
        "day": {"u": 1.0, "v": date(2026, 1, 2)},
        frozenset("ab"): {"u": 2**70, "v": "tëxt"},
        None: {"v": "text", "u": -0.0},
        0.25: {"u": Decimal("0.1"), "v": None},
    }
    model = RowRegressor(KeyedRegressor(VAWRegressor()), max_pending=8)
    if is_told:
        model.learn_one({"u": 1.0, "v": 2.0}, 1.0, key=("s", 1))
        rows = {id: x for id, x in rows.items() if not isinstance(x["v"], (str, date))}
    for t, (id, x) in enumerate(rows.items()):
        model.ask(id, x if is_told is False else {"u": 1.0, "v": t}, key=("s", t))
    trusted = ["builtins.frozenset", "datetime.date", "decimal.Decimal"]
    with Store(tmp_path / "s.db", trusted=trusted) as store:
        store.commit(model)
    with Store(tmp_path / "s.db", trusted=trusted) as store:
        again = store.load()
        assert list(again._pending) == list(model._pending)
        assert repr(list(again._pending.values())) == repr(
            [
                ({n: getattr(v, "item", lambda v=v: v)() for n, v in x.items()}, key, t)
                for x, key, t in model._pending.values()
            ]
        )
        for m in (model, again):
            for t in range(4):
                m.ask(t + 100, {"u": 1.0, "v": 2.0}, key=("s", t))
        assert list(store.commit(again).load()._pending) == list(model._pending)
        assert again.n_given_up_ == model.n_given_up_


def test_rows_are_those_of_the_model_that_is_committed(tmp_path):
    store = Store(tmp_path / "s.db")
    for number in range(3):
        for n in (5, 9):
            model = waiting(n, VAWRegressor())
            assert store.commit(model).load()._pending == model._pending
        other = waiting(9, KeyedRegressor(key="k"))
        other.forget(("row", 5)).ask(("row", 5), {"k": 0, "u": -1.0})
        assert store.commit(other).load()._pending == other._pending
        with pytest.raises(ValueError, match="not above"):
            store.commit(other.forget(("row", 5)), 7 * number).commit(other, 7 * number)
        assert store.load()._pending == other._pending
    store.commit(VAWRegressor().fit([[1.0]], [1.0]))
    assert store._file.execute("SELECT count(*) FROM waiting").fetchone() == (0,)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DELETE FROM waiting WHERE number = 4", "bytes have changed"),
        ("UPDATE waiting SET number = 99 WHERE number = 4", "bytes have changed"),
        ("UPDATE waiting SET content = CAST(content || ' ' AS BLOB)", "bytes have changed"),
        ("UPDATE waiting SET checksum = NULL, content = '[1, 2'", ""),
        ("UPDATE waiting SET checksum = NULL, content = '[1, 2]'", ""),
        ("UPDATE waiting SET checksum = NULL, content = '[{}, [], null]'", ""),
        ("UPDATE waiting SET checksum = NULL, content = '[1, [[\"z\", 2]], null]'", "has fields"),
        ("UPDATE waiting SET checksum = NULL, content = '[1, 2, 3]'", ""),
    ],
)
def test_rows_that_wait_are_looked_at(tmp_path, change, words):
    store = Store(tmp_path / "s.db").commit(waiting(6, VAWRegressor()))
    assert store.load().n_pending_ == 6
    store._file.execute(change)
    with pytest.raises(ValueError, match=f"damaged: .*{words}"):
        store.load()


def test_rows_of_older_files_wait_on(tmp_path):
    """They are with all else that is no key."""
    model = waiting(6, VAWRegressor())
    with Store(tmp_path / "s.db") as store:
        store.commit(model)
        given = (to_bytes(model),)
        store._file.execute("UPDATE shell SET content = ?, checksum = NULL", given)
        store._file.execute("DELETE FROM waiting")
        again = store.load()
        assert again._pending == model._pending
        assert store.commit(again).load()._pending == model._pending
        assert store._file.execute("SELECT count(*) FROM waiting").fetchone() == (6,)


def test_files_that_are_no_stores_are_refused(tmp_path):
    (tmp_path / "text").write_text("no database" * 100)
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE t (x)")
    other.close()
    for name, message in [("text", "no store"), ("other.db", "another program"), (".", "folder")]:
        with pytest.raises(ValueError, match=message):
            Store(tmp_path / name)


@pytest.mark.parametrize("damage", ["cut", "nan", "sizes", "fewer"])
def test_numbers_of_keys_are_looked_at(tmp_path, damage):
    keys, X, y = stream(60, 2)
    store = Store(tmp_path / "s.db").commit(KeyedRegressor().fit(X, y, keys=keys))
    (content,) = store._file.execute("SELECT content FROM keys WHERE key = '1'").fetchone()
    content = {
        "cut": content[:-8],
        "nan": content[:64] + np.array([np.nan]).tobytes() + content[72:],
        "sizes": (3).to_bytes(8, "little") + content[8:],
        "fewer": (2).to_bytes(8, "little") * 2
        + (-1).to_bytes(8, "little", signed=True) * 2
        + bytes(32),
    }[damage]
    store._file.execute(
        "UPDATE keys SET content = ?, checksum = NULL WHERE key = '1'", (content,)
    )  # as a stranger may
    with pytest.raises(ValueError, match="damaged"):
        store.load()


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE keys SET content = CAST(x'01' || substr(content, 2) AS BLOB)",
        "UPDATE keys SET n_rows = n_rows + 1 WHERE key = '1'",
        "UPDATE keys SET key = '7' WHERE key = '1'",
        "DELETE FROM keys WHERE key = '1'",
        "UPDATE shell SET content = CAST(content || x'00' AS BLOB)",
        "UPDATE shell SET batch = 4",
    ],
)
def test_bytes_that_have_changed_are_refused(tmp_path, change):
    """Some forecast otherwise in silence."""
    keys, X, y = stream(60, 2)
    store = Store(tmp_path / "s.db").commit(KeyedRegressor().fit(X, y, keys=keys), 3)
    assert store.load().n_keys_ == 2
    store._file.execute(change)
    with pytest.raises(ValueError, match="damaged: bytes have changed"):
        store.load()


@pytest.mark.parametrize("version", [1, 2])
def test_stores_without_checksums_are_read_and_get_them(tmp_path, version):
    keys, X, y = stream(60, 4)
    path = tmp_path / "s.db"
    model = KeyedRegressor(max_keys=2, store=path) if version == 2 else KeyedRegressor()
    with Store(path) as store:
        store.commit(model.fit(X, y, keys=keys), 3)
        for table in ("shell", "keys", "away"):
            store._file.execute(f"ALTER TABLE {table} DROP COLUMN checksum")
        for table in ("away", "waiting")[version - 1 :]:
            store._file.execute(f"DROP TABLE {table}")
        store._file.execute(f"PRAGMA user_version = {version}")
    with Store(path) as store:
        again = store.load()
        expected = model.predict(X, keys=keys)
        assert (again.predict(X, keys=keys) == expected).all()
        store.commit(again, 4)
        again = store.load()
        assert (again.predict(X, keys=keys) == expected).all()
        store._file.execute("UPDATE shell SET batch = 3")
        with pytest.raises(ValueError, match="bytes have changed"):
            store.load()


def test_what_another_store_has_written_is_not_mixed_with_ours(tmp_path):
    keys, X, y = stream(60)
    mine = KeyedRegressor().fit(X, y, keys=keys)
    store = Store(tmp_path / "s.db").commit(mine, 1)
    with Store(tmp_path / "s.db") as other:
        other.commit(other.load().partial_fit(X[:2], y[:2], keys=[7, 8]), 2)
    mine.partial_fit(X[:1], y[:1], keys=[9])
    with pytest.raises(ValueError, match="by another Store"):
        store.commit(mine, 3)
    assert store.batch == 2
    assert store.commit(mine, 3).load().keys_ == mine.keys_
    assert store.commit(mine, 4).batch == 4


def test_what_a_store_cannot_do_it_says(tmp_path):
    _, X, y = stream(20)
    model = VAWRegressor().fit(X, y)
    with pytest.raises(FileNotFoundError, match="does not exist"):
        Store(tmp_path / "nowhere" / "s.db")
    store = Store(tmp_path / "s.db").commit(model, 1)
    with pytest.raises(ValueError, match="beyond 64 bits"):
        store.commit(model, 2**63)
    for other in (3, VAWRegressor):
        with pytest.raises(TypeError, match="wants a model"):
            store.commit(other)
    assert store.batch == 1
    store._file.execute("PRAGMA query_only = ON")
    with pytest.raises(OSError, match="could not be written"):
        store.commit(model, 2)
    if os.name == "posix":  # where an open file can be removed
        (tmp_path / "s.db").unlink()
        with pytest.raises(FileNotFoundError, match="has been removed"):
            store.commit(model, 2)
    store.close()
    for call in (store.load, lambda: store.commit(model, 2), lambda: store.batch):
        with pytest.raises(ValueError, match="is closed"):
            call()


_WRITERS = r"""
import os, sys, numpy as np
from sklearn_okl import KeyedRegressor, Store, VAWRegressor, from_bytes, to_bytes
some = KeyedRegressor(VAWRegressor(), prior=None).fit(np.ones((9, 3)), np.ones(9), keys=[1] * 9)
from_bytes(to_bytes(some))  # imports what writers then need not
for _ in sys.stdin:  # each line asks for another writer
    writer = os.fork()
    if writer:
        os.waitpid(writer, 0)
        os.write(1, b"gone\n")
        continue
    os.write(1, b"%d\n" % os.getpid())
    store = Store(sys.argv[1])
    model = store.load() if store.batch is not None else KeyedRegressor(VAWRegressor(), prior=None)
    for batch in range(0 if store.batch is None else store.batch + 1, 10**6):
        rng = np.random.default_rng(batch)
        X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
        model.partial_fit(X, y, keys=rng.integers(30, size=20))
        store.commit(model, batch)
        os.write(1, b"%d\n" % batch)  # one write: a kill cannot leave half a line
"""


@pytest.mark.long
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
@pytest.mark.parametrize("n_kills", [2, 50])
def test_a_writer_that_is_killed_leaves_its_last_commit(tmp_path, n_kills):
    rng, before = np.random.default_rng(n_kills), -1
    writers = subprocess.Popen(
        [sys.executable, "-c", _WRITERS, tmp_path / "s.db"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with writers:
        for _ in range(n_kills):
            writers.stdin.write("another\n")
            writers.stdin.flush()
            writer = int(writers.stdout.readline())
            for _ in range(rng.integers(1, 6)):
                last = int(writers.stdout.readline())
            time.sleep(rng.uniform(0.0, 0.03))  # somewhere in the next commits
            os.kill(writer, signal.SIGKILL)
            said = writers.stdout.readline()
            while said != "gone\n":
                last, said = int(said), writers.stdout.readline()
            with Store(tmp_path / "s.db") as store:
                model, batch = store.load(), store.batch
            assert batch >= last > before
            before = batch
        writers.stdin.close()
    expected = KeyedRegressor(VAWRegressor(), prior=None)
    for number in range(before + 1):
        rng = np.random.default_rng(number)
        X, y = rng.normal(size=(20, 3)), rng.normal(size=20)
        expected.partial_fit(X, y, keys=rng.integers(30, size=20))
    assert model.n_samples_seen_ == 20 * (before + 1)
    X, keys = rng.normal(size=(30, 3)), np.arange(30)
    assert (model.predict(X, keys=keys) == expected.predict(X, keys=keys)).all()


def _make():
    return make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())


def test_steps_of_an_engine_are_one_model():
    _, X, y = stream(60)
    expected = _make().prequential_predict(X, y)
    state, found = None, []
    for rows in np.split(np.arange(60), [1, 20, 20, 45]):
        if state is None or len(rows):
            again = keyed_step(state, (X[rows], y[rows]), _make)
            forecasts, state = keyed_step(state, (X[rows], y[rows]), _make)
            assert np.array_equal(again[0], forecasts)  # it is pure
            found.append(forecasts)
    assert np.allclose(np.concatenate(found), expected, atol=1e-10)


def test_steps_put_numbered_rows_in_order_and_learn_none_twice():
    rng, (_, X, y) = np.random.default_rng(1), stream(40)
    expected = _make().prequential_predict(X, y)
    _, state = keyed_step(None, (X[:10], y[:10]), _make, order=np.arange(10))
    rows = np.r_[rng.permutation(np.arange(5, 40)), 7, 12]
    forecasts, state = keyed_step(state, (X[rows], y[rows]), _make, order=rows)
    learnt = ~np.isnan(forecasts)
    assert set(rows[learnt]) == set(range(10, 40))
    assert learnt.sum() == 30
    assert np.allclose(forecasts[learnt], expected[rows[learnt]], atol=1e-10)
    assert from_bytes(state).n_samples_seen_ == 40
    with pytest.raises(ValueError, match="Row 40 of this key is missing, and row 41"):
        keyed_step(state, (X[:1], y[:1]), _make, order=[41])
    assert keyed_step(state, (X[:0], y[:0]), _make)[1] == state
    with pytest.raises(ValueError, match="nothing can be learnt"):
        keyed_step(None, (X[:0], y[:0]), _make)


@pytest.mark.parametrize("is_store", [True, False])
def test_rows_that_wait_can_be_saved_whatever_their_numbers_are(tmp_path, is_store):
    """While a Decimal of a database waited nothing was saved; nanoseconds came back as integers."""
    pd = pytest.importorskip("pandas")
    row = {"a": Decimal("1.5"), "b": Fraction(1, 2), "c": pd.NA, "d": np.float32(0.1), "e": "word"}
    row |= {"f": np.datetime64("2024-01-02T03:00:00.000000000"), "g": np.str_("word"), "h": pd.NaT}
    plain = row | {"a": 1.5, "b": 0.5, "c": None, "d": float(np.float32(0.1)), "h": None}
    given, expected = (
        RowRegressor(OnlineKernelRegressor(budget="tiny", random_state=0)) for _ in range(2)
    )
    for t in range(3):
        given.ask(t, row)
        expected.learn_one(plain, float(t))
    with Store(tmp_path / "s.db") as store:
        given = store.commit(given).load() if is_store else from_bytes(to_bytes(given))
    for t in range(3):
        given.tell(t, float(t))
    assert given.predict_one(row) == expected.predict_one(plain)


def test_a_file_that_is_locked_is_not_damaged(tmp_path):
    """The advice was to take an older copy."""
    path, model = tmp_path / "s.db", RowRegressor().learn_one({"x": 1.0}, 2.0)
    store = Store(path).commit(model, 1)
    store._file.execute("PRAGMA busy_timeout = 10")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for verb in (store.load, lambda: store.batch, lambda: store.commit(model)):
            with pytest.raises(OSError, match="locked"):
                verb()
        other.execute("ROLLBACK")
    assert store.load().n_samples_seen_ == store.batch == 1
    store.close()
