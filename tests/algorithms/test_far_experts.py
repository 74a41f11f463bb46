"""Experts that are far off: a mixture gets over it at first, and hears them as they are later."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import BaseEstimator, RegressorMixin, clone

from sklearn_okl import (
    BOARegressor,
    ExpertsRegressor,
    MLPolyRegressor,
    SquintRegressor,
    VAWRegressor,
    load,
    save,
)
from sklearn_okl.algorithms import _fence
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


@pytest.mark.long(every=4)
@pytest.mark.parametrize("delay", [1, 5, 24, 60])
@pytest.mark.parametrize("rule", [BOARegressor, MLPolyRegressor, SquintRegressor])
def test_late_targets_make_the_first_rounds_more(rule, delay):
    F, y = stream(0, errors=(0.3, 0.36, 0.45, 0.3))
    F[: delay + 1] = 0.0  # what those say who are asked before they know a target
    F[delay + 1 : delay + 20, 3] += 1e3
    aggregator = rule(label_delay=delay)
    alone = mean_loss(clone(aggregator), F, y, 1000)
    assert mean_loss(mixture(F, aggregator, label_delay=delay), F, y, 1000) < 0.96 * alone


@pytest.mark.parametrize("far", [30.0, 1e6])
def test_so_is_all_being_far_off_at_first(far):
    F, y = stream(1)
    calm = mean_loss(mixture(F), F, y, 200)
    F[:20] += far * np.arange(1, 5)
    assert mean_loss(mixture(F), F, y, 200) < 1.02 * calm


def with_far(name):
    F, y = stream(2, n=400, errors=(0.1, 0.36, 0.45, 0.3))
    is_rare = np.arange(400) % 50 == 49
    if name == "for ever":
        F[:, 3] += 60.0
    elif name == "in the end":
        F[:35, 3] += 60.0
    elif name == "in a burst":
        F[200:220, 3] += 50.0
    elif name == "to either side":
        F[:, 0] += 10.0
        F[:, 1] -= 10.0
    elif name == "rare events":
        F[is_rare, 1] += 30.0
        y[is_rare] += 30.0
    elif name == "late":
        F[:100, 3] = np.nan
        F[100:120, 3] += 50.0
    return F, y


@pytest.mark.parametrize("delay", [0, 5])
@pytest.mark.parametrize(
    "name",
    ["nowhere", "for ever", "in the end", "in a burst", "to either side", "late", "rare events"],
)
def test_whoever_is_so_later_is_heard_as_it_is(name, delay):
    F, y = with_far(name)
    F[: delay + (delay > 0)] = 0.0
    expected = aggregation.boa(F, y, late=delay)[0]
    model = mixture(F, label_delay=delay)
    assert_allclose(model.prequential_predict(F, y), expected, rtol=1e-9, atol=1e-12)


def wild(seed, n=120):
    """Return forecasts that are anything, NaN too, of targets that leave their range."""
    rng = np.random.default_rng(seed)
    F, y = stream(seed, n)
    y += np.where(rng.random(n) < 0.1, 8.0, 0.0)
    F += np.where(rng.random(F.shape) < 0.1, rng.normal(size=F.shape) * 20.0, 0.0)
    F[rng.random(F.shape) < 0.1] = np.nan
    F[20, 3] = 50.0
    F[24:40, 2:] = y[24:40, None] + rng.normal(size=(16, 2))  # two are near in the end
    return F, y


@pytest.mark.long(every=4)
@pytest.mark.parametrize("delay", [0, 1, 7])
@pytest.mark.parametrize("seed", range(4))
def test_equals_the_literal_loop(seed, delay):
    F, y = wild(seed)
    F[: delay + (delay > 0)] = 0.0  # what those say who are asked before they know a target
    heard = aggregation.forgiven(F, y, delay)
    assert np.nansum(heard != F) > np.isnan(F).sum()
    is_heard = ~np.isnan(F).all(axis=1)
    raw, near = np.where(is_heard, [F.T, heard.T], y.mean()).transpose(0, 2, 1)
    n_asked = 32 + 2 * delay  # before the first rounds were judged
    first = aggregation.boa(raw, y, late=delay)[0][:n_asked]
    expected = np.r_[first, aggregation.boa(near, y, late=delay)[0][n_asked:]]
    for ends in ([0, 120], [0, 10, 31, 32, 34, 50, 120]):
        model = mixture(F, label_delay=delay)
        parts = [model.prequential_predict(F[a:b], y[a:b]) for a, b in pairwise(ends)]
        assert_allclose(np.concatenate(parts)[is_heard], expected[is_heard], rtol=1e-9)
        assert_allclose(model.expert_losses_, np.nansum((F - y[:, None]) ** 2, axis=0), rtol=1e-12)
        model = clone(model)
        asked = []  # as they are in use: each target a few rows late
        for t in range(40 + delay, 100):
            known = slice(None if t == 40 + delay else t - 1 - delay, t - delay)
            asked.append(model.partial_fit(F[known], y[known]).predict(F[t : t + 1])[0])
        told = slice(40 + delay, 100)
        assert_allclose(asked, np.concatenate(parts)[told], rtol=1e-9)


@pytest.mark.long(every=50)
@pytest.mark.parametrize("delay", [0, 1, 5, 40])
@pytest.mark.parametrize("has_fault", [False, True])
def test_any_cut_is_the_same(has_fault, delay):
    F, y = wild(5, n=160)
    F[20:30, 3] = 500.0
    if has_fault:
        y[[7, 33]] = 1e9
    whole = mixture(F, label_delay=delay)
    forecasts, laws = whole.prequential_predict(F, y), clone(whole).prequential_quantiles(F, y)
    for seed in range(6):
        cuts = np.random.default_rng(seed).integers(1, 160, size=12)
        ends = range(161) if seed == 0 else [0, *sorted({*cuts.tolist()}), 160]
        model = mixture(F, label_delay=delay)
        parts = [model.prequential_predict(F[a:b], y[a:b]) for a, b in pairwise(ends)]
        assert_allclose(np.concatenate(parts), forecasts, rtol=1e-13, atol=1e-13)
        assert_allclose(model.predict(F), whole.predict(F), rtol=1e-13, atol=1e-13)
        model = mixture(F, label_delay=delay)
        parts = [model.prequential_quantiles(F[a:b], y[a:b]) for a, b in pairwise(ends)]
        assert_allclose(np.concatenate(parts), laws, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("delay", [0, 3])
def test_a_fault_among_the_targets_hides_no_expert_that_was_far_off(delay):
    F, y = stream(0, errors=(0.3, 0.36, 0.45, 0.3))
    calm = mean_loss(mixture(F, label_delay=delay), F, y, 1000)
    F[delay + 1 : 20, 3] += 1e3
    y[[7, 32]] = 1e9
    assert mean_loss(mixture(F, label_delay=delay), F, y, 1000) < 1.1 * calm


def test_who_may_scale_forecasts_gets_them_as_they_are():
    F, y = stream(6, n=200)
    F[:20, 3] += 30.0
    model = mixture(F, VAWRegressor(1e-6))
    expected = VAWRegressor(1e-6).prequential_predict(F, y)
    assert_allclose(model.prequential_predict(F, y), expected, rtol=1e-8)


def test_targets_that_are_all_the_same_forgive_nobody():
    F, y = np.tile([5.0, 5.0, 9.0], (40, 1)), np.full(40, 5.0)
    F[:10, 1] = 50.0
    expected = aggregation.boa(F, y)[0]
    assert_allclose(mixture(F).prequential_predict(F, y), expected, rtol=1e-9)


def test_few_rounds_are_not_judged():
    F, y = (part[:31] for part in wild(2))
    F[np.isnan(F)] = 0.0
    model = mixture(F).fit(F, y)
    assert_allclose(model.weights_, aggregation.boa(F, y)[1], rtol=1e-9)


def test_where_all_say_the_same_nobody_is_far_off():
    F, y = stream(3, n=100)
    F, y = F + 1e3, y + 1e3
    F[0] = 0.0  # what anybody says who knows no target
    assert not _fence.were_far(F, y)
    F[1, 0] = 0.0
    assert _fence.were_far(F, y)


@pytest.mark.parametrize("n", [10, 33, 35, 37, 40])
def test_a_mixture_that_is_young_can_be_saved(n, tmp_path):
    F, y = wild(1)
    model = mixture(F, label_delay=2).fit(F[:n], y[:n])
    save(model, tmp_path / "model", trusted=[f"{__name__}.Column"])
    loaded = load(tmp_path / "model", trusted=[f"{__name__}.Column"])
    expected = model.prequential_predict(F[n:], y[n:])
    assert_array_equal(loaded.prequential_predict(F[n:], y[n:]), expected)
