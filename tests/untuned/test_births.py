"""Kernels that are born on the way: no forecast gets worse at their birth, or when first heard."""

import numpy as np
import pytest
from sklearn.datasets import make_friedman1

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.conformal import _running_errors
from sklearn_okl.untuned import Constants

N_STREAMS = 20


def streams(n_streams, n):
    """Yield plain streams, streams with a trend, and streams whose smallest target comes first."""
    for seed in range(n_streams):
        X, y = make_friedman1(n, n_features=5, noise=1.0, random_state=seed)
        if seed % 3 == 1:
            y = y + 0.002 * np.arange(n)
        elif seed % 3 == 2:
            order = np.r_[y.argmin(), np.delete(np.arange(n), y.argmin())]
            X, y = X[order], y[order]
        yield seed, X, y


NEVER = tuple(birth + 10**9 for birth in Constants().births)


def model_of(budget, seed, lags=4, **constants):
    model = OnlineKernelRegressor(budget=budget, lags=lags, random_state=seed)
    model.constants = Constants(**constants)
    return model


def events(n):
    """Return the rounds after which a kernel is born, or heard for the first time."""
    births, wait = Constants().births, Constants().burn_in
    return [t for birth in births for t in (birth, birth + wait) if t < n]


def size_of(budget, full_size):
    """Return how many streams of how many rows."""
    if full_size:
        return N_STREAMS, 3000
    return (5, 2400) if budget == "fast" else (2, 1000)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("budget", ["fast", "balanced"])
def test_forecasts_do_not_drop_where_the_experts_change(budget, full_size):
    # Without lags: with them, R² on later rows goes up and down with the latest four targets. And
    # it may rise: where there is a trend, who comes late knows the level best.
    (n_streams, n), n_far = size_of(budget, full_size), 0
    for seed, X, y in streams(n_streams, n):
        drops, spreads = [], []
        for births in (Constants().births, NEVER):
            model, low = model_of(budget, seed, births=births, lags=0), 0
            for event in events(n - 100):
                later, scores = slice(event + 2, event + 602), []
                for high in range(event - 2, event + 3):
                    model.partial_fit(X[low:high], y[low:high])
                    low = high
                    scores.append(model.score(X[later], y[later]))
                drops.append(np.max(np.maximum.accumulate(scores) - scores))
                spreads.append(np.ptp(scores))
        own, others = np.split(np.array(drops), 2)
        assert (own <= 0.01 + others).all(), (seed, own, others)
        own, others = np.split(np.array(spreads), 2)
        n_far += np.sum(own > 0.01 + others)
    assert n_far <= (n_streams + 5) // 10


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("budget", ["fast", "balanced"])
def test_the_rows_after_are_no_worse_than_without_births(budget, full_size):
    n_streams, n = size_of(budget, full_size)
    after = np.concatenate([np.arange(event, event + 16) for event in events(n - 16)])
    around = np.concatenate([np.arange(event - 2, event + 18) for event in events(n - 18)])
    losses, held = np.zeros(2), []
    for seed, X, y in streams(n_streams, n):
        # the room of those who are never born is kept free: the others are the same
        for k, births in enumerate((Constants().births, NEVER)):
            errors = y - model_of(budget, seed, births=births).prequential_predict(X, y)
            losses[k] += np.square(errors[after]).sum()
            if births is not NEVER:
                state = _running_errors.start()
                hits = [_running_errors.learn(state, errors[t : t + 1])[89] for t in range(1, n)]
                held.append(np.array(hits)[around - 1])
    assert losses[0] <= 1.05 * losses[1]
    assert abs(np.mean(held) - _running_errors.LEVELS[89]) <= 0.03


def test_what_is_learnt_unheard_has_no_say():
    X, y = make_friedman1(800, n_features=5, noise=1.0, random_state=0)
    model = model_of("fast", 0).fit(X[:600], y[:600])
    table = model.experts_
    young = table["n_rounds"] < 600
    assert young.any()
    assert (table["weight"][young] == 0.0).all()
    before = model.predict(X)
    model._state["banks"]["born"]["experts"]["theta"] += 1e3
    np.testing.assert_array_equal(model.predict(X), before)
    model = model_of("fast", 0).fit(X, y)
    assert (model.experts_["weight"][young] > 0.0).all()


def test_a_newborn_forecasts_the_level_of_the_latest_block():
    X, y = make_friedman1(512, n_features=5, noise=1.0, random_state=0)
    y += 0.1 * np.arange(512)  # the first target is far away
    model = model_of("fast", 0).fit(X, y)
    state, guard = model._state, model._state["targets"][0]
    level = guard["level"] * guard["unit"] + guard["origin"]
    np.testing.assert_allclose(level, np.median(y[448:]))
    F = model._experts().ask(state, X[:1])[0][0, 0, -8:-2]
    born = F[~np.isnan(F)] * guard["unit"] + guard["origin"]
    assert len(born)
    np.testing.assert_allclose(born, level)


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("birth", "ends"), [(64, (128,)), (128, (100, 128))])
def test_a_faulty_target_right_after_a_birth_bears_no_kernel_twice(birth, ends):
    """At 8264a20 twice as many are born; after the last birth there is no room, as NumPy says."""
    X, y = make_friedman1(160, n_features=5, noise=1.0, random_state=0)
    y[birth : birth + 2] = 1e7
    expected = model_of("fast", 0, births=(64, 128), burn_in=16)
    for t in range(160):
        expected.partial_fit(X[t : t + 1], y[t : t + 1])
    model, low = model_of("fast", 0, births=(64, 128), burn_in=16), 0
    for high in (*ends, birth, 160):
        if high > low:
            model.partial_fit(X[low:high], y[low:high])
            low = high
    assert len(model.experts_) == len(expected.experts_)
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-7)
