"""The job known_ahead at its smallest size."""

import json

import numpy as np
import pytest

from benchmarks import known_ahead
from benchmarks.__main__ import main


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    pd = pytest.importorskip("pandas")
    rng, n = np.random.default_rng(0), 24 * 20
    hours, day = np.arange(n) % 24, np.arange(n) // 24
    rows = pd.DataFrame({name: rng.random(n) for name in known_ahead.COLUMNS})
    rows["hr"], rows["weekday"], rows["workingday"] = hours, day % 7, (day % 7 < 5) * 1
    rows["holiday"] = (day == 3) * 1
    rows["target"] = 50 + 30 * np.sin(2 * np.pi * hours / 24) + 5 * rng.normal(size=n)
    rows = rows.drop(index=[30, 31])  # of which nothing is told
    rows.to_csv(tmp_path / "arena_bike.csv.gz", index=False)
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    y, X = known_ahead.read()
    assert len(y) == len(X) == n
    assert np.flatnonzero(y.isna()).tolist() == [30, 31]
    assert main(["known_ahead", "--quick", "--output", str(tmp_path)]) == 0
    assert "kind of day weekend" in capsys.readouterr().out
    found = json.loads((tmp_path / "known_ahead.json").read_text(encoding="utf-8"))
    assert found["errors"]["OnlineForecaster"] < found["errors"]["last day"]
    assert 0.7 < found["held"] < 1.0
    assert len(found["groups"]["hour"]) == 24
