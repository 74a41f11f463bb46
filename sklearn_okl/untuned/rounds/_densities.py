r"""Smooth densities of errors whose size is told by the row, mixed by their likelihood.

Two scales, the running size of the errors and the size that the row tells, times five shapes: a
Gaussian and two of Student's, whose widths fading moments tell (for Student's by the weights of the
EM step), and two mixtures of narrow Student's around the latest scores, wider around those far off.
What is heard is the mean of the ten densities under weights of `SoftBayes`, taken anew every few
rounds; no weight falls below a floor, so that a law may change. All is as of the round in which
weights were last taken: scores since then wait, and are learnt together.
"""

from itertools import pairwise

import numpy as np
from scipy.special import gammaln

DEGREES = np.array([np.inf, 3.0, 6.0])  # the first is the Gaussian
WIDTHS = np.array([1.0, 0.35])  # of the kernels, over the rule of thumb
N_EXPERTS = 2 * (len(DEGREES) + len(WIDTHS))
_ETA = 0.2  # how far Bayes' rule is followed
_FLOOR = np.log(1e-3)  # least logarithm of a weight
_FADING = 0.998  # of moments
_LIKELIEST = np.exp(50.0)  # density over that of the mixture that counts at most
_FARTHEST = 20.0  # scores count as no farther in moments
_FEWEST = 20  # scores around which there are kernels
_OFTEN = 3.0  # degrees of freedom of kernels: their tails are no hazard, and cheap
_NORMS = np.append(
    -0.5 * np.log(2.0 * np.pi),
    gammaln((DEGREES[1:] + 1.0) / 2.0)
    - gammaln(DEGREES[1:] / 2.0)
    - 0.5 * np.log(DEGREES[1:] * np.pi),
)
_NORM = np.exp(gammaln(2.0) - gammaln(1.5)) / np.sqrt(3.0 * np.pi)


def start():
    """Return the state before the first error."""
    return {
        "logs": np.full(N_EXPERTS, -np.log(N_EXPERTS)),  # of weights
        "moments": np.ones((2, 2, len(DEGREES))),  # faded sums of squares, and of rounds
        "points": np.empty((0, 2)),  # scores around which there are kernels
        "pending": np.empty((0, 4)),  # scores and their scales since weights were taken
    }


def learn(state, scores, scales, windows, counts):
    """Learn scores (n, 2) in units of scales (n, 2).

    Weights are taken anew after the first `counts` (m,) of them, in order, and kernels are then
    around the scores of `windows`. Returns the logarithms of the densities of what does not wait.
    """
    pending = np.concatenate([state["pending"], np.concatenate([scores, scales], axis=1)])
    ends = [len(state["pending"]) + count for count in counts]
    state["pending"] = pending[ends[-1] if ends else 0 :].copy()
    if not ends:
        return np.empty(0)
    scores, scales = np.hsplit(pending[: ends[-1]], 2)
    parts = [slice(low, high) for low, high in pairwise([0, *ends])]
    variances = _learn_moments(state, scores, parts)
    kernels = np.empty((len(scores), 2, len(WIDTHS)))
    for rows, around in zip(parts, _kernels([state["points"], *windows[:-1]]), strict=True):
        kernels[rows] = _heights(around, scores[rows])
    lengths = [rows.stop - rows.start for rows in parts]
    logs = _log_densities(scores, scales, np.repeat(variances, lengths, axis=0), kernels)
    state["points"] = windows[-1].copy()
    return _learn_weights(state, logs, parts)


def log_density(state, errors, scales):
    """Return the logarithm (n,) of the mixture at errors (n,), by scales (n, 2)."""
    scores, (squares, rounds) = errors[:, None] / scales, state["moments"]
    kernels = _heights(*_kernels([state["points"]]), scores)
    logs = _log_densities(scores, scales, squares / rounds, kernels)
    most = logs.max(axis=1, keepdims=True)
    heights = np.exp(logs - most) @ np.exp(state["logs"])
    return most[:, 0] + np.log(heights / (~np.isneginf(logs) @ np.exp(state["logs"])))


def _log_densities(scores, scales, variances, kernels):
    """Return the logarithms (n, K) of densities at scores (n, 2); -inf for who is asleep."""
    squares = np.square(scores)[:, :, None] / variances
    logs = np.empty((len(scores), 2, len(DEGREES) + len(WIDTHS)))
    logs[:, :, 0] = -0.5 * squares[..., 0]
    nu = DEGREES[1:]
    logs[:, :, 1:3] = -0.5 * (nu + 1.0) * np.log1p(squares[..., 1:] / nu)
    logs[:, :, :3] += _NORMS - 0.5 * np.log(variances)
    with np.errstate(divide="ignore"):
        logs[:, :, 3:] = np.log(kernels)
    return (logs - np.log(scales)[:, :, None]).reshape(len(scores), N_EXPERTS)


def _kernels(windows):
    """Return of each window (m, 2) its points (2, m), and what distances from them are times."""
    m = len(windows[0])
    if any(len(window) != m for window in windows):
        return [around for window in windows for around in _kernels([window])]
    points = np.ascontiguousarray(np.array(windows).swapaxes(1, 2))
    if m < _FEWEST:
        return list(zip(points, 0.0 * points, strict=True))
    low, median, high = _quartiles(np.sort(points, axis=-1))
    spread = np.minimum(points.std(axis=-1), (high - low) / 1.34)
    spread = np.where(spread > 0.0, spread, np.inf)[..., None]
    off = np.abs(points - median[..., None])
    off /= 1.5 * spread
    np.maximum(off, 1.0, out=off)
    return list(zip(points, 1.0 / (np.sqrt(_OFTEN) * 0.9 * m**-0.2 * spread * off), strict=True))


def _heights(around, scores):
    """Return the kernel densities (n, 2, 2) of both scales around points; 0 where there is none."""
    points, factors = around
    squares = scores.T[:, :, None] - points[:, None]  # (2, n, m)
    squares *= factors[:, None]
    squares *= squares
    found = np.empty((*scores.shape, len(WIDTHS)))
    for k, width in enumerate(WIDTHS.tolist()):
        heights = squares / width**2 if width != 1.0 else squares.copy()
        heights += 1.0
        heights *= heights
        np.divide(1.0, heights, out=heights)
        norm = np.sqrt(_OFTEN) * _NORM / (max(len(points[0]), 1) * width)
        found[..., k] = norm * (heights @ factors[..., None])[..., 0].T
    return found


def _quartiles(ordered):
    """Return the quartiles of numbers (..., m) in order, to the last bit as NumPy has them."""
    places = np.array([0.25, 0.5, 0.75]) * (ordered.shape[-1] - 1.0)
    below = places.astype(np.intp)
    low, high, share = ordered[..., below], ordered[..., below + 1], places - below
    apart = high - low
    found = np.where(share >= 0.5, high - apart * (1.0 - share), low + apart * share)
    return np.moveaxis(found, -1, 0)


def _learn_moments(state, scores, parts):
    """Learn scores (n, 2), some rows at a time; return the variances before each part."""
    squares = np.minimum(np.square(scores), _FARTHEST**2)[:, :, None]
    moments, nu, path = state["moments"], DEGREES[1:], []
    for rows in parts:
        part, variances = squares[rows], moments[0] / moments[1]
        path.append(variances)
        moments = _FADING ** len(part) * moments
        moments[0, :, :1] += np.add.reduce(part)
        moments[0, :, 1:] += np.add.reduce(part * ((nu + 1.0) / (nu + part / variances[:, 1:])))
        moments[1] += len(part)
    state["moments"] = moments
    return np.array(path)


def _learn_weights(state, logs, parts):
    """Learn logarithms of densities (n, K), some rows at a time; return those of the mixture."""
    most, awake = logs.max(axis=1, keepdims=True), np.where(np.isneginf(logs), 0.0, 1.0)
    densities, found = np.exp(logs - most), np.empty(len(logs))
    for rows in parts:
        weights = np.exp(state["logs"])
        mixed = (densities[rows] @ weights) / (awake[rows] @ weights)
        ratios = np.minimum(densities[rows] / mixed[:, None], _LIKELIEST)
        gains = np.log1p(_ETA * (ratios - 1.0))
        gains *= awake[rows]
        known = _normed(state["logs"] + np.add.reduce(gains))
        state["logs"] = _normed(np.maximum(known, _FLOOR))
        found[rows] = mixed
    return most[:, 0] + np.log(found)


def _normed(logs):
    """Return logarithms of weights that add up to 1: those of some rows are of moderate size."""
    return logs - np.log(np.add.reduce(np.exp(logs)))
