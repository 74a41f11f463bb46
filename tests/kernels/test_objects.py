"""Kernels as objects: equal to their strings to the bit, values themselves, at home everywhere."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

from sklearn_okl import (
    ALDNystroem,
    FOGDClassifier,
    FOGDRegressor,
    FourierFeatures,
    KernelVAWRegressor,
    KOGDRegressor,
    LKMBooksRegressor,
    MultiKernelRegressor,
    OKSRegressor,
    OMKLSFGRegressor,
    OMKRRegressor,
    OnlineNystroem,
    PKAWVRegressor,
    RakerRegressor,
    RFOKSRegressor,
    VAW2Regressor,
    load,
    save,
)
from sklearn_okl.evaluation import kernel_ridge_comparator
from sklearn_okl.kernels import (
    KERNELS,
    NAMED,
    RBF,
    SAMPLINGS,
    Cauchy,
    DistanceKernel,
    Kernel,
    Laplacian,
    Matern,
    Polynomial,
    ShiftInvariantKernel,
    exact_kernel,
    kernel_list,
    kernel_matrix,
    sample_frequencies,
)

OBJECTS = {
    "rbf": RBF(0.3),
    "laplacian": Laplacian(0.3),
    "matern12": Matern(0.3, nu=0.5),
    "matern32": Matern(0.3),
    "matern52": Matern(0.3, nu=2.5),
    "cauchy": Cauchy(0.3),
}
GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.05, 0.4]}  # the kernels change fastest
SAME_GRID = {"kernel": [RBF(0.05), Laplacian(0.05), RBF(0.4), Laplacian(0.4)]}
SAME_GRID_WITH_GAMMAS = {"kernel": [RBF(), Laplacian()], "gamma": [0.05, 0.4]}

each_kernel = pytest.mark.parametrize(("name", "kernel"), OBJECTS.items(), ids=OBJECTS)


@pytest.fixture(scope="module")
def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    return X, np.sin(2 * X[:, 0]) + 0.3 * X[:, 1] * X[:, 2]


# -------------------------------------------------------------------- the string and the object


def test_every_name_finds_its_object():
    assert set(OBJECTS) == set(KERNELS)
    assert {kernel.name for kernel in NAMED} == {*KERNELS, "poly"}
    for name, kernel in {**OBJECTS, "poly": Polynomial(0.3)}.items():
        assert kernel.name == name
        assert exact_kernel(name, 0.3) == kernel
        assert exact_kernel(name) == kernel.with_gamma(None)


@each_kernel
def test_values_are_those_of_the_string(name, kernel):
    rng = np.random.default_rng(1)
    for d in (1, 5, 30):
        X, Y = rng.normal(size=(9, d)), rng.normal(size=(7, d))
        sparse_rows = sparse.csr_array(np.where(np.abs(X) < 0.8, 0, X))
        for A, B in [(X, Y), (X, None), (sparse_rows, Y)]:
            np.testing.assert_array_equal(
                kernel_matrix(A, B, kernel=kernel), kernel_matrix(A, B, kernel=name, gamma=0.3)
            )
        fast = exact_kernel(name, 0.3)
        np.testing.assert_array_equal(kernel(X, Y), fast(X, Y))
        np.testing.assert_allclose(kernel(X, Y), kernel_matrix(X, Y, kernel=kernel), rtol=1e-12)
        np.testing.assert_array_equal(kernel.diagonal(X), np.ones(9))
        assert kernel(X, Y[:0]).shape == (9, 0)
        np.testing.assert_array_equal(kernel.with_gamma(None)(X, Y), kernel.with_gamma(1 / d)(X, Y))


@pytest.mark.parametrize("sampling", SAMPLINGS)
@each_kernel
def test_frequencies_are_those_of_the_string(name, kernel, sampling):
    for seed in (0, 1):
        options = {"sampling": sampling, "random_state": seed}
        expected = sample_frequencies(4, 9, kernel=name, gamma=0.3, **options)
        np.testing.assert_array_equal(sample_frequencies(4, 9, kernel=kernel, **options), expected)
        np.testing.assert_array_equal(kernel.sample_frequencies(4, 9, **options), expected)


@each_kernel
def test_frequencies_scale_with_the_bandwidth(name, kernel):
    unit = kernel.unit().sample_frequencies(4, 9, random_state=0)
    np.testing.assert_allclose(
        unit * kernel.frequency_scale(0.3), kernel.sample_frequencies(4, 9, random_state=0)
    )
    assert kernel.with_gamma(7.0).unit() == kernel.unit()


def test_a_bandwidth_means_the_same_in_any_dimension():
    # of standardised rows, the mean of the kernel's logarithm hardly depends on the dimension
    rng = np.random.default_rng(0)
    for kernel in OBJECTS.values():
        means = []
        for d in (20, 500):
            X, Y = rng.normal(size=(2, 40, d))
            K = kernel.with_gamma(0.5 / kernel.width(d))(X, Y)
            means.append(np.log(K).mean())
        assert means[0] == pytest.approx(means[1], rel=0.1), kernel


def test_a_polynomial_is_that_of_the_string(stream):
    X, y = stream
    expected = KernelVAWRegressor("poly", 0.2, degree=2, coef0=0.5).prequential_predict(X, y)
    kernel = Polynomial(0.2, degree=2, coef0=0.5)
    # the estimator's own degree and coef0 are those of the string
    got = KernelVAWRegressor(kernel, degree=7).prequential_predict(X, y)
    np.testing.assert_array_equal(got, expected)
    np.testing.assert_allclose(kernel.diagonal(X), np.diag(kernel(X, X)), rtol=1e-14)
    np.testing.assert_allclose(kernel_matrix(X, kernel="poly"), (X @ X.T / 4 + 1) ** 3)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelVAWRegressor("matern32", 0.2),
        KOGDRegressor("laplacian", 0.2, eta0=0.5),
        PKAWVRegressor("rbf", 0.2, random_state=0),
        PKAWVRegressor("rbf", 0.2, projection="taylor"),
        FOGDRegressor("cauchy", 0.2, n_components=20, random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_estimators_take_the_object(estimator, stream):
    X, y = stream
    expected = clone(estimator).prequential_predict(X, y)
    kernel = OBJECTS[estimator.kernel]
    for own, given in [(0.2, None), (None, 0.2), (0.2, 0.2)]:
        model = clone(estimator).set_params(kernel=kernel.with_gamma(own), gamma=given)
        np.testing.assert_array_equal(model.prequential_predict(X, y), expected)


def test_a_classifier_takes_the_object(stream):
    X, y = stream
    labels = y > 0
    model = FOGDClassifier(RBF(0.2), n_components=20, random_state=0)
    expected = FOGDClassifier("rbf", 0.2, n_components=20, random_state=0)
    np.testing.assert_array_equal(
        model.fit(X, labels).decision_function(X), expected.fit(X, labels).decision_function(X)
    )


@pytest.mark.parametrize(
    "map_",
    [FourierFeatures("matern52", 0.2, 20, random_state=0), ALDNystroem("cauchy", 0.2),
     OnlineNystroem("laplacian", 0.2, random_state=0)],
    ids=lambda map_: type(map_).__name__,
)  # fmt: skip
def test_maps_take_the_object(map_, stream):
    X, _ = stream
    model = clone(map_).set_params(kernel=OBJECTS[map_.kernel].with_gamma(0.2), gamma=None)
    np.testing.assert_array_equal(model.fit(X).transform(X), map_.fit(X).transform(X))


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "estimator",
    [
        MultiKernelRegressor(n_components=20, random_state=0),
        VAW2Regressor(n_components=20, random_state=0),
        OMKRRegressor(),
        RakerRegressor(n_components=20, random_state=0),
        OMKLSFGRegressor(n_components=20, n_selected=2, random_state=0),
        OKSRegressor(random_state=0),
        RFOKSRegressor(n_components=20, random_state=0),
        LKMBooksRegressor(random_state=0),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_grids_take_the_object(estimator, stream):
    X, y = stream
    model = clone(estimator).set_params(kernels=GRID)
    expected = model.prequential_predict(X, y)
    for grid in (SAME_GRID, SAME_GRID_WITH_GAMMAS):
        other = clone(estimator).set_params(kernels=grid)
        np.testing.assert_array_equal(other.prequential_predict(X, y), expected)
        np.testing.assert_array_equal(clone(other).prequential_predict(X, y), expected)
        assert [kernel["gamma"] for kernel in other.kernels_] == [0.05, 0.05, 0.4, 0.4]
        assert [kernel["kernel"] for kernel in other.kernels_] == SAME_GRID["kernel"]
    assert [kernel["kernel"] for kernel in model.kernels_] == ["rbf", "laplacian"] * 2


def test_a_grid_spelt_out_is_a_grid():
    points = kernel_list([SAME_GRID, {"kernel": [Matern(nu=2.5)], "alpha": [0.1, 1.0]}])
    assert points[0] == {"kernel": RBF(0.05), "gamma": 0.05}
    assert points[-1] == {"kernel": Matern(nu=2.5), "gamma": None, "alpha": 1.0}
    again = [{name: [value] for name, value in point.items()} for point in points]
    assert kernel_list(again) == points


def test_comparators_take_the_object(stream):
    X, y = stream
    for option in ({"kernel": RBF(0.2)}, {"kernel": RBF(), "gamma": 0.2}):
        got = kernel_ridge_comparator(X, y, **option)
        assert got.objective == kernel_ridge_comparator(X, y, kernel="rbf", gamma=0.2).objective


# ------------------------------------------------------------------------------ objects as values


@pytest.mark.parametrize("kernel", [*OBJECTS.values(), Polynomial(0.3, degree=2)], ids=repr)
def test_a_kernel_is_a_value(kernel):
    for other in (copy.copy(kernel), copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert other == kernel
        assert hash(other) == hash(kernel)
        assert type(other) is type(kernel)
    assert eval(repr(kernel), {type(kernel).__name__: type(kernel)}) == kernel
    assert kernel.with_gamma(0.3) == kernel
    assert kernel.with_gamma(0.4) != kernel
    assert kernel not in (kernel.name, None, 0.3)
    assert type(kernel).__module__ == "sklearn_okl.kernels"


def test_kernels_differ_by_class_and_by_every_parameter():
    kernels = [*OBJECTS.values(), Polynomial(0.3), Polynomial(0.3, degree=2), RBF(), RBF(0.4)]
    assert len(set(kernels)) == len(kernels)
    assert RBF(1) == RBF(1.0)
    assert repr(RBF(1)) == "RBF(gamma=1.0)"
    assert repr(Matern(nu=2.5)) == "Matern(gamma=None, nu=2.5)"


def test_a_search_over_kernels(stream):
    X, y = stream
    candidates = {"kernel": ["rbf", Matern(nu=2.5), RBF()], "gamma": [0.1, 1.0]}
    search = GridSearchCV(KernelVAWRegressor(), candidates, cv=KFold(2)).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores[::3], scores[2::3])  # the string and its object
    assert search.best_params_["kernel"] in candidates["kernel"]


@pytest.mark.parametrize(
    "estimator",
    [KernelVAWRegressor(Matern(0.2)), VAW2Regressor(SAME_GRID, n_components=10, random_state=0)],
    ids=lambda estimator: type(estimator).__name__,
)
def test_models_go_on_after_a_file(estimator, stream, tmp_path):
    pytest.importorskip("skops")
    X, y = stream
    model = estimator.fit(X[:80], y[:80])
    save(model, tmp_path / "model.skops")
    again = load(tmp_path / "model.skops")
    assert again.get_params() == model.get_params()
    np.testing.assert_array_equal(
        again.prequential_predict(X[80:], y[80:]), model.prequential_predict(X[80:], y[80:])
    )


def test_another_grid_in_mid_stream_is_refused(stream):
    X, y = stream
    model = VAW2Regressor(SAME_GRID, n_components=10, random_state=0).fit(X, y)
    model.set_params(kernels=copy.deepcopy(SAME_GRID)).partial_fit(X[:1], y[:1])
    with pytest.raises(ValueError, match=r"\['kernels'\].*cannot change in mid-stream"):
        model.set_params(kernels={"kernel": [RBF(0.06)]}).partial_fit(X[:1], y[:1])


# ------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize("gamma", [-1.0, np.nan, np.inf, "scale", [1.0]])
@pytest.mark.parametrize("class_", [RBF, Laplacian, Matern, Cauchy, Polynomial])
def test_gamma_is_checked_at_once(class_, gamma):
    with pytest.raises(ValueError, match="gamma must be a finite number of at least 0"):
        class_(gamma)
    with pytest.raises(ValueError, match="gamma must be a finite number of at least 0"):
        class_().with_gamma(gamma)


def test_other_parameters_are_checked_at_once():
    with pytest.raises(ValueError, match=r"nu must be 0\.5, 1\.5 or 2\.5; got 2"):
        Matern(nu=2)
    with pytest.raises(ValueError, match="degree must be an integer of at least 1, got 0"):
        Polynomial(degree=0)
    with pytest.raises(ValueError, match="coef0 must be a finite number of at least 0"):
        Polynomial(coef0=-1.0)


@pytest.mark.parametrize("base", [Kernel, ShiftInvariantKernel, DistanceKernel])
def test_bases_are_no_kernels(base):
    with pytest.raises(TypeError, match="abstract"):
        base()


def both(kernel, **options):
    return [
        lambda X, y: kernel_matrix(X, kernel=kernel, **options),
        lambda X, y: KernelVAWRegressor(kernel, **options).fit(X, y),
    ]


def frequencies(kernel, **options):
    return [
        lambda X, y: sample_frequencies(2, 3, kernel=kernel, **options),
        lambda X, y: OKSRegressor({"kernel": [kernel], **{k: [v] for k, v in options.items()}})
        .fit(X, y),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("calls", "error", "message"),
    [
        (frequencies("gauss"), ValueError, "Unknown kernel 'gauss'; choose one of rbf, laplacian"),
        (frequencies(3.0), ValueError, "Unknown kernel 3.0"),
        (frequencies(np.dot), ValueError, "Unknown kernel <"),
        (frequencies("poly"), ValueError, "'poly' is not shift-invariant"),
        (frequencies(Polynomial()), ValueError, "no frequencies and no place in a grid"),
        (both(RBF), TypeError, r"kernel=RBF is a class; give an instance of it, such as RBF\(\)"),
        (frequencies(Matern), TypeError, "kernel=Matern is a class; give an instance"),
        (both(RBF(0.2), gamma=0.3), ValueError, r"beside RBF\(gamma=0.2\), which has its own"),
        (frequencies(RBF(0.2), gamma=0.3), ValueError, "Leave out one of them"),
        (both(np.dot, gamma=0.3), ValueError, "gamma belongs to the named kernels"),
        (frequencies(RBF(), gamma=-1.0), ValueError, "gamma must be a finite number"),
    ],
)
def test_refusals_say_what_to_do(calls, error, message, stream):
    X, y = stream
    for call in calls:
        with pytest.raises(error, match=message):
            call(X, y)


def test_estimators_name_what_they_take(stream):
    X, y = stream
    for estimator, kind in [
        (KernelVAWRegressor("gauss"), "'sklearn_okl.kernels.Kernel' or a callable"),
        (FourierFeatures(RBF), "'sklearn_okl.kernels.ShiftInvariantKernel'"),
        (FOGDRegressor(Polynomial()), "'sklearn_okl.kernels.ShiftInvariantKernel'"),
    ]:
        with pytest.raises(ValueError, match=f"must be a str among .* an instance of {kind}"):
            estimator.fit(X, y)


def test_what_the_taylor_map_expands(stream):
    with pytest.raises(ValueError, match=r"Gaussian kernel.*kernel=Laplacian\(gamma=0.2\)"):
        PKAWVRegressor(Laplacian(0.2), projection="taylor").fit(*stream)


def test_a_value_that_is_in_no_list_is_refused(stream):
    with pytest.raises(TypeError, match=r"'kernel'.*list.*RBF\(gamma=0.2\)"):
        VAW2Regressor({"kernel": RBF(0.2)}).fit(*stream)


def test_a_kernel_object_cannot_change_in_mid_stream():
    X = np.random.default_rng(0).normal(size=(20, 2))
    model = KernelVAWRegressor(kernel=RBF(0.5)).fit(X, X[:, 0])
    model.set_params(kernel=RBF(0.5)).partial_fit(X, X[:, 0])  # an equal one may
    with pytest.raises(ValueError, match="cannot change in mid-stream"):
        model.set_params(kernel=RBF(0.6)).partial_fit(X, X[:, 0])
