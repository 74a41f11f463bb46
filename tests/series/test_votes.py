"""What others say, drawn to what earlier seasons had: worth something where days are of kinds."""

import numpy as np
import pytest

from sklearn_okl.series import OnlineForecaster, _votes

SEASON = 12


def of_kinds(seed, n):
    """Make days of two kinds, by chance, which differ in their second half only."""
    rng = np.random.default_rng(seed)
    days = -(-n // SEASON)
    first, *second = rng.normal(size=(3, SEASON // 2))
    kinds = rng.random(days) < 0.5
    rows = [np.concatenate([first, 2.0 * second[int(kind)]]) for kind in kinds]
    return np.concatenate(rows)[:n] + 0.1 * rng.normal(size=n)


def absolute_error(y, first):
    said = OnlineForecaster(SEASON, windows=(6, 12, 24)).prequential_predict(y)
    origins = np.arange(first, len(y) - SEASON + 1)
    return np.abs(y[origins[:, None] + np.arange(SEASON)] - said[origins]).mean()


@pytest.mark.long
def test_days_of_kinds_are_forecast_better(monkeypatch):
    streams = [of_kinds(seed, 700) for seed in range(2)]
    found = [absolute_error(y, 350) for y in streams]
    monkeypatch.setattr(_votes, "n_voters", lambda *_: 0)
    without = [absolute_error(y, 350) for y in streams]
    ratio = np.exp(np.log(np.divide(found, without)).mean())
    assert ratio < 0.98, (found, without)


def test_a_vote_draws_no_farther_than_errors_are():
    y = of_kinds(0, 130)
    model = OnlineForecaster(3, windows=(3, 4, 6), season_lengths=(SEASON,)).fit(y)
    plan, state = model._plan(), model._state
    F = state["origin"]["slot"]["forecasts"]
    weights = np.ones_like(F)
    middle = np.nanmean(F[plan.of_series], axis=0)
    voters = _votes.voters(state, 3)
    found = _votes.of_next(plan, state, voters, F, weights) - middle
    mean_square = state["mixture"]["mixed"][0] / state["mixture"]["weight"]
    most = 0.75 * np.sqrt(mean_square * state["views"][0]["variance"])
    assert (np.abs(found) <= 2.0 * most * (1.0 + 1e-12)).all()
    assert (np.abs(found) > 0.1 * most).any()
    assert _votes.voters(state | {"seasons": np.zeros(3, dtype=np.int64)}, 3) is None
    np.testing.assert_array_equal(_votes.of_next(plan, state, None, F, weights), middle)


def test_seasons_that_were_as_the_present_one_have_the_larger_vote():
    rng = np.random.default_rng(0)
    seasons = rng.normal(size=(5, SEASON, 2))
    seasons[-1, :, 0] = seasons[1, :, 0] + 0.01  # three before it, one of two series
    shares = _votes._shares(seasons.reshape(-1, 2), SEASON)
    assert shares.shape == (4, 2)
    np.testing.assert_allclose(shares.sum(axis=0), 1.0)
    assert shares[2, 0] > 0.99 > shares[:, 1].max()
    np.testing.assert_allclose(_votes._shares(np.ones((4, 1)), 1)[:, 0].sum(), 1.0)


@pytest.mark.parametrize(
    ("season", "t", "n"), [(0, 99, 0), (12, 35, 0), (12, 36, 2), (24, 9999, 14)]
)
def test_so_many_seasons_vote(season, t, n):
    assert _votes.n_voters(season, t) == n
