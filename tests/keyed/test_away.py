"""Keys that go to a store and come back: the model is one that has no limit."""

import pickle

import numpy as np
import pytest

from sklearn_okl import (
    ImproperLogisticClassifier,
    KeyedClassifier,
    KeyedRegressor,
    RowRegressor,
    RunningStandardScaler,
    Store,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)

SCALED = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(fit_intercept=True))


def stream(n=240, n_keys=12, seed=0):
    rng = np.random.default_rng(seed)
    keys = np.array([f"k{i}" for i in range(n_keys)])[rng.zipf(1.5, size=n) % n_keys]
    X = rng.normal(size=(n, 3))
    return keys, X, X[:, 0] * (keys == "k1") + 3.0 + 0.1 * rng.normal(size=n)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("limits", [{"max_keys": 3}, {"idle": 8}, {"max_keys": 1, "idle": 20}])
@pytest.mark.parametrize("estimator", [SCALED, VAWRegressor(forgetting=0.99)], ids=["bank", "own"])
@pytest.mark.parametrize("size", [17, 1, 120])
def test_forecasts_are_those_without_a_limit(tmp_path, estimator, limits, size):
    keys, X, y = stream(50 if size == 1 else 240, seed=size)
    path = tmp_path / "s.db"
    expected = KeyedRegressor(estimator).prequential_predict(X, y, keys=keys)
    model, found = KeyedRegressor(estimator, store=path, **limits), []
    with Store(path) as store:
        for number, low in enumerate(range(0, len(y), size)):
            rows = slice(low, low + size)
            found.append(model.prequential_predict(X[rows], y[rows], keys=keys[rows]))
            if number % 3 == 1:
                store.commit(model)
            if number % 5 == 4:  # a restart
                store.commit(model)
                with Store(path) as other:
                    model = other.load()
            assert len(model._state["entries"]) <= limits.get("max_keys", 12)
        assert np.allclose(np.concatenate(found), expected, atol=1e-9)
        assert model.n_dropped_ == 0
        assert model.n_stored_ + len(model._state["entries"]) == len(set(keys))
        whole = KeyedRegressor(estimator).fit(X, y, keys=keys)
        for key in set(keys):
            rows = keys == key
            alone = model.predict(X[rows][:1], keys=[key])
            assert np.allclose(alone, whole.predict(X[rows][:1], keys=[key]), atol=1e-9)
        assert np.allclose(model.predict(X, keys=keys), whole.predict(X, keys=keys), atol=1e-9)
        assert np.allclose(model.model_of("k1").predict(X), whole.model_of("k1").predict(X))


def test_a_process_that_ends_between_commits_goes_on_from_the_last_one(tmp_path):
    keys, X, y = stream()
    expected = KeyedRegressor(VAWRegressor()).prequential_predict(X, y, keys=keys)
    model = KeyedRegressor(VAWRegressor(), max_keys=2, store=tmp_path / "s.db")
    with Store(tmp_path / "s.db") as store:
        store.commit(model.partial_fit(X[:100], y[:100], keys=keys[:100]), 0)
        model.partial_fit(X[100:170], y[100:170], keys=keys[100:170])  # lost
    with Store(tmp_path / "s.db") as store:
        again = store.load()
    found = again.prequential_predict(X[100:], y[100:], keys=keys[100:])
    assert np.allclose(found, expected[100:], atol=1e-10)


def test_a_file_keeps_keys_that_wait_for_a_commit(tmp_path):
    keys, X, y = stream()
    model = KeyedRegressor(SCALED, max_keys=2, store=tmp_path / "s.db").fit(X, y, keys=keys)
    assert model.n_stored_ == len(set(keys)) - 2
    save(model, tmp_path / "m.skops")
    for again in (load(tmp_path / "m.skops"), pickle.loads(pickle.dumps(model))):
        assert (again.predict(X, keys=keys) == model.predict(X, keys=keys)).all()
    assert not (tmp_path / "s.db").exists()
    with Store(tmp_path / "other.db") as other:  # of which the model knows nothing
        again = other.commit(model).load()
    assert (again.predict(X, keys=keys) == model.predict(X, keys=keys)).all()


@pytest.mark.long
def test_classifiers_and_rows(tmp_path):
    keys, X, y = stream()
    labels = np.where(y > 3.0, "up", "down")
    estimator = ImproperLogisticClassifier()
    expected = KeyedClassifier(estimator).prequential_predict_proba(X, labels, keys=keys)
    with Store(tmp_path / "c.db") as store:
        model = KeyedClassifier(estimator, max_keys=2, store=str(tmp_path / "c.db"))
        found = [model.prequential_predict_proba(X[:100], labels[:100], keys=keys[:100])]
        model = store.commit(model).load()
        found.append(model.prequential_predict_proba(X[100:], labels[100:], keys=keys[100:]))
        assert np.allclose(np.concatenate(found), expected, atol=1e-8)
    inner = KeyedRegressor(VAWRegressor(), key="k", max_keys=1, store=tmp_path / "r.db")
    rows, whole = RowRegressor(inner), RowRegressor(KeyedRegressor(VAWRegressor(), key="k"))
    with Store(tmp_path / "r.db") as store:
        for t in range(30):
            x = {"k": str(keys[t]), "u": X[t, 0]}
            assert abs(rows.predict_one(x) - whole.predict_one(x)) < 1e-12
            rows.learn_one(x, y[t])
            whole.learn_one(x, y[t])
            if t % 7 == 0:
                rows = store.commit(rows).load()


def test_keys_of_another_model_do_not_come_back(tmp_path):
    keys, X, y = stream()
    path = tmp_path / "s.db"
    old = KeyedRegressor(VAWRegressor(), max_keys=2, store=path).fit(X, y, keys=keys)
    with Store(path) as store:
        store.commit(old)
    new = KeyedRegressor(VAWRegressor(), max_keys=2, store=path, prior=None)
    new.partial_fit(X[:3], y[:3], keys=["k1", "k1", "k2"])
    with Store(path) as store:
        store.commit(new)
        assert (new.predict(X, keys=["k3"] * len(X)) == 0.0).all()
        with pytest.raises(ValueError, match="knows of"):
            store.commit(old)
    other = KeyedRegressor(VAWRegressor(), max_keys=1, store=path)
    other.partial_fit(X[:2], y[:2], keys=["a", "b"])
    with Store(path) as store:
        store.commit(other)
        store.commit(KeyedRegressor(store=path).fit(X, y, keys=keys))
        later = KeyedRegressor(VAWRegressor(), max_keys=1, store=path).fit(X, y, keys=keys)
        store.commit(later)
        with pytest.raises(ValueError, match="not the file that keys"):
            other.predict(X[:1], keys=["k1"])
        former = pickle.loads(pickle.dumps(later))
        back, some = [later.keys_[0]] * 2, np.arange(2)
        store.commit(later.partial_fit(X[some], y[some], keys=["k2", "k3"]))
        store.commit(later.partial_fit(X[some], y[some], keys=back))
        store.commit(later.partial_fit(X[:1], y[:1], keys=["k1"]))
    with pytest.raises(ValueError, match="ahead of this model"):
        former.predict(X[:1], keys=["k2"])


def test_what_is_no_store_is_refused(tmp_path):
    keys, X, y = stream(60)
    path = tmp_path / "s.db"
    model = KeyedRegressor(VAWRegressor(), max_keys=2, store=path).fit(X, y, keys=keys)
    with Store(path) as store:
        store.commit(model)
        cut = "UPDATE away SET content = substr(content, 1, 80), checksum = "
        store._file.execute(cut + "NULL")
    gone = next(key for key in set(keys) if key not in model.keys_)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="damaged"):
        model.partial_fit(X[:1], y[:1], keys=[gone])
    with Store(path) as store:
        store._file.execute(cut + "0")
    with pytest.raises(ValueError, match="bytes have changed"):
        model.predict(X[:1], keys=[gone])
    path.write_text("no database" * 100)
    with pytest.raises(ValueError, match="damaged"):
        model.predict(X[:1], keys=[gone])
    assert pickle.dumps(model) == before
