"""What each value of columns of many values adds: shops, devices, users."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.inspection import explain
from sklearn_okl.untuned.experts._effects import Effects
from tests.oracles.effects import effects


def shops(n, n_shops, seed):
    """Return rows of a number, a weekday and a shop, and targets that are a sum over them."""
    rng = np.random.default_rng(seed)
    number, day, shop = rng.normal(size=n), rng.integers(7, size=n), rng.integers(n_shops, size=n)
    y = number + rng.normal(size=7)[day] + rng.normal(size=n_shops)[shop]
    y += 0.1 * rng.normal(size=n)
    return np.column_stack([number, day, shop]).astype(float), y


def ridge_on_indicators(X, y):
    """Return forecasts of a ridge that sees an indicator of each day and shop, row by row."""
    columns = [np.unique(X[:, j], return_inverse=True)[1] for j in (1, 2)]
    n_days, n_shops = (column.max() + 1 for column in columns)
    H = np.zeros((len(y), 2 + n_days + n_shops))
    H[:, 0], H[:, 1] = 1.0, X[:, 0]
    H[np.arange(len(y)), 2 + columns[0]] = 1.0
    H[np.arange(len(y)), 2 + n_days + columns[1]] = 1.0
    P, theta, forecasts = np.eye(H.shape[1]), np.zeros(H.shape[1]), np.zeros(len(y))
    for t, z in enumerate(H):
        forecasts[t] = z @ theta
        gain = P @ z / (1.0 + z @ P @ z)
        theta, P = theta + gain * (y[t] - forecasts[t]), P - np.outer(gain, z @ P)
    return forecasts


@pytest.mark.parametrize("delay", [0, 1, 63, 64, 65, 200])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_its_oracle_by_any_cut(delay, weighted):
    rng = np.random.default_rng(delay)
    n, q = 500, 2
    codes = np.column_stack([rng.integers(40, size=n), rng.integers(9, size=n)]).astype(float)
    codes[rng.random(n) < 0.05, 0] = np.nan
    X, u = rng.normal(size=(n, 3)), rng.normal(size=(n, q))
    X[:4] = 0.0
    u += 3.0 * X[:, :2] + np.nan_to_num(codes[:, :1]) + codes[:, 1:]
    weights = rng.exponential(size=n) if weighted else None
    one = Effects(q, delay)
    state, low, F = one.start(2, np.ones(3), 0), 0, []
    while low < n:
        rows = slice(low, low + int(rng.integers(1, 150)))
        of_experts = np.full((q, len(u[rows]), 5), np.nan)
        part = None if weights is None else weights[rows]
        F.append(one.learn(state, codes[rows], X[rows], u[rows], of_experts, part))
        low = rows.stop
    codes[np.isnan(codes)] = -1.0
    expected = effects(codes, X, u, delay, weights)
    np.testing.assert_allclose(np.concatenate(F), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("categories", [[2], None])
@pytest.mark.parametrize("seed", [11, 12])
def test_many_shops_cost_fast_no_more_than_a_ridge_on_indicators(categories, seed):
    X, y = shops(2500, 200, seed)
    model = OnlineKernelRegressor(budget="fast", categorical_features=categories, random_state=seed)
    late = slice(1200, None)
    loss = np.square(model.prequential_predict(X, y) - y)[late].mean()
    assert loss < 1.1 * np.square(ridge_on_indicators(X, y) - y)[late].mean()
    assert "a line, effects of values" in model.experts_["name"].tolist()
    assert "A line learns what" in " ".join(model.summary().split())


def test_values_that_add_nothing_get_no_expert():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.normal(size=1500), rng.integers(200, size=1500)])
    y = np.sin(3.0 * X[:, 0]) + 0.3 * rng.normal(size=1500)
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
    assert len(model._state["effects"]["tables"]) == 1
    assert not model._state["effects"]["is_there"]


def test_what_has_told_nothing_is_forgotten_after_the_last_trial():
    one = Effects(1, 0)
    state, F = one.start(1, np.ones(2), 0), np.zeros((1, 64, 3))
    rng = np.random.default_rng(0)
    for t in range(64, 4097, 64):
        codes, U, u = rng.integers(60, size=(64, 1)), rng.normal(size=(64, 2)), np.zeros((64, 1))
        one.learn(state, codes, U, u, F)
        assert one.try_out(state) is None
        assert len(state["tables"][0]["values"]) > 0 or t == 4096
    assert not one.is_tried(state)
    assert len(state["tables"][0]["values"]) == 0


def test_classes_hear_effects():
    X, score = shops(2500, 150, 5)
    rng = np.random.default_rng(5)
    y = (2.0 * score + rng.logistic(size=len(score)) > 0.0).astype(int)
    model = OnlineKernelClassifier(budget="fast", categorical_features=[2], random_state=0)
    model.prequential_predict_proba(X, y, classes=[0, 1])
    assert model._state["effects"]["is_there"]
    assert "a line, effects of values" in model.experts_["name"].tolist()


@pytest.mark.parametrize("categories", [None, [2]])
@pytest.mark.parametrize("delay", [0, 30, 200])
def test_the_cut_changes_nothing(delay, categories):
    """Nor where a day and a shop are shown in places that they have not got yet."""
    X, y = shops(700, 60, 7)
    of_both = {"budget": "fast", "random_state": 0, "label_delay": delay}
    whole, single = (
        OnlineKernelRegressor(categorical_features=categories, **of_both) for _ in range(2)
    )
    expected = whole.prequential_predict(X, y)
    parts = np.split(np.arange(700), [1, 5, 63, 66, 100, 128, 190, *range(600, 700)])
    found = [single.prequential_predict(X[part], y[part]) for part in parts]
    assert whole._state["effects"]["is_there"]
    np.testing.assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-10)


def test_a_row_path_is_the_same():
    X, y = shops(640, 60, 8)
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    expected = OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
    model.partial_fit(X[:500], y[:500])
    assert model._state["effects"]["is_there"]
    with model.rows() as row:
        forecasts = []
        for x, target in zip(X[500:], y[500:], strict=True):
            forecasts.append(row.predict(x))
            row.learn(x, target)
    np.testing.assert_allclose(np.ravel(forecasts), expected[500:], rtol=1e-7, atol=1e-9)


def test_several_targets_have_effects_of_their_own():
    X, y = shops(2000, 150, 9)
    Y = np.column_stack([y, 3.0 - 10.0 * y])
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    errors = np.square(model.prequential_predict(X, Y) - Y)[1200:].mean(axis=0)
    ridge = np.square(ridge_on_indicators(X, y) - y)[1200:].mean()
    assert (errors < 1.1 * ridge * np.array([1.0, 100.0])).all()


def test_explanations_say_what_a_shop_adds():
    X, y = shops(1500, 100, 10)
    model = OnlineKernelRegressor(budget="fast", random_state=0).fit(X, y)
    assert model._state["effects"]["is_there"]
    rows = np.column_stack([np.zeros(40), np.zeros(40), np.arange(40.0)])
    found = explain(model, rows, X[-16:])
    np.testing.assert_allclose(found.forecasts, model.predict(rows))
    assert np.abs(found.remainder).max() < 0.1 * y.std()
    shares = np.corrcoef(found.values[:, 2], found.forecasts)[0, 1]
    assert shares > 0.98
