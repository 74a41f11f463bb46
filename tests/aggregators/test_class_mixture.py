"""What mixes experts that forecast classes: the loop, the bound, the floor."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.aggregators._class_mixture import ClassMixture
from tests.oracles import class_mixture as oracle

FADINGS, POOLS = (0.99, 0.95), ((40.0, 1.0), (4.0, 0.99))


def stream(n, K, C, seed=0):
    """Return scores of experts of all qualities, and labels that like to stay."""
    rng = np.random.default_rng(seed)
    y = rng.integers(C, size=n)
    for t in range(1, n):
        y[t] = y[t - 1] if rng.random() < 0.4 else y[t]
    noise = np.linspace(0.3, 3.0, K)[:, None]
    S = 2.0 * (y[:, None, None] == np.arange(C)) - 1.0 + noise * rng.normal(size=(n, K, C))
    return S, y


def learnt(mixture, S, y, heard, weights=None, cuts=()):
    state, parts = mixture.start(S.shape[1]), []
    for rows in np.split(np.arange(len(y)), cuts):
        w = None if weights is None else weights[rows]
        parts.append(mixture.learn(state, S[rows], y[rows], heard, w))
    return np.concatenate(parts), state


@pytest.mark.long(every=4)
@pytest.mark.parametrize("delay", [0, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_it_is_the_loop(n_classes, delay):
    n, K = 150, 4
    S, y = stream(n, K, n_classes)
    weights = np.random.default_rng(1).random(n)
    heard = np.array([True, True, False, True])  # who is not learns to be calibrated all the same
    loop = oracle.ClassMixture(K, n_classes, FADINGS, POOLS, delay)
    S[:64, 3] = np.nan  # born late
    expected = [loop.learn(*row, heard, w) for *row, w in zip(S, y, weights, strict=True)]
    mixture = ClassMixture(n_classes, delay, FADINGS, POOLS)
    P, state = learnt(mixture, S, y, heard, weights, (1, 2, 64, 70, 100))
    assert_allclose(P, expected, rtol=1e-8)
    for ago in range(delay + 1):
        known = loop.snapshots[n - ago] if ago else loop._knowledge()
        parts = loop.forecast(known, S[0], y[n - 1 - ago], n - ago, heard)
        asked = mixture.forecast(state, S[:1], heard, ago, ago)
        assert_allclose(asked[0], parts["result"], rtol=1e-8)


def test_no_probability_is_less_than_the_past_justifies():
    n, C = 400, 3
    y = np.zeros(n, dtype=int)  # the other classes never come
    S = np.tile(np.array([1.0, -1.0, -1.0]), (n, 2, 1))
    mixture = ClassMixture(C, 0, FADINGS, POOLS)
    P, state = learnt(mixture, S, y, np.ones(2, dtype=bool))
    least = 1.0 / (C * (np.arange(n) + C))
    assert (least[:, None] * (1.0 - 1e-12) <= P).all()
    assert (P[100:, 0] > 1.0 - 3.0 / np.arange(100, n)).all()  # and hardly more than that
    surprised = mixture.learn(state, S[:1], np.array([2]), np.ones(2, dtype=bool))
    assert -np.log(surprised[0, 2]) < np.log(C * (n + C))


@pytest.mark.long
def test_the_loss_is_within_the_bound_of_the_best_expert():
    """Also where the calibrated experts turn bad, and the pools with them."""
    n, K, n_classes = 600, 3, 4
    S, y = stream(n, K, n_classes)
    S[300:] *= -1.0
    everybody = np.ones(K, dtype=bool)
    P, _ = learnt(ClassMixture(n_classes, 0, FADINGS, POOLS), S, y, everybody)
    rows = np.arange(n)
    loss = -np.log(P[rows, y]).sum()
    alone = []
    for k in range(K):
        expert = ClassMixture(n_classes, 0, FADINGS, ())
        state, total = expert.start(1), 0.0
        for low in range(n):
            p = expert.calibrated(state, S[low : low + 1, k : k + 1])[0, 0, y[low]]
            total -= np.log(p)
            expert.learn(state, S[low : low + 1, k : k + 1], y[low : low + 1], everybody[:1])
        alone.append(total)
    n_ways = 3 + len(POOLS) + 4
    assert loss <= min(alone) + np.log(K + 4) + np.log(n_ways + 1)


def test_experts_and_classes_have_no_order():
    S, y = stream(300, 5, 3)
    everybody, mixture = np.ones(5, dtype=bool), ClassMixture(3, 0, FADINGS, POOLS)
    P, state = learnt(mixture, S, y, everybody)
    order, places = [3, 1, 0, 4, 2], np.array([2, 0, 1])
    Q, other = learnt(mixture, S[:, order], y, everybody)
    assert_allclose(Q, P, rtol=1e-7)
    assert_allclose(mixture._weights(other), mixture._weights(state)[order], rtol=1e-6, atol=1e-12)
    R, _ = learnt(mixture, S[:, :, places], np.argsort(places)[y], everybody)
    assert_allclose(R, P[:, places], rtol=1e-7)


def test_what_was_forecast_is_calibrated():
    """Experts that are sure of everything, and wrong in one of five rows."""
    rng = np.random.default_rng(0)
    n = 6000
    y = rng.integers(2, size=n)
    said = np.where(rng.random((n, 3)) < 0.2, 1 - y[:, None], y[:, None])
    S = 5.0 * np.where(said[..., None] == np.arange(2), 1.0, -1.0)
    P, _ = learnt(ClassMixture(2, 0, FADINGS, POOLS), S, y, np.ones(3, dtype=bool))
    # of three independent experts of log-odds ln 4 each: all agree, or two of them
    agree = (said == said[:, :1]).all(axis=1)
    sure = P.max(axis=1)[2000:]
    assert_allclose(sure[agree[2000:]].mean(), 64.0 / 65.0, atol=0.01)
    assert_allclose(sure[~agree[2000:]].mean(), 4.0 / 5.0, atol=0.03)
    right = (P.argmax(axis=1) == y)[2000:]
    assert_array_equal(abs(right.mean() - sure.mean()) < 0.02, True)
