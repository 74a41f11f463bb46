"""Tables 2 to 10 of J. Li, S. Liao, "Improved Regret Bounds for Online Kernel Selection under
Bandit Feedback" (ECML-PKDD 2022): mistakes or mean losses, and the time of a round.

Streams are permutations of the files. Features outside [-1, 1] are scaled to it by the whole file,
a feature at a time, and targets to [0, 1]; a9a and Hardware come in [0, 1] and stay as they are.
Where the paper takes the best step in hindsight, it is the one of the smallest mean.
"""

from functools import partial
from itertools import product

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.preprocessing import minmax_scale

from sklearn_okl.datasets import load_dataset
from sklearn_okl.evaluation import compare

from .._plots import save_beside_published
from .._report import (
    RESULTS,
    counted,
    moments,
    print_environment,
    print_saved,
    records,
    save_json,
    streams_at_hand,
    table,
    with_spread,
)
from .bandit_lines import LINES, LOSSES, OTHER_ROWS, ROWS, TABLES, TITLES

DEFAULT_SEEDS = 3
_SPREADS = 2  # standard deviations by which a mean may exceed the published one
_ROUNDING = 0.005  # of published means: two decimals, in the units of the tables


def run(
    data=tuple(ROWS), output=RESULTS, *, n_seeds=DEFAULT_SEEDS, n_rows=None, n_jobs=1, quick=False
):
    """Run every cell of the tables, print them as they come, save the numbers and a figure."""
    if quick:
        n_seeds, n_rows = 2, min(n_rows or 300, 300)
    streams = streams_at_hand(data, lambda name: load_stream(name, n_rows))
    if not streams:
        return 1
    where = print_environment()
    content = {
        "job": "bandit",
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "n_jobs": n_jobs},
        "cells": [],
    }
    path = output / "bandit.json"
    for name, (X, y) in streams.items():
        for loss, cells in _cells(name).items():
            content["cells"] += run_cells(name, loss, cells, X, y, n_seeds, n_jobs)
            save_json(path, content)  # a long job that is stopped leaves what it has
    done, whole = content["cells"], n_rows is None
    for number, name in sorted({(r["table"], r["data"]) for r in done}):
        print("\n" + _table([r for r in done if (r["table"], r["data"]) == (number, name)], whole))
    print("\nMean ± standard deviation over permutations: mistakes in %, average losses × 10².")
    print("Differences are ours less the published ones, in published standard deviations, which")
    print("are at least 0.005: figures are rounded. D is the number of frequencies, B that of rows")
    print("kept. Published times are another machine's.")
    for name in (name for name in streams if name in OTHER_ROWS):
        print(f"{TITLES[name]}: {OTHER_ROWS[name]}.")
    if not whole:
        print("Published figures are for whole streams, ours for the first rows of permutations.")
    elif n_seeds > 1:
        content["missed"] = _missed(done)
        print("\n".join(_summary(done, content["missed"])))
    print_saved(path, content)
    figure = _save_figure(output / "bandit.png", done)
    print("No figure: matplotlib is not installed." if figure is None else f"Figure: {figure}")
    return 0


def load_stream(name, n_rows=None):
    """Return features and targets, scaled by the whole file; the cut is a random one."""
    if name not in ROWS:
        raise ValueError(f"The tables have the sets {', '.join(ROWS)}.")
    X, y = load_dataset(name, return_X_y=True)
    if abs(X).max() > 1:
        X = minmax_scale(X, (-1, 1))
    if set(np.unique(y)) != {-1, 1}:
        y = minmax_scale(y)
    rows = slice(None) if n_rows is None else np.random.RandomState(0).permutation(len(y))[:n_rows]
    return X[rows], y[rows]


def _cells(name):
    """Return of each loss the table, line and published cell of all that is run on a data set."""
    cells = {}
    for number, (loss, published) in TABLES.items():
        for label, line in LINES.items():
            cell = published.get((name, line.like or label))
            if cell is not None and loss in line.losses:
                cells.setdefault(loss, []).append((number, label, cell))
    return cells


def run_cells(name, loss, cells, X, y, n_seeds, n_jobs):
    """Run lines on all permutations with each of their steps, and take the best in hindsight.

    Returns
    -------
    cells : list of dict
        With ``"values": [...], "seconds": [...], "chosen": {...}, "tried": [...]``, a value a
        permutation; what was tried has the mean of each step.
    """
    points, models = {}, {}
    for number, label, published in cells:
        grid = LINES[label].grid
        for values in product(*grid.values()):
            point = dict(zip(grid, values, strict=True))
            key = f"table {number}, {label}, {point}"
            points.setdefault((number, label), {})[key] = point
            models[key] = partial(_model, label, loss, len(y), published.size, point)
    score = {"log_loss": "zero_one"}.get(loss, loss)
    stream, options = partial(_permuted, X, y), {"n_jobs": n_jobs, "verbose": True}
    found = compare(models, {name: stream}, n_seeds, scoring=score, **options)
    runs = records(found, factor=100)[name]
    done = []
    for number, label, published in cells:
        tried = points[number, label]
        best = min(tried, key=lambda key: runs[key]["mean"])
        done.append(
            {"table": number, "data": name, "loss": loss, "line": label, "rows": len(y)}
            | {"values": runs[best]["values"], "seconds": runs[best]["seconds"]}
            | {"chosen": tried[best]}
            | {"tried": [point | {"mean": runs[key]["mean"]} for key, point in tried.items()]}
            | {"published": published._asdict()}
        )
    return done


def _permuted(X, y, seed):
    order = np.random.RandomState(seed).permutation(len(y))
    return X[order], y[order]


def _model(label, loss, n_rows, size, point, seed):
    return Overflowing(LINES[label].model(loss, n_rows, size, seed, **point))


class Overflowing(BaseEstimator):
    """A model whose forecasts are infinite when its step is so long that the numbers overflow."""

    def __init__(self, model):
        self.model = model

    def prequential_predict(self, X, y):
        """Learn the next rows and return the forecasts made before each."""
        classes = {"classes": [-1, 1]} if is_classifier(self.model) else {}
        try:
            return self.model.prequential_predict(X, y, **classes)
        except ValueError:
            return np.full(len(y), np.inf)


def _difference(record):
    """Return our mean less the published one, in published standard deviations."""
    published = record["published"]
    return (moments(record["values"])[0] - published["mean"]) / max(published["sd"], _ROUNDING)


def reaches(record):
    """Tell whether a mean is at most two standard deviations above the published one."""
    published = record["published"]
    spread = _SPREADS * max(published["sd"], _ROUNDING) + _ROUNDING
    return moments(record["values"])[0] <= published["mean"] + spread


def _is_of_paper(record):
    return LINES[record["line"]].like is None


def _table(records, whole):
    lines = []
    for record in records:
        (mean, sd), published = moments(record["values"]), record["published"]
        size = published["size"]
        kept = "B" if record["line"] == "LKMBooks" else "D"
        lines.append(
            (
                f"  {record['line']}",
                f"{published['mean']:.2f} ± {published['sd']:.2f}",
                with_spread(mean, sd, 2),
                f"{_difference(record):+.1f} sd" if whole else "-",
                ("" if reaches(record) else "above") if whole and _is_of_paper(record) else "",
                ", ".join(f"{key} = {value:g}" for key, value in record["chosen"].items()),
                "" if size is None else f"{kept} = {size}",
                f"{published['microseconds']:.0f}",
                f"{1e6 * np.median(record['seconds']) / record['rows']:.0f}",
            )
        )
    first = records[0]
    n = len(first["values"])
    loss = first["loss"].replace("_", " ")
    title = f"Table {first['table']}: {TITLES[first['data']]}, {loss}, {LOSSES[first['loss']]}"
    header = (
        f"{first['rows']} rows, {counted(n, 'permutation')}",
        *("published", "ours", "difference", "", "chosen", "size", "published µs", "µs a round"),
    )
    return f"{title}\n{table(header, lines)}"


def _missed(records):
    return [
        {"table": record["table"], "data": record["data"], "line": record["line"]}
        for record in records
        if _is_of_paper(record) and not reaches(record)
    ]


def _summary(records, missed):
    """Say how many cells reach the published ones, and name the others."""
    n_cells = sum(map(_is_of_paper, records))
    yield (
        f"\n{n_cells - len(missed)} of {n_cells} cells are at most {_SPREADS} standard deviations "
        "above the published mean."
    )
    for cell in missed:
        yield f"  not: {cell['line']} on {TITLES[cell['data']]}, table {cell['table']}"


def _save_figure(path, records):
    panels = {}
    for record in records:
        loss, published, (mean, sd) = record["loss"], record["published"], moments(record["values"])
        title = f"{TITLES[record['data']]}, {loss.replace('_', ' ')}"
        _, lines = panels.setdefault(title, (LOSSES[loss], []))
        lines.append((record["line"], (published["mean"], published["sd"]), (mean, sd or 0.0)))
    return save_beside_published(path, panels)
