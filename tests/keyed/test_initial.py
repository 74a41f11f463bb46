"""Keys begin from what all have in common, and learn what that leaves."""

import pickle
from math import frexp

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from benchmarks import fleet_kin
from sklearn_okl import (
    KeyedClassifier,
    KeyedRegressor,
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)

ESTIMATORS = [
    VAWRegressor(),
    VAWRegressor(forecaster="ridge", fit_intercept=True),
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(fit_intercept=True)),
    VAWRegressor(forgetting=0.98),  # in no bank
]


def loop(estimator, X, y, keys, weights):
    """Forecast and learn row by row, by the sentence: sums by the power of two of a key's rows."""
    pooled, own, seen = clone(estimator), {}, {}
    n, squares, products = (dict.fromkeys(range(64), 0.0) for _ in range(3))
    forecasts = np.zeros(y.shape)
    for i, key in enumerate(keys):
        row = X[i : i + 1], y[i : i + 1], weights[i : i + 1]
        first = pooled.predict(row[0])[0] if i else 0.0 * y[0]
        added = own[key].predict(row[0])[0] if key in own else 0.0 * y[0]
        age, share = frexp(seen.get(key, 0))[1], 1.0
        if squares[age] > 0.0:
            usual = squares[age] / n[age]
            share = min(max((products[age] + usual) / (squares[age] + usual), 0.0), 1.0)
        forecasts[i] = first + share * added
        left = row[1] - first
        n[age] += weights[i]
        squares[age] += weights[i] * np.sum(np.square(added))
        products[age] += weights[i] * np.sum(added * left)
        pooled.partial_fit(row[0], row[1], sample_weight=row[2])
        own.setdefault(key, clone(estimator)).partial_fit(row[0], left, sample_weight=row[2])
        seen[key] = seen.get(key, 0) + 1
    return forecasts


def stream(seed, n=240, n_keys=9, n_targets=0):
    rng = np.random.default_rng(seed)
    keys, X = rng.integers(n_keys, size=n), rng.normal(size=(n, 3))
    coef = rng.normal(size=(3, max(n_targets, 1))) + 0.3 * rng.normal(
        size=(n_keys, 3, max(n_targets, 1))
    )
    Y = np.einsum("ij,ijk->ik", X, coef[keys]) + 0.2 * rng.normal(size=(n, max(n_targets, 1)))
    return X, Y if n_targets else Y[:, 0], keys, rng.uniform(0.5, 2.0, size=n)


@pytest.mark.long(every=5)
@pytest.mark.filterwarnings("ignore:The forecasts are too")
@pytest.mark.parametrize("estimator", ESTIMATORS)
@pytest.mark.parametrize("n_targets", [0, 2])
@pytest.mark.parametrize("at_once", [1, 17, 240])
def test_forecasts_are_those_of_a_loop(estimator, n_targets, at_once):
    X, y, keys, weights = stream(at_once, n_targets=n_targets)
    model, parts = KeyedRegressor(estimator, prior="init"), []
    for low in range(0, len(y), at_once):
        some, asked = slice(low, low + at_once), None
        params = {"keys": keys[some], "sample_weight": weights[some]}
        if low and at_once == 1:
            asked = model.predict(X[some], keys=keys[some])
        parts.append(model.prequential_predict(X[some], y[some], **params))
        if asked is not None:
            assert_allclose(asked, parts[-1], rtol=1e-9, atol=1e-11)
    assert_allclose(np.concatenate(parts), loop(estimator, X, y, keys, weights), atol=1e-9)
    taught = KeyedRegressor(estimator, prior="init").fit(X, y, keys=keys, sample_weight=weights)
    asked = {"keys": np.append(keys[:20], 99)}
    rows = X[:21]
    assert_allclose(taught.predict(rows, **asked), model.predict(rows, **asked), atol=1e-9)
    assert_allclose(taught.predict(rows, **asked)[-1], model._state["prior"].predict(rows)[-1])


def test_copies_files_and_keys_that_go(tmp_path):
    X, y, keys, _ = stream(3)
    model = KeyedRegressor(VAWRegressor(), prior="init", max_keys=5, idle=60)
    whole = clone(model).prequential_predict(X, y, keys=keys)
    parts = []
    for low in range(0, len(y), 40):
        some = slice(low, low + 40)
        parts.append(model.prequential_predict(X[some], y[some], keys=keys[some]))
        save(pickle.loads(pickle.dumps(model)), tmp_path / "model.skops")
        model = load(tmp_path / "model.skops")
    assert_allclose(np.concatenate(parts), whole, atol=1e-9)
    # no keys: one model, as with any other prior
    plain = KeyedRegressor(VAWRegressor(), prior="init").prequential_predict(X, y)
    assert_allclose(plain, VAWRegressor().prequential_predict(X, y), atol=1e-9)


def test_what_is_refused():
    X, y, keys, _ = stream(4)
    with pytest.raises(ValueError, match="'prior' parameter of KeyedClassifier"):
        KeyedClassifier(prior="init").fit(X, y > 0, keys=keys)
    model = KeyedRegressor(VAWRegressor(), prior="init").fit(X, y, keys=keys)
    with pytest.raises(TypeError, match="prior='init' cannot be merged"):
        model.merge(KeyedRegressor(VAWRegressor(), prior="init").fit(X, y, keys=keys))
    before = model.predict(X[:5], keys=keys[:5])
    with pytest.raises(ValueError, match="overflow"):
        model.partial_fit(X[:2], [1e200, -1e200], keys=keys[:2])
    assert_allclose(model.predict(X[:5], keys=keys[:5]), before, rtol=0, atol=0)
    untuned = OnlineKernelRegressor(budget="tiny", random_state=0)
    model = KeyedRegressor(untuned, prior="init").fit(X, y, keys=keys)
    for verb in ("predict_quantiles", "predict_interval", "predict_distribution"):
        with pytest.raises(ValueError, match="prior='pooled'"):
            getattr(model, verb)(X[:5], keys=keys[:5])
    with pytest.raises(ValueError, match="prior='pooled'"):
        model.prequential_quantiles(X[:5], y[:5], keys=keys[:5])


@pytest.mark.long
@pytest.mark.parametrize("kinship", fleet_kin.KINSHIPS)
def test_keys_lose_no_more_than_the_better_of_own_and_pooled(kinship):
    assert max(fleet_kin.ratios(1000, kinship, seed=1)) <= fleet_kin.BAR
