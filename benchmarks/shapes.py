"""Made shapes that trees are good at: timetables, products of signs, clipped and rounded targets.

The rival is gradient boosting, fitted anew whenever the past has grown by a tenth. Needs no
download.
"""

import time
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.datasets import make_timetable

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, table

BUDGETS = ("fast", "balanced")
N_ROWS, FIRST = 3000, 300  # rows of a stream, and from which on they count
GROWTH = 1.1
BARS = {"timetables": {"fast": 1.1, "balanced": 1.1}, "others": {"fast": 1.5, "balanced": 1.2}}
CLASS_BARS = {"balanced": 1.1}
_FLOOR = 1e-7  # of a probability
_CUT = 30.0  # target from which on a row of a timetable is of the second class
_AT_RANDOM = 0.05  # share of labels: where all are certain, log losses are of digits


class Shape(NamedTuple):
    """A made stream: what makes it of a number of rows and a seed, its bars, whether of classes."""

    make: object
    kind: str
    is_classes: bool = False


def run(output=RESULTS, *, n_seeds=3, n_rows=N_ROWS, only="", quick=False):
    """Learn each shape with each budget; print those that miss their bars first, and save all."""
    first = FIRST
    if quick:
        n_seeds, n_rows, first = 1, min(n_rows, 150), 100
    chosen = {name: shape for name, shape in shapes().items() if only in name}
    if not chosen:
        raise SystemExit(f"No shape's name contains {only!r}. There are: {', '.join(shapes())}.")
    where, lines = print_environment(), []
    with progress(len(chosen) * n_seeds, "run") as advance:
        for name, shape in chosen.items():
            runs = []
            for seed in range(n_seeds):
                runs.append(ratios(shape, n_rows, first, seed))
                advance(1, name)
            lines += summed_up(name, shape, runs)
    lines.sort(key=lambda line: -line["ratio"] / (line["bar"] or np.inf))
    header = ["", "budget", "ratio", "worst seed", "bar", "", "ms a row"]
    print("\n" + table(header, [_cells(line) for line in lines]))
    print(
        f"From row {first} on: squared error, of classes log loss, over that of boosting refitted."
    )
    print("Geometric means over the seeds. Processor time.")
    print_saved(output / "shapes.json", {"environment": where, "lines": lines})
    return 0


def shapes():
    """Return the shapes by name."""
    found = {}
    for order in ("random", "time"):
        for n, holidays in ((1, 0.0), (2, 0.0), (3, 0.0), (2, 0.05)):
            kwargs = {"n_columns": n, "holidays": holidays, "order": order}
            make = partial(_timetable, **kwargs)
            name = f"timetable of {n}{', holidays' if holidays else ''}, {order} order"
            found[name] = Shape(make, "timetables")
    found["classes of a timetable of 2"] = Shape(_classes, "timetables", is_classes=True)
    found["timetable of 2 and a wave"] = Shape(_timetable_and_wave, "others")
    found["classes of a sign product"] = Shape(_classes_of_signs, "others", is_classes=True)
    for kind in ("sign product", "clipped", "rounded", "step"):
        found[kind] = Shape(partial(_of_numbers, kind=kind), "others")
    return found


def _timetable(n, seed, **kwargs):
    return make_timetable(n, random_state=seed, **kwargs)


def _classes(n, seed):
    X, y = make_timetable(n, random_state=seed)
    return X, _in_part_at_random(y > _CUT, seed)


def _classes_of_signs(n, seed):
    X, _ = _of_numbers(n, seed, "sign product")
    return X, _in_part_at_random(X[:, 0] * X[:, 1] > 0.0, seed)


def _in_part_at_random(labels, seed):
    rng, n = np.random.RandomState(seed), len(labels)
    is_random = rng.uniform(size=n) < _AT_RANDOM
    return np.where(is_random, rng.randint(2, size=n), labels).astype(int)


def _timetable_and_wave(n, seed):
    X, y = make_timetable(n, random_state=seed)
    x = np.random.RandomState(seed).standard_normal(n)
    return np.column_stack([X, x]), y + 5.0 * np.sin(x)


def _of_numbers(n, seed, kind):
    rng = np.random.RandomState(seed)
    X, noise = rng.standard_normal((n, 4)), rng.standard_normal(n)
    line = X @ [1.0, -1.0, 0.5, 0.0]
    y = {
        "sign product": np.sign(X[:, 0] * X[:, 1]) + 0.2 * noise,
        "clipped": np.clip(0.5 + 0.5 * line + 0.1 * noise, 0.0, 1.0),
        "rounded": np.round(line + 0.1 * noise),
        "step": (X[:, 0] > 0.3) + 0.2 * noise,
    }[kind]
    return X, y


def ratios(shape, n_rows, first, seed):
    """Return by budget the loss over the rival's, and milliseconds a row."""
    X, y = shape.make(n_rows, seed)
    rival = np.mean(losses(boosted(X, y, first, shape.is_classes), y[first:]))
    found = {}
    for budget in BUDGETS:
        start = time.process_time()
        ours = np.mean(losses(learnt(X, y, budget, shape.is_classes)[first:], y[first:]))
        found[budget] = float(ours / rival), 1e3 * (time.process_time() - start) / n_rows
    return found


def boosted(X, y, first, is_classes):
    """Return what boosting forecasts from a row on, fitted anew as the past grows."""
    class_ = HistGradientBoostingClassifier if is_classes else HistGradientBoostingRegressor
    parts, low = [], first
    while low < len(y):
        high = min(len(y), max(int(GROWTH * low), low + 1))
        model = class_(random_state=0).fit(X[:low], y[:low])
        ask = model.predict_proba if is_classes else model.predict
        parts.append(ask(X[low:high]))
        low = high
    return np.concatenate(parts)


def learnt(X, y, budget, is_classes):
    """Return what a budget forecasts on the way; of the first row nothing."""
    if not is_classes:
        return OnlineKernelRegressor(budget=budget, random_state=0).prequential_predict(X, y)
    model = OnlineKernelClassifier(budget=budget, random_state=0)
    model.partial_fit(X[:1], y[:1], classes=[0, 1])
    P = model.prequential_predict_proba(X[1:], y[1:])
    return np.concatenate([np.full((1, 2), 0.5), P])


def losses(forecasts, y):
    """Return squared errors, or the log loss of probabilities (n, 2) of places y."""
    if forecasts.ndim == 1:
        return np.square(forecasts - y)
    return -np.log(np.maximum(forecasts[np.arange(len(y)), y], _FLOOR))


def summed_up(name, shape, runs):
    """Return a line for each budget."""
    bars = CLASS_BARS if shape.is_classes else BARS[shape.kind]
    lines = []
    for budget in BUDGETS:
        found = [one[budget][0] for one in runs]
        lines.append(
            {
                "shape": name,
                "budget": budget,
                "ratio": float(np.exp(np.mean(np.log(found)))),
                "worst": max(found),
                "bar": bars.get(budget),
                "ms": float(np.mean([one[budget][1] for one in runs])),
            }
        )
    return lines


def _cells(line):
    bar, ratio = line["bar"], line["ratio"]
    verdict = "missed" if bar is not None and ratio > bar else ""
    figures = f"{ratio:.3f}", f"{line['worst']:.3f}", "" if bar is None else f"{bar:.1f}"
    return [line["shape"], line["budget"], *figures, verdict, f"{line['ms']:.2f}"]
