"""The job unlearning at its smallest size."""

import json

import pytest

from benchmarks.__main__ import main


@pytest.mark.long
def test_unlearning(tmp_path, capsys):
    arguments = ["unlearning", "--quick", "--data", "friedman", "--output", str(tmp_path)]
    assert main(arguments) == 0
    lines = json.loads((tmp_path / "unlearning.json").read_text(encoding="utf-8"))["lines"]
    assert len(lines) == 7
    assert max(line["coefficients"] for line in lines) < 1e-10
    assert "7 parts merged" in capsys.readouterr().out
