"""Streams that change, against literal loops and what their words promise."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.datasets import (
    make_friedman_drift,
    make_holder_path,
    make_rotating_hyperplane,
    make_switching_functions,
)
from sklearn_okl.evaluation import path_length

FIRST, RECURRING = (0, 1, 2, 3, 4), (3, 5, 1, 0, 2)
GRADUAL = (FIRST, (3, 4, 1, 0, 2), (1, 4, 3, 2, 0))


def friedman(x, roles):
    a, b, c, d, e = (x[i] for i in roles)
    return 10 * math.sin(math.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def in_corner(x, stage, sign):
    """Whether a row is in the low corner (sign 1), or in the high one (-1)."""
    low = [x[i] < 0.3 if sign == 1 else x[i] > 0.7 for i in (1, 2, 4)]
    third = x[3] > 0.7 if sign == 1 else x[3] < 0.3
    return stage >= 1 and low[0] and low[1] and (third or stage >= 3) and (low[2] or stage >= 2)


def test_functions_that_recur_are_those_of_the_paper():
    X, y = make_friedman_drift(400, noise=0.0, random_state=0)
    expected = [friedman(x, RECURRING if 200 <= t < 300 else FIRST) for t, x in enumerate(X)]
    assert_allclose(y, expected)


def test_both_functions_are_there_while_it_changes_and_one_afterwards():
    X, y = make_friedman_drift(
        2000, drift="gradual", drift_at=(0.3, 0.6), transition=0.2, noise=0.0, random_state=1
    )
    old = {"before": 0, "first": 0, "second": 0}
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        values = [friedman(x, roles) for roles in GRADUAL]
        stage = (t >= 600) + (t >= 1200)
        start = (None, 600, 1200)[stage]
        if stage and t < start + 400 and not math.isclose(target, values[stage]):
            assert math.isclose(target, values[stage - 1])
            old["first" if stage == 1 else "second"] += 1
        else:
            assert math.isclose(target, values[stage])
    assert 140 < old["first"] < 260
    assert 140 < old["second"] < 260


def test_nobody_forecasts_gradual_drift_better_than_its_floor():
    # rows of two functions come mixed: what knows both, and when, has their mean for a forecast
    n = 20_000
    X, y = make_friedman_drift(n, drift="gradual", random_state=0)
    noiseless = make_friedman_drift(n, drift="gradual", noise=0.0, random_state=0)[1]
    first, second, third = (
        10 * np.sin(np.pi * X[:, a] * X[:, b])
        + 20 * (X[:, c] - 0.5) ** 2
        + 10 * X[:, d]
        + 5 * X[:, e]
        for a, b, c, d, e in GRADUAL
    )
    share = np.arange(n) / n
    best = np.select(
        [share < 0.5, share < 0.6, share < 0.75, share < 0.85],
        [first, (first + second) / 2, second, (second + third) / 2],
        third,
    )
    floor = np.sqrt(np.mean((y - best) ** 2))
    law = 1.0 + 0.1 * (22.56 + 27.34) / 4  # mean squares of the differences, of 4 million rows
    assert_allclose(floor, np.sqrt(law), rtol=0.03)
    mixed = (share >= 0.5) & (share < 0.6)
    assert_allclose(noiseless[~mixed & (share < 0.75)], best[~mixed & (share < 0.75)])


def test_corners_grow_and_the_rest_stays():
    X, y = make_friedman_drift(8000, drift="local", noise=0.0, random_state=2)
    changed = [0] * 4
    for t, (x, target) in enumerate(zip(X, y, strict=True)):
        stage = t // 2000
        if in_corner(x, stage, 1):
            expected = 10 * x[0] * x[1] + 20 * (x[2] - 0.5) + 10 * x[3] + 5 * x[4]
        elif in_corner(x, stage, -1):
            expected = 10 * math.cos(x[0] * x[1]) + 20 * (x[2] - 0.5) + math.exp(x[3])
            expected += 5 * x[4] ** 2
        else:
            expected = friedman(x, FIRST)
        changed[stage] += expected != friedman(x, FIRST)
        assert math.isclose(target, expected)
    assert changed[0] == 0
    assert 0 < changed[1] < changed[2] < changed[3]


@pytest.mark.parametrize("at", [(0.5,), (0.7, 0.6), (0.1, 0.2, 0.3), (-0.1, 0.5), (0.5, 1.1)])
def test_changes_out_of_order_are_refused(at):
    with pytest.raises(ValueError, match="rising fractions"):
        make_friedman_drift(100, drift_at=at)


@pytest.mark.parametrize("turns", [0.0, 0.5, 3.0])
def test_a_hyperplane_turns_at_a_constant_speed(turns):
    X, y, path = make_rotating_hyperplane(
        1000, turns=turns, noise=0.0, random_state=3, return_path=True
    )
    assert_allclose(y, (X * path).sum(axis=1))
    assert_allclose(np.linalg.norm(path, axis=1), 1.0)
    assert_allclose(path_length(path), 2 * np.pi * turns * 0.999, rtol=1e-4, atol=1e-9)
    assert np.linalg.matrix_rank(path, tol=1e-9) <= 2


@pytest.mark.parametrize("exponent", [0.3, 0.6, 1.0])
def test_a_path_is_as_rough_as_its_exponent_says(exponent):
    _, _, path = make_holder_path(
        2**14, exponent=exponent, n_features=8, random_state=4, return_path=True
    )
    lags = 2 ** np.arange(2, 9)
    moves = [np.sqrt(np.square(path[lag:] - path[:-lag]).mean()) for lag in lags]
    slope = np.polyfit(np.log(lags), np.log(moves), 1)[0]
    assert abs(slope - exponent) < 0.15


@pytest.mark.parametrize("seed", [0, 1])
def test_functions_switch_and_recur(seed):
    X, y = make_switching_functions(
        900, n_functions=2, n_switches=2, noise=0.0, random_state=seed, n_features=1
    )
    order = np.argsort(X[:, 0])
    thirds = [order[order // 300 == k] for k in range(3)]
    grid = np.linspace(-0.9, 0.9, 50)
    first, second, third = (np.interp(grid, X[rows, 0], y[rows]) for rows in thirds)
    assert np.abs(first - third).max() < 0.1
    assert np.abs(first - second).max() > 0.3


@pytest.mark.parametrize(
    "make",
    [make_friedman_drift, make_rotating_hyperplane, make_holder_path, make_switching_functions],
)
def test_seeds_make_streams(make):
    (X, y), (again, _), (other, _) = (make(60, random_state=seed) for seed in (0, 0, 1))
    assert_array_equal(X, again)
    assert np.isfinite(y).all()
    assert len(X) == len(y) == 60
    assert (other != X).any()
