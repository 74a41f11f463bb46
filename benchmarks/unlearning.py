"""Rows unlearnt in random order, and parts merged, beside models that never saw them, or saw all.

On sets of the papers, standardised by a frozen scaler, on random features. Sets that are not found
are left out.
"""

import time

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.preprocessing import StandardScaler

from sklearn_okl import FourierFeatures, VAWRegressor, make_streaming_pipeline
from sklearn_okl.datasets import load_dataset, make_friedman_stream

from ._report import RESULTS, print_environment, print_saved, streams_at_hand, table

DATA = ("calhousing", "friedman")
SHARE, BAR = 0.1, 1e-10
_FIRST = 1000  # rows that the scaler is fitted on
_BLOCKS = (1, 64, None)  # rows named in one call; None: all at once
_PARTS = (2, 7, 64)
_ALONE = 300  # rows of which one by one are timed


def run(output=RESULTS, *, data=DATA, n_rows=None, n_seeds=2, quick=False):
    """Unlearn and merge on each set; print the lines that miss the bar first, and save all."""
    if quick:
        n_rows, n_seeds = min(n_rows or 600, 600), 1
    where, lines = print_environment(), []
    for name, (X, y) in streams_at_hand(data, _load).items():
        X, y = X[:n_rows], y[:n_rows]
        for seed in range(n_seeds):
            lines += unlearnt(name, X, y, seed)
        lines += merged(name, X, y)
    lines.sort(key=lambda line: -max(line["coefficients"], line["forecasts"]))
    header = ["set", "what", "coefficients", "forecasts", "time over learning", ""]
    print("\n" + table(header, [_cells(line) for line in lines]))
    print("Largest differences, over the largest coefficient or forecast of the model beside it.")
    print_saved(output / "unlearning.json", {"environment": where, "lines": lines})
    return int(any(max(line["coefficients"], line["forecasts"]) > BAR for line in lines))


def unlearnt(name, X, y, seed):
    """Return lines of a tenth of the rows unlearnt in random order, in blocks of each size."""
    out = np.random.default_rng(seed).permutation(len(y))[: int(SHARE * len(y))]
    stay = np.setdiff1d(np.arange(len(y)), out)
    never, lines = _model(X, seed).fit(X[stay], y[stay]), []
    for size in _BLOCKS:
        n = len(out) if size is None else size
        model = _model(X, seed).fit(X, y)
        took = _seconds(model.unlearn, X, y, out, n)
        beside = _model(X, seed).fit(X, y)
        rows = out[:_ALONE] if n == 1 else out
        learning = _seconds(beside.partial_fit, X, y, rows, n) / len(rows) * len(out)
        called = "all at once" if size is None else f"{size} a call"
        lines.append(_line(name, f"unlearnt, {called}, seed {seed}", model, never, X))
        lines[-1]["time"] = took / learning
    return lines


def merged(name, X, y):
    """Return lines of parts merged, beside one pass."""
    whole, lines = _model(X, 0).fit(X, y), []
    for n_parts in _PARTS:
        model, *parts = (_model(X, 0).fit(X[i::n_parts], y[i::n_parts]) for i in range(n_parts))
        for part in parts:
            model.merge(part)
        lines.append(_line(name, f"{n_parts} parts merged", model, whole, X))
    return lines


def _load(name):
    if name == "friedman":
        return make_friedman_stream(5000, random_state=0)
    found = load_dataset(name)
    return found.data, found.target


def _model(X, seed):
    return make_streaming_pipeline(
        FrozenEstimator(StandardScaler().fit(X[:_FIRST])),
        FourierFeatures(gamma=0.1, n_components=100, random_state=seed),
        VAWRegressor(),
    )


def _seconds(verb, X, y, rows, size):
    start = time.process_time()
    for low in range(0, len(rows), size):
        part = rows[low : low + size]
        verb(X[part], y[part])
    return time.process_time() - start


def _line(name, what, model, beside, X):
    (a, b), (f, g) = (
        (m[-1].coef_ for m in (model, beside)),
        (m.predict(X) for m in (model, beside)),
    )
    return {
        "set": name,
        "what": what,
        "coefficients": float(np.abs(a - b).max() / np.abs(b).max()),
        "forecasts": float(np.abs(f - g).max() / np.abs(g).max()),
        "time": None,
    }


def _cells(line):
    ratio = "" if line["time"] is None else f"{line['time']:.2f}"
    missed = "missed" if max(line["coefficients"], line["forecasts"]) > BAR else ""
    differences = (f"{line[key]:.1e}" for key in ("coefficients", "forecasts"))
    return [line["set"], line["what"], *differences, ratio, missed]
