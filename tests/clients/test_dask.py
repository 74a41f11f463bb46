"""On a cluster of two workers everything is as it is on one machine."""

import numpy as np
import pytest
from joblib import parallel_backend

from sklearn_okl import (
    FourierFeatures,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.evaluation import PrequentialSearch

pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


def stream(n=400):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 4))
    return X, np.sin(X[:, 0]) + X[:, 1] + 0.1 * rng.normal(size=n)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_search_on_the_cluster_is_the_serial_one(client):
    X, y = stream()
    pipeline = make_streaming_pipeline(
        RunningStandardScaler(), FourierFeatures(n_components=30, random_state=0), VAWRegressor()
    )
    grid = {"fourierfeatures__gamma": [0.1, 1.0], "vawregressor__alpha": [0.1, 1.0]}
    serial = PrequentialSearch(pipeline, grid).fit(X, y)
    with parallel_backend("dask"):
        spread = PrequentialSearch(pipeline, grid, n_jobs=2)
        for part in np.array_split(np.arange(len(y)), 3):
            spread.partial_fit(X[part], y[part])
    np.testing.assert_allclose(
        spread.results_["mean_loss"], serial.results_["mean_loss"], rtol=1e-12
    )
    np.testing.assert_allclose(spread.predict(X), serial.predict(X), rtol=1e-9)
    with parallel_backend("dask"):
        same_cut = PrequentialSearch(pipeline, grid, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(same_cut.results_["mean_loss"], serial.results_["mean_loss"])
    np.testing.assert_array_equal(same_cut.predict(X), serial.predict(X))


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_partitions_learnt_apart_are_merged(client):
    X, y = stream()
    parts = np.array_split(np.arange(len(y)), 4)
    futures = [client.submit(VAWRegressor().fit, X[part], y[part]) for part in parts]
    first, *others = client.gather(futures)
    for other in others:
        first.merge(other)
    np.testing.assert_allclose(first.coef_, VAWRegressor().fit(X, y).coef_, rtol=1e-10)
