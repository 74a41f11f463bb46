"""Experts that are far off, at first or later: what a mixture hears of them, and gets over."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone

from sklearn_okl import BOARegressor, ExpertsRegressor, MLPolyRegressor, VAWRegressor, load, save
from sklearn_okl.algorithms import _limits
from tests.oracles import aggregation


class Column(RegressorMixin, BaseEstimator):
    """Forecast a column of the row."""

    def __init__(self, k=0):
        self.k = k

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def partial_fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, self.k].copy()

    def prequential_predict(self, X, y):
        return self.predict(X)


def mixture(F, *arguments, **named):
    experts = [(f"column{k}", Column(k)) for k in range(F.shape[1])]
    return ExpertsRegressor(experts, *arguments, **named)


def stream(seed, n=2000, errors=(0.3, 0.36, 0.45, 0.6)):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    return y[:, None] + rng.normal(size=(n, len(errors))) * errors, y


def mean_loss(model, F, y, after):
    return np.mean(np.square(model.prequential_predict(F, y) - y)[after:])


@pytest.mark.parametrize("aggregator", [None, MLPolyRegressor()], ids=str)
@pytest.mark.parametrize(("later", "most"), [(0.1, 2.0), (0.3, 1.1), (1.0, 1.06)])
@pytest.mark.parametrize("far", [30.0, 1e3, 1e6])
def test_an_expert_that_is_far_off_at_first_is_got_over(far, later, most, aggregator):
    F, y = stream(0, errors=(0.3, 0.36, 0.45, later))
    calm = mean_loss(mixture(F, aggregator), F, y, 1000)
    F[:20, 3] += far
    assert mean_loss(mixture(F, aggregator), F, y, 1000) < most * calm


@pytest.mark.parametrize("far", [30.0, 1e6])
def test_so_is_all_being_far_off_at_first(far):
    F, y = stream(1)
    calm = mean_loss(mixture(F), F, y, 200)
    F[:20] += far * np.arange(1, 5)
    assert mean_loss(mixture(F), F, y, 200) < 1.02 * calm


@pytest.mark.parametrize("loss", ["absolute_error", "pinball"])
def test_and_one_that_is_far_off_for_ever_or_in_another_unit(loss):
    F, y = stream(2, errors=(0.1, 0.36, 0.45, 0.3))
    best = mean_loss(mixture(F[:, :3], BOARegressor(loss=loss)), F[:, :3], y, 200)
    for wrong in (y + 60.0, y + 1e3, 1e3 * y):
        F[:, 3] = wrong
        assert mean_loss(mixture(F, BOARegressor(loss=loss)), F, y, 200) < 1.1 * best


def test_a_burst_costs_little_after_it():
    F, y = stream(3, errors=(0.1, 0.36, 0.45, 0.3))
    calm = mean_loss(mixture(F), F, y, 1000)
    F[1000:1020, 3] += 50.0
    assert mean_loss(mixture(F), F, y, 1000) < 1.5 * calm


def wild(seed, n=120):
    """Return forecasts that are anything, NaN too, of targets that leave their range."""
    rng = np.random.default_rng(seed)
    F, y = stream(seed, n)
    y += np.where(rng.random(n) < 0.1, 8.0, 0.0)
    F += np.where(rng.random(F.shape) < 0.1, rng.normal(size=F.shape) * 20.0, 0.0)
    F[rng.random(F.shape) < 0.1] = np.nan
    F[:, 2] = np.where(rng.random(n) < 0.3, y, F[:, 2])
    F[20, 3] = 25.0
    return F, y


@pytest.mark.parametrize("delay", [0, 1, 7])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_literal_loop(seed, delay):
    F, y = wild(seed)
    F[: delay + (delay > 0)] = 0.0  # what those say who are asked before they know a target
    heard = aggregation.believed(F, y, delay)
    assert np.nansum(heard != F) > 20
    heard[np.isnan(heard).all(axis=1)] = y.mean()
    expected = aggregation.boa(heard, y, late=delay)[0]
    for ends in ([0, 120], [0, 10, 31, 32, 34, 50, 120]):
        model = mixture(F, label_delay=delay)
        parts = [model.prequential_predict(F[a:b], y[a:b]) for a, b in pairwise(ends)]
        late = slice(32 + delay, None)
        is_heard = ~np.isnan(F).all(axis=1)[late]
        assert_allclose(np.concatenate(parts)[late][is_heard], expected[late][is_heard], rtol=1e-9)
        model = clone(model)
        asked = []  # as they are in use: each target a few rows late
        for t in range(60 + delay, 100):
            known = slice(None if t == 60 + delay else t - 1 - delay, t - delay)
            asked.append(model.partial_fit(F[known], y[known]).predict(F[t : t + 1])[0])
        told = slice(60 + delay, 100)
        assert_allclose(asked, np.concatenate(parts)[told], rtol=1e-9)


def test_who_is_within_the_range_is_heard_as_it_is():
    F, y = stream(4)
    assert_allclose(mixture(F).prequential_predict(F, y), aggregation.boa(F, y)[0], rtol=1e-9)


@pytest.mark.parametrize("knowing", [[0], [1, 2, 3]])
def test_who_knows_why_is_believed(knowing):
    F, y = stream(5, errors=(0.1, 0.36, 0.45, 0.3))
    jump = np.where(np.arange(2000) % 100 == 99, 30.0, 0.0)
    F[:, knowing] += jump[:, None]
    y += jump
    assert_allclose(mixture(F).prequential_predict(F, y), aggregation.boa(F, y)[0], rtol=1e-9)


def test_who_may_scale_forecasts_gets_them_as_they_are():
    F, y = stream(6, n=200)
    F[:, 3] = 20.0 * y
    model = mixture(F, VAWRegressor(1e-6))
    expected = VAWRegressor(1e-6).prequential_predict(F, y)
    assert_allclose(model.prequential_predict(F, y), expected, rtol=1e-8)


@pytest.mark.parametrize("growth", [1.1, 2.5, 5.0])
def test_what_right_forecasts_lose_is_within_its_bound(growth):
    n = 30
    y = growth ** np.arange(n) * (-1.0) ** np.arange(n)
    F = np.column_stack([y, np.zeros((n, 2))])
    state = _limits.start(3, 0, (-1.0, 1.0))
    known, _, _ = _limits.learn(state, np.zeros(3), F, y)
    losses = np.tile([1.0, 0.0, 0.0], (n, 1))  # another one leads
    lost = np.square(_limits.believed(F, known, losses)[:, 0] - y)
    for t in range(n):
        width = np.ptp(np.r_[-1.0, 1.0, y[: t + 1]])
        assert lost[: t + 1].sum() <= 4.0 / 3.0 * width**2
    if growth == 5.0:
        assert lost.sum() > 0.2 * width**2  # it bites


def test_targets_that_are_all_the_same_limit_nobody():
    F, y = np.tile([5.0, 5.0, 9.0], (40, 1)), np.full(40, 5.0)
    heard = _limits.believed(F, np.tile([5.0, 5.0], (40, 1)), np.zeros((40, 3)))
    assert_array_equal(heard, F)
    assert abs(mixture(F).prequential_predict(F, y)[-1] - 5.0) < 0.1


@pytest.mark.parametrize("n", [10, 40])
def test_a_mixture_that_is_young_can_be_saved(n, tmp_path):
    F, y = wild(1)
    model = mixture(F, label_delay=2).fit(F[:n], y[:n])
    save(model, tmp_path / "model", trusted=[f"{__name__}.Column"])
    loaded = load(tmp_path / "model", trusted=[f"{__name__}.Column"])
    expected = model.prequential_predict(F[n:], y[n:])
    assert_array_equal(loaded.prequential_predict(F[n:], y[n:]), expected)
