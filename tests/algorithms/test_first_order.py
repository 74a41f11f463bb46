"""KOGD, OMKR, Raker and RFOMKR: oracles, published forecasts, theorems, laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import polynomial_kernel

from sklearn_okl.algorithms._gradient import KOGDRegressor
from sklearn_okl.algorithms._omkr import OMKRRegressor, RFOMKRRegressor
from sklearn_okl.algorithms._random_features import RakerRegressor
from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.learners import OGDRegressor
from sklearn_okl.losses import get_loss
from tests.oracles import first_order

GRID = [{"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}, {"kernel": ["laplacian"], "gamma": [0.5]}]
LOSSES = ["squared_error", "absolute_error", "pinball"]


def stream(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def rbf(gamma):
    return lambda x, z: np.exp(-gamma * np.sum((x - z) ** 2))


def laplacian(gamma):
    return lambda x, z: np.exp(-gamma * np.sum(np.abs(x - z)))


# Kernel online gradient descent


@pytest.mark.long(every=3)
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    "steps",
    [
        {},
        {"eta0": 0.7, "power_t": 0.0},
        {"radius": 0.4},
        {"radius": 0.4, "adaptive": True},
        {"radius": 5.0, "adaptive": True},
    ],
)
@pytest.mark.parametrize("seed", [0, 1])
def test_kogd_equals_the_literal_loop(loss, steps, seed):
    # the oracle's norm takes O(t^2) kernel values a round: few rows where there is a ball
    X, y = stream(seed, n=35 if "radius" in steps else 100)
    model = KOGDRegressor("laplacian", 0.8, loss=loss, quantile=0.3, **steps)
    low = 13
    forecasts = np.concatenate(
        [model.prequential_predict(X[:low], y[:low]), model.prequential_predict(X[low:], y[low:])]
    )
    expected, coef = first_order.kogd(X, y, laplacian(0.8), loss, quantile=0.3, **steps)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-11)
    assert_allclose(model.dual_coef_, coef, rtol=1e-9, atol=1e-11)
    assert_array_equal(model.X_fit_, X)


def test_kogd_ball_is_as_the_ball_of_coefficients_says():
    X, y = stream(2, n=200)
    model = KOGDRegressor("rbf", 2.0, radius=0.5, eta0=0.5).fit(X, 3 * y)
    c = model.dual_coef_
    K = np.exp(-2 * np.sum((X[:, None] - X) ** 2, axis=-1))
    assert_allclose(c @ K @ c, 0.25, rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_kogd_ball_and_adaptive_steps_may_come_in_mid_stream(loss):
    X, y = stream(3, n=101)
    model = KOGDRegressor("rbf", 2.0, loss=loss).fit(X[:100], y[:100])
    c, forecast = model.dual_coef_, model.predict(X[100:])[0]
    rehearsal = clone(model)
    slopes = get_loss(loss).slope(y[:100], rehearsal.prequential_predict(X[:100], y[:100]))
    slope = get_loss(loss).slope(y[100], forecast)
    K = np.exp(-2 * np.sum((X[:, None] - X) ** 2, axis=-1))
    radius = 0.9 * np.sqrt(c @ K[:100, :100] @ c)
    model.set_params(radius=radius, adaptive=True).partial_fit(X[100:], y[100:])
    eta = radius / np.sqrt(1 + np.sum(slopes**2) + slope**2)
    stepped = np.append(c, -eta * slope)
    stepped *= min(1.0, radius / np.sqrt(stepped @ K @ stepped))
    assert_allclose(model.dual_coef_, stepped, rtol=1e-9)


def poly_2(x, z):
    return (x @ z) ** 2


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_kogd_polynomial_by_name_by_callable_and_by_features(loss):
    X, y = stream(3)
    named = KOGDRegressor("poly", 1.0, degree=2, coef0=0.0, loss=loss)
    forecasts = named.prequential_predict(X, y)
    assert_allclose(forecasts, first_order.kogd(X, y, poly_2, loss)[0], rtol=1e-9, atol=1e-12)
    called = KOGDRegressor(lambda A, B: (A @ B.T) ** 2, loss=loss)
    assert_allclose(called.prequential_predict(X, y), forecasts, rtol=1e-9, atol=1e-12)
    called.partial_fit(X, y)  # a copy of the callable is no change of structure
    Z = np.einsum("ni,nj->nij", X, X).reshape(len(X), -1)
    primal = OGDRegressor(loss=loss).prequential_predict(Z, y)
    assert_allclose(forecasts, primal, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(
    ("preset", "name"),
    [
        (KOGDRegressor("rbf", 1.0, eta0=0.05), "rbf_1"),
        (KOGDRegressor("poly", 1.0, degree=2, coef0=0.0, eta0=0.05), "poly_2"),
    ],
)
def test_kogd_published_forecasts_on_airfoil(golden, preset, name):
    data = golden("airfoil_300")
    forecasts = preset.prequential_predict(data["X"], data["y"])
    print(f"\n{name}: largest difference {np.abs(forecasts - data[name]).max():.1e}")
    assert_allclose(forecasts, data[name], rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("loss", LOSSES)
def test_kogd_regret_in_the_ball(loss):
    shares = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        n, radius, eta0 = 250, [0.5, 1.0, 2.0, 1.0][seed], [0.5, 0.2, 1.0, 2.0][seed]
        X = rng.uniform(-1, 1, size=(n, 2))
        K = np.exp(-2.0 * np.sum((X[:, None] - X) ** 2, axis=-1))
        c = rng.normal(size=n)
        y = np.clip(2 * K @ c / np.sqrt(c @ K @ c) + 0.3 * rng.normal(size=n), -2, 2)
        f = KOGDRegressor(
            "rbf", 2.0, loss=loss, quantile=0.8, eta0=eta0, radius=radius
        ).prequential_predict(X, y)
        rule = get_loss(loss, 0.8)
        rivals = np.c_[c, np.linalg.solve(K + np.eye(n), y), rng.normal(size=(n, 50))]
        rivals *= radius / np.sqrt(np.einsum("ik,ij,jk->k", rivals, K, rivals))
        best = rule.value(y[:, None], K @ rivals).sum(axis=0).min()
        steepest = np.abs(rule.slope(y, f)).max()  # k(x, x) = 1
        bound = (2 * radius**2 / eta0 + eta0 * steepest**2) * np.sqrt(n)
        regret = rule.value(y, f).sum() - best
        assert regret <= bound
        shares.append(regret / bound)
    assert max(shares) > 0.02


KOGDS = [
    {},
    {"loss": "pinball", "quantile": 0.7, "eta0": 0.5},
    {"radius": 0.7, "adaptive": True},
    {"kernel": "poly", "degree": 2, "loss": "absolute_error", "radius": 0.5},
]


@pytest.mark.long(every=3)
@pytest.mark.parametrize("options", KOGDS)
def test_kogd_laws(options):
    check_online_estimator(KOGDRegressor(**options), grows=True)


def test_kogd_forecast_does_not_depend_on_its_own_target():
    X, y = stream(4, n=40)
    wild = y.copy()
    wild[-1] = 1e12
    for options in ({}, {"radius": 1.0}):
        a, b = (KOGDRegressor(**options).prequential_predict(X, targets) for targets in (y, wild))
        assert_array_equal(a, b)


def test_kogd_bad_parameters_have_a_sentence():
    X, y = stream(5, n=10)
    with pytest.raises(ValueError, match="give 'radius'"):
        KOGDRegressor(adaptive=True).fit(X, y)
    with pytest.raises(ValueError, match="put it into the callable"):
        KOGDRegressor(polynomial_kernel, 1.0).fit(X, y)
    for bad in ({"eta0": 0.0}, {"loss": "hinge"}, {"kernel": "magic"}, {"degree": 0}):
        with pytest.raises(ValueError, match="must be"):
            KOGDRegressor(**bad).fit(X, y)
    for change in ({"kernel": "laplacian"}, {"gamma": 3.0}, {"kernel": poly_2}):
        model = KOGDRegressor().fit(X, y).set_params(**change)
        with pytest.raises(ValueError, match="cannot change in mid-stream"):
            model.partial_fit(X, y)


# Multi-kernel: OMKR, Raker, RFOMKR


def in_two_calls(model, X, y, cut=13):
    first = model.prequential_predict(X[:cut], y[:cut])
    return np.concatenate([first, model.prequential_predict(X[cut:], y[cut:])])


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "options", [{}, {"eta0": 0.6, "power_t": 0.1}, {"discount": 0.05, "eta0": 1.0}]
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_omkr_equals_the_literal_loop(options, seed):
    X, y = stream(seed)
    model = OMKRRegressor(GRID, **options)
    forecasts = in_two_calls(model, X, y)
    kernels = [rbf(0.1), rbf(1.0), rbf(10.0), laplacian(0.5)]
    assert [kernel["gamma"] for kernel in model.kernels_] == [0.1, 1.0, 10.0, 0.5]
    expected, weights = first_order.omkr(X, y, kernels, **options)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, weights, rtol=1e-9)
    assert_array_equal(model.X_fit_, X)


@pytest.mark.parametrize(
    "options", [{}, {"shrinkage": 0.8, "eta0": 1.0}, {"eta0": 0.7, "power_t": 0.2}]
)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_raker_equals_the_literal_loop(options, seed):
    X, y = stream(seed)
    model = RakerRegressor(GRID, n_components=12, random_state=seed, **options)
    forecasts = in_two_calls(model, X, y)
    expected, weights = first_order.raker(X, y, list(model.frequencies_), **options)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, weights, rtol=1e-9)
    theta = model._state["experts"]["theta"]
    assert_allclose(model._state["norms_sq"], np.sum(theta**2, axis=1), rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("aggregator", ["hedge", "ogd"])
@pytest.mark.parametrize("options", [{}, {"discount": 0.05, "eta0": 0.6, "power_t": 0.3}])
@pytest.mark.parametrize("seed", [0, 1])
def test_rfomkr_equals_the_literal_loop(aggregator, options, seed):
    X, y = stream(seed)
    model = RFOMKRRegressor(
        GRID, aggregator, n_components=12, aggregator_eta0=0.2, random_state=seed, **options
    )
    forecasts = in_two_calls(model, X, y)
    expected, weights = first_order.rfomkr(
        X, y, list(model.frequencies_), aggregator, step=0.2, **options
    )
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, weights, rtol=1e-9, atol=1e-12)


def test_omkr_published_forecasts_on_airfoil(golden):
    data = golden("airfoil_300")
    names = np.where(data["is_laplacian"], "laplacian", "rbf").tolist()
    grid = [
        {"kernel": [name], "gamma": [1 / bandwidth]}
        for name, bandwidth in zip(names, data["bandwidth"].tolist(), strict=True)
    ]
    forecasts = OMKRRegressor(grid).prequential_predict(data["X"], data["y"])
    print(f"\nomkr: largest difference {np.abs(forecasts - data['omkr']).max():.1e}")
    assert_allclose(forecasts, data["omkr"], rtol=1e-9, atol=1e-13)


def test_raker_published_forecasts_on_airfoil(golden):
    data = golden("airfoil_300")
    seven = [{"kernel": ["rbf"], "gamma": [1.0]}] * 7  # overruled by the frequencies
    model = RakerRegressor(seven, frequencies=list(data["frequencies"]))
    forecasts = model.prequential_predict(data["X"], data["y"])
    difference = np.abs(forecasts - data["raker"]).max()
    # not 0: the published code takes the norms after the step
    assert 0 < difference < 1e-5
    print(f"\nraker: largest difference {difference:.1e}")
    assert_allclose(model.weights_, data["raker_final_weights"], rtol=1e-4)


@pytest.mark.parametrize("phase", ["paired", "phase"])
def test_raker_norms_follow_features_of_any_length(phase):
    X, y = stream(3, n=500)
    model = RakerRegressor(GRID, n_components=7, form=phase, shrinkage=0.3, random_state=1)
    model.fit(X, y)
    theta = model._state["experts"]["theta"]
    assert_allclose(model._state["norms_sq"], np.sum(theta**2, axis=1), rtol=1e-9, atol=1e-13)


def test_rfomkr_tends_to_omkr_with_many_features():
    X, y = stream(4, n=120)
    exact = OMKRRegressor(GRID, eta0=0.2).prequential_predict(X, y)
    gaps = []
    for n_components in (20, 20_000):
        model = RFOMKRRegressor(GRID, eta0=0.1, n_components=n_components, random_state=0)
        gaps.append(np.abs(model.prequential_predict(X, y) - exact).max())
    assert gaps[1] < 0.02 < gaps[0]


@pytest.mark.long(every=6)
@pytest.mark.parametrize(
    "model",
    [
        OMKRRegressor(GRID, eta0=0.3),
        RakerRegressor(GRID, n_components=16, eta0=0.3, random_state=0),
        RFOMKRRegressor(GRID, n_components=16, random_state=0),
    ],
)
@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_weights_on_the_simplex_and_forecasts_among_the_experts(model, scale):
    X, y = stream(5, n=60)
    model = clone(model)
    for t in range(len(y)):
        model.partial_fit(X[t : t + 1], scale * y[t : t + 1])
        assert np.all(model.weights_ >= 0)
        assert_allclose(model.weights_.sum(), 1, rtol=1e-12)
        F, f = model.predict_experts(X[:5]), model.predict(X[:5])
        assert np.all((F.min(axis=1) <= f) & (f <= F.max(axis=1)))
        assert_allclose(f, F @ model.weights_, rtol=1e-9, atol=1e-12 * scale)


@pytest.mark.parametrize(
    "make",
    [
        lambda grid, frequencies: OMKRRegressor(grid),
        lambda grid, frequencies: RakerRegressor(grid, frequencies=frequencies, eta0=0.5),
        lambda grid, frequencies: RFOMKRRegressor(grid, frequencies=frequencies),
        lambda grid, frequencies: RFOMKRRegressor(grid, "ogd", frequencies=frequencies),
    ],
)
def test_permuting_the_kernels_permutes_the_weights(make):
    X, y = stream(6)
    gammas, order = np.array([0.1, 0.3, 1.0, 3.0, 10.0]), np.array([3, 0, 4, 1, 2])
    frequencies = np.random.default_rng(1).normal(size=(5, 3, 8)) * gammas[:, None, None]

    def fitted(order):
        grid = [{"kernel": ["rbf"], "gamma": [gamma]} for gamma in gammas[order]]
        return make(grid, frequencies[order]).fit(X, y)

    straight, permuted = fitted(np.arange(5)), fitted(order)
    assert np.ptp(straight.weights_) > 1e-3
    assert_allclose(permuted.weights_, straight.weights_[order], rtol=1e-8, atol=1e-12)
    assert_allclose(permuted.expert_losses_, straight.expert_losses_[order], rtol=1e-9)
    assert_allclose(permuted.predict(X), straight.predict(X), rtol=1e-8, atol=1e-12)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(3))
def test_raker_regret_with_a_constant_step(seed):
    """Each expert against any theta, the mix against each expert; targets by an adversary."""
    n, eta, shrinkage = 150, [0.05, 0.1, 0.4][seed], 0.01
    X, _ = stream(seed, n=n)
    rng = np.random.default_rng(seed)
    model = RakerRegressor(
        GRID, n_components=20, shrinkage=shrinkage, eta0=eta, power_t=0.0, random_state=seed
    )
    model.partial_fit(X[:1], [0.0])  # forecasts stay 0: the start in earnest comes next
    F, y, f = np.empty((n, 4)), np.empty(n), np.empty(n)
    norms_sq, weights = np.empty((n, 4)), np.empty((n, 4))
    for t in range(n):
        row = X[t : t + 1]
        F[t], f[t], weights[t] = (
            model.predict_experts(row)[0],
            model.predict(row)[0],
            model.weights_,
        )
        norms_sq[t] = np.sum(model._state["experts"]["theta"] ** 2, axis=1)
        y[t] = rng.uniform() if seed == 2 else float(f[t] < 0.5)
        model.partial_fit(row, y[t : t + 1])
    L = (F - y[:, None]) ** 2 + shrinkage * norms_sq  # eq. (8)'s, penalty included
    second = eta / 2 * np.sum(weights * L**2)
    regret = np.sum((f - y) ** 2) - L.sum(axis=0).min()
    assert regret <= np.log(4) / eta + second
    lower = np.sum(weights * L) - L.sum(axis=0).min()
    assert lower <= np.log(4) / eta + second
    for k, omega in enumerate(model.frequencies_):
        Z = np.hstack([np.sin(X @ omega), np.cos(X @ omega)]) / np.sqrt(10)
        rival = np.linalg.solve(Z.T @ Z + n * shrinkage * np.eye(20), Z.T @ y)
        rival_loss = np.sum((Z @ rival - y) ** 2) + n * shrinkage * rival @ rival
        # the gradient 2 (f - y) z + 2 lambda theta, with a z of norm one
        gradients_sq = 4 * np.sum(
            (F[:, k] - y) ** 2
            + 2 * shrinkage * (F[:, k] - y) * F[:, k]
            + shrinkage**2 * norms_sq[:, k]
        )
        assert L[:, k].sum() - rival_loss <= rival @ rival / (2 * eta) + eta / 2 * gradients_sq


def test_omkr_of_one_kernel_is_kogd_with_half_the_step():
    X, y = stream(7)
    one = OMKRRegressor({"kernel": ["laplacian"], "gamma": [0.7]}, eta0=0.4)
    alone = KOGDRegressor("laplacian", 0.7, eta0=0.2)
    assert_allclose(
        one.prequential_predict(X, y), alone.prequential_predict(X, y), rtol=1e-10, atol=1e-14
    )
    assert_allclose(one.dual_coef_[0], alone.dual_coef_, rtol=1e-10, atol=1e-14)


def test_a_forecast_does_not_depend_on_its_own_target():
    X, y = stream(8, n=40)
    wild = y.copy()
    wild[-1] = 1e12
    for class_ in (OMKRRegressor, RakerRegressor, RFOMKRRegressor):
        a, b = (
            class_(
                GRID, **({} if class_ is OMKRRegressor else {"random_state": 0})
            ).prequential_predict(X, targets)
            for targets in (y, wild)
        )
        assert_array_equal(a, b)


def test_bad_parameters_have_a_sentence():
    X, y = stream(9, n=10)
    for model in (
        OMKRRegressor(GRID, discount=1.0),
        OMKRRegressor(GRID, eta0=0.0),
        RakerRegressor(GRID, shrinkage=-1.0),
        RFOMKRRegressor(GRID, "vote"),
    ):
        with pytest.raises(ValueError, match="must be"):
            model.fit(X, y)
    for class_ in (OMKRRegressor, RakerRegressor, RFOMKRRegressor):
        with pytest.raises(ValueError, match="does not have"):
            class_({"gamma": [1.0], "alpha": [1.0]}).fit(X, y)
        model = class_(GRID).fit(X, y).set_params(kernels={"gamma": [1.0]})
        with pytest.raises(ValueError, match="cannot change in mid-stream"):
            model.partial_fit(X, y)
    with pytest.raises(ValueError, match="Scale the features"):
        RFOMKRRegressor(GRID, "ogd", aggregator_eta0=1e3).fit(*stream(9, n=2000))


def test_raker_holds_its_coefficients_alone():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-0.5, 0.5, size=(1024, 5)), rng.uniform(size=1024)
    model = RakerRegressor(random_state=0).fit(X, y)
    size = sum(part.nbytes for part in model._state["experts"].values() if np.ndim(part))
    assert size == 76 * 100 * 8


def test_an_overflow_of_adaptive_steps_is_refused():
    X, y = np.eye(3), np.array([0.0, 1.0, 1e200])
    model = KOGDRegressor(radius=1.0, adaptive=True).fit(X[:2], y[:2])
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X[2:], y[2:])
    assert model.n_samples_seen_ == 2
