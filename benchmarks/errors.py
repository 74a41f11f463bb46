"""Errors over commits: python -m benchmarks.errors v0.1.0 HEAD [--rows N] [--data NAME ...].

The estimators without tuning of each commit learn the same rows of the streams at hand, in the same
calls, each commit in processes of its own. What changed is printed by its ratio, losses first.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from math import inf
from pathlib import Path

import joblib

from sklearn_okl.datasets import load_dataset

from . import classes, kinds, series, tables
from ._progress import progress
from ._report import streams_at_hand, table
from .commits import checked_out

BUDGETS = "fast", "balanced"
SERIES = ("ett_h1",)
BAR = 1.003  # a ratio above it is a loss
REFUSED = "refused"


def main(arguments=None):
    """Learn, print the table, and return 1 if an error of the last commit is above its bar."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.errors", description=__doc__)
    parser.add_argument("commits", nargs=2, help="anything that git knows by name")
    parser.add_argument("--rows", type=int, help="the first ones of each stream (default: all)")
    parser.add_argument("--data", nargs="+", help="sets (default: those of three jobs and of ETT)")
    parser.add_argument("--budgets", nargs="+", default=BUDGETS, choices=BUDGETS)
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        names = save_streams(Path(folder), options.data, options.rows)
        tasks = [(name, budget) for name in names for budget in budgets_of(name, options.budgets)]
        with checked_out(options.commits) as trees, progress(2 * len(tasks), "run") as advance:
            found = {}
            for name, budget in tasks:
                for commit, tree in trees.items():
                    path = Path(folder, f"{name}.joblib")
                    found.setdefault((name, budget), {})[commit] = _learnt(tree, path, budget)
                    advance(1, f"{name}, {budget}")
    rows, worst = compared(found, *options.commits)
    print(table(["stream", "budget", "figure", *options.commits, "ratio"], rows))
    print(f"Worst ratio: {worst:.4f} (bar {BAR}).")
    return int(worst > BAR)


def budgets_of(name, budgets):
    """Return the budgets of a stream; the forecaster has none."""
    return ("",) if name in SERIES else budgets


def save_streams(folder, data, n_rows):
    """Write what is to be learnt into a folder, one file a stream, and return the streams' names.

    A set of the tables is learnt in each of its orders, as that job has them.
    """
    found = {}
    for name, stream in _at_hand(tables.DATA, tables.load_stream, data):
        for order in tables.orders_of(name):
            found[f"{name}, {order}"] = tables.ordered(stream, order, n_rows, 0)
    of_classes = (*classes.IN_ORDER, *classes.PERMUTED)
    for name, stream in _at_hand(of_classes, partial(load_dataset, return_X_y=True), data):
        X, y = classes.ordered(name, stream, n_rows, 0)
        found[name] = X, y.astype(str)
    for name, (X, y) in _at_hand(kinds.DATA, kinds.load_frame, data):
        found[name] = X[:n_rows], y[:n_rows]
    for name, (_, Y) in _at_hand(SERIES, series.read_series, data):
        known = Y[: len(Y) // 2]
        found[name] = None, ((Y - known.mean(axis=0)) / known.std(axis=0))[:n_rows]
    for name, stream in found.items():
        joblib.dump(stream, folder / f"{name}.joblib")
    return list(found)


def _at_hand(names, load, data):
    chosen = [name for name in names if data is None or name in data]
    return streams_at_hand(chosen, load).items() if chosen else ()


def compared(found, before, after):
    """Return the lines of a table, the largest ratio first, and that ratio.

    What was refused before has the ratio 0, and what is refused now an infinite one.
    """
    lines = []
    for (name, budget), figures in found.items():
        old, new = figures[before], figures[after]
        for figure in new if REFUSED in old or REFUSED in new else old:
            values = old.get(figure, old.get(REFUSED)), new[figure]
            ratio = inf if REFUSED in new else 0.0 if REFUSED in old else _ratio(*values)
            lines.append((ratio, [name, budget, figure, *map(_cell, values), f"{ratio:.4f}"]))
    lines.sort(key=lambda line: -line[0])
    return [row for _, row in lines], lines[0][0]


def _ratio(before, after):
    return after / before if before else 1.0 if after == before else inf


def _cell(value):
    return "" if value is None else value[:40] if isinstance(value, str) else f"{value:.5g}"


def _learnt(tree, path, budget):
    environment = {**os.environ, "PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"}
    program = f"import sys; sys.path.append({str(Path(__file__).parent)!r})\n"
    program += "import json; from errors_learnt import learnt\n"
    program += f"print(json.dumps(learnt({str(path)!r}, {budget!r})))"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=path.parent, env=environment, capture_output=True, text=True)
    if done.returncode:
        return {REFUSED: done.stderr.strip().rpartition("\n")[2]}
    return json.loads(done.stdout.splitlines()[-1])


if __name__ == "__main__":
    sys.exit(main())
