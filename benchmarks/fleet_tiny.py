"""A model a key that is small: rows a second, bytes, and what it loses over budget="fast"."""

import pickle
import time
from functools import partial

import numpy as np

from sklearn_okl import (
    KeyedRegressor,
    OnlineKernelRegressor,
    RowRegressor,
    from_bytes,
    to_bytes,
)
from sklearn_okl.datasets import load_dataset, make_friedman_stream

from ._report import streams_at_hand, table

# named before anything was measured on them: twelve sets of numbers, in the order of their files
DATA = (
    *("airfoil", "concrete", "bias", "naval", "elevators", "ailerons", "bank32nh", "calhousing"),
    *("casp", "arena_bike", "arena_fried", "arena_metro_traffic"),
)
N_ROWS = 4000  # the first ones of each
MOST_IN_MEAN, MOST = 1.25, 1.6  # squared errors over those of "fast"
BYTES = {16: 20_000, 40: 32_000}  # by number of inputs: of `to_bytes` in float32
MILLISECONDS = 0.6  # of a row as a dict of eight fields, to forecast and to learn
RATE = 25_000  # rows a second of many keys, in mixed batches of as many rows as there are keys
OLD = 40, 104  # rows of a key before that is measured, from and to
N_FEATURES = 16


def report(data=DATA, n_rows=N_ROWS, n_timed=300, n_keys=10_000, n_rounds=5):
    """Print sizes, a row's time, and errors, those that miss their bars first; return them."""
    sizes = {d: size_of(d, n_rows) for d in BYTES}
    rates = rates_of_many(n_keys, n_rounds)
    print(
        f"\n{n_keys} keys of {N_FEATURES} features, batches of as many rows: "
        f"{rates['uniform']:.0f} rows/s, Zipf {rates['Zipf']:.0f} (bar {RATE}); "
        f"forecasts alone {rates['forecasts']:.0f}; the first models alone: {rates['alone']:.0f}."
    )
    packed = loss_of_float32(n_rows=min(n_rows, 2000))
    rows = [
        [f"{d}", *(f"{size}" for size in sizes[d].values()), f"{BYTES[d]}", _verdict(sizes[d], d)]
        for d in sorted(BYTES, key=lambda d: sizes[d]["float32"] / BYTES[d], reverse=True)
    ]
    print("\n" + table(["inputs", *next(iter(sizes.values())), "bar of float32", ""], rows))
    milliseconds = milliseconds_of_a_row(n_timed)
    print(f"\nA row of 8 fields, forecast and learnt: {milliseconds:.2f} ms (bar {MILLISECONDS}).")
    print(f"Squared error after a packing to float32, over that without: {packed:.6f}.")
    found = errors(data, n_rows)
    rows = [
        [name, f"{fast:.4g}", f"{tiny / fast:.3f}", "holds" if tiny <= MOST * fast else "missed"]
        for name, (fast, tiny) in sorted(found.items(), key=lambda item: item[1][0] / item[1][1])
    ]
    mean = None
    if found:
        print("\n" + table(["set", "fast", "tiny over fast", f"bar {MOST}"], rows))
        mean = float(np.exp(np.mean([np.log(tiny / fast) for fast, tiny in found.values()])))
        print(f"Geometric mean {mean:.3f} (bar {MOST_IN_MEAN}).")
    kept = {"rates": rates, "sizes": sizes, "float32": packed, "errors": found, "mean": mean}
    return kept | {"milliseconds": milliseconds}


def size_of(n_inputs, n_rows):
    """Return the bytes of a model at rest: its arrays, and what it is packed to."""
    X, y = _stream(n_inputs, n_rows)
    model = OnlineKernelRegressor(budget="tiny", random_state=0).fit(X, y)
    return {
        "arrays": n_bytes(vars(model)),
        "pickle": len(pickle.dumps(model)),
        "float64": len(to_bytes(model)),
        "float32": len(to_bytes(model, dtype="float32")),
    }


def loss_of_float32(n_inputs=16, n_rows=2000):
    """Return the squared error of a model that was packed in the middle, over one that was not."""
    X, y = _stream(n_inputs, n_rows)
    half = n_rows // 2
    model = OnlineKernelRegressor(budget="tiny", random_state=0).fit(X[:half], y[:half])
    packed = from_bytes(to_bytes(model, dtype="float32"))
    squares = [
        np.square(one.prequential_predict(X[half:], y[half:]) - y[half:]).mean()
        for one in (packed, model)
    ]
    return float(squares[0] / squares[1])


def milliseconds_of_a_row(n_rows=300):
    """Return the processor time of a row of eight fields, forecast and learnt."""
    X, y = _stream(8, n_rows + 100)
    rows = [dict(zip("abcdefgh", x, strict=True)) for x in X.tolist()]
    model = RowRegressor(OnlineKernelRegressor(budget="tiny", random_state=0))
    for i in range(100):
        model.learn_one(rows[i], y[i])
    start = time.process_time()
    for i in range(100, len(y)):
        model.predict_one(rows[i])
        model.learn_one(rows[i], y[i])
    return 1e3 * (time.process_time() - start) / n_rows


def rates_of_many(n_keys, n_rounds):
    """Return rows a second of processor time, the medians of some mixed batches.

    Keys come equally often, or by Zipf's law. And those of some of the models, each by itself.
    """
    rng, names = np.random.default_rng(0), ("uniform", "Zipf", "forecasts", "alone")
    rates = {name: [] for name in names}
    model = _of_keys(rng, n_keys)
    zipf = 1.0 / np.arange(1, n_keys + 1)
    models = [model.model_of(key) for key in range(min(n_keys, 100))]
    for _ in range(n_rounds):
        for name, shares in (("uniform", None), ("Zipf", zipf / zipf.sum())):
            keys = rng.choice(n_keys, size=n_keys, p=shares)
            learn = partial(model.prequential_predict, *_rows(rng, n_keys), keys=keys)
            rates[name].append(n_keys / _seconds(learn))
        ask = partial(model.predict, _rows(rng, n_keys)[0], keys=rng.permutation(n_keys))
        rates["forecasts"].append(n_keys / _seconds(ask))
        rows = [part[:, None] for part in _rows(rng, len(models))]
        of_each = list(zip(models, *rows, strict=True))
        seconds = _seconds(lambda: [one.prequential_predict(x, y) for one, x, y in of_each])  # noqa: B023
        rates["alone"].append(len(models) / seconds)
    return {name: float(np.median(some)) for name, some in rates.items()}


def _of_keys(rng, n_keys):
    """Return a model of keys that have had different numbers of rows."""
    model = KeyedRegressor(OnlineKernelRegressor(budget="tiny", random_state=0), prior=None)
    for low in range(0, n_keys, 200):
        some = np.arange(low, min(low + 200, n_keys))
        keys = np.repeat(some, rng.integers(*OLD, len(some)))
        model.partial_fit(*_rows(rng, len(keys)), keys=keys)
    return model


def _rows(rng, n):
    X = rng.normal(size=(n, N_FEATURES))
    return X, X[:, 0] + np.abs(X[:, 1]) + 0.1 * rng.normal(size=n)


def _seconds(call):
    start = time.process_time()
    call()
    return max(time.process_time() - start, 1e-9)


def errors(data, n_rows):
    """Return mean squared errors by set, of "fast" and of "tiny"; leave out sets not found."""
    found = {}
    streams = streams_at_hand(data, partial(load_dataset, return_X_y=True)) if data else {}
    for name, (X, y) in streams.items():
        X, y = np.asarray(X)[:n_rows], np.asarray(y)[:n_rows]
        found[name] = [
            float(np.square(model.prequential_predict(X, y) - y)[1:].mean())
            for model in (
                OnlineKernelRegressor(budget=budget, random_state=0) for budget in ("fast", "tiny")
            )
        ]
    return found


def n_bytes(part):
    """Return how many bytes the arrays have that hang together."""
    if isinstance(part, np.ndarray):
        return part.nbytes
    if isinstance(part, dict):
        return sum(map(n_bytes, part.values()))
    if isinstance(part, (list, tuple)):
        return sum(map(n_bytes, part))
    return n_bytes(vars(part)) if hasattr(part, "__dict__") else 0


def _stream(n_inputs, n_rows):
    X, y = make_friedman_stream(n_rows, random_state=0)
    more = np.random.default_rng(0).normal(size=(len(X), max(n_inputs - X.shape[1], 0)))
    return np.hstack([X, more])[:, :n_inputs], y


def _verdict(sizes, d):
    return "holds" if sizes["float32"] <= BYTES[d] else "missed"
