"""Streams against literal loops, published figures, and the laws they are made to break."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import SGDRegressor

from sklearn_okl.datasets import (
    make_adversarial_stream,
    make_ar4,
    make_day_ahead,
    make_friedman_stream,
    scale_as_published,
)

# ---- the AR(4) series ----


def ar4_program(n, seed=41):
    """Loop of the published program."""
    state = np.random.get_state()
    np.random.seed(seed)
    e = np.random.normal(0, 1, n + 4)
    np.random.set_state(state)
    y = np.zeros(n + 4)
    X = np.zeros((n, 4))
    for j in range(4, n + 4):
        y[j] = 0.5 * y[j - 1] - 0.3 * y[j - 2] + 0.2 * y[j - 3] + 0.1 * y[j - 4] + e[j]
        X[j - 4] = y[j - 4 : j]
    return X, y[4:]


@pytest.mark.parametrize("seed", [41, 0, 7])
def test_ar4_is_the_published_program_bit_for_bit(seed):
    X, y = make_ar4(300, random_state=seed)
    X_loop, y_loop = ar4_program(300, seed)
    np.testing.assert_array_equal(X, X_loop)
    np.testing.assert_array_equal(y, y_loop)


def test_ar4_defaults_and_first_values():
    X, y = make_ar4()
    assert X.shape == (5000, 4)
    assert y.shape == (5000,)
    np.random.seed(41)
    e = np.random.randn(8)[4:]  # the first four normals are drawn and not used
    np.testing.assert_array_equal(X[0], 0.0)
    assert y[0] == e[0]
    assert y[1] == pytest.approx(0.5 * e[0] + e[1], rel=1e-15)
    assert y[2] == pytest.approx(0.5 * y[1] - 0.3 * e[0] + e[2], rel=1e-15)
    assert y[3] == pytest.approx(0.5 * y[2] - 0.3 * y[1] + 0.2 * y[0] + e[3], rel=1e-15)
    np.testing.assert_array_equal(X[4], y[:4])  # the oldest first


def test_ar4_short_series_is_a_prefix():
    X, y = make_ar4(500)
    X_short, y_short = make_ar4(37)
    np.testing.assert_array_equal(X[:37], X_short)
    np.testing.assert_array_equal(y[:37], y_short)


@pytest.mark.parametrize(
    ("order", "weights"),
    [("published", [0.1, 0.2, -0.3, 0.5]), ("printed", [0.5, -0.3, 0.2, 0.1])],
)
def test_ar4_orders_differ_in_which_value_has_one_half(order, weights):
    X, y = make_ar4(4000, order=order)
    noise = np.random.RandomState(41).standard_normal(4004)[4:]
    np.testing.assert_allclose(y - X @ weights, noise, atol=1e-12)


def test_ar4_noise_level_fits_the_published_table():
    # Best of Table 3 is 16.34e-3. No forecast beats the noise by more than chance, and the
    # algorithms come within a few per cent of it; the printed order is far below.
    def noise_level(order):
        X, y = make_ar4(order=order)
        y_scaled = scale_as_published(X, y)[1]
        noise = np.random.RandomState(41).standard_normal(5004)[4:] * np.ptp(y_scaled) / np.ptp(y)
        return np.mean(noise**2)

    assert noise_level("published") == pytest.approx(0.0160, abs=5e-5)
    assert noise_level("printed") == pytest.approx(0.0088, abs=5e-5)
    assert 1.0 < 16.34e-3 / noise_level("published") < 1.05


def test_ar4_outputs_share_no_memory():
    X, y = make_ar4(50)
    before = X.copy()
    y[:] = 0
    np.testing.assert_array_equal(X, before)
    assert X.flags.writeable
    assert not np.shares_memory(X[0], X[1])


@pytest.mark.parametrize(
    "bad", [{"n_samples": 0}, {"n_samples": 2.5}, {"order": "oldest"}, {"random_state": "x"}]
)
def test_ar4_rejects(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        make_ar4(**bad)


# ---- Friedman's function, with drift ----


def friedman(a, b, c, d, e):
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def test_friedman_without_drift_is_the_formula():
    X, y = make_friedman_stream(100, n_features=7, noise=0.0, random_state=3)
    assert X.shape == (100, 7)
    assert X.min() >= 0
    assert X.max() <= 1
    np.testing.assert_allclose(y, friedman(*X[:, :5].T), rtol=1e-14)


@pytest.mark.parametrize("drift", [None, "jump", "rotation"])
def test_drift_draws_nothing(drift):
    X, y = make_friedman_stream(400, drift=drift, random_state=1)
    X_none, y_none = make_friedman_stream(400, random_state=1)
    clean = make_friedman_stream(400, drift=drift, noise=0.0, random_state=1)[1]
    clean_none = make_friedman_stream(400, noise=0.0, random_state=1)[1]
    np.testing.assert_array_equal(X, X_none)
    np.testing.assert_allclose(y - clean, y_none - clean_none, atol=1e-12)
    assert np.std(y - clean) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize(("drift_at", "start"), [(0.5, 50), (0.25, 25), (0.0, 0), (1.0, 100)])
def test_jump_gives_every_feature_a_new_role_from_its_row_on(drift_at, start):
    X, y = make_friedman_stream(100, drift="jump", drift_at=drift_at, noise=0.0, random_state=0)
    a, b, c, d, e = X[:, :5].T
    np.testing.assert_allclose(y[:start], friedman(a, b, c, d, e)[:start], rtol=1e-14)
    np.testing.assert_allclose(y[start:], friedman(c, d, e, a, b)[start:], rtol=1e-14)


def test_rotation_ends_in_a_quarter_turn_and_moves_slowly():
    n = 2001
    X, y = make_friedman_stream(n, drift="rotation", noise=0.0, random_state=0)
    a, b, c, d, e = X[:, :5].T
    assert y[0] == pytest.approx(friedman(a, b, c, d, e)[0], rel=1e-12)
    assert y[-1] == pytest.approx(friedman(1 - d, b, 1 - e, a, c)[-1], rel=1e-12)
    # half way, an eighth of a turn
    turn = np.sqrt(0.5) * np.array([[1, -1], [1, 1]])
    a2, d2 = 0.5 + turn @ (X[n // 2, [0, 3]] - 0.5)
    c2, e2 = 0.5 + turn @ (X[n // 2, [2, 4]] - 0.5)
    assert y[n // 2] == pytest.approx(friedman(a2, X[n // 2, 1], c2, d2, e2), rel=1e-12)
    # gradual: the distance to the function without drift grows through the stream
    distance = np.abs(y - friedman(a, b, c, d, e))
    parts = [part.mean() for part in np.array_split(distance, 4)]
    assert parts == sorted(parts)
    assert parts[0] < 0.3 * parts[-1]


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_first_half_teaches_the_second_half_unless_there_is_drift(seed):
    def loss_of_second_half(drift):
        X, y = make_friedman_stream(1000, n_features=5, drift=drift, random_state=seed)
        model = KernelRidge(kernel="rbf", gamma=0.5, alpha=0.1).fit(X[:500], y[:500] - 14.4)
        held_out = slice(500, 1000)
        return np.mean((model.predict(X[held_out]) + 14.4 - y[held_out]) ** 2)

    steady = loss_of_second_half(None)
    assert steady < 3.0  # noise is 1
    assert loss_of_second_half("jump") > 5 * steady
    assert loss_of_second_half("rotation") > 3 * steady


@pytest.mark.parametrize(
    "bad", [{"n_features": 4}, {"drift": "slow"}, {"drift_at": 1.5}, {"noise": -1.0}]
)
def test_friedman_rejects(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        make_friedman_stream(**bad)


# ---- the hourly series ----


def day_ahead_loop(n, correlation, noise, seed):
    """Loop of the formulas in the docstring."""
    rng = np.random.RandomState(seed)
    rows, y, u, v = [], [], 0.0, 0.0
    for t in range(n):
        for_weather, for_target = rng.standard_normal(2)
        first = t == 0  # stationary from the start
        u = 6 * for_weather if first else 0.99 * u + 6 * np.sqrt(1 - 0.99**2) * for_weather
        scale = noise if first else noise * np.sqrt(1 - correlation**2)
        v = (0.0 if first else correlation * v) + scale * for_target
        a = 2 * np.pi * t / 24
        temperature = 10 - 5 * np.cos(a - np.pi / 4) + u
        season = 100 - 20 * np.cos(a) - 8 * np.sin(2 * a)
        rows.append([np.sin(a), np.cos(a), np.sin(2 * a), np.cos(2 * a), temperature])
        y.append(season + 5 * np.log(1 + np.exp((15 - temperature) / 5)) + v)
    return np.array(rows), np.array(y)


@pytest.mark.parametrize(("correlation", "noise"), [(0.9, 4.0), (0.0, 1.0), (0.5, 0.0)])
def test_day_ahead_is_the_formula(correlation, noise):
    X, y = make_day_ahead(100, correlation=correlation, noise=noise, random_state=3)
    X_loop, y_loop = day_ahead_loop(100, correlation, noise, 3)
    np.testing.assert_allclose(X, X_loop, atol=1e-10)
    np.testing.assert_allclose(y, y_loop, rtol=1e-12)


def test_day_ahead_defaults_and_prefix():
    X, y = make_day_ahead(random_state=0)
    assert X.shape == (24 * 150, 5)
    assert y.shape == (24 * 150,)
    X_short, y_short = make_day_ahead(50, random_state=0)
    np.testing.assert_array_equal(X[:50], X_short)
    np.testing.assert_array_equal(y[:50], y_short)
    assert make_day_ahead(1, random_state=0)[0].shape == (1, 5)


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9, 0.95])
def test_day_ahead_disturbances_have_one_size_and_their_correlation(correlation):
    X, y = make_day_ahead(40_000, correlation=correlation, random_state=1)
    X_clean, clean = make_day_ahead(40_000, noise=0.0, random_state=1)
    np.testing.assert_array_equal(X, X_clean)
    disturbances = y - clean
    assert disturbances.std() == pytest.approx(4.0, rel=0.06)
    assert np.corrcoef(disturbances[1:], disturbances[:-1])[0, 1] == pytest.approx(
        correlation, abs=0.02
    )


@pytest.mark.parametrize(
    "bad", [{"n_samples": 0}, {"correlation": 1.0}, {"correlation": -0.1}, {"noise": -1.0}]
)
def test_day_ahead_rejects(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        make_day_ahead(**bad)


# ---- the adversary ----


class Constant(BaseEstimator):
    """Forecasts one number for ever, and notes what it is taught."""

    def __init__(self, value=0.0):
        self.value = value

    def partial_fit(self, X, y):
        assert X.shape[0] == y.shape[0] == 1
        self.seen_ = [*getattr(self, "seen_", []), float(y[0])]
        return self

    def predict(self, X):
        assert hasattr(self, "seen_"), "asked before it was taught"
        return np.full(len(X), self.value)


class Mean(Constant):
    """Forecasts the mean of the targets so far."""

    def predict(self, X):
        return np.full(len(X), np.mean(self.seen_))


@pytest.mark.parametrize(
    ("value", "rest"), [(0.3, -1.0), (-0.3, 1.0), (0.0, 1.0), (5.0, -1.0), (-5.0, 1.0)]
)
def test_adversary_against_a_constant(value, rest):
    y = make_adversarial_stream(Constant(value), np.zeros((5, 2)))
    np.testing.assert_array_equal(y, [1.0, rest, rest, rest, rest])


def test_adversary_against_the_mean_on_another_range():
    # middle of the range is 4; means before each row: -, 6, 4, 14/3, 4 (ties go up)
    y = make_adversarial_stream(Mean(), np.zeros((5, 1)), y_range=(2.0, 6.0))
    np.testing.assert_array_equal(y, [6.0, 2.0, 6.0, 2.0, 6.0])


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_adversary_costs_a_quarter_of_the_squared_range_a_round(seed):
    X = np.random.RandomState(seed).standard_normal((120, 3))
    victim = SGDRegressor(random_state=seed)
    y = make_adversarial_stream(victim, X, y_range=(-0.5, 1.5))
    assert not hasattr(victim, "coef_")  # a clone played
    assert set(y) == {-0.5, 1.5}

    again = SGDRegressor(random_state=seed).partial_fit(X[:1], y[:1])
    for t in range(1, len(X)):
        forecast = again.predict(X[t : t + 1])[0]
        assert y[t] == (-0.5 if forecast > 0.5 else 1.5)
        assert (forecast - y[t]) ** 2 >= 1.0
        again.partial_fit(X[t : t + 1], y[t : t + 1])


def test_adversary_leaves_its_inputs_alone():
    class Vandal(Constant):
        def partial_fit(self, X, y):
            super().partial_fit(X, y)
            X[:] = np.nan
            y[:] = np.nan
            return self

    X = np.ones((4, 2))
    y = make_adversarial_stream(Vandal(1.0), X)
    np.testing.assert_array_equal(X, 1.0)
    np.testing.assert_array_equal(y, [1.0, -1.0, -1.0, -1.0])


def test_adversary_rejects():
    X = np.zeros((3, 1))
    with pytest.raises(TypeError, match="KernelRidge has no method 'partial_fit'"):
        make_adversarial_stream(KernelRidge(), X)
    for y_range in [(1.0, -1.0), (0.0, 0.0), (0.0, np.inf), (0.0,), None]:
        with pytest.raises(ValueError, match="y_range must be"):
            make_adversarial_stream(Constant(), X, y_range=y_range)
    with pytest.raises(ValueError, match="in row 1, where one finite number was expected"):
        make_adversarial_stream(Constant(np.nan), X)
    with pytest.raises(ValueError, match="NaN"):
        make_adversarial_stream(Constant(), [[np.nan]])


# ---- the published scaling ----


def test_scaling_is_the_formula_and_spares_its_inputs():
    rng = np.random.RandomState(0)
    X, y = 7 * rng.standard_normal((50, 3)), 3 + rng.standard_normal(50)
    X_before, y_before = X.copy(), y.copy()
    X_scaled, y_scaled = scale_as_published(X, y)
    norms = [np.sqrt(sum(v * v for v in row)) for row in X]
    np.testing.assert_allclose(X_scaled, X / max(norms), rtol=1e-14)
    np.testing.assert_allclose(y_scaled, (y - min(y)) / (max(y) - min(y)), rtol=1e-14)
    assert (y_scaled.min(), y_scaled.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(X, X_before)
    np.testing.assert_array_equal(y, y_before)
    np.testing.assert_array_equal(scale_as_published([[1.0], [2.0]], [-1, 1])[1], [0.0, 1.0])


def test_scaling_agrees_with_the_published_programs(data_files, golden):
    (data,) = data_files("airfoil")
    table = np.loadtxt(data, delimiter=",", skiprows=1, max_rows=300)
    X, y = scale_as_published(table[:, :-1], table[:, -1])
    with golden("airfoil_300") as expected:
        np.testing.assert_allclose(X, expected["X"], rtol=1e-13)
        np.testing.assert_allclose(y, expected["y"], rtol=1e-13)


def test_scaling_rejects():
    with pytest.raises(ValueError, match=r"Every target is 2\.0"):
        scale_as_published([[1.0], [3.0]], [2.0, 2.0])
    with pytest.raises(ValueError, match="Every entry of X is zero"):
        scale_as_published([[0.0], [0.0]], [1.0, 2.0])
