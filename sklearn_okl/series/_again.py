"""Experts that say again what came: the latest value, seasons, and means.

What they said of a row can be told when it comes, from the values that are remembered and a few
numbers of each origin: so it does not wait with what other experts said.
"""

from functools import cache

import numpy as np

from . import _echoes
from ._echoes import MEDIAN, N_ECHOES, SELDOM

READ = "forecasts", "last", "begun", "again", "beside"  # what waits of all experts
MEANS = 8, 24, 72  # latest rows, in the stead of a season that is not known


def n_experts(n_seasons):
    """Return how many experts there are."""
    return n_seasons + 2 + N_ECHOES


def snapshot(values, last, seasons, echoes):
    """Return what an origin says beside the values (n, m) so far, and the one that it goes on from.

    Under "again" are the lengths of the seasons and of the echoes, 0 for none (k,), under "beside"
    (k, m) the means in the stead of seasons that are not known, the present distance from the first
    season, and that from a season seen seldom.
    """
    beside = np.zeros((len(seasons) + 2, values.shape[1]))
    for k in np.flatnonzero(seasons == 0):
        latest = values[-MEANS[k % 3] :]
        beside[k] = latest.sum(axis=0) / len(latest)
    before = values[-1 - seasons[0]] if seasons[0] else beside[0]
    beside[-2] = (last - before) / (1.0 if seasons[0] else 2.0)
    if echoes[SELDOM]:
        beside[-1] = _echoes.mean_distance(values, echoes[SELDOM], last)
    return {"again": np.concatenate([seasons, echoes]), "beside": beside}


def of_next(values, last, known, horizon):
    """Return what an origin with a snapshot says of the next rows (experts, H, m).

    The experts are the latest value, the season again for each season, the first season again at
    the present distance from it, and the echoes, NaN for those that are silent.
    """
    return _forecasts(values, last, known, 0, np.arange(horizon))


def of_row(plan, values, said):
    """Return what all experts said of the next row, (E, H, m): by each step the one of its origin.

    What they said is from what waits: forecasts, or snapshots with "last" and "begun".
    """
    steps, first = np.arange(plan.horizon), len(plan.experts)
    F = np.zeros((len(plan.views), plan.horizon, plan.n_series))
    F[plan.waiting] = said["forecasts"]
    again = _forecasts(values, said["last"][:, 0], said, steps, steps)
    F[first : plan.of_banks] = np.where(said["begun"], again, 0.0)
    return F


def _forecasts(values, last, known, ages, steps):
    """Return forecasts of rows (experts, k, m), by origins that were some rows ago.

    Of each origin is given the latest value as it went on from it, and its snapshot; without a
    leading axis they are those of all rows.
    """
    lengths, beside = known["again"], known["beside"]
    if lengths.ndim > 1 and (lengths == lengths[0]).all():
        lengths = lengths[0]
    n_seasons, ends = lengths.shape[-1] - N_ECHOES, len(values) - ages
    which, back = _continued(n_seasons)
    lengths = lengths[..., which].reshape(-1, len(which)).T  # (continued, k or 1)
    length = np.maximum(lengths, 1)
    rows = ends - back * length + steps % length
    found = values[rows]
    found = np.where((rows == ends - 1)[..., None], last, found)
    if not (is_known := lengths > 0).all():
        instead = np.full((len(which), *beside.shape[:-2], beside.shape[-1]), np.nan)
        own = beside[..., :n_seasons, :]
        instead[:n_seasons] = own.transpose(1, 0, 2) if own.ndim > 2 else own
        instead = instead.reshape(len(which), -1, beside.shape[-1])
        found = np.where(is_known[..., None], found, instead)
    said = np.empty((n_experts(n_seasons), *found.shape[1:]))
    said[0] = last
    said[1 : 1 + n_seasons] = found[:n_seasons]
    said[1 + n_seasons] = found[0] + beside[..., -2, :]
    said[2 + n_seasons + MEDIAN] = _echoes.median_of(*found[n_seasons : n_seasons + 3])
    said[2 + n_seasons + SELDOM] = found[-1] + beside[..., -1, :]
    return said


@cache
def _continued(n_seasons):
    """Return which lengths are continued, and from how many of them back (continued, 1).

    Each season and each echo is from one length back, the median from two and three as well.
    """
    median = n_seasons + MEDIAN
    which = np.array([*range(n_seasons), median, median, median, n_seasons + SELDOM])
    back = np.ones((len(which), 1), dtype=np.int64)
    back[n_seasons : n_seasons + 3, 0] = 1, 2, 3
    return which, back
