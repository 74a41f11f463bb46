r"""Smooth densities of errors whose size is told by the row, mixed by their likelihood.

Two scales, the running size of the errors and the size that the row tells, times five shapes: a
Gaussian and two of Student's, whose widths fading moments tell (for Student's by the weights of the
EM step), and two mixtures of narrow Student's around the latest scores, wider around those far off.
What is heard is the mean of the ten densities under weights of `SoftBayes`, taken anew every few
rounds; no weight falls below a floor, so that a law may change. All is as of the round in which
weights were last taken.
"""

import numpy as np
from scipy.special import gammaln

DEGREES = np.array([np.inf, 3.0, 6.0])  # the first is the Gaussian
WIDTHS = np.array([1.0, 0.35])  # of the kernels, over the rule of thumb
N_EXPERTS = 2 * (len(DEGREES) + len(WIDTHS))
_ETA = 0.2  # how far Bayes' rule is followed
_FLOOR = np.log(1e-3)  # least logarithm of a weight
_FADING = 0.998  # of moments
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
    shape = 2, len(DEGREES)
    return {
        "logs": np.full(N_EXPERTS, -np.log(N_EXPERTS)),  # of weights
        "gains": np.zeros(N_EXPERTS),  # of logarithms of weights, since these were taken
        "moments": np.ones((2, *shape)),  # faded sums of squares, and of rounds
        "added": np.zeros((2, *shape)),  # to them since weights were taken
        "points": np.empty((0, 2)),  # scores around which there are kernels
        "n": 0,  # scores since weights were taken
    }


def learn(state, scores, scales, windows, counts):
    """Learn scores (n, 2) in units of scales (n, 2); return the logarithms of their densities.

    Weights are taken anew after the first `counts` (m,) of them, in order, and kernels are then
    around the scores of `windows`.
    """
    low, found = 0, []
    for high, points in zip([*counts, len(scores)], [*windows, None], strict=True):
        logs = log_densities(state, scores[low:high], scales[low:high])
        mixed, awake = _mixed(state, logs)
        gains = np.log1p(_ETA * np.expm1(np.minimum(logs - mixed[:, None], 50.0)))
        state["gains"] = state["gains"] + np.where(awake, gains, 0.0).sum(axis=0)
        state["added"] = state["added"] + _moments(state, scores[low:high])
        state["n"] += high - low
        found.append(mixed)
        if points is not None:
            _take(state, points)
        low = high
    return np.concatenate(found)


def log_densities(state, scores, scales):
    """Return the logarithms (n, K) of densities at scores (n, 2); -inf for who is asleep."""
    sizes = np.sqrt(state["moments"][0] / state["moments"][1])  # (2, 3)
    squares = np.square(scores[:, :, None] / sizes)
    logs = np.empty((len(scores), 2, len(DEGREES) + len(WIDTHS)))
    logs[:, :, 0] = -0.5 * squares[..., 0]
    nu = DEGREES[1:]
    logs[:, :, 1:3] = -0.5 * (nu + 1.0) * np.log1p(squares[..., 1:] / nu)
    logs[:, :, :3] += _NORMS - np.log(sizes)
    logs[:, :, 3:] = _kernels(state["points"], scores)
    return (logs - np.log(scales)[:, :, None]).reshape(len(scores), N_EXPERTS)


def _kernels(points, scores):
    """Return the logarithms (n, 2, 2) of kernel densities around points (m, 2)."""
    m, found = len(points), np.full((len(scores), 2, len(WIDTHS)), -np.inf)
    if m < _FEWEST:
        return found
    low, median, high = _quartiles(points)
    spread = np.minimum(points.std(axis=0), (high - low) / 1.34)
    for j in np.flatnonzero(spread > 0.0):
        off = np.abs(points[:, j] - median[j]) / (1.5 * spread[j])
        width = 0.9 * spread[j] * m**-0.2 * np.maximum(off, 1.0)
        squares = scores[:, j, None] - points[:, j].copy()
        squares /= width
        np.multiply(squares, squares, out=squares)
        squares /= _OFTEN
        for k, factor in enumerate(WIDTHS):
            heights = 1.0 + (squares if factor == 1.0 else squares / factor**2)
            np.multiply(heights, heights, out=heights)
            np.divide(1.0, heights, out=heights)
            found[:, j, k] = np.log(_NORM / (m * factor) * (heights @ (1.0 / width)))
    return found


def _quartiles(points):
    """Return the quartiles (3, 2) of points (m, 2), to the last bit as NumPy has them, sooner."""
    ordered, places = np.sort(points, axis=0), np.array([0.25, 0.5, 0.75]) * (len(points) - 1.0)
    below = places.astype(np.intp)
    share, low, high = (places - below)[:, None], ordered[below], ordered[below + 1]
    apart = high - low
    return np.where(share >= 0.5, high - apart * (1.0 - share), low + apart * share)


def _moments(state, scores):
    """Return what scores (n, 2) add to the moments."""
    variances = state["moments"][0] / state["moments"][1]
    squares = np.minimum(np.square(scores), _FARTHEST**2)[:, :, None] * np.ones(len(DEGREES))
    nu = DEGREES[1:]
    squares[..., 1:] *= (nu + 1.0) / (nu + squares[..., 1:] / variances[:, 1:])
    squares = squares.sum(axis=0)
    return np.stack([squares, np.full_like(squares, len(scores))])


def _mixed(state, logs):
    """Return the logarithms (n,) of the mixture of those (n, K), and who is awake."""
    awake = ~np.isneginf(logs)
    heard = _log_sum(np.where(awake, state["logs"], -np.inf))
    return _log_sum(logs + state["logs"]) - heard, awake


def _take(state, points):
    """Take weights, moments and points anew."""
    logs = state["logs"] + state["gains"]
    logs = np.maximum(logs - _log_sum(logs), _FLOOR)
    state["logs"], state["gains"] = logs - _log_sum(logs), np.zeros(N_EXPERTS)
    state["moments"] = _FADING ** state["n"] * state["moments"] + state["added"]
    state["added"], state["n"] = np.zeros_like(state["moments"]), 0
    state["points"] = points.copy()


def _log_sum(logs):
    """Return the logarithms of sums of exponentials along the last axis: SciPy's takes 100 us."""
    most = logs.max(axis=-1, keepdims=True)
    most = np.where(np.isinf(most), 0.0, most)
    with np.errstate(divide="ignore"):
        return most[..., 0] + np.log(np.exp(logs - most).sum(axis=-1))


def log_density(state, errors, scales):
    """Return the logarithm (n,) of the mixture at errors (n,), by scales (n, 2)."""
    return _mixed(state, log_densities(state, errors[:, None] / scales, scales))[0]
