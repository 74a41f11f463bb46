"""scikit-learn's callbacks on long fits; they are there from its version 1.9 on."""

import pickle

import numpy as np
import pytest
from sklearn.base import ClassifierMixin, RegressorMixin, clone
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    FOGDClassifier,
    KeyedClassifier,
    KeyedRegressor,
    OnlineForecaster,
    OnlineNystroem,
    RakerRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    VAW2Regressor,
    VAWRegressor,
    all_estimators,
    make_streaming_pipeline,
)
from sklearn_okl.base import _estimator
from sklearn_okl.evaluation import PrequentialSearch, check_online_estimator

callback = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

SMALL = {
    "kernels": [{"kernel": ["rbf"], "gamma": [0.1, 1.0]}],
    "n_components": 20,
    "random_state": 0,
}
ESTIMATORS = [
    VAWRegressor(),
    VAW2Regressor(**SMALL),
    RakerRegressor(**SMALL),
    FOGDClassifier(n_components=20, random_state=0),
    OnlineNystroem(random_state=0),
]


class Recorder:
    """Write down what is called, and how many rows the model of that moment has learnt."""

    def __init__(self, stop_at=None, fail_at=None):
        self.stop_at, self.fail_at, self.events, self.seen = stop_at, fail_at, [], []

    def setup(self, estimator, context):
        self.events.append("setup")

    def on_fit_task_begin(self, estimator, context):
        self.events.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X, y, metadata, fitted_estimator):
        self.events.append(f"end {context.task_name} {len(X)}")
        self.seen.append(fitted_estimator.n_samples_seen_)
        if fitted_estimator.n_samples_seen_ == self.fail_at:
            raise KeyboardInterrupt
        return fitted_estimator.n_samples_seen_ == self.stop_at

    def teardown(self, estimator, context):
        self.events.append("teardown")


@pytest.fixture
def rows(monkeypatch):
    monkeypatch.setattr(_estimator, "_CHUNK", 64)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(170, 3))
    return X, (X[:, 0] > 0).astype(float)


def answers(model, X):
    return (model.transform if hasattr(model, "transform") else model.predict)(X)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_fit_tells_of_every_chunk_and_learns_the_same(estimator, rows):
    recorder = Recorder()
    model = clone(estimator).set_callbacks(recorder).fit(*rows)
    assert recorder.events == [
        "setup", "begin fit",
        "begin rows", "end rows 64", "begin rows", "end rows 64", "begin rows", "end rows 42",
        "end fit 170", "teardown",
    ]  # fmt: skip
    assert recorder.seen == [64, 128, 170, 170]
    silent = clone(estimator).fit(*rows)
    np.testing.assert_allclose(answers(model, rows[0]), answers(silent, rows[0]), rtol=1e-8)
    assert vars(model).keys() == vars(silent).keys() | {"_skl_callbacks"}
    recorder.events.clear()
    model.partial_fit(*rows)
    assert recorder.events == []  # they are for `fit`


def test_a_callback_may_stop_a_fit(rows):
    X, y = rows
    model = VAWRegressor().set_callbacks(Recorder(stop_at=128)).fit(X, y)
    np.testing.assert_allclose(model.coef_, VAWRegressor().fit(X[:128], y[:128]).coef_)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
def test_a_callback_that_fails_leaves_the_model_as_it_was(estimator, rows):
    recorder = Recorder(fail_at=128)
    model = clone(estimator).set_callbacks(recorder).partial_fit(*rows)
    before, state = model.__getstate__(), pickle.dumps(model._state)
    with pytest.raises(KeyboardInterrupt):
        model.fit(*rows)
    assert recorder.events[-1] == "teardown"
    assert model.__getstate__() == before
    assert pickle.dumps(model._state) == state


@pytest.mark.parametrize("where", ["step", "pipeline", "nested"])
@pytest.mark.parametrize("warmup", [0, 30])
def test_a_pipeline_forwards_callbacks_to_its_last_step(rows, where, warmup):
    X, y = rows
    recorder, last = Recorder(), VAWRegressor()
    model = make_streaming_pipeline(RunningStandardScaler(), last, warmup=warmup)
    if where == "nested":
        model = make_streaming_pipeline("passthrough", model)
    (last if where == "step" else model).set_callbacks(recorder)
    silent = clone(model).set_callbacks().fit(X, y)
    np.testing.assert_allclose(clone(model).fit(X, y).predict(X), silent.predict(X))
    assert recorder.seen == [64, 128, 170, 170]
    assert recorder.events[0] == "setup"
    recorder.events.clear()
    model.fit(X, y).partial_fit(X, y)
    assert len(recorder.events) == 10
    model.set_callbacks().fit(X, y)
    assert len(recorder.events) == 10


def test_who_has_callbacks_is_who_is_said_to():
    """As `docs/coming_from_sklearn.md` and the changes say."""
    without = (KeyedRegressor, KeyedClassifier, StreamingPipeline)
    for name, kind in all_estimators():
        predicts = issubclass(kind, (RegressorMixin, ClassifierMixin))
        assert not predicts or kind in without or hasattr(kind, "set_callbacks"), name
    others = (RunningStandardScaler(), KeyedRegressor(), KeyedClassifier(), OnlineForecaster(2))
    for model in (*others, PrequentialSearch(VAWRegressor(), {})):
        assert not hasattr(model, "set_callbacks")


def test_a_pipeline_has_no_callbacks_where_its_last_step_has_none():
    assert not hasattr(make_streaming_pipeline(SGDRegressor()), "set_callbacks")


def test_weights_are_checked_against_all_rows(rows):
    X, y = rows
    model, weights = VAWRegressor().set_callbacks(Recorder()), np.arange(170.0)
    expected = VAWRegressor().fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.fit(X, y, sample_weight=weights).coef_, expected.coef_)
    with pytest.raises(ValueError, match="170 rows"):
        model.fit(X, y, sample_weight=np.ones(171))


@pytest.mark.long
def test_the_laws_hold_with_callbacks(monkeypatch):
    monkeypatch.setattr(_estimator, "_CHUNK", 64)  # as the real one, a multiple of the blocks
    check_online_estimator(VAW2Regressor(**SMALL).set_callbacks(Recorder()))


@pytest.mark.parametrize(
    ("estimator", "scoring"), [(VAWRegressor(), "r2"), (FOGDClassifier(random_state=0), "accuracy")]
)
def test_scores_are_monitored(rows, estimator, scoring):
    pytest.importorskip("pandas")
    X, y = rows
    y = np.where(y > 0, "yes", "no") if scoring == "accuracy" else y
    monitor = callback.ScoringMonitor(scoring=scoring)
    model = clone(estimator).set_callbacks(monitor).fit(X, y)
    log = monitor.get_logs(select="most_recent").data_as_pandas
    assert len(log) == 4  # the whole and its three chunks
    assert log[scoring].iloc[0] == pytest.approx(model.score(X, y))


def test_the_progress_bar(rows, capsys):
    pytest.importorskip("rich", reason="scikit-learn's bar is drawn by rich")
    VAW2Regressor(**SMALL).set_callbacks(callback.ProgressBar()).fit(*rows)
    printed = capsys.readouterr()
    assert "VAW2Regressor - fit" in printed.out + printed.err
    assert "100%" in printed.out + printed.err
