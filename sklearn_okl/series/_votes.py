r"""What all others say, drawn to what earlier seasons had at the same phase: one more expert.

Regressions follow what was on average, and their mixture is a mean. But a day is mostly like one of
the days before, and not between them. So each of the latest seasons has a vote on what others say,
:math:`\bar f`: to move it to the value :math:`x_k` that was k seasons ago at the phase of the row,
but not far, as a season that is far off is of another kind:

.. math:: f = \bar f + g \sum_k w_k \, [x_k - \bar f]_{-c s}^{c s} \Big/ \sum_k w_k, \qquad
          w_k \propto \lambda^k d_k^{-2},

with s the root of the mean squared error of the first mixture at this step and :math:`d_k` the mean
distance of the latest season from the one k seasons before it: seasons that began as the present
one did have a larger vote, as in forecasts by analogues (E. N. Lorenz, "Atmospheric predictability
as revealed by naturally occurring analogues", Journal of the Atmospheric Sciences 26, 1969). The
bounded sum is a step of an M-estimate of location that begins with what others say (P. J. Huber,
"Robust estimation of a location parameter", Annals of Mathematical Statistics 35(1), 1964): no
linear mixture of experts on the same rows has it. :math:`\bar f` is the mixture by powers of all
other experts of the series. Without a season that has been seen thrice it is all that is said.
"""

from functools import cache

import numpy as np

from . import _mixture, _seasons, _views
from ._experts import RAW

_FEWEST, _MOST = 2, 14  # seasons that vote: of a single one nothing tells how like it is
_DECAY = 0.9  # of their votes, per season
_FAR = 0.75  # root mean squared errors that one draws at most
_GAIN = 2.0  # times the mean of what they draw
_TINY, _LEAST = 1e-6, 1e-300  # least distance over the largest: no vote is without an end


def voters(state, horizon):
    """Return values of earlier seasons (n, H, m) at the phases of the next rows, and their shares.

    Of the forecaster's state the seasons and the values are read; None without a season.
    """
    season, values = int(state["seasons"][0]), state["views"][RAW]["values"]
    n = n_voters(season, state["t"])
    if not n:
        return None
    shares = _shares(values[len(values) - (n + 1) * season :], season)
    return values[len(values) + _rows(season, n, horizon)], shares


def of_next(plan, state, known, F, weights):
    """Return what is said of the next rows (H, m), from what experts say, F (E, H, m).

    `known` are the voters. Experts count for their weights (E, H, m), those that are silent, NaN,
    for nothing.
    """
    which = plan.of_series
    middle = _mixture.mean_of_heard(weights[which], F[which])
    if known is None:
        return middle
    values, shares = known
    deviation = _views.deviation(state["views"][RAW])
    most = _FAR * _mixture.root_mean_square(state["mixture"]) * deviation
    draws = values - middle
    np.maximum(draws, -most, out=draws)
    np.minimum(draws, most, out=draws)
    return middle + _GAIN * np.einsum("km,khm->hm", shares, draws)


def n_voters(season, t):
    """Return how many seasons of some length vote after t rows; 0 without a season."""
    n = min(t, _seasons.N_ROWS) // season - 1 if season else 0
    return min(n, _MOST) if n >= _FEWEST else 0


def _shares(values, season):
    """Return what seasons count for (k, m), the latest first, from the k + 1 latest (n, m)."""
    seasons = values.reshape(-1, season, values.shape[1])
    distances = np.abs(seasons[-1] - seasons[-2::-1]).mean(axis=1)
    distances = distances + _TINY * distances.max(axis=0) + _LEAST
    votes = np.square(distances.min(axis=0) / distances) * _decay(len(distances))
    return votes / votes.sum(axis=0)


@cache
def _decay(n):
    return _DECAY ** np.arange(n, dtype=float)[:, None]


@cache
def _rows(season, n, horizon):
    """Return where the values are that vote (n, H), counted from the next row."""
    steps = np.arange(horizon)
    return steps % season - season * np.arange(1, n + 1)[:, None]
