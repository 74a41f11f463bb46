"""FOGD and NOGD: oracles, the exact descent, theorems, stability."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_okl.algorithms import (
    FOGDClassifier,
    FOGDRegressor,
    NOGDClassifier,
    NOGDRegressor,
)
from sklearn_okl.algorithms._gradient import KOGDRegressor
from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.features import FourierFeatures
from sklearn_okl.learners import OGDRegressor
from sklearn_okl.losses import get_loss
from tests.oracles import budgeted_gradient as oracles

REGRESSION = ["squared_error", "absolute_error", "pinball"]
MARGIN = ["log_loss", "hinge", "squared_hinge"]
STEPS = [{}, {"eta0": 0.7, "power_t": 0.0}, {"eta0": 0.8, "radius": 0.4}]


def stream(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def labelled(seed, n=150, d=3):
    X, y = stream(seed, n, d)
    return X, np.where(y > np.median(y), 1.0, -1.0)


def rbf(gamma):
    return lambda x, z: np.exp(-gamma * np.sum((x - z) ** 2))


def in_calls(model, X, y, cuts=(1, 13)):
    """Learn in several calls; return forecasts, of a classifier its decision values row by row."""
    if hasattr(model, "decision_function"):
        values = [0.0]
        for t in range(len(y)):
            model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
            values.append(model.decision_function(X[t + 1 : t + 2])[0] if t + 1 < len(y) else 0.0)
        return np.array(values[:-1])
    ends = [0, *cuts, len(y)]
    return np.concatenate(
        [model.prequential_predict(X[low:high], y[low:high]) for low, high in pairwise(ends)]
    )


def configurations(regressor, classifier):
    return [(regressor, loss) for loss in REGRESSION] + [(classifier, loss) for loss in MARGIN]


def data_of(class_, seed, **size):
    return (labelled if "Classifier" in class_.__name__ else stream)(seed, **size)


def with_loss(class_, loss):
    """Return the arguments that name a loss, with another level than the median."""
    return {"loss": loss} | ({"quantile": 0.3} if loss == "pinball" else {})


# Oracles


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("class_", "loss"), configurations(FOGDRegressor, FOGDClassifier))
@pytest.mark.parametrize(("steps", "seed"), [(steps, seed) for seed, steps in enumerate(STEPS)])
def test_fogd_equals_the_literal_loop(class_, loss, steps, seed):
    X, y = data_of(class_, seed)
    options = with_loss(class_, loss) | steps
    model = class_("rbf", 2.0, n_components=12, random_state=seed, **options)
    forecasts = in_calls(model, X, y)
    expected, w = oracles.fogd(X, y, model.frequencies_, **options)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.coef_, w, rtol=1e-9, atol=1e-12)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(("class_", "loss"), configurations(NOGDRegressor, NOGDClassifier))
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize(("seed", "budget"), [(1, 7), (2, 40)])
def test_nogd_equals_the_literal_loop(class_, loss, steps, seed, budget):
    X, y = data_of(class_, seed, n=80)
    options = with_loss(class_, loss) | steps
    model = class_("rbf", 4.0, budget=budget, **options)
    forecasts = in_calls(model, X, y)
    expected, stored = oracles.nogd(X, y, rbf(4.0), budget, **options)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-11)
    assert_array_equal(model.components_, stored)


def test_nogd_stores_only_rows_that_took_a_step():
    X, y = labelled(3, n=400, d=2)
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    for loss, every in (("hinge", False), ("squared_hinge", False), ("log_loss", True)):
        model = NOGDClassifier("rbf", 1.0, budget=100, loss=loss, eta0=1.0, power_t=0.0).fit(X, y)
        _, stored = oracles.nogd(X, y, rbf(1.0), 100, loss, eta0=1.0, power_t=0.0)
        assert (len(stored) == 100) == every
        if not every:
            assert_array_equal(model.components_, stored)
            assert len(stored) > 5


# The parts


@pytest.mark.long(every=3)
@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("form", ["paired", "phase"])
def test_fogd_is_descent_on_fourier_features(loss, steps, form):
    X, y = stream(4, n=700)
    options = {"loss": loss, "quantile": 0.3} | steps
    maps = {"n_components": 15, "form": form, "sampling": "orthogonal", "random_state": 3}
    model = FOGDRegressor("laplacian", 0.5, **maps, **options)
    forecasts = model.prequential_predict(X, y)
    features = FourierFeatures("laplacian", 0.5, **maps)
    learner = OGDRegressor(**options)
    expected = learner.prequential_predict(features.fit_transform(X), y)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.coef_, learner.coef_, rtol=1e-9, atol=1e-12)
    assert_array_equal(model.frequencies_, features.frequencies_)
    if form == "paired":
        given = FOGDRegressor(frequencies=features.frequencies_, **options)
        features = FourierFeatures(frequencies=features.frequencies_)
        learner = OGDRegressor(**options).fit(features.fit_transform(X), y)
        assert_allclose(given.fit(X, y).coef_, learner.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", REGRESSION)
@pytest.mark.parametrize("steps", STEPS)
@pytest.mark.parametrize("kernel", ["laplacian", "poly"])
def test_nogd_is_kernel_descent_before_the_budget_is_full(loss, steps, kernel):
    X, y = stream(5, n=300)
    options = {"loss": loss, "quantile": 0.3} | steps
    if kernel == "poly":
        X, options = X / 2, options | {"degree": 2}
    exact, model = KOGDRegressor(kernel, **options), NOGDRegressor(kernel, budget=301, **options)
    expected = exact.prequential_predict(X, y)
    assert_allclose(in_calls(model, X, y), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.dual_coef_, exact.dual_coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
@pytest.mark.parametrize("seed", [0, 1])
def test_the_change_to_the_map_leaves_the_function_as_it_is(loss, seed):
    X, y = stream(seed, n=90)
    before = NOGDRegressor("rbf", 3.0, loss=loss, budget=91, eta0=0.5).fit(X, y)
    after = NOGDRegressor("rbf", 3.0, loss=loss, budget=90, eta0=0.5).fit(X, y)
    assert before._state["basis"] is None
    assert after._state["basis"] is not None
    X_new = np.random.default_rng(seed).uniform(-2, 2, size=(200, 3))
    assert_allclose(after.predict(X_new), before.predict(X_new), rtol=1e-9, atol=1e-11)
    assert_array_equal(after.components_, before.components_)


def test_nogd_learns_nothing_outside_the_span_once_the_budget_is_full():
    X, y = stream(6, n=200)
    far = NOGDRegressor("rbf", 3.0, budget=30).fit(X, y)
    before = far.predict(X)
    far.partial_fit(np.full((50, 3), 100.0), np.full(50, 1e3))
    assert_array_equal(far.predict(X), before)
    assert_array_equal(far.predict([[100.0] * 3]), [0.0])


# Theorems


def adversary(model, X, how, rng):
    """Play targets against a model as it goes; return targets and forecasts."""
    is_classifier = hasattr(model, "decision_function")
    y, f = np.empty(len(X)), np.zeros(len(X))
    for t in range(len(X)):
        row = X[t : t + 1]
        if t:
            f[t] = (model.decision_function if is_classifier else model.predict)(row)[0]
        if how == "against":
            y[t] = -1.0 if f[t] > 0 else 1.0
        else:
            y[t] = np.sign(np.sin(4 * X[t, 0])) if how == "pattern" else rng.choice([-1.0, 1.0])
        model.partial_fit(row, y[t : t + 1], **({"classes": [-1, 1]} if is_classifier else {}))
    return y, f


def rivals(Z, y, rng):
    """Return points of the feature space: ridge solutions and random ones."""
    D = Z.shape[1]
    ridges = [np.linalg.solve(Z.T @ Z + a * np.eye(D), Z.T @ y) for a in (0.03, 0.3, 3, 30, 300)]
    points = [*ridges, *(2.0 * r for r in ridges), *(0.1 * rng.normal(size=(20, D)))]
    return np.array(points).T


@pytest.mark.long(every=9)
@pytest.mark.parametrize("how", ["against", "pattern", "coins"])
@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", *MARGIN])
@pytest.mark.parametrize("name", ["FOGD", "NOGD"])
def test_regret_with_a_constant_step(name, loss, how):
    """|u|^2 / (2 eta) + eta/2 sum |g|^2, for every u of the feature space, over the whole run."""
    rng, n = np.random.default_rng(0), 80
    X = rng.uniform(-1, 1, size=(n, 2))
    shares = []
    for c in (0.3, 3.0):
        steps = {"loss": loss, "eta0": c / np.sqrt(n), "power_t": 0.0}
        margin = loss in MARGIN
        if name == "FOGD":
            class_ = FOGDClassifier if margin else FOGDRegressor
            model = class_("rbf", 2.0, n_components=30, random_state=0, **steps)
        else:
            model = (NOGDClassifier if margin else NOGDRegressor)("rbf", 2.0, budget=25, **steps)
        y, f = adversary(model, X, how, rng)
        if name == "FOGD":
            Z = FourierFeatures(frequencies=model.frequencies_).fit_transform(X)
        else:
            S = model.components_
            K = np.exp(-2.0 * np.sum((S[:, None] - S) ** 2, axis=-1))
            K_X = np.exp(-2.0 * np.sum((X[:, None] - S) ** 2, axis=-1))
            Z = np.linalg.solve(np.linalg.cholesky(K + 1e-12 * np.eye(len(S))), K_X.T).T
        rule, U = get_loss(loss), rivals(Z, y, rng)
        gradients_sq = np.sum(rule.slope(y, f) ** 2)  # k(x, x) = 1
        losses = rule.value(y[:, None], Z @ U).sum(axis=0)
        bounds = np.sum(U**2, axis=0) / (2 * steps["eta0"]) + steps["eta0"] / 2 * gradients_sq
        regrets = rule.value(y, f).sum() - losses
        assert np.all(regrets <= bounds * (1 + 1e-9))
        shares.append((regrets / bounds).max())
    print(f"\n{name} {loss} {how}: regret at most {max(shares):.3f} of the bound")
    assert max(shares) > (0.3 if how == "against" else 0.1)


def test_fogd_tends_to_kernel_descent_with_many_features():
    X, y = stream(7, n=100)
    exact = KOGDRegressor("rbf", 1.0).prequential_predict(X, y)
    gaps = []
    for n_components in (20, 20_000):
        model = FOGDRegressor("rbf", 1.0, n_components=n_components, random_state=0)
        gaps.append(np.abs(model.prequential_predict(X, y) - exact).max())
    assert gaps[1] < 0.02 < gaps[0]


# Laws of paths that the small instances of the package do not take


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "model",
    [
        NOGDRegressor("poly", budget=15, eta0=0.05),  # fewer dimensions than the budget
        NOGDRegressor("rbf", 1e-4, budget=40, eta0=0.3),
        NOGDRegressor(budget=100, eta0=0.7, loss="pinball", radius=0.5),
        NOGDClassifier("rbf", 1e-4, budget=40, eta0=0.9, loss="hinge"),
        NOGDClassifier(budget=60, eta0=3.0, loss="squared_hinge"),
        FOGDClassifier(n_components=9, eta0=0.9, loss="hinge", radius=0.7, random_state=1),
    ],
)
def test_laws(model):
    check_online_estimator(model, grows=False)


# Stability


@pytest.mark.long(every=9)
@pytest.mark.parametrize("sigma", [1e-3, 1e-2, 1.0, 1e2, 1e3])
@pytest.mark.parametrize("kind", ["smooth", "repeated", "near-duplicates"])
@pytest.mark.parametrize("loss", ["squared_error", "hinge"])
def test_nogd_is_stable(sigma, kind, loss):
    margin = loss in MARGIN
    X, y = (labelled if margin else stream)(8, n=120)
    if kind != "smooth":
        X = X[np.arange(120) % 20]
        if kind == "near-duplicates":
            X = X + 1e-12 * np.random.default_rng(9).normal(size=X.shape)
    class_ = NOGDClassifier if margin else NOGDRegressor
    gamma = 0.5 / sigma**2
    model = class_("rbf", gamma, budget=50, loss=loss, eta0=0.3)
    forecasts = in_calls(model, X, y)
    # The literal recursion on the span of the stored rows, without inverses: where nothing
    # depends on rows outside the span, exact descent.
    exact = oracles.nogd(X, y, rbf(gamma), 10**6, loss, eta0=0.3)[0]
    if kind == "smooth" and sigma < 1e2:
        exact = oracles.nogd(X, y, rbf(gamma), 50, loss, eta0=0.3)[0]
    # a margin that rounding carries over a kink counts as well: forecasts, not decisions, agree
    assert np.abs(forecasts - exact).max() < (1e-9 if sigma < 1e2 else 1e-4)
    if model._state["basis"] is not None:
        basis = model._state["basis"]
        K = np.exp(-gamma * np.sum((basis["atoms"][:, None] - basis["atoms"]) ** 2, axis=-1))
        assert_allclose(basis["factor"] @ basis["factor"].T, K, atol=1e-11)


def test_dependent_rows_fill_the_budget_without_a_coordinate():
    X, y = stream(10, n=60)
    X = X[np.arange(60) % 8]
    model = NOGDRegressor("rbf", 2.0, budget=40).fit(X, y)
    assert model.components_.shape == (8, 3)
    assert_array_equal(model.components_, X[:8])
    forecasts = clone(model).prequential_predict(X, y)
    expected = oracles.nogd(X, y, rbf(2.0), 40)[0]
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("class_", [FOGDRegressor, NOGDRegressor])
@pytest.mark.parametrize("options", [{}, {"radius": 1.0}])
def test_a_forecast_does_not_depend_on_its_own_target(class_, options):
    X, y = stream(11, n=70)
    wild = y.copy()
    wild[-1] = 1e12
    settings = {"random_state": 0} if class_ is FOGDRegressor else {"budget": 40}
    a, b = (class_(**settings, **options).prequential_predict(X, v) for v in (y, wild))
    assert_array_equal(a, b)


@pytest.mark.parametrize("class_", [FOGDRegressor, NOGDRegressor])
def test_an_overflow_is_refused(class_):
    X, y = stream(12, n=100)
    model = class_().fit(X, y)
    expected = model.predict(X)
    for options, target in (({"eta0": 50.0}, 1.7e308), ({"radius": 1.0}, 1e200)):
        model.set_params(**options)
        with pytest.raises(ValueError, match="overflowed"):
            model.partial_fit(X, np.where(np.arange(100) == 50, target, y))
        assert_array_equal(model.predict(X), expected)


def test_bad_parameters_have_a_sentence():
    X, y = stream(13, n=10)
    for class_, bad in (
        (FOGDRegressor, {"kernel": "poly"}),
        (FOGDRegressor, {"loss": "hinge"}),
        (FOGDRegressor, {"n_components": 0}),
        (FOGDClassifier, {"loss": "squared_error"}),
        (NOGDRegressor, {"budget": 0}),
        (NOGDRegressor, {"eta0": 0.0}),
        (NOGDClassifier, {"radius": -1.0}),
    ):
        with pytest.raises(ValueError, match="must be"):
            class_(**bad).fit(X, y > 0.5)
    with pytest.raises(ValueError, match="put it into the callable"):
        NOGDRegressor(lambda A, B: A @ B.T, 1.0).fit(X, y)
    with pytest.raises(ValueError, match="a column for each frequency"):
        FOGDRegressor(frequencies=np.ones((2, 5))).fit(X, y)
    for class_, changes in (
        (FOGDRegressor, {"kernel": "laplacian", "n_components": 7, "form": "phase"}),
        (NOGDRegressor, {"kernel": "laplacian", "budget": 7, "degree": 5}),
    ):
        for name, value in changes.items():
            model = class_().fit(X, y).set_params(**{name: value})
            with pytest.raises(ValueError, match="cannot change in mid-stream"):
                model.partial_fit(X, y)
