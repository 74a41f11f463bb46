"""Kernels of somebody else's, written with public imports alone, wherever ours serve."""

import pickle
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.gaussian_process import kernels as gaussian_process
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

from sklearn_okl import (
    FourierFeatures,
    KernelVAWRegressor,
    LKMBooksRegressor,
    MultiKernelRegressor,
    OKSRegressor,
    OMKLSFGRegressor,
    RFOKSRegressor,
    load,
    save,
)
from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.kernels import (
    RBF,
    DistanceKernel,
    Kernel,
    ShiftInvariantKernel,
    kernel_list,
    kernel_matrix,
)


class RationalQuadratic(DistanceKernel):
    """(1 + γ ‖δ‖² / (2α))^(−α).

    The mean of exp(−s τ) over τ from Gamma(α, rate α) is (1 + s / α)^(−α): with s = γ ‖δ‖² / 2 the
    kernel is a mean of Gaussians exp(−γ τ ‖δ‖² / 2), whose frequencies are N(0, γ τ I).
    """

    metric = "sqeuclidean"

    def __init__(self, gamma=None, alpha=1.0):
        super().__init__(gamma)
        self.alpha = alpha

    def values_at(self, distances, gamma, out=None):
        return (1 + gamma / (2 * self.alpha) * distances) ** -self.alpha

    def frequencies_at(self, points, gamma, rng):
        tau = rng.gamma(self.alpha, 1 / self.alpha, size=(len(points), 1))
        return np.sqrt(gamma * tau) * points


class Cosine(ShiftInvariantKernel):
    """cos(γ Σⱼ δⱼ), a function of no distance: every frequency is (γ, ..., γ) or its opposite."""

    def __call__(self, X, Y):
        return np.cos(self.gamma_for(X.shape[1]) * np.subtract.outer(X.sum(axis=1), Y.sum(axis=1)))

    def frequencies_at(self, points, gamma, rng):
        return gamma * np.sign(points[:, :1]) * np.ones_like(points)

    def width(self, n_features):
        return np.sqrt(n_features)


class Linear(Kernel):
    """x·y + 1, without a bandwidth."""

    def __call__(self, X, Y):
        return X @ Y.T + 1


OWN = [RationalQuadratic(0.4), RationalQuadratic(0.4, alpha=0.3), Cosine(0.4)]


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    return X, np.sin(X[:, 0]) + 0.3 * X[:, 1]


@pytest.mark.parametrize("d", [3, 30])
def test_values_are_those_of_scikit_learn(d):
    X, Y = np.random.default_rng(0).normal(size=(2, 8, d))
    for kernel in OWN[:2]:
        theirs = gaussian_process.RationalQuadratic(1 / np.sqrt(kernel.gamma), kernel.alpha)
        np.testing.assert_allclose(kernel(X, Y), theirs(X, Y), rtol=1e-10)
        np.testing.assert_allclose(kernel_matrix(X, Y, kernel=kernel), theirs(X, Y), rtol=1e-10)
        rows = sparse.csr_array(X)
        np.testing.assert_allclose(kernel_matrix(rows, Y, kernel=kernel), kernel(X, Y), rtol=1e-10)
    np.testing.assert_array_equal(
        kernel_matrix(sparse.csr_array(X), kernel=Cosine(0.4)), Cosine(0.4)(X, X)
    )


@pytest.mark.long(every=2)
@pytest.mark.parametrize("sampling", ["iid", "orthogonal", "qmc"])
@pytest.mark.parametrize("kernel", OWN, ids=repr)
def test_frequencies_are_unbiased(kernel, sampling):
    rng = np.random.RandomState(0)
    deltas = np.array([[0.3, -0.2, 0.1], [1.0, 0.5, 0.0], [-1.0, 1.0, 2.0]])
    draws = [
        kernel.sample_frequencies(3, 16, sampling=sampling, random_state=rng) for _ in range(400)
    ]
    estimates = np.array([np.cos(deltas @ W).mean(axis=1) for W in draws])
    error = np.abs(estimates.mean(axis=0) - kernel(deltas, np.zeros((1, 3)))[:, 0])
    assert (error <= 4 * estimates.std(axis=0) / 20 + 1e-12).all()


@pytest.mark.parametrize("kernel", OWN, ids=repr)
def test_random_features_are_the_kernel(kernel, stream):
    X, _ = stream
    features = FourierFeatures(kernel, n_components=20_000, random_state=0).fit(X)
    Z = features.transform(X[:40])
    np.testing.assert_allclose(Z @ Z.T, kernel(X[:40], X[:40]), atol=0.05)
    assert clone(features).kernel == kernel


@pytest.mark.long(every=8)
@pytest.mark.parametrize(
    ("estimator", "grows"),
    [
        (KernelVAWRegressor(RationalQuadratic(0.1)), True),
        (KernelVAWRegressor(Linear()), True),
        (MultiKernelRegressor([{"kernel": OWN}, {"gamma": [0.1]}], n_components=20), False),
        (OKSRegressor([{"kernel": OWN}, {"gamma": [0.1]}]), True),
        (LKMBooksRegressor([{"kernel": OWN}, {"gamma": [0.1]}], budget=20), False),
        (RFOKSRegressor([{"kernel": OWN}, {"gamma": [0.1]}], n_components=20), False),
    ],
    ids=["exact", "linear", "bank", "selection", "reservoir", "selection of features"],
)
def test_the_laws_hold(estimator, grows):
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    check_online_estimator(estimator, grows=grows)


def test_a_grid_of_strings_and_of_own_kernels(stream):
    X, y = stream
    grid = {"kernel": ["rbf", RationalQuadratic(alpha=0.5)], "gamma": [0.1, 1.0]}
    model = MultiKernelRegressor(grid, n_components=30, random_state=0).fit(X, y)
    own = [RationalQuadratic(gamma, alpha=0.5) for gamma in (0.1, 1.0)]
    assert [kernel["kernel"] for kernel in model.kernels_] == ["rbf", own[0], "rbf", own[1]]
    assert model.weights_.shape == (4,)


def test_kernels_of_one_kind_share_their_frequencies(stream):
    X, y = stream
    grid = {"kernel": [*(RationalQuadratic(gamma) for gamma in (0.1, 0.4)), *OWN[1:], Cosine(0.9)]}
    W = RFOKSRegressor(grid, n_components=4000, random_state=0).fit(X, y).frequencies_
    np.testing.assert_allclose(W[1], 2 * W[0])
    np.testing.assert_array_equal(np.abs(W[4]), 0.9)  # Cosine says nothing of a scale
    deltas = np.array([[0.3, -0.2, 0.1], [-1.0, 1.0, 2.0]])
    for kernel, frequencies in zip(grid["kernel"], W, strict=True):
        expected = kernel(deltas, np.zeros((1, 3)))[:, 0]
        np.testing.assert_allclose(np.cos(deltas @ frequencies).mean(axis=1), expected, atol=0.05)


def test_exact_selection_by_squared_distances_is_that_by_values(stream):
    class Plain(ShiftInvariantKernel):  # the same without saying that it is of a distance
        def __call__(self, X, Y):
            return RationalQuadratic(self.gamma)(X, Y)

        frequencies_at, width = None, None

    X, y = stream
    for class_ in (OKSRegressor, LKMBooksRegressor):
        forecasts = [
            class_({"kernel": [kind(0.1), kind(2.0)]}, random_state=0).prequential_predict(X, y)
            for kind in (RationalQuadratic, Plain)
        ]
        np.testing.assert_allclose(*forecasts, rtol=1e-8, atol=1e-10)


def test_an_own_kernel_is_a_value():
    kernel = OWN[1]
    assert pickle.loads(pickle.dumps(kernel)) == kernel
    assert repr(kernel) == "RationalQuadratic(gamma=0.4, alpha=0.3)"
    assert len(set(OWN)) == 3
    assert Linear() == Linear()
    assert kernel.name is None


def test_files_ask_whether_to_trust_it(stream, tmp_path):
    pytest.importorskip("skops")
    X, y = stream
    model = KernelVAWRegressor(RationalQuadratic(0.1)).fit(X[:80], y[:80])
    path, name = tmp_path / "model.skops", f"{__name__}.RationalQuadratic"
    with pytest.raises(ValueError, match="RationalQuadratic"):
        save(model, path)
    save(model, path, trusted=[name])
    again = load(path, trusted=[name])
    np.testing.assert_array_equal(again.predict(X), model.predict(X))


def test_what_an_own_kernel_does_wrong_is_named(stream):
    class Crooked(RBF):
        def frequencies_at(self, points, gamma, rng):
            return points.T

    class Row(Kernel):
        def __call__(self, X, Y):
            return X[:, 0]

    class Cornered(RBF):
        metric = "chebyshev"

    with pytest.raises(ValueError, match="Cornered has the metric 'chebyshev'; choose one of sqeu"):
        Cornered()
    with pytest.raises(ValueError, match=r"Crooked.frequencies_at returned shape \(3, 20\)"):
        Crooked(0.1).sample_frequencies(3, 20)
    with pytest.raises(ValueError, match=r"Row returned shape \(150,\); expected \(150, 150\)"):
        kernel_matrix(stream[0], kernel=Row())
    with pytest.raises(ValueError, match=r"Linear\(\) has no gamma; leave gamma out"):
        KernelVAWRegressor(Linear(), gamma=0.1).fit(*stream)
    with pytest.raises(ValueError, match=r"The kernel Linear\(\) is not shift-invariant"):
        kernel_list({"kernel": [Linear()]})
    with pytest.raises(ValueError, match="Distances between kernels are known for"):
        OMKLSFGRegressor({"kernel": OWN}).fit(*stream)
    model = OMKLSFGRegressor({"kernel": OWN}, distances=np.ones((3, 3)), n_components=10)
    assert model.fit(*stream).weights_.shape == (3,)


def of_two_rows(x, y):
    """As scikit-learn's KernelRidge calls a callable: with single rows (d,)."""
    return np.exp(-np.sum((x - y) ** 2)) + float(x @ y)


@pytest.mark.parametrize("shapes", [(5, 3), (4, 4), (1, 6), (2, 1)])
def test_a_kernel_of_two_rows_is_told_what_is_expected(shapes):
    """scikit-learn calls a callable with single rows, we with all of them."""
    X, Y = (np.random.default_rng(n).normal(size=(n, 3)) for n in shapes)
    for kernel in of_two_rows, lambda x, y: np.sum(x * y[:1]):
        with pytest.raises(ValueError, match=r"of two arrays of rows.*pairwise_kernels, metric=yo"):
            kernel_matrix(X, Y, kernel=kernel)
    K = kernel_matrix(X, Y, kernel=partial(pairwise_kernels, metric=of_two_rows))
    np.testing.assert_allclose(K, [[of_two_rows(x, y) for y in Y] for x in X])


def test_a_kernel_of_two_rows_serves_as_in_kernel_ridge():
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    ours = partial(pairwise_kernels, metric=of_two_rows)
    model = KernelVAWRegressor(kernel=ours, forecaster="ridge").fit(X, y)
    ridge = KernelRidge(kernel=of_two_rows, alpha=model.alpha).fit(X, y)
    np.testing.assert_allclose(model.predict(X), ridge.predict(X), rtol=1e-6)
