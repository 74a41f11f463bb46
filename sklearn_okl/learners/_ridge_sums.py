"""Sums over the rows of one ridge regression: those of two added, rows taken away again."""

import math

import numpy as np
from scipy.linalg import solve_triangular

_BLOCK = 64  # rows taken away at once
_WORN = 8.0  # factor by which errors of P may have grown before it is rebuilt
_REBUILD = 1024  # rows unlearnt between two rebuilds
_YOUNG = 64  # rounds before the learner's own first rebuild, up to which P is coarse
_MOST = 1e5  # condition of what is left: beyond, it is known to less than ten digits
_TIMES = 10.0  # how much worse than that of a new model it may be, if that is bad by itself
_HOPELESS = 1e12  # and however bad that is
_NEVER = (
    "These rows cannot be unlearnt: with their weights they are not among the rows that were "
    "learnt, or nothing but rounding would be left."
)


def merged(state, theirs, rebuild):
    """Add the sums of another state, in the first one's place; its P and A are its own.

    The least loss of both is a sum of squares: that of each at its own solution, and what the
    common solution is worse for its rows.
    """
    solutions = state["theta"].copy(), theirs["theta"]
    sums = state["A"].copy(), theirs["A"]
    ridge = state["alpha"] * np.eye(len(state["A"]))
    if "peaks" in state or "peaks" in theirs:
        both = [peaks_of(state), peaks_of(theirs)]
        state["peaks"] = {name: both[0][name] + both[1][name] for name in ("largest", "total")}
        state["peaks"]["worn"] = 1.0
    for name in ("t", "mass"):
        state[name] += theirs[name]
    for name in ("b", "squares"):
        state[name] = np.asarray(state[name] + theirs[name])
    state["A"] += theirs["A"] - ridge
    rebuild(state)
    for A, solution in zip(sums, solutions, strict=True):
        apart = state["theta"] - solution
        state["squares"] += (apart * (A @ apart)).sum(axis=0)
    squares = state["squares"] - state["alpha"] * np.square(state["theta"]).sum(axis=0)
    state["squares"] = np.asarray(np.maximum(squares, 0.0))


def without(state, Z, Y, weights, rebuild):
    """Take rows Z (n, D) of targets Y (n, q) and weights (n,) away; P and A are the state's own.

    Raises
    ------
    ValueError
        If what is left would be rounding.
    """
    t, before = state["t"], _total(state)
    peaks = state["peaks"] = peaks_of(state, before)
    for low in range(0, len(Z), _BLOCK):
        rows = slice(low, low + _BLOCK)
        _block_away(state, peaks, Z[rows], Y[rows], None if weights is None else weights[rows])
    is_due = state["t"] < _YOUNG or t // _REBUILD > state["t"] // _REBUILD
    left = _total(state)
    if is_due or peaks["worn"] > _WORN or (before > _WORN**2 * left).any():
        rebuild(state)
        peaks["worn"] = 1.0
    _look_at(state, peaks, left)


def rounds_until(share, forgetting, most):
    """Return after how many whole rounds, one to `most`, forgetting has left no less than share."""
    if forgetting == 1.0:
        return most
    return int(min(most, max(1.0, np.log(share) / np.log(forgetting))))


def peaks_of(state, total=None):
    """Return the largest sums that there have been: a share of them is rounding in those of now.

    And by which factor errors of P have grown since it was rebuilt.
    """
    known, total = state.get("peaks", {}), _total(state) if total is None else total
    return {
        "largest": np.maximum(known.get("largest", 0.0), np.diag(state["A"])),
        "total": np.asarray(np.maximum(known.get("total", 0.0), total)),
        "worn": known.get("worn", 1.0),
    }


def _block_away(state, peaks, Z, Y, weights):
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        Z, Y = root * Z, root * Y
    n_features, P = Z.shape[1], state["P"]
    theta, b = (state[name].reshape(n_features, -1) for name in ("theta", "b"))
    V, errors, least = _solved(Z @ P, Y - Z @ theta, Z)
    theta -= V.T @ errors
    squares = state["squares"] - np.square(errors).sum(axis=0).reshape(state["squares"].shape)
    state["squares"] = np.asarray(np.maximum(squares, 0.0))
    state["theta"], state["b"] = (part.reshape(state["b"].shape) for part in (theta, b))
    P += V.T @ V
    state["A"] -= Z.T @ Z
    b -= Z.T @ Y
    state["t"] -= len(Z)
    state["mass"] -= float(len(Z) if weights is None else weights.sum())
    peaks["worn"] /= least


def _solved(products, errors, Z):
    """Divide Z P and errors by the root of I - Z P Z'; return the least pivot of that too."""
    if len(Z) == 1:  # ten calls less
        pivot = 1.0 - float(products[0] @ Z[0])
        if not pivot > 0.0:
            raise ValueError(_NEVER)
        root = math.sqrt(pivot)
        return products / root, errors / root, pivot
    try:
        factor = np.linalg.cholesky(np.eye(len(Z)) - products @ Z.T)
    except np.linalg.LinAlgError:
        raise ValueError(_NEVER) from None
    products = solve_triangular(factor, products, lower=True, check_finite=False)
    errors = solve_triangular(factor, errors, lower=True, check_finite=False)
    return products, errors, float(np.diag(factor).min() ** 2)


def _look_at(state, peaks, left):
    """Refuse what is no more than the rounding of sums that were larger once."""
    spread = np.diag(state["P"])
    now = float(np.diag(state["A"]) @ spread)
    once = float(peaks["largest"] @ spread)
    # the larger the targets once were beside those left, the more of these was rounded away
    shares = peaks["total"] / np.maximum(left, np.finfo(np.float64).tiny)
    once *= math.sqrt(np.maximum.reduce(shares, axis=None, initial=1.0))
    if not (spread > 0.0).all() or not once <= min(max(_MOST, _TIMES * now), _HOPELESS):
        raise ValueError(
            "These rows outweigh all that would be left by so much that the rest is known to less "
            "than ten digits. Fit a new model on the rows that stay."
        )


def _total(state):
    """Return the weighted sum of squared targets, (q,) or ()."""
    explained = (state["b"] * state["theta"]).sum(axis=0)
    return np.maximum(state["squares"] + explained, 0.0)
