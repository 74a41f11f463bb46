"""BOA, ML-Poly and ML-Prod: published numbers, oracles, regrets, sleepers, extremes."""

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import check_estimator

from sklearn_okl.aggregators import (
    AARegressor,
    BOARegressor,
    EWARegressor,
    FixedShareRegressor,
    MLPolyRegressor,
    MLProdRegressor,
    SquintRegressor,
    StackedBOARegressor,
)
from sklearn_okl.evaluation import check_online_estimator
from tests.oracles.aggregation import boa, instant_regrets, ml_poly, ml_prod

ORACLES = {BOARegressor: boa, MLPolyRegressor: ml_poly, MLProdRegressor: ml_prod}
GOLDEN = {BOARegressor: "boa", MLPolyRegressor: "ml_poly", MLProdRegressor: "ml_prod"}
RULES = list(ORACLES)

each_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)


def stream(seed, K, n=200, sleepy=False):
    """Targets in [0, 1] and K experts of all qualities."""
    rng = np.random.default_rng(seed)
    y = rng.uniform(size=n)
    F = y[:, None] + rng.normal(size=(n, K)) * rng.uniform(0.05, 1, K) + rng.normal(size=K) / 5
    if sleepy:
        asleep = rng.uniform(size=F.shape) < 0.3
        asleep[:10, : K // 2] = True  # half of them start late
        asleep[np.arange(n), rng.integers(K, size=n)] = False
        F[asleep] = np.nan
    return F, y


@each_rule
def test_golden(golden, rule):
    data, name = golden("airfoil_300"), GOLDEN[rule]
    F, y = np.clip(data["expert_ridge"], 0, 1), data["y"]
    model = rule(gradient_trick=False, initial_rate=2**-20)
    assert_allclose(model.prequential_predict(F, y), data[name], rtol=0, atol=1e-9)
    assert_allclose(model.weights_, data[f"{name}_final_weights"], rtol=0, atol=1e-9)
    tangent = rule(initial_rate=2**-20).prequential_predict(F, y)
    assert_allclose(tangent, data[f"{name}_gradient"], rtol=0, atol=1e-9)


@pytest.mark.long(every=7)
@pytest.mark.parametrize("sleepy", [False, True])
@pytest.mark.parametrize("K", [1, 2, 7, 76])
@pytest.mark.parametrize("start", [None, 2**-20, 0.3])
@pytest.mark.parametrize("gradient", [False, True])
@each_rule
def test_equals_the_literal_loop(rule, gradient, start, K, sleepy):
    losses = [("squared_error", 0.5), ("absolute_error", 0.5), ("pinball", 0.8)]
    for seed, (loss, quantile) in enumerate(losses):
        F, y = stream(seed, K, sleepy=sleepy)
        prior = np.arange(1.0, K + 1) if seed == 1 else None
        model = rule(
            loss=loss,
            quantile=quantile,
            gradient_trick=gradient,
            initial_rate=start,
            prior_weights=prior,
        )
        forecasts, weights = ORACLES[rule](
            F, y, start, prior, gradient, loss=loss, quantile=quantile
        )
        assert_allclose(model.prequential_predict(F, y), forecasts, rtol=1e-9, atol=1e-11)
        assert_allclose(model.weights_, weights, rtol=1e-8, atol=1e-11)


def adversarial(seed, T=1000, K=10):
    """Random ends of the range; one expert is slightly better."""
    rng = np.random.default_rng(seed)
    y = (rng.uniform(size=T) < 0.5).astype(float)
    F = (rng.uniform(size=(T, K)) < 0.5).astype(float)
    F[:, 3] = np.where(rng.uniform(size=T) < 0.55, y, 1 - y)
    return F, y


def against_a_wall(seed, T=1000, K=10):
    """One expert at the target, the others far."""
    F = np.ones((T, K))
    F[:, seed % K] = 0.0
    return F, np.zeros(T)


def of_all_qualities(seed, T=1000, K=10):
    F, y = stream(seed, K, n=T)
    return np.clip(F, 0, 1), y


def scale_of(rule, regrets):
    """What the theorem measures the regrets by, without its constants."""
    K = regrets.shape[1]
    if rule is MLPolyRegressor:
        return np.sqrt(K * (1 + np.square(regrets).sum(axis=0)))
    start = 1.0 if rule is MLProdRegressor else 0.0
    root = np.sqrt(np.log(K) * (start + np.square(regrets).sum(axis=0)))
    return root + np.log(K) * np.abs(regrets).max()


@pytest.mark.long(every=2)
@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("start", [None, 2**-20])
@pytest.mark.parametrize("kind", [adversarial, against_a_wall, of_all_qualities])
@each_rule
def test_regret_is_of_second_order(rule, kind, start, gradient, record_property):
    shares, plain = [], []
    for seed in range(2):
        F, y = kind(seed)
        forecasts = rule(gradient_trick=gradient, initial_rate=start).prequential_predict(F, y)
        regrets = instant_regrets(y[:, None], F, forecasts[:, None], True, gradient)
        shares.append((regrets.sum(axis=0) / scale_of(rule, regrets)).max())
        if rule is MLPolyRegressor:
            measure = np.sqrt(F.shape[1] * np.square(regrets).max(axis=1).sum())
        else:
            measure = np.sqrt(np.log(F.shape[1]) * np.square(regrets).sum(axis=0))
        plain.append((regrets.sum(axis=0) / measure).max())
    record_property("regret over the theorem's scale", float(max(shares)))
    record_property("regret over the leading root", float(max(plain)))
    print(f"{rule.__name__}, {kind.__name__}, {start=}, {gradient=}: {max(plain):.2f} of the root")
    assert max(shares) <= 1.6


@pytest.mark.long(every=2)
@each_rule
def test_the_tangent_pursues_the_best_combination(rule):
    rng = np.random.default_rng(0)
    y = rng.uniform(size=3000)
    error = rng.choice([-0.4, 0.4], size=3000)
    F = np.c_[y + error, y - error, y + 0.2]  # equal halves of the first two would be perfect
    tangent = rule().prequential_predict(F, y)
    plain = rule(gradient_trick=False).prequential_predict(F, y)
    late = slice(-1000, None)
    error, other = (np.square(f - y)[late].mean() for f in (tangent, plain))
    assert error < 0.004 < other


@each_rule
def test_a_quantile_is_found(rule):
    rng = np.random.default_rng(1)
    y = rng.normal(size=4000)
    F = np.tile(np.linspace(-3, 3, 13), (4000, 1))
    model = rule(loss="pinball", quantile=0.9).fit(F, y)
    assert abs(model.predict(F[:1])[0] - 1.28) < 0.2


def test_small_losses_want_a_start_of_about_their_square():
    """That of the theorem is for losses up to 1: it is a sum of squares, not a loss."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=2000)
    F, small = y[:, None] + rng.normal(size=(2000, 4)) * [0.3, 0.36, 0.45, 0.6], 1e-3

    def loss(unit, start=None):
        forecasts = MLProdRegressor(initial_rate=start).prequential_predict(F * unit, y * unit)
        return np.mean((forecasts / unit - y) ** 2)

    assert loss(small) > 1.15 * loss(1.0)  # as the literal loop
    assert loss(small, small**2) > 1.1 * loss(1.0)  # regrets are of about this size
    assert loss(small, small**4) < 1.01 * loss(1.0)


@pytest.mark.parametrize("rule", [BOARegressor, MLPolyRegressor], ids=lambda rule: rule.__name__)
def test_blind_to_the_scale(rule):
    F, y = stream(3, 8)
    expected = rule(initial_rate=None if rule is BOARegressor else 1e6).fit(
        F * 2.0**30, y * 2.0**30
    )
    for exponent in (-60, -10, 10, 60) if rule is BOARegressor else (40, 60):
        scale = 2.0**exponent
        model = rule().fit(F * scale, y * scale)
        assert_allclose(model.weights_, expected.weights_, rtol=1e-6)


@each_rule
def test_the_first_forecast_is_the_priors(rule):
    F, y = stream(0, 5)
    prior = np.array([1.0, 2.0, 3.0, 4.0, 90.0])
    forecasts = rule(prior_weights=prior).prequential_predict(F, y)
    assert_allclose(forecasts[0], prior @ F[0] / 100, rtol=1e-12)


@each_rule
def test_an_expert_that_starts_late_is_given_its_chance_only(rule):
    F, y = stream(0, 4, n=500)
    late = np.c_[F, np.full(len(y), np.nan)]
    model = rule()
    model.fit(late, y)
    assert model.weights_[4] < 0.5
    late[100:, 4] = y[100:]  # perfect from its start: takes over
    assert rule().fit(late, y).weights_.argmax() == 4


@pytest.mark.long(every=2)
@pytest.mark.parametrize("gradient", [False, True])
@each_rule
def test_sleepers_do_not_mind_the_cut_and_predict_foresees(rule, gradient):
    F, y = stream(5, 6, n=120, sleepy=True)
    whole = rule(gradient_trick=gradient)
    expected = whole.prequential_predict(F, y)
    single = rule(gradient_trick=gradient).partial_fit(F[:1], y[:1])
    for t in range(1, len(y)):
        assert_allclose(single.predict(F)[t], expected[t], rtol=1e-8)
        single.partial_fit(F[t : t + 1], y[t : t + 1])
    assert_allclose(single.weights_, whole.weights_, rtol=1e-8)


@each_rule
def test_a_forecast_never_sees_its_target(rule):
    F, y = stream(6, 4, sleepy=True)
    before = rule().prequential_predict(F, y)
    for t in (0, 1, 60, 150):
        changed = y.copy()
        changed[t:] = 1 - changed[t:] ** 2
        after = rule().prequential_predict(F, changed)
        assert_array_equal(after[: t + 1], before[: t + 1])
        assert not np.allclose(after[t + 1 :], before[t + 1 :])


@each_rule
def test_rows_with_nobody_awake(rule):
    F, y = stream(7, 3, sleepy=True)
    empty = np.array([0, 40, 41, 199])
    gaps = np.insert(F, empty, np.nan, axis=0)
    rows = empty + np.arange(4)
    targets = np.insert(y, empty, 77.0)
    with pytest.raises(ValueError, match="Row 0 of X"):
        rule().fit(gaps, targets)
    without = rule().fit(F, y)
    with pytest.raises(ValueError, match="Row 40 of X"):
        without.predict(gaps[1:])
    model = rule(fallback=-5.0)
    forecasts = model.prequential_predict(gaps, targets)
    assert_array_equal(forecasts[rows], -5.0)
    assert_array_equal(np.delete(forecasts, rows), rule().prequential_predict(F, y))
    assert_array_equal(model.weights_, without.weights_)
    assert_array_equal(model.predict(gaps)[rows], -5.0)


@pytest.mark.parametrize("sleepy", [False, True])
@each_rule
def test_convexity_and_permutations(rule, sleepy):
    for seed in range(3):
        F, y = stream(seed, 12, sleepy=sleepy)
        order = np.random.default_rng(seed).permutation(12)
        prior = np.arange(1.0, 13.0)
        fitted = rule(prior_weights=prior)
        for f in (fitted.prequential_predict(F, y), fitted.predict(F)):
            assert np.all(f >= np.nanmin(F, axis=1))
            assert np.all(f <= np.nanmax(F, axis=1))
        assert np.all(fitted.weights_ >= 0)
        assert_allclose(fitted.weights_.sum(), 1, rtol=1e-12)
        permuted = rule(prior_weights=prior[order]).fit(F[:, order], y)
        assert_allclose(permuted.weights_, fitted.weights_[order], rtol=1e-8, atol=1e-13)


@pytest.mark.parametrize("start", [None, 2**-20])
@pytest.mark.parametrize("K", [1, 1000])
@each_rule
def test_few_many_and_equal_experts(rule, K, start):
    F, y = stream(1, K, n=60)
    model = rule(initial_rate=start)
    forecasts = model.prequential_predict(F, y)
    assert model.weights_.shape == (K,)
    assert np.all(np.isfinite(forecasts))
    if K == 1:
        assert_array_equal(forecasts, F[:, 0])
        assert_array_equal(model.weights_, [1.0])
    equal = rule(initial_rate=start)
    forecasts = equal.prequential_predict(np.tile(F[:, :1], (1, K)), y)
    assert_array_equal(forecasts, F[:, 0])
    assert_allclose(equal.weights_.sum(), 1.0, rtol=1e-12)
    # rounding may have favoured some of the equals; that is forgotten once they differ
    late = np.tile(y[:, None], (1, K)) + np.linspace(0, 1, K)
    assert_allclose(equal.partial_fit(late, y).weights_[: K // 2 + 1].sum(), 1, atol=0.05)


@pytest.mark.long(every=3)
@pytest.mark.slow
@pytest.mark.parametrize("gradient", [False, True])
@each_rule
def test_huge_losses_and_long_streams(rule, gradient, full_size):
    n = 1_000_000 if full_size else 5_000
    rng = np.random.default_rng(0)
    y = rng.uniform(size=n)
    F = y[:, None] + rng.normal(size=(n, 3)) * [1.0, 1e2, 1e4]  # losses up to 1e8 and beyond
    model = rule(gradient_trick=gradient)
    forecasts = model.prequential_predict(F, y)
    assert np.all((forecasts >= F.min(axis=1)) & (forecasts <= F.max(axis=1)))
    assert all(np.all(np.isfinite(value)) for value in model._state.values())
    regrets = instant_regrets(y[:, None], F, forecasts[:, None], True, gradient)
    # at this scale of losses the theorem promises little; the best expert must still be found
    assert np.all(regrets.sum(axis=0) <= 1.6 * scale_of(rule, regrets) + 1.0)
    assert model.weights_[2] < 0.05


@each_rule
def test_bad_arguments_are_refused_with_a_sentence(rule):
    F, y = stream(0, 3)
    for parameters, sentence in [
        ({"prior_weights": [1.0, 2.0]}, "2 entries, but X has 3 columns"),
        ({"prior_weights": [1.0, -1.0, 2.0]}, "positive finite"),
        ({"initial_rate": 0.0}, "initial_rate"),
        ({"loss": "hinge"}, "loss"),
        ({"quantile": 1.0}, "quantile"),
    ]:
        with pytest.raises(ValueError, match=sentence):
            rule(**parameters).fit(F, y)
    infinite = F.copy()
    infinite[3, 1] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        rule().fit(infinite, y)
    fitted = rule().fit(F, y)
    with pytest.raises(ValueError, match="mid-stream"):
        fitted.set_params(gradient_trick=False).partial_fit(F, y)


@pytest.mark.long(every=2)
@pytest.mark.parametrize("gradient", [False, True])
@each_rule
def test_laws(rule, gradient):
    check_online_estimator(rule(gradient_trick=gradient))


@pytest.mark.long(every=3)
@each_rule
def test_scikit_learn_accepts_it(rule):
    check_estimator(clone(rule()), on_skip=None)


@pytest.mark.parametrize("rule", [BOARegressor, MLProdRegressor, MLPolyRegressor])
def test_who_wakes_is_not_judged_by_rounding(rule):
    """A faulty target is learnt as its own forecast: that error is rounding, and says nothing."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=40)
    F = y[:, None] + rng.normal(size=(40, 3)) * [0.3, 0.5, 1.0]
    F[:-1, 2] = np.nan
    model = rule().fit(F[:-1], y[:-1])
    for ulps in (-2, -1, 1, 2):
        forecast = model.predict(F[-1:])
        told = copy.deepcopy(model).partial_fit(F[-1:], forecast + ulps * np.spacing(forecast))
        exact = copy.deepcopy(model).partial_fit(F[-1:], forecast)
        assert_allclose(told.weights_, exact.weights_, rtol=1e-9)


@pytest.mark.long(every=5)
@pytest.mark.parametrize("n_asleep", [0, 1])
@pytest.mark.parametrize("value", [1e5, 1e9, 1e15, 9.96921e36])
@pytest.mark.parametrize(
    "rule",
    [
        EWARegressor,
        AARegressor,
        FixedShareRegressor,
        BOARegressor,
        MLPolyRegressor,
        MLProdRegressor,
        SquintRegressor,
        StackedBOARegressor,
    ],
)
def test_what_all_say_alike_teaches_nothing(rule, value, n_asleep):
    """As when the feed of all experts is down and a number stands for none."""
    rng = np.random.default_rng(2)
    y = np.cumsum(rng.normal(size=200))
    F = y[:, None] + rng.normal(size=(200, 4)) * [0.5, 1.0, 2.0, 4.0]
    F[::7, :n_asleep] = np.nan
    spoilt = F.copy()
    spoilt[100, ~np.isnan(F[100])] = value
    whole, rows = rule(), rule()
    forecasts = whole.prequential_predict(spoilt, y)
    single = [rows.prequential_predict(x[None], t[None])[0] for x, t in zip(spoilt, y, strict=True)]
    assert_allclose(single, forecasts, rtol=1e-9, atol=1e-9)
    errors, clean = ((said - y)[101:] for said in (forecasts, rule().prequential_predict(F, y)))
    assert (errors**2).mean() <= 1.05 * (clean**2).mean()


@pytest.mark.parametrize("gradient", [False, True])
@pytest.mark.parametrize("rule", [BOARegressor, MLPolyRegressor, MLProdRegressor, SquintRegressor])
def test_equals_are_not_told_apart_by_rounding(rule, gradient):
    """Regrets are told by their own size: those of rounding would decide once experts differ."""
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    f = y + 0.3 * rng.normal(size=60)
    F = f[:, None] + rng.integers(-2, 3, size=(60, 4)) * np.spacing(f)[:, None]
    model = rule(gradient_trick=gradient).fit(F, y)
    assert_allclose(model.weights_, 0.25, rtol=1e-9)
