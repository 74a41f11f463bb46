"""The bounds against the printed formulas, and against runs that they must hold for."""

import numpy as np
import pytest
from scipy.linalg import cholesky
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel

from sklearn_okl.evaluation import (
    concatenated_vaw_loss_bound,
    kernel_ridge_comparator,
    kernel_vaw_regret_bound,
    regret,
    ridge_comparator,
    vaw2_loss_bound,
    vaw_ewa_loss_bound,
    vaw_logdet_bound,
    vaw_regret_bound,
)

LOSS_BOUNDS = [concatenated_vaw_loss_bound, vaw2_loss_bound, vaw_ewa_loss_bound]


# ---- the right-hand sides as printed, with one lambda and one half before every loss ----


def printed_2_5(T, m, Y, rho, lam, w2):
    return lam / 2 * w2 + m * Y**2 / 2 * np.log(1 + rho**2 * T / (lam * m))


def printed_theorem_1(T, N, m, Y, lam, f2):
    return (lam / 2 + N * T) * f2 / m + N * m * Y**2 / 2 * np.log(1 + 2 * T / lam)


def printed_theorem_2(T, N, m, Y, lam, f2):
    first = lam / 2 + (lam / 2 + T) * f2 / m + m * Y**2 / 2 * np.log(1 + 2 * T / lam)
    inner = 2 * T * (T + 1) + 2 * m * T * np.log(1 + 2 * T / lam)
    return first + N * Y**2 / 2 * np.log(1 + Y**2 / lam * inner)


def printed_theorem_2_clipped(T, N, m, Y, lam, f2):
    first = (lam / 2 + T) * f2 / m + m * Y**2 / 2 * np.log(1 + 2 * T / lam)
    return first + lam / 2 + N * Y**2 / 2 * np.log(1 + Y**2 * T / lam)


def printed_theorem_3(T, N, m, Y, lam, f2):
    first = 4 * Y**2 * np.log(N) + (lam / 2 + T) * f2 / m
    return first + m * Y**2 / 2 * np.log(1 + 2 * T / lam)


@pytest.mark.parametrize("T", [1, 10, 100_000])
@pytest.mark.parametrize(("Y", "lam", "f2"), [(1.0, 1.0, 1.0), (0.3, 5.0, 7.0), (20.0, 0.1, 0.0)])
def test_the_bounds_are_twice_the_printed_right_hand_sides(T, Y, lam, f2):
    N, m = 3, 40
    args = {"n_kernels": N, "n_components": m, "y_bound": Y, "alpha": lam / m, "norm_sq": f2}
    np.testing.assert_allclose(
        vaw_regret_bound(T, n_features=m, y_bound=Y, feature_bound=2.5, alpha=lam, norm_sq=f2),
        2 * printed_2_5(T, m, Y, 2.5, lam, f2),
    )
    np.testing.assert_allclose(
        concatenated_vaw_loss_bound(T, **args), 2 * printed_theorem_1(T, N, m, Y, lam, f2)
    )
    np.testing.assert_allclose(
        vaw2_loss_bound(T, aggregator_alpha=lam, **args),
        2 * printed_theorem_2(T, N, m, Y, lam, f2),
    )
    np.testing.assert_allclose(
        vaw2_loss_bound(T, aggregator_alpha=lam, clipped=True, **args),
        2 * printed_theorem_2_clipped(T, N, m, Y, lam, f2),
    )
    np.testing.assert_allclose(
        vaw_ewa_loss_bound(T, **args), 2 * printed_theorem_3(T, N, m, Y, lam, f2)
    )


def test_theorem_2_with_two_ridges_is_put_together_from_the_vaw_bound():
    """Second level at Z_T of (3.20), expert at its expected penalty and approximation error."""
    T, N, D, Y, alpha, alpha2, f2, rho = 500, 4, 30, 2.0, 0.7, 3.0, 1.5, 1.0
    growth = vaw_regret_bound(T, n_features=D, y_bound=Y, feature_bound=rho, alpha=alpha)
    for clipped, z2 in ((False, N * (2 * (T * Y**2 + growth) + 2 * Y**2)), (True, N * Y**2)):
        second = vaw_regret_bound(
            T, n_features=N, y_bound=Y, feature_bound=np.sqrt(z2), alpha=alpha2, norm_sq=1.0
        )
        np.testing.assert_allclose(
            vaw2_loss_bound(
                T,
                n_kernels=N,
                n_components=D,
                y_bound=Y,
                norm_sq=f2,
                alpha=alpha,
                aggregator_alpha=alpha2,
                clipped=clipped,
                feature_bound=rho,
                comparator_loss=9.0,
            ),
            9.0 + second + growth + alpha * f2 + T * 2 * f2 / D,
        )


@pytest.mark.parametrize("bound", LOSS_BOUNDS)
def test_loss_bounds_grow_with_the_horizon_and_have_the_unit_of_squared_targets(bound):
    args = {"n_kernels": 5, "n_components": 20, "y_bound": 1.5, "norm_sq": 2.0, "alpha": 0.4}
    horizons = np.array([0, 1, 5, 100, 10_000, 10**8])
    values = bound(horizons, **args)
    assert np.all(np.isfinite(values))
    assert np.all(np.diff(values) > 0)
    assert [bound(int(T), **args) for T in horizons] == pytest.approx(list(values))
    assert isinstance(bound(5, **args), float)

    c = 7.0  # targets in another unit: y, f and the second level's ridge change, alpha does not
    scaled = {**args, "y_bound": c * 1.5, "norm_sq": c**2 * 2.0}
    if bound is vaw2_loss_bound:
        scaled["aggregator_alpha"] = c**2
    np.testing.assert_allclose(bound(horizons, **scaled), c**2 * values)
    np.testing.assert_allclose(bound(horizons, comparator_loss=3.0, **args), 3.0 + values)
    assert np.all(bound(horizons[1:], feature_bound=1.0, **args) < values[1:])


def test_clipping_and_exponential_weights_improve_the_bound():
    args = {"n_kernels": 76, "n_components": 100, "y_bound": 1.0, "norm_sq": 1.0}
    T = np.array([10, 1000, 10**6])
    ewa, clipped = vaw_ewa_loss_bound(T, **args), vaw2_loss_bound(T, clipped=True, **args)
    assert np.all(ewa < clipped)
    assert np.all(clipped < vaw2_loss_bound(T, **args))
    assert np.all(vaw2_loss_bound(T, **args) < concatenated_vaw_loss_bound(T, **args))


def test_bad_arguments_are_refused():
    with pytest.raises(ValueError, match="alpha"):
        vaw_regret_bound(5, n_features=2, y_bound=1.0, feature_bound=1.0, alpha=0.0)
    with pytest.raises(ValueError, match="horizon"):
        vaw_regret_bound(-1, n_features=2, y_bound=1.0, feature_bound=1.0)
    with pytest.raises(ValueError, match="norm_sq"):
        vaw_ewa_loss_bound(5, n_kernels=2, n_components=3, y_bound=1.0, norm_sq=np.nan)
    with pytest.raises(TypeError, match="n_components"):
        vaw2_loss_bound(5, n_kernels=2, n_components=2.5, y_bound=1.0, norm_sq=1.0)


# ---- the determinant ----


@pytest.mark.parametrize(("n", "d"), [(200, 3), (150, 70), (20, 90)])
def test_logdet_bound_is_the_determinant_after_every_row(n, d):
    X = np.random.default_rng(n).normal(size=(n, d))
    kept = X.copy()
    bounds = vaw_logdet_bound(X, y_bound=2.0, alpha=0.3, norm_sq=5.0)
    literal = [
        0.3 * 5.0 + 4.0 * np.linalg.slogdet(np.eye(d) + X[: t + 1].T @ X[: t + 1] / 0.3)[1]
        for t in range(n)
    ]
    np.testing.assert_allclose(bounds, literal, rtol=1e-10)
    np.testing.assert_array_equal(X, kept)
    rho = np.linalg.norm(X, axis=1).max()
    looser = vaw_regret_bound(
        np.arange(1, n + 1), n_features=d, y_bound=2.0, feature_bound=rho, alpha=0.3, norm_sq=5.0
    )
    assert np.all(bounds <= looser)


def test_logdet_bound_of_a_kernel_through_its_root():
    X = np.random.default_rng(3).normal(size=(80, 2))
    K = rbf_kernel(X, gamma=20.0)
    bounds = vaw_logdet_bound(cholesky(K + 1e-12 * np.eye(80), lower=True), y_bound=1.0, alpha=0.5)
    np.testing.assert_allclose(bounds[-1], np.linalg.slogdet(np.eye(80) + K / 0.5)[1], rtol=1e-9)


@pytest.mark.parametrize(
    ("scale", "alpha"), [(1e4, 1.0), (1e7, 1.0), (1.0, 1e-14), (1e8, 1.0), (1e15, 1.0)]
)
def test_logdet_bound_of_rows_far_longer_than_the_ridge(scale, alpha):
    X = scale * np.random.default_rng(0).normal(size=(300, 3))
    bounds = vaw_logdet_bound(X, y_bound=1.0, alpha=alpha)
    for t in (1, 2, 3, 64, 300):
        values = np.linalg.svd(X[:t], compute_uv=False)
        np.testing.assert_allclose(bounds[t - 1], np.log1p(values**2 / alpha).sum(), rtol=1e-9)
    assert np.all(np.diff(bounds) >= 0)


def test_logdet_bound_of_equal_columns_that_drown_the_ridge():
    bounds = vaw_logdet_bound(np.full((100, 2), 1e20), y_bound=1.0)
    assert np.isfinite(bounds).all()  # what rounding adds makes it larger
    assert np.all(bounds >= np.log(2e40 * np.arange(1.0, 101.0)) - 1e-9)


def test_eigenvalues_of_a_kernel_that_are_rounding_do_not_count():
    x = np.random.default_rng(0).normal(size=(200, 1))
    bound = kernel_vaw_regret_bound(x @ x.T, y_bound=1.0, alpha=1e-14)
    np.testing.assert_allclose(bound, np.log1p((x**2).sum() / 1e-14), rtol=1e-9)
    assert kernel_vaw_regret_bound(np.zeros((2, 2)), y_bound=1.0) == 0.0


# ---- the theorems on runs ----


def vaw_loop(Z, y, alpha, adversary=None):
    """Run (2.4A) literally; an adversary chooses each target after the forecast."""
    S, b = alpha * np.eye(Z.shape[1]), np.zeros(Z.shape[1])
    y, forecasts = y.copy(), np.empty(len(y))
    for t, z in enumerate(Z):
        S += np.outer(z, z)
        forecasts[t] = b @ np.linalg.solve(S, z)
        if adversary is not None:
            y[t] = adversary(forecasts[t])
        b += y[t] * z
    return forecasts, y


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("case", ["random", "linear", "adversary"])
def test_the_vaw_regret_stays_below_its_bounds_at_every_round(seed, case):
    rng = np.random.default_rng(seed)
    n, d, Y, alpha = 200, 3, 1.5, 0.5
    Z = rng.normal(size=(n, d))
    Z /= np.maximum(np.linalg.norm(Z, axis=1, keepdims=True), 1.0)
    y = rng.choice([-Y, Y], size=n)
    if case == "linear":
        y = np.clip(Z @ rng.normal(size=d) + rng.normal(scale=0.1, size=n), -Y, Y)
    adversary = (lambda p: -Y if p >= 0 else Y) if case == "adversary" else None
    forecasts, y = vaw_loop(Z, y, alpha, adversary)
    for ridge in (0.0, alpha):
        best = ridge_comparator(Z, y, alpha=ridge)
        running = regret(forecasts, y, comparator_losses=best.losses)
        sharp = vaw_logdet_bound(Z, y_bound=Y, alpha=alpha, norm_sq=best.norm_sq)
        assert np.all(running <= sharp + 1e-9)
        if case == "adversary" and ridge == alpha:
            assert running[-1] > 0.8 * sharp[-1]  # a constant a fifth smaller would be false
        loose = vaw_regret_bound(
            np.arange(1, n + 1),
            n_features=d,
            y_bound=Y,
            feature_bound=1.0,
            alpha=alpha,
            norm_sq=best.norm_sq,
        )
        assert np.all(sharp <= loose)


def test_the_vaw_bound_bites():
    """On a repeated row and random signs VAW gives up nearly all that the determinant allows.

    With z = 1 and y = Y with probability p, else -Y, the regret grows as 4 p (1 - p) Y^2 ln T.
    """
    T, Y = 3000, 1.0
    shares = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        y = np.where(rng.random(T) < rng.random(), Y, -Y)
        Z = np.ones((T, 1))
        forecasts = np.concatenate([[0.0], np.cumsum(y)[:-1]]) / (1.0 + np.arange(1, T + 1))
        np.testing.assert_allclose(forecasts[:30], vaw_loop(Z[:30], y[:30], 1.0)[0], atol=1e-12)
        best = ridge_comparator(Z, y)
        share = regret(forecasts, y, comparator_losses=best.losses)[-1]
        shares.append(share / vaw_logdet_bound(Z, y_bound=Y, norm_sq=best.norm_sq)[-1])
    assert max(shares) <= 1
    assert max(shares) > 0.9


def fourier(rng, kernel, d, D, form):
    """Return a map with scaled random features of the kernel at gamma = 0.5."""
    m = D if form == "phase" else D // 2
    W = rng.normal(size=(d, m)) if kernel is rbf_kernel else 0.5 * rng.standard_cauchy((d, m))
    if form == "phase":
        b = rng.uniform(0, 2 * np.pi, m)
        return lambda X: np.sqrt(2 / m) * np.cos(X @ W + b)
    return lambda X: np.hstack([np.sin(X @ W), np.cos(X @ W)]) / np.sqrt(m)


@pytest.mark.long
@pytest.mark.parametrize("form", ["phase", "paired"])
def test_lemma_1_holds_for_both_forms_with_2_over_n_components(form):
    """f = k(x0, .) has norm 1 and the random weights Phi(x0): mean square error at most 2 / D."""
    rng = np.random.default_rng(0)
    D, X = 10, rng.normal(size=(30, 2))
    errors, penalties = [], []
    for _ in range(3000):
        Z = fourier(rng, rbf_kernel, 2, D, form)(X)
        errors.append((Z @ Z[0] - rbf_kernel(X, X[:1], gamma=0.5)[:, 0]) ** 2)
        penalties.append(Z[0] @ Z[0])
    error = np.mean(errors, axis=0)
    assert np.all(error <= 2 / D)
    assert error.max() > 0.5 / D  # the 1/D is real
    np.testing.assert_allclose(np.mean(penalties), 1.0, rtol=0.05)


@pytest.mark.parametrize("form", ["phase", "paired"])
def test_theorems_1_2_3_hold_on_a_run(form):
    rng = np.random.default_rng(7)
    T, D, Y = 150, 20, 1.0
    rho = np.sqrt(2) if form == "phase" else 1.0
    X = rng.normal(size=(T, 2))
    y = np.clip(np.sin(2 * X[:, 0]) + rng.normal(scale=0.2, size=T), -Y, Y)
    kernels = [rbf_kernel, laplacian_kernel]
    losses = []
    for _ in range(4):
        Z = [fourier(rng, kernel, 2, D, form)(X) for kernel in kernels]
        experts = np.column_stack([vaw_loop(z, y, 1.0)[0] for z in Z])
        clipped = np.clip(experts, -Y, Y)
        past = np.vstack([np.zeros(2), np.cumsum((clipped - y[:, None]) ** 2, axis=0)[:-1]])
        weights = np.exp(-past / (8 * Y**2))
        ewa = (weights * clipped).sum(axis=1) / weights.sum(axis=1)
        runs = [vaw_loop(np.hstack(Z), y, 1.0)[0], vaw_loop(experts, y, 1.0)[0]]
        runs += [vaw_loop(clipped, y, 1.0)[0], ewa]
        losses.append([np.sum((run - y) ** 2) for run in runs])
    concatenated, vaw2, trunc, ewa = np.mean(losses, axis=0)
    args = {"n_kernels": 2, "n_components": D, "y_bound": Y, "feature_bound": rho}
    for alpha in (1.0, 2 * T / D):  # any f will do; these two make the right sides small
        for kernel in kernels:
            best = kernel_ridge_comparator(
                kernel(X, gamma=0.5), y, kernel="precomputed", alpha=alpha
            )
            f = {"norm_sq": best.norm_sq, "comparator_loss": best.losses.sum()}
            assert vaw2 <= vaw2_loss_bound(T, **args, **f)
            assert trunc <= vaw2_loss_bound(T, clipped=True, **args, **f)
            assert ewa <= vaw_ewa_loss_bound(T, **args, **f)
        both = sum(kernel(X, gamma=0.5) for kernel in kernels)
        best = kernel_ridge_comparator(both, y, kernel="precomputed", alpha=alpha)
        assert concatenated <= concatenated_vaw_loss_bound(
            T, norm_sq=best.norm_sq, comparator_loss=best.losses.sum(), **args
        )
