"""VAW-EWA, -Aggr, -BOA, -ML-Poly, -ML-Prod: oracles, published forecasts, Theorem 3, laws."""

import inspect
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sklearn_okl import FourierFeatures, MultiKernelRegressor, VAWRegressor
from sklearn_okl.aggregators import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    MLPolyRegressor,
    MLProdRegressor,
)
from sklearn_okl.algorithms._vovk_convex import (
    VAWAARegressor,
    VAWBOARegressor,
    VAWEWARegressor,
    VAWMLPolyRegressor,
    VAWMLProdRegressor,
)
from sklearn_okl.base import FullInformationRegressor
from sklearn_okl.datasets import make_adversarial_stream
from sklearn_okl.evaluation import vaw_ewa_loss_bound
from sklearn_okl.kernels import kernel_matrix
from tests.oracles import aggregation, vovk

GRID = [{"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}, {"kernel": ["laplacian"], "gamma": [0.5]}]
SMALL = {
    "kernels": {"kernel": ["rbf", "laplacian"], "gamma": [0.02, 0.2]},
    "n_components": 40,
    "random_state": 0,
}
FIRST_ORDER = {VAWEWARegressor: EWARegressor, VAWAARegressor: AARegressor}
SECOND_ORDER = {
    VAWBOARegressor: BOARegressor,
    VAWMLPolyRegressor: MLPolyRegressor,
    VAWMLProdRegressor: MLProdRegressor,
}
RULES = FIRST_ORDER | SECOND_ORDER
ORACLES = {
    VAWEWARegressor: aggregation.ewa,
    VAWAARegressor: aggregation.aggregating,
    VAWBOARegressor: aggregation.boa,
    VAWMLPolyRegressor: aggregation.ml_poly,
    VAWMLProdRegressor: aggregation.ml_prod,
}
PUBLISHED_START = {"initial_rate": 2.0**-20}


def options(class_):
    """Return some settings of each rule's own parameters."""
    if class_ in SECOND_ORDER:
        return [{}, {"gradient_trick": False}, {"initial_rate": 0.01}, PUBLISHED_START]
    return [{}, {"eta": 3.0}] + [{"eta": "decreasing"}] * (class_ is VAWEWARegressor)


def settings():
    return [
        pytest.param(class_, own, id="-".join([class_.__name__, *map(str, own.values())]))
        for class_ in RULES
        for own in options(class_)
    ]


def oracle(class_, own, y_range):
    """Return the loop that the settings stand for, F and y to forecasts."""
    if class_ in FIRST_ORDER:
        rule = partial(ORACLES[class_], y_range=y_range, **own)
    else:
        names = {"gradient_trick": "gradient", "initial_rate": "start"}
        rule = partial(ORACLES[class_], **{names[name]: value for name, value in own.items()})

    def forecasts(F, y):
        out = rule(F, y)
        return out[0] if isinstance(out, tuple) else out

    return forecasts


def stream(seed, n=100, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("class_", "own"), settings())
@pytest.mark.parametrize("y_range", [(0.2, 0.8), None])  # (0.2, 0.8): narrower than the targets
@pytest.mark.parametrize("forecaster", ["vaw", "ridge"])
def test_equals_the_literal_loops(class_, own, y_range, forecaster):
    seed = 1 if y_range is None else 0
    X, y = stream(seed)
    model = class_(
        GRID,
        n_components=12,
        alpha=0.5,
        forecaster=forecaster,
        y_range=y_range,
        random_state=seed,
        **own,
    )
    forecasts = model.prequential_predict(X, y)
    expected = vovk.vaw_convex(
        X, y, list(model.frequencies_), oracle(class_, own, y_range), 0.5, forecaster, y_range
    )
    assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("class_", "own"), settings())
@pytest.mark.parametrize("y_range", [(0.0, 1.0), None])
def test_is_the_parts_composed_by_hand(class_, own, y_range):
    X, y = stream(2)
    experts = {"alpha": 0.3, "forgetting": 0.97}
    model = class_(GRID, n_components=14, y_range=y_range, random_state=5, **experts, **own)
    forecasts = model.prequential_predict(X, y)
    F = np.empty((len(y), 4))
    for k, omega in enumerate(model.frequencies_):
        Z = FourierFeatures(frequencies=omega).fit_transform(X)
        F[:, k] = VAWRegressor(**experts).prequential_predict(Z, y)
    assert_allclose(model.expert_losses_, ((F - y[:, None]) ** 2).sum(axis=0), rtol=1e-9)
    for t in range(0 if y_range else 1, len(y)):
        F[t] = np.clip(F[t], *(y_range or (y[:t].min(), y[:t].max())))
    rule = RULES[class_](**own, **({"y_range": y_range} if class_ in FIRST_ORDER else {}))
    assert_allclose(forecasts, rule.prequential_predict(F, y), rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, rule.weights_, rtol=1e-8, atol=1e-11)


@pytest.mark.parametrize("class_", RULES)
def test_is_multikernel_with_that_aggregator(class_):
    X, y = stream(3)
    shared = {"y_range": (0, 1), "n_components": 20, "random_state": 3}
    rule = RULES[class_](**({"y_range": (0, 1)} if class_ in FIRST_ORDER else {}))
    general = MultiKernelRegressor(GRID, VAWRegressor(0.2), rule, clip_experts=True, **shared)
    named = class_(GRID, alpha=0.2, **shared)
    assert_array_equal(named.prequential_predict(X, y), general.prequential_predict(X, y))
    assert_array_equal(named.predict(X), general.predict(X))
    assert_array_equal(named.weights_, general.weights_)


@pytest.mark.parametrize(
    ("class_", "own", "name"),
    [
        (VAWEWARegressor, {"eta": 0.5}, "ewa_eta_half"),
        (VAWEWARegressor, {}, "ewa_eta_half"),
        (VAWAARegressor, {"eta": 2.0}, "aggregating_eta_2"),
        (VAWAARegressor, {}, "aggregating_eta_2"),
        *[
            (class_, {"gradient_trick": bool(suffix), **PUBLISHED_START}, name + suffix)
            for class_, name in zip(SECOND_ORDER, ["boa", "ml_poly", "ml_prod"], strict=True)
            for suffix in ("", "_gradient")
        ],
    ],
)
def test_published_forecasts_on_airfoil(golden, class_, own, name):
    data = golden("airfoil_300")
    model = class_(
        [{"kernel": ["rbf"], "gamma": [1.0]}] * 7,  # overruled by the frequencies
        frequencies=list(data["frequencies"]),
        forecaster="ridge",
        y_range=(0, 1),
        **own,
    )
    forecasts = model.prequential_predict(data["X"], data["y"])[1:]
    error = np.max(np.abs(forecasts - data[name][1:]) / np.abs(data[name][1:]))
    print(f"\n{name}: largest relative difference {error:.1e}")
    assert_allclose(forecasts, data[name][1:], rtol=1e-9, atol=1e-15)
    if f"{name}_final_weights" in data:
        assert_allclose(model.weights_, data[f"{name}_final_weights"], rtol=1e-9, atol=1e-9)


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("class_", "spared"), [(VAWEWARegressor, 0), (VAWAARegressor, 6)])
def test_theorem_3_holds_on_adversarial_streams(class_, spared):
    """Against f = sum_i c_i k(x_i, .), whose RKHS norm is known, in the mean over frequencies."""
    n_components, n = 30, 120
    X = np.random.default_rng(9).uniform(-1, 1, size=(n, 2))
    K = kernel_matrix(X, kernel="rbf", gamma=1.0)
    losses, comparators, norms = [], [], []
    for seed in range(4):
        model = class_(
            [{"kernel": ["rbf"], "gamma": [1.0, 4.0]}],
            n_components=n_components,
            form="phase",
            y_range=(-1, 1),
            random_state=seed,
        )
        y = make_adversarial_stream(model, X)
        forecasts = model.prequential_predict(X, y)
        losses.append(np.sum((forecasts - y) ** 2))
        c = np.linalg.solve(K + np.eye(n), y)
        comparators.append(np.sum((K @ c - y) ** 2))
        norms.append(c @ K @ c)
        # the step of the proof, for each draw: close to the best of the experts
        regret = losses[-1] - model.expert_losses_.min()
        assert regret <= (8 - spared) * np.log(2)
    bound = vaw_ewa_loss_bound(
        n,
        n_kernels=2,
        n_components=n_components,
        y_bound=1.0,
        norm_sq=np.mean(norms),
        comparator_loss=np.mean(comparators),
    )
    bound -= spared * np.log(2)
    print(f"\n{class_.__name__}: mean loss {np.mean(losses):.1f}, bound {bound:.1f}")
    assert np.mean(losses) >= n - 1  # what the adversary guarantees
    assert np.mean(losses) <= bound


@pytest.mark.long(every=3)
@pytest.mark.parametrize("class_", RULES)
@pytest.mark.parametrize("y_range", [(0.4, 0.6), None])
@pytest.mark.parametrize("seed", range(2))
def test_weights_on_the_simplex_and_forecasts_in_the_range(class_, y_range, seed):
    X, y = stream(seed)
    model = class_(GRID, n_components=16, y_range=y_range, random_state=seed)
    for t in range(len(y)):
        row = X[t : t + 1]
        if t:
            low, high = y_range or (y[:t].min(), y[:t].max())
            forecasts = model.predict(np.vstack([row, 50 * row]))
            assert np.all((low <= forecasts) & (forecasts <= high))
        model.partial_fit(row, y[t : t + 1])
        assert np.all(model.weights_ >= 0)
        assert_allclose(model.weights_.sum(), 1, rtol=1e-12)


@pytest.mark.parametrize("class_", RULES)
def test_permuting_the_kernels_permutes_the_weights(class_):
    X, y = stream(7)
    frequencies = np.random.default_rng(1).normal(size=(5, 3, 8)) * [
        [[0.2]],
        [[0.5]],
        [[1]],
        [[2]],
        [[4]],
    ]
    order = np.array([3, 0, 4, 1, 2])

    def fitted(order):
        gammas = np.array([0.1, 0.3, 1.0, 3.0, 10.0])[order]
        grid = [{"kernel": ["rbf"], "gamma": [gamma]} for gamma in gammas]
        return class_(grid, frequencies=frequencies[order], y_range=(0, 1)).fit(X, y)

    straight, permuted = fitted(np.arange(5)), fitted(order)
    assert np.ptp(straight.weights_) > 1e-3
    assert_allclose(permuted.weights_, straight.weights_[order], rtol=1e-8, atol=1e-12)
    assert_allclose(permuted.expert_losses_, straight.expert_losses_[order], rtol=1e-9)
    assert_allclose(permuted.predict(X), straight.predict(X), rtol=1e-8)


@pytest.mark.parametrize("class_", RULES)
def test_one_kernel_is_its_clipped_vaw(class_):
    X, y = stream(8)
    one = {"kernel": ["rbf"], "gamma": [1.0]}
    model = class_(one, n_components=20, y_range=(0.3, 0.7), random_state=0)
    forecasts = model.prequential_predict(X, y)
    Z = FourierFeatures(frequencies=model.frequencies_[0]).fit_transform(X)
    alone = np.clip(VAWRegressor().prequential_predict(Z, y), 0.3, 0.7)
    assert_array_equal(model.weights_, [1.0])
    assert_allclose(forecasts, alone, rtol=1e-9)


@pytest.mark.long(every=5)
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("class_", RULES)
def test_scikit_learn(class_):
    check_estimator(class_(**SMALL), on_skip=None)


@pytest.mark.parametrize("class_", RULES)
def test_declares_all_parameters_and_keeps_its_structure(class_):
    X, y = stream(9, n=30)
    assert issubclass(class_, FullInformationRegressor)
    assert set(class_._parameter_constraints) == set(inspect.signature(class_).parameters)
    changes = {"y_range": (0, 2), "alpha": 2.0, "kernels": {"kernel": ["rbf"], "gamma": [0.2]}}
    if class_ in SECOND_ORDER:
        changes |= {"gradient_trick": False, "initial_rate": 0.5}
    for name, value in changes.items():
        model = class_(**SMALL).fit(X, y).set_params(**{name: value})
        with pytest.raises(ValueError, match=name):
            model.partial_fit(X, y)


def test_the_rate_may_change_in_mid_stream():
    X, y = stream(10, n=40)
    for class_ in FIRST_ORDER:
        model = class_(**SMALL, eta=1.0, y_range=(0, 1)).fit(X, y)
        changed = clone(model).fit(X, y).set_params(eta=50.0)
        assert_array_equal(changed.weights_, model.weights_)  # of the rate that they were made with
        fresh = class_(**SMALL, eta=50.0, y_range=(0, 1)).fit(X, y)
        assert_allclose(changed.predict(X), fresh.predict(X), rtol=1e-9)
        for other in (changed, fresh):
            other.partial_fit(X[:1], y[:1])
        assert_allclose(changed.weights_, fresh.weights_, rtol=1e-9)
        assert np.abs(changed.weights_ - model.weights_).max() > 1e-3


@pytest.mark.parametrize("class_", RULES)
@pytest.mark.parametrize("y_range", [(1, 0), (0, np.inf), (0, 1, 2), "01", (0, "1")])
def test_bad_ranges(class_, y_range):
    X, y = stream(11, n=10)
    with pytest.raises(ValueError, match="y_range"):
        class_(GRID, y_range=y_range).fit(X, y)
    model = class_(**SMALL, y_range=(0, 1)).fit(X, y).set_params(y_range=y_range)
    with pytest.raises(ValueError, match=r"y_range.* must be"):
        model.partial_fit(X, y)


@pytest.mark.parametrize(
    ("class_", "name", "value"),
    [
        (VAWEWARegressor, "eta", 0.0),
        (VAWEWARegressor, "eta", "fast"),
        (VAWAARegressor, "eta", "decreasing"),
        (VAWAARegressor, "eta", -1.0),
        *[(class_, "initial_rate", 0.0) for class_ in SECOND_ORDER],
        *[(class_, "gradient_trick", "yes") for class_ in SECOND_ORDER],
        *[(class_, "forecaster", "magic") for class_ in RULES],
    ],
)
def test_bad_parameters_are_named(class_, name, value):
    X, y = stream(12, n=10)
    model = class_(**SMALL, **{name: value})
    with pytest.raises(ValueError, match=f"'{name}' parameter of {class_.__name__}"):
        model.fit(X, y)
    assert not model.__sklearn_is_fitted__()
