"""Any forecaster, corrected online: what its verbs take; the rounds are in `_correction.py`."""

from __future__ import annotations

from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch
from sklearn.utils._param_validation import Interval

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._prediction_frames import check_as_frame
from .._types import Any, Array, ArrayLike, Self
from ..base import _is_finite, twin
from . import (
    _correction,
    _fixed_share,
    _frames,
    _intake,
    _intervals,
    _labels,
    _rounds,
    _skew,
)
from ._forecaster import OnlineForecaster
from ._shell import SeriesEstimator


class AdaptedForecaster(SeriesEstimator):
    r"""Correct the forecasts of any other forecaster online, and never lose much to it.

    The base is whatever forecasts: a frozen network, a pretrained model, ARIMA, last season. It is
    not called: its forecasts come as numbers, with every row those that were made before the row
    was known. What its errors have in common is learnt as targets become known, and what it says is
    mixed with its correction and with an `OnlineForecaster` of the same series.

    Parameters
    ----------
    horizon : int, default=1
        Number H of rows that the base forecasts at a time.

    forecaster : OnlineForecaster, default=None
        Our own forecaster, which is mixed in: of the same horizon. It is cloned. None is
        ``OnlineForecaster(horizon)``.

    window : int, default=24
        How many of the latest values, and of the latest errors of the base's first step, the
        regressions of its errors see, at least 2: a day of hourly rows.

    Attributes
    ----------
    forecaster_ : OnlineForecaster
        Our own forecaster, as far as it has learnt.

    n_samples_seen_ : int
        Rows learnt so far, with those filled in for gaps.

    expert_weights_ : ndarray of shape (horizon, n_series, 5)
        What counts at present, at least 0 with sum one: the base, it corrected with a long memory,
        and with one of a thousand rows, our own forecaster, and a regression mixture of these four.

    regret_ : ndarray of shape (horizon, n_series)
        Sum of the squared errors of the forecasts so far, less that of the base: below 0 where the
        base was made better.

    regret_bound_ : ndarray of shape (horizon, n_series)
        What `regret_` can be at most, in the unit of y squared, for all rows so far and for any
        stretch of them, see Notes.

    See Also
    --------
    OnlineForecaster : Forecasts series from the past alone.
    ResidualRegressor : Corrects a model of tables.

    Notes
    -----
    *Cost.* That of our own forecaster, and with D about 3 `window` features O(m D² + H m D) per
    row.

    *Correction.* Ridge regressions of the base's errors, direct for each step, learnt when the
    target of step h is known, h rows later, no sooner and no later [1]_. They see the latest values
    less the last one, the latest errors of the first step, and up to 24 steps of what the base says
    now. One remembers all, one about a thousand rows. Without a sign of an error they correct
    nothing.

    *Mixture.* Base, its two corrections and our own forecaster are mixed as the experts of
    `OnlineForecaster` are, with weights of any sign. That mixture is a fifth expert; the forecast
    is a mean of the five by fixed share [2]_, half of whose prior is the base's, for each step and
    series.

    *Theorem.* Per step and series, with :math:`\ell_t` the squared error of the t-th forecast that
    was judged and :math:`\ell_{t,0}` that of the base, on every stretch of rounds r, ..., s,

    .. math:: \sum_{t=r}^s (\ell_t - \ell_{t,0}) \le D_s + c_s \Bigl( \ln (2 s)
              + \ln \frac{s + 1}{r} \Bigr),

    whatever the base says and whatever comes, where :math:`c_s` is the inverse of the rate and
    :math:`D_s` the sum of the mixability gaps (section 2 of [3]_; the summation by parts for a
    switching rate of 1 / t as in section 5 of [4]_; for late targets [5]_). Both are known:
    `regret_bound_` is this with r = 1, and :meth:`regret_certificate` has both for all five. If all
    five are off by at most B, for the first step :math:`D_s \le 3 B^2` and :math:`c_s \le 4 B^2`:
    the mean loss to the base vanishes like :math:`\ln s / s`. At step h it is :math:`O(B^2 \sqrt{h
    / s})` at most.

    *Intervals and quantiles* are those of `OnlineForecaster`, of the errors of these forecasts,
    without phases of the season. Intervals are as long above as below. Quantiles follow the law of
    past errors on each side.

    *What is judged.* Values that our own forecaster has learnt, from the 33rd row of a series on:
    not those that are missing or that it takes for faults. Before the first is judged the
    forecast is the base's.

    *Missing forecasts.* Where the base is silent, NaN, our own forecast stands in its place, also
    in the bound; where ours is, the base's.

    *Columns.* X is for our own forecaster; of columns known ahead each forecast of the past is
    judged as it is with the columns that came.

    *Persistence.* The cut of the stream into calls changes nothing, to the last bit.

    References
    ----------
    .. [1] P. Joulani, A. György, C. Szepesvári, "Online learning under delayed feedback",
       International Conference on Machine Learning (ICML), 2013.
    .. [2] M. Herbster, M. K. Warmuth, "Tracking the best expert", Machine Learning 32, 1998.
    .. [3] S. de Rooij, T. van Erven, P. D. Grünwald, W. M. Koolen, "Follow the leader if you can,
       hedge if you must", Journal of Machine Learning Research 15, 2014.
    .. [4] N. Cesa-Bianchi, G. Lugosi, "Prediction, learning, and games", Cambridge University
       Press, 2006.
    .. [5] G. Flaspohler et al., "Online learning with optimism and delay", International Conference
       on Machine Learning (ICML), 2021.

    Examples
    --------
    A base that says last season, which is too low where the series grows:

    >>> import numpy as np
    >>> from sklearn_okl import AdaptedForecaster
    >>> rng = np.random.default_rng(0)
    >>> t = np.arange(400)
    >>> y = 0.1 * t + np.sin(2 * np.pi * t / 12) + 0.1 * rng.normal(size=400)
    >>> base = np.stack([y[np.maximum(t - 12 + h, 0)] for h in range(12)], axis=1)  # (n, horizon)
    >>> model = AdaptedForecaster(horizon=12)
    >>> forecasts = model.prequential_predict(y[:388], base[:388])
    >>> errors = np.abs(forecasts[200:376] - y[200:376, None])[:, 0]
    >>> bool(errors.mean() < 0.2 * np.abs(base[200:376, 0] - y[200:376]).mean())
    True
    >>> bool((model.regret_ <= model.regret_bound_).all())
    True
    >>> model.predict(base[388]).shape
    (12,)
    >>> model.predict_quantiles(base[388], alpha=[0.1, 0.5, 0.9]).shape
    (12, 3)
    """

    def __init__(
        self, horizon: int = 1, *, forecaster: OnlineForecaster | None = None, window: int = 24
    ) -> None:
        self.horizon = horizon
        self.forecaster = forecaster
        self.window = window

    _parameter_constraints = {
        "horizon": [Interval(Integral, 1, None, closed="left")],
        "forecaster": [OnlineForecaster, None],
        "window": [Interval(Integral, 2, None, closed="left")],
    }
    _structural = ("horizon", "forecaster", "window")

    @explained_by(OnlineForecaster.fit)
    def fit(self, y: ArrayLike, base_forecasts: ArrayLike, X: ArrayLike | None = None) -> Self:
        """Forget what was learnt, then learn all rows once, in order.

        Parameters
        ----------
        base_forecasts : array-like of shape (n, horizon) or (n, horizon, m)
            Entry [i, h] is what the base said of row i + h before row i was known; NaN where it
            said nothing. A frame has a column a step, always in the same order. Of one step (n,)
            will do. If our own forecaster has ``gaps="fill"``, h counts steps of time from row i
            on, with rows that the index leaves out.
        """
        self._advance(y, base_forecasts, X, restart=True)
        return self

    @explained_by(fit, OnlineForecaster.partial_fit)
    def partial_fit(
        self, y: ArrayLike, base_forecasts: ArrayLike, X: ArrayLike | None = None
    ) -> Self:
        """Learn the next rows.

        Raises
        ------
        ValueError
            If the rows do not continue those learnt, or the base's forecasts are not of them. The
            forecaster is then as it was.
        """
        self._advance(y, base_forecasts, X)
        return self

    @explained_by(partial_fit)
    def prequential_predict(
        self,
        y: ArrayLike,
        base_forecasts: ArrayLike,
        X: ArrayLike | None = None,
        X_future: Any = None,
    ) -> Array:
        """Learn the next rows, and return what was forecast before each of them.

        Parameters
        ----------
        X_future : {array-like, frame} of shape (horizon, d), default=None
            Columns known ahead of the `horizon` rows after the last. Without them the base stands
            in for our own forecasts of those rows.

        Returns
        -------
        forecasts : ndarray of shape (n, horizon) or (n, horizon, m)
            Entry [i, h] is the forecast of row i + h, made before row i was known. NaN where
            neither the base nor we say anything. Rows that an index leaves out are steps, too, as
            those of `base_forecasts` are.
        """
        forecasts = self._advance(y, base_forecasts, X, X_future, keeps_forecasts=True)
        return forecasts[..., 0] if self.forecaster_._layout["is_flat"] else forecasts

    @explained_by(OnlineForecaster.predict)
    def predict(
        self, base_forecasts: ArrayLike, X_future: Any = None, n_steps: int | None = None
    ) -> Any:
        """Forecast the next rows from what the base says of them; changes nothing.

        Parameters
        ----------
        base_forecasts : array-like of shape (horizon,) or (horizon, m)
            What the base says of the next rows.

        Raises
        ------
        ValueError
            If the base's forecasts have another shape, or X_future is missing or of other rows.
        """
        _, forecasts, layout = self._asked(base_forecasts, X_future, n_steps)
        return _frames.framed(forecasts, layout["is_flat"], layout["names"], layout["time"])

    @explained_by(OnlineForecaster.predict_interval, predict)
    def predict_interval(
        self,
        base_forecasts: ArrayLike,
        X_future: Any = None,
        coverage: ArrayLike = (0.8, 0.95),
        n_steps: int | None = None,
        *,
        as_frame: str | None = None,
    ) -> Any:
        """Give intervals around the corrected forecasts; changes nothing."""
        check_as_frame(as_frame)
        coverage = _intervals.checked_coverage(coverage)
        asked = base_forecasts, X_future, n_steps
        said, forecasts, layout = self._asked(*asked, _correction.reaches)
        ends = _intervals.around(forecasts, *said, coverage)
        return _frames.framed_intervals(ends, coverage, as_frame, layout)

    @explained_by(OnlineForecaster.predict_quantiles, predict)
    def predict_quantiles(
        self,
        base_forecasts: ArrayLike,
        X_future: Any = None,
        alpha: ArrayLike = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        n_steps: int | None = None,
    ) -> Array:
        """Give quantiles of the next rows, which never cross; changes nothing.

        They follow the law of the errors of the corrected forecasts, each side by itself. So that
        of 1/2 is the median, which where errors are skewed is not the forecast, a mean.
        """
        alpha = _intervals.checked_coverage(alpha, "alpha")
        asked = base_forecasts, X_future, n_steps
        said, forecasts, layout = self._asked(*asked, _correction.reaches_and_sides)
        ends = _skew.quantiles(forecasts, *said, alpha)
        return ends[:, 0] if layout["is_flat"] else ends

    @property
    def expert_weights_(self) -> Array:
        """What each of the five counts for at present, per step and series."""
        return np.moveaxis(_fixed_share.weights(self._known_state()["shares"]), 0, -1)

    @property
    def regret_(self) -> Array:
        """Squared errors so far less those of the base, per step and series."""
        return self._known_state()["shares"]["regrets"][0].copy()

    @property
    def regret_bound_(self) -> Array:
        """What the regret is at most on any stretch of the rows so far, per step and series."""
        return _fixed_share.bounds(self._known_state()["shares"])[0]

    def regret_certificate(self) -> Bunch:
        """Return how far the forecasts so far are behind the base, and each of the other four.

        Returns
        -------
        told : Bunch
            - ``n_rounds`` : ndarray of int of shape (horizon, n_series), forecasts judged so far;
            - ``experts`` : ndarray of shape (horizon, n_series, 5), the squared errors of the
              forecasts less those of each expert, in the order of `expert_weights_`, exactly;
            - ``bounds`` : ndarray of the same shape, what each of these can be at most, on any
              stretch of the rounds.
        """
        shares = self._known_state()["shares"]
        return Bunch(
            n_rounds=shares["n"].astype(int),
            experts=np.moveaxis(shares["regrets"], 0, -1).copy(),
            bounds=np.moveaxis(_fixed_share.bounds(shares), 0, -1),
        )

    def _asked(self, base_forecasts, X_future, n_steps, tell=None):
        """Return what is told of forecasts, None if nothing is to be, these, and the layout.

        `tell` is a function of the state, what was issued, and the number of steps. Forecasts are
        of shape (n_steps, m).
        """
        model = twin(self)  # another thread may install a new state meanwhile
        state = model._known_state()
        model._check_structure()
        layout = model.forecaster_._layout
        base = _base_of(base_forecasts, (model.horizon, layout["n_series"]))
        model._check_labels(base_forecasts, layout)
        _, said = model.forecaster_._asked(X_future, n_steps)
        ours = np.full(base.shape, np.nan)
        ours[: len(said)] = said
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            slot, _ = _correction.issue(state, base)
            forecasts = _correction.forecast(slot, ours)
            told = None if tell is None else tell(state, slot, len(said))
        return told, forecasts[: len(said)], layout

    def _check_labels(self, base_forecasts, layout):
        """Refuse a frame of the next rows that are others, or in another order."""
        labels = getattr(base_forecasts, "index", None)
        if not hasattr(labels, "get_indexer"):
            return
        if self._steps is not None and set(labels) == set(self._steps):  # a row of a frame
            _frames.check_names("base_forecasts", list(labels), self._steps)
            return
        _frames.check_following(layout["time"], base_forecasts, "base_forecasts")
        if layout["n_series"] > 1:
            names = _frames.names_of(base_forecasts)
            _frames.check_names("base_forecasts", names, layout["names"], "series")

    def _validate(self):
        super()._validate()
        if self.forecaster is not None and self.forecaster.horizon != self.horizon:
            raise ValueError(
                f"forecaster has horizon={self.forecaster.horizon}, but horizon={self.horizon}: "
                "our own forecaster is to forecast as many rows as the base."
            )

    def _known_ahead(self):
        return self._own_forecaster().known_ahead

    def _own_forecaster(self):
        """Return our own forecaster, which knows nothing yet."""
        return OnlineForecaster(self.horizon) if self.forecaster is None else clone(self.forecaster)

    def _advance(
        self, y, base_forecasts, X, X_future=None, *, restart=False, keeps_forecasts=False
    ):
        """Learn rows; on any failure leave `self` as it was."""
        return self._swap(restart, y, base_forecasts, X, X_future, keeps_forecasts)

    def _learn_given(self, former, y, base_forecasts, X, X_future, keeps_forecasts):
        is_start, series, heard = former is None, _frames.series_of(y), []
        if keeps_forecasts:
            layout = None if is_start else self.forecaster_._layout
            n = _intake.n_of_one_step(layout, series)
            if n < len(series.values):
                return self._learn_in_two(former, n, layout, (y, base_forecasts, X), X_future)
        self.forecaster_ = self._own_forecaster() if is_start else twin(self.forecaster_)
        n, n_series = series.values.shape
        given = _base_of(base_forecasts, (n, self.horizon, n_series))
        _check_aligned(series.index, base_forecasts)
        if not is_start and series.index is None:
            label = _labels.stranger_in(base_forecasts, "base_forecasts")
            _labels.check_stranger(self.forecaster_._layout["time"], label, "base_forecasts")
        steps, known = _frames.names_of(base_forecasts), None if is_start else self._steps
        _frames.check_names("base_forecasts", steps, known)
        self._steps = steps if known is None else known
        ours = self.forecaster_._advance(
            y, X, X_future, restart=is_start, keeps_forecasts=keeps_forecasts, heard=heard
        )
        rows, *heard = heard
        first = given if is_start else np.concatenate([self._first, given])
        n_before = len(rows.given) - n
        if n_before:  # our own forecaster has begun anew
            is_start, given = True, first
        self._first = first[:0].copy() if self.forecaster_._layout["first"] is None else first
        base = np.full((len(rows.y), *given.shape[1:]), np.nan)
        base[rows.given] = given
        if is_start:
            state = _correction.start(int(self.horizon), n_series, int(self.window))
        else:
            state = _rounds._copied(former, True)
        now = rows.given[n_before:].tolist()
        asked = dict(zip(now, ours, strict=True)) if keeps_forecasts else {}
        forecasts = []
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            for t, (said, is_learnt) in enumerate(heard):
                slot, features = _correction.issue(state, base[t])
                if t in asked:
                    forecasts.append(_correction.forecast(slot, asked[t]))
                known = np.where(is_learnt, rows.y[t], np.nan)
                _correction.absorb(state, slot, features, base[t], said, known)
        return state, np.array(forecasts)

    def _is_sound(self, state, forecasts=None):
        # forecasts of those who are silent are NaN
        return _is_finite(forecasts, allow_nan=True) and _correction.is_sound(state)


def _check_aligned(index, base_forecasts):
    other = getattr(base_forecasts, "index", None)
    has_labels = index is not None and hasattr(other, "get_indexer")
    if has_labels and not _frames.same_labels(index, other):
        raise ValueError("The indexes of y and base_forecasts differ. Align the frames first.")


def _base_of(base_forecasts, shape):
    """Return the base's forecasts as numbers of a shape (..., m), or say what is wrong."""
    if base_forecasts is None:
        raise ValueError(
            "base_forecasts is missing: give what the base said of each row and those after it, "
            "(n, horizon) of one series, (n, horizon, m) of several; NaN where it said nothing."
        )
    values = _frames._numbers(base_forecasts, "base_forecasts")
    if values.shape in (shape[:1], shape[:-1]) and np.prod(shape[values.ndim :]) == 1:
        values = values.reshape(shape)
    if values.shape != shape:
        wanted = f"{shape[:-1]} or {shape}" if shape[-1] == 1 else f"{shape}"
        raise ValueError(
            f"base_forecasts has shape {values.shape}, but {wanted} was expected: the rows, the "
            "horizon, and the series last."
        )
    return values
