"""Margin classifiers of several classes: what they share is one, the oracle a model each."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.multiclass import OneVsRestClassifier

from sklearn_okl import (
    FOGDClassifier,
    NOGDClassifier,
    OKSClassifier,
    PKAWVClassifier,
    RakerClassifier,
)
from sklearn_okl.base._descent import descend, descend_columns
from sklearn_okl.losses import get_loss
from tests.oracles import one_against_rest as oracle

GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.3, 2.0]}
ATOMS = np.random.default_rng(9).uniform(-1, 1, size=(12, 2))
CLASSES = ["birch", "elm", "fir", "oak"]
# those whose shared parts do not depend on the labels
MODELS = [
    FOGDClassifier(gamma=1.0, n_components=13, eta0=1.0, random_state=0),
    FOGDClassifier(gamma=1.0, n_components=20, eta0=1.0, loss="hinge", radius=0.8, random_state=0),
    NOGDClassifier(gamma=1.0, budget=30, eta0=1.0),
    NOGDClassifier(gamma=1.0, budget=30, eta0=1.0, radius=0.7),
    NOGDClassifier(gamma=1.0, budget=500, eta0=1.0, loss="squared_hinge"),
    PKAWVClassifier(gamma=1.0, random_state=0),
    PKAWVClassifier(gamma=0.2, projection="taylor", degree=3),
    PKAWVClassifier(gamma=1.0, projection="beforehand", dictionary=ATOMS, forecaster="ridge"),
    RakerClassifier(GRID, n_components=12, eta0=2.0, random_state=0),
    RakerClassifier(GRID, n_components=9, eta0=2.0, loss="hinge", form="phase", random_state=0),
]


def name_of(model):
    loss, radius = (getattr(model, name, "") for name in ("loss", "radius"))
    return f"{type(model).__name__}-{loss}-{radius}-{getattr(model, 'projection', '')}"


def stream(n=150, seed=0):
    """Return rows in a square and the names of its four quarters, some of them wrong."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    quarter = 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    quarter = np.where(rng.random(n) < 0.05, rng.integers(4, size=n), quarter)
    return X, np.array(CLASSES)[quarter]


def decisions(model, X, y, cuts=()):
    """Return the decision values made before each row was learnt."""
    parts = []
    for low, high in pairwise([0, *cuts, len(y)]):
        classes = {"classes": CLASSES}
        parts.append(model._advance(X[low:high], y[low:high], restart=False, validation=classes))
    return np.concatenate(parts)


@pytest.fixture(params=MODELS, ids=name_of)
def model(request):
    return clone(request.param)


@pytest.mark.long(every=2)
def test_equals_models_apart(model):
    X, y = stream()
    expected = oracle.models_apart(lambda: clone(model), X, y, CLASSES)
    found = decisions(clone(model), X, y)
    assert found.shape == (len(X), 4)
    assert_allclose(found, expected, rtol=1e-10, atol=1e-10)
    assert_allclose(decisions(model, X, y, (1, 2, 40, 70)), expected, rtol=1e-10, atol=1e-10)
    apart = OneVsRestClassifier(clone(model)).fit(X, y)
    assert_allclose(model.decision_function(X), apart.decision_function(X), atol=1e-10)
    assert_array_equal(model.predict(X), apart.predict(X))
    assert_array_equal(model.predict(X), np.array(CLASSES)[model.decision_function(X).argmax(1)])
    assert (model.predict(X) == y).mean() > 0.7
    if hasattr(model, "predict_proba"):
        assert_allclose(model.predict_proba(X), apart.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log_loss"])
@pytest.mark.parametrize("radius", [None, 0.7])
def test_nogd_shares_the_rows_on_which_any_class_steps(loss, radius):
    X, y = stream(90)
    y[:40] = np.where(X[:40, 0] > 0, "elm", "fir")
    options = {"loss": loss, "eta0": 1.0, "power_t": 0.2, "radius": radius}
    model = NOGDClassifier("rbf", 4.0, budget=20, **options)
    expected, stored = oracle.nogd(
        X, oracle.signs(y, CLASSES), lambda a, b: np.exp(-4.0 * np.sum((a - b) ** 2)), 20, **options
    )
    assert_allclose(decisions(model, X, y, (3, 19, 20, 21)), expected, rtol=1e-9, atol=1e-10)
    assert len(stored) == 20
    assert_allclose(model.components_, stored[: len(model.components_)])
    assert model.dual_coef_.shape == (len(model.components_), 4)


@pytest.mark.parametrize("loss", ["log_loss", "hinge", "squared_hinge"])
@pytest.mark.parametrize("radius", [None, 1.0, 1e-30])
def test_columns_descend_as_functions_apart(loss, radius):
    rng = np.random.default_rng(0)
    Z, Y = rng.normal(size=(40, 3)), np.where(rng.random((40, 5)) < 0.3, 1.0, -1.0)
    theta, etas = rng.normal(size=(5, 3)), np.full(40, 0.3)
    before, norms_sq = Z @ theta.T, (theta**2).sum(axis=1)
    found = descend_columns(Z @ Z.T, before, Y, get_loss(loss), etas, radius, norms_sq)
    for c in range(5):
        columns = before[:, c], Y[:, c]
        alone = descend(Z @ Z.T, *columns, get_loss(loss), etas, radius, norms_sq[c])
        for part, expected in zip(found, alone, strict=True):
            assert_allclose(part[..., c], expected, rtol=1e-9, atol=1e-14)


def test_shapes_of_what_is_shown():
    X, y = stream()
    raker = RakerClassifier(GRID, n_components=12, eta0=2.0, random_state=0).fit(X, y)
    assert raker.weights_.shape == raker.expert_losses_.shape == (4, 4)
    assert_allclose(raker.weights_.sum(axis=1), 1.0)
    F = raker.predict_experts(X)
    assert F.shape == (len(X), 4, 4)
    assert_allclose(np.einsum("nck,ck->nc", F, raker.weights_), raker.decision_function(X))
    fogd = FOGDClassifier(n_components=13, random_state=0).fit(X, y)
    assert fogd.coef_.shape == (4, 13)
    two = fogd.fit(X, y > "f")
    assert two.decision_function(X).shape == (len(X),)
    assert two.coef_.shape == (13,)


def test_probabilities_and_their_logarithms():
    X, y = stream()
    model = FOGDClassifier(gamma=1.0, n_components=20, eta0=1.0, random_state=0)
    loop, copy = [], clone(model).partial_fit(X[:1], y[:1], classes=CLASSES)
    for t in range(1, len(X)):
        loop.append(copy.predict_proba(X[t : t + 1])[0])
        copy.partial_fit(X[t : t + 1], y[t : t + 1])
    P = model.prequential_predict_proba(X, y, classes=CLASSES)
    assert_allclose(P[0], 0.25)
    assert_allclose(P[1:], loop, rtol=1e-9)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0)
    assert_allclose(np.exp(model.predict_log_proba(X)), P)
    assert_array_equal(model.classes_[P.argmax(axis=1)], model.predict(X))
    steep = clone(model).set_params(eta0=1e4).fit(X, y)  # probabilities that round to 0
    logs = steep.predict_log_proba(X)
    assert (steep.predict_proba(X) == 0.0).any()
    assert np.isfinite(logs).all()
    two = clone(steep).fit(X, X[:, 0] > 0)
    assert_allclose(np.subtract(*two.predict_log_proba(X).T), -two.decision_function(X))
    for verb in ("predict_proba", "predict_log_proba", "prequential_predict_proba"):
        assert not hasattr(FOGDClassifier(loss="hinge"), verb)


def test_labels_are_named_or_refused(model):
    X, y = stream()
    order = np.argsort(y, kind="stable")  # class by class
    X, y = X[order], y[order]
    model.partial_fit(X[:20], y[:20], classes=CLASSES[::-1])
    assert_array_equal(model.classes_, CLASSES)
    assert_array_equal(model.predict(X[:5]), "birch")
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match=r"labels \['yew'\] besides .* Name all classes"):
        model.partial_fit(X[:2], ["birch", "yew"])
    with pytest.raises(ValueError, match="not the classes of the first call"):
        model.partial_fit(X[:2], y[:2], classes=CLASSES[:3])
    assert pickle.dumps(model) == before
    with pytest.raises(ValueError, match=r"only one class, .* Name all in 'classes'"):
        clone(model).fit(X[:20], y[:20])
    model.partial_fit(X[20:], y[20:])
    assert_allclose(
        model.decision_function(X), clone(model).fit(X, y).decision_function(X), atol=1e-10
    )


def test_the_others_stay_with_two_classes():
    X, y = stream()
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        OKSClassifier().fit(X, y)
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        OKSClassifier().partial_fit(X, y == "oak", classes=[False, True, 2])


@pytest.mark.parametrize("seed", range(3))
def test_mistakes_are_bounded_by_the_hinge_losses_of_all_classes(seed):
    """Each costs 2 at least; and each class keeps the bound of descent against any rival."""
    X, y = stream(600, seed)
    model = FOGDClassifier(
        gamma=1.0, n_components=40, loss="hinge", eta0=0.5, power_t=0.0, random_state=seed
    )
    values, Y, loss = decisions(model, X, y), oracle.signs(y, CLASSES), get_loss("hinge")
    losses = loss.value(Y, values)
    wrong = np.array(CLASSES)[values.argmax(axis=1)] != y
    assert np.all(losses.sum(axis=1)[wrong] >= 2.0)
    rivals = clone(model).set_params(eta0=0.1).fit(X[::-1], y[::-1])
    squares = (rivals.coef_**2).sum()
    rival = loss.value(Y, rivals.decision_function(X)).sum()
    bound = rival + squares / (2 * 0.5) + 0.5 / 2 * (loss.slope(Y, values) ** 2).sum()
    assert losses.sum() <= bound
    assert 2 * wrong.sum() <= bound < 4 * len(X)


@pytest.mark.long
def test_digits_as_well_as_one_model_a_class():
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    for model in (
        FOGDClassifier(gamma=0.05, eta0=1.0, random_state=0),
        NOGDClassifier(gamma=0.05, budget=100, eta0=1.0),
        PKAWVClassifier(gamma=0.05, projection="beforehand", dictionary=X[:60]),
        RakerClassifier({"gamma": [0.01, 0.05]}, eta0=5.0, random_state=0),
    ):
        apart = OneVsRestClassifier(clone(model)).fit(X[:900], y[:900])
        accuracy = model.fit(X[:900], y[:900]).score(X[900:], y[900:])
        assert accuracy >= max(apart.score(X[900:], y[900:]), 0.75)
