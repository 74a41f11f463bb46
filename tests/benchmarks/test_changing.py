"""The job changing at its smallest size."""

import json

import pytest

from benchmarks.__main__ import main


@pytest.mark.long
def test_changing(tmp_path, capsys):
    assert main(["changing", "--quick", "--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "changing.json").read_text(encoding="utf-8"))
    shares = [line["share"] for line in found["paths"]]
    assert shares == sorted(shares, reverse=True)
    assert all(line["share"] <= 1 for line in found["paths"] if line["must"])
    assert max(line["share"] for line in found["paths"] if line["stream"] == "greedy") >= 0.1
    out = capsys.readouterr().out
    assert out.count("exceeded") == sum(share > 1 for share in shares)
