r"""The mixture of the experts of each step and series, learnt from what has become known.

Three mixtures are mixed. The first weights expert e by :math:`m_e^{-4}`, with :math:`m_e` its
faded mean squared error (J. M. Bates, C. W. J. Granger, "The combination of forecasts", Operational
Research Quarterly 20(4), 1969): experts that are far off, such as persistence beyond its time, are
left out, equals are averaged. The others add to its forecast :math:`\bar f` a ridge regression on
the deviations :math:`f_e - \bar f`, one that remembers all and one that forgets (L. Breiman,
"Stacked regressions", Machine Learning 24(1), 1996): these find what errors have in common. The
three are weighted by the same rule.

All is per step and per series, and learns the forecasts of an origin h rows old at step h when the
target is known, as they were issued. So a mixture that follows what is already over is seen to be
late, and is left out. The regressions count rows in units of the errors that the first mixture had
until then: at the beginning these are large, and say little of what follows.
"""

import numpy as np

from .._linalg import inverse_spd

_FADING = 0.998  # of the squared errors: about the latest 500
FORGETTING = np.array([1.0, 0.998])  # of the regressions on the deviations
N_MIXTURES = 2 + len(FORGETTING)  # the one by powers, those with regressions, and the whole
_ALPHA = 1.0  # their ridge, where errors have variance 1
_FLOOR = 0.02  # of that variance, which is the first mixture's: as if ten rows had been at 1
_REFRESH = 64  # rounds between two inversions of their exact sums
_LARGEST = 20.0  # running deviations that an error counts as at most
_TINY = 1e-12  # least mean squared error, over the sum of all: equals are averaged


def start(n_experts, horizon, n_series):
    """Return the state of mixtures that know no target yet."""
    lead, n_stacks = (horizon, n_series), len(FORGETTING)
    eye = np.eye(n_experts)
    return {
        "t": 0,
        "errors": np.zeros((*lead, n_experts)),  # faded squared errors of the experts
        "mixed": np.zeros((*lead, N_MIXTURES - 1)),  # and of the mixtures
        "P": np.broadcast_to(eye / _ALPHA, (n_stacks, *lead, n_experts, n_experts)).copy(),
        "sums": np.broadcast_to(eye * _ALPHA, (n_stacks, *lead, n_experts, n_experts)).copy(),
        "weight": np.zeros(lead),  # of the faded squares: 1 in the long run
        "theta": np.zeros((n_stacks, *lead, n_experts)),
        # deviations that the sums do not know yet, and how many targets were known before each
        "ring": {
            "latest": np.zeros((_REFRESH, *lead, n_experts)),
            "before": np.zeros((_REFRESH, *lead)),
        },
        "known": np.zeros(lead),
    }


def coefficients(state):
    """Return what the experts count for (H, m, 4, E) in each of the mixtures, and in all of them.

    The first is the mixture by powers, then come those with regressions, then the whole.
    """
    weights, theta = _weights(state["errors"]), np.moveaxis(state["theta"], 0, -2)
    stacked = theta - weights[..., None, :] * theta.sum(axis=-1, keepdims=True)
    mixtures = np.empty((*weights.shape[:-1], N_MIXTURES, weights.shape[-1]))
    mixtures[..., :-1, :] = weights[..., None, :]
    mixtures[..., 1:-1, :] += stacked
    mixtures[..., -1, :] = (_weights(state["mixed"])[..., None, :] @ mixtures[..., :-1, :])[
        ..., 0, :
    ]
    return mixtures


def learn(state, F, mixtures, y):
    """Learn what was forecast of a row, and what came: one origin for each of the first J steps.

    Parameters
    ----------
    F : ndarray of shape (J, m, E)
        Forecasts of the experts.
    mixtures : ndarray of shape (J, m, 3)
        Forecasts of the mixtures, as they were issued: what they know now, they did not know then.
    y : ndarray of shape (J, m)
        What came; NaN is unknown.
    """
    known, n_steps = np.isfinite(y), len(F)
    F, y = np.where(known[..., None], F, 0.0), np.where(known, y, 0.0)
    mixtures = np.where(known[..., None], mixtures, 0.0)
    squares = state["mixed"][:n_steps, :, 0] + _FLOOR
    unit = np.sqrt(squares / (state["weight"][:n_steps] + _FLOOR))
    _fade(state["errors"][:n_steps], F - y[..., None], known)
    _fade(state["mixed"][:n_steps], mixtures - y[..., None], known)

    state["weight"][:n_steps] += (1.0 - _FADING) * known * (1.0 - state["weight"][:n_steps])
    deviations = (F - mixtures[..., :1]) / unit[..., None]
    errors = (y - mixtures[..., 0]) / unit
    for k, forgetting in enumerate(FORGETTING):
        theta, P = state["theta"][k, :n_steps], state["P"][k, :n_steps]
        directions = (P @ deviations[..., None])[..., 0]
        faded = np.where(known, forgetting, 1.0)  # a round without target is none
        gains = directions / (faded + (deviations * directions).sum(axis=-1))[..., None]
        theta += gains * (errors - (deviations * theta).sum(axis=-1))[..., None]
        P -= gains[..., None] * directions[..., None, :]
        if forgetting < 1.0:
            P /= faded[..., None, None]
    ring, place = state["ring"], state["t"] % _REFRESH
    ring["latest"][place, :n_steps], ring["latest"][place, n_steps:] = deviations, 0.0
    ring["before"][place] = state["known"]
    state["known"][:n_steps] += known
    state["t"] += 1
    if place == _REFRESH - 1:
        _commit(state)


def _commit(state):
    """Bring the latest deviations into the exact sums, put back the lost ridge, and invert."""
    ring, state["sums"] = state["ring"], state["sums"].copy()
    latest = np.moveaxis(ring["latest"], 0, -2)  # (H, m, rounds, E)
    age = np.moveaxis(state["known"] - 1.0 - ring["before"], 0, -1)[..., None]
    for forgetting, sums in zip(FORGETTING, state["sums"], strict=True):
        left = (forgetting ** state["known"])[..., None, None]
        sums *= left
        sums += (latest * forgetting**age).swapaxes(-1, -2) @ latest
        sums += (1.0 - left) * _ALPHA * np.eye(sums.shape[-1])
    state["P"][...] = inverse_spd(state["sums"], _ALPHA)
    state["known"][...] = 0.0


def _fade(means, errors, known):
    squares = np.square(np.clip(errors, -_LARGEST, _LARGEST))
    squares -= means
    squares *= (1.0 - _FADING) * known[..., None]
    means += squares


def _weights(errors):
    """Return weights (..., E) of experts from their faded squared errors; equal where all are 0."""
    total = errors.sum(axis=-1, keepdims=True)
    errors = errors + np.where(total > 0.0, _TINY * total, 1.0)
    weights = errors.min(axis=-1, keepdims=True) / errors
    weights *= weights
    weights *= weights  # the power is 4
    weights /= weights.sum(axis=-1, keepdims=True)
    return weights
