"""Stores that are moved, removed or replaced, and models that are told of others in mid-stream."""

import pickle
import sqlite3
from contextlib import closing

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.preprocessing import FunctionTransformer

from sklearn_okl import (
    KeyedRegressor,
    OnlineConformalRegressor,
    RefitRegressor,
    RowRegressor,
    Store,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)


def stream(n=300, n_keys=30, seed=0):
    rng = np.random.default_rng(seed)
    keys, X = rng.integers(n_keys, size=n), rng.normal(size=(n, 2))
    return keys, X, X[:, 0] + keys


def committed(path, *, n_keys=30, **params):
    """Return a model most of whose keys are in a store, with its rows and their keys."""
    keys, X, y = stream(n_keys=n_keys)
    model = KeyedRegressor(VAWRegressor(), store=path, **({"max_keys": 5} | params))
    with Store(path) as store:
        store.commit(model.fit(X, y, keys=keys), 1)
    return model, X, keys, model.predict(X, keys=keys)


def n_away(path):
    with closing(sqlite3.connect(path)) as file:
        return file.execute("SELECT count(*) FROM away").fetchone()[0]


@pytest.mark.parametrize("way", ["rename", "copy"])
def test_a_store_that_has_moved_gives_its_model_with_all_keys(tmp_path, way):
    _, X, keys, expected = committed(tmp_path / "a.db")
    if way == "rename":
        (tmp_path / "a.db").rename(tmp_path / "b.db")
    else:
        (tmp_path / "b.db").write_bytes((tmp_path / "a.db").read_bytes())
    with Store(tmp_path / "b.db") as store:
        again = store.load()
        assert (again.predict(X, keys=keys) == expected).all()
        assert again.store == str(tmp_path / "b.db")
        store.commit(again, 2)
        assert n_away(tmp_path / "b.db") == again.n_stored_ == 25
        store.commit(again.partial_fit(X[:9], X[:9, 0], keys=keys[:9]), 3)
        assert len(again._state["leaving"]) == 0
        assert (store.load().predict(X, keys=keys) == again.predict(X, keys=keys)).all()


def test_a_relative_path_means_the_same_file_in_each_folder(tmp_path, monkeypatch):
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    keys, X, y = stream()
    model = KeyedRegressor(VAWRegressor(), max_keys=5, store="s.db").fit(
        X[:99], y[:99], keys=keys[:99]
    )
    monkeypatch.chdir(tmp_path / "sub")
    with Store(tmp_path / "s.db") as store:
        store.commit(model, 1)
        assert n_away(tmp_path / "s.db") == model.n_stored_ > 0
        expected = model.predict(X, keys=keys)
        assert (store.load().predict(X, keys=keys) == expected).all()
    assert model.get_params()["store"] == clone(model).store == "s.db"
    monkeypatch.chdir(tmp_path)
    with Store("s.db") as store:
        monkeypatch.chdir(tmp_path / "sub")
        again = store.load()
        store.commit(again.partial_fit(X[99:], y[99:], keys=keys[99:]), 2)
    whole = KeyedRegressor(VAWRegressor()).fit(X, y, keys=keys)
    assert np.allclose(again.predict(X, keys=keys), whole.predict(X, keys=keys))
    assert not (tmp_path / "sub" / "s.db").exists()


def test_a_store_that_is_gone_or_another_is_no_store_without_keys(tmp_path):
    model, X, keys, expected = committed(tmp_path / "s.db")
    (tmp_path / "s.db").rename(tmp_path / "kept.db")
    known = model.keys_[:1]
    assert np.isfinite(model.predict(X[:1], keys=known)).all()  # nothing of the file is asked
    for call in (model.predict, lambda X, keys: model.partial_fit(X, X[:, 0], keys=keys)):
        with pytest.raises(FileNotFoundError, match="does not exist"):
            call(X, keys=keys)
    with Store(tmp_path / "s.db") as store:  # an empty one in its place
        for call in (lambda: model.predict(X, keys=keys), lambda: store.commit(model, 2)):
            with pytest.raises(ValueError, match="not the file that keys"):
                call()
        store.commit(KeyedRegressor(store=tmp_path / "s.db").fit(X, X[:, 0], keys=keys), 1)
        with pytest.raises(ValueError, match="not the file that keys"):
            model.predict(X, keys=keys)
    (tmp_path / "kept.db").replace(tmp_path / "s.db")
    assert (model.predict(X, keys=keys) == expected).all()


def test_a_commit_elsewhere_does_not_leave_stored_keys_behind(tmp_path):
    model, X, keys, expected = committed(tmp_path / "a.db")
    with Store(tmp_path / "b.db") as store:
        with pytest.raises(ValueError, match="25 keys of this model are stored in"):
            store.commit(model, 1)
        assert store.batch is None
    assert n_away(tmp_path / "a.db") == 25
    assert (model.predict(X, keys=keys) == expected).all()


def test_another_path_in_mid_stream_is_that_of_the_file_or_refused(tmp_path):
    model, X, keys, expected = committed(tmp_path / "a.db")
    model.set_params(store=tmp_path / "b.db")
    with pytest.raises(FileNotFoundError, match=r"b\.db does not exist"):
        model.predict(X, keys=keys)
    with Store(tmp_path / "b.db") as store, pytest.raises(ValueError, match="not the file"):
        store.commit(model, 2)
    (tmp_path / "a.db").replace(tmp_path / "b.db")
    assert (model.predict(X, keys=keys) == expected).all()
    with Store(tmp_path / "b.db") as store:
        store.commit(model.partial_fit(X[:40], X[:40, 0], keys=keys[:40]), 2)
        assert (store.load().predict(X, keys=keys) == model.predict(X, keys=keys)).all()
    assert n_away(tmp_path / "b.db") == 25


@pytest.mark.parametrize("is_stored", [True, False])
def test_a_store_is_not_taken_away_while_keys_are_there_or_on_their_way(tmp_path, is_stored):
    model, X, keys, expected = committed(tmp_path / "s.db")
    if not is_stored:
        model.fit(X, X[:, 0] + keys, keys=keys)
    before = pickle.dumps(model.set_params(store=None))
    store = Store(tmp_path / "s.db")
    for call in (
        lambda: model.predict(X, keys=keys),
        lambda: model.partial_fit(X, X[:, 0], keys=keys),
        lambda: model.model_of(keys[0]),
        lambda: store.commit(model),
    ):
        with pytest.raises(ValueError, match="store=None, and 25 keys"):
            call()
    store.close()
    assert pickle.dumps(model) == before
    assert (model.set_params(store=tmp_path / "s.db").predict(X, keys=keys) == expected).all()
    model.set_params(store=None).fit(X, X[:, 0], keys=keys)
    assert (model.n_stored_, model.n_keys_) == (0, 5)


def test_a_file_that_has_lost_keys_says_so(tmp_path):
    committed(tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        store._file.execute("DELETE FROM away WHERE key IN (SELECT key FROM away LIMIT 3)")
        with pytest.raises(ValueError, match="holds 22 of the 25 keys"):
            store.load()


@pytest.mark.parametrize("n_more", [1, 40])
def test_a_copy_that_lags_behind_the_store_says_so(tmp_path, n_more):
    """Keys that had come back meanwhile were new ones to it."""
    model, X, keys, expected = committed(tmp_path / "s.db")
    copy = pickle.loads(pickle.dumps(model))
    back = next(key for key in keys if key not in model.keys_)
    with Store(tmp_path / "s.db") as store:
        model.partial_fit(X[:n_more], X[:n_more, 0], keys=[back] * n_more)
        assert (copy.predict(X, keys=keys) == expected).all()
        store.commit(model, 2)
    with pytest.raises(ValueError, match="ahead of this model"):
        copy.predict(X[:1], keys=[back])
    assert np.isfinite(copy.predict(X[:1], keys=[99]))  # which is new
    other = next(key for key in keys if key != back and key not in copy.keys_)
    rows = keys == other
    assert (copy.predict(X[rows], keys=keys[rows]) == expected[rows]).all()


def test_models_whose_files_knew_of_no_marks_go_on(tmp_path):
    model, X, keys, expected = committed(tmp_path / "s.db")
    state = {name: part for name, part in model._state.items() if name != "home"}
    old = pickle.loads(pickle.dumps(model))
    old._state = state
    old = pickle.loads(pickle.dumps(old))
    with Store(tmp_path / "s.db") as store:
        store._file.execute("PRAGMA application_id = 0")
        assert (old.predict(X, keys=keys) == expected).all()
        store.commit(old.partial_fit(X[:40], X[:40, 0], keys=keys[:40]), 2)
        assert (store.load().predict(X, keys=keys) == old.predict(X, keys=keys)).all()


def test_saved_models_find_their_keys(tmp_path):
    model, X, keys, expected = committed(tmp_path / "s.db")
    save(model, tmp_path / "m.skops")
    for again in (load(tmp_path / "m.skops"), pickle.loads(pickle.dumps(model))):
        assert (again.predict(X, keys=keys) == expected).all()
    model._state = model._state | {"home": ("s.db", 3, None)}
    save(model, tmp_path / "m.skops")
    with pytest.raises(ValueError, match="what is no file"):
        load(tmp_path / "m.skops")


def in_conformal(model):
    return OnlineConformalRegressor(model)


def in_pipeline(model):
    return make_streaming_pipeline(FunctionTransformer(), model)


def in_rows(model):
    return RowRegressor(in_conformal(model))


def nested(model):
    return StreamingTransformedTargetRegressor(in_pipeline(in_conformal(model)))


def inner(model):
    """Return the model of keys in one of those above."""
    while not isinstance(model, KeyedRegressor):
        known = vars(model)
        if "steps_" in known:
            model = known["steps_"][-1][1]
        elif "estimator_" in known:
            model = known["estimator_"]
        else:
            model = next(
                known["_state"][name]
                for name in ("estimator", "regressor")
                if name in known["_state"]
            )
    return model


@pytest.mark.parametrize("wrap", [in_conformal, in_pipeline, in_rows, nested])
def test_keys_of_a_model_that_is_wrapped_go_to_the_store(tmp_path, wrap):
    keys, X, y = stream(120, 12)
    X = np.column_stack([keys, X])
    path = tmp_path / "s.db"
    kept = wrap(KeyedRegressor(VAWRegressor(), key=0))
    model = wrap(KeyedRegressor(VAWRegressor(), key=0, max_keys=3, store=path))

    def learn(model, rows):
        if wrap is not in_rows:
            return model.partial_fit(X[rows], y[rows])
        for t in range(*rows.indices(len(y))):
            model.learn_one(dict(zip("kuv", X[t].tolist(), strict=True)), y[t])
        return model

    def forecasts(model):
        if wrap is not in_rows:
            return model.predict(X)
        rows = [dict(zip("kuv", row, strict=True)) for row in X.tolist()]
        return np.array([model.predict_one(row) for row in rows])

    with Store(path) as store:
        for number, low in enumerate(range(0, 120, 30)):
            rows = slice(low, low + 30)
            learn(kept, rows)
            store.commit(learn(model, rows), number)
            assert len(inner(model)._state["leaving"]) == 0
            assert store._file.execute("SELECT count(*) FROM keys").fetchone() == (3,)
            assert n_away(path) == inner(model).n_stored_
        assert np.allclose(forecasts(model), forecasts(kept))
    path.rename(tmp_path / "moved.db")
    with Store(tmp_path / "moved.db") as store:
        again = store.load()
        assert np.allclose(forecasts(again), forecasts(kept))
        learn(kept, slice(0, 20))
        again = store.commit(learn(again, slice(0, 20)), 9).load()
        assert np.allclose(forecasts(again), forecasts(kept))


def test_keys_that_cannot_go_to_the_store_are_not_kept_in_silence(tmp_path):
    keys, X, y = stream(60, 12)
    X = np.column_stack([keys, X])
    keyed = KeyedRegressor(VAWRegressor(), key=0, max_keys=3, store=tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        model = RefitRegressor(keyed).fit(X, y)
        with pytest.raises(ValueError, match="whose keys cannot go there"):
            store.commit(model)
        model = RefitRegressor(clone(keyed).set_params(store=None)).fit(X, y)
        assert store.commit(model).load().predict(X[:3]) == pytest.approx(model.predict(X[:3]))
