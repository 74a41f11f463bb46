"""Small models of many keys learn together what separate ones learn, whatever the rows are."""

import copy
import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from benchmarks.fleet_tiny import n_bytes
from sklearn_okl import (
    KeyedRegressor,
    OnlineKernelRegressor,
    RunningStandardScaler,
    Store,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.untuned.many import Kept

N_KEYS = 40


def tiny(**parameters):
    return OnlineKernelRegressor(budget="tiny", random_state=0, **parameters)


def stream(n=2000, d=4, seed=0, faulty=False, gaps=False, tails=False, n_keys=N_KEYS):
    """Keys, some of which come more often than others, in units of their own."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, n_keys + 1) ** -0.3
    keys = rng.choice(n_keys, size=n, p=shares / shares.sum())
    X = rng.normal(size=(n, d))
    y = X[:, 0] + np.sin(2.0 * X[:, -1]) + 0.1 * rng.normal(size=n)
    X = np.exp(1.5 * X) if tails else X
    if faulty:
        y[rng.choice(n, n // 100)] *= 1e3
        X[rng.choice(n, n // 100), 0] *= 1e4
    if gaps:
        X[rng.choice(n, n // 200), 1] = np.nan
    unit, level = 10.0 ** rng.uniform(-2, 2, n_keys), rng.normal(size=n_keys)
    return keys, X * 10.0 ** rng.uniform(-3, 3, d), unit[keys] * (y + level[keys])


def in_calls(model, keys, X, y, sizes, verb="prequential_predict"):
    ends = np.minimum(np.cumsum([0, *sizes, *np.resize(sizes[1:] or sizes, len(y))]), len(y))
    rows = [slice(low, high) for low, high in pairwise(ends) if low < high]
    return np.concatenate([getattr(model, verb)(X[r], y[r], keys=keys[r]) for r in rows])


def separate(estimator, keys, X, y):
    """Each key by itself, all of its rows in one call."""
    models, forecasts = {}, np.zeros(len(y))
    for key in np.unique(keys).tolist():
        mine = keys == key
        models[key] = clone(estimator)
        forecasts[mine] = models[key].prequential_predict(X[mine], y[mine])
    return models, forecasts


def n_kept(model):
    entries = model._state["entries"]
    return sum(type(entries.one(place)[-1]) is Kept for place in entries.occupied().tolist())


@pytest.mark.long(every=50)
@pytest.mark.parametrize("sizes", [[1000, N_KEYS], [900, 7, 200, 1, 60]], ids=["even", "uneven"])
@pytest.mark.parametrize(
    ("parameters", "rows"),
    [
        ({}, {}),
        ({}, {"faulty": True}),
        ({}, {"gaps": True}),
        ({}, {"tails": True}),
        ({"lags": 0}, {}),
        ({"lags": 7}, {"faulty": True}),
        ({"forgetting": 0.99}, {}),
        ({"forgetting": 1.0}, {"faulty": True}),
        ({"guard": False}, {"faulty": True}),
        ({"spread": "rows"}, {}),
        ({"label_delay": 0, "missing_values": -9.0}, {}),
    ],
    ids=lambda part: "-".join(f"{name}={value}" for name, value in part.items()) or "plain",
)
def test_they_are_separate_models(parameters, rows, sizes):
    keys, X, y = stream(**rows)
    scales = np.array([np.abs(y[keys == key]).max() for key in range(N_KEYS)])
    model, estimator = KeyedRegressor(tiny(**parameters), prior=None), tiny(**parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        forecasts = in_calls(model, keys, X, y, sizes)
        models, expected = separate(estimator, keys, X, y)
        now = model.predict(X[:N_KEYS], keys=np.arange(N_KEYS))
    assert_allclose(forecasts / scales[keys], expected / scales[keys], rtol=0, atol=1e-10)
    expected = np.array([models[key].predict(X[key : key + 1])[0] for key in range(N_KEYS)])
    assert_allclose(now / scales, expected / scales, rtol=0, atol=1e-10)
    for key, one in models.items():
        assert model.model_of(key).n_faulty_ == one.n_faulty_


def even(n, seed=0, d=4):
    """Rows of all keys in turn, of which none is far off."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n * N_KEYS, d))
    return np.tile(np.arange(N_KEYS), n), X, X[:, 0] + 0.3 * rng.normal(size=len(X))


@pytest.mark.long
def test_most_rows_of_many_keys_are_learnt_together(monkeypatch):
    keys, X, y = even(100)
    model, calls, low = KeyedRegressor(tiny(), prior=None), [], 70 * N_KEYS
    model.partial_fit(X[:low], y[:low], keys=keys[:low])
    alone = OnlineKernelRegressor._learn
    monkeypatch.setattr(
        OnlineKernelRegressor,
        "_learn",
        lambda self, state, X, *rest, **more: (
            calls.append(len(X)) or alone(self, state, X, *rest, **more)
        ),
    )
    in_calls(model, keys[low:], X[low:], y[low:], [N_KEYS])
    assert sum(calls) < 0.2 * (len(y) - low)  # those of keys in doubt


@pytest.mark.long
@pytest.mark.parametrize("first", [500, 1000])
def test_years_of_blocks_and_births(first):
    estimator, n = tiny(), first + 200
    keys, X, y = (part.reshape(n, N_KEYS, -1)[:, :16] for part in even(n))
    keys, X, y = keys.ravel(), X.reshape(len(X) * 16, -1), y.ravel()
    y += np.sin(2.0 * X[:, -1])  # so that models bear different kernels
    expected = separate(estimator, keys, X, y)[1]
    model, low = KeyedRegressor(estimator, prior=None), first * 16
    model.partial_fit(X[:low], y[:low], keys=keys[:low])
    found = in_calls(model, keys[low:], X[low:], y[low:], [16])
    assert n_kept(model) > 0.7 * 16
    assert_allclose(found, expected[low:], rtol=0, atol=1e-10)


@pytest.fixture(scope="module")
def kept():
    """A model that has learnt rows of all keys together."""
    keys, X, y = even(80)
    model, low = KeyedRegressor(tiny(), prior=None), 70 * N_KEYS
    model.partial_fit(X[:low], y[:low], keys=keys[:low])
    in_calls(model, keys[low:], X[low:], y[low:], [N_KEYS])
    assert n_kept(model) > 0.8 * N_KEYS
    return model


@pytest.mark.long
def test_copies_files_and_stores_go_on_as_the_model_does(kept, tmp_path):
    keys, X, y = even(3, seed=1)
    others = [copy.copy(kept), copy.deepcopy(kept), pickle.loads(pickle.dumps(kept))]
    with Store(tmp_path / "keys.db") as store:
        store.commit(kept, 0)
        others.append(store.load())
    model = copy.deepcopy(kept)
    expected = in_calls(model, keys, X, y, [N_KEYS])
    for other in others:
        assert_allclose(in_calls(other, keys, X, y, [N_KEYS]), expected, rtol=0, atol=1e-12)


def test_a_wrong_row_is_told_by_its_key_and_nothing_is_learnt(kept):
    keys, X, y = even(1, seed=2)
    before, known = kept._state, kept.predict(X, keys=keys)
    y = y.copy()
    y[17] = np.inf
    with pytest.raises(ValueError, match="infinity"):
        kept.partial_fit(X, y, keys=keys)
    assert kept._state is before
    assert_allclose(kept.predict(X, keys=keys), known, rtol=0, atol=0)


def test_what_a_model_of_a_key_learns_is_its_own(kept):
    _, X, y = even(1, seed=3)
    known = kept.predict(X, keys=np.zeros(len(X), dtype=int))
    kept.model_of(0).partial_fit(X, y)
    assert_allclose(kept.predict(X, keys=np.zeros(len(X), dtype=int)), known, rtol=0, atol=0)


def test_a_key_takes_little_more_than_its_numbers(kept):
    entries = kept._state["entries"]
    known = [entries.one(place)[-1] for place in entries.occupied().tolist()]
    for one in known:
        if type(one) is Kept and one.t > 128:
            assert one.record.nbytes <= 1.3 * n_bytes(one.whole()._state)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("prior", [None, "pooled"])
@pytest.mark.parametrize("kind", [{}, {"faulty": True}, {"gaps": True}, {"tails": True}])
def test_rows_of_many_keys_are_forecast_as_by_each_model(kind, prior, monkeypatch):
    keys, X, y = stream(2400, **kind)
    model = KeyedRegressor(tiny(), prior=prior)
    for rows in (slice(700), slice(700, 1500), slice(1500, 2000)):
        model.partial_fit(X[rows], y[rows], keys=keys[rows])
        asked = slice(rows.stop - 100, rows.stop + 400)  # some keys have several rows
        found = model.predict(X[asked], keys=keys[asked])
        parts = [
            model.model_of(key).predict(x[None])[0]
            for key, x in zip(keys[asked].tolist(), X[asked], strict=True)
        ]
        assert_allclose(found, parts, rtol=1e-9, atol=1e-9 * np.abs(parts).max())
    assert kind or n_kept(model) > N_KEYS // 4
    before = pickle.dumps(model)
    model.predict(X[:50], keys=keys[:50])
    assert pickle.dumps(model) == before


@pytest.mark.parametrize("prior", [None, "pooled", "init"])
def test_rows_of_missing_targets_are_only_forecast(prior):
    rng = np.random.default_rng(5)
    keys = np.repeat(np.arange(6.0), 30)[rng.permutation(180)]
    X = np.column_stack([keys, rng.normal(size=(180, 2))])
    y = X[:, 1] + keys + 0.1 * rng.normal(size=180)
    is_known = rng.random(180) < 0.8
    is_known[np.flatnonzero(keys == 3.0)[:4]] = False
    asked = np.where(is_known, y, np.nan)
    small = OnlineKernelRegressor(budget="tiny", random_state=0)
    given, left_out = (KeyedRegressor(small, key=0, prior=prior) for _ in range(2))
    forecasts = given.prequential_predict(X, asked)
    assert np.isfinite(forecasts).all()
    expected = left_out.prequential_predict(X[is_known], y[is_known])
    assert_allclose(forecasts[is_known], expected, rtol=1e-9, atol=1e-9)
    assert_allclose(given.predict(X), left_out.predict(X), rtol=1e-9, atol=1e-9)
    given.partial_fit([[9.0, 0.0, 0.0]], [np.nan])  # of whom no more is known than of a stranger
    assert len(given.keys_) == 6
    row = [[9.0, 1.0, 0.0]]
    assert_allclose(given.predict(row), left_out.predict(row), rtol=1e-9)
    for other in (VAWRegressor(), make_streaming_pipeline(RunningStandardScaler(), small)):
        with pytest.raises(ValueError, match="contains NaN"):
            KeyedRegressor(other, key=0).fit(X, asked)


@pytest.mark.parametrize("seed", range(2))
def test_intervals_and_quantiles_are_those_of_separate_models(seed, monkeypatch):
    keys, X, y = stream(n=500, seed=seed, faulty=True, n_keys=12)
    model = KeyedRegressor(tiny(), prior=None).fit(X, y, keys=keys)
    rows, of = np.vstack([X[:20], X[:2] * 1e6]), np.concatenate([keys[:20], keys[:2]])
    alone = {key: model.model_of(key) for key in set(of.tolist())}
    asks = [
        ("predict_interval", {"coverage": 0.8}),
        ("predict_interval", {"coverage": [0.5, 0.9]}),
        ("predict_quantiles", {"alpha": [0.05, 0.5, 0.9]}),
        ("predict_quantiles", {"alpha": 0.3}),
    ]
    for verb, how in asks:
        found = getattr(model, verb)(rows, keys=of, **how)
        of_each = zip(of.tolist(), rows[:, None], strict=True)
        expected = np.concatenate([getattr(alone[key], verb)(row, **how) for key, row in of_each])
        assert found.shape == expected.shape
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * np.abs(y).max())
    calls, law = [], OnlineKernelRegressor._law
    monkeypatch.setattr(
        OnlineKernelRegressor, "_law", lambda *given: calls.append(1) or law(*given)
    )
    model.predict_interval(rows, keys=of)
    assert 1 <= len(calls) < 10  # those of rows that are far off, and of keys in doubt


def test_models_of_several_targets_are_asked_one_by_one():
    keys, X, y = stream(n=240, n_keys=8)
    Y = np.column_stack([y, X[:, 1]])
    model = KeyedRegressor(tiny(), prior=None).fit(X, Y, keys=keys)
    rows, of = X[:12], keys[:12]
    for verb in ("predict", "predict_interval", "predict_quantiles"):
        found = getattr(model, verb)(rows, keys=of)
        of_each = zip(of.tolist(), rows[:, None], strict=True)
        expected = [getattr(model.model_of(key), verb)(row) for key, row in of_each]
        assert_allclose(found, np.concatenate(expected), rtol=1e-9)
