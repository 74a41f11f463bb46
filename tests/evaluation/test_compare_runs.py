"""Runs of a comparison: stored, found again, and shared out."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.metrics import mean_squared_error

from sklearn_okl import VAWRegressor
from sklearn_okl.evaluation import compare
from tests.evaluation.comparing import MODELS, STREAMS, Log, run_lines, same, stream

# stored runs


def test_an_interrupted_call_runs_only_what_is_missing(tmp_path):
    file, folder = tmp_path / "log", tmp_path / "new" / "runs"
    streams = {"one": stream(1), "two": stream(2)}
    models = {"a": Log(file, 1.0, fails=(2,)), "b": Log(file, 2.0, fails=(2,))}
    with pytest.raises(RuntimeError, match="no such luck") as caught:
        compare(models, streams, 2, path=folder)
    assert caught.value.__notes__ == ["Run of 'a' on 'one' with the seed 1."]
    assert run_lines(file) == ["1.0 0", "2.0 0"]
    assert len(list(folder.iterdir())) == 2  # and no part files

    os.remove(file)  # else the third fails again
    models = {"a": Log(file, 1.0, fails=(2,)), "b": Log(file, 2.0, fails=(2,))}
    with pytest.raises(RuntimeError, match="no such luck"):
        compare(models, streams, 2, path=folder)
    assert run_lines(file) == ["1.0 1", "2.0 1"]
    os.remove(file)
    with pytest.raises(RuntimeError, match="no such luck"):
        compare(models, streams, 2, path=folder)
    os.remove(file)
    resumed = compare(models, streams, 2, path=folder)
    assert run_lines(file) == ["1.0 1", "2.0 1"]
    os.remove(file)
    same(compare(models, streams, 2, path=folder), resumed)  # to the second
    assert not file.exists()

    whole = {"a": Log(file, 1.0), "b": Log(file, 2.0)}
    same(compare(whole, streams, 2), resumed, besides=["seconds_per_row"])


def test_what_is_changed_is_run_again_and_nothing_else(tmp_path):
    file, folder = tmp_path / "log", tmp_path / "runs"
    X, y = stream()

    def runs(n, models, streams, seeds=1, **options):
        before = len(run_lines(file))
        comparison = compare(models, streams, seeds, path=folder, **options)
        assert len(run_lines(file)) - before == n
        return comparison

    one = {"a": Log(file, 1.0)}
    runs(1, one, {"s": (X, y)})
    runs(0, {"renamed": Log(file, 1.0)}, {"s": (X.copy(), y.copy())})
    runs(1, {"a": Log(file, 1.0), "b": Log(file, 2.0)}, {"s": (X, y)})
    runs(2, one, {"s": (X, y)}, seeds=3)
    runs(1, one, {"t": (X, y)})
    runs(1, one, {"s": (X, y + 1)})
    runs(1, one, {"s": (X, y)}, scoring="absolute_error")
    runs(1, one, {"s": (X, y)}, scoring={"squared_error": mean_squared_error})
    runs(1, one, {"made": stream})
    runs(0, one, {"made": lambda seed: pytest.fail("it is not made where nothing is to be run")})
    assert runs(0, one, {"s": (X, y)}).results["squared_error"][0] == np.mean((y - 1.0) ** 2)

    late = {"v": VAWRegressor()}
    compare(late, {"s": (X, y)}, 1, path=folder)
    n = len(list(folder.iterdir()))
    compare(late, {"s": (X, y)}, 1, path=folder, delay=np.int64(0))
    assert len(list(folder.iterdir())) == n
    for delay in (3, None, np.arange(150) + 4):
        compare(late, {"s": (X, y)}, 1, path=folder, delay=delay)
        n += 1
        assert len(list(folder.iterdir())) == n


@pytest.mark.long
def test_files_are_found_by_another_process(tmp_path):
    code = (
        "import sys, numpy as np\n"
        "from sklearn.linear_model import SGDRegressor\n"
        "from sklearn.metrics import mean_squared_error\n"
        "from sklearn_okl import VAW2Regressor\n"
        "from sklearn_okl.evaluation import compare\n"
        "models = {'sgd': SGDRegressor(),\n"
        "    'v': VAW2Regressor({'kernel': ['rbf'], 'gamma': [1.0]}, n_components=4,\n"
        "    frequencies=[np.ones((2, 2))])}\n"
        "streams = {'s': (np.arange(20.0).reshape(10, 2) / 20, np.arange(10.0))}\n"
        "compare(models, streams, 2, path=sys.argv[1], scoring=[mean_squared_error, 'r2'])\n"
    )
    for _ in range(2):
        subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    files = list(tmp_path.iterdir())
    assert len(files) == 4
    content = json.loads(files[0].read_text(encoding="utf-8"))
    assert content.keys() >= {"stream", "model", "seed", "n_rows", "scores", "curve"}


def test_paths_that_cannot_be(tmp_path):
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(ValueError, match="path must be a folder"):
        compare({"v": VAWRegressor()}, {"s": stream()}, 1, path=file)
    with pytest.raises(ValueError, match="the model 'v' or a score holds something without"):
        compare({"v": VAWRegressor()}, {"s": stream()}, 1, path=tmp_path, scoring=lambda t, p: 0.0)
    compare({"v": VAWRegressor()}, {"s": stream()}, 1, path=tmp_path / "runs")
    (stored,) = (tmp_path / "runs").iterdir()
    stored.write_text("{")
    with pytest.raises(ValueError, match="is no stored run"):
        compare({"v": VAWRegressor()}, {"s": stream()}, 1, path=tmp_path / "runs")


# in parallel


@pytest.mark.long
@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_every_number_of_jobs_gives_the_same_bits(backend, tmp_path):
    arguments = MODELS, STREAMS, 2
    alone = compare(*arguments, scoring=["squared_error", "r2"])
    with parallel_config(backend):
        shared = compare(*arguments, scoring=["squared_error", "r2"], n_jobs=2, path=tmp_path)
    same(alone, shared, besides=["seconds_per_row"])
    same(shared, compare(*arguments, scoring=["squared_error", "r2"], path=tmp_path))


@pytest.mark.long
def test_an_error_in_another_process_says_where_it_was():
    X, y = stream()
    models = {"v": VAWRegressor(), "bad": VAWRegressor(alpha=-1.0)}
    with pytest.raises(ValueError, match="alpha") as caught:
        compare(models, {"s": (X, y)}, 2, n_jobs=2)
    assert caught.value.__notes__[0].startswith("Run of 'bad' on 's' with the seed")


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_cluster_gives_the_same_bits():
    pytest.importorskip("dask")
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
        parallel_config("dask"),
    ):
        spread = compare(MODELS, {"one": stream(7)}, 2)
    same(compare(MODELS, {"one": stream(7)}, 2), spread, besides=["seconds_per_row"])


def test_progress_with_and_without_tqdm(capsys, monkeypatch, tmp_path):
    def go(**options):
        return compare({"v": VAWRegressor()}, {"s": stream()}, 4, path=tmp_path, **options)

    quiet = compare({"v": VAWRegressor()}, {"s": stream()}, 2, path=tmp_path)
    assert capsys.readouterr().err == ""
    monkeypatch.setitem(sys.modules, "tqdm", None)  # import tqdm now fails
    loud = go(verbose=True)
    assert capsys.readouterr().err == "\r2/4 runs\r3/4 runs\r4/4 runs\n"
    np.testing.assert_array_equal(loud.results["squared_error"][:2], quiet.results["squared_error"])
    monkeypatch.undo()
    pytest.importorskip("tqdm")
    go(verbose=True)
    assert "4/4" in capsys.readouterr().err
