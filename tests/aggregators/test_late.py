"""Targets that come late: every rule forecasts by what was known then, and learns from that."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.base import clone

from sklearn_okl import BOARegressor, MultiKernelRegressor, StackedBOARegressor, StreamingPipeline
from sklearn_okl.aggregators import (
    AARegressor,
    EWARegressor,
    FixedShareRegressor,
    MLPolyRegressor,
    MLProdRegressor,
)
from sklearn_okl.base import ConvexAggregator
from sklearn_okl.evaluation import prequential
from tests.instances import label
from tests.oracles.aggregation import aggregating, boa, ewa, fixed_share, ml_poly, ml_prod
from tests.oracles.default import mixture


class LeaderRegressor(ConvexAggregator):
    """An outsider's rule, which knows nothing of delays."""

    def _start_rule(self, log_prior):
        return {"sums": np.zeros(len(log_prior))}

    def _log_weights(self, state):
        return np.where(state["sums"] == state["sums"].max(), 0.0, -1e3)

    def _update(self, state, regrets, y):
        state["sums"] = state["sums"] + regrets

    def __init__(self, *, fallback=None, label_delay=0):
        super().__init__(fallback=fallback, label_delay=label_delay)


RULES = [
    AARegressor(),
    AARegressor(0.5, y_range=(-3, 3)),
    BOARegressor(),
    BOARegressor(gradient_trick=False, loss="absolute_error"),
    EWARegressor(),
    EWARegressor(gradient_trick=True),
    EWARegressor("decreasing", prior_weights=[1, 2, 3, 4]),
    FixedShareRegressor(),
    FixedShareRegressor(gradient_trick=True),
    LeaderRegressor(),
    MLPolyRegressor(),
    MLProdRegressor(),
    StackedBOARegressor(),
    StackedBOARegressor(n_direct=1, fadings=(0.9,)),
    StackedBOARegressor(fadings=(), stacks=((1.0, 1.0),)),
]


def stream(seed, n=120, sleepy=False):
    rng = np.random.default_rng(seed)
    y = np.sin(np.arange(n) / 9.0) + 5.0
    F = y[:, None] + rng.normal(size=(n, 4)) * [0.1, 0.3, 1.0, 0.3]
    if sleepy:
        F[rng.uniform(size=F.shape) < 0.3] = np.nan
        F[[0, 40, 41, 60, 100]] = np.nan  # nobody is awake
        F[70:80] = np.nan
    return F, y


def slow_errors(seed, n, n_experts=10):
    """Return experts whose errors are AR(.95) each, of all qualities, about a daily course."""
    rng = np.random.default_rng(seed)
    y = 10.0 * np.sin(2 * np.pi * np.arange(n) / 24) + rng.normal(size=n)
    errors = rng.normal(size=(n, n_experts)) * np.sqrt(1 - 0.95**2)
    errors[0] /= np.sqrt(1 - 0.95**2)
    for t in range(1, n):
        errors[t] += 0.95 * errors[t - 1]
    return y[:, None] + errors * rng.uniform(1.0, 3.0, n_experts), y


def queue(model, F, y, delay):
    """Return what `predict` forecasts each row where every target comes so many rounds late."""
    forecasts = np.full(len(y), np.nan)
    for t in range(delay + 1, len(y)):
        row = slice(t - 1 - delay, t - delay)
        forecasts[t] = model.partial_fit(F[row], y[row]).predict(F[t : t + 1])[0]
    return forecasts


@pytest.mark.long(every=4)
@pytest.mark.parametrize(("delay", "sleepy"), [(1, True), (7, False), (23, True)])
@pytest.mark.parametrize("rule", RULES, ids=label)
def test_forecasts_are_those_of_a_queue(rule, delay, sleepy):
    F, y = stream(delay, sleepy=sleepy)
    model = clone(rule).set_params(label_delay=delay, fallback=5.0 if sleepy else None)
    expected = queue(clone(model), F, y, delay)
    whole, cut = clone(model), clone(model)
    ends = [0, 1, 2, 12, 13, 40, 41, 75, 118, len(y)]
    parts = [cut.prequential_predict(F[a:b], y[a:b]) for a, b in pairwise(ends)]
    for forecasts in (whole.prequential_predict(F, y), np.concatenate(parts)):
        assert_allclose(forecasts[delay + 1 :], expected[delay + 1 :], rtol=1e-12, atol=1e-12)
    assert_allclose(cut.predict(F), whole.predict(F), rtol=1e-12, atol=1e-12)
    assert_allclose(cut.weights_, whole.weights_, rtol=1e-12, atol=1e-12)
    result = prequential(model, F, y)
    assert_allclose(result.forecasts[delay + 1 :], expected[delay + 1 :], rtol=1e-12, atol=1e-12)
    assert np.isnan(result.forecasts[: delay + 1]).all()


@pytest.mark.parametrize(
    ("rule", "oracle"),
    [
        (BOARegressor(), boa),
        (MLPolyRegressor(), ml_poly),
        (MLProdRegressor(), ml_prod),
    ],
)
@pytest.mark.parametrize("gradient", [False, True])
def test_regrets_are_those_of_the_forecasts_that_were_made(rule, oracle, gradient):
    F, y = stream(3)
    model = clone(rule).set_params(label_delay=9, gradient_trick=gradient)
    expected, weights = oracle(F, y, gradient=gradient, late=9)
    assert_allclose(model.prequential_predict(F, y), expected, rtol=1e-10)
    assert_allclose(model.weights_, weights, atol=1e-10)


@pytest.mark.parametrize(
    ("rule", "oracle"),
    [
        (AARegressor(y_range=(3, 7)), lambda F, y: aggregating(F, y, y_range=(3, 7))),
        (EWARegressor(y_range=(3, 7)), lambda F, y: ewa(F, y, y_range=(3, 7))[0]),
        (
            FixedShareRegressor(y_range=(3, 7)),
            lambda F, y: fixed_share(F, y, y_range=(3, 7))[0],
        ),
    ],
)
def test_losses_of_experts_do_not_depend_on_forecasts(rule, oracle):
    F, y = stream(4, n=60)
    forecasts = clone(rule).set_params(label_delay=5).prequential_predict(F, y)
    for t in range(6, 60):
        known = slice(0, t - 5)
        expected = oracle(np.vstack([F[known], F[t]]), np.append(y[known], 5.0))[-1]
        assert_allclose(forecasts[t], expected, rtol=1e-10)


@pytest.mark.parametrize("n_direct", [0, 1])
def test_a_stack_by_definition(n_direct):
    F, y = slow_errors(5, n=160, n_experts=4)
    delay, (fadings, stacks) = 9, ((0.95, 0.99), ((4.0, 0.998), (0.4, 0.99)))
    G, u = F - y[0], y - y[0]
    scales = np.array([u[: max(t - delay, 1)].std() for t in range(len(y))])
    scales[scales == 0.0] = 1.0
    expected = mixture(G, u, scales, fadings, stacks, n_direct, delay) + y[0]
    model = StackedBOARegressor(
        fadings=fadings, stacks=stacks, n_direct=n_direct, label_delay=delay
    )
    forecasts = model.prequential_predict(F, y)
    assert_allclose(forecasts[delay + 1 :], expected[delay + 1 :], rtol=1e-8)
    assert_allclose(forecasts[: delay + 1], F[: delay + 1].mean(axis=1))


def asked_daily(model, F, y, first=24 * 20):
    """Return the mean squared error of days that are each forecast at midnight."""
    losses = []
    for low in range(0, len(y), 24):
        day = slice(low, low + 24)
        if low >= first:
            losses.append(np.square(model.predict(F[day]) - y[day]))
        model.partial_fit(F[day], y[day])
    return np.mean(losses)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_asked_at_midnight_a_stack_is_no_worse_than_the_best_expert_and_the_mean(seed):
    F, y = slow_errors(seed, n=24 * 120)
    known = slice(24 * 20, None)
    best = np.square(F[known] - y[known, None]).mean(axis=0).min()
    mean = np.square(F[known].mean(axis=1) - y[known]).mean()
    late = asked_daily(StackedBOARegressor(label_delay=23), F, y)
    assert late <= min(best, mean)
    assert late < asked_daily(StackedBOARegressor(), F, y)


def test_a_pipeline_hands_the_delay_on():
    F, y = stream(6)
    pipeline = StreamingPipeline([("mix", BOARegressor(label_delay=5))])
    alone = BOARegressor(label_delay=5).prequential_predict(F, y)
    assert_allclose(pipeline.prequential_predict(F, y)[6:], alone[6:])


def test_a_delay_cannot_change_and_is_refused_where_the_experts_are_not_late():
    F, y = stream(7)
    for rule in (BOARegressor(), StackedBOARegressor()):
        with pytest.raises(ValueError, match="label_delay"):
            clone(rule).set_params(label_delay=-1).fit(F, y)
        with pytest.raises(ValueError, match=r"label_delay.*cannot change"):
            clone(rule).fit(F, y).set_params(label_delay=2).partial_fit(F, y)
        model = MultiKernelRegressor([1.0], aggregator=clone(rule).set_params(label_delay=2))
        with pytest.raises(ValueError, match=r"prequential\(delay=2\)"):
            model.fit(F, y)
