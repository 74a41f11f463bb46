"""Running moments that notice when a column changes its unit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.untuned import RunningUnits

UNITS = RunningUnits()
CHANGES = {
    "x 1000": lambda x: 1e3 * x,
    "/ 1000": lambda x: 1e-3 * x,
    "x 30": lambda x: 30.0 * x,
    "Fahrenheit": lambda x: 1.8 * x + 32.0,
}


@pytest.mark.parametrize("unit", CHANGES)
@pytest.mark.parametrize("at", [640, 660, 675, 700])  # early, in the middle and late in a block
def test_new_moments_within_two_blocks(unit, at):
    x = np.random.default_rng(at).normal(3.0, 2.0, size=2000)
    x[at:] = CHANGES[unit](x[at:])
    centers, scales = UNITS.learn(UNITS.start(1), x[:, None])[0][:, 0].swapaxes(0, 1)
    for t in (at + 130, 1999):
        assert abs(centers[t, 0] - x[at:].mean()) < 0.6 * x[at:].std()
        assert 0.7 < scales[t, 0] / x[at:].std() < 1.4


@pytest.mark.parametrize("share", [0.02, 0.1])
def test_a_sentinel_that_comes_twice_is_no_level(share):
    rng = np.random.default_rng(int(100 * share))
    x = rng.normal(3.0, 2.0, size=2000)
    is_faulty = rng.uniform(size=2000) < share
    is_faulty[[700, 701, 702]] = True
    X = np.where(is_faulty, -9999.0, x)[:, None]
    state = UNITS.start(1)
    _, seen, _ = UNITS.learn(state, X)
    assert (np.abs(seen[128:]) < 20.0).all()  # those in a row, too
    center, scale = UNITS.known(state)[0, :, 0]
    assert abs(center - 3.0) < 0.5
    assert 1.5 < scale < 2.5
    # a column that stands still has new levels
    x = np.repeat(rng.normal(size=40), 50)
    x[1000:] = 1e3
    assert (UNITS.learn(UNITS.start(1), x[:, None])[1][1001:] == 1e3).all()


def test_moments_against_numpy_and_the_cut():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) * [1.0, 1e-3, 1e4] + [0.0, 1e3, -1e8]
    state = UNITS.start(3)
    centers, scales = UNITS.learn(state, X)[0][:, 0].swapaxes(0, 1)
    for t in (2, 50, 399):
        assert_allclose(centers[t], X[:t].mean(axis=0), rtol=1e-10, atol=1e-10)
        assert_allclose(scales[t], X[:t].std(axis=0), rtol=1e-6)
    assert_allclose(UNITS.known(state)[0, 0], X.mean(axis=0), rtol=1e-10, atol=1e-10)
    X = rng.standard_cauchy(size=(5000, 3))
    X[2000:, 1] *= 1e-4
    whole = UNITS.learn(UNITS.start(3), X)[0]
    state, parts = UNITS.start(3), []
    for low in range(0, 5000, 37):
        parts.append(UNITS.learn(state, X[low : low + 37])[0])
    assert_array_equal(np.concatenate(parts), whole)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_absurd_after_a_gap_is_told_in_any_cut(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 2))
    X[200:, 0] *= 1e3
    X[210:230, 1] += 1e4
    X[rng.uniform(size=X.shape) < 0.3] = np.nan
    state, singly = UNITS.start(2), UNITS.start(2)
    known, seen, strange = UNITS.learn(state, X)
    parts = [UNITS.learn(singly, X[t : t + 1]) for t in range(400)]
    for whole, part in zip((known, seen, strange), zip(*parts, strict=True), strict=True):
        assert_array_equal(np.concatenate(part), whole)
    assert (seen[~np.isnan(seen)] != X[~np.isnan(seen)]).any()
    assert_array_equal(UNITS.plausible(X, known), seen)


@pytest.mark.parametrize("at", [640, 650, 660, 670, 690])
@pytest.mark.parametrize("seed", range(3))
def test_a_new_level_is_no_new_unit_of_lines(seed, at):
    x = np.random.default_rng(seed).normal(3.0, 2.0, size=(1000, 1))
    levels = (1.0, 13.0), (1.0, -16.0), (-0.5, 19.0)
    others = (1e3, 0.0), (1e3, 1e6), (1e-3, 16.0), (1.0, 500.0)  # the last is too far to be seen
    for factor, level in (*levels, *others):
        changed = x.copy()
        changed[at:] = factor * x[at:] + level
        known = UNITS.learn(UNITS.start(1), changed)[0]
        is_same = (known[-1, 1] == known[at, 1]).all()
        assert is_same == ((factor, level) in levels), (factor, level)


def test_moments_are_kept_where_no_unit_changes():
    rng = np.random.default_rng(0)
    n = 20_000
    t = np.arange(n)
    columns = {
        "gaussian": rng.normal(size=n),
        "heavy tails": rng.standard_t(1.5, size=n),
        "random walk": np.cumsum(rng.normal(size=n)),
        "trend": t + rng.normal(size=n),
        "season": np.sin(2 * np.pi * t / 3000) + 0.01 * rng.normal(size=n),
        "days": np.maximum(np.sin(2 * np.pi * t / 1440), 0.0) * (1 + 0.1 * rng.normal(size=n)),
        "volatile": rng.normal(size=n) * np.exp(0.7 * np.sin(2 * np.pi * t / 700)),
        "rare": (rng.uniform(size=n) < 0.01) * 1.0,
        "rare, in runs": ((t // 80) % 100 == 7) * 1.0,
        "levels": np.repeat(rng.normal(size=n // 500), 500),
        "counts": rng.poisson(1.0, size=n) * 1.0,
        "half zeros": np.maximum(rng.normal(size=n), 0.0),
    }
    X = np.column_stack(list(columns.values()))
    state = UNITS.start(X.shape[1])
    scales = UNITS.learn(state, X)[0][:, 0, 1]
    rows = dict(zip(columns, state["weights"], strict=True))
    assert rows.pop("heavy tails") > 0.999 * n  # but for lonely absurd values
    assert rows == dict.fromkeys(rows, n)
    spreads = dict(zip(columns, scales[-1] / X[:-1].std(axis=0), strict=True))
    faulty = {name for name, spread in spreads.items() if abs(spread - 1.0) > 1e-6}
    assert faulty <= {"heavy tails", "rare", "rare, in runs"}
    assert spreads["rare"] > 0.3
    assert spreads["heavy tails"] > 0.05


@pytest.mark.parametrize("block", [16, 64])
@pytest.mark.parametrize("place", [0, 3])
def test_a_unit_that_a_first_fault_made_is_given_up(block, place):
    X = np.random.default_rng(place).normal(size=(80, 2))
    X[place, 1] = 30.0
    units = RunningUnits(block=block)
    state = units.start(2)
    known, _, _ = units.learn(state, X)
    assert known[5, 1, 1, 1] > 8.0  # of the first four rows
    assert_array_equal(known[5:, 1, :, 0], np.tile(known[5, 1, :, 0], (75, 1)))
    assert 0.5 < state["steady"][1, 1] < 3.5


@pytest.mark.parametrize("levels", [(48.1, 1.0, 48.7), (5.0, 90.0, 5.2), (0.0, 3.0, 0.01)])
def test_levels_among_first_rows_are_no_faults(levels):
    """A column that stands still between two levels keeps the unit in which lines see it."""
    units = RunningUnits()
    X = np.repeat(levels, [30, 30, 60])[:, None]
    state = units.start(1)
    state = dict(state)
    known = units.learn(state, X)[0]
    assert known[40, 1, 1, 0] > 0.0
    assert_array_equal(known[40:, 1], np.broadcast_to(known[40, 1], known[40:, 1].shape))
