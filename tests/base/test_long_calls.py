"""Long calls of `predict` need memory for their answers, and for a piece of the rows."""

import tracemalloc

import numpy as np
import pytest
from sklearn.base import clone, is_classifier

from sklearn_okl import (
    FOGDRegressor,
    KernelVAWRegressor,
    OKSRegressor,
    OnlineKernelClassifier,
    OnlineKernelRegressor,
    RakerClassifier,
    StreamingTransformedTargetRegressor,
    VAW2Regressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.base import _estimator
from tests.instances import label

BANK = {"kernels": {"gamma": [0.1, 1.0]}, "n_components": 60, "random_state": 0}
MODELS = [
    VAW2Regressor(**BANK),
    FOGDRegressor(random_state=0),
    KernelVAWRegressor(gamma=0.5),
    OKSRegressor(random_state=0),
    RakerClassifier(**BANK),
    OnlineKernelRegressor(budget="fast", random_state=0),
    OnlineKernelClassifier(budget="fast", random_state=0),
    make_streaming_pipeline(VAW2Regressor(**BANK)),
    StreamingTransformedTargetRegressor(VAW2Regressor(**BANK)),
]


def taught(estimator):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + 0.1 * rng.normal(size=200)
    return clone(estimator).fit(X, y > 0 if is_classifier(estimator) else y), rng


@pytest.mark.long(every=2)
@pytest.mark.parametrize("estimator", MODELS, ids=label)
def test_memory_of_a_long_call(estimator):
    """At 8264a20 up to 2 kB a row."""
    model, rng = taught(estimator)
    X = rng.normal(size=(20_000, 4))
    model.predict(X[:10])
    peaks = []
    for n in (10_000, 20_000):
        tracemalloc.start()
        model.predict(X[:n])
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert (peaks[1] - peaks[0]) / 10_000 < 120


@pytest.mark.parametrize("estimator", [VAWRegressor(), *MODELS], ids=label)
def test_pieces_are_the_whole(estimator, monkeypatch):
    model, rng = taught(estimator)
    X = rng.normal(size=(100, 4))
    expected = model.predict(X)
    monkeypatch.setattr(_estimator, "_PIECE", 7)
    found = model.predict(X)
    assert found.shape == expected.shape
    if is_classifier(model):
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("spread", ["running", "rows"])
def test_memory_of_intervals_of_many_rows(spread):
    """A law has 199 quantiles a row: at 4649aec intervals asked for 5 kB a row at once."""
    model, rng = taught(OnlineKernelRegressor(budget="fast", random_state=0, spread=spread))
    X = rng.normal(size=(9000, 4))
    expected = model.predict_distribution(X[:3000]).interval([0.5, 0.9])
    np.testing.assert_allclose(model.predict_interval(X[:3000], [0.5, 0.9]), expected, rtol=1e-9)
    for verb in (model.predict_interval, model.predict_quantiles):
        verb(X[:3000])
        peaks = []
        for n in (3000, 9000):
            tracemalloc.start()
            verb(X[:n])
            peaks.append(tracemalloc.get_traced_memory()[1])
            tracemalloc.stop()
        assert (peaks[1] - peaks[0]) / 6000 < 300
