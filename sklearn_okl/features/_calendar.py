"""Dates as numbers: where in the day, the week and the year they are."""

from __future__ import annotations

from copy import copy
from datetime import date, datetime

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from .._documentation import explained_by
from .._types import Any, Array, ArrayLike, Self
from .._validation import OF_DURATIONS
from ..base import OnlineTransformer
from ._columns import columns_of, is_missing, names_of

_DAY = np.timedelta64(1, "D")
_A_MONDAY = np.datetime64("1970-01-05")
_EPOCH = np.datetime64("2000-01-01")  # of the years, for numbers of moderate size


@explained_by(OnlineTransformer)
class CalendarFeatures(TransformerMixin, BaseEstimator):
    """Make numbers of dates: sines and cosines of the hour, the weekday and the day of the year.

    Parameters
    ----------
    features : tuple of str, default=("hour_of_day", "day_of_week", "day_of_year")
        What each column gives, in this order:

        - ``"hour_of_day"``: sine and cosine of the time of day, minutes and seconds included;
        - ``"day_of_week"``: sine and cosine of the day of the week, Monday the first;
        - ``"day_of_year"``: sine and cosine of the day of the year, of 365 or 366;
        - ``"month"``: the number of the month, from 1 to 12;
        - ``"is_weekend"``: 1 on Saturdays and Sundays, else 0;
        - ``"years"``: years of 365.2425 days since the beginning of 2000.

    Attributes
    ----------
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    See Also
    --------
    RunningOneHotEncoder : Encodes the month, for one, as a category.
    LagFeatures : What a series says of its own future.
    StreamingPipeline : Takes this one, in a ColumnTransformer, as it is: it learns nothing.

    Notes
    -----
    *Cost.* O(d) per row for d columns; no memory.

    On circles of sines and cosines midnight is near to 23:59, and the 31st of December to the 1st
    of January. Nothing is learnt from data, not even which cycles there are: `fit` only looks at
    the columns, and `transform` needs no `fit`.

    *Time zones.* What counts is the time on the wall: dates with a time zone are read in it, and
    it may change from call to call. Days on which clocks are put forward are 24 hours here too.

    Columns are date-times of pandas, polars and NumPy, or objects of :mod:`datetime`. A missing
    date, NaT or None, gives NaN in all its features: :class:`RunningImputer` may follow. Numbers
    and text are an error; let a :class:`sklearn.compose.ColumnTransformer` choose the columns.

    References
    ----------
    .. [1] A. C. Harvey, "Forecasting, structural time series models and the Kalman filter",
       Cambridge University Press, 1989, on trigonometric seasonals.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_okl import CalendarFeatures
    >>> noon = np.array([["2024-07-01T12:00"]], dtype="datetime64[m]")
    >>> CalendarFeatures(("hour_of_day", "month", "is_weekend")).transform(noon).round(6)
    array([[ 0., -1.,  7.,  0.]])
    """

    _test_parameters = ({}, {"features": ("month", "is_weekend", "years")})

    learns_from_data = False  # of the rows `fit` reads how many columns they have

    _parameter_constraints = {"features": [tuple, list]}

    def __init__(self, features: Any = ("hour_of_day", "day_of_week", "day_of_year")) -> None:
        self.features = features

    @explained_by(OnlineTransformer.fit)
    def fit(self, X: ArrayLike, y: None = None) -> Self:
        """Look at the names and the types of columns.

        Parameters
        ----------
        X : {array-like, frame} of shape (n_samples, n_features)
            Dates.
        y : None
            Ignored.
        """
        self._check_features()
        _wall_times(self, X, reset=True)
        return self

    @explained_by(fit)
    def transform(self, X: ArrayLike) -> Array:
        """Make numbers of dates.

        Returns
        -------
        X_new : ndarray of shape (n_samples, n_features_new)
            The features of the first column, then those of the second, and so on.
        """
        self._check_features()
        is_fitted = hasattr(self, "n_features_in_")
        columns = _wall_times(self if is_fitted else copy(self), X, reset=not is_fitted)
        parts = []
        for times in columns:
            for name in self.features:
                found = _FEATURES[name](times)
                is_angle = name in _CYCLES
                parts += [np.sin(found), np.cos(found)] if is_angle else [found]
        return np.stack(parts, axis=1)

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> Array:
        """Return the names of the features.

        Parameters
        ----------
        input_features : array-like of str, default=None
            Names of the inputs; None takes those seen in fitting.

        Returns
        -------
        names : ndarray of str
            ``when_hour_of_day_sin``, ``when_hour_of_day_cos`` and so on for a column ``when``.
        """
        check_is_fitted(self, "n_features_in_")
        parts = []
        for feature in self.features:
            parts += [f"{feature}_sin", f"{feature}_cos"] if feature in _CYCLES else [feature]
        names = _check_feature_names_in(self, input_features)
        return np.array([f"{name}_{part}" for name in names for part in parts], dtype=object)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags._skip_test = True  # scikit-learn's checks know no dates
        return tags

    def _check_features(self):
        self._validate_params()
        unknown = [name for name in self.features if name not in list(_FEATURES)]
        if unknown or not self.features:
            raise ValueError(
                f"features={self.features!r}: give some of {', '.join(map(repr, _FEATURES))}."
            )


def _days(times, since):
    return (times.astype("datetime64[D]") - since) / _DAY


def _hour_of_day(times):
    return 2 * np.pi * ((times - times.astype("datetime64[D]")) / _DAY)


def _weekday(times):
    return _days(times, _A_MONDAY) % 7


def _day_of_week(times):
    return 2 * np.pi * _weekday(times) / 7


def _day_of_year(times):
    year = times.astype("datetime64[Y]")
    start, end = year.astype("datetime64[D]"), (year + 1).astype("datetime64[D]")
    return 2 * np.pi * _days(times, start) / ((end - start) / _DAY)


def _month(times):
    start = times.astype("datetime64[Y]").astype("datetime64[M]")
    return (times.astype("datetime64[M]") - start) / np.timedelta64(1, "M") + 1.0


def _is_weekend(times):
    days = _weekday(times)
    return np.where(np.isnan(days), np.nan, days >= 5)


def _years(times):
    return (times - _EPOCH) / _DAY / 365.2425


# angles, of which the sine and the cosine are features; and numbers that are so themselves
_CYCLES = {
    "hour_of_day": _hour_of_day,
    "day_of_week": _day_of_week,
    "day_of_year": _day_of_year,
}
_FEATURES = _CYCLES | {"month": _month, "is_weekend": _is_weekend, "years": _years}


def _wall_times(estimator, X, reset):
    """Return the columns of X as datetime64[us], NaT where a date is missing."""
    columns = columns_of(estimator, X, reset)
    return [_wall_time(*given) for given in zip(columns, names_of(estimator), strict=True)]


def _wall_time(column, name):
    array = np.asarray(_without_zone(column))
    if array.dtype.kind == "M":
        return array.astype("datetime64[us]")
    kinds = {str(array.dtype)}
    if array.dtype.kind in "fO":  # dates one by one, or missing ones only
        found = [value for value in array.tolist() if not is_missing(value)]
        kinds = {type(v).__name__ for v in found if not isinstance(v, (date, np.datetime64))}
        if not kinds:
            return np.array([_local(v) for v in array.tolist()], dtype="datetime64[us]")
    is_length = any(kind.lower().startswith("timedelta") for kind in kinds)
    advice = OF_DURATIONS if is_length else "pandas.to_datetime makes dates of text."
    raise TypeError(
        f"CalendarFeatures makes numbers of dates, but column {name!r} holds values of type "
        f"{min(kinds)}. Let a ColumnTransformer choose the columns. {advice}"
    )


def _local(value):
    """Return a date without its zone, or NaT."""
    if is_missing(value):
        return np.datetime64("NaT")
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _without_zone(column):
    """Return a column of a frame with the times that its own time zone has on the wall."""
    kind = getattr(column, "dtype", None)
    if getattr(kind, "time_zone", None) is not None:  # of polars
        return column.dt.replace_time_zone(None)
    if getattr(getattr(kind, "pyarrow_dtype", kind), "tz", None) is not None:  # of pandas
        return column.dt.tz_localize(None)
    if getattr(getattr(column, "type", None), "tz", None) is not None:  # of pyarrow
        from pyarrow.compute import local_timestamp

        return local_timestamp(column)
    return column
