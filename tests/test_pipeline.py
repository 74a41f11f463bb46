"""Streaming pipelines: against the literal loop over rows, with steps of ours and of others."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.decomposition import IncrementalPCA
from sklearn.linear_model import SGDClassifier, SGDRegressor
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from sklearn_okl import (
    FourierFeatures,
    RunningRobustScaler,
    RunningStandardScaler,
    StreamingPipeline,
    StreamingTransformedTargetRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import check_online_estimator


def stream(seed=0, n=200, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 100] + [0, 5, 1000]
    return X, np.sin(X[:, 0]) + 0.1 * X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scaler", [RunningStandardScaler(), StandardScaler()], ids=str)
def test_rows_are_transformed_by_the_rows_before_them(seed, scaler):
    X, y = stream(seed)
    features, learner = FourierFeatures(n_components=20, random_state=seed), VAWRegressor()
    model = make_streaming_pipeline(scaler, features, learner)
    forecasts = model.prequential_predict(X, y)
    mine, fourier, vaw = clone(scaler), clone(features), clone(learner)  # the loop, by hand
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        if t == 0:
            mine.partial_fit(x[None])
        z = mine.transform(x[None])
        if t == 0:
            fourier.fit(z)
        else:
            mine.partial_fit(x[None])
        z = fourier.transform(z)
        expected = vaw.predict(z)[0] if t else 0.0
        assert forecasts[t] == pytest.approx(expected, rel=1e-8, abs=1e-9)
        vaw.partial_fit(z, [target])
    np.testing.assert_allclose(
        model.predict(X), vaw.predict(fourier.transform(mine.transform(X))), rtol=1e-8
    )


def test_our_scaler_and_scikit_learns_agree():
    X, y = stream()
    ours, theirs = (
        make_streaming_pipeline(scaler, VAWRegressor()).prequential_predict(X, y)
        for scaler in (RunningStandardScaler(), StandardScaler())
    )
    np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-10)


def test_batches_are_transformed_by_the_batches_before_them():
    X, y = stream()
    model = make_streaming_pipeline(StandardScaler(), VAWRegressor(), update="batch")
    scaler, vaw = StandardScaler().partial_fit(X[:50]), VAWRegressor()
    for low in range(0, 200, 50):
        part = slice(low, low + 50)
        Z = scaler.transform(X[part])
        if low:
            scaler.partial_fit(X[part])
        np.testing.assert_allclose(
            model.prequential_predict(X[part], y[part]), vaw.prequential_predict(Z, y[part])
        )


def test_the_laws_hold_with_transformers_of_scikit_learn():
    check_online_estimator(make_streaming_pipeline(StandardScaler(), VAWRegressor()))


def test_the_future_does_not_touch_the_past():
    X, y = stream()
    changed = X.copy()
    changed[120:] *= 1e6
    model = make_streaming_pipeline(RunningRobustScaler(), VAWRegressor())
    np.testing.assert_array_equal(
        clone(model).prequential_predict(X, y)[:120],
        clone(model).prequential_predict(changed, y)[:120],
    )


def test_classifiers():
    X, y = stream(1)
    labels = np.where(y > np.median(y), "up", "down")
    model = make_streaming_pipeline(RunningStandardScaler(), SGDClassifier(random_state=0))
    model.partial_fit(X[:3], labels[:3], classes=["down", "up"]).partial_fit(X[3:], labels[3:])
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.classes_.tolist() == ["down", "up"]
    assert model.score(X, labels) > 0.7
    assert model.decision_function(X).shape == (len(X),)
    assert not hasattr(model, "predict_proba")
    assert not hasattr(model, "prequential_predict")
    assert clone(model).fit(X, labels).score(X, labels) > 0.7


def test_frames_names_and_containers():
    pd = pytest.importorskip("pandas")
    X, y = stream()
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for scaler in (RunningStandardScaler(), StandardScaler()):
        model = make_streaming_pipeline(
            scaler, PolynomialFeatures(2, include_bias=False), VAWRegressor()
        ).set_output(transform="pandas")
        forecasts = model.prequential_predict(frame, pd.Series(y))
        plain = clone(model).set_output(transform="default").prequential_predict(X, y)
        np.testing.assert_allclose(forecasts, plain)
        assert model.feature_names_in_.tolist() == ["a", "b", "c"]
        assert model["vawregressor"].feature_names_in_[:4].tolist() == ["a", "b", "c", "a^2"]
        assert model.get_feature_names_out()[:4].tolist() == ["a", "b", "c", "a^2"]
        with pytest.raises(ValueError, match="feature names"):
            model.partial_fit(frame[["b", "a", "c"]], y)


def test_parameters_steps_and_views():
    X, y = stream()
    model = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(0.5))
    assert len(model) == 2
    assert model.get_params()["vawregressor__alpha"] == 0.5
    model.fit(X, y)
    assert model["vawregressor"].n_samples_seen_ == model.n_samples_seen_ == len(X)
    assert model[0] is model.named_steps.runningstandardscaler
    assert len(model[:1]) == 1
    assert model.n_features_in_ == 3
    assert not hasattr(model.steps[1][1], "coef_")  # the given steps stay as they were
    assert "VAWRegressor" in model._repr_html_()
    before = pickle.dumps(model.steps_)
    model.set_params(vawregressor__alpha=3.0)
    for use in (model.partial_fit, lambda X, y: model.predict(X)):
        with pytest.raises(ValueError, match="mid-stream"):
            use(X, y)
    assert pickle.dumps(model.steps_) == before
    assert model.fit(X, y)["vawregressor"].alpha == 3.0


def test_passthrough():
    X, y = stream()
    model = StreamingPipeline([("nothing", "passthrough"), ("vaw", VAWRegressor())])
    np.testing.assert_array_equal(
        model.prequential_predict(X, y), VAWRegressor().prequential_predict(X, y)
    )


@pytest.mark.parametrize(
    ("steps", "error", "words"),
    [
        ([], ValueError, "empty"),
        ([("a", VAWRegressor()), ("b", VAWRegressor())], TypeError, "transform"),
        ([("a", RunningStandardScaler()), ("b", VAWRegressor)], TypeError, "class"),
        ([("a", FourierFeatures())], TypeError, "partial_fit"),
        ([("a", VAWRegressor()), ("a", VAWRegressor())], ValueError, "unique"),
    ],
)
def test_bad_steps_are_refused(steps, error, words):
    with pytest.raises(error, match=words):
        StreamingPipeline(steps).fit(*stream())
    with pytest.raises(ValueError, match="update"):
        make_streaming_pipeline(VAWRegressor(), update="column").fit(*stream())


def test_a_failure_in_a_late_step_leaves_the_early_ones_as_they_were():
    X, y = stream()
    model = make_streaming_pipeline(StandardScaler(), SGDRegressor(random_state=0)).fit(X, y)
    before = pickle.dumps(model)
    with pytest.raises(ValueError, match="NaN"):
        model.partial_fit(X, np.append(y[:-1], np.nan))
    assert pickle.dumps(model) == before


def test_a_transformer_that_needs_a_batch_learns_by_batches():
    X, y = stream()
    model = make_streaming_pipeline(IncrementalPCA(2), VAWRegressor(), update="batch")
    for part in np.split(np.arange(200), 4):
        model.partial_fit(X[part], y[part])
    assert model["vawregressor"].n_features_in_ == 2


def test_grid_search_over_a_pipeline():
    X, y = stream()
    model = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
    search = GridSearchCV(model, {"vawregressor__alpha": [0.1, 1e6]}, cv=TimeSeriesSplit(3))
    assert search.fit(X, y).best_params_ == {"vawregressor__alpha": 0.1}


@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
def test_the_unit_of_the_targets_does_not_matter(unit):
    X, y = stream(2, n=400)
    X = RunningStandardScaler().prequential_transform(X)
    model = StreamingTransformedTargetRegressor(VAWRegressor())
    forecasts = model.prequential_predict(X, 1e3 * unit + unit * y)
    again = clone(model).prequential_predict(X, y)
    np.testing.assert_allclose((forecasts / unit - 1e3)[1:], again[1:], atol=1e-6)
    assert model.regressor_.n_samples_seen_ == 400
    assert np.mean((again[200:] - y[200:]) ** 2) < 0.5 * np.var(y)


@pytest.mark.parametrize("fault", [1e6, -1e12, 1e300])
@pytest.mark.parametrize("at", [0, 5, 31, 32, 300])
@pytest.mark.parametrize("scaler", [None, RunningStandardScaler(0.995), RunningRobustScaler()])
def test_a_faulty_target_is_forgotten(scaler, at, fault):
    X, y = stream(3, n=1200)
    X, y = RunningStandardScaler().prequential_transform(X), 100.0 + y
    faulty = y.copy()
    faulty[at] = fault
    model = StreamingTransformedTargetRegressor(VAWRegressor(), scaler)
    clean = clone(model).prequential_predict(X, y)[1000:]
    forecasts = model.prequential_predict(X, faulty)
    cut = clone(model)
    parts = [
        cut.prequential_predict(X[part], faulty[part])
        for part in np.split(range(1200), [5, 6, 33, 301])
    ]
    largest = np.abs(forecasts).max()
    np.testing.assert_allclose(np.concatenate(parts), forecasts, rtol=1e-8, atol=1e-8 * largest)
    np.testing.assert_allclose(cut.predict(X), model.predict(X), rtol=1e-8)
    losses = [np.mean((y_pred - y[1000:]) ** 2) for y_pred in (forecasts[1000:], clean)]
    assert losses[0] < 2.0 * losses[1]
