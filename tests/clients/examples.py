"""Streams and estimators of ours that the lines hand to others."""

import numpy as np
from sklearn.base import clone

from sklearn_okl import (
    ExpertsClassifier,
    ExpertsRegressor,
    FOGDClassifier,
    FourierFeatures,
    OnlineConformalClassifier,
    OnlineConformalRegressor,
    OnlineKernelRegressor,
    RunningStandardScaler,
    StreamingPipeline,
    VAW2Regressor,
    VAWRegressor,
    all_estimators,
    make_streaming_pipeline,
)

NAMES = ["a", "b", "c"]
_BANK = [{"kernel": ["rbf", "laplacian"], "gamma": [0.1, 1.0]}]


def regression(n=180, seed=0):
    """Return rows (n, 3), the last column of noise, and targets (n,)."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, size=(n, 3))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] ** 2 + 0.05 * rng.normal(size=n)


def classification(n=180, seed=0):
    """Return rows (n, 3) and labels (n,), "no" and "yes" in equal parts."""
    X, y = regression(n, seed)
    return X, np.where(y > np.median(y), "yes", "no")


def three_classes(n=180, seed=0):
    """Return rows (n, 3) and labels (n,), 0 to 2."""
    X, y = regression(n, seed)
    return X, np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))


def weights(n=180, seed=1):
    """Return weights (n,) of rows, 1 to 4."""
    return np.random.default_rng(seed).integers(1, 5, size=n).astype(float)


def fourier():
    """Return a map on random features."""
    return FourierFeatures(n_components=40, gamma=0.3, random_state=0)


def pipeline():
    """Return a pipeline of a running scaler, random features and VAW."""
    return make_streaming_pipeline(RunningStandardScaler(), fourier(), VAWRegressor(0.1))


def mixture():
    """Return VAW² on four kernels."""
    return VAW2Regressor(kernels=_BANK, n_components=10, random_state=0)


def untuned():
    """Return the regressor without tuning that is a function of its inputs."""
    return OnlineKernelRegressor(budget="fast", lags=0, random_state=0)


def regressors():
    """Return regressors of several kinds by name."""
    models = (VAWRegressor(), pipeline(), mixture(), untuned())
    return {type(model).__name__: model for model in models}


def classifier(**parameters):
    """Return a classifier for two classes."""
    return FOGDClassifier(gamma=0.3, n_components=40, eta0=1.0, random_state=0, **parameters)


def learnt(model, X, y):
    """Return a clone that has learnt rows."""
    return clone(model).fit(X, y)


def every_estimator():
    """Return an estimator of every public class by name, with defaults where there are any."""
    given = {
        StreamingPipeline: pipeline,
        ExpertsClassifier: lambda: ExpertsClassifier([("fogd", classifier())]),
        ExpertsRegressor: lambda: ExpertsRegressor([("vaw", VAWRegressor())]),
        OnlineConformalClassifier: lambda: OnlineConformalClassifier(classifier()),
        OnlineConformalRegressor: lambda: OnlineConformalRegressor(VAWRegressor()),
    }
    return {name: given.get(class_, class_)() for name, class_ in all_estimators()}


def streamed(transformer, X):
    """Teach a transformer row by row; return each row as those before it teach to transform it.

    The very first is transformed by itself.
    """
    transformer.partial_fit(X[:1])
    rows = [transformer.transform(X[:1])]
    for t in range(1, len(X)):
        rows.append(transformer.transform(X[t : t + 1]))
        transformer.partial_fit(X[t : t + 1])
    return np.vstack(rows)
