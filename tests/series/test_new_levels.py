"""A column known ahead is at another level from some row on: what it said is still known."""

import numpy as np
import pytest

from sklearn_okl import OnlineForecaster


def stream(seed, n_rows, effect=20.0):
    """Return a series with a season, and a column that explains most of it."""
    rng = np.random.default_rng(seed)
    e, t = np.zeros(n_rows), np.arange(n_rows)
    for i in range(1, n_rows):
        e[i] = 0.9 * e[i - 1] + 0.3 * rng.normal()
    x = rng.normal(size=n_rows)
    y = 100.0 + 10.0 * (np.sin(2.0 * np.pi * t / 24.0) + e + 0.1 * rng.normal(size=n_rows))
    return y + effect * x, x


def loss(y, x, after, horizon=1, seed=0, **settings):
    n = len(y) - horizon
    said = OnlineForecaster(horizon, random_state=seed, **settings).prequential_predict(
        y[:n], x[:n, None], x[n:, None]
    )
    said = said.reshape(n, horizon, -1)[:, 0]
    return np.mean((said - y[:n].reshape(n, -1))[after:] ** 2)


@pytest.mark.parametrize(
    ("seed", "start", "end", "shift", "horizon"),
    [
        pytest.param(0, 100, 300, 1000.0, 1, marks=pytest.mark.long),
        pytest.param(1, 20, 300, -1000.0, 1, marks=pytest.mark.long),
        pytest.param(2, 40, 300, 30.0, 1, marks=pytest.mark.long),
        pytest.param(3, 100, 150, 1e4, 1, marks=pytest.mark.long),  # and back again
        pytest.param(4, 270, 400, 1e6, 24, marks=pytest.mark.long),
        pytest.param(5, 4, 200, 100.0, 1, marks=pytest.mark.long),
    ],
)
def test_a_column_at_a_new_level_says_what_it_said(seed, start, end, shift, horizon):
    n = max(end, start + 64) + 150
    y, x = stream(seed, n)
    t = np.arange(n)
    moved = x + shift * ((t >= start) & (t < end))
    after = n - 100
    theirs = loss(y, x, after, horizon)
    assert loss(y, moved, after, horizon) <= 1.5 * theirs


@pytest.mark.long
@pytest.mark.parametrize("step", [2000.0, 80.0, -50.0])
def test_the_series_may_move_with_it(step):
    y, x = stream(0, 400)
    up = np.arange(400) >= 200
    theirs = loss(y + step * up, x, 260)
    assert loss(y + step * up, x + 100.0 * up, 260) <= 1.5 * theirs  # 10 and 11 before


@pytest.mark.long
def test_a_column_of_several_levels_is_learnt():
    rng = np.random.default_rng(0)
    y, _ = stream(0, 700, effect=0.0)
    t = np.arange(700)
    mode = (t >= 150) & (t // 20 % 2 == 0)
    x = mode + 0.01 * rng.normal(size=700)
    said, clean = loss(y + 50.0 * mode, x, 400), loss(y, x, 400)
    assert said <= 1.5 * clean


def test_the_cut_is_invisible_where_a_column_moves():
    y, x = stream(0, 120)
    x[50:] += 500.0
    x[90:] -= 500.0
    whole = OnlineForecaster(2).prequential_predict(y[:118], x[:118, None], x[118:, None])
    model = OnlineForecaster(2)
    for t in range(118):
        if t:
            assert np.array_equal(model.predict(x[t : t + 2, None]), whole[t])
        model.partial_fit(y[t : t + 1], x[t : t + 1, None])
    assert model._state["doubts"]["n_levels"].tolist() == [2]
