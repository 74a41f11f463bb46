"""Streams whose targets step, jump, start again or are rare, and nothing in them is wrong."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from sklearn.utils import Bunch, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions, validate_params

from .._documentation import explained_by
from .._types import Any, Seed
from ._faulty import make_faulty_stream, make_shifted_stream

_DAY = 24  # rows
_SLOPE = 3  # of a counter
_EPISODE = 6  # rows of an episode after its first, in the mean
_SHARES = (0.6, 0.3, 0.1)  # of the size, that loads which go on and off have
_DEFAULTS = {  # rows between changes, size, noise, whether X says nothing of the changes
    "setpoints": (100, 100.0, 0.1, True),
    "counter": (333, 1000.0, 2.0, True),
    "walk": (100, 100.0, 1.0, True),
    "loads": (100, 1000.0, 5.0, True),
    "price": (50, 5.0, 0.0, True),
    "meter": (_DAY, 10.0, 0.3, False),
    "events": (100, 1.0, 0.0, False),
    "cycles": (200, 100.0, 0.3, False),
    "saw": (100, 100.0, 0.3, False),
    "episodes": (400, 40.0, 1.0, False),
}


@validate_params(
    {
        "n_samples": [Interval(Integral, 1, None, closed="left")],
        "kind": [StrOptions(set(_DEFAULTS))],
        "every": [Interval(Integral, 2, None, closed="left"), None],
        "size": [Interval(Real, 0.0, None, closed="neither"), None],
        "noise": [Interval(Real, 0.0, None, closed="left"), None],
        "hidden": ["boolean", None],
        "random_state": ["random_state"],
        "return_X_y": ["boolean"],
    },
    prefer_skip_nested_validation=True,
)
@explained_by(make_faulty_stream, make_shifted_stream)
def make_irregular_stream(
    n_samples: int = 6000,
    *,
    kind: str = "setpoints",
    every: int | None = None,
    size: float | None = None,
    noise: float | None = None,
    hidden: bool | None = None,
    random_state: Seed = None,
    return_X_y: bool = False,
) -> Any:
    """Make a stream whose targets step, jump, start again or are rare, and none of them is wrong.

    Such streams are what a guard against faulty targets must not mistake for faults.

    Parameters
    ----------
    kind : {"setpoints", "counter", "walk", "loads", "price", "meter", "events", "cycles", \
            "saw", "episodes"}, default="setpoints"
        What the targets are, see Notes.

    every : int, default=None
        Rows between two changes, at least 2: the number itself for setpoints, counters and cycles,
        the rows of a day for the meter, and the mean number for all others, whose changes come at
        random. None is the kind's default, as in the three parameters that follow.

    size : float, default=None
        Size of the changes in the units of the target, > 0.

    noise : float, default=None
        Standard deviation of the noise in the units of the target; for a counter its mean, for a
        meter that of the logarithm of the consumption, and for events that of what X does not say.

    hidden : bool, default=None
        Whether X says nothing of the changes. Otherwise its first column does. None hides those of
        setpoints, counters, walks, loads and prices, and shows those of cycles, saws and episodes.
        A meter has none, and events are always told by X.

    random_state : int, RandomState instance or None, default=None
        Source of all that is random.

    Returns
    -------
    stream : :class:`~sklearn.utils.Bunch`
        With the attributes

        data : ndarray of shape (n_samples, 3)
            Independent standard normals, but for the columns that Notes name.
        target : ndarray of shape (n_samples,)
            The targets, in order.
        clean_target : ndarray of shape (n_samples,)
            The same: no target is wrong.
        faulty : ndarray of shape (n_samples,) of bool
            False throughout.
        changes : ndarray of shape (n_changes,) of int
            Rows from which on the target is at another level, in order. None for meters and events.

    (data, target) : tuple of ndarray

    Notes
    -----
    With ε standard normal, independent in every row:

    ============= ======= ====== ======= ======================================================
    kind          every   size   noise   target of row t
    ============= ======= ====== ======= ======================================================
    "setpoints"   100     100    0.1     a level, uniform on [0, size], + noise ε
    "counter"     333     1000   2       (round(size / every) t + Poisson(noise)) modulo size
    "walk"        100     100    1       last value + noise ε, at a change + size ε' too
    "loads"       100     1000   5       sum of those loads that are on, + noise ε
    "price"       50      5      0       a level, at a change + size ε' in cents, + noise ε
    "meter"       24      10     0.3     1000 + sum of size (1 - 0.8 cos a) exp(noise ε) so far
    "events"      100     1      0       size in one row out of `every`, where x + noise ε is high
    "cycles"      200     100    0.3     a discharge from size (1 - t / 20 n), + noise ε
    "saw"         100     100    0.3     size / every times the rows since the reset, + noise ε
    "episodes"    400     40     1       2 x_1 + 2 sin(2 x_2) + noise ε, higher for a few rows
    ============= ======= ====== ======= ======================================================

    An episode lasts 1 + n rows with n geometric of mean 6; all of it is higher by a height, uniform
    on [size / 2, 3 size / 2], times 1 + 0.08 ε in each row, and loses a third of it on the way.
    There are three loads, of 0.6, 0.3 and 0.1 of `size`; at a change one goes on or off. With p the
    phase of a cycle in [0, 1), a discharge goes down by the factor 1 - 0.6 p - 0.4 p⁴. With a the
    hour in turns of a day, the first two columns of a meter are sin a and cos a. Where changes
    are not hidden, the first column is the level without noise; of walks the sum of the jumps; of
    cycles the phase; of saws 1 in the row of a reset and else 0; of episodes a standard normal, two
    higher where one lasts: a hint, and no more.

    Examples
    --------
    >>> from sklearn_okl.datasets import make_irregular_stream
    >>> stream = make_irregular_stream(300, every=100, random_state=0)
    >>> stream.changes
    array([100, 200])
    >>> stream.target[[98, 99, 100, 101]].round(1)
    array([98.4, 98.3, 69.8, 69.7])
    >>> X, y = make_irregular_stream(300, kind="meter", random_state=0, return_X_y=True)
    >>> X.shape, y[:3].round(1)
    ((300, 3), array([1001.3, 1003.1, 1006.6]))
    """
    defaults = _DEFAULTS[kind]
    chosen = (every, size, noise, hidden)
    every, size, noise, hidden = (
        default if own is None else own for own, default in zip(chosen, defaults, strict=True)
    )
    rng = check_random_state(random_state)
    X = rng.standard_normal((n_samples, 3))
    y, told, changes = _MAKERS[kind](n_samples, every, size, noise, X, rng)
    if not hidden and told is not None:
        X[:, 0] = told
    if return_X_y:
        return X, y
    return Bunch(
        data=X,
        target=y,
        clean_target=y.copy(),
        faulty=np.zeros(n_samples, dtype=bool),
        changes=changes,
    )


# Each takes n, every, size, noise, X (n, 3) and a generator, and returns the targets (n,), what a
# column may say of the changes (n,) or None, and the rows of the changes.


def _setpoints(n, every, size, noise, X, rng):
    levels = rng.uniform(0.0, size, -(-n // every))
    level = np.repeat(levels, every)[:n]
    return level + noise * rng.standard_normal(n), level, np.arange(every, n, every)


def _counter(n, every, size, noise, X, rng):
    slope = max(round(size / every), 1)
    level = (slope * np.arange(n)) % size
    changes = 1 + np.flatnonzero(np.diff(level) < 0.0)
    return (slope * np.arange(n) + rng.poisson(noise, n)) % size, level, changes


def _walk(n, every, size, noise, X, rng):
    changes = _at_random(n, every, rng)
    jumps = np.zeros(n)
    jumps[changes] = size * rng.standard_normal(len(changes))
    level = np.cumsum(jumps)
    return level + np.cumsum(noise * rng.standard_normal(n)), level, changes


def _loads(n, every, size, noise, X, rng):
    changes = _at_random(n, every, rng)
    switched = np.zeros((n, len(_SHARES)), dtype=int)
    switched[changes, rng.randint(len(_SHARES), size=len(changes))] = 1
    is_on = np.cumsum(switched, axis=0) % 2
    level = is_on @ (size * np.array(_SHARES))
    return level + noise * rng.standard_normal(n), level, changes


def _price(n, every, size, noise, X, rng):
    changes = _at_random(n, every, rng)
    steps = np.zeros(n)
    steps[changes] = size * rng.standard_normal(len(changes))
    level = np.round(10.0 * size + np.cumsum(steps), 2)
    return level + noise * rng.standard_normal(n), level, changes


def _meter(n, every, size, noise, X, rng):
    angle = 2.0 * np.pi / every * (np.arange(n) % every)
    X[:, 0], X[:, 1] = np.sin(angle), np.cos(angle)
    consumption = size * (1.0 - 0.8 * np.cos(angle)) * np.exp(noise * rng.standard_normal(n))
    return 1000.0 + np.cumsum(consumption), None, np.empty(0, dtype=int)


def _events(n, every, size, noise, X, rng):
    from scipy.special import ndtri  # slow to import, and seldom needed

    height = X[:, 0] + noise * rng.standard_normal(n)
    high = ndtri(1.0 - 1.0 / every) * np.hypot(1.0, noise)
    return size * (height > high), None, np.empty(0, dtype=int)


def _cycles(n, every, size, noise, X, rng):
    rows = np.arange(n)
    phase = rows % every / every
    full = size * (1.0 - rows / (20.0 * n))
    y = full * (1.0 - 0.6 * phase - 0.4 * phase**4) + noise * rng.standard_normal(n)
    return y, phase, np.arange(every, n, every)


def _saw(n, every, size, noise, X, rng):
    changes = _at_random(n, every, rng)
    resets = np.zeros(n)
    resets[changes] = 1.0
    since = np.arange(n) - np.maximum.accumulate(np.where(resets, np.arange(n), 0))
    return size / every * since + noise * rng.standard_normal(n), resets, changes


def _episodes(n, every, size, noise, X, rng):
    rows, begins = np.arange(n), _at_random(n, every, rng)
    lengths = 1 + rng.geometric(1.0 / _EPISODE, size=n)
    heights = size * rng.uniform(0.5, 1.5, size=n)
    latest = np.zeros(n, dtype=int)
    latest[begins] = begins
    latest = np.maximum.accumulate(latest)
    passed = (rows - latest) / lengths[latest]
    lasts = (latest > 0) & (passed < 1.0)
    height = heights[latest] * (1.0 - passed / 3.0) * (1.0 + 0.08 * rng.standard_normal(n))
    base = 2.0 * X[:, 1] + 2.0 * np.sin(2.0 * X[:, 2])
    y = base + np.where(lasts, height, 0.0) + noise * rng.standard_normal(n)
    changes = 1 + np.flatnonzero(np.diff(lasts))
    return y, X[:, 0] + 2.0 * lasts, changes


def _at_random(n, every, rng):
    """Return rows of changes, on average one in `every`; the first row is none."""
    return 1 + np.flatnonzero(rng.uniform(size=n - 1) < 1.0 / every)


_MAKERS = {
    "setpoints": _setpoints,
    "counter": _counter,
    "walk": _walk,
    "loads": _loads,
    "price": _price,
    "meter": _meter,
    "events": _events,
    "cycles": _cycles,
    "saw": _saw,
    "episodes": _episodes,
}
