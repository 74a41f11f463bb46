"""Trackers: equal to the papers' loops, and within their theorems whatever the scores."""

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl.conformal import (
    ACI,
    ECI,
    SAOCP,
    SFOGD,
    AgACI,
    ConformalPID,
    ConformalTracker,
    DtACI,
    PortfolioBetting,
)
from tests.oracles import conformal
from tests.trackers import TRACKERS


def exchangeable(n, rng):
    return rng.exponential(size=n)


def drifting(n, rng):
    return rng.exponential(size=n) * (1.0 + np.sin(np.arange(n) / 60.0) ** 2)


def shifted(n, rng):
    return rng.exponential(size=n) * np.where(np.arange(n) < n // 2, 0.2, 2.0)


def tied(n, rng):
    return rng.integers(3, size=n).astype(float)


def growing(n, rng):
    return rng.exponential(size=n) * np.arange(1, n + 1) ** 2.0


KINDS = [exchangeable, drifting, shifted, tied]


def run(tracker, scores, coverage=0.9):
    state, thresholds = tracker.start(coverage), []
    for score in scores:
        thresholds.append(tracker.threshold(state))
        tracker.learn(state, float(score))
    return np.array(thresholds), state


def run_against(tracker, n, coverage, top=4.0):
    """Return adversarial scores and thresholds: just above the threshold, then 0, by turns."""
    state, scores, thresholds = tracker.start(coverage), [], []
    for t in range(n):
        q = tracker.threshold(state)
        scores.append(min(max(q, 0.0) + 1e-3, top) if (t // 40) % 3 else 0.0)
        thresholds.append(q)
        tracker.learn(state, scores[-1])
    return np.array(scores), np.array(thresholds)


@pytest.mark.long(every=5)
@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("kind", KINDS)
def test_equal_to_the_oracles(kind, coverage):
    scores = kind(300, np.random.default_rng(int(100 * coverage)))
    thresholds, _ = run(ACI(0.03, 50), scores, coverage)
    assert_allclose(thresholds, conformal.aci(scores, coverage, 0.03, 50))
    gammas = (0.005, 0.05, 0.2)
    thresholds, _ = run(DtACI(gammas, 100, 50), scores, coverage)
    assert_allclose(thresholds, conformal.dtaci(scores, coverage, gammas, 100, 50)[0])
    if kind is not tied:  # rounding decides of which side of a mean of equal thresholds a score is
        thresholds, _ = run(AgACI(gammas, 50), scores, coverage)
        assert_allclose(thresholds, conformal.agaci(scores, coverage, gammas, 50)[0])
    assert_allclose(run(SFOGD(2.0), scores, coverage)[0], conformal.sf_ogd(scores, coverage, 2.0))
    found = run(SAOCP(2.0, 4), scores, coverage)[0]
    assert_allclose(found, conformal.saocp(scores, coverage, 2.0, 4), rtol=1e-9, atol=1e-12)
    for parameters in [(0.1, 2.0, 5.0), (0.05, 0.0, 1.0), (0.3, 1.0, 0.1)]:
        found = run(ConformalPID(*parameters), scores, coverage)[0]
        assert_allclose(found, conformal.pid(scores, coverage, *parameters), rtol=1e-9, atol=1e-12)
    for wealth in (1.0, 0.01) if kind is not tied else ():
        found = run(PortfolioBetting(wealth), scores, coverage)[0]
        assert_allclose(found, conformal.betting(scores, coverage, wealth), rtol=1e-9, atol=1e-12)
    found = run(ECI(0.2, 1.5), scores, coverage)[0]
    expected = conformal.eci(scores, coverage, 0.2, 1.5)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


def share_missed(tracker, n, coverage, kind, seed=0):
    if kind is None:
        scores, thresholds = run_against(tracker, n, coverage)
    else:
        scores = kind(n, np.random.default_rng(seed))
        thresholds, _ = run(tracker, scores, coverage)
    return np.mean(scores > thresholds)


@pytest.mark.parametrize("kind", [*KINDS, None])
@pytest.mark.parametrize("coverage", [0.6, 0.9])
def test_the_share_of_misses_is_within_the_theorems(coverage, kind):
    n, alpha = 400, 1.0 - coverage
    for gamma in (0.02, 0.2):
        bound = (max(alpha, coverage) + gamma) / (n * gamma)
        assert abs(share_missed(ACI(gamma, 50), n, coverage, kind) - alpha) <= bound + 1e-12
    t = np.arange(1, n + 1)
    h = (math.pi * 0.5 * (t + 1) / (2.0 * np.log(t + 1))).max()
    missed = share_missed(ConformalPID(0.1, 2.0, 0.5), n, coverage, kind)
    assert abs(missed - alpha) <= (h + 1.0) / n
    top = 4.0 if kind is None else kind(n, np.random.default_rng(0)).max()
    missed = share_missed(ConformalPID(0.3, gain=0.0), n, coverage, kind)
    assert abs(missed - alpha) <= (top + 0.3) / (0.3 * n) + 1e-12
    missed = share_missed(ECI(0.3), n, coverage, kind)
    assert abs(missed - alpha) <= (top + 1.224 * 0.3) / (0.3 * n) + 1e-12


def pinball(scores, thresholds, coverage):
    beyond = scores - thresholds
    return np.maximum(coverage * beyond, (coverage - 1.0) * beyond)


@pytest.mark.parametrize("wealth", [1.0, 1e-3, 20.0])
@pytest.mark.parametrize("kind", [*KINDS, growing, None])
def test_bets_are_within_their_theorem(kind, wealth):
    n, tracker = 400, PortfolioBetting(wealth)
    if kind is None:
        scores, thresholds = run_against(tracker, n, 0.8)
    else:
        scores = kind(n, np.random.default_rng(3))
        thresholds, _ = run(tracker, scores, 0.8)
    missed = np.cumsum(scores > thresholds)
    T = np.arange(1, n + 1)
    D = np.maximum.accumulate(scores)
    more = np.sqrt(T / 2.0 * np.log(np.maximum(D * T**1.5 / wealth, 1.0)))
    assert (missed >= 0.2 * T - 0.5 - 1e-9).all()
    assert (missed <= 0.2 * T + 1.0 + more).all()
    used = []
    for u in np.linspace(0.0, scores.max(), 50):
        regret = pinball(scores, thresholds, 0.8).sum() - pinball(scores, u, 0.8).sum()
        bound = wealth + u / 2.0 * np.sqrt(n * np.log1p((n * u / wealth) ** 2))
        used.append(regret / bound)
    print(f"share of the bound used {max(used):.3f}")
    assert max(used) <= 1.0
    if kind is exchangeable and wealth == 1.0:
        assert max(used) > 0.05  # it is a bound that bites


def test_a_share_far_from_the_one_wanted_makes_everything_or_nothing_be_held():
    tracker = PortfolioBetting()
    state = tracker.start(0.9)
    for _ in range(2000):
        tracker.learn(state, 0.0)
    assert 150 < state["misses"] < 260  # of scores that are all the same a tenth has to miss
    state["rounds"], state["misses"] = 2000, 2000
    assert tracker.threshold(state) == np.inf
    state["misses"] = 0
    assert tracker.threshold(state) < 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_regret_of_mixed_thresholds(kind):
    scores, gammas = kind(600, np.random.default_rng(4)), (0.002, 0.02, 0.2)
    thresholds, own = conformal.agaci(scores, 0.8, gammas, 60)
    rounds = ~np.isnan(own).any(axis=1)
    assert rounds.mean() > 0.5
    losses = [pinball(scores[rounds], q, 0.8).sum() for q in own[rounds].T]
    found = pinball(scores[rounds], run(AgACI(gammas, 60), scores, 0.8)[0][rounds], 0.8)
    # regrets of tangents: at most the slope times how far thresholds lie apart
    slopes = np.where(scores > thresholds, 0.8, 0.2)[rounds, None]
    regrets = slopes * np.abs(thresholds[rounds, None] - own[rounds])
    squares, K = (regrets**2).sum(axis=0), len(gammas)
    bounds = 2.0 * np.sqrt(np.log(K) * squares) + 4.0 * np.log(K) * regrets.max()
    assert (found.sum() - losses <= bounds + 1e-9).all()


@pytest.mark.parametrize("kind", [*KINDS, None])
@pytest.mark.parametrize("eta", [0.5, 3.0])
def test_regret_of_the_scale_free_descent(kind, eta):
    if kind is None:
        scores, thresholds = run_against(SFOGD(eta), 400, 0.8)
    else:
        scores = kind(400, np.random.default_rng(3))
        thresholds, _ = run(SFOGD(eta), scores, 0.8)
    D = scores.max()
    assert thresholds.min() >= -eta
    assert thresholds.max() <= D + eta
    slopes = 0.2 - (scores > thresholds)
    bound = ((D + eta) ** 2 / (2.0 * eta) + eta) * np.sqrt((slopes**2).sum())
    best = min(pinball(scores, q, 0.8).sum() for q in np.linspace(0.0, D, 200))
    assert pinball(scores, thresholds, 0.8).sum() - best <= bound


@pytest.mark.parametrize("kind", KINDS)
def test_regret_of_mixed_levels_on_every_interval(kind):
    scores, gammas = kind(400, np.random.default_rng(4)), (0.005, 0.05, 0.2)
    _, losses, own, eta, sigma = conformal.dtaci(scores, 0.8, gammas, 100, 50)
    for low, high in [(0, 400), (100, 200), (200, 260), (0, 20)]:
        n = high - low
        bound = (np.log(3 / sigma) + n * np.log(1 / (1 - sigma))) / eta
        bound += eta * n / 8.0 * (1.0 + 2.0 * max(gammas)) ** 2
        assert (own[low:high].sum() - losses[low:high].sum(axis=0)).max() <= bound


@pytest.mark.long(every=2)
@pytest.mark.parametrize("seed", range(3))
def test_after_a_shift_the_strongly_adaptive_one_is_ahead_of_its_parts(seed):
    rng = np.random.default_rng(seed)
    scores = rng.uniform(size=900) + np.where(np.arange(900) < 800, 0.0, 4.0)
    losses = {}
    for tracker in (SAOCP(1.0), SFOGD(1.0)):
        thresholds, _ = run(tracker, scores, 0.9)
        losses[type(tracker)] = pinball(scores, thresholds, 0.9)
    assert losses[SAOCP][800:].sum() < 0.5 * losses[SFOGD][800:].sum()
    best = min(pinball(scores[800:], q, 0.9).sum() for q in np.linspace(4.0, 5.0, 50))
    # of the order of D sqrt(k ln T), for an interval of k = 100 rounds
    assert losses[SAOCP][800:].sum() - best <= 5.0 * np.sqrt(100 * np.log(900))


@pytest.mark.long(every=5)
@pytest.mark.parametrize("tracker", TRACKERS, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("kind", [exchangeable, drifting])
def test_the_share_asked_for_is_held(tracker, kind):
    scores = kind(2000, np.random.default_rng(6))
    thresholds, state = run(tracker, scores, 0.9)
    assert abs(np.mean(scores[200:] <= thresholds[200:]) - 0.9) < 0.03
    fresh = tracker.start(0.9)
    assert {name: np.shape(value) for name, value in state.items()} == {
        name: np.shape(value) for name, value in fresh.items()
    }
    assert all(np.isfinite(value).all() for value in state.values())


def test_there_is_room_for_all_that_are_alive_at_once():
    # births 2^(u + 1) rounds apart, lives of 2^u L + 1 rounds, the round of dying late included
    for lifetime in (1, 2, 5, 8):
        tracker = SAOCP(1.0, lifetime)
        state = tracker.start(0.9)
        for _ in range(600):
            tracker.learn(state, 1.0)
        assert (state["born"] > 0.0).sum() <= 10 * (lifetime // 2 + 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: ACI(0.0), "gamma=0.0 of ACI"),
        (lambda: ACI(window=0), "whole number of at least 1"),
        (lambda: DtACI(()), "give step sizes"),
        (lambda: DtACI((0.1, -1.0)), "give step sizes"),
        (lambda: DtACI(interval=2.5), "interval=2.5"),
        (lambda: SFOGD(np.nan), "eta=nan"),
        (lambda: SFOGD(np.inf), "eta=inf"),
        (lambda: SFOGD(0.0), "eta=0.0"),
        (lambda: ConformalPID(gain=-1.0), "at least 0"),
        (lambda: ConformalPID(saturation=0.0), "above 0"),
        (lambda: ECI(sharpness="1"), "sharpness='1'"),
        (lambda: PortfolioBetting(0.0), "wealth=0.0"),
        (lambda: SAOCP(lifetime=True), "lifetime=True"),
    ],
)
def test_settings_that_make_no_sense_are_refused(make, words):
    with pytest.raises(ValueError, match=words):
        make()


def test_trackers_are_values():
    assert ACI(0.1) == ACI(0.1) != ACI(0.2)
    assert hash(DtACI()) == hash(DtACI())
    assert repr(SFOGD(2.0)) == "SFOGD(eta=2.0)"
    with pytest.raises(TypeError, match="abstract"):
        ConformalTracker()
