"""The estimator without tuning under drift, and how often its intervals hold the target."""

import numpy as np
from threadpoolctl import threadpool_limits

from sklearn_okl import OnlineKernelRegressor, VAW2Regressor
from sklearn_okl.base._bank import learn_bank, threads
from sklearn_okl.conformal import _running_errors
from sklearn_okl.datasets import make_friedman_stream
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned.experts._banks import MaskedFeatures, learner, start_bank
from sklearn_okl.untuned.experts._plan import Bank, dictionary, shape_of
from sklearn_okl.untuned.rows._inputs import LaggedInputs

from ._progress import progress
from ._report import table

COVERAGES = (0.5, 0.8, 0.9, 0.95)
WINDOW = 500
_N_LAGS = 4
_MEMORIES = (1.0, 0.998, 0.99)
_N_FREQUENCIES = 70
_N_DRIFTING = (4000, 2400)  # the shorter ones, of five inputs, for what the first rows cost
_SEEDS = (0, 1, 2)
_LINES = ("default", "fixed", "VAW²")


def run(available, published, n_rows, quick):
    """Print drift and coverage; return the numbers."""
    seeds = _SEEDS[:1] if quick else _SEEDS
    most = n_rows or max(_N_DRIFTING)
    kinds = dict.fromkeys(
        (kind, d, min(n, most))
        for n, widths in zip(_N_DRIFTING, ((10, 5), (5,)), strict=True)
        for d in widths
        for kind in ("jump", "rotation")
    )
    drift, drifting = {}, {}
    with progress(len(kinds) * len(seeds), "stream") as advance:
        for kind, d, n in kinds:
            title = f"Friedman, {kind}, {d} inputs, {n} rows"
            drift[title] = []
            for seed in seeds:
                X, y = make_friedman_stream(n, n_features=d, drift=kind, random_state=seed)
                drift[title].append(halves(X, y, seed))
                advance(1, title)
            drifting[title] = X, y
    print("\n" + _drift_table(drift))
    print(f"Mean squared errors in each half, means of {len(seeds)} streams. The first row is left")
    print("out: the best fixed ones and VAW² are given its target as their origin.")
    print("Best fixed: of all kernels, ridges and memories of the pool, each a ridge forecaster")
    print("alone, learnt from the start, the best of this half; VAW² with the published grid, on")
    print("standardised rows. The ratio is over the better of the two, mean and worst; bar 1.10.")

    streams = {}
    for name, (X, y) in available.items():
        if not published[name].classes:
            streams[name] = X[:n_rows], y[:n_rows]
            order = np.random.RandomState(0).permutation(len(y))
            streams[f"{name}, permuted"] = X[order][:n_rows], y[order][:n_rows]
    covered = {title: coverage(X, y) for title, (X, y) in (streams | drifting).items()}
    print("\n" + _coverage_table(covered))
    bound = 100 * (1 + _running_errors.STEP) / (WINDOW * _running_errors.STEP)
    print(f"Share of targets held, percent; in brackets the largest gap in any {WINDOW} rows. The")
    print(f"theorem allows {bound:.1f} where no score exceeds the largest of the {WINDOW} before,")
    print(f"and {100 / WINDOW:.1f} more for each doubling beyond it.")
    return {"drift": drift, "coverage": covered}


def halves(X, y, seed=0):
    """Return the MSE in each half of the default, of the best fixed part of its pool, and VAW2.

    The first row is left out: the others have its target for their origin, a thing nobody knows.
    """
    n = len(y) // 2
    forecasts = {
        "default": OnlineKernelRegressor(random_state=seed).prequential_predict(X, y)[:, None],
        "fixed": fixed_configurations(X, y),
        "VAW²": _vaw2(X, y)[:, None],
    }
    return {
        label: [
            float(np.square(F[rows] - y[rows, None]).mean(axis=0).min())
            for rows in (slice(1, n), slice(n, None))
        ]
        for label, F in forecasts.items()
    }


def fixed_configurations(X, y):
    """Return the progressive forecasts (n, K) of every kernel, ridge and memory alone."""
    origin = y[0]
    inputs = LaggedInputs(_N_LAGS)
    U, *_ = inputs.learn(inputs.start(X.shape[1]), X, y - origin)
    members = dictionary(Constants().bandwidths, (0.3, 0.03), True)
    columns = []
    with threads(None) as pool, threadpool_limits(1, user_api="blas"):
        for memory in _MEMORIES:
            shape = shape_of(X.shape[1], _N_LAGS, _N_FREQUENCIES, memory)
            bank = start_bank(Bank(shape, members, len(members)), np.random.RandomState(0))
            columns.append(learn_bank(MaskedFeatures, learner(memory), bank, U, y - origin, pool))
    return np.clip(np.hstack(columns) + origin, y.min(), y.max())


def _vaw2(X, y):
    inputs = LaggedInputs(0)
    Z, *_ = inputs.learn(inputs.start(X.shape[1]), X, y - y[0])
    return VAW2Regressor(random_state=0).prequential_predict(Z, y - y[0]) + y[0]


def coverage(X, y):
    """Return for each coverage the share held, and the largest gap in any window of rows."""
    errors = y - OnlineKernelRegressor(random_state=0).prequential_predict(X, y)
    state = _running_errors.start()
    hits = np.array(
        [_running_errors.learn(state, errors[t : t + 1]) for t in range(1, len(errors))]
    )
    hits = hits[2:]  # the first rows have infinite intervals
    result = {}
    for nominal in COVERAGES:
        held = hits[:, np.searchsorted(_running_errors.LEVELS, nominal - 1e-9)]
        sums = np.concatenate([[0], np.cumsum(held)])
        width = min(WINDOW, len(held))
        windows = (sums[width:] - sums[:-width]) / width
        result[str(nominal)] = {
            "held": float(held.mean()),
            "largest_gap": float(np.abs(windows - nominal).max()),
        }
    return result


def _drift_table(drift):
    rows = []
    for title, runs in drift.items():
        for half in (0, 1):
            values = np.array([[run[label][half] for label in _LINES] for run in runs])
            ratios = values[:, 0] / values[:, 1:].min(axis=1)
            means = (f"{value:.3f}" for value in values.mean(axis=0))
            rows.append(
                [title, f"{half + 1}", *means, f"{ratios.mean():.3f}", f"{ratios.max():.3f}"]
            )
    return table(["stream", "half", "default", "best fixed", "VAW²", "ratio", "worst"], rows)


def _coverage_table(covered):
    rows = [
        [title] + [f"{100 * c['held']:.1f} ({100 * c['largest_gap']:.1f})" for c in found.values()]
        for title, found in covered.items()
    ]
    return table(["stream", *(f"{100 * nominal:g} %" for nominal in COVERAGES)], rows)
