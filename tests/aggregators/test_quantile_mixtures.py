"""Quantiles mixed level by level: equal to the loop, no worse than experts, in order."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl.aggregators import QuantileMixture
from sklearn_okl.evaluation import crps_from_quantiles
from tests.oracles import aggregation

ALPHA = (0.1, 0.3, 0.5, 0.7, 0.9)
Z = np.array([-1.2816, -0.5244, 0.0, 0.5244, 1.2816])


def stream(n=300, seed=0):
    """One expert knows the low tail, one the high one, one shifts everything."""
    rng = np.random.default_rng(seed)
    y, level = rng.normal(size=n), rng.normal(size=(n, 1)) * 0.1
    low, high = np.where(Z < 0, Z, 3.0 * Z), np.where(Z > 0, Z, 3.0 * Z)
    return np.stack([low + level, high - level, Z + 1.0 + level], axis=1), y


@pytest.mark.parametrize("rule", ["boa", "ewa", "ml-poly"])
@pytest.mark.parametrize("smoothing", [0, 2])
def test_equal_to_the_loop_however_rounds_are_cut(rule, smoothing):
    Q, y = stream(40)
    mixture = QuantileMixture(ALPHA, rule, smoothing)
    state = mixture.start(3)
    found = [mixture.learn(state, Q[rows], y[rows]) for rows in (slice(0, 1), slice(1, 40))]
    ewa = partial(aggregation.ewa, gradient=True)
    loop = {"boa": aggregation.boa, "ewa": ewa, "ml-poly": aggregation.ml_poly}[rule]
    expected = aggregation.quantile_mixture(Q, y, ALPHA, loop, smoothing)
    assert_allclose(np.concatenate(found), expected, atol=1e-9)
    assert_allclose(mixture.weights(state).sum(axis=1), 1.0)


@pytest.mark.parametrize("rule", ["boa", "ewa", "ml-poly"])
def test_better_than_every_expert_where_each_knows_a_part(rule):
    Q, y = stream(1500)
    mixture = QuantileMixture(ALPHA, rule)
    state = mixture.start(3)
    issued = mixture.learn(state, Q, y)
    scores = [crps_from_quantiles(y, Q[:, k], np.array(ALPHA)) for k in range(3)]
    assert crps_from_quantiles(y, issued, np.array(ALPHA)) < 0.97 * min(scores)
    assert (np.diff(issued, axis=1) >= 0.0).all()
    if rule != "ewa":  # whose rates are slow
        assert mixture.weights(state)[0, 0] > 0.7
        assert mixture.weights(state)[-1, 1] > 0.7
    forecast = mixture.forecast(state, Q[:5])
    weights = mixture.weights(state)
    assert_allclose(forecast, np.sort(np.einsum("jk,nkj->nj", weights, Q[:5]), axis=1))


def test_pinball_regret_at_each_level():
    Q, y = stream(600, seed=1)
    issued = QuantileMixture(ALPHA).learn(QuantileMixture(ALPHA).start(3), Q, y)
    for j, level in enumerate(ALPHA):
        beyond = [y - part for part in (issued[:, j], *Q[:, :, j].T)]
        losses = [np.maximum(level * one, (level - 1.0) * one) for one in beyond]
        spread = np.abs(issued[:, j, None] - Q[:, :, j]).max(axis=0)
        bound = 2.0 * np.sqrt(np.log(3) * len(y)) * spread + 4.0 * np.log(3) * spread
        assert (losses[0].sum() - np.sum(losses[1:], axis=1) <= bound).all()


def test_sleepers_and_what_is_refused():
    Q, y = stream(50)
    Q[::3, 0] = np.nan
    mixture = QuantileMixture(ALPHA, smoothing=1)
    state = mixture.start(3)
    assert np.isfinite(mixture.learn(state, Q, y)).all()
    for bad in (Q[:, :, :2], np.full_like(Q, np.nan), np.full_like(Q, np.inf)):
        with pytest.raises(ValueError, match="quantiles"):
            mixture.learn(state, bad, y)
    with pytest.raises(ValueError, match="y has shape"):
        mixture.learn(state, Q, y[:-1])
    for arguments, words in (
        (((0.5, 0.1),), "alpha"),
        (((0.0, 0.5),), "alpha"),
        ((ALPHA, "mean"), "rule"),
        ((ALPHA, "boa", -1), "smoothing"),
    ):
        with pytest.raises(ValueError, match=words):
            QuantileMixture(*arguments)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", ["boa", "ewa", "ml-poly"])
@pytest.mark.parametrize("unit", [1e-30, 1e8, 1e20])
def test_targets_of_any_size_are_learnt_without_a_warning(rule, unit):
    Q, y = stream(60)
    mixture = QuantileMixture(ALPHA, rule)
    assert np.isfinite(mixture.learn(mixture.start(3), unit * Q, unit * y)).all()
