"""Who takes part in the job guards: ours, its twins that trust or are told, and the rivals."""

from functools import cache
from importlib.metadata import version
from itertools import pairwise

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_okl import (
    LagFeatures,
    OnlineForecaster,
    OnlineKernelRegressor,
    RefitRegressor,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import make_irregular_stream

from .tables import N_LAGS

N_TREES = 100
FORECASTER = "forecaster"  # in place of a budget
DAY = 24


def guarded(budget, seed, **settings):
    """Return ours, as it comes."""
    return OnlineKernelRegressor(budget=budget, random_state=seed, **settings)


def trusting(budget, seed, **settings):
    """Return the twin that believes every target."""
    return OnlineKernelRegressor(budget=budget, random_state=seed, guard=False, **settings)


def told(budget, seed, X, y, faulty):
    """Return forecasts (n,) of the twin that is told which targets are faulty, NaN for these."""
    forecasts = np.full(len(y), np.nan)
    twin = trusting(budget, seed)
    forecasts[~faulty] = twin.prequential_predict(X[~faulty], y[~faulty])
    return forecasts


def forecaster(seed):
    """Return the forecaster of a day of hours."""
    return OnlineForecaster(DAY, random_state=seed)


def last_value(y):
    """Return the last target before each row, 0 before the first."""
    return np.concatenate([[0.0], y[:-1]])


def running_median(y):
    """Return the median of all targets before each row, 0 before the first."""
    return np.array([np.median(y[:t]) if t else 0.0 for t in range(len(y))])


def ridge(X, y, n_lags=0):
    """Return forecasts of an online ridge on a constant, X as it comes, and the latest targets.

    What it learns is the step from the last target, without lags from the first one, and the others
    enter as steps, too, so that no level costs it digits. The first target it forecasts as 0.
    """
    rows = np.arange(len(y))
    lags = [y[np.maximum(rows - k, 0)] for k in range(1, n_lags + 1)]
    last = lags[0] if lags else np.full(len(y), y[0])
    steps = [newer - older for newer, older in pairwise(lags)]
    Z = np.column_stack([np.ones(len(y)), X, *(last - y[0] for _ in lags[:1]), *steps])[1:]
    forecasts = last + 0.0
    forecasts[0] = 0.0
    line = VAWRegressor(1e-3, forecaster="ridge")
    forecasts[1:] += line.prequential_predict(Z, (y - last)[1:])
    return forecasts


def refitted(n_trees):
    """Return scikit-learn's boosting with four lags, fitted anew as the stream grows."""
    trees = HistGradientBoostingRegressor(max_iter=n_trees, early_stopping=False, random_state=0)
    return make_streaming_pipeline(LagFeatures(N_LAGS), RefitRegressor(trees))


@cache
def boosting(kind, n_rows, seed, n_trees=N_TREES, kept=None):
    """Return forecasts of gradient boosting refitted on an irregular stream, kept in a folder."""
    X, y = make_irregular_stream(n_rows, kind=kind, random_state=seed, return_X_y=True)
    if kept is None:
        return refitted(n_trees).prequential_predict(X, y)
    folder = kept / f"scikit-learn-{version('scikit-learn')}"
    path = folder / f"{kind}-{n_rows}-{seed}-{n_trees}.npz"
    if path.exists():
        saved = np.load(path)
        if np.array_equal(saved["y"], y):
            return saved["forecasts"]
    forecasts = refitted(n_trees).prequential_predict(X, y)
    folder.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, y=y, forecasts=forecasts)
    return forecasts


def best_of_rivals(kind, X, y, seed, rows, n_trees, kept):
    """Return the least squared error in some rows: last value, ridge, boosting."""
    rivals = [
        last_value(y),
        ridge(X, y),
        ridge(X, y, N_LAGS),
        boosting(kind, len(y), seed, n_trees, kept),
    ]
    return min(np.mean((forecasts - y)[rows] ** 2) for forecasts in rivals)
