"""The classifier without tuning on streams of classes, beside others' probabilities.

Every forecast is made before its label is seen. The log loss has probabilities no less than 1e-7,
as on the leaderboard StreamArena; streams that have an order keep it, others are permuted. What
others forecast is kept, by its rows, its settings and the version of its package.
"""

import json
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import NamedTuple

import joblib
import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.neural_network import MLPClassifier

from sklearn_okl import OnlineKernelClassifier, RefitClassifier, RunningStandardScaler
from sklearn_okl.datasets import load_dataset
from sklearn_okl.evaluation import calibration_error

from ._progress import progress
from ._report import (
    RESULTS,
    print_environment,
    print_saved,
    save_json,
    streams_at_hand,
    table,
)
from .classes_small import small_streams

IN_ORDER = "arena_electricity", "arena_nomao", "arena_shuttle", "arena_rbf_drift"
PERMUTED = "a9a", "magic04", "susy", "ijcnn1", "cod_rna"
PUBLISHED = {  # log loss: StreamArena, whole streams
    "arena_electricity": {"adaptive random forest": 0.252, "streaming random patches": 0.289},
    "arena_nomao": {"adaptive random forest": 0.081, "streaming random patches": 0.077},
}
FLOOR = 1e-7
N_BINS = 15
LONG = 20_000  # rows, of streams whose calibration is held against a bar
FIGURES = "log_loss", "errors", "kappa", "calibration"
N_TREES = 300
OURS = "ours"


class Line(NamedTuple):
    """One line of the tables.

    Attributes
    ----------
    make : callable
        Returns, given a seed, what makes progressive probabilities.
    what : str or None
        What others forecast with; their runs are kept, and ours, None, are not.
    package : str or None
        Theirs. Only a run asks for its version: the line is listed where it is not installed.
    """

    make: Callable
    what: str | None = None
    package: str | None = None


def run(
    output=RESULTS,
    *,
    data=None,
    n_seeds=1,
    n_rows=None,
    only="",
    trees=False,
    peers=False,
    small=False,
    quick=False,
):
    """Run all lines on all streams at hand; print log loss, mistakes, kappa, calibration, time."""
    n_trees, names = N_TREES, data or (*IN_ORDER, *PERMUTED)
    if quick:
        n_seeds, n_rows, n_trees = 1, min(n_rows or 120, 120), 5
    lines = lines_of(n_trees, trees, peers)
    lines = {name: line for name, line in lines.items() if only in name}
    if not lines:
        print(f"No line contains {only!r}; there are {', '.join(lines_of(n_trees, True, True))}.")
        return 1
    available = streams_at_hand(names, partial(load_dataset, return_X_y=True))
    if not available:
        return 1
    where, cells = print_environment(), []
    with progress(len(available) * len(lines) * n_seeds, "run") as advance:
        for name in available:
            rows = []
            for line, what in lines.items():
                runs = []
                for seed in range(n_seeds):
                    stream = ordered(name, available[name], n_rows, seed)
                    runs.append(run_line(what, *stream, seed, n_trees, output / "classes"))
                    advance(1, f"{name}, {line}")
                means = {key: float(np.mean([one[key] for one in runs])) for key in runs[0]}
                cells.append({"data": name, "line": line, "rows": len(stream[1]), "runs": runs})
                rows.append([line, *(f"{means[key]:.4f}" for key in FIGURES), f"{means['ms']:.3f}"])
            whole = n_rows is None or n_rows >= len(available[name][1])
            published = PUBLISHED.get(name, {}) if whole else {}
            for line, loss in published.items():
                rows.append([f"{line} (board)", f"{loss:.4f}", *4 * [""]])
            header = [name, "log loss", "mistakes", "kappa temporal", "calibration error", "ms"]
            print("\n" + table(header, rows), flush=True)
    print(f"\nCalibration error: expected, of the likeliest class, {N_BINS} bins. ms: time a row.")
    for sentence in trusted(cells):
        print(sentence)
    found = {}
    if small:
        found = small_streams(quick)
        print("\n" + table(["without a file", *found["header"]], found["rows"]), flush=True)
    content = {
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "trees": n_trees},
        "published": PUBLISHED,
        "cells": cells,
        "without a file": found,
    }
    print_saved(output / "classes.json", content)
    return 0


def run_line(line, X, y, seed, n_trees, folder):
    """Return the figures of a run; others' runs are made once."""
    if line.what is None:
        return figures_of(line.make(seed), X, y)
    by = f"{line.what}, {line.package} {version(line.package)}"
    file = folder / f"{joblib.hash([by, n_trees, seed, X, y])}.json"
    if not file.is_file():
        save_json(file, {"by": by, **figures_of(line.make(seed), X, y)})
    figures = json.loads(file.read_text(encoding="utf-8"))
    del figures["by"]
    return figures


def trusted(cells):
    """Say how far the probabilities of our lines can be trusted, over all streams."""
    ours = [cell for cell in cells if cell["line"].startswith(OURS)]
    long = [(one["calibration"], c) for c in ours if c["rows"] > LONG for one in c["runs"]]
    if long:
        error, cell = max(long, key=lambda pair: pair[0])
        yield (
            f"Largest calibration error of ours on streams of more than {LONG} rows: {error:.4f} "
            f"({cell['data']}, {cell['line']})."
        )
    if ours:
        least = min(one["least"] for cell in ours for one in cell["runs"])
        most = min(one["rest"] for cell in ours for one in cell["runs"])
        yield f"Probabilities of ours are from {least:.1e} to 1 - {most:.1e}."


def ordered(name, stream, n_rows, seed):
    """Return rows and labels 0, 1, ..., in the order of the file or permuted by a seed."""
    X, y = stream
    rows = np.arange(len(y))
    if name not in IN_ORDER:
        rows = np.random.RandomState(seed).permutation(len(y))
    return X[rows[:n_rows]], np.unique(y, return_inverse=True)[1][rows[:n_rows]]


def lines_of(n_trees, trees, peers):
    """Return the lines by name."""
    lines = {OURS: Line(lambda seed: Ours(random_state=seed))}
    if trees:
        lines[f"{OURS}, trees"] = Line(
            lambda seed: Ours(random_state=seed, trees=boosting(n_trees, seed))
        )
        lines["boosting, refitted"] = Line(
            lambda seed: Refitted(boosting(n_trees, seed)), "boosting", _package_of_boosting()
        )
    learners = {
        "SGD": lambda seed: SGDClassifier(loss="log_loss", random_state=seed),
        "MLP": lambda seed: MLPClassifier(random_state=seed),
    }
    for name, make in learners.items():
        lines[f"scikit-learn, {name}"] = Line(
            lambda seed, make=make: Taught(make(seed)), name, "scikit-learn"
        )
    if peers:
        lines["River, adaptive random forest"] = Line(River, "forest", "river")
    return lines


def _package_of_boosting():
    is_lightgbm = type(boosting(1, 0)).__name__ == "LGBMClassifier"
    return "lightgbm" if is_lightgbm else "scikit-learn"


class Ours:
    """The classifier without tuning, in one call."""

    def __init__(self, **parameters):
        self._model = OnlineKernelClassifier(**parameters)

    def __call__(self, X, y, classes):
        return self._model.prequential_predict_proba(X, y, classes=classes)


class Refitted:
    """A batch model that is fitted anew, with the last label as a column."""

    def __init__(self, estimator):
        self._model = RefitClassifier(estimator, random_state=0)

    def __call__(self, X, y, classes):
        last = np.concatenate([[0], y[:-1]])
        return self._model.prequential_predict_proba(np.column_stack([X, last]), y, classes=classes)


class Taught:
    """A classifier of scikit-learn that learns row by row, on rows standardised by those before."""

    def __init__(self, estimator):
        self._model = clone(estimator)

    def __call__(self, X, y, classes):
        Z = RunningStandardScaler().prequential_transform(X)
        P = np.full((len(y), len(classes)), 1.0 / len(classes))
        self._model.partial_fit(Z[:1], y[:1], classes=classes)
        for t in range(1, len(y)):
            P[t] = self._model.predict_proba(Z[t : t + 1])[0]
            self._model.partial_fit(Z[t : t + 1], y[t : t + 1])
        return P


class River:
    """River's adaptive random forest."""

    def __init__(self, seed):
        from river.forest import ARFClassifier

        self._model = ARFClassifier(seed=seed)

    def __call__(self, X, y, classes):
        P = np.full((len(y), len(classes)), 1.0 / len(classes))
        for t, (row, label) in enumerate(zip(X.tolist(), y.tolist(), strict=True)):
            row = dict(enumerate(row))
            said = self._model.predict_proba_one(row)
            if said:
                P[t] = [said.get(place, 0.0) for place in classes.tolist()]
            self._model.learn_one(row, label)
        return P


def boosting(n_trees, seed):
    """Return LightGBM's gradient boosting, or scikit-learn's of the same settings."""
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return HistGradientBoostingClassifier(
            max_iter=n_trees, learning_rate=0.05, min_samples_leaf=10, early_stopping=False
        )
    return LGBMClassifier(
        n_estimators=n_trees,
        learning_rate=0.05,
        num_leaves=31,
        min_child_samples=10,
        random_state=seed,
        n_jobs=1,
        verbose=-1,
    )


def figures_of(forecast, X, y):
    """Return log loss, share of mistakes, kappa temporal, calibration error and time of a run."""
    start = perf_counter()
    P = forecast(X, y, np.arange(y.max() + 1))
    seconds = perf_counter() - start
    rows, wrong = np.arange(len(y)), P.argmax(axis=1) != y
    persistent = np.mean(y[1:] != y[:-1]) or 1.0
    return {
        "log_loss": float(-np.log(np.maximum(P[rows, y], FLOOR)).mean()),
        "errors": float(wrong.mean()),
        "kappa": float(1.0 - wrong.mean() / persistent),
        "calibration": calibration_error(y, P, labels=np.arange(P.shape[1]), n_bins=N_BINS),
        "least": float(P.min()),
        "rest": float((1.0 - P).min()),  # that the surest forecast leaves to the other classes
        "ms": 1e3 * seconds / len(y),
    }
