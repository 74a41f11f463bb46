"""A root of the sums of one ridge regression, for rows so large that its ridge is their rounding.

What S^-1 says of a row z, z' S^-1 z, is known to eps |z|^2 / alpha from S or from its inverse. Of R
with R'R = S it is |R'^-1 z|^2, known to eps |z| / sqrt(alpha): twice as many digits are left. A
state has a root only where they are needed, [R, R'^-1 b] as "root", beside A, b, P and theta.
"""

import numpy as np
from scipy.linalg import qr_insert
from scipy.linalg.lapack import dtrtri, dtrtrs

_LARGEST_GAIN = 1e9  # of a row, from which on the sums would lose what was known before it
_LOST = 1e10  # diagonals of A times P: from here on sums leave fewer than six digits of P
_KEPT = 1e9  # and below it they leave enough for the root to be dropped
_BEYOND = 1e26  # and from here on a root leaves fewer than three
_FIRST = 64  # rows in which columns need not be told apart yet
_MOST = 2.0  # times the inverse of the ridge: as large P cannot be, but for rounding
_NOT_KNOWN = (
    "Columns as large as these, of X or of forecasts that are combined, are so nearly collinear "
    "that alpha={:g} is lost in their rounding; the model is as it was before the call. Scale X, "
    "or the targets of such forecasts, to moderate size, or let alpha be larger."
)
_NO_SUMS = (
    "For their size the columns of X are so nearly collinear that of alpha={:g} nothing but "
    "rounding is left in their sums, by which models are merged and rows unlearnt. Fit a new model "
    "on all rows that are to stay, or scale the columns to moderate size."
)


def asks(state, gain):
    """Whether a row of that gain, the largest of a bank, should not be learnt without a root."""
    return gain > _LARGEST_GAIN and "root" not in state and _may_have_root(state)


def take_if_asked(state, model, gain):
    """Let a state have a root if a row of that gain asks for one."""
    if asks(state, gain):
        model._open(state)
        _take(state)


def _take(state):
    """Let a state, whose A and P are open, have a root."""
    try:
        upper = np.linalg.cholesky(state["A"]).T
    except np.linalg.LinAlgError:
        raise ValueError(_NOT_KNOWN.format(float(state["alpha"]))) from None
    b = state["b"].reshape(len(upper), -1)
    state["root"] = np.hstack([upper, _divided(upper, b)])


def take_where_lost(state):
    """Let a state have a root where the sums that P was made from leave too few digits of it."""
    if _may_have_root(state) and not loss(state["A"], state["P"]) < _LOST:
        _take(state)


def learn(model, state, Z, Y, weights, out):
    """Learn rows Z (n, D) one by one while the state has a root; return how many it was.

    What is said of them is written to `out`, as in blocks.
    """
    model._open(state)
    weights = np.ones(len(Z)) if weights is None else weights
    for t, (z, weight) in enumerate(zip(Z, weights.tolist(), strict=False)):
        met = model._meet_row(state, z)
        size = met.growth * met.leverage
        if state["t"] >= _FIRST and _BEYOND < weight * size < np.inf:
            raise ValueError(_NOT_KNOWN.format(float(state["alpha"])))
        out[t, : Y.shape[-1]] = met.known
        if model.forecaster == "vaw":
            out[t] /= 1.0 + size
        model._teach_row(state, met, Y[t], weight)
        if "root" not in state:
            return t + 1
    renew(state, model)
    return len(Z)


def rebuild(state, model):
    """Compute P and theta from the root, and drop it where the sums have become good enough."""
    renew(state, model)
    lost = loss(state["A"], state["P"])
    if lost < _KEPT:
        del state["root"]
    elif lost > _BEYOND:
        raise ValueError(_NOT_KNOWN.format(float(state["alpha"])))


def drop(state, model):
    """Let the sums be enough, where rows are to be merged or unlearnt, or refuse."""
    if "root" in state:
        model._open(state)
        rebuild(state, model)
    if "root" in state:
        raise ValueError(_NO_SUMS.format(float(state["alpha"])))


def _may_have_root(state):
    """Whether a state is that of one learner, whose forecasts are not late."""
    return state["alpha"].ndim == 0 and "past" not in state


def loss(A, P):
    """Return by how much the rounding of sums A (D, D) may be larger in their inverse P."""
    return (A.diagonal() * P.diagonal()).max(initial=0.0)


def seen(root, Z):
    """Return what a root says of rows Z (n, D): R'^-1 Z' (D, n), and ridge forecasts (n, q)."""
    width = len(root)
    X = _divided(root[:, :width], Z.T)
    return X, X.T @ root[:, width:]


def met(root, z):
    """Return what a root says of a row z: S^-1 z, z' S^-1 z, and ridge forecasts (q,)."""
    x, known = seen(root, z[None])
    return dtrtrs(root[:, : len(root)], x)[0][:, 0], np.square(x).sum(), known[0]


def add_row(root, z, y, weight=1.0, fading=1.0):
    """Add a row z (D,) of targets y (q,) to a root, in its place, in which the past fades."""
    width = len(root)
    root *= np.sqrt(fading)
    row = np.sqrt(weight) * np.concatenate([z, y])
    rotated = qr_insert(np.eye(width), root, row, width, "row", check_finite=False)[1]
    root[...] = rotated[:width]


def add_ridge(root, alpha):
    """Add alpha I to the sums of a root, in its place."""
    width, n_targets = len(root), root.shape[1] - len(root)
    for z in np.sqrt(alpha) * np.eye(width):
        add_row(root, z, np.zeros(n_targets))


def renew(state, model):
    """Compute P and theta from the root."""
    width = len(state["root"])
    half = dtrtri(state["root"][:, :width])[0]
    state["P"][...] = half @ half.T
    least = float(state["alpha"]) * model.forgetting ** model._refresh_interval()
    if _MOST < state["P"].diagonal().max(initial=0.0) * least < np.inf:
        raise ValueError(_NOT_KNOWN.format(float(state["alpha"])))
    state["theta"][...] = (half @ state["root"][:, width:]).reshape(state["theta"].shape)


def is_root(root, b):
    """Tell whether what a file says is a root of sums beside moments b (D,) or (D, q)."""
    if not (isinstance(root, np.ndarray) and isinstance(b, np.ndarray) and b.size and b.ndim < 3):
        return False
    width, n_targets = len(b), b.size // len(b)
    return (
        root.dtype == b.dtype
        and root.shape == (width, width + n_targets)
        and bool(np.isfinite(root).all() and root.diagonal().all())
        and not np.tril(root[:, :width], -1).any()
    )


def _divided(upper, B):
    """Return R'^-1 B, R upper triangular."""
    return dtrtrs(upper, B, trans=1)[0]
