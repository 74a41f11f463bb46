"""RF-OKS, RF-OKS++, RF-IOKS: oracles, shared draws, boxes, unbiasedness, theorems."""

import copy
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from sklearn_okl.algorithms._selection_features import (
    RFIOKSClassifier,
    RFIOKSRegressor,
    RFOKSClassifier,
    RFOKSPlusPlusClassifier,
    RFOKSPlusPlusRegressor,
    RFOKSRegressor,
)
from sklearn_okl.base import Sampler
from sklearn_okl.kernels import kernel_matrix
from sklearn_okl.losses import AbsoluteError
from tests.oracles import bandit_features as oracle
from tests.oracles import bandits

REGRESSORS = [RFOKSRegressor, RFOKSPlusPlusRegressor, RFIOKSRegressor]
CLASSIFIERS = [RFOKSClassifier, RFOKSPlusPlusClassifier, RFIOKSClassifier]
SIGMAS = 2.0 ** np.arange(-2, 4)
MIXED = {"kernel": ["rbf", "laplacian", "matern32"], "gamma": [0.3, 2.0, None]}
SMOOTH = {"squared_error": 2.0, "squared_hinge": 2.0, "log_loss": 0.25}
CASES = [
    (class_, loss)
    for classes, losses in (
        (REGRESSORS, ["squared_error", "absolute_error", "pinball"]),
        (CLASSIFIERS, ["log_loss", "hinge", "squared_hinge"]),
    )
    for class_ in classes
    for loss in losses
    if "PlusPlus" not in class_.__name__ or loss in SMOOTH
]


def stream(seed, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def labels(class_, y):
    return np.where(y > np.median(y), 1.0, -1.0) if class_ in CLASSIFIERS else y


def literal_sampler(model, n_kernels):
    """Return the oracle of a model's sampler."""
    if "PlusPlus" in type(model).__name__:
        return bandits.OKSPlusPlus(
            n_kernels, model.radius, 1.0 if model.loss == "log_loss" else 4.0
        )
    if "IOKS" not in type(model).__name__:
        longest = 1 / SMOOTH.get(model.loss, 1e-300)
        if model.horizon is not None and model.step_scale is not None:  # both at their word
            longest = math.inf
        return bandits.OKS(n_kernels, model.horizon, model.step_scale or 10.0, longest)
    U = model.radius
    slopes = {"pinball": 0.7, "log_loss": 1 / (1 + math.exp(-U))}
    slopes |= dict.fromkeys(("squared_error", "squared_hinge"), 2 * (U + 1))
    return bandits.IOKS(n_kernels, U, slopes.get(model.loss, 1.0), model.horizon)


def maps_of(model):
    """Return the oracle's maps of a fitted model's kernels."""
    phases = [None] * len(model.kernels_)
    if model.form == "phase":
        phases = model._state["features"]["phases"][model._bank.draws]
    return [oracle.paired(W, b) for W, b in zip(model.frequencies_, phases, strict=True)]


@pytest.fixture
def draws(monkeypatch):
    """Record the laws and the arms drawn from them."""
    record, draw = [], Sampler.draw

    def recorded(sampler, law, uniform):
        record.append((law["probabilities"].copy(), draw(sampler, law, uniform)))
        return record[-1][1]

    monkeypatch.setattr(Sampler, "draw", recorded)
    return record


def values_on_the_way(model, X, y):
    """Return the forecasts or decision values made before each row was learnt."""
    names = {"classes": [-1, 1]} if is_classifier(model) else {}
    return model._advance(X, y, restart=False, validation=names)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(("class_", "loss"), CASES)
def test_equals_the_oracle(class_, loss, seed, draws):
    X, y = stream(seed)
    y = labels(class_, y)
    options = {"loss": loss, "n_components": 60, "random_state": seed}
    if loss == "pinball":
        options["quantile"] = 0.3
    if seed == 1:
        options |= {"kernels": MIXED, "form": "phase"}
    if seed == 2:
        frequencies = np.random.default_rng(5).normal(size=(6, 3, 20))
        options |= {"frequencies": list(frequencies), "radius": 0.3}
        if "PlusPlus" not in class_.__name__:
            options["horizon"] = 500
    if seed == 3 and class_ in (RFOKSRegressor, RFOKSClassifier):
        options |= {"horizon": 500, "step_scale": 10.0}
    model = class_(**options)
    if seed == 1 and class_ in (RFOKSRegressor, RFOKSClassifier):
        model.set_params(radius=None)
    found = values_on_the_way(model, X, y)
    maps = maps_of(model)
    # the generator of the draws comes after those of the maps
    source = np.random.RandomState(seed)
    if seed != 2:
        model._bank.start(3, source)
    rng = np.random.RandomState(source.randint(2**31 - 1))
    sampler = literal_sampler(model, len(maps))
    box = (model.radius or np.inf) / np.sqrt(model.frequencies_.shape[-1])
    expected, arms, laws, w = oracle.select(X, y, maps, sampler, rng, loss, box, quantile=0.3)
    assert_array_equal([arm for _, arm in draws[:-1]], arms)
    assert_allclose([law for law, _ in draws[:-1]], laws, rtol=1e-9)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_allclose(
        model.coef_, [u + np.zeros(model.coef_.shape[1]) for u in w], rtol=1e-9, atol=1e-9
    )
    assert_allclose(model.probabilities_, sampler.p, rtol=1e-9)
    assert model.kernel_index_ == draws[-1][1]
    if seed == 2 and loss == "squared_error":  # the box was met
        assert np.abs(model.coef_).max() == pytest.approx(box, rel=1e-12)


def test_the_kernels_share_one_draw_divided_by_their_bandwidths():
    X, y = stream(0)
    model = RFOKSRegressor(random_state=3).fit(X, y)
    z = np.random.RandomState(3).standard_normal((400, 3)).T
    assert model.coef_.shape == (6, 800)
    assert_allclose([1 / np.sqrt(2 * k["gamma"]) for k in model.kernels_], SIGMAS)
    assert_allclose(model.frequencies_, z / SIGMAS[:, None, None], rtol=1e-14)


@pytest.mark.parametrize("form", ["paired", "phase"])
def test_features_are_those_of_each_kernel(form):
    X, y = stream(1, 40)
    grid = {"kernel": ["rbf", "laplacian", "matern32", "cauchy"], "gamma": [0.5, None]}
    model = RFOKSRegressor(grid, n_components=20000, form=form, random_state=0).fit(X, y)
    view = model._bank.view(model._state["features"])
    view.look_at(X)
    for i, kernel in enumerate(model.kernels_):
        Z = view.features(i, slice(None))
        assert_allclose(Z @ Z.T, kernel_matrix(X, **kernel), atol=0.05)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("class_", REGRESSORS + CLASSIFIERS)
@pytest.mark.parametrize("options", [{"n_components": 7}, {"n_components": 1}, {"form": "phase"}])
def test_only_the_kernel_drawn_is_taught_and_stays_in_its_box(class_, options):
    X, y = stream(2, 60)
    y = labels(class_, y)
    model = class_(MIXED, radius=0.2, random_state=1, **({"n_components": 20} | options))
    model.fit(X[:2], np.sort(y)[[0, -1]])
    box = 0.2 / np.sqrt(model.frequencies_.shape[-1])
    for t in range(2, len(y)):
        before, arm = model.coef_, model.kernel_index_
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        changed = np.flatnonzero((model.coef_ != before).any(axis=1))
        assert set(changed) <= {arm}
        assert np.abs(model.coef_).max() <= box * (1 + 1e-12)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error"])
def test_steps_of_rf_oks_are_unbiased(loss):
    """The mean over the draw of an arm's move is lambda times its gradient, whatever the law."""
    X, y = stream(3, 401)
    model = RFOKSRegressor(
        n_components=50, loss=loss, horizon=400, step_scale=0.5, radius=1e6, random_state=0
    )
    model.fit(X[:400], y[:400])
    law, K, T = model.probabilities_, 6, 400
    assert law.max() > 1.2 * law.min()
    delta = (K / T) ** (1 / 3)
    lam = 0.5 * math.sqrt(delta / (K * T))
    for i in range(K):
        asked = copy.deepcopy(model)
        asked._state["arm"] = i
        z = oracle.paired(model.frequencies_[i])(X[400])
        f = model.coef_[i] @ z
        g = bandits.derivative(loss, y[400], f)
        asked.partial_fit(X[400:], y[400:])
        mean_move = law[i] * (asked.coef_[i] - model.coef_[i])
        assert_allclose(mean_move, -lam * g * z, rtol=1e-9, atol=1e-15)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("class_", REGRESSORS)
def test_arms_are_drawn_by_their_law(class_, draws):
    """Sums of (drawn - p) are martingales, here within 4.5 of their standard deviations."""
    z_scores = []
    for seed in range(4):
        draws.clear()
        class_(n_components=16, random_state=seed).fit(*stream(seed, 1000))
        laws = np.array([law for law, _ in draws])
        drawn = np.eye(6)[[arm for _, arm in draws]]
        z_scores.append((drawn - laws).sum(axis=0) / np.sqrt((laws * (1 - laws)).sum(axis=0)))
    assert np.abs(z_scores).max() < 4.5
    assert np.std(z_scores) > 0.5


@pytest.mark.long
def test_rf_oks_keeps_theorem_2_1_where_it_bites():
    """Remark 1's bound on the features, absolute loss, in expectation over seeds."""
    T, K, U = 4000, 2, 1.0
    rng = np.random.default_rng(0)
    X = rng.uniform(-np.pi, np.pi, size=(T, 1))
    frequencies = [np.array([[1.0]]), np.array([[0.0]])]
    w = np.array([U, U])  # a corner of the box of kernel 0
    y = np.array([w @ oracle.paired(frequencies[0])(x) for x in X])
    losses = []
    for seed in range(10):
        model = RFOKSRegressor(
            {"gamma": [1.0, 2.0]},
            frequencies=frequencies,
            loss="absolute_error",
            horizon=T,
            step_scale=1.0,
            radius=U,
            random_state=seed,
        )
        losses.append(np.abs(model.prequential_predict(X, y) - y).sum())
    bound_on_losses = 2 * math.sqrt(2)  # forecasts and targets are in [-sqrt 2, sqrt 2]
    delta = (K / T) ** (1 / 3)
    lam = math.sqrt(delta / (K * T))
    eta = math.sqrt(2 * (1 - delta) * math.log(K) / (K * T))
    bound = delta * T * bound_on_losses + w @ w / (2 * lam) + lam * K * T / (2 * delta)
    bound += eta * K * T * bound_on_losses**2 / (2 * (1 - delta)) + math.log(K) / eta
    assert np.mean(losses) < bound  # the rival w loses nothing
    assert bound < 0.6 * np.abs(y).sum(), "the bound does not bite"
    print(f"\nRF-OKS: regret {np.mean(losses):.0f}, bound {bound:.0f}, nought {abs(y).sum():.0f}")


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    ("class_", "loss", "exponent"),
    [
        (RFOKSRegressor, "absolute_error", 2 / 3),
        (RFOKSPlusPlusRegressor, "squared_error", 2 / 3),
        (RFIOKSRegressor, "absolute_error", 1 / 2),
    ],
)
def test_regret_grows_no_faster_than_the_theorem_says(class_, loss, exponent):
    """Against planted coefficients, which lose only what the noise costs."""
    horizons, seeds = np.array([250, 1000, 4000]), range(3)
    regrets = np.zeros(3)
    frequencies = (
        np.random.default_rng(1).normal(size=(4, 2, 8)) * np.array([6, 3, 1, 0.3])[:, None, None]
    )
    w = 0.8 / np.sqrt(8) * np.sign(np.random.default_rng(2).normal(size=16))
    for i, T in enumerate(horizons):
        for seed in seeds:
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, size=(T, 2))
            angles = X @ frequencies[2]
            planted = np.hstack([np.sin(angles), np.cos(angles)]) / np.sqrt(8) @ w
            y = planted + rng.choice([-0.2, 0.2], size=T)
            known = {} if class_ is RFOKSPlusPlusRegressor else {"horizon": int(T)}
            model = class_(
                {"gamma": [1.0, 2.0, 3.0, 4.0]},
                frequencies=list(frequencies),
                loss=loss,
                random_state=seed,
                **known,
            )
            f = model.prequential_predict(X, y)
            power = 1 if loss == "absolute_error" else 2
            regrets[i] += (np.abs(f - y) ** power - np.abs(planted - y) ** power).sum()
    assert np.all(regrets > 0)
    growth = np.polyfit(np.log(horizons), np.log(regrets), 1)[0]
    print(f"\n{class_.__name__}: regret grows as T^{growth:.2f}, theorem T^{exponent:.2f}")
    # the logarithms of IOKS's bound, ln^(2/3) T, add 0.1 between these horizons
    assert growth < exponent + (0.15 if class_ is RFIOKSRegressor else 0.05)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("class_", REGRESSORS)
def test_the_arm_that_loses_least_is_drawn_most(class_):
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(6000, 1))
    y = np.sign(np.sin(6 * X[:, 0])) * 0.8
    frequencies = [np.full((1, 2), 0.01), np.array([[6.0, 18.0]]), np.full((1, 2), 0.02)]
    model = class_({"gamma": [1.0, 2.0, 3.0]}, frequencies=frequencies, random_state=0)
    model.fit(X, y)
    assert model.probabilities_.argmax() == 1


@pytest.mark.parametrize("class_", REGRESSORS + CLASSIFIERS)
def test_cutting_the_stream_with_given_frequencies_changes_nothing(class_):
    X, y = stream(0)
    frequencies = np.random.default_rng(0).normal(size=(9, 3, 4))
    model = class_(MIXED, frequencies=frequencies, random_state=0)
    whole = copy.deepcopy(model)
    expected = values_on_the_way(whole, X, labels(class_, y))
    cuts = np.split(np.arange(200), [70, 71, 129])
    found = [values_on_the_way(model, X[rows], labels(class_, y)[rows]) for rows in cuts]
    assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.coef_, whole.coef_, rtol=1e-9, atol=1e-12)


def test_refusals():
    X, y = stream(0)
    with pytest.raises(ValueError, match="'alpha', a ridge"):
        RFOKSRegressor({"gamma": [1.0], "alpha": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="smooth"):
        RFOKSPlusPlusRegressor(loss=AbsoluteError()).fit(X, y)
    with pytest.raises(ValueError, match="there are 6"):
        RFIOKSRegressor(frequencies=np.ones((5, 3, 4))).fit(X, y)
    model = RFOKSRegressor(random_state=0, n_components=10).fit(X, y)
    for name, other in {"horizon": 100, "step_scale": 1.0, "radius": 2.0}.items():
        with pytest.raises(ValueError, match=name):
            copy.deepcopy(model).set_params(**{name: other}).partial_fit(X, y)


@pytest.mark.parametrize("class_", REGRESSORS)
@pytest.mark.parametrize("size", [1e160, 1e308])
def test_overflow_is_refused(class_, size):
    X, y = stream(0, 20)
    model = class_(n_components=10, random_state=0).fit(X, y)
    before = model.coef_
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(X, size * (1 + y))
    assert_array_equal(model.coef_, before)


def test_angles_that_overflow_are_read_as_zero():
    X, y = stream(0, 20)
    model = RFOKSRegressor({"gamma": [1e300, 1.0]}, n_components=10, random_state=0)
    forecasts = model.prequential_predict(np.sign(X) * 1e307, y)
    assert np.all(np.abs(forecasts) <= math.sqrt(2))
