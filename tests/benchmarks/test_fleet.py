"""The job fleet at its smallest size."""

import json

import pytest

from benchmarks.__main__ import main
from benchmarks.fleet_soak import soak


def test_fleet(tmp_path, capsys):
    assert main(["fleet", "--quick", "--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "fleet.json").read_text(encoding="utf-8"))
    assert all(line["rate"] > 0 for line in found["lines"])
    missed = [line["bar"] is not None and line["rate"] < line["bar"] for line in found["lines"]]
    assert missed == sorted(missed, reverse=True)
    assert 32 * 32 * 8 < found["memory"] < 3 * 32 * 32 * 8
    assert set(found["checkpoint"]) == {"commit of all keys", "commit of 50 keys", "load"}
    out = capsys.readouterr().out
    assert all(line["name"] in out for line in found["lines"])


def test_kin(tmp_path, capsys):
    assert main(["fleet", "--kin", "--quick", "--output", str(tmp_path)]) == 0
    found = json.loads((tmp_path / "fleet_kin.json").read_text(encoding="utf-8"))["ratios"]
    assert [len(of_rows) for of_rows in found.values()] == [4] * 4
    assert found["0.0"][-1] < found["1.0"][-1]  # strangers say nothing of each other
    assert "after 100" in capsys.readouterr().out


@pytest.mark.long
def test_tiny(tmp_path, capsys):
    arguments = ["fleet", "--tiny", "--quick", "--output", str(tmp_path)]
    assert main(arguments) == 0
    found = json.loads((tmp_path / "fleet_tiny.json").read_text(encoding="utf-8"))
    assert found["sizes"]["16"]["float32"] < found["sizes"]["40"]["float32"] < 40_000
    assert found["milliseconds"] > 0
    assert "bar of float32" in capsys.readouterr().out


@pytest.mark.long
@pytest.mark.slow
def test_late_lost_and_doubled_labels_leave_right_counts_and_no_memory(full_size):
    found = soak(10**6, n_keys=1000) if full_size else soak(20_000, n_keys=100)
    assert found["right"]
    assert min(found["given_up"], found["refused"]) > 500
    assert max(found["bytes"]) < 1.02 * found["bytes"][0]
