"""Comparators against closed forms, and the regret."""

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.metrics.pairwise import rbf_kernel

from sklearn_okl.evaluation import (
    combination_comparator,
    effective_dimension,
    fused_ridge_comparator,
    kernel_ridge_comparator,
    regret,
    ridge_comparator,
    vaw_logdet_bound,
)


def stream(seed, n=60, d=4):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, d)), rng.normal(size=n)


@pytest.mark.parametrize("alpha", [0.0, 1e-6, 1.0, 100.0])
def test_ridge_comparator_is_the_minimiser(alpha):
    X, y = stream(0)
    X_kept, y_kept = X.copy(), y.copy()
    best = ridge_comparator(X, y, alpha=alpha)
    np.testing.assert_allclose(X.T @ (X @ best.coef - y) + alpha * best.coef, 0, atol=1e-11)
    np.testing.assert_allclose(best.losses, (X @ best.coef - y) ** 2)
    assert best.norm_sq == pytest.approx(np.sum(best.coef**2))
    assert best.objective == pytest.approx(best.losses.sum() + alpha * best.norm_sq)
    if alpha > 0:
        expected = Ridge(alpha=alpha, fit_intercept=False).fit(X, y).coef_
        np.testing.assert_allclose(best.coef, expected, rtol=1e-8)
    np.testing.assert_array_equal(X, X_kept)
    np.testing.assert_array_equal(y, y_kept)


@pytest.mark.parametrize("shape", [(30, 6), (5, 12)])
def test_ridge_comparator_without_ridge_has_the_smallest_norm(shape):
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=shape), rng.normal(size=shape[0])
    X[:, -1] = X[:, 0]  # singular
    best = ridge_comparator(X, y)
    np.testing.assert_allclose(best.coef, np.linalg.pinv(X) @ y, atol=1e-12)


@pytest.mark.parametrize("alpha", [1e-3, 1.0, 50.0])
def test_kernel_comparator_of_the_linear_kernel_is_the_ridge_comparator(alpha):
    X, y = stream(2)  # the kernel matrix has rank 4 of 60
    linear = ridge_comparator(X, y, alpha=alpha)
    kernel = kernel_ridge_comparator(X @ X.T, y, kernel="precomputed", alpha=alpha)
    np.testing.assert_allclose(X.T @ kernel.dual_coef, linear.coef, rtol=1e-8)
    np.testing.assert_allclose(kernel.losses, linear.losses, rtol=1e-7, atol=1e-12)
    assert kernel.norm_sq == pytest.approx(linear.norm_sq, rel=1e-6)
    assert kernel.objective == pytest.approx(linear.objective, rel=1e-9)


@pytest.mark.parametrize("alpha", [0.0, 1e-12, 1e-9])
def test_kernel_comparator_survives_a_singular_kernel_and_hardly_any_ridge(alpha):
    X, y = stream(3)
    linear = ridge_comparator(X, y)
    kernel = kernel_ridge_comparator(X @ X.T, y, kernel="precomputed", alpha=alpha)
    np.testing.assert_allclose(X.T @ kernel.dual_coef, linear.coef, rtol=1e-6)
    assert kernel.norm_sq == pytest.approx(linear.norm_sq, rel=1e-6)


def test_kernel_comparator_counts_a_ridge_that_is_small_beside_the_trace():
    eigenvalues, y = np.array([1e10, 1.0, 1e-2]), np.array([3.0, -2.0, 1.0])
    best = kernel_ridge_comparator(np.diag(eigenvalues), y, kernel="precomputed", alpha=1.0)
    np.testing.assert_allclose(best.dual_coef, y / (eigenvalues + 1.0), rtol=1e-9)


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_kernel_comparator_of_the_gaussian_kernel(alpha):
    X, y = stream(4)
    best = kernel_ridge_comparator(X, y, kernel="rbf", gamma=0.5, alpha=alpha)
    model = KernelRidge(alpha=alpha, kernel="rbf", gamma=0.5).fit(X, y)
    K = rbf_kernel(X, gamma=0.5)
    np.testing.assert_allclose(best.dual_coef, model.dual_coef_, rtol=1e-7)
    np.testing.assert_allclose(best.forecasts, model.predict(X), rtol=1e-7, atol=1e-9)
    assert best.norm_sq == pytest.approx(best.dual_coef @ K @ best.dual_coef)
    assert best.objective == pytest.approx(alpha * y @ best.dual_coef)  # value at the minimum
    precomputed = kernel_ridge_comparator(K, y, kernel="precomputed", alpha=alpha)
    np.testing.assert_allclose(precomputed.losses, best.losses, rtol=1e-6, atol=1e-12)


def test_kernel_comparator_interpolates_at_alpha_0():
    X, y = stream(5, n=20)
    best = kernel_ridge_comparator(rbf_kernel(X, gamma=2.0), y, kernel="precomputed", alpha=0.0)
    np.testing.assert_allclose(best.forecasts, y, rtol=1e-8)
    assert best.norm_sq == pytest.approx(y @ np.linalg.solve(rbf_kernel(X, gamma=2.0), y))


@pytest.mark.parametrize("alpha", [0.0, 0.5])
def test_a_matrix_that_is_no_kernel_is_refused(alpha):
    K = np.diag([1.0, -1.0])
    with pytest.raises(ValueError, match="not positive semi-definite"):
        kernel_ridge_comparator(K, [1.0, 2.0], kernel="precomputed", alpha=alpha)
    with pytest.raises(ValueError, match="square"):
        kernel_ridge_comparator(np.ones((2, 3)), [1.0, 2.0], kernel="precomputed")


def test_bad_ridge_is_refused():
    with pytest.raises(ValueError, match="alpha"):
        ridge_comparator([[1.0]], [1.0], alpha=-1.0)
    with pytest.raises(ValueError, match="alpha"):
        effective_dimension([[1.0]], alpha=0.0)


@pytest.mark.parametrize("alpha", [1e-2, 1.0, 30.0])
@pytest.mark.parametrize("shape", [(40, 3), (6, 20)])
def test_effective_dimension(alpha, shape):
    X = np.random.default_rng(6).normal(size=shape)
    K = X @ X.T
    dimension = effective_dimension(X, alpha)
    expected = np.trace(K @ np.linalg.inv(K + alpha * np.eye(len(K))))
    assert dimension == pytest.approx(expected, rel=1e-9)
    assert effective_dimension(K, alpha, kernel="precomputed") == pytest.approx(dimension)
    assert 0 < dimension < min(shape)
    log_det = vaw_logdet_bound(X, y_bound=1.0, alpha=alpha)[-1]
    top = np.linalg.eigvalsh(K)[-1]
    assert dimension <= log_det <= dimension * np.log(np.e + np.e * top / alpha)


def test_effective_dimension_of_a_named_kernel():
    X = stream(7)[0]
    expected = effective_dimension(rbf_kernel(X, gamma=0.7), 0.1, kernel="precomputed")
    assert effective_dimension(X, 0.1, kernel="rbf", gamma=0.7) == pytest.approx(expected)


def test_regret_is_the_difference_of_running_sums():
    rng = np.random.default_rng(8)
    p, y, f = rng.normal(size=(3, 50))
    running = regret(p, y, comparator_forecasts=f)
    literal = [np.sum((p - y)[:t] ** 2) - np.sum((f - y)[:t] ** 2) for t in range(1, 51)]
    np.testing.assert_allclose(running, literal, atol=1e-12)
    np.testing.assert_array_equal(running, regret(p, y, comparator_losses=(f - y) ** 2))


def test_regret_leaves_out_a_cold_start_and_nothing_else():
    y = np.ones(4)
    losses = np.full(4, 0.25)
    cold = regret([np.nan, np.nan, 0.0, 0.0], y, comparator_losses=losses)
    np.testing.assert_allclose(cold, [0, 0, 0.75, 1.5])
    failed = regret([0.0, np.nan, 0.0, 0.0], y, comparator_losses=losses)
    np.testing.assert_array_equal(np.isnan(failed), [False, True, True, True])


def test_regret_refuses_what_it_cannot_compare():
    with pytest.raises(ValueError, match="not both"):
        regret([0.0], [1.0])
    with pytest.raises(ValueError, match="not both"):
        regret([0.0], [1.0], comparator_losses=[0.0], comparator_forecasts=[0.0])
    with pytest.raises(ValueError, match="inconsistent"):
        regret([0.0, 1.0], [1.0, 1.0], comparator_losses=[0.0])
    with pytest.raises(ValueError, match="one-dimensional"):
        regret([[0.0]], [[1.0]], comparator_losses=[0.0])


def test_regret_takes_what_comparators_return():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40)
    for comparator in ridge_comparator, kernel_ridge_comparator:
        best = comparator(X, y)
        expected = regret(np.zeros(40), y, comparator_forecasts=best.forecasts)
        np.testing.assert_array_equal(regret(np.zeros(40), y, comparator_forecasts=best), expected)


def test_text_is_no_number_to_compare():
    X, labels = np.eye(3), np.array(["yes", "no", "yes"])
    for comparator in (ridge_comparator, kernel_ridge_comparator, combination_comparator):
        with pytest.raises(ValueError, match=r"there is text.*-1 and 1"):
            comparator(X, labels)
    with pytest.raises(ValueError, match=r"there is text.*-1 and 1"):
        fused_ridge_comparator(X, labels, fusion=1.0)
    with pytest.raises(ValueError, match=r"there is text.*-1 and 1"):
        regret(labels, labels, comparator_losses=np.zeros(3))
