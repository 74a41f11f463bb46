"""Clean streams with faults put in, or with a level, a unit or a sign that changes once."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from .._documentation import explained_by
from .._types import Any, Seed
from ._generators import _autoregression

_DAY = 24  # rows
_CLEAN = {
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "base": [StrOptions({"table", "series"})],
    "noise": [Interval(Real, 0.0, None, closed="left")],
    "random_state": ["random_state"],
    "return_X_y": ["boolean"],
}


@validate_params(
    _CLEAN
    | {
        "where": [StrOptions({"target", "data"})],
        "share": [Interval(Real, 0.0, 1.0, closed="both")],
        "value": [Real, StrOptions({"low"})],
        "first": [Interval(Integral, 0, None, closed="left")],
        "length": [Interval(Real, 1.0, None, closed="left")],
    },
    prefer_skip_nested_validation=True,
)
def make_faulty_stream(
    n_samples: int = 3000,
    *,
    base: str = "table",
    where: str = "target",
    share: float = 0.03,
    value: float | str = -9999.0,
    first: int = 0,
    length: float = 1.0,
    noise: float = 0.1,
    random_state: Seed = None,
    return_X_y: bool = False,
) -> Any:
    """Make a clean stream in which a share of the targets, or of the cells of X, says nothing.

    Such values stand for what was not measured: a sentinel such as -9999, or a reading far below
    all others.

    Parameters
    ----------
    n_samples : int, default=3000
        Number of rounds.

    base : {"table", "series"}, default="table"
        The clean stream, see Notes: rows in no order, or hours of a series with a season and errors
        that last.

    where : {"target", "data"}, default="target"
        What is faulty: targets, or cells of `data`.

    share : float, default=0.03
        Probability that a target or cell is faulty, each by itself; of runs about the share.

    value : float or "low", default=-9999.0
        What stands in its place. "low" is 8 standard deviations below the mean of the clean
        targets, or of the column.

    first : int, default=0
        Number of rows before the first one that may be faulty.

    length : float, default=1.0
        Mean number of rows of a run of faults, as a sensor that is out for a while makes them.
        Lengths are geometric.

    noise : float, default=0.1
        Standard deviation of the noise, over that of what it is added to.

    random_state : int, RandomState instance or None, default=None
        Source of all that is random. With the same seed the clean stream is the same whatever the
        faults, and the faults of a smaller share are among those of a larger one.

    return_X_y : bool, default=False
        Return ``(data, target)`` instead of a Bunch.

    Returns
    -------
    stream : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : ndarray of shape (n_samples, 5)
            The inputs, five of a table and five of a series.
        target : ndarray of shape (n_samples,)
            The targets, in order.
        clean_data, clean_target : ndarray
            Both as they would be without faults.
        faulty : ndarray of shape (n_samples,) of bool
            Which targets are faulty.
        faulty_data : ndarray of shape (n_samples, 5) of bool
            Which cells are faulty.
        changes : ndarray of shape (0,) of int
            No row: the clean stream does not change.

    (data, target) : tuple of ndarray
        With ``return_X_y=True``.

    See Also
    --------
    make_shifted_stream : The same clean streams, with a change instead of faults.
    make_irregular_stream : Streams that only look as if there were faults.

    Notes
    -----
    With ε standard normal and a the hour in turns of a day:

    - the table has x of independent standard normals, and
      y = x_0 + sin(2 x_1) + x_2 x_3 / 2 + 1.3 noise ε; the fifth column is never used;
    - the series has the columns sin a, cos a, sin 2a, cos 2a and a temperature u, and
      y = 20 + 5 sin(a) - 2 cos(2a) + u + 4 noise v, with u and v autoregressions of first order
      with the correlations 0.98 and 0.9, and of variances 4 and 1.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_faulty_stream
    >>> stream = make_faulty_stream(1000, share=0.05, random_state=0)
    >>> int(stream.faulty.sum()), set(stream.target[stream.faulty].tolist())
    (51, {-9999.0})
    >>> X, y = make_faulty_stream(1000, where="data", random_state=0, return_X_y=True)
    >>> round(float((X == -9999.0).mean()), 3)
    0.033
    """
    rng = check_random_state(random_state)
    X, y = _MAKERS[base](n_samples, noise, rng)
    clean_data, clean_target = X.copy(), y.copy()
    begun = rng.uniform(size=(n_samples, 1 + X.shape[1])) < share / length
    begun[:first] = False
    rows = np.arange(n_samples)[:, None]
    ends = np.where(begun, rows + rng.geometric(1.0 / length, size=begun.shape), 0)
    drawn = rows < np.maximum.accumulate(ends)
    drawn[:, slice(1, None) if where == "target" else 0] = False
    faulty, faulty_data = drawn[:, 0], drawn[:, 1:]
    if value == "low":
        y[faulty] = y.mean() - 8.0 * y.std()
        X[faulty_data] = np.broadcast_to(X.mean(axis=0) - 8.0 * X.std(axis=0), X.shape)[faulty_data]
    else:
        y[faulty] = X[faulty_data] = value
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        clean_data=clean_data,
        clean_target=clean_target,
        faulty=faulty,
        faulty_data=faulty_data,
        changes=np.empty(0, dtype=int),
    )


@validate_params(
    _CLEAN
    | {
        "kind": [StrOptions({"level", "unit", "sign"})],
        "size": [Real],
        "shift_at": [Interval(Real, 0.0, 1.0, closed="both")],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_faulty_stream)
def make_shifted_stream(
    n_samples: int = 3000,
    *,
    base: str = "table",
    kind: str = "level",
    size: float = 4.0,
    shift_at: float = 0.5,
    noise: float = 0.1,
    random_state: Seed = None,
    return_X_y: bool = False,
) -> Any:
    """Make a stream whose targets move to another level, unit or sign once, and stay there.

    Parameters
    ----------
    base : {"table", "series"}, default="table"
        The clean stream, that of :func:`make_faulty_stream`.

    kind : {"level", "unit", "sign"}, default="level"
        What changes: a constant is added, targets are multiplied by one, or they change their sign.

    size : float, default=4.0
        What is added, in standard deviations of the targets before the change, or the factor. Has
        no effect on the sign.

    shift_at : float, default=0.5
        Share of the rows before the change.

    random_state : int, RandomState instance or None, default=None
        Source of all that is random. With the same seed the stream before the change is the same.

    Returns
    -------
    stream : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : ndarray of shape (n_samples, 5)
            The inputs.
        target : ndarray of shape (n_samples,)
            The targets, in order.
        clean_target : ndarray of shape (n_samples,)
            The same: no target is wrong.
        unshifted_target : ndarray of shape (n_samples,)
            The targets had nothing changed.
        faulty : ndarray of shape (n_samples,) of bool
            False throughout.
        changes : ndarray of shape (1,) of int
            The row from which on targets are otherwise; none where that is the first or beyond the
            last.

    (data, target) : tuple of ndarray

    See Also
    --------
    make_friedman_stream : A function of X that changes, at once or slowly.
    make_faulty_stream : The formulas of the clean streams, and faults in them.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_shifted_stream
    >>> stream = make_shifted_stream(1000, kind="unit", size=1000.0, random_state=0)
    >>> stream.changes
    array([500])
    >>> stream.target[499:501].round(2)
    array([    2.24, -1546.19])
    """
    rng = check_random_state(random_state)
    X, unshifted = _MAKERS[base](n_samples, noise, rng)
    change = int(shift_at * n_samples)
    y, before = unshifted.copy(), unshifted[: max(change, 1)]
    if kind == "level":
        y[change:] += size * (before.std() or 1.0)
    else:
        y[change:] *= size if kind == "unit" else -1.0
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        clean_target=y.copy(),
        unshifted_target=unshifted,
        faulty=np.zeros(n_samples, dtype=bool),
        changes=np.array([change] if 0 < change < n_samples else [], dtype=int),
    )


def _table(n, noise, rng):
    X = rng.standard_normal((n, 5))
    y = X[:, 0] + np.sin(2.0 * X[:, 1]) + X[:, 2] * X[:, 3] / 2.0
    return X, y + 1.3 * noise * rng.standard_normal(n)


def _series(n, noise, rng):
    normals = rng.standard_normal((n, 2))
    temperature = 2.0 * _autoregression(normals[:, 0], 0.98)
    lasting = _autoregression(normals[:, 1], 0.9)
    angle = 2.0 * np.pi / _DAY * (np.arange(n) % _DAY)
    day = [np.sin(angle), np.cos(angle), np.sin(2.0 * angle), np.cos(2.0 * angle)]
    y = 20.0 + 5.0 * day[0] - 2.0 * day[3] + temperature + 4.0 * noise * lasting
    return np.column_stack([*day, temperature]), y


_MAKERS = {"table": _table, "series": _series}
