"""The job bandit at its smallest size: it tunes, runs, prints its tables, saves its numbers."""

import json
from math import expm1

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.__main__ import main
from benchmarks.papers import bandit
from benchmarks.papers.bandit_lines import LINES, ROWS, TABLES, ProgramSampler, Published
from sklearn_okl import OKSRegressor
from sklearn_okl.feedback._bandits import AdaptiveExp3Sampler


def made_up(name, return_X_y):
    rng = np.random.default_rng(0)
    X = 100 * rng.normal(size=(400, 3)) + 5
    y = np.tanh(X[:, 0] / 100) * X[:, 1]
    return X, np.where(y > 0, 1.0, -1.0) if name == "magic04" else y


@pytest.mark.long(every=3)
@pytest.mark.parametrize(
    ("name", "tables"), [("magic04", {2, 8}), ("elevators", {3, 4, 6, 7}), ("bank32nh", {9, 10})]
)
def test_tables(name, tables, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(bandit, "load_dataset", made_up)
    arguments = ["--data", name, "no_such_set", "--rows", "60", "--seeds", "2"]
    assert main(["bandit", *arguments, "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "Left out no_such_set" in printed.err
    cells = json.loads((tmp_path / "bandit.json").read_text(encoding="utf-8"))["cells"]
    assert tables <= {cell["table"] for cell in cells}
    for cell in cells:
        line = LINES[cell["line"]]
        assert cell["rows"] == 60
        assert len(cell["values"]) == len(cell["seconds"]) == 2
        assert np.isfinite(cell["values"]).all()
        assert cell["chosen"].keys() == line.grid.keys()
        best = min(cell["tried"], key=lambda point: point["mean"])
        assert_allclose(np.mean(cell["values"]), best.pop("mean"))
        assert cell["chosen"] == best
        _, published = TABLES[cell["table"]]
        figure = published[name, line.like or cell["line"]]
        assert cell["published"] == figure._asdict()
        assert f"{figure.mean:.2f} ± {figure.sd:.2f}" in printed.out


def test_streams_are_scaled_and_bars_are_two_deviations(monkeypatch):
    monkeypatch.setattr(bandit, "load_dataset", made_up)
    X, y = bandit.load_stream("elevators")
    assert_allclose((X.min(axis=0), X.max(axis=0)), ([-1] * 3, [1] * 3))
    assert_allclose((y.min(), y.max()), (0, 1))
    assert set(bandit.load_stream("magic04")[1]) == {-1, 1}
    cell = {"published": {"mean": 2.0, "sd": 0.1}, "line": "OKS", "table": 3, "data": "elevators"}
    for values, reached in (([2.18, 2.2], True), ([2.22, 2.22], False), ([2.1, 2.5], False)):
        record = cell | {"values": values}
        assert bandit.reaches(record) is reached
        assert len(bandit._missed([record])) == 1 - reached
    assert not bandit._missed([cell | {"line": "RF-OKS, boxed", "values": [9.0, 9.1]}])


def test_the_programs_sampler_differs_in_one_constant():
    # with U K of which the constant is what the program puts there, both take the same step
    loss, n_arms = 0.8, 3
    radius = expm1(loss) ** 1.5 / n_arms
    samplers = [cls(n_arms, radius, 1.0) for cls in (AdaptiveExp3Sampler, ProgramSampler)]
    states = [sampler.start() for sampler in samplers]
    for arm in (0, 2, 0, 1):
        steps = [s.credit(x, arm, loss, 0.0) for s, x in zip(samplers, states, strict=True)]
        assert_allclose(*steps, rtol=1e-12)
        assert_allclose(*[state["probabilities"] for state in states], rtol=1e-12)
    for sampler, state in zip(samplers, states, strict=True):
        sampler.credit(state, 0, 0.1, 0.0)
    exploration = [
        1 - np.ptp(state["probabilities"]) / np.ptp(state["weights"]) for state in states
    ]
    assert exploration[1] < exploration[0] / 2  # a round of little loss: it hardly explores


@pytest.mark.parametrize("name", ["bank32nh", "raker_toms"])
def test_sets_at_hand(data_files, name):
    data_files(name)
    X, y = bandit.load_stream(name)
    assert len(y) == ROWS[name] or name == "raker_toms"
    assert abs(X).max() < 1 + 1e-12
    cells = [(4, "OKS++", Published(1.0, 0.1, 1.0))]
    (cell,) = bandit.run_cells(name, "squared_error", cells, X[:500], y[:500], 1, None)
    assert 0 < cell["values"][0] < 10
    assert cell["seconds"][0] > 0


def test_a_step_that_is_too_long_is_never_chosen():
    rng = np.random.default_rng(0)
    X, y = rng.uniform(size=(60, 3)), rng.uniform(size=60)
    model = bandit.Overflowing(OKSRegressor(step_scale=1e300, horizon=60))
    assert np.isinf(model.prequential_predict(1e10 * X, 1e200 * y)).all()
