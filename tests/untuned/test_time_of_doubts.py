"""What doubts cost in rows learnt, by whom and how: no test looks at a clock."""

from collections import Counter

import numpy as np
import pytest

from benchmarks.guards_cases import ATTACKS, WARM_UP
from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.datasets import make_faulty_stream
from sklearn_okl.untuned.experts._experts import Experts
from sklearn_okl.untuned.experts._row import ExpertsRow

FAULTS, UNITS, LEVELS = ATTACKS
N = 640


def attacked(name, seed=0):
    """Return rows and targets of a stream that an adversary attacks after its first rows."""
    X, y = make_faulty_stream(N, share=0.0, random_state=seed, return_X_y=True)
    spoilt = ATTACKS[name](np.random.RandomState(1000 + seed), y)
    spoilt[:WARM_UP] = y[:WARM_UP]
    return X, spoilt


@pytest.fixture
def counts(monkeypatch):
    """Return a counter of the rows that all models learn: in calls of several, and one by one."""
    found, of_rows, of_one = Counter(), Experts.learn_rows, ExpertsRow.teach

    def learn_rows(self, state, X, *rest):
        found["in calls"] += len(X)
        return of_rows(self, state, X, *rest)

    def teach(self, *row):
        found["one by one"] += 1
        return of_one(self, *row)

    monkeypatch.setattr(Experts, "learn_rows", learn_rows)
    monkeypatch.setattr(ExpertsRow, "teach", teach)
    return found


def test_a_twin_learns_rows_together_whatever_its_model_does(counts):
    X, y = attacked(FAULTS)
    OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
    # the model itself meets rows one by one: so it does, but for the first ones
    assert counts["one by one"] <= N - WARM_UP


def test_little_is_learnt_in_vain_before_a_level_changes(counts):
    X, y = attacked(LEVELS)
    OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
    # by the model, by its twin, once again by a model that sees an order, and a fifth in vain
    assert counts["in calls"] + counts["one by one"] <= 3.2 * N


@pytest.mark.parametrize("settings", [{}, {"label_delay": 3}], ids=["in time", "late"])
@pytest.mark.parametrize("name", ATTACKS)
def test_under_attack_forecasts_are_the_same_however_calls_are_cut(name, settings):
    X, y = attacked(name)
    n = 330
    found = []
    for size in (n, 37, 1):
        model = OnlineKernelRegressor(budget="fast", random_state=0, **settings)
        calls = [slice(low, low + size) for low in range(0, n, size)]
        parts = [model.prequential_predict(X[:n][rows], y[:n][rows]) for rows in calls]
        state = model._state
        scored = [state["loss"], state["scored"], state["beside"]["odds"]]
        found.append(np.concatenate([*parts, *scored]))
    for other in found[1:]:
        np.testing.assert_allclose(other, found[0], rtol=1e-7, atol=1e-7)  # targets are 1e9
