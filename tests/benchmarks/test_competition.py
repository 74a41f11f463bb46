"""The job competition on made series."""

import gzip
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import competition
from benchmarks.__main__ import main


@pytest.mark.long(every=2)
@pytest.mark.parametrize("flags", [[], ["--alone"]])
def test_scores_of_made_series(flags, tmp_path, capsys, monkeypatch):
    rng, lines, last = np.random.default_rng(0), ["unique_id,period,split,y"], []
    for k, (period, season) in enumerate(competition.SEASONS.items()):
        for j in range(2):
            y = 50.0 + np.arange(44 + 8) + 5.0 * np.sin(2.0 * np.pi * np.arange(52) / season)
            y += 0.1 * rng.normal(size=52)
            parts = ["train"] * 44 + ["test"] * 8
            lines += [f"N{k}{j},{period},{p},{v}" for p, v in zip(parts, y, strict=True)]
            last.append(200.0 * np.mean(np.abs(y[44:] - y[43]) / (y[44:] + y[43])))
    with gzip.open(tmp_path / "series_m3.csv.gz", "wt", encoding="utf-8") as file:
        file.write("\n".join(lines))
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    assert main(["competition", "--quick", *flags, "--output", str(tmp_path)]) == 0
    assert "Theta" in capsys.readouterr().out
    found = json.loads((tmp_path / "competition.json").read_text(encoding="utf-8"))["scores"]
    smape = np.concatenate([np.array(scores)[:, 0] for scores in found.values()])
    assert len(smape) == 8
    assert smape.mean() < 0.3 * np.mean(last)


def test_scores_by_hand():
    past, came, said = np.array([1.0, 3.0, 2.0]), np.array([2.0, 4.0]), np.array([2.0, 2.0])
    ends = np.array([[1.0, 3.0], [-np.inf, np.inf]])
    smape, mase, held, none = competition._scores("YEARLY", past, came, said, ends)
    assert_allclose((smape, mase, held, none), (100.0 * 2.0 / 6.0, 1.0 / 1.5, 1.0, 0.5))
