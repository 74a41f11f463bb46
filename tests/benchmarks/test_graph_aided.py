"""The job graph_aided at its smallest size: it runs, prints its tables, saves its numbers."""

import json

import numpy as np
import pytest

from benchmarks.__main__ import main
from benchmarks.papers.graph_lines import LINES
from benchmarks.papers.streams import load_stream
from sklearn_okl import RakerRegressor
from tests.benchmarks.figures import assert_figures


@pytest.mark.long
def test_graph_aided_tables_run_on_streams_that_are_there(tmp_path, capsys):
    arguments = ["--rows", "120", "--seeds", "2", "--output", str(tmp_path)]
    assert main(["graph_aided", "--data", "ar4", "no_such_set", *arguments]) == 0
    printed = capsys.readouterr().out
    assert "AR(4), 120 rows, 2 draws" in printed
    saved = json.loads((tmp_path / "graph_aided.json").read_text(encoding="utf-8"))
    runs = saved["results"]["ar4"]
    assert runs.keys() == {*LINES, "best kernel"}
    for label, record in runs.items():
        n_draws = 1 if label in ("OMKR", "RBF-1", "POLY-2") else 2
        assert len(record["values"]) == len(record["seconds"]) == n_draws
        assert np.mean(record["curves"], axis=0)[-1] == pytest.approx(record["mean"])
    X, y = load_stream("ar4", 120)
    raker = RakerRegressor(random_state=1)
    errors = raker.prequential_predict(X, y) - y
    assert runs["Raker"]["values"][1] == pytest.approx(1e3 * np.mean(errors**2))
    best = 1e3 * raker.expert_losses_.min() / 120
    assert runs["best kernel"]["values"][1] == pytest.approx(best)
    names = ("losses", "regret", "selected")
    assert_figures(printed, [tmp_path / f"graph_aided_{name}.png" for name in names])


def test_published_figures_of_the_graph_aided_tables():
    assert LINES["Raker"].published["airfoil"] == 28.64
    assert LINES["OMKL-GF, M = 5"].published["naval_notebook"] == 4.78
    assert LINES["OMKL-SFG-R, M = 10"].seconds["bias_notebook"] == 17.86
