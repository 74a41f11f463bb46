from itertools import product
from math import comb, exp, factorial, sqrt

import numpy as np
import pytest
from scipy import sparse

from sklearn_okl.features import TaylorFeatures
from sklearn_okl.kernels import kernel_matrix


@pytest.mark.parametrize("d", [1, 2, 3, 5])
@pytest.mark.parametrize("degree", [0, 1, 2, 3, 6])
def test_powers_are_all_multi_indices_once_by_degree(d, degree):
    taylor = TaylorFeatures(degree=degree).fit(np.zeros((1, d)))
    expected = {k for k in product(range(degree + 1), repeat=d) if sum(k) <= degree}
    assert taylor.powers_.shape == (comb(d + degree, degree), d)
    assert np.issubdtype(taylor.powers_.dtype, np.integer)
    assert {tuple(k) for k in taylor.powers_.tolist()} == expected
    assert np.all(np.diff(taylor.powers_.sum(axis=1)) >= 0)
    assert len(taylor.get_feature_names_out()) == len(expected)


@pytest.mark.parametrize("d", [1, 2, 4])
@pytest.mark.parametrize("gamma", [None, 0.0, 0.2, 1.5])
def test_features_are_equation_6(d, gamma):
    X = np.random.RandomState(d).standard_normal((5, d))
    taylor = TaylorFeatures(gamma=gamma, degree=4).fit(X)
    Z = taylor.transform(X)
    sigma2 = d / 2 if gamma is None else np.inf if gamma == 0 else 1 / (2 * gamma)
    for i, x in enumerate(X):
        for j, k in enumerate(taylor.powers_):
            psi = [
                x[a] ** t
                / (sqrt(sigma2) ** t * sqrt(factorial(t)))
                * exp(-(x[a] ** 2) / (2 * sigma2))
                if t
                else exp(-(x[a] ** 2) / (2 * sigma2))
                for a, t in enumerate(k.tolist())
            ]
            np.testing.assert_allclose(Z[i, j], np.prod(psi), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 9])
@pytest.mark.parametrize("seed", range(3))
def test_inner_products_are_the_truncated_series(degree, seed):
    rng = np.random.RandomState(seed)
    X, Y = rng.standard_normal((8, 3)), rng.standard_normal((6, 3))
    gamma = 0.35
    taylor = TaylorFeatures(gamma=gamma, degree=degree).fit(X)
    S = 2 * gamma * X @ Y.T
    weights = np.exp(-gamma * np.add.outer((X**2).sum(axis=1), (Y**2).sum(axis=1)))
    series = sum(S**j / factorial(j) for j in range(degree + 1))
    products = taylor.transform(X) @ taylor.transform(Y).T
    np.testing.assert_allclose(products, weights * series, rtol=1e-12, atol=1e-14)

    error = np.abs(products - kernel_matrix(X, Y, gamma=gamma))
    remainder = np.abs(S) ** (degree + 1) / factorial(degree + 1) * np.exp(np.abs(S))
    assert np.all(error <= weights * remainder * (1 + 1e-9) + 1e-14)


def test_error_falls_with_the_degree():
    X = np.random.RandomState(0).uniform(-1, 1, (20, 2))
    K = kernel_matrix(X, gamma=0.5)
    errors = []
    for degree in range(13):
        Z = TaylorFeatures(gamma=0.5, degree=degree).fit_transform(X)
        errors.append(np.abs(Z @ Z.T - K).max())
    assert np.all(np.diff(errors) < 0)
    assert errors[0] > 0.1
    assert errors[-1] < 1e-8


def test_features_do_not_overflow():
    X = np.array([[1e3, -1e3], [1e160, 1.0], [1e308, 1e308], [0.0, 38.0]])
    taylor = TaylorFeatures(gamma=0.5, degree=100).fit(X)
    Z = taylor.transform(X)
    assert np.isfinite(Z).all()
    assert not Z[:3].any()
    # No feature exceeds its supremum, 1: Σ over one degree's squares is a Poisson weight.
    assert np.abs(Z).max() <= 1
    large = TaylorFeatures(gamma=1e8, degree=2).fit_transform(X)
    assert np.isfinite(large).all()


def test_one_input_of_high_degree_is_the_kernel():
    X = np.linspace(-12, 12, 25)[:, None]
    Z = TaylorFeatures(gamma=0.5, degree=400).fit_transform(X)
    np.testing.assert_allclose(Z @ Z.T, kernel_matrix(X, gamma=0.5), rtol=0, atol=1e-13)


def test_sparse_and_float32_rows():
    X = np.random.RandomState(0).standard_normal((6, 3))
    X[X < 0] = 0
    taylor = TaylorFeatures(degree=3).fit(X)
    Z = taylor.transform(X)
    np.testing.assert_array_equal(taylor.transform(sparse.csr_matrix(X)), Z)
    Z32 = taylor.transform(X.astype(np.float32))
    assert Z32.dtype == np.float32
    np.testing.assert_allclose(Z32, Z, rtol=1e-5)
    assert Z.flags.c_contiguous


def test_infeasible_dimension_is_refused():
    with pytest.raises(ValueError, match=r"degree 5 of 30 inputs have dimension 324632"):
        TaylorFeatures(degree=5).fit(np.zeros((2, 30)))
    with pytest.raises(ValueError, match="max_components=5"):
        TaylorFeatures(degree=2, max_components=5).fit(np.zeros((2, 2)))
    TaylorFeatures(degree=2, max_components=6).fit(np.zeros((2, 2)))
