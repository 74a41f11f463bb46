"""Experts to whom means of the latest rows say another thing at each phase of the first season."""

import numpy as np

from sklearn_okl.series import OnlineForecaster, _experts


def by_day_and_night(n, seed=0):
    """Make rows that follow the one before by day, and turn against it by night."""
    noise = np.random.default_rng(seed).normal(size=n)
    y, lasting = np.zeros(n), 0.2 + 0.7 * np.sin(2.0 * np.pi * np.arange(24) / 24.0)
    for t in range(1, n):
        y[t] = lasting[t % 24] * y[t - 1] + noise[t]
    return y, noise


def test_what_lasts_by_day_is_told_from_what_turns_by_night():
    y, noise = by_day_and_night(1200)
    model = OnlineForecaster(1, season_lengths=(24,), windows=(3, 24, 25))
    errors = (y - model.prequential_predict(y)[:, 0])[800:]
    assert np.mean(errors**2) < 1.2 * np.mean(noise[800:] ** 2)


def test_another_first_season_is_met_as_if_none_had_been_seen():
    y, _ = by_day_and_night(288)
    model = OnlineForecaster(2, season_lengths=(24,), windows=(3, 4, 6)).fit(y)
    plan, state = model._plan(), model._state
    n_last = 1 + plan.n_common
    own = [state["experts"][k]["ridge"] for k, expert in enumerate(plan.experts) if expert.by_phase]
    places = slice(-n_last - _experts.N_BY_PHASE, -n_last)
    assert own
    assert all((ridge["theta"][..., places] != 0.0).all() for ridge in own)
    _experts.forget_first_season(plan.experts, state["experts"], plan.n_common)
    assert all((ridge["theta"][..., places] == 0.0).all() for ridge in own)
    assert all((ridge["theta"][..., : places.start] != 0.0).all() for ridge in own)
