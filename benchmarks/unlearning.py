"""Rows unlearnt in random order, and parts merged, beside models that never saw them, or saw all.

On sets of the papers, standardised by a frozen scaler, on random features. Sets that are not found
are left out. What unlearning takes is timed in turns with learning the same rows once more.
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
SLOW = 1.0  # times what learning takes
_FIRST = 1000  # rows that the scaler is fitted on
_BLOCKS = (1, 64, None)  # rows named in one call; None: all at once
_PARTS = (1, 2, 7, 64)
_DIFFERENCES = "coefficients", "forecasts"


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
    lines.sort(key=lambda line: (not _missed(line), -max(map(line.get, _DIFFERENCES))))
    header = ["set", "what", *_DIFFERENCES, "time over learning", ""]
    print("\n" + table(header, [_cells(line) for line in lines]))
    print("Largest differences, over the largest coefficient or forecast of the model beside it.")
    print_saved(output / "unlearning.json", {"environment": where, "lines": lines})
    return int(any(_is_far(line) or (_missed(line) and not quick) for line in lines))


def unlearnt(name, X, y, seed):
    """Return lines of a tenth of the rows unlearnt in random order, in blocks of each size."""
    out = np.random.default_rng(seed).permutation(len(y))[: int(SHARE * len(y))]
    stay = np.setdiff1d(np.arange(len(y)), out)
    never, lines = _model(X, seed).fit(X[stay], y[stay]), []
    for size in _BLOCKS:
        n = len(out) if size is None else size
        model, beside = (_model(X, seed).fit(X, y) for _ in range(2))
        took = np.zeros(2)
        for low in range(0, len(out), n):
            rows = out[low : low + n]
            verbs = (model.unlearn, beside.partial_fit)
            took += [_seconds(verb, X[rows], y[rows]) for verb in verbs]
        called = "all at once" if size is None else f"{size} a call"
        lines.append(_line(name, f"unlearnt, {called}, seed {seed}", model, never, X))
        lines[-1]["time"] = took[0] / took[1]
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


def _seconds(verb, X, y):
    start = time.process_time()
    verb(X, y)
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


def _is_far(line):
    return max(map(line.get, _DIFFERENCES)) > BAR


def _missed(line):
    return _is_far(line) or (line["time"] or 0.0) > SLOW


def _cells(line):
    ratio = "" if line["time"] is None else f"{line['time']:.2f}"
    differences = (f"{line[key]:.1e}" for key in _DIFFERENCES)
    return [line["set"], line["what"], *differences, ratio, "missed" if _missed(line) else ""]
