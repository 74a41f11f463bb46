"""The job demand at its smallest size."""

import gzip
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import demand
from benchmarks.__main__ import main


def write(path, lines):
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    rng, n = np.random.default_rng(0), 160
    y = 5.0 + 2.0 * np.sin(2 * np.pi * np.arange(n) / 6)[:, None] + rng.normal(size=(n, 2))
    write(tmp_path / "wide.csv.gz", ["t,a,b", *(f"{t},{u},{v}" for t, (u, v) in enumerate(y))])
    long = [f"{name},{t},{value}" for k, name in enumerate("ab") for t, value in enumerate(y[:, k])]
    write(tmp_path / "long.csv.gz", ["name,t,y", *long])
    streams = {
        "wide": demand.Stream(n, 6, (6, 12)),
        "long": demand.Stream(n, 6, (6, 12), is_long=True),
    }
    monkeypatch.setattr(demand, "STREAMS", streams)
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    arguments = ["--quick", "--data", "wide", "long", "nowhere", "--output", str(tmp_path)]
    assert main(["demand", *arguments]) == 0
    printed = capsys.readouterr()
    assert "Left out nowhere" in printed.err
    assert "geometric mean" in printed.out
    found = json.loads((tmp_path / "demand.json").read_text(encoding="utf-8"))["streams"]
    errors = found["wide"]["errors"]
    assert errors == found["long"]["errors"]
    scored = [(y[t - 6 : t] - y[t : t + 6]) ** 2 for t in range(96, 155, 3)]
    assert_allclose(errors["last season"], np.mean(np.mean(scored, axis=(0, 1)) / y.var(axis=0)))
    assert errors["window ridge"] < 0.9 * errors["last season"]
    assert errors["boosting"] < 0.9 * errors["last season"]


@pytest.mark.long
def test_no_rival_sees_what_is_to_come():
    y, X = np.random.default_rng(1).normal(size=(60, 2)), np.empty((60, 0))
    stream, origins = demand.Stream(60, 3, (4,)), range(40, 58, 3)
    other = y.copy()
    other[46:] += 100.0
    for name, forecast in demand._forecasters().items():
        said = [forecast(stream, rows, X, origins) for rows in (y, other)]
        assert_allclose(said[0][:3], said[1][:3], err_msg=name)  # of origins 40, 43 and 46
        assert not np.allclose(said[0][3:], said[1][3:])
