"""Probabilities through what stands around classifiers: pipelines, searches, evaluation, others."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.metrics import log_loss
from sklearn.model_selection import ParameterGrid
from sklearn.preprocessing import StandardScaler

from sklearn_okl import (
    ExpertsClassifier,
    FOGDClassifier,
    OnlineKernelClassifier,
    RakerClassifier,
    RefitClassifier,
    RunningStandardScaler,
    StreamingPipeline,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch, prequential

NAMES = np.array(["ash", "birch", "cedar"])
RAKER = RakerClassifier({"gamma": [0.5]}, n_components=10, random_state=0)
SGD = SGDClassifier(loss="log_loss", random_state=0)


def stream(n=90, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2)) * [1.0, 100.0]
    return X, NAMES[(X[:, 0] > 0.3).astype(int) + (X[:, 1] > 50.0)]


def loop(model, X, y, delay=0):
    """Ask for the probabilities of each row, then teach the label that is due."""
    model, P = clone(model), np.full((len(y), 3), np.nan)
    for t in range(len(y)):
        if t > delay:
            P[t] = model.predict_proba(X[t : t + 1])[0]
        if t >= delay:
            due = slice(t - delay, t - delay + 1)
            model.partial_fit(X[due], y[due], classes=NAMES)
    return P


def pipelines():
    delayed = OnlineKernelClassifier(budget="fast", label_delay=3, random_state=0)
    return {
        "scaled": make_streaming_pipeline(RunningStandardScaler(), RAKER),
        "foreign": make_streaming_pipeline(StandardScaler(), RAKER),
        "nested": make_streaming_pipeline(
            RunningStandardScaler(), make_streaming_pipeline(RunningStandardScaler(), RAKER)
        ),
        "late": make_streaming_pipeline(RunningStandardScaler(), delayed),
        "experts": make_streaming_pipeline(
            RunningStandardScaler(), ExpertsClassifier([("raker", RAKER), ("sgd", SGD)])
        ),
    }


@pytest.mark.long(every=3)
@pytest.mark.parametrize("name", pipelines())
def test_a_pipeline_passes_probabilities_on(name):
    model, (X, y) = pipelines()[name], stream()
    delay = model.label_delay
    whole = clone(model)
    P = whole.prequential_predict_proba(X, y, classes=NAMES)
    expected = loop(model, X, y, delay)
    assert_allclose(P[delay + 1 :], expected[delay + 1 :], rtol=1e-8)
    parts, cut = clone(model), []
    for rows in np.split(np.arange(90), [1, 40]):
        first = {"classes": NAMES} if len(rows) == 1 else {}
        cut.append(parts.prequential_predict_proba(X[rows], y[rows], **first))
    assert_allclose(np.concatenate(cut), P, rtol=1e-8)
    assert_allclose(whole.predict_log_proba(X), np.log(whole.predict_proba(X)))
    assert_array_equal(whole.classes_[P.argmax(axis=1)], clone(model).prequential_predict(X, y))


def test_a_pipeline_has_no_probabilities_where_its_last_step_has_none():
    model = make_streaming_pipeline(RunningStandardScaler(), FOGDClassifier(loss="hinge"))
    for verb in ("prequential_predict_proba", "predict_proba", "predict_log_proba"):
        assert not hasattr(model, verb)


@pytest.mark.parametrize("named", [False, True])
def test_probabilities_of_a_warmup(named):
    X, y = stream()
    y[:2], first = "birch", {"classes": NAMES} if named else {}
    model = make_streaming_pipeline(StandardScaler(), RAKER, warmup=30)
    labels = clone(model).prequential_predict(X, y, **first)
    P = model.prequential_predict_proba(X, y, **first)
    counts = np.stack([(y[:30] == name).cumsum() for name in NAMES], axis=1)
    shares = counts / np.arange(1, 31)[:, None]
    assert_allclose(P[0], 1.0 / 3.0)
    assert_allclose(P[1:30], shares[:29])
    assert_array_equal(NAMES[P.argmax(axis=1)][1:], labels[1:])
    early = make_streaming_pipeline(StandardScaler(), RAKER, warmup=30)
    assert_allclose(early.prequential_predict_proba(X[:20], y[:20], classes=NAMES), P[:20])
    told = early.predict_log_proba(X[:2])
    assert_allclose(np.exp(told), np.tile(shares[19], (2, 1)))
    assert_allclose(early.prequential_predict_proba(X[20:], y[20:]), P[20:], rtol=1e-9)


# Evaluation


@pytest.mark.long(every=3)
@pytest.mark.parametrize("delay", [0, 4])
@pytest.mark.parametrize("model", [RAKER, SGD, pipelines()["scaled"]], ids=["ours", "sgd", "pipe"])
def test_prequential_log_loss(model, delay):
    X, y = stream()
    X = X / [1.0, 100.0]
    result = prequential(model, X, y, delay=delay, loss="log_loss", window=20)
    P, scored = loop(model, X, y, delay), ~np.isnan(result.losses)
    assert scored.sum() == 90 - (delay + 1 if delay or model is SGD else 0)
    assert_allclose(result.forecasts[delay + 1 :], P[delay + 1 :], rtol=1e-8)
    known = result.forecasts[scored]
    assert_allclose(result.mean_loss, log_loss(y[scored], known, labels=NAMES))


def test_log_loss_needs_probabilities():
    X, y = stream()
    with pytest.raises(TypeError, match="has no predict_proba"):
        prequential(SGDClassifier(), X, y, loss="log_loss")
    search = PrequentialSearch(FOGDClassifier(loss="hinge"), {"gamma": [1.0]}, loss="log_loss")
    with pytest.raises(TypeError, match="'prequential_predict_proba'"):
        search.fit(X, y)


@pytest.mark.parametrize("model", [RAKER, pipelines()["scaled"]], ids=["alone", "pipe"])
def test_a_search_ranks_by_the_log_loss(model):
    X, y = stream()
    grid = {("eta0" if model is RAKER else "rakerclassifier__eta0"): [0.01, 1.0, 5.0]}
    places = np.searchsorted(NAMES, y)
    P = np.stack(
        [
            clone(model).set_params(**point).prequential_predict_proba(X, y)
            for point in ParameterGrid(grid)
        ]
    )
    losses = -np.log(P[:, np.arange(90), places])
    before = np.hstack([np.zeros((3, 1)), losses.cumsum(axis=1)[:, :-1]])
    expected = P[before.argmin(axis=0), np.arange(90)]
    search = PrequentialSearch(model, grid, loss="log_loss")
    assert_allclose(search.prequential_predict_proba(X, y), expected, rtol=1e-9)
    assert_allclose(search.results_["mean_loss"], losses.mean(axis=1), rtol=1e-9)
    labels = clone(search).prequential_predict(X, y)
    assert_array_equal(labels, NAMES[expected.argmax(axis=1)])
    assert_allclose(search.predict_log_proba(X), np.log(search.predict_proba(X)))
    mistakes = clone(search).set_params(loss=None)  # labels rank, probabilities are shown
    shown = mistakes.prequential_predict_proba(X, y)
    assert_array_equal(NAMES[shown.argmax(axis=1)], clone(mistakes).prequential_predict(X, y))


# Other people's programs


def test_scikit_learn_asks_a_pipeline_for_probabilities():
    X, y = stream()
    models = [("a", pipelines()["scaled"]), ("b", ExpertsClassifier([("sgd", SGD)]))]
    vote = VotingClassifier(models, voting="soft").fit(X, y)
    expected = np.mean([clone(model).fit(X, y).predict_proba(X) for _, model in models], axis=0)
    assert_allclose(vote.predict_proba(X), expected)


@pytest.mark.long
def test_batch_models_are_experts():
    X, y = stream()
    experts = [("batch", RefitClassifier(SGD, growth=1.0)), ("pipe", pipelines()["scaled"])]
    model = ExpertsClassifier(experts)
    P = model.prequential_predict_proba(X, y, classes=NAMES)
    assert_allclose(P[40:], loop(model, X, y)[40:], rtol=1e-8)
    assert isinstance(model.named_experts_.pipe, StreamingPipeline)


@pytest.mark.long
def test_river_asks_and_is_asked():
    compat = pytest.importorskip("river.compat")
    from river.naive_bayes import GaussianNB

    X, y = stream()
    river = compat.SKL2RiverClassifier(pipelines()["scaled"], classes=NAMES.tolist())
    P = pipelines()["scaled"].prequential_predict_proba(X, y, classes=NAMES)
    for t, (x, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
        row = dict(enumerate(x))
        if t > 0:
            told = river.predict_proba_one(row)
            assert_allclose([told[name] for name in NAMES.tolist()], P[t], rtol=1e-8)
        river.learn_one(row, label)
    places = np.searchsorted(NAMES, y)
    model = ExpertsClassifier([("bayes", compat.River2SKLClassifier(GaussianNB())), ("sgd", SGD)])
    P = model.prequential_predict_proba(X, places, classes=[0, 1, 2])
    assert np.isfinite(P).all()
    assert log_loss(places, P) < np.log(3)
    assert model.weights_[0] > 0.9
