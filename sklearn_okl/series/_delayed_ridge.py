r"""Direct ridge regressions for all steps of a horizon, each under its own delay, on one inverse.

From the features z_i of origin i, step h of the horizon forecasts the target of row i + h, which is
known h rows later. So each step is a least-squares recursion of its own, one row later than the
step before,

.. math:: \theta^h_{i} = \theta^h_{i - 1} + k_i (y_{i + h} - z_i^T \theta^h_{i - 1}),

but the gains :math:`k_i = P_i z_i` and the inverse :math:`P_i = (\lambda I + \sum_{j \le i} z_j
z_j^T)^{-1}` know no target: they are the same for all steps. Each is computed once, when the origin
comes, and waits with its features until the last of its targets is known. What a step has learnt
is then exactly the ridge solution on all origins whose targets are known (delayed recursions as in
P. Joulani, A. György, C. Szepesvári, "Online learning under delayed feedback", ICML 2013), at the
cost of one inverse.

With a forgetting factor the past fades by it at each origin, and after every `REFRESH` of them the
share of the ridge that has faded is put back, centred at the present solution, which so stays as it
is. An unknown target teaches as if it had been forecast rightly.

A bank has G groups, each with an inverse of its own, R rows per origin that share it, and q targets
per row. So "one model per series" is (m, 1, 1), "one model of all series" (1, 1, m), and "one model
shared by all series" (1, m, 1).
"""

import numpy as np
from scipy.linalg.blas import dgemm, dger

from .._linalg import _diagonal, inverse_spd

REFRESH = 64  # origins between two returns of the ridge that forgetting has worn away
_REBUILD = 4096  # origins between two inversions of the exact sums where nothing is forgotten


def start(shape, width, horizon, alpha, forgetting):
    """Return the state of a bank that has seen no origin.

    Parameters
    ----------
    shape : tuple of int
        Groups, rows per origin and targets per row: (G, R, q).
    width : int
        Features D of a row.
    horizon : int
        Steps H.
    alpha : float
        Ridge penalty.
    forgetting : float
        Factor by which the past fades at each origin, in (0, 1].
    """
    groups, rows, targets = shape
    return {
        "t": 0,
        "alpha": alpha,
        "forgetting": forgetting,
        "P": np.repeat(np.eye(width)[None] / alpha, groups, axis=0),
        "sums": np.repeat(np.eye(width)[None] * alpha, groups, axis=0),  # without the latest rows
        "theta": np.zeros((horizon, groups, targets, width)),
        "ring": {
            "latest": np.zeros((REFRESH, groups, rows, width)),
            "rows": np.zeros((horizon, groups, rows, width)),  # features of the latest origins
            "gains": np.zeros((horizon, groups, rows, width)),
        },
    }


def forecasts(state, Z):
    """Return the forecasts (H, G, R, q) of an origin with features Z (G, R, D)."""
    return Z @ state["theta"].swapaxes(-1, -2)


def meet(state, Z):
    """Let an origin with features Z (G, R, D) begin to wait for its targets."""
    forgetting, t, P = state["forgetting"], state["t"], state["P"]
    directions = Z @ P  # (G, R, D)
    inner = directions @ Z.swapaxes(-1, -2)
    if Z.shape[-2] == 1:
        gains = directions / (forgetting + inner)
    else:
        _diagonal(inner)[...] += forgetting
        gains = np.linalg.solve(inner, directions)
    for k in range(len(P)):  # in place: a product of its own would be written and read again
        _subtract(P[k], directions[k], gains[k])
    if forgetting < 1.0:
        P /= forgetting
    ring = state["ring"]
    slot = t % len(ring["rows"])
    ring["rows"][slot], ring["gains"][slot] = Z, gains
    ring["latest"][t % REFRESH] = Z
    state["t"] = t + 1
    if (t + 1) % REFRESH == 0:
        _commit(state)


def learn(state, targets):
    """Learn what has become known: targets (H, G, R, q) of the latest origins, the last one first.

    The target of step h, h = 1, ..., H, is that of the h-th latest origin; NaN is unknown.
    """
    ring = state["ring"]
    for steps, slots in waiting(state["t"] - 1, len(ring["rows"])):
        gains, theta = ring["gains"][slots], state["theta"][steps]
        errors = targets[steps] - ring["rows"][slots] @ theta.swapaxes(-1, -2)
        errors[np.isnan(errors)] = 0.0
        errors = errors.swapaxes(-1, -2)  # (J, G, q, R)
        theta += errors * gains if gains.shape[-2] == 1 else errors @ gains


def waiting(t, horizon):
    """Yield slices of steps and of slots, so that step h meets the origin that is h rows old.

    Origin i waits in slot i % horizon; the latest is t.
    """
    slot = t % horizon
    yield slice(0, slot + 1), slice(slot, None, -1)
    if t >= horizon and slot < horizon - 1:
        yield slice(slot + 1, horizon), slice(None, slot, -1)


def _commit(state):
    """Bring the latest rows into the exact sums; put back the lost ridge, and rebuild the inverse.

    Without forgetting the inverse is rebuilt for the sake of rounding only: whenever the stream has
    doubled, as the first rows cost most digits, and then seldom.
    """
    forgetting, Z = state["forgetting"], state["ring"]["latest"]
    Z = Z.transpose(1, 0, 2, 3).reshape(Z.shape[1], -1, Z.shape[3])  # (G, rows, D)
    sums = state["sums"]
    if forgetting == 1.0:
        state["sums"] = sums = sums + Z.swapaxes(-1, -2) @ Z
        t = state["t"]
        if t & (t - 1) and t % _REBUILD:
            return
    else:
        n_rows = Z.shape[1] // REFRESH
        weights = np.repeat(forgetting ** np.arange(REFRESH - 1.0, -1.0, -1.0), n_rows)
        sums = sums * forgetting**REFRESH
        sums += (Z.swapaxes(-1, -2) * weights) @ Z
        sums += (1.0 - forgetting**REFRESH) * state["alpha"] * np.eye(sums.shape[-1])
        state["sums"] = sums
    state["P"][...] = inverse_spd(sums, state["alpha"])


def _subtract(P, directions, gains):
    """Subtract directions' gains from a symmetric matrix P (D, D) in place."""
    if len(gains) == 1:
        dger(-1.0, directions[0], gains[0], a=P.T, overwrite_a=1)
    else:
        dgemm(-1.0, directions.T, gains.T, 1.0, P.T, trans_b=1, overwrite_c=1)
