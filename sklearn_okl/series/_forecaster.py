"""The forecaster: what its verbs take and give; the rounds are in `_rounds.py`."""

import copy
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._linalg import one_blas_thread
from .._validation import refuse_second_writer
from ..base import _copied, _same, twin
from . import _frames, _intake, _intervals, _mixture, _plan, _rounds


class OnlineForecaster(BaseEstimator):
    def __init__(
        self,
        horizon=1,
        *,
        season_lengths=None,
        known_ahead="all",
        pooled=False,
        windows=(24, 48, 168),
        gaps="refuse",
        random_state=0,
    ):
        self.horizon = horizon
        self.season_lengths = season_lengths
        self.known_ahead = known_ahead
        self.pooled = pooled
        self.windows = windows
        self.gaps = gaps
        self.random_state = random_state

    _parameter_constraints = {
        "horizon": [Interval(Integral, 1, None, closed="left")],
        "season_lengths": ["array-like", None],
        "known_ahead": [StrOptions({"all"}), "array-like"],
        "pooled": ["boolean"],
        "windows": ["array-like"],
        "gaps": [StrOptions({"refuse", "fill"})],
        "random_state": ["random_state"],
    }
    _changeable = ("gaps",)  # all others shape the state

    def fit(self, y, X=None):
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

    def partial_fit(self, y, X=None):
        """Learn the next rows.

        Parameters
        ----------
        y : {array-like, frame} of shape (n,) or (n, m)
            The next rows of one or several series; NaN is a missing value.
        X : {array-like, frame} of shape (n, d), default=None
            Columns that belong to the rows.

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

    def prequential_predict(self, y, X=None, X_future=None):
        """Learn the next rows, and return what was forecast before each of them.

        Parameters
        ----------
        y : {array-like, frame} of shape (n,) or (n, m)
            The next rows of one or several series; NaN is a missing value.
        X : {array-like, frame} of shape (n, d), default=None
            Columns that belong to the rows.
        X_future : {array-like, frame} of shape (horizon, d), default=None
            Columns known ahead of the `horizon` rows after the last. Without them forecasts of
            those rows are NaN, where there are columns known ahead.

        Returns
        -------
        forecasts : ndarray of shape (n, horizon) or (n, horizon, m)
            Entry [i, h] is the forecast of row i + h, h = 0, ..., horizon - 1, made when the
            targets before row i were known, and the columns known ahead up to row i + h. NaN for a
            series that has not begun.
        """
        forecasts = self._advance(y, X, X_future, keeps_forecasts=True)
        return forecasts[..., 0] if self._layout["is_flat"] else forecasts

    def predict(self, X_future=None):
        """Forecast the next `horizon` rows; changes nothing.

        Parameters
        ----------
        X_future : {array-like, frame} of shape (horizon, d), default=None
            Columns known ahead of these rows: all columns of X, or only those known ahead.

        Returns
        -------
        forecasts : {ndarray, Series, DataFrame} of shape (horizon,) or (horizon, m)
            NaN for series that have not begun. A frame of pandas with the continued index, where
            the rows came with an index of dates, periods or whole numbers.
        """
        _, _, forecasts = self._asked(X_future)
        layout = self._layout
        return _frames.framed(forecasts, layout["is_flat"], layout["names"], layout["time"])

    def predict_interval(self, X_future=None, coverage=(0.8, 0.95)):
        """Give intervals that hold the next `horizon` rows as often as asked for.

        Parameters
        ----------
        X_future : {array-like, frame} of shape (horizon, d), default=None
            As in `predict`.
        coverage : array-like of shape (n_levels,), default=(0.8, 0.95)
            Shares of rows that intervals shall hold, each above 0 and below 1.

        Returns
        -------
        intervals : ndarray of shape (horizon, n_levels, 2) or (horizon, m, n_levels, 2)
            Lower and upper ends. The whole line where no forecast of that age has been judged yet.
        """
        coverage = _intervals.checked_coverage(coverage)
        state, origin, forecasts = self._asked(X_future)
        reach = _intervals.reach(state["intervals"], coverage)  # (H, m, levels)
        reach = reach * origin["slot"]["scale"][0][:, None]
        ends = np.stack([forecasts[..., None] - reach, forecasts[..., None] + reach], axis=-1)
        return ends[:, 0] if self._layout["is_flat"] else ends

    @property
    def n_samples_seen_(self):
        """Int : rows learnt so far, those filled in for gaps included."""
        return self._known_state()["t"]

    @property
    def season_lengths_(self):
        """Ndarray of int : lengths of the seasons in rows, given or found; 0 for none."""
        return self._known_state()["seasons"].copy()

    @property
    def expert_weights_(self):
        """Ndarray of shape (horizon, m, n_experts) : what each expert counts for at present."""
        return _mixture.coefficients(self._known_state()["mixture"])[..., -1, :]

    def __sklearn_is_fitted__(self):
        return "_state" in vars(self)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.multi_output = True
        tags.input_tags.allow_nan = True
        tags._skip_test = True  # it takes y first
        return tags

    def _known_state(self):
        check_is_fitted(self)
        return self._state

    def _check_parameters(self):
        self._validate_params()
        windows = [int(length) for length in self.windows]
        if len(windows) != 3 or sorted(windows) != windows or windows[0] < 2:
            raise ValueError(
                f"windows={self.windows!r}: give the lengths of a short, a middle and a long "
                "window in rows, in this order, the shortest of at least 2 rows."
            )
        if self.season_lengths is not None:
            lengths = list(self.season_lengths)
            if not lengths or any(length != int(length) or length < 2 for length in lengths):
                raise ValueError(
                    f"season_lengths={self.season_lengths!r}: give whole numbers of rows, each at "
                    "least 2, or None to have them found."
                )

    def _structure(self):
        values = self.get_params(deep=False)
        return {name: value for name, value in values.items() if name not in self._changeable}

    def _check_structure(self):
        now = self._structure()
        changed = [name for name in now if not _same(now[name], self._structure_at_start[name])]
        if changed:
            raise ValueError(
                f"The parameters {changed} of {type(self).__name__} cannot change in mid-stream: "
                "the state was built with other values. Call 'fit' to start afresh, or set the "
                "old values again."
            )

    def _plan(self):
        layout = self._layout
        return _plan.plan(
            self,
            layout["n_series"],
            _frames.n_calendar(layout["cycles"]),
            len(layout["ahead"]),
            len(layout["now"]),
        )

    def _advance(self, y, X, X_future=None, *, restart=False, keeps_forecasts=False):
        """Learn rows; on any failure leave `self` as it was."""
        self._check_parameters()
        model, former = twin(self), vars(self).get("_state")
        series = _frames.series_of(y)
        if not len(series.values):
            raise ValueError("y has no rows: there is nothing to learn.")
        is_start = restart or former is None
        if is_start:
            model._layout = _intake.layout_of(series, X, self.known_ahead)
            model._structure_at_start = copy.deepcopy(self._structure())
        else:
            self._check_structure()
        plan, n_ahead = model._plan(), self.horizon if keeps_forecasts else 0
        rows, model._layout = _intake.rows_of(
            model._layout, series, X, n_ahead, is_start, self.gaps == "fill"
        )
        future = _intake.future_of(model._layout, X_future, plan.horizon)
        if keeps_forecasts and future is None:
            future = np.empty((0, plan.n_ahead))
        if is_start:
            state = _rounds.start(plan, check_random_state(self.random_state))
        else:
            state = _copied(former)
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            forecasts = _rounds.learn(plan, state, rows, future)
        model._state = state
        refuse_second_writer(self, former is vars(self).get("_state"))
        self.__dict__ = model.__dict__  # the one assignment
        return forecasts[rows.given] if keeps_forecasts else None

    def _asked(self, X_future):
        """Return the state, the origin that it is at, and its forecasts (H, m)."""
        state, layout = self._known_state(), self._layout
        self._check_structure()
        plan = self._plan()
        future = _intake.future_of(layout, X_future, plan.horizon)
        if future is None:
            if plan.n_ahead:
                raise ValueError(
                    f"X_future is missing: {plan.n_ahead} columns of X are known ahead. Give those "
                    f"of the next {plan.horizon} rows, or fit with known_ahead=() if nobody knows "
                    "them ahead."
                )
            future = np.empty((0, 0))
        calendar = _intake.calendar_of(layout, plan.horizon)
        with one_blas_thread, np.errstate(over="ignore", invalid="ignore"):
            origin = _rounds.issue(plan, state, calendar[0])
            return state, origin, _rounds.forecast(plan, state, origin, future, calendar)
