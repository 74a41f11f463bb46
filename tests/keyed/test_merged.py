"""Shards of a keyed model merged: what one process would have learnt."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    FourierFeatures,
    KeyedClassifier,
    KeyedRegressor,
    PKAWVClassifier,
    RunningStandardScaler,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)

MAKERS = {
    "default": lambda: KeyedRegressor(key=0),
    "mapped": lambda: KeyedRegressor(
        make_streaming_pipeline(
            FourierFeatures(gamma=0.2, n_components=20, random_state=0), VAWRegressor()
        ),
        key=0,
    ),
    "targets": lambda: KeyedRegressor(VAWRegressor(2.0), key=0, prior=None),
}


def stream(seed, n=900, n_keys=12):
    rng = np.random.default_rng(seed)
    # some keys have a few rows only
    key = np.minimum(rng.geometric(0.2, size=n), n_keys)
    X = np.column_stack([key, rng.normal(size=(n, 3))])
    return X, key * X[:, 1] + 1.0 + 0.1 * rng.normal(size=n)


def assert_same(merged, whole, X):
    assert sorted(merged.keys_) == sorted(whole.keys_)
    assert merged.n_samples_seen_ == whole.n_samples_seen_
    f, g = merged.predict(X), whole.predict(X)
    assert np.abs(f - g).max() <= 1e-10 * max(1.0, np.abs(g).max())


@pytest.mark.parametrize("n_parts", [1, 2, 7, pytest.param(64, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("by", ["rows", "keys"])
def test_shards_are_one_process(by, name, n_parts, tmp_path):
    X, y = stream(n_parts)
    if name == "targets":
        y = np.column_stack([y, -y])
    shard = np.arange(len(y)) % n_parts if by == "rows" else X[:, 0].astype(int) % n_parts
    parts = [MAKERS[name]().fit(X[shard == i], y[shard == i]) for i in np.unique(shard)]
    merged = parts[0]
    for part in parts[1:]:
        before = pickle.dumps(part)
        assert merged.merge(part) is merged
        assert pickle.dumps(part) == before
    whole = MAKERS[name]().fit(X, y)
    unknown = np.vstack([X, [99.0, 1.0, 1.0, 1.0]])  # and the prior
    assert_same(merged, whole, unknown)
    if name != "targets":
        save(merged, tmp_path / "model")
        merged = load(tmp_path / "model")
    goes_on = [model.partial_fit(X[:300], y[:300]).predict(X) for model in (merged, whole)]
    assert_allclose(*goes_on, rtol=1e-8, atol=1e-8)


def test_a_classifier_by_squares_is_merged():
    X, y = stream(5, n=300, n_keys=3)
    labels = np.where(y > 1.0, "a", "b")
    make = lambda: KeyedClassifier(PKAWVClassifier(projection="taylor", gamma=0.05), key=0)  # noqa: E731
    one, two = (make().partial_fit(X[i::2], labels[i::2], classes=["a", "b"]) for i in range(2))
    whole = make().fit(X, labels)
    one.merge(two)
    for key in (1.0, 2.0, 3.0):
        values = (model.model_of(key).decision_function(X[:, 1:]) for model in (one, whole))
        assert_allclose(*values, atol=1e-9)
    with pytest.raises(ValueError, match="classes_"):
        one.merge(make().fit(X, np.where(y > 1.0, "a", "c")))


def test_where_the_order_matters_or_they_do_not_fit_it_is_said_and_nothing_changes():
    X, y = stream(6, n=200, n_keys=4)
    scaled = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
    mine, theirs = X[:, 0] < 3, X[:, 0] >= 3
    for estimator, words in (
        (scaled, "learns"),
        (SGDRegressor(shuffle=False), "order of the rows"),
    ):
        one, two = (
            KeyedRegressor(estimator, key=0, prior=None).fit(X[part], y[part])
            for part in (mine, theirs)
        )
        both = KeyedRegressor(estimator, key=0, prior=None).fit(X, y)
        before = pickle.dumps(one)
        with pytest.raises(TypeError, match=words):
            one.merge(both)
        assert pickle.dumps(one) == before
        assert_same(one.merge(two), both, X)  # keys of their own need no sums
        pooled = KeyedRegressor(estimator, key=0).fit(X[mine], y[mine])
        with pytest.raises(TypeError, match=words):
            pooled.merge(KeyedRegressor(estimator, key=0).fit(X[theirs], y[theirs]))
    one = MAKERS["default"]().fit(X, y)
    before = pickle.dumps(one)
    limited = KeyedRegressor(key=0, max_keys=9).fit(X, y)
    text = KeyedRegressor().fit(X, y, keys=np.full(200, "a"))
    for model, other, kind, words in (
        (limited, limited, TypeError, "max_keys or idle"),
        (one, VAWRegressor(), TypeError, "another KeyedRegressor"),
        (one, MAKERS["mapped"]().fit(X, y), ValueError, "other parameters"),
        (one, MAKERS["default"]().fit(X[:, :3], y), ValueError, "n_features_in_"),
        (text, KeyedRegressor().fit(X, y, keys=np.ones(200)), ValueError, "other types"),
        (text, KeyedRegressor().fit(X, y), ValueError, "other types"),
    ):
        with pytest.raises(kind, match=words):
            model.merge(other)
    assert pickle.dumps(one) == before
