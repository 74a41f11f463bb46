"""Rows unlearnt and models merged: as if the rows had never come, or had come to one model."""

import hashlib
import pickle
from copy import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import (
    ConcatenatedVAWRegressor,
    PKAWVClassifier,
    PKAWVRegressor,
    VAW2Regressor,
    VAWBOARegressor,
    VAWRegressor,
    load,
    save,
)
from tests.oracles.certificates import ridge

GRID = {"gamma": [0.01, 0.1]}
MAKERS = {
    "vaw": lambda: VAWRegressor(0.5),
    "ridge": lambda: VAWRegressor(forecaster="ridge", fit_intercept=True),
    "taylor": lambda: PKAWVRegressor(projection="taylor", gamma=0.05),
    "beforehand": lambda: PKAWVRegressor(projection="beforehand", dictionary=np.eye(6)),
    "concatenated": lambda: ConcatenatedVAWRegressor(GRID, n_components=10, random_state=3),
}


def stream(seed, n=400, d=6, n_targets=None):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = rng.normal(size=n if n_targets is None else (n, n_targets))
    return X, (y.T + 2.0 * X[:, 0]).T


def assert_same(model, other, X, tol=1e-10):
    if hasattr(model, "coef_"):
        scale = max(1.0, np.abs(other.coef_).max())
        assert np.abs(model.coef_ - other.coef_).max() <= tol * scale
    f, g = model.predict(X), other.predict(X)
    assert np.abs(f - g).max() <= tol * max(1.0, np.abs(g).max())
    assert model.n_samples_seen_ == other.n_samples_seen_


@pytest.mark.long(every=3)
@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("size", [1, 63, 66, 400])
def test_a_third_in_random_order_is_forgotten(name, size):
    X, y = stream(size)
    out = np.random.default_rng(size).permutation(400)[:130]
    stay = np.setdiff1d(np.arange(400), out)
    model = MAKERS[name]().fit(X, y)
    for low in range(0, 130, size):
        rows = out[low : low + size]
        assert model.unlearn(X[rows], y[rows]) is model
    never = MAKERS[name]().fit(X[stay], y[stay])
    assert_same(model, never, X)
    assert model.unlearnt_.n_rows == 130
    # and it goes on learning as that one does
    assert_allclose(
        model.prequential_predict(X[:99], y[:99]), never.prequential_predict(X[:99], y[:99]),
        rtol=1e-9, atol=1e-11,
    )  # fmt: skip
    if name == "vaw":
        assert_allclose(model.predict(X, True)[1], never.predict(X, True)[1], rtol=1e-9)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(3))
def test_between_rows_one_by_one_with_weights_and_targets(seed):
    rng = np.random.default_rng(seed)
    X, y = stream(seed, n=150, n_targets=2)
    w = rng.integers(0, 3, size=150).astype(float)
    model, known = VAWRegressor(2.0), []
    for t in range(150):
        model.partial_fit(X[t : t + 1], y[t : t + 1], sample_weight=w[t : t + 1])
        known.append(t)
        if t > 20 and t % 3 == 2:  # the tail of the state is not empty then
            gone = known.pop(rng.integers(len(known)))
            model.unlearn(X[[gone]], y[[gone]], sample_weight=w[[gone]])
    never = VAWRegressor(2.0).fit(X[known], y[known], sample_weight=w[known])
    assert_same(model, never, X)
    for j in range(2):
        u, least = ridge(X[known], y[known, j], 2.0, w[known])
        assert_allclose(model.coef_[j], u, rtol=1e-9)
        assert_allclose(model._state["squares"][j], least, rtol=1e-9)


@pytest.mark.parametrize(
    ("name", "seed"),
    [
        ("vaw", 0),
        *(pytest.param(n, 1, marks=pytest.mark.long) for n in MAKERS if n in ("vaw", "ridge")),
    ],
)
def test_rows_learnt_and_unlearnt_wait_side_by_side(name, seed, tmp_path):
    rng = np.random.default_rng(seed)
    X, y = stream(seed, n=180)
    w = rng.integers(0, 3, size=180).astype(float)
    verbs = lambda rows: (X[rows], y[rows], w[rows])  # noqa: E731
    model, known = MAKERS[name]().fit(*verbs(slice(100))), list(range(100))
    for t in range(100, 180):
        model.partial_fit(*verbs([t]))
        known.append(t)
        for _ in range(rng.integers(0, 3)):
            model.unlearn(*verbs([known.pop(rng.integers(len(known)))]))
        if t == 140:
            other, others = pickle.loads(pickle.dumps(model)), known.copy()
            save(model, tmp_path / "model")
        if t == 150:  # copies of a state share what waits, and part
            shallow, left = copy(model), known.copy()
    for t in range(20):
        shallow.partial_fit(*verbs([t]))
        shallow.unlearn(*verbs([left.pop()]))
    for one, rows in ((model, known), (other, others), (load(tmp_path / "model"), others),
                      (shallow, [*left, *range(20)])):  # fmt: skip
        never = MAKERS[name]().fit(*verbs(rows))
        assert_same(one, never, X)
        assert_allclose(one.predict(X, True)[1], never.predict(X, True)[1], rtol=1e-9)
        batch = one.prequential_predict(*verbs(slice(40)))
        assert_allclose(batch, never.prequential_predict(*verbs(slice(40))), rtol=1e-9, atol=1e-10)


@pytest.mark.long(every=7)
@pytest.mark.parametrize("seed", range(60))
def test_it_is_right_or_refused_where_hardly_anything_is_left(seed):
    rng = np.random.default_rng(seed)
    d, n = int(rng.integers(1, 5)), int(rng.integers(3, 40))
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-3, 3, size=d)
    y = rng.normal(size=n) * 10.0 ** rng.uniform(-2, 4)
    large = rng.random(n) < 0.2
    X[large] *= 10.0 ** rng.uniform(0, 9)
    y[large] *= 10.0 ** rng.uniform(0, 9)
    alpha = 10.0 ** rng.uniform(-6, 2)
    model, stay = VAWRegressor(alpha).fit(X, y), np.arange(n)
    for _ in range(n - 1):
        gone = rng.choice(stay, size=min(len(stay), int(rng.integers(1, 4))), replace=False)
        before = pickle.dumps(model)
        try:
            model.unlearn(X[gone], y[gone])
        except ValueError:
            assert pickle.dumps(model) == before
            break
        stay = np.setdiff1d(stay, gone)
        if not len(stay):
            break
        never = VAWRegressor(alpha).fit(X[stay], y[stay])
        u, _ = ridge(X[stay], y[stay], alpha)
        # no further from the truth than a digit more than who has never seen the rows
        sizes = np.sqrt(np.square(X[stay]).sum(axis=0) + alpha)
        scale = np.sqrt(np.square(y[stay]).sum())
        own = np.abs(sizes * (never.coef_ - u)).max() / scale
        assert np.abs(sizes * (model.coef_ - u)).max() / scale <= max(1e-9, 100 * own)


@pytest.mark.parametrize("size", [1, pytest.param(70, marks=pytest.mark.long)])
@pytest.mark.parametrize("class_", [VAW2Regressor, VAWBOARegressor])
def test_mixtures_unlearn_their_sums_only(class_, size, tmp_path):
    make = lambda: class_(GRID, n_components=10, random_state=0)  # noqa: E731
    X, y = stream(size)
    out = np.random.default_rng(size).permutation(400)[:70]
    stay = np.setdiff1d(np.arange(400), out)
    model, never = make().fit(X, y), make().fit(X[stay], y[stay])
    before, weights = pickle.dumps(model), model.weights_
    for given, words in (({}, "sums_only=True"), ({"sums_only": False}, "its weights are of")):
        with pytest.raises(TypeError, match=words):
            model.unlearn(X[:1], y[:1], **given)
    with pytest.raises(ValueError, match="not among the rows"):
        model.unlearn(X[:1], y[:1] + 1e9, sums_only=True)
    assert pickle.dumps(model) == before
    for low in range(0, 70, size):
        rows = out[low : low + size]
        model.unlearn(X[rows], y[rows], sums_only=True)
    save(model, tmp_path / "model")
    for one in (model, load(tmp_path / "model")):
        assert one.n_samples_seen_ == 330
        assert one.unlearnt_.n_rows == 70
        assert_array_equal(one.weights_, weights)
        F = never.predict_experts(X)
        assert_allclose(one.predict_experts(X), F, rtol=0.0, atol=1e-10 * np.abs(F).max())
        one.partial_fit(X[:40], y[:40]).partial_fit(X[:1], y[:1])
        later = make().fit(X[stay], y[stay]).partial_fit(X[:40], y[:40]).partial_fit(X[:1], y[:1])
        assert_allclose(one.predict_experts(X), later.predict_experts(X), rtol=1e-9, atol=1e-10)
    with pytest.raises(TypeError, match="how long ago"):
        make().set_params(forgetting=0.9).fit(X, y).unlearn(X[:1], y[:1], sums_only=True)


@pytest.mark.parametrize("forgetting", [0.5, 0.98, 0.999])
@pytest.mark.parametrize("name", ["vaw", "ridge", "concatenated"])
def test_where_models_forget_a_row_goes_by_its_age(name, forgetting, tmp_path):
    make = lambda: MAKERS[name]().set_params(forgetting=forgetting)  # noqa: E731
    X, y = stream(3)
    out = np.random.default_rng(0).permutation(400)[:60]
    early, late = out[out < 350], out[out >= 350]
    model = make().fit(X[:350], y[:350]).unlearn(X[early], y[early], age=349 - early)
    for t in range(350, 400):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    for t in late:
        model.unlearn(X[[t]], y[[t]], age=int(399 - t))
    assert model.n_samples_seen_ == 340
    assert model.unlearnt_.n_rows == 60
    save(model, tmp_path / "model")
    if name == "concatenated":  # whose rows have no weights: the sums by hand
        Z = model._concatenated(model._state, X)
        faded = forgetting ** np.arange(399, -1, -1.0)
        faded[out] = 0.0
        b = (Z.T * faded) @ y
        assert_allclose(model._state["learner"]["b"], b, atol=1e-10)
        return
    weights = np.ones(400)
    weights[out] = 0.0
    never = make().fit(X, y, sample_weight=weights)
    for one in (model, load(tmp_path / "model")):
        assert one.n_samples_seen_ == 340
        assert_allclose(one.coef_, never.coef_, rtol=1e-10, atol=1e-10)
        one.partial_fit(X[:70], y[:70])
        later = make().fit(X, y, sample_weight=weights).partial_fit(X[:70], y[:70])
        assert_allclose(one.predict(X), later.predict(X), rtol=1e-10, atol=1e-10)


def test_ages_that_are_none_are_refused():
    X, y = stream(1, n=50)
    model = VAWRegressor(forgetting=0.9).fit(X, y)
    before = pickle.dumps(model)
    for age, words in ((50, "from 0 to 49"), (-1, "from 0 to 49"), (0.5, "whole number"),
                       ([1, 2], "whole number")):  # fmt: skip
        with pytest.raises(ValueError, match=words):
            model.unlearn(X[:1], y[:1], age=age)
    assert pickle.dumps(model) == before
    with pytest.raises(TypeError, match="told the 'age' of each row"):
        model.unlearn(X[:1], y[:1])
    with pytest.raises(TypeError, match="knows no age"):
        MAKERS["taylor"]().fit(X, y).unlearn(X[:1], y[:1], age=3)
    for age in (49, None):  # where nothing is forgotten it does not matter
        plain = VAWRegressor().fit(X, y).unlearn(X[:1], y[:1], age=age)
        assert_same(plain, VAWRegressor().fit(X[1:], y[1:]), X)


def test_what_cannot_be_unlearnt_is_refused_and_changes_nothing():
    X, y = stream(1, n=50)
    huge = X.copy()
    huge[7] *= 1e9
    forgets = VAWRegressor(forgetting=0.99).fit(X, y)
    for model, rows, targets, words in (
        (VAWRegressor().fit(X, y), np.vstack([X, X]), np.r_[y, y], "that has learnt 50"),
        (VAWRegressor().fit(X, y), 1e3 * X[:1], y[:1], "not among the rows that were"),
        (VAWRegressor().fit(X, y), 1e3 * X[:2], y[:2], "not among the rows that were"),
        (VAWRegressor().fit(X, y), X[:1], y[:1] + 100.0, "not among the rows that were"),
        (VAWRegressor().fit(X, y), X[:2], y[:2] - 100.0, "not among the rows that were"),
        (VAWRegressor().fit(huge, y), huge[7:8], y[7:8], "nothing but rounding"),
        (VAWRegressor().fit(X, y + 1e14 * (y == y[3])), X[3:4], y[3:4] + 1e14, "rows that stay"),
        (VAWRegressor().fit(X, y), X[:1] * np.nan, y[:1], "NaN"),
        (VAWRegressor().fit(X, y), X[:1, :2], y[:1], "features"),
    ):
        before = pickle.dumps(model)
        with pytest.raises(ValueError, match=words):
            model.unlearn(rows, targets)
        assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match="not fitted"):
        VAWRegressor().unlearn(X, y)
    for model, words in ((forgets, "how long ago"), (PKAWVRegressor().fit(X, y), "sampled")):
        for verb in (lambda: model.unlearn(X[:1], y[:1]), lambda: model.merge(model)):  # noqa: B023
            with pytest.raises(TypeError, match=words):
                verb()
    model = MAKERS["concatenated"]().fit(X, y)
    with pytest.raises(TypeError, match="no sample_weight"):
        model.unlearn(X, y, sample_weight=np.ones(50))


def test_large_columns_are_merged_and_unlearnt_where_their_sums_tell_them_apart():
    rng = np.random.default_rng(11)
    own, y = rng.normal(size=(100, 3)), rng.normal(size=100)
    make = lambda X: VAWRegressor().fit(X[:50], y[:50])  # noqa: E731
    apart, level = 1e7 * own, 1e7 + own
    assert "root" in make(apart)._state
    left = make(apart).unlearn(apart[:9], y[:9])
    assert_allclose(left.coef_, VAWRegressor().fit(apart[9:50], y[9:50]).coef_, rtol=1e-9)
    both = make(apart).merge(VAWRegressor().fit(apart[50:], y[50:]))
    assert_allclose(both.coef_, VAWRegressor().fit(apart, y).coef_, rtol=1e-9)
    model, other = make(level), VAWRegressor().fit(level[50:], y[50:])
    before = pickle.dumps(model)
    for verb in (lambda: model.unlearn(level[:9], y[:9]), lambda: model.unlearn(level[:1], y[:1]),
                 lambda: model.merge(other)):  # fmt: skip
        with pytest.raises(ValueError, match="nearly collinear that of alpha=1 nothing but"):
            verb()
        assert pickle.dumps(model) == before


def test_the_record_is_that_of_the_rows_in_their_order_and_is_saved(tmp_path):
    X, y = stream(2)
    digest = ""
    for t in (5, 3, 9):
        row = np.append(X[t], y[t]).astype("<f8").tobytes()
        digest = hashlib.sha256(digest.encode() + row).hexdigest()
    for name in ("vaw", "concatenated"):
        make = MAKERS[name]
        one = make().fit(X, y).unlearn(X[[5, 3, 9]], y[[5, 3, 9]])
        two = make().fit(X, y).unlearn(X[[5]], y[[5]])
        save(two, tmp_path / name)
        two = load(tmp_path / name).unlearn(X[[3, 9]], y[[3, 9]])
        for model in (one, two):
            assert model.unlearnt_ == {"n_rows": 3, "digest": digest}
        assert make().fit(X, y).unlearnt_ == {"n_rows": 0, "digest": ""}


@pytest.mark.long(every=6)
@pytest.mark.parametrize("n_parts", [1, 2, 7, 64])
@pytest.mark.parametrize("name", MAKERS)
def test_parts_merged_are_one_pass(name, n_parts):
    X, y = stream(n_parts)
    parts = [MAKERS[name]().fit(X[i::n_parts], y[i::n_parts]) for i in range(n_parts)]
    merged = parts[0]
    for part in parts[1:]:
        before = pickle.dumps(part)
        merged = merged.merge(part)
        assert pickle.dumps(part) == before
    whole = MAKERS[name]().fit(X, y)
    assert_same(merged, whole, X)
    if name == "vaw":
        assert_allclose(merged.predict(X, True)[1], whole.predict(X, True)[1], rtol=1e-10)


def test_a_merged_model_unlearns_the_rows_of_both():
    X, y = stream(4)
    a, b = (VAWRegressor().fit(X[rows], y[rows]) for rows in (slice(200), slice(200, 400)))
    b.unlearn(X[390:], y[390:])
    a.unlearn(X[:10], y[:10]).merge(b).unlearn(X[195:205], y[195:205])
    stay = np.r_[10:195, 205:390]
    assert_same(a, VAWRegressor().fit(X[stay], y[stay]), X)
    assert a.unlearnt_.n_rows == 30


def test_features_that_were_drawn_apart_cannot_be_merged():
    X, y = stream(0, n=60)
    one = ConcatenatedVAWRegressor(GRID, n_components=10, random_state=0).fit(X, y)
    for other, words in (
        (ConcatenatedVAWRegressor(GRID, n_components=10, random_state=1), "other features"),
        (ConcatenatedVAWRegressor(GRID, alpha=2.0, n_components=10, random_state=0), "alpha"),
    ):
        with pytest.raises(ValueError, match=words):
            one.merge(other.fit(X, y))
    with pytest.raises(TypeError, match="another ConcatenatedVAWRegressor"):
        one.merge(VAWRegressor().fit(X, y))


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.long)])
def test_a_classifier_by_squares_is_merged_and_forgets(n_classes, tmp_path):
    X, _ = stream(5, n=200)
    y = np.array(["a", "b", "c"])[:n_classes][np.arange(200) % n_classes]
    X[:, 0] += np.arange(200) % n_classes
    make = lambda: PKAWVClassifier(projection="taylor", gamma=0.05)  # noqa: E731
    parts = [make().partial_fit(X[i::7], y[i::7], classes=np.unique(y)) for i in range(7)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    values = make().fit(X, y).decision_function(X)
    assert_allclose(merged.decision_function(X), values, rtol=1e-9, atol=1e-10)
    save(merged.unlearn(X[:20], y[:20]), tmp_path / "model")
    never = make().fit(X[20:], y[20:])
    for model in (merged, load(tmp_path / "model")):
        values = never.decision_function(X)
        assert_allclose(model.decision_function(X), values, rtol=1e-9, atol=1e-10)
        assert model.unlearnt_.n_rows == 20
    other = make().fit(X[:30], np.tile(["a", "d"], 15))
    with pytest.raises(ValueError, match="other classes"):
        merged.merge(other)
    with pytest.raises(ValueError, match="other parameters"):
        merged.merge(PKAWVClassifier(projection="taylor", gamma=0.1).fit(X, y))


def test_frames_are_taken_and_their_names_are_held_against_each_other():
    pd = pytest.importorskip("pandas")
    X, y = stream(6, n=90)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = VAWRegressor().fit(frame, y).unlearn(frame[:9], y[:9])
    never = VAWRegressor().fit(frame[9:], y[9:])
    assert_same(model, never, frame)
    with pytest.raises(ValueError, match="feature names"):
        model.unlearn(frame[list("fedcba")][:9], y[:9])
    with pytest.raises(ValueError, match="different names"):
        model.merge(VAWRegressor().fit(frame.rename(columns={"a": "z"}), y))


def test_a_constant_column_and_one_that_was_in_one_row_only():
    X, y = stream(7, n=90)
    X[:, 0], X[:, 1] = 3.0, 0.0
    X[40, 1] = 2.0  # known to the model by one row: forgotten with it
    model = VAWRegressor().fit(X, y).unlearn(X[40:41], y[40:41])
    never = VAWRegressor().fit(np.delete(X, 40, axis=0), np.delete(y, 40))
    assert_same(model, never, X)
    assert abs(model.coef_[1]) < 1e-12
