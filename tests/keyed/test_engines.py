"""Engines that spread keys over machines: the forecasts are those of one process."""

import os
import signal
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    ImproperLogisticClassifier,
    KeyedRegressor,
    Store,
    VAWRegressor,
    beam_learning,
    dask_learning,
    keyed_step,
    make_streaming_pipeline,
)
from sklearn_okl.keyed._dask import _KNOWN, learn_shard, shard_of
from sklearn_okl.keyed._step import step_in_turn

N_KEYS = 20


def make():
    return KeyedRegressor(VAWRegressor(), prior=None)


def stream(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return rng.integers(N_KEYS, size=n), X, X[:, 0] + 0.1 * rng.normal(size=n)


def test_rows_that_come_early_wait_and_those_that_come_again_do_not_count():
    rng, (_, X, y) = np.random.default_rng(2), stream(60)
    expected, held, found = VAWRegressor().prequential_predict(X, y), None, {}
    numbers = np.concatenate([rng.permutation(60), rng.integers(60, size=20)])
    for some in np.array_split(numbers, 30):
        again = step_in_turn(held, (some, X[some], y[some]), VAWRegressor)
        (learnt, forecasts), held = step_in_turn(held, (some, X[some], y[some]), VAWRegressor)
        assert again[0][0] == learnt  # it is pure
        found.update(zip(learnt, forecasts, strict=True))
    assert sorted(found) == list(range(60))
    assert held[1:] == (60, {})
    assert_allclose([found[number] for number in range(60)], expected, atol=1e-10)
    held, found = None, []
    for rows in np.split(np.arange(60), [1, 1, 30]):
        (_, forecasts), held = step_in_turn(held, (None, X[rows], y[rows]), VAWRegressor)
        found.append(forecasts)
    assert_allclose(np.concatenate(found), expected, atol=1e-10)


@pytest.mark.parametrize("classes", [None, ["maybe", "no", "yes"]])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_step_takes_labels_and_says_what_forecasts_they_are(classes, is_late):
    """Labels that are text were "could not convert string to float", and classes had no way in."""
    _, X, y = stream(60)
    y = np.where(y > 0, "yes", "no")
    y[:4] = "no" if classes else ["no", "yes", "no", "yes"]
    names = ["no", "yes"] if classes is None else classes
    expected = ImproperLogisticClassifier().prequential_predict(X, y, classes=names)
    held, found = None, []
    for rows in np.split(np.arange(60), [4, 30]):
        rows = np.append([0], rows) if is_late and held else rows
        kind = ImproperLogisticClassifier
        given = {"classes": classes, "order": rows}
        forecasts, held = keyed_step(held, (X[rows], y[rows]), kind, **given)
        assert (forecasts[0] is None) == (is_late and bool(found))
        found.append(forecasts[1:] if is_late and found else forecasts)
    assert np.concatenate(found).tolist() == expected.tolist()


def test_a_step_takes_several_targets_and_estimators_that_know_partial_fit_only():
    _, X, y = stream(60)
    Y = np.column_stack([y, -2.0 * y])
    first, held = keyed_step(None, (X[:20], Y[:20]), VAWRegressor)
    rows = np.arange(10, 60)
    second, held = keyed_step(held, (X[rows], Y[rows]), VAWRegressor, order=rows)
    assert np.isnan(second[:10]).all()
    found = np.concatenate([first, second[10:]])
    assert_allclose(found, VAWRegressor().prequential_predict(X, Y), atol=1e-10)
    model = SGDRegressor(random_state=0)
    first, held = keyed_step(None, (X[:20], y[:20]), lambda: clone(model))
    second, _ = keyed_step(held, (X[20:], y[20:]), None)
    expected = KeyedRegressor(model, prior=None).prequential_predict(X, y)
    assert_allclose(np.concatenate([first, second]), expected, atol=1e-10)
    with pytest.raises(ValueError, match=r"SGDRegressor does not count its rows.*leave order out"):
        keyed_step(held, (X[20:], y[20:]), None, order=np.arange(20, 60))
    line = make_streaming_pipeline(SGDRegressor(random_state=0))
    _, held = keyed_step(None, (X[:20], y[:20]), lambda: line, order=np.arange(20))
    assert np.isfinite(keyed_step(held, (X[20:], y[20:]), None, order=np.arange(20, 60))[0]).all()


def test_a_shard_goes_on_wherever_it_is_broken_off(tmp_path, monkeypatch):
    keys, X, y = stream(300)
    expected, path, found = make().prequential_predict(X, y, keys=keys), str(tmp_path / "0.db"), []
    commit = Store.commit

    def fails(self, model, batch):
        raise KeyboardInterrupt  # after forecasts were written, and before the commit

    for number, rows in enumerate(np.array_split(np.arange(300), 6)):
        given = path, number, keys[rows], X[rows], y[rows], make
        if number % 2:
            monkeypatch.setattr(Store, "commit", fails)
            with pytest.raises(KeyboardInterrupt):
                learn_shard(*given)
            monkeypatch.setattr(Store, "commit", commit)
        if number == 2:
            _KNOWN.clear()  # another worker
        found.append(learn_shard(*given))
        assert np.array_equal(learn_shard(*given), found[-1])  # its answer was lost
    assert_allclose(np.concatenate(found), expected, atol=1e-10)
    with Store(path) as store:
        assert store.load().n_samples_seen_ == 300
    assert np.isnan(learn_shard(path, 0, keys[:50], X[:50], y[:50], make)).all()
    assert len(list(tmp_path.iterdir())) == 2  # the store, and what was said last


def test_a_shard_is_the_same_in_every_process():
    assert [shard_of(key, 8) for key in ("a", 1, np.int64(1), ("a", 1))] == [2, 7, 7, 3]


def test_without_beam_it_says_what_to_do():
    try:
        import apache_beam  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install"):
            beam_learning(VAWRegressor)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@pytest.mark.skipif(os.name != "posix", reason="kill -9 is POSIX's")
def test_dask_with_a_worker_killed_is_one_process(tmp_path):
    distributed = pytest.importorskip("distributed")
    keys, X, y = stream(2000)
    expected, found = make().prequential_predict(X, y, keys=keys), np.full(2000, np.nan)
    parts = np.array_split(np.arange(2000), 10)

    def batches(client):
        for number, rows in enumerate(parts):
            if number in (3, 6):  # while the batch is learnt
                pid = next(iter(client.run(os.getpid).values()))
                pids.append(pid)
                threading.Timer(0.02 * number, os.kill, (pid, signal.SIGKILL)).start()
            yield number, keys[rows], X[rows], y[rows]

    pids = []
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        for number, forecasts in dask_learning(client, batches(client), make, tmp_path, n_shards=3):
            found[parts[number]] = forecasts
        left = client.run(os.getpid).values()
    assert len(pids) == 2
    assert not set(pids) & set(left)
    assert_allclose(found, expected, atol=1e-10)
    learnt = 0
    for shard in range(3):
        with Store(tmp_path / f"{shard}.db") as store:
            assert store.batch == 9
            learnt += store.load().n_samples_seen_
    assert learnt == 2000


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
def test_beam_is_one_process():
    beam = pytest.importorskip("apache_beam")
    from apache_beam.testing.util import assert_that

    rng, (keys, X, y) = np.random.default_rng(3), stream(2000)
    expected, elements = {}, []
    for key in range(N_KEYS):
        rows = np.flatnonzero(keys == key)
        expected[key] = VAWRegressor().prequential_predict(X[rows], y[rows])
        order = rng.permutation(len(rows))
        for some in np.array_split(order, 5):
            elements.append((key, (some, X[rows[some]], y[rows[some]])))
    elements = [elements[i] for i in rng.permutation(len(elements))]

    def is_one_process(found):
        learnt = {key: {} for key in expected}
        for key, (numbers, forecasts) in found:
            learnt[key].update(zip(numbers, forecasts, strict=True))
        for key, forecasts in expected.items():
            assert sorted(learnt[key]) == list(range(len(forecasts)))
            mine = [learnt[key][number] for number in range(len(forecasts))]
            assert_allclose(mine, forecasts, atol=1e-10)

    with beam.Pipeline(runner="FnApiRunner") as pipeline:
        learnt = pipeline | beam.Create(elements) | beam_learning(VAWRegressor)
        assert_that(learnt, is_one_process)


def test_a_model_in_the_place_of_what_makes_one_is_refused():
    with pytest.raises(TypeError, match=r"make=VAWRegressor\(\) is no function.*give the class"):
        keyed_step(None, ([[1.0]], [1.0]), VAWRegressor())
