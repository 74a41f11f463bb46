"""Streams made from formulas, and the scaling behind the published tables.

Every generator returns arrays whose rows are rounds, in order: the first row is the first round.
"""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_array, check_random_state, check_X_y
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from .._documentation import cites
from .._types import Any, Array, ArrayLike, Seed

_AR4_COEFFICIENTS = (0.5, -0.3, 0.2, 0.1)
_N_ACTIVE = 5  # inputs that Friedman's function uses
_DAY = 24  # rows


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "order": [StrOptions({"published", "printed"})],
    },
    prefer_skip_nested_validation=True,
)
@cites
def make_ar4(
    n_samples: int = 5000, *, random_state: Seed = 41, order: str = "published"
) -> tuple[Array, Array]:
    """Make the autoregressive series of order four of the VAW² paper.

    The target of a round is the next value of the series, the inputs are the four values before it.

    Parameters
    ----------
    n_samples : int, default=5000
        Number of rounds. The default is the paper's; fewer give the same series cut short.

    random_state : int, RandomState instance or None, default=41
        Source of the noise. The default is the seed of the published experiment.

    order : {"published", "printed"}, default="published"
        Which way round the coefficients (0.5, -0.3, 0.2, 0.1) meet the past: "published" multiplies
        the most recent value by 0.5, as the authors' program does (and so their tables);
        "printed" multiplies the oldest by 0.5, as the formula in the paper does.

    Returns
    -------
    X : ndarray of shape (n_samples, 4)
        The four values before the target, the oldest first.

    y : ndarray of shape (n_samples,)
        The series.

    Notes
    -----
    With ε standard normal and y_0 = ... = y_3 = 0, for j = 4, 5, ... :

    - "published": y_j = 0.5 y_{j-1} - 0.3 y_{j-2} + 0.2 y_{j-3} + 0.1 y_{j-4} + ε_j ;
    - "printed":   y_j = 0.5 y_{j-4} - 0.3 y_{j-3} + 0.2 y_{j-2} + 0.1 y_{j-1} + ε_j .

    The published program and the printed formula disagree, and the series differ a good deal. After
    :func:`scale_as_published` the noise alone has a mean square of 0.0160 in the first and 0.0088
    in the second; the paper's best figure on this series, 0.0163, belongs to the first.

    As in the program, ``n_samples + 4`` normals are drawn from numpy's legacy generator and the
    first four of them are not used. Both series are stationary but for their start at zero.

    References
    ----------
    Rokhlin & Gurtovaya 2025, Section 4 and Table 3.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_ar4
    >>> X, y = make_ar4(6)
    >>> y.round(3)
    array([ 0.567, -0.757, -0.702,  0.779, -0.721, -1.758])
    >>> X[-1].round(3)
    array([-0.757, -0.702,  0.779, -0.721])
    """
    noise = check_random_state(random_state).standard_normal(n_samples + 4).tolist()
    first, second, third, fourth = (
        _AR4_COEFFICIENTS if order == "published" else _AR4_COEFFICIENTS[::-1]
    )
    series = [0.0] * 4
    for j in range(4, n_samples + 4):  # term by term, so that the last bit is the program's too
        series.append(
            first * series[j - 1]
            + second * series[j - 2]
            + third * series[j - 3]
            + fourth * series[j - 4]
            + noise[j]
        )
    series = np.array(series)
    X = np.lib.stride_tricks.sliding_window_view(series[:-1], 4).copy()  # (n, 4), oldest first
    return X, series[4:].copy()


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "n_features": [Interval(Integral, _N_ACTIVE, None, closed="left")],
        "drift": [StrOptions({"jump", "rotation"}), None],
        "drift_at": [Interval(Real, 0.0, 1.0, closed="both")],
        "noise": [Interval(Real, 0.0, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_friedman_stream(
    n_samples: int = 1000,
    *,
    n_features: int = 10,
    drift: str | None = None,
    drift_at: float = 0.5,
    noise: float = 1.0,
    random_state: Seed = None,
) -> tuple[Array, Array]:
    """Make a stream from Friedman's first function, with or without drift.

    The inputs are independent and uniform on [0, 1]; the target of a round is

        10 sin(π a b) + 20 (c - 0.5)² + 10 d + 5 e + noise · ε,   ε standard normal,

    where without drift a, b, c, d, e are the first five features. The others are never used.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rounds.

    n_features : int, default=10
        Number of inputs, at least 5.

    drift : {"jump", "rotation"} or None, default=None
        - None: the same function throughout.
        - "jump": from one row on the five features change roles, (a, b, c, d, e) becoming features
          (2, 3, 4, 0, 1): an abrupt drift, in which every feature gets a new part.
        - "rotation": the point (a, b, c, d, e) is turned about the cube's centre, in the planes
          (a, d) and (c, e), by an angle that grows evenly from 0 in the first row to a quarter
          turn in the last: a gradual drift. The turned point may leave the cube, the inputs
          in X do not.

    drift_at : float, default=0.5
        Where "jump" happens, as a fraction of the stream: row ``int(drift_at * n_samples)`` is the
        first with the new roles. Other drifts do not use it.

    noise : float, default=1.0
        Standard deviation of the noise, in the units of the target (whose own is about 5).

    random_state : int, RandomState instance or None, default=None
        Source of inputs and noise. The drift draws nothing: with the same seed every kind of
        drift has the same `X` and the same noise.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
        The inputs.

    y : ndarray of shape (n_samples,)
        The targets.

    References
    ----------
    J. H. Friedman, "Multivariate adaptive regression splines", The Annals of Statistics 19(1),
    1991, pages 1-67 (the function; the drifts are ours).

    Examples
    --------
    >>> from sklearn_okl.datasets import make_friedman_stream
    >>> X, y = make_friedman_stream(200, random_state=0)
    >>> X_jump, y_jump = make_friedman_stream(200, drift="jump", random_state=0)
    >>> bool((X == X_jump).all()), int((y != y_jump).argmax())
    (True, 100)
    """
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, n_features))
    epsilon = rng.standard_normal(n_samples)

    active = X[:, :_N_ACTIVE].copy()  # (n, 5), the function's own inputs
    if drift == "jump":
        start = int(drift_at * n_samples)
        active[start:] = X[start:, [2, 3, 4, 0, 1]]
    elif drift == "rotation":
        angle = np.linspace(0.0, np.pi / 2, n_samples)
        for i, j in ((0, 3), (2, 4)):
            u, v = X[:, i] - 0.5, X[:, j] - 0.5
            active[:, i] = 0.5 + np.cos(angle) * u - np.sin(angle) * v
            active[:, j] = 0.5 + np.sin(angle) * u + np.cos(angle) * v

    a, b, c, d, e = active.T
    y = 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e
    return X, y + noise * epsilon


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "correlation": [Interval(Real, 0.0, 1.0, closed="left")],
        "noise": [Interval(Real, 0.0, None, closed="left")],
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
def make_day_ahead(
    n_samples: int = _DAY * 150,
    *,
    correlation: float = 0.9,
    noise: float = 4.0,
    random_state: Seed = None,
) -> tuple[Array, Array]:
    """Make an hourly series whose next day is to be forecast from the weather.

    The target is a level, a season of the day, a smooth effect of the temperature, and disturbances
    that last: what was above its forecast in one hour is likely to be so in the next.

    Parameters
    ----------
    n_samples : int, default=3600
        Number of hours, 150 days of 24 by default. The first one is midnight. Fewer give the same
        series cut short.

    correlation : float, default=0.9
        Correlation of the disturbances of neighbouring hours, at least 0 and below 1.

    noise : float, default=4.0
        Standard deviation of the disturbances, whatever their correlation, in the units of the
        target (whose season has an amplitude of about 20).

    random_state : int, RandomState instance or None, default=None
        Source of the weather and of the disturbances. With the same seed every correlation has
        the same `X`.

    Returns
    -------
    X : ndarray of shape (n_samples, 5)
        What is known a day ahead: sine and cosine of the hour in turns of a day, the same in turns
        of half a day, and the temperature.

    y : ndarray of shape (n_samples,)
        The series.

    Notes
    -----
    With h the hour, a_t = 2π h / 24, and u, v two stationary series v_t = ρ v_{t-1} + ε_t of
    independent Gaussian ε, of standard deviations 6 and ``noise``, and ρ = 0.99 for u and
    ``correlation`` for v:

    - the temperature is T_t = 10 - 5 cos(a_t - π/4) + u_t, which has its daily maximum at 15 h;
    - y_t = 100 - 20 cos(a_t) - 8 sin(2 a_t) + 5 ln(1 + exp((15 - T_t) / 5)) + v_t .

    The effect of the temperature is that of heating, straight in the cold and level in the heat.
    The best forecast of v, k hours ahead, is ρ^k times its last value, and its error has the
    standard deviation ``noise * sqrt(1 - ρ^(2k))``. With ρ = 0.9 that is 0.44 of `noise` one hour
    ahead and 0.997 of it a day ahead: a model that learns what the latest values say of the very
    next one learns something that is false at noon.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_day_ahead
    >>> X, y = make_day_ahead(48, random_state=0)
    >>> X.shape
    (48, 5)
    >>> X[6].round(2)
    array([ 1. ,  0. ,  0. , -1. , 20.2])
    >>> y[6:9].round(2)
    array([106.44, 115.4 , 121.87])
    """
    normals = check_random_state(random_state).standard_normal((n_samples, 2))
    wander = 6.0 * _autoregression(normals[:, 0], 0.99)
    angle = 2 * np.pi / _DAY * (np.arange(n_samples) % _DAY)
    temperature = 10.0 - 5.0 * np.cos(angle - np.pi / 4) + wander

    heating = 5.0 * np.logaddexp(0.0, (15.0 - temperature) / 5.0)
    season = 100.0 - 20.0 * np.cos(angle) - 8.0 * np.sin(2 * angle)
    X = np.column_stack(
        [np.sin(angle), np.cos(angle), np.sin(2 * angle), np.cos(2 * angle), temperature]
    )
    return X, season + heating + noise * _autoregression(normals[:, 1], correlation)


def _autoregression(normals, correlation):
    """Return a stationary series v_t = correlation v_{t-1} + e_t of variance 1."""
    shocks = np.sqrt(1.0 - correlation**2) * normals
    shocks[0] = normals[0]
    from scipy.signal import lfilter  # slow to import, and seldom needed

    return lfilter([1.0], [1.0, -correlation], shocks)


def make_adversarial_stream(estimator: Any, X: ArrayLike, *, y_range: Any = (-1.0, 1.0)) -> Array:
    """Make the targets that a greedy adversary would choose against an online regressor.

    Row by row the adversary sees the estimator's forecast and sets the target to the end of
    `y_range` that is farther from it; then the estimator learns that row.

    Parameters
    ----------
    estimator : estimator with `partial_fit` and `predict`
        The victim. A clone is played against; the estimator itself is left as it is.

    X : array-like of shape (n_samples, n_features)
        The inputs of the rounds, in order.

    y_range : tuple (low, high) of float, default=(-1.0, 1.0)
        The two targets to choose from.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        The targets, each one `low` or `high`. A forecast in the very middle is answered by `high`;
        so is the first row, where the estimator has not learnt anything to forecast with.

    Raises
    ------
    TypeError
        If the estimator has no `partial_fit` or no `predict`.

    ValueError
        If `y_range` is not two finite numbers in increasing order, or if a forecast is not one
        finite number.

    Notes
    -----
    Whatever a deterministic learner does, from the second round on it pays at least
    ((high - low) / 2)² in square loss per round on this stream, which makes it a hard test of a
    regret bound. The stream is fixed once made: a learner that draws other random numbers than the
    victim did is not forced to pay that.

    The cost is `n_samples` calls of `predict` and of `partial_fit`, a row each.

    References
    ----------
    N. Cesa-Bianchi and G. Lugosi, "Prediction, Learning, and Games", Cambridge University Press,
    2006 (forecasting against an environment that reacts).

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import SGDRegressor
    >>> from sklearn_okl.datasets import make_adversarial_stream
    >>> X = np.ones((6, 1))
    >>> make_adversarial_stream(SGDRegressor(random_state=0), X)
    array([ 1., -1., -1.,  1., -1.,  1.])
    """
    for method in ("partial_fit", "predict"):
        if not hasattr(estimator, method):
            raise TypeError(
                f"{type(estimator).__name__} has no method {method!r}; the adversary plays round "
                "by round, so pass an estimator with 'partial_fit' and 'predict'."
            )
    try:
        low, high = (float(end) for end in y_range)
    except (TypeError, ValueError):
        raise ValueError(
            f"y_range must be a pair (low, high) of numbers; got {y_range!r}."
        ) from None
    if not (np.isfinite([low, high]).all() and low < high):
        raise ValueError(f"y_range must be finite with low < high; got {y_range!r}.")

    X = check_array(X, dtype=np.float64)
    victim = clone(estimator)
    middle = low + (high - low) / 2
    y = np.empty(len(X))
    for t in range(len(X)):
        row = X[t : t + 1].copy()
        forecast = middle if t == 0 else _one_forecast(victim, row, t)
        y[t] = low if forecast > middle else high
        victim.partial_fit(row, y[t : t + 1].copy())
    return y


def _one_forecast(estimator, row, t):
    """Return the forecast of one row as a float, or say why it is not one."""
    forecast = np.asarray(estimator.predict(row), dtype=np.float64)
    if forecast.size != 1 or not np.isfinite(forecast).all():
        raise ValueError(
            f"{type(estimator).__name__} forecasts {forecast} in row {t}, where one finite number "
            "was expected. If it diverged, give it smaller steps, X of a smaller scale or a "
            "narrower y_range."
        )
    return float(forecast.ravel()[0])


@cites
def scale_as_published(X: ArrayLike, y: ArrayLike) -> tuple[Array, Array]:
    """Scale a whole file as the published experiments did. Looks ahead: for their tables only.

    Targets are mapped to [0, 1] by their smallest and largest value, and all inputs are divided by
    the largest Euclidean norm of a row. Both need the *whole* stream before its first round, which
    an online learner never has. Use this to reproduce published figures and for nothing else.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The inputs. One factor serves all the columns, whatever their units.

    y : array-like of shape (n_samples,)
        The targets.

    Returns
    -------
    X_scaled : ndarray of shape (n_samples, n_features)
        The inputs, the longest row having length 1.

    y_scaled : ndarray of shape (n_samples,)
        The targets, from 0 to 1. Labels -1 and +1 become 0 and 1.

    Raises
    ------
    ValueError
        If all targets are equal or all inputs are zero, so that there is no scale to divide by.

    References
    ----------
    Rokhlin & Gurtovaya 2025, Section 4; they follow Ghari & Shen 2023.

    Examples
    --------
    >>> from sklearn_okl.datasets import scale_as_published
    >>> scale_as_published([[3.0, 4.0], [0.0, 1.0]], [10.0, 30.0])
    (array([[0.6, 0.8],
           [0. , 0.2]]), array([0., 1.]))
    """
    X, y = check_X_y(X, y, dtype=np.float64, y_numeric=True)
    y = y.astype(np.float64)
    low, high = y.min(), y.max()
    if low == high:
        raise ValueError(
            f"Every target is {low}: there is no range to map to [0, 1]. Pass targets that vary."
        )
    longest = np.linalg.norm(X, axis=1).max()
    if longest == 0:
        raise ValueError(
            "Every entry of X is zero: there is no norm to divide by. Pass rows that are not all 0."
        )
    return X / longest, (y - low) / (high - low)
