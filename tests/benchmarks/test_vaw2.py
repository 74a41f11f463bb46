"""The jobs main and vaw2 at their smallest sizes: what they say and save, and their rules."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks._report import records
from benchmarks.papers import vaw2
from benchmarks.papers.experts import record_experts
from benchmarks.papers.rules import MAIN_RULES, RULES
from benchmarks.papers.streams import load_stream, published_frequencies
from sklearn_okl import VAW2Regressor
from tests.benchmarks.figures import assert_figures
from tests.oracles import aggregation

ROOT = Path(__file__).resolve().parents[2]


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


@pytest.mark.long
def test_main_job_prints_its_table_and_saves_figure_and_numbers(tmp_path):
    printed = run("--rows", 90, "--seeds", 1, "--output", tmp_path / "new")
    lines = [line.split() for line in printed.splitlines()]
    assert ["VAW²", "16.56"] in [line[:2] for line in lines]
    for text in ("AR(4), 90 rows", "Diabetes", "best kernel", "16.51"):
        assert text in printed
    assert "VAW-BOA" not in printed

    saved = json.loads((tmp_path / "new" / "main.json").read_text(encoding="utf-8"))
    assert str(tmp_path / "new" / "main.json") in printed
    environment = {"python", "numpy", "scipy", "scikit-learn", "sklearn_okl", "blas", "cpu"}
    assert environment <= saved["environment"].keys()
    assert saved["settings"] == {"seeds": 1, "rows": 90, "n_jobs": None}
    assert saved["results"].keys() == {"ar4", "diabetes"}
    record = saved["results"]["ar4"]["VAW²(trunc), ridge"]
    assert record["mean"] == record["values"][0]
    assert record["mean"] == pytest.approx(record["curves"][0][-1])
    assert record["rows"][-1] == record["n_rows"] == 90
    assert record["sd"] is None
    assert_figures(printed, [tmp_path / "new" / "main.png"])


@pytest.mark.long
def test_published_table_runs_on_streams_that_are_there(tmp_path, capsys):
    arguments = ["--rows", "60", "--seeds", "1", "--output", str(tmp_path)]
    assert main(["vaw2", "--data", "ar4", "no_such_set", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "AR(4), 60 rows, 1 draw" in printed
    lines = {line.split("  ")[1]: line for line in printed.splitlines() if line.startswith("  ")}
    published = {"VAW²": "16.56", "VAW-Aggr": "16.40", "VAW-EWA": "16.49", "VAW-BOA": "16.34"}
    published |= {"VAW-ML-Poly": "16.34", "VAW-ML-Prod": "16.34", "VAW-BOA, our defaults": "-"}
    for label, figure in published.items():
        assert lines[label].removeprefix(f"  {label}").split()[0] == figure
    saved = json.loads((tmp_path / "vaw2.json").read_text(encoding="utf-8"))
    assert saved["algorithms_within"] < 1e-9
    later = [line["model"] for line in saved["later"]]
    assert {"VAW²", "H-VAW-D", "TVAW"} <= set(later)
    assert all(line["model"] in printed for line in saved["later"])
    weights = saved["weights"]["ar4"]["VAW-EWA"]
    assert len(weights) == 76
    assert sum(weights) == pytest.approx(1)
    assert_figures(printed, [tmp_path / "vaw2_losses.png", tmp_path / "vaw2_weights.png"])


def test_without_any_stream_there_is_a_failing_exit_status(tmp_path, capsys):
    assert vaw2.run("vaw2", ["no_such_set"], tmp_path) == 1
    assert "no_such_set" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_table_rows_are_the_published_ones():
    """The first draw on the first 120 rows, computed here from the estimator's own arguments."""
    X, y = load_stream("ar4", 120)
    found = records(vaw2.run_rules(MAIN_RULES, {"ar4": (X, y)}, 1, None))["ar4"]
    frequencies = published_frequencies(4, seed=0)
    for forecaster in ("ridge", "vaw"):
        model = VAW2Regressor(frequencies=frequencies, forecaster=forecaster)
        loss = 1e3 * np.mean((model.prequential_predict(X, y) - y) ** 2)
        assert found[f"VAW², {forecaster}"]["mean"] == pytest.approx(loss, rel=1e-8)
        best = 1e3 / 120 * model.expert_losses_.min()
        assert found[f"best kernel, {forecaster}"]["mean"] == pytest.approx(best, rel=1e-8)


def test_rules_have_the_published_settings():
    """Each named algorithm against an aggregator written out here, on the same forecasts."""
    X, y = load_stream("ar4", 120)
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
    stream = load_stream("ar4", 50)
    rules = {"VAW-EWA": RULES["VAW-EWA"]}
    found = records(vaw2.run_rules(rules, {"ar4": stream}, 1, None))["ar4"]
    other = {"VAW-EWA": rules["VAW-EWA"]._replace(settings={"eta": 0.6, "y_range": (0, 1)})}
    assert vaw2.check_algorithms(rules, "ar4", stream, found, None) < 1e-9
    assert vaw2.check_algorithms(other, "ar4", stream, found, None) > 1e-6


def test_published_frequencies_have_the_laws_of_the_kernels():
    frequencies = published_frequencies(400, seed=3)
    assert [W.shape for W in frequencies] == [(400, 50)] * 76
    first, last = frequencies[0], frequencies[50]  # σ² = 1/100 and 100
    assert first.std() == pytest.approx(10, rel=0.03)
    assert last.std() == pytest.approx(0.1, rel=0.03)
    laplacian = np.median(np.abs(frequencies[51]))  # γ = 100: half of |ω| lies below it
    assert laplacian == pytest.approx(100, rel=0.05)
