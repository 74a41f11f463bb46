"""Copies on covering intervals: their loop, their bound on every interval, who may be copied."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.linear_model import Ridge, SGDRegressor

from sklearn_okl import (
    BOARegressor,
    OnlineKernelRegressor,
    RakerRegressor,
    RunningStandardScaler,
    StronglyAdaptiveRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import (
    check_online_estimator,
    ridge_comparator,
    strongly_adaptive_regret,
    strongly_adaptive_regret_bound,
)
from sklearn_okl.meta._covering import covering, log_prior_of
from tests.oracles import changing


def stream(seed, n=200, every=50):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    coef = np.repeat(rng.normal(size=(-(-n // every), 2)), every, axis=0)[:n]
    return X, np.clip((X * coef).sum(axis=1) + 0.2 * rng.normal(size=n), -2, 2)


def vaw():
    return lambda X, y: changing.discounted_vaw(X, y, 1.0, 1.0)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("min_length", [1, 5, 16])
@pytest.mark.parametrize("seed", [0, 1])
def test_equals_the_literal_loop(min_length, seed):
    X, y = stream(seed, n=150)
    expected, intervals = changing.strongly_adaptive(X, y, vaw, min_length)
    model = StronglyAdaptiveRegressor(min_length=min_length)
    cuts = [0, 1, 2, 30, 31, 32, 33, 80, 150]
    found = [model.prequential_predict(X[low:high], y[low:high]) for low, high in pairwise(cuts)]
    assert_allclose(np.concatenate(found), expected, rtol=1e-9, atol=1e-10)
    n_blocks = 150 // min_length + 1
    assert len(model.estimators_) <= np.log2(n_blocks) + 1
    assert len(model.weights_) == len(model.estimators_)
    assert sum(start < 150 <= stop for start, stop, *_ in intervals) == len(model.estimators_)


def greedy(n):
    model, y, forecasts = StronglyAdaptiveRegressor(), np.empty(n), np.empty(n)
    X = np.ones((n, 1))
    for t in range(n):
        forecasts[t] = model.predict(X[:1])[0] if t else 0.0
        y[t] = 1.0 if forecasts[t] <= 0 else -1.0
        model.partial_fit(X[:1], y[t : t + 1])
    return X, y, forecasts


@pytest.mark.long(every=3)
@pytest.mark.parametrize("kind", ["random", "drifting", "greedy"])
def test_the_bound_holds_on_every_interval_of_the_cover_and_on_unions(kind):
    n = 200
    if kind == "greedy":
        X, y, forecasts = greedy(n)
    else:
        X, y = stream(2, n)
        y = np.random.default_rng(0).permutation(y) if kind == "random" else y
        forecasts = StronglyAdaptiveRegressor().prequential_predict(X, y)
    _, intervals = changing.strongly_adaptive(X, y, vaw, 16)
    excess, shares = {}, []
    for start, stop, _, theirs in intervals:
        theirs = theirs[: stop - start]
        sums = np.cumsum(
            (forecasts[start:stop] - y[start:stop]) ** 2 - (theirs - y[start:stop]) ** 2
        )
        excess[start // 16 + 1, -(-(stop - start) // 16)] = sums[-1]
        width = np.ptp(y[:stop])
        bound = strongly_adaptive_regret_bound(start, start + max(stop - start, 16), width=width)
        if covering(start, stop, 16)[0] == [(start // 16 + 1, (stop - start) // 16)]:
            assert sums.max() <= bound
            shares.append(sums[-1] / bound)
    for start, stop in ((16, 160), (32, 112), (48, 192)):
        pieces, n_left = covering(start, stop, 16)
        assert n_left == 0
        regret = sum(excess[piece] for piece in pieces)
        bound = strongly_adaptive_regret_bound(start, stop, width=np.ptp(y[:stop]))
        assert regret <= bound
    print(f"{kind}: share used {max(shares):.3f}")
    assert max(shares) > 0.02


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("y_range", [None, (100.0, 101.0)])
def test_where_all_begin_anew_the_copies_before_forecast(y_range):
    """They were nobody's rounds, of a forecast of 0 and weights of NaN."""
    rng = np.random.default_rng(0)
    y = 100.0 + rng.uniform(size=120)
    F = y[:, None] + 0.1 * rng.normal(size=(120, 3))
    model = StronglyAdaptiveRegressor(BOARegressor(), y_range=y_range)
    forecasts = model.prequential_predict(F, y)
    assert np.abs(forecasts - y)[1:].max() < 0.6
    assert abs(forecasts[0] - 100.5) < 1e-9 if y_range else forecasts[0] == 0.0
    for start in (16, 48, 112):
        alone = BOARegressor().prequential_predict(F[start:], y[start:])
        regret = np.square(forecasts[start:] - y[start:]).sum() - np.square(alone - y[start:]).sum()
        assert regret < 1.5
    for n in (1, 15, 16, 48, 49):
        model = StronglyAdaptiveRegressor(BOARegressor(), y_range=y_range).fit(F[:n], y[:n])
        assert_allclose(model.weights_.sum(), 1.0)
        assert_allclose(model.predict(F[n : n + 1]), forecasts[n : n + 1])


def test_priors_are_those_of_one_law():
    total = sum(
        np.exp(log_prior_of(block)) * (block & -block).bit_length() for block in range(1, 20000)
    )
    assert 0.999 < total < 1.0


@pytest.mark.parametrize(("start", "stop"), [(0, 64), (3, 200), (16, 17), (100, 1000), (5, 9)])
def test_a_cover_has_every_round_once(start, stop):
    pieces, n_left = covering(start, stop, 4)
    rounds = [t for block, size in pieces for t in range(4 * block - 4, 4 * (block + size) - 4)]
    assert rounds == sorted(set(rounds))
    assert all(start <= t < stop for t in rounds)
    assert len(rounds) + n_left == stop - start
    assert n_left < 8
    assert all(block % size == 0 and size & (size - 1) == 0 for block, size in pieces)


def test_after_jumps_it_is_far_ahead_of_one_that_never_forgets():
    X, y = stream(3, n=1000, every=250)
    best = [ridge_comparator(X[k : k + 250], y[k : k + 250]).coef for k in range(0, 1000, 250)]
    others = X @ np.array(best).T
    worst = {
        name: strongly_adaptive_regret(
            model.prequential_predict(X, y), y, comparator_forecasts=others, length=250
        ).regret
        for name, model in {"alone": VAWRegressor(), "here": StronglyAdaptiveRegressor()}.items()
    }
    assert worst["here"] < 0.4 * worst["alone"]


@pytest.mark.parametrize(
    "estimator",
    [
        SGDRegressor(random_state=0),
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
        RakerRegressor({"gamma": [0.1, 1.0]}, n_components=10, eta0=0.9, random_state=0),
        pytest.param(OnlineKernelRegressor(budget="fast", random_state=0), marks=pytest.mark.long),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_learners_of_all_kinds_are_copied(estimator):
    X, y = stream(4, n=90)
    model = StronglyAdaptiveRegressor(estimator)
    rows = np.array([model.prequential_predict(X[t : t + 1], y[t : t + 1])[0] for t in range(40)])
    whole = StronglyAdaptiveRegressor(estimator)
    assert_allclose(rows, whole.prequential_predict(X, y)[:40], rtol=1e-8, atol=1e-9)
    asked = model.predict(X[40:41])
    assert_allclose(asked, model.prequential_predict(X[40:41], y[40:41]), rtol=1e-8, atol=1e-9)


def test_features_that_are_drawn_once_are_shared():
    X, y = stream(5)
    raker = RakerRegressor({"gamma": [0.1]}, n_components=10, random_state=3)
    copies = StronglyAdaptiveRegressor(raker).fit(X, y).estimators_
    drawn = [copy.frequencies_ for copy in copies if hasattr(copy, "_state")]
    assert len(drawn) > 1
    for frequencies in drawn[1:]:
        assert_array_equal(frequencies, drawn[0])


@pytest.mark.long
def test_the_law_of_any_cut_with_odd_blocks():
    check_online_estimator(StronglyAdaptiveRegressor(min_length=7), grows=True)


def test_blocks_of_a_numpy_integer():
    X, y = stream(6)
    expected = StronglyAdaptiveRegressor(min_length=7).fit(X, y).predict(X)
    model = StronglyAdaptiveRegressor(min_length=np.int64(7)).fit(X, y)
    assert_array_equal(model.predict(X), expected)


def test_refusals():
    X, y = stream(6)
    with pytest.raises(TypeError, match="not an instance of a regressor"):
        StronglyAdaptiveRegressor(SGDRegressor).fit(X, y)
    with pytest.raises(ValueError, match="label_delay=3"):
        StronglyAdaptiveRegressor(OnlineKernelRegressor(label_delay=3)).fit(X, y)
    with pytest.raises(ValueError, match="estimator"):
        StronglyAdaptiveRegressor(Ridge()).fit(X, y)
    model = StronglyAdaptiveRegressor().fit(X, y)
    before = model.predict(X)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(np.where(X > 1, np.nan, X), y)
    assert_array_equal(model.predict(X), before)
    with pytest.raises(ValueError, match="cannot change"):
        model.set_params(min_length=3).partial_fit(X, y)
