"""Long streams that change: the estimators without tuning beside published figures.

Friedman's stream with the three drifts of the literature, and a hyperplane that turns. Needs no
download; the published figures are those of SOKNL on streams of these kinds and lengths. Where
CapyMOA is installed its learners run over the same rows.
"""

import sys
import time
from importlib import import_module

import numpy as np

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_friedman_drift, make_rotating_hyperplane

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, table

# stream -> RMSE of SOKNL as published, and of the budget "balanced" of this package at b4538c5
PUBLISHED = {"recurring": (2.12, 1.53), "gradual": (2.16, 1.70), "local": (2.25, 2.01)}
BAR = 0.97  # of the latter
HYPERPLANE = "hyperplane"
_NOISE = {HYPERPLANE: 0.1}  # standard deviation of the noise; Friedman's is 1
_CHUNK = 1000  # rows a call
RIVALS = ("SOKNL", "AdaptiveRandomForestRegressor", "FIMTDD")  # of CapyMOA, in Java


def run(
    output=RESULTS,
    *,
    kinds=(*PUBLISHED, HYPERPLANE),
    budgets=("fast", "balanced"),
    n_rows=100_000,
    seed=0,
    peers=False,
    quick=False,
):
    """Run the budgets over the streams; print those lines first that are the worst of their bar."""
    n_rows = min(n_rows, 1000) if quick else n_rows
    where, lines, rivals = print_environment(), [], _rivals() if peers else {}
    with progress(len(kinds) * (len(budgets) + len(rivals)) * n_rows, "rows") as advance:
        for kind in kinds:
            X, y = _stream(kind, n_rows, seed)
            for budget in budgets:
                model = OnlineKernelRegressor(budget=budget, random_state=seed)
                learn = model.prequential_predict
                lines.append(_line(kind, budget, learn, X, y, advance))
            for name, make in rivals.items():
                lines.append(_line(kind, name, _row_by_row(make, X, y), X, y, advance))
    lines.sort(key=lambda line: -line["rmse"] / line["noise"])
    print("\nRoot mean squared errors, each row forecast before it is learnt; the worst first")
    rows = [
        [
            line["stream"],
            line["budget"],
            f"{line['n_rows']}",
            f"{line['rmse']:.3f}",
            f"{line['noise']:g}",
            "-" if line["soknl"] is None else f"{line['soknl']:.2f}",
            "-" if line["bar"] is None else f"{line['bar']:.3f}",
            "" if line["bar"] is None or line["rmse"] <= line["bar"] else "above it",
            f"{line['ms_a_row']:.2f}",
        ]
        for line in lines
    ]
    head = ["stream", "budget or rival", "rows", "RMSE", "noise", "SOKNL", "bar", "", "ms a row"]
    print(table(head, rows))
    print(
        f"SOKNL: as published, on streams of 100 000 rows. The bar is {BAR} of what 'balanced' had "
        "at b4538c5. The published hyperplane (SOKNL: 1.88) has another scale than ours, whose "
        "targets have a standard deviation of .58. Who knows the functions of the gradual stream, "
        "and when they change, but not which of two a row is of, has 1.51 on its 100 000 rows."
    )
    print_saved(output / "drifts.json", {"environment": where, "lines": lines})
    return 0


def _stream(kind, n_rows, seed):
    if kind == HYPERPLANE:
        return make_rotating_hyperplane(n_rows, random_state=seed)
    return make_friedman_drift(n_rows, drift=kind, random_state=seed)


def _rivals():
    """Return classes of learners by name, none where CapyMOA is not there."""
    try:
        known = import_module("capymoa.regressor")
    except ImportError:
        print("CapyMOA is left out: pip install capymoa, and a Java runtime", file=sys.stderr)
        return {}
    return {name: getattr(known, name) for name in RIVALS}


def _row_by_row(make, X, y):
    """Return a function that lets a learner forecast and learn the next rows, as CapyMOA does."""
    stream = import_module("capymoa.stream").NumpyStream(X, y, target_type="numeric")
    learner = make(schema=stream.get_schema())

    def learn(X, y):
        forecasts = np.zeros(len(y))
        for i in range(len(y)):
            row = stream.next_instance()
            forecasts[i] = learner.predict(row) or 0.0  # None before the first
            learner.train(row)
        return forecasts

    return learn


def _line(kind, name, learn, X, y, advance):
    sum_sq, seconds = 0.0, time.perf_counter()
    for start in range(0, len(y), _CHUNK):
        rows = slice(start, start + _CHUNK)
        sum_sq += float(np.square(learn(X[rows], y[rows]) - y[rows]).sum())
        advance(len(y[rows]), f"{kind}, {name}")
    soknl, before = PUBLISHED.get(kind, (None, None))
    return {
        "stream": kind,
        "budget": name,
        "n_rows": len(y),
        "rmse": (sum_sq / len(y)) ** 0.5,
        "noise": _NOISE.get(kind, 1.0),
        "soknl": soknl,
        "bar": None if before is None else BAR * before,
        "ms_a_row": 1e3 * (time.perf_counter() - seconds) / len(y),
    }
