"""A column that hardly moves for a while is in no other unit when it moves again."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, VAWRegressor
from sklearn_okl.features import _former_units
from sklearn_okl.untuned import RunningUnits
from tests.alike import assert_keys_are_as_alone, assert_rows_alone_are_as_blocks

LONG = pytest.mark.long
FIRST = 500  # row in which a column becomes quiet


def stream(kind, slope, n_quiet, seed, n=900):
    """Rows of which a column is quiet for some rows, where it always was or elsewhere."""
    rng = np.random.default_rng(seed)
    X, quiet = rng.normal(size=(n, 4)), slice(FIRST, FIRST + n_quiet)
    if kind == "near zero":
        X[:, 3] = 0.3 * np.abs(X[:, 3])
    if kind in ("off", "far off"):
        X[:, 3] += 3.0 if kind == "off" else 10.0
    X[quiet, 3] *= 1e-3
    if kind == "one number":  # which it has for some rows when it is back
        X[quiet.stop : quiet.stop + 40, 3] = 0.9
    y = 2.0 * X[:, 0] - X[:, 1] + slope * X[:, 3] + 0.3 * rng.normal(size=n) + 20.0
    return X, y


@pytest.mark.parametrize("kind", ["near zero", "centre", "one number", "off", "far off"])
@pytest.mark.parametrize(
    ("budget", "n_quiet", "slope", "seed"),
    [
        ("tiny", 17, 3.0, 0),
        ("tiny", 40, 1.0, 1),
        ("fast", 130, 1.0, 2),
        pytest.param("tiny", 24, 0.3, 3, marks=LONG),
        pytest.param("tiny", 100, 1.0, 4, marks=LONG),
        pytest.param("fast", 70, 0.3, 5, marks=LONG),
        pytest.param("fast", 100, 3.0, 6, marks=LONG),
        pytest.param("balanced", 130, 1.0, 7, marks=LONG),
    ],
)
def test_a_column_that_was_quiet_says_what_it_said(kind, budget, n_quiet, slope, seed):
    X, y = stream(kind, slope, n_quiet, seed)
    back = slice(FIRST + n_quiet, FIRST + n_quiet + 150)
    ours, line = (
        np.square(model.prequential_predict(X, y) - y)[back].mean()
        for model in (OnlineKernelRegressor(budget=budget, random_state=seed), VAWRegressor())
    )
    # once 5 to 400 times: what moved again was seen in thousands of the unit of the quiet rows
    assert ours < 1.6 * line


@pytest.mark.parametrize("n", [512, 517, pytest.param(528, marks=LONG), 541])
def test_rows_alone_and_blocks_meet_it_alike(n):
    X, y = stream("far off", 0.3, 30, 1, n=600)
    model = OnlineKernelRegressor(budget="tiny", random_state=0)
    parts = assert_rows_alone_are_as_blocks(model, X, y, n)
    assert_allclose(parts.predict(X[:5]), model.fit(X, y).predict(X[:5]), rtol=1e-8, atol=1e-8)


@pytest.mark.long
def test_models_of_keys_meet_it_as_one_alone():
    kinds = "near zero", "centre", "one number", "off", "far off"
    streams = [stream(kind, 0.3 + seed, 40, seed, n=620) for seed, kind in enumerate(kinds)]
    assert_keys_are_as_alone(OnlineKernelRegressor(budget="tiny", random_state=0), streams)


@pytest.mark.long
@pytest.mark.parametrize("delay", [1, 20])
def test_with_late_labels_as_well(delay):
    X, y = stream("near zero", 3.0, 130, 3)
    ours, line = (
        np.square(model.prequential_predict(X, y) - y)[FIRST + 130 + delay :][:150].mean()
        for model in (OnlineKernelRegressor(label_delay=delay, random_state=0), VAWRegressor())
    )
    assert ours < 3.0 * line


def test_probabilities_do_not_leap_when_it_is_back():
    X, y = stream("near zero", 3.0, 130, 4)
    P = OnlineKernelClassifier(random_state=0).prequential_predict_proba(X, y > np.median(y))
    missed = -np.log(P[np.arange(len(y)), (y > np.median(y)).astype(int)])
    assert missed[FIRST + 130 : FIRST + 230].mean() < 1.3 * missed[FIRST - 200 : FIRST].mean()


def test_a_unit_that_comes_back_is_the_former_one():
    rng, units = np.random.default_rng(5), RunningUnits()
    degrees = 20.0 + rng.normal(size=(64 * 12, 1))
    there = np.arange(len(degrees)) // (64 * 6) == 1
    X = np.where(there[:, None], 1.8 * 40.0 * degrees, degrees)  # six blocks each
    X = np.concatenate([X, degrees[:100]])
    state, changes = units.start(1), []
    known, _, _ = units.learn(state, X, lambda n, columns: changes.append(n))
    assert changes == [64 * 7, 64 * 13]
    former = _former_units.are_of_former(X[-1:], known[-1, 3:5], known[-1, 5], 5.0, 10.0)
    assert not former.any()  # it is the present one again
    assert_allclose(known[-1, 0, 0], 20.0, atol=0.3)
    assert_allclose(known[-1, 0, 1], 1.0, atol=0.2)
    # in the block of its return its rows are already seen in it
    row = 64 * 12 + 3
    seen = units.by_former(X[row : row + 1], known[row])
    assert_allclose(seen[0, 0, 0], 20.0, atol=0.3)


@pytest.mark.parametrize(("budget", "seed"), [("tiny", 0), ("fast", 1), ("fast", 4)])
def test_where_a_column_that_says_little_is_louder_for_a_while_nothing_is_worse(budget, seed):
    rng = np.random.default_rng(seed)  # a mean of few rows, twenty times as far, tells of no slope
    X = rng.normal(size=(800, 4))
    X[400:600, 3] *= 20.0
    y = X @ [2.0, -1.0, 0.5, 0.2] + 0.3 * rng.normal(size=800)
    losses = np.square(
        OnlineKernelRegressor(budget=budget, random_state=seed).prequential_predict(X, y) - y
    )
    assert losses[300:].mean() < 0.5  # 1.8 in the last case, if the slope counts as known well


def test_a_fault_among_few_rows_of_a_block_leaves_its_unit_alone():
    rng, units = np.random.default_rng(6), RunningUnits(block=16)
    rows = np.concatenate([1e-3 * rng.normal(size=(7, 1)), [[-9999.0]]])
    number, mean, squares = units._sums(rows)
    assert number == 7
    assert np.abs(mean) < 1e-2
    assert squares < 1.0
