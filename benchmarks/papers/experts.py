"""The experts' progressive forecasts, computed once for every rule that combines them."""

import time

import numpy as np

from sklearn_okl import MultiKernelRegressor, VAWRegressor
from sklearn_okl.base import OnlineRegressor

_CHUNK = 500  # rows between two steps of the progress bar


class Recorder(OnlineRegressor):
    """An aggregator that keeps what it is shown and forecasts nothing but zeros.

    Attributes
    ----------
    shown : list of ndarray of shape (n, n_kernels)
        The experts' forecasts, in the order of the stream.
    """

    _parameter_constraints = {}

    def __init__(self):
        self.shown = []

    def _start(self, n_features, n_targets=None):
        return {"t": 0, "weights": np.zeros(n_features)}

    def _learn(self, state, X, y):
        self.shown.append(X.copy())
        state["t"] += len(y)
        return np.zeros(len(y))

    def _forecast(self, state, X):
        return np.zeros(len(X))

    def _weights(self, state):
        return state["weights"]


def record_experts(X, y, frequencies, forecaster, n_jobs, advance):
    """Let one VAW per kernel learn a stream.

    Parameters
    ----------
    X : ndarray of shape (n, d)
        Rows, in order.
    y : ndarray of shape (n,)
        Targets.
    frequencies : list of ndarray of shape (d, m)
        Frequencies of each of the K kernels.
    forecaster : {"ridge", "vaw"}
        What the experts run.
    n_jobs : int or None
        Threads over the kernels.
    advance : callable
        Is told the number of rows just learnt.

    Returns
    -------
    F : ndarray of shape (n, K)
        Each expert's forecast of each row before its target was seen, not clipped.
    seconds : float
        Time it took.
    """
    recorder = Recorder()
    model = MultiKernelRegressor(
        expert=VAWRegressor(forecaster=forecaster),
        aggregator=recorder,
        frequencies=frequencies,
        n_jobs=n_jobs,
    )
    start = time.perf_counter()
    for first in range(0, len(y), _CHUNK):
        rows = slice(first, first + _CHUNK)
        model.partial_fit(X[rows], y[rows])
        advance(len(y[rows]))
    return np.concatenate(recorder.shown), time.perf_counter() - start
