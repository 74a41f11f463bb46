"""Kernel-AWV and PKAWV: oracles, published forecasts, theorems, stability."""

from math import comb

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.kernel_ridge import KernelRidge

from sklearn_okl._linalg import one_blas_thread
from sklearn_okl.algorithms._kernel_vovk import KernelVAWRegressor
from sklearn_okl.algorithms._projected_vovk import PKAWVClassifier, PKAWVRegressor
from sklearn_okl.evaluation._kernel_bounds import (
    kernel_vaw_regret_bound,
    pkawv_regret_bound,
    pkawv_taylor_degree,
)
from sklearn_okl.features import TaylorFeatures
from tests.oracles import kernel_vovk as oracle


@pytest.fixture(autouse=True)
def _one_thread():
    with one_blas_thread:  # thousands of small systems in the oracles
        yield


def stream(seed, n=150, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, np.sin(3 * X[:, 0]) + X[:, -1] ** 2 + 0.3 * rng.normal(size=n)


def rbf(gamma):
    return lambda X, Z: np.exp(-gamma * np.sum((X[:, None] - Z) ** 2, axis=-1))


def poly(X, Z):
    return (0.5 * X @ Z.T + 1.0) ** 3


KERNELS = {
    "rbf": ({"kernel": "rbf", "gamma": 0.5}, rbf(0.5)),
    "laplacian": (
        {"kernel": "laplacian", "gamma": 1.0},
        lambda X, Z: np.exp(-np.sum(np.abs(X[:, None] - Z), axis=-1)),
    ),
    "poly": ({"kernel": "poly", "gamma": 0.5, "degree": 3}, poly),
    "callable": ({"kernel": poly}, poly),
}


def in_pieces(model, X, y, ends=(1, 40, 41, 117)):
    pieces = zip((0, *ends), (*ends, len(y)), strict=True)
    return np.concatenate([model.prequential_predict(X[a:b], y[a:b]) for a, b in pieces])


def uniforms(seed, n):
    own = np.random.RandomState(seed).randint(2**31 - 1)
    return np.random.RandomState(own).uniform(size=n)


# The definitions


@pytest.mark.long(every=2)
@pytest.mark.parametrize("forecaster", ["vaw", "ridge"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", [0, 1])
def test_kernel_vaw_equals_the_definition(kernel, forecaster, seed):
    X, y = stream(seed)
    parameters, k = KERNELS[kernel]
    for alpha in (0.01, 1.0, 30.0):
        model = KernelVAWRegressor(**parameters, alpha=alpha, forecaster=forecaster)
        forecasts = in_pieces(model, X, y)
        assert_allclose(
            forecasts, oracle.kernel_awv(k(X, X), y, alpha, forecaster), rtol=1e-9, atol=1e-9
        )
        batch = KernelRidge(alpha=alpha, kernel="precomputed").fit(k(X, X), y)
        assert_allclose(model.dual_coef_, batch.dual_coef_, rtol=1e-9, atol=1e-9)
        assert_array_equal(model.X_fit_, X)


@pytest.mark.parametrize("class_", [KernelVAWRegressor, PKAWVRegressor])
def test_several_targets_are_several_models(class_):
    X, y = stream(2)
    Y = np.column_stack([y, np.cos(3 * y), X[:, 1]])
    arguments = {"random_state": 3} if class_ is PKAWVRegressor else {}
    model = class_("rbf", 1.0, **arguments)
    together = in_pieces(model, X, Y)
    for j, target in enumerate(Y.T):
        single = class_("rbf", 1.0, **arguments)
        assert_allclose(together[:, j], in_pieces(single, X, target), rtol=1e-9, atol=1e-11)
        assert_allclose(model.predict(X)[:, j], single.predict(X), rtol=1e-9, atol=1e-11)
    if class_ is KernelVAWRegressor:
        assert model.dual_coef_.shape == Y.shape
        assert_allclose(model.dual_coef_[:, 2], single.dual_coef_, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("forecaster", ["vaw", "ridge"])
@pytest.mark.parametrize(("d", "degree", "sigma"), [(1, 4, 1.0), (3, 2, 0.7), (4, 3, 2.0)])
def test_taylor_equals_algorithm_1(d, degree, sigma, forecaster):
    X, y = stream(d, d=d)
    powers = oracle.taylor_powers(d, degree)
    model = PKAWVRegressor(
        "rbf",
        1 / (2 * sigma**2),
        projection="taylor",
        degree=degree,
        alpha=0.3,
        forecaster=forecaster,
    )
    expected = oracle.algorithm_1(
        lambda x: oracle.taylor(x, powers, sigma), X, y, len(powers), 0.3, forecaster
    )
    assert_allclose(in_pieces(model, X, y), expected, rtol=1e-9, atol=1e-10)
    printed = oracle.algorithm_1(
        lambda x: oracle.printed_taylor(x, sigma, degree),
        X,
        y,
        sum(d**k for k in range(degree + 1)),
        0.3,
        forecaster,
    )
    assert_allclose(printed, expected, rtol=1e-9, atol=1e-10)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("forecaster", ["vaw", "ridge"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_nystroem_equals_the_definition(kernel, forecaster, seed):
    X, y = stream(seed)
    parameters, k = KERNELS[kernel]
    mu, beta, eps, alpha = [(1.0, 1.0, 0.5, 1.0), (1.5, 1.2, 0.2, 0.3), (3.0, 0.7, 0.5, 10.0)][seed]
    entered = oracle.kors(k(X, X), uniforms(seed, len(y)), mu, beta, eps)
    model = PKAWVRegressor(
        **parameters,
        alpha=alpha,
        forecaster=forecaster,
        random_state=seed,
        kors_mu=mu,
        kors_beta=beta,
        kors_eps=eps,
    )
    forecasts = in_pieces(model, X, y)
    expected = oracle.pkawv_nystroem(k(X, X), y, entered, alpha, forecaster)
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-9)
    if "poly" not in kernel and kernel != "callable":  # of finite rank: not every atom is needed
        assert_array_equal(model.components_, X[entered])
    assert 3 < sum(entered) < 120


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_nystroem_equals_algorithm_2(seed):
    X, y = stream(seed, n=200)
    # its recursion squares the condition: cholup in normal equations holds to 1e-8 here
    forecasts, atoms = oracle.algorithm_2(rbf(1.0), X, y, uniforms(seed, 200), alpha=0.5, mu=0.5)
    model = PKAWVRegressor("rbf", 1.0, alpha=0.5, kors_mu=0.5, random_state=seed)
    assert_allclose(model.prequential_predict(X, y), forecasts, rtol=1e-7, atol=1e-8)
    assert_array_equal(model.components_, X[atoms])


@pytest.mark.long
def test_more_rows_than_a_chunk():
    # chunks of past rows, windows of the sampler and rebuilds of the learner all end in here
    X, y = stream(3, n=2500)
    model = PKAWVRegressor("rbf", 0.3, kors_mu=2.0, random_state=0)
    whole = model.prequential_predict(X, y)
    entered = np.isin(X[:, 0], model.components_[:, 0])
    assert entered[1024:].any()
    Phi_rows = [1, 700, 1030, 2499]
    K = rbf(0.3)(X, X)
    for t in Phi_rows:
        atoms = np.flatnonzero(entered[: t + 1])
        values, vectors = np.linalg.eigh(K[np.ix_(atoms, atoms)])
        Phi = K[: t + 1][:, atoms] @ (vectors / np.sqrt(values))
        A = Phi.T @ Phi + np.eye(len(atoms))
        assert_allclose(whole[t], Phi[t] @ np.linalg.solve(A, Phi[:t].T @ y[:t]), rtol=1e-8)
    assert_allclose(in_pieces(clone(model), X, y, (1023, 1025, 2049)), whole, rtol=1e-9, atol=1e-10)


def test_beforehand_equals_the_definition_and_skips_rows_that_it_has():
    X, y = stream(4)
    D = np.random.default_rng(0).uniform(-1, 1, size=(12, 3))
    given = np.vstack([D, D[:5], D[3:4] + 1e-12])
    model = PKAWVRegressor("rbf", 0.5, projection="beforehand", dictionary=given, alpha=0.5)
    forecasts = in_pieces(model, X, y)
    assert_array_equal(model.components_, D)
    values, vectors = np.linalg.eigh(rbf(0.5)(D, D))
    Phi = rbf(0.5)(X, D) @ (vectors / np.sqrt(values))
    rows = iter(Phi)
    expected = oracle.algorithm_1(lambda _: next(rows), X, y, 12, 0.5)
    assert_allclose(forecasts, expected, rtol=1e-8, atol=1e-9)
    assert_allclose(clone(model).prequential_predict(X, y), forecasts, rtol=1e-9, atol=1e-10)


# Published forecasts, and limits


def test_golden_forecasts(golden):
    published = golden("airfoil_300_single_kernel")
    X, y = published["X"], published["y"]
    models = {
        "pkawv_taylor_degree_2": PKAWVRegressor("rbf", 0.5, projection="taylor"),
        "pkawv_taylor_degree_3": PKAWVRegressor("rbf", 0.5, projection="taylor", degree=3),
        "kernel_awv": KernelVAWRegressor("rbf", 0.5),
        "online_kernel_ridge": KernelVAWRegressor("rbf", 0.5, forecaster="ridge"),
    }
    for name, model in models.items():
        assert_allclose(in_pieces(model, X, y), published[name], rtol=1e-9, atol=1e-9, err_msg=name)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("gamma", [0.005, 0.5, 5.0])
def test_nystroem_tends_to_kernel_awv_as_mu_tends_to_0(gamma):
    X, y = stream(5, n=250)
    expected = oracle.kernel_awv(rbf(gamma)(X, X), y)
    gaps = []
    for mu in (1.0, 1e-2, 1e-4, 1e-9):
        model = PKAWVRegressor("rbf", gamma, kors_mu=mu, random_state=0)
        gaps.append(np.abs(model.prequential_predict(X, y) - expected).max())
    print(f"\nPKAWV-Nystroem to Kernel-AWV, gamma={gamma}:", *(f"{gap:.1e}" for gap in gaps))
    assert gaps[-1] < 1e-8
    assert gaps[-1] < gaps[0]
    model = PKAWVRegressor("rbf", gamma, projection="beforehand", dictionary=X)
    assert_allclose(model.prequential_predict(X, y), expected, rtol=0, atol=1e-8)


def test_taylor_tends_to_kernel_awv_as_the_degree_grows():
    X, y = stream(6, d=2)
    expected = KernelVAWRegressor("rbf", 0.5).prequential_predict(X, y)
    gaps = [
        np.abs(
            PKAWVRegressor("rbf", 0.5, projection="taylor", degree=M).prequential_predict(X, y)
            - expected
        ).max()
        for M in (1, 2, 4, 8, 14)
    ]
    print("\nPKAWV-Taylor to Kernel-AWV, M = 1, 2, 4, 8, 14:", *(f"{gap:.1e}" for gap in gaps))
    assert np.all(np.diff(gaps) < 0)
    assert gaps[-1] < 1e-9


def test_the_classifier_is_the_sign_of_the_regression():
    X, y = stream(7)
    labels = np.where(y > np.median(y), "up", "down")
    for arguments in ({"random_state": 0}, {"projection": "taylor"}):
        classifier = PKAWVClassifier("rbf", 0.5, **arguments)
        regressor = PKAWVRegressor("rbf", 0.5, **arguments)
        forecasts = regressor.prequential_predict(X, np.where(labels == "up", 1.0, -1.0))
        expected = np.where(forecasts > 0, "up", "down")
        assert_array_equal(classifier.prequential_predict(X, labels, ["up", "down"]), expected)
        assert_allclose(classifier.decision_function(X), regressor.predict(X), rtol=1e-12)
        assert not hasattr(classifier, "predict_proba")


# Theorems. The functions that bite most are those of ridge regression in hindsight:
# regret and alpha ||f||^2 together are then sum (y - forecast)^2 - alpha y'(K + alpha I)^-1 y.


def sharpest(K, y, forecasts, alpha):
    return np.sum((y - forecasts) ** 2) - alpha * y @ np.linalg.solve(K + alpha * np.eye(len(y)), y)


def adversarial(model, kind, seed, n=80, d=2, alpha=1.0, gamma=0.5):
    """Sequences in [-1, 1]^d x {-1, 1}; "greedy" picks the row that adds most to the left side."""
    rng = np.random.default_rng(seed)
    k, model = rbf(gamma), clone(model)
    X, y, forecasts = np.empty((n, d)), np.empty(n), np.empty(n)
    for t in range(n):
        candidates = rng.uniform(-1, 1, size=(1 if kind == "sign" else 30, d))
        f = model.predict(candidates) if t else np.zeros(len(candidates))
        targets = np.where(f <= 0, 1.0, -1.0)
        cross = k(X[:t], candidates)
        solved = np.linalg.solve(k(X[:t], X[:t]) + alpha * np.eye(t), np.c_[cross, y[:t]])
        ridge = cross.T @ solved[:, -1]
        rest = 1.0 - np.sum(cross * solved[:, :-1], axis=0)
        gain = (targets - f) ** 2 - alpha * (targets - ridge) ** 2 / (alpha + rest)
        best = np.argmax(gain)
        X[t], y[t], forecasts[t] = candidates[best], targets[best], f[best]
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    return X, y, forecasts


@pytest.mark.parametrize("kind", ["sign", "greedy"])
def test_proposition_1(kind):
    margins = []
    for seed, alpha in enumerate([0.1, 1.0, 5.0]):
        model = KernelVAWRegressor("rbf", 0.5, alpha=alpha)
        X, y, forecasts = adversarial(model, kind, seed, alpha=alpha)
        K = rbf(0.5)(X, X)
        left, bound = (
            sharpest(K, y, forecasts, alpha),
            kernel_vaw_regret_bound(K, y_bound=1.0, alpha=alpha),
        )
        assert left <= bound
        margins.append(1 - left / bound)
    print(f"\nProposition 1, {kind} adversary: margins", *(f"{margin:.3f}" for margin in margins))
    assert min(margins) < 0.5  # it bites


def test_online_kernel_ridge_breaks_proposition_1():
    def linear(X, Z):
        return X @ Z.T

    model = KernelVAWRegressor(linear, alpha=1e-3, forecaster="ridge")
    X = np.r_[np.full((3, 1), 1.0), np.full((40, 1), 40.0)]
    y, forecasts = np.empty(43), np.zeros(43)
    for t in range(43):
        forecasts[t] = model.predict(X[t : t + 1])[0] if t else 0.0
        y[t] = 1.0 if forecasts[t] <= 0 else -1.0
        model.partial_fit(X[t : t + 1], y[t : t + 1])
    K = linear(X, X)
    assert sharpest(K, y, forecasts, 1e-3) > kernel_vaw_regret_bound(K, y_bound=1.0, alpha=1e-3)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ["sign", "greedy"])
def test_theorem_3(kind):
    dictionary = np.random.default_rng(9).uniform(-1, 1, size=(6, 2))
    margins, sharper = [], []
    for seed, subspace in enumerate(
        [
            {"projection": "taylor", "degree": 1},
            {"projection": "taylor", "degree": 2},
            {"projection": "taylor", "degree": 4},
            {"projection": "beforehand", "dictionary": dictionary},
        ]
    ):
        for alpha in (0.3, 3.0):
            model = PKAWVRegressor("rbf", 0.5, alpha=alpha, **subspace)
            X, y, forecasts = adversarial(model, kind, seed, alpha=alpha)
            K = rbf(0.5)(X, X)
            if "degree" in subspace:
                Phi = TaylorFeatures(0.5, subspace["degree"]).fit_transform(X)
                projected = Phi @ Phi.T
            else:
                cross = rbf(0.5)(X, dictionary)
                inner = rbf(0.5)(dictionary, dictionary)
                projected = cross @ np.linalg.solve(inner, cross.T)
            mu = max(np.linalg.eigvalsh(K - projected)[-1], 0.0)
            left = sharpest(K, y, forecasts, alpha)
            bound = pkawv_regret_bound(K, residual=mu, y_bound=1.0, alpha=alpha)
            short = kernel_vaw_regret_bound(K, y_bound=1.0, alpha=alpha) + len(y) * mu / alpha
            assert left <= short * (1 + 1e-12) <= bound * (1 + 1e-9)
            margins.append(1 - left / bound)
            sharper.append(1 - left / short)
    print(
        f"\nTheorem 3, {kind} adversary: margins",
        *(f"{margin:.3f}" for margin in margins),
        "with n mu B^2 / alpha",
        *(f"{margin:.3f}" for margin in sharper),
    )
    assert min(margins) < 0.6


@pytest.mark.long
@pytest.mark.parametrize("kind", ["sign", "greedy"])
def test_theorem_4(kind):
    margins = []
    for seed, (sigma, alpha) in enumerate([(1.0, 1.0), (2.0, 0.3), (1.5, 3.0)]):
        gamma = 1 / (2 * sigma**2)
        degree = pkawv_taylor_degree(80, radius=1.42, gamma=gamma, alpha=alpha)
        assert degree == np.ceil(max(8 * 1.42**2 / sigma**2, 2 * np.log(80 / min(alpha, 1))))
        model = PKAWVRegressor("rbf", gamma, projection="taylor", degree=degree, alpha=alpha)
        X, y, forecasts = adversarial(model, kind, seed, alpha=alpha, gamma=gamma)
        K = rbf(gamma)(X, X)
        bound = 1.5 * kernel_vaw_regret_bound(K, y_bound=1.0, alpha=alpha)
        left = sharpest(K, y, forecasts, alpha)
        assert left <= bound
        margins.append(1 - left / bound)
    print(f"\nTheorem 4, {kind} adversary: margins", *(f"{margin:.3f}" for margin in margins))
    assert min(margins) < 0.7


def test_bounds_are_their_formulas():
    K = np.diag([3.0, 1.0])
    assert_allclose(
        kernel_vaw_regret_bound(K, y_bound=2.0, alpha=0.5, norm_sq=7.0), 3.5 + 4 * np.log(7 * 3)
    )
    assert_allclose(
        pkawv_regret_bound(K, residual=0.2, y_bound=2.0, alpha=0.5),
        4 * np.log(21) + 0.7 * 2 * 0.2 * 4 / 0.25,
    )
    with pytest.raises(ValueError, match="square"):
        kernel_vaw_regret_bound(np.ones((2, 3)), y_bound=1.0)
    with pytest.raises(ValueError, match="alpha"):
        pkawv_regret_bound(K, residual=0.2, y_bound=2.0, alpha=0.0)
    with pytest.raises(ValueError, match="radius"):
        pkawv_taylor_degree(10, radius=0.0, gamma=1.0)


# Stability


HARD = [
    KernelVAWRegressor(),
    PKAWVRegressor(random_state=0, kors_mu=1e-6),
    PKAWVRegressor(random_state=0),
]


@pytest.mark.long(every=2)
@pytest.mark.parametrize("sigma", [1e-3, 0.1, 1.0, 30.0, 1e3])
@pytest.mark.parametrize("model", HARD, ids=["exact", "nystroem 1e-6", "nystroem 1"])
def test_repeated_rows_near_duplicates_and_all_widths(model, sigma):
    X, y = stream(8, n=60, d=2)
    X = np.vstack([X, X[::-1], X + 1e-12, np.repeat(X[:1], 60, axis=0)])
    y = np.concatenate([y, -y, 2 * y, y])
    gamma = 1 / (2 * sigma**2)
    model = clone(model).set_params(gamma=gamma, alpha=0.1)
    forecasts = in_pieces(model, X, y)
    assert np.all(np.isfinite(forecasts))
    assert np.all(np.isfinite(model.predict(X + 1e-9)))
    if not isinstance(model, PKAWVRegressor) or model.kors_mu < 1e-3:
        expected = oracle.kernel_awv(rbf(gamma)(X, X), y, 0.1)
        # the Nystroem one leaves out what is beyond 1e-6 of the kernel, seen through 1 / alpha
        tolerance = 1e-9 if isinstance(model, KernelVAWRegressor) else 1e-4
        assert_allclose(forecasts, expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("alpha", [1e-20, 1e-14])
def test_a_ridge_below_rounding_is_no_failure(alpha):
    X, y = stream(9, n=80)
    X, y = np.vstack([X, X, X]), np.concatenate([y, y, y])
    for model in (
        KernelVAWRegressor("rbf", 1e-3, alpha=alpha),
        PKAWVRegressor("rbf", 1e-3, alpha=alpha, random_state=0, kors_mu=1e-6),
        PKAWVRegressor("rbf", 1e-3, alpha=alpha, projection="taylor"),
    ):
        forecasts = in_pieces(model, X, y)
        assert np.all(np.isfinite(forecasts))
        assert np.all(np.isfinite(model.predict(X)))


def test_the_basis_of_many_dependent_rows_keeps_the_kernel():
    # 300 atoms of a kernel matrix of numerical rank 100: a plain Cholesky factor that leaves out
    # pivots below 1e-10 ends with a projected kernel of 1e4 where 1 is right
    rng = np.random.default_rng(0)
    X = rng.integers(0, 7, size=(300, 5)) / 3.0 - 1.0
    y = rng.normal(size=300)
    expected = oracle.kernel_awv(rbf(0.125)(X, X), y)
    for arguments in ({"kors_mu": 1e-12}, {"projection": "beforehand", "dictionary": X}):
        model = PKAWVRegressor("rbf", 0.125, random_state=0, **arguments)
        assert_allclose(model.prequential_predict(X, y), expected, rtol=0, atol=1e-8)


def test_rows_on_which_the_kernel_is_zero():
    X, y = stream(10, n=100)
    X[:70] = 0.0
    model = PKAWVRegressor("poly", 1.0, degree=2, coef0=0.0, random_state=0)
    forecasts = in_pieces(model, X, y, ends=(1, 40, 41))
    assert_array_equal(forecasts[:70], 0.0)
    assert np.any(forecasts[70:] != 0.0)
    early = clone(model).fit(X[:50], y[:50])
    assert_array_equal(early.predict(X[:3]), 0.0)
    assert early.components_.shape == (0, 3)
    assert_allclose(early.predict(X[70:]), np.zeros(30), atol=1e-12)  # only zeros were learnt


def test_a_forecast_does_not_know_its_own_target():
    X, y = stream(11)
    huge = y.copy()
    huge[100] = 1e9
    for model in (KernelVAWRegressor(gamma=0.5), PKAWVRegressor(gamma=0.5, random_state=0)):
        plain = clone(model).prequential_predict(X, y)
        assert_allclose(model.prequential_predict(X, huge)[:101], plain[:101], rtol=1e-9)


@pytest.mark.slow
def test_a_hundred_thousand_rows_do_not_drift(full_size):
    n = 100_000 if full_size else 20_000
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(n, 3))
    X[::7] = X[0]
    y = np.sin(3 * X[:, 0]) + rng.normal(size=n)
    model = PKAWVRegressor("rbf", 0.5, projection="taylor", degree=4).fit(X, y)
    Z = TaylorFeatures(0.5, 4).fit_transform(X)
    theta = np.linalg.solve(Z.T @ Z + np.eye(Z.shape[1]), Z.T @ y)
    leverages = np.einsum("ij,ij->i", Z[:9], np.linalg.solve(Z.T @ Z + np.eye(35), Z[:9].T).T)
    assert_allclose(model.predict(X[:9]), Z[:9] @ theta / (1 + leverages), rtol=1e-9)


# Parameters


def test_infeasible_taylor_features_say_so():
    X, y = np.zeros((2, 30)), np.zeros(2)
    with pytest.raises(ValueError, match=rf"M = 5 of d = 30.*= {comb(35, 5)}"):
        PKAWVRegressor(projection="taylor", degree=5).fit(X, y)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"kernel": "laplacian", "projection": "taylor"}, "Gaussian"),
        ({"projection": "beforehand"}, "go together"),
        ({"dictionary": [[0.0, 1.0, 2.0]]}, "go together"),
        ({"projection": "beforehand", "dictionary": [[0.0]]}, "1 features, but X has 3"),
        (
            {
                "kernel": "poly",
                "coef0": 0.0,
                "projection": "beforehand",
                "dictionary": [[0.0, 0.0, 0.0]],
            },
            "zero on the whole dictionary",
        ),
        ({"kernel": poly, "gamma": 1.0}, "callable"),
        ({"kors_mu": 0.0}, "kors_mu"),
    ],
)
def test_errors(arguments, message):
    X, y = stream(0, n=5)
    with pytest.raises(ValueError, match=message):
        PKAWVRegressor(**arguments).fit(X, y)


def test_a_changed_dictionary_is_noticed_and_taylor_has_no_atoms():
    X, y = stream(0, n=20)
    model = PKAWVRegressor(projection="beforehand", dictionary=X[:4].tolist()).fit(X, y)
    model.partial_fit(X, y)
    model.set_params(dictionary=X[:5])
    with pytest.raises(ValueError, match="dictionary"):
        model.partial_fit(X, y)
    assert not hasattr(PKAWVRegressor(projection="taylor").fit(X, y), "components_")
