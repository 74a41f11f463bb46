"""Intervals that know the row: against the loop, and where they hold."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _fixed_share, _intervals, _row_sizes, _waiting
from tests.oracles.row_sizes import RowSizes

SMALL = {"windows": (3, 4, 6)}


def ridden(n=45, horizon=3, m=2, d=1, n_phases=2, seasons=(5, 35, 0)):
    """Yield after each row what both say of the next rows, and their states."""
    rng, n_levels = np.random.default_rng(0), len(_intervals.LEVELS)
    seasons = np.array(seasons)
    state = _row_sizes.start(d, n_phases, horizon, m)
    loop = RowSizes(horizon, m, d, n_phases, seasons.tolist())
    X, phases = rng.normal(size=(n + horizon, d)), rng.normal(size=(n + horizon, n_phases))
    X[10], said = np.nan, rng.normal(size=(n + horizon, horizon, m))  # [i, h]: of row i + h
    errors = rng.standard_t(3, size=said.shape) * np.exp(X[:, :1, None])
    errors[rng.random(errors.shape) < 0.1] = np.nan
    errors[:12, :, 1] = np.nan
    base = np.sort(rng.uniform(0.1, 3.0, size=(n, n_levels, horizon, m)), axis=1)
    base[:6] = -1.0
    sizes, steps, slots = np.full((horizon, m), 0.7), np.arange(horizon), []
    for t in range(n):
        units = rng.normal(size=d), np.full(d, 2.0), rng.normal(size=m), np.full(m, 0.5)
        slots.append(_row_sizes.snapshot(state, units[:2], units[2:]))
        loop.issue(units)
        rows = slice(t, t + horizon)
        known, parts = _row_sizes.told(slots[t], horizon), _row_sizes.parts_of(t + steps, seasons)
        Z = _row_sizes.features(known, X[rows], phases[rows], parts, said[t])
        ours = _row_sizes.issued(known, Z, base[t])[1]
        theirs = [
            [
                loop.told(t, h, c, X[t + h], phases[t + h], said[t, h, c], base[t, :, h, c])[-1]
                for c in range(m)
            ]
            for h in steps
        ]
        yield ours, np.moveaxis(theirs, -1, 0), state, loop
        then = np.maximum(t - steps, 0)  # where there was no origin, nothing is known
        if t == 0:
            recent = _waiting.start(slots[0], horizon)
        _waiting.write(recent, slots[t], t, horizon)
        is_there = (t >= steps)[:, None]
        came = np.where(is_there, errors[then, steps], np.nan)
        reach = np.where(is_there, base[then, :, steps].swapaxes(0, 1), -1.0)
        known = _row_sizes.told_by(recent, t, horizon)
        row = np.broadcast_to(X[t], (horizon, d)), np.broadcast_to(phases[t], (horizon, n_phases))
        parts = _row_sizes.parts_of(np.full(horizon, t), seasons)
        Z = _row_sizes.features(known, *row, parts, said[then, steps])
        trust = rng.random((horizon, m))
        _row_sizes.learn(state, known, Z, reach, came, sizes, trust)
        loop.learn(X[t], phases[t], said[then, steps], reach, came, sizes, trust)


def test_intervals_that_know_the_row_are_those_of_the_loop():
    for told in ridden():
        assert_allclose(*told[:2], rtol=1e-8)
    ours, _, state, loop = told
    assert_allclose(state["slopes"], loop.slopes, rtol=1e-8)
    theta = [ridge.theta for ridge in loop.ridges]
    assert_allclose(state["ridge"]["theta"][0, :, 0], theta, rtol=1e-7, atol=1e-9)
    assert ours.min() > 0.0


def test_the_bound_on_what_knowing_the_row_costs_is_kept():
    *_, (_, _, state, _) = ridden(n=60)
    shares = state["shares"]
    assert (shares["regrets"] <= _fixed_share.bounds(shares)).all()
    assert (_fixed_share.bounds(shares) > 0.0).all()


def held(x, errors):
    """Return which errors (n,) were held by 90 % intervals: not knowing the row x (n,), and so."""
    state, base = _row_sizes.start(1, 0, 1, 1), _intervals.start(1, 1)
    moments, k, hits = [np.full(1, value) for value in (0.0, 1.0) * 2], 9, []
    for z, error in zip(x, errors, strict=True):
        slot = _row_sizes.snapshot(state, moments[:2], moments[2:])
        known, reach = _row_sizes.told(slot, 1), _intervals.reaches(base, 0, 0)
        row = np.full((1, 1), z), np.empty((1, 0)), _row_sizes.parts_of([0], np.zeros(3, dtype=int))
        Z = _row_sizes.features(known, *row, np.zeros((1, 1)))
        mixed = _row_sizes.issued(known, Z, reach)[1]
        hits.append([abs(error) <= reach[k, 0, 0], abs(error) <= mixed[k, 0, 0]])
        size, weight = base["size"][1], base["weight"][1]
        sizes, came = size / np.where(weight > 0.0, weight, 1.0), np.full((1, 1), error)
        _row_sizes.learn(state, known, Z, reach, came, sizes)
        _intervals.learn(base, 0, 0, came, reach)
    return np.array(hits)


@pytest.mark.long
def test_intervals_hold_on_days_that_are_harder():
    rng = np.random.default_rng(0)
    is_odd = rng.random(125).repeat(24) < 0.15  # days that a column tells
    x = (is_odd - 0.15) / 0.36
    errors = np.where(is_odd, 4.0, 1.0) * rng.normal(size=len(x))
    hits = held(x, errors)[600:]
    plain, knowing = hits[is_odd[600:]].mean(axis=0)
    assert plain < 0.7
    assert abs(knowing - 0.9) < 0.04
    assert_allclose(hits[~is_odd[600:], 1].mean(), 0.9, atol=0.02)


def test_what_is_not_asked_about_needs_no_columns():
    rng = np.random.default_rng(0)
    y, X = rng.normal(size=144), rng.normal(size=(144, 2))
    model = OnlineForecaster(6, **SMALL).fit(y[:-6], X[:-6])
    whole = model.predict_interval(X[-6:])
    assert_array_equal(model.predict_interval(X[-6:-2]), whole[:4])
    assert_array_equal(model.predict_interval(X[-6:], n_steps=6), whole)


def test_parts_of_the_seasons():
    parts = _row_sizes.parts_of([0, 25, 167], np.array([24, 168, 0])).reshape(3, 2, 24)
    assert_array_equal(parts.argmax(axis=-1), [[0, 0], [1, 1], [23, 6]])
    assert not _row_sizes.parts_of([3], np.zeros(3, dtype=int)).any()
