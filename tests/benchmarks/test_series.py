"""The job series at its smallest size."""

import gzip
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import series
from benchmarks.__main__ import main


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    times = np.datetime64("2024-01-01T00", "h") + np.arange(220)
    walks = np.cumsum(rng.normal(size=(220, 2)), axis=0)
    with gzip.open(tmp_path / "walks.csv.gz", "wt") as file:
        file.write("date,a,b\n")
        for when, row in zip(times, walks, strict=True):
            file.write(f"{str(when).replace('T', ' ')}:00:00,{row[0]},{row[1]}\n")
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    monkeypatch.setattr(series, "HORIZONS", (1, 3))
    monkeypatch.setattr(series, "STRETCH", 20)
    monkeypatch.setattr(series, "WARM_UP", 9)
    monkeypatch.setattr(series, "CORRELATIONS", (0.9,))
    monkeypatch.setitem(series.PUBLISHED, "walks", {"a paper": (0.5, 0.7)})
    arguments = ["--quick", "--data", "walks", "nowhere", "--output", str(tmp_path)]
    assert main(["series", *arguments]) == 0
    printed = capsys.readouterr()
    assert "Left out nowhere" in printed.err
    content = json.loads((tmp_path / "series.json").read_text(encoding="utf-8"))
    errors = content["series"]["walks"]["errors"]
    assert errors["a paper (published)"] == [0.5, 0.7]
    scaled = (walks - walks[:132].mean(axis=0)) / walks[:132].std(axis=0)
    steps = [np.mean((scaled[154 + h : 218 + h] - scaled[153:217]) ** 2) for h in range(3)]
    assert_allclose(errors["the latest row"], [steps[0], np.mean(steps)])
    assert errors["OnlineForecaster"][0] < 1.5 * steps[0]
    found = content["series"]["walks"]["intervals"]["step 1, 0.9"]
    assert found["least"] <= found["held"] <= found["most"]
    (run,) = content["day ahead"]["correlation 0.9"]["runs"]
    assert_allclose(run["ratio"], run["ours"] / run["ridge"])
    assert "least held" in printed.out
