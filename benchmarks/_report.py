"""What every job prints and saves: tables, the machine and the versions, JSON."""

import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_info

import sklearn_okl

RESULTS = Path("results")  # folder of numbers and figures, but for another --output


def environment():
    """Describe the machine and the versions that figures depend on."""
    versions = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    blas = {
        f"{pool['internal_api']} {pool['version']}"
        for pool in threadpool_info()
        if pool["user_api"] == "blas"
    }
    return {
        "python": platform.python_version(),
        **versions,
        "sklearn_okl": sklearn_okl.__version__,
        "blas": ", ".join(sorted(blas)) or "unknown",
        "cpu": _cpu(),
        "cpu_count": os.cpu_count(),
        "platform": platform.platform(),
    }


def _cpu():
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        for line in cpuinfo.read_text().splitlines():
            if line.lower().startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def environment_line(description):
    """Say in one line where figures were measured."""
    return (
        f"{description['cpu']}, {description['cpu_count']} cores; BLAS {description['blas']}; "
        f"Python {description['python']}, numpy {description['numpy']}, "
        f"scikit-learn {description['scikit-learn']}"
    )


def print_environment():
    """Print where figures are measured, in one line; return it in parts for the JSON."""
    where = environment()
    print(environment_line(where))
    return where


def streams_at_hand(names, load):
    """Return what `load` returns for each name; say on stderr which were not found, and if all."""
    streams = {}
    for name in names:
        try:
            streams[name] = load(name)
        except (FileNotFoundError, ValueError) as error:  # the loader says what to do
            print(f"Left out {name}. {error}", file=sys.stderr)
    if not streams:
        print("No data set is left to run on.", file=sys.stderr)
    return streams


def data_path(name):
    """Return the path of a file NAME.csv.gz in the folder that SKLEARN_OKL_DATA names."""
    path = Path(os.environ.get("SKLEARN_OKL_DATA", "."), f"{name}.csv.gz")
    if not path.is_file():
        raise FileNotFoundError(f"There is no file {path}. SKLEARN_OKL_DATA names the folder.")
    return path


def table(header, rows):
    """Align cells of text: the first column to the left, the others to the right."""
    lines = [header, *rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(header))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


def save_json(path, content):
    """Write numbers to a file and return its path; the folder is made if it is not there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def print_saved(path, content):
    """Save numbers, and say in a last line where they are."""
    print(f"\nNumbers: {save_json(path, content)}")


def moments(values):
    """Return the mean and the standard deviation; None for that of one value."""
    return float(np.mean(values)), float(np.std(values, ddof=1)) if len(values) > 1 else None


def with_spread(mean, spread, digits):
    """Return a mean as text, with its standard deviation where there is one."""
    return f"{mean:.{digits}f}" + ("" if spread is None else f" ± {spread:.{digits}f}")


def counted(n, what):
    """Return a number with the word for what is counted: 1 draw, 2 draws."""
    return f"{n} {what}{'' if n == 1 else 's'}"


def records(comparison, factor=1e3):
    """Return what a comparison found, by stream and model: scores × 10³, seconds, running scores.

    Returns
    -------
    found : dict
        ``{stream: {model: {"values": [...], "mean": ..., "sd": ..., "seconds": [...], "n_rows":
        ..., "rows": [...], "curves": [[...], ...]}}}``: a value and a curve a seed, with the
        numbers of first rows that a curve is for.
    """
    (score,) = comparison.greater_is_better
    results, n_seeds, found = comparison.results, len(comparison.seeds), {}
    for first in range(0, len(comparison.curves), n_seeds):
        runs = slice(first, first + n_seeds)  # of all seeds, in their order
        values, curves = factor * results[score][runs], comparison.curves[runs]
        mean, sd = moments(values)
        found.setdefault(str(results["stream"][first]), {})[str(results["model"][first])] = {
            "values": values.tolist(),
            "mean": mean,
            "sd": sd,
            "seconds": (results["seconds_per_row"] * results["n_rows"])[runs].tolist(),
            "n_rows": int(results["n_rows"][first]),
            "rows": curves[0]["rounds"].tolist(),
            "curves": [(factor * curve[score]).tolist() for curve in curves],
        }
    return found
