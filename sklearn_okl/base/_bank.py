"""How a bank of experts, one per kernel, learns a stream together: by groups that fit the cache."""

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, partial
from itertools import pairwise

import numpy as np
from joblib import effective_n_jobs

from .._linalg import row_slices
from ._answers import checked_answers

_TILE = 128  # rows whose features one group of experts holds at once
_GROUP_BYTES = 3_300_000  # state of the experts learnt together: about what the cache holds


class threads:
    """A pool of as many threads as joblib makes of `n_jobs`, whatever backend it names.

    The groups of a bank fill arrays in place, so they must be threads.
    """

    def __init__(self, n_jobs):
        self._asked, self._pool = n_jobs, None
        if n_jobs == 0:
            effective_n_jobs(n_jobs)  # which says what is wrong with it

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self._pool is not None:
            self._pool.shutdown()

    @cached_property
    def n_jobs(self):
        """How many threads there are: asked where rows are many, as joblib takes its time."""
        return effective_n_jobs(self._asked)

    def map(self, function, items):
        """Call a function on each item; return the results in order."""
        if self.n_jobs > 1 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.n_jobs)
        return list((map if self._pool is None else self._pool.map)(function, items))


def learn_bank(features, expert, bank, X, y, run, sample_weight=None):
    """Let a bank of experts learn rows in place, a group of them at a time.

    Parameters
    ----------
    features : object
        With ``transform(maps, X) -> (g, n, D)`` for the maps of some of the experts.
    expert : online regressor that learns banks
    bank : dict
        With the states "features" and "experts", all arrays with a leading axis of experts.
    X : ndarray of shape (n, d)
    y : ndarray of shape (n,) or (n, q)
    run : threads
    sample_weight : ndarray of shape (n,), default=None
        Weights of the rows, if the expert takes any.

    Returns
    -------
    F : ndarray of shape (n, n_experts) or (n, n_experts, q)
        Forecasts, each made before its target was seen.
    """
    size = len(next(iter(bank["features"].values())))
    F = np.empty((len(y), size, *y.shape[1:]))
    targets = (y,) if sample_weight is None else (y, sample_weight)
    if expert._takes_rows(len(y)):
        Z = features.transform(bank["features"], X)
        part = expert._learn(bank["experts"], Z, *targets)
        F[...] = checked_answers(part, F.swapaxes(0, 1).shape, expert, "_learn").swapaxes(0, 1)
        return F
    expert._open(bank["experts"])
    groups = _groups(size, bank["experts"], run.n_jobs)
    learnt = run.map(partial(learn_group, features, expert, bank, X, targets, F), groups)
    _keep(bank["experts"], groups, learnt, expert)
    return F


def forecast_bank(features, expert, bank, X):
    """Return the forecasts (n, n_experts[, q]) of a bank for rows X (n, d), each as if the next."""
    F = None
    for rows in row_slices(len(X), _TILE):
        Z = features.transform(bank["features"], X[rows])
        part = expert._forecast(bank["experts"], Z)
        shape = (*Z.shape[:2], *np.shape(part)[2:])  # a bank does not know how many targets
        part = checked_answers(part, shape, expert, "_forecast").swapaxes(0, 1)
        if F is None:
            F = np.empty((len(X), *part.shape[1:]))
        F[rows] = part
    return F


def learn_group(features, expert, state, X, targets, F, group):
    """Let one group of experts, a slice, learn rows in blocks, in place, in an open state.

    It fills their columns of F, and returns the group's part of the state: arrays that are edited
    in place are views of the bank's, others are new.
    """
    maps, members = _members(state["features"], group), _members(state["experts"], group)
    # a tile of few rows must not be learnt row by row: that would close this part of an open state
    learn = getattr(expert, "_learn_blocks", expert._learn)
    with np.errstate(over="ignore", invalid="ignore"):  # threads do not inherit the shell's
        for rows in row_slices(len(X), _TILE):
            Z = features.transform(maps, X[rows])  # (g, n, D)
            part = learn(members, Z, *[values[rows] for values in targets])
            shape = (len(Z), *F[rows].shape[:1], *F.shape[2:])
            F[rows, group] = checked_answers(part, shape, expert, "_learn").swapaxes(0, 1)
    return members


def counters_of(members):
    """Return what of a group's part of the state is the same for all groups."""
    return {name: value for name, value in members.items() if not isinstance(value, np.ndarray)}


def _members(state, group):
    """Return the part of a bank's state that belongs to a slice of its experts, as views."""
    members = {}
    for name, value in state.items():
        if isinstance(value, np.ndarray):
            members[name] = value[group]
        else:
            members[name] = _members(value, group) if type(value) is dict else value
    return members


def _keep(state, groups, learnt, expert):
    """Write into the state of a bank what its groups have not written in place.

    That are counters, the same for every group, and arrays that an expert has replaced.
    """
    for name in state.keys() - learnt[0].keys():
        del state[name]
    for name, first in learnt[0].items():
        parts = [members[name] for members in learnt]
        if isinstance(first, np.ndarray):
            known = state.get(name)
            if not all(map(partial(_is_in_place, known), groups, parts)):
                state[name] = _joined(name, groups, parts, expert)
        elif type(first) is dict:
            _keep(state.setdefault(name, {}), groups, parts, expert)
        else:
            state[name] = first


def _is_in_place(array, group, part):
    """Tell whether a group's array is still the view of the bank's."""
    if not isinstance(array, np.ndarray):
        return False
    view = array[group]
    return part is view or part.__array_interface__ == view.__array_interface__


def _joined(name, groups, parts, expert):
    """Return the array of a bank of those that its groups have put in place of theirs."""
    sizes = [group.stop - group.start for group in groups]
    if [part.shape[:1] for part in parts] != [(size,) for size in sizes]:
        raise TypeError(
            f"{type(expert).__name__}._learn replaced the array {name!r} of its state by one of "
            f"shape {parts[0].shape}, for {sizes[0]} experts side by side. In a bank all arrays of "
            "the state have a leading axis of experts: keep it."
        )
    return parts[0].copy() if len(parts) == 1 else np.concatenate(parts)


def _groups(bank_size, experts, n_jobs):
    """Cut the bank into equal slices whose state fits the cache, a number for each job."""
    n_groups = max(1, -(-_n_bytes(experts) // _GROUP_BYTES))
    n_groups = min(bank_size, n_jobs * -(-n_groups // n_jobs))
    ends = np.linspace(0, bank_size, n_groups + 1).round().astype(int)
    return [slice(low, high) for low, high in pairwise(ends.tolist())]


def _n_bytes(state):
    """Return how large the arrays of a state are."""
    parts = state.values()
    nested = sum(_n_bytes(part) for part in parts if type(part) is dict)
    return nested + sum(part.nbytes for part in parts if isinstance(part, np.ndarray))
