"""Cells that are absurdly far off: no faults where they tell of the target."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.untuned.rows import _far_cells

N = 2500


def stream(seed, effect=10.0, n=N):
    """Return rows, targets, and which rows have a far cell below: one in a hundred."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    far = rng.uniform(size=n) < 0.01
    X[far, 0] = -rng.uniform(300.0, 3000.0, size=far.sum())
    return X, X[:, 1] + effect * far + 0.3 * rng.normal(size=n), far


@pytest.mark.long
@pytest.mark.parametrize(
    ("budget", "seed"),
    [
        ("fast", 0),
        ("tiny", 2),
        *(pytest.param("balanced", k, marks=pytest.mark.long) for k in (3, 4)),
    ],
)
def test_far_cells_that_tell_of_the_target_are_heard(budget, seed):
    X, y, far = stream(seed)
    rows = far & (np.arange(N) >= N // 2)
    model = OnlineKernelRegressor(budget=budget, random_state=seed)
    losses = np.square(model.prequential_predict(X, y) - y)
    assert losses[rows].mean() < 8.0  # 95 where such cells are gaps
    told = OnlineKernelClassifier(budget=budget, random_state=seed)
    shares = told.prequential_predict_proba(X, far, classes=[False, True])
    assert shares[rows, 1].mean() > 0.9


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("kind", [OnlineKernelRegressor, OnlineKernelClassifier])
def test_the_cut_is_invisible(kind, delay):
    X, y, far = stream(4, n=700)
    X[650:655, 2] = 1e200, np.nan, -1e4, 1e9, 1e4
    model, singly = (kind(budget="fast", label_delay=delay, random_state=0) for _ in range(2))
    more, ask = {}, "predict"
    if kind is OnlineKernelClassifier:
        y, more, ask = far, {"classes": [False, True]}, "decision_function"
    model.partial_fit(X, y, **more)
    for low, high in pairwise([0, 1, 63, 64, 200, *range(300, 330), 500, 656, 700]):
        singly.partial_fit(X[low:high], y[low:high], **more)
    known, other = (one._state["inputs"]["far"] for one in (model, singly))
    assert known["telling"][0, 0]
    for name in known:
        assert_allclose(other[name], known[name], rtol=1e-7)
    assert_allclose(getattr(singly, ask)(X), getattr(model, ask)(X), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("seed", range(5))
def test_faults_at_random_say_nothing(seed):
    rng = np.random.default_rng(seed)
    X, Y, state = np.zeros((2000, 4)), rng.standard_t(3, size=(2000, 2)), {}
    came = np.where(rng.uniform(size=X.shape) < 0.05, rng.choice([-9999.0, 1e9], X.shape), X)
    n = np.arange(2000.0)[:, None]
    sums = {"weights": n, "sums": 0.0 * Y, "squares": 3.0 * n * np.ones(2)}
    shown = _far_cells.learn(state, came, X, Y, sums, 0, [])
    assert np.count_nonzero(shown) <= 0.02 * np.count_nonzero(came)


def test_a_new_unit_of_a_column_ends_what_was_known_of_it():
    state, X = {}, np.zeros((6, 2))
    came, Y = X.copy(), np.array([[0.0], [9.0], [9.0], [0.0], [0.0], [0.0]])
    came[1:4] = 100.0, -100.0
    came[5] = 100.0, -100.0
    n = np.arange(6.0)[:, None]
    sums = {"weights": n, "sums": 0.0 * n, "squares": n}
    of_rows = came, X, Y, sums, 0
    shown = _far_cells.learn(state, *of_rows, [(5, np.array([False, True]))])
    assert_array_equal(shown, [[0, 0]] * 3 + [[1, -1], [0, 0], [1, 0]])
    assert_array_equal(_far_cells.look(state, came[5:], X[5:], 0), [[1, 0]])
    assert_array_equal(state["counts"], [[0.0, 1.0], [4.0, 0.0]])
    _far_cells.forget_target(state, 0, 0.0)
    assert_array_equal(state["sums"], 0.0)
