"""NONS-ALD and AOGD-ALD: oracles, published figures, theorems, stability, laws."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_okl._linalg import one_blas_thread
from sklearn_okl.algorithms._ald import AOGDALDRegressor, NONSALDRegressor
from sklearn_okl.algorithms._gradient import KOGDRegressor
from sklearn_okl.datasets import load_dataset
from sklearn_okl.dictionaries._nested import coordinates, first_novel, grow_basis, start_basis
from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.kernels import RBF, kernel_matrix
from tests.oracles import ald
from tests.oracles.newton import kons

BOTH = [NONSALDRegressor, AOGDALDRegressor]


def stream(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, -1] + 0.1 * rng.normal(size=n)


def in_two_calls(model, X, y, low):
    first = model.prequential_predict(X[:low], y[:low])
    return np.concatenate([first, model.prequential_predict(X[low:], y[low:])])


# Oracles


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    ("kernel", "gamma", "novelty"), [("rbf", 1.0, 0.01), ("laplacian", 0.5, 0.5)]
)
@pytest.mark.parametrize(
    "steps", [{}, {"mu": 0.1, "radius": 0.6}, {"mu": 5.0, "radius": 2.0, "y_bound": 0.3}]
)
@pytest.mark.parametrize("seed", [0, 1])
def test_nons_ald_equals_the_literal_loop(kernel, gamma, novelty, steps, seed):
    X, y = stream(seed)
    model = NONSALDRegressor(kernel, gamma, novelty=novelty, **steps)
    forecasts = in_two_calls(model, X, y, 13)
    steps = {"y_bound": steps.get("radius", 1.0)} | steps
    K = kernel_matrix(X, kernel=kernel, gamma=gamma)
    expected, S = ald.nons_ald(K, y, novelty, **steps)
    assert 10 < len(S) < 100
    assert_array_equal(model.components_, X[S])
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-11)
    if steps.get("radius") == 0.6:
        assert np.count_nonzero(np.abs(np.abs(forecasts) - 0.6) < 1e-12) > 5  # clipping bites


@pytest.mark.parametrize("budget", [None, 12, 0])
@pytest.mark.parametrize("radius", [0.3, 2.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_aogd_ald_equals_the_literal_loop(budget, radius, seed):
    X, y = stream(seed, n=100)
    model = AOGDALDRegressor("rbf", 1.0, novelty=0.2, radius=radius, budget=budget)
    forecasts = in_two_calls(model, X, y, 13)
    K = kernel_matrix(X, gamma=1.0)
    expected, S = ald.aogd_ald(K, y, 0.2, radius, np.inf if budget is None else budget)
    assert_array_equal(model.components_, X[S])
    assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-10)
    assert forecasts[0] == 0


def test_kernels_without_a_unit_diagonal():
    X, y = stream(2)
    for model, oracle in (
        (NONSALDRegressor("poly", 1.0, degree=2, novelty=0.01), ald.nons_ald),
        (AOGDALDRegressor("poly", 1.0, degree=2, novelty=0.01), ald.aogd_ald),
    ):
        forecasts = model.prequential_predict(X, y)
        expected, S = oracle((X @ X.T + 1) ** 2, y, 0.01)
        assert len(S) == 10  # the dimension of the kernel's space
        assert_array_equal(model.components_, X[S])
        assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-10)
        called = clone(model).set_params(kernel=lambda A, B: (A @ B.T + 1) ** 2, gamma=None)
        assert_allclose(called.prequential_predict(X, y), forecasts, rtol=1e-9, atol=1e-12)


def test_predict_is_the_expansion_in_kernel_functions():
    X, y = stream(3)
    for model in (
        NONSALDRegressor("rbf", 1.0, radius=5.0),
        AOGDALDRegressor("rbf", 1.0),
        AOGDALDRegressor("rbf", 1.0, budget=10),
    ):
        model.fit(X, y)
        K = kernel_matrix(X, model.components_, gamma=1.0)
        assert_allclose(model.predict(X), K @ model.dual_coef_, rtol=1e-9, atol=1e-11)


def test_nons_ald_with_every_row_is_kons():
    X, y = stream(4, n=60, d=6)
    K = kernel_matrix(X, gamma=0.5)
    # KONS's curvature 1 / (16 C^2) is 1 / (4 (U^2 + Y^2)) for Y^2 = 3 U^2
    model = NONSALDRegressor("rbf", 0.5, novelty=1e-9, radius=2.0, y_bound=2.0 * np.sqrt(3))
    forecasts = model.prequential_predict(X, y)
    assert len(model.components_) == 60
    assert np.abs(forecasts).max() < 2.0  # as eq. (12) projects in the old basis, KONS in the new
    assert_allclose(forecasts, kons(K, y, radius=2.0), rtol=1e-9, atol=1e-11)


def test_aogd_ald_with_every_row_or_no_budget_is_kogd():
    X, y = stream(5, n=200, d=6)
    exact = KOGDRegressor("rbf", 0.5, radius=2.0, adaptive=True).prequential_predict(X, y)
    for settings in ({"novelty": 1e-9}, {"budget": 0}):
        model = AOGDALDRegressor("rbf", 0.5, **settings)
        assert_allclose(model.prequential_predict(X, y), exact, rtol=1e-9, atol=1e-11)
        assert len(model.components_) == 200


def test_budget_and_threshold_follow_the_horizon():
    for d, horizon in ((1, 1), (5, 1503), (32, 8192), (90, 51630), (3, 10**12)):
        budget = AOGDALDRegressor(horizon=horizon)._budget(d)
        # the largest B with B^2 + d B <= d T: the test of novelty costs no more than a step
        assert budget**2 + d * budget <= d * horizon < (budget + 1) ** 2 + d * (budget + 1)
    X, y = stream(6)
    for class_ in BOTH:
        by_horizon = class_("rbf", 1.0, horizon=2500).fit(X, y)
        assert_array_equal(
            by_horizon.components_, class_("rbf", 1.0, novelty=0.01).fit(X, y).components_
        )
        assert len(class_("rbf", 1.0, horizon=3).fit(X, y).components_) > 0


def test_the_row_that_fills_the_budget_is_the_last_one_tested():
    X, y = stream(7)
    free = AOGDALDRegressor("rbf", 1.0, novelty=0.2).fit(X, y).components_
    assert len(free) < 40
    for budget in range(1, len(free)):
        model = AOGDALDRegressor("rbf", 1.0, novelty=0.2, budget=budget).fit(X, y)
        last = int(np.flatnonzero((free[budget - 1] == X).all(axis=1))[0])
        assert_array_equal(model.components_, np.vstack([free[:budget], X[last + 1 :]]))


# Published figures


@pytest.mark.parametrize(
    ("class_", "figure"), [(NONSALDRegressor, 0.0070250719), (AOGDALDRegressor, 0.0095759254)]
)
def test_figures_of_other_programs_on_airfoil(data_files, class_, figure):
    data_files("airfoil")
    X, y = load_dataset("airfoil", return_X_y=True)
    X = 2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1
    y = (y - y.min()) / np.ptp(y)
    model = class_("rbf", 1 / 8, horizon=len(y))
    mse = np.mean((model.prequential_predict(X, y) - y) ** 2)
    assert len(model.components_) == 37
    assert abs(mse - figure) < 1e-9


# Theorems


def greedy(model, X):
    """Targets that go where the forecast is not; forecasts."""
    y, state = np.empty(len(X)), model._start(X.shape[1])  # without the shell, which is slow
    forecasts = np.empty(len(X))
    with one_blas_thread:
        for t in range(len(X)):
            row = X[t : t + 1]
            forecasts[t] = model._forecast(state, row)[0]
            y[t] = -1.0 if forecasts[t] > 0 else 1.0
            model._learn(state, row, y[t : t + 1])
    return y, forecasts


def spectrum(K):
    with one_blas_thread:
        values, V = np.linalg.eigh(K)
    return np.maximum(values, 0), V


def rivals(values, V, y, radius):
    """Squared norms and losses of functions in the ball: ridge regression, and shrunk."""
    z = V.T @ y
    for ridge in np.logspace(-3, 4, 40):
        shares = values / (values + ridge)
        norm_sq = np.sum(values * (z / (values + ridge)) ** 2)
        shrink = min(1.0, radius / np.sqrt(norm_sq))
        yield shrink**2 * norm_sq, np.sum(((shrink * shares - 1) * z) ** 2)


def newton_bound(values, norm_sq, factor, mu, alpha, U=1.0, Y=1.0):
    """Theorem 4.6 as printed, but for the factor before the effective dimension."""
    T, dimension = len(values), np.sum(values / (values + mu / 2))
    return (
        (mu / 2 + T * alpha) * norm_sq
        + factor * dimension * (1 + np.log((2 * T + mu) / mu))
        + T**2 * np.sqrt(alpha) / np.sqrt(2 * mu)
        + np.sqrt(8 * (U**2 + Y**2) * norm_sq) * T * np.sqrt(alpha)
    )


def adversarial_rows(name, T):
    rng = np.random.default_rng(0)
    return {
        "one row": np.zeros((T, 1)),
        "five rows": 10.0 * np.arange(T)[:, None] % 50,
        "a line": rng.uniform(-1, 1, size=(T, 1)),
        "a square": rng.uniform(-1, 1, size=(T, 2)),
    }[name]


@pytest.mark.long(every=2)
@pytest.mark.parametrize("mu", [0.1, 1.0])
@pytest.mark.parametrize("rows", ["one row", "five rows", "a line", "a square"])
def test_corrected_theorem_4_6_holds(rows, mu):
    X, alpha = adversarial_rows(rows, 300), 1e-9
    values, V = spectrum(kernel_matrix(X, gamma=1.0))
    y, forecasts = greedy(NONSALDRegressor("rbf", 1.0, mu=mu, novelty=alpha), X)
    loss = np.sum((forecasts - y) ** 2)
    margin, regret, bound = min(
        (bound - (loss - rival), loss - rival, bound)
        for norm_sq, rival in rivals(values, V, y, 1.0)
        for bound in [newton_bound(values, norm_sq, 4.0, mu, alpha)]
    )
    print(f"\n{rows}, mu={mu}: regret {regret:.1f} <= {bound:.1f}")
    assert regret > 0
    assert margin >= 0


def test_theorem_4_6_as_printed_is_false():
    for T in (10, 30, 100, 300, 1000):
        X, alpha = np.zeros((T, 1)), 1e-12  # alpha_t is 0: any threshold does
        values = np.append(np.zeros(T - 1), float(T))  # of a matrix of ones
        y, forecasts = greedy(NONSALDRegressor("rbf", 1.0, novelty=alpha), X)
        mean = y.mean()  # the best rival, of norm |mean| < 1
        regret = np.sum((forecasts - y) ** 2) - np.sum((mean - y) ** 2)
        printed = newton_bound(values, mean**2, 0.5, 1.0, alpha)
        corrected = newton_bound(values, mean**2, 4.0, 1.0, alpha)
        print(f"\nT={T}: printed {printed:.2f}, regret {regret:.2f}, corrected {corrected:.2f}")
        assert printed < regret <= corrected


@pytest.mark.long(every=3)
@pytest.mark.parametrize("radius", [1.0, 2.0])
@pytest.mark.parametrize("novelty", [1 / 300, 25 / 300])
@pytest.mark.parametrize("rows", ["one row", "five rows", "a line", "a square"])
def test_inequality_behind_theorem_3_2(rows, novelty, radius):
    X, T = adversarial_rows(rows, 300), 300
    y, forecasts = greedy(AOGDALDRegressor("rbf", 1.0, novelty=novelty, radius=radius), X)
    L = np.sum((forecasts - y) ** 2)
    bound = radius * (2 * np.sqrt(1 + 4 * L) + 2 * np.sqrt(L) + 4 * np.sqrt(novelty * T * L))
    values, V = spectrum(kernel_matrix(X, gamma=1.0))
    regret = max(L - rival for _, rival in rivals(values, V, y, radius))
    print(f"\n{rows}, alpha={novelty:.3f}, U={radius}: regret {regret:.1f} <= {bound:.1f}")
    assert 0 < regret <= bound


def test_regret_of_aogd_ald_stays_small_where_the_rival_loses_nothing():
    rng = np.random.default_rng(0)
    sums = []
    for T in (500, 2000, 8000):
        X = rng.uniform(-1, 1, size=(T, 2))
        centres = rng.uniform(-1, 1, size=(5, 2))
        a = rng.normal(size=5)
        a /= np.sqrt(a @ kernel_matrix(centres, gamma=0.5) @ a)  # norm 1 < U
        y = kernel_matrix(X, centres, gamma=0.5) @ a
        model = AOGDALDRegressor("rbf", 0.5, novelty=1 / T, radius=2.0)
        sums.append(np.sum((model.prequential_predict(X, y) - y) ** 2))
    print(f"\ncumulative losses {np.round(sums, 2)} at T = 500, 2000, 8000")
    assert max(sums) < 2 * 2.0  # of the order of U + U^2, whatever T


@pytest.mark.parametrize("class_", BOTH)
def test_dictionary_grows_with_the_logarithm_where_the_spectrum_decays_exponentially(class_):
    # Lemma 3.1: |S| of the order of ln(R_0 / alpha), R_0 of the order of T
    X, y = stream(0, n=4000, d=1)
    alphas = 10.0 ** -np.arange(1, 9)
    sizes = [len(class_("rbf", 2.0, novelty=a).fit(X, y).components_) for a in alphas]
    steps = np.diff(sizes)
    print(f"\natoms {sizes} for alpha = 1e-1 ... 1e-8")
    assert steps.max() <= 2  # atoms for ten times the accuracy
    assert sizes[-1] <= 15
    by_rows = [
        len(class_("rbf", 2.0, horizon=n).fit(X[:n], y[:n]).components_) for n in (250, 4000)
    ]
    assert by_rows[1] - by_rows[0] <= 4


# Stability


@pytest.mark.long(every=2)
@pytest.mark.parametrize("class_", BOTH)
@pytest.mark.parametrize("novelty", [1e-12, 1e-6, None])
@pytest.mark.parametrize("sigma", [1e-3, 1e-1, 1.0, 1e1, 1e3])
def test_repeated_and_nearly_repeated_rows(class_, novelty, sigma):
    X, y = stream(0, n=150)
    X = np.repeat(X, 4, axis=0)
    X[1::4] += 1e-12
    y = np.repeat(y, 4)
    model = class_("rbf", 0.5 / sigma**2, novelty=novelty)
    forecasts = in_two_calls(model, X, y, 101)
    assert np.all(np.abs(forecasts) <= model.radius * (1 + 1e-9))
    assert len(model.components_) <= 450  # an exact repetition never enters
    if sigma >= 0.1:
        assert np.mean((forecasts - y) ** 2) < np.mean(y**2)
    again = clone(model).prequential_predict(X, y)
    assert_allclose(again, forecasts, rtol=1e-8, atol=1e-10)  # the cut at 101 does not show


@pytest.mark.long(every=2)
@pytest.mark.slow
@pytest.mark.parametrize("class_", BOTH)
def test_many_rows(class_, full_size):
    n = 100_000 if full_size else 8_000
    X, y = stream(0, n=n)
    model = class_("rbf", 1.0, horizon=n)
    forecasts = model.prequential_predict(X, y)
    late = np.mean((forecasts[-n // 10 :] - y[-n // 10 :]) ** 2)
    expected, S = getattr(ald, "nons_ald_by_row" if class_ is BOTH[0] else "aogd_ald_by_row")(
        X, y, 1.0, 25 / n
    )
    assert_array_equal(model.components_, S)
    assert_allclose(forecasts, expected, rtol=1e-6, atol=1e-7)
    assert late < 0.02  # 0.01 is noise


def test_overflow_is_refused():
    X, y = stream(0, n=20)
    for model in (NONSALDRegressor(), AOGDALDRegressor(), AOGDALDRegressor(budget=9)):
        model.fit(X, y)
        with pytest.raises(ValueError, match="overflow"):
            model.partial_fit(X, 1e200 * y)
        assert model.n_samples_seen_ == 20


# Laws


@pytest.mark.long(every=2)
@pytest.mark.parametrize(
    ("model", "grows"),
    [
        (NONSALDRegressor("laplacian", 0.2, mu=0.3, radius=2.0, y_bound=4.0, horizon=100), False),
        (AOGDALDRegressor(novelty=0.1), False),
    ],
)
def test_laws(model, grows):
    check_online_estimator(model, grows=grows)


@pytest.mark.parametrize("class_", BOTH)
def test_bad_parameters_are_refused(class_):
    X, y = stream(0, n=5)
    for bad in ({"novelty": 0.0}, {"horizon": 0}, {"radius": 0.0}):
        with pytest.raises(ValueError, match=next(iter(bad))):
            class_(**bad).fit(X, y)
    with pytest.raises(ValueError, match="gamma"):
        class_(lambda A, B: A @ B.T, 1.0).fit(X, y)


def test_novelty_of_a_block_is_that_of_its_rows():
    X, _ = stream(0, n=3000, d=5)
    kernel, basis = RBF(1.0), start_basis(5)
    atoms, rows = X[:100], X[100:164]
    for x in atoms:
        grow_basis(kernel, basis, x)
    loop = ald.NestedBasis(1.0, 2.0, 5)
    loop.atoms, loop.factor = atoms, np.asfortranarray(basis["factor"])
    Phi, distances = coordinates(kernel, basis, rows)
    assert_allclose([loop.meet(x)[0] for x in rows], Phi, rtol=1e-9, atol=1e-9)
    assert first_novel(kernel, basis, rows, distances, 2.0) == 64
