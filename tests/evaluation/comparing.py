"""What the tests of comparisons share: streams, models, and one that says when it runs."""

from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.linear_model import SGDRegressor

from sklearn_okl import VAW2Regressor, VAWRegressor

GRID = {"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}


def stream(seed=0, n=150):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    return X, X @ [1.0, -2.0, 0.5] + 0.1 * rng.normal(size=n)


STREAMS = {"one": stream(7), "made": stream}
MODELS = {
    "vaw2": VAW2Regressor(GRID, n_components=10),
    "sgd": SGDRegressor(eta0=0.05),
    "made": lambda seed: VAWRegressor(alpha=1.0 + seed),
}


class Log(RegressorMixin, BaseEstimator):
    """Forecasts `value`, writes down in a file that it ran, and fails where it is told to."""

    def __init__(self, file, value=0.0, fails=(), random_state=None):
        self.file = file
        self.value = value
        self.fails = fails
        self.random_state = random_state

    def prequential_predict(self, X, y):
        lines = Path(self.file).read_text().splitlines() if Path(self.file).exists() else []
        if len(lines) in self.fails:
            raise RuntimeError("no such luck")
        Path(self.file).write_text("\n".join([*lines, f"{self.value} {self.random_state}"]))
        return np.full(len(y), self.value + self.random_state)


def run_lines(file):
    return Path(file).read_text().splitlines() if Path(file).exists() else []


def same(a, b, besides=()):
    assert a.results.keys() == b.results.keys()
    for name in a.results.keys() - {*besides}:
        np.testing.assert_array_equal(a.results[name], b.results[name])
    for one, other in zip(a.curves, b.curves, strict=True):
        for name, values in one.items():
            np.testing.assert_array_equal(values, other[name])
