"""Streams that step by themselves, and streams with faults: what they say of themselves is so."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.datasets import make_faulty_stream, make_irregular_stream, make_shifted_stream

KINDS = ("setpoints", "counter", "walk", "loads", "price", "meter", "events", "cycles", "saw")


@pytest.mark.parametrize("seed", [0, 5])
@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_makes_one_stream_and_nothing_in_it_is_faulty(kind, seed):
    stream, again, other = (
        make_irregular_stream(700, kind=kind, random_state=s) for s in (seed, seed, seed + 1)
    )
    assert stream.data.shape == (700, 3)
    assert stream.target.shape == stream.faulty.shape == (700,)
    assert np.isfinite(stream.data).all()
    assert np.isfinite(stream.target).all()
    assert not stream.faulty.any()
    assert_array_equal(stream.clean_target, stream.target)
    for name, part in stream.items():
        assert_array_equal(part, again[name])
    assert (stream.target != other.target).any()
    X, y = make_irregular_stream(700, kind=kind, random_state=seed, return_X_y=True)
    assert_array_equal(X, stream.data)
    assert_array_equal(y, stream.target)
    assert (np.diff(stream.changes) > 0).all()


@pytest.mark.parametrize("seed", [1, 8])
@pytest.mark.parametrize("kind", ["setpoints", "counter", "walk", "loads", "price"])
def test_levels_change_at_the_changes_and_nowhere_else(kind, seed):
    settings = {"kind": kind, "random_state": seed}
    shown = make_irregular_stream(2000, hidden=False, **settings)
    steps = np.abs(np.diff(shown.data[:, 0]))
    usual = 3.0 if kind == "counter" else 0.0
    assert_array_equal(1 + np.flatnonzero(steps > usual), shown.changes)
    hidden = make_irregular_stream(2000, **settings)
    assert_array_equal(hidden.target, shown.target)
    assert_array_equal(hidden.data[:, 1:], shown.data[:, 1:])
    assert np.abs(np.corrcoef(hidden.data[:, 0], hidden.target)[0, 1]) < 0.2


@pytest.mark.parametrize("every", [30, 300])
def test_setpoints_are_levels_and_noise(every):
    stream = make_irregular_stream(
        3000, every=every, noise=0.5, size=20.0, hidden=False, random_state=2
    )
    assert_array_equal(stream.changes, np.arange(every, 3000, every))
    level = stream.data[:, 0]
    assert level.min() >= 0.0
    assert level.max() <= 20.0
    assert_allclose(np.std(stream.target - level), 0.5, rtol=0.05)


def test_the_counter_is_the_formula():
    y = make_irregular_stream(1500, kind="counter", random_state=4).target
    counts = (y - 3 * np.arange(1500)) % 1000
    assert_array_equal(counts, np.round(counts))
    assert_allclose(counts.mean(), 2.0, atol=0.15)
    assert y.max() < 1000


def test_walks_walk_between_their_jumps():
    stream = make_irregular_stream(6000, kind="walk", random_state=0)
    steps = np.delete(np.diff(stream.target), stream.changes - 1)
    assert_allclose(np.std(steps), 1.0, rtol=0.05)
    assert 30 < len(stream.changes) < 90  # one in a hundred rows


def test_prices_stay_as_they_are():
    stream = make_irregular_stream(6000, kind="price", random_state=3)
    assert_array_equal(1 + np.flatnonzero(np.diff(stream.target)), stream.changes)
    assert_allclose(stream.target, np.round(stream.target, 2), rtol=1e-12)


def test_meters_count_by_the_hour():
    X, y = make_irregular_stream(6000, kind="meter", noise=0.1, random_state=1, return_X_y=True)
    steps = np.diff(y)
    assert (steps > 0.0).all()
    assert_allclose(steps.reshape(-1)[23::24].mean(), 2.0, rtol=0.1)  # midnight: 10 (1 - 0.8)
    assert_array_equal(np.round(np.hypot(X[:, 0], X[:, 1]), 12), 1.0)


@pytest.mark.parametrize("noise", [0.0, 0.5])
def test_events_are_rare_and_told_by_x(noise):
    settings = {"kind": "events", "every": 50, "noise": noise, "random_state": 7}
    X, y = make_irregular_stream(20000, **settings, return_X_y=True)
    assert set(y) == {0.0, 1.0}
    assert_allclose(y.mean(), 0.02, rtol=0.2)
    highest = X[y == 0.0, 0].max()
    assert (X[y == 1.0, 0].min() > highest) == (noise == 0.0)


def test_cycles_go_down_with_their_phase():
    stream = make_irregular_stream(1000, kind="cycles", noise=0.0, random_state=0)
    assert_array_equal(stream.changes, [200, 400, 600, 800])
    steps = np.diff(stream.target)
    assert_array_equal(1 + np.flatnonzero(steps > 0.0), stream.changes)
    assert_array_equal(np.flatnonzero(stream.data[:, 0] == 0.0), [0, *stream.changes])
    assert (np.diff(stream.target[[0, *stream.changes]]) < 0.0).all()  # the battery ages


def test_saws_are_reset_where_x_says_so():
    stream = make_irregular_stream(3000, kind="saw", noise=0.0, random_state=6)
    assert_array_equal(np.flatnonzero(stream.data[:, 0]), stream.changes)
    assert (stream.target[stream.changes] == 0.0).all()
    assert_allclose(np.delete(np.diff(stream.target), stream.changes - 1), 1.0, rtol=1e-9)


@pytest.mark.parametrize("where", ["target", "data"])
@pytest.mark.parametrize("base", ["table", "series"])
def test_faults_are_where_they_are_said_to_be(base, where):
    settings = {"base": base, "where": where, "random_state": 3}
    few, many = (make_faulty_stream(2000, share=share, **settings) for share in (0.05, 0.2))
    faulty, name = ("faulty", "target") if where == "target" else ("faulty_data", "data")
    assert not many["faulty_data" if where == "target" else "faulty"].any()
    for stream, share in ((few, 0.05), (many, 0.2)):
        assert_array_equal(stream[name] == -9999.0, stream[faulty])
        assert_array_equal(
            np.where(stream[faulty], 0.0, stream[name]),
            np.where(stream[faulty], 0.0, stream[f"clean_{name}"]),
        )
        assert_allclose(stream[faulty].mean(), share, rtol=0.2)
    assert (few[faulty] <= many[faulty]).all()
    assert_array_equal(few[f"clean_{name}"], many[f"clean_{name}"])


def test_faults_begin_where_they_may_and_are_low():
    stream = make_faulty_stream(1000, share=0.3, value="low", first=100, random_state=0)
    assert not stream.faulty[:100].any()
    clean = stream.clean_target
    assert_allclose(stream.target[stream.faulty], clean.mean() - 8.0 * clean.std())
    cells = make_faulty_stream(1000, share=0.3, value="low", where="data", random_state=0)
    low = cells.clean_data.mean(axis=0) - 8.0 * cells.clean_data.std(axis=0)
    assert_allclose(cells.data, np.where(cells.faulty_data, low, cells.clean_data))
    assert (
        make_faulty_stream(50, share=1.0, value=7.0, random_state=0).target.tolist() == [7.0] * 50
    )


def test_the_clean_table_and_series_are_their_formulas():
    X, y = make_faulty_stream(3000, share=0.0, noise=0.0, random_state=1, return_X_y=True)
    assert_allclose(y, X[:, 0] + np.sin(2 * X[:, 1]) + X[:, 2] * X[:, 3] / 2, rtol=1e-12)
    X, y = make_faulty_stream(
        3000, base="series", share=0.0, noise=0.5, random_state=1, return_X_y=True
    )
    rest = y - 20.0 - 5.0 * X[:, 0] + 2.0 * X[:, 3] - X[:, 4]
    assert_allclose(np.std(rest), 2.0, rtol=0.15)
    assert_allclose(np.corrcoef(rest[1:], rest[:-1])[0, 1], 0.9, atol=0.03)


@pytest.mark.parametrize("base", ["table", "series"])
def test_shifts_are_those_asked_for(base):
    settings = {"base": base, "shift_at": 0.25, "random_state": 9}
    for kind, size in (("level", 3.0), ("unit", 1e3), ("sign", 1.0)):
        stream = make_shifted_stream(1000, kind=kind, size=size, **settings)
        before = stream.unshifted_target
        assert_array_equal(stream.changes, [250])
        assert_array_equal(stream.target[:250], before[:250])
        expected = {
            "level": before + 3.0 * before[:250].std(),
            "unit": 1e3 * before,
            "sign": -before,
        }
        assert_allclose(stream.target[250:], expected[kind][250:])
    for shift_at in (0.0, 1.0):
        assert len(make_shifted_stream(10, shift_at=shift_at, random_state=0).changes) == 0


@pytest.mark.parametrize(
    ("make", "settings"),
    [
        (make_irregular_stream, {"kind": "steps"}),
        (make_irregular_stream, {"every": 1}),
        (make_irregular_stream, {"noise": -1.0}),
        (make_faulty_stream, {"share": 1.1}),
        (make_faulty_stream, {"value": "high"}),
        (make_faulty_stream, {"where": "X"}),
        (make_shifted_stream, {"kind": "jump"}),
        (make_shifted_stream, {"shift_at": 2.0}),
    ],
)
def test_what_is_not_a_stream_is_refused(make, settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        make(10, **settings)
