"""B(AO)2KS: its loop, the norms that it keeps, what it is drawn by."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import BAO2KSClassifier
from sklearn_okl.algorithms._two_kernels import GreenIX
from sklearn_okl.kernels import shift_invariant_kernel
from tests.oracles import bandits

GRID = {"kernel": ["rbf"], "gamma": [0.3, 3.0, 30.0]}


def stream(seed, n=120):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 2))
    return X, np.where(np.sin(4 * X[:, 0]) + 0.2 * rng.normal(size=n) > 0, 1, -1)


def rounds_generator(seed):
    """The generator that a model makes of a seed, before its first draw."""
    return np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "options",
    [{}, {"radius": 1.5, "n_hints": 3}, {"failure": 0.9, "n_hints": 4, "step_scale": 1.0}],
)
def test_equals_the_literal_loop(options, seed):
    X, y = stream(seed)
    model = BAO2KSClassifier(GRID, random_state=seed, **options)
    model.partial_fit(X[:1], y[:1], classes=[-1, 1])
    for rows in (slice(1, 50), slice(50, 51), slice(51, None)):
        model.partial_fit(X[rows], y[rows])
    kernels = [shift_invariant_kernel("rbf", gamma) for gamma in GRID["gamma"]]
    known = {("scale" if name == "step_scale" else name): v for name, v in options.items()}
    _, law = bandits.bao2ks(X, y, kernels, rounds_generator(seed), **known)
    assert_allclose(model.probabilities_, law, rtol=1e-9)
    again = BAO2KSClassifier(GRID, random_state=seed, **options)
    values = []
    for t in range(len(y)):
        values.append(again.decision_function(X[t : t + 1])[0] if t else 0.0)
        again.partial_fit(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
    expected, _ = bandits.bao2ks(X, y, kernels, rounds_generator(seed), **known)
    assert_allclose(values, expected, rtol=1e-8, atol=1e-10)


def test_norms_and_products_are_those_of_the_kernel_matrices():
    X, y = stream(3, n=200)
    model = BAO2KSClassifier(GRID, radius=1.0, n_hints=4, random_state=0).fit(X, y)
    state = model._state
    for k, gamma in enumerate(GRID["gamma"]):
        G = shift_invariant_kernel("rbf", gamma)(state["rows"], state["rows"])
        h = np.zeros(len(G))
        np.add.at(h, state["sample"], state["signs"] / 4)
        coef = state["coef"][k]
        assert_allclose(state["norms_sq"][k], coef @ G @ coef, rtol=1e-8)
        assert_allclose(state["products"][k], coef @ G @ h, rtol=1e-8, atol=1e-10)
        assert_allclose(state["hints_sq"][k], h @ G @ h, rtol=1e-8)
        assert state["norms_sq"][k] <= 1.0 + 1e-9


def test_green_ix_learns_whom_to_draw_and_begins_anew():
    selection, rng = GreenIX(3, 0.01), np.random.default_rng(0)
    state, taus = selection.start(), set()
    for _ in range(6000):
        p = state["probabilities"] = selection.law(state)
        assert p.sum() == pytest.approx(1.0)
        arm = rng.choice(3, p=p)
        selection.learn(state, arm, [0.1, 0.8, 0.8][arm])
        taus.add(state["tau"])
    assert len(taus) >= 3
    assert selection.law(state).argmax() == 0


@pytest.mark.long
def test_a_ball_whose_square_is_no_number():
    X, y = stream(4)
    model = BAO2KSClassifier(GRID, radius=1e-320, random_state=0).fit(X, y)
    assert set(model.predict(X)) <= {-1, 1}


def test_it_learns():
    X, y = stream(5, n=1500)
    labels = BAO2KSClassifier(GRID, random_state=0).prequential_predict(X, y)
    assert (labels == y)[750:].mean() > 0.75  # who forecasts is drawn nearly evenly for long
