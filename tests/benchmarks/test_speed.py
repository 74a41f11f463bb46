"""The job speed at its smallest sizes: what it measures, and the bars."""

import json
import re

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.speed import (
    aggregation,
    bandit,
    many_kernels,
    one_kernel,
    one_kernel_growth,
    ratios,
)
from benchmarks.speed import rows as row_speed
from benchmarks.speed.figure import Figure
from benchmarks.speed.ratios import in_turns, one_row_speed
from sklearn_okl import OnlineKernelClassifier, RakerRegressor, VAWRegressor


def test_figures_are_held_against_their_bars():
    fast = Figure("speed", [12.0, 9.0, 30.0], "times", bar=10, more_is_better=True)
    large = Figure("memory", [60.0], "MB", bar=50)
    plain = Figure("time", [1.0], "µs")
    assert fast.line().endswith("pass")
    assert "(9.00 to 30.00)" in fast.line()
    assert large.line().endswith("FAIL")
    assert plain.passes() is None
    assert fast.numbers()["median"] == 12.0


def test_one_row_speed_is_measured():
    (figure,) = one_row_speed(quick=True)
    assert len(figure.values) == 5
    assert all(0 < value < np.inf for value in figure.values)


@pytest.mark.long(every=5)
@pytest.mark.parametrize(
    ("module", "names"),
    [
        (aggregation, "BOA ML-Poly ML-Prod EWA AA"),
        (one_kernel, "KernelVAW Taylor Nyström PROSNKONS CONKONS NONSALD KOGD FOGD ALDNystroem"),
        (one_kernel_growth, "KernelVAW Taylor Nyström SketchedKONS AOGDALD KOGD FOGD NOGD"),
        (many_kernels, "OGD ONS Raker OMKL-GF OMKL-SFG LKMBooks"),
        (bandit, "OKS OKS++ IOKS RF-OKS RF-OKS++ RF-IOKS"),
    ],
)
def test_every_line_is_measured(module, names, monkeypatch):
    for home in (ratios, module):
        monkeypatch.setattr(home, "N_REPEATS", 1, raising=False)
    figures = [figure for measure in module.MEASURES for figure in measure(quick=True)]
    for name in names.split():
        assert any(name in figure.name for figure in figures)
    for figure in figures:
        assert len(figure.values) == 1
        assert np.isfinite(figure.values).all()
    assert len({figure.name for figure in figures}) == len(figures)


def test_races_are_in_time_a_row(monkeypatch):
    monkeypatch.setattr(ratios, "in_turns", lambda *_: np.array([[2e-6] * 3, [3e-6] * 3]))
    pace, times = ratios.races([ratios.Race("x", None, 20, None, 10, bar=3.0, most=0.1)])
    assert pace.name == "x, a row"
    assert times.name == "x, times faster"
    assert times.values == pytest.approx([3.0] * 3)
    assert pace.values == pytest.approx([0.1] * 3)


def test_exponents_are_those_of_the_cost():
    sizes = np.array([100, 200, 400])
    assert one_kernel_growth._slope(sizes, 3e-9 * sizes**2.0) == pytest.approx(2)
    assert not one_kernel_growth._exponent("cubic", [3.0], 2).passes()


@pytest.mark.long
def test_a_row_alone_a_row_in_long_calls_and_a_model_are_measured(tmp_path, capsys, monkeypatch):
    few = {
        label: line
        for label, line in row_speed.lines().items()
        if isinstance(line.model, VAWRegressor | RakerRegressor | OnlineKernelClassifier)
    }
    monkeypatch.setattr(row_speed, "lines", lambda: few)
    assert main(["speed", "--one-row", "--quick", "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    saved = json.loads((tmp_path / "speed_one_row.json").read_text(encoding="utf-8"))
    assert saved["lines"].keys() == few.keys()
    for label, line in saved["lines"].items():
        cells = re.search(rf"^\| {re.escape(label)} \| (.*) \|$", printed, re.M)[1]
        forecast, _, learnt, *_, megabytes, longer, megabytes_later = cells.split(" | ")
        assert forecast == row_speed.two_digits(np.median(line["predict"]))
        assert learnt == row_speed.two_digits(np.median(line["learn"]))
        assert megabytes == row_speed.two_digits(line["megabytes"])
        assert megabytes_later == row_speed.two_digits(line["megabytes later"])
        ratio = np.median(line["learn later"]) / np.median(line["learn"])
        assert longer == row_speed.two_digits(ratio)
        times = [*line["predict"], *line["learn"], *line["long"], *saved["sgd"]]
        assert len(times) == 20
        assert all(0 < value < np.inf for value in times)
    raker = saved["lines"]["`RakerRegressor()`"]
    assert raker["megabytes"] > (76 * 8 * 50 + 76 * 100) * 8 / 1e6  # frequencies, coefficients


@pytest.mark.long
def test_single_rows_are_measured(tmp_path, capsys):
    assert main(["speed", "--single-rows", "--quick", "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    saved = json.loads((tmp_path / "speed_single_rows.json").read_text(encoding="utf-8"))
    assert len(saved["figures"]) == 9
    for figure in saved["figures"]:
        assert figure["name"] in printed
        assert 0 <= figure["median"] < np.inf
        if "from long calls" in figure["name"]:
            assert figure["passes"]


def test_figures_have_two_digits():
    figures = [0.004567, 0.5, 1.96, 2.0, 9.96, 31.4, 250.0]
    expected = ["0.0046", "0.50", "2.0", "2.0", "10", "31", "250"]
    assert [row_speed.two_digits(figure) for figure in figures] == expected


def test_functions_are_timed_in_turns():
    calls = []
    seconds = in_turns([lambda: calls.append("a"), lambda: calls.append("b")], 3)
    assert calls == ["a", "b"] * 4
    assert seconds.shape == (2, 3)
    assert (seconds >= 0).all()
