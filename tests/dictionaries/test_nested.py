import numpy as np
import pytest

from sklearn_okl import kernels
from sklearn_okl.dictionaries._nested import (
    CLOSE,
    DEPENDENT,
    JITTER,
    coordinates,
    first_novel,
    grow_basis,
    start_basis,
)

RBF = kernels.RBF(0.7)
KERNELS = [
    RBF,
    kernels.Laplacian(0.7),
    kernels.Polynomial(0.3, degree=4),
    kernels.exact_kernel(lambda X, Y: np.exp(X @ Y.T)),
]


def rows(n, seed=0, d=3):
    return np.random.default_rng(seed).uniform(-1, 1, (n, d))


def basis_of(kernel, X):
    basis = start_basis(X.shape[1])
    for x in X:
        grow_basis(kernel, basis, x)
    return basis


@pytest.mark.parametrize("kernel", KERNELS)
def test_coordinates_are_those_of_the_projections(kernel):
    S, X = rows(8), rows(20, 1)
    basis = basis_of(kernel, S)
    np.testing.assert_allclose(basis["factor"], np.linalg.cholesky(kernel(S, S)), atol=1e-10)
    Phi, distances = coordinates(kernel, basis, X)
    K = kernel(X, S)
    projections = K @ np.linalg.solve(kernel(S, S), K.T)
    np.testing.assert_allclose(Phi @ Phi.T, projections, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        distances, kernel.diagonal(X) - np.diag(projections), rtol=1e-7, atol=1e-9
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_an_empty_basis_spans_nothing(kernel):
    X = rows(5)
    Phi, distances = coordinates(kernel, start_basis(3), X)
    assert Phi.shape == (5, 0)
    np.testing.assert_array_equal(distances, kernel.diagonal(X))


def test_growing_appends_a_coordinate_and_keeps_the_others():
    S, X = rows(8), rows(20, 1)
    basis = basis_of(RBF, S[:-1])
    before, factor = coordinates(RBF, basis, X)[0], basis["factor"].copy()
    row = grow_basis(RBF, basis, S[-1])
    np.testing.assert_array_equal(row[:-1], basis["factor"][-1, :-1])
    np.testing.assert_allclose(row[-1], basis["factor"][-1, -1], rtol=1e-10)  # but for the jitter
    np.testing.assert_array_equal(factor, basis["factor"][:-1, :-1])
    after, distances = coordinates(RBF, basis, X)
    np.testing.assert_allclose(after[:, :-1], before, rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(coordinates(RBF, basis, S[-1:])[0][0], row, atol=1e-12)
    # the atoms themselves lie in the span
    assert coordinates(RBF, basis, S)[1].max() < 2 * JITTER
    assert distances.min() > 0


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_block_cannot_round_a_row_over_the_threshold(sign):
    basis, X = basis_of(RBF, rows(5)), rows(30, 1)
    exact = np.array([coordinates(RBF, basis, x[None])[1][0] for x in X])
    for i in range(len(X)):
        novelty = exact[i] - sign * 1e-13  # row i is novel for sign 1 only
        expected = np.flatnonzero(exact > novelty)[0] if (exact > novelty).any() else len(X)
        rounded = exact - sign * 0.5 * CLOSE  # on the other side of the threshold
        assert first_novel(RBF, basis, X, rounded, novelty) == expected
        # the control: trusting the block would err where row i decides
        if sign > 0 and expected == i:
            assert not rounded[i] > novelty


@pytest.mark.parametrize("novelty", [0.0, 1e-12])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e4])
def test_repeats_and_rows_in_the_span_are_not_novel(novelty, scale):
    kernel = kernels.Polynomial(scale)  # values up to 3e13, rank C(3 + 3, 3) = 20
    X = np.repeat(rows(200), 2, axis=0)
    basis = start_basis(3)
    for x in X:
        _, distances = coordinates(kernel, basis, x[None])
        if first_novel(kernel, basis, x[None], distances, novelty) == 0:
            assert distances[0] > DEPENDENT * kernel.diagonal(x[None])[0]
            grow_basis(kernel, basis, x)
    assert len(np.unique(basis["atoms"], axis=0)) == len(basis["atoms"])
    # the jitter leaves some room beside the rank, where few atoms must reach far
    assert len(basis["atoms"]) <= 25
    if scale == 1.0:
        assert len(basis["atoms"]) >= 20


def test_the_jitter_keeps_an_ill_conditioned_basis_exact():
    """Far rows that come late reach from atoms whose kernel matrix is singular in practice."""
    kernel = kernels.RBF(2.0)
    for seed in range(3):
        X = np.random.default_rng(seed).normal(size=(300, 1))
        basis = start_basis(1)
        for x in X:
            _, distances = coordinates(kernel, basis, x[None])
            if first_novel(kernel, basis, x[None], distances, 0.0) == 0:
                grow_basis(kernel, basis, x)
        Phi, _ = coordinates(kernel, basis, X)
        assert len(basis["atoms"]) > 30
        assert np.abs(kernel(X, X) - Phi @ Phi.T).max() < 1e-8


def test_a_factor_with_a_zero_on_its_diagonal_is_refused():
    basis = basis_of(RBF, rows(3))
    basis["factor"][1, 1] = 0.0
    with pytest.raises(np.linalg.LinAlgError, match="zero on its diagonal"):
        coordinates(RBF, basis, rows(2))
