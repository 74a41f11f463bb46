"""The inputs of the estimators without tuning: standardised as they come, the latest targets added.

The moments are those of B. P. Welford, "Note on a method for calculating corrected sums of squares
and products", Technometrics 4(3), 1962; when they are given up for those of a block is ours.
"""

from typing import NamedTuple

import numpy as np

from .._delay import as_it_was, late

_ROUNDING = 1e-12  # share of a column's level below which its spread is none
_FAR = 5.0  # standard deviations at which an input is clipped: heavy tails carry no kernel far
_FAULTY = 10.0  # standard deviations beyond which a value counts as one so far off
_FIRST = 16  # rows after which units are known that stay as they are
_FARTHEST = 1e6  # in steady units: larger numbers would cost those of other rows their digits
_BLOCK = 64  # rows after which a column is asked whether its unit has changed
_KNOWN = 4  # blocks before the first such question
_REPEATED = 0.2  # share of steps of 0 from which on a column says nothing
_APART = 4.0  # ratio of roughness that makes a new unit, and deviations of the ratios before it


class Seen(NamedTuple):
    """What the experts see of rows.

    Attributes
    ----------
    inputs : ndarray of shape (n, d + n_lags)
        Standardised by what was known before each row: no number is large.
    steady : ndarray of shape (n, d + n_lags)
        In units that stay as they were first known: a line through them stays a line, even where
        they grow.
    walks : ndarray of shape (n, n_walks)
        Forecasts of random walks without and with a drift: persistence, and the mean step on top of
        it.
    scale : ndarray of shape (n,), or float
        The scale of y known before each row.
    """

    inputs: np.ndarray
    steady: np.ndarray
    walks: np.ndarray
    scale: np.ndarray


class LaggedInputs:
    """Standardise rows by the rows before them, and append the latest targets, standardised too.

    Of the targets neither faulty values nor new units are looked for: see `_targets.py`.

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
        d, k = n_features, self.n_lags
        shapes = {
            "rows": (2, 2, d),
            "lags": (2, k),
            "walks": (self.n_walks,),
            "count": (),
            "scale": (),
        }
        return {
            "rows": start_moments(d),
            "targets": {name: np.zeros(1) for name in ("weights", "sums", "squares")}
            | {"steady": np.zeros((2, 1))},
            "lags": np.zeros(k),  # the latest first
            # what was known before each of the latest `delay` rows
            "past": {name: np.zeros((self.delay, *shape)) for name, shape in shapes.items()}
            | {"scale": np.ones(self.delay)},
        }

    def learn(self, state, X, y):
        """Learn rows (n, d) and targets; return what was to be seen before each of them."""
        rows = learn_moments(state["rows"], X)
        moments = state["targets"]
        names = ("weights", "sums", "squares")
        paths = dict(zip(names, _paths(y[:, None], moments), strict=True))
        moments.update({name: path[-1] for name, path in paths.items()})
        n, k = len(y), self.n_lags
        past = np.concatenate([y[::-1], state["lags"]])  # the latest first
        lags = np.empty((n, k))  # row t holds y_{t-1}, y_{t-2}, ...
        for j in range(k):
            lags[:, j] = past[1 + j : 1 + j + n][::-1]
        state["lags"] = past[:k].copy()
        paths = {name: path[:-1] for name, path in paths.items()}
        known = {"rows": rows} | self._of_targets(lags, moments, paths)
        n_first = int((paths["weights"] <= self.delay).sum())  # of which there was no forecast
        for name, path in known.items():
            known[name], state["past"][name] = late(path, state["past"][name])
            if self.delay and name in ("rows", "lags"):
                known[name][:n_first] = path[:n_first]
        if self.delay:
            known["count"][:n_first] = np.inf
        return self._seen(X, known)

    def look(self, state, X, ago=0):
        """Return what is seen of rows, each as if the next, from what was known some rounds ago."""
        moments = dict(state["targets"])
        paths = {name: moments[name][None] for name in ("weights", "sums", "squares")}
        of_targets = self._of_targets(state["lags"][None], moments, paths)
        now = {"rows": known_moments(state["rows"])}
        now |= {name: path[0] for name, path in of_targets.items()}
        known = {name: as_it_was(now[name], past, ago) for name, past in state["past"].items()}
        return self._seen(X, known)

    def _of_targets(self, lags, moments, paths):
        """Return what rows know of the targets: their lags (n, 2, k), walks, number and scale."""
        centers, variances = _mean_and_variance(**paths)
        scales = _scale(centers, variances)
        steady, moments["steady"] = _steady(moments["steady"], paths["weights"], centers, scales)
        known = _pairs(centers, scales), steady
        last = lags[:, :1]  # none without lags
        count = paths["weights"][:, 0]
        steps = last / np.maximum(count[:, None] - 1.0, 1.0)  # the first target is the origin
        return {
            "lags": _pairs(*_both(lags, *known)),
            "walks": np.concatenate([last, last + (self.delay + 1.0) * steps], axis=1),
            "count": count,
            "scale": _or_one(scales[:, 0]),
        }

    def _seen(self, X, known):
        n, d = X.shape
        rows = known["rows"]  # (n, 2, 2, d) or (2, 2, d)
        lags = known["lags"]  # (n, 2, k) or (2, k)
        both = np.empty((2, n, d + self.n_lags))
        inputs, steady = both
        inputs[:, :d], steady[:, :d] = _both(X, rows[..., 0, :, :], rows[..., 1, :, :])
        both[..., d:] = lags[:, None] if lags.ndim == 2 else lags.swapaxes(0, 1)
        # fewer rows than are to be forecast hardly tell what is far for these
        few = known["count"] <= min(self.delay, _FIRST - 1)
        if np.logical_or.reduce(few, axis=None):
            inputs[np.broadcast_to(few, n)] = 0.0
        walks = known["walks"]
        walks = walks if walks.ndim == 2 else _repeated(walks, n)
        return Seen(inputs, steady, walks, known["scale"])


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
        "steady": np.zeros((2, n_columns)),  # centre and scale as they were first known
    }


def learn_moments(state, X):
    """Learn rows (n, d) in order; return what is known before each of them, (n, 2, 2, d).

    These are the centres and scales, and those of steady units: as they were first known. A scale
    is 0 where a column has been constant. Values far beyond what was known before their block are
    moved nearer, so that a faulty one does not make the others small for good. After each block of
    rows a column whose unit or nature has changed gives up its past for the block, see `_changed`.
    All sums are taken row by row, so that a cut of the stream leaves them the same to the last bit,
    and with them that decision.
    """
    if state["origin"] is None:
        state["origin"] = X[0].copy()
    known = np.empty((len(X), 2, 2, X.shape[1]))
    low = 0
    while low < len(X):
        high = min(low + _BLOCK - len(state["block"]), len(X))
        rows = X[low:high] - state["origin"]
        weights, sums, squares = _paths(_nearer(rows, *state["known"]), state)
        means, variances = _mean_and_variance(weights[:-1], sums[:-1], squares[:-1])
        centers = means + state["origin"]
        scales = _scale(centers, variances)
        known[low:high, 0, 0], known[low:high, 0, 1] = centers, scales
        known[low:high, 1], state["steady"] = _steady(
            state["steady"], weights[:-1], centers, scales
        )
        state.update(weights=weights[-1], sums=sums[-1], squares=squares[-1])
        state["block"] = np.concatenate([state["block"], rows])
        if len(state["block"]) == _BLOCK:
            _end_block(state)
        low = high
    return known


def known_moments(state):
    """Return what is known now of the columns, (2, 2, d)."""
    means, variances = _mean_and_variance(state["weights"], state["sums"], state["squares"])
    centers = means + state["origin"]
    scales = _scale(centers, variances)
    steady, _ = _steady(state["steady"], state["weights"][None], centers[None], scales[None])
    return np.stack([np.stack([centers, scales]), steady[0]])


def _steady(first, weights, centers, scales):
    """Return the centres and scales first known before each row, (n, 2, d), and the last of them.

    That is once there are enough rows, and the column is no longer constant; before that they are
    0. They only make numbers moderate: for a line the unit does not matter.
    """
    unknown = first[1] == 0.0
    if not np.logical_or.reduce(unknown):
        return _repeated(first, len(weights)), first
    now = _pairs(centers, scales)
    enough = unknown & (weights >= _FIRST) & (scales > 0.0)
    at = enough.argmax(axis=0)
    from_then = np.logical_or.accumulate(enough, axis=0)[:, None, :]
    then = now[at, :, np.arange(len(at))].T  # (2, d)
    path = np.where(from_then, then, first)
    return path, path[-1].copy()


def _repeated(part, n):
    """Return views of an array as n equal ones."""
    return part[None] if n == 1 else np.broadcast_to(part, (n, *part.shape))


def _nearer(rows, center, scale):
    """Move values further than `_FAULTY` scales from the centre to there."""
    far = np.where(scale > 0.0, _FAULTY * scale, np.inf)
    return np.minimum(np.maximum(rows, center - far), center + far)


def _paths(rows, state):
    """Return the weights, sums and squares (n + 1, d) before each row and after the last."""
    weights = _sums(np.ones_like(rows), state["weights"])
    sums = _sums(rows, state["sums"])
    means = sums / np.maximum(weights, 1.0)
    terms = (rows - means[:-1]) * (rows - means[1:])
    return weights, sums, _sums(terms, state["squares"])


def _sums(terms, start):
    sums = np.empty((len(terms) + 1, *start.shape))
    sums[0], sums[1:] = start, terms
    return np.add.accumulate(sums, axis=0, out=sums)


def _pairs(first, second):
    """Return (n, 2, d) of two arrays (n, d)."""
    pairs = np.empty((len(first), 2, first.shape[1]))
    pairs[:, 0], pairs[:, 1] = first, second
    return pairs


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
        center, scale = state["known"]  # before the block
        before = center + state["origin"], scale
        # had the change come later, most steps would be those of the old unit; some may be
        latest = block[_BLOCK // 2 :]
        _start_anew(state, changed, latest, ~_far_off(latest))
        _translate(state, changed, before)
        state["roughness"] = np.where(changed, 0.0, state["roughness"])
    elif state["weights"][0] == _BLOCK:  # the first one: nothing was known of what is far
        rows = _nearer(block, middle, _spread(block, middle))
        _start_anew(state, (rows != block).any(axis=0), rows, np.ones(rows.shape, dtype=bool))
        too_wide = state["steady"][1] > _APART * known_moments(state)[0, 1]  # a faulty row's
        state["steady"] = np.where(too_wide, 0.0, state["steady"])
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


def _translate(state, columns, before):
    """Let new units of some columns count as the ones before them also where they are steady."""
    (old, scale), (first, unit) = before, state["steady"]
    new, new_scale = known_moments(state)[0]
    known = columns & (scale > 0.0) & (new_scale > 0.0)
    ratio = new_scale / np.where(known, scale, 1.0)
    steady = np.stack([new - (old - first) * ratio, unit * ratio])
    state["steady"] = np.where(known, steady, np.where(columns, 0.0, state["steady"]))


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


def _both(X, known, first):
    """Return rows (n, d) standardised, and in steady units; both from (..., 2, d)."""
    centers, scales = known[..., 0, :], known[..., 1, :]
    standardised = _divided(X - centers, scales)
    nearer = centers + scales * _within(standardised, _FAULTY)
    steady = _divided(nearer - first[..., 0, :], first[..., 1, :])
    return _within(standardised, _FAR), _within(steady, _FARTHEST)


def _within(X, most):
    return np.minimum(np.maximum(X, -most), most)


def _divided(X, scales):
    return np.divide(X, scales, out=np.zeros_like(X), where=scales > 0.0)


def _or_one(scales):
    return np.where(scales > 0.0, scales, 1.0)
