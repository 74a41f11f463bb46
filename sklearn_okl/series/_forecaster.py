"""The forecaster: what its verbs take and give; the rounds are in `_rounds.py`."""

from __future__ import annotations

import warnings
from numbers import Integral

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions

from .._documentation import explained_by
from .._linalg import one_blas_thread
from .._prediction_frames import check_as_frame, interval_frame
from .._types import Any, Array, ArrayLike, Seed, Self
from ..base import _is_finite, described, twin
from ..features import _faults
from ..meta._fits import batch_model, boosted_regressor, single_fit
from ..meta._refit import check_is_regressor
from . import _experts, _frames, _intake, _intervals, _judge, _plan, _rounds, _skew, _sound, _views
from ._account import AccountOfForecasts
from ._experts import RAW
from ._shell import SeriesEstimator


class OnlineForecaster(AccountOfForecasts, SeriesEstimator):
    """Forecast the next rows of one or several series, and learn each row as it comes.

    A row of the series comes, and `predict` says the next `horizon` rows: tomorrow's 24 hours, say,
    from the hours so far and tomorrow's weather. Nothing needs to be tuned, and no lags to be
    built. A target is learnt when it is known, never earlier.

    Parameters
    ----------
    horizon : int, default=1
        Number H of rows that are forecast at a time.

    season_lengths : array-like of int, default=None
        Lengths of seasons in rows, such as ``(24, 168)``, that are known from the start. Up to
        three in all are found, see Notes: all of them if None.

    known_ahead : "all" or array-like of str or int, default="all"
        Columns of X that are known when their rows are forecast, such as calendars, prices and
        weather forecasts; by their names in a frame, or by their places. The others are known with
        the series only: of these the latest row is seen.

    pooled : bool or "auto", default="auto"
        Whether all series share one model, and the regressions of the mixture. Otherwise each has
        its own, and sees the other ones: right for some dozens of series; many that are alike are
        pooled. "auto" pools more than 32.

    windows : array-like of 3 int, default=(24, 48, 168)
        How many of the latest rows the experts with a short, a middle and a long window see.

    gaps : {"refuse", "fill"}, default="refuse"
        What is done where an index leaves rows out: an error, or as if these rows had come with
        missing values.

    max_gap : int, default=1000
        How many rows in a row ``gaps="fill"`` fills in: about as many as are remembered. A longer
        gap is an error, as one clock that is days ahead would end the series.

    trees : bool, regressor or "lightgbm", default=False
        Whether boosted trees take part, which see the columns known ahead and the time of a row,
        and values that are known at all steps: for heat that counts at some hours, and for a
        holiday that is no day of its week. They are those of :class:`OnlineKernelRegressor`, one
        fit for each series. The whole past is kept then: memory grows with the stream.

    guard : bool, default=True
        Whether a value far from nearly all others is in doubt, see Notes. False: every value is
        believed, of columns as well, and learnt as it comes.

    random_state : int, RandomState instance or None, default=0
        Source of the random Fourier features.

    Attributes
    ----------
    n_samples_seen_ : int
        Rows learnt so far, with those filled in for gaps.

    n_faulty_ : ndarray of int of shape (n_series + n_columns,)
        How many values of each series, then of each column known ahead, then of the others, were
        taken for faults so far. Above a twentieth of the rows in a series there is a warning, once.

    season_lengths_ : ndarray of int
        Lengths of the seasons in rows, given or found, the shortest first; 0 is none.

    expert_weights_ : ndarray of shape (horizon, n_series, n_experts)
        What each expert counts for at present; the weights sum to one, and some are negative.

    expert_names_ : list of str
        What each expert is.

    See Also
    --------
    OnlineKernelRegressor : Forecasts the targets of rows of a table.
    LagFeatures : The latest targets as features of a table.
    CalendarFeatures : Dates as features.

    Notes
    -----
    *Cost.* Per row, with m series and D features of the largest window, O(m D² + H m D) for models
    of their own, O(D² + H m D) for one of all lags; as much memory, whatever the stream's length.
    A few milliseconds a row for seven series and 48 steps.

    *Experts.* Direct ridge regressions for all steps: of each series on its own latest values, with
    a long memory and a window of 168 rows, and with a memory of a thousand rows and a window of 48;
    of each on the latest 24 values of all series, with a memory of a thousand rows; one model of
    all series together; and one of them on random Fourier features of the window, which is kernel
    ridge regression. Besides them the latest value, the season come again, the median of the latest
    three seasons, in which no odd day is left, and a usual length that was seen once or twice, such
    as a year, come again at its mean distance, where that has been worth it; and four
    banks of 36 exponential smoothings over a grid of rates [5]_, which know what a season was over
    many cycles: of level, seasons and an error that lasts; of a damped slope as well; of
    logarithms, where all values so far are positive; without the longest season. Of few rows a
    level is their mean, and a slope that of the line through them. Windows are
    values less the latest one, in running standard deviations, and over the root of their length:
    the ridge is 1 where a whole window is about 1. So a + b y has the forecasts a + b f, but for
    logarithms, which know where 0 is. All see the phases of the seasons, or of the calendar if the
    index has dates. What lasts by day may turn by night: to those with the window of 48 rows, and
    to the one of all series together, means of the latest rows count by where the first season is.

    *Seasons* that are given are smoothed from two cycles on, and anew from four on. Others are
    looked for in what these leave, after 32, 48, 64, 96, 128, ... rows, in the latest 8192 (fewer
    of more than 64 series): in the power at the multiples of 1 / p, over that beside them, so that
    trends and errors that last are none. A multiple is one only if it explains more than its
    divisor, a length has been seen in four cycles, and the usual ones, a day, a week and a year if
    there are dates, count where a row more or less cannot be told. What begins on a new season
    enters the mixture with the errors that it would have had; what stood on one that is over stays
    until its place is needed. Before row 32 a day, a week or a year of dates comes again as it was,
    where that was best in eight rows or more.

    *One inverse for all steps.* The gains of recursive least squares know features only. So those
    of an origin are computed once, wait with its features, and teach step h when the target of row
    i + h is known: each step is exactly the ridge regression on all origins whose targets are known
    [1]_, and 48 steps cost one inverse.

    *Mixture.* Per step and series, from the forecasts of that age: experts by their faded squared
    errors [2]_, beside it two ridge regressions on the deviations of the experts from that mean,
    one of which forgets, and the three by their squared errors again. To the regressions a row
    whose error is more than twice the usual one counts for less. Of several series the
    squared errors of each are shrunk to their mean, which helps those that are short. A step of
    which few targets are known borrows from the one before it.

    *Columns known ahead.* A ridge regression of the row on its columns and on slow sines and
    cosines of each, an additive model; what it leaves is a series too, which experts of their own
    forecast: regression with errors that last [3]_. So weather explains its part, and what was
    above it in the last hour is carried on. With `trees` what boosting says of the row explains a
    part, too, and what it leaves is carried on likewise.

    *Intervals.* Adaptive conformal inference [4]_ of each step on errors of that age, in units of
    their size in the long run, lately, and at this phase of the season. All series share a part of
    what misses teach: in a week that is hard for all, one hears it sooner. Shares of rows held are
    those of all series together. A series with few errors borrows from the others; the first ones
    are as those of a random walk, so that there is an interval from the fourth value on; of a
    series that was constant so far, from the 16th. Where columns are known ahead, or rows have
    dates, others stand beside these: a ridge regression of the logarithm of errors on the row (its
    columns, its phase, its forecast) says their size, and misses are heard by the kind of row, part
    of the day and the week, low, usual or high in a column. Both are mixed by their interval
    scores, with a bound on what that costs: so an interval is wider on a holiday, in heat, or at
    the rush hour.

    *Logarithms.* What holidays, promotions or weekends multiply, or grows by a factor on seasons
    that are given, is forecast far better from ``np.log(y)``: what columns explain is added.

    *Missing values.* One in y is filled in by its own forecast, and teaches nothing; one in X
    counts as the mean. A series that begins later is NaN until its first value, and so are its
    forecasts; before it the series counts as that value. Rows before the first value of any series
    teach nothing.

    *Faults.* A value 20 running standard deviations off counts as missing, and intervals are not
    judged by it; so does a number that has been one three times. A far number that is the very one
    before, where values hardly ever repeat, was none either time. The third far value in a row that
    agrees with those before it, or is on a line with them, is a new level, to which all that is
    remembered of the series moves; the 32nd, where it lies beyond all values and 0, on a side of 0
    where none of them is. One is enough after two levels like it, and up to eight are needed after
    faults no larger. The first values are judged as a whole after 8, 16, 32, ..., 256 rows, and
    learnt again without faults, and up to row 1024 when a number is found that stands for none. Of
    a value that is nearer, but more than 8 usual errors off its forecast, as much is gone on from
    as has lasted of such values, or pairs, so far. Cells of X are judged likewise; one known ahead
    counts as missing, too, and a column at a new level says what it said. First values in a unit
    much larger than all later ones, or elsewhere before row 32, count as missing once these are as
    many, and 32. Wrong in both directions: a single far value that is true is not learnt, unless it
    comes in every season of the first rows or columns explain it; a level that is none costs one
    forecast when it is left. A number that comes in every tenth row and is true, zeros of closed
    days, say, is not learnt until three of the first seasons, two if they were given, have it, or
    where it begins later once it has come four times as many rows apart, and never if it comes at
    any time, nor before most rows have it if it lies beyond all values and 0 where these hardly
    ever repeat: above a twentieth there is a warning, and ``guard=False`` believes them.

    *Persistence.* The cut of the stream into calls changes nothing, to the last bit. Where an index
    of dates or whole numbers has no `freq`, its first 16 labels tell the step, the smallest one of
    which all of them are whole multiples: days, business days, halves of months, months or hours.
    When one tells another step than those before it, the rows so far are learnt again; one row
    alone tells none, and its forecasts have no index.

    References
    ----------
    .. [1] P. Joulani, A. György, C. Szepesvári, "Online learning under delayed feedback",
       International Conference on Machine Learning (ICML), 2013.
    .. [2] J. M. Bates, C. W. J. Granger, "The combination of forecasts", Operational Research
       Quarterly 20(4), 1969.
    .. [3] A. C. Harvey, "Forecasting, structural time series models and the Kalman filter",
       Cambridge University Press, 1989.
    .. [4] I. Gibbs, E. Candès, "Adaptive conformal inference under distribution shift", Neural
       Information Processing Systems (NeurIPS), 2021.
    .. [5] J. W. Taylor, "Short-term electricity demand forecasting using double seasonal
       exponential smoothing", Journal of the Operational Research Society 54, 2003.

    Examples
    --------
    >>> from sklearn_okl import OnlineForecaster
    >>> from sklearn_okl.datasets import make_day_ahead
    >>> X, y = make_day_ahead(24 * 15, random_state=0)
    >>> forecaster = OnlineForecaster(horizon=24).fit(y[:-24], X[:-24])
    >>> forecaster.predict(X[-24:]).shape
    (24,)
    >>> forecaster.predict_interval(X[-24:], coverage=[0.9]).shape
    (24, 1, 2)
    >>> forecaster.partial_fit(y[-24:], X[-24:]).n_samples_seen_
    360
    """

    def __init__(
        self,
        horizon: int = 1,
        *,
        season_lengths: ArrayLike | None = None,
        known_ahead: str | ArrayLike | int = "all",
        pooled: bool | str = "auto",
        windows: ArrayLike = (24, 48, 168),
        gaps: str = "refuse",
        max_gap: int = 1000,
        trees: Any = False,
        guard: bool = True,
        random_state: Seed = 0,
    ) -> None:
        self.horizon = horizon
        self.season_lengths = season_lengths
        self.known_ahead = known_ahead
        self.pooled = pooled
        self.windows = windows
        self.gaps = gaps
        self.max_gap = max_gap
        self.trees = trees
        self.guard = guard
        self.random_state = random_state

    _parameter_constraints = {
        "horizon": [Interval(Integral, 1, None, closed="left")],
        "season_lengths": ["array-like", None],
        "known_ahead": [StrOptions({"all"}), "array-like"],
        "pooled": ["boolean", StrOptions({"auto"})],
        "windows": ["array-like"],
        "gaps": [StrOptions({"refuse", "fill"})],
        "max_gap": [Interval(Integral, 1, None, closed="left")],
        "trees": ["boolean", StrOptions({"lightgbm"}), HasMethods(["fit", "predict"])],
        "guard": ["boolean"],
        "random_state": ["random_state"],
    }
    # all but those on gaps and the source of the features, and in more than its start
    _structural = (
        "horizon",
        "season_lengths",
        "known_ahead",
        "pooled",
        "windows",
        "trees",
        "guard",
    )

    def fit(self, y: ArrayLike, X: ArrayLike | None = None) -> Self:
        """Forget what was learnt, then learn all rows once, in order.

        Parameters
        ----------
        y : {array-like, frame} of shape (n,) or (n, m)
            Rows of one or several series; NaN is a missing value.
        X : {array-like, frame} of shape (n, d), default=None
            Columns that belong to the rows.

        Returns
        -------
        self : object
            The fitted forecaster.
        """
        self._advance(y, X, restart=True)
        return self

    @explained_by(fit)
    def partial_fit(self, y: ArrayLike, X: ArrayLike | None = None) -> Self:
        """Learn the next rows.

        Parameters
        ----------
        y : {array-like, frame} of shape (n,) or (n, m)
            The next rows of one or several series; NaN is a missing value.

        Returns
        -------
        self : object
            The forecaster, which knows these rows.

        Raises
        ------
        ValueError
            If the rows do not continue those learnt: other series or columns, an index that goes
            back or leaves rows out, numbers that are infinite. The forecaster is then as it was.
        """
        self._advance(y, X)
        return self

    @explained_by(partial_fit)
    def prequential_predict(
        self, y: ArrayLike, X: ArrayLike | None = None, X_future: Any = None
    ) -> Array:
        """Learn the next rows, and return what was forecast before each of them.

        Parameters
        ----------
        X_future : {array-like, frame} of shape (horizon, d), default=None
            Columns known ahead of the `horizon` rows after the last. Without them forecasts of
            those rows are NaN, where there are columns known ahead.

        Returns
        -------
        forecasts : ndarray of shape (n, horizon) or (n, horizon, m)
            Entry [i, h] is the forecast of row i + h, h = 0, ..., horizon - 1, made when the
            targets before row i were known, and the columns known ahead up to row i + h. NaN for a
            series that has not begun. Where an index leaves rows out after row i, which
            ``gaps="fill"`` allows, steps count them: it is the h-th step after row i then.
        """
        forecasts = self._advance(y, X, X_future, keeps_forecasts=True)
        return forecasts[..., 0] if self._layout["is_flat"] else forecasts

    @explained_by(AccountOfForecasts.predict_components)
    def predict(self, X_future: Any = None, n_steps: int | None = None) -> Any:
        """Forecast the next rows, `horizon` of them or fewer; changes nothing.

        Returns
        -------
        forecasts : {ndarray, Series, DataFrame} of shape (n_steps,) or (n_steps, m)
            NaN for series that have not begun. A frame of pandas with the continued index, where
            the rows came with an index of dates, periods or whole numbers.

        Raises
        ------
        ValueError
            If X_future is missing, has other columns, or is of other rows than those that follow.
        """
        _, forecasts = self._asked(X_future, n_steps)
        layout = self._layout
        return _frames.framed(forecasts, layout["is_flat"], layout["names"], layout["time"])

    @explained_by(predict, interval_frame)
    def predict_interval(
        self,
        X_future: Any = None,
        coverage: ArrayLike = (0.8, 0.95),
        n_steps: int | None = None,
        *,
        as_frame: str | None = None,
    ) -> Any:
        """Give intervals that hold the next rows as often as asked for.

        Parameters
        ----------
        coverage : array-like of shape (n_levels,), default=(0.8, 0.95)
            Shares of rows that intervals shall hold, each above 0 and below 1. From 0.1 to 0.99
            misses correct them. Below they shrink as those of a Gaussian law do, above they grow as
            those of an exponential tail: by as much from 0.99 to 0.999 as from 0.9 to 0.99.

        Returns
        -------
        intervals : ndarray (n_steps, n_levels, 2) or (n_steps, m, n_levels, 2), or DataFrame
            Lower and upper ends. The whole line where three values are known, or fewer; 15 of a
            series that was constant so far.
        """
        check_as_frame(as_frame)
        coverage = _intervals.checked_coverage(coverage)
        said, forecasts = self._asked(X_future, n_steps, _reaches)
        ends = _intervals.around(forecasts, *said, coverage)
        return _frames.framed_intervals(ends, coverage, as_frame, self._layout)

    @explained_by(predict)
    def predict_quantiles(
        self,
        X_future: Any = None,
        alpha: ArrayLike = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
        n_steps: int | None = None,
    ) -> Array:
        r"""Give quantiles of the next rows, which never cross.

        One is as far off as the interval of coverage :math:`|2 \alpha - 1|` reaches, times how far
        past errors lay on that side over how large they were. So that of 1/2 is the median, which
        where errors are skewed is not the forecast, a mean; and two of them are no ends of an
        interval: it is longer or shorter, and no theorem holds its share.

        Parameters
        ----------
        alpha : array-like of shape (q,), default=(0.1, 0.2, ..., 0.9)
            Levels, each above 0 and below 1, of as many quantiles.

        Returns
        -------
        quantiles : ndarray of shape (n_steps, q) or (n_steps, m, q)
            They do not fall with the level; infinite where an interval is the whole line, but for
            the level 1/2, where it is the forecast then.
        """
        alpha = _intervals.checked_coverage(alpha, "alpha")
        said, _ = self._asked(X_future, n_steps, _middle_and_reaches)
        ends = _skew.quantiles(*said, alpha)
        return ends[:, 0] if self._layout["is_flat"] else ends

    @property
    def n_faulty_(self) -> Array:
        """Values of each series, then cells of each column, that were taken for faults so far."""
        return self._known_state()["doubts"]["n_faulty"].copy()

    @property
    def season_lengths_(self) -> Array:
        """Lengths of the seasons in rows, given or found; 0 for none."""
        return self._known_state()["seasons"].copy()

    @property
    def expert_weights_(self) -> Array:
        """What each expert counts for at present, per step and series."""
        return np.moveaxis(_rounds.coefficients(self._known_state()), 0, -1)

    def _validate(self):
        self._validate_params()
        windows = _whole_numbers(self.windows)
        if len(windows) != 3 or sorted(windows) != windows or windows[0] < 2:
            raise ValueError(
                f"windows={self.windows!r}: give the lengths of a short, a middle and a long "
                "window in rows, in this order, the shortest of at least 2 rows."
            )
        if self.season_lengths is not None:
            lengths = _whole_numbers(self.season_lengths)
            if not lengths or min(lengths) < 2:
                raise ValueError(
                    f"season_lengths={self.season_lengths!r}: give whole numbers of rows, each at "
                    "least 2, or None to have them found."
                )

        estimator = single_fit(batch_model(self.trees, boosted_regressor))
        if estimator is not None:
            check_is_regressor("trees", estimator)

    def _structure(self):
        return super()._structure() | {"trees": described(self.trees)}

    def _plan(self):
        layout = self._layout
        return _plan.plan(
            self,
            layout["n_series"],
            _frames.n_calendar(layout["cycles"]),
            len(layout["ahead"]),
            len(layout["now"]),
            _frames.rows_in_cycles(layout["time"]),
        )

    def _advance(self, y, X, X_future=None, *, restart=False, keeps_forecasts=False, heard=None):
        """Learn rows; return what was forecast before them, if that is kept.

        `heard` is for who listens: a list, into which go the rows, and what `_rounds.learn` tells.
        """
        return self._swap(restart, y, X, X_future, keeps_forecasts, heard)

    def _learn_given(self, former, y, X, X_future, keeps_forecasts, heard):
        series = _frames.series_of(y)
        if not len(series.values):
            raise ValueError("y has no rows: there is nothing to learn.")
        if keeps_forecasts:
            layout = None if former is None else self._layout
            n = _intake.n_of_one_step(layout, series)
            if n < len(series.values):
                return self._learn_in_two(former, n, layout, (y, X), X_future, heard)
        known, n_before = former, 0
        if former is None:
            self._layout = _intake.layout_of(series, X, self.known_ahead)
        elif (anew := _intake.told_anew(self._layout, series, X)) is not None:
            former, n_before = None, len(self._layout["first"]["labels"])
            self._layout, series, X = anew
        n_to_come, fills = self.horizon if keeps_forecasts else 1, self.gaps == "fill"
        rows, self._layout = _intake.rows_of(
            self._layout, series, X, n_to_come, former is None, self.max_gap * fills
        )
        plan = self._plan()
        future = _intake.future_of(self._layout, X_future, plan.horizon)
        if keeps_forecasts and future is None:
            future = np.empty((0, plan.n_ahead))
        if known is None:
            rng = check_random_state(self.random_state)
            waves = _experts.draw_waves(plan.experts, rng)
            seed = 0 if plan.trees is None else int(rng.randint(2**31 - plan.n_series))
            state = _rounds.start(plan, waves, seed)
        elif former is None:
            state = _rounds.start(plan, *_rounds.drawn(known))
        else:
            state = _rounds.successor(former, len(rows.y))
        has_warned = known is not None and known["doubts"]["has_warned"]
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            if heard is not None:
                heard.append(rows)
            forecasts = _rounds.learn(plan, state, rows, future, heard)
        if state["doubts"]["has_warned"] and not has_warned:
            which = "'n_faulty_' says how many they are of each series and column."
            text = _faults.many(state["t"], which, "give NaN in its stead")
            warnings.warn(text, UserWarning, stacklevel=5)
        return state, forecasts[rows.given[n_before:]] if keeps_forecasts else None

    @property
    def n_samples_seen_(self) -> int:
        state = self._known_state()
        return state["t"] + state["n_silent"]

    def _known_ahead(self):
        return self.known_ahead

    def _is_sound(self, state, forecasts=None):
        # forecasts of series that have not begun are NaN
        former = vars(self).get("_state")
        former = None if former is state else former
        return _is_finite(forecasts, allow_nan=True) and _sound.is_sound(state, former)

    def _asked(self, X_future, n_steps=None, tell=None):
        """Return what is told of forecasts, None if nothing is to be, and these (n_steps, m).

        `tell` is a function of the plan, the state, the columns and the calendar of the rows, and
        the forecasts.
        """
        model = twin(self)  # another thread may install a new state, and layout, meanwhile
        state, layout = model._known_state(), model._layout
        model._check_structure()
        plan = model._plan()
        future = _intake.future_of(layout, X_future, plan.horizon)
        if future is None:
            if plan.n_ahead:
                raise ValueError(
                    f"X_future is missing: {plan.n_ahead} columns of X are known ahead. Give those "
                    f"of the next {plan.horizon} rows, or fit with known_ahead=() if nobody knows "
                    "them ahead."
                )
            future = np.empty((0, 0))
            n_steps = plan.horizon if n_steps is None else n_steps
        n = len(future) if n_steps is None else n_steps
        if not isinstance(n, Integral) or not 1 <= n <= plan.horizon or 0 < len(future) != n:
            given = f", and X_future has {len(future)} rows" if len(future) else ""
            raise ValueError(
                f"n_steps={n_steps!r}: give a whole number from 1 to horizon={plan.horizon}{given}."
            )
        if len(future):  # the rows after those asked for, which say nothing of them
            rest = np.full((plan.horizon - n, plan.n_ahead), np.nan)
            future = np.concatenate([future, rest])
        calendar = _intake.calendar_of(layout, plan.horizon)
        with np.errstate(over="ignore", invalid="ignore"):
            forecasts = _rounds.forecast(plan, state, future, calendar)[:n]
            said = None if tell is None else tell(plan, state, future, calendar, forecasts)
        return said, forecasts


def _reaches(plan, state, *asked):
    """Return how far intervals reach (levels, n_steps, m), and in which units (m,)."""
    return _rounds.reaches(plan, state, *asked), _views.unit_of_intervals(state["views"][RAW])


def _middle_and_reaches(plan, state, *asked):
    """Return what `_skew.quantiles` needs: what laws are around, reaches, their sides, units."""
    reach, units = _reaches(plan, state, *asked)
    middle = _judge.middle(state["origin"]["slot"], asked[-1])
    return middle, reach, _judge.sides(state, reach), units


def _whole_numbers(values):
    """Return numbers without a fraction as such; nothing where they are anything else."""
    try:
        numbers = [int(value) for value in values]
        return numbers if all(a == b for a, b in zip(numbers, values, strict=True)) else []
    except (OverflowError, TypeError, ValueError):
        return []
