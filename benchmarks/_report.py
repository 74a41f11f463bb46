"""What every job prints and saves: tables, the machine and the versions, JSON."""

import json
import os
import platform
import sys
from importlib.metadata import version
from pathlib import Path

from threadpoolctl import threadpool_info

import sklearn_okl


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
