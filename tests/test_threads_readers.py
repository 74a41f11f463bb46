"""Readers beside a writer: answers, pickles, copies and files are of before a call or after it."""

import copy
import pickle
import sys
import threading

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.linear_model import LogisticRegression, Ridge

from sklearn_okl import (
    ExpertsClassifier,
    ExpertsRegressor,
    OKSRegressor,
    OnlineForecaster,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RakerClassifier,
    RefitClassifier,
    RefitRegressor,
    RunningOneHotEncoder,
    RunningStandardScaler,
    StreamingTransformedTargetRegressor,
    VAW2Regressor,
    VAWRegressor,
    load,
    make_streaming_pipeline,
    save,
)
from sklearn_okl.evaluation import PrequentialSearch
from tests.instances import label
from tests.test_threads import MeanwhileTaught

BANK = {"kernels": {"gamma": [0.1, 1.0]}, "n_components": 20, "random_state": 0}
FAST = {"budget": "fast", "random_state": 0}
MODELS = [
    VAWRegressor(),
    VAW2Regressor(**BANK),
    OKSRegressor(random_state=0),
    OnlineKernelRegressor(**FAST),
    OnlineKernelClassifier(max_classes=9, **FAST),
    make_streaming_pipeline(RunningStandardScaler(), VAW2Regressor(**BANK)),
    PrequentialSearch(VAW2Regressor(**BANK), {"alpha": [0.1, 1.0]}, halving_rounds=(80,)),
    ExpertsRegressor([("kernels", VAW2Regressor(**BANK)), ("line", VAWRegressor())]),
    StreamingTransformedTargetRegressor(VAW2Regressor(**BANK)),
    RefitRegressor(Ridge(), growth=0.3, fit_delay=2),
    RunningStandardScaler(),
    RunningOneHotEncoder(max_categories=4),
]
N_FIRST = 40


def stream(estimator, n=160):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    y = np.sin(X[:, 0]) + X[:, 1]
    if is_classifier(estimator):  # the later the row the more classes
        y = np.digitize(y, [-1.0, 0.0, 1.0]) % (2 + np.arange(n) // 40)
    return (X.round() if "OneHot" in type(estimator).__name__ else X), y


def ask(model, X):
    verbs = ("predict_proba", "predict", "transform")
    answer = next(getattr(model, verb) for verb in verbs if hasattr(model, verb))(X)
    return np.asarray(answer, dtype=np.float64)


class Meanwhile:
    """An attribute of a model during whose copy another thread does something."""

    def __init__(self, do=None):
        self.do = do

    def __reduce__(self):
        if self.do is not None:
            thread, self.do = threading.Thread(target=self.do), None
            thread.start()
            thread.join()
        return Meanwhile, ()

    def __deepcopy__(self, memo):
        self.__reduce__()
        return Meanwhile()


def _saved(model, path):
    trusted = [f"{Meanwhile.__module__}.Meanwhile"]
    save(model, path, trusted=trusted)
    return load(path, trusted=trusted)


WAYS = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "copy": lambda model, path: copy.copy(model),
    "save": _saved,
}


@pytest.mark.long(every=4)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("estimator", MODELS, ids=label)
def test_a_copy_during_which_another_thread_reads_or_writes(estimator, way, tmp_path):
    """At 8264a20: "dictionary changed size during iteration", where parts are built."""
    if way == "save":
        pytest.importorskip("skops")
    X, y = stream(estimator)
    known = clone(estimator).fit(X[:N_FIRST], y[:N_FIRST])
    expected = ask(known, X[-9:])
    for do in (ask, lambda model, X: model.partial_fit(X[N_FIRST:], y[N_FIRST:])):
        model = pickle.loads(pickle.dumps(known))  # what is built for a reader is not there yet
        model.note = Meanwhile(lambda model=model, do=do: do(model, X))
        other = WAYS[way](model, tmp_path / "model.skops")
        if way != "save":  # which looks at a model more than once, each time as it is then
            np.testing.assert_array_equal(ask(other, X[-9:]), expected)
        assert other.n_samples_seen_ in (N_FIRST, len(y))
        other.partial_fit(X, y)
        assert np.isfinite(ask(other, X)).all()


def taught(estimator, X, y):
    """Return what is said of some rows after each call of a writer, by the number of rows."""
    model, said = clone(estimator).fit(X[:N_FIRST], y[:N_FIRST]), {}
    said[N_FIRST] = ask(model, X[-5:])
    for t in range(N_FIRST, len(y)):
        model.partial_fit(X[t : t + 1], y[t : t + 1])
        said[t + 1] = ask(model, X[-5:])
    return said


def is_said(answer, said, low, high):
    """Tell whether an answer is that of some number of rows; BLAS may sum otherwise in threads."""
    return any(
        answer.shape == said[t].shape and np.allclose(answer, said[t], rtol=1e-9, atol=1e-9)
        for t in range(low, high + 1)
    )


@pytest.fixture
def switching():
    """Let threads take turns often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(interval)


@pytest.mark.long(every=6)
@pytest.mark.parametrize("estimator", MODELS, ids=label)
def test_four_readers_beside_a_writer(estimator, full_size, switching, tmp_path):
    """10 000 reads in all with OKL_FULL=1, and some of them without."""
    pytest.importorskip("skops")
    n_reads = 10_000 // len(MODELS) // 4 + 1 if full_size else 8
    X, y = stream(estimator, 160 if full_size else 90)
    said, holder, stop, faults = taught(estimator, X, y), {}, threading.Event(), []
    start = clone(estimator).fit(X[:N_FIRST], y[:N_FIRST])
    holder["model"] = copy.deepcopy(start)

    def write():
        while not stop.is_set():
            model = copy.deepcopy(start)
            holder["model"] = model
            for t in range(N_FIRST, len(y)):
                if stop.is_set():
                    return
                model.partial_fit(X[t : t + 1], y[t : t + 1])

    def read(way):
        for i in range(n_reads if way != "save" else n_reads // 4 + 1):
            model = holder["model"]
            try:
                low = model.n_samples_seen_
                if way == "predict":
                    answer, high = ask(model, X[-5:]), model.n_samples_seen_
                else:
                    other = WAYS[way](model, tmp_path / f"{i}.skops")
                    low = high = other.n_samples_seen_
                    answer = ask(other, X[-5:])
                if not is_said(answer, said, low, high):
                    faults.append(f"{way}: a model that never was, between {low} and {high}")
            except Exception as error:
                faults.append(f"{way}: {error!r}")

    threads = [threading.Thread(target=read, args=(way,)) for way in ("predict", *WAYS)]
    writer = threading.Thread(target=write)
    for thread in (writer, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    stop.set()
    writer.join()
    assert faults == []


def test_a_forecaster_is_read_beside_a_writer(full_size, switching):
    rng = np.random.default_rng(0)
    y = np.sin(np.arange(400) / 4) + 0.1 * rng.normal(size=400)
    start = OnlineForecaster(4, random_state=0).fit(y[:100])
    model, stop, faults = copy.deepcopy(start), threading.Event(), []

    def write():
        for t in range(100, 400):
            if stop.is_set():
                return
            model.partial_fit(y[t : t + 1])

    def read(way):
        for _ in range(300 if full_size else 10):
            try:
                other = model if way is None else WAYS[way](model, None)
                if not np.isfinite(other.predict()).all():
                    faults.append("no number")
            except Exception as error:
                faults.append(repr(error))

    writer = threading.Thread(target=write)
    readers = [threading.Thread(target=read, args=(way,)) for way in (None, "pickle", "deepcopy")]
    for thread in (writer, *readers):
        thread.start()
    for thread in readers:
        thread.join()
    stop.set()
    writer.join()
    assert faults == []


def among(model, X):
    return {
        verb: getattr(model, verb)
        for verb in ("predict", "predict_proba", "decision_function", "predict_experts")
        if hasattr(model, verb)
    }


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    "estimator",
    [
        OnlineKernelClassifier(max_classes=9, **FAST),
        RefitClassifier(LogisticRegression(), growth=0.3),
        ExpertsClassifier([("raker", RakerClassifier(loss="log_loss", **BANK))]),
        RakerClassifier(**BANK),
        VAW2Regressor(**BANK),
        VAWRegressor(),
    ],
    ids=label,
)
def test_answers_are_of_the_model_that_was_asked(estimator):
    """At 8264a20 probabilities of before have the columns, and the labels, of after."""
    X, y = stream(estimator)
    first, later = slice(0, 40), slice(40, 160)
    model = clone(estimator).fit(X[first], y[first])
    for verb, ask_now in among(model, X).items():
        expected = ask_now(X)
        other = copy.deepcopy(model)

        def teach(other=other):  # other labels, in another order; several targets
            if not is_classifier(other):
                targets = np.c_[y, y] if isinstance(other, VAWRegressor) else y
                other.fit(X[later, :4], targets[later])
            elif hasattr(other, "max_classes"):
                other.partial_fit(X[later], y[later] - 1)
            else:
                other.fit(X[later], y[later] % 3 - 1)

        rows = MeanwhileTaught(X, teach)
        np.testing.assert_array_equal(getattr(other, verb)(rows), expected)
        assert rows.teach is None
