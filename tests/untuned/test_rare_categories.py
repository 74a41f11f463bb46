"""What is rare and explains a target: flags, and categories that hardly any row is of."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.untuned.rows._encoding import Encoder
from sklearn_okl.untuned.rows._layout import layout_of
from tests.alike import assert_rows_alone_are_as_blocks


def rare(seed, n=1500, share=0.02, first=64):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), (rng.random(n) < share) & (np.arange(n) >= first), rng


def as_text(x, flag):
    return pd.DataFrame({"x": x, "kind": np.where(flag, "sale", "none")})


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.long) for k in (0, 2))])
def test_a_rare_category_is_not_taken_for_a_faulty_value_once_it_is_known(seed):
    x, flag, _ = rare(seed)
    model = OnlineKernelClassifier(budget="fast", random_state=0)
    P = model.prequential_predict_proba(as_text(x, flag), flag, classes=[False, True])
    assert (P[flag, 1][4:] > 0.5).all()


@pytest.mark.parametrize("seed", [1, *(pytest.param(k, marks=pytest.mark.long) for k in (0, 2))])
def test_a_text_that_is_rare_is_learnt_as_soon_as_the_flag_that_says_the_same(seed):
    x, flag, rng = rare(seed)
    y = x + 0.1 * rng.normal(size=len(x)) + 100.0 * flag
    missed = []
    for X in (as_text(x, flag), np.column_stack([x, flag])):
        model = OnlineKernelRegressor(budget="fast", random_state=0)
        forecasts = model.prequential_predict(X, y)
        missed.append(int((np.abs(forecasts - y)[flag] > 10.0).sum()))
    assert missed[0] <= missed[1] + 1


def test_a_value_that_has_been_there_is_none_that_is_absurd():
    x, flag, rng = rare(2, n=6000, share=0.0015, first=1000)
    y = x + 0.1 * rng.normal(size=len(x)) + 20.0 * flag
    model = OnlineKernelRegressor(budget="fast", random_state=0)
    missed = np.abs(model.prequential_predict(np.column_stack([x, flag]), y) - y)[flag]
    assert (missed[3:] < 10.0).all()


def test_a_fault_far_off_is_still_none_of_the_values_that_are_believed():
    x, flag, rng = rare(0, n=1200, share=0.02, first=0)
    y = x + 0.1 * rng.normal(size=len(x))
    X = np.column_stack([np.where(flag, -9999.0, x), rng.normal(size=len(x))])
    gaps = np.where(X == -9999.0, np.nan, X)
    errors = []
    for rows in (X, gaps):
        model = OnlineKernelRegressor(budget="fast", random_state=0)
        errors.append(np.square(model.prequential_predict(rows, y) - y)[300:].mean())
    assert errors[0] < 1.25 * errors[1]


@pytest.mark.long
@pytest.mark.parametrize("budget", ["tiny", "fast"])
def test_rows_alone_are_as_blocks_where_a_flag_is_rare(budget):
    x, flag, rng = rare(0, n=500)
    y = x + 0.1 * rng.normal(size=len(x)) + 5.0 * flag
    model = OnlineKernelRegressor(budget=budget, random_state=0)
    assert_rows_alone_are_as_blocks(model, np.column_stack([x, flag]), y, 150)
    X = as_text(x, flag)
    whole = clone(model).fit(X[:150], y[:150]).prequential_predict(X[150:], y[150:])
    model.fit(X[:150], y[:150])
    alone = [model.prequential_predict(X[t : t + 1], y[t : t + 1])[0] for t in range(150, 500)]
    assert_allclose(alone, whole, rtol=1e-7, atol=1e-7)


def test_who_is_rare_is_told_by_all_that_are_as_rare():
    X = np.array([[0.0]] * 40 + [[1.0]] * 20 + [[2.0], [3.0]])
    encoder = Encoder()
    layout = layout_of(np.array([0]), X)
    state = encoder.start(layout, 1)
    assert_array_equal(encoder.are_rare(state, X[:1]), [False])  # nothing is known
    encoder.learn(state, X, np.zeros(len(X)))
    encoder.learn(state, X[:1], np.zeros(1))  # what came last is known
    asked = np.array([[0.0], [1.0], [2.0], [4.0]])
    assert_array_equal(encoder.are_rare(state, asked), [False, False, True, True])
    ids = np.arange(64.0)[:, None]
    state = encoder.start(layout_of(np.array([0]), ids), 1)
    encoder.learn(state, ids, np.zeros(64))
    # where each row is of a new one, so is the next
    assert_array_equal(encoder.are_rare(state, ids[-1:] + 1.0), [False])
