import pickle

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import kstest
from sklearn.base import clone

from sklearn_okl.features import FourierFeatures
from sklearn_okl.kernels import KERNELS, SAMPLINGS, kernel_list, kernel_matrix, sample_frequencies
from sklearn_okl.kernels._fourier import FourierBank, fourier_map

FORMS = ("paired", "phase")


def naive_map(X, W, n_components, phases=None):
    """The definition: sines and cosines."""
    angles, m = X @ W, W.shape[1]
    if phases is not None:
        return np.sqrt(2 / m) * np.cos(angles + phases)
    return (np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(m))[:, :n_components]


@pytest.fixture
def X():
    return np.random.RandomState(0).standard_normal((6, 3))


# -------------------------------------------------------------------------------- arithmetic


@pytest.mark.parametrize("magnitude", [0.0, 1e-300, 1e-8, 1.0, 1e3, 1e8, 1e15])
def test_half_angles_are_as_exact_as_sine_and_cosine(magnitude):
    angles = np.random.RandomState(0).standard_normal((20_000, 1)) * magnitude
    one = np.ones((1, 1))
    Z = fourier_map(angles, one, 2)
    np.testing.assert_allclose(Z, np.hstack([np.sin(angles), np.cos(angles)]), rtol=0, atol=1e-15)
    phase = np.array([1.234])
    expected = np.sqrt(2) * np.cos(angles + phase)
    # The sum of angle and phase is rounded at one half of its size here.
    atol = 3e-15 + 4e-16 * magnitude
    np.testing.assert_allclose(fourier_map(angles, one, 1, phase), expected, rtol=0, atol=atol)


def test_half_angles_where_the_tangent_has_its_poles_and_zeros():
    multiples = np.concatenate([np.arange(-5001, 5001), [10**6 + 1, 10**8 + 1]])
    angles = np.pi * multiples[:, None].astype(float)
    angles = np.vstack([angles, np.nextafter(angles, np.inf), np.nextafter(angles, -np.inf)])
    assert np.abs(np.tan(angles / 2)).max() > 1e15  # the poles are there
    Z = fourier_map(angles, np.ones((1, 1)), 2)
    np.testing.assert_allclose(Z, np.hstack([np.sin(angles), np.cos(angles)]), rtol=0, atol=1e-15)


@pytest.mark.parametrize(("n", "d", "m"), [(1, 1, 1), (700, 5, 50), (3, 2, 40_000), (40, 3, 999)])
@pytest.mark.parametrize("form", FORMS)
def test_map_is_its_definition_across_tiles(n, d, m, form):
    rng = np.random.RandomState(1)
    X, W = rng.standard_normal((n, d)), rng.standard_normal((4, d, m))
    phases = rng.uniform(0, 2 * np.pi, (4, m)) if form == "phase" else None
    for D in (m,) if form == "phase" else (2 * m, 2 * m - 1):
        Z = fourier_map(X, W, D, phases)
        assert Z.shape == (4, n, D)
        for k in range(4):
            b = None if phases is None else phases[k]
            # 1e-14: the products may be summed in another order.
            np.testing.assert_allclose(Z[k], naive_map(X, W[k], D, b), rtol=0, atol=1e-14)


def test_map_takes_any_leading_axes(X):
    W = np.random.RandomState(2).standard_normal((2, 4, 3, 5))
    b = np.random.RandomState(3).uniform(0, 6, (2, 4, 5))
    assert fourier_map(X, W[0, 0], 9).shape == (6, 9)
    assert fourier_map(X, W, 9).shape == (2, 4, 6, 9)
    np.testing.assert_array_equal(fourier_map(X, W, 9)[1, 2], fourier_map(X, W[1, 2], 9))
    np.testing.assert_array_equal(
        fourier_map(X, W, 5, b)[1, 2], fourier_map(X, W[1, 2], 5, b[1, 2])
    )
    np.testing.assert_array_equal(fourier_map(X, W[:, ::2], 9), fourier_map(X, W, 9)[:, ::2])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("as_sparse", [False, True])
def test_angles_that_overflow_are_read_as_zero(form, as_sparse):
    rows = np.array([[1e200, -1e200], [1.0, 2.0], [1e200, 0.0]])
    W = np.array([[1e200, 1.0, 1e200], [1e200, 1.0, 0.0]])
    phases = np.array([0.1, 0.2, 0.3]) if form == "phase" else None
    Z = fourier_map(
        sparse.csr_matrix(rows) if as_sparse else rows, W, 6 - 3 * (form == "phase"), phases
    )
    assert np.isfinite(Z).all()
    assert np.abs(Z).max() <= np.sqrt(2 / 3)
    angles = np.array([rows[1] @ W[:, 1], 0.0])  # a tame angle in an untamed row; an overflow
    picked = np.array([Z[1, 1], Z[2, 0]])
    expected = (
        np.sin(angles) / np.sqrt(3)
        if phases is None
        else np.sqrt(2 / 3) * np.cos(angles + phases[[1, 0]])
    )
    np.testing.assert_allclose(picked, expected, atol=1e-15)


# ------------------------------------------------------------------------------- transformer


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_components", [1, 2, 7, 100])
def test_transform_is_the_definition(form, n_components, X):
    features = FourierFeatures("cauchy", 0.5, n_components, form=form, random_state=0)
    Z = features.fit_transform(X)
    m = n_components if form == "phase" else (n_components + 1) // 2
    assert features.frequencies_.shape == (3, m)
    assert Z.shape == (6, n_components)
    assert len(features.get_feature_names_out()) == n_components
    phases = getattr(features, "phases_", None)
    assert (phases is None) == (form == "paired")
    expected = naive_map(X, features.frequencies_, n_components, phases)
    np.testing.assert_allclose(Z, expected, atol=1e-14)
    np.testing.assert_array_equal(
        features.frequencies_,
        sample_frequencies(3, m, kernel="cauchy", gamma=0.5, random_state=0),
    )


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("container", [sparse.csr_matrix, sparse.csc_array])
def test_sparse_rows_give_the_same_dense_features(form, container, X):
    X = np.where(X < 0, 0, X)
    features = FourierFeatures(n_components=9, form=form, random_state=0).fit(container(X))
    Z = features.transform(container(X))
    assert isinstance(Z, np.ndarray)
    np.testing.assert_allclose(Z, features.transform(X), atol=1e-15)


def test_float32_rows_are_computed_in_float64(X):
    features = FourierFeatures(gamma=50.0, random_state=0).fit(X)
    X32 = (1000 * X).astype(np.float32)
    Z = features.transform(X32)
    assert Z.dtype == np.float32
    np.testing.assert_array_equal(Z, features.transform(X32.astype(float)).astype(np.float32))


@pytest.mark.parametrize("form", FORMS)
def test_given_frequencies(form, X):
    W = np.random.RandomState(5).standard_normal((3, 4))
    features = FourierFeatures(n_components=99, form=form, frequencies=W, random_state=0).fit(X)
    Z = features.transform(X)
    assert Z.shape == (6, 8 if form == "paired" else 4)
    assert not np.shares_memory(features.frequencies_, W)
    W[:] = 0
    np.testing.assert_array_equal(features.transform(X), Z)


@pytest.mark.parametrize(
    ("W", "match"),
    [
        (np.zeros((2, 4)), r"shape \(2, 4\); expected \(3, m\)"),
        (np.zeros(3), r"shape \(3,\); expected \(3, m\)"),
        (np.zeros((3, 0)), r"shape \(3, 0\)"),
        (np.full((3, 2), np.nan), "NaN or infinity"),
    ],
)
def test_bad_frequencies(W, match, X):
    with pytest.raises(ValueError, match=match):
        FourierFeatures(frequencies=W).fit(X)


def test_refitting_in_another_form_forgets_the_phases(X):
    features = FourierFeatures(form="phase", n_components=4, random_state=0).fit(X)
    features.set_params(form="paired").fit(X)
    fresh = clone(features).fit(X)
    np.testing.assert_array_equal(features.transform(X), fresh.transform(X))
    assert not hasattr(features, "phases_")


def test_phases_are_uniform_on_the_circle(X):
    features = FourierFeatures(form="phase", n_components=2000, random_state=0).fit(X)
    assert kstest(features.phases_ / (2 * np.pi), "uniform").pvalue > 1e-3


def test_changed_parameters_wait_for_fit_and_pickling_keeps_all(X):
    features = FourierFeatures(n_components=5, random_state=0).fit(X)
    Z = features.transform(X)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(features)).transform(X), Z)
    features.set_params(n_components=8, form="phase")
    np.testing.assert_array_equal(features.transform(X), Z)


# --------------------------------------------------------------------------------- statistics


def expected_products(X, kernel, gamma, n_components, form):
    """The exact mean of Z Zᵀ; an odd paired map has one sine without its cosine."""
    K = kernel_matrix(X, kernel=kernel, gamma=gamma)
    if form == "phase" or n_components % 2 == 0:
        return K
    m = (n_components + 1) // 2
    sines = (K - kernel_matrix(X, -X, kernel=kernel, gamma=gamma)) / 2
    return ((m - 1) * K + sines) / m


@pytest.mark.long(every=5)
@pytest.mark.parametrize("n_components", [1, 5, 6])
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_inner_products_have_the_right_mean(kernel, form, n_components, X):
    sampling = SAMPLINGS[n_components % 3]
    rng = np.random.RandomState(11)
    features = FourierFeatures(
        kernel, 0.4, n_components, form=form, sampling=sampling, random_state=rng
    )
    products = []
    for _ in range(300):
        Z = features.fit_transform(X)
        products.append(Z @ Z.T)
    mean = np.mean(products, axis=0)
    standard_error = np.std(products, axis=0, ddof=1) / np.sqrt(len(products))
    bias = np.abs(mean - expected_products(X, kernel, 0.4, n_components, form))
    assert np.all(bias <= 4 * standard_error + 1e-14)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_error_falls_like_the_root_of_the_dimension(kernel, form):
    X = np.random.RandomState(0).standard_normal((30, 3))
    K = kernel_matrix(X, kernel=kernel, gamma=0.4)

    def mean_worst_error(D):
        errors = []
        for seed in range(12):
            Z = FourierFeatures(kernel, 0.4, D, form=form, random_state=seed).fit_transform(X)
            errors.append(np.abs(Z @ Z.T - K).max())
        return np.mean(errors)

    ratio = mean_worst_error(50) / mean_worst_error(3200)
    assert 8 / 1.5 < ratio < 8 * 1.5
    assert mean_worst_error(3200) < 0.12


@pytest.mark.parametrize("sampling", ["orthogonal", "qmc"])
def test_coupled_points_are_better_for_the_gaussian_kernel(sampling):
    X = np.random.RandomState(0).standard_normal((30, 8))
    K = kernel_matrix(X, gamma=0.1)

    def mean_square_error(sampling):
        errors = []
        for seed in range(40):
            features = FourierFeatures("rbf", 0.1, 64, sampling=sampling, random_state=seed)
            Z = features.fit_transform(X)
            errors.append(np.mean((Z @ Z.T - K) ** 2))
        return np.mean(errors)

    assert mean_square_error(sampling) < 0.9 * mean_square_error("iid")


# --------------------------------------------------------------------------------------- bank


GRID = kernel_list([{"gamma": [0.5, 2.0]}, {"kernel": ["laplacian", "matern52"]}])


@pytest.mark.parametrize("sampling", SAMPLINGS)
@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("n_components", [1, 7, 10])
def test_a_bank_is_its_single_maps(form, sampling, n_components, X):
    bank = FourierBank(GRID, n_components, form, sampling, None)
    state = bank.start(3, np.random.RandomState(4))
    Z = bank.transform(state, X)
    assert bank.n_features_out(state) == n_components
    assert Z.shape == (4, 6, n_components)
    rng = np.random.RandomState(4)
    for k, kernel in enumerate(GRID):
        single = FourierFeatures(
            **kernel, n_components=n_components, form=form, sampling=sampling, random_state=rng
        )
        np.testing.assert_allclose(Z[k], single.fit_transform(X), rtol=0, atol=1e-15)


@pytest.mark.parametrize("form", FORMS)
def test_a_bank_can_be_sliced(form, X):
    bank = FourierBank(GRID, 7, form, "iid", None)
    state = bank.start(3, np.random.RandomState(4))
    part = {name: array[1:3] for name, array in state.items()}
    np.testing.assert_array_equal(bank.transform(part, X), bank.transform(state, X)[1:3])
    assert set(state) == ({"frequencies"} if form == "paired" else {"frequencies", "phases"})


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("container", [list, np.array])
def test_a_bank_with_given_frequencies(form, container, X):
    W = np.random.RandomState(5).standard_normal((4, 3, 2))
    bank = FourierBank(GRID, 99, form, "iid", container(W))
    state = bank.start(3, np.random.RandomState(4))
    np.testing.assert_array_equal(state["frequencies"], W)
    assert not np.shares_memory(state["frequencies"], bank.frequencies[0])
    D = 4 if form == "paired" else 2
    assert bank.n_features_out(state) == D
    assert bank.transform(state, X).shape == (4, 6, D)


@pytest.mark.parametrize(
    ("W", "match"),
    [
        (np.zeros((3, 3, 2)), "for 3 kernels, but there are 4"),
        (np.zeros((4, 2, 2)), r"kernel 0 have shape \(2, 2\); expected\s+\(3, m\)"),
        ([np.zeros((3, 2))] * 3 + [np.zeros((3, 5))], "Kernel 3 has 5 frequencies"),
        ([np.zeros((3, 2))] * 3 + [np.full((3, 2), np.inf)], "kernel 3 contain NaN or inf"),
    ],
)
def test_a_bank_refuses_frequencies(W, match):
    with pytest.raises(ValueError, match=match):
        FourierBank(GRID, 4, "paired", "iid", W).start(3, np.random.RandomState(0))
