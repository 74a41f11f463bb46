"""Saved models: every estimator goes on bit for bit, and a crash leaves the old file."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.preprocessing import StandardScaler

import sklearn_okl
from sklearn_okl import KOGDRegressor, VAWRegressor, load, make_streaming_pipeline, save
from sklearn_okl.evaluation import PrequentialSearch
from tests.instances import instances, label

pytest.importorskip("skops")


def stream(n=120, d=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(n, d))
    return X, np.clip(np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=n), 0, 1)


SEARCH = PrequentialSearch(VAWRegressor(), {"alpha": [0.1, 1.0]}, halving_rounds=[100])
FOREIGN = make_streaming_pipeline(StandardScaler(), VAWRegressor())


@pytest.mark.parametrize(
    "estimator", [*instances("online"), SEARCH, FOREIGN], ids=lambda estimator: label(estimator)
)
def test_to_resume_is_never_to_have_stopped(estimator, tmp_path):
    X, y = stream()
    if is_classifier(estimator):
        y = np.where(y > np.median(y), "yes", "no")
    model = clone(estimator).fit(X[:70], y[:70])
    save(model, tmp_path / "model.skops")
    resumed = load(tmp_path / "model.skops")
    for verb in ("prequential_predict", "partial_fit"):
        got, expected = (getattr(m, verb)(X[70:], y[70:]) for m in (resumed, model))
        if verb == "prequential_predict":
            np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(resumed.predict(X), model.predict(X))
    assert resumed.n_samples_seen_ == model.n_samples_seen_ == 170


@pytest.mark.parametrize("estimator", instances("maps"), ids=label)
def test_maps(estimator, tmp_path):
    X, _ = stream()
    model = clone(estimator).fit(X)
    save(model, tmp_path / "model.skops")
    np.testing.assert_array_equal(load(tmp_path / "model.skops").transform(X), model.transform(X))


def test_a_kernel_of_ones_own_must_be_trusted(tmp_path):
    from sklearn.metrics.pairwise import polynomial_kernel
    from skops.io.exceptions import UntrustedTypesFoundException

    X, y = stream()
    save(KOGDRegressor(kernel=polynomial_kernel).fit(X, y), tmp_path / "model.skops")
    save(KOGDRegressor(kernel=own_kernel).fit(X, y), tmp_path / "own.skops")
    with pytest.raises(UntrustedTypesFoundException, match="own_kernel"):
        load(tmp_path / "own.skops")
    name = f"{own_kernel.__module__}.own_kernel"
    assert load(tmp_path / "own.skops", trusted=[name]).predict(X).shape == (len(X),)


def own_kernel(X, Y):
    return X @ Y.T


def test_a_pickle_is_not_run(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (os.system, (f"touch {tmp_path}/boom",))

    (tmp_path / "model.skops").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(Exception, match=r"zip|skops"):
        load(tmp_path / "model.skops")
    assert not (tmp_path / "boom").exists()


def test_files_of_others_and_of_the_future_are_refused(tmp_path):
    import skops.io

    path = tmp_path / "model.skops"
    skops.io.dump(StandardScaler(), path)
    with pytest.raises(ValueError, match="no model saved by"):
        load(path)
    skops.io.dump({"format": 99, "sklearn_okl": "9.9", "estimator": VAWRegressor()}, path)
    with pytest.raises(ValueError, match=r"saved by sklearn_okl 9\.9"):
        load(path)


def test_a_failed_save_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "model.skops"
    save(VAWRegressor(2.0), path)
    old = path.read_bytes()

    def full(_):
        raise OSError("no space left")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        save(VAWRegressor(3.0), path)
    assert path.read_bytes() == old
    assert os.listdir(tmp_path) == ["model.skops"]


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL is POSIX's")
@pytest.mark.parametrize("seed", range(3))
def test_killed_in_mid_write_the_old_file_is_intact(tmp_path, seed):
    path = tmp_path / "model.skops"
    X, y = stream(400, 300)
    save(VAWRegressor().fit(X, y), path)
    program = textwrap.dedent(
        """
        import sys
        from sklearn_okl import load, save
        model = load(sys.argv[1])
        print("ready", flush=True)
        while True:
            save(model, sys.argv[1])
        """
    )
    child = subprocess.Popen(
        [sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert child.stdout.readline() == "ready\n"
        time.sleep(np.random.default_rng(seed).uniform(0.05, 0.6))
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    np.testing.assert_array_equal(load(path).predict(X), VAWRegressor().fit(X, y).predict(X))


def test_the_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "model.skops"
    save(VAWRegressor(), path)
    path.chmod(0o640)
    save(VAWRegressor(), path)
    assert path.stat().st_mode & 0o777 == 0o640


def test_trusted_types_are_ours():
    assert all(name.startswith("sklearn_okl.") for name in sklearn_okl.TRUSTED_TYPES)
    assert len(set(sklearn_okl.TRUSTED_TYPES)) == len(sklearn_okl.all_estimators()) + 2


def test_without_skops_the_error_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "skops.io", None)
    with pytest.raises(ImportError, match="pip install"):
        save(VAWRegressor(), tmp_path / "model.skops")
