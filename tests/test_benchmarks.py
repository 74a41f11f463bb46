"""The benchmarks' jobs at their smallest sizes: they run, and say and save what they promise."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import vaw2
from benchmarks.speed.figure import Figure
from benchmarks.speed.ratios import in_turns, one_row_speed
from sklearn_okl import VAW2Regressor

ROOT = Path(__file__).resolve().parents[1]


def run(*arguments):
    """Run ``python -m benchmarks`` and return what it printed."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks", *map(str, arguments)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    return process.stdout


def test_main_job_prints_its_table_and_saves_figure_and_numbers(tmp_path):
    printed = run("--rows", 200, "--seeds", 1, "--output", tmp_path / "new")
    lines = [line.split() for line in printed.splitlines()]
    assert ["VAW²,", "ridge"] in [line[:2] for line in lines]
    for text in ("AR(4), 200 rows", "Diabetes", "best kernel, ridge", "16.56", "16.51"):
        assert text in printed

    saved = json.loads((tmp_path / "new" / "main.json").read_text(encoding="utf-8"))
    assert str(tmp_path / "new" / "main.json") in printed
    environment = {"python", "numpy", "scipy", "scikit-learn", "sklearn_okl", "blas", "cpu"}
    assert environment <= saved["environment"].keys()
    assert saved["settings"] == {"seeds": 1, "rows": 200, "n_jobs": None}
    assert saved["results"].keys() == {"ar4", "diabetes"}
    row = saved["results"]["ar4"]["VAW²(trunc), ridge"]
    assert row["published"] == 16.51
    assert row["mean"] == row["mse_e3"][0] == pytest.approx(row["running_loss"]["mse_e3"][-1])
    assert row["running_loss"]["rows"][-1] == 200
    assert row["sd"] is None

    try:
        import matplotlib  # noqa: F401
    except ImportError:
        assert "matplotlib is not installed" in printed
    else:
        assert (tmp_path / "new" / "main.png").read_bytes()[1:4] == b"PNG"


def test_published_table_runs_on_streams_that_are_there(tmp_path):
    arguments = ["--rows", 200, "--seeds", 1, "--output", tmp_path]
    assert "AR(4), 200 rows, 1 draw" in run("vaw2", "--data", "ar4", "no_such_set", *arguments)
    assert (tmp_path / "vaw2.json").exists()


def test_without_any_stream_there_is_a_failing_exit_status(tmp_path, capsys):
    assert vaw2.run("vaw2", ["no_such_set"], tmp_path) == 1
    assert "no_such_set" in capsys.readouterr().err
    assert not any(tmp_path.iterdir())


def test_table_rows_are_the_published_ones():
    """The first draw on the first 300 rows, computed here from the estimator's own arguments."""
    X, y = vaw2.load_stream("ar4", 300)
    runs = vaw2.run_rows(vaw2.ROWS, X, y, 1, None, lambda n_rows, label: None)
    frequencies = vaw2.published_frequencies(4, seed=0)
    model = VAW2Regressor(frequencies=frequencies, forecaster="ridge")
    losses = (model.prequential_predict(X, y) - y) ** 2
    np.testing.assert_allclose(runs["VAW², ridge"]["losses"][0], losses, rtol=1e-8, atol=1e-12)
    best = runs["best kernel, ridge"]["losses"][0].sum()
    assert best == pytest.approx(model.expert_losses_.min(), rel=1e-8)


def test_published_frequencies_have_the_laws_of_the_kernels():
    frequencies = vaw2.published_frequencies(400, seed=3)
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
    assert 0.01 < min(figure.values) <= max(figure.values) < 1000


def test_functions_are_timed_in_turns():
    calls = []
    seconds = in_turns([lambda: calls.append("a"), lambda: calls.append("b")], 3)
    assert calls == ["a", "b"] * 4
    assert seconds.shape == (2, 3)
    assert (seconds >= 0).all()
