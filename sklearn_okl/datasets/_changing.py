"""Streams whose function changes: jumps that recur, regions that grow, planes that turn, paths."""

from __future__ import annotations

from itertools import pairwise
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from .._documentation import explained_by
from .._types import Any, Array, Seed
from ._timetables import make_timetable

_KINDS = {  # kind -> where it changes by default, as shares of the stream
    "recurring": (0.5, 0.75),
    "gradual": (0.5, 0.75),
    "local": (0.25, 0.5, 0.75),
}
_N_DRIFT = 10  # features of Friedman's stream with drift
_OCTAVES = 16  # terms of a rough path: 2^16 waves at most
_ROWS = [Interval(Integral, 1, None, closed="left")]
_NOISE = [Interval(Real, 0.0, None, closed="left")]


@validate_params(
    {
        "n_samples": _ROWS,
        "drift": [StrOptions(set(_KINDS))],
        "drift_at": [tuple, None],
        "transition": [Interval(Real, 0.0, 1.0, closed="both")],
        "noise": _NOISE,
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_timetable)
def make_friedman_drift(
    n_samples: int = 10_000,
    *,
    drift: str = "recurring",
    drift_at: tuple[float, ...] | None = None,
    transition: float = 0.1,
    noise: float = 1.0,
    random_state: Seed = None,
) -> tuple[Array, Array]:
    r"""Make Friedman's stream with the drifts of Ikonomovska, Gama and Džeroski, as River has them.

    Ten inputs are independent and uniform on [0, 1]. Before the first change the target is
    10 sin(π x0 x1) + 20 (x2 - 0.5)² + 10 x3 + 5 x4 + noise · ε, ε standard normal.

    Parameters
    ----------
    drift : {"recurring", "gradual", "local"}, default="recurring"
        - "recurring" (global recurring abrupt): from the first to before the second change
          10 sin(π x3 x5) + 20 (x1 - 0.5)² + 10 x0 + 5 x2, then the first function again.
        - "gradual" (global and slow gradual): after the first change 10 sin(π x3 x4) + 20 (x1 -
          0.5)² + 10 x0 + 5 x2, after the second 10 sin(π x1 x4) + 20 (x3 - 0.5)² + 10 x2 + 5 x0;
          for a time after each, rows are of the old and of the new function with equal probability.
        - "local" (local expanding abrupt): in two corners there are other functions, 10 x0 x1 + 20
          (x2 - 0.5) + 10 x3 + 5 x4 where x1, x2, x4 < 0.3 and x3 > 0.7, and 10 cos(x0 x1) + 20 (x2
          - 0.5) + exp(x3) + 5 x4² where x1, x2, x4 > 0.7 and x3 < 0.3. After the second change x4
          no longer matters for who is in a corner, after the third x3 neither.

    drift_at : tuple of float, default=None
        Where it changes, as rising fractions of the stream in [0, 1]: three for "local", else two.
        None: the paper's, (0.25, 0.5, 0.75) and (0.5, 0.75). All else is a ValueError.

    transition : float, default=0.1
        How long both functions go on side by side in "gradual", as a fraction of the stream.

    noise : float >= 0, default=1.0
        Standard deviation of the noise, in the units of the target.

    Returns
    -------
    X, y : ndarrays of shape (n_samples, 10) and (n_samples,)
        Inputs, and targets.

    Notes
    -----
    Functions and corners are those of River's ``FriedmanDrift``; the numbers drawn are not.

    References
    ----------
    E. Ikonomovska, J. Gama, S. Džeroski, "Learning model trees from evolving data streams", Data
    Mining and Knowledge Discovery 23, 2011.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_friedman_drift
    >>> X, y = make_friedman_drift(400, drift="local", random_state=0)
    >>> X.shape, y.shape
    ((400, 10), (400,))
    """
    given = _KINDS[drift] if drift_at is None else tuple(drift_at)
    is_rising = all(low < high for low, high in pairwise(given))
    if len(given) != len(_KINDS[drift]) or not (is_rising and given[0] >= 0 and given[-1] <= 1):
        raise ValueError(
            f"drift_at={drift_at!r} must hold {len(_KINDS[drift])} rising fractions of the stream, "
            f"such as {_KINDS[drift]}."
        )
    rng = check_random_state(random_state)
    X = rng.uniform(size=(n_samples, _N_DRIFT))
    epsilon, is_old = rng.standard_normal(n_samples), rng.uniform(size=n_samples) < 0.5
    t, changes = np.arange(n_samples), [int(share * n_samples) for share in given]
    y = _friedman(X, 0, 1, 2, 3, 4)
    if drift == "recurring":
        y = np.where((t >= changes[0]) & (t < changes[1]), _friedman(X, 3, 5, 1, 0, 2), y)
    elif drift == "gradual":
        window = int(transition * n_samples)
        for start, roles in zip(changes, ((3, 4, 1, 0, 2), (1, 4, 3, 2, 0)), strict=True):
            is_new = (t >= start) & ~(is_old & (t < start + window))
            y = np.where(is_new, _friedman(X, *roles), y)
    else:
        y = _with_corners(X, y, np.searchsorted(changes, t, side="right"))
    return X, y + noise * epsilon


def _friedman(X, a, b, c, d, e):
    wave = 10 * np.sin(np.pi * X[:, a] * X[:, b])
    return wave + 20 * (X[:, c] - 0.5) ** 2 + 10 * X[:, d] + 5 * X[:, e]


def _with_corners(X, y, stage):
    """Return targets with other functions in two corners, which grow with the stage (n,)."""
    x0, x1, x2, x3, x4 = X[:, :5].T
    others = (
        10 * x0 * x1 + 20 * (x2 - 0.5) + 10 * x3 + 5 * x4,
        10 * np.cos(x0 * x1) + 20 * (x2 - 0.5) + np.exp(x3) + 5 * x4**2,
    )
    corners = (
        ((x1 < 0.3) & (x2 < 0.3), x3 > 0.7, x4 < 0.3),
        ((x1 > 0.7) & (x2 > 0.7), x3 < 0.3, x4 > 0.7),
    )
    for other, (always, third, fourth) in zip(others, corners, strict=True):
        inside = always & (third | (stage >= 3)) & (fourth | (stage >= 2)) & (stage >= 1)
        y = np.where(inside, other, y)
    return y


@validate_params(
    {
        "n_samples": _ROWS,
        "n_features": [Interval(Integral, 2, None, closed="left")],
        "turns": [Interval(Real, 0.0, None, closed="left")],
        "noise": _NOISE,
        "random_state": ["random_state"],
        "return_path": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_friedman_drift)
def make_rotating_hyperplane(
    n_samples: int = 10_000,
    *,
    n_features: int = 10,
    turns: float = 1.0,
    noise: float = 0.1,
    random_state: Seed = None,
    return_path: bool = False,
) -> Any:
    r"""Make a stream of a linear function whose coefficients turn in a plane, at a constant speed.

    Inputs are independent and uniform on [-1, 1]; the target is :math:`u_t^T x_t` plus noise, with
    :math:`u_t` of norm 1.

    Parameters
    ----------
    n_features : int >= 2, default=10
        Number of inputs.

    turns : float, default=1.0
        Full turns during the stream, >= 0.

    return_path : bool, default=False
        Whether to return the coefficients too.

    Returns
    -------
    X, y : ndarrays of shape (n_samples, n_features) and (n_samples,)
        Inputs and targets.

    path : ndarray of shape (n_samples, n_features)
        Only with `return_path`: the coefficients of each round.

    References
    ----------
    G. Hulten, L. Spencer, P. Domingos, "Mining time-changing data streams", Knowledge Discovery and
    Data Mining, 2001, for a hyperplane that moves, of two classes there.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_rotating_hyperplane
    >>> X, y, path = make_rotating_hyperplane(100, random_state=0, return_path=True)
    >>> bool(abs(path[0] - path[-1]).max() < 0.1)
    True
    """
    rng = check_random_state(random_state)
    plane, _ = np.linalg.qr(rng.standard_normal((n_features, 2)))
    angle = 2 * np.pi * turns * np.arange(n_samples) / n_samples
    path = np.column_stack([np.cos(angle), np.sin(angle)]) @ plane.T
    return _on_path(rng, path, noise, return_path)


def _on_path(rng, path, noise, return_path):
    X = rng.uniform(-1.0, 1.0, size=path.shape)
    y = np.einsum("nd,nd->n", X, path) + noise * rng.standard_normal(len(path))
    return (X, y, path) if return_path else (X, y)


@validate_params(
    {
        "n_samples": _ROWS,
        "n_features": _ROWS,
        "exponent": [Interval(Real, 0.0, 1.0, closed="right")],
        "size": _NOISE,
        "noise": _NOISE,
        "random_state": ["random_state"],
        "return_path": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_rotating_hyperplane)
def make_holder_path(
    n_samples: int = 10_000,
    *,
    n_features: int = 3,
    exponent: float = 0.5,
    size: float = 1.0,
    noise: float = 0.1,
    random_state: Seed = None,
    return_path: bool = False,
) -> Any:
    r"""Make a stream of a linear function whose coefficients follow Hölder-smooth paths.

    Each coefficient is, over the share s of the stream that has passed, a Weierstrass function
    :math:`\sum_{k<16} 2^{-k h} \cos(2 \pi (2^k s + \phi_k))`, of the Hölder exponent h.

    Parameters
    ----------
    exponent : float, default=0.5
        h in (0, 1]: the smaller the rougher; paths of random walks have a half.

    size : float, default=1.0
        Factor of all coefficients, >= 0.

    References
    ----------
    G. H. Hardy, "Weierstrass's non-differentiable function", Transactions of the American
    Mathematical Society 17, 1916.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_holder_path
    >>> X, y, path = make_holder_path(100, exponent=0.3, random_state=0, return_path=True)
    >>> path.shape
    (100, 3)
    """
    rng = check_random_state(random_state)
    phases = rng.uniform(size=(_OCTAVES, n_features))
    share = np.arange(n_samples)[:, None] / n_samples
    path = np.zeros((n_samples, n_features))
    for k, phase in enumerate(phases):
        path += 2.0 ** (-k * exponent) * np.cos(2 * np.pi * (2.0**k * share + phase))
    return _on_path(rng, size * path, noise, return_path)


@validate_params(
    {
        "n_samples": _ROWS,
        "n_features": _ROWS,
        "n_functions": _ROWS,
        "n_switches": [Interval(Integral, 0, None, closed="left")],
        "gamma": [Interval(Real, 0.0, None, closed="neither")],
        "noise": _NOISE,
        "random_state": ["random_state"],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_rotating_hyperplane)
def make_switching_functions(
    n_samples: int = 10_000,
    *,
    n_features: int = 3,
    n_functions: int = 3,
    n_switches: int = 8,
    gamma: float = 1.0,
    noise: float = 0.1,
    random_state: Seed = None,
) -> tuple[Array, Array]:
    r"""Make a stream that switches between a few random functions of a Gaussian kernel's space.

    Each function is a sum of 50 cosines with frequencies of the kernel :math:`\exp(-\gamma \|x -
    x'\|^2)`, of mean square about 1. After equally long stretches another one takes over, drawn
    from those that were not there just before, so that functions recur.

    Parameters
    ----------
    n_functions : int, default=3
        How many functions there are.

    n_switches : int, default=8
        How often they change.

    gamma : float, default=1.0
        Of the kernel, > 0.

    Returns
    -------
    X, y : ndarrays of shape (n_samples, n_features) and of shape (n_samples,)
        Inputs, independent and uniform on [-1, 1], and targets.

    References
    ----------
    Rahimi & Recht 2007, for the law of the frequencies.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_switching_functions
    >>> X, y = make_switching_functions(900, n_switches=2, random_state=0)
    >>> X.shape, bool(0.3 < y.var() < 3)
    ((900, 3), True)
    """
    rng = check_random_state(random_state)
    m = 50
    omega = rng.standard_normal((n_functions, n_features, m)) * np.sqrt(2 * gamma)
    phases = 2 * np.pi * rng.uniform(size=(n_functions, m))
    coef = rng.standard_normal((n_functions, m)) * np.sqrt(2 / m)
    order = [int(rng.randint(n_functions))]
    for _ in range(n_switches):  # any but the one before
        order.append((order[-1] + 1 + int(rng.randint(max(n_functions - 1, 1)))) % n_functions)
    which = np.array(order)[np.arange(n_samples) * (n_switches + 1) // n_samples]
    X = rng.uniform(-1.0, 1.0, size=(n_samples, n_features))
    y = noise * rng.standard_normal(n_samples)
    for j in range(n_functions):
        rows = which == j
        y[rows] += np.cos(X[rows] @ omega[j] + phases[j]) @ coef[j]
    return X, y
