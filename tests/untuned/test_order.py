"""Rows without an order: kernels that see no lags, until errors speak for an order after all."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, to_bytes
from sklearn_okl.untuned.experts._plan import MAIN
from sklearn_okl.untuned.rows._layout import MAYBE, UNORDERED
from sklearn_okl.untuned.rows._order import errors_have_order, has_order


def stream(kind, n=300, seed=0):
    """Return rows whose targets tell nothing of the next ones, or all, or all from row 200 on."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)
    first = {"rows without order": n, "lags tell": 2, "lags tell later": 200}[kind]
    for t in range(first, n):
        y[t] = (2.0 if X[t, 2] > 0.0 else -2.0) * np.tanh(y[t - 1]) + 0.3 * rng.normal()
    return X, y


def model_of(delay=0, **arguments):
    arguments = {"budget": "fast", "random_state": 0} | arguments
    return OnlineKernelRegressor(label_delay=delay, **arguments)


def order_of(model):
    return model._state["columns"]["layout"]["ordered"]


def sees_lags(model):
    return any(member["lags"] for member in model._state["banks"][MAIN]["members"])


@pytest.mark.parametrize("budget", ["fast", pytest.param("balanced", marks=pytest.mark.long)])
@pytest.mark.parametrize("seed", [0, 2, 3])  # of 100, three are told by chance that lags help
def test_where_lags_tell_nothing_kernels_are_those_of_a_model_without_lags(budget, seed):
    X, y = stream("rows without order", seed=seed)
    model = model_of(budget=budget, random_state=seed).fit(X[:63], y[:63])
    assert sees_lags(model)
    model.partial_fit(X[63:], y[63:])
    assert not sees_lags(model)
    assert order_of(model) == UNORDERED
    others = "linear", "persistence", "random walk", "a tree"
    known = dict(zip(model.experts_["name"], model.experts_["mean_loss"], strict=True))
    other = model_of(budget=budget, lags=0, random_state=seed).fit(X, y)
    names = {name for name in other.experts_["name"] if not name.startswith(others)}
    assert names == {name for name in known if not name.startswith(others)}
    for name, loss in zip(other.experts_["name"], other.experts_["mean_loss"], strict=True):
        if name in names:
            assert_allclose(known[name], loss, rtol=1e-8)
    lines = [name for name in known if name.startswith("linear") and "lags" in name]
    assert len(lines) == 2
    assert "forgetting" not in lines[0]
    assert "forgetting" in lines[1]


@pytest.mark.parametrize("seed", range(3))
def test_where_lags_tell_kernels_see_them(seed):
    model = model_of().fit(*stream("lags tell", seed=seed))
    assert sees_lags(model)
    assert order_of(model) == MAYBE


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(3))
def test_where_lags_tell_later_a_model_begins_that_sees_them(seed):
    X, y = stream("lags tell later", 1800, seed)
    model = model_of(random_state=seed).fit(X[:192], y[:192])
    assert not sees_lags(model)
    errors = model.prequential_predict(X[192:], y[192:]) - y[192:]
    assert sees_lags(model)
    assert order_of(model) != UNORDERED
    assert np.square(errors[-600:]).mean() < 0.35 * y[-600:].var()  # the lines' 1.0


@pytest.mark.long(every=50)
@pytest.mark.parametrize("seed", range(4))
def test_rows_without_order_pay_hardly_for_lags(seed):
    X, y = stream("rows without order", 1200, seed)
    losses = [
        np.square(model_of(lags=lags).prequential_predict(X, y) - y)[400:].mean() for lags in (4, 0)
    ]
    assert losses[0] < 1.03 * losses[1]  # where kernels saw lags 1.38 to 1.47


@pytest.mark.long(every=50)
@pytest.mark.parametrize("kind", ["rows without order", "lags tell later"])
@pytest.mark.parametrize("delay", [0, 1, 23])
def test_forecasts_are_those_of_a_queue(kind, delay):
    X, y = stream(kind)
    model, expected = model_of(delay), np.zeros(len(y))
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        model.partial_fit(X[row], y[row])
        expected[t] = model.predict(X[t : t + 1])[0]
    whole, cut = model_of(delay), model_of(delay)
    ends = [0, 1, 30, 63, 64, 65, 64 + delay, 65 + delay, 128, 200, 255, 256, 257, len(y)]
    parts = [cut.prequential_predict(X[a:b], y[a:b]) for a, b in pairwise(sorted({*ends}))]
    for forecasts in (whole.prequential_predict(X, y), np.concatenate(parts)):
        assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("kind", ["rows without order", "lags tell later"])
@pytest.mark.parametrize("case", ["plain", "weights", "targets", "gaps", "balanced", "path"])
def test_single_rows_are_blocks_of_one(kind, case):
    X, y = stream(kind)
    weights = np.linspace(0.5, 2.0, len(y)) if case == "weights" else None
    if case == "targets":
        y = np.column_stack([y, -3.0 * y + X[:, 2]])
    if case == "gaps":
        X[20::7, 1] = np.nan
    arguments = {"budget": "balanced"} if case == "balanced" else {}
    whole, model = model_of(**arguments), model_of(**arguments)
    expected = whole.prequential_predict(X, y, sample_weight=weights)
    forecasts = np.zeros_like(y)
    if case == "path":
        model.partial_fit(X[:1], y[:1])
        with model.rows() as row:
            for t in range(1, len(y)):
                forecasts[t] = row.predict(X[t])
                row.learn(X[t], y[t])
    else:
        for t in range(len(y)):
            if t:
                forecasts[t] = model.predict(X[t : t + 1])[0]
            weight = None if weights is None else weights[t : t + 1]
            model.partial_fit(X[t : t + 1], y[t : t + 1], sample_weight=weight)
    assert_allclose(forecasts[1:], expected[1:], rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize(
    "model",
    [model_of(budget="tiny"), model_of(delay=40), OnlineKernelClassifier(budget="fast")],
)
def test_some_keep_their_lags(model):
    X, y = stream("rows without order", 120)
    if isinstance(model, OnlineKernelClassifier):
        y = y > 0.0
    assert order_of(model.fit(X, y)) == MAYBE


def orders(rows_of, n_lags=4, delay=0, n=64, n_streams=200):
    """Return the share of streams that have an order, as they are and with their rows permuted."""
    found = []
    for seed in range(n_streams):
        rng = np.random.default_rng(seed)
        X, y = rows_of(rng, n)
        places = rng.permutation(n)
        of_both = (X, y[:, None]), (X[places], y[places, None])
        found.append([has_order(*of_one, n_lags, delay) for of_one in of_both])
    return np.mean(found, axis=0)


def logistic_map(rng, n):
    y = np.full(n, rng.uniform(0.2, 0.8))
    for t in range(1, n):
        y[t] = 3.9 * y[t - 1] * (1.0 - y[t - 1])
    return rng.normal(size=(n, 2)), y


def weekly(rng, n):
    X = rng.normal(size=(n, 2))
    return X, X[:, 0] + 2.0 * rng.normal(size=7)[np.arange(n) % 7] + 0.3 * rng.normal(size=n)


def walk(rng, n):
    return rng.normal(size=(n, 2)), np.cumsum(rng.normal(size=n))


def by_a_sign(rng, n):
    X, y = rng.normal(size=(n, 3)), np.zeros(n)
    for t in range(1, n):
        y[t] = (0.9 if X[t, 0] > 0.0 else -0.9) * y[t - 1] + rng.normal()
    return X, y


@pytest.mark.long(every=3)
@pytest.mark.parametrize("rows_of", [logistic_map, weekly, walk, by_a_sign])
def test_first_rows_tell_of_an_order(rows_of):
    as_they_are, permuted = orders(rows_of)
    assert as_they_are > 0.85
    assert permuted < 0.2


def test_little_tells_of_nothing():
    X, y = stream("rows without order", 64)
    assert not has_order(X, y[:, None], 4)
    seldom = np.where(np.arange(64) % 10 == 3, y, 0.0)
    for of_few in ((X[:35], y[:35, None]), (X, 0.0 * y[:, None]), (X, seldom[:, None])):
        assert has_order(*of_few, 4)
    gaps, faults = X.copy(), y[:, None].copy()
    gaps[::3, 1] = gaps[:, 2] = np.nan
    faults[::9] = np.nan
    assert not has_order(gaps, faults, 4)
    assert not has_order(X[:, :0], y[:, None], 4)


@pytest.mark.parametrize("delay", [0, 5])
def test_errors_tell_of_an_order(delay):
    rng = np.random.default_rng(0)
    X, errors = rng.normal(size=(600, 3)), rng.normal(size=(600, 2))
    assert not errors_have_order(X, errors, 4, delay)
    late = errors.copy()
    late[1 + delay :, 1] += 0.4 * errors[: -1 - delay, 1] * X[1 + delay :, 2]
    assert errors_have_order(X, late, 4, delay)
    assert not errors_have_order(X, late[:20], 4, delay)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("arguments", [{"lags": 0}, {}, {"label_delay": 5}, {"budget": "tiny"}])
@pytest.mark.parametrize("n", [128, 300])
def test_files_whenever_it_is_asked(arguments, n):
    X, y = stream("rows without order", n + 70)
    model = OnlineKernelRegressor(random_state=1, **arguments).fit(X[:n], y[:n])
    again = from_bytes(to_bytes(model))
    expected = model.prequential_predict(X[n:], y[n:])
    assert_allclose(again.prequential_predict(X[n:], y[n:]), expected, rtol=1e-9)
