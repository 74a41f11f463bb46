"""Exact attributions against KernelSHAP: processor time for the same rows, background and error.

A ridge forecaster on random Fourier features of made streams is explained in closed form, and by
shap's KernelExplainer with more and more coalitions until the mean size of its error is at most
1 % of the mean size of the attributions. Its time is that of the first number of coalitions that
suffices, or of the largest one that was tried, 8192, which is then a lower bound. Ours is that of
a row in a call of 64; calls of one row are beside it, and how many times as fast these are.
"""

import sys
import time
from pathlib import Path

import numpy as np

from sklearn_okl import FourierFeatures, RunningStandardScaler, VAWRegressor
from sklearn_okl import make_streaming_pipeline as pipeline
from sklearn_okl.inspection import explain

from ._report import RESULTS, print_environment, print_saved, table

COLUMNS = 5, 10, 20, 40
WIDE = 10  # from so many columns on the bar holds
BAR = 100.0  # times as fast
ERROR = 0.01
_BACKGROUND = 32
_TOGETHER = 64  # rows of a call of ours
_ALONE = 16  # calls of one row
_MOST = 1 << 13  # coalitions tried


def run(output=RESULTS, *, n_rows=2, quick=False):
    """Time both on rows of models of more and more columns; return the exit status."""
    try:
        import shap
    except ImportError:
        print("This job needs shap: python -m pip install shap", file=sys.stderr)
        return 2
    where, found = print_environment(), {}
    for d in COLUMNS[:1] if quick else COLUMNS:
        found[str(d)] = on_columns(d, n_rows, shap, 1 << 8 if quick else _MOST)
        print(f"{d} columns done", flush=True)
    print(_table(found))
    print_saved(Path(output) / "explain.json", {"environment": where, **found})
    slow = [d for d, one in found.items() if int(d) >= WIDE and one["times"] < BAR]
    return int(bool(slow))


def _table(found):
    lines = [
        [
            d,
            f"{1e3 * one['seconds']:.2f}",
            f"{1e3 * one['alone']:.2f}",
            f"{one['rounding']:.1e}",
            f"{1e3 * one['theirs']:.0f}",
            str(one["coalitions"]),
            f"{100.0 * one['error']:.2f} %",
            f"{one['times']:.0f}",
            f"{one['theirs'] / one['alone']:.0f}",
        ]
        for d, one in found.items()
    ]
    heads = [
        "d",
        "exact, ms a row of 64",
        "alone",
        "off by",
        "KernelSHAP, ms",
        "coalitions",
        "error",
        "times",
        "alone",
    ]
    return table(heads, lines)


def on_columns(d, n_rows, shap, most):
    """Return the times a row of both, how far they are apart, and how many coalitions it took."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(1000, d))
    y = np.sin(X[:, 0] * X[:, 1]) + X[:, 2] * X[:, 3] + 0.1 * rng.normal(size=1000)
    features = FourierFeatures(gamma=1.0 / d, n_components=100, random_state=0)
    model = pipeline(RunningStandardScaler(), features, VAWRegressor(forecaster="ridge")).fit(X, y)
    rows, background = X[:n_rows], X[-_BACKGROUND:]
    explain(model, rows, background)  # imports and caches
    clock = time.process_time()
    for i in range(_ALONE):
        explain(model, X[i : i + 1], background)
    alone = (time.process_time() - clock) / _ALONE
    clock = time.process_time()
    exact = explain(model, X[:_TOGETHER], background)
    seconds = (time.process_time() - clock) / _TOGETHER
    exact_values = exact.values[:n_rows]
    explainer = shap.KernelExplainer(model.predict, background)
    size, coalitions, error = np.abs(exact_values).mean(), 64, np.inf
    while True:
        clock = time.process_time()
        values = explainer.shap_values(rows, nsamples=coalitions, l1_reg=0, silent=True)
        theirs = (time.process_time() - clock) / n_rows
        error = float(np.abs(values - exact_values).mean() / size)
        if error <= ERROR or coalitions >= most:
            break
        coalitions *= 2
    return {
        "seconds": seconds,
        "alone": alone,
        "rounding": float(np.abs(exact.forecasts - model.predict(X[:_TOGETHER])).max()),
        "theirs": theirs,
        "coalitions": coalitions,
        "error": error,
        "times": theirs / seconds,
    }
