"""A bank of the linear models of all keys: equal to separate models to 1e-10."""

import copy
import warnings
from contextlib import suppress

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_okl import (
    FourierFeatures,
    KeyedRegressor,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.keyed._bank import bank_of
from sklearn_okl.keyed._record import Record

MAP = FourierFeatures(n_components=20, gamma=0.1, random_state=0)
ESTIMATORS = {
    "vaw": VAWRegressor(0.5),
    "ridge": VAWRegressor(forecaster="ridge", fit_intercept=True),
    "scaled": make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(fit_intercept=True)),
    "map": make_streaming_pipeline(MAP, VAWRegressor()),
    "all": make_streaming_pipeline(RunningStandardScaler(), MAP, VAWRegressor()),
}


def stream(n=1200, n_keys=9, seed=0, zipf=True):
    rng = np.random.default_rng(seed)
    p = 1.0 / np.arange(1, n_keys + 1) ** (1.5 if zipf else 0.0)
    keys = rng.choice(n_keys, size=n, p=p / p.sum())
    X = rng.normal(size=(n, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 5.0, 0.0, 0.0]
    return rng, keys, X, np.sin(X[:, 0]) * keys + X[:, 1] + 0.1 * rng.normal(size=n)


def hold(estimator, keys, X, y, sizes=(1200,), weights=None, atol=1e-10):
    """Compare forecasts, after and on the way, to those of separate models; return the bank's."""
    models, expected = {}, np.zeros(len(y))
    for key in np.unique(keys):
        mine = keys == key
        models[key] = clone(estimator)
        given = {} if weights is None else {"sample_weight": weights[mine]}
        expected[mine] = models[key].prequential_predict(X[mine], y[mine], **given)
        expected[np.flatnonzero(mine)[0]] = 0.0
    scale = max(1.0, abs(expected).max())
    for size in sizes:
        model, found = KeyedRegressor(estimator, prior=None), []
        for low in range(0, len(y), size):
            r = slice(low, low + size)
            given = {} if weights is None else {"sample_weight": weights[r]}
            found.append(model.prequential_predict(X[r], y[r], keys=keys[r], **given))
        assert abs(np.concatenate(found) - expected).max() < atol * scale
        asked = model.predict(X, keys=keys)
        for key, one in models.items():
            mine = keys == key
            assert abs(asked[mine] - one.predict(X[mine])).max() < atol * scale
            own = model.model_of(key)
            assert abs(own.predict(X[mine]) - one.predict(X[mine])).max() < atol * scale
            answers = [m.prequential_predict(X[:70], y[:70]) for m in (own, copy.deepcopy(one))]
            assert abs(answers[0] - answers[1]).max() < 10 * atol * scale
    return model


def in_bank(model):
    return {key: type(e.model) is Record for key, e in model._state["entries"].items()}


@pytest.mark.long(every=5)
@pytest.mark.parametrize("name", ESTIMATORS)
def test_equal_to_separate_models(name):
    _, keys, X, y = stream(seed=len(name))
    assert bank_of(ESTIMATORS[name]) is not None
    model = hold(ESTIMATORS[name], keys, X, y, sizes=(1200, 97, 30))
    assert all(in_bank(model).values())


@pytest.mark.long(every=4)
@pytest.mark.parametrize("n", [7, 8, 9, 31, 32, 33, 66])
def test_about_the_ends_of_tails_blocks_and_first_rows(n):
    _, _, X, y = stream(3 * n, seed=n)
    keys = np.arange(3 * n) % 3
    hold(ESTIMATORS["scaled"], keys, X, y, sizes=(3 * n, 3, 25))


def test_rows_one_at_a_time():
    _, keys, X, y = stream(250, 3, seed=4)
    hold(ESTIMATORS["scaled"], keys, X, y, sizes=(1,))


@pytest.mark.parametrize("name", ["ridge", "all"])
def test_a_row_alone_is_one_of_many(name):
    rng, keys, X, y = stream(260, 3, seed=6)
    weights = rng.choice([0.0, 0.5, 2.0], size=260)
    X[200] *= 1e7  # no row alone stands it: the key leaves, or has a scaler
    one, many = (KeyedRegressor(ESTIMATORS[name], idle=40) for _ in range(2))
    found = []
    for t in range(260):
        row = slice(t, t + 1)
        given = {"keys": keys[row], "sample_weight": weights[row]}
        found.append(one.prequential_predict(X[row], y[row], **given))
    expected = many.prequential_predict(X, y, keys=keys, sample_weight=weights)
    scale = max(1.0, abs(expected).max())
    assert abs(np.concatenate(found) - expected).max() < 1e-8 * scale
    assert (one.n_dropped_, in_bank(one)) == (many.n_dropped_, in_bank(many))
    alone = [one.predict(X[t : t + 1], keys=keys[t : t + 1])[0] for t in range(40)]
    assert np.allclose(alone, one.predict(X[:40], keys=keys[:40]), rtol=1e-12)


def test_weights_of_zero_too():
    rng, keys, X, y = stream(500)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], size=500)
    hold(ESTIMATORS["ridge"], keys, X, y, sizes=(500, 40), weights=weights)
    hold(ESTIMATORS["vaw"], keys, X, y, sizes=(500, 40), weights=weights)


@pytest.mark.long
@pytest.mark.parametrize("size", [1200, 11])
def test_faults_constant_columns_and_changed_units(size):
    rng, keys, X, y = stream(1200, 4, seed=size)
    X[:, 3] = 7.0  # constant
    X[rng.choice(1200, 12), rng.integers(3, size=12)] = 1e6
    X[700:, 2] *= 1e4  # another unit
    hold(ESTIMATORS["scaled"], keys, X, y, sizes=(size,), atol=1e-9)


@pytest.mark.parametrize("size", [1200, 11, 1])
def test_columns_that_stood_still_begin_where_they_move(size):
    _, keys, X, y = stream(n_keys=3)
    X[:700, 0], X[:, 1] = 3.0, 0.0
    hold(ESTIMATORS["scaled"], keys, X, y, sizes=(size,))


def test_keys_of_extreme_rows_leave_the_bank_and_are_right():
    rng, keys, X, y = stream(600, 4, seed=3, zipf=False)
    X[(keys == 1) & (rng.random(600) < 0.05)] *= 1e5
    X[keys == 2] *= 1e4  # from the first row on
    X[np.flatnonzero(keys == 3)[10]] *= 300.0  # a young key stands it
    for size in (600, 50, 1):
        model = hold(ESTIMATORS["vaw"], keys, X, y, sizes=(size,), atol=1e-8)
        assert in_bank(model) == {0: True, 1: False, 2: False, 3: True}


def test_equal_to_rows_that_are_solved_afresh():
    from tests.oracles.vovk import vaw

    _, keys, X, y = stream(300, 4)
    found = KeyedRegressor(VAWRegressor(2.0), prior=None).prequential_predict(X, y, keys=keys)
    for key in range(4):
        mine = keys == key
        assert np.allclose(found[mine], vaw(X[mine], y[mine], alpha=2.0), atol=1e-9)


@pytest.mark.long
def test_a_key_of_many_rows_stays_exact():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(3_000, 3))
    y = X @ [1.0, 2.0, 3.0] + rng.normal(size=3_000)
    model = KeyedRegressor(VAWRegressor(), prior=None)
    for low in range(0, 3_000, 8):  # rounds, no blocks
        model.partial_fit(X[low : low + 8], y[low : low + 8], keys=["a"] * 8)
    exact = np.linalg.solve(np.eye(3) + X.T @ X, X.T @ y)
    assert abs(model.model_of("a").coef_ - exact).max() < 1e-11


@pytest.mark.parametrize(
    "estimator",
    [
        VAWRegressor(forgetting=0.9),
        make_streaming_pipeline(RunningStandardScaler(forgetting=0.9), VAWRegressor()),
        make_streaming_pipeline(VAWRegressor(), update="batch"),
        make_streaming_pipeline(MAP, RunningStandardScaler(), VAWRegressor()),
        make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=5),
    ],
)
def test_what_makes_no_bank_is_an_object_a_key(estimator):
    assert bank_of(estimator) is None
    _, keys, X, y = stream(60, 3)
    model = KeyedRegressor(estimator).fit(X, y, keys=keys)
    assert not any(in_bank(model).values())


def test_a_call_copies_what_it_touches_and_no_more():
    _, keys, X, y = stream(400, 40, zipf=False)
    model = KeyedRegressor(VAWRegressor(), prior=None).fit(X, y, keys=keys)
    entries = model._state["entries"]
    before, records = entries.marks(), {key: e.model for key, e in entries.items()}
    copies = {key: [part.copy() for part in record] for key, record in records.items()}
    model.partial_fit(X[:2], y[:2], keys=[3, 5])
    after = model._state["entries"].marks()
    assert {key for key in after if after[key] is not before[key]} == {3, 5}
    for key, e in entries.items():  # a reader's state is as it was
        assert all((a == b).all() for a, b in zip(e.model, copies[key], strict=True))


@pytest.mark.parametrize("prior", ["pooled", "init"])
def test_a_frame_of_keys_that_are_new_makes_no_warnings(prior):
    pd = pytest.importorskip("pandas")
    _, keys, X, y = stream(60)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(key=keys)
    model = KeyedRegressor(VAWRegressor(), key="key", prior=prior).fit(frame, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new = model.predict(frame.assign(key=keys + 99))
    np.testing.assert_allclose(new, model.predict(frame.assign(key=-1 - keys)))


def test_frames_make_no_warnings_when_a_key_leaves():
    pd = pytest.importorskip("pandas")
    _, keys, X, y = stream(200, 3)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(key=keys)
    frame.loc[150:, "a"] *= 1e7
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = KeyedRegressor(VAWRegressor(fit_intercept=True), key="key")
        model.partial_fit(frame[:150], y[:150]).partial_fit(frame[150:], y[150:])
        assert np.isfinite(model.predict(frame)).all()
    assert not all(in_bank(model).values())


@pytest.mark.parametrize("prior", ["pooled", "init", None])
@pytest.mark.parametrize("n", [1, 5])
def test_forecasts_of_rows_beyond_squares_make_no_warnings(n, prior):
    """One row alone was forecast outside of what lets NumPy warn of nothing."""
    for seed in range(3):
        _, keys, X, y = stream(300, 3, seed, zipf=False)
        model = KeyedRegressor(prior=prior).fit(X, y, keys=keys)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = model.predict(X[:n] / abs(X).max() * 1e308, keys=keys[:n])
            assert not np.isnan(found).any()
    X = X[:, [0, 3]]
    model = KeyedRegressor(prior=prior).fit(X, X @ [1e3, -1e3], keys=keys)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with suppress(ValueError):  # infinity less infinity is refused; some processors keep one
            assert np.isinf(model.predict(np.full((n, 2), 1e308), keys=keys[:n])).all()
