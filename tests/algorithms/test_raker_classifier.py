"""RakerClassifier: oracle, Raker for targets alike, permutations, regret."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import expit

from sklearn_okl.algorithms._random_features import RakerClassifier, RakerRegressor
from sklearn_okl.losses import get_loss
from tests.oracles import bandit_features as oracle

GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}
LOSSES = ["log_loss", "hinge", "squared_hinge"]


def stream(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.where(np.sin(4 * X[:, 0]) * X[:, 1] + 0.2 * rng.normal(size=n) > 0, 1, -1)


def maps_of(model):
    phases = model._state["features"].get("phases", [None] * len(model.kernels_))
    return [oracle.paired(W, b) for W, b in zip(model.frequencies_, phases, strict=True)]


def decisions(model, X, y):
    """Return the decision values made before each row was learnt."""
    return model._advance(X, y, restart=False, validation={"classes": [-1, 1]})


@pytest.mark.long(every=4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"eta0": 0.4, "power_t": 0.0, "shrinkage": 0.05, "loss_bound": 3.0},
        {"form": "phase", "eta0": 1.0, "power_t": 0.3},
    ],
)
@pytest.mark.parametrize("loss", LOSSES)
def test_equals_the_oracle(loss, options, seed):
    X, y = stream(seed)
    model = RakerClassifier(GRID, loss=loss, n_components=12, random_state=seed, **options)
    found = decisions(model, X, y)
    given = {name: value for name, value in options.items() if name != "form"}
    given["bound"] = given.pop("loss_bound", 1.0)
    expected, F, weights = oracle.raker(X, y, maps_of(model), loss, **given)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-11)
    assert_allclose(model.weights_, weights, rtol=1e-9)
    losses = get_loss(loss).value(y[:, None], F)
    assert_allclose(model.expert_losses_, losses.sum(axis=0), rtol=1e-9)


@pytest.mark.parametrize("n_components", [1, 7])
def test_norms_of_odd_maps(n_components):
    X, y = stream(0)
    model = RakerClassifier(GRID, n_components=n_components, shrinkage=0.3, eta0=1.0).fit(X, y)
    theta = model._state["experts"]["theta"]
    assert_allclose(model._state["norms_sq"], (theta**2).sum(axis=1), rtol=1e-9)


def test_both_rakers_mix_experts_alike():
    """Their weights are the softmax of what they charge; squares of real targets are the rest."""
    X, y = stream(1)
    model = RakerRegressor(GRID, n_components=10, eta0=0.5, random_state=0)
    twin = RakerClassifier(GRID, n_components=10, eta0=0.5, random_state=0, loss="squared_hinge")
    model.fit(X[:1], y[:1])
    twin.partial_fit(X[:1], y[:1], classes=[-1, 1])
    # from forecasts of 0 the square and the squared hinge have the same loss and slope
    assert_allclose(model.predict_experts(X), twin.predict_experts(X), rtol=1e-12)
    assert_allclose(model.weights_, twin.weights_, rtol=1e-12)


def test_verbs_agree():
    X, y = stream(2, 400)
    names = np.array(["no", "yes"])[(y > 0).astype(int)]
    model = RakerClassifier({"gamma": [1.0, 10.0]}, eta0=5.0, random_state=0).fit(X, names)
    values = model.decision_function(X)
    assert_allclose(values, model.predict_experts(X) @ model.weights_, rtol=1e-12)
    assert_allclose(model.predict_proba(X)[:, 1], expit(values))
    assert np.all(model.predict(X) == np.where(values > 0, "yes", "no"))
    assert np.mean(model.predict(X) == names) > 0.65
    assert not hasattr(RakerClassifier(loss="hinge"), "predict_proba")


@pytest.mark.parametrize("loss", LOSSES)
def test_permuting_the_kernels_permutes_the_weights(loss):
    X, y = stream(3)
    frequencies = np.random.default_rng(0).normal(size=(4, 3, 6))
    gammas, order = np.array([1.0, 2.0, 3.0, 4.0]), [2, 0, 3, 1]
    model = RakerClassifier({"gamma": list(gammas)}, loss=loss, frequencies=frequencies).fit(X, y)
    other = RakerClassifier(
        {"gamma": list(gammas[order])}, loss=loss, frequencies=frequencies[order]
    ).fit(X, y)
    assert_allclose(other.weights_, model.weights_[order], rtol=1e-9)
    assert_allclose(other.decision_function(X), model.decision_function(X), rtol=1e-9)


@pytest.mark.parametrize("T", [500, 4000])
def test_regret_against_every_expert_keeps_the_bound_of_hedge(T):
    """Convex loss, constant step, losses below 1: ln K / eta + eta T / 8 against any expert."""
    X, y = stream(4, T)
    eta = 1.0 / np.sqrt(T)
    model = RakerClassifier(
        GRID, n_components=20, eta0=eta, power_t=0, shrinkage=0.0, random_state=0
    )
    values = decisions(model, X, y)
    loss = get_loss("log_loss").value(y, values).sum()
    assert np.abs(values).max() < 0.5  # losses are below 1
    assert loss - model.expert_losses_.min() <= np.log(4) / eta + eta * T / 8


@pytest.mark.parametrize("loss", LOSSES)
def test_regret_against_fixed_coefficients_keeps_the_bound_of_descent(loss):
    """|u|^2 / (2 eta) + eta / 2 sum of squared slopes, for the kernel that u belongs to."""
    T, eta = 3000, 0.1
    X, _ = stream(5, T)
    frequencies = np.random.default_rng(0).normal(size=(1, 3, 8)) * 2
    Z = np.array([oracle.paired(frequencies[0])(x) for x in X])
    u = 6 * np.random.default_rng(1).normal(size=16) / 4
    y = np.where(u @ Z.T > 0, 1, -1)
    model = RakerClassifier(
        {"gamma": [1.0]}, loss=loss, frequencies=frequencies, eta0=eta, power_t=0, shrinkage=0.0
    )
    values, chosen = decisions(model, X, y), get_loss(loss)
    regret = (chosen.value(y, values) - chosen.value(y, Z @ u)).sum()
    bound = u @ u / (2 * eta) + eta / 2 * (chosen.slope(y, values) ** 2).sum()
    assert regret <= bound
    assert bound < (chosen.value(y, 0.0) - chosen.value(y, Z @ u)).sum(), "the bound does not bite"


def test_overflow_is_refused():
    X, y = stream(0, 30)
    model = RakerClassifier(GRID, loss="squared_hinge", eta0=1e200, power_t=0)
    with pytest.raises(ValueError, match="overflowed"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="alpha"):
        RakerClassifier({"gamma": [1.0], "alpha": [1.0]}).fit(X, y)
