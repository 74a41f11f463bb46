"""The comparison with other packages at its smallest size, and the race of the searches."""

import importlib.util
import json

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from benchmarks.__main__ import main
from benchmarks.peers import report
from benchmarks.peers.learners import Learner, WindowedKernelRidge, learners
from benchmarks.speed import search
from sklearn_okl import VAWRegressor


def test_peers_table_figure_and_numbers(tmp_path, capsys, monkeypatch):
    names = ["VAW-BOA", "Fourier + VAW", "KernelRidge on windows", "linear"]
    few = {name: line for name, line in learners().items() if name in names}
    monkeypatch.setattr(report, "learners", lambda: few)
    arguments = ["--quick", "--data", "ar4", "no_such_set", "--output", str(tmp_path)]
    assert main(["peers", *arguments]) == 0
    printed = capsys.readouterr()
    assert "no_such_set" in printed.err
    saved = json.loads((tmp_path / "peers.json").read_text(encoding="utf-8"))
    assert saved["results"].keys() == {"AR(4)"}
    records = saved["results"]["AR(4)"]
    assert records.keys() == few.keys()
    for label, record in records.items():
        assert f"{few[label].home}: {label} " in printed.out
        assert f"{record['loss']:.3f}" in printed.out
        assert record["microseconds"] > 0
        assert record["one_by_one"] > 0
    if importlib.util.find_spec("matplotlib"):
        assert (tmp_path / "peers.png").read_bytes()[1:4] == b"PNG"


def test_without_any_stream_there_is_a_failing_exit_status(tmp_path):
    assert report.run(["no_such_set"], tmp_path) == 1


def test_nobody_looks_ahead():
    rng = np.random.default_rng(0)
    X = 1e6 + rng.normal(size=(80, 2)).cumsum(axis=0) * [1.0, 1e3]
    Z, spread = report.scaled_by_the_past(X)
    for t in (0, 7, 49, 50, 51, 79):
        past = X[: max(t, report.WARM_UP)]
        np.testing.assert_allclose(spread[t], past.std(axis=0), rtol=1e-7)
        np.testing.assert_allclose(Z[t], (X[t] - past.mean(axis=0)) / past.std(axis=0), rtol=1e-6)
    later = X.copy()
    later[60:] *= -5.0
    np.testing.assert_array_equal(report.scaled_by_the_past(later)[0][:60], Z[:60])
    constant, spread = report.scaled_by_the_past(np.full(60, 3.0))
    assert not constant.any()
    assert (spread == 1.0).all()


def test_losses_are_those_of_the_task():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(150, 3)), 100.0 + 20.0 * rng.normal(size=150)
    line = Learner("none", lambda d, n: WindowedKernelRidge(1 / d), chunk_size=200)  # forecasts 0
    means = np.array([y[:t].mean() for t in range(50, 150)])
    expected = np.mean((means - y[50:]) ** 2) / np.var(y[50:])
    assert report.run_one(line, X, y)["loss"] == pytest.approx(expected)


@pytest.mark.parametrize("size", [1, 7, 50])
def test_windows_are_the_last_rows(size):
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(630, 2)), rng.normal(size=630)
    model = WindowedKernelRidge(0.5)
    for low in range(0, 630, size):
        model.partial_fit(X[low : low + size], y[low : low + size])
    last = {1: 600, 7: 602, 50: 600}[size]  # fits come at the end of the call that makes them due
    expected = KernelRidge(kernel="rbf", gamma=0.5).fit(X[last - 500 : last], y[last - 500 : last])
    np.testing.assert_allclose(model.predict(X), expected.predict(X))


def test_a_scaler_of_ones_own_gets_the_raw_rows():
    seen = []

    class Spy(VAWRegressor):
        def prequential_predict(self, X, y):
            seen.append(X)
            return super().prequential_predict(X, y)

    X, y = np.arange(240.0).reshape(120, 2), np.arange(120.0)
    for raw in (True, False):
        report.run_one(Learner("ours", lambda d, n: Spy(), raw, None), X, y)
    np.testing.assert_array_equal(seen[0], X)
    assert abs(seen[2]).max() < 10


@pytest.mark.long
@pytest.mark.slow
def test_one_pass_finds_no_worse_than_folds(full_size, monkeypatch):
    if not full_size:
        every_other = {name: values[::2] for name, values in search.GRID.items()}
        every_other["fourierfeatures__kernel"] = search.GRID["fourierfeatures__kernel"]
        monkeypatch.setattr(search, "GRID", every_other)

        def once(calls, *_):
            for call in calls:
                call()
            return np.ones((len(calls), 1))

        monkeypatch.setattr(search, "in_turns", once)
    _, _, loss, _, other_loss = search.compare(5000 if full_size else 500, 1)
    assert max(*loss.values, *other_loss.values) <= 1.0
