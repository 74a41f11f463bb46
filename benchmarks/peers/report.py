"""One run of all learners on all streams: losses, times, a table, a figure, numbers.

Nobody looks ahead. Rows and targets are scaled by the moments of those before them; the first rows,
by whose moments the scaling starts, are learnt and not scored. Forecasts are brought back to the
unit of the targets, so that the squared errors are those of the task itself, and are then divided
by the variance of all targets, so that streams can be compared: 1 is what the mean in hindsight
would score.
"""

import os
import sys

import numpy as np
from threadpoolctl import threadpool_limits

from sklearn_okl.datasets import load_dataset, make_ar4, make_friedman_stream
from sklearn_okl.evaluation import prequential

from .._plots import print_figures, save_trade_off
from .._progress import progress
from .._report import RESULTS, print_environment, print_saved, streams_at_hand, table
from .learners import learners

WARM_UP = 50  # first rows, not scored
ONE_BY_ONE = 100  # rows that the package's estimators learn one a call too
GENERATED = {
    "ar4": ("AR(4)", lambda: make_ar4()),
    "friedman": ("Friedman", lambda: make_friedman_stream(5000, random_state=0)),
    "friedman_drift": (
        "Friedman, drift",
        lambda: make_friedman_stream(5000, drift="jump", random_state=0),
    ),
}
TITLES = {"bias_notebook": "Bias", "calhousing": "Calif. housing", "casp": "CASP"}
FILES = ("airfoil", "concrete", "bias_notebook", "elevators", "calhousing", "casp")


def default_data():
    """Return the names of the streams at hand."""
    return [*GENERATED, *(FILES if os.environ.get("SKLEARN_OKL_DATA") else ())]


def _load(name):
    return GENERATED[name][1]() if name in GENERATED else load_dataset(name, return_X_y=True)


def run(data=None, output=RESULTS, *, n_rows=5000, quick=False):
    """Run every learner on every stream; print the tables, save figure and numbers."""
    n_rows, n_alone = (min(n_rows, 4 * WARM_UP), 10) if quick else (n_rows, ONE_BY_ONE)
    found = streams_at_hand(data or default_data(), _load)
    if not found:
        return 1
    streams = {
        GENERATED[name][0] if name in GENERATED else TITLES.get(name, name.capitalize()): (
            X[:n_rows],
            y[:n_rows],
        )
        for name, (X, y) in found.items()
    }
    lines = learners()
    if not any(line.home == "River" for line in lines.values()):
        print('River is left out: pip install "sklearn_okl[peers]"', file=sys.stderr)
    where = print_environment()

    results = {title: {} for title in streams}
    n_rounds = len(lines) * sum(len(y) for _, y in streams.values())
    with progress(n_rounds, "row") as advance, threadpool_limits(1, user_api="blas"):
        for title, (X, y) in streams.items():
            for label, line in lines.items():
                results[title][label] = run_one(line, X, y, n_alone)
                advance(len(y), f"{title}: {label}")

    print("\n" + _table("Loss", lines, results, "loss", "{:.3f}"))
    print("\n" + _table("µs a row", lines, results, "microseconds", "{:.0f}"))
    print("\n" + _table("µs a row, one a call", lines, results, "one_by_one", "{:.0f}"))
    print(
        f"\n{n_rows} rows of each stream at most, the first {WARM_UP} not scored; one BLAS thread."
    )
    print(
        "Loss: mean squared error of forecasts made before the target was seen, over the variance"
    )
    print("of the targets. Rows and targets are scaled by those before them, for everybody.")
    print("Time: of forecasting and learning; the scaling only where it is the learner's own.")
    print(f"One a call: ours on the first {n_alone} rows. Above it they replay whole streams, and")
    print("KernelRidge forecasts 50 rows at once; the others know no faster way.")

    content = {
        "environment": where,
        "settings": {"rows": n_rows, "warm_up": WARM_UP},
        "results": results,
    }
    print_saved(output / "peers.json", content)
    homes = {label: line.home for label, line in lines.items()}
    print_figures([save_trade_off(output / "peers.png", results, homes)])
    return 0


def run_one(line, X, y, n_alone=ONE_BY_ONE):
    """Return the loss of a learner on a stream, and its times in microseconds a row."""
    Z, _ = scaled_by_the_past(X)
    targets, spread = scaled_by_the_past(y)
    result = run_line(line, X, Z, targets)
    with np.errstate(over="ignore", invalid="ignore"):
        errors = spread * (result.forecasts - targets)
        loss = float(np.mean(errors[WARM_UP:] ** 2) / np.var(y[WARM_UP:]))
    microseconds = one_by_one = 1e6 * result.seconds / len(y)
    if line.chunk_size != 1:
        first = slice(0, n_alone)
        alone = run_line(line._replace(chunk_size=1), X[first], Z[first], targets[first], len(y))
        one_by_one = 1e6 * alone.seconds / len(targets[first])
    return {"loss": loss, "microseconds": microseconds, "one_by_one": one_by_one}


def run_line(line, X, Z, targets, n_rows=None):
    """Return the forecasts of a learner of rows as they are, or as they are scaled, and seconds."""
    model = line.make(X.shape[1], n_rows or len(targets))
    rows = X if line.brings_a_scaler else Z
    with np.errstate(all="ignore"):  # a learner may diverge; its loss says so
        return prequential(model, rows, targets, chunk_size=line.chunk_size, initial_forecast=0.0)


def scaled_by_the_past(values):
    """Centre and scale each row by the moments of the rows before it, and the first by their own.

    Parameters
    ----------
    values : ndarray of shape (n,) or (n, d)
        A stream.

    Returns
    -------
    scaled : ndarray of the shape of values
        The first `WARM_UP` rows have the moments of them all.
    spread : ndarray of the shape of values
        The standard deviations that were divided by; 1 where all was constant so far.
    """
    start = min(WARM_UP, len(values))
    origin = values[:start].mean(axis=0)  # near the mean: differences of squares stay exact
    centred = values - origin
    n = np.arange(1, len(values) + 1).reshape(-1, *[1] * (values.ndim - 1))
    mean = np.cumsum(centred, axis=0) / n
    variance = np.maximum(np.cumsum(centred**2, axis=0) / n - mean**2, 0.0)
    before = np.maximum(np.arange(len(values)), start) - 1  # the last row that may be looked at
    spread = np.sqrt(variance[before])
    spread[spread == 0.0] = 1.0
    return (centred - mean[before]) / spread, spread


def _table(title, lines, results, field, form):
    rows = [
        (
            f"  {line.home}: {label}",
            *(_cell(result[label][field], form) for result in results.values()),
        )
        for label, line in lines.items()
    ]
    return table((title, *results), rows)


def _cell(value, form):
    if not np.isfinite(value):
        return "diverged"
    return form.format(value) if value < 1e6 else f"{value:.0e}"
