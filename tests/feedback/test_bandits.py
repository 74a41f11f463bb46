"""Samplers of arms: oracles, unbiased estimates, frequencies, the simplex, inequalities."""

import copy
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import chi2

from sklearn_okl.feedback._bandits import (
    AdaptiveExp3Sampler,
    Exp3Sampler,
    TsallisSampler,
    is_restart,
    stable_step,
    tsallis_step,
)
from sklearn_okl.feedback._graphs import draw
from sklearn_okl.losses import get_loss
from tests.oracles import bandits as oracle


def samplers(K, horizon=None):
    """Pairs of a sampler and its oracle."""
    return [
        (Exp3Sampler(K, horizon), oracle.OKS(K, horizon)),
        (
            Exp3Sampler(K, horizon, step_scale=3.0, longest_step=0.5),
            oracle.OKS(K, horizon, 3.0, 0.5),
        ),
        (AdaptiveExp3Sampler(K, 1.0, 4.0), oracle.OKSPlusPlus(K, 1.0, 4.0)),
        (AdaptiveExp3Sampler(K, 15.0, 1.0, 0.7), oracle.OKSPlusPlus(K, 15.0, 1.0, 0.7)),
        (TsallisSampler(K, 1.0, 4.0, horizon), oracle.IOKS(K, 1.0, 4.0, horizon)),
        (TsallisSampler(K, 0.2, 1.0, horizon), oracle.IOKS(K, 0.2, 1.0, horizon)),
    ]


def warm(sampler, n_rounds=150, seed=0):
    """Return a state some way into a game in which later arms lose more."""
    rng = np.random.RandomState(seed)
    state = sampler.start()
    for _ in range(n_rounds):
        arm = sampler.draw(state, rng.random_sample())
        sampler.credit(state, arm, rng.random_sample() * (arm + 1) / sampler.n_arms, 1.0)
    return state


@pytest.mark.long(every=3)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("horizon", [None, 150])
@pytest.mark.parametrize("K", [1, 2, 6])
def test_samplers_equal_their_oracles(K, horizon, seed):
    for sampler, literal in samplers(K, horizon):
        rng = np.random.RandomState(seed)
        state = sampler.start()
        for _ in range(150):
            assert_allclose(state["probabilities"], literal.p, rtol=1e-9)
            arm = rng.randint(K) if rng.random_sample() < 0.2 else 0
            loss, slope = rng.exponential() * (arm + 0.1), rng.normal()
            step = sampler.credit(state, arm, loss, slope**2)
            assert_allclose(step, literal.credit(arm, loss, slope), rtol=1e-9)


@pytest.mark.parametrize("K", [1, 2, 6, 76])
def test_a_tsallis_step_stays_on_the_simplex(K):
    rng = np.random.RandomState(0)
    worst = 0.0
    for eta in 10.0 ** np.arange(-8, 4):
        for loss in (0.0, 1e-8, 1.0, 1e3, 1e8):
            for spread in (10.0, 1.0, 0.05):
                weights = np.maximum(rng.dirichlet(np.full(K, spread)), 1e-15)
                weights /= weights.sum()
                mixed = eta ** rng.uniform(0.0, 1.0, size=K)
                for etas in (np.full(K, eta), mixed):
                    new = tsallis_step(weights, etas, rng.randint(K), loss)
                    assert np.isfinite(new).all()
                    assert new.min() > 0
                    worst = max(worst, abs(new.sum() - 1.0))
    print(f"K={K}: sum of q off by at most {worst:.1e}")
    assert worst <= 1e-12


@pytest.mark.parametrize("seed", range(5))
def test_a_tsallis_step_solves_its_equation(seed):
    rng = np.random.RandomState(seed)
    for eta in (1e-4, 1e-2, 1.0):
        weights = rng.dirichlet(np.full(6, 0.5))
        etas, arm, loss = eta * rng.uniform(1, 2, 6), rng.randint(6), rng.exponential()
        new = tsallis_step(weights, etas, arm, loss)
        costs = np.where(np.arange(6) == arm, loss, 0.0)
        mu = costs - (new ** (-7 / 8) - weights ** (-7 / 8)) / etas
        scale = (weights ** (-7 / 8) / etas).max()
        assert_allclose(mu, mu[0], atol=1e-12 * scale)
        assert -1e-12 * scale <= mu[0] <= loss + 1e-12 * scale  # Appendix B
        assert new[arm] <= weights[arm]


@pytest.mark.parametrize("index", range(6))
def test_frequencies_of_draws_are_the_law(index):
    sampler = samplers(6)[index][0]
    state = warm(sampler)
    law = state["probabilities"]
    assert_allclose(law.sum(), 1.0, atol=1e-12)
    uniforms = np.random.RandomState(1).random_sample(20_000)
    arms = [sampler.draw(state, u) for u in uniforms]
    assert_array_equal(arms, draw(law, uniforms))
    counts = np.bincount(arms, minlength=6)
    expected = 20_000 * law
    assert ((counts - expected) ** 2 / expected).sum() < chi2.isf(1e-6, 5)


def estimates(sampler, before, after, arm):
    """Return the losses (K,) by which a round moved the sampler."""
    if "losses" in after:
        return after["losses"] - before["losses"]
    if "log_weights" in after:
        return (before["log_weights"] - after["log_weights"]) / before["eta"]
    shift = (after["weights"] ** (-7 / 8) - before["weights"] ** (-7 / 8)) / before["etas"]
    return shift - np.delete(shift, arm)[0]  # less -mu, which the others show


@pytest.mark.parametrize("index", range(5))
def test_estimated_losses_are_unbiased(index):
    sampler = samplers(6, 20_000)[index][0]
    before = warm(sampler)
    law, losses = before["probabilities"], np.array([0.9, 0.1, 0.5, 0.0, 1.0, 0.3])

    def played(arm):
        after = copy.deepcopy(before)
        sampler.credit(after, arm, losses[arm], 1.0)
        return estimates(sampler, before, after, arm)

    table = np.array([played(arm) for arm in range(6)])  # row: arm drawn
    if "etas" in before:
        assert (law >= before["etas"].max()).all()  # else eq. (4) biases, see below
    assert_allclose(law @ table, losses, atol=1e-9)  # the expectation itself
    rng = np.random.RandomState(2)
    n = 20_000
    drawn = table[[sampler.draw(before, rng.random_sample()) for _ in range(n)]]
    deviation = drawn.std(axis=0) / np.sqrt(n)
    assert (np.abs(drawn.mean(axis=0) - losses) <= 5 * deviation + 1e-9).all()


def test_rare_arms_are_credited_with_less():
    sampler = TsallisSampler(3, 0.2, 1.0, 100)
    before = warm(sampler, 300)
    top = before["etas"].max()
    assert before["probabilities"].min() < top  # eq. (4) has two cases here
    for arm, p in enumerate(before["probabilities"]):
        after = copy.deepcopy(before)
        sampler.credit(after, arm, 0.7, 1.0)
        expected = 0.7 / (p if p >= top else p + top)
        assert_allclose(estimates(sampler, before, after, arm)[arm], expected, rtol=1e-9)


@pytest.mark.parametrize("index", range(6))
def test_arms_are_treated_alike(index):
    sampler = samplers(5)[index][0]
    order = np.array([3, 0, 4, 1, 2])
    rng = np.random.RandomState(0)
    one, other = sampler.start(), sampler.start()
    for _ in range(200):
        arm, loss = rng.randint(5), rng.random_sample()
        sampler.credit(one, order[arm], loss, 1.0)
        sampler.credit(other, arm, loss, 1.0)
    assert_allclose(one["probabilities"][order], other["probabilities"], rtol=1e-9)


@pytest.mark.long(every=4)
@pytest.mark.parametrize("index", range(6))
def test_huge_losses_leave_a_law(index):
    sampler = samplers(6)[index][0]
    state, rng = sampler.start(), np.random.RandomState(0)
    for t in range(3000):
        arm = sampler.draw(state, rng.random_sample())
        step = sampler.credit(state, arm, 1e8 * (t % 3 + arm), 1e16)
        assert 0 < step < np.inf
        law = state["probabilities"]
        assert np.isfinite(law).all()
        assert law.min() > 0
        assert abs(law.sum() - 1.0) <= 1e-12


def test_stretches_of_the_doubling_trick():
    assert [n for n in range(600) if is_restart(n)] == [64, 128, 256, 512]
    for sampler in (Exp3Sampler(4), TsallisSampler(4, 1.0, 1.0)):
        state, rates = sampler.start(), []
        for n in range(1, 300):
            sampler.credit(state, n % 3, 1.0 + n % 3, 1.0)
            rates.append(state["exploration"])
            uniform = bool(np.ptp(state["probabilities"]) == 0)
            assert uniform == is_restart(n)
        expected = [
            sampler.rates(64 if n < 128 else 2 ** int(math.log2(n)))[0] for n in range(1, 300)
        ]
        assert_allclose(rates, expected)
    given = Exp3Sampler(4, 100)
    state = warm(given, 128)
    assert np.ptp(state["probabilities"]) > 0


def test_rates_of_short_horizons_and_of_many_arms():
    assert Exp3Sampler(6).rates(1) == Exp3Sampler(6).rates(40)
    assert TsallisSampler(6, 1.0, 1.0).rates(2) == TsallisSampler(6, 1.0, 1.0).rates(40)
    assert Exp3Sampler(1000).rates(40)[0] == 0.5
    delta, eta, lam = Exp3Sampler(6, step_scale=1.0, loss_bound=2.0, slope_bound=3.0).rates(1000)
    assert_allclose(delta, (3 / 2) ** (2 / 3) * (6 / 1000) ** (1 / 3))
    assert_allclose(lam, math.sqrt(delta / (6 * 1000 * 9)))
    assert_allclose(eta, math.sqrt(2 * (1 - delta) * math.log(6) / (6 * 1000 * 4)))


def test_constants_of_losses():
    assert [stable_step(get_loss(name)) for name in ("squared_error", "log_loss", "hinge")] == [
        0.5,
        4.0,
        math.inf,
    ]
    f = np.linspace(-3, 3, 101)
    for name, power in (("squared_error", 2), ("squared_hinge", 2), ("log_loss", 1)):
        loss = get_loss(name)
        for y in (-1.0, 1.0):
            slopes, values = np.abs(loss.slope(y, f)) ** power, loss.value(y, f)
            assert (slopes <= loss.self_bounding * values + 1e-12).all()
    assert get_loss("hinge").self_bounding == math.inf


def game(kind, K, T, rng):
    """Losses (T, K) in [0, 1]."""
    losses = rng.uniform(0.3, 0.7, size=(T, K))
    if kind == "gap":
        losses[:, -1] -= 0.3
    elif kind == "switch":  # the best of the first half is the worst of the second
        losses[: T // 3, 0], losses[T // 3 :, 0] = 0.0, 1.0
        losses[:, 1] = 0.25
    return losses


@pytest.mark.long(every=2)
@pytest.mark.parametrize("kind", ["noise", "gap", "switch"])
@pytest.mark.parametrize("index", [0, 2, 4, 5])
def test_explicit_inequalities_of_the_proofs(index, kind):
    """For every draw, not in expectation: estimated regret of q against each arm.

    Exponential weights: ln K / eta_T + 1/2 sum eta_{t-1} q c^2 (Theorem 2.1's and 3.1's first
    part); mirror descent: the divergence at the start, what growing rates take off, and
    4/7 sum eta q^(15/8) c^2 (Appendix C.1).
    """
    K, T = 4, 1500
    sampler = samplers(K, T)[index][0]
    rng = np.random.RandomState(3)
    losses = game(kind, K, T, rng)
    state = sampler.start()
    regret, second, taken = np.zeros(K), 0.0, np.zeros(K)
    units = np.eye(K)

    def h(q):  # Appendix C.1, row i: against arm i
        return units * q ** (-7 / 8) + 7 * q ** (1 / 8) - 8 * units

    for t in range(T):
        arm = sampler.draw(state, rng.random_sample())
        before = copy.deepcopy(state)
        sampler.credit(state, arm, losses[t, arm], 1.0)
        cost = np.zeros(K)
        cost[arm] = estimates(sampler, before, state, arm)[arm]
        if index == 0:
            delta = before["exploration"]
            q = (before["probabilities"] - delta / K) / (1 - delta)
            second += 0.5 * before["eta"] * float(q @ cost**2)
        elif index == 2:
            q = before["weights"]
            eta = math.sqrt(2 * math.log(K) / (1 + before["variance"]))
            second += 0.5 * eta * float(q @ cost**2)
        else:
            q, etas = before["weights"], before["etas"]
            second += 4 / 7 * float((etas * q ** (15 / 8)) @ cost**2)
            taken += h(state["weights"]) @ (1 / state["etas"] - 1 / etas)
        regret += q @ cost - cost
    if index == 0:
        first = math.log(K) / state["eta"]
    elif index == 2:
        first = math.log(K) / math.sqrt(2 * math.log(K) / (1 + state["variance"]))
    else:
        first = 8 * (K ** (7 / 8) - 1) / sampler.rates(T)[1] + taken
        assert (taken <= 0).all()
    bound = first + second
    share = (regret / bound).max()
    print(f"{type(sampler).__name__}, {kind}: at most {share:.2f} of the bound")
    assert (regret <= bound + 1e-6).all()
    assert share > 0.02  # it bites
