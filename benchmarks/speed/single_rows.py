"""Single rows by the ten thousand and by the million: the slowest call, memory, equality."""

import copy
import gc
import time

import numpy as np

from sklearn_okl import OnlineKernelRegressor, RakerRegressor, VAW2Regressor, VAWRegressor
from sklearn_okl.datasets import make_friedman_stream

from .._progress import progress
from .._report import environment, environment_line, save_json
from .figure import Figure
from .memory import megabytes

_N_INPUTS = 8
_KNOWN = 100  # rows learnt before a clock starts
_BATCH = 1000  # rows between two looks at the clock of the bar, and rows of a long call
_LATENCY = {  # label -> model and bar: the slowest call over the median one
    'OnlineKernelRegressor(budget="fast")': OnlineKernelRegressor(budget="fast", random_state=0),
    "OnlineKernelRegressor()": OnlineKernelRegressor(random_state=0),
    "VAW2Regressor()": VAW2Regressor(random_state=0),
    "VAWRegressor()": VAWRegressor(),
    "RakerRegressor()": RakerRegressor(random_state=0),
}


def slowest_calls(n_calls, advance):
    """Yield the slowest of many calls of `partial_fit` on one row, over the median one.

    Garbage collection is off. Times are the processor's, so that what other programs take of the
    machine is not counted; page faults are.
    """
    X, y = make_friedman_stream(_KNOWN + max(n_calls, _KNOWN), n_features=_N_INPUTS, random_state=0)
    for label, model in _LATENCY.items():
        _warm_up(copy.deepcopy(model), X, y)
        model.fit(X[:_KNOWN], y[:_KNOWN])
        seconds = np.empty(n_calls)
        gc.collect()
        gc.disable()
        try:
            for i in range(n_calls):
                row = slice(_KNOWN + i, _KNOWN + i + 1)
                start = time.process_time()
                model.partial_fit(X[row], y[row])
                seconds[i] = time.process_time() - start
                if i % _BATCH == 0:
                    advance(min(_BATCH, n_calls - i), label)
        finally:
            gc.enable()
        middle, slowest = np.median(seconds), seconds.max()
        high = 1e3 * np.quantile(seconds, 0.999)
        note = f"median {1e3 * middle:.2f} ms, 99.9 % {high:.2f} ms, slowest {1e3 * slowest:.2f} ms"
        name = f"{label}, slowest of {n_calls} calls"
        yield Figure(name, [float(slowest / middle)], "medians", bar=5, note=note)


def _warm_up(model, X, y):
    """Let another model do the same, so that no call is the first that the interpreter meets."""
    model.fit(X[:_KNOWN], y[:_KNOWN])
    for i in range(_KNOWN, 2 * _KNOWN):
        model.partial_fit(X[i : i + 1], y[i : i + 1])


def endless(label, model, n_rows, advance):
    """Yield the growth of the process over many single rows, and how far long calls are from it."""
    single, long = model, copy.deepcopy(model)
    differences, before, size = [], None, 0.0
    n_done = 0
    rng = np.random.default_rng(0)
    while n_done < n_rows:
        X = rng.standard_normal((_BATCH, _N_INPUTS))
        y = np.sin(2.0 * X[:, 0]) + 0.5 * X[:, 1] + 0.1 * rng.standard_normal(_BATCH)
        expected = long.prequential_predict(X, y)
        forecasts = [single.prequential_predict(X[i : i + 1], y[i : i + 1]) for i in range(_BATCH)]
        size = max(size, float(np.abs(expected).max()))
        differences.append(float(np.abs(np.concatenate(forecasts) - expected).max()))
        n_done += _BATCH
        if before is None and 10 * n_done >= n_rows:
            before = megabytes("VmRSS")
        advance(_BATCH, label)
    worst = max(differences) / size
    yield Figure(f"{label}, {n_rows} rows, memory", [megabytes("VmRSS") - before], "MB", bar=10)
    note = "largest difference of a forecast over the largest forecast"
    yield Figure(f"{label}, {n_rows} rows, from long calls", [1e8 * worst], "× 1e-8", 1, note=note)


def run(output, *, quick=False):
    """Measure, print a line for each figure and save the numbers; return the exit status."""
    where = environment()
    print(environment_line(where))
    print("Small sizes: the bars belong to the full ones.\n" if quick else "")
    n_calls, n_fast, n_vaw = (50, 1000, 1000) if quick else (10_000, 100_000, 1_000_000)
    figures = []

    def show(figure):
        figures.append(figure)
        print(figure.line(), flush=True)

    with progress(len(_LATENCY) * n_calls, "call") as advance:
        for figure in slowest_calls(n_calls, advance):
            show(figure)
    fast = OnlineKernelRegressor(budget="fast", random_state=0)
    jobs = ("VAWRegressor()", VAWRegressor(), n_vaw), ("the fast default", fast, n_fast)
    for label, model, n_rows in jobs:
        with progress(n_rows, "row") as advance:
            for figure in endless(label, model, n_rows, advance):
                show(figure)
    content = {"environment": where, "quick": quick, "figures": [f.numbers() for f in figures]}
    print(f"\nNumbers: {save_json(output / 'speed_single_rows.json', content)}")
    return 0
