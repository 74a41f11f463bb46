"""Sums over the rows of one ridge regression: those of two added, rows taken away again."""

import math
from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from .._validation import weights_of
from ..base import SumsOfRows
from ..base._sums import ages_of
from . import _ridge_root

_BLOCK = 64  # rows taken away at once
_WORN = 8.0  # factor by which errors of P may have grown before it is rebuilt
_REBUILD = 1024  # rows unlearnt between two rebuilds
_YOUNG = 64  # rounds before the learner's own first rebuild, up to which P is coarse
_MOST = 1e5  # condition of what is left: beyond, it is known to less than ten digits
_TIMES = 10.0  # how much worse than that of a new model it may be, if that is bad by itself
_HOPELESS = 1e7  # and however bad that is: a new model of such rows would go by a root of its sums
_SLACK = 1e-8  # share of the squared targets by which the least loss may seem to be below 0
_TINY = np.finfo(np.float64).tiny
_NEVER = (
    "These rows cannot be unlearnt: with their targets and weights they are not among the rows "
    "that were learnt, or nothing but rounding would be left."
)


class SumsOfRidge(SumsOfRows):
    """Beside the recursion of ridge regression: models merged, rows unlearnt."""

    def _order_matters(self, has_age=False):
        if self.forgetting < 1.0 and not has_age:
            return (
                f"with forgetting={self.forgetting} what is left of a row depends on how long ago "
                "it came. Models that are to be merged have forgetting=1.0, and 'unlearn' of those "
                "that forget is told the 'age' of each row."
            )
        return None

    def _unfit(self, other):
        if self.fit_intercept != other.fit_intercept:
            return "One of the models has an intercept, the other has none."
        return self._unfit_sums(self._state, other._state)

    def _unfit_sums(self, mine, theirs):
        if mine["b"].shape != theirs["b"].shape or mine["alpha"] != theirs["alpha"]:
            return (
                f"The models have {mine['b'].shape} and {theirs['b'].shape} features (and "
                f"targets), alpha={float(mine['alpha'])} and {float(theirs['alpha'])}; both must "
                "agree."
            )
        return None

    def _merged(self, state, theirs):
        for one in (state, theirs):
            _ridge_root.drop(one, self)
            self._open(one)
        merged(state, theirs, self._rebuild)

    def _without(self, state, X, y, sample_weight=None):
        weights = None if sample_weight is None else weights_of(sample_weight, len(y))
        _ridge_root.drop(state, self)
        Z = self._design(X)
        if len(Z) == 1 and self._is_one(state):
            weight = 1.0 if weights is None else float(weights[0])
            row_away(self._rows_of(state), Z[0], float(y[0]), weight)
        else:
            self._open(state)
            without(state, Z, y.reshape(len(y), -1), weights, self._rebuild)

    def _without_aged(self, state, X, y, sample_weight, age):
        weights = weights_of(1.0 if sample_weight is None else sample_weight, len(y))
        ages = ages_of(age, len(y), state["t"])
        if self.forgetting == 1.0:
            self._without(state, X, y, None if sample_weight is None else weights)
            return
        _ridge_root.drop(state, self)
        self._open(state)
        t, faded = state["t"], self.forgetting**ages
        if "peaks" in state:  # rounding of sums that were large once has faded as they have
            once = self.forgetting ** (t - state["peaks"]["t"])
            known = {name: once * state["peaks"][name] for name in ("largest", "total")}
            state["peaks"] = state["peaks"] | known
        Z, Y = self._design(X), y.reshape(len(y), -1)
        without(state, Z, Y, weights * faded, self._rebuild, is_exact=False)
        # their rounds stay: by these the past has faded, and the ridge comes back
        state["t"] = state["peaks"]["t"] = t

    def _reopen(self, state, anew):
        """Bring the rows that wait into P and A, and compute P anew if it is time."""
        self._open(state)
        if anew:
            self._rebuild(state)
        self._close(state, grows=True)


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
        added = {name: both[0][name] + both[1][name] for name in ("largest", "total")}
        state["peaks"] = both[0] | added | {"worn": 1.0, "t": -1}
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


def without(state, Z, Y, weights, rebuild, is_exact=True):
    """Take rows Z (n, D) of targets Y (n, q) and weights (n,) away; P and A are the state's own.

    The least loss of what is left is never below 0, and known where it `is_exact`: not where the
    ridge has been put back.

    Raises
    ------
    ValueError
        If what is left would be rounding.
    """
    t, before = state["t"], _total(state)
    peaks = state["peaks"] = _peaks(state, np.diag(state["A"]), before)
    for low in range(0, len(Z), _BLOCK):
        rows = slice(low, low + _BLOCK)
        of_rows = None if weights is None else weights[rows]
        _block_away(state, peaks, Z[rows], Y[rows], of_rows, is_exact)
    left = _total(state)
    if _is_worn(state, peaks, t, np.any(before > _WORN**2 * left)):
        rebuild(state)
        peaks["worn"] = 1.0
    peaks["t"] = state["t"]
    _look_at(peaks, np.diag(state["A"]), np.diag(state["P"]), left)


def without_in_bank(state, Z, y, rebuild):
    """Take rows Z (K, n, D) of targets y (n,) away from a bank of K models; P and A are its own."""
    known = state.get("peaks")
    members = []
    for k in range(len(Z)):
        member = {
            name: value[k, ...] if isinstance(value, np.ndarray) else value
            for name, value in state.items()
        }
        if known is not None:
            member["peaks"] = {name: value[k] for name, value in known.items()}
        without(member, Z[k], y[:, None], None, rebuild)
        members.append(member)
    for name in ("theta", "b", "squares"):
        state[name] = np.stack([member[name] for member in members])
    state["peaks"] = {
        name: np.array([member["peaks"][name] for member in members])
        for name in members[0]["peaks"]
    }
    state.update(t=members[0]["t"], mass=members[0]["mass"])


def row_away(rows, z, y, weight):
    """Take a row z (D,) of one target away, into the tail of `RidgeRows`: P and A are read only."""
    state, t, before = rows.state, rows.t, rows.total()
    peaks = _peaks_before(state, before)
    pivot = rows.unlearn(z, y, weight)
    if not (pivot > 0.0 and rows.squares >= -_SLACK / pivot * float(peaks["total"])):
        raise ValueError(_NEVER)
    rows.squares = max(rows.squares, 0.0)
    rows.settle()
    left = before - weight * y * y
    is_small = before > _WORN**2 * left
    if is_small:  # the difference is rounding, in part
        left = rows.total()
    state["peaks"] = peaks
    peaks["t"] = t - 1
    peaks["worn"] /= pivot
    peaks["bound"] *= math.sqrt(before / max(left, _TINY)) / pivot if before else 1.0 / pivot
    if _is_worn(state, peaks, t, is_small):
        rows.reopen(anew=True)
        peaks["worn"] = 1.0
    elif not rows.has_room:  # who learns expects some
        rows.reopen()
    if not peaks["bound"] <= _MOST:
        _look_at(peaks, *state["inverse"].diagonals(), np.asarray(left))


def _peaks_before(state, total):
    """Return the peaks before a row is taken away; nothing has grown if no row has come since."""
    if "peaks" in state and state["peaks"]["t"] == state["t"]:
        return state["peaks"]
    return _peaks(state, state["inverse"].diagonals()[0], np.asarray(total))


def _is_worn(state, peaks, t, is_small):
    """Tell whether P is to be computed anew, where there were t rows, and what is left is small."""
    is_due = state["t"] < _YOUNG or t // _REBUILD > state["t"] // _REBUILD
    return is_due or peaks["worn"] > _WORN or is_small


@lru_cache(64)
def rounds_until(share, forgetting, most):
    """Return after how many whole rounds, one to `most`, forgetting has left no less than share."""
    if forgetting == 1.0:
        return most
    return int(min(most, max(1.0, np.log(share) / np.log(forgetting))))


def peaks_of(state):
    """Return the largest sums that there have been: a share of them is rounding in those of now.

    And by which factor errors of P have grown since it was rebuilt. Those of a bank are zeros, of
    the shape of its own.
    """
    if state["alpha"].ndim:
        zeros = np.zeros_like(state["alpha"])
        numbers = dict.fromkeys(("total", "worn", "bound"), zeros)
        return numbers | {"largest": np.zeros_like(state["theta"]), "t": zeros.astype(int)}
    return _peaks(state, np.diag(state["A"]), _total(state))


def _peaks(state, sums, total):
    known = state.get("peaks", {})
    return {
        "largest": np.maximum(known.get("largest", 0.0), sums),
        "total": np.asarray(np.maximum(known.get("total", 0.0), total)),
        "worn": known.get("worn", 1.0),
        "bound": math.inf,  # on how much worse than A the largest A is for P, until a row comes
        "t": -1,  # after which number of rows
    }


def _block_away(state, peaks, Z, Y, weights, is_exact):
    if weights is not None:
        root = np.sqrt(weights)[:, None]
        Z, Y = root * Z, root * Y
    n_features, P = Z.shape[1], state["P"]
    theta, b = (state[name].reshape(n_features, -1) for name in ("theta", "b"))
    V, errors, least = _solved(Z @ P, Y - Z @ theta, Z)
    theta -= V.T @ errors
    squares = state["squares"] - np.square(errors).sum(axis=0).reshape(state["squares"].shape)
    if is_exact and (squares < -_SLACK / least * peaks["total"]).any():
        raise ValueError(_NEVER)
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
    try:
        factor = np.linalg.cholesky(np.eye(len(Z)) - products @ Z.T)
    except np.linalg.LinAlgError:
        raise ValueError(_NEVER) from None
    both = np.concatenate([products, errors], axis=1)
    both = solve_triangular(factor, both, lower=True, overwrite_b=True, check_finite=False)
    q = errors.shape[1]
    return both[:, :-q], both[:, -q:], float(np.diag(factor).min() ** 2)


def _look_at(peaks, sums, spread, left):
    """Refuse what is no more than the rounding of sums that were larger once.

    Of now are the diagonals of A and P, and what is left of the sum of squared targets.
    """
    now = float(sums @ spread)
    once = float(peaks["largest"] @ spread)
    # the larger the targets once were beside those left, the more of these was rounded away
    shares = peaks["total"] / np.maximum(left, _TINY)
    once *= math.sqrt(np.maximum.reduce(shares, axis=None, initial=1.0))
    peaks["bound"] = once
    if not (spread > 0.0).all() or not once <= min(max(_MOST, _TIMES * now), _HOPELESS):
        raise ValueError(
            "These rows outweigh all that would be left by so much that the rest is known to less "
            "than ten digits. Fit a new model on the rows that stay."
        )


def _total(state):
    """Return the weighted sum of squared targets, (q,) or ()."""
    explained = (state["b"] * state["theta"]).sum(axis=0)
    return np.maximum(state["squares"] + explained, 0.0)
