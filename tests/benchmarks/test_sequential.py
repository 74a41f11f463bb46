"""The job sequential at its smallest size."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.sequential import line_of


@pytest.mark.long
def test_sequential(tmp_path, capsys):
    main(["sequential", "--quick", "--streams", "20", "--output", str(tmp_path)])
    lines = json.loads((tmp_path / "sequential.json").read_text(encoding="utf-8"))["lines"]
    assert len(lines) == 7
    out = capsys.readouterr().out
    for line in lines:
        assert f"{line['share']:.4f}" in out


def test_bars():
    assert line_of("", 6, 100, is_null=True)["missed"]
    assert not line_of("", 5, 100, is_null=True)["missed"]
    assert line_of("", 79, 100, is_null=False)["missed"]
    assert line_of("", 100, 100, is_null=False)["limits"][1] == 1.0
