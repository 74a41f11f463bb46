"""Improper logistic regression of many classes: the oracle, the proof step by step, the bound."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize
from scipy.special import log_expit, log_softmax, softmax
from sklearn.base import clone

from sklearn_okl import AIOLIClassifier, ImproperLogisticClassifier
from sklearn_okl.algorithms._multinomial_logistic import curvature, equalised
from tests.oracles import improper_logistic as oracle


def stream(seed, n_classes, n=40, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, (X @ rng.normal(size=(d, n_classes)) + rng.gumbel(size=(n, n_classes))).argmax(axis=1)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    ("alpha", "radius", "n_classes"),
    [(1.0, 5.0, 2), (0.01, 2.0, 3), (1e-3, 0.1, 4), (10.0, 30.0, 3)],
)
def test_equals_the_oracle(alpha, radius, n_classes):
    X, y = stream(n_classes, n_classes)
    logits, A, b = oracle.improper_multinomial(X, y, n_classes, alpha, radius)
    expected = np.exp(oracle.log_probabilities(logits))
    classes = np.arange(n_classes)
    for cuts in ([], [1, 2, 30]):
        model, parts = ImproperLogisticClassifier(alpha, radius=radius), []
        for rows in np.split(np.arange(40), cuts):
            parts.append(model.prequential_predict_proba(X[rows], y[rows], classes=classes))
        assert_allclose(np.concatenate(parts), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.coef_.ravel(), np.linalg.solve(A, b), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(("size", "most"), [(0.0, 8), (1e-6, 8), (1.0, 8), (1e4, 8), (1e6, 3)])
@pytest.mark.parametrize("far", [0.0, 3.0, 1e4])
def test_the_equation_of_the_forecast(size, most, far):
    rng = np.random.default_rng(0)
    for n_classes in range(2, 1 + most):
        root = rng.normal(size=(n_classes, n_classes))
        S, raw = size * root @ root.T, far * rng.normal(size=n_classes)
        z, p = equalised(raw, S)
        assert_allclose(p.sum(), 1.0)
        scale = 1.0 + np.abs(S).max() + np.abs(raw).max()
        assert_allclose(z, raw + np.diag(S) / 2 - S @ p, atol=1e-11 * scale)
        assert_allclose(p, softmax(z))


def test_all_labels_are_equally_bad_for_the_forecast():
    rng = np.random.default_rng(1)
    root, raw = rng.normal(size=(4, 4)), rng.normal(size=4)
    S = root @ root.T
    z, p = equalised(raw, S)
    H, d = np.diag(p) - np.outer(p, p), raw - z
    slopes = p - np.eye(4)
    excess = [-slope @ d + slope @ S @ slope / 2 for slope in slopes]
    assert_allclose(excess, np.trace(H @ S) / 2)


# Theorem


@pytest.mark.long(every=2)
@pytest.mark.parametrize("radius", [0.01, 1.0, 5.0, 20.0])
@pytest.mark.parametrize("n_classes", [2, 3, 10])
def test_the_surrogate_lies_below_the_loss(radius, n_classes):
    rng, share = np.random.default_rng(0), curvature(radius, n_classes)
    assert_allclose(share, oracle.multinomial_curvature(radius, n_classes))
    mu = np.log(1 + (n_classes - 1) * np.exp(radius))
    assert 1 / share <= 1 + mu / 2
    lower = []  # twice the curvature would be too much
    for i in range(600):
        z = rng.uniform(0, radius, n_classes) if i % 2 else radius * rng.integers(2, size=n_classes)
        at = rng.choice([0.1, 1, 5, 20]) * rng.normal(size=n_classes)
        if i % 3 == 0:  # sure of the class that the rival thinks least likely
            z, at = np.full(n_classes, radius), np.zeros(n_classes)
            z[0], at[0] = 0.0, rng.uniform(0, 2 * radius + 3)
        label = rng.integers(n_classes)
        loss = -log_softmax(z)[label]
        assert loss - oracle.multinomial_surrogate(z, at, label, share) > -1e-12 * (1 + abs(loss))
        lower.append(loss - oracle.multinomial_surrogate(z, at, label, 2 * share))
    if radius >= 5.0:
        assert min(lower) < 0.0


@pytest.mark.long
def test_every_step_of_the_proof():
    rng, alpha, radius, K, d = np.random.default_rng(0), 0.1, 3.0, 3, 2
    share = curvature(radius, K)
    A, b, constant, before = 2 * alpha * np.eye(K * d), np.zeros(K * d), 0.0, 0.0
    for x, label in zip(rng.normal(size=(60, d)), rng.integers(K, size=60), strict=True):
        z = oracle.multinomial_forecast(A, b, x)
        p, rows = softmax(z), np.kron(np.eye(K), x)
        H, slope = np.diag(p) - np.outer(p, p), p - np.eye(K)[label]
        S = rows @ np.linalg.solve(A, rows.T)
        former, A = A, A + share * rows.T @ H @ rows
        b = b + rows.T @ (share * H @ z - slope)
        loss = -log_softmax(z)[label]
        constant += loss - slope @ z + share / 2 * z @ H @ z
        least = constant - b @ np.linalg.solve(A, b) / 2
        excess = np.trace(H @ S) / 2
        assert loss <= least - before + excess + 1e-10
        dets = np.linalg.slogdet([former, A])[1]
        rho = share * x @ x / (4 * alpha)
        assert np.linalg.eigvals(share * H @ S).real.max() <= rho + 1e-12
        assert share * np.trace(H @ S) <= rho / np.log1p(rho) * (dets[1] - dets[0]) + 1e-12
        before = least


def adversary(kind, model, radius, n, d, n_classes, seed):
    """Play rows of norm at most 1 against a model; return them with its probabilities."""
    rng = np.random.default_rng(seed)
    rival = rng.normal(size=(n_classes, d))
    rival *= radius / (np.sqrt(2) * np.linalg.norm(rival))  # logits at most a radius apart
    X, P = rng.normal(size=(n, d)), np.full((n, n_classes), 1.0 / n_classes)
    X /= np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1.0)
    y, classes = np.zeros(n, dtype=int), np.arange(n_classes)
    for t in range(n):
        row = slice(t, t + 1)
        P[t] = model.predict_proba(X[row])[0] if t else P[t]
        y[t] = P[t].argmin() if kind == "wrong label" else (rival @ X[t]).argmax()
        if kind == "noise" and rng.random() < 0.1:
            y[t] = rng.integers(n_classes)
        model.partial_fit(X[row], y[row], classes=classes)
    return X, y, P


def best_in_the_ball(X, y, n_classes, radius, alpha):
    """Return least sum of losses and alpha |W|^2 where no logits can be further apart."""
    d = X.shape[1]

    def objective(w):
        W = w.reshape(n_classes, d)
        logs = log_softmax(X @ W.T, axis=1)
        slope = (np.exp(logs) - np.eye(n_classes)[y]).T @ X + 2 * alpha * W
        return -logs[np.arange(len(y)), y].sum() + alpha * w @ w, slope.ravel()

    ball = {"type": "ineq", "fun": lambda w: radius**2 / 2 - w @ w, "jac": lambda w: -2 * w}
    found = minimize(objective, np.zeros(n_classes * d), jac=True, constraints=ball, method="SLSQP")
    assert found.success
    return found.fun


@pytest.mark.long(every=3)
@pytest.mark.parametrize("radius", [1.0, 8.0])
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("kind", ["wrong label", "noise"])
def test_regret_within_the_bound(kind, n_classes, radius):
    n, d, alpha = 150, 2, 0.5 / radius
    model = ImproperLogisticClassifier(alpha, radius=radius)
    X, y, P = adversary(kind, model, radius, n, d, n_classes, seed=int(radius))
    loss = -np.log(P[np.arange(n), y]).sum()
    share = curvature(radius, n_classes)
    rho = share / (4 * alpha)
    of_data = np.linalg.slogdet(model._state["A"] / (2 * alpha))[1]
    factor = rho / (2 * share * np.log1p(rho))
    least = best_in_the_ball(X, y, n_classes, radius, alpha)
    dims = d * (n_classes - 1)
    most = dims * np.log(1 + share * n / (2 * alpha * d * n_classes))
    print(f"\n{kind}, {n_classes} classes, D = {radius}: loss {loss:.1f} <= {least:.1f} + ", end="")
    print(f"{factor * of_data:.1f} <= + {factor * most:.1f}; at chance {n * np.log(n_classes):.1f}")
    assert loss <= least + factor * of_data
    assert of_data <= most + 1e-9
    if kind == "noise":
        assert least + factor * most < n * np.log(n_classes), "the bound says nothing"


@pytest.mark.long(every=2)
@pytest.mark.parametrize("radius", [8.0, 12.0])
def test_regret_where_online_newton_pays_exponentially(radius):
    """All labels alike: the regret of the proper algorithm is beyond the bound."""
    n, alpha = 800, 0.05
    X, y = np.ones((n, 1)), np.ones(n, dtype=int)
    model = ImproperLogisticClassifier(alpha, radius=radius)
    P = model.prequential_predict_proba(X, y, classes=[0, 1])
    best = -n * log_expit(radius)
    regret = -np.log(P[:, 1]).sum() - best
    share = curvature(radius, 2)
    rho = share / (4 * alpha)
    bound = alpha * radius**2 / 2  # of W = (-radius, radius) / 2
    bound += rho / (2 * share * np.log1p(rho)) * np.log1p(share * n / (4 * alpha))
    proper = oracle.logistic(oracle.online_newton(X[:, 0], y, radius), y).sum() - best
    print(f"\nD = {radius}: ours {regret:.2f} <= {bound:.1f} < online Newton {proper:.1f}")
    assert regret <= bound
    assert proper > bound


def test_no_worse_than_aioli_on_two_classes():
    X, y = stream(3, 2, n=400)
    losses = []
    for model in (ImproperLogisticClassifier(0.5), AIOLIClassifier(1.0)):  # |W|^2 is |v|^2 / 2
        P = model.prequential_predict_proba(X, y, classes=[0, 1])
        losses.append(-np.log(P[np.arange(400), y]).mean())
    assert losses[0] < losses[1] + 0.01


# In use


def test_rows_of_extreme_size_and_rebuilds(monkeypatch):
    X, y = stream(0, 3, 120)
    X[50:55] *= 1e3  # whose gain asks for a new inverse
    model = ImproperLogisticClassifier(1e-3)
    P = model.prequential_predict_proba(X, y)
    assert_allclose(P.sum(axis=1), 1.0)
    assert -np.log(P[np.arange(60, 120), y[60:]]).mean() < 1.1
    assert_allclose(model._state["P"] @ model._state["A"], np.eye(9), atol=1e-6)
    monkeypatch.setattr("sklearn_okl.algorithms._multinomial_logistic._REBUILD", 7)
    again = clone(model).prequential_predict_proba(X, y)
    assert_allclose(again, P, rtol=1e-5, atol=1e-7)


def test_rows_of_zeros_and_classes_that_never_come():
    model = ImproperLogisticClassifier()
    P = model.prequential_predict_proba(np.zeros((3, 2)), [0, 0, 0], classes=[0, 1, 2])
    assert_allclose(P, 1.0 / 3.0)
    P = model.prequential_predict_proba(np.ones((50, 2)), np.arange(50) % 2)
    assert P[-1, 2] < 0.1
    assert P.min() > 0.0
