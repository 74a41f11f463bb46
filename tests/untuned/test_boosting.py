"""The chain that learns what the mixture leaves, against its literal loop."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_friedman_stream
from sklearn_okl.untuned import Constants
from sklearn_okl.untuned._constants import BUDGETS
from sklearn_okl.untuned.experts._banks import MaskedFeatures
from sklearn_okl.untuned.experts._boosting import Boosting
from sklearn_okl.untuned.experts._plan import LINK, chain
from tests.oracles.boosting import boosted

CONSTANTS = Constants()
APPRENTICESHIP = 6


def parts(n, n_links, seed, delay):
    rng = np.random.RandomState(seed)
    budget = BUDGETS["balanced"]._replace(frequencies=6, n_links=n_links)
    plan = chain(3, 2, None, budget, CONSTANTS)
    U = rng.normal(size=(n, plan.shape.n_columns))
    Y = np.column_stack([np.sin(2.0 * U[:, 0]) * U[:, 1], np.abs(U[:, 2])])
    Y += 0.1 * rng.normal(size=Y.shape)
    base = 0.3 * Y + 0.1 * rng.normal(size=Y.shape)
    boosting = Boosting(LINK, CONSTANTS.link_stride, CONSTANTS.link_share, APPRENTICESHIP, delay)
    return boosting, boosting.start(plan, rng, 2), U, base, Y, rng


@pytest.mark.long(every=2)
@pytest.mark.parametrize(("delay", "weighted"), [(0, False), (0, True), (3, False), (3, True)])
def test_the_chain_is_its_literal_loop_however_it_is_cut(delay, weighted):
    n = 220
    boosting, state, U, base, Y, rng = parts(n, 4, 10 * delay + weighted, delay)
    weights = rng.randint(0, 3, size=n).astype(float) if weighted else None
    Z = MaskedFeatures.transform(state["bank"]["features"], U)
    rules = LINK, CONSTANTS.link_stride, CONSTANTS.link_alpha, APPRENTICESHIP, CONSTANTS.link_share
    # each target has a chain of its own but for the features and their inverse
    targets, n_first = zip(base.T, Y.T, strict=True), APPRENTICESHIP + delay
    expected = [boosted(Z, *target, *rules, delay, weights) for target in targets]
    low, found, sane = 0, [], np.positive
    for size in (n_first - 1, 1, 3, 4, 66 - n_first, 2, 33, 1, 1, 90, 20):
        rows = slice(low, low + size)
        w = None if weights is None else weights[rows]
        boosting.close(state)
        known = boosting.forecast(state, U[rows][:1], base[rows][:1], sane, delay)
        found.append(boosting.learn(state, U[rows], base[rows], Y[rows], sane, w))
        np.testing.assert_allclose(known, found[-1][:1], rtol=0, atol=1e-8)
        low += size
    assert low == n
    np.testing.assert_allclose(np.concatenate(found), np.transpose(expected), rtol=0, atol=1e-8)


@pytest.mark.long
def test_it_begins_at_the_first_birth_and_lowers_what_the_mixture_leaves():
    """On a target as rough as this one kernels of a few features leave much."""
    rng = np.random.RandomState(0)
    X = rng.uniform(-1.0, 1.0, size=(3000, 4))
    y = np.sign(X[:, 0]) * np.sign(X[:, 1]) + np.round(3.0 * X[:, 2]) + 0.1 * rng.normal(size=3000)

    class WithChain(OnlineKernelRegressor):  # alone, as similar rows lower it, too
        constants = Constants(neighbours=())

    class WithoutChain(OnlineKernelRegressor):
        constants = Constants(
            budgets=BUDGETS | {"balanced": BUDGETS["balanced"]._replace(n_links=0)}, neighbours=()
        )

    errors = {}
    for kind in (WithChain, WithoutChain):
        model = kind(lags=0, random_state=0)
        errors[kind] = np.square(model.prequential_predict(X, y) - y)
    with_chain, without = errors[WithChain], errors[WithoutChain]
    assert with_chain[1500:].mean() < 0.95 * without[1500:].mean()


@pytest.mark.long(every=2)
@pytest.mark.parametrize("delay", [0, 5])
def test_single_rows_and_long_calls_agree_around_the_birth(delay):
    X, y = make_friedman_stream(560, random_state=1)

    class Small(OnlineKernelRegressor):
        constants = Constants(
            budgets={"balanced": BUDGETS["balanced"]._replace(frequencies=8, work=1e4)}
        )

    whole, single = (Small(label_delay=delay, random_state=0) for _ in range(2))
    expected = whole.prequential_predict(X, y)
    found = single.prequential_predict(X[:505], y[:505])
    assert not single._state["boosting"]
    for i in range(505, 530):
        found = np.append(found, single.prequential_predict(X[i : i + 1], y[i : i + 1]))
    assert single._state["boosting"]
    found = np.append(found, single.prequential_predict(X[530:], y[530:]))
    np.testing.assert_allclose(found, expected, rtol=1e-7)
