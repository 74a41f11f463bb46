"""Memory of VAW² over a long stream, each figure measured in a process of its own.

``python -m benchmarks.speed.memory stream 200000`` is such a process: it prints one number, MB.
"""

import argparse
import subprocess
import sys
from pathlib import Path

from sklearn_okl import VAW2Regressor
from sklearn_okl.datasets import make_ar4, scale_as_published

from .._progress import progress
from .figure import Figure

_CHUNK = 1000
_SMALL_GRID = {"kernel": ["rbf"], "gamma": [0.1, 1.0, 10.0]}
_STATUS = Path("/proc/self/status")


def streaming(quick=False):
    """Growth of the process between the first chunk of 1 000 rows and the last."""
    n_rows = 20_000 if quick else 200_000
    name = f"memory: growth over {n_rows} rows by {_CHUNK}"
    return Figure(name, [_in_fresh_process("stream", n_rows, quick)], "MB", bar=50)


def one_call(quick=False):
    """Peak of the process in one call, above what it held with its inputs."""
    n_rows = 20_000 if quick else 200_000
    if not quick:
        print(f"one call of {n_rows} rows follows, about a minute ...", file=sys.stderr)
    name = f"memory: peak of one call of {n_rows} rows"
    return Figure(name, [_in_fresh_process("one_call", n_rows, quick)], "MB", bar=300)


MEASURES = (streaming, one_call) if _STATUS.exists() else ()  # Linux alone tells both figures


def _in_fresh_process(job, n_rows, quick):
    command = [sys.executable, "-m", __name__, job, str(n_rows), *(["--quick"] if quick else [])]
    return float(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout)


def megabytes(field):
    """Read a figure of this process: VmRSS is what it holds now, VmHWM the most it ever held."""
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"{_STATUS} has no line {field}.")


def _measure(job, n_rows, quick):
    X, y = scale_as_published(*make_ar4(n_rows))
    model = VAW2Regressor(_SMALL_GRID if quick else None, random_state=0)
    if job == "one_call":
        before = megabytes("VmRSS")
        model.prequential_predict(X, y)
        return megabytes("VmHWM") - before
    model.prequential_predict(X[:_CHUNK], y[:_CHUNK])
    before = megabytes("VmRSS")
    with progress(n_rows, "row") as advance:
        for start in range(_CHUNK, n_rows, _CHUNK):
            rows = slice(start, start + _CHUNK)
            model.prequential_predict(X[rows], y[rows])
            advance(_CHUNK, "streaming")
    return megabytes("VmRSS") - before


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("job", choices=["stream", "one_call"])
    parser.add_argument("n_rows", type=int)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(_measure(options.job, options.n_rows, options.quick))
