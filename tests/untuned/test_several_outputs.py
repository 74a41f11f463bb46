"""Parts of the experts that learn several targets at once: what they are for one, side by side."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.base._bank import forecast_bank, learn_bank, threads
from sklearn_okl.untuned._constants import BUDGETS, Constants
from sklearn_okl.untuned.experts._banks import (
    MaskedFeatures,
    add_members,
    awake,
    learner,
    slopes,
    start_bank,
)
from sklearn_okl.untuned.experts._plan import BORN, MAIN, plan
from sklearn_okl.untuned.rows._inputs import LaggedInputs

N, D, Q, LAGS = 300, 3, 2, 2
CUTS = (1, 2, 40, 200, 203)


def stream():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D))
    Y = np.column_stack([np.sin(X[:, 0]), 100.0 + 7.0 * X[:, 1] ** 2])
    return X, Y + 0.1 * rng.normal(size=Y.shape)


def seen_on_the_way(inputs, X, Y):
    """Return what is seen of the rows of a stream that is cut, and the state in the end."""
    state, parts = inputs.start(X.shape[1]), []
    for rows in np.split(np.arange(len(X)), CUTS):
        asked = inputs.look(state, X[rows][:1], ago=inputs.delay) if rows[0] > 2 else None
        parts.append(inputs.learn(state, X[rows], Y[rows]))
        for name, part in asked._asdict().items() if asked else ():
            if part is None:  # no gaps
                continue
            learnt = getattr(parts[-1], name)[:1]
            assert_array_equal(np.reshape(part, learnt.shape), learnt)
    names = [name for name, part in parts[0]._asdict().items() if part is not None]
    return {name: np.concatenate([getattr(p, name) for p in parts]) for name in names}


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("n_lags", [0, LAGS])
def test_inputs_hold_the_lags_of_each_target(delay, n_lags):
    X, Y = stream()
    make = partial(LaggedInputs, n_lags, delay)
    both = seen_on_the_way(make(n_targets=Q), X, Y)
    singles = [seen_on_the_way(make(), X, y) for y in Y.T]
    for name in ("inputs", "steady"):
        for j in range(Q):
            columns = [*range(D), *range(D + j, D + Q * n_lags, Q)]
            assert_array_equal(both[name][:, columns], singles[j][name])
    for name in ("walks", "scale"):
        assert_array_equal(both[name], np.stack([single[name] for single in singles], axis=-1))
    if n_lags:
        assert_array_equal(both["walks"][5:, 0][delay:], Y[4 : N - 1 - delay])


def taught(name, delay, X, Y):
    """Return a bank, its forecasts on the way, and those of the next rows."""
    shape, members, room = plan(D, 0, None, BUDGETS["fast"], Constants())[name]
    bank = start_bank((shape, members[:2], room), np.random.RandomState(0), delay, *Y.shape[1:])
    forecasts = []
    with threads(1) as run:
        for rows in np.split(np.arange(len(X)), CUTS):
            if rows[0] == CUTS[3]:
                later = members[2:4] or plan(D, 0, None, BUDGETS["fast"], Constants())[MAIN][1][:2]
                level = Y[:100].mean(axis=0)
                add_members(bank, later, shape, np.random.RandomState(1), level)
            F = learn_bank(MaskedFeatures, learner(1.0), bank, X[rows], Y[rows], run)
            forecasts.append(F[:, :2])
        learner(1.0)._open(bank["experts"])
    asked = forecast_bank(MaskedFeatures, learner(1.0), awake(bank, delay), X[:5])
    return bank, np.concatenate(forecasts), asked


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("name", [MAIN, BORN])
def test_a_bank_of_several_targets_is_a_bank_for_each(name, delay):
    X, Y = stream()
    bank, F, asked = taught(name, delay, X, Y)
    singles = [taught(name, delay, X, y) for y in Y.T]
    assert F.shape == (N, 2, Q)
    assert_allclose(F, np.stack([single[1] for single in singles], axis=-1), rtol=1e-9, atol=1e-9)
    expected = np.stack([single[2] for single in singles], axis=-1)
    assert_allclose(asked, expected, rtol=1e-7, atol=1e-9)
    columns = slice(0, D)
    parts = [slopes(single[0], 1, columns) for single in singles]
    assert_allclose(slopes(bank, 1, columns), sum(parts), rtol=1e-7)
