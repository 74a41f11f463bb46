"""The inputs of the estimators without tuning: standardised as they come, the latest targets added.

The moments are those of B. P. Welford, "Note on a method for calculating corrected sums of squares
and products", Technometrics 4(3), 1962; that a fading pair of them takes over is ours.
"""

import numpy as np
from scipy.signal import lfilter

_FADING = 0.999  # the second pair of moments looks back about a thousand rows
_APART = 4.0  # ratio of the two scales at which the past is given up
_ROUNDING = 1e-12  # share of a column's level below which its spread is none
_FAR = 5.0  # standard deviations at which an input is clipped: heavy tails carry no kernel far
_TILE = 128  # rows of which all moments are held at once


class LaggedInputs:
    """Standardise rows by the rows before them, and append the latest targets, standardised too.

    The targets are counted from the first one, which is all that is known of their level when
    nothing else is.
    """

    def __init__(self, n_lags):
        self.n_lags = n_lags

    def start(self, n_features):
        """Return the state before the first row."""
        return {
            "rows": start_moments(n_features),
            "targets": start_moments(1),
            "lags": np.zeros(self.n_lags),  # the latest first
        }

    def learn(self, state, X, y):
        """Return inputs (n, d + n_lags), and the scale of y known before each row, (n,)."""
        rows = _standardised(X, *learn_moments(state["rows"], X))
        centers, scales = learn_moments(state["targets"], y[:, None])
        past = np.concatenate([state["lags"][::-1], y])
        n, k = len(y), self.n_lags
        lags = np.empty((n, k))  # row t holds y_{t-1}, y_{t-2}, ...
        for j in range(k):
            lags[:, j] = past[k - 1 - j : k - 1 - j + n]
        state["lags"] = past[n:][::-1].copy()
        lags = _standardised(lags, centers, scales)
        return np.hstack([rows, lags]), _or_one(scales[:, 0])

    def look(self, state, X):
        """Return inputs for rows, each as if the next, and the scale of y known now."""
        rows = _standardised(X, *known_moments(state["rows"]))
        center, scale = known_moments(state["targets"])
        lags = _standardised(state["lags"], center, scale)
        U = np.hstack([rows, np.broadcast_to(lags, (len(X), self.n_lags))])
        return U, float(_or_one(scale)[0])


def start_moments(n_columns):
    """Return running moments of nothing: a lasting pair (row 0) and a fading one (row 1)."""
    return {
        "origin": None,  # the first row: sums of large numbers would lose small differences
        "weights": np.zeros((2, n_columns)),
        "sums": np.zeros((2, n_columns)),
        "squares": np.zeros((2, n_columns)),  # of the distances from the mean
    }


def learn_moments(state, X):
    """Learn rows (n, d) in order; return centres and scales (n, d) known before each of them.

    A scale is 0 where a column has been constant. Where the lasting and the fading scale are a
    factor of four apart, as after a change of a column's unit, the column's lasting moments are
    replaced by the fading ones. All sums are taken row by row, so that a cut of the stream leaves
    them the same to the last bit, and with them that decision.
    """
    if state["origin"] is None:
        state["origin"] = X[0].copy()
    centers, scales = np.empty_like(X), np.empty_like(X)
    low = 0
    while low < len(X):
        rows = slice(low, low + _TILE)
        low += _learn_tile(state, X[rows], centers[rows], scales[rows])
    return centers, scales


def known_moments(state):
    """Return the centre and the scale (d,) of each column known now."""
    means, variances = _mean_and_variance(*(state[name][0] for name in _SUMS))
    return means + state["origin"], _scale(means + state["origin"], variances)


_SUMS = ("weights", "sums", "squares")


def _learn_tile(state, X, centers, scales):
    """Learn rows until one after which a column gives up its past; return how many it was."""
    rows = X - state["origin"]
    paths = [_paths(rows, forgetting, state, pair) for pair, forgetting in ((0, 1.0), (1, _FADING))]
    (means, variances), (_, recent) = (_mean_and_variance(*path) for path in paths)
    apart = np.maximum(variances[1:], recent[1:]) > _APART**2 * np.minimum(
        variances[1:], recent[1:]
    )
    n = len(X) if not apart.any() else int(apart.any(axis=1).argmax()) + 1
    centers[:n] = means[:n] + state["origin"]
    scales[:n] = _scale(centers[:n], variances[:n])
    for pair, path in enumerate(paths):
        for name, values in zip(_SUMS, path, strict=True):
            state[name][pair] = values[n]
    renewed = apart[n - 1]
    for name in _SUMS:
        state[name][0, renewed] = state[name][1, renewed]
    return n


def _paths(rows, forgetting, state, pair):
    """Return the weights, sums and squares (n + 1, d) before each row and after the last."""
    weights, sums, squares = (state[name][pair] for name in _SUMS)
    weights = _faded(np.ones_like(rows), forgetting, weights)
    sums = _faded(rows, forgetting, sums)
    means = sums / np.maximum(weights, 1.0)
    terms = (rows - means[:-1]) * (rows - means[1:])
    return weights, sums, _faded(terms, forgetting, squares)


def _faded(terms, forgetting, start):
    """Return s_0 = start and the sums s_t = forgetting s_{t-1} + terms_t, (n + 1, d)."""
    if len(terms) == 1:  # the same in exact arithmetic and in this one, without the filter's calls
        return np.stack([start, forgetting * start + terms[0]])
    sums, _ = lfilter([1.0], [1.0, -forgetting], terms, axis=0, zi=forgetting * start[None])
    return np.concatenate([start[None], sums])


def _mean_and_variance(weights, sums, squares):
    weights = np.maximum(weights, 1.0)  # below 1 only where there is nothing to divide
    return sums / weights, squares / weights


def _scale(centers, variances):
    """Return standard deviations, and 0 where rounding alone could have made them."""
    scales = np.sqrt(variances)
    return np.where(scales > _ROUNDING * np.abs(centers), scales, 0.0)


def _standardised(X, centers, scales):
    Z = np.zeros_like(X)
    np.divide(X - centers, scales, out=Z, where=scales > 0.0)
    return np.clip(Z, -_FAR, _FAR, out=Z)


def _or_one(scales):
    return np.where(scales > 0.0, scales, 1.0)
