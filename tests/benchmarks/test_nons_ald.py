"""The job nons_ald at its smallest size: it tunes, runs, prints its table, saves its numbers."""

import json

import numpy as np
from numpy.testing import assert_allclose

from benchmarks.__main__ import main
from benchmarks.papers import nons_ald
from benchmarks.papers.nons_ald_lines import DATA, LINES


def made_up(name, return_X_y):
    rng = np.random.default_rng(0)
    X = 100 * rng.normal(size=(700, 3)) + 5
    return X, 3 + np.tanh(X[:, 0] / 100) * X[:, 1]


def test_table_3(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(nons_ald, "load_dataset", made_up)
    arguments = ["--rows", "600", "--seeds", "2", "--output", str(tmp_path)]
    assert main(["nons_ald", "--data", "bank32nh", "no_such_set", *arguments]) == 0
    printed = capsys.readouterr()
    assert "Left out no_such_set" in printed.err
    assert "Bank, 600 rows, 2 permutations" in printed.out
    lines = {line.split()[0]: line for line in printed.out.splitlines() if line.startswith("  ")}
    saved = json.loads((tmp_path / "nons_ald.json").read_text(encoding="utf-8"))
    assert saved["bars"] is None  # published figures are for whole streams
    records = saved["results"]["bank32nh"]
    for label, line in LINES.items():
        assert f"{line.published['bank32nh'].mse:.5f}" in lines[label]
        record = records[label]
        assert len(record["mse"]) == len(record["size"]) == len(record["seconds"]) == 2
        assert record["mse"][0] != record["mse"][1]
        assert record["chosen"].keys() == line.grid.keys()
    assert records["NONS-ALD"]["size"] == records["AOGD-ALD"]["size"]


def test_bars_compare_whole_streams(monkeypatch):
    monkeypatch.setattr(nons_ald, "load_dataset", made_up)
    X, y = nons_ald.load_stream("bank32nh")
    assert_allclose((X.min(), X.max(), y.min(), y.max()), (-1, 1, 0, 1))
    published = LINES["NONS-ALD"].published["bank32nh"]
    cell = {"published": published._asdict(), "seconds": [1.0, 1.0], "chosen": {}}
    good = cell | {"mse": [0.01306, 0.01312], "size": [148, 150]}
    bad = cell | {"mse": [0.0133, 0.0133], "size": [120, 120]}
    for record, words in ((good, "on 1 of 1 sets; dictionary within 10% on 1."), (bad, "FAIL")):
        assert words in nons_ald._bars({"bank32nh": {"NONS-ALD": record}})["NONS-ALD"]


def test_every_line_has_a_figure_for_every_set():
    for line in LINES.values():
        assert line.published.keys() == DATA.keys()
