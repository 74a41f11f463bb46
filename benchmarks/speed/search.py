"""A sweep in one pass against scikit-learn's, on the same grid and rows in one run."""

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, ParameterGrid, TimeSeriesSplit

from sklearn_okl import (
    FourierFeatures,
    RunningStandardScaler,
    VAWRegressor,
    make_streaming_pipeline,
)
from sklearn_okl.datasets import make_friedman_stream
from sklearn_okl.evaluation import PrequentialSearch

from .figure import Figure
from .ratios import N_REPEATS, in_turns

GRID = {
    "fourierfeatures__kernel": ["rbf", "laplacian"],
    "fourierfeatures__gamma": [0.01, 0.03, 0.1, 0.3, 1.0],
    "vawregressor__alpha": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0],
}


def search_speed(quick=False, advance=None):
    """PrequentialSearch over 60 candidates on rows as wide as airfoil's, against GridSearchCV."""
    return compare(500 if quick else 5000, N_REPEATS, advance)


def compare(n_rows, n_repeats, advance=None):
    """Run the searches on the same rows in turns; return times, ratios and losses as figures."""
    X, y = make_friedman_stream(n_rows, n_features=5, random_state=0)
    y = (y - y.mean()) / y.std()
    pipeline = make_streaming_pipeline(
        RunningStandardScaler(), FourierFeatures(n_components=100, random_state=0), VAWRegressor()
    )
    folds = {"5 folds": 5, "TimeSeriesSplit(5)": TimeSeriesSplit(5)}
    rivals = [
        GridSearchCV(pipeline, GRID, cv=cv, scoring="neg_mean_squared_error")
        for cv in folds.values()
    ]
    searches = [PrequentialSearch(pipeline, GRID), *rivals]
    seconds = in_turns(
        [lambda search=search: search.fit(X, y) for search in searches], n_repeats, advance
    )
    losses = []
    for search in searches:
        winner = clone(pipeline).set_params(**search.best_params_)
        losses.append(float(np.mean((winner.prequential_predict(X, y) - y) ** 2)))

    name = f"PrequentialSearch, {len(ParameterGrid(GRID))} candidates, {n_rows} rows"
    figures = [Figure(name, seconds[0].tolist(), "s")]
    # with TimeSeriesSplit a fold learns half of the rows in the mean: four times is out of reach
    bars = 4, None
    for name, bar, times, loss in zip(folds, bars, seconds[1:], losses[1:], strict=True):
        figures += [
            Figure(
                f"  times faster than GridSearchCV, {name}",
                (times / seconds[0]).tolist(),
                "times",
                bar=bar,
                more_is_better=True,
                note=f"{np.median(times):.1f} s",
            ),
            Figure(
                "  progressive loss of its winner, of the other's",
                [losses[0] / loss],
                "times",
                bar=1,
                note=f"{losses[0]:.4f}, {loss:.4f}",
            ),
        ]
    return figures


MEASURES = (search_speed,)
