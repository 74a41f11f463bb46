"""A fan of forecasts, drawn: the next rows of a series, and intervals around them."""

from __future__ import annotations

import numpy as np
from sklearn.utils._optional_dependencies import check_matplotlib_support

from .._documentation import explained_by, inherit_documentation
from .._types import Any, ArrayLike
from ..base._distributions import followed_coverage
from ._display_parts import COLORS, Display, axes_of, draw_legend
from ._prequential_display import PrequentialDisplay
from ._series_parts import place_of, rounds_of, series_of, times_of, write_dates_short


@inherit_documentation
class ForecastFanDisplay(Display):
    """Forecasts of the rows of a series, with intervals of several coverages around them.

    Use :meth:`from_forecaster` or :meth:`from_predictions` to create one.

    Parameters
    ----------
    forecasts : ndarray of shape (n,)
        Forecasts of the rows, in order.
    intervals : ndarray of shape (n, n_levels, 2)
        Lower and upper ends around them.
    coverage : array-like of shape (n_levels,)
        Shares of rows that the intervals were asked to hold, each above 0 and below 1.
    times : array-like of shape (n,), default=None
        When the rows are, drawn in their own zone; None: 0, 1, ..., n - 1.
    y_true : ndarray of shape (n,), default=None
        What came, if it is known; NaN is missing.
    y_past : ndarray of shape (k,), default=None
        Rows before those that are forecast.
    past_times : array-like of shape (k,), default=None
        When these were; None: -k, ..., -1.

    Attributes
    ----------
    line_ : matplotlib Line2D
        The forecasts.
    areas_ : list of matplotlib PolyCollection
        The intervals, the widest first.
    true_, past_ : matplotlib Line2D or None
        What came, and what was before.

    See Also
    --------
    OnlineForecaster : A forecaster whose fans can be drawn.
    interval_coverage : How often intervals held.

    Examples
    --------
    >>> from sklearn_okl import OnlineForecaster
    >>> from sklearn_okl.datasets import make_day_ahead
    >>> from sklearn_okl.evaluation import ForecastFanDisplay
    >>> X, y = make_day_ahead(24 * 8, random_state=0)
    >>> model = OnlineForecaster(24, windows=(4, 8, 24)).fit(y[:-24], X[:-24])
    >>> intervals = model.predict_interval(X[-24:], coverage=[0.5, 0.9])
    >>> display = ForecastFanDisplay(model.predict(X[-24:]), intervals, [0.5, 0.9])
    >>> display.plot().figure_.savefig("fan.png")  # doctest: +SKIP

    The same in one line, with the day before it and with what came:

    >>> ForecastFanDisplay.from_forecaster(
    ...     model, X[-24:], y_true=y[-24:], y_past=y[-48:-24])  # doctest: +SKIP
    """

    def __init__(
        self,
        forecasts: Any,
        intervals: Any,
        coverage: Any,
        *,
        times: Any = None,
        y_true: Any = None,
        y_past: Any = None,
        past_times: Any = None,
    ) -> None:
        self.forecasts = forecasts
        self.intervals = intervals
        self.coverage = coverage
        self.times = times
        self.y_true = y_true
        self.y_past = y_past
        self.past_times = past_times

    @explained_by(PrequentialDisplay.plot)
    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the forecasts, the darker the more likely, and what came in black.

        Parameters
        ----------
        **kwargs : dict
            Keywords for matplotlib's ``plot``, for the line of the forecasts. Its ``color`` is also
            that of the intervals.

        Returns
        -------
        display : ForecastFanDisplay
            The display, with ``ax_``, ``figure_``, ``line_``, ``areas_``, ``true_`` and ``past_``
            set.
        """
        ax, is_new = axes_of(self, ax, (8.0, 3.6))
        self.ax_, self.figure_, self.areas_ = ax, ax.figure, []
        self.true_ = self.past_ = None
        times, zone = rounds_of(ax, self.times, len(self.forecasts))
        style = {"color": COLORS[0], "linewidth": 1.5, "label": "Forecast", **kwargs}
        coverage, intervals = np.atleast_1d(self.coverage), np.asarray(self.intervals)
        order = np.argsort(-coverage, kind="stable")
        for k, level in enumerate(order):
            label = f"{100 * coverage[level]:.3g} %"
            shade = {"alpha": 0.15 + 0.25 * k / len(order), "linewidth": 0.0, "label": label}
            ends = intervals[:, level].T
            # the whole line, before any error is known, cannot be drawn
            shown = np.isfinite(ends).all(axis=0)
            self.areas_.append(
                ax.fill_between(times, *ends, where=shown, color=style["color"], **shade)
            )
        (self.line_,) = ax.plot(times, self.forecasts, **style)
        black = {"color": "black", "linewidth": 1.0}
        if self.y_true is not None:
            (self.true_,) = ax.plot(times, self.y_true, label="What came", **black)
        if self.y_past is not None:
            n_past = len(self.y_past)
            before = np.arange(-n_past, 0) if self.past_times is None else self.past_times
            (self.past_,) = ax.plot(
                before, self.y_past, linestyle=(0, (1, 1)), label="Past", **black
            )
        if is_new:
            write_dates_short(ax, zone)
        lines = [line for line in (self.past_, self.true_, self.line_) if line is not None]
        draw_legend(ax, is_new, [*lines, *self.areas_[::-1]])
        return self

    @classmethod
    @explained_by(PrequentialDisplay.from_estimator)
    def from_forecaster(
        cls,
        forecaster: Any,
        X_future: Any = None,
        *,
        coverage: ArrayLike = (0.5, 0.8, 0.95),
        y_true: ArrayLike | None = None,
        y_past: ArrayLike | None = None,
        series: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Ask a forecaster for the next rows and intervals, and draw them; changes nothing.

        Parameters
        ----------
        forecaster : OnlineForecaster
            A fitted forecaster, or whatever has its ``predict`` and ``predict_interval``.
        X_future : {array-like, frame} of shape (horizon, d), default=None
            Columns known ahead of these rows, as ``predict`` takes them.
        coverage : array-like of shape (n_levels,), default=(0.5, 0.8, 0.95)
            Shares of rows that the intervals shall hold.
        y_true : {array-like, frame} of shape (horizon,) or (horizon, m), default=None
            What came, if it is known.
        y_past : {array-like, frame} of shape (k,) or (k, m), default=None
            Rows before those that are forecast.
        series : int or str, default=0
            Which of several series is drawn: its place, or its name in a frame.

        Returns
        -------
        display : ForecastFanDisplay

        Raises
        ------
        ImportError
        ValueError
            If there is no such series.
        """
        check_matplotlib_support(f"{cls.__name__}.from_forecaster")
        forecasts = forecaster.predict(X_future)
        intervals = forecaster.predict_interval(X_future, coverage=coverage)
        return cls.from_predictions(
            forecasts,
            intervals,
            coverage,
            y_true=y_true,
            y_past=y_past,
            series=series,
            ax=ax,
            **kwargs,
        )

    @classmethod
    @explained_by(from_forecaster)
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        coverage: ArrayLike | None = None,
        y_true: ArrayLike | None = None,
        series: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Ask a regressor for rows and intervals around its forecasts, and draw them in order.

        Parameters
        ----------
        estimator : regressor
            A fitted one with ``predict`` and ``predict_interval``, which is left as it is.
        X : {array-like, frame} of shape (n, d)
            Rows to forecast for; the index of a frame says when they are. One of intervals or of
            several levels says nothing, and they are numbered.
        coverage : array-like of shape (n_levels,), default=None
            Shares of rows that the intervals shall hold. None: those that the estimator follows,
            as :class:`~sklearn_okl.OnlineConformalRegressor` does, else (0.5, 0.8, 0.95).
        """
        check_matplotlib_support(f"{cls.__name__}.from_estimator")
        if coverage is None:
            coverage = followed_coverage(estimator, (0.5, 0.8, 0.95))
        coverage = np.atleast_1d(coverage)
        forecasts, intervals = estimator.predict(X), estimator.predict_interval(X, coverage)
        place = place_of(forecasts, series)
        if forecasts.ndim == 2:
            forecasts, intervals = forecasts[:, place], intervals[:, place]
        came = _what_came(y_true, place, forecasts)
        display = cls(forecasts, intervals, coverage, times=times_of(X), y_true=came)
        return display.plot(ax=ax, **kwargs)

    @classmethod
    @explained_by(from_forecaster)
    def from_predictions(
        cls,
        forecasts: ArrayLike,
        intervals: ArrayLike,
        coverage: ArrayLike,
        *,
        y_true: ArrayLike | None = None,
        y_past: ArrayLike | None = None,
        series: Any = 0,
        ax: Any = None,
        **kwargs: Any,
    ) -> Any:
        """Draw forecasts and intervals that are already there.

        Parameters
        ----------
        forecasts : {array-like, frame} of shape (n,) or (n, m)
            Forecasts of the rows; the index of a frame says when these are.
        intervals : array-like of shape (n, n_levels, 2) or (n, m, n_levels, 2)
            Lower and upper ends around them.
        coverage : array-like of shape (n_levels,)
            Shares of rows that the intervals were asked to hold.
        y_true : {array-like, frame} of the shape of forecasts, default=None

        Raises
        ------
        ImportError
        ValueError
            If there is no such series, or the shapes do not fit.
        """
        check_matplotlib_support(f"{cls.__name__}.from_predictions")
        place = place_of(forecasts, series)
        line, times = series_of(forecasts, place)
        ends, levels = np.asarray(intervals, dtype=np.float64), np.atleast_1d(coverage)
        if np.ndim(forecasts) == 2:
            ends = ends[:, place]
        if ends.shape != (len(line), len(levels), 2):
            raise ValueError(
                f"intervals has shape {np.shape(intervals)}, but there are {len(line)} forecasts "
                f"and {len(levels)} coverages: give (n, n_levels, 2), or (n, m, n_levels, 2)."
            )
        came = _what_came(y_true, place, line)
        past, past_times = (None, None) if y_past is None else series_of(y_past, place)
        display = cls(
            line, ends, levels, times=times, y_true=came, y_past=past, past_times=past_times
        )
        return display.plot(ax=ax, **kwargs)


def _what_came(y_true, place, line):
    """Return the targets of the rows of a line, or None where they are not known."""
    came = None if y_true is None else series_of(y_true, place)[0]
    if came is not None and came.shape != line.shape:
        raise ValueError(f"y_true has {len(came)} rows, but there are {len(line)} forecasts.")
    return came
