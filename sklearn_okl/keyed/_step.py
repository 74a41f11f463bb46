"""One pure step for engines that keep state a key and move bytes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_consistent_length

from .._persistence import from_bytes, to_bytes
from .._types import Any, Array, ArrayLike
from .._validation import container_of, rows_of
from ._teaching import taught, told


def keyed_step(
    state: bytes | None,
    rows: tuple,
    make: Callable[[], Any],
    *,
    order: Any = None,
    classes: ArrayLike | None = None,
    max_bytes: int = 2**29,
) -> tuple[Array, bytes]:
    """Learn rows of one key: from bytes, to forecasts and bytes. Nothing else is read or changed.

    Engines that keep a state a key, such as Spark, Beam or Flink, call it with the state of the key
    and its rows, and keep what comes back. Called twice with the same it returns the same, so that
    an engine may try again.

    Parameters
    ----------
    state : bytes or None
        What the last step of this key returned; None at first.
    rows : tuple of (array-like of shape (n, n_features), array-like of shape (n[, n_targets]))
        Rows of the key, and their targets or labels; `n` may be 0.
    make : callable
        Makes the model of a key, such as ``VAWRegressor``; called where `state` is None. One that
        has no `prequential_predict` is asked and taught row by row.
    order : array-like of shape (n,), default=None
        Numbers of the rows within their key, 0 for its first one. They are learnt in this order.
        Rows before the next one due are forecast and not learnt again: an engine delivers at least
        once. None: the rows are in order, each once.
    classes : array-like of shape (n_classes,), default=None
        All labels, for classifiers: the first rows of a key need not show them.
    max_bytes : int, default=536870912
        As in :func:`from_bytes`.

    Returns
    -------
    forecasts : ndarray of shape (n[, n_targets])
        The forecast of each row made before its target was seen, in the order of `rows`. Rows that
        had been learnt before have NaN, or None where forecasts are labels that are no numbers.
    state : bytes
        For the next step.

    Raises
    ------
    ValueError
        If numbers are missing in between: the engine is to hold rows back until those before them
        are there. The state is as it was. Or if `order` is given and the model does not count its
        rows in `n_samples_seen_`.

    See Also
    --------
    KeyedRegressor : All keys in one process, and much faster.
    to_bytes : What the state is.

    Notes
    -----
    *Cost.* That of reading and writing a model, some milliseconds: give many rows at once.

    Examples
    --------
    >>> from sklearn_okl import VAWRegressor, keyed_step
    >>> forecasts, state = keyed_step(None, ([[1.0], [2.0]], [1.0, 2.0]), VAWRegressor)
    >>> forecasts, state = keyed_step(state, ([[3.0]], [3.0]), VAWRegressor)
    >>> forecasts.round(2)
    array([1.])
    """
    X, y = container_of(rows[0]), np.asarray(rows[1])
    check_consistent_length(X, y)
    if state is None and not callable(make):
        raise TypeError(
            f"make={make!r} is no function that makes a model: give the class, or a function, such "
            "as lambda: VAWRegressor(alpha=0.1)."
        )
    model = make() if state is None else from_bytes(state, max_bytes=max_bytes)
    params = told(model, classes) if state is None else {}
    which = np.arange(len(y)) if order is None else _in_order(order, len(y), _known(model, state))
    forecasts = np.full(y.shape, np.nan)
    if len(which):
        given = rows_of(X, which), y[which], params, "prequential_predict"
        forecasts = _placed(taught(model, *given, _nothing(model, y, classes)), which, len(y))
        state = to_bytes(model)
    if state is None:
        raise ValueError("There are no rows, and no state either: nothing can be learnt.")
    return forecasts, state


def _known(model, state):
    """Return how many rows a model has learnt."""
    known = 0 if state is None else getattr(model, "n_samples_seen_", None)
    if known is None:
        raise ValueError(
            f"{type(model).__name__} does not count its rows in 'n_samples_seen_', so that order= "
            "cannot be heeded. Put it last in a StreamingPipeline, which does, or leave order out."
        )
    return known


def _nothing(model, y, classes):
    """Return what is forecast before the first row by who cannot say so himself."""
    if not is_classifier(model):
        return np.zeros(y.shape[1:])
    labels = getattr(model, "classes_", np.unique(y) if classes is None else np.unique(classes))
    return labels[:1].reshape(())


def _placed(answers, which, n):
    """Return answers in the places (n,) of their rows; what the others hold is none."""
    is_number = answers.dtype.kind in "iuf"
    if is_number or len(which) < n:
        shape, none = (n, *answers.shape[1:]), np.nan if is_number else None
        placed = np.full(shape, none, dtype=float if is_number else object)
    else:
        placed = np.empty_like(answers)
    placed[which] = answers
    return placed


def _in_order(order, n, known):
    """Return which rows are due, in order, each once."""
    order = np.asarray(order)
    if order.shape != (n,) or order.dtype.kind not in "iu":
        raise ValueError(f"order is to hold {n} whole numbers, one a row.")
    numbers, first = np.unique(order, return_index=True)
    due = numbers >= known
    numbers, first = numbers[due], first[due]
    missing = np.flatnonzero(numbers != known + np.arange(len(numbers)))
    if len(missing):
        raise ValueError(
            f"Row {known + missing[0]} of this key is missing, and row {numbers[missing[0]]} is "
            "there. Hold rows back until those before them have come."
        )
    return first


def step_in_turn(held, rows, make):
    """Learn rows of one key that carry numbers; those that come too early wait in what is held.

    Held are the bytes of the model, how many rows it has learnt, and those that wait by their
    numbers; None at first. What comes back are the numbers (list) and forecasts of the rows that
    were learnt now, each once and in order, and what is held for the next step. Without numbers
    rows are the next ones, in order.
    """
    state, known, waiting = (None, 0, {}) if held is None else held
    numbers, X, y = rows
    numbers = known + np.arange(len(y)) if numbers is None else np.asarray(numbers)
    waiting = dict(waiting)
    for number, x, target in zip(numbers.tolist(), np.asarray(X), np.asarray(y), strict=True):
        if number >= known:
            waiting.setdefault(number, (x, target))
    end = known
    while end in waiting:
        end += 1
    due = list(range(known, end))
    if not due:
        return (due, np.empty(0)), (state, known, waiting)
    X, y = (np.array(part) for part in zip(*[waiting.pop(number) for number in due], strict=True))
    forecasts, state = keyed_step(state, (X, y), make)
    return (due, forecasts), (state, end, waiting)
