r"""The mixture of the experts of each step and series, learnt from what has become known.

Three mixtures are mixed. The first weights expert e by :math:`m_e^{-\kappa}`, with :math:`m_e` its
faded mean squared error (J. M. Bates, C. W. J. Granger, "The combination of forecasts", Operational
Research Quarterly 20(4), 1969): experts that are far off, such as persistence beyond its time, are
left out, equals are averaged. The others add to its forecast :math:`\bar f` a ridge regression on
the deviations :math:`f_e - \bar f`, one that remembers all and one that forgets (L. Breiman,
"Stacked regressions", Machine Learning 24(1), 1996): these find what errors have in common. The
three are weighted by the same rule.

All is per step and per series, and learns the forecasts of an origin h rows old at step h when the
target is known, as they were issued. So a mixture that follows what is already over is seen to be
late, and is left out.
"""

import numpy as np

from .._linalg import inverse_spd

_POWER = 4.0  # kappa: twice the mean squared error is a sixteenth of the weight
_FADING = 0.998  # of the squared errors: about the latest 500
FORGETTING = np.array([1.0, 0.998])  # of the regressions on the deviations
N_MIXTURES = 2 + len(FORGETTING)  # the one by powers, those with regressions, and the whole
_ALPHA = 1.0  # their ridge, in squared running deviations of the series
_REFRESH = 64  # rounds between two inversions of their exact sums
_LARGEST = 20.0  # running deviations that an error counts as at most
_TINY = 1e-12  # least mean squared error, over the mean of all: equals are averaged


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
        "theta": np.zeros((n_stacks, *lead, n_experts)),
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
    _fade(state["errors"][:n_steps], F - y[..., None], known)
    _fade(state["mixed"][:n_steps], mixtures - y[..., None], known)

    forgetting = np.where(known, FORGETTING[:, None, None], 1.0)  # a round without target is none
    theta, P, sums = (state[name][:, :n_steps] for name in ("theta", "P", "sums"))
    deviations = F - mixtures[..., :1]
    errors = y - mixtures[..., 0] - (deviations * theta).sum(axis=-1)  # (S, J, m)
    directions = (P @ deviations[..., None])[..., 0]
    gains = directions / (forgetting + (deviations * directions).sum(axis=-1))[..., None]
    theta += gains * errors[..., None]
    P -= gains[..., None] * directions[..., None, :]
    P /= forgetting[..., None, None]
    sums *= forgetting[..., None, None]
    sums += deviations[..., None] * deviations[..., None, :]
    diagonal = np.einsum("...ee->...e", sums)
    diagonal += ((1.0 - forgetting) * _ALPHA)[..., None]
    state["t"] += 1
    if state["t"] % _REFRESH == 0:
        state["P"][...] = inverse_spd(state["sums"], _ALPHA)


def _fade(means, errors, known):
    squares = np.clip(errors, -_LARGEST, _LARGEST) ** 2
    means += np.where(known[..., None], (1.0 - _FADING) * (squares - means), 0.0)


def _weights(errors):
    """Return weights (..., E) of experts from their faded squared errors; equal where all are 0."""
    total = errors.mean(axis=-1, keepdims=True)
    relative = np.where(total > 0.0, errors / np.where(total > 0.0, total, 1.0), 1.0) + _TINY
    weights = (relative / relative.min(axis=-1, keepdims=True)) ** -_POWER
    return weights / weights.sum(axis=-1, keepdims=True)
