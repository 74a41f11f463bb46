"""Experts that say again what came: the latest value, seasons, and means.

What they said of a row can be told when it comes, from the values that are remembered and a few
numbers of each origin: so it does not wait with what other experts said.
"""

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
        beside[k] = values[-MEANS[k % 3] :].mean(axis=0)
    before = values[-1 - seasons[0]] if seasons[0] else beside[0]
    beside[-2] = (last - before) / (1.0 if seasons[0] else 2.0)
    if echoes[SELDOM]:
        beside[-1] = _echoes.mean_distance(values, echoes[SELDOM])
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
    lengths, beside, ends = known["again"], known["beside"], len(values) - ages
    if lengths.ndim > 1 and (lengths == lengths[0]).all():
        lengths = lengths[0]

    def continued(place, instead, back=0):
        """Return a season again (k, m), something instead where its length is 0."""
        known = lengths[..., place] > 0
        if not known.any():
            return instead
        length = np.maximum(lengths[..., place], 1)
        rows = ends - (1 + back) * length + steps % length
        found = np.where((rows == ends - 1)[:, None], last, values[rows])
        return found if known.all() else np.where(known[:, None], found, instead)

    n_seasons = lengths.shape[-1] - N_ECHOES
    said = np.empty((n_experts(n_seasons), len(steps), values.shape[1]))
    said[0] = last
    for k in range(n_seasons):
        said[1 + k] = continued(k, beside[..., k, :])
    said[1 + n_seasons] = said[1] + beside[..., -2, :]
    of_three = (continued(n_seasons + MEDIAN, np.nan, back) for back in range(3))
    said[2 + n_seasons + MEDIAN] = _echoes.median_of(*of_three)
    said[2 + n_seasons + SELDOM] = continued(n_seasons + SELDOM, np.nan) + beside[..., -1, :]
    return said
