"""Whole files with columns of all kinds: none is refused, and what both budgets lose on them.

The last column is the target, of numbers or of classes; columns of text are categories, and empty
cells are gaps. Rows are learnt in the order of the file, in calls of some hundred.
"""

import time

import numpy as np
from sklearn.utils import gen_batches

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor

from ._progress import progress
from ._report import RESULTS, data_path, print_environment, print_saved, streams_at_hand, table

DATA = (
    *("table_chicago", "table_nmes_visits", "table_check_times", "table_gss_wages"),
    *("table_rain_innsbruck", "table_flights_delay"),
    *("class_churn", "class_hpc", "class_satellite", "class_lending"),
)
BUDGETS = ("fast", "balanced")
WARM_UP = 100  # first rows, which are not scored
EARLY = 4000  # rows of which a figure is printed beside that of the whole file
_CALL = 500
_FLOOR = 1e-7  # of a probability


def run(data=DATA, output=RESULTS, *, n_rows=None, quick=False):
    """Learn each file with both budgets, print and save the figures; 1 if one was refused."""
    n_rows = min(n_rows or 300, 300) if quick else n_rows
    available = streams_at_hand(data, load_frame)
    if not available:
        return 1
    where, found = print_environment(), {}
    with progress(2 * len(available), "run") as advance:
        for name, (X, y) in available.items():
            for budget in BUDGETS:
                found[name, budget] = learnt(X[:n_rows], y[:n_rows], budget)
                advance(1, name)
    rows = [[name, budget, *_cells(figures)] for (name, budget), figures in found.items()]
    header = ["", "budget", "rows", f"to row {EARLY}", "whole", "errors", "ms a row", "refused"]
    print("\n" + table(header, rows))
    print(
        f"From row {WARM_UP} on: of numbers squared error over variance, of classes log loss and "
        "the\nshare of wrong labels. Processor time."
    )
    lines = [
        {"data": name, "budget": budget, **figures} for (name, budget), figures in found.items()
    ]
    print_saved(output / "kinds.json", {"environment": where, "lines": lines})
    return int(any(figures["refused"] for figures in found.values()))


def load_frame(name):
    """Return the columns and the target of a file, text as categories and labels as they are."""
    path = data_path(name)
    import pandas as pd

    frame = pd.read_csv(path)
    y = frame.pop(frame.columns[-1])
    return frame, y.to_numpy(dtype=np.float64 if pd.api.types.is_numeric_dtype(y) else str)


def learnt(X, y, budget):
    """Return what a budget loses on a stream, and in what words it was refused, if it was."""
    is_classes = y.dtype.kind == "U"
    class_ = OnlineKernelClassifier if is_classes else OnlineKernelRegressor
    model, losses, wrong, start = class_(budget=budget, random_state=0), [], [], time.process_time()
    first = {"classes": np.unique(y)} if is_classes else {}
    model.partial_fit(X[:1], y[:1], **first)
    found = {"rows": len(y), "refused": ""}
    for rows in gen_batches(len(y) - 1, _CALL):
        part = slice(1 + rows.start, 1 + rows.stop)
        try:
            if is_classes:
                probabilities = model.prequential_predict_proba(X[part], y[part])
                places = np.searchsorted(model.classes_, y[part])
                said = probabilities[np.arange(len(places)), places]
                losses.extend(-np.log(np.maximum(said, _FLOOR)))
                wrong.extend(probabilities.argmax(axis=1) != places)
            else:
                losses.extend((model.prequential_predict(X[part], y[part]) - y[part]) ** 2)
        except ValueError as error:
            found["refused"] = f"row {part.start}: {error}"
            break
    found["ms"] = 1e3 * (time.process_time() - start) / max(len(losses), 1)
    for figure, last in (("early", EARLY), ("whole", None)):
        scored = slice(WARM_UP, last)
        scores, known = losses[scored], y[1 : 1 + len(losses)][scored]
        unit = 1.0 if is_classes or not scores else np.var(known)
        found[figure] = float(np.mean(scores) / unit) if scores else np.nan
    found["errors"] = float(np.mean(wrong[WARM_UP:])) if wrong[WARM_UP:] else None
    return found


def _cells(figures):
    scores = [f"{figures[name]:.3f}" for name in ("early", "whole")]
    errors = "" if figures["errors"] is None else f"{figures['errors']:.3f}"
    return str(figures["rows"]), *scores, errors, f"{figures['ms']:.2f}", figures["refused"][:60]
