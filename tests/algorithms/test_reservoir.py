"""LKMBooks: oracle, the law of the reservoir, unbiasedness, regret, the doubling trick."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import is_classifier

from sklearn_okl.algorithms._reservoir import (
    LKMBooksClassifier,
    LKMBooksRegressor,
    _stretches,
    entry_chances,
)
from sklearn_okl.feedback._bandits import is_restart
from sklearn_okl.kernels import kernel_matrix
from tests.oracles import bandit_features as oracle

CASES = [(LKMBooksRegressor, loss) for loss in ("squared_error", "absolute_error", "pinball")]
CASES += [(LKMBooksClassifier, loss) for loss in ("log_loss", "hinge", "squared_hinge")]
MIXED = {"kernel": ["rbf", "laplacian", "matern12"], "gamma": [0.3, 2.0]}
LONGEST = {"squared_error": 0.5, "squared_hinge": 0.5, "log_loss": 4.0}


def stream(seed, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, d))
    return X, 0.5 + 0.4 * np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=n)


def generator(seed):
    return np.random.RandomState(np.random.RandomState(seed).randint(2**31 - 1))


def values_on_the_way(model, X, y):
    """Return the forecasts or decision values made before each row was learnt."""
    names = {"classes": [-1, 1]} if is_classifier(model) else {}
    return model._advance(X, y, restart=False, validation=names)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    ("seed", "options"),
    [
        (0, {"budget": 20}),
        (1, {"budget": 15, "horizon": 200}),
        (2, {"budget": 30, "horizon": 90, "decay": 0.0, "step_scale": 0.7}),
        (6, {"budget": 30, "step_scale": 20.0}),
        (3, {"kernels": MIXED, "budget": 12, "decay": 0.6}),
        (4, {"kernels": MIXED, "budget": 5, "horizon": 1000}),
    ],
)
@pytest.mark.parametrize(("class_", "loss"), CASES)
def test_equals_the_oracle(class_, loss, seed, options):
    n = 128 if seed == 3 else 150  # 128: a stretch ends with the stream
    X, y = stream(seed, n)
    if class_ is LKMBooksClassifier:
        y = np.where(y > np.median(y), 1.0, -1.0)
    model = class_(loss=loss, random_state=seed, **options)
    if loss == "pinball":
        model.set_params(quantile=0.3)
    found = values_on_the_way(model, X, y)
    place = {x.tobytes(): i for i, x in enumerate(X)}
    grams = [kernel_matrix(X, X, **kernel) for kernel in model.kernels_]
    kernels = [lambda a, b, K=K: K[place[a.tobytes()], place[b.tobytes()]] for K in grams]
    expected, weights, rows, coef = oracle.lkmbooks(
        X,
        y,
        kernels,
        generator(seed),
        loss,
        model.horizon,
        model.budget,
        nu=model.decay,
        quantile=0.3,
        scale=model.step_scale,
        longest=LONGEST.get(loss, math.inf),
    )
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert_allclose(model.weights_, weights, rtol=1e-9)
    assert_array_equal(model.X_fit_, rows)
    assert_allclose(model.dual_coef_, coef, rtol=1e-9)
    assert len(rows) <= model.budget


@pytest.mark.parametrize(("class_", "loss"), CASES)
def test_cutting_the_stream_changes_nothing(class_, loss):
    X, y = stream(0, 300)
    if class_ is LKMBooksClassifier:
        y = np.where(y > np.median(y), 1.0, -1.0)
    model, whole = (class_(loss=loss, budget=25, random_state=0) for _ in range(2))
    expected = values_on_the_way(whole, X, y)
    cuts = np.split(np.arange(300), [1, 2, 64, 127, 128, 129, 200])
    found = np.concatenate([values_on_the_way(model, X[rows], y[rows]) for rows in cuts])
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, whole.weights_, rtol=1e-9)


@pytest.mark.long
@pytest.mark.parametrize(("decay", "T"), [(0.0, 400), (0.25, 400), (0.6, 20000)])
def test_rows_enter_with_the_stated_probabilities(decay, T):
    """Counts over 300 streams, before the places are taken: chi-squared in ten groups of rows."""
    B, n, runs = 40, 120, 300
    X, y = np.arange(n)[:, None] / n, np.ones(n)
    counts, full = np.zeros(n), 0
    for seed in range(runs):
        # of the losses the absolute one, whose slope is never 0 here
        model = LKMBooksRegressor(
            {"gamma": [1e-6, 1e-5]},
            budget=B,
            horizon=T,
            loss="absolute_error",
            decay=decay,
            random_state=seed,
        )
        kept = model.fit(X, 100 * y).X_fit_[:, 0]
        full += len(kept) == B
        counts[np.rint(kept * n).astype(int)] += 1
    tau = np.arange(1, n + 1)
    p = np.minimum(1, B / ((1 - decay) * T ** (1 - decay) * tau**decay))
    assert full <= 0.05 * runs, "the places were taken: the counts are cut off"
    groups = np.arange(n) * 10 // n
    found, expected = np.bincount(groups, counts), np.bincount(groups, runs * p)
    variance = np.bincount(groups, runs * p * (1 - p))
    chi_squared = ((found - expected) ** 2 / np.maximum(variance, 1e-9)).sum()
    assert chi_squared < 30  # 10 degrees of freedom: 1 in 1000
    assert_allclose(entry_chances(tau, T, B, decay), p)


@pytest.mark.long
def test_coefficients_are_unbiased():
    """The mean of the coefficient of row t is -lambda times the slope there."""
    T, B, runs = 400, 40, 1000
    X, y = np.random.default_rng(0).uniform(size=(20, 1)), np.zeros(20)
    sums = np.zeros(20)
    lam = math.sqrt(1.25 * B) / (math.sqrt(0.75) * T)
    for seed in range(runs):
        model = LKMBooksRegressor(
            {"gamma": [1.0]}, budget=B, horizon=T, loss="absolute_error", random_state=seed
        )
        model.fit(X, y + 100)  # slopes are -1
        sums[np.searchsorted(np.sort(X[:, 0]), model.X_fit_[:, 0])] += model.dual_coef_
    mean = sums[np.argsort(np.argsort(X[:, 0]))] / runs
    p = entry_chances(np.arange(1, 21), T, B, 0.25)
    deviation = lam * np.sqrt((1 - p) / p / runs)
    assert np.abs((mean - lam) / deviation).max() < 4
    assert abs(((mean - lam) / deviation).mean()) < 1


def test_the_reservoir_is_full_after_the_stated_part_of_the_stream():
    parts = []
    for seed in range(8):
        X, y = stream(seed, 2000)
        model = LKMBooksRegressor(budget=100, horizon=2000, random_state=seed)
        while len(y) and (len(model.X_fit_) < 100 if model.__sklearn_is_fitted__() else True):
            model.partial_fit(X[:20], y[:20])
            X, y = X[20:], y[20:]
        parts.append(model.n_samples_seen_ / 2000)
    assert np.mean(parts) == pytest.approx(0.75 ** (2 / 0.75), abs=0.05)


def test_stretches_are_those_of_the_doubling_trick():
    lengths, rounds = _stretches(0, 300, None)
    assert_array_equal(lengths[[0, 63, 64, 127, 128, 255, 256]], [64, 64, 64, 64, 128, 128, 256])
    assert_array_equal(rounds[[0, 63, 64, 127, 128, 255, 256]], [1, 64, 1, 64, 1, 128, 1])
    starts = [is_restart(t) for t in range(1, 300)]  # those of the samplers
    assert_array_equal(rounds[1:] == 1, starts)
    later = _stretches(100, 200, None)
    assert_array_equal(later[0], lengths[100:])
    assert_array_equal(later[1], rounds[100:])


def test_rows_of_an_earlier_stretch_stay_until_their_places_are_taken():
    X, y = stream(0, 128)
    model = LKMBooksRegressor(budget=10, random_state=0).fit(X, y)
    before = model.X_fit_
    assert len(before) == 10
    for t in range(64):
        model.partial_fit(X[:1] + t, y[:1])
        entered = model._state["n_entered"]
        assert_array_equal(model.X_fit_[entered:], before[entered:])
    assert 0 < entered < 10 or entered == 10
    assert len(model.X_fit_) == 10


def test_weights_find_the_kernel_that_fits():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(4000, 1))
    y = np.sin(9 * X[:, 0])
    model = LKMBooksRegressor({"gamma": [20.0, 0.001]}, horizon=4000, random_state=0)
    f = model.prequential_predict(X, y)
    assert model.weights_[0] > 0.9
    assert ((f - y)[3000:] ** 2).mean() < 0.2 * y.var()


def test_regret_grows_no_faster_than_the_theorem_says():
    """With a budget in proportion to T the theorem says the root of T."""
    horizons, regrets = np.array([250, 1000, 4000]), np.zeros(3)
    for i, T in enumerate(horizons):
        for seed in range(3):
            rng = np.random.default_rng(seed)
            X = rng.uniform(-1, 1, size=(T, 1))
            atoms, coef = np.array([[-0.7], [0.0], [0.6]]), np.array([0.6, -0.6, 0.5])
            planted = kernel_matrix(X, atoms, gamma=5.0) @ coef
            y = planted + rng.choice([-0.2, 0.2], size=T)
            model = LKMBooksRegressor(
                {"gamma": [0.01, 5.0, 500.0]},
                budget=int(T // 5),
                horizon=int(T),
                loss="absolute_error",
                random_state=seed,
            )
            f = model.prequential_predict(X, y)
            regrets[i] += (np.abs(f - y) - np.abs(planted - y)).sum()
    growth = np.polyfit(np.log(horizons), np.log(regrets), 1)[0]
    print(f"\nLKMBooks: regret grows as T^{growth:.2f}, theorem T^0.50")
    assert growth < 0.6


def test_refusals_and_overflow():
    X, y = stream(0, 30)
    with pytest.raises(ValueError, match="'alpha', a ridge"):
        LKMBooksRegressor({"gamma": [1.0], "alpha": [1.0]}).fit(X, y)
    with pytest.raises(ValueError, match="'budget'"):
        LKMBooksRegressor(budget=0).fit(X, y)
    model = LKMBooksRegressor(random_state=0).fit(X, y)
    for name, other in {"horizon": 100, "decay": 0.5, "budget": 10, "step_scale": 2.0}.items():
        old = getattr(model, name)
        with pytest.raises(ValueError, match=name):
            model.set_params(**{name: other}).partial_fit(X, y)
        model.set_params(**{name: old})
    with pytest.raises(ValueError, match="overflowed"):
        model.partial_fit(X, y + 1.7e308)
    assert_array_equal(LKMBooksRegressor().fit(X, 0 * y).X_fit_, np.empty((0, 3)))  # slopes are 0
