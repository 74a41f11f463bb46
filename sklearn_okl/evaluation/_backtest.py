"""Backtests of forecasters of series: what would have been forecast at some origins."""

from __future__ import annotations

import copy
from inspect import signature
from numbers import Integral

import numpy as np
from sklearn.base import clone
from sklearn.utils import Bunch, _safe_indexing, check_scalar
from sklearn.utils.validation import _num_samples

from .._types import Any, ArrayLike
from ..series import AdaptedForecaster, _frames, _intake, _intervals, _labels
from . import _series_measures
from ._interval_scores import sorted_groups


def backtest(
    forecaster: Any,
    y: ArrayLike,
    X: ArrayLike | None = None,
    *,
    base_forecasts: ArrayLike | None = None,
    horizon: int | None = None,
    origins: ArrayLike | None = None,
    refit_every: int | None = None,
    season_length: int = 1,
    coverage: ArrayLike | None = (0.8, 0.95),
    groups: ArrayLike | None = None,
) -> Bunch:
    r"""Forecast a series at some origins, each time from the rows before, and measure what came.

    Parameters
    ----------
    forecaster : object or callable
        Anything with `fit` and `predict`, and `partial_fit` if it can be updated, as
        :class:`~sklearn_okl.OnlineForecaster` has them: ``fit(y, X)``, ``predict(X_future)``, of X
        nothing where there is none. It is cloned. Or a function ``(y, horizon)`` of the rows so
        far, with X ``(y, horizon, X, X_future)``, that returns forecasts, or forecasts and
        intervals.
    y : {array-like, frame} of shape (n,) or (n, m)
        Rows of one or several series, in order; NaN is a missing value, which is not scored. A
        forecaster of ours with ``gaps="fill"`` forecasts rows that the index leaves out as well:
        steps count them, and they are as rows of NaN.
    X : {array-like, frame} of shape (n, d), default=None
        Columns that belong to the rows. Those of the rows to come are given to `predict`, unless
        the forecaster has an empty ``known_ahead``.
    base_forecasts : array-like of shape (n, horizon) or (n, horizon, m), default=None
        What a base said before each row, for an :class:`~sklearn_okl.AdaptedForecaster`.
    horizon : int, default=None
        Number H of rows that are forecast. None: the forecaster's ``horizon``.
    origins : array-like of int of shape (k,), default=None
        Rows before which is forecast, increasing: origin i forecasts the rows i, ..., i + H - 1
        from those before i. None: every H-th row from the middle on.
    refit_every : int, default=None
        At every how many origins the forecaster is fitted anew to all rows so far; between them it
        is updated. None: it is fitted once and updated then, or where it has no `partial_fit`,
        fitted at every origin.
    season_length : int, default=1
        Rows after which last season, by whose errors MASE and RMSSE are scaled, comes again.
    coverage : array-like of shape (n_levels,), default=(0.8, 0.95)
        Shares of rows that intervals shall hold, if the forecaster has `predict_interval`. None:
        no intervals.
    groups : array-like of shape (n,), default=None
        A label of each row, such as its hour or kind of day, by which is reported how often
        intervals held.

    Returns
    -------
    result : Bunch
        - ``origins`` (k,): rows before which was forecast;
        - ``forecasts``, ``y_true`` (k, H) or (k, H, m): what was forecast, and what came;
        - ``intervals`` (k, H, n_levels, 2) or (k, H, m, n_levels, 2), or None;
        - ``records``: a row for each origin, step from 1 on, and series, with the columns
          ``origin``, ``step``, ``series``, ``y_true``, ``forecast``, and ``lower_0.8``,
          ``upper_0.8`` and so on: a frame of pandas if y is one, with the labels of its index as
          origins, else a structured array;
        - ``measures`` : dict of float, see Notes;
        - ``measures_by_step`` : dict of ndarray of shape (H,);
        - ``measures_by_series`` : dict of ndarray of shape (m,);
        - ``held`` (n_levels,): shares of rows that intervals held, or None;
        - ``held_by_group`` : dict of ndarray of shape (n_levels,), by the label, or None;
        - ``forecaster`` : as it was at the last origin; a function as it is.

    Raises
    ------
    TypeError
        If the forecaster is no function and has no `fit` and `predict`, or is to be updated and has
        no `partial_fit`; if a function is given base forecasts, or groups have no order.
    ValueError
        If X, base forecasts or groups have other rows than y, an AdaptedForecaster has no base
        forecasts, origins are out of order or leave no rows before or after them, no horizon is
        known, or what is forecast has another shape.

    Notes
    -----
    With e the errors of a series, and scales from the errors of last season in the rows before the
    origin: MAE, mean \|e\|; RMSE, root of the mean e²; MASE, mean \|e\| / scale [1]_; RMSSE, root
    of the mean e² / scale² [2]_; sMAPE, mean 200 \|e\| / (\|y\| + \|forecast\|), in percent, as in
    the M3 competition [3]_; CRPS, from intervals and the forecast as the median, as
    :func:`crps_from_quantiles` has it. Means and roots are taken over origins and steps for each
    series, and then the mean of all series. What is NaN, or has a scale of 0, is left out.

    See Also
    --------
    prequential : The same for tables.
    crps_from_quantiles : The score of quantiles.
    sklearn_okl.OnlineForecaster.prequential_predict : All origins in one pass.

    References
    ----------
    .. [1] R. J. Hyndman, A. B. Koehler, "Another look at measures of forecast accuracy",
       International Journal of Forecasting 22(4), 2006.
    .. [2] S. Makridakis, E. Spiliotis, V. Assimakopoulos, "M5 accuracy competition: results,
       findings, and conclusions", International Journal of Forecasting 38(4), 2022.
    .. [3] S. Makridakis, M. Hibon, "The M3-competition: results, conclusions and implications",
       International Journal of Forecasting 16(4), 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl.evaluation import backtest
    >>> y = np.arange(60.0) + np.arange(60) % 12
    >>> result = backtest(lambda y, horizon: y[-12:][:horizon], y, horizon=6, season_length=12)
    >>> result.origins
    array([30, 36, 42, 48, 54])
    >>> result.forecasts.shape
    (5, 6)
    >>> {name: round(value, 2) for name, value in result.measures.items()}
    {'MAE': 12.0, 'RMSE': 12.0, 'MASE': 1.0, 'RMSSE': 1.0, 'sMAPE': 28.2}
    """
    series = _frames.series_of(y)
    n, m = series.values.shape
    horizon = _checked_horizon(forecaster, horizon)
    origins = _checked_origins(origins, n, horizon)
    check_scalar(season_length, "season_length", Integral, min_val=1)
    if refit_every is not None:
        check_scalar(refit_every, "refit_every", Integral, min_val=1)
    _check_rows(n, X=X, base_forecasts=base_forecasts, groups=groups)
    coverage = None if coverage is None else _intervals.checked_coverage(coverage)
    teacher = _Function if _is_function(forecaster) else _Forecaster
    base = _checked_base(base_forecasts, forecaster, (n, horizon))
    index = getattr(y, "index", None)
    index = _labels.as_known(index) if hasattr(index, "get_indexer") else None
    data, places = (y, base, X), np.arange(n)
    if series.index is not None and _fills(forecaster):
        data, places = _with_gaps(forecaster, series, data)
        series = _frames.series_of(data[0])
        index = data[0].index
    asked = teacher(forecaster, data, horizon, coverage, refit_every)
    starts = places[origins]
    said = [asked.at(int(start)) for start in starts]
    for start, (of_one, _) in zip(starts.tolist(), said, strict=True):
        _refuse_other_rows(of_one, series.index, start)
    forecasts = np.stack([_shaped(f, (horizon, m), "forecasts") for f, _ in said])
    intervals = None
    if coverage is not None and said[0][1] is not None:
        shape = (horizon, m, len(coverage), 2)
        intervals = np.stack([_shaped(ends, shape, "intervals") for _, ends in said])
    rows = starts[:, None] + np.arange(horizon)
    y_true = series.values[rows]
    result = _measured(series.values, y_true, forecasts, intervals, coverage, starts, season_length)
    held_by_group = None
    if groups is not None and intervals is not None:
        latest = np.searchsorted(places, rows, side="right") - 1  # one left out is not scored
        held_by_group = _by_group(np.asarray(groups)[latest], y_true, intervals)
    flat = (lambda a: a if a is None else a[:, :, 0]) if series.is_flat else (lambda a: a)
    return Bunch(
        origins=origins,
        forecasts=flat(forecasts),
        y_true=flat(y_true),
        intervals=flat(intervals),
        coverage=coverage,
        records=_records(series, index, starts, y_true, forecasts, intervals, coverage),
        **result,
        held_by_group=held_by_group,
        forecaster=asked.model,
    )


class _Forecaster:
    """A forecaster that is fitted, updated and asked."""

    def __init__(self, forecaster, data, horizon, coverage, refit_every):
        if not (hasattr(forecaster, "fit") and hasattr(forecaster, "predict")):
            raise TypeError(
                f"{type(forecaster).__name__} has no 'fit' and 'predict': give a forecaster, or a "
                "function of the rows so far and the horizon."
            )
        can_update = hasattr(forecaster, "partial_fit")
        if not can_update and refit_every not in (None, 1):
            raise TypeError(
                f"{type(forecaster).__name__} has no 'partial_fit', so that it cannot be updated "
                f"between refits: refit_every={refit_every} is to be 1."
            )
        self.forecaster, self.data, self.horizon = forecaster, data, horizon
        self.refit_every = refit_every if can_update else 1
        self.has_intervals = coverage is not None and hasattr(forecaster, "predict_interval")
        self.coverage, self.model, self.n_asked, self.known = coverage, None, 0, 0

    def at(self, origin):
        """Return the forecasts, and intervals or None, from the rows before an origin."""
        is_due = self.refit_every is not None and self.n_asked % self.refit_every == 0
        if self.model is None or is_due:
            self.model = _fresh(self.forecaster)
            self.model.fit(*self._rows(0, origin))
        elif origin > self.known:
            self.model.partial_fit(*self._rows(self.known, origin))
        self.n_asked, self.known = self.n_asked + 1, origin
        _, base, X = self.data
        given = [] if base is None else [base[origin]]
        if X is not None and _knows_ahead(self.forecaster):
            given.append(_safe_indexing(X, slice(origin, origin + self.horizon)))
        forecasts = self.model.predict(*given)
        if not self.has_intervals:
            return forecasts, None
        return forecasts, self.model.predict_interval(*given, coverage=self.coverage)

    def _rows(self, low, high):
        parts = (part for part in self.data if part is not None)
        return [_safe_indexing(part, slice(low, high)) for part in parts]


class _Function:
    """A function that forecasts from the rows so far."""

    def __init__(self, function, data, horizon, coverage, refit_every):
        self.model, self.data, self.horizon = function, data, horizon
        names = ["y", "horizon", *(["X", "X_future"] if data[2] is not None else [])]
        try:
            signature(function).bind(*names)
        except TypeError:
            with_X = "" if data[2] is None else ", as X is given"
            raise TypeError(
                f"The function is called as function({', '.join(names)}){with_X}, and does not "
                "take these arguments. Give one that does; X and X_future come where X is given."
            ) from None
        except ValueError:  # it tells nobody what it takes
            pass

    def at(self, origin):
        """Return the forecasts, and intervals or None, from the rows before an origin."""
        y, _, X = self.data
        past, to_come = slice(0, origin), slice(origin, origin + self.horizon)
        more = [] if X is None else [_safe_indexing(X, past), _safe_indexing(X, to_come)]
        said = self.model(_safe_indexing(y, past), self.horizon, *more)
        return said if isinstance(said, tuple) else (said, None)


def _own(forecaster):
    """Return the forecaster of ours that another one mixes in, or itself."""
    own = getattr(forecaster, "forecaster", None)
    return forecaster if own is None else own


def _fills(forecaster):
    return getattr(_own(forecaster), "gaps", None) == "fill"


def _with_gaps(forecaster, series, data):
    """Return data with rows of NaN where the index leaves some out, and where those given are."""
    y, base, X = data
    layout = _intake.layout_of(series, X, "all")
    rows, _ = _intake.rows_of(layout, series, X, 1, True, _own(forecaster).max_gap)
    n, places = len(rows.y), rows.given
    if n == len(places):
        return data, places
    import pandas as pd

    index = _frames.continued(_frames.before(series.index, layout["time"]), n)
    if series.is_flat:
        y = pd.Series(rows.y[:, 0], index, name=y.name)
    else:
        y = pd.DataFrame(rows.y, index, columns=y.columns)
    if X is not None:
        has_labels = hasattr(getattr(X, "index", None), "get_indexer")
        X = pd.DataFrame(rows.ahead, index, columns=X.columns) if has_labels else rows.ahead
    if base is not None:
        given, base = base, np.full((n, *base.shape[1:]), np.nan)
        base[places] = given
    return (y, base, X), places


def _refuse_other_rows(forecasts, index, origin):
    """Refuse forecasts whose labels are of later rows than those that they are scored against."""
    labels = getattr(forecasts, "index", None)
    if index is None or type(labels) is not type(index) or _labels.kind_of(index) == "numbers":
        return
    if labels.dtype != index.dtype or not len(labels) or not labels[0] > index[origin - 1]:
        return
    places = index.get_indexer(labels)
    if ((places >= 0) & (places != origin + np.arange(len(labels)))).any():
        rows = index[origin : origin + len(labels)]
        raise ValueError(
            f"The forecasts are of {labels[0]} to {labels[-1]}, but the rows they are scored "
            f"against are {rows[0]} to {rows[-1]}: the index of y leaves rows out. Put them in as "
            "rows of NaN, as by y.asfreq('D'), which are not scored."
        )


def _is_function(forecaster):
    return callable(forecaster) and not hasattr(forecaster, "predict")


def _fresh(forecaster):
    has_parameters = hasattr(forecaster, "get_params")
    return clone(forecaster) if has_parameters else copy.deepcopy(forecaster)


def _knows_ahead(forecaster):
    return len(getattr(_own(forecaster), "known_ahead", "all")) > 0


def _checked_horizon(forecaster, horizon):
    own = getattr(forecaster, "horizon", None)
    if horizon is None and own is None:
        raise ValueError("The forecaster has no 'horizon': say how many rows are to be forecast.")
    check_scalar(own if horizon is None else horizon, "horizon", Integral, min_val=1)
    if None not in (own, horizon) and own != horizon:
        raise ValueError(f"horizon={horizon}, but the forecaster has horizon={own}.")
    return int(own if horizon is None else horizon)


def _check_rows(n, **parts):
    """Refuse what has not as many rows as y."""
    for name, part in parts.items():
        if part is not None and _num_samples(part) != n:
            raise ValueError(
                f"{name} has {_num_samples(part)} rows, but y has {n}: give one for each row of y."
            )


def _checked_base(base_forecasts, forecaster, shape):
    """Return what a base said before each row as an array, or None where there is none."""
    if base_forecasts is None:
        if isinstance(forecaster, AdaptedForecaster):
            raise ValueError(
                "base_forecasts is missing: an AdaptedForecaster corrects what a base said before "
                "each row. Give it, of shape (n, horizon)."
            )
        return None
    if _is_function(forecaster):
        raise TypeError(
            "base_forecasts came with a function, which is given y and X alone: let the function "
            "hold them, or give an AdaptedForecaster."
        )
    base = np.asarray(base_forecasts, dtype=np.float64)
    if base.shape[:2] != shape:
        raise ValueError(
            f"base_forecasts has shape {base.shape}: give what was said before each row of y of it "
            f"and the next ones, {shape}, or with several series one more axis."
        )
    return base


def _checked_origins(origins, n, horizon):
    if n <= horizon:
        raise ValueError(
            f"y has {n} rows, which are too few: one row before the first origin, and horizon="
            f"{horizon} rows from it on."
        )
    if origins is None:
        origins = np.arange(max(n // 2, 1), n - horizon + 1, horizon)
        if not origins.size:
            raise ValueError(
                f"y has {n} rows, of which the second half has no horizon={horizon} rows: give at "
                f"least {2 * horizon - 1} rows, or origins from 1 to {n - horizon}."
            )
    origins = np.atleast_1d(np.asarray(origins))
    is_sound = origins.ndim == 1 and origins.size and np.issubdtype(origins.dtype, np.integer)
    if not is_sound or origins[0] < 1 or origins[-1] > n - horizon or (np.diff(origins) <= 0).any():
        raise ValueError(
            f"origins={origins.tolist()}: give increasing whole numbers from 1 to {n - horizon}, "
            f"so that each has rows before it, and {horizon} of the {n} rows from it on."
        )
    return origins


def _shaped(values, shape, name):
    """Return what was forecast as an array of a shape, in which series may be left out."""
    values = np.asarray(values, dtype=np.float64)
    if shape[1] == 1 and values.shape == shape[:1] + shape[2:]:
        values = values[:, None]
    if values.shape != shape:
        raise ValueError(f"The {name} have shape {values.shape}, but {shape} was expected.")
    return values


def _measured(y, y_true, forecasts, intervals, coverage, origins, season_length):
    scale = _series_measures.scales(y, origins, season_length)
    given = y_true, forecasts, intervals, coverage, scale
    by_series = _series_measures.measures(*given, (0, 1))
    by_step = _series_measures.measures(*given, (0,))
    held = None
    if intervals is not None:
        held = _series_measures.mean(_series_measures.held(y_true, intervals), (0, 1, 2))
    return {
        "measures": {k: float(_series_measures.mean(v, 0)) for k, v in by_series.items()},
        "measures_by_step": {k: _series_measures.mean(v, 1) for k, v in by_step.items()},
        "measures_by_series": by_series,
        "held": held,
    }


def _by_group(groups, y_true, intervals):
    held, (labels, places) = _series_measures.held(y_true, intervals), sorted_groups(groups)
    return {
        label: _series_measures.mean(held[places == place], (0, 1))
        for place, label in enumerate(labels.tolist())
    }


def _records(series, index, origins, y_true, forecasts, intervals, coverage):
    """Return a row for each origin, step and series; a frame where y had an index of pandas."""
    k, horizon, m = forecasts.shape
    labels = origins if index is None else index[origins]
    names = series.names if series.names is not None and not series.is_flat else np.arange(m)
    places = np.indices(forecasts.shape).reshape(3, -1)
    columns = {
        "origin": labels[places[0]],
        "step": places[1] + 1,
        "series": np.asarray(names)[places[2]],
        "y_true": y_true.ravel(),
        "forecast": forecasts.ravel(),
    }
    for j, level in enumerate(() if intervals is None else coverage.tolist()):
        columns[f"lower_{level:g}"] = intervals[..., j, 0].ravel()
        columns[f"upper_{level:g}"] = intervals[..., j, 1].ravel()
    if index is not None:
        import pandas as pd

        return pd.DataFrame(columns)
    found = np.empty(
        k * horizon * m, dtype=[(name, np.asarray(part).dtype) for name, part in columns.items()]
    )
    for name, part in columns.items():
        found[name] = part
    return found
