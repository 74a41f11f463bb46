"""Ratios of speed: both sides in one run, turn by turn, with one BLAS thread each."""

import copy
import time
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from sklearn.linear_model import SGDRegressor
from threadpoolctl import threadpool_limits

from sklearn_okl import VAW2Regressor, VAWRegressor
from sklearn_okl.features._fourier import fourier_map

from ..papers.streams import load_stream, published_frequencies
from .figure import Figure
from .loops import vovk

N_REPEATS = 5
_MATRIX_SIZE = 1500
_TILE = 128, 19  # rows and kernels whose features are computed together, as in the package


def vaw2_speed(quick=False, advance=None):
    """VAW² on AR(4) with the paper's 76 kernels, against a loop and against bare products."""
    n_rows, n_loop = (1000, 100) if quick else (5000, 500)
    X, y = load_stream("ar4", n_rows)
    frequencies = published_frequencies(X.shape[1], seed=0)
    n_kernels, n_components = len(frequencies), 2 * frequencies[0].shape[1]
    stacked = np.stack(frequencies)
    A = np.random.default_rng(0).standard_normal((_MATRIX_SIZE, _MATRIX_SIZE))

    def ours(n_jobs=None):
        VAW2Regressor(frequencies=frequencies, n_jobs=n_jobs).prequential_predict(X, y)

    def loop():
        vovk.vaw2(X[:n_loop], y[:n_loop], frequencies)

    def stacked_loop():
        vovk.vaw2_stacked(X[:n_loop], y[:n_loop], frequencies)

    def features():
        rows, kernels = _TILE
        for i in range(0, n_rows, rows):
            for k in range(0, n_kernels, kernels):
                fourier_map(X[i : i + rows], stacked[k : k + kernels], n_components)

    seconds = in_turns(
        [ours, loop, stacked_loop, lambda: A @ A, lambda: ours(n_jobs=2), features],
        N_REPEATS,
        advance,
    )
    a_row, loop_row, stacked_row, product, two_jobs, features_row = (
        seconds / np.c_[[n_rows, n_loop, n_loop, 1, n_rows, n_rows]]
    )
    flops = 2 * _MATRIX_SIZE**3 / product  # a second, of a plain matrix product
    products_row = 4 * n_kernels * n_components**2 / flops
    note = f"{1e-9 * np.median(flops):.0f} GFLOP/s, {1e6 * np.median(products_row):.0f} µs a row"
    return [
        Figure("VAW², a row", (1e6 * a_row).tolist(), "µs"),
        Figure("  its features alone, a row", (1e6 * features_row).tolist(), "µs"),
        Figure(
            "VAW², times faster than the literal loop",
            (loop_row / a_row).tolist(),
            "times",
            bar=10,
            aim=15,
            more_is_better=True,
            note=f"over rows and kernels: {1e6 * np.median(loop_row):.0f} µs a row",
        ),
        Figure(
            "VAW², times faster than a loop over rows only",
            (stacked_row / a_row).tolist(),
            "times",
            note=f"all kernels of a row at once: {1e6 * np.median(stacked_row):.0f} µs a row",
        ),
        Figure(
            "VAW², times as long as 4 K D² flops a row",
            (a_row / products_row).tolist(),
            "times",
            bar=6,
            aim=3,
            note=note,
        ),
        Figure(
            "VAW², gain of n_jobs=2",
            (a_row / two_jobs).tolist(),
            "times",
            bar=1.4,
            more_is_better=True,
        ),
    ]


def one_row_speed(quick=False, advance=None):
    """One-row `partial_fit` of VAW on 100 features, against that of SGDRegressor."""
    n_calls = 100 if quick else 1000
    rng = np.random.default_rng(0)
    Z, y = rng.standard_normal((n_calls, 100)) / 10, rng.standard_normal(n_calls)
    vaw, sgd = VAWRegressor(), SGDRegressor()

    def row_by_row(model):
        for t in range(n_calls):
            model.partial_fit(Z[t : t + 1], y[t : t + 1])

    seconds = in_turns([lambda: row_by_row(vaw), lambda: row_by_row(sgd)], N_REPEATS, advance)
    ours, theirs = seconds / n_calls
    return [
        Figure(
            "VAWRegressor.partial_fit of a row, of SGDRegressor's",
            (ours / theirs).tolist(),
            "times",
            bar=2,
            note=f"{1e6 * np.median(ours):.0f} µs, {1e6 * np.median(theirs):.0f} µs",
        )
    ]


MEASURES = (vaw2_speed, one_row_speed)


class Race(NamedTuple):
    """Two calls that do the same, and the rows that each learns.

    Attributes
    ----------
    name : str
    ours, loop : callable
    n_ours, n_loop : int
    bar : float or None
        How many times faster ours must be.
    most : float or None
        Microseconds that a row of ours may take; with None there is no such figure.
    """

    name: str
    ours: Callable
    n_ours: int
    loop: Callable
    n_loop: int
    bar: float | None = 1.0
    most: float | None = None


def races(pairs, advance=None):
    """Time both sides of each race in turns; return how many times faster ours is, a row."""
    calls = [call for pair in pairs for call in (pair.ours, pair.loop)]
    seconds = in_turns(calls, N_REPEATS, advance)
    figures = []
    for pair, ours, loop in zip(pairs, seconds[::2], seconds[1::2], strict=True):
        ours, loop = 1e6 * ours / pair.n_ours, 1e6 * loop / pair.n_loop
        if pair.most is not None:
            figures.append(Figure(f"{pair.name}, a row", ours.tolist(), "µs", pair.most))
        name, times = f"{pair.name}, times faster", (loop / ours).tolist()
        note = f"{np.median(ours):.1f} and {np.median(loop):.0f} µs a row"
        figures.append(Figure(name, times, "times", pair.bar, more_is_better=True, note=note))
    return figures


def against(loops, X, y, n_loop=None, **bars):
    """Return races over rows of models against loops, which learn fewer where `n_loop` is given.

    `loops` has for each name the model and the loop, a call without arguments.
    """

    def learn(model):
        copy.deepcopy(model).prequential_predict(X, y)

    return [
        Race(name, partial(learn, model), len(y), loop, n_loop or len(y), **bars)
        for name, (model, loop) in loops.items()
    ]


def later_rounds(models, X, y, n_part, advance=None):
    """Time the last rounds of a long stream against the first: no round is to cost more."""
    calls = []
    for young in models.values():
        old = copy.deepcopy(young).fit(X[:-n_part], y[:-n_part])
        calls += [
            lambda model=young: copy.deepcopy(model).partial_fit(X[:n_part], y[:n_part]),
            lambda model=old: copy.deepcopy(model).partial_fit(X[-n_part:], y[-n_part:]),
        ]
    seconds = in_turns(calls, N_REPEATS, advance)
    return [
        Figure(
            f"{name}, last {n_part} rounds of {len(y)}, of the first {n_part}",
            (last / first).tolist(),
            "times",
            bar=1.25,
            aim=1,
        )
        for name, first, last in zip(models, seconds[::2], seconds[1::2], strict=True)
    ]


def in_turns(functions, n_repeats, advance=None, clock=time.perf_counter):
    """Time functions turn by turn, so that a busy machine slows all of them alike.

    Returns
    -------
    seconds : ndarray of shape (n_functions, n_repeats)
        Time by the clock; a round of calls before the first one is not counted.
    """
    seconds = np.empty((len(functions), n_repeats))
    with threadpool_limits(1, user_api="blas"):
        for function in functions:
            function()
        for repeat in range(n_repeats):
            for k, function in enumerate(functions):
                start = clock()
                function()
                seconds[k, repeat] = clock() - start
            if advance is not None:
                advance(1)
    return seconds
