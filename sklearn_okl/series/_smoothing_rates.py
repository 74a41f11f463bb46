"""The banks of exponential smoothing: the rates of their members, and what these are over steps."""

from functools import cache
from itertools import product

import numpy as np

STEADY, SLOPED, LOGS, SHORT = range(4)  # banks
_STEADY_RATES = list(
    product((0.02, 0.1, 0.3, 0.7), (0.05, 0.2, 0.5), (0.0, 0.7, 0.95), [(0.0, 0.0)])
)
_SLOPES = (0.1, 0.9), (0.3, 0.9), (0.1, 0.98)  # beta and phi
_SLOPED_RATES = list(product((0.1, 0.3, 0.7), (0.05, 0.2), (0.0, 0.7), _SLOPES))
_LOGS_RATES = [  # as steady, but with slopes where errors do not last
    (level, season, lasting, (0.0, 0.0) if lasting else _SLOPES[-1])
    for level, season, lasting, _ in _STEADY_RATES
]
WITH_SLOPES = slice(SLOPED, LOGS + 1)  # banks
# alpha, gamma, rho, beta and phi of each member of each bank, (4, members, 5)
RATES = np.array(
    [
        [(*rates, *slope) for *rates, slope in bank]
        for bank in (_STEADY_RATES, _SLOPED_RATES, _LOGS_RATES, _STEADY_RATES)
    ]
)
N_BANKS, N_MEMBERS = RATES.shape[:2]
FIRST_ROWS = 200  # from which on no rate is less than that of the mean, or of the line, so far
_N_STEPS = 8  # steps of the horizon that members are judged at, at most


@cache
def judged_steps(horizon):
    """Return the steps that members are judged at: the first, the last, some between."""
    return np.unique(np.rint(np.geomspace(1, horizon, _N_STEPS)).astype(int)) - 1


@cache
def shares(horizon):
    """Return what the judged steps count for (H, steps) at each step: those beside it, linearly."""
    steps = judged_steps(horizon)
    return np.stack([np.interp(np.arange(horizon), steps, row) for row in np.eye(len(steps))], 1)


@cache
def lasting(horizon):
    """Return what is left of errors (4, J, H, 1) at each step."""
    return (RATES[:, :, 2, None] ** np.arange(1.0, horizon + 1.0))[..., None]


@cache
def sloping(horizon):
    """Return how far slopes lead (2, J, H, 1), as times of what they are."""
    powers = RATES[WITH_SLOPES, :, 4, None] ** np.arange(1.0, horizon + 1.0)
    return np.cumsum(powers, axis=2)[..., None]


@cache
def leads(horizon):
    """Return what parts of members count for (H, steps x parts) at each step, times its shares.

    The parts are the level, then errors and slopes by rates as `lasting_alike` and `sloping_alike`.
    """
    parts = [np.ones(horizon)]
    for alike, each in (lasting_alike(), lasting(horizon)), (sloping_alike(), sloping(horizon)):
        for is_so in alike[:, 0].swapaxes(0, 1):  # of a rate
            parts.append(each[tuple(np.argwhere(is_so)[0])][:, 0])
    return (shares(horizon)[:, :, None] * np.stack(parts, 1)[:, None]).reshape(horizon, -1)


@cache
def lasting_alike():
    """Return which members (4, 1, rates, J) share a rate of errors."""
    return _alike(RATES[..., 2])


@cache
def sloping_alike():
    """Return which members (2, 1, rates, J) have slopes that are damped alike."""
    return _alike(RATES[WITH_SLOPES, :, 4])


def _alike(rates):
    each = np.unique(rates[rates > 0.0])
    return (rates[:, None, None] == each[:, None]).astype(float)


@cache
def rates():
    """Return the rates of all members, each kind (4, J, 1); of slopes as times of errors."""
    level, season, lasting, slope, damping = np.moveaxis(RATES, -1, 0)[..., None]
    return level, season, lasting, level * slope, damping


def first_rates(n_learnt):
    """Return the least rates of level and slope (4, J, m) of members that learnt some rows (m,).

    With them a level is the mean of all rows so far, and one with a slope the line through them and
    one row before, at which nothing had moved.
    """
    n = np.asarray(n_learnt) + 1.0
    has_slope = RATES[..., 3, None] > 0.0
    level = np.where(has_slope, 2.0 * (2.0 * n + 1.0) / ((n + 1.0) * (n + 2.0)), 1.0 / n)
    return level, np.where(has_slope, 6.0 / ((n + 1.0) * (n + 2.0)), 0.0)
