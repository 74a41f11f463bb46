import warnings

import numpy as np
import pytest
from scipy import sparse, stats
from scipy.spatial.distance import cdist
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel, rbf_kernel
from sklearn.model_selection import ParameterGrid

from sklearn_okl import VAW2Regressor
from sklearn_okl.kernels import (
    KERNELS,
    RBF,
    SAMPLINGS,
    exact_kernel,
    kernel_list,
    kernel_matrix,
    paper_kernel_grid,
    sample_frequencies,
)

GAMMA = 0.7

# The law of one coordinate of a frequency, for gamma = GAMMA.
MARGINALS = {
    "rbf": stats.norm(scale=np.sqrt(2 * GAMMA)),
    "laplacian": stats.cauchy(scale=GAMMA),
    "matern12": stats.t(df=1, scale=GAMMA),
    "matern32": stats.t(df=3, scale=GAMMA),
    "matern52": stats.t(df=5, scale=GAMMA),
    "cauchy": stats.laplace(scale=GAMMA),
}


def scalar_kernel(name, x, y, gamma):
    """The formulas, one pair at a time."""
    delta = x - y
    r = gamma * np.sqrt(np.sum(delta**2))
    return {
        "rbf": np.exp(-gamma * np.sum(delta**2)),
        "laplacian": np.exp(-gamma * np.sum(np.abs(delta))),
        "matern12": np.exp(-r),
        "matern32": (1 + np.sqrt(3) * r) * np.exp(-np.sqrt(3) * r),
        "matern52": (1 + np.sqrt(5) * r + 5 * r**2 / 3) * np.exp(-np.sqrt(5) * r),
        "cauchy": np.prod(1 / (1 + gamma**2 * delta**2)),
    }[name]


@pytest.fixture
def XY():
    rng = np.random.RandomState(0)
    return rng.standard_normal((7, 3)), rng.standard_normal((5, 3))


# ----------------------------------------------------------------------------- exact kernels


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("gamma", [0.0, 0.3, 2.0])
def test_kernel_matrix_is_its_formula(kernel, gamma, XY):
    X, Y = XY
    expected = [[scalar_kernel(kernel, x, y, gamma) for y in Y] for x in X]
    np.testing.assert_allclose(
        kernel_matrix(X, Y, kernel=kernel, gamma=gamma), expected, rtol=1e-12
    )


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_matrix_of_one_set_of_rows(kernel, XY):
    X, _ = XY
    K = kernel_matrix(X, kernel=kernel)
    np.testing.assert_allclose(K, kernel_matrix(X, X.copy(), kernel=kernel), atol=1e-15)
    np.testing.assert_allclose(np.diag(K), 1, atol=1e-15)
    np.testing.assert_allclose(K, K.T, rtol=1e-14)
    assert np.linalg.eigvalsh(K).min() > 0


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernel_matrix_takes_sparse_rows(kernel, XY):
    X, Y = XY
    X = np.where(np.abs(X) < 0.8, 0, X)
    dense = kernel_matrix(X, Y, kernel=kernel, gamma=0.4)
    for A, B in [
        (sparse.csr_matrix(X), Y),
        (sparse.csr_matrix(X), sparse.csr_matrix(Y)),
        (X, sparse.csr_array(Y)),
    ]:
        np.testing.assert_allclose(kernel_matrix(A, B, kernel=kernel, gamma=0.4), dense, atol=1e-7)


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_agrees_with_scikit_learn(nu, XY):
    X, Y = XY
    kernel = f"matern{round(2 * nu)}2"
    expected = Matern(length_scale=1 / GAMMA, nu=nu)(X, Y)
    np.testing.assert_allclose(
        kernel_matrix(X, Y, kernel=kernel, gamma=GAMMA), expected, rtol=1e-12
    )


def test_matern_is_exact_for_rows_that_are_close():
    X = np.array([[1e3, 1e3]])
    Y = X + np.array([[3e-9, 4e-9]])
    distance = np.sqrt(np.sum((X - Y) ** 2))
    # k = exp(−r): its distance from 1 is r, lost when r² comes from inner products.
    error = 1 - kernel_matrix(X, Y, kernel="matern12", gamma=1.0)[0, 0]
    np.testing.assert_allclose(error, distance, rtol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 5.0, 20.0, 1e3, 1e5, 1e7])
@pytest.mark.parametrize("d", [3, 20, 100])
@pytest.mark.parametrize("kernel", KERNELS)
def test_an_offset_of_all_rows_changes_nothing(kernel, d, offset):
    X = np.random.default_rng(0).normal(size=(40, d)) + offset
    found = exact_kernel(kernel, 1 / d)
    expected = found(X - offset, X - offset)
    for K in (found(X, X.copy()), kernel_matrix(X, kernel=found), kernel_matrix(X, X.copy())):
        np.testing.assert_allclose(np.diag(K), 1.0, rtol=0, atol=1e-12)
    tolerance = 1e-12 + 1e-14 * offset  # of differences of the numbers themselves
    np.testing.assert_allclose(found(X, X), expected, rtol=0, atol=tolerance)
    np.testing.assert_allclose(kernel_matrix(X, kernel=found), expected, rtol=0, atol=tolerance)
    for i in (0, 17):  # whatever the cut
        np.testing.assert_allclose(found(X[i : i + 1], X), found(X, X)[i : i + 1], atol=1e-12)


@pytest.mark.parametrize("d", [3, 20])
def test_rows_far_off_are_told_apart_and_no_others(d):
    X = np.random.default_rng(0).normal(size=(6, d))
    X[2:4] += 1e8
    X[5] = 1e200
    K = RBF(1 / d)(X, X)
    np.testing.assert_allclose(K, np.exp(-cdist(X, X, "sqeuclidean") / d), rtol=0, atol=1e-12)
    np.testing.assert_allclose(K, kernel_matrix(X), rtol=0, atol=1e-12)


def test_default_gamma_is_that_of_pairwise(XY):
    X, Y = XY
    np.testing.assert_array_equal(kernel_matrix(X, Y), rbf_kernel(X, Y))
    np.testing.assert_array_equal(kernel_matrix(X, Y, kernel="laplacian"), laplacian_kernel(X, Y))
    np.testing.assert_allclose(
        kernel_matrix(X, Y, kernel="matern32"),
        kernel_matrix(X, Y, kernel="matern32", gamma=1 / 3),
    )


def test_callable_kernel(XY):
    X, Y = XY
    np.testing.assert_array_equal(kernel_matrix(X, Y, kernel=lambda A, B: A @ B.T), X @ Y.T)
    with pytest.raises(ValueError, match=r"shape \(7,\)"):
        kernel_matrix(X, Y, kernel=lambda A, B: A[:, 0])
    with pytest.raises(ValueError, match="gamma"):
        kernel_matrix(X, Y, kernel=lambda A, B: A @ B.T, gamma=1.0)


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"kernel": "gaussian"}, "Unknown kernel 'gaussian'.*rbf"),
        ({"gamma": -1.0}, "gamma must be"),
        ({"gamma": np.nan}, "gamma must be"),
        ({"gamma": "scale"}, "gamma must be"),
    ],
)
def test_kernel_matrix_rejects(options, match, XY):
    with pytest.raises(ValueError, match=match):
        kernel_matrix(*XY, **options)


# ------------------------------------------------------------------------- spectral sampling


@pytest.mark.long(every=3)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_marginals_of_a_coordinate(kernel, sampling):
    # One frequency of each of many draws: independent even where a draw's columns are not.
    # Columns 0 and 4 lie in different orthogonal blocks.
    rng = np.random.RandomState(3)
    draws = np.array(
        [
            sample_frequencies(
                3, 5, kernel=kernel, gamma=GAMMA, sampling=sampling, random_state=rng
            )[:, [0, 4]]
            for _ in range(400)
        ]
    )
    for coordinate, column in [(0, 0), (2, 0), (1, 1)]:
        sample = draws[:, coordinate, column]
        assert stats.kstest(sample, MARGINALS[kernel].cdf).pvalue > 1e-3


@pytest.mark.parametrize("kernel", KERNELS)
def test_marginals_of_a_large_draw(kernel):
    W = sample_frequencies(2, 20_000, kernel=kernel, gamma=GAMMA, random_state=1)
    for row in W:
        assert stats.kstest(row, MARGINALS[kernel].cdf).pvalue > 1e-3
    # Isotropic kernels turn: a projection has the coordinates' law. The products' do not.
    turned = stats.kstest(np.array([0.6, 0.8]) @ W, MARGINALS[kernel].cdf).pvalue
    assert (turned > 1e-3) == (kernel not in ("laplacian", "cauchy"))


@pytest.mark.long(every=3)
@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_frequencies_are_unbiased(kernel, sampling):
    rng = np.random.RandomState(7)
    deltas = np.array([[0.3, -0.2, 0.1], [1.0, 0.5, 0.0], [-1.0, 1.0, 2.0]])
    estimates = np.array(
        [
            np.cos(
                deltas
                @ sample_frequencies(
                    3, 16, kernel=kernel, gamma=GAMMA, sampling=sampling, random_state=rng
                )
            ).mean(axis=1)
            for _ in range(500)
        ]
    )
    exact = kernel_matrix(deltas, np.zeros((1, 3)), kernel=kernel, gamma=GAMMA)[:, 0]
    standard_error = estimates.std(axis=0, ddof=1) / np.sqrt(len(estimates))
    assert np.all(np.abs(estimates.mean(axis=0) - exact) < 4 * standard_error)


@pytest.mark.parametrize(("d", "m"), [(4, 4), (4, 11), (6, 2), (1, 3)])
def test_orthogonal_blocks(d, m):
    W = sample_frequencies(d, m, gamma=0.5, sampling="orthogonal", random_state=0)
    assert W.shape == (d, m)
    for start in range(0, m, d):
        block = W[:, start : start + d]
        gram = block.T @ block
        np.testing.assert_allclose(gram, np.diag(np.diag(gram)), atol=1e-12)


def test_orthogonal_lengths_are_chi():
    W = sample_frequencies(5, 2000, gamma=0.5, sampling="orthogonal", random_state=0)
    assert stats.kstest(np.linalg.norm(W, axis=0), stats.chi(5).cdf).pvalue > 1e-3


def test_qmc_fills_space_evenly():
    # 64 scrambled Sobol points put one value into each 64th of every axis.
    W = sample_frequencies(3, 64, gamma=0.5, sampling="qmc", random_state=0)
    for row in stats.norm.cdf(W):
        np.testing.assert_array_equal(np.sort(np.floor(row * 64)), np.arange(64))


@pytest.mark.parametrize("m", [1, 2, 3, 50, 64, 65])
def test_qmc_does_not_warn(m):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        W = sample_frequencies(2, m, kernel="laplacian", sampling="qmc", random_state=0)
    assert W.shape == (2, m)
    assert np.isfinite(W).all()


@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "qmc"])
def test_a_number_of_frequencies_of_numpy(sampling):
    W, expected = (
        sample_frequencies(2, m, sampling=sampling, random_state=0) for m in (np.int64(10), 10)
    )
    np.testing.assert_array_equal(W, expected)


def test_qmc_with_too_many_features():
    with pytest.raises(ValueError, match="21201 features, got 30000"):
        sample_frequencies(30_000, 2, sampling="qmc")


def test_product_kernels_keep_their_tails():
    class Points(np.random.RandomState):
        def standard_normal(self, size):
            return np.array([[0.0, 9.0], [-9.0, 1e-9]])

    tail = stats.norm.sf(9.0)  # 1e-19, which 1 − Φ(9) would round to zero
    laplacian = sample_frequencies(2, 2, kernel="laplacian", gamma=2.0, random_state=Points())
    np.testing.assert_allclose(laplacian[:, 0], [0, 2 / np.tan(np.pi * tail)], rtol=1e-12)
    np.testing.assert_allclose(laplacian[0, 1], -laplacian[1, 0], rtol=1e-15)
    assert 0 < laplacian[1, 1] < 1e-8
    cauchy = sample_frequencies(2, 2, kernel="cauchy", gamma=2.0, random_state=Points())
    np.testing.assert_allclose(cauchy[:, 0], [0, -2 * np.log(2 * tail)], rtol=1e-12)


def test_iid_takes_plain_draws():
    W = sample_frequencies(3, 4, gamma=2.0, random_state=5)
    G = np.random.RandomState(5).standard_normal((4, 3))
    np.testing.assert_array_equal(W, (2.0 * G).T)


@pytest.mark.parametrize("sampling", SAMPLINGS)
def test_draws_depend_on_the_seed_alone(sampling):
    def draw(seed):
        return sample_frequencies(3, 5, kernel="matern32", sampling=sampling, random_state=seed)

    np.testing.assert_array_equal(draw(0), draw(0))
    assert not np.array_equal(draw(0), draw(1))


@pytest.mark.parametrize("kernel", KERNELS)
def test_gamma_scales_the_frequencies(kernel):
    W1 = sample_frequencies(4, 6, kernel=kernel, gamma=1.0, random_state=0)
    W4 = sample_frequencies(4, 6, kernel=kernel, gamma=4.0, random_state=0)
    np.testing.assert_allclose(W4, (2 if kernel == "rbf" else 4) * W1)
    np.testing.assert_allclose(
        sample_frequencies(4, 6, kernel=kernel, random_state=0),
        sample_frequencies(4, 6, kernel=kernel, gamma=0.25, random_state=0),
    )
    assert not sample_frequencies(4, 6, kernel=kernel, gamma=0.0, random_state=0).any()


@pytest.mark.parametrize(
    ("arguments", "options", "match"),
    [
        ((0, 1), {}, "n_features must be"),
        ((2, 1.5), {}, "n_frequencies must be"),
        ((2, 2), {"sampling": "sobol"}, "Unknown sampling 'sobol'.*qmc"),
        ((2, 2), {"kernel": "linear"}, "Unknown kernel"),
        ((2, 2), {"kernel": lambda X, Y: X}, "Unknown kernel"),
        ((2, 2), {"gamma": -0.1}, "gamma must be"),
    ],
)
def test_sample_frequencies_rejects(arguments, options, match):
    with pytest.raises(ValueError, match=match):
        sample_frequencies(*arguments, **options)


# ------------------------------------------------------------------------------------- grids


def test_paper_kernel_grid():
    points = list(ParameterGrid(paper_kernel_grid()))
    assert [p["kernel"] for p in points] == ["rbf"] * 51 + ["laplacian"] * 25
    gammas = np.array([p["gamma"] for p in points])
    sigma_rbf, sigma_laplacian = np.sqrt(1 / (2 * gammas[:51])), 1 / gammas[51:]
    np.testing.assert_allclose(sigma_rbf**2, np.logspace(-2, 2, 51), rtol=1e-12)
    np.testing.assert_allclose(sigma_laplacian, np.logspace(-2, 2, 25), rtol=1e-12)


def test_kernel_list():
    assert kernel_list() == list(ParameterGrid(paper_kernel_grid()))
    assert kernel_list({"gamma": np.array([1, 2.5])}) == [
        {"kernel": "rbf", "gamma": 1.0},
        {"kernel": "rbf", "gamma": 2.5},
    ]
    assert kernel_list([{"kernel": ["cauchy"]}, {"gamma": [None], "alpha": [0.1, 1]}]) == [
        {"kernel": "cauchy", "gamma": None},
        {"kernel": "rbf", "gamma": None, "alpha": 0.1},
        {"kernel": "rbf", "gamma": None, "alpha": 1.0},
    ]


@pytest.mark.parametrize(
    ("grid", "match"),
    [
        ([], "empty"),
        ({"kernel": ["gauss"]}, "Unknown kernel 'gauss'"),
        ({"kernel": ["rbf"], "sigma": [1.0]}, r"'gamma' and 'alpha'; got \['sigma'\]"),
        ({"gamma": [1.0, -1.0]}, "gamma must be"),
        ({"gamma": [np.inf]}, "gamma must be"),
        ({"alpha": [0.0]}, "alpha must be"),
        ({"gamma": []}, "gamma"),
    ],
)
def test_kernel_list_rejects(grid, match):
    with pytest.raises(ValueError, match=match):
        kernel_list(grid)


@pytest.mark.parametrize("kernels", [[0.1, 1], [["rbf"]], ("rbf",), [{"gamma": [1.0]}, None]])
def test_what_is_no_grid_is_told_what_a_grid_is(kernels):
    X = np.random.default_rng(0).normal(size=(10, 2))
    with pytest.raises(TypeError, match="is no grid of kernels: give a dict of lists"):
        VAW2Regressor(kernels).fit(X, X[:, 0])
