"""The shell of margin classifiers, worn by those of one kernel's gradient descent."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier

from sklearn_okl import (
    AIOLIClassifier,
    ImproperLogisticClassifier,
    KeyedClassifier,
    OnlineKernelClassifier,
    RowClassifier,
    RunningStandardScaler,
    make_streaming_pipeline,
)
from sklearn_okl.algorithms import FOGDClassifier, NOGDClassifier, PKAWVClassifier

MODELS = [
    FOGDClassifier(n_components=30, eta0=1.0, random_state=0),
    FOGDClassifier(n_components=30, eta0=1.0, loss="hinge", random_state=0),
    NOGDClassifier(budget=25, eta0=1.0),
    NOGDClassifier(budget=25, eta0=1.0, loss="squared_hinge", radius=3.0),
]
LABELS = [
    ("ham", "spam"),
    (-1, 1),
    (0, 1),
    (3.0, 7.0),
    (False, True),
    (np.int8(5), np.int8(9)),
]


@pytest.fixture(params=MODELS, ids=lambda model: f"{type(model).__name__}-{model.loss}")
def model(request):
    return clone(request.param)


def stream(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, (X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=n) > 0).astype(int)


@pytest.mark.parametrize("labels", LABELS, ids=str)
def test_labels_of_any_two_kinds(model, labels):
    X, y = stream()
    signs = clone(model).fit(X, 2 * y - 1)
    named = model.fit(X, np.array(labels)[y])
    assert_array_equal(named.classes_, labels)
    assert named.classes_.dtype == np.array(labels).dtype
    assert_array_equal(named.decision_function(X), signs.decision_function(X))
    forecasts = named.predict(X)
    assert_array_equal(forecasts, np.array(labels)[(signs.decision_function(X) > 0).astype(int)])
    assert forecasts.dtype == named.classes_.dtype
    assert (forecasts == np.array(labels)[y]).mean() > 0.7


def test_labels_in_lists_and_objects(model):
    X, y = stream()
    words = np.array(["no", "yes"])[y]
    expected = clone(model).fit(X, words).predict(X)
    assert_array_equal(clone(model).fit(X.tolist(), words.tolist()).predict(X), expected)
    assert_array_equal(clone(model).fit(X, words.astype(object)).predict(X), expected)


@pytest.mark.long(every=3)
def test_prequential_predict_is_the_loop_of_labels(model):
    X, y = stream()
    words, classes = np.array(["no", "yes"])[y], ["no", "yes"]
    whole = clone(model)
    forecasts = whole.prequential_predict(X, words, classes=classes)
    loop = [forecasts[0]]
    model.partial_fit(X[:1], words[:1], classes=classes)
    for t in range(1, len(X)):
        loop.append(model.predict(X[t : t + 1])[0])
        model.partial_fit(X[t : t + 1], words[t : t + 1])
    assert_array_equal(forecasts, loop)
    assert forecasts[0] == "no"  # a decision value of 0 is not positive
    assert_allclose(whole.decision_function(X), model.decision_function(X), rtol=1e-9, atol=1e-12)
    assert whole.n_samples_seen_ == len(X)


def test_classes_are_named_where_the_first_rows_do_not_show_both(model):
    X, y = stream()
    order = np.argsort(y, kind="stable")  # all of one class first
    X, y = X[order], y[order]
    named = clone(model).partial_fit(X[:10], y[:10], classes=[1, 0])  # in any order
    assert_array_equal(named.classes_, [0, 1])
    named.partial_fit(X[10:], y[10:], classes=[0, 1])
    assert_allclose(named.decision_function(X), clone(model).fit(X, y).decision_function(X))
    for learn in (clone(model).partial_fit, clone(model).fit, clone(model).prequential_predict):
        with pytest.raises(ValueError, match="only one class"):
            learn(X[:10], y[:10])


def test_unknown_labels_are_refused(model):
    X, y = stream()
    unfitted = pickle.dumps(model)
    for classes in ([0, 2], ["0", "1"]):
        with pytest.raises(ValueError, match="besides the classes"):
            model.partial_fit(X, y, classes=classes)
        assert pickle.dumps(model) == unfitted
    with pytest.raises(ValueError, match="Unknown label type"):
        model.fit(X, X[:, 0])
    assert pickle.dumps(model) == unfitted
    model.partial_fit(X, y)
    fitted = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"labels \[2\] besides"):
        model.partial_fit(X, np.where(np.arange(len(y)) == 50, 2, y))
    with pytest.raises(ValueError, match="not the classes of the first call"):
        model.partial_fit(X, y, classes=[0, 2])
    assert pickle.dumps(model) == fitted


@pytest.mark.parametrize(
    "of_labels", [AIOLIClassifier(), KeyedClassifier(), PKAWVClassifier(), FOGDClassifier()]
)
def test_classes_that_are_the_label_of_no_row_are_refused(of_labels):
    """They were classes with a probability, and ["a", 1] were two words."""
    X, _ = stream()
    for classes in ([1, np.nan], np.array([1.0, np.inf]), [1, float("inf"), 2]):
        with pytest.raises(ValueError, match="NaN or infinity"):
            clone(of_labels).partial_fit(X[:2], [1, 1], classes=classes)
    for classes in (["a", 1], np.array(["a", 1], dtype=object), ["a", None], ["a", np.nan]):
        with pytest.raises(TypeError, match="cannot be sorted together"):
            clone(of_labels).partial_fit(X[:2], ["a", "a"], classes=classes)
    again = clone(of_labels).partial_fit(X[:2], ["a", "a"], classes=["b", "a"])
    with pytest.raises(TypeError, match="cannot be sorted together"):
        again.partial_fit(X[:2], ["a", "a"], classes=["a", 1])


GAPS = {
    "string": pd.Series(["a", "b", None, "a"] * 10, dtype="string"),
    "objects": pd.Series(["a", "b", None, "a"] * 10, dtype=object),
    "NA": np.array(["a", "b", pd.NA, "a"] * 10, dtype=object),
    "NaN": pd.Series(["a", "b", np.nan, "a"] * 10, dtype=object),
    "first": [None, "b", "a", "a"] * 10,
    "category": pd.Series(["a", "b", None, "a"] * 10, dtype="category"),
    "numbers": pd.Series([1, 2, None, 1] * 10, dtype="category"),
    "floats": np.array([1.0, 2.0, np.nan, 1.0] * 10),
    "Int64": pd.Series([1, 2, None, 1] * 10, dtype="Int64"),
    "boolean": pd.Series([True, False, None, True] * 10, dtype="boolean"),
}


@pytest.mark.parametrize("kind", GAPS)
@pytest.mark.parametrize(
    "of_labels",
    [
        AIOLIClassifier(),
        FOGDClassifier(),
        ImproperLogisticClassifier(),
        KeyedClassifier(),
        OnlineKernelClassifier(budget="tiny"),
        OnlineKernelClassifier(budget="tiny", max_classes=4),
        PKAWVClassifier(),
        make_streaming_pipeline(RunningStandardScaler(), FOGDClassifier()),
    ],
    ids=lambda one: type(one).__name__,
)
def test_rows_without_a_label_are_to_be_left_out(of_labels, kind):
    X, _ = stream(40)
    for verb in ("fit", "partial_fit", "prequential_predict"):
        with pytest.raises(ValueError, match="some labels are missing"):
            getattr(clone(of_labels), verb)(X, GAPS[kind])


@pytest.mark.skipif(sklearn.__version__ < "1.7", reason="scikit-learn warned of them before 1.7")
@pytest.mark.parametrize("of_labels", [FOGDClassifier(), KeyedClassifier(), PKAWVClassifier()])
@pytest.mark.parametrize("kind", ["S1", object])
def test_bytes_are_said_to_be_what_is_wrong(of_labels, kind):
    X, y = stream()
    labels = np.array([b"a", b"b"], dtype=kind)[y]
    with pytest.raises(TypeError, match=r"^The labels are bytes: give them as text"):
        clone(of_labels).fit(X, labels)
    assert clone(of_labels).fit(X, labels.astype(str)).classes_.tolist() == ["a", "b"]


def test_a_row_alone_without_a_label_is_refused():
    rows = RowClassifier(ImproperLogisticClassifier(), classes=["a", "b"])
    for label in (pd.NA, np.nan):
        with pytest.raises(ValueError, match="some labels are missing"):
            rows.learn_one({"x": 1.0}, label)


def test_probabilities_only_of_the_logistic_loss(model):
    X, y = stream()
    model.fit(X, y)
    assert hasattr(model, "predict_proba") == (model.loss == "log_loss")
    if model.loss == "log_loss":
        P, values = model.predict_proba(X), model.decision_function(X)
        assert_allclose(P.sum(axis=1), 1)
        assert_allclose(np.log(P[:, 1] / P[:, 0]), values, rtol=1e-9, atol=1e-12)
        assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    else:
        with pytest.raises(AttributeError, match="predict_proba"):
            model.predict_proba(X)


def test_a_step_moves_the_decision_towards_the_label(model):
    x = np.array([[0.3, -0.2]])
    for label in (0, 1):
        taught = clone(model).partial_fit(x, [label], classes=[0, 1])
        assert np.sign(taught.decision_function(x)[0]) == 2 * label - 1
        assert taught.predict(x)[0] == label


def test_more_than_two_classes_by_one_versus_rest(model):
    rng = np.random.default_rng(1)
    centres = np.array([[0.8, 0.0], [-0.4, 0.7], [-0.4, -0.7]])
    labels = np.array(["east", "north", "south"])
    kind = rng.integers(3, size=300)
    X, y = centres[kind] + 0.2 * rng.normal(size=(300, 2)), labels[kind]
    fitted = OneVsRestClassifier(model).fit(X[:200], y[:200])
    assert (fitted.predict(X[200:]) == y[200:]).mean() > 0.9
    streamed = OneVsRestClassifier(clone(model))
    for low in range(0, 200, 50):
        rows = slice(low, low + 50)
        streamed.partial_fit(X[rows], y[rows], classes=labels if low == 0 else None)
    assert_array_equal(streamed.classes_, labels)
    assert_allclose(
        streamed.decision_function(X), fitted.decision_function(X), rtol=1e-8, atol=1e-10
    )
    if model.loss == "log_loss":
        assert streamed.predict_proba(X).shape == (300, 3)


class Broken(Exception):
    pass


@pytest.mark.parametrize("place", ["_learn", "late"])
def test_faults_leave_the_model_untouched(model, place, monkeypatch):
    X, y = stream()
    model.fit(X[:60], y[:60])
    before, expected = pickle.dumps(model), clone(model).fit(X, y).decision_function(X)
    learn = type(model)._learn

    def fails(self, state, X, y):
        if place == "late":
            learn(self, state, X, y)
        state["theta"][...] = np.nan
        raise Broken

    def overflows(self, state, X, y):
        forecasts = learn(self, state, X, y)
        state["theta"] = np.append(state["theta"], np.inf)
        return forecasts

    for fault, error in ((fails, Broken), (overflows, ValueError)):
        with monkeypatch.context() as patch:
            patch.setattr(type(model), "_learn", fault)
            for verb in (model.fit, model.partial_fit, model.prequential_predict):
                with pytest.raises(error):
                    verb(X[60:], y[60:])
                assert pickle.dumps(model) == before
    model.partial_fit(X[60:], y[60:])
    assert_allclose(model.decision_function(X), expected, rtol=1e-8, atol=1e-10)


def test_an_unfitted_model_says_so(model):
    X, _ = stream()
    for ask in (model.predict, model.decision_function):
        with pytest.raises(ValueError, match="not fitted yet"):
            ask(X)
    assert not hasattr(model, "n_samples_seen_")
