"""Streams whose rows are hours of a calendar, and whose targets step with them."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from .._documentation import explained_by
from .._types import Array, Seed
from ._faulty import make_faulty_stream

_DAY, _YEAR = 24, 52 * 7 * 24  # hours
_OPEN, _CLOSED, _SUMMER = 50.0, 10.0, 35.0


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_columns": [Interval(Integral, 1, 3, closed="both")],
        "holidays": [Interval(Real, 0.0, 1.0, closed="both")],
        "noise": [Interval(Real, 0.0, None, closed="left")],
        "order": [StrOptions({"random", "time"})],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_faulty_stream)
def make_timetable(
    n_samples: int = 3000,
    *,
    n_columns: int = 2,
    holidays: float = 0.0,
    noise: float = 1.0,
    order: str = "random",
    random_state: Seed = None,
) -> tuple[Array, Array]:
    """Make a stream that steps with the hour, the day of the week and the month.

    The shape of opening hours, loads of buildings, and traffic: columns of whole numbers with few
    values, of which combinations matter.

    Parameters
    ----------
    n_columns : {1, 2, 3}, default=2
        How many of hour, day of the week and month there are, the first ones.

    holidays : float, default=0
        Share of the days that are closed all day. Above 0 one more column tells which these are.

    noise : float, default=1
        Standard deviation of the noise.

    order : {"random", "time"}, default="random"
        Whether rows are hours drawn at random from a year of 52 weeks, or one after the other from
        such a one on.

    random_state : int, RandomState instance or None, default=None
        Source of all that is random.

    Returns
    -------
    X : ndarray of shape (n_samples, n_columns) or (n_samples, n_columns + 1)
        Hour, 0 to 23; day of the week, 0 to 6; month, 0 to 11; whether the day is a holiday.

    y : ndarray of shape (n_samples,)
        50 when it is open and 10 when it is closed, and the noise. It is open from hour 8 to 17, on
        days 0 to 4 if there is a column for days; in months 5 to 7, if there is one for these, 35
        takes the place of 50.

    See Also
    --------
    make_irregular_stream : Targets that step when no column says so.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_timetable
    >>> X, y = make_timetable(4, noise=0.0, order="time", random_state=1)
    >>> X[:, 0]
    array([19., 20., 21., 22.])
    >>> X.shape, y.shape
    ((4, 2), (4,))
    """
    rng = check_random_state(random_state)
    if order == "random":
        hours = rng.randint(_YEAR, size=n_samples)
    else:
        hours = (rng.randint(_YEAR) + np.arange(n_samples)) % _YEAR
    is_holiday = rng.uniform(size=_YEAR // _DAY) < holidays
    hour, day = hours % _DAY, hours // _DAY % 7
    month, closed = hours * 12 // _YEAR, is_holiday[hours // _DAY]
    is_open = (hour >= 8) & (hour < 18) & ~closed
    if n_columns >= 2:
        is_open &= day < 5
    is_summer = (month >= 5) & (month < 8) & (n_columns >= 3)
    y = np.where(is_open, np.where(is_summer, _SUMMER, _OPEN), _CLOSED)
    columns = [hour, day, month][:n_columns] + [closed] * (holidays > 0.0)
    X = np.column_stack(columns).astype(np.float64)
    return X, y + noise * rng.standard_normal(n_samples)
