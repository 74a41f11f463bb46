"""AIOLI on features and in the space of a kernel: the oracle, the surrogate, the theorem."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from sklearn.base import clone

from sklearn_okl import AIOLIClassifier, FourierFeatures, KernelAIOLIClassifier, StreamingPipeline
from sklearn_okl.algorithms._improper_logistic import with_both_losses
from tests.oracles import improper_logistic as oracle


def linear(A, B):
    return A @ B.T


def stream(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, np.where(X[:, 0] + 0.5 * rng.normal(size=n) > 0, 1, -1)


def decisions(model, X, y, size=None):
    """Return the decision values made before each row was learnt, in calls of so many rows."""
    parts = []
    for low in range(0, len(y), size or len(y)):
        rows, classes = slice(low, low + (size or len(y))), {"classes": [-1, 1]}
        parts.append(model._advance(X[rows], y[rows], restart=False, validation=classes))
    return np.concatenate(parts)


# Oracle


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    ("alpha", "radius", "seed"), [(1.0, 5.0, 0), (0.01, 2.0, 1), (1e-3, 0.1, 2), (10.0, 30.0, 3)]
)
def test_equals_the_oracle(alpha, radius, seed):
    X, y = stream(seed, 100)
    expected, _ = oracle.aioli(X, y, alpha, radius)
    on_features = AIOLIClassifier(alpha, radius=radius)
    on_rows = KernelAIOLIClassifier(linear, alpha=alpha, radius=radius)
    for model in (on_features, on_rows):
        for size in (None, 1, 7):
            copy = clone(model)
            assert_allclose(decisions(copy, X, y, size), expected, rtol=1e-9, atol=1e-9)
    assert_allclose(clone(on_features).fit(X, y).coef_, on_rows.fit(X, y).dual_coef_ @ X, rtol=1e-8)


def test_the_oracle_minimises_what_defines_the_forecast():
    X, y = stream(0, 30)
    _, past = oracle.aioli(X, y, 0.1, 2.0)
    x = np.array([0.5, -1.0, 2.0])

    def objective(theta):
        surrogates = (oracle.surrogate(theta @ z, at, label, 2.0) for z, label, at in past)
        both = oracle.logistic(theta @ x, 1) + oracle.logistic(theta @ x, -1)
        return sum(surrogates) + 0.1 * theta @ theta + both

    theta = oracle.forecast(past, x, 0.1, 2.0)
    best = objective(theta)
    for step in 1e-3 * np.vstack([np.eye(3), -np.eye(3)]):
        change = objective(theta + step) - best
        assert 0.0 < change < 1e-4  # quadratic: no slope is left
        assert_allclose(change, objective(theta - step) - best, rtol=1e-3)


def test_a_kernel_is_its_features():
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, size=(200, 2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1, -1)
    features = np.c_[np.ones(len(X)), np.sqrt(2) * X, X**2, np.sqrt(2) * X[:, 0] * X[:, 1]]
    exact = KernelAIOLIClassifier("poly", 1.0, degree=2, alpha=0.1)
    model = AIOLIClassifier(0.1)
    assert_allclose(
        decisions(exact, X, y, 50), decisions(model, features, y, 20), rtol=1e-9, atol=1e-10
    )
    assert_allclose(exact.decision_function(X), model.decision_function(features), rtol=1e-8)
    assert exact.score(X, y) > 0.9


@pytest.mark.parametrize(
    ("raw", "size"),
    [(3.0, 2.0), (-1e-9, 5.0), (1e8, 1e8), (-1e8, 1e12), (0.0, 3.0), (5.0, 0.0), (1e300, 1e300)],
)
def test_the_equation_of_the_forecast(raw, size):
    value = with_both_losses(raw, size)
    assert_allclose(value + size * np.tanh(value / 2), raw, rtol=1e-14)


# Theorem


@pytest.mark.parametrize("radius", [0.01, 0.5, 1.0, 2.0, 5.0, 10.0])
def test_the_surrogate_lies_below_the_loss(radius):
    values = np.linspace(-radius, radius, 301)[:, None]
    at = np.r_[np.linspace(-3 * radius - 20, 3 * radius + 20, 1001), np.linspace(-3, 3, 301)]
    for label in (-1, 1):
        gap = oracle.logistic(values, label) - oracle.surrogate(values, at, label, radius)
        assert gap.min() > -1e-14
    # twice the curvature would be too much for some radius, and some loss beyond it is too low
    if radius == 0.01:
        step = values - at
        assert (gap - expit(at) * expit(-at) / (1 + radius) * step**2 / 2).min() < 0
        assert oracle.logistic(20.0, 1) < oracle.surrogate(20.0, 0.0, 1, radius)


def test_every_step_of_the_proof():
    """That the losses are paid by what the least sum of surrogates and penalty grows by."""
    rng, alpha, radius = np.random.default_rng(0), 0.1, 3.0
    A, b, constant, before, past = 2 * alpha * np.eye(3), np.zeros(3), 0.0, 0.0, []
    for x, label in zip(rng.normal(size=(60, 3)), rng.choice([-1, 1], 60), strict=True):
        value = oracle.forecast(past, x, alpha, radius) @ x
        wrong, right = expit(-label * value), expit(label * value)
        curvature, slope = wrong * right / (1 + radius), -label * wrong
        former, A = A, A + curvature * np.outer(x, x)
        b = b + (curvature * value - slope) * x
        loss = oracle.logistic(value, label)
        constant += loss - slope * value + curvature * value**2 / 2
        least = constant - b @ np.linalg.solve(A, b) / 2
        size, size_before = x @ np.linalg.solve(A, x), x @ np.linalg.solve(former, x)
        growth = loss + (wrong - right) ** 2 / 2 * size_before - right**2 / 2 * size
        assert_allclose(least - before, growth, rtol=1e-8, atol=1e-8)
        assert loss <= growth + wrong * right * size + 1e-12
        dets = np.linalg.slogdet([former, A])[1]
        assert curvature * size <= dets[1] - dets[0] + 1e-12
        before = least
        past.append((x, label, value))


def adversary(kind, model, radius, n, d, seed):
    """Play rows of norm at most 1 against a model; return them with its decision values."""
    rng = np.random.default_rng(seed)
    rival = rng.normal(size=d)
    rival *= radius / np.linalg.norm(rival)
    X, y, values = rng.normal(size=(n, d)), np.empty(n, dtype=int), np.zeros(n)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    for t in range(n):
        if t and kind == "worst row":  # where the model is wrong and the rival sure
            candidates = rng.normal(size=(20, d))
            candidates /= np.linalg.norm(candidates, axis=1, keepdims=True)
            told = np.where(candidates @ rival > 0, 1, -1) * model.decision_function(candidates)
            X[t] = candidates[told.argmin()]
        values[t] = model.decision_function(X[t : t + 1])[0] if t else 0.0
        if kind == "wrong label":
            y[t] = -1 if values[t] > 0 else 1
        else:
            y[t] = 1 if X[t] @ rival > 0 else -1
            if kind == "noise" and rng.random() < 0.1:
                y[t] = -y[t]
        model.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
    return X, y, values


def best_in_the_ball(X, y, radius, alpha):
    """Return least sum of losses and alpha |theta|^2 in the ball of a radius."""

    def objective(theta):
        margins = y * (X @ theta)
        slope = -(y * expit(-margins)) @ X
        return -log_expit(margins).sum() + alpha * theta @ theta, slope + 2 * alpha * theta

    ball = {"type": "ineq", "fun": lambda u: radius**2 - u @ u, "jac": lambda u: -2 * u}
    found = minimize(objective, np.zeros(X.shape[1]), jac=True, constraints=ball, method="SLSQP")
    assert found.success
    return found.fun


@pytest.mark.long(every=3)
@pytest.mark.parametrize("radius", [1.0, 5.0, 20.0])
@pytest.mark.parametrize("kind", ["wrong label", "worst row", "noise"])
def test_regret_within_the_bound(kind, radius):
    n, d, alpha = 300, 2, 0.5 / radius
    model = AIOLIClassifier(alpha, radius=radius)
    X, y, values = adversary(kind, model, radius, n, d, seed=int(radius))
    loss = oracle.logistic(values, y).sum()
    weights = expit(values) * expit(-values) / (1 + radius)
    A = np.eye(d) + X.T @ (weights[:, None] * X) / (2 * alpha)
    of_data = (1 + radius) * np.linalg.slogdet(A)[1]
    least = best_in_the_ball(X, y, radius, alpha)
    bound = d * (1 + radius) * np.log(1 + n / (8 * alpha * d * (1 + radius)))
    print(
        f"\n{kind}, C = {radius}: loss {loss:.1f} <= {least:.1f} + {of_data:.1f} <= + {bound:.1f}"
    )
    assert loss <= least + of_data
    assert of_data <= bound
    if kind == "noise" and radius == 5.0:
        assert least + bound < n * np.log(2), "the bound does not bite"


@pytest.mark.parametrize("radius", [8.0, 10.0, 12.0])
def test_regret_where_online_newton_pays_exponentially(radius):
    """All labels alike: the regret of the proper algorithm is beyond AIOLI's bound."""
    n, alpha = 3000, 0.05
    X, y = np.ones((n, 1)), np.ones(n, dtype=int)
    best = n * oracle.logistic(radius, 1)
    values = decisions(AIOLIClassifier(alpha, radius=radius), X, y)
    regret = oracle.logistic(values, y).sum() - best
    bound = alpha * radius**2 + (1 + radius) * np.log(1 + n / (8 * alpha * (1 + radius)))
    proper = oracle.logistic(oracle.online_newton(X[:, 0], y, radius), y).sum() - best
    print(f"\nB = {radius}: AIOLI {regret:.1f} <= {bound:.1f} < online Newton {proper:.1f}")
    assert regret <= bound
    assert regret < 30
    assert proper > (1.1 * bound if radius > 8 else regret)


@pytest.mark.parametrize("kind", ["wrong label", "noise"])
def test_regret_in_the_space_of_a_kernel(kind):
    """Against the function of least loss among those of the rows, which is short enough."""
    n, alpha, radius = 120, 0.2, 5.0
    model = KernelAIOLIClassifier("rbf", 4.0, alpha=alpha, radius=radius)
    X, y, values = adversary(kind, model, radius, n, 2, seed=3)
    K = np.exp(-4.0 * ((X[:, None] - X) ** 2).sum(axis=2))
    U, sizes, _ = np.linalg.svd(K)
    Z = U * np.sqrt(sizes)
    least = best_in_the_ball(Z, y, radius, alpha)  # |f(x)| <= |f| <= radius
    loss = oracle.logistic(values, y).sum()
    bound = (1 + radius) * np.linalg.slogdet(np.eye(n) + K / (8 * alpha * (1 + radius)))[1]
    assert loss <= least + bound
    assert bound < n * np.log(2)


# In use


def test_probabilities_in_a_pipeline():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(600, 2))
    odds = 6 * np.sin(3 * X[:, 0]) * X[:, 1]
    y = np.where(rng.random(600) < expit(odds), "yes", "no")
    features = FourierFeatures(n_components=40, gamma=2.0, random_state=0)
    model = StreamingPipeline([("map", features), ("aioli", AIOLIClassifier(0.05))]).fit(X, y)
    P = model.predict_proba(X)
    assert_allclose(P.sum(axis=1), 1.0)
    assert np.abs(P[:, 1] - expit(odds)).mean() < 0.12
    Z = model[0].transform(X)
    aioli = AIOLIClassifier(0.05)
    P = aioli.prequential_predict_proba(Z, y)
    assert_allclose(P[0], 0.5)
    assert_allclose(
        P[1:, 1], expit(decisions(AIOLIClassifier(0.05), Z, np.where(y == "yes", 1, -1))[1:])
    )
    assert_array_equal(aioli.predict(Z), aioli.classes_[aioli.predict_proba(Z).argmax(axis=1)])
    assert_allclose(np.exp(aioli.predict_log_proba(Z)), aioli.predict_proba(Z))


@pytest.mark.long
def test_rows_of_extreme_size():
    X, y = stream(0, 200)
    X[50:60] *= 1e3
    expected, _ = oracle.aioli(X, y, 1e-3, 5.0)
    for model in (AIOLIClassifier(1e-3), KernelAIOLIClassifier(linear, alpha=1e-3)):
        whole = decisions(clone(model), X, y)
        assert np.isfinite(whole).all()
        assert_allclose(decisions(clone(model), X, y, 1), whole, rtol=1e-5, atol=1e-5)
        assert_allclose(whole, expected, rtol=1e-5, atol=1e-5)


def test_more_than_two_classes_are_refused():
    X, _ = stream(0, 30)
    with pytest.raises(ValueError, match="OneVsRestClassifier"):
        AIOLIClassifier().fit(X, np.arange(30) % 3)
