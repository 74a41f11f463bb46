"""Columns of few values in the estimators without tuning: steps, and combinations of them."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.datasets import make_timetable
from sklearn_okl.untuned.rows import _steps as steps
from sklearn_okl.untuned.rows._layout import layout_of
from tests.oracles import steps as oracle

N = 130
NOBODY = np.empty(0, dtype=int)


def stream(n=N, seed=0):
    """Return an hour, a day, and a number, with gaps; targets that depend on combinations."""
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(24, size=n), rng.integers(7, size=n), rng.normal(size=n)])
    y = np.where((X[:, 0] >= 8) & (X[:, 0] < 18) & (X[:, 1] < 5), 50.0, 10.0) + X[:, 2]
    X[rng.uniform(size=X.shape) < 0.05] = np.nan
    return X, y + rng.normal(size=n)


def regressor(**arguments):
    return OnlineKernelRegressor(**{"budget": 6, "random_state": 0} | arguments)


def tree_forecasts(X, y, sizes, delay=0):
    """Return what a tree forecasts in calls of some sizes, as an encoder asks it."""
    state, found, low = steps.start(X.shape[1]), [], 0
    pending = np.empty((0, X.shape[1])), np.empty(0)
    for size in sizes:
        rows = steps.seen(X[low : low + size], np.arange(X.shape[1]))
        past = np.concatenate([pending[0], rows]), np.concatenate([pending[1], y[low : low + size]])
        n_known = np.maximum(len(pending[1]) + np.arange(len(rows) + 1) - delay, 0)
        found.append(steps.forecasts(state, *past, rows, n_known))
        pending = tuple(part[n_known[-1] :] for part in past)
        low += size
    return np.concatenate(found)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_tree_is_the_oracle_in_any_cut(seed, delay):
    X, y = stream(260, seed)
    X[:, 2] = np.round(2.0 * X[:, 2]) / 2.0
    expected = oracle.forecasts(X, y, delay)
    assert np.ptp(expected) > 30.0
    for sizes in ([260], [1] * 260, [14, 1, 1, 1, 1, 100, 2, 140]):
        assert_allclose(tree_forecasts(X, y, sizes, delay), expected, atol=1e-9)


def test_the_tree_forgets_the_oldest_rows(monkeypatch):
    monkeypatch.setattr(steps, "N_ROWS", 50)
    X, y = stream(200, seed=4)
    y[100:] *= -1.0
    expected = oracle.forecasts(X[:, :2], y, n_rows=50)
    assert_allclose(tree_forecasts(X[:, :2], y, [1] * 200), expected, atol=1e-9)


def test_what_has_few_values():
    rng = np.random.default_rng(3)
    n = steps.N_LOOKED_AT
    columns = {
        "number": rng.normal(size=n),
        "hour": np.arange(n) % 24.0,
        "constant": np.ones(n),
        "boolean": rng.uniform(size=n) < 0.5,
        "halves": 0.5 * rng.integers(9, size=n),
        "gaps alone": np.full(n, np.nan),
        "33 values": np.arange(n) % 33.0,
        "32 values": np.arange(n) % 32.0,
        "category": rng.integers(3, size=n),
    }
    X = np.column_stack([column.astype(float) for column in columns.values()])
    few = layout_of(np.array([8]), X)["few"]
    assert [list(columns)[j] for j in few] == [
        *("hour", "constant", "boolean", "halves", "gaps alone", "32 values")
    ]
    for n_rows in (8, n - 1, n + 1):
        assert len(layout_of(NOBODY, np.resize(X, (n_rows, X.shape[1])))["few"]) == 0
    assert len(layout_of(NOBODY, np.zeros((n, 40)))["few"]) == steps.MOST


def test_a_tree_grows_where_there_is_something_to_explain():
    rng = np.random.default_rng(5)
    rows = rng.integers(10, size=(400, 3)).astype(float)
    noise = rng.normal(size=400)
    assert len(steps.grown(rows, noise)["columns"]) == 1
    assert len(steps.grown(rows, np.zeros(400))["columns"]) == 1
    assert len(steps.grown(rows, np.full(400, 1e9 / 3.0))["columns"]) == 1
    tree = steps.grown(rows, noise + 8.0 * (rows[:, 1] > 4.0))
    assert tree["columns"].tolist() == [1, -1, -1]
    assert tree["thresholds"][0] == 4.5
    many = steps.grown(rng.normal(size=(400, 1)), np.sort(noise) * 100.0)
    assert np.all(np.isfinite(many["thresholds"]))
    assert len(steps.grown(rows, 100.0 * rows @ [1.0, 10.0, 100.0])["columns"]) == 2 * 32 - 1


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize("kind", ["one target", "two targets", "two classes", "three classes"])
def test_any_cut_gives_the_same(kind, delay):
    """Calls that end up to two rows before and after those at which columns are looked at."""
    X, y = stream(seed=6)
    class_ = OnlineKernelClassifier if "classes" in kind else OnlineKernelRegressor
    y = {
        "one target": y,
        "two targets": np.column_stack([y, -np.square(y)]),
        "two classes": y > 30.0,
        "three classes": np.digitize(y, [10.0, 48.0]),
    }[kind]
    first = {"classes": np.unique(y)} if "classes" in kind else {}

    def learnt(sizes):
        model, found, low = class_(budget=6, label_delay=delay, random_state=0), [], 1
        model.partial_fit(X[:1], y[:1], **first)
        for size in sizes:
            rows = slice(low, low + size)
            if first:
                found.append(model.prequential_predict_proba(X[rows], y[rows]))
            else:
                found.append(model.prequential_predict(X[rows], y[rows]))
            low += size
        assert low == N
        model = pickle.loads(pickle.dumps(model))
        assert_array_equal(model._state["columns"]["layout"]["few"], [0, 1])
        return np.concatenate(found)

    expected = learnt([N - 1])
    for sizes in ([1] * (N - 1), [61, 1, 1, 1, 1, 64], [62, 67], [65, 64], [7, 9, 40, 73]):
        assert_allclose(learnt(sizes), expected, atol=1e-7 * np.ptp(y.astype(float)))


@pytest.mark.long
@pytest.mark.parametrize("delay", [0, 5])
def test_a_forecast_is_what_learning_would_have_made(delay):
    X, y = stream(seed=7)
    model = regressor(label_delay=delay)
    expected = regressor(label_delay=delay).prequential_predict(X, y)
    model.partial_fit(X[:62], y[:62])
    found = []
    for t in range(62, 100):
        model.partial_fit(X[[t]], y[[t]])
        state = pickle.dumps(model._state)
        found.append(model.predict(X[[t + 1 + delay]])[0])
        assert pickle.dumps(model._state) == state
    assert_allclose(found, expected[63 + delay : 101 + delay], atol=1e-8)
    ahead = model.predict(X[100 : 101 + delay], ahead=True)
    assert_allclose(ahead[-1], expected[100 + delay], atol=1e-8)


def test_few_values_that_become_many():
    rng = np.random.default_rng(8)
    X = np.where(np.arange(600) < 70, rng.integers(3, size=600), rng.normal(scale=3.0, size=600))
    y = 20.0 * (X > 0.7) + rng.normal(size=600)
    model = regressor(budget="fast")
    forecasts = model.prequential_predict(X[:, None], y)
    assert model._state["columns"]["layout"]["few"].tolist() == [0]
    assert np.mean(np.square(forecasts - y)[300:]) < 8.0
    assert np.all(np.isfinite(model.predict([[np.nan], [1e300], [-1e300]])))


@pytest.mark.long
def test_without_columns_of_few_values_there_is_no_tree():
    X, y = stream(seed=9)
    model = regressor().partial_fit(X[:, 2:], y)
    assert "steps" not in model._state["columns"]
    model = regressor().partial_fit(X[:63], y[:63])
    assert "steps" not in model._state["columns"]
    assert "steps" in model.partial_fit(X[63:64], y[63:64])._state["columns"]


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", [3, 4])
@pytest.mark.parametrize("budget", ["fast", "balanced", "tiny"])
def test_timetables_are_learnt(budget, seed):
    X, y = make_timetable(700, n_columns=2, random_state=seed)
    forecasts = OnlineKernelRegressor(budget=budget, random_state=0).prequential_predict(X, y)
    # a tenth of what the kernels leave without the tree
    assert np.mean(np.square(forecasts - y)[300:]) < 2.0
    model = OnlineKernelClassifier(budget=budget, random_state=0)
    model.partial_fit(X[:1], y[:1] > 30.0, classes=[False, True])
    P = model.prequential_predict_proba(X[1:], y[1:] > 30.0)
    assert np.mean((P[300:, 1] > 0.5) != (y[301:] > 30.0)) < 0.01
