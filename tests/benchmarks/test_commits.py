"""The table of speed over commits."""

import pytest

from benchmarks import commits


def test_the_last_commit_is_compared_with_the_first_that_has_the_line():
    least = {
        "a": {"import": 100.0},
        "b": {"import": 80.0, "new": 2.0},
        "c": {"import": 50.0, "new": 3.0},
    }
    lines = commits.table(least).splitlines()
    assert lines[0] == "| ms | a | b | c | last / first |"
    assert lines[2] == "| import | 100 | 80 | 50 | 0.50 |"
    assert lines[3] == "| new |  | 2 | 3 | 1.50 |"


def test_commits_that_are_none_are_said(capsys):
    with pytest.raises(SystemExit):
        commits.main([])
    assert "commits" in capsys.readouterr().err
