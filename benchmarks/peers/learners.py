"""Our estimators and their peers of scikit-learn and River, each as a user would write it."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.kernel_approximation import RBFSampler
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import SGDRegressor

from sklearn_okl import (
    FourierFeatures,
    NONSALDRegressor,
    PKAWVRegressor,
    RakerRegressor,
    RunningStandardScaler,
    VAW2Regressor,
    VAWBOARegressor,
    VAWRegressor,
    make_streaming_pipeline,
)

try:
    from river import ensemble, forest, linear_model, optim, preprocessing
except ImportError:
    forest = None

N_COMPONENTS = 100
RETRAIN_EVERY, WINDOW = 50, 500


class Learner(NamedTuple):
    """A line of the table.

    Attributes
    ----------
    home : str
        The package it comes from.
    make : callable
        Takes the number of features and the number of rows, returns the estimator.
    brings_a_scaler : bool
        Whether it gets the rows unscaled, having a running scaler of its own.
    chunk_size : int or None
        Rows a call on a stream that is there; None is as many as the estimator likes.
    """

    home: str
    make: Callable
    brings_a_scaler: bool = False
    chunk_size: int | None = 1


def learners():
    """Return the lines of the table that the installed packages allow, by label."""
    return {**_ours(), **_SCIKIT_LEARN, **(_RIVER if forest is not None else {})}


def _ours():
    lines = {
        "VAW²": lambda d, n: VAW2Regressor(random_state=0),
        "VAW-BOA": lambda d, n: VAWBOARegressor(random_state=0),
        "Raker": lambda d, n: RakerRegressor(random_state=0),
        "Fourier + VAW": lambda d, n: make_streaming_pipeline(
            RunningStandardScaler(),
            FourierFeatures(gamma=1 / d, n_components=N_COMPONENTS, random_state=0),
            VAWRegressor(),
        ),
        "PKAWV": lambda d, n: PKAWVRegressor(gamma=1 / d, random_state=0),
        # forecasts within three standard deviations; with 25 / n atoms come by the thousand
        "NONS-ALD": lambda d, n: NONSALDRegressor(gamma=1 / d, radius=3.0, novelty=0.1),
    }
    return {
        label: Learner("sklearn_okl", make, label == "Fourier + VAW", None)
        for label, make in lines.items()
    }


class SampledSGD(RegressorMixin, BaseEstimator):
    """RBFSampler, drawn once, and SGDRegressor: scikit-learn's own way to learn in steps."""

    def __init__(self, gamma):
        self.gamma = gamma

    def partial_fit(self, X, y):
        """Learn the next rows."""
        if not hasattr(self, "sgd_"):
            self.map_ = RBFSampler(gamma=self.gamma, n_components=N_COMPONENTS, random_state=0)
            self.map_.fit(X)
            self.sgd_ = SGDRegressor(random_state=0)
        self.sgd_.partial_fit(self.map_.transform(X), y)
        return self

    def predict(self, X):
        """Forecast rows."""
        return self.sgd_.predict(self.map_.transform(X))


class WindowedKernelRidge(RegressorMixin, BaseEstimator):
    """KernelRidge, fitted anew every 50 rows on the last 500; 0 before the first fit."""

    def __init__(self, gamma):
        self.gamma = gamma

    def partial_fit(self, X, y):
        """Keep the next rows, and fit when it is time."""
        if not hasattr(self, "model_"):
            self.X_, self.y_, self.model_, self.t_ = X[:0], y[:0], None, 0
        for low in range(0, len(y), RETRAIN_EVERY):
            rows = slice(low, low + RETRAIN_EVERY)
            self.X_ = np.concatenate([self.X_, X[rows]])[-WINDOW:]
            self.y_ = np.concatenate([self.y_, y[rows]])[-WINDOW:]
            before, self.t_ = self.t_, self.t_ + len(y[rows])
            if self.t_ // RETRAIN_EVERY > before // RETRAIN_EVERY:
                self.model_ = KernelRidge(kernel="rbf", gamma=self.gamma).fit(self.X_, self.y_)
        return self

    def predict(self, X):
        """Forecast rows."""
        return np.zeros(len(X)) if self.model_ is None else self.model_.predict(X)


_SCIKIT_LEARN = {
    "RBFSampler + SGD": Learner("scikit-learn", lambda d, n: SampledSGD(1 / d)),
    "KernelRidge on windows": Learner(
        "scikit-learn", lambda d, n: WindowedKernelRidge(1 / d), chunk_size=RETRAIN_EVERY
    ),
}


class RiverRegressor(RegressorMixin, BaseEstimator):
    """A model of River, row by row."""

    def __init__(self, make):
        self.make = make

    def partial_fit(self, X, y):
        """Learn the next rows."""
        if not hasattr(self, "model_"):
            self.model_ = self.make()
        for x, target in zip(X.tolist(), y.tolist(), strict=True):
            self.model_.learn_one(dict(enumerate(x)), target)
        return self

    def predict(self, X):
        """Forecast rows."""
        return np.array([self.model_.predict_one(dict(enumerate(x))) for x in X.tolist()])


def _linear():
    return preprocessing.StandardScaler() | linear_model.LinearRegression()


def _ewa():
    steps = optim.SGD(0.01), optim.RMSProp(), optim.AdaGrad()
    models = [linear_model.LinearRegression(optimizer=step) for step in steps]
    return preprocessing.StandardScaler() | ensemble.EWARegressor(models)


_RIVER = {
    "linear": Learner("River", lambda d, n: RiverRegressor(_linear), True),
    "EWA of linear": Learner("River", lambda d, n: RiverRegressor(_ewa), True),
    "adaptive random forest": Learner(
        "River", lambda d, n: RiverRegressor(lambda: forest.ARFRegressor(seed=0))
    ),
    "streaming patches": Learner(
        "River", lambda d, n: RiverRegressor(lambda: ensemble.SRPRegressor(seed=0))
    ),
}
