"""The running moments of many keys at once: what `features._moments` is for one, a row of each."""

import numpy as np

from ..features import _moments

N_FIRST = _moments.N_FIRST  # rows that are kept until they are judged
N_PARTS = 7  # of each column what `_NAMES` says, smallest and largest values
_NAMES = "origin", "sums", "squares", "alarm", "begun"
_FAULTY, _RISE = _moments._FAULTY, _moments._RISE


def scale(moments, n, X, first):
    """Scale a row of each key by what the rows of the key before it have shown, and learn it.

    Parameters
    ----------
    moments : ndarray of shape (m, 7, d)
        Of each key; they change.
    n : ndarray of shape (m,)
        How many rows each has learnt.
    X : ndarray of shape (m, d)
        A row of each.
    first : dict of int to (ndarray of shape (n, d) or None)
        The first rows of those that have none judged yet; they change.

    Returns
    -------
    Z : ndarray of shape (m, d)
    """
    X = _moments.moderate(X)
    begins = n == 0
    if begins.any():
        moments[begins] = 0.0
        for part in (0, 5, 6):
            moments[begins, part] = X[begins]
    origin, sums, squares, _, begun, low, high = moments.swapaxes(0, 1)
    moves = (n >= N_FIRST)[:, None] & _moments.first_moves(X, low, high)
    if moves.any():
        begun[...] = np.where(moves, n[:, None] - 1.0, begun)
        sums[moves] = squares[moves] = 0.0
    weights = n[:, None] - begun
    means, deviations = _moments._mean_and_deviation(origin, weights, sums, squares)
    learnt = _nearer(moments, n, weights, means, deviations, X)
    rows = learnt - origin
    before = sums / np.maximum(weights, 1.0)
    sums += rows
    squares += (rows - before) * (rows - sums / (weights + 1.0))
    np.minimum(low, learnt, out=low)
    np.maximum(high, learnt, out=high)
    for i in np.flatnonzero(n < N_FIRST):
        first[i] = X[i : i + 1] if first[i] is None else np.concatenate([first[i], X[i : i + 1]])
        if len(first[i]) == N_FIRST:
            state = state_of(moments[i], N_FIRST, first[i])
            _moments._judge(state, 1.0)
            write(moments[i], state)
            first[i] = None
    return _moments.standardised(X, means, deviations, weights)


def scale_all(moments, n, X, first):
    """Do so with many rows (k, d) of one key; return them scaled, and its first rows."""
    X = _moments.moderate(X)
    state = _moments.start(X[0]) if n == 0 else state_of(moments, n, first)
    means, deviations, _ = _moments.learn(state, X)
    counts = _moments.counted(n + np.arange(float(len(X)))[:, None], state["begun"])
    write(moments, state)
    first = state["first"] if len(state["first"]) else None
    return _moments.standardised(X, means, deviations, counts), first


def scaled(moments, n, X):
    """Return rows (m, d), one for each of the moments, scaled by what is known; change nothing."""
    origin, sums, squares, _, begun = moments.swapaxes(0, 1)[:5]
    weights = n[:, None] - begun
    means, deviations = _moments._mean_and_deviation(origin, weights, sums, squares)
    return _moments.standardised(_moments.moderate(X), means, deviations, weights)


def state_of(moments, n, first):
    """Return the moments (7, d) of one key as `features._moments` has them, copied."""
    parts = dict(zip(_NAMES, moments[:5].copy(), strict=True))
    return {
        "t": int(n),
        "weight": n - parts["begun"],
        **parts,
        "range": moments[5:].copy(),
        "first": np.empty((0, moments.shape[1])) if first is None else first,
    }


def write(moments, state):
    """Write such moments back."""
    for part, name in enumerate(_NAMES):
        moments[part] = state[name]
    moments[5:] = state["range"]


def _nearer(moments, n, weights, means, deviations, X):
    """Return rows as they are learnt, faulty values nearer, and let the alarms follow."""
    alarm, low, high = moments[:, 3], moments[:, 5], moments[:, 6]
    factors = _moments.caution(weights) * np.exp2(alarm / (2.0 * _RISE))
    far = np.maximum(_FAULTY * factors, np.sqrt(weights)) * deviations
    faulty = (np.abs(X - means) > far) & (deviations > 0.0) & (n >= N_FIRST)[:, None]
    learnt = X
    if faulty.any():
        width = high - low
        outside = faulty & ((low - width > X) | (high + width < X))
        size = _moments.LEARNT * factors * deviations
        learnt = np.where(outside, np.clip(X, means - size, means + size), X)
    if alarm.any() or learnt is not X:
        steps = np.where(learnt != X, _RISE, -1.0)
        alarm[...] = np.maximum(alarm + steps, 0.0)  # 0 among the first rows, and stays so
    return learnt
