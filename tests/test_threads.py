"""Several threads on one model: readers do no harm, a second writer gets an error."""

import pickle
import threading

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_okl import (
    OnlineKernelRegressor,
    RunningStandardScaler,
    VAW2Regressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch
from tests.instances import label

BANK = {"kernels": {"gamma": [0.1, 1.0]}, "n_components": 50, "random_state": 0}
MODELS = [
    VAWRegressor(),
    VAW2Regressor(**BANK),
    OnlineKernelRegressor(budget="fast", random_state=0),
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor()),
    make_streaming_pipeline(RunningStandardScaler(), VAWRegressor(), warmup=30),
    PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}),
]


def stream(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 5))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


class MeanwhileTaught:
    """Rows that somebody else teaches the model before they are read."""

    def __init__(self, X, teach):
        self.X, self.teach = X, teach

    def __array__(self, dtype=None, copy=None):
        if self.teach is not None:
            thread, self.teach = threading.Thread(target=self.teach), None
            thread.start()
            thread.join()
        return np.asarray(self.X, dtype=dtype)

    def __len__(self):
        return len(self.X)

    @property
    def shape(self):
        return self.X.shape


@pytest.mark.long(every=4)
@pytest.mark.parametrize("estimator", MODELS, ids=label)
@pytest.mark.parametrize("n_before", [0, 20, 50])
def test_a_second_writer_gets_an_error(estimator, n_before):
    X, y = stream(100)
    model, expected = clone(estimator), clone(estimator)
    if n_before:
        model.partial_fit(X[:n_before], y[:n_before])
        expected.partial_fit(X[:n_before], y[:n_before])
    other = slice(60, 80)
    rows = MeanwhileTaught(X[50:], lambda: model.partial_fit(X[other], y[other]))
    with pytest.raises(RuntimeError, match=r"Another thread has taught this \w+ .* one thread"):
        model.partial_fit(rows, y[50:])
    expected.partial_fit(X[other], y[other])
    # not to the bit: BLAS may have more threads in another thread of ours, and sum otherwise
    np.testing.assert_allclose(model.predict(X), expected.predict(X), rtol=1e-12, atol=1e-12)
    assert model.n_samples_seen_ == n_before + 20
    model.partial_fit(X[50:], y[50:])  # it may try again


def test_a_second_writer_of_a_scaler_gets_an_error():
    X, _ = stream(100)
    scaler = RunningStandardScaler()
    rows = MeanwhileTaught(X, lambda: scaler.partial_fit(X[:10]))
    with pytest.raises(RuntimeError, match="Another thread has taught this RunningStandardScaler"):
        scaler.partial_fit(rows)
    assert scaler.n_samples_seen_ == 10


@pytest.mark.long(every=4)
@pytest.mark.parametrize("estimator", MODELS, ids=label)
def test_readers_in_other_threads_change_nothing(estimator):
    X, y = stream()
    pieces = np.split(range(400), range(50, 400, 50))
    alone = [clone(estimator).fit(X[:50], y[:50])]
    expected = np.concatenate([alone[0].prequential_predict(X[p], y[p]) for p in pieces])
    model, stop, wrong = clone(estimator).fit(X[:50], y[:50]), threading.Event(), []

    def read():
        while not stop.is_set():
            if not np.isfinite(model.predict(X[:7])).all():
                wrong.append("a forecast of a half learnt model")

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    forecasts = np.concatenate([model.prequential_predict(X[p], y[p]) for p in pieces])
    stop.set()
    for reader in readers:
        reader.join()
    assert not wrong
    # not to the bit, for the same reason
    np.testing.assert_allclose(forecasts, expected, rtol=1e-12, atol=1e-12)
    before = pickle.dumps(model)
    model.predict(X)
    assert pickle.dumps(model) == before
