"""Pipelines merged and unlearnt from: right, or a TypeError that says which step hinders it."""

import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    FourierFeatures,
    LagFeatures,
    OGDRegressor,
    RunningMaxNormScaler,
    RunningMinMaxScaler,
    RunningRobustScaler,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAW2Regressor,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
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
        ((VAW2Regressor(kernels, n_components=10),), "vaw2regressor'|sums_only=True"),
        ((OGDRegressor(),), "last step 'ogdregressor'"),
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


SCALERS = [
    RunningStandardScaler(freeze_after=50),
    RunningMinMaxScaler(freeze_after=50),
    RunningMaxNormScaler(freeze_after=50),
    RunningRobustScaler(30, freeze_after=50),
]


def running(scaler):
    return make_streaming_pipeline(
        scaler, FourierFeatures(n_components=20, random_state=0), VAWRegressor()
    )


@pytest.mark.parametrize("scaler", SCALERS, ids=lambda scaler: type(scaler).__name__)
def test_a_scaler_freezes_whatever_the_cut_and_knows_its_rows(scaler, tmp_path):
    X, y = stream(3)
    model = running(scaler)
    forecasts = [model.prequential_predict(X[:30], y[:30])]
    with pytest.raises(TypeError, match="freeze_after=n"):
        model.unlearn(X[:1], y[:1])
    forecasts.append(model.prequential_predict(X[30:77], y[30:77]))
    with model.rows() as row:
        forecasts.append([row.learn(x, t) for x, t in zip(X[77:90], y[77:90], strict=True)])
    forecasts.append(model.prequential_predict(X[90:], y[90:]))
    whole = running(scaler)
    assert_allclose(np.concatenate(forecasts), whole.prequential_predict(X, y), rtol=1e-9)
    assert_allclose(model[0].transform(X), clone(scaler).fit(X[:50]).transform(X), rtol=1e-12)
    assert model[0].n_samples_seen_ == 50
    save(model, tmp_path / "model")
    out = np.random.default_rng(0).permutation(np.arange(50, 300))[:60]
    never = running(scaler).fit(np.delete(X, out, axis=0), np.delete(y, out))
    for one in (model, load(tmp_path / "model")):
        before = pickle.dumps(one)
        with pytest.raises(ValueError, match="among the first 50"):
            one.unlearn(X[45:55], y[45:55])
        assert pickle.dumps(one) == before
        one.unlearn(X[out], y[out])
        assert_allclose(one.predict(X), never.predict(X), rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("n_parts", [1, 7])
@pytest.mark.parametrize("first", [True, False])
def test_parts_behind_a_scaler_that_has_frozen_are_one_pass(n_parts, first):
    X, y = stream(n_parts)
    base = running(SCALERS[0]).fit(X[:80], y[:80])
    parts = [
        running(FrozenEstimator(base[0])).fit(X[80 + i :: n_parts], y[80 + i :: n_parts])
        for i in range(n_parts)
    ]
    merged, *parts = [base, *parts] if first else [*parts, base]
    for part in parts:
        merged.merge(part)
    whole = running(SCALERS[0]).fit(X, y)
    assert_allclose(merged.predict(X), whole.predict(X), rtol=1e-10, atol=1e-10)
    with pytest.raises(ValueError, match="among the first 50"):
        merged.unlearn(X[:1], y[:1])
    with pytest.raises(ValueError, match="have learnt the rows before"):
        merged.merge(running(SCALERS[0]).fit(X[:80], y[:80]))
    with pytest.raises(TypeError, match="first rows alone count"):
        base[0].merge(base[0])


def test_late_labels_and_targets_behind_a_frozen_scaler():
    X, y = stream(4)
    for scaler in SCALERS:
        one, other = clone(scaler), clone(scaler)
        cut = [one._prequential_transform(part, None, 3) for part in np.array_split(X, 7)]
        assert_allclose(np.concatenate(cut), other._prequential_transform(X, None, 3), rtol=1e-9)
    model = StreamingTransformedTargetRegressor(VAWRegressor(), clone(SCALERS[0])).fit(X, 5 * y)
    assert np.isfinite(model.predict(X)).all()
