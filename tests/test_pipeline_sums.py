"""Pipelines merged and unlearnt from: right, or a TypeError that says which step hinders it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    FourierFeatures,
    LagFeatures,
    RunningStandardScaler,
    VAW2Regressor,
    VAWRegressor,
    make_streaming_pipeline,
)


def stream(seed, n=300):
    rng = np.random.default_rng(seed)
    X = 1.0 + 3.0 * rng.normal(size=(n, 4))
    return X, X[:, 0] + rng.normal(size=n)


def still(scaler, seed=0):
    X, _ = stream(9)
    features = FourierFeatures(n_components=20, random_state=seed)
    return make_streaming_pipeline(FrozenEstimator(scaler.fit(X[:99])), features, VAWRegressor())


@pytest.mark.parametrize("scaler", [StandardScaler(), RunningStandardScaler()])
@pytest.mark.parametrize("n_parts", [1, 7, pytest.param(64, marks=pytest.mark.long)])
def test_parts_are_one_pass_and_rows_can_be_forgotten(n_parts, scaler):
    X, y = stream(n_parts)
    parts = [still(scaler).fit(X[i::n_parts], y[i::n_parts]) for i in range(n_parts)]
    merged = parts[0]
    for part in parts[1:]:
        merged = merged.merge(part)
    whole = still(scaler).fit(X, y)
    assert_allclose(merged.predict(X), whole.predict(X), rtol=1e-10, atol=1e-10)
    assert merged.n_samples_seen_ == 300
    weights = np.ones(30)
    merged.unlearn(X[:30], y[:30], sample_weight=weights)
    never = still(scaler).fit(X[30:], y[30:])
    assert_allclose(merged.predict(X), never.predict(X), rtol=1e-10, atol=1e-10)
    assert merged.n_samples_seen_ == 270
    assert merged[-1].unlearnt_.n_rows == 30


def test_steps_to_which_the_order_matters_are_named():
    X, y = stream(0)
    kernels = {"gamma": [0.1]}
    for steps, words in (
        ((RunningStandardScaler(), VAWRegressor()), "'runningstandardscaler'"),
        ((LagFeatures(), VAWRegressor()), "'lagfeatures'"),
        ((VAW2Regressor(kernels, n_components=10),), "last step 'vaw2regressor'"),
    ):
        model = make_streaming_pipeline(*steps).fit(X, y)
        before = pickle.dumps(model)
        with pytest.raises(TypeError, match=words):
            model.merge(model)
        with pytest.raises(TypeError, match=words):
            model.unlearn(X[:1], y[:1])
        assert pickle.dumps(model) == before


def test_what_does_not_fit_is_refused_and_changes_nothing():
    X, y = stream(0)
    model = still(StandardScaler()).fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="transformers of the pipelines differ"):
        model.merge(still(StandardScaler(), seed=1).fit(X, y))
    with pytest.raises(TypeError, match="another pipeline"):
        model.merge(VAWRegressor().fit(X, y))
    with pytest.raises(ValueError, match="not fitted"):
        still(StandardScaler()).unlearn(X, y)
    with pytest.raises(ValueError, match="that has learnt 300"):
        model.unlearn(np.vstack([X, X]), np.r_[y, y])
    assert pickle.dumps(model) == before
