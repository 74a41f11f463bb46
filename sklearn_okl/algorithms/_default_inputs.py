"""The inputs of the estimators without tuning: standardised as they come, the latest targets added.

The moments are those of B. P. Welford, "Note on a method for calculating corrected sums of squares
and products", Technometrics 4(3), 1962; when they are given up for those of a block is ours.
"""

import numpy as np

from .._delay import as_it_was, late

_ROUNDING = 1e-12  # share of a column's level below which its spread is none
_FAR = 5.0  # standard deviations at which an input is clipped: heavy tails carry no kernel far
_FAULTY = 10.0  # standard deviations beyond which a value counts as one so far off
_BLOCK = 64  # rows after which a column is asked whether its unit has changed
_KNOWN = 4  # blocks before the first such question
_REPEATED = 0.2  # share of steps of 0 from which on a column says nothing
_APART = 4.0  # ratio of roughness that makes a new unit, and deviations of the ratios before it


class LaggedInputs:
    """Standardise rows by the rows before them, and append the latest targets, standardised too.

    Of the targets neither faulty values nor new units are looked for: see `_default_targets.py`.

    Parameters
    ----------
    n_lags : int
    delay : int
        How many rounds late a row's moments and latest targets are, as labels come so late.
    """

    def __init__(self, n_lags, delay=0):
        self.n_lags = n_lags
        self.delay = delay

    @property
    def n_walks(self):
        """Number of forecasts that are made of the latest targets alone."""
        return 2 * (self.n_lags > 0)

    def start(self, n_features):
        """Return the state before the first row."""
        return {
            "rows": start_moments(n_features),
            "targets": {name: np.zeros(1) for name in ("weights", "sums", "squares")},
            "lags": np.zeros(self.n_lags),  # the latest first
            "past": {  # what was known before each of the latest `delay` rows
                "centers": np.zeros((self.delay, n_features)),
                "scales": np.zeros((self.delay, n_features)),
                "lags": np.zeros((self.delay, self.n_lags)),  # standardised
                "walks": np.zeros((self.delay, self.n_walks)),
                "scale": np.ones(self.delay),
            },
        }

    def learn(self, state, X, y):
        """Learn rows (n, d) and targets.

        Returns
        -------
        U : ndarray of shape (n, d + n_lags)
            Inputs.
        walks : ndarray of shape (n, n_walks)
            Forecasts of random walks without and with a drift: persistence, and the mean step on
            top of it.
        scales : ndarray of shape (n,)
            The scale of y known before each row.
        """
        centers, scales = learn_moments(state["rows"], X)
        paths = dict(zip(state["targets"], _paths(y[:, None], state["targets"]), strict=True))
        state["targets"] = {name: path[-1] for name, path in paths.items()}
        paths = {name: path[:-1] for name, path in paths.items()}
        past = np.concatenate([state["lags"][::-1], y])
        n, k = len(y), self.n_lags
        lags = np.empty((n, k))  # row t holds y_{t-1}, y_{t-2}, ...
        for j in range(k):
            lags[:, j] = past[k - 1 - j : k - 1 - j + n]
        state["lags"] = past[n:][::-1].copy()
        scales[paths["weights"][:, 0] <= self.delay] = 0.0  # as below
        known = {"centers": centers, "scales": scales} | self._of_targets(lags, paths)
        for name, path in known.items():
            known[name], state["past"][name] = late(path, state["past"][name])
        return self._read(X, known)

    def look(self, state, X, ago=0):
        """Return the same for rows each as if the next, from what was known some rounds ago."""
        centers, scales = known_moments(state["rows"])
        # fewer rows than are to be forecast hardly tell what is far for these
        scales = np.where(state["targets"]["weights"] <= self.delay, 0.0, scales)
        now = {"centers": centers, "scales": scales}
        now |= {
            name: value[0]
            for name, value in self._of_targets(state["lags"][None], state["targets"]).items()
        }
        known = {name: as_it_was(now[name], past, ago) for name, past in state["past"].items()}
        return self._read(X, known)

    def _of_targets(self, lags, moments):
        """Return what rows know of the targets: their lags (n, k), walks and scale."""
        centers, variances = _mean_and_variance(**moments)
        scales = _scale(centers, variances)
        known = np.where(moments["weights"] > self.delay, scales, 0.0)
        last = lags[:, :1]  # none without lags
        steps = last / np.maximum(moments["weights"] - 1.0, 1.0)  # the first target is the origin
        return {
            "lags": _standardised(lags, centers, known),
            "walks": np.hstack([last, last + (self.delay + 1.0) * steps]),
            "scale": _or_one(scales.reshape(-1)),
        }

    def _read(self, X, known):
        rows = _standardised(X, known["centers"], known["scales"])
        lags = np.broadcast_to(known["lags"], (len(X), self.n_lags))
        walks = np.broadcast_to(known["walks"], (len(X), self.n_walks))
        return np.hstack([rows, lags]), walks, known["scale"]


def start_moments(n_columns):
    """Return running moments of nothing."""
    nothing = np.zeros(n_columns)
    return {
        # what is taken from all rows: sums of large numbers would lose small differences
        "origin": None,
        "weights": nothing,
        "sums": nothing,
        "squares": nothing,  # of the distances from the mean
        "block": np.empty((0, n_columns)),  # the latest rows, origin taken off
        "known": np.zeros((2, n_columns)),  # mean and scale before the block
        "roughness": np.zeros((3, n_columns)),  # of blocks, its logarithm: number, mean, squares
    }


def learn_moments(state, X):
    """Learn rows (n, d) in order; return centres and scales (n, d) known before each of them.

    A scale is 0 where a column has been constant. Values far beyond what was known before their
    block are moved nearer, so that a faulty one does not make the others small for good. After each
    block of rows a column whose unit or nature has changed gives up its past for the block, see
    `_changed`. All sums are taken row by row, so that a cut of the stream leaves them the same to
    the last bit, and with them that decision.
    """
    if state["origin"] is None:
        state["origin"] = X[0].copy()
    centers, scales = np.empty_like(X), np.empty_like(X)
    low = 0
    while low < len(X):
        high = min(low + _BLOCK - len(state["block"]), len(X))
        rows = X[low:high] - state["origin"]
        weights, sums, squares = _paths(_nearer(rows, *state["known"]), state)
        means, variances = _mean_and_variance(weights[:-1], sums[:-1], squares[:-1])
        centers[low:high] = means + state["origin"]
        scales[low:high] = _scale(centers[low:high], variances)
        state.update(weights=weights[-1], sums=sums[-1], squares=squares[-1])
        state["block"] = np.concatenate([state["block"], rows])
        if len(state["block"]) == _BLOCK:
            _end_block(state)
        low = high
    return centers, scales


def known_moments(state):
    """Return the centre and the scale (d,) of each column known now."""
    means, variances = _mean_and_variance(state["weights"], state["sums"], state["squares"])
    return means + state["origin"], _scale(means + state["origin"], variances)


def _nearer(rows, center, scale):
    """Move values further than `_FAULTY` scales from the centre to there."""
    far = np.where(scale > 0.0, _FAULTY * scale, np.inf)
    return np.clip(rows, center - far, center + far)


def _paths(rows, state):
    """Return the weights, sums and squares (n + 1, d) before each row and after the last."""
    weights = _sums(np.ones_like(rows), state["weights"])
    sums = _sums(rows, state["sums"])
    means = sums / np.maximum(weights, 1.0)
    terms = (rows - means[:-1]) * (rows - means[1:])
    return weights, sums, _sums(terms, state["squares"])


def _sums(terms, start):
    return np.cumsum(np.concatenate([start[None], terms]), axis=0)


def _end_block(state):
    """Give up the past of the columns that have changed, and start the next block."""
    block = state["block"]
    middle = np.median(block, axis=0)
    # Steps from row to row, not distances from the middle: a slow column has a small spread in
    # every block, and yet the same unit. Columns of few values have no typical step.
    steps = np.abs(np.diff(block, axis=0))
    telling = (steps == 0.0).mean(axis=0) < _REPEATED
    rough = np.log(np.median(steps, axis=0), out=np.zeros(block.shape[1]), where=telling)
    changed = telling & _changed(state, middle, rough)
    if changed.any():
        # had the change come later, most steps would be those of the old unit; some may be
        latest = block[_BLOCK // 2 :]
        _start_anew(state, changed, latest, ~_far_off(latest))
        state["roughness"] = np.where(changed, 0.0, state["roughness"])
    elif state["weights"][0] == _BLOCK:  # the first one: nothing was known of what is far
        rows = _nearer(block, middle, _spread(block, middle))
        _start_anew(state, (rows != block).any(axis=0), rows, np.ones(rows.shape, dtype=bool))
    number, mean, squares = state["roughness"]
    number = number + telling
    distance = np.where(telling, rough - mean, 0.0)
    mean = mean + distance / np.maximum(number, 1.0)
    squares = squares + distance * np.where(telling, rough - mean, 0.0)
    state["roughness"] = np.stack([number, mean, squares])
    means, variances = _mean_and_variance(state["weights"], state["sums"], state["squares"])
    state["known"] = np.stack([means, _scale(means + state["origin"], variances)])
    state["block"] = block[:0]


def _start_anew(state, columns, rows, kept):
    """Take the moments of some columns from some rows alone, but for values that are not kept."""
    if columns.any():
        number = kept.sum(axis=0)
        mean = (rows * kept).sum(axis=0) / number
        squares = (kept * np.square(rows - mean)).sum(axis=0)
        state["origin"] = np.where(columns, state["origin"] + mean, state["origin"])
        state["weights"] = np.where(columns, number.astype(float), state["weights"])
        state["sums"] = np.where(columns, 0.0, state["sums"])
        state["squares"] = np.where(columns, squares, state["squares"])


def _spread(rows, middle):
    """Return standard deviations (d,) that half of the values say nothing against."""
    return 1.4826 * np.median(np.abs(rows - middle), axis=0)


def _far_off(rows):
    """Return which values (n, d) are far from most of their column: those of an old unit."""
    middle = np.median(rows, axis=0)
    spread = _spread(rows, middle)
    return (np.abs(rows - middle) > _FAR * spread) & (spread > 0.0)


def _changed(state, middle, rough):
    """Return which columns have changed their unit or their nature within the block.

    Those whose median step is a factor of four, and four standard deviations of the logarithms of
    the blocks before, from what it was; and those whose median lies where all inputs are clipped.
    """
    number, mean, squares = state["roughness"]
    # few blocks know little of their spread: one more is made up that was off by a factor of e
    deviation = np.sqrt((squares + 1.0) / np.maximum(number, 1.0))
    new_unit = np.abs(rough - mean) > np.maximum(np.log(_APART), _APART * deviation)
    center, scale = state["known"]
    new_level = np.abs(middle - center) > _FAR * scale
    return (number >= _KNOWN) & (new_unit | new_level)


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
