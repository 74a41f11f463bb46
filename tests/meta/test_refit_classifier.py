"""Batch classifiers on a stream: several classes, some of which the past may not show."""

import copy
import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from sklearn_okl import RefitClassifier, load, save
from tests.oracles.refit import refit_classifier

TREE = DecisionTreeClassifier(max_depth=4, random_state=0)
WORDS = np.array(["ash", "birch", "cedar", "oak"])


def stream(n=300, n_classes=4, seed=0):
    """Return rows of three features and places of classes, in blobs."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    return rng.normal(size=(n, 3)) + 3.0 * np.c_[y % 2, y // 2, np.zeros(n)], y


def in_parts(model, X, y, cuts, classes, verb="prequential_predict_proba"):
    parts = []
    for low, high in pairwise(cuts):
        parts.append(getattr(model, verb)(X[low:high], y[low:high], classes=classes))
        model = pickle.loads(pickle.dumps(model))
    return np.concatenate(parts)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("delay", [0, 1, 7, 45])
@pytest.mark.parametrize(("growth", "window"), [(0.05, None), (0.3, None), (0.5, 40)])
def test_equal_to_the_oracle_whatever_the_cut(growth, window, delay):
    X, y = stream()
    y = np.where(np.arange(len(y)) < 120, y % 3, y)  # the last class comes late
    labels = WORDS[y]
    model = RefitClassifier(TREE, growth=growth, window=window, label_delay=delay)
    expected = refit_classifier(TREE, X, labels, WORDS, growth, window, delay)
    whole = clone(model)
    assert_allclose(whole.prequential_predict_proba(X, labels, WORDS), expected, atol=1e-12)
    cuts = [0, 1, 2, 29, 30, 31, 32, 100, 101, 233, 300]
    assert_allclose(in_parts(clone(model), X, labels, cuts, WORDS), expected, atol=1e-12)
    names = in_parts(clone(model), X, labels, cuts, WORDS, "prequential_predict")
    assert_array_equal(names, WORDS[expected.argmax(axis=1)])
    if not delay:
        assert_array_equal(whole.predict(X), WORDS[whole.predict_proba(X).argmax(axis=1)])
        assert accuracy_score(labels[60:120], names[60:120]) > 0.6


@pytest.mark.long(every=3)
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("window", [None, 30])
def test_a_past_of_one_class_is_not_fitted(window, delay):
    X, y = stream(200)
    y[:70] = 2
    y[130:180] = 1  # a window of one class later on: the last fit stays
    model = RefitClassifier(LogisticRegression(), growth=0.2, window=window, label_delay=delay)
    P = clone(model).prequential_predict_proba(X, y, classes=[0, 1, 2, 3])
    expected = refit_classifier(LogisticRegression(), X, y, range(4), 0.2, window, delay)
    assert_allclose(P, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(P[60 + delay], [1 / 64, 1 / 64, 61 / 64, 1 / 64])
    model.partial_fit(X[:60], y[:60], classes=range(4))
    assert model.n_fits_ == model.n_samples_fit_ == 0
    with pytest.raises(AttributeError, match="30 rows of more than one class, and it has seen 60"):
        model.estimator_  # noqa: B018
    model.partial_fit(X[60:], y[60:])
    if window:
        assert 100 < model.n_samples_fit_ < 200
    assert model.predict_proba(X).shape == (200, 4)


@pytest.mark.parametrize("n", [1, 2, 29, 30])
def test_frequencies_before_the_first_fit(n):
    X, y = stream(n)
    model = RefitClassifier(GaussianNB()).partial_fit(X, y, classes=range(6))
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_array_equal(P[:, 4:] == 0.0, n == 30)
    if n < 30:
        counts = np.bincount(y, minlength=6)
        assert_allclose(P, np.tile((counts + 1) / (n + 6), (n, 1)))
        assert_array_equal(model.predict(X), np.full(n, counts.argmax()))
    else:
        assert_allclose(P[:, :4], model.estimator_.predict_proba(X), rtol=1e-12)


@pytest.mark.long(every=4)
@pytest.mark.parametrize(
    "labels",
    [WORDS, WORDS.astype(object), np.array([-3, 1, 5, 12]), np.array([0.0, 2.0, 4.0, 8.0])],
    ids=["words", "objects", "integers", "floats"],
)
def test_labels_of_any_kind(labels):
    X, y = stream()
    plain = RefitClassifier(TREE).fit(X, y)
    named = RefitClassifier(TREE).fit(X, labels[y])
    assert_array_equal(named.classes_, labels)
    assert named.classes_.dtype == named.predict(X).dtype == labels.dtype
    assert_array_equal(named.estimator_.classes_, labels)
    assert_array_equal(named.predict(X), labels[plain.predict(X)])
    assert_array_equal(named.predict_proba(X), plain.predict_proba(X))
    assert named.score(X, labels[y]) > 0.6
    listed = RefitClassifier(TREE).fit(X, labels[y].tolist())
    assert_array_equal(listed.predict_proba(X), plain.predict_proba(X))


def test_labels_that_are_not_among_the_classes():
    X, y = stream()
    model = RefitClassifier(TREE).partial_fit(X[:50], WORDS[y[:50]], classes=WORDS[::-1])
    before = pickle.dumps(model)
    for bad in (np.array(["oak", "elm"]), np.array([0, 1]), np.array(["oak", None], dtype=object)):
        with pytest.raises((ValueError, TypeError), match=r"labels|Name all classes"):
            model.partial_fit(X[:2], bad)
    with pytest.raises(ValueError, match="not the classes of the first call"):
        model.partial_fit(X[:2], WORDS[:2], classes=WORDS[:2])
    with pytest.raises(ValueError, match="only one class"):
        RefitClassifier(TREE).partial_fit(X[:2], ["oak", "oak"])
    many = RefitClassifier(TREE).partial_fit(X[:50], y[:50], classes=range(26))
    with pytest.raises(ValueError, match="besides the classes"):
        many.partial_fit(X[:2], ["3", "25"])  # words are no numbers, however they are sorted
    assert pickle.dumps(model) == before


def test_two_copies_that_part_do_not_see_each_other():
    X, y = stream()
    model = RefitClassifier(GaussianNB(), growth=0.1).fit(X[:100], y[:100])
    other, third = copy.copy(model), copy.deepcopy(model)
    for t in range(100, 160):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        other.partial_fit(X[t : t + 1], 3 - y[t : t + 1])
    third.partial_fit(X[100:160], y[100:160])
    assert_array_equal(model.predict_proba(X), third.predict_proba(X))
    assert not np.allclose(other.predict_proba(X), third.predict_proba(X))


def test_an_unset_random_state_is_drawn_once():
    X, y = stream(120)
    forest = RandomForestClassifier(n_estimators=3)
    models = [RefitClassifier(forest, growth=0.5, random_state=seed) for seed in (0, 0, 1)]
    P = [model.prequential_predict_proba(X, y) for model in models]
    assert_array_equal(P[0], P[1])
    assert not np.array_equal(P[0], P[2])


def test_gaps_are_for_estimators_that_take_them():
    X, y = stream(60)
    X[3, 1] = np.nan
    gaps = RefitClassifier(HistGradientBoostingClassifier(max_iter=3, early_stopping=False))
    assert np.isfinite(gaps.prequential_predict_proba(X, y)).all()
    with pytest.raises(ValueError, match="NaN"):
        RefitClassifier(LogisticRegression()).fit(X, y)


def test_a_failed_fit_leaves_the_model_as_it_was():
    class Moody(GaussianNB):
        def fit(self, X, y):
            if (X > 100).any():
                raise RuntimeError("no")
            return super().fit(X, y)

    X, y = stream(100)
    model = RefitClassifier(Moody()).fit(X[:40], y[:40])
    before = model.predict_proba(X)
    with pytest.raises(RuntimeError):
        model.partial_fit(1000.0 * X[40:60], y[40:60])
    assert model.n_samples_seen_ == 40
    assert_array_equal(model.predict_proba(X), before)
    again = RefitClassifier(Moody()).fit(X, y)
    model.partial_fit(X[40:], y[40:])
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))


@pytest.mark.long
def test_saved_and_loaded_it_goes_on_as_if_never_saved(tmp_path):
    pytest.importorskip("skops")
    X, y = stream()
    model = RefitClassifier(LogisticRegression(), label_delay=2).fit(X[:100], WORDS[y[:100]])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    forecasts = [m.prequential_predict_proba(X[100:], WORDS[y[100:]]) for m in (model, again)]
    assert_array_equal(*forecasts)
    assert_array_equal(model.predict(X), again.predict(X))


@pytest.mark.parametrize("estimator", [LinearRegression(), DecisionTreeClassifier, LinearSVC()])
def test_what_has_no_probabilities_is_refused(estimator):
    with pytest.raises((TypeError, ValueError), match=r"classifier|estimator"):
        RefitClassifier(estimator).fit(*stream(10))
