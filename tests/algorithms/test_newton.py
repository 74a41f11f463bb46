"""The kernel online Newton family against oracles, theorems and hard streams."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl._linalg import one_blas_thread
from sklearn_okl.algorithms._newton import (
    CONKONSRegressor,
    KONSRegressor,
    PROSNKONSRegressor,
    SketchedKONSRegressor,
)
from sklearn_okl.kernels import kernel_matrix
from tests.oracles.newton import kons, kons_gram, kors, nystroem_kons
from tests.states import opened

KERNELS = {
    "laplacian": {"kernel": "laplacian", "gamma": 1.0, "mu": 0.1},
    "matern32": {"kernel": "matern32", "gamma": 2.0, "mu": 0.5},
    "rbf": {"kernel": "rbf", "gamma": 0.3, "mu": 0.05, "radius": 2.0},
}
GROWING = [PROSNKONSRegressor, CONKONSRegressor]


@pytest.fixture(autouse=True)
def _one_thread():
    with one_blas_thread:  # the oracles' small systems are slow otherwise
        yield


def stream(seed, n=150, d=None):
    """Targets of which some are beyond the radius."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d or [2, 3, 4][seed % 3]))
    return X, 3 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=n)


def matrix(X, arguments):
    return kernel_matrix(X, kernel=arguments["kernel"], gamma=arguments["gamma"])


def drawn(seed, n):
    """The uniform numbers of n rows: of a generator that is seeded by the given one."""
    source = np.random.RandomState(seed)
    return np.random.RandomState(source.randint(2**31 - 1)).uniform(size=n)


def close(actual, expected, rtol=1e-9):
    assert_allclose(actual, expected, rtol=rtol, atol=rtol * np.abs(expected).max())


@pytest.mark.long(every=2)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_kons_equals_both_its_oracles(name, seed):
    arguments, (X, y) = KERNELS[name], stream(seed, d=20 if name == "rbf" else None)
    K, settings = matrix(X, arguments), (arguments["mu"], arguments.get("radius", 1.0))
    forecasts = KONSRegressor(**arguments).prequential_predict(X, y)
    close(forecasts, kons(K, y, *settings))
    close(forecasts, kons_gram(K, y, *settings))
    assert (np.abs(forecasts) > settings[1] * (1 - 1e-12)).any()


@pytest.mark.long(every=2)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_sketched_kons_equals_its_oracle(name, seed):
    arguments, (X, y) = KERNELS[name], stream(seed, d=20 if name == "rbf" else None)
    K, u = matrix(X, arguments), drawn(seed, len(y))
    law = {"kors_mu": 0.5, "kors_beta": 0.8, "kors_eps": 0.3}
    model = SketchedKONSRegressor(**arguments, keep_probability=0.2, **law, random_state=seed)
    forecasts = model.prequential_predict(X, y)
    keep = (u < 0.2) | kors(K, u, *law.values())
    assert_array_equal(model.kept_, np.flatnonzero(keep))
    assert (keep & (u >= 0.2)).any()
    assert 64 < keep.sum() < 128  # the factor has panels of 64 rows
    close(forecasts, kons(K, y, arguments["mu"], arguments.get("radius", 1.0), keep))


def test_sketched_kons_that_keeps_all_is_kons():
    X, y = stream(0)
    exact = KONSRegressor("laplacian", 1.0).prequential_predict(X, y)
    model = SketchedKONSRegressor("laplacian", 1.0, keep_probability=1.0, random_state=0)
    close(model.prequential_predict(X, y), exact, 1e-12)


@pytest.mark.parametrize("class_", [KONSRegressor, SketchedKONSRegressor])
def test_a_whole_number_as_the_ridge(class_):
    X, y = stream(0)
    assert_array_equal(class_(mu=10**30).fit(X, y).predict(X), class_(mu=1e30).fit(X, y).predict(X))


@pytest.mark.long(every=2)
@pytest.mark.parametrize("class_", GROWING)
@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_growing_bases_equal_the_nystroem_maps(class_, name, seed):
    arguments, (X, y) = KERNELS[name], stream(seed, d=20 if name == "rbf" else None)
    K, law = matrix(X, arguments), {"kors_mu": 5.0, "kors_beta": 0.8, "kors_eps": 0.3}
    model = class_(**arguments, **law, random_state=seed)
    forecasts = model.prequential_predict(X, y)
    entered = kors(K, drawn(seed, len(y)), *law.values())
    assert_array_equal(model.components_, X[entered])
    carry = class_ is CONKONSRegressor
    settings = arguments["mu"], arguments.get("radius", 1.0)
    close(forecasts, nystroem_kons(K, y, entered, carry, *settings))
    if carry:
        assert (np.abs(forecasts) > settings[1] * (1 - 1e-12)).any()


@pytest.mark.parametrize("class_", [KONSRegressor, SketchedKONSRegressor, *GROWING])
def test_dual_coefficients_say_what_is_forecast(class_):
    X, y = stream(1, n=150)
    random = {} if class_ is KONSRegressor else {"random_state": 0, "kors_mu": 3.0}
    model = class_("laplacian", 1.0, mu=0.1, **random).fit(X[:100], y[:100])
    basis = model.components_ if class_ in GROWING else model.X_fit_
    values = kernel_matrix(X, basis, kernel="laplacian", gamma=1.0) @ model.dual_coef_
    close(model.predict(X), np.clip(values, -1, 1))
    assert (np.abs(values) > 1).any() or class_ is PROSNKONSRegressor


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_an_entry_restarts_or_carries(seed):
    X, y = stream(seed, d=3)
    entered = np.flatnonzero(kors(matrix(X, KERNELS["laplacian"]), drawn(seed, len(y)), 5.0))
    last = entered[entered < 140][-1]
    for class_ in GROWING:
        model = class_(**KERNELS["laplacian"], kors_mu=5.0, random_state=seed)
        model.fit(X[:last], y[:last])
        before, asked = len(model.components_), model.predict(X[last:])
        forecast = model.prequential_predict(X[last : last + 1], y[last : last + 1])
        assert_allclose(forecast, asked[:1], rtol=1e-12)  # learnt in the old basis
        assert len(model.components_) == before + 1
        state, coef = opened(model._state["newton"]), model.dual_coef_
        if class_ is PROSNKONSRegressor:
            assert_array_equal(model.predict(X), np.zeros(len(X)))
            assert_array_equal(state["A"], 0.1 * np.eye(before + 1))
        else:
            assert np.abs(model.predict(X)).max() > 0.1
            assert_array_equal(state["A"][-1], [*np.zeros(before), 0.1])
            assert coef[-1] == 0.0


@pytest.mark.parametrize("class_", GROWING)
def test_dependent_rows_add_no_coordinate(class_):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(400, 3))
    y = X @ [0.5, -0.3, 0.1] + 0.2
    arguments = {"kors_beta": 1e6, "random_state": 0}  # every row enters
    model = class_("poly", 1.0, degree=1, **arguments)
    forecasts = model.prequential_predict(X, y)
    assert len(model.components_) == 4  # the dimension of affine functions
    assert len(model._state["rule"]["scales"]) == 400
    # the span is whole, so there is no more restart
    assert ((forecasts - y)[200:] ** 2).mean() < 1e-3 * y.var()
    model = class_("rbf", 1.0, **arguments).fit(np.tile(X[:5], (40, 1)), np.tile(y[:5], 40))
    assert len(model.components_) == 5
    # the zero of a homogeneous kernel does not enter, not even as the first row
    model = class_("poly", 1.0, degree=1, coef0=0.0, **arguments).fit(0 * X, y)
    assert model.components_.shape == (0, 3)
    assert_array_equal(model.predict(X), np.zeros(400))


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ["greedy", "noise", "constant"])
@pytest.mark.parametrize("radius", [1.0, 2.0])
def test_regret_of_kons_is_within_the_theorem(kind, radius):
    rng = np.random.default_rng(1)
    n, mu = 200, 1.0
    X = rng.uniform(-1, 1, size=(n, 2))
    K = kernel_matrix(X, gamma=0.2)
    model = KONSRegressor("rbf", 0.2, mu=mu, radius=radius)
    if kind == "greedy":
        y, forecasts = np.empty(n), np.empty(n)
        for t in range(n):
            forecast = model.predict(X[t : t + 1])[0] if t > 0 else 0.0
            y[t] = -radius if forecast > 0 else radius
            forecasts[t] = model.prequential_predict(X[t : t + 1], y[t : t + 1])[0]
    else:
        y = np.full(n, radius) if kind == "constant" else radius * rng.choice([-1.0, 1.0], size=n)
        forecasts = model.prequential_predict(X, y)
    coef = np.linalg.solve(K + mu / 2 * np.eye(n), y)
    coef /= max(1.0, np.abs(K @ coef).max() / radius)
    comparator = ((K @ coef - y) ** 2).sum()
    regret = ((forecasts - y) ** 2).sum() - comparator
    logdet = np.linalg.slogdet(np.eye(n) + K / mu)[1]
    bound = mu / 2 * coef @ K @ coef + 8 * radius**2 * logdet
    values = np.linalg.eigvalsh(K)
    effective = (values / (values + mu)).sum()
    print(f"{kind}, C={radius}: regret {regret:.1f}, bound {bound:.1f}, d_eff {effective:.1f}")
    assert regret <= bound
    assert logdet <= effective * (1 + np.log1p(values.max() / mu))
    if kind == "constant":
        assert (y**2).sum() - comparator > bound  # who does not learn breaks it


@pytest.mark.long(every=2)
@pytest.mark.parametrize("class_", [KONSRegressor, SketchedKONSRegressor, *GROWING])
@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e3])
def test_hard_streams(class_, sigma):
    X, y = stream(3, n=200, d=2)
    X[40:80] = X[:40]  # repeated
    X[80:120] = X[:40] + 1e-12  # and nearly so
    X[160:] = X[0]
    random = {} if class_ is KONSRegressor else {"random_state": 0}
    for mu in (1e-3, 1.0):
        arguments = {"gamma": 1 / (2 * sigma**2), "mu": mu}
        model = class_(**arguments, **random)
        forecasts = model.prequential_predict(X, y)
        assert np.abs(forecasts).max() <= 1 + 1e-12
        assert np.isfinite(model.dual_coef_).all()
        rows = class_(**arguments, **random)
        ends = [1, 2, 79, 81, 130, 200]
        cut = [rows.prequential_predict(X[a:b], y[a:b]) for a, b in pairwise([0, *ends])]
        close(np.concatenate(cut), forecasts, 1e-8)
        if class_ is KONSRegressor:
            K = kernel_matrix(X, gamma=1 / (2 * sigma**2))
            close(forecasts, kons_gram(K, y, mu), 1e-6)  # the oracle itself has no more digits


@pytest.mark.parametrize("class_", GROWING)
def test_long_streams(class_, full_size):
    n = 100_000 if full_size else 10_000
    X, y = stream(4, n=n, d=2)
    y /= 4
    model = class_("rbf", 0.5, kors_mu=10.0, random_state=0)
    forecasts = model.prequential_predict(X, y)
    J = len(model.components_)
    print(f"{class_.__name__}: {J} rows in the dictionary after {n}")
    assert 5 < J < 100
    state = opened(model._state["newton"])
    close(state["P"] @ state["A"], np.eye(J), 1e-8)
    if class_ is CONKONSRegressor:
        assert ((forecasts - y)[n // 2 :] ** 2).mean() < 1.5 * 0.075**2
