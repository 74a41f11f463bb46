"""A column that varies more, or less, than before: in the unit that it had, or in another one."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, VAWRegressor
from sklearn_okl.features import _slopes
from tests.alike import assert_keys_are_as_alone, assert_rows_alone_are_as_blocks

LONG = pytest.mark.long
SLOPES = np.array([1.0, 0.5, -0.5])


def stream(times, seed, is_unit=False, n=1000, at=600):
    """Rows of which a column varies so many times as much from some row on, and targets."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X @ SLOPES + 0.1 * rng.normal(size=n)
    if not is_unit:
        y[at:] += (times - 1.0) * X[at:, 0]
    X[at:, 0] *= times
    return X, y


@pytest.mark.long(every=50)
@pytest.mark.parametrize("times", [8.0, 0.1, 0.01])
@pytest.mark.parametrize(
    ("budget", "seed"), [("tiny", 0), ("fast", 1), pytest.param("balanced", 2, marks=LONG)]
)
def test_lines_go_on_where_a_column_varies_more_or_less(budget, seed, times):
    X, y = stream(times, seed)
    ours, line = (
        np.square(model.prequential_predict(X, y) - y)[664:].mean()
        for model in (OnlineKernelRegressor(budget=budget, random_state=seed), VAWRegressor())
    )
    assert ours < 1.5 * line  # 10 to 100 times, once it was taken for one in another unit


@pytest.mark.long(every=50)
@pytest.mark.parametrize("times", [8.0, 0.1, 1000.0])
@pytest.mark.parametrize(
    ("budget", "seed"), [("tiny", 1), ("fast", 2), pytest.param("balanced", 0, marks=LONG)]
)
def test_another_unit_is_told_by_targets_that_stay_as_they_are(budget, seed, times):
    X, y = stream(times, seed, is_unit=True)
    model = OnlineKernelRegressor(budget=budget, random_state=seed)
    errors = model.prequential_predict(X, y) - y
    # translated at the end of the block of the change: what lines unlearn else takes 300 rows
    assert np.square(errors[720:]).mean() < 0.05


def test_probabilities_hardly_suffer_from_a_column_that_is_quiet():
    X, y = stream(0.02, 0)
    P = OnlineKernelClassifier(random_state=0).prequential_predict_proba(X, y > 0.0)
    missed = -np.log(P[np.arange(len(y)), (y > 0.0).astype(int)])
    assert missed[620:760].mean() < 0.4  # .46


@pytest.mark.long(every=50)
@pytest.mark.parametrize("is_unit", [False, True])
@pytest.mark.parametrize("n", [319, 320, pytest.param(321, marks=LONG), 331])
def test_rows_alone_and_blocks_meet_the_change_alike(n, is_unit):
    X, y = stream(0.05, n, is_unit, n=460, at=330)
    assert_rows_alone_are_as_blocks(OnlineKernelRegressor(random_state=0), X, y, n)


def of_one_kind(kind, seed):
    """Rows of which a column changes so, and targets."""
    X, y = stream(1.0, seed, n=600)
    X[400:, 0] *= {"another unit": 50.0, "varies less": 0.05}.get(kind, 1.0)
    if kind == "varies less":
        y[400:] += (1.0 - 1.0 / 0.05) * X[400:, 0]
    if kind == "another level":
        X[400:, 2] += 12.0
        y[400:] -= 6.0
    if kind == "idle level":
        X[400:, 2] += 8.0
    return X, y


@pytest.mark.long
def test_models_of_keys_meet_the_change_as_one_alone():
    kinds = "another unit", "varies less", "another level", "idle level", "none of them"
    streams = [of_one_kind(kind, seed) for seed, kind in enumerate(2 * kinds)]
    assert_keys_are_as_alone(OnlineKernelRegressor(budget="tiny", random_state=0), streams)


def learn(state, rows, came):
    """Learn a block of rows and targets, no column of which begins anew."""
    begin = np.zeros(rows.shape[1], dtype=bool)
    state["together"] = _slopes.learned(state["together"], rows, came, begin)
    state["means"] = _slopes.with_means(state["means"], came)


@pytest.mark.parametrize("slope", [2.0, -0.7])
@pytest.mark.parametrize("ratio", [5.0, 0.2, 0.01])
def test_slopes_tell_a_unit_from_values_that_vary(ratio, slope):
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(640, 1))
    came = slope * rows + 0.3 * rng.normal(size=(640, 1))
    state = _slopes.start(1, 1)
    for block in np.split(np.arange(640), 10):
        learn(state, rows[block], came[block])
    latest = rng.normal(size=(32, 1))
    noise = 0.3 * rng.normal(size=(32, 1))
    varies = slope * ratio * latest + noise
    is_unit = slope * latest + noise
    ratio = np.array([ratio])
    where_it_was = np.zeros(1)
    assert _slopes.as_before(state, ratio * latest, varies, ratio, where_it_was) > 3.0
    assert _slopes.as_before(state, ratio * latest, is_unit, ratio, where_it_was) < -3.0


@pytest.mark.parametrize("slope", [2.0, -0.7])
def test_means_tell_a_level_from_a_unit(slope):
    rng = np.random.default_rng(5)
    rows = rng.normal(size=(640, 1))
    came = slope * rows + 0.3 * rng.normal(size=(640, 1)) + 7.0
    state = _slopes.start(1, 1)
    for block in np.split(np.arange(640), 10):
        learn(state, rows[block], came[block])
    latest, noise = 1e-3 * rng.normal(size=(32, 1)), 0.3 * rng.normal(size=(32, 1)) + 7.0
    ratio, moved = np.array([1e-3]), np.array([-4.0])
    assert _slopes.as_before(state, latest, noise - 4.0 * slope, ratio, moved) > 10.0
    assert _slopes.as_before(state, latest, noise + 1e3 * slope * latest, ratio, moved) < -10.0


def test_who_knows_no_slope_is_not_sure():
    rng = np.random.default_rng(4)
    rows, came = rng.normal(size=(64, 2)), rng.normal(size=(64, 1))
    state = _slopes.start(2, 1)
    learn(state, rows, came)
    for latest in (rng.normal(size=(32, 1)), np.zeros((32, 1))):
        now = 9.0 * rng.normal(size=(32, 2))
        assert (_slopes.as_before(state, now, latest, np.full(2, 9.0), np.zeros(2)) <= 3.0).all()
