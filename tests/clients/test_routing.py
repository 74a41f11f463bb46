"""Weights and callbacks of scikit-learn: they reach the learner or are refused, never dropped."""

from functools import partial

import numpy as np
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.ensemble import StackingRegressor, VotingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, TimeSeriesSplit, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.utils.validation import has_fit_parameter

from sklearn_okl import (
    RakerRegressor,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch
from tests.clients.examples import (
    classification,
    every_estimator,
    learnt,
    regression,
    regressors,
    streamed,
    weights,
)
from tests.clients.expect import client, each, near, refused, same

does = client("scikit-learn")
routed = partial(sklearn.config_context, enable_metadata_routing=True)
SPLITS = TimeSeriesSplit(3)
ALPHAS = {"alpha": [0.5, 50.0]}


def _asking(**requests):
    """Return VAW that asks for weights, of `fit` and `partial_fit` unless told otherwise."""
    requests = {"fit": True, "partial_fit": True, "score": False} | requests
    with routed():
        model = VAWRegressor()
        for verb, asked in requests.items():
            getattr(model, f"set_{verb}_request")(sample_weight=asked)
        return model


def _repeated(X, y, w):
    """Return every row as often as its weight says."""
    times = w.astype(int)
    return np.repeat(X, times, axis=0), np.repeat(y, times)


def _weighted_score(alpha, fold):
    X, y, w, (train, test) = *regression(), weights(), fold
    model = VAWRegressor(alpha).fit(*_repeated(X[train], y[train], w[train]))
    return model.score(X[test], y[test])


@does("sample_weight: a row of weight k is k rows")
def test_direct():
    X, y, w = *regression(), weights()
    expected = VAWRegressor().fit(*_repeated(X, y, w)).coef_
    near(VAWRegressor().fit(X, y, sample_weight=w).coef_, expected, "coefficients")
    with routed():
        near(_asking().fit(X, y, sample_weight=w).coef_, expected, "coefficients, routed")


@does("weights routed through GridSearchCV and cross_validate: scores by hand")
def test_searches():
    X, y, w = *regression(), weights()
    with routed():
        found = GridSearchCV(_asking(), ALPHAS, cv=SPLITS).fit(X, y, sample_weight=w)
        across = cross_validate(_asking(), X, y, cv=SPLITS, params={"sample_weight": w})
    for alpha, score in zip(ALPHAS["alpha"], found.cv_results_["mean_test_score"], strict=True):
        expected = [_weighted_score(alpha, fold) for fold in SPLITS.split(X)]
        near(score, np.mean(expected), "score in GridSearchCV")
    expected = [_weighted_score(1.0, fold) for fold in SPLITS.split(X)]
    near(across["test_score"], expected, "scores in cross_validate")
    best = VAWRegressor(**found.best_params_).fit(X, y, sample_weight=w)
    same(found.predict(X), best.predict(X))


@does("weights routed to nobody who asked: refused")
def test_nobody_asked():
    X, y, w = *regression(), weights()
    unset = make_streaming_pipeline(RunningStandardScaler(), VAWRegressor())
    models = {
        "GridSearchCV": GridSearchCV(VAWRegressor(), ALPHAS),
        "StreamingPipeline": unset,
        "PrequentialSearch": PrequentialSearch(VAWRegressor(), ALPHAS),
        "PrequentialSearch of a pipeline": PrequentialSearch(unset, {"vawregressor__alpha": [1]}),
    }

    def check(model):
        with routed():
            refused(lambda: model.fit(X, y, sample_weight=w), "weights", says="sample_weight")

    each(models, check)


def _pipeline_by_hand():
    X, y, w = *regression(), weights()
    scaler = RunningStandardScaler()
    learned = VAWRegressor().fit(*_repeated(streamed(scaler, X), y, w))
    return learned.predict(scaler.transform(X))


@does("weights routed through Pipeline to our learner: by hand")
def test_their_pipeline():
    X, y, w = *regression(), weights()
    Z = RunningStandardScaler().fit(X).transform(X)
    with routed():
        model = make_pipeline(RunningStandardScaler(), _asking()).fit(X, y, sample_weight=w)
    near(model.predict(X), VAWRegressor().fit(*_repeated(Z, y, w)).predict(Z))


@does("weights in StreamingPipeline without routing: by hand")
def test_our_pipeline():
    X, y, w = *regression(), weights()
    steps = RunningStandardScaler(), VAWRegressor()
    model = make_streaming_pipeline(*steps).fit(X, y, sample_weight=w)
    near(model.predict(X), _pipeline_by_hand(), "after fit")
    model = make_streaming_pipeline(*steps)
    for rows in np.split(np.arange(len(y)), [70]):
        model.partial_fit(X[rows], y[rows], sample_weight=w[rows])
    near(model.predict(X), _pipeline_by_hand(), "after partial_fit")


@does("weights routed through StreamingPipeline: by hand")
def test_our_pipeline_routed():
    X, y, w = *regression(), weights()
    with routed():
        model = make_streaming_pipeline(RunningStandardScaler(), _asking())
        near(clone(model).fit(X, y, sample_weight=w).predict(X), _pipeline_by_hand(), "after fit")
        for rows in np.split(np.arange(len(y)), [70]):
            model.partial_fit(X[rows], y[rows], sample_weight=w[rows])
    near(model.predict(X), _pipeline_by_hand(), "after partial_fit")


@does("weights routed through GridSearchCV around StreamingPipeline: by hand")
def test_search_of_our_pipeline():
    X, y, w = *regression(), weights()
    with routed():
        model = make_streaming_pipeline(RunningStandardScaler(), _asking())
        grid = {"vawregressor__alpha": [1.0]}
        found = GridSearchCV(model, grid, cv=SPLITS).fit(X, y, sample_weight=w)
    near(found.predict(X), _pipeline_by_hand())


@does("weights in PrequentialSearch, routed and not: by hand")
def test_our_search():
    X, y, w = *regression(), weights()
    losses = [
        np.mean((VAWRegressor(alpha).prequential_predict(X, y, sample_weight=w) - y) ** 2)
        for alpha in ALPHAS["alpha"]
    ]
    best = VAWRegressor(ALPHAS["alpha"][int(np.argmin(losses))]).fit(X, y, sample_weight=w)

    def check(learn):
        found = learn()
        near(found.results_["mean_loss"], losses, "losses")
        near(found.predict(X), best.predict(X))

    def fit_routed():
        with routed():
            return PrequentialSearch(_asking(), ALPHAS).fit(X, y, sample_weight=w)

    def learn_routed():
        with routed():
            search = PrequentialSearch(_asking(), ALPHAS)
            for rows in np.split(np.arange(len(y)), [70]):
                search.partial_fit(X[rows], y[rows], sample_weight=w[rows])
            return search

    ways = {
        "not routed": lambda: PrequentialSearch(VAWRegressor(), ALPHAS).fit(X, y, sample_weight=w),
        "routed, fit": fit_routed,
        "routed, partial_fit": learn_routed,
    }
    each(ways, check)


@does("weights in PrequentialSearch around StreamingPipeline, routed: by hand")
def test_our_search_of_our_pipeline():
    X, y, w = *regression(), weights()
    with routed():
        model = make_streaming_pipeline(RunningStandardScaler(), _asking())
        search = PrequentialSearch(model, {"vawregressor__alpha": [1.0, 1e4]})
        search.fit(X, y, sample_weight=w)
    near(search.predict(X), _pipeline_by_hand())


@does("weights in VotingRegressor and StackingRegressor: in every member, or refused")
def test_weighted_ensembles():
    X, y, w = *regression(), weights()
    members = [("ours", VAWRegressor()), ("theirs", Ridge())]
    apart = [clone(member).fit(X, y, sample_weight=w).predict(X) for _, member in members]
    voters = VotingRegressor(members).fit(X, y, sample_weight=w)
    near(voters.predict(X), np.mean(apart, axis=0))
    stack = StackingRegressor(members[:1], cv=3)
    near(stack.fit(X, y, sample_weight=w).estimators_[0].predict(X), apart[0], "in a stack")
    mixed = VotingRegressor([("raker", RakerRegressor()), ("ridge", Ridge())])
    refused(lambda: mixed.fit(X, y, sample_weight=w), "weights of Raker", says="Raker")


@does("sample_weight for those that take none: refused by the name of the class")
def test_unweighted():
    (X, y), labels, w = regression(40), classification(40)[1], weights(40)

    def check(model):
        targets = labels if is_classifier(model) else y
        for verb in ("fit", "partial_fit", "prequential_predict"):
            call = partial(getattr(clone(model), verb), X, targets, sample_weight=w)
            refused(call, verb, says=type(model).__name__)

    takers = {
        name: model
        for name, model in every_estimator().items()
        if hasattr(model, "prequential_predict") and not has_fit_parameter(model, "sample_weight")
    }
    for name in "StreamingPipeline", "KeyedClassifier", "KeyedRegressor":  # they hand them on
        del takers[name]
    each(takers, check)
    model = make_streaming_pipeline(RunningStandardScaler(), RakerRegressor())
    refused(lambda: model.fit(X, y, sample_weight=w), "in a pipeline", says="RakerRegressor")


@does("callbacks: ScoringMonitor's last score, and ProgressBar", "sklearn.callback", "rich")
def test_callbacks():
    from sklearn.callback import ProgressBar, ScoringMonitor

    def check(model):
        X, y = regression()
        expected = learnt(model, X, y)
        monitor = ScoringMonitor(scoring="r2")
        watched = clone(model).set_callbacks(monitor, ProgressBar()).fit(X, y)
        near(watched.predict(X), expected.predict(X))
        log = monitor.get_logs(select="most_recent").data_as_pandas
        near(log["r2"].iloc[0], expected.score(X, y), "the score in the log")

    models = regressors()
    models.pop("StreamingPipeline")
    each(models, check)
