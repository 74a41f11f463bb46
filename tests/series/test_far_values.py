"""Values far from their forecasts: what lasts of them is gone on from, what comes back is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _far_values


@pytest.mark.parametrize("lasts", [True, False])
def test_what_comes_back_is_not_gone_on_from_and_what_lasts_is(lasts):
    """A forecast is half of what was kept, as it is half of what lasts."""
    rng, state, value, kept = np.random.default_rng(1), _far_values.start(1), 0.0, np.zeros(1)
    for t in range(200):
        shock = 20.0 * (t % 10 == 9) * (-1.0) ** (t // 10)
        value = 0.5 * value * lasts + shock + 0.1 * rng.normal()
        issued = 0.5 * kept
        taught, kept, _ = _far_values.learn(state, np.array([value]), issued)
    if lasts:
        assert state["share"][0] > 0.9
        assert_allclose(kept, value, atol=2.0)
    else:
        assert state["share"][0] < 0.05
        assert np.abs(kept) < 1.0
        assert 1.0 < np.abs(taught - issued) < 10.0 * state["usual"]


def test_a_level_is_gone_on_from_with_its_second_value():
    state = _far_values.start(2)
    rng = np.random.default_rng(0)
    for _ in range(40):
        _far_values.learn(state, rng.normal(size=2), np.zeros(2))
    state["share"][0] = 0.0
    y = np.array([50.0, np.nan])
    taught, kept, before = _far_values.learn(state, y, np.zeros(2))
    assert kept[0] == 0.0
    assert 0.0 < taught[0] < 10.0
    assert np.isnan([taught[1], kept[1]]).all()
    assert np.isnan(before).all()
    _, kept, before = _far_values.learn(state, y + 1.0, np.zeros(2))
    assert kept[0] == 51.0
    assert_array_equal(before, [50.0, np.nan])
    assert state["share"][0, 0] > 0.4
    assert _far_values.is_sound(state)


@pytest.mark.parametrize("n", [1, 2])
def test_one_or_two_far_values_that_do_not_last_are_soon_left_out(n):
    """The way back had counted as a far value that lasts, and two that agree as a level."""
    state, rng, forecast, lost = _far_values.start(1), np.random.default_rng(n), np.zeros(1), []
    for t in range(300):
        is_far = t >= 30 and t % 30 < n
        y = 50.0 * is_far + 0.5 * rng.normal(size=1)
        lost.append(0.0 if is_far else np.abs(forecast[0]))
        taught, forecast, _ = _far_values.learn(state, y, forecast)
        assert np.abs(taught[0]) < 51.0
    assert max(lost[30:90]) > 20.0
    assert max(lost[90:]) < 15.0


def test_a_third_value_that_agrees_is_gone_on_from():
    state, rng = _far_values.start(1), np.random.default_rng(3)
    for _ in range(40):
        _far_values.learn(state, rng.normal(size=1), np.zeros(1))
    state["share"][:] = 0.0
    found = [_far_values.learn(state, np.full(1, 50.0 + k), np.zeros(1))[1:] for k in range(3)]
    assert [kept[0] for kept, _ in found] == [0.0, 0.0, 52.0]
    assert [before[0] for _, before in found[1:]] == [0.0, 51.0]
    assert state["share"][1, 0] > 0.9


def series(seed, n=700):
    rng = np.random.default_rng(seed)
    y = rng.normal(size=n)
    for t in range(1, n):
        y[t] += 0.8 * y[t - 1]
    return y + 3.0 * np.sin(np.arange(n) * np.pi / 12.0), rng


@pytest.mark.long
@pytest.mark.parametrize(("size", "most"), [(6.0, 1.5), (12.0, 2.2)])
def test_faults_of_all_sizes(size, most):
    """Errors of all other rows were 1.7 and 3.2 times those of who is told which are faulty."""
    losses = []
    for seed in range(2):
        y, rng = series(seed)
        faulty = rng.uniform(size=len(y)) < 0.05
        sizes = size * y.std() * rng.uniform(0.7, 1.4, size=len(y))
        came = y + faulty * sizes * rng.choice([-1.0, 1.0], size=len(y))
        found = [
            OnlineForecaster(3).prequential_predict(z)[200:-3]
            for z in (came, np.where(faulty, np.nan, y))
        ]
        good, wanted = (
            np.array([one[t : t + 3] for t in range(200, len(y) - 3)]) for one in (~faulty, y)
        )
        losses.append([np.square(said - wanted)[good].mean() for said in found])
    told = np.mean(losses, axis=0)
    assert told[0] < most * told[1]


@pytest.mark.parametrize("cut", [1, 7])
def test_cuts_change_nothing(cut):
    y, rng = series(3, 200)
    y[rng.uniform(size=200) < 0.05] += 40.0
    model, parts = OnlineForecaster(2), []
    for low in range(0, 200, cut):
        parts.append(model.prequential_predict(y[low : low + cut]))
    assert_array_equal(np.concatenate(parts), OnlineForecaster(2).prequential_predict(y))
    assert model._state["far"]["share"][0, 0] < 1.0


@pytest.mark.long
def test_the_unit_of_a_series_changes_nothing():
    y, rng = series(4, 300)
    y[rng.uniform(size=300) < 0.05] += 30.0
    one, other = (OnlineForecaster(2).prequential_predict(unit * y) for unit in (1.0, -8.0))
    assert_allclose(other[1:], -8.0 * one[1:], rtol=1e-8)


@pytest.mark.long
def test_what_comes_every_day_is_forecast():
    rng, t = np.random.default_rng(5), np.arange(600)
    y = 15.0 * (t % 24 == 7) + 0.5 * rng.normal(size=600)
    said = OnlineForecaster(6).prequential_predict(y)
    errors = np.array([said[i] - y[i : i + 6] for i in range(300, 594)])
    assert np.square(errors).mean() < 0.5
