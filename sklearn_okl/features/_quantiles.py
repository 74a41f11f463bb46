"""Running quantiles of columns, and what share of the past a value is above."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from scipy.special import ndtri
from sklearn.base import OneToOneFeatureMixin
from sklearn.utils._param_validation import Interval, StrOptions

from .._documentation import inherit_documentation
from .._types import Array
from ..base import OnlineTransformer
from ._moments import N_FIRST, moderate, rounding
from ._running import MergesStatistics

_BLOCK = 256  # rows between two looks; before there are so many, at their powers of two
_FEW = 8  # rows for which all columns are compared at once


@inherit_documentation
class RunningQuantileTransformer(MergesStatistics, OneToOneFeatureMixin, OnlineTransformer):
    r"""Replace each value by its rank among the values before it, as a normal or uniform score.

    A column of any distribution becomes one of a known distribution, whatever its unit and its
    tails: of :math:`x_t` with the running distribution function :math:`F_{t-1}` of its column,
    :math:`\Phi^{-1}(F_{t-1}(x_t))` or :math:`F_{t-1}(x_t)`. Faulty values get the score of the
    largest ones before them.

    Parameters
    ----------
    n_quantiles : int, default=128
        Number of quantiles per column that stand for the past, at least 2. Scores are exact at
        them, and interpolated in between.
    output_distribution : {"normal", "uniform"}, default="normal"
        Scores of the standard normal distribution, which suit kernels, or shares in (0, 1).

    Attributes
    ----------
    quantiles_ : ndarray of shape (n_quantiles, n_features)
        The quantiles at the latest look, NaN in columns that had no values.

    See Also
    --------
    RunningStandardScaler : The running mean and standard deviation.
    RunningRobustScaler : Median and quartiles of the latest rows.
    sklearn.preprocessing.QuantileTransformer : For data that are there at once.

    Notes
    -----
    *Cost.* O(d log q) per row for d columns and q quantiles, and O(d q) every 256 rows; memory for
    d q quantiles and 256 rows.

    *When quantiles change.* After rounds 1, 2, 4, ..., 256 they are those of all rows so far, and
    after each multiple of 256 those of the quantiles before, each standing for its share of the
    past, together with the 256 rows since. Between two looks the map is fixed, so that what learns
    from its output sees few changes. With n values a share is within 1 / (2 n) of 0 and 1 at most.

    *Ties.* A value that is a share of its column has the mean of the scores that are its own.
    Values that differ by rounding alone are ties.

    *Missing values.* NaN stays NaN, and does not count.

    References
    ----------
    .. [1] R. Jain, I. Chlamtac, "The P² algorithm for dynamic calculation of quantiles and
       histograms without storing observations", Communications of the ACM 28(10), 1985, on
       quantiles in fixed memory; here they are merged in blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import RunningQuantileTransformer
    >>> X = np.random.default_rng(0).exponential(size=(1000, 1))
    >>> scores = RunningQuantileTransformer().prequential_transform(X)
    >>> bool(abs(scores[256:].mean()) < 0.1), bool(abs(scores[256:].std() - 1.0) < 0.1)
    (True, True)
    """

    _test_parameters = ({}, {"n_quantiles": 10, "output_distribution": "uniform"})

    _allow_nan = True
    _structural = ("n_quantiles",)
    _parameter_constraints = {
        "n_quantiles": [Interval(Integral, 2, None, closed="left")],
        "output_distribution": [StrOptions({"normal", "uniform"})],
    }

    _column_by_column = True

    def __init__(self, n_quantiles: int = 128, *, output_distribution: str = "normal") -> None:
        self.n_quantiles = n_quantiles
        self.output_distribution = output_distribution

    @property
    def quantiles_(self) -> Array:
        """The quantiles at the latest look, of shape (n_quantiles, n_features)."""
        return self._fitted_state("quantiles_")["looks"][-1][1].copy()

    def _begin(self, X, y):
        return start(X.shape[1], self.n_quantiles)

    def _flow(self, state, X, y, delay):
        return self._scores(learn(state, moderate(X), delay))

    def _ask(self, state, X):
        return self._scores(ask(state, moderate(X)))

    def _merged(self, state, theirs):
        merge(state, theirs)

    def _waits(self, state):
        return len(state["looks"]) > 1

    def _scores(self, shares):
        return ndtri(shares) if self.output_distribution == "normal" else shares


def start(n_columns, size):
    """Return the quantiles of nothing."""
    nothing = np.zeros(n_columns)
    return {
        "t": 0,
        # (round, quantiles (size, d), values that they stand for (d,)), those that a late row may
        # know of; the arrays are replaced, never written
        "looks": ((0, np.full((size, n_columns), np.nan), nothing),),
        "block": np.empty((0, n_columns)),  # rows since the last multiple of `_BLOCK`
        "begun": np.zeros(n_columns, dtype=np.intp),  # place there of the first row that counts
    }


def learn(state, X, delay=0, changes=()):
    """Learn rows (n, d) in order; return shares (n, d) by what was known `delay` rows earlier.

    Rows up to the first label, of which none is forecast, are seen by all rows before them. After
    `changes`, pairs of a number of rows and columns (d,), the past of these is forgotten.
    """
    shares = np.empty_like(X)
    changes, low = dict(changes), 0
    while low < len(X):
        t = state["t"]
        ends = _next_look(t), delay + 1 if t <= delay else np.inf
        n = min(len(X) - low, *(end - t for end in ends))
        n = min([n, *(after - low for after in changes if after > low)])
        # rows between two looks; a look takes effect `delay` rows later
        known = t - delay if t > delay else t
        for first, last in _spans(state["looks"], known, n):
            rows = slice(low + first, low + last)
            shares[rows] = _shares(_known(state["looks"], known + first), X[rows])
        follow(state, X[low : low + n], delay, changes.get(low + n))
        low += n
    return shares


def follow(state, X, delay=0, changed=None):
    """Learn rows (n, d) before the end of which there is no look; forget columns that `changed`."""
    state["block"] = np.concatenate([state["block"], X])
    state["t"] = t = state["t"] + len(X)
    is_due = t == _next_look(t - 1)
    if is_due:
        _look(state)
    if changed is not None:
        _forget(state, changed)
    if is_due or changed is not None:
        looks = list(state["looks"])
        while len(looks) > 1 and looks[1][0] <= t - delay:
            del looks[0]
        state["looks"] = tuple(looks)


def ask(state, X, ago=0):
    """Return shares (n, d) by what was known some rounds ago, one number or one per row."""
    if isinstance(ago, np.ndarray):
        shares = np.empty_like(X)
        for one in np.unique(ago):
            shares[ago == one] = ask(state, X[ago == one], int(one))
        return shares
    return _shares(_known(state["looks"], state["t"] - ago), X)


def _next_look(t):
    """Return the first round after t at whose end the quantiles change."""
    return 1 << t.bit_length() if t < _BLOCK else (t // _BLOCK + 1) * _BLOCK


def _known(looks, t):
    """Return the latest look that is known before row t."""
    return next((look for look in reversed(looks) if look[0] <= t), looks[0])


def _spans(looks, t, n):
    """Yield the parts (low, high) of n rows, the first at round t, that know the same look."""
    cuts = [look[0] - t for look in looks if 0 < look[0] - t < n]
    yield from zip([0, *cuts], [*cuts, n], strict=True)


def merge(state, theirs):
    """Let a state know the rows of another one too, as after a look at all of them."""
    both = [_stand_for(one) for one in (state, theirs)]
    values, weights, n = (np.concatenate([one[k] for one in both]) for k in range(3))
    n, t = n.reshape(2, -1).sum(axis=0), state["t"] + theirs["t"]
    quantiles = _quantiles_of(values, weights, n, len(state["looks"][-1][1]))
    rows = values if t < _BLOCK else values[:0]  # below a block all rows are there
    state.update(t=t, looks=((t, quantiles, n),), block=rows, begun=np.zeros_like(state["begun"]))


def _look(state):
    values, weights, n = _stand_for(state)
    size = len(state["looks"][-1][1])
    look = state["t"], _quantiles_of(values, weights, n, size), n
    state["looks"] = (*state["looks"], look)
    if state["t"] % _BLOCK == 0:
        state["block"], state["begun"] = state["block"][:0], np.zeros_like(state["begun"])


def _stand_for(state):
    """Return values (m, d) that stand for all rows, their weights, and how many there were (d,)."""
    _, quantiles, n_before = state["looks"][-1]
    block = state["block"]
    forgotten = np.arange(len(block))[:, None] < state["begun"]
    block = np.where(forgotten, np.nan, block)
    size = len(quantiles)
    if len(block) == state["t"]:  # the block holds all rows
        quantiles, n_before = quantiles[:0], np.zeros_like(n_before)
    n = n_before + np.isfinite(block).sum(axis=0)
    values = np.concatenate([quantiles, block])
    weights = np.concatenate(
        [np.broadcast_to(n_before / size, quantiles.shape), np.ones_like(block)]
    )
    weights[np.isnan(values)] = 0.0
    return values, weights, n


def _quantiles_of(values, weights, n, size):
    """Return so many quantiles (size, d) of weighted values; NaN where there are none."""
    order = np.argsort(values, axis=0, kind="stable")  # NaN, which weighs nothing, is last
    values = np.take_along_axis(values, order, axis=0)
    weights = np.take_along_axis(weights, order, axis=0)
    places = np.cumsum(weights, axis=0) - 0.5 * weights
    levels = (np.arange(size) + 0.5) / size
    quantiles = np.full((size, values.shape[1]), np.nan)
    for j in np.flatnonzero(n):
        some = weights[:, j] > 0.0
        quantiles[:, j] = np.interp(levels * n[j], places[some, j], values[some, j])
    return quantiles


def _forget(state, columns):
    _, quantiles, n = state["looks"][-1]
    nothing = state["t"], np.where(columns, np.nan, quantiles), np.where(columns, 0.0, n)
    state["looks"] = (*state["looks"], nothing)
    state["begun"] = np.where(columns, len(state["block"]), state["begun"])


def _shares(look, X):
    """Return which share (n, d) of the values that quantiles stand for is below each value."""
    _, quantiles, n = look
    size, near = len(quantiles), rounding(N_FIRST, X)
    least, most = X - near, X + near  # what differs by rounding alone is equal
    if len(X) <= _FEW:
        below = (quantiles < least[:, None, :]).sum(axis=1)
        up_to = (quantiles <= most[:, None, :]).sum(axis=1)
    else:
        below, up_to = np.empty((2, *X.shape), dtype=np.intp)
        for j, column in enumerate(quantiles.T):
            below[:, j] = column.searchsorted(least[:, j], "left")
            up_to[:, j] = column.searchsorted(most[:, j], "right")
    lower, upper = np.clip(below - 1, 0, size - 1), np.clip(below, 0, size - 1)
    low = np.take_along_axis(quantiles, lower, axis=0)
    gap = np.take_along_axis(quantiles, upper, axis=0) - low
    part = np.divide(X - low, gap, out=np.zeros_like(X), where=gap > 0.0)
    ranks = np.where(up_to > below, 0.5 * (below + up_to - 1), lower + np.clip(part, 0.0, 1.0))
    end = 0.5 / np.maximum(n, 1.0)
    shares = np.clip((ranks + 0.5) / size, end, 1.0 - end)
    return np.where(np.isnan(X), np.nan, shares)
