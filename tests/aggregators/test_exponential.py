"""EWA, Vovk's aggregating algorithm and fixed share: oracles, theorems, sleepers, extremes."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sklearn_okl.aggregators import AARegressor, EWARegressor, FixedShareRegressor
from sklearn_okl.evaluation import check_online_estimator
from sklearn_okl.losses import get_loss
from tests.oracles.aggregation import aggregating, ewa, fixed_share

RULES = [
    EWARegressor(),
    EWARegressor(gradient_trick=True, y_range=(0, 1)),
    AARegressor(),
    AARegressor(y_range=(0, 1)),
    FixedShareRegressor(),
]


def stream(seed, K, n=200, sleepy=False):
    """Targets in [0, 1] and K experts of all qualities, in [0, 1]."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(size=n)
    F = y[:, None] + rng.normal(size=(n, K)) * rng.uniform(0.05, 1, K) + rng.normal(size=K) / 5
    F = np.clip(F, 0, 1)
    if sleepy:
        asleep = rng.uniform(size=F.shape) < 0.3
        asleep[: n // 4] = False  # rows learnt together, then rows learnt alone
        asleep[np.arange(n), rng.integers(K, size=n)] = False
        F[asleep] = np.nan
    return F, y


def squares(forecasts, y):
    return np.square(forecasts - y)


@pytest.mark.parametrize("y_range", [None, (0, 1)])
def test_ewa_golden(golden, y_range):
    data = golden("airfoil_300")
    F = np.clip(data["expert_ridge"], 0, 1)
    forecasts = EWARegressor(0.5, y_range=y_range).prequential_predict(F, data["y"])
    assert_allclose(forecasts[1:], data["ewa_eta_half"][1:], rtol=0, atol=1e-9)
    theory = EWARegressor(y_range=(0, 1)).prequential_predict(F, data["y"])
    assert_allclose(theory, forecasts, rtol=1e-12)


@pytest.mark.parametrize("eta", [None, 2.0])
def test_aggregating_algorithm_golden(golden, eta):
    data = golden("airfoil_300")
    F = np.clip(data["expert_ridge"], 0, 1)
    forecasts = AARegressor(eta, y_range=(0, 1)).prequential_predict(F, data["y"])
    assert_allclose(forecasts[1:], data["aggregating_eta_2"][1:], rtol=0, atol=1e-9)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("sleepy", [False, True])
@pytest.mark.parametrize("K", [1, 2, 7, 76])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"y_range": (0, 1)},
        {"eta": 3.0},
        {"eta": "decreasing"},
        {"loss": "absolute_error"},
        {"loss": "pinball", "quantile": 0.8, "y_range": (0, 1)},
        {"gradient": True},
        {"gradient": True, "loss": "pinball", "quantile": 0.3, "eta": 0.7},
    ],
    ids=str,
)
@pytest.mark.parametrize("rule", ["ewa", "fixed share"])
def test_equals_the_literal_loop(rule, options, K, sleepy):
    prior = np.arange(1.0, K + 1) if len(options) % 2 else None
    ours = {name: value for name, value in options.items() if name != "gradient"}
    ours |= {"gradient_trick": options.get("gradient", False), "prior_weights": prior}
    if rule == "ewa":
        model, oracle = EWARegressor(**ours), ewa
    else:
        model, oracle = FixedShareRegressor(0.05, **ours), fixed_share
        options = options | {"share": 0.05}
    F, y = stream(K, K, n=120, sleepy=sleepy)
    forecasts, weights = oracle(F, y, prior=prior, **options)
    assert_allclose(model.prequential_predict(F, y), forecasts, rtol=1e-9, atol=1e-12)
    assert_allclose(model.weights_, weights, rtol=1e-8, atol=1e-12)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("sleepy", [False, True])
@pytest.mark.parametrize("K", [1, 2, 7, 76])
@pytest.mark.parametrize("options", [{}, {"y_range": (0, 1)}, {"eta": 1.0}], ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_aggregating_algorithm_equals_the_literal_loop(options, K, sleepy, seed):
    F, y = stream(seed, K, sleepy=sleepy)
    prior = np.arange(1.0, K + 1) if seed else None
    model = AARegressor(**options, prior_weights=prior)
    expected = aggregating(F, y, prior=prior, **options)
    assert_allclose(model.prequential_predict(F, y), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("K", [2, 30, 1000])
def test_ewa_regret_uses_nearly_all_of_its_bound(K, record_property):
    y = np.zeros(200)
    F = np.ones((200, K))
    F[:, 0] = 0.0  # one expert at the target, the others as far as can be
    for low, high in [(0.0, 1.0), (-3.0, 5.0)]:
        forecasts = EWARegressor(y_range=(low, high)).prequential_predict(
            low + F * (high - low), low + y
        )
        regret = squares(forecasts, low).sum()
        share = regret / (2 * (high - low) ** 2 * np.log(K))
        record_property(f"share of the bound, K={K}", float(share))
        assert share <= 1
        assert share >= {2: 0.3, 30: 0.6, 1000: 0.8}[K]


@pytest.mark.parametrize("K", [2, 30, 1000])
def test_aggregating_algorithm_regret_bites(K, record_property):
    F = np.ones((200, K))
    F[:, 0] = 0.0
    forecasts = AARegressor(y_range=(0, 1)).prequential_predict(F, np.zeros(200))
    share = squares(forecasts, 0).sum() / (np.log(K) / 2)
    record_property(f"share of the bound, K={K}", float(share))
    assert 0.3 <= share <= 1


@pytest.mark.parametrize("sleepy", [False, True])
@pytest.mark.parametrize("seed", range(5))
def test_regrets_of_those_awake_stay_within_the_bounds(seed, sleepy):
    K = 20
    F, y = stream(seed, K, n=400, sleepy=sleepy)
    y = np.round(y)  # the ends of the range
    prior = np.random.default_rng(seed).uniform(0.1, 1, K)
    for model, eta in [(EWARegressor(y_range=(0, 1)), 0.5), (AARegressor(y_range=(0, 1)), 2.0)]:
        model.set_params(prior_weights=prior)
        losses = squares(model.prequential_predict(F, y), y)
        regrets = np.nansum(losses[:, None] - squares(F, y[:, None]), axis=0)
        assert np.all(regrets <= -np.log(prior / prior.sum()) / eta + 1e-9)


@pytest.mark.parametrize("loss", ["absolute_error", "pinball", "squared_error"])
def test_the_decreasing_rate_keeps_its_bound(loss):
    T, K = 1000, 10
    spread = {"absolute_error": 1.0, "pinball": 0.8, "squared_error": 1.0}[loss]
    value = get_loss(loss, 0.8).value
    for seed in range(3):
        rng = np.random.default_rng(seed)
        y = (rng.uniform(size=T) < 0.5).astype(float)
        F = (rng.uniform(size=(T, K)) < 0.5).astype(float)
        model = EWARegressor("decreasing", y_range=(0, 1), loss=loss, quantile=0.8)
        regret = value(y, model.prequential_predict(F, y)).sum()
        regret -= value(y[:, None], F).sum(axis=0).min()
        bound = 2 * np.sqrt(T * np.log(K) / 2) + np.sqrt(np.log(K) / 8)
        assert regret <= spread * bound


@pytest.mark.parametrize("share", [0.002, 0.01, 0.1])
def test_fixed_share_follows_a_best_expert_that_changes(share, record_property):
    T, K, switches = 600, 30, 5
    best = np.repeat(np.arange(switches + 1), T // (switches + 1))
    y = np.zeros(T)
    F = np.ones((T, K))
    F[np.arange(T), best] = 0.0
    regret = squares(FixedShareRegressor(share, y_range=(0, 1)).prequential_predict(F, y), y).sum()
    bound = (switches + 1) * np.log(K) + switches * np.log(1 / share)
    bound = 2 * (bound + (T - switches - 1) * np.log(1 / (1 - share)))
    record_property("share of the bound", float(regret / bound))
    assert 0.3 * bound <= regret <= bound
    static = squares(EWARegressor(y_range=(0, 1)).prequential_predict(F, y), y).sum()
    assert regret < static / 3


def test_the_ends_of_the_share():
    F, y = stream(2, 9, sleepy=True)
    for options in ({"y_range": (0, 1)}, {"eta": 4.0}):  # constant rates
        none = FixedShareRegressor(0.0, **options).prequential_predict(F, y)
        assert_allclose(none, EWARegressor(**options).prequential_predict(F, y), rtol=1e-9)
    everything = FixedShareRegressor(1.0).prequential_predict(F, y)
    assert_allclose(everything, np.nanmean(F, axis=1), rtol=1e-12)


def test_the_tangent_pursues_the_best_combination():
    rng = np.random.default_rng(0)
    y = rng.uniform(size=2000)
    error = rng.choice([-0.4, 0.4], size=2000)
    F = np.c_[y + error, y - error, y + 0.2]  # equal halves of the first two would be perfect
    tangent = EWARegressor(gradient_trick=True).prequential_predict(F, y)
    plain = EWARegressor().prequential_predict(F, y)
    assert squares(tangent, y)[-500:].mean() < 0.002 < squares(plain, y)[-500:].mean()


@pytest.mark.parametrize("model", RULES, ids=str)
def test_the_first_forecast(model):
    F, y = stream(0, 5)
    prior = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
    first = clone(model).set_params(prior_weights=prior).prequential_predict(F, y)[0]
    if isinstance(model, AARegressor) and model.y_range is not None:
        ends = np.array([[0.0], [1.0]])
        g = -np.log((prior / 100 * np.exp(-2 * (ends - F[0]) ** 2)).sum(axis=1)) / 2
        assert_allclose(first, 0.5 + (g[0] - g[1]) / 2, rtol=1e-12)
    else:
        assert_allclose(first, prior @ F[0] / 100, rtol=1e-12)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("model", RULES, ids=str)
def test_sleepers_do_not_mind_the_cut_and_predict_foresees(model):
    F, y = stream(5, 6, n=120, sleepy=True)
    whole = clone(model)
    expected = whole.prequential_predict(F, y)
    single = clone(model).partial_fit(F[:1], y[:1])
    for t in range(1, len(y)):
        assert_allclose(single.predict(F)[t], expected[t], rtol=1e-8)
        single.partial_fit(F[t : t + 1], y[t : t + 1])
    assert_allclose(single.weights_, whole.weights_, rtol=1e-8)
    one_tile = clone(model)
    parts = [
        one_tile.prequential_predict(F[a:b], y[a:b]) for a, b in [(0, 31), (31, 90), (90, 120)]
    ]
    assert_allclose(np.concatenate(parts), expected, rtol=1e-8)


@pytest.mark.parametrize("model", RULES, ids=str)
def test_a_forecast_never_sees_its_target(model):
    F, y = stream(6, 4, sleepy=True)
    before = clone(model).prequential_predict(F, y)
    for t in (0, 1, 60, 150):
        changed = y.copy()
        changed[t:] = 1 - changed[t:] ** 2
        after = clone(model).prequential_predict(F, changed)
        assert_array_equal(after[: t + 1], before[: t + 1])
        assert not np.allclose(after[t + 1 :], before[t + 1 :])


@pytest.mark.parametrize("model", RULES, ids=str)
def test_rows_with_nobody_awake(model):
    F, y = stream(7, 3, sleepy=True)
    empty = np.array([0, 40, 41, 199])
    gaps = np.insert(F, empty, np.nan, axis=0)
    rows = empty + np.arange(4)
    targets = np.insert(y, empty, 77.0)
    with pytest.raises(ValueError, match="Row 0 of X"):
        clone(model).fit(gaps, targets)
    without = clone(model).fit(F, y)
    with pytest.raises(ValueError, match="Row 40 of X"):
        without.predict(gaps[1:])
    model = clone(model).set_params(fallback=-5.0)
    forecasts = model.prequential_predict(gaps, targets)
    assert_array_equal(forecasts[rows], -5.0)
    expected = clone(model).prequential_predict(F, y)
    assert_allclose(np.delete(forecasts, rows), expected, rtol=1e-9)
    assert_allclose(model.weights_, without.weights_, rtol=1e-9)
    assert model.n_samples_seen_ == len(y)
    assert_array_equal(model.predict(gaps)[rows], -5.0)
    assert_array_equal(model.predict(gaps[:1]), [-5.0])
    model.partial_fit(gaps[:1], [0.5])
    assert model.n_samples_seen_ == len(y)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("sleepy", [False, True])
@pytest.mark.parametrize("model", RULES, ids=str)
def test_convexity_and_permutations(model, sleepy):
    for seed in range(3):
        F, y = stream(seed, 12, sleepy=sleepy)
        order = np.random.default_rng(seed).permutation(12)
        prior = np.arange(1.0, 13.0)
        fitted = clone(model).set_params(prior_weights=prior)
        forecasts = fitted.prequential_predict(F, y)
        slack = 1e-12 if isinstance(model, AARegressor) else 0.0
        for f in (forecasts, fitted.predict(F)):
            assert np.all(f >= np.nanmin(F, axis=1) - slack)
            assert np.all(f <= np.nanmax(F, axis=1) + slack)
        assert np.all(fitted.weights_ >= 0)
        assert_allclose(fitted.weights_.sum(), 1, rtol=1e-12)
        permuted = clone(model).set_params(prior_weights=prior[order]).fit(F[:, order], y)
        assert_allclose(permuted.weights_, fitted.weights_[order], rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("model", RULES, ids=str)
@pytest.mark.parametrize("K", [1, 1000])
def test_few_many_and_equal_experts(model, K):
    F, y = stream(1, K, n=60)
    expected = F[:, 0].copy()
    if isinstance(model, AARegressor) and model.y_range is None:
        past = np.stack([np.minimum.accumulate(y), np.maximum.accumulate(y)])[:, 1:-1]
        expected[2:] = np.clip(expected[2:], *past)  # to the targets seen
    model = clone(model)
    forecasts = model.prequential_predict(F, y)
    assert model.weights_.shape == (K,)
    assert np.all(np.isfinite(forecasts))
    if K == 1:
        assert_allclose(forecasts, expected, rtol=0, atol=1e-12)
        assert_array_equal(model.weights_, [1.0])
    equal = clone(model)
    forecasts = equal.prequential_predict(np.tile(F[:, :1], (1, K)), y)
    assert_allclose(forecasts, expected, rtol=0, atol=1e-12)
    assert_allclose(equal.weights_, 1 / K, rtol=1e-9)


@pytest.mark.long(every=2)
@pytest.mark.slow
@pytest.mark.parametrize("model", RULES, ids=str)
@pytest.mark.parametrize("eta", [None, 0.5])
def test_huge_losses_and_long_streams(model, eta, full_size):
    n = 1_000_000 if full_size else 10_000
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n)
    F = y[:, None] + rng.normal(size=(n, 3)) * [1.0, 1e2, 1e4]  # losses up to 1e8 and beyond
    model = clone(model).set_params(eta=eta)
    forecasts = model.prequential_predict(F, y)
    assert np.all((forecasts >= F.min(axis=1)) & (forecasts <= F.max(axis=1))) or isinstance(
        model, AARegressor
    )
    assert np.all(np.isfinite(forecasts))
    assert all(np.all(np.isfinite(value)) for value in model._state.values())
    assert model.weights_[0] > 0.97
    flat = clone(model).set_params(y_range=(0, 1))
    forecasts = flat.prequential_predict(np.full((n, 4), [0.0, 1.0, 0.5, 0.5]), np.zeros(n))
    assert forecasts[-1] < 0.2
    assert np.all(np.isfinite(flat.weights_))


def test_huge_and_tiny_ranges():
    F, y = stream(3, 5)
    for model in (EWARegressor(), AARegressor(), FixedShareRegressor()):
        expected = clone(model).prequential_predict(F, y)
        for scale in (1e-8, 1e8, 1e60):
            forecasts = clone(model).prequential_predict(F * scale, y * scale)
            assert_allclose(forecasts / scale, expected, rtol=1e-9)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("model", [EWARegressor(), AARegressor()], ids=str)
def test_memory_for_a_long_call_is_bounded(model):
    X = np.random.default_rng(0).uniform(size=(60_000, 76))
    y = X[:, 0].copy()
    model.partial_fit(X[:100], y[:100])
    tracemalloc.start()
    model.prequential_predict(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.6 * X.nbytes  # tiles, of which 6 or so are alive, are 2 MB each
    tracemalloc.start()
    model.predict(X)
    assert tracemalloc.get_traced_memory()[1] < 0.6 * X.nbytes
    tracemalloc.stop()


@pytest.mark.parametrize("model", RULES, ids=str)
def test_bad_arguments_are_refused_with_a_sentence(model):
    F, y = stream(0, 3)
    for parameters, sentence in [
        ({"prior_weights": [1.0, 2.0]}, "2 entries, but X has 3 columns"),
        ({"prior_weights": [1.0, 0.0, 2.0]}, "positive finite"),
        ({"prior_weights": [1.0, np.nan, 2.0]}, "positive finite"),
        ({"y_range": (1, 0)}, "lo < hi"),
        ({"y_range": (0, np.inf)}, "finite"),
        ({"eta": 0.0}, "eta"),
        ({"eta": "large"}, "eta"),
        ({"fallback": np.nan}, "fallback"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            clone(model).set_params(**parameters).fit(F, y)
    infinite = F.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        clone(model).fit(infinite, y)
    fitted = clone(model).fit(F, y)
    fitted.prior_weights = [1.0, 2.0, 3.0]
    with pytest.raises(ValueError, match="mid-stream"):
        fitted.partial_fit(F, y)


@pytest.mark.long(every=3)
@pytest.mark.parametrize("model", RULES, ids=str)
def test_laws(model):
    check_online_estimator(model)


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "model", [EWARegressor(), AARegressor(), FixedShareRegressor()], ids=lambda m: type(m).__name__
)
def test_scikit_learn_accepts_it(model):
    check_estimator(model, on_skip=None)
