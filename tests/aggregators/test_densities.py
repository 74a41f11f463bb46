"""Rules on the log score: equal to their loops, within their theorems; who sleeps, refusals."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.aggregators import DensityGradient, DensityNewton, SoftBayes
from tests.oracles import aggregation

LOOPS = {
    SoftBayes(0.2): lambda P: aggregation.soft_bayes(P, 0.2),
    SoftBayes(1.0): lambda P: aggregation.soft_bayes(P, 1.0),
    DensityGradient(0.03, 0.1): lambda P: aggregation.density_gradient(P, 0.03, 0.1),
    DensityNewton(0.1, 2.0): lambda P: aggregation.density_newton(P, 0.1, 2.0),
}


def densities(kind, n=400, K=3, seed=0):
    """Of Gaussians beside the targets; of one that is best by turns; of any, far apart."""
    rng = np.random.default_rng(seed)
    if kind == "gaussian":
        z = (rng.normal(size=(n, 1)) - [0.0, 1.0, -1.0]) / [1.0, 0.5, 3.0]
        return np.exp(-0.5 * z**2) / [1.0, 0.5, 3.0]
    if kind == "turns":
        return np.where(np.arange(n)[:, None] % K == np.arange(K), 1.0, 0.1)
    return np.exp(rng.normal(size=(n, K)) * 5.0)


@pytest.mark.parametrize("rule", LOOPS, ids=repr)
@pytest.mark.parametrize("kind", ["gaussian", "turns", "wild"])
def test_equal_to_the_loops_however_rounds_are_cut(rule, kind):
    P = densities(kind)
    expected, weights = LOOPS[rule](P)
    state = rule.start(3)
    found = [
        rule.learn(state, np.log(P[rows])) for rows in (slice(0, 1), slice(1, 70), slice(70, 400))
    ]
    assert_allclose(np.concatenate(found), np.log(expected), atol=1e-9)
    assert_allclose(rule.weights(state), weights, atol=1e-9)


@pytest.mark.parametrize("eta", [0.05, 0.5, 1.0])
@pytest.mark.parametrize("kind", ["gaussian", "turns", "wild"])
def test_regret_of_soft_bayes_against_every_expert(kind, eta):
    P = densities(kind)
    mixed = SoftBayes(eta).learn(SoftBayes(eta).start(3), np.log(P))
    assert (np.log(P).sum(axis=0) - mixed.sum() <= np.log(3) / eta + 1e-9).all()


def best_mixture(P):
    """Return the logarithm of the likelihood of the best of some fixed mixtures of three."""
    grid = np.linspace(0.0, 1.0, 21)
    mixtures = [(a, b, max(1.0 - a - b, 0.0)) for a in grid for b in grid if a + b <= 1.0 + 1e-9]
    return max(np.log(P @ np.array(a)).sum() for a in mixtures)


def against(rule, n=400, K=3):
    """Return densities that an adversary issues: only the expert with least weight is right."""
    state, P = rule.start(K), np.full((n, K), 1e-3)
    for t in range(n):
        P[t, rule.weights(state).argmin()] = 1.0
        rule.learn(state, np.log(P[t : t + 1]))
    return P


@pytest.mark.parametrize("kind", ["gaussian", "turns", "wild", "against"])
def test_regret_of_soft_bayes_against_every_mixture_as_cited(kind):
    n = 400
    rule = SoftBayes(np.sqrt(np.log(3) / (3 * n)))
    P = against(rule, n) if kind == "against" else densities(kind, n)
    regret = best_mixture(P) - rule.learn(rule.start(3), np.log(P)).sum()
    bound = 2.0 * np.sqrt(3 * n * np.log(3)) + np.log(3)
    print(f"share of the bound used {regret / bound:.3f}")
    assert regret <= bound


@pytest.mark.parametrize("floor", [0.1, 0.3])
@pytest.mark.parametrize("kind", ["gaussian", "turns", "wild", "against"])
def test_regret_of_newton_against_every_mixture(kind, floor):
    rule, n, K = DensityNewton(floor), 400, 3
    P = against(rule, n) if kind == "against" else densities(kind, n)
    state = rule.start(K)
    mixed = rule.learn(state, np.log(P)).sum()
    Z = K / floor - 1.0
    beta = 2.0 * (Z - np.log(1.0 + Z)) / Z**2
    bound = K / (2.0 * beta) * np.log(1.0 + n * K / floor**2) + beta / 2.0
    bound += n * np.log(1.0 / (1.0 - floor))
    print(f"share of the bound used {(best_mixture(P) - mixed) / bound:.3f}")
    assert best_mixture(P) - mixed <= bound
    assert rule.weights(state).min() >= floor / K - 1e-12
    if kind == "turns":
        assert mixed > np.log(P).sum(axis=0).max() + 100.0


@pytest.mark.parametrize("floor", [0.1, 0.3])
@pytest.mark.parametrize("kind", ["gaussian", "turns", "wild"])
def test_regret_of_the_gradient_against_every_mixture(kind, floor):
    P, eta = densities(kind), floor / 10.0
    rule = DensityGradient(eta, floor)
    mixed = rule.learn(rule.start(3), np.log(P)).sum()
    bound = np.log(3) / eta + len(P) / (1.0 - floor) * (eta * 3 / floor + floor)
    assert best_mixture(P) - mixed <= bound
    if kind == "turns":  # no single expert will do
        assert mixed > np.log(P).sum(axis=0).max() + 100.0


def test_sleepers_and_rounds_that_nobody_allows():
    rule = SoftBayes(0.5)
    state = rule.start(3)
    L = np.log(densities("gaussian", 6))
    L[1, 0] = np.nan
    L[2] = np.nan
    L[3] = -np.inf
    L[4, 1] = -np.inf
    mixed = rule.learn(state, L)
    assert np.isnan(mixed[2])
    assert np.isneginf(mixed[3])
    assert np.isfinite(mixed[[0, 1, 4, 5]]).all()
    assert_allclose(rule.weights(state).sum(), 1.0)
    assert (rule.weights(state) > 0.0).all()
    asleep = rule.start(2)
    before = rule.weights(asleep)
    rule.learn(asleep, [[np.nan, 0.3]])  # who is alone is the mixture
    assert_allclose(rule.weights(asleep), before)
    assert_array_equal(rule.weights(rule.start(4)), np.full(4, 0.25))


def test_what_makes_no_sense_is_refused():
    for make in (lambda: SoftBayes(0.0), lambda: SoftBayes(1.5), lambda: DensityGradient(-1.0)):
        with pytest.raises(ValueError, match="eta="):
            make()
    with pytest.raises(ValueError, match="floor="):
        DensityGradient(0.1, 1.0)
    with pytest.raises(ValueError, match="floor="):
        DensityNewton(0.0)
    with pytest.raises(ValueError, match="ridge="):
        DensityNewton(0.1, 0.0)
    state = SoftBayes().start(2)
    with pytest.raises(ValueError, match="a column for each of 2 experts"):
        SoftBayes().learn(state, [[0.0, 0.0, 0.0]])
    with pytest.raises(ValueError, match="infinity"):
        SoftBayes().learn(state, [[0.0, np.inf]])
    assert_array_equal(SoftBayes().weights(state), [0.5, 0.5])
