"""What experts that say again what came said of a row is told when it comes."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _rounds, _views, _waiting


def _made(n, m, season):
    rng, t = np.random.default_rng(0), np.arange(n)[:, None]
    return np.sin(2.0 * np.pi * t / season + np.arange(m)) + 0.1 * rng.normal(size=(n, m))


def _said_of_next(model):
    """Return what the latest origins said of the next row: experts (E, H, m), mixtures."""
    plan, state = model._plan(), _rounds._copied(model._state, True)
    slot, horizon = state["origin"]["slot"], plan.horizon
    _waiting.write(state["recent"], _rounds._waits(plan, slot), state["t"], horizon)
    return _rounds._said(plan, state, np.empty(0))[:2]


@pytest.mark.long(every=50)
@pytest.mark.parametrize("is_faulty", [False, True])
@pytest.mark.parametrize(("season_lengths", "pooled"), [(None, True), ((6, 42), False)])
def test_it_is_what_they_said(season_lengths, pooled, is_faulty, monkeypatch):
    horizon, y, issued, taken_back = 9, _made(220, 2, 6), [], []
    as_it_is = _views.take_back
    monkeypatch.setattr(
        _views, "take_back", lambda view, k: taken_back.append(k) or as_it_is(view, k)
    )
    y[:10, 1], y[60:64, 0] = np.nan, np.nan
    if is_faulty:
        y[180:] += 100.0  # a new level
        y[160], y[145:147, 1] = 400.0, 6.0  # single faults, and a number that stands still
    model = OnlineForecaster(
        horizon, windows=(3, 4, 6), season_lengths=season_lengths, pooled=pooled
    )
    for t, row in enumerate(y):
        model.partial_fit(row[None])
        issued.append(model._state["origin"]["slot"])
        is_same_level = not is_faulty or not 180 <= t < 183 + horizon
        if t > horizon and is_same_level:
            F, mixed = _said_of_next(model)
            for h in range(horizon):
                slot = issued[t - h]
                assert_allclose(mixed[:, h], slot["mixed"][:, h], rtol=1e-13, atol=1e-13)
                if t > 140:
                    assert_array_equal(F[:, h], slot["forecasts"][:, h])
    assert bool(taken_back) == is_faulty
    assert np.isfinite(model._state["recent"]["beside"]).all()
    assert_allclose(model.predict().mean(), y[-6:].mean(), atol=1.0)
