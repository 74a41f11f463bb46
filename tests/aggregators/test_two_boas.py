"""Two BOAs at once, one of bounded rounds: by definition, and what huge errors cost."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl.aggregators import _boas, _two_boas
from tests.oracles.aggregation import boa, two_boas


def stream(seed, n=240, n_experts=4):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    F = y[:, None] + rng.normal(size=(n, n_experts)) * rng.uniform(0.1, 2.0, n_experts)
    F[rng.integers(n, size=6)] += 100.0
    return F, y


def learnt(F, y, weights=None, late=0, cuts=None):
    state = _two_boas.start(1, F.shape[1], late)
    cuts = [0, len(y)] if cuts is None else cuts
    parts = [slice(*ends) for ends in pairwise(cuts)]
    of_rows = [None if weights is None else weights[rows] for rows in parts]
    with np.errstate(over="ignore"):
        forecasts = [
            _two_boas.learn(state, F[rows, None], y[rows, None], w)[:, 0]
            for rows, w in zip(parts, of_rows, strict=True)
        ]
    return state, np.concatenate(forecasts)


@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_literal_loop_whatever_the_cut(late, weighted):
    F, y = stream(late)
    F[50:90, 1] = np.nan  # asleep
    weights = np.random.default_rng(1).uniform(size=len(y)) if weighted else np.ones(len(y))
    weights[::7] = 0.0 if weighted else 1.0
    expected = two_boas(F, y, late, weights)
    for cuts in ([0, len(y)], [0, 1, 2, 3, 40, 41, 120, len(y)]):
        _, forecasts = learnt(F, y, weights if weighted else None, late, cuts)
        assert_allclose(forecasts, expected, rtol=1e-9, atol=1e-12)


def test_a_forecast_is_what_learning_would_have_made():
    F, y = stream(5)
    F[1::3, 2] = np.nan
    for late in (0, 3):
        state, _ = learnt(F[:100], y[:100], late=late)
        of_round = F[100:101, None], y[100:101, None]
        asked = _two_boas.forecast(state, of_round[0], late)
        assert_allclose(asked, _two_boas.learn(state, *of_round, None), rtol=1e-12)
        weights = _two_boas.weights(state)
        assert_allclose(weights.sum(axis=1), [1.0])
    state, _ = learnt(F[:100], y[:100])
    full = np.nan_to_num(F[101:102])
    asked = _two_boas.forecast(state, full[:, None], 0)
    assert_allclose(full @ _two_boas.weights(state)[0], asked[:, 0])


@pytest.mark.parametrize("late", [0, 3])
def test_several_targets_are_each_as_if_alone(late):
    """Also one that is forgotten in between."""
    F, y = (np.stack(parts, axis=1) for parts in zip(*map(stream, range(3)), strict=True))
    F[50:90, 1, 2] = np.nan
    state, parts = _two_boas.start(3, 4, late), []
    for rows in (slice(0, 100), slice(100, 101), slice(101, 240)):
        parts.append(_two_boas.learn(state, F[rows], y[rows], None))
        if rows.start == 100:
            _boas.put(state, 0, _two_boas.start(1, 4, late))
    forecasts = np.concatenate(parts)
    for j in (1, 2):
        assert_allclose(forecasts[:, j], learnt(F[:, j], y[:, j], late=late)[1], rtol=1e-9)
    anew = learnt(F[101:, 0], y[101:, 0], late=late)[1]
    assert_allclose(forecasts[101:, 0], anew, rtol=1e-9)


@pytest.mark.parametrize("size", [1e2, 1e6, 1e60])
def test_rounds_in_which_all_are_far_off_are_soon_forgotten(size):
    """In which the best one is the worst; BOA's own rates do not recover from them."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=600)
    F = y[:, None] + rng.normal(size=(600, 3)) * [0.1, 1.0, 1.0]
    F[20:24] += size * rng.uniform(0.5, 1.0, size=(4, 3))
    F[20:24, 0] += size
    errors = learnt(F, y)[1] - y
    assert np.mean(errors[100:] ** 2) < 0.011
    if size < 1e10:
        assert np.mean((boa(F, y)[0] - y)[100:] ** 2) > 0.3


@pytest.mark.parametrize("factor", [2.0**-200, 2.0**200])
def test_units_do_not_matter(factor):
    F, y = stream(3)
    forecasts = learnt(F, y)[1]
    assert_allclose(learnt(factor * F, factor * y)[1] / factor, forecasts, rtol=1e-9)


def test_units_of_weights_do_not_matter():
    """To neither of the two; to the likelihoods a row of weight 2 is two rows."""
    F, y = stream(4)
    weights = np.random.default_rng(0).uniform(size=len(y))
    expected = _boas.weights(learnt(F, y, weights)[0])
    for factor in (2.0**-20, 2.0**20):  # the bounds of BOA are powers of two
        state, _ = learnt(F, y, factor * weights)
        assert_allclose(_boas.weights(state), expected, rtol=1e-6)


def test_one_expert_without_fault_is_found_at_once_and_equal_ones_do_no_harm():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    F = np.column_stack([y, y + 1.0, y - 2.0])
    assert _two_boas.weights(learnt(F, y)[0])[0, 0] > 0.8
    same = np.repeat(y[:, None], 3, axis=1)
    assert_allclose(_two_boas.weights(learnt(same, y)[0]), 1 / 3)
