"""H-VAW-D, DVAW and TVAW: their loops, the bounds that add up, what a round costs, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from sklearn_okl import (
    AARegressor,
    DVAWRegressor,
    FourierFeatures,
    HVAWDRegressor,
    MercerFeatures,
    RunningStandardScaler,
    SectionFeatures,
    TaylorFeatures,
    TVAWRegressor,
    VAW2Regressor,
    VAWRegressor,
    from_bytes,
    to_bytes,
)
from sklearn_okl.datasets import make_switching_functions
from sklearn_okl.evaluation import (
    discounted_vaw_path_bound,
    dynamic_regret,
    fused_ridge_comparator,
    vaw_logdet_bound,
)
from sklearn_okl.kernels import exact_kernel
from tests.oracles import changing

CUTS = slice(1), slice(1, 33), slice(33, 34), slice(34, 100), slice(100, None)


def stream(seed, n=200, d=2):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    signs = np.where(np.arange(n) < n // 2, 1.0, -1.0)
    return X, signs * np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n)


def in_pieces(model, X, y):
    return np.concatenate([model.prequential_predict(X[rows], y[rows]) for rows in CUTS])


def of_first(frequencies, X, m):
    """Sines and cosines of the first m frequencies."""
    angles = X @ frequencies[:, :m]
    return np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(m)


@pytest.mark.parametrize("options", [{}, {"max_memory": 16, "alpha": 0.3, "n_sizes": 2}])
def test_hvawd_equals_the_literal_loop(options):
    X, y = stream(0)
    model = HVAWDRegressor(gamma=1.0, n_components=15, random_state=0, **options)
    found = in_pieces(model, X, y)
    assert model.sizes_.tolist() == [16, 8, 4, 2][: options.get("n_sizes", 4)]
    Zs = [of_first(model.frequencies_, X, size // 2) for size in model.sizes_]
    memory = options.get("max_memory", 4096)
    expected, _ = changing.subspaces_of_discounts(Zs, y, memory, options.get("alpha", 1.0))
    assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert model.weights_.shape == (len(Zs), len(model.discounts_))
    assert len(model.discounts_) == int(np.log2(memory)) + 1


def test_dvaw_equals_the_literal_loop():
    X, y = stream(1)
    features = TaylorFeatures(0.5, 3)
    found = in_pieces(DVAWRegressor(features, max_memory=64), X, y)
    Z = TaylorFeatures(0.5, 3).fit_transform(X)
    expected, _ = changing.subspaces_of_discounts([Z], y, 64)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-9)
    assert not hasattr(features, "powers_")  # a copy was fitted


def test_a_round_has_few_members_and_nothing_else_grows():
    X, y = stream(2, n=70)
    model = HVAWDRegressor(n_components=8, max_memory=32, random_state=0)
    for t in range(1, len(y)):
        model.partial_fit(X[t - 1 : t], y[t - 1 : t])
        state = model._state
        counts = [1 + len(grid["born"]) for grid in state["grids"]]
        assert len(counts) <= 4
        assert max(counts) <= min(np.ceil(np.log2(t)), 5) + 2
    assert len(model._state["aggregator"]["b"]) == model.weights_.size


def hostile(kind, model, n=150):
    X, y = stream(3, n)
    if kind == "random":
        y = np.random.default_rng(0).uniform(-1, 1, size=n)
    if kind == "greedy":
        forecasts = np.zeros(n)
        for t in range(n):
            forecasts[t] = model.predict(X[t : t + 1])[0] if t else 0.0
            y[t] = 1.0 if forecasts[t] <= 0 else -1.0
            model.partial_fit(X[t : t + 1], y[t : t + 1])
        return X, y, forecasts
    return X, y, model.prequential_predict(X, y)


@pytest.mark.parametrize("kind", ["random", "jump", "greedy"])
def test_the_sum_of_the_bounds_holds_against_paths(kind, record_property):
    model = HVAWDRegressor(gamma=1.0, n_components=8, n_sizes=2, max_memory=64, random_state=0)
    X, y, forecasts = hostile(kind, model)
    Zs = [of_first(model.frequencies_, X, size // 2) for size in model.sizes_]
    _, F = changing.subspaces_of_discounts(Zs, y, 64)
    mixing = vaw_logdet_bound(F, y_bound=np.abs(y).max(), norm_sq=1.0)[-1]
    shares = []
    for Z in Zs:
        for fusion in (1.0, 10.0, 1e8):
            path = fused_ridge_comparator(Z, y, fusion=fusion).path
            regret = dynamic_regret(forecasts, Z, y, path)[-1]
            for memory in range(7):
                known = {"forgetting": 1 - 0.5**memory if memory else 1.0, "birth": 2**memory}
                bound = discounted_vaw_path_bound(Z, y, path, **known)[-1] + mixing
                shares.append(regret / bound)
    record_property("share", float(max(shares)))
    print(f"{kind}: largest share of the bound {max(shares):.3f}")
    assert max(shares) <= 1.0
    if kind == "greedy":
        assert max(shares) >= 0.1


def test_a_member_that_is_born_is_within_the_bound_of_its_birth():
    X, y = stream(4, n=300)
    zeros = np.zeros(len(y))
    for memory in (2, 5):
        member = changing.born_at(X, y, 1.0, 1 - 0.5**memory, zeros, 2**memory)
        path = fused_ridge_comparator(X, y, fusion=3.0).path
        known = {"forgetting": 1 - 0.5**memory, "birth": 2**memory}
        bounds = discounted_vaw_path_bound(X, y, path, **known)
        assert (dynamic_regret(member, X, y, path) <= bounds + 1e-9).all()


def test_the_aggregating_algorithm_pays_a_logarithm_of_the_members():
    X, y = stream(5)
    y = np.clip(y, -1, 1)
    mixing = AARegressor(y_range=(-1, 1))
    model = HVAWDRegressor(n_components=8, max_memory=64, aggregator=mixing, random_state=0)
    forecasts = model.prequential_predict(X, y)
    Zs = [of_first(model.frequencies_, X, size // 2) for size in model.sizes_]
    _, F = changing.subspaces_of_discounts(Zs, y, 64)
    best = np.square(np.clip(F, -1, 1) - y[:, None]).sum(axis=0).min()
    assert np.square(forecasts - y).sum() <= best + 2 * np.log(F.shape[1])


@pytest.mark.long
def test_it_follows_functions_that_switch():
    X, y = make_switching_functions(2000, n_switches=4, random_state=0)
    errors = {}
    for memory in (2, 4096):  # of which the first is hardly a grid
        model = HVAWDRegressor(gamma=1.0, n_components=60, max_memory=memory, random_state=0)
        errors[memory] = np.square(model.prequential_predict(X, y) - y).mean()
    print(errors)
    assert errors[4096] < 0.8 * errors[2]


@pytest.mark.parametrize("scale", [0.5, 2.0])
@pytest.mark.parametrize("gamma", [0.2, 1.5])
def test_mercer_features_are_eigenfunctions(scale, gamma):
    nodes, weights = np.polynomial.hermite_e.hermegauss(150)
    X = scale * np.array([(a, b) for a in nodes for b in nodes])
    weights = np.outer(weights, weights).ravel() / (2 * np.pi)
    mercer = MercerFeatures(gamma, scale, degree=3).fit(X)
    Z = mercer.transform(X)
    products = Z.T @ (weights[:, None] * Z)
    values = np.diag(products)
    assert_allclose(products, np.diag(values), atol=1e-10)
    degrees = mercer.powers_.sum(axis=1)
    a = 1 / (4 * scale**2)
    c = np.sqrt(a**2 + 2 * a * gamma)
    q, first = gamma / (a + gamma + c), 2 * a / (a + gamma + c)
    assert_allclose(values, first * q**degrees, rtol=1e-9)
    # integrating the kernel against an eigenfunction gives its multiple
    K = np.exp(-gamma * np.square(X[:40, None] - X[None]).sum(axis=2))
    assert_allclose(K @ (weights[:, None] * Z), values * Z[:40], atol=1e-9)
    missed = weights @ (1.0 - np.square(Z).sum(axis=1))
    n = np.arange(4, 4000)
    assert_allclose(missed, ((n + 1) * first * q**n).sum(), rtol=1e-6)


def test_mercer_features_refuse_too_many():
    with pytest.raises(ValueError, match="dimension 66, above"):
        MercerFeatures(degree=2, max_components=50).fit(np.zeros((1, 10)))


@pytest.mark.parametrize("scale", [1e-320, 1e308])
def test_mercer_features_have_a_scale_whose_square_is_a_number(scale):
    with pytest.raises(ValueError, match=r"'scale' parameter of MercerFeatures must be .* range"):
        MercerFeatures(scale=scale).fit(np.zeros((1, 2)))
    for extreme in (1e-50, 1e50):
        assert np.isfinite(MercerFeatures(scale=extreme).fit_transform(np.ones((2, 2)))).all()


@pytest.mark.parametrize("kernel", ["rbf", "matern32", "laplacian"])
def test_sections_are_the_projection_onto_their_span(kernel):
    X, _ = stream(6)
    features = SectionFeatures(kernel, 1.5, n_components=30).fit(X)
    Z, S = features.transform(X), features.components_
    few = SectionFeatures(kernel, 1.5, n_components=10).fit_transform(X)
    assert_allclose(Z[:, :10], few, atol=1e-10)  # the first are those of the first points
    k = exact_kernel(kernel, 1.5)
    projected = k(X, S) @ np.linalg.solve(k(S, S) + 1e-12 * np.eye(len(S)), k(S, X))
    assert_allclose(Z @ Z.T, projected, atol=1e-6)
    missed = [1 - np.square(part).sum(axis=1).min() for part in (few, Z)]
    assert missed[1] < missed[0]


def test_sections_at_points_of_one_s_own_and_refusals():
    X, _ = stream(7)
    features = SectionFeatures(centers=X[:5]).fit(X)
    assert_allclose(features.components_, X[:5])
    with pytest.raises(ValueError, match="2 features, but X has 3"):
        SectionFeatures(centers=X[:5]).fit(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="two rising numbers"):
        SectionFeatures(bounds=(1.0, 1.0)).fit(X)


def test_what_is_no_fixed_subspace_is_refused():
    X, y = stream(8)
    with pytest.raises(ValueError, match="no fixed subspace"):
        DVAWRegressor(RunningStandardScaler()).fit(X, y)
    with pytest.raises(TypeError, match="no weights over forecasts"):
        DVAWRegressor(aggregator=HVAWDRegressor()).fit(X, y)
    assert DVAWRegressor(FourierFeatures(random_state=0)).fit(X, y).weights_.shape == (1, 13)


def test_tvaw_equals_the_literal_loop():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(150, 2)) * [1.0, 5.0] + [3.0, 0.0]
    y = 10 * np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=150)
    kernels = {"kernel": ["rbf"], "gamma": [0.1, 1.0]}
    options = {"alpha": 0.5, "aggregator_alpha": 2.0, "final_alpha": 0.7}
    model = TVAWRegressor(kernels, n_components=8, random_state=0, **options)
    found = in_pieces(model, X, y)
    frequencies = [one["features"]["frequencies"] for one in model._state["models"]]
    expected = changing.triple_vaw(X, y, frequencies, **options)
    assert_allclose(found, expected, rtol=1e-8, atol=1e-8)
    assert model.scalings_[0] == ("standard", "raw")
    assert model.weights_.shape == (8,)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("size", [1e6, 1e8])
@pytest.mark.parametrize(
    "model",
    [
        HVAWDRegressor(n_components=20, random_state=0),
        DVAWRegressor(),
        TVAWRegressor({"gamma": [0.1, 1.0]}, n_components=20, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_targets_may_be_large(model, size):
    """Forecasts are features; at f0eb89e they came to 1e7 times the targets, and were kept."""
    X, y = stream(int(np.log10(size)), n=300)
    y = size * (y + 3.0)
    whole = clone(model)
    forecasts = whole.prequential_predict(X, y)
    assert np.abs(forecasts).max() < 2.0 * np.abs(y).max()
    assert_allclose(in_pieces(clone(model), X, y), forecasts, rtol=1e-7, atol=1e-7 * size)
    again = from_bytes(to_bytes(whole))
    assert_allclose(again.prequential_predict(X, y), whole.prequential_predict(X, y), rtol=1e-12)


@pytest.mark.parametrize("power", [111, 116, 121, 147, 153])
@pytest.mark.parametrize(
    "model",
    [
        HVAWDRegressor(n_components=10, random_state=0),
        DVAWRegressor(),
        VAW2Regressor({"gamma": [0.1, 1.0]}, n_components=10, random_state=0),
        TVAWRegressor({"gamma": [0.1, 1.0]}, n_components=10, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_after_targets_beyond_all_digits_there_are_forecasts_or_the_call_is_refused(model, power):
    """At f0eb89e there were calls after which all forecasts were NaN."""
    X, y = stream(power, n=60)
    for n in (1, 2, 33):
        taught = clone(model).fit(X, y)
        before = taught.predict(X[:5])
        try:
            taught.partial_fit(X[:n], 10.0**power * y[:n])
        except ValueError as error:
            assert "rounding" in str(error) or "overflowed" in str(error)  # noqa: PT017
            assert_allclose(taught.predict(X[:5]), before, rtol=0.0)
        else:
            assert np.isfinite(taught.predict(X[:5])).all()


def test_the_second_level_on_large_forecasts_is_exact():
    X, y = stream(9, n=150)
    y, alpha = 1e8 * (y + 3.0), 1e-16
    large = DVAWRegressor().prequential_predict(X, y)
    small = DVAWRegressor(aggregator=VAWRegressor(alpha)).prequential_predict(X, y / 1e8)
    assert_allclose(large, 1e8 * small, rtol=0.0, atol=1e-7 * np.abs(y).max())


@pytest.mark.long(every=4)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("unit_of_X", "unit_of_y"), [(1e-6, 1.0), (1.0, 1e5), (1.0, 1e7)])
def test_with_inputs_or_targets_of_unit_size_forecasts_hang_on_no_cut(unit_of_X, unit_of_y, seed):
    """Where both are far off, members are told apart by the rounding of those that forget fast."""
    X, y = stream(seed, n=128)
    X, y = unit_of_X * X, unit_of_y * y
    model = HVAWDRegressor(random_state=0)
    rows = [model.prequential_predict(X[t : t + 1], y[t : t + 1])[0] for t in range(len(y))]
    forecasts = HVAWDRegressor(random_state=0).prequential_predict(X, y)
    assert_allclose(rows, forecasts, rtol=0.0, atol=1e-5 * unit_of_y)
