"""Seasons: found to the row in made series, and changed without harm."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _delayed_ridge, _frames, _mixture, _seasons, _smoothing
from sklearn_okl.series._smoothing_rates import SHORT, STEADY

LENGTHS = [(7,), (12,), (24,), (52,), (48,), (96,), (168,), (24, 168), (48, 336), (144, 1008)]
LENGTHS += [(24, 168), (48, 336), (7, 365), (12,), (24, 168), (96, 672), (24, 168, 672), (12, 60)]
LENGTHS += [(7, 28), (169,)]


def shape(length, kind, rng):
    """Make a season of variance 1: a wave, three of them, or any pattern."""
    turn = 2.0 * np.pi * np.arange(length) / length
    if kind == 2:
        pattern = rng.normal(size=length)
    else:
        waves = [np.sin(k * turn + rng.uniform(0.0, 6.3)) for k in (1, 2, 3)[: 1 + 2 * kind]]
        pattern = sum(rng.uniform(0.5, 1.5) * wave / k for k, wave in enumerate(waves, start=1))
    return (pattern - pattern.mean()) / pattern.std()


def days_of_a_week(day, rng):
    levels = np.repeat(rng.normal(size=7), day)
    return (levels - levels.mean()) / levels.std()


def made_series(seed):
    """Make a series of one to three seasons, each as large as the noise; return their lengths."""
    rng = np.random.default_rng(seed)
    lengths = LENGTHS[seed % len(LENGTHS)]
    n = int(max(lengths) * rng.uniform(4.2, 10.0)) + 10
    time = np.arange(n)
    y = rng.normal(size=n)
    for length in lengths:
        is_week = length == 7 * lengths[0]
        kind = 2 if length == 169 else rng.integers(3)  # of waves nobody could tell 169 from 168
        own = days_of_a_week(lengths[0], rng) if is_week else shape(length, kind, rng)
        y = y + own[time % length]
    kind = seed // 20 + rng.integers(3)
    if kind == 1:
        y = y + 10.0 * rng.normal() * time / n
    elif kind == 2:
        y = (20.0 + 2.0 * y) * np.exp(rng.uniform(0.5, 2.0) * time / n)  # growth
    elif kind == 3:
        y = y + np.cumsum(rng.normal(size=n)) / np.sqrt(n)
    if seed % 3 == 0:  # gaps
        holes = rng.uniform(size=n) < 0.05
        y[holes] = np.interp(time[holes], time[~holes], y[~holes])
    return y, lengths


def test_seasons_of_made_series_are_found_to_the_row():
    missed = []
    for seed in range(40):
        y, lengths = made_series(seed)
        found = _seasons.found(y[:, None]).tolist()
        if not set(lengths) <= set(found):
            missed.append((lengths, len(y), found))
    assert len(missed) <= 2, missed


def test_what_lasts_is_no_season():
    found = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        noise = rng.normal(size=(64, 1) if seed % 2 else (300, 2))
        for y in (noise, np.cumsum(noise, axis=0), np.cumsum(noise + 0.3, axis=0)):
            found += _seasons.found(y).any()
    assert found <= 4  # of 90
    assert not _seasons.found(np.ones((200, 3))).any()
    assert not _seasons.found(np.arange(400.0)[:, None] ** 2).any()


def test_several_series_tell_a_season_together():
    rng = np.random.default_rng(4)
    wave = 0.5 * np.sin(2.0 * np.pi * np.arange(100)[:, None] / 12.0)
    y = wave + rng.normal(size=(100, 20))
    assert _seasons.found(y)[0] == 12


@pytest.mark.parametrize("p", [2, 3, 7, 12, 30])
def test_the_sum_over_multiples_of_a_lag_is_that_over_lines(p):
    x, n = np.random.default_rng(p).normal(size=60), 128
    correlation = np.fft.irfft(np.abs(np.fft.rfft(x, n)) ** 2, n)
    at_lines = [
        np.abs(np.sum(x * np.exp(-2j * np.pi * k / p * np.arange(60)))) ** 2 for k in range(p)
    ]
    assert_allclose(_seasons._at_lines(correlation, 30)[p], sum(at_lines) / 2.0)


def test_a_season_keeps_its_place():
    slots = _seasons.settled(np.array([0, 0, 0]), np.array([24, 0, 0]))
    assert_array_equal(slots, [24, 0, 0])
    slots = _seasons.settled(slots, np.array([24, 168, 0]))
    assert_array_equal(slots, [24, 168, 0])
    assert_array_equal(_seasons.settled(slots, np.array([12, 168, 0])), [24, 168, 12])
    full = np.array([24, 168, 12])
    assert_array_equal(_seasons.settled(full, np.array([7, 24, 0])), [24, 168, 7])
    assert_array_equal(_seasons.settled(full, np.array([0, 0, 0])), full)


def test_looks_and_what_is_remembered():
    looks = [t for t in range(20000) if _seasons.is_look_due(t)]
    assert looks[:7] == [32, 48, 64, 96, 128, 192, 256]
    assert looks[-5:] == [4096, 6144, 8192, 12288, 16384]
    assert _seasons.n_remembered(32, 1) == 1024
    assert [_seasons.n_remembered(t, 3) for t in (1024, 4096, 16384)] == [2048, 8192, 8192]
    assert _seasons.n_remembered(8192, 400) == 1024


@pytest.mark.parametrize(
    ("index", "lengths"),
    [
        (pd.date_range("2024-01-01", periods=40, freq="h"), (24, 168, 8766)),
        (pd.date_range("2024-01-01", periods=40, freq="30min"), (48, 336, 17532)),
        (pd.date_range("2024-01-01", periods=40, freq="MS"), (12,)),
        (pd.period_range("2024-01", periods=40, freq="Q"), (4,)),
        (pd.date_range("2024-01-01", periods=40, freq="W"), (52,)),
        (pd.date_range("2024-01-01", periods=40, freq="D"), (7, 365)),
        (pd.RangeIndex(40), ()),
    ],
)
def test_rows_in_the_cycles_of_a_calendar(index, lengths):
    assert _frames.rows_in_cycles(_frames.time_of(index)) == lengths


@pytest.mark.long
def test_a_season_is_found_anew_when_it_changes():
    rng = np.random.default_rng(0)
    before, after = (np.tile(rng.normal(size=k), 700 // k + 1)[:700] for k in (10, 23))
    y = np.concatenate([before, after, after]) + 0.5 * rng.normal(size=2100)
    model = OnlineForecaster(3, windows=(3, 4, 6)).fit(y[:700])
    assert 10 in model.season_lengths_
    assert 23 in model.partial_fit(y[700:]).season_lengths_


@pytest.mark.parametrize("seed", range(2))
def test_a_regression_that_forgets_features_is_one_that_never_saw_them(seed):
    rng = np.random.default_rng(seed)
    state = _delayed_ridge.start((2, 1, 1), 5, 1, 1.0, 1.0)
    other = _delayed_ridge.start((2, 1, 1), 5, 1, 1.0, 1.0)
    for t in range(80):
        z = rng.normal(size=(2, 1, 5))
        y = (z[..., :1] + z[..., 1:2] - 2.0 * z[..., 3:4])[None]
        unseen = z.copy()
        unseen[..., [1, 2]] *= t >= 32
        if t == 32:
            _delayed_ridge.forget(state, 4, slice(0, 2))
            assert_allclose(state["theta"], other["theta"], atol=1e-10)
        _delayed_ridge.learn(state, z, y)
        _delayed_ridge.learn(other, unseen, y)
    assert_allclose(state["theta"], other["theta"], atol=1e-10)


def test_an_expert_that_begins_anew_is_not_heard_for_what_another_was():
    rng, state = np.random.default_rng(0), _mixture.start(3, 1, 1)
    for t in range(70):
        y = rng.normal(size=(1, 1))
        F = np.stack([y + 0.1 * rng.normal(), y + rng.normal(), 0.0 * y])
        _mixture.learn(state, t, F, _mixture.forecasts(state, F)[:-1], y)
    assert _mixture.coefficients(state, F)[0, 0, 0] > 0.8
    _mixture.begin_anew(state, 0, np.full((1, 1), np.nan))
    assert abs(_mixture.coefficients(state, F)[0, 0, 0]) < 0.6
    assert (state["theta"][:, 0] == 0.0).all()
    assert_allclose(state["P"], np.linalg.inv(state["sums"]))


def test_models_that_share_a_state_do_not_write_into_each_others_seasons():
    y = np.random.default_rng(2).normal(size=60)
    model = OnlineForecaster(2, windows=(2, 3, 4), season_lengths=(4, 6)).fit(y[:40])
    other, before = copy.copy(model), pickle.dumps(model._state["smoothing"])
    assert model._state["smoothing"]["lengths"].tolist() == [4, 6]
    for t in range(40, 60):
        other.partial_fit(y[t : t + 1])
    assert pickle.dumps(model._state["smoothing"]) == before
    assert_array_equal(model.partial_fit(y[40:]).predict(), other.predict())


@pytest.mark.long
def test_the_cut_changes_nothing_where_more_is_remembered():
    rng = np.random.default_rng(1)
    y = np.tile(rng.normal(size=200), 7)[:1300] + rng.normal(size=1300)
    whole = OnlineForecaster(2, windows=(3, 4, 6)).fit(y)
    parts, low = OnlineForecaster(2, windows=(3, 4, 6)), 0
    for high in (1000, 1023, 1024, 1025, 1300):
        parts.partial_fit(y[low:high])
        low = high
    assert pickle.dumps(parts._state) == pickle.dumps(whole._state)
    assert 200 in whole.season_lengths_


def test_smoothing_is_judged_by_rows_that_its_seasons_have_not_seen():
    y = np.random.default_rng(3).normal(size=(400, 2))
    state = _smoothing.start(4, 2)
    _smoothing.begin_anew(state, [], y)
    before = pickle.dumps(state)
    errors, latest = _smoothing.errors_again(state, [60], y, 4, np.ones(2))
    assert pickle.dumps(state) == before
    mean = errors.mean(axis=(1, 2, 3))  # of each bank
    assert 0.85 < errors[SHORT].min() < 1.05
    np.testing.assert_allclose(latest, 2.0, rtol=0.2)  # of noise, which comes and goes
    assert mean[STEADY] > 1.02 * mean[SHORT]  # a season of noise is worth less than none
    assert _smoothing.errors_again(state, [60], y[:135], 4, np.ones(2)) is None


def test_experts_that_change_places_are_heard_as_before():
    rng, state, other = np.random.default_rng(1), _mixture.start(3, 2, 1), None
    order = np.array([2, 1, 0])
    for t in range(90):
        y, F = rng.normal(size=(2, 1)), rng.normal(size=(3, 2, 1))
        if t == 70:
            other = copy.deepcopy(state)
            _mixture.exchange(other, order)
            _mixture.exchange(state, np.arange(3))
        for one, said in ((state, F), (other, F[order])):
            if one:
                _mixture.learn(one, t, said, _mixture.forecasts(one, said)[:-1], y)
    F = rng.normal(size=(3, 2, 1))
    assert_allclose(_mixture.forecasts(other, F[order]), _mixture.forecasts(state, F), rtol=1e-8)


def as_series(lengths):
    return pytest.importorskip("pandas").Series(lengths)


@pytest.mark.parametrize("kind", [np.array, as_series])
def test_lengths_that_are_given_may_be_in_any_container_and_order(kind):
    # arrays of two were an error of NumPy, and the longest was taken for the first season
    y = 10.0 + np.sin(np.arange(60) / 2.0) + np.random.default_rng(0).normal(size=60)
    given = {"horizon": 2, "windows": (2, 3, 4)}
    expected = OnlineForecaster(**given, season_lengths=(6, 12)).fit(y)
    for lengths in ([6, 12], [12, 6, 12]):
        model = OnlineForecaster(**given, season_lengths=kind(lengths)).fit(y[:40])
        model.partial_fit(y[40:])
        assert_array_equal(model.predict(), expected.predict())
        assert model.season_lengths_.tolist()[:2] == [6, 12]


@pytest.mark.parametrize("seasons", [[1024], [1440], [7, 2000]])
def test_a_season_may_be_longer_than_what_is_remembered_without_one(seasons):
    """A day of minutes was an IndexError in the first call: one row more is read than it has."""
    y = 100.0 + np.arange(40.0)
    forecaster = OnlineForecaster(2, season_lengths=seasons).fit(y)
    assert np.isfinite(forecaster.predict()).all()
    assert [k for k in forecaster.season_lengths_ if k] == seasons


@pytest.mark.parametrize("n_series", [1, 3])
def test_series_that_have_not_begun_by_the_first_look(n_series):
    """The look for seasons at row 32 failed, "slice step cannot be zero", if none had a value."""
    forecaster = OnlineForecaster(2).fit(np.full((50, n_series), np.nan))
    assert np.isnan(forecaster.predict()).all()
    y = np.random.default_rng(0).normal(size=(60, n_series))
    assert np.isfinite(forecaster.partial_fit(y).predict()).all()


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_who_gives_the_day_is_told_of_the_week(seed):
    # squared errors were 3 to 5 times those of who gave no season, as no other one was looked for
    rng, n = np.random.default_rng(seed), 1100
    hours, is_weekend = np.arange(n) % 24, np.arange(n) // 24 % 7 >= 5
    profile = 5.0 * np.random.default_rng(seed + 50).normal(size=24).cumsum()
    y = profile[hours] * (1.0 + 0.4 * is_weekend) + 5.0 * is_weekend + rng.normal(size=n)
    losses = []
    for given in (None, (24,), (168, 24)):
        model = OnlineForecaster(4, season_lengths=given)
        said = model.prequential_predict(y)
        losses.append(np.square(said[850:-3, 3] - y[853:]).mean())
        assert model.season_lengths_.tolist()[:2] == [24, 168]
    assert max(losses[1:]) < 1.1 * losses[0]


def test_seasons_that_are_given_stay_whatever_the_rows_say():
    rng = np.random.default_rng(0)
    y = np.sin(2.0 * np.pi * np.arange(400)[:, None] / 12.0) + 0.1 * rng.normal(size=(400, 2))
    assert _seasons.found(y).tolist() == [12, 0, 0]
    assert _seasons.found(y, given=(7,)).tolist() == [7, 12, 0]
    assert _seasons.found(y, given=(12,)).tolist() == [12, 0, 0]
    assert _seasons.found(y, given=(5, 900)).tolist() == [5, 12, 900]  # longer than the past
    assert _seasons.found(y, given=(4, 5, 6, 7)).tolist() == [4, 5, 6, 7]  # no place is left
    assert _seasons.found(y[:20], given=(5,)).tolist() == [5, 0, 0]
