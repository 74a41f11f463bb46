"""ONSRegressor against its oracle and its theorem, and its private verbs for growing bases."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.learners._newton import ONSRegressor
from tests.oracles.newton import ons, projected
from tests.states import opened


def stream(seed, n=300, d=6):
    """Targets of which some are beyond the radius 1, and features that make forecasts so too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * rng.uniform(0.2, 1.5, size=d) / np.sqrt(d)
    return X, 1.5 * np.sin(2 * X[:, 0]) + 0.5 * rng.normal(size=n)


def close(actual, expected, rtol):
    assert_allclose(actual, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


@pytest.mark.parametrize("d", [1, 6, 40])
@pytest.mark.parametrize("arguments", [{}, {"mu": 0.01, "radius": 0.5}, {"curvature": 0.125}])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_literal_loop(d, arguments, seed):
    X, y = stream(seed, d=d)
    expected, coef = ons(X, y, **arguments)
    model = ONSRegressor(**arguments)
    forecasts = model.prequential_predict(X, y)
    close(forecasts, expected, 1e-9)
    close(model.coef_, coef, 1e-9)
    radius = arguments.get("radius", 1.0)
    if d == 40:  # the projection is at work
        assert (np.abs(forecasts) > radius * (1 - 1e-12)).mean() > 0.02
    assert np.abs(forecasts).max() <= radius * (1 + 1e-15)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_block_is_its_rows(seed):
    X, y = stream(seed, n=150, d=20)
    whole, rows = ONSRegressor(0.1), ONSRegressor(0.1)
    forecasts = whole.prequential_predict(X, y)
    one_by_one = [rows.prequential_predict(x[None], [t])[0] for x, t in zip(X, y, strict=True)]
    close(forecasts, np.array(one_by_one), 1e-10)
    state, other = opened(whole._state), opened(rows._state)
    for name in ("theta", "A", "P", "trace"):
        close(state[name], other[name], 1e-10)
    assert_array_equal(state["P"], state["P"].T)


def far_end(model, X, bound):
    """Learn targets at whichever end of [-bound, bound] is farther from the forecast."""
    y, forecasts = np.empty(len(X)), np.empty(len(X))
    for t in range(len(X)):
        forecast = model.predict(X[t : t + 1])[0] if t > 0 else 0.0
        y[t] = -bound if forecast > 0 else bound
        forecasts[t] = model.prequential_predict(X[t : t + 1], y[t : t + 1])[0]
    return y, forecasts


def rival(X, y, mu, radius):
    """Good weights in hindsight among those that forecast within the radius on all rows."""
    u = np.linalg.solve(mu / 2 * np.eye(X.shape[1]) + X.T @ X, X.T @ y)
    return u / max(1.0, np.abs(X @ u).max() / radius)


@pytest.mark.long(every=5)
@pytest.mark.parametrize("share", [1.0, 2.0])  # of the default curvature; 2 is the theorem's limit
@pytest.mark.parametrize("radius", [1.0, 3.0])
@pytest.mark.parametrize("kind", ["greedy", "one row", "constant", "noise"])
def test_regret_is_within_the_theorem(share, radius, kind):
    rng = np.random.default_rng(0)
    mu, n, d = 1.0, 400, 4
    X = rng.normal(size=(n, d)) / np.sqrt(d)
    if kind in ("one row", "constant"):
        X = np.ones((n, 1))
    curvature = share / (16 * radius**2)
    model = ONSRegressor(mu, radius=radius, curvature=curvature)
    if kind in ("greedy", "one row"):
        y, forecasts = far_end(model, X, radius)
    else:
        y = np.full(n, radius) if kind == "constant" else radius * rng.choice([-1, 1], size=n)
        forecasts = model.prequential_predict(X, y)
    u = rival(X, y, mu, radius)
    comparator = ((X @ u - y) ** 2).sum()
    regret = ((forecasts - y) ** 2).sum() - comparator
    logdet = np.linalg.slogdet(opened(model._state)["A"] / mu)[1]
    bound = mu / 2 * u @ u + logdet / (2 * curvature)
    nu = mu / (16 * curvature * radius**2)
    values = np.linalg.eigvalsh(X.T @ X)
    effective = (values / (values + nu)).sum()
    of_order = effective * (1 + np.log1p(values.max() / nu)) / (2 * curvature)
    print(
        f"{kind}, C={radius}, share {share}: regret {regret:.1f}, bound {bound:.1f}, "
        f"with the effective dimension {mu / 2 * u @ u + of_order:.1f}"
    )
    assert regret <= bound
    assert logdet / (2 * curvature) <= of_order
    if kind == "constant":  # where the bound bites: who does not learn breaks it
        assert (y**2).sum() - comparator > bound


def test_prediction_is_the_next_forecast_and_projection_is_the_nearest():
    X, y = stream(4, d=5)
    model = ONSRegressor(0.01, radius=0.3).fit(X[:200], y[:200])
    asked = model.predict(X[200:])
    assert (np.abs(asked) == 0.3).any()
    assert (np.abs(asked) < 0.3).any()
    for t in range(200, 220):
        state = {name: np.copy(value) for name, value in opened(model._state).items()}
        model._project(state, X[t])
        assert_allclose(X[t] @ state["theta"], asked[t - 200], rtol=1e-12)
        expected = projected(state["A"], model.coef_, X[t], 0.3)
        close(state["theta"], expected, 1e-9)


@pytest.mark.parametrize("first", [0, 1, 37, 64])
def test_a_grown_feature_was_zero_all_along(first):
    X, y = stream(5, n=150, d=7)
    X[:first, 6] = 0.0
    model = ONSRegressor(0.3)
    state = model._start(6)
    head = model._learn(state, X[:first, :6], y[:first])
    model._grow(state)
    forecasts = np.append(head, model._learn(state, X[first:], y[first:]))
    expected, coef = ons(X, y, 0.3)
    close(forecasts, expected, 1e-10)
    close(state["theta"], coef, 1e-10)


def test_no_features_yet():
    model = ONSRegressor()
    state = model._start(0)
    forecasts = model._learn(state, np.empty((5000, 0)), np.ones(5000))  # past a rebuild
    assert_array_equal(forecasts, np.zeros(5000))
    model._project(state, np.empty(0))
    model._grow(state)
    assert_array_equal(opened(state)["A"], [[1.0]])


@pytest.mark.parametrize("seed", [0, 1])
def test_features_that_come_on_the_way_were_0_before(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 40)), rng.normal(size=150)
    ages = np.sort(rng.integers(0, 120, 40))  # of the row with which each feature comes
    X *= ages <= np.arange(150)[:, None]
    expected = ONSRegressor(0.3, radius=2.0).prequential_predict(X, y)
    model = ONSRegressor(0.3, radius=2.0)
    state, forecasts, inverses = model._start(0), [], []
    for t in range(150):
        for _ in range((ages == t).sum()):
            model._grow(state)
        known = X[:, : len(state["theta"])]
        asked = model._forecast(state, known[t : t + 1])
        forecasts.append(model._learn(state, known[t : t + 1], y[t : t + 1])[0])
        assert_allclose(asked[0], forecasts[-1], atol=1e-12)
        inverses.append(state["inverse"].groups[0][2].array)
    assert_allclose(forecasts, expected, rtol=1e-7, atol=1e-8)
    # what is large is not copied for each of them
    assert len({id(P) for P in inverses}) < 8
    again = pickle.loads(pickle.dumps(state))
    assert_array_equal(model._forecast(again, X), model._forecast(state, X))
    whole = opened(state)
    assert_allclose(whole["P"] @ whole["A"], np.eye(40), atol=1e-9)


@pytest.mark.parametrize("size", [1e-6, 1e6])
def test_rows_of_extreme_gain(size):
    # repeated and nearly repeated rows, and steep slopes: A spans nine orders of magnitude
    X, y = stream(6, n=200, d=5)
    X[1::2] = X[::2] + 1e-12
    y[::50] = 100.0
    model = ONSRegressor(1e-6 * size, radius=1.0)
    forecasts = model.prequential_predict(X * np.sqrt(size), y)
    expected, _ = ons(X * np.sqrt(size), y, 1e-6 * size)
    close(forecasts, expected, 1e-6)
    state = opened(model._state)
    close(state["P"] @ state["A"], np.eye(5), 1e-6)


def test_long_streams_do_not_drift():
    X, y = stream(7, n=20_000, d=10)
    X[:, 3] = X[:, 2] * (1 + 1e-9)  # two columns that are nearly one
    model = ONSRegressor(1e-3).fit(X, y)
    state = opened(model._state)
    assert model.n_samples_seen_ == 20_000
    close(state["P"], np.linalg.inv(state["A"]), 1e-7)


@pytest.mark.parametrize("size", [1e7, 1e8, 1e12])
@pytest.mark.parametrize("kind", ["equal", "level"])
def test_large_columns_that_are_nearly_collinear_are_refused(kind, size):
    """At f0eb89e weights came to 1e200, and forecasts to either end of the radius, in silence."""
    rng = np.random.default_rng(int(np.log10(size)))
    own, y = rng.normal(size=(150, 3)), rng.normal(size=150)
    X = size + own if kind == "level" else size * own[:, :1].repeat(3, axis=1)
    for ends in ([], [*range(1, 150)]):
        model, parts = ONSRegressor(), np.split(np.arange(150), ends)
        with pytest.raises(ValueError, match="is lost in the rounding of A"):
            _ = [model.partial_fit(X[rows], y[rows]) for rows in parts]
        # by themselves rows are learnt until columns should be told apart
        assert getattr(model, "_state", {"t": 0})["t"] < 64


@pytest.mark.parametrize("size", [1e3, 1e6])
def test_large_columns_that_tell_rows_apart_are_scaled_ones(size):
    X, y = stream(9)
    large, small = ONSRegressor(), ONSRegressor(1.0 / size**2)
    close(large.prequential_predict(size * X, y), small.prequential_predict(X, y), 1e-8)


def test_a_row_that_is_far_too_large_is_refused_and_the_next_ones_are_learnt():
    rng = np.random.default_rng(8)
    X, y = rng.normal(size=(200, 3)), rng.normal(size=200)
    model, other = (ONSRegressor().fit(X[:100], y[:100]) for _ in range(2))
    for rows in (1e9 * X[100:101], np.r_[1e9 * X[100:101], X[101:150]]):
        with pytest.raises(ValueError, match="is lost in the rounding of A"):
            model.partial_fit(rows, y[100 : 100 + len(rows)])
    found, expected = (one.prequential_predict(X[101:], y[101:]) for one in (model, other))
    assert_array_equal(found, expected)
