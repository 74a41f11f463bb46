"""The engines: how features, experts and an aggregator learn a stream together.

Full information
    Every expert learns from every row. The experts never look at the aggregator, so each stage
    learns whole blocks on its own: ``F = experts(features(X), y)``, then ``aggregator(F, y)``.
"""

from concurrent.futures import ThreadPoolExecutor
from functools import partial
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from .._linalg import one_blas_thread, row_slices
from ..base import OnlineRegressor

CHUNK = 4096  # rows between two visits of the aggregator: bounds the memory for forecasts
_TILE = 128  # rows whose features one group of experts holds at once
_GROUP_BYTES = 3_300_000  # state of the experts learnt together: about what the cache holds


class FullInformationRegressor(OnlineRegressor):
    """Base of the algorithms whose experts all learn from every row.

    A subclass declares its parts, in the order in which a row meets them::

        def _parts(self):
            return features, expert, *stages

    `features` maps rows to (K, n, D), `expert` is one online regressor for the whole bank of K,
    and the stages, the last of which gives one forecast per row, take the forecasts (n, K) on.
    """

    @property
    def weights_(self):
        """Current weights of the experts in the last stage, of shape (n_kernels,)."""
        state = self._fitted_state("weights_")
        return self._as_taught()._parts()[-1]._weights(state["stages"][-1])

    @property
    def expert_losses_(self):
        """Sum of squared errors of each expert's progressive forecasts, of shape (n_kernels,)."""
        return self._fitted_state("expert_losses_")["expert_losses"].copy()

    @property
    def kernels_(self):
        """Parameters of each expert."""
        self._fitted_state("kernels_")
        return [dict(kernel) for kernel in self._as_taught()._parts()[0].kernels]

    @property
    def frequencies_(self):
        """Frequencies in use, of shape (n_kernels, n_features, m)."""
        return self._fitted_state("frequencies_")["features"]["frequencies"].copy()

    def predict_experts(self, X):
        """Forecast each row by each expert; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to forecast for, independently of each other.

        Returns
        -------
        F : ndarray of shape (n_samples, n_kernels)
            The experts' forecasts, not clipped.
        """
        state, X = self._asked(X)
        with one_blas_thread:
            return self._forecast_experts(state, X)

    def _start(self, n_features, n_targets=None):
        features, expert, *stages = self._parts()
        maps = features._start(n_features, check_random_state(self.random_state))
        bank = features.kernels
        return {
            "t": 0,
            "features": maps,
            "experts": expert._start(features._n_components(maps), bank=bank),
            "expert_losses": np.zeros(len(bank)),
            "stages": [stage._start(len(bank)) for stage in stages],
        }

    def _learn(self, state, X, y):
        features, expert, *stages = self._parts()
        forecasts = np.empty(len(y))
        with threads(self.n_jobs) as run:
            for rows in row_slices(len(y), CHUNK):
                F = learn_bank(features, expert, state, X[rows], y[rows], run)
                state["expert_losses"] += np.square(F - y[rows, None]).sum(axis=0)
                for stage, stage_state in zip(stages, state["stages"], strict=True):
                    F = stage._learn(stage_state, F, y[rows])
                forecasts[rows] = F
        state["t"] += len(y)
        return forecasts

    def _close(self, state, grows=False):
        self._parts()[1]._close(state["experts"], grows)

    def _forecast(self, state, X):
        stages = self._parts()[2:]
        F = self._forecast_experts(state, X)
        for stage, stage_state in zip(stages, state["stages"], strict=True):
            F = stage._forecast(stage_state, F)
        return F

    def _forecast_experts(self, state, X):
        features, expert, *_ = self._parts()
        return forecast_bank(features, expert, state, X)


class threads:
    """A pool of as many threads as joblib makes of `n_jobs`, whatever backend it names.

    The groups of a bank fill arrays in place, so they must be threads.
    """

    def __init__(self, n_jobs):
        self.n_jobs = effective_n_jobs(n_jobs)

    def __enter__(self):
        self._pool = None if self.n_jobs == 1 else ThreadPoolExecutor(self.n_jobs)
        return self

    def __exit__(self, *_):
        if self._pool is not None:
            self._pool.shutdown()

    def map(self, function, items):
        """Call a function on each item; return the results in order."""
        return list((map if self._pool is None else self._pool.map)(function, items))


def learn_bank(features, expert, bank, X, y, run):
    """Let a bank of experts learn rows in place, a group of them at a time.

    Parameters
    ----------
    features : object
        With ``_transform(maps, X) -> (g, n, D)`` for the maps of some of the experts.
    expert : online regressor that learns banks
    bank : dict
        With the states "features" and "experts", all arrays with a leading axis of experts.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,)
    run : threads

    Returns
    -------
    F : ndarray of shape (n, n_experts)
        Forecasts, each made before its target was seen.
    """
    size = len(next(iter(bank["features"].values())))
    F = np.empty((len(y), size))
    if expert._takes_rows(len(y)):
        F[...] = expert._learn(bank["experts"], features._transform(bank["features"], X), y).T
        return F
    expert._open(bank["experts"])
    groups = _groups(size, bank["experts"], run.n_jobs)
    counters = run.map(partial(_learn_group, features, expert, bank, X, y, F), groups)
    bank["experts"].update(counters[0])  # the same for every group
    return F


def forecast_bank(features, expert, bank, X):
    """Return the forecasts (n, n_experts) of a bank for rows X (n, d), each as if the next."""
    F = np.empty((len(X), len(next(iter(bank["features"].values())))))
    for rows in row_slices(len(X), _TILE):
        Z = features._transform(bank["features"], X[rows])
        F[rows] = expert._forecast(bank["experts"], Z).T
    return F


def _learn_group(features, expert, state, X, y, F, group):
    """Let one group of experts learn rows; fill their columns of F, return the new counters."""
    maps, members = _members(state["features"], group), _members(state["experts"], group)
    with np.errstate(over="ignore", invalid="ignore"):  # threads do not inherit the shell's
        for rows in row_slices(len(y), _TILE):
            Z = features._transform(maps, X[rows])  # (g, n, D)
            F[rows, group] = expert._learn(members, Z, y[rows]).T
    return {name: value for name, value in members.items() if not isinstance(value, np.ndarray)}


def _members(state, group):
    """Return the part of a bank's state that belongs to a slice of its experts, as views."""
    return {
        name: value[group] if isinstance(value, np.ndarray) else value
        for name, value in state.items()
    }


def _groups(bank_size, experts, n_jobs):
    """Cut the bank into equal slices whose state fits the cache, a number for each job."""
    size = sum(part.nbytes for part in experts.values() if isinstance(part, np.ndarray))
    n_groups = -(-size // _GROUP_BYTES)
    n_groups = min(bank_size, n_jobs * -(-n_groups // n_jobs))
    ends = np.linspace(0, bank_size, n_groups + 1).round().astype(int)
    return [slice(low, high) for low, high in pairwise(ends.tolist())]
