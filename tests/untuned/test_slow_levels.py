"""Levels that are not reached at once: ramps, and setpoints that a plant follows sluggishly."""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.untuned.rounds import _lines, _nones
from sklearn_okl.untuned.rounds._targets import TargetFence
from sklearn_okl.untuned.rounds._trust import Trust


def ramp(seed, n=1100):
    """Rows that say nothing, and a level that goes up by 50 a row from row 500 to row 900."""
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(n, 2)), np.arange(n)
    return X, 100.0 + 50.0 * np.clip(rows - 500, 0, 400) + rng.normal(size=n)


def approached(seed, n_rows, n=3000, every=300):
    """Rows that say nothing, and setpoints that are approached on a line within some rows."""
    rng = np.random.default_rng(seed)
    setpoints, rows = rng.uniform(0.0, 100.0, n // every), np.arange(n)
    levels, left = setpoints[rows // every], 1.0 - (rows % every + 1.0) / n_rows
    before = np.append(setpoints[:1], setpoints)[rows // every]
    y = levels + (before - levels) * np.maximum(left, 0.0) + 0.1 * rng.normal(size=n)
    return rng.normal(size=(n, 3)), y


def errors(X, y, budget="fast", **settings):
    model = OnlineKernelRegressor(budget=budget, random_state=0, **settings)
    return model.prequential_predict(X, y) - y


@pytest.mark.parametrize("odds", [18.0, 2.0, -4.5, -18.0])
def test_who_foretells_a_far_target_is_trusted_no_less_for_it(odds):
    """Rounds that are far apart have odds of their own from then on, which begin with all rows'."""
    trust = Trust()
    state = trust.start(1)
    trust.begin(state, 0, {"n": 1}, np.ones(1), np.array([1e3]))
    state["odds"][:] = odds
    zero, far = np.zeros((1, 1)), np.full((1, 1), 1e3)
    before = trust.mixed(state, zero, far)
    trust.learn(state, far, zero, far)
    assert trust.mixed(state, zero, far) >= before
    assert state["far"].max() == min(max(odds, -trust.odds) + trust.foretold, trust.settled)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_the_end_of_a_ramp_costs_little(seed):
    """The model that doubts it is off by thousands there, and had been lost long since."""
    X, y = ramp(seed)
    assert np.abs(errors(X, y)[901:]).max() < 200.0


@pytest.mark.long
def test_a_model_that_begins_anew_knows_of_levels_what_the_old_one_did():
    """First rows without a fault say nothing against levels that came before them."""
    X, y = approached(0, 10)
    rows, last = slice(1800, 1830), np.diff(y)[1799:1829]
    assert np.square(errors(X[:1830], y[:1830])[rows]).sum() < 3.0 * np.square(last).sum()


def faults_on_lines(seed, length, n=1200):
    """A series, runs of faults that count up in it, and the rows after them."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(n, 3)), np.zeros(n)
    for i in range(1, n):
        y[i] = 0.8 * y[i - 1] + rng.normal()
    starts = np.arange(200, n - 60, 110)
    for start in starts:
        y[start : start + length] = y[start - 1] + 50.0 * np.arange(1, length + 1)
    return X, y, starts + length


@pytest.mark.long
@pytest.mark.parametrize("budget", ["fast", "balanced"])
@pytest.mark.parametrize("seed", range(2))
def test_the_beginning_of_a_ramp_costs_little(budget, seed):
    """It was 347 000 and more, of 28 000 without a guard: no two rows agree on a level."""
    X, y = (part[:520] for part in ramp(seed))
    guarded, free = (errors(X, y, budget, guard=guard)[500:] for guard in (True, False))
    assert np.square(guarded).sum() < 2.0 * np.square(free).sum()


@pytest.mark.long
@pytest.mark.parametrize("length", [5, 7, 12])
def test_faults_on_a_line_are_believed_once_at_most(length):
    X, y, after = faults_on_lines(0, length)
    sizes = np.abs(errors(X, y))
    assert (sizes[after[1:]] < 50.0).all()
    for first in after:  # nor does the first one cost the rows that follow
        assert np.median(sizes[first + 1 : first + 30]) < 2.0
        assert sizes[first + 1 : first + 30].max() < 50.0


@pytest.mark.parametrize("cut", [1, 7, 64, None])
def test_the_cut_is_invisible_while_a_level_follows_a_line(cut):
    """As is a path for rows one by one."""
    X, y = (part[380:580] for part in ramp(0))
    whole = OnlineKernelRegressor(budget="fast", random_state=0).prequential_predict(X, y)
    model, made = OnlineKernelRegressor(budget="fast", random_state=0), []
    made.extend(model.prequential_predict(X[:64], y[:64]))
    if cut is None:
        with model.rows() as row:
            for x, target in zip(X[64:], y[64:], strict=True):
                made.append(row.predict(x))
                row.learn(x, target)
    else:
        for i in range(64, 200, cut):
            made.extend(model.prequential_predict(X[i : i + cut], y[i : i + cut]))
    np.testing.assert_allclose(made, whole, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(("odds", "first"), [(-7.0, 4), (-4.0, 3), (-1.0, 3)])
@pytest.mark.parametrize("n_faulty", [0.0, 2.0])
def test_when_a_line_is_believed_and_that_it_is_back_again(odds, first, n_faulty):
    """Each row where it leads says as much as one that agrees on a level."""
    fence = TargetFence()
    state = fence.start() | {"since": -99, "deviation": 1.0, "odds": odds, "of_faults": n_faulty}
    believe = (fence, state, 1e3)
    moves = [moved_by(*believe, 50.0 * row) for row in range(1, 8)]
    first += int(n_faulty)
    assert moves == [0.0] * (first - 1) + [50.0 * first] + [50.0] * (7 - first)
    assert state["line"].tolist() == [8.0, 50.0, _lines.GOES_ON]
    assert state["odds"] == odds + fence.bound
    assert moved_by(*believe, 0.0) == -350.0
    assert state["line"][2] == _lines.IS_BACK
    assert state["odds"] == odds - fence.bound
    assert state["of_faults"] == n_faulty + 6.0


@pytest.mark.parametrize("seed", range(2))
def test_a_level_that_changes_its_sign_is_one(seed):
    """It stood for no number until the eighth row, as what is off may read -9999."""
    rng = np.random.default_rng(seed)
    X, rows = rng.normal(size=(440, 2)), np.arange(440)
    y = np.where(rows < 400, 22.0 * rows, -8800.0) + 5.0 * rng.normal(size=440)
    sizes = np.abs(errors(X, y))
    assert (sizes[400:] > 1e3).sum() == 3


@pytest.mark.long
@pytest.mark.parametrize("level", [100.0, 4500.0, 7000.0])
def test_what_is_off_costs_no_row_beside_large_values(level):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 2))
    y = level * (1.0 + 0.1 * np.sin(2.0 * X[:, 0]) + 0.01 * rng.normal(size=500))
    for start in range(200, 450, 80):
        y[start : start + 7] = -9999.0 + rng.uniform(-1.0, 1.0, 7)
    sizes = np.abs(errors(X, y))[150:]
    assert sizes[y[150:] > 0.0].max() < 0.1 * level


def test_what_lies_across_all_values_and_farther():
    state = TargetFence().start() | {"within": np.array([2.0, 90.0]), "origin": 10.0, "unit": 2.0}
    for target, near, is_across in [
        (-101.0, 50.0, True),
        (-100.0, 50.0, False),  # -190, as far as 90 and what is near to that
        (-51.0, 0.0, True),
        (-50.0, 0.0, False),
        (101.0, 0.0, False),
    ]:
        assert _nones.is_across(state, target, near) == is_across


def moved_by(fence, state, t, target):
    """Let a target be met alone by who always forecasts the level; return how far that moves."""
    u = np.array([target - state["origin"]])
    taught, moves = fence.believed([state], t, u, np.zeros(1), np.zeros((1, 1, 0)), [False])
    if moves[0]:
        fence.move(state, moves[0])
    rows = np.zeros((1, 6))
    rows[0, [0, 4]] = u[0] - moves[0], taught[0] != u[0]
    fence._learn_rows(state, t, rows)
    return float(moves[0])
