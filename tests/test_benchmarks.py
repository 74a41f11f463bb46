"""The benchmarks' jobs at their smallest sizes: they run, and say and save what they promise."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.papers import vaw2
from benchmarks.papers.experts import record_experts
from benchmarks.papers.graph_lines import LINES
from benchmarks.papers.rules import MAIN_RULES, RULES
from benchmarks.papers.streams import load_stream, published_frequencies
from benchmarks.speed import aggregation as aggregation_speed
from benchmarks.speed import rows as row_speed
from benchmarks.speed.figure import Figure
from benchmarks.speed.ratios import in_turns, one_row_speed
from sklearn_okl import OnlineKernelClassifier, RakerRegressor, VAW2Regressor, VAWRegressor
from tests.oracles import aggregation

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments):
    """Run ``python -m benchmarks`` and return what it printed."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_main_job_prints_its_table_and_saves_figure_and_numbers(tmp_path):
    printed = run("--rows", 200, "--seeds", 1, "--output", tmp_path / "new")
    lines = [line.split() for line in printed.splitlines()]
    assert ["VAW²", "16.56"] in [line[:2] for line in lines]
    for text in ("AR(4), 200 rows", "Diabetes", "best kernel", "16.51"):
        assert text in printed
    assert "VAW-BOA" not in printed

    saved = json.loads((tmp_path / "new" / "main.json").read_text(encoding="utf-8"))
    assert str(tmp_path / "new" / "main.json") in printed
    environment = {"python", "numpy", "scipy", "scikit-learn", "sklearn_okl", "blas", "cpu"}
    assert environment <= saved["environment"].keys()
    assert saved["settings"] == {"seeds": 1, "rows": 200, "n_jobs": None}
    assert saved["results"].keys() == {"ar4", "diabetes"}
    row = saved["results"]["ar4"]["VAW²(trunc)"]
    assert row["published"] == 16.51
    record = row["ridge"]
    assert record["mean"] == record["mse_e3"][0]
    assert record["mean"] == pytest.approx(record["running_loss"]["mse_e3"][-1])
    assert record["running_loss"]["rows"][-1] == 200
    assert record["sd"] is None
    assert_figures(printed, [tmp_path / "new" / "main.png"])


def test_published_table_runs_on_streams_that_are_there(tmp_path, capsys):
    arguments = ["--rows", "200", "--seeds", "1", "--output", str(tmp_path)]
    assert main(["vaw2", "--data", "ar4", "no_such_set", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "AR(4), 200 rows, 1 draw" in printed
    lines = {line.split("  ")[1]: line for line in printed.splitlines() if line.startswith("  ")}
    published = {"VAW²": "16.56", "VAW-Aggr": "16.40", "VAW-EWA": "16.49", "VAW-BOA": "16.34"}
    published |= {"VAW-ML-Poly": "16.34", "VAW-ML-Prod": "16.34", "VAW-BOA, our defaults": "-"}
    for label, figure in published.items():
        assert lines[label].removeprefix(f"  {label}").split()[0] == figure
    saved = json.loads((tmp_path / "vaw2.json").read_text(encoding="utf-8"))
    assert saved["algorithms_within"] < 1e-9
    weights = saved["results"]["ar4"]["VAW-EWA"]["vaw"]["weights"]
    assert len(weights) == 76
    assert sum(weights) == pytest.approx(1)
    assert_figures(printed, [tmp_path / "vaw2_losses.png", tmp_path / "vaw2_weights.png"])


def test_graph_aided_tables_run_on_streams_that_are_there(tmp_path, capsys):
    arguments = ["--rows", "320", "--seeds", "2", "--output", str(tmp_path)]
    assert main(["graph_aided", "--data", "ar4", "no_such_set", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "AR(4), 320 rows, 2 draws" in printed
    saved = json.loads((tmp_path / "graph_aided.json").read_text(encoding="utf-8"))
    runs = saved["results"]["ar4"]
    assert runs.keys() == {*LINES, "best kernel"}
    for label, record in runs.items():
        n_draws = 1 if label in ("OMKR", "RBF-1", "POLY-2") else 2
        assert len(record["mse_e3"]) == len(record["seconds"]) == n_draws
        assert record["running_loss"]["mse_e3"][-1] == pytest.approx(record["mean"])
    X, y = load_stream("ar4", 320)
    raker = RakerRegressor(random_state=1)
    errors = raker.prequential_predict(X, y) - y
    assert runs["Raker"]["mse_e3"][1] == pytest.approx(1e3 * np.mean(errors**2))
    best = 1e3 * raker.expert_losses_.min() / 320
    assert runs["best kernel"]["mse_e3"][1] == pytest.approx(best)
    names = ("losses", "regret", "selected")
    assert_figures(printed, [tmp_path / f"graph_aided_{name}.png" for name in names])


def test_published_figures_of_the_graph_aided_tables():
    assert LINES["Raker"].published["airfoil"] == 28.64
    assert LINES["OMKL-GF, M = 5"].published["naval_notebook"] == 4.78
    assert LINES["OMKL-SFG-R, M = 10"].seconds["bias_notebook"] == 17.86


def assert_figures(printed, paths):
    if importlib.util.find_spec("matplotlib") is None:
        assert "matplotlib is not installed" in printed
        return
    for path in paths:
        assert path.read_bytes()[1:4] == b"PNG"


def test_without_any_stream_there_is_a_failing_exit_status(tmp_path, capsys):
    assert vaw2.run("vaw2", ["no_such_set"], tmp_path) == 1
    assert "no_such_set" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_table_rows_are_the_published_ones():
    """The first draw on the first 300 rows, computed here from the estimator's own arguments."""
    X, y = load_stream("ar4", 300)
    runs = vaw2.run_rules(MAIN_RULES, X, y, 1, None, lambda n_rows: None)
    frequencies = published_frequencies(4, seed=0)
    for forecaster in ("ridge", "vaw"):
        model = VAW2Regressor(frequencies=frequencies, forecaster=forecaster)
        losses = (model.prequential_predict(X, y) - y) ** 2
        (row,) = runs["VAW²"][forecaster]["losses"]
        np.testing.assert_allclose(row, losses, rtol=1e-8, atol=1e-12)
        best = runs["best kernel"][forecaster]["losses"][0].sum()
        assert best == pytest.approx(model.expert_losses_.min(), rel=1e-8)


def test_rules_have_the_published_settings():
    """Each named algorithm against an aggregator written out here, on the same forecasts."""
    X, y = load_stream("ar4", 300)
    frequencies = published_frequencies(4, seed=1)
    F, _ = record_experts(X, y, frequencies, "ridge", None, lambda n_rows: None)
    start = 2.0**-20
    written = {
        "VAW-Aggr": (aggregation.aggregating, {"eta": 2.0, "y_range": (0, 1)}),
        "VAW-EWA": (aggregation.ewa, {"eta": 0.5}),
        "VAW-BOA": (aggregation.boa, {"start": start, "gradient": False}),
        "VAW-ML-Poly": (aggregation.ml_poly, {"start": start, "gradient": False}),
        "VAW-ML-Prod": (aggregation.ml_prod, {"start": start, "gradient": False}),
    }
    for label, (loop, settings) in written.items():
        rule = RULES[label]
        model = rule.algorithm(forecaster="ridge", frequencies=frequencies, **rule.settings)
        expected = loop(np.clip(F, 0, 1), y, **settings)
        expected = expected[0] if isinstance(expected, tuple) else expected
        np.testing.assert_allclose(model.prequential_predict(X, y), expected, rtol=1e-9)


def test_algorithms_that_differ_from_the_table_are_found():
    X, y = load_stream("ar4", 50)
    rules = {"VAW-EWA": RULES["VAW-EWA"]}
    result = vaw2.run_rules(rules, X, y, 1, None, lambda n_rows: None)
    other = {"VAW-EWA": rules["VAW-EWA"]._replace(settings={"eta": 0.6, "y_range": (0, 1)})}
    assert vaw2.check_algorithms(rules, X, y, result, None, lambda n_rows: None) < 1e-9
    assert vaw2.check_algorithms(other, X, y, result, None, lambda n_rows: None) > 1e-6


def test_published_frequencies_have_the_laws_of_the_kernels():
    frequencies = published_frequencies(400, seed=3)
    assert [W.shape for W in frequencies] == [(400, 50)] * 76
    first, last = frequencies[0], frequencies[50]  # σ² = 1/100 and 100
    assert first.std() == pytest.approx(10, rel=0.03)
    assert last.std() == pytest.approx(0.1, rel=0.03)
    laplacian = np.median(np.abs(frequencies[51]))  # γ = 100: half of |ω| lies below it
    assert laplacian == pytest.approx(100, rel=0.05)


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


def test_speed_of_aggregation_is_measured():
    figures = [figure for measure in aggregation_speed.MEASURES for figure in measure(quick=True)]
    assert len(figures) == 9
    for figure in figures:
        assert len(figure.values) == 5
        assert all(0 < value < np.inf for value in figure.values)
        assert figure.bar is not None


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
        forecast, _, learnt, *_, megabytes = cells.split(" | ")
        assert forecast == row_speed.two_digits(np.median(line["predict"]))
        assert learnt == row_speed.two_digits(np.median(line["learn"]))
        assert megabytes == row_speed.two_digits(line["megabytes"])
        times = [*line["predict"], *line["learn"], *line["long"], *saved["sgd"]]
        assert len(times) == 20
        assert all(0 < value < np.inf for value in times)
    raker = saved["lines"]["`RakerRegressor()`"]
    assert raker["megabytes"] > (76 * 8 * 50 + 76 * 100) * 8 / 1e6  # frequencies, coefficients


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
