"""Weights and other metadata: they arrive, or are refused with a sentence; none is lost."""

import re
from inspect import signature

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose
from sklearn.base import clone, is_classifier
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_validate
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    FOGDClassifier,
    KeyedRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    VAWRegressor,
    all_estimators,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch
from tests.instances import instances, label


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def stream(n=120):
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(n, 3))
    return X, np.sin(5 * X[:, 0]) + 0.1 * rng.normal(size=n), rng.uniform(size=n)


def weighted(*requests):
    learner = VAWRegressor()
    for request in requests:
        getattr(learner, f"set_{request}_request")(sample_weight=True)
    return learner


def by_hand(X, y, w, alpha=1.0):
    Z = RunningStandardScaler().prequential_transform(X)
    return VAWRegressor(alpha).fit(Z, y, sample_weight=w)


def test_without_routing_the_last_step_gets_the_weights():
    X, y, w = stream()
    expected = by_hand(X, y, w).coef_
    model = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
    assert_allclose(model.fit(X, y, sample_weight=w)[-1].coef_, expected)
    search = PrequentialSearch(model, {"vawregressor__alpha": [1.0, 1e6]}, halving_rounds=[50])
    search.fit(X[:70], y[:70], sample_weight=w[:70])
    search.partial_fit(X[70:], y[70:], sample_weight=w[70:])
    assert_allclose(search.best_estimator_[-1].coef_, expected)
    assert search.score(X, y, sample_weight=w) != search.score(X, y)


def test_long_calls_of_a_search_cut_the_weights_too():
    X, y, w = stream(5000)
    search = PrequentialSearch(VAWRegressor(), {"alpha": [1.0]}).fit(X, y, sample_weight=w)
    assert_allclose(search.best_estimator_.coef_, VAWRegressor().fit(X, y, w).coef_)
    with pytest.raises(ValueError, match="one weight for each of the 5000 rows"):
        search.partial_fit(X, y, sample_weight=w[:2048])


def test_weights_are_routed_to_the_last_step(routing):
    X, y, w = stream()
    expected = by_hand(X, y, w).coef_
    scaler = RunningStandardScaler()
    model = make_streaming_pipeline(scaler, weighted("fit"))
    assert_allclose(model.fit(X, y, sample_weight=w)[-1].coef_, expected)
    with pytest.raises(UnsetMetadataPassedError, match="partial_fit"):
        model.partial_fit(X, y, sample_weight=w)
    model = make_streaming_pipeline(scaler, weighted("partial_fit"))
    model.prequential_predict(X[:50], y[:50], sample_weight=w[:50])
    model.partial_fit(X[50:], y[50:], sample_weight=w[50:])
    assert_allclose(model[-1].coef_, expected)
    model = make_streaming_pipeline(scaler, VAWRegressor())
    for use in (model.fit, model.partial_fit, model.prequential_predict):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            use(X, y, sample_weight=w)
    model = make_streaming_pipeline(scaler, VAWRegressor().set_fit_request(sample_weight=False))
    with pytest.raises(TypeError, match="sample_weight"):
        model.fit(X, y, sample_weight=w)


def test_scores_and_forecasts_are_routed(routing):
    X, y, w = stream()
    learner = weighted("fit", "score").set_predict_request(return_std=True)
    model = make_streaming_pipeline(RunningStandardScaler(), learner).fit(X, y, sample_weight=w)
    Z = model[:-1].transform(X)
    assert model.score(X, y, sample_weight=w) == model[-1].score(Z, y, sample_weight=w)
    assert len(model.predict(X, return_std=True)) == 2
    assert not hasattr(model, "set_score_request")  # it is the steps that request
    assert not hasattr(model, "set_fit_request")
    with pytest.raises(UnsetMetadataPassedError, match="return_std"):
        make_streaming_pipeline(VAWRegressor()).fit(X, y).predict(X, return_std=True)


def test_steps_that_transform_get_no_weights(routing):
    X, y, w = stream()
    scaler = StandardScaler()
    model = make_streaming_pipeline(scaler, weighted("fit"))
    with pytest.raises(UnsetMetadataPassedError, match="StandardScaler"):
        model.fit(X, y, sample_weight=w)
    scaler.set_fit_request(sample_weight=True)
    with pytest.raises(ValueError, match=r"'standardscaler' requests .* last step only"):
        model.fit(X, y, sample_weight=w)
    scaler.set_fit_request(sample_weight=False)
    model.fit(X, y, sample_weight=w)


@pytest.mark.parametrize("score_too", [False, True])
def test_grid_search_fits_and_scores_with_weights(routing, score_too):
    X, y, w = stream()
    learner = weighted("fit").set_score_request(sample_weight=score_too)
    model = make_streaming_pipeline(RunningStandardScaler(), learner)
    splits = TimeSeriesSplit(3)
    search = GridSearchCV(model, {"vawregressor__alpha": [0.1, 10.0]}, cv=splits)
    search.fit(X, y, sample_weight=w)
    for k, alpha in enumerate([0.1, 10.0]):
        scores = []
        for train, test in splits.split(X):
            fitted = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(alpha))
            with sklearn.config_context(enable_metadata_routing=False):
                fitted.fit(X[train], y[train], sample_weight=w[train])
                weights = {"sample_weight": w[test]} if score_too else {}
                scores.append(fitted.score(X[test], y[test], **weights))
        assert_allclose(search.cv_results_["mean_test_score"][k], np.mean(scores))
    params = {"sample_weight": w}
    assert len(cross_validate(model, X, y, cv=splits, params=params)["test_score"]) == 3


def test_a_search_learns_and_ranks_with_weights(routing):
    X, y, w = stream()
    grid = {"alpha": [0.1, 10.0]}
    learner = weighted("fit", "score", "partial_fit")
    for search in [
        PrequentialSearch(learner, grid),
        PrequentialSearch(
            make_streaming_pipeline("passthrough", learner), {"vawregressor__alpha": [0.1, 10.0]}
        ),
    ]:
        search.fit(X[:50], y[:50], sample_weight=w[:50])
        search.partial_fit(X[50:], y[50:], sample_weight=w[50:])
        for k, alpha in enumerate(grid["alpha"]):
            alone = VAWRegressor(alpha)
            losses = (alone.prequential_predict(X, y, sample_weight=w) - y) ** 2
            expected = np.average(losses, weights=w)
            assert_allclose(search.results_["mean_loss"][k], expected)
    search = PrequentialSearch(weighted("fit").set_score_request(sample_weight=False), grid)
    losses = (VAWRegressor(0.1).prequential_predict(X, y, sample_weight=w) - y) ** 2
    search.fit(X, y, sample_weight=w)
    assert_allclose(search.results_["mean_loss"][0], losses.mean())
    for unset in (VAWRegressor(), weighted("fit"), weighted("score")):
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            PrequentialSearch(unset, grid).fit(X, y, sample_weight=w)
        pipeline = make_streaming_pipeline(RunningStandardScaler(), unset)
        with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
            PrequentialSearch(pipeline, {"vawregressor__alpha": [1.0]}).fit(X, y, sample_weight=w)


def test_classes_need_no_request(routing):
    X, y, _ = stream()
    labels = np.full(len(y), "up")
    for model in [
        make_streaming_pipeline(RunningStandardScaler(), FOGDClassifier(random_state=0)),
        PrequentialSearch(FOGDClassifier(random_state=0), {"eta0": [0.1, 1.0]}),
    ]:
        model.partial_fit(X, labels, classes=["down", "up"])
        assert model.classes_.tolist() == ["down", "up"]
    theirs = SGDClassifier(random_state=0).set_partial_fit_request(classes=True)
    model = make_streaming_pipeline(RunningStandardScaler(), theirs)
    assert model.partial_fit(X, labels, classes=["down", "up"]).predict(X).tolist() == ["up"] * 120


PUBLIC = {name for name, _ in all_estimators()}


@pytest.mark.long(every=3)
@pytest.mark.parametrize("estimator", instances("online"), ids=label)
@pytest.mark.parametrize("verb", ["fit", "partial_fit", "prequential_predict", "predict"])
def test_what_a_verb_does_not_take_is_refused_in_words(estimator, verb):
    X, y, w = stream(40)
    y = y > np.median(y) if is_classifier(estimator) else y
    model = clone(estimator).fit(X, y)
    name = "sample_weight" if verb != "predict" else "return_everything"
    rows = (X,) if verb == "predict" else (X, y)
    verb, hand_on = getattr(model, verb), (StreamingPipeline, KeyedRegressor)
    if "sample_weight" in signature(verb).parameters or isinstance(model, hand_on):
        verb(X, y, sample_weight=w) if verb.__name__ != "predict" else verb(X)
        return
    with pytest.raises(TypeError, match=repr(name)) as caught:
        verb(*rows, **{name: w})
    assert re.match(r"\w+", str(caught.value)).group() in PUBLIC  # no private class
