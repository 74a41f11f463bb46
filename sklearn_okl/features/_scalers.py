"""Scalers that learn on the fly: each row is scaled by what the rows before it have shown."""

from numbers import Integral, Real

import numpy as np
from scipy.signal import lfilter
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils._param_validation import Interval
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import check_is_fitted, validate_data

from .._online import _copied

_REFRESH = 64  # rows between two looks at the window of the robust scaler


class RunningScaler(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Base of the running scalers: z = (x - center) / scale, with statistics of the past.

    A subclass says::

        _start(row) -> state                 from the first row alone, not yet learnt
        _learn(state, X) -> centers, scales  (n, d) each: what was known before each row
        _known(state) -> center, scale       (d,) each: what is known now
    """

    def __sklearn_is_fitted__(self):
        return "_state" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def n_samples_seen_(self):
        """Int : rows learnt so far."""
        return self._fitted_state("n_samples_seen_")["t"]

    def fit(self, X, y=None):
        """Forget everything, then learn every row once, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows in the order in which they arrived.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted scaler.
        """
        self._advance(X, restart=True)
        return self

    def partial_fit(self, X, y=None):
        """Learn the next rows; the first call starts the scaler.

        Any way of cutting a stream into calls gives the same scaler. A call that fails leaves it
        as it was.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : None
            Ignored.

        Returns
        -------
        self : object
            The fitted scaler.
        """
        self._advance(X, restart=False)
        return self

    def prequential_transform(self, X, y=None):
        """Learn as `partial_fit` does, and return each row as it was scaled before it was learnt.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The next rows, in order.
        y : None
            Ignored.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
            What a loop of `transform` and `partial_fit` over single rows would give, much faster;
            the very first row of the stream is scaled by itself.
        """
        Z = self._advance(X, restart=False)
        return _wrap_data_with_container("transform", Z, X, self)

    def transform(self, X):
        """Scale rows by what is known now; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features)
            Scaled rows.
        """
        X, dtype = self._asked(X)
        center, scale = self._known(self._state)
        return self._scaled(X, center, scale).astype(dtype, copy=False)

    def inverse_transform(self, X):
        """Undo the scaling of rows by what is known now; changes nothing.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Scaled rows.

        Returns
        -------
        X_original : ndarray of shape (n_samples, n_features)
            Rows in their own units.
        """
        X, dtype = self._asked(X)
        center, scale = self._known(self._state)
        return self._unscaled(X, center, scale).astype(dtype, copy=False)

    def _scaled(self, X, center, scale):
        return (X - center) / scale

    def _unscaled(self, X, center, scale):
        return X * scale + center

    def _fitted_state(self, name):
        if not self.__sklearn_is_fitted__():
            raise NotFittedError(
                f"{type(self).__name__} has no attribute {name!r} before it has seen a row. "
                "Call 'fit' or 'partial_fit' first."
            )
        return self._state

    def _asked(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        return X.astype(np.float64, copy=False), X.dtype

    def _advance(self, X, restart):
        self._validate_params()
        restart = restart or not self.__sklearn_is_fitted__()
        # Validation writes n_features_in_ and feature names; a rejected first batch must not.
        model = object.__new__(type(self))
        model.__dict__.update(vars(self))
        X = validate_data(model, X, reset=restart, dtype=[np.float64, np.float32])
        rows = X.astype(np.float64, copy=False)
        state = model._start(rows[0]) if restart else _copied(self._state)
        with np.errstate(over="ignore", invalid="ignore"):
            centers, scales = model._learn(state, rows)
            Z = self._scaled(rows, centers, scales)
        if not all(np.isfinite(part).all() for part in (Z, *model._known(state))):
            raise ValueError(
                "Numbers overflowed while these rows were learnt; the scaler is as it was before "
                "the call. Give the features moderate units."
            )
        model._state = state
        self.__dict__ = model.__dict__  # the one assignment
        return Z.astype(X.dtype, copy=False)


class RunningStandardScaler(RunningScaler):
    r"""Standardise by the running mean and standard deviation.

    Row t becomes :math:`(x_t - m_{t-1}) / s_{t-1}`, a column at a time, with the mean and the
    standard deviation of the rows before it.

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
    n_samples_seen_ : int
        Rows learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RunningRobustScaler : For heavy tails.
    sklearn.preprocessing.StandardScaler : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* O(d) a row, in whole blocks, and O(d) memory.

    The updates :math:`m_t = m_{t-1} + (x_t - m_{t-1}) / W_t` and
    :math:`M_t = \gamma M_{t-1} + (x_t - m_{t-1})(x_t - m_t)`, with
    :math:`W_t = \gamma W_{t-1} + 1`, add terms that are not negative, so large means do no harm
    [1]_. The first row is scaled by itself, to zeros.

    References
    ----------
    .. [1] B. P. Welford, "Note on a method for calculating corrected sums of squares and
       products", Technometrics 4(3), 1962.

    Examples
    --------
    >>> from sklearn_okl import RunningStandardScaler
    >>> RunningStandardScaler().prequential_transform([[0.0], [2.0], [3.0]])
    array([[0.],
           [2.],
           [2.]])
    """

    _parameter_constraints = {"forgetting": [Interval(Real, 0, 1, closed="right")]}

    def __init__(self, forgetting=1.0):
        self.forgetting = forgetting

    @property
    def mean_(self):
        """Running mean, of shape (n_features,)."""
        return self._known(self._fitted_state("mean_"))[0]

    @property
    def var_(self):
        """Running variance, of shape (n_features,)."""
        state = self._fitted_state("var_")
        return state["squares"] / state["weight"]

    @property
    def scale_(self):
        """What rows are divided by, of shape (n_features,)."""
        return self._known(self._fitted_state("scale_"))[1]

    def _start(self, row):
        zeros = np.zeros(len(row))
        return {"t": 0, "weight": 0.0, "origin": row.copy(), "sums": zeros, "squares": zeros}

    def _learn(self, state, X):
        n, origin = len(X), state["origin"]
        rows = X - origin  # sums of large numbers would lose the small differences
        weights = self._faded(np.ones((n, 1)), state["weight"])  # (n, 1)
        sums = self._faded(rows, state["sums"])
        before = np.vstack([state["sums"][None] / (state["weight"] or 1.0), sums / weights])
        means = before[1:]
        squares = self._faded((rows - before[:n]) * (rows - means), state["squares"])
        variances = np.vstack(
            [state["squares"][None] / (state["weight"] or 1.0), squares / weights]
        )
        weights = np.append(state["weight"], weights[:, 0])
        scales = _root_or_one(variances[:n], before[:n] + origin, weights[:n, None])
        state.update(t=state["t"] + n, weight=float(weights[n]), sums=sums[-1], squares=squares[-1])
        return before[:n] + origin, scales

    def _known(self, state):
        mean = state["origin"] + state["sums"] / state["weight"]
        return mean, _root_or_one(state["squares"] / state["weight"], mean, state["weight"])

    def _faded(self, terms, start):
        """Return the sums s_t = forgetting s_{t-1} + terms_t (n, d), from s_0 = start."""
        first = np.broadcast_to(self.forgetting * np.asarray(start), (1, terms.shape[1]))
        return lfilter([1.0], [1.0, -self.forgetting], terms, axis=0, zi=first)[0]


def _root_or_one(variances, means, weights):
    """Return standard deviations, and 1 where rounding alone could have made the variance."""
    rounding = np.finfo(np.float64).eps
    floor = weights * rounding * variances + (weights * means * rounding) ** 2
    return np.sqrt(np.where(variances <= floor, 1.0, variances))


class RunningMaxNormScaler(RunningScaler):
    r"""Divide rows by the largest Euclidean norm so far, as the field's experiments do.

    The papers divide by the largest norm of the whole file, which looks ahead; this one knows the
    rows before row t only, so that a row may be longer than 1 when it comes.

    Attributes
    ----------
    max_norm_ : float
        Largest norm so far.
    n_samples_seen_ : int
        Rows learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RunningStandardScaler : A unit for each column.
    sklearn.preprocessing.Normalizer : A unit for each row.

    Notes
    -----
    *Cost.* O(d) a row, in whole blocks. The first row is divided by its own norm.

    References
    ----------
    .. [1] Y. Shen, T. Chen, G. B. Giannakis, "Random feature-based online multi-kernel learning in
       environments with unknown dynamics", Journal of Machine Learning Research 20, 2019.

    Examples
    --------
    >>> from sklearn_okl import RunningMaxNormScaler
    >>> RunningMaxNormScaler().prequential_transform([[3.0, 4.0], [0.0, 10.0], [5.0, 0.0]])
    array([[0.6, 0.8],
           [0. , 2. ],
           [0.5, 0. ]])
    """

    _parameter_constraints = {}

    @property
    def max_norm_(self):
        """Float : largest norm so far."""
        return self._fitted_state("max_norm_")["norm"]

    def _start(self, row):
        return {"t": 0, "norm": float(np.linalg.norm(row)), "n_features": len(row)}

    def _learn(self, state, X):
        norms = np.maximum.accumulate(np.append(state["norm"], np.linalg.norm(X, axis=1)))
        state.update(t=state["t"] + len(X), norm=float(norms[-1]))
        scales = np.where(norms > 0, norms, 1.0)[:-1, None]
        return np.zeros((1, X.shape[1])), scales

    def _known(self, state):
        scale = state["norm"] or 1.0
        return np.zeros(state["n_features"]), np.full(state["n_features"], scale)


class RunningMinMaxScaler(RunningScaler):
    """Map the range that each column has shown so far onto a given one.

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
    n_samples_seen_ : int
        Rows learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RunningStandardScaler : Less at the mercy of one large value.
    sklearn.preprocessing.MinMaxScaler : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* O(d) a row, in whole blocks. A column that has been constant is shifted only, so the
    first row becomes the low end of the range. `inverse_transform` cannot undo a clip.

    References
    ----------
    .. [1] J. Li, S. Liao, "Nearly optimal algorithms with sublinear computational complexity for
       online kernel regression", International Conference on Machine Learning, 2023, section 5:
       the scaling of the experiments, there with the whole file in view.

    Examples
    --------
    >>> from sklearn_okl import RunningMinMaxScaler
    >>> RunningMinMaxScaler().prequential_transform([[5.0], [7.0], [6.0], [11.0]])
    array([[0. ],
           [2. ],
           [0.5],
           [3. ]])
    """

    _parameter_constraints = {"feature_range": [tuple], "clip": ["boolean"]}

    def __init__(self, feature_range=(0, 1), *, clip=False):
        self.feature_range = feature_range
        self.clip = clip

    @property
    def data_min_(self):
        """Smallest values so far, of shape (n_features,)."""
        return self._fitted_state("data_min_")["low"].copy()

    @property
    def data_max_(self):
        """Largest values so far, of shape (n_features,)."""
        return self._fitted_state("data_max_")["high"].copy()

    def _start(self, row):
        low, high = self.feature_range
        if not low < high:
            raise ValueError(
                f"feature_range={self.feature_range!r} is empty: give (low, high) with low < high."
            )
        return {"t": 0, "low": row.copy(), "high": row.copy()}

    def _learn(self, state, X):
        lows = np.minimum.accumulate(np.vstack([state["low"], X]))
        highs = np.maximum.accumulate(np.vstack([state["high"], X]))
        state.update(t=state["t"] + len(X), low=lows[-1].copy(), high=highs[-1].copy())
        return lows[:-1], _width(lows[:-1], highs[:-1])

    def _known(self, state):
        return state["low"], _width(state["low"], state["high"])

    def _scaled(self, X, center, scale):
        low, high = self.feature_range
        Z = super()._scaled(X, center, scale) * (high - low) + low
        return np.clip(Z, low, high) if self.clip else Z

    def _unscaled(self, X, center, scale):
        low, high = self.feature_range
        return super()._unscaled((X - low) / (high - low), center, scale)


def _width(low, high):
    return np.where(high > low, high - low, 1.0)


class RunningRobustScaler(RunningScaler):
    """Centre by the median and scale by the interquartile range of the latest rows.

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
        Interquartile ranges in use, and 1 where they are 0.
    n_samples_seen_ : int
        Rows learnt so far.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, where X had string names.

    See Also
    --------
    RunningStandardScaler : Smoother, and at the mercy of single large values.
    sklearn.preprocessing.RobustScaler : The same statistics, but a whole batch at once.

    Notes
    -----
    *Cost.* The quantiles are taken anew when the stream's own count is 1, 2, 4, ..., 64 and then
    at every multiple of 64: O(d) a row, and about a window's sort every 64 rows. Memory for the
    window's rows.

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

    _parameter_constraints = {
        "window": [Interval(Integral, 2, None, closed="left")],
        "quantile_range": [tuple],
    }

    def __init__(self, window=500, *, quantile_range=(25.0, 75.0)):
        self.window = window
        self.quantile_range = quantile_range

    @property
    def center_(self):
        """Medians in use, of shape (n_features,)."""
        return self._fitted_state("center_")["center"].copy()

    @property
    def scale_(self):
        """What rows are divided by, of shape (n_features,)."""
        return self._fitted_state("scale_")["scale"].copy()

    def _start(self, row):
        low, high = self.quantile_range
        if not 0 <= low < high <= 100:
            raise ValueError(
                f"quantile_range={self.quantile_range!r} must be (low, high), 0 <= low < high "
                "<= 100."
            )
        # the first row is scaled by itself
        return {
            "t": 0,
            "rows": np.empty((0, len(row))),
            "center": row.copy(),
            "scale": np.ones(len(row)),
        }

    def _learn(self, state, X):
        centers, scales = np.empty(X.shape), np.empty(X.shape)
        low = 0
        while low < len(X):
            t, due = state["t"], _next_refresh(state["t"])
            high = min(len(X), low + due - t)
            centers[low:high], scales[low:high] = state["center"], state["scale"]
            state["rows"] = np.vstack([state["rows"], X[low:high]])[-self.window :]
            state["t"] = t + high - low
            if state["t"] == due:
                self._refresh(state)
            low = high
        return centers, scales

    def _refresh(self, state):
        low, high = self.quantile_range
        quantiles = np.percentile(state["rows"], [low, 50.0, high], axis=0)
        state["center"] = quantiles[1]
        state["scale"] = _width(quantiles[0], quantiles[2])

    def _known(self, state):
        return state["center"], state["scale"]


def _next_refresh(t):
    """Return the first count after t at which the quantiles are taken."""
    return 1 << t.bit_length() if t < _REFRESH else t + _REFRESH - t % _REFRESH
