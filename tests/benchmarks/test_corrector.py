"""The job corrector at its smallest size."""

import gzip
import json

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks import corrector
from benchmarks.__main__ import main


@pytest.mark.long
def test_tables(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    times = np.datetime64("2024-01-01T00", "h") + np.arange(400)
    day = np.sin(2 * np.pi * np.arange(400) / 24)[:, None]
    values = 3.0 * day + rng.normal(size=(400, 2)) + 5.0
    with gzip.open(tmp_path / "days.csv.gz", "wt") as file:
        file.write("date,a,b\n")
        for when, row in zip(times, values, strict=True):
            file.write(f"{str(when).replace('T', ' ')}:00:00,{row[0]},{row[1]}\n")
    monkeypatch.setenv("SKLEARN_OKL_DATA", str(tmp_path))
    arguments = ["--quick", "--only", "season", "--data", "days", "nowhere"]
    assert main(["corrector", *arguments, "--output", str(tmp_path)]) == 0
    printed = capsys.readouterr()
    assert "Left out nowhere" in printed.err
    assert "worst series" in printed.out
    found = json.loads((tmp_path / "corrector.json").read_text(encoding="utf-8"))["days"]
    assert list(found) == ["last season"]
    scaled = (values - values[:240].mean(axis=0)) / values[:240].std(axis=0)
    steps = [
        np.mean((scaled[280 + h : 395 + h] - scaled[256 + h : 371 + h]) ** 2, axis=0)
        for h in range(6)
    ]
    assert_allclose(found["last season"]["alone"], np.mean(steps, axis=0))
    assert max(found["last season"]["corrected"]) < 0.8 * min(found["last season"]["alone"])
    assert found["last season"]["regret"] < found["last season"]["bound"]


def test_exponential_smoothing_is_the_loop_and_sees_no_row_ahead():
    rng = np.random.default_rng(1)
    y = np.cumsum(rng.normal(size=(90, 1)), axis=0)
    said = corrector.smoothed(y, 3, 6, 60)
    losses = []
    for alpha, beta, gamma, phi in corrector._RATES.T:
        level, slope, season = y[:6].mean(), 0.0, list(y[:6, 0] - y[:6].mean())
        forecasts, loss = [], 0.0
        for t in range(6, 90):
            damped = np.cumsum([phi, phi**2, phi**3])
            forecasts.append([level + damped[h] * slope + season[(t + h) % 6] for h in range(3)])
            error = y[t, 0] - forecasts[-1][0]
            if t < 57:
                loss += np.sum((y[t : t + 3, 0] - forecasts[-1]) ** 2)
            level, slope = level + phi * slope + alpha * error, phi * slope + beta * error
            season[t % 6] += gamma * error
        losses.append((loss, forecasts))
    assert_allclose(said[6:, :, 0], min(losses, key=lambda pair: pair[0])[1])
    assert np.isnan(said[:6]).all()
