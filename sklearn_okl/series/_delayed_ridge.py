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

Reading an inverse is cheap, writing it is not: so it stays as it was when a block of `BLOCK`
origins began, and what these have taken from it waits in a tail V, :math:`P_i = P_0 - V^T V`. With
forgetting, P is what it would be if nothing had faded since it was last inverted, and the rows
count as less noisy in its stead. All arrays but those under "recent" are replaced, never written.
Of these the tail, and the last part of what waits, which is a list of parts of some origins, are
written row by row, beside all that a state before reads; then others take their places.

Where an origin has many rows, a tail costs the square of these: beyond a sixth of the features
there is none, the exact sums of D x D learn each origin, and are inverted.
"""

from functools import cache

import numpy as np

from .._linalg import _diagonal, inverse_factors, inverse_spd

BLOCK = 16  # origins between two changes of the inverse
_LONG = 64  # steps, of which beyond so many fewer origins wait together, to take less room
REFRESH = 64  # origins between two returns of the ridge that forgetting has worn away
_REBUILD = 4096  # origins between two inversions of the exact sums where nothing is forgotten
_PARTS = "rows", "gains"  # of origins, in lists
_MANY = 6.0  # rows an origin, over features, times which are 1 or more, and need no tail


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
    (groups, rows, targets), (n_parts, n) = shape, _shape_of_parts(horizon)
    return {
        "t": 0,
        "alpha": alpha,
        "forgetting": forgetting,
        "P": np.repeat(np.eye(width)[None] / alpha, groups, axis=0),
        "sums": np.repeat(np.eye(width)[None] * alpha, groups, axis=0),  # without the block
        "theta": np.zeros((horizon, groups, targets, width)),
        "recent": {  # of H origins at least, and of the block
            "rows": [np.zeros((n, groups, rows, width)) for _ in range(n_parts)],
            "gains": [np.zeros((n, groups, rows, width)) for _ in range(n_parts)],
            "tail": np.zeros((groups, _n_tail(rows, width), width)),
        },
    }


def is_sound(state):
    """Tell whether the arrays of a bank, as of one from a file, go together."""
    horizon, *groups_and_targets, width = np.shape(state["theta"])
    recent, squares = state["recent"], np.shape(state["sums"])
    rows, (n_parts, n) = np.shape(recent["rows"][0]), _shape_of_parts(horizon)
    return bool(
        len(groups_and_targets) == 2
        and squares == np.shape(state["P"]) == (groups_and_targets[0], width, width)
        and len(recent["rows"]) == len(recent["gains"]) == n_parts
        and all(np.shape(part) == rows for part in (*recent["rows"], *recent["gains"]))
        and rows == (n, squares[0], *rows[2:])
        and len(rows) == 4
        and rows[3] == width
        and np.shape(recent["tail"]) == (squares[0], _n_tail(rows[2], width), width)
    )


def forecasts(state, Z):
    """Return the forecasts (H, G, R, q) of an origin with features Z (G, R, D)."""
    return Z @ state["theta"].swapaxes(-1, -2)


def learn(state, Z, targets):
    """Let an origin with features Z (G, R, D) wait for its targets, and learn what is known now.

    The targets (H, G, R, q) are those of the latest origins, this one first: step h, h = 1, ..., H,
    learns that of the h-th latest. NaN is unknown.
    """
    recent, theta, n = state["recent"], state["theta"], len(state["recent"]["rows"][-1])
    place, horizon = state["t"] % n, len(theta)
    recent["rows"][-1][place] = Z
    recent["gains"][-1][place] = _gains(state, Z)
    parts = zip(reversed(recent["rows"]), reversed(recent["gains"]), strict=True)
    multiply, learnt = np.multiply if Z.shape[-2] == 1 else np.matmul, np.empty_like(theta)
    is_unknown = np.isnan(targets)
    has_unknown = is_unknown.any()
    # a part is still in the cache when it is changed
    for (rows, gains), (steps, past) in zip(parts, _latest(place, n, horizon), strict=False):
        before, after = theta[steps], learnt[steps]
        errors = rows[past] @ before.swapaxes(-1, -2)
        np.subtract(targets[steps], errors, out=errors)
        if has_unknown:
            errors[is_unknown[steps]] = 0.0
        multiply(errors.swapaxes(-1, -2), gains[past], out=after)
        after += before
    state["theta"] = learnt
    state["t"] += 1
    if place == n - 1:
        if state["t"] % BLOCK == 0:
            _commit(state)
        for name in _PARTS:
            recent[name] = [*recent[name][1:], np.zeros_like(recent[name][0])]


def _shape_of_parts(horizon):
    """Return how many parts there are, the last one of which is being filled, and their origins."""
    n = BLOCK // 2 if horizon > _LONG else BLOCK
    return max(-(-(horizon - 1) // n) + 1, BLOCK // n), n


@cache
def _latest(place, n, horizon):
    """Return which steps learn from each part, the last one first, and from which of its origins.

    The latest origin is at a place in the last part; each has n of them.
    """
    found, low, last = [], 0, place
    while low < horizon:
        high = min(low + last + 1, horizon)
        first = last - (high - low)
        found.append((slice(low, high), slice(last, first if first >= 0 else None, -1)))
        low, last = high, n - 1
    return found


def _n_tail(n_rows, width):
    """Return how many rows a tail has: none of origins of many rows."""
    return 0 if _MANY * n_rows >= width else BLOCK * n_rows


def _gains(state, Z):
    """Return the gains (G, R, D) of an origin, and write into the tail what it takes from P."""
    n_rows, tail = Z.shape[-2], state["recent"]["tail"]
    if not tail.shape[-2]:
        return _gains_of_many(state, Z)
    filled = n_rows * (state["t"] % BLOCK)
    noise = state["forgetting"] ** (state["t"] % REFRESH + 1)
    directions = Z @ state["P"]
    if filled:
        V = tail[:, :filled]
        directions -= (Z @ V.swapaxes(-1, -2)) @ V
    inner = directions @ Z.swapaxes(-1, -2)
    taken = tail[:, filled : filled + n_rows]
    if n_rows == 1:
        inner += noise
        np.divide(directions, np.sqrt(inner), out=taken)
        return directions / inner
    _diagonal(inner)[...] += noise
    half = inverse_factors(inner)
    np.matmul(half, directions, out=taken)
    return half.swapaxes(-1, -2) @ taken


def _gains_of_many(state, Z):
    """Return the gains (G, R, D) of an origin of many rows, and bring it into the sums."""
    state["sums"] = sums = state["forgetting"] * state["sums"] + Z.swapaxes(-1, -2) @ Z
    state["P"] = P = inverse_spd(sums, state["alpha"] * state["forgetting"] ** REFRESH)
    return Z @ P


def _commit(state):
    """Bring a block into the inverse and into the exact sums, and begin another one.

    Where something is forgotten, the lost ridge is put back into the sums every `REFRESH` origins,
    and the inverse is rebuilt from them. Where nothing is, it is rebuilt for the sake of rounding
    only: whenever the stream has doubled, as the first rows cost most digits, and then seldom.
    """
    forgetting, recent, t = state["forgetting"], state["recent"], state["t"]
    sums, V = state["sums"], recent["tail"]
    if V.shape[-2]:
        block = np.concatenate(recent["rows"][-BLOCK // len(recent["rows"][0]) :])
        sums = _with_block(sums, block.swapaxes(0, 1), forgetting)
    is_due = t % REFRESH == 0
    if forgetting < 1.0 and is_due:
        sums = sums + (1.0 - forgetting**REFRESH) * state["alpha"] * np.eye(sums.shape[-1])
    else:
        is_due = is_due and V.shape[-2] and (t & (t - 1) == 0 or t % _REBUILD == 0)
    if is_due:
        P = inverse_spd(sums, state["alpha"])
    else:
        P = V.swapaxes(-1, -2) @ V
        np.subtract(state["P"], P, out=P)
    state["sums"], state["P"] = sums, P
    recent["tail"] = np.zeros_like(V)


def _with_block(sums, Z, forgetting):
    """Return sums (G, D, D) with the rows of a block, Z (G, BLOCK, R, D)."""
    n_rows, Z = Z.shape[2], Z.reshape(len(Z), -1, Z.shape[3])
    if forgetting == 1.0:
        return sums + Z.swapaxes(-1, -2) @ Z
    weights = np.repeat(forgetting ** (np.arange(BLOCK - 1.0, -1.0, -1.0) / 2.0), n_rows)
    Z = Z * weights[:, None]
    return forgetting**BLOCK * sums + Z.swapaxes(-1, -2) @ Z


def sums_of_one_step(state):
    """Return the exact sums (G, D, D) of all origins of a bank of one step that forgets nothing."""
    rows = state["recent"]["rows"][-1][: state["t"] % BLOCK]
    return _with_block(state["sums"], rows.swapaxes(0, 1), 1.0)


def become(state, sums, theta):
    """Let a bank of one step be what it is with these sums (G, D, D) and coefficients."""
    recent = {name: [np.zeros_like(part) for part in state["recent"][name]] for name in _PARTS}
    recent["tail"] = np.zeros_like(state["recent"]["tail"])
    state.update(P=inverse_spd(sums, state["alpha"]), sums=sums, theta=theta, recent=recent)


def forget(state, n_last, places):
    """Forget features that are others from now on, at some places among the last n.

    It is as if they had always been 0. A block of origins is to have ended.
    """
    width = state["P"].shape[-1]
    k = np.arange(width - n_last, width)[places]
    P, sums, theta = (state[name].copy() for name in ("P", "sums", "theta"))
    beside = np.linalg.solve(P[:, k[:, None], k], P[:, k])  # (G, k, D)
    theta -= theta[..., k] @ beside
    P -= P[..., k] @ beside
    for array, own in ((P, 1.0 / state["alpha"]), (sums, state["alpha"])):
        array[:, k], array[..., k] = 0.0, 0.0
        array[:, k, k] = own
    theta[..., k] = 0.0
    recent = {"tail": state["recent"]["tail"].copy()}
    for name in _PARTS:
        recent[name] = [part.copy() for part in state["recent"][name]]
    for array in (recent["tail"], *recent["rows"], *recent["gains"]):
        array[..., k] = 0.0
    state.update(P=P, sums=sums, theta=theta, recent=recent)
