"""One model a key: rows a second of processor time, memory a key, seconds of a checkpoint."""

import importlib.util
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    FourierFeatures,
    KeyedRegressor,
    RowRegressor,
    RunningStandardScaler,
    Store,
    VAWRegressor,
    make_streaming_pipeline,
)

from . import fleet_kin, fleet_soak, fleet_tiny
from ._report import RESULTS, print_environment, print_saved, table

N_FEATURES = 32
N_OLD = 40  # rows of a key before anything is measured: more than a bank keeps
# rows a second that each line is to reach on a machine of its own; of 10 000 keys and batches
BARS = {
    "bank of VAWs, uniform": 200_000,
    "bank of VAWs, Zipf": 150_000,
    "scaler, map and VAW, keys of text": 90_000,
    "bank of VAWs, singly": 10_000,
}


def run(
    output=RESULTS,
    *,
    n_keys=10_000,
    n_rows=10_000,
    n_rounds=5,
    n_soak=10**6,
    tiny=False,
    kin=False,
    quick=False,
):
    """Measure all lines, print those that miss their bars first, and return the exit status."""
    where = print_environment()
    if tiny:
        found = fleet_tiny.report(*(((), 100, 5, 60, 2) if quick else ()))
        print_saved(output / "fleet_tiny.json", {"environment": where, **found})
        return 0
    if kin:
        found = fleet_kin.report(*((20,) if quick else ()))
        print_saved(output / "fleet_kin.json", {"environment": where, "ratios": found})
        return 0
    if quick:
        n_keys, n_rows, n_rounds, n_soak = 60, 200, 2, 300
    rng = np.random.default_rng(0)
    lines = [*speeds(rng, n_keys, n_rows, n_rounds)]
    lines.sort(key=lambda line: line["rate"] / (line["bar"] or np.inf))
    lines.sort(key=lambda line: line["bar"] is None or line["rate"] >= line["bar"])
    header = [f"keys, rows a batch: {n_keys}, {n_rows}", "rows/s", "bar", "", "to plain NumPy"]
    print("\n" + table(header, [_cells(line) for line in lines]))
    kept = {"memory": memory(rng, n_keys), "checkpoint": checkpoints(rng, n_keys)}
    print(f"\nBytes a key: {kept['memory']:.0f}.")
    print(
        "Seconds of processor time: "
        + ", ".join(f"{what} {seconds:.2f}" for what, seconds in kept["checkpoint"].items())
    )
    kept["soak"] = fleet_soak.soak(n_soak, min(1000, n_soak // 4)) if n_soak else None
    if n_soak:
        print(f"{n_soak} single rows, labels late, lost and doubled: {kept['soak']}")
    print_saved(output / "fleet.json", {"environment": where, "lines": lines, **kept})
    return 0 if kept["soak"] is None or kept["soak"]["right"] else 1


def speeds(rng, n_keys, n_rows, n_rounds):
    """Yield the lines: rows a second of processor time, the median of some batches."""
    zipf = 1.0 / np.arange(1, n_keys + 1)
    zipf /= zipf.sum()
    behind = make_streaming_pipeline(
        RunningStandardScaler(),
        FourierFeatures(n_components=N_FEATURES, gamma=0.05, random_state=0),
        VAWRegressor(),
    )
    cases = [
        ("bank of VAWs, uniform", KeyedRegressor(VAWRegressor(), prior=None), None, False),
        ("bank of VAWs, Zipf", KeyedRegressor(VAWRegressor(), prior=None), zipf, False),
        ("bank of VAWs, pooled prior", KeyedRegressor(VAWRegressor()), None, False),
        ("scaler, map and VAW, keys of text", KeyedRegressor(behind, prior=None), None, True),
    ]
    for name, model, shares, text in cases:
        warm(rng, model, n_keys, text)
        plain, rates, ratios = Plain(n_keys), [], []
        for _ in range(n_rounds):  # in turns, so that what else the machine does is in both
            numbers, X, y = batch(rng, n_keys, n_rows, shares)
            keys = names(numbers, text)
            rates.append(n_rows / seconds(lambda: model.prequential_predict(X, y, keys=keys)))  # noqa: B023
            ratios.append(rates[-1] * seconds(lambda: plain.learn(numbers, X, y)) / n_rows)  # noqa: B023
        yield line(name, rates) | {"ratio": float(np.median(ratios))}
        if name == "bank of VAWs, uniform":
            yield line("bank of VAWs, singly", singly(rng, model, n_keys, n_rounds))
            yield line("the same by RowRegressor, 8 fields", by_dicts(rng, n_keys, n_rounds))
    yield from rivals(rng, n_keys, n_rows)


class Plain:
    """VAWs of all keys by a leading axis, in place and unchecked: what one would write by hand."""

    def __init__(self, n_keys):
        self.P = np.tile(np.eye(N_FEATURES), (n_keys, 1, 1))
        self.theta = np.zeros((n_keys, N_FEATURES))

    def learn(self, keys, X, y, size=128):
        """Learn rows, and return the forecasts made on the way."""
        forecasts, order = np.empty(len(y)), np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
        turns = np.arange(len(y)) - np.repeat(starts, np.diff(starts, append=len(y)))
        for turn in range(turns.max() + 1):
            rows = order[turns == turn]
            for some in np.split(rows, range(size, len(rows), size)):
                mine, Z = keys[some], X[some]
                P, theta = self.P[mine], self.theta[mine]
                u = np.matmul(P, Z[:, :, None])[:, :, 0]
                gains = 1.0 + np.einsum("ij,ij->i", Z, u)
                ridge = np.einsum("ij,ij->i", Z, theta)
                forecasts[some] = ridge / gains
                self.P[mine] = P - (u / gains[:, None])[:, :, None] * u[:, None, :]
                self.theta[mine] = theta + u * ((y[some] - ridge) / gains)[:, None]
        return forecasts


def rivals(rng, n_keys, n_rows):
    """Yield the lines of what people write: a dict of models, and a call for each key present."""
    n_rows = min(n_rows, 1000)  # of a dict of models a thousand rows say it all
    for name, make in (("SGDRegressor", SGDRegressor), ("VAWRegressor", VAWRegressor)):
        models = {}
        keys, X, y = batch(rng, n_keys, n_rows)

        def grouped(models=models, make=make, keys=keys, X=X, y=y):
            for key in np.unique(keys).tolist():
                mine = keys == key
                models.setdefault(key, make()).partial_fit(X[mine], y[mine])

        def in_order(models=models, make=make, keys=keys, X=X, y=y):
            for key, x, target in zip(keys.tolist(), X, y, strict=True):
                models.setdefault(key, make()).partial_fit(x[None], target[None])

        yield line(f"dict of {name}, grouped", [n_rows / seconds(grouped)])
        yield line(f"dict of {name}, singly", [n_rows / seconds(in_order)])
    if importlib.util.find_spec("river"):
        yield line("dict of River's LinearRegression, singly", [by_river(rng, n_keys, n_rows)])


def by_river(rng, n_keys, n_rows):
    """Return the rate of River's linear models, a dict of them: predict_one and learn_one."""
    from river.linear_model import LinearRegression

    keys, X, y = batch(rng, n_keys, n_rows)
    rows, models = [dict(enumerate(x)) for x in X.tolist()], {}

    def learn():
        for key, x, target in zip(keys.tolist(), rows, y.tolist(), strict=True):
            model = models.setdefault(key, LinearRegression())
            model.predict_one(x)
            model.learn_one(x, target)

    return n_rows / seconds(learn)


def singly(rng, model, n_keys, n_rounds):
    """Return the rates of calls of one row: predict, and learn."""
    rates = []
    for _ in range(n_rounds):
        keys, X, y = batch(rng, n_keys, 100)

        def learn(keys=keys, X=X, y=y):
            for i in range(len(y)):
                rows = slice(i, i + 1)
                model.prequential_predict(X[rows], y[rows], keys=keys[rows])

        rates.append(100 / seconds(learn))
    return rates


def by_dicts(rng, n_keys, n_rounds):
    """Return the rates of rows as dicts of eight fields: predict_one, and learn_one."""
    model, rates = RowRegressor(KeyedRegressor(VAWRegressor(), key="key", prior=None)), []
    for _ in range(n_rounds):
        keys, X, y = batch(rng, n_keys, 50)
        rows = [
            {"key": key, **{f"x{j}": value for j, value in enumerate(x[:8])}}
            for key, x in zip(keys.tolist(), X.tolist(), strict=True)
        ]

        def learn(rows=rows, y=y):
            for x, target in zip(rows, y, strict=True):
                model.predict_one(x)
                model.learn_one(x, target)

        rates.append(50 / seconds(learn))
    return rates


def memory(rng, n_keys):
    """Return the bytes a key of a bank at rest."""
    model = KeyedRegressor(VAWRegressor(), prior=None)
    warm(rng, model, n_keys)
    entries = model._state["entries"]
    held = {id(part): part for place in entries.occupied() for part in entries.one(place)[2:]}
    objects = sum(sys.getsizeof(part) for part in held.values())
    return (objects + 250 * n_keys) / n_keys  # 250: its place, its name and its columns


def checkpoints(rng, n_keys):
    """Return the seconds of a first commit, of one with 50 keys changed, and of a load."""
    model = KeyedRegressor(VAWRegressor(), prior=None)
    warm(rng, model, n_keys)
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "fleet.db") as store:
        found = {"commit of all keys": seconds(lambda: store.commit(model, 0))}
        _, X, y = batch(rng, n_keys, 50)
        model.partial_fit(X, y, keys=np.arange(50))
        found["commit of 50 keys"] = seconds(lambda: store.commit(model, 1))
        found["load"] = seconds(store.load)
    return found


def warm(rng, model, n_keys, text=False):
    """Teach each key some rows."""
    for low in range(0, n_keys, 200):
        some = np.arange(low, min(low + 200, n_keys))
        _, X, y = batch(rng, n_keys, N_OLD * len(some))
        model.partial_fit(X, y, keys=names(np.tile(some, N_OLD), text))


def batch(rng, n_keys, n_rows, shares=None, text=False):
    """Return keys, rows and targets of a mixed batch."""
    X = rng.normal(size=(n_rows, N_FEATURES))
    keys = rng.choice(n_keys, size=n_rows, p=shares)
    return names(keys, text), X, X[:, 0] + 0.1 * rng.normal(size=n_rows)


def names(keys, text):
    """Return keys as numbers, or as text."""
    return [f"device-{key}" for key in keys.tolist()] if text else keys


def seconds(call):
    """Return the processor time of a call."""
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-9)


def line(name, rates):
    """Return a line of the table."""
    return {"name": name, "rate": float(np.median(rates)), "bar": BARS.get(name)}


def _cells(line):
    bar, rate = line["bar"], line["rate"]
    verdict = "" if bar is None else "holds" if rate >= bar else "missed"
    ratio = f"{line['ratio']:.2f}" if "ratio" in line else ""
    return [line["name"], f"{rate:.0f}", "" if bar is None else f"{bar}", verdict, ratio]
