"""Scalers that learn on the fly: each row is scaled by what the rows before it have shown."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval

from .._documentation import inherit_documentation
from .._types import Any, Array
from . import _moments
from ._running import RunningScaler

_REFRESH = 64  # rows between two looks at the window of the robust scaler
_FAR = 100.0  # its ranges beyond which a target is faulty: who takes it expects heavy tails


@inherit_documentation
class RunningStandardScaler(RunningScaler):
    r"""Standardise by the running mean and standard deviation.

    Row t becomes :math:`(x_t - m_{t-1}) / s_{t-1}`, a column at a time, with the mean and the
    standard deviation of the rows before it, but for the first values of a column, see below.

    Parameters
    ----------
    forgetting : float, default=1.0
        Factor in (0, 1] by which the weight of a row fades with each row that follows. 1 never
        forgets; 0.999 looks back about a thousand rows.

    Attributes
    ----------
    mean_ : ndarray of shape (n_features,)
        Running mean.
    var_ : ndarray of shape (n_features,)
        Running variance.
    scale_ : ndarray of shape (n_features,)
        Its root, and 1 for a column that has been constant.

    See Also
    --------
    RunningRobustScaler : For heavy tails.
    sklearn.preprocessing.StandardScaler : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* O(d) per row, in whole blocks, and O(d) memory.

    The updates :math:`m_t = m_{t-1} + (x_t - m_{t-1}) / W_t` and
    :math:`M_t = \gamma M_{t-1} + (x_t - m_{t-1})(x_t - m_t)`, with
    :math:`W_t = \gamma W_{t-1} + 1`, add terms that are not negative, so large means do no harm
    [1]_. The first row is scaled by itself, to zeros.

    *First values.* What two rows say of a deviation may be anything, and one row says nothing. But
    of :math:`n + 1` values, itself included, none is further than :math:`\sqrt{n}` standard
    deviations from their mean [2]_. So where :math:`n < 32` rows are known none leaves further off
    than that, and the first other value of a column that has been constant leaves as 1 or -1. No
    row is in the unit of its column; `inverse_transform` cannot undo what was so far off. What a
    scaler knows that is frozen is taken as it is.

    *Columns that begin late.* Rows in which a column stands still say nothing of its unit. One that
    has done so for the first 32 rows, or more, begins where it moves, from the row before.

    *Trends.* A row stays as it was scaled when it came. A column that grows for ever is in another
    unit later than what was learnt of it: take differences, or `freeze_after`, in front of who
    forgets nothing.

    *Faulty values.* A value is scaled as it came, but learnt as one 5 standard deviations from the
    mean if it is further from it than 20 of them, and than :math:`\sqrt{W_{t-1}}` as no
    :math:`W_{t-1}` values are from their own mean, and further from the range of all values learnt
    before than that is wide: a single :math:`10^6` does not make all later rows small. Where such
    values are more than one in eleven, each counts twice as much as the one before it, in squares,
    so that a column whose level or unit changes is followed within 10 to 30 rows. The first 32
    rows, which cannot tell what is far, are learnt as they come and judged as a whole when they are
    there: values further from the median than 30 robust deviations are faulty if no more than three
    are. A column that has been constant knows no fault. Gaussian columns are learnt as they come,
    so their statistics are the usual ones; of log-normal ones a single early value may be moved.
    With `forgetting` for few rows, :math:`W < 32`, 20 and 5 are :math:`32 / W` times as many.

    References
    ----------
    .. [1] B. P. Welford, "Note on a method for calculating corrected sums of squares and
       products", Technometrics 4(3), 1962.
    .. [2] P. A. Samuelson, "How deviant can you be?", Journal of the American Statistical
       Association 63, 1968.

    Examples
    --------
    >>> from sklearn_okl import RunningStandardScaler
    >>> RunningStandardScaler().prequential_transform([[0.0], [200.0], [150.0], [100.0]])
    array([[ 0.        ],
           [ 1.        ],
           [ 0.5       ],
           [-0.19611614]])
    """

    _test_parameters = ({}, {"forgetting": 0.99})

    _parameter_constraints = {
        **RunningScaler._parameter_constraints,
        "forgetting": [Interval(Real, 0, 1, closed="right")],
    }

    def __init__(self, forgetting: float = 1.0, *, freeze_after: int | None = None) -> None:
        self.forgetting = forgetting
        self.freeze_after = freeze_after

    @property
    def mean_(self) -> Array:
        """Running mean, of shape (n_features,)."""
        return self._known(self._fitted_state("mean_"))[0]

    @property
    def var_(self) -> Array:
        """Running variance, of shape (n_features,)."""
        state = self._fitted_state("var_")
        return state["squares"] / state["weight"]

    @property
    def scale_(self) -> Array:
        """What rows are divided by, of shape (n_features,)."""
        return _moments.or_one(self._known(self._fitted_state("scale_"))[1])

    def _start(self, row):
        return _moments.start(row)

    def _order_matters(self):
        if self.forgetting < 1.0:
            return f"with forgetting={self.forgetting} the latest rows count for more."
        return super()._order_matters()

    def _merged(self, state, theirs):
        _moments.merge(state, theirs)

    def _learn(self, state, X):
        return _moments.learn(state, X, self.forgetting)

    def _counted(self, state, t):
        return _moments.counted(t, state["begun"])

    def _known(self, state):
        return _moments.known(state)


@inherit_documentation
class RunningMaxNormScaler(RunningScaler):
    r"""Divide rows by the largest Euclidean norm so far, as the field's experiments do.

    The papers divide by the largest norm of the whole file, which looks ahead; this one knows the
    rows before row t only, so that a row may be longer than 1 when it comes.

    Attributes
    ----------
    max_norm_ : float
        Largest norm so far.

    See Also
    --------
    RunningStandardScaler : A unit for each column.
    sklearn.preprocessing.Normalizer : A unit for each row.

    Notes
    -----
    *Cost.* O(d) per row, in whole blocks. The first row that is not 0 is divided by its own norm,
    and where n < 32 rows are known none leaves longer than :math:`\sqrt{n}`, as it may be small.

    One faulty row of great length shrinks all later ones for good: that is what a largest norm
    means. Where faults may come, take :class:`RunningStandardScaler` or
    :class:`RunningRobustScaler`.

    References
    ----------
    .. [1] Shen et al. 2019.

    Examples
    --------
    >>> from sklearn_okl import RunningMaxNormScaler
    >>> RunningMaxNormScaler().prequential_transform([[3.0, 4.0], [0.0, 10.0], [5.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 1. ],
           [0.5, 0. ]])
    """

    def __init__(self, *, freeze_after: int | None = None) -> None:
        self.freeze_after = freeze_after

    @property
    def max_norm_(self) -> float:
        """What all rows are divided by now."""
        return self._fitted_state("max_norm_")["norm"]

    def _start(self, row):
        return {"t": 0, "norm": float(np.linalg.norm(row)), "n_features": len(row)}

    def _merged(self, state, theirs):
        state.update(t=state["t"] + theirs["t"], norm=max(state["norm"], theirs["norm"]))

    def _learn(self, state, X):
        norms = np.maximum.accumulate(np.append(state["norm"], np.linalg.norm(X, axis=1)))
        state.update(t=state["t"] + len(X), norm=float(norms[-1]))
        return np.zeros((1, X.shape[1])), norms[:-1, None], X

    def _known(self, state):
        n_features = state["n_features"]
        return np.zeros(n_features), np.full(n_features, state["norm"])

    def _within(self, X, center, scale, count):
        own = np.linalg.norm(X, axis=1, keepdims=True)
        scale = np.where(scale > 0.0, np.maximum(scale, own / _moments.reaches(count)), own)
        return X / _moments.or_one(scale)


@inherit_documentation
class RunningMinMaxScaler(RunningScaler):
    r"""Map the range that each column has shown so far onto a given one.

    Parameters
    ----------
    feature_range : tuple of (float, float), default=(0, 1)
        The range (low, high) that the past is mapped onto.
    clip : bool, default=False
        Whether to clip rows outside the past's range to `feature_range`.

    Attributes
    ----------
    data_min_ : ndarray of shape (n_features,)
        Smallest values so far.
    data_max_ : ndarray of shape (n_features,)
        Largest values so far.

    See Also
    --------
    RunningStandardScaler : Less at the mercy of one large value.
    sklearn.preprocessing.MinMaxScaler : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* O(d) per row, in whole blocks. The first row becomes the low end of the range. What few
    rows say of a range may be too little, and a column that has been constant has none: so where
    n < 32 rows are known a row leaves no further from the middle than :math:`\sqrt{n}` halves of
    the range, and the first other value at an end. `inverse_transform` cannot undo a clip.

    One faulty value squeezes all later ones into a corner of the range for good: that is what a
    range means. Where faults may come, take :class:`RunningRobustScaler` or
    :class:`RunningStandardScaler`.

    References
    ----------
    .. [1] Li & Liao 2023, section 5: the scaling of the experiments, there with the whole file in
       view.

    Examples
    --------
    >>> from sklearn_okl import RunningMinMaxScaler
    >>> RunningMinMaxScaler().prequential_transform([[5.0], [7.0], [6.0], [11.0]])
    array([[0.       ],
           [1.       ],
           [0.5      ],
           [1.3660254]])
    """

    _test_parameters = ({}, {"feature_range": (-1, 1), "clip": True})

    _parameter_constraints = {
        **RunningScaler._parameter_constraints,
        "feature_range": [tuple],
        "clip": ["boolean"],
    }

    def __init__(
        self,
        feature_range: Any = (0, 1),
        *,
        clip: bool = False,
        freeze_after: int | None = None,
    ) -> None:
        self.feature_range = feature_range
        self.clip = clip
        self.freeze_after = freeze_after

    def _validate_params(self):
        super()._validate_params()
        if not _rises(self.feature_range):
            raise ValueError(
                f"feature_range={self.feature_range!r} is empty: give (low, high) with low < high."
            )

    @property
    def data_min_(self) -> Array:
        """Smallest values so far, of shape (n_features,)."""
        return self._fitted_state("data_min_")["low"].copy()

    @property
    def data_max_(self) -> Array:
        """Largest values so far, of shape (n_features,)."""
        return self._fitted_state("data_max_")["high"].copy()

    def _start(self, row):
        return {"t": 0, "low": row.copy(), "high": row.copy()}

    def _merged(self, state, theirs):
        state["t"] += theirs["t"]
        state["low"] = np.minimum(state["low"], theirs["low"])
        state["high"] = np.maximum(state["high"], theirs["high"])

    def _learn(self, state, X):
        lows = np.minimum.accumulate(np.vstack([state["low"], X]))
        highs = np.maximum.accumulate(np.vstack([state["high"], X]))
        state.update(t=state["t"] + len(X), low=lows[-1].copy(), high=highs[-1].copy())
        return lows[:-1], _moments.width(lows[:-1], highs[:-1]), X

    def _known(self, state):
        return state["low"], _moments.width(state["low"], state["high"])

    def _scaled(self, X, center, scale):
        low, high = self.feature_range
        Z = super()._scaled(X, center, scale) * (high - low) + low
        return np.clip(Z, low, high) if self.clip else Z

    def _ends(self, reach):
        low, high = self.feature_range
        if self.clip:
            return low, high
        middle, half = (low + high) / 2.0, (high - low) / 2.0
        return middle - reach * half, middle + reach * half

    def _unscaled(self, X, center, scale):
        low, high = self.feature_range
        return super()._unscaled((X - low) / (high - low), center, scale)


@inherit_documentation
class RunningRobustScaler(RunningScaler):
    r"""Centre by the median and scale by the interquartile range of the latest rows.

    Parameters
    ----------
    window : int, default=500
        Number of latest rows that the quantiles are taken of. Constant memory, and a change of
        units is forgotten after as many rows.
    quantile_range : tuple of (float, float), default=(25.0, 75.0)
        Percentiles whose distance is the scale, as in scikit-learn.

    Attributes
    ----------
    center_ : ndarray of shape (n_features,)
        Medians in use.
    scale_ : ndarray of shape (n_features,)
        Interquartile ranges in use; where these are 0 the largest distance from the median in the
        window, and 1 where that is 0.

    See Also
    --------
    RunningStandardScaler : Smoother, and exact where tails are light.
    sklearn.preprocessing.RobustScaler : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* The quantiles are taken anew when the stream's own count is 1, 2, 4, ..., 64 and then
    at every multiple of 64: O(d) per row, and about a window's sort every 64 rows. Memory for the
    window's rows.

    Where n < 32 rows are known a row leaves at most :math:`\sqrt{n}` ranges off, and the first
    other value of a column as 1 or -1, and one that stood still for as many rows begins where it
    moves, as from :class:`RunningStandardScaler`.

    References
    ----------
    .. [1] P. J. Huber, E. M. Ronchetti, "Robust Statistics", 2nd edition, Wiley, 2009, chapter 5.

    Examples
    --------
    >>> from sklearn_okl import RunningRobustScaler
    >>> scaler = RunningRobustScaler().fit([[1.0], [2.0], [3.0], [1e9]])
    >>> scaler.center_
    array([2.5])
    """

    _test_parameters = ({"window": 100},)

    _parameter_constraints = {
        **RunningScaler._parameter_constraints,
        "window": [Interval(Integral, 2, None, closed="left")],
        "quantile_range": [tuple],
    }

    def __init__(
        self,
        window: int = 500,
        *,
        quantile_range: Any = (25.0, 75.0),
        freeze_after: int | None = None,
    ) -> None:
        self.window = window
        self.quantile_range = quantile_range
        self.freeze_after = freeze_after

    def _validate_params(self):
        super()._validate_params()
        ends = self.quantile_range
        if not (_rises(ends) and ends[0] >= 0 and ends[1] <= 100):
            raise ValueError(
                f"quantile_range={ends!r} must be (low, high), 0 <= low < high <= 100."
            )

    @property
    def center_(self) -> Array:
        """Medians in use, of shape (n_features,)."""
        return self._fitted_state("center_")["center"].copy()

    @property
    def scale_(self) -> Array:
        """Interquartile ranges in use, of shape (n_features,)."""
        return _moments.or_one(self._known(self._fitted_state("scale_"))[1])

    def _order_matters(self):
        return "its window holds the latest rows."

    def _start(self, row):
        # the first row is scaled by itself
        return {
            "t": 0,
            "rows": np.empty((0, len(row))),
            "center": row.copy(),
            "scale": np.zeros(len(row)),
            "range": np.stack([row, row]),
            "begun": np.zeros(len(row)),  # rows that do not count, of columns that stood still
        }

    def _learn(self, state, X):
        centers, scales, learnt = (np.empty(X.shape) for _ in range(3))
        low = 0
        while low < len(X):
            t, due = state["t"], _next_refresh(state["t"])
            high = min(len(X), low + due - t)
            center, scale = state["center"], state["scale"]
            centers[low:high], scales[low:high] = center, scale
            n_known = _moments.counted(_last_refresh(t), state["begun"])
            learnt[low:high] = _nearer(X[low:high], center, scale, np.minimum(n_known, self.window))
            self._begin_columns(state, X[low:high])
            state["rows"] = np.vstack([state["rows"], X[low:high]])[-self.window :]
            state["t"] = t + high - low
            if state["t"] == due:
                self._refresh(state)
            low = high
        return centers, scales, learnt

    def _begin_columns(self, state, rows):
        """Let columns that stood still for long, and move among the next rows, begin there."""
        t, moves = state["t"], _moments.first_moves(rows, *state["range"])
        if moves.any():
            at = t + moves.argmax(axis=0)
            begins = moves.any(axis=0) & (at >= _moments.N_FIRST)
            state["begun"] = np.where(begins, at - 1.0, state["begun"])
        state["range"] = _moments.widened(state["range"], rows)

    def _counted(self, state, t):
        looked = np.where(t < _REFRESH, t, t - t % _REFRESH)
        late = (state["begun"] > 0.0) & (looked > state["begun"])
        return np.where(late, looked - state["begun"], t) if late.any() else t

    def _refresh(self, state):
        low, high = self.quantile_range
        rows, percentile, largest = state["rows"], np.percentile, np.max
        too_old = np.arange(state["t"] - len(rows), state["t"])[:, None] < state["begun"]
        if too_old.any():
            rows, percentile, largest = np.where(too_old, np.nan, rows), np.nanpercentile, np.nanmax
        quantiles = percentile(rows, [low, 50.0, high], axis=0)
        state["center"] = center = quantiles[1]
        state["scale"] = scale = _moments.width(quantiles[0], quantiles[2])
        if not scale.all():  # most values of a column are one
            farthest = largest(np.abs(rows - center), axis=0)
            state["scale"] = np.where(scale, scale, _moments.width(center, center + farthest))

    def _known(self, state):
        return state["center"], state["scale"]


def _rises(ends):
    """Tell whether a parameter is a pair of numbers, the second one larger."""
    return len(ends) == 2 and all(isinstance(end, Real) for end in ends) and ends[0] < ends[1]


def _nearer(X, center, scale, n):
    """Return rows with the values that are faulty, given the quantiles of n rows, nearer."""
    unit = _moments.caution(n) * scale
    faulty = (np.abs(X - center) > _FAR * unit) & (scale > 1.0 / _moments.LARGEST)
    size = _moments.LEARNT * unit
    return np.where(faulty, np.clip(X, center - size, center + size), X)


def _last_refresh(t):
    """Return the last count up to t at which the quantiles were taken."""
    return 1 << t.bit_length() >> 1 if t < _REFRESH else t - t % _REFRESH


def _next_refresh(t):
    """Return the first count after t at which the quantiles are taken."""
    return 1 << t.bit_length() if t < _REFRESH else t + _REFRESH - t % _REFRESH
