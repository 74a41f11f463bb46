"""The job gaps at its smallest size."""

import json

import numpy as np
import pytest

from benchmarks import gaps
from benchmarks.__main__ import main


@pytest.fixture
def made(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 4))
    monkeypatch.setattr(gaps, "load_stream", lambda name: (X, X[:, 0] + X[:, 1] * X[:, 2]))


@pytest.mark.long
@pytest.mark.usefixtures("made")
def test_gaps(tmp_path, capsys):
    assert main(["gaps", "--quick", "--data", "airfoil", "--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "gaps.json").read_text(encoding="utf-8"))
    ratios = found["ratios"]["airfoil"]
    assert ratios[gaps.GAPS] > 1.0  # what is missing is worth something
    assert ratios[gaps.FILLED] > 1.0
    assert f"{ratios[gaps.GAPS]:.3f}" in capsys.readouterr().out
