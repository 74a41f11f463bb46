"""BOA whose rounds count little at most: by definition, and what huge errors cost."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import BOARegressor
from sklearn_okl.aggregators._bounded import BoundedBOA
from tests.oracles.aggregation import bounded_boa


def stream(seed, n=240, n_experts=4):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    F = y[:, None] + rng.normal(size=(n, n_experts)) * rng.uniform(0.1, 2.0, n_experts)
    F[rng.integers(n, size=6)] += 100.0
    return F, y


@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("weighted", [False, True])
def test_equals_the_literal_loop_whatever_the_cut(late, weighted):
    F, y = stream(late)
    F[50:90, 1] = np.nan  # asleep
    weights = np.random.default_rng(1).uniform(size=len(y)) if weighted else None
    model = BoundedBOA()
    state = model._start(F.shape[1], late=late)
    cuts = [0, 1, 2, 3, 40, 41, 120, len(y)]
    forecasts = np.concatenate(
        [
            model._learn(state, F[a:b], y[a:b], None if weights is None else weights[a:b])
            for a, b in pairwise(cuts)
        ]
    )
    assert_allclose(forecasts, bounded_boa(F, y, late, weights)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("size", [1e2, 1e6, 1e60])
def test_rounds_in_which_all_are_far_off_are_soon_forgotten(size):
    """In which the best one is the worst; BOA's own rates do not recover from them."""
    rng = np.random.default_rng(0)
    y = rng.normal(size=600)
    F = y[:, None] + rng.normal(size=(600, 3)) * [0.1, 1.0, 1.0]
    F[20:24] += size * rng.uniform(0.5, 1.0, size=(4, 3))
    F[20:24, 0] += size
    errors = BoundedBOA().prequential_predict(F, y) - y
    assert np.mean(errors[100:] ** 2) < 0.011
    if size < 1e10:
        errors = BOARegressor().prequential_predict(F, y) - y
        assert np.mean(errors[100:] ** 2) > 0.3


@pytest.mark.parametrize("factor", [2.0**-200, 2.0**200])
def test_units_do_not_matter(factor):
    F, y = stream(3)
    forecasts = BoundedBOA().prequential_predict(F, y)
    scaled = BoundedBOA().prequential_predict(factor * F, factor * y)
    assert_allclose(scaled / factor, forecasts, rtol=1e-9)


def test_one_expert_without_fault_is_found_at_once_and_equal_ones_do_no_harm():
    rng = np.random.default_rng(0)
    y = rng.normal(size=50)
    F = np.column_stack([y, y + 1.0, y - 2.0])
    assert BoundedBOA().fit(F, y).weights_[0] > 0.95
    same = np.repeat(y[:, None], 3, axis=1)
    assert_allclose(BoundedBOA().fit(same, y).weights_, 1 / 3)
