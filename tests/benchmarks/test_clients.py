"""The job clients: what it says of tests that come right and of those that do not."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
import pytest

client = lambda what: pytest.mark.client("numpy", what, ())
"""
LINE = """

@client("line {number}")
def test_{number}():
    {body}
"""
JOB = """
import sys
from pathlib import Path
from benchmarks import clients

clients.TESTS = Path(sys.argv[1])
status = clients.run(Path(sys.argv[2]))
assert clients.run(Path(sys.argv[2]) / "nothing", only="no such line") == 1
sys.exit(status)
"""


def run(folder, *arguments):
    """Run a program in a process of its own, since a session of pytest is one already."""
    command = [sys.executable, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", check=False)
    path = folder / "clients.json"
    return done, json.loads(path.read_text("utf-8"))["lines"] if path.exists() else None


@pytest.mark.long
def test_the_job(tmp_path):
    job = "-m", "benchmarks", "clients", "--output", tmp_path, "--only"
    done, (line,) = run(tmp_path, *job, "CURVE: BY hand")
    assert done.returncode == 0, done.stderr
    assert "validation_curve: by hand  as expected" in done.stdout
    assert line["program"] == "scikit-learn"
    assert line["version"].count(".") >= 1
    assert line["kind"] == line["says"] == "as expected"


@pytest.mark.long
@pytest.mark.parametrize(
    ("expected", "status"),
    [
        (
            [
                ("print(1)", "as expected", "as expected"),
                ("pytest.xfail('theirs is old')", "theirs", "theirs is old"),
                ("pytest.skip('not installed: it')", "not installed", "not installed: it"),
            ],
            0,
        ),
        (
            [
                ("raise AssertionError('up to 0.5 apart')", "wrong", "up to 0.5 apart"),
                ("raise KeyError('a column')", "wrong", "KeyError: 'a column'"),
                ("pass", "as expected", "as expected"),
            ],
            1,
        ),
    ],
)
def test_what_is_said_of_lines(expected, status, tmp_path):
    bodies, kinds, says = zip(*expected, strict=True)
    made_up = [LINE.format(number=number, body=body) for number, body in enumerate(bodies)]
    (tmp_path / "test_made_up.py").write_text("".join([HEAD, *made_up]), encoding="utf-8")
    done, lines = run(tmp_path, "-c", JOB, tmp_path, tmp_path)
    table = [f"  line {number}  {said}" for number, said in enumerate(says)]
    assert "\n".join([f"numpy {np.__version__}", *table]) in done.stdout, done.stderr
    assert [line["kind"] for line in lines] == list(kinds)
    assert [line["says"] for line in lines] == list(says)
    assert done.returncode == status
