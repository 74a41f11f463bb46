"""The classifier without tuning: several classes, some of which come late, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_classification
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.tree import DecisionTreeClassifier

from sklearn_okl import OnlineKernelClassifier, load, save

TREES = DecisionTreeClassifier(min_samples_leaf=10)


def fast(**parameters):
    return OnlineKernelClassifier(budget="fast", random_state=0, **parameters)


def stream(n=400, n_classes=3, seed=0):
    X, y = make_classification(
        n, n_features=6, n_informative=5, n_redundant=0, n_classes=n_classes, random_state=seed
    )
    return X, np.array(["ash", "birch", "cedar", "oak"])[y]


def in_parts(model, X, y, cuts, weights=None, **first):
    parts = []
    for rows in np.split(np.arange(len(y)), cuts):
        w = None if weights is None else weights[rows]
        P = model.prequential_predict_proba(X[rows], y[rows], sample_weight=w, **first)
        parts.append(pd.DataFrame(P, columns=model.classes_))
        first = {}
    return parts


@pytest.mark.long
def test_probabilities_are_as_good_as_those_of_a_logistic_regression():
    X, y = make_classification(4000, n_features=10, flip_y=0.1, random_state=0)
    model = fast().fit(X[:2500], y[:2500])
    P = model.predict_proba(X[2500:])
    assert log_loss(y[2500:], P) <= 0.40
    assert P.min() > 0.0
    assert P.max() < 1.0
    assert_allclose(P.sum(axis=1), 1.0)
    assert_allclose(np.exp(model.predict_log_proba(X[:5])), model.predict_proba(X[:5]))
    log_odds = model.decision_function(X[2500:])
    assert_array_equal(model.predict(X[2500:]), (log_odds > 0.0).astype(int))


@pytest.mark.long
@pytest.mark.parametrize("parameters", [{"trees": TREES}, {"trees": TREES, "label_delay": 2}])
def test_any_cut_gives_the_same_with_trees_and_weights(parameters):
    X, y = stream(300)
    weights = np.random.default_rng(0).random(300)
    whole, parted = fast(**parameters), fast(**parameters)
    (P,) = in_parts(whole, X, y, (), weights)
    parts = in_parts(parted, X, y, (1, 29, 31, 64, 200), weights, classes=np.unique(y))
    assert_allclose(pd.concat(parts), P, rtol=1e-9)
    assert_allclose(parted.predict_proba(X[:9]), whole.predict_proba(X[:9]), rtol=1e-9)
    delay = whole.label_delay
    model = fast(**parameters).fit(X[:90], y[:90], sample_weight=weights[:90])
    asked = model.predict_proba(X[90 : 91 + delay], ahead=True)
    assert_allclose(asked[delay], P.iloc[90 + delay], rtol=1e-9)
    n_experts = len(whole.experts_["name"])
    assert whole.experts_["name"][-2:].tolist() == ["trees", "trees on kernels"]
    assert_allclose(whole.weights_.sum(), 1.0)
    assert whole.expert_losses_.shape == (n_experts,)
    assert whole.predict_experts(X[:2]).shape == (2, n_experts, 3)


@pytest.mark.long
def test_trees_help_where_there_are_steps():
    rng = np.random.default_rng(0)
    X = rng.random((1200, 8))
    y = (np.floor(6.0 * X[:, :3]) % 2).sum(axis=1) >= 2.0  # more than a single tree can hold
    losses = []
    for trees in (False, TREES):
        model = fast(trees=trees)
        model.constants = model.constants.__class__(neighbours=())  # who find steps, too
        P = model.prequential_predict_proba(X, y)
        losses.append(log_loss(y[600:], P[600:]))
    assert losses[1] < 0.8 * losses[0]


def test_classes_may_come_late():
    X, y = stream(400, 4)
    y[:200][y[:200] == "birch"] = "oak"
    y[:300][y[:300] == "cedar"] = "oak"
    (P,) = in_parts(fast(max_classes=5), X, y, ())
    model = fast(max_classes=5)
    parts = in_parts(model, X, y, (200, 300, 301))
    assert [list(part.columns) for part in parts[:1]] == [["ash", "oak"]]
    assert model.classes_.tolist() == ["ash", "birch", "cedar", "oak"]
    assert_allclose(parts[-1], P[301:], rtol=1e-9)
    # given that it is one of the classes known then, all is as if the others were known
    early = P[["ash", "oak"]][:200]
    assert_allclose(parts[0], early.div(early.sum(axis=1), axis=0), rtol=1e-9)
    assert 1.0 / 210.0 / 5.0 / 2.0 < P["birch"][:200].to_numpy()[-1] < 1.0 / 190.0
    named = fast(max_classes=5)
    in_parts(named, X, y, (200,), classes=["cedar", "oak", "birch", "ash"])
    assert_allclose(named.predict_proba(X[:5]), model.predict_proba(X[:5]), rtol=1e-9)


@pytest.mark.parametrize("kinds", [(list, pd.Series), (pd.Series, list)])
def test_words_in_lists_and_in_frames_are_of_one_kind(kinds):
    """Objects were taken for numbers."""
    X, y = stream(20, 2)
    first, then = kinds
    expected = fast(max_classes=4).fit(X, y)
    model = fast(max_classes=4).partial_fit(X[:10], first(y[:10])).partial_fit(X[10:], then(y[10:]))
    assert_allclose(model.predict_proba(X), expected.predict_proba(X), rtol=1e-9)
    named = fast(max_classes=4).partial_fit(X, first(y), classes=then(["ash", "birch"]))
    late = named.partial_fit(X[:1], then(["elm"]))
    assert late.classes_.tolist() == ["ash", "birch", "elm"]
    with pytest.raises(TypeError, match="cannot be sorted together"):
        late.partial_fit(X[:1], then([7]))


def test_a_room_for_classes_that_never_come_changes_little():
    X, y = stream(400)
    losses = [
        log_loss(y, fast(**p).prequential_predict_proba(X, y)) for p in ({}, {"max_classes": 6})
    ]
    assert losses[1] < losses[0] + 0.05


@pytest.mark.parametrize("delay", [0, 5])
def test_every_class_has_its_share_of_doubt(delay):
    """Classes of similar rows, from row 256 on, took it from the others."""
    X = np.random.default_rng(2).normal(size=(400, 3))
    y = np.digitize(X[:, 0], np.linspace(-1, 1, 4))
    model = fast(label_delay=delay)
    P = model.prequential_predict_proba(X, y)
    assert (P.min(axis=1) >= 1.0 / (5 * (np.arange(400) + 5))).all()
    assert model.predict_proba(X).min() >= 1.0 / (5 * (400 + 5))


def test_refusals_leave_the_model_as_it_was():
    X, y = stream()
    model = fast(max_classes=4).partial_fit(X[:100], y[:100])
    before = pickle.dumps(model)
    late = y[100:102].copy()
    late[:] = ["elm", "yew"]
    with pytest.raises(ValueError, match="max_classes=4 allows for 4 in all"):
        model.partial_fit(X[100:102], late)
    with pytest.raises(TypeError, match="cannot be sorted together"):
        model.partial_fit(X[100:102], [1, 2])
    with pytest.raises(ValueError, match="infinity"):
        model.partial_fit(np.full((1, 6), np.inf), y[:1])
    with pytest.raises(ValueError, match=r"X holds text: .*Give a frame, or name such columns in"):
        model.predict(np.full((1, 6), "red"))
    assert pickle.dumps(model) == before
    with pytest.raises(NotFittedError, match="no attribute 'weights_' before"):
        _ = fast().weights_
    with pytest.raises(ValueError, match="only one class"):
        fast().fit(X, np.full(len(X), "ash"))
    with pytest.raises(ValueError, match="leave room for them by 'max_classes'"):
        fast().fit(X, y).partial_fit(X[:1], ["elm"])
    with pytest.raises(ValueError, match=r"Unknown label type|continuous"):
        fast().fit(X, X[:, 0])
    with pytest.raises(ValueError, match="'trees'"):
        fast(trees=3).fit(X, y)
    lonely = fast(max_classes=3).fit(X[:20], np.full(20, "ash"))
    assert_array_equal(lonely.predict_proba(X[:2]), 1.0)
    assert_array_equal(lonely.predict(X[:2]), "ash")


@pytest.mark.long
def test_categories_are_told_apart_by_each_class():
    rng = np.random.default_rng(0)
    places = rng.integers(30, size=900)  # too many for indicators
    y = np.where(rng.random(900) < 0.9, places % 3, rng.integers(3, size=900))
    frame = pd.DataFrame({"place": [f"p{k}" for k in places], "noise": rng.normal(size=900)})
    for parameters in ({}, {"label_delay": 1}):
        whole, parted = fast(lags=0, **parameters), fast(lags=0, **parameters)
        P = whole.prequential_predict_proba(frame, y)
        assert (P.argmax(axis=1) == y)[450:].mean() > 0.8
        parted.partial_fit(frame[:40], y[:40], classes=[0, 1, 2])
        Q = parted.prequential_predict_proba(frame[40:], y[40:])
        assert_allclose(Q, P[40:], rtol=1e-8)
        assert_allclose(parted.predict_proba(frame[:5]), whole.predict_proba(frame[:5]), rtol=1e-8)


@pytest.mark.long
def test_saved_and_loaded_it_goes_on(tmp_path):
    X, y = stream()
    model = fast(max_classes=5, trees=LogisticRegression(max_iter=1000)).partial_fit(
        X[:200], y[:200]
    )
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    P = model.prequential_predict_proba(X[200:], y[200:])
    assert_array_equal(again.prequential_predict_proba(X[200:], y[200:]), P)


def test_single_precision_is_enough():
    X, y = stream()
    P = fast().fit(X.astype(np.float32), y).predict_proba(X[:5].astype(np.float32))
    assert P.dtype == np.float64
    exact = fast().fit(X, y).predict_proba(X[:5])
    assert_allclose(P, exact, atol=1e-3)


@pytest.mark.parametrize(("n_classes", "room"), [(4, 9), (9, None), (20, None)])
def test_classes_that_follow_each_other_are_foretold_however_many_there_are(n_classes, room):
    rng = np.random.default_rng(n_classes)
    n, X = 500, rng.normal(size=(500, 1))
    steps = np.where(rng.random(n) < 0.9, 1, rng.integers(n_classes, size=n))
    y = np.cumsum(steps) % n_classes
    model = OnlineKernelClassifier(budget="tiny", max_classes=room, random_state=0)
    model.partial_fit(X[:1], y[:1], classes=range(n_classes))
    assert (model.prequential_predict(X[1:], y[1:])[300:] == y[301:]).mean() > 0.7


def test_classes_may_be_named_by_a_set():
    model = OnlineKernelClassifier(budget="tiny", random_state=0)
    model.partial_fit([[0.0]], [True], classes={False, True})
    assert model.classes_.tolist() == [False, True]
