"""Seasons that come again in further ways: what was odd once, and what was seen only once."""

import warnings

import numpy as np
import pytest

from sklearn_okl.series import OnlineForecaster, _again, _echoes, _mixture


def with_odd_days(seed, n, share):
    """Make hours of weekdays and weekends; some weekdays, by chance, are as Sundays."""
    rng, hours = np.random.default_rng(seed), np.arange(24) / 24
    days = np.arange(-(-n // 24))
    peaks = [np.exp(-(((hours - at) / 0.08) ** 2)) for at in rng.uniform(0.2, 0.8, 3)]
    profiles = peaks[0] + peaks[1], 0.5 * peaks[0] + 0.3 * peaks[2], 0.4 * peaks[2]
    kinds = np.array([0, 0, 0, 0, 0, 1, 2])[days % 7]
    kinds = np.where((kinds == 0) & (rng.random(len(days)) < share), 2, kinds)
    noise = rng.normal(size=n)
    for t in range(1, n):
        noise[t] = 0.6 * noise[t - 1] + 0.8 * noise[t]
    return np.concatenate([profiles[kind] for kind in kinds])[:n] + 0.03 * noise


def with_years(seed, n, n_series):
    """Make weeks of sales: a year that all have in part, with peaks, on levels that walk."""
    rng, weeks = np.random.default_rng(seed), np.arange(n) % 52

    def profile():
        year = sum(rng.normal() / k * np.sin(2 * np.pi * k * np.arange(52) / 52) for k in (1, 2))
        year[rng.integers(52, size=3)] += rng.normal(scale=3.0, size=3)
        return (year - year.mean()) / year.std()

    common = profile()
    years = np.array([common + profile() for _ in range(n_series)]).T[weeks]
    levels = np.cumsum(0.05 * rng.normal(size=(n, n_series)), axis=0)
    return 100.0 + years + levels + 0.3 * rng.normal(size=(n, n_series))


def squared_error(y, horizon, first):
    origins = range(first, len(y) - horizon + 1)
    came = np.array([y[t : t + horizon] for t in origins])
    forecasts = OnlineForecaster(horizon).prequential_predict(y)[list(origins)]
    return float(np.mean(np.square(forecasts - came)))


def ratios(monkeypatch, streams, horizon, first):
    """Return squared errors over those of a forecaster in which both ways are silent."""
    found = [squared_error(y, horizon, first) for y in streams]
    monkeypatch.setattr(_echoes, "look", lambda *_: None)
    return np.divide(found, [squared_error(y, horizon, first) for y in streams])


@pytest.mark.long
def test_a_holiday_is_not_forecast_again_a_week_later(monkeypatch):
    streams = [with_odd_days(seed, 2800, 0.06) for seed in range(4)]
    found = ratios(monkeypatch, streams, 24, 1700)
    assert np.exp(np.log(found).mean()) < 0.95, found


@pytest.mark.long
def test_a_year_that_was_seen_twice_is_known(monkeypatch):
    streams = [with_years(seed, 150, 5) for seed in range(4)]
    found = ratios(monkeypatch, streams, 8, 104)
    assert np.exp(np.log(found).mean()) < 0.8, found


@pytest.mark.parametrize("kind", ["walk", "noise", "constant"])
def test_where_no_season_was_seen_nothing_is_said(kind):
    rng, n = np.random.default_rng(5), 140
    y = rng.normal(size=(n, 3))
    y = {"walk": np.cumsum(y, axis=0), "noise": y, "constant": np.full((n, 3), 7.0)}[kind]
    model = OnlineForecaster(8)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(y)
    silent = [k for k, name in enumerate(model.expert_names_) if name == "silent"]
    assert len(silent) == 2
    weights = model.expert_weights_
    assert (weights[..., silent] == 0.0).all()
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0)


def test_a_year_has_a_name():
    model = OnlineForecaster(4).fit(with_years(0, 100, 4))
    assert any("52 rows before again" in name for name in model.expert_names_)


def said_again(rows, lengths, horizon):
    known = _again.snapshot(rows, rows[-1], np.array([4]), np.array(lengths))
    return _again.of_next(rows, rows[-1], known, horizon)[-2:]


def test_each_way_by_hand():
    week = np.array([1.0, 2.0, 3.0, 4.0])
    rows = np.concatenate([week, week + 10.0, week - 100.0])[:, None]
    median, again = said_again(rows, (4, 4), 6)
    np.testing.assert_allclose(median[:, 0], [1.0, 2.0, 3.0, 4.0, 1.0, 2.0])
    np.testing.assert_allclose(again[:, 0], np.array([1.0, 2.0, 3.0, 4.0, 1.0, 2.0]) - 210.0)
    assert np.isnan(said_again(rows, (0, 0), 6)).all()


def test_who_is_silent_changes_no_forecast():
    rng = np.random.default_rng(0)
    with_it, without = _mixture.start(4, 2, 3), _mixture.start(3, 2, 3)
    for t in range(80):
        F, y = rng.normal(size=(3, 2, 3)), rng.normal(size=(2, 3))
        heard = np.insert(F, 1, np.nan, axis=0)
        said, expected = _mixture.forecasts(with_it, heard), _mixture.forecasts(without, F)
        np.testing.assert_allclose(said, expected, atol=1e-12)
        _mixture.learn(with_it, t, heard, said[:-1], y)
        _mixture.learn(without, t, F, expected[:-1], y)


def test_a_file_whose_seasons_are_not_remembered_is_refused():
    assert _echoes.is_remembered(np.array([10, 24]), 30)
    for lengths in ([11, 24], [10, 25], [-1, 0], [0, -3]):
        assert not _echoes.is_remembered(np.array(lengths), 30)
