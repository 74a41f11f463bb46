"""Values beyond the fence: how soon a new level is believed the stream says."""

import numpy as np
import pytest

from sklearn_okl import OnlineForecaster
from sklearn_okl.series import _beyond

pytestmark = pytest.mark.filterwarnings("ignore:More than one in twenty")


class Series:
    """One series of deviation 1 around a level, which moves where a new one is believed."""

    def __init__(self):
        self.rng, self.level, self.beyond = np.random.default_rng(0), 0.0, _beyond.start(1)

    def known(self):
        """Return what is remembered of the series."""
        values = self.level + self.rng.normal(size=(100, 1))
        mean, count = np.array([self.level]), np.full(1, 100)
        return {"values": values, "mean": mean, "variance": np.ones(1), "count": count}

    def said(self, value):
        """Return what is learnt of a value, and whether it moves the level."""
        state, before, came = self.known(), self.beyond, np.array([float(value)])
        asked = np.array([self.level]), np.full(1, np.nan)
        learnt, self.beyond, is_new = _beyond.as_learnt(state, before, came, *asked)
        _beyond.settle(state, before, self.beyond, came, asked[0], is_new)
        self.level += (value - self.level) * bool(is_new[0])
        return learnt[0], bool(is_new[0])

    def n_lost(self, values):
        """Return how many of some values in a row are lost before one is believed, as one is."""
        learnt, is_new = np.transpose([self.said(value) for value in values])
        assert is_new.sum() == 1
        return int(np.isnan(learnt).sum())

    def odds(self, value):
        """Return the log odds that a value so far off is of a new level."""
        octave = _beyond._octaves(self.known(), self.beyond, np.array([value]))[0]
        return float(self.beyond["odds"][octave, 0])


def test_who_has_shown_levels_is_believed_at_once():
    series = Series()
    lost = [series.n_lost(level + 0.1 * np.arange(9)) for level in (100, 0, 90)]
    assert lost == [2, 1, 0]
    assert series.said(90.5) == (90.5, False)
    # one much farther off is none, until three agree
    assert series.n_lost([2000.0, 2001.0, 2002.0]) == 2


def test_who_has_shown_faults_is_believed_late():
    series = Series()
    for _ in range(4):
        assert np.isnan(series.said(500.0)[0])
        assert np.isnan(series.said(502.0)[0])
        assert series.said(0.5) == (0.5, False)
    assert series.n_lost(700.0 + np.arange(7)) == 6
    assert Series().n_lost(700.0 + np.arange(3)) == 2  # where there were none the third is
    # a fault says nothing of what is nearer
    assert series.odds(700.0 + 60.0) > series.odds(700.0 + 800.0)


def test_a_level_that_is_left_as_soon_as_it_was_believed_was_a_fault():
    series = Series()
    for level in (100, 0, 90):
        series.n_lost(level + 0.1 * np.arange(9))
    odds = series.odds(90.0 + 80.0)
    for n in (1, 2):
        assert series.said(170.0)[1]  # it might have been one
        for _ in range(n - 1):
            assert series.said(170.5) == (170.5, False)
        assert series.said(90.2) == (90.2, True)  # and moves back at once
        assert series.odds(90.0 + 80.0) == odds - 3.0
        odds -= 3.0
    assert np.isnan(series.said(170.0)[0])


def test_three_on_a_line_are_believed_and_the_fifth_is_learnt_as_it_is():
    series = Series()
    said = [series.said(50.0 * k) for k in range(1, 8)]
    assert np.isnan([learnt for learnt, _ in said[:2]]).all()
    assert said[2:4] == [(150.0, True), (200.0, True)]
    assert said[4:] == [(250.0, False), (300.0, False), (350.0, False)]
    # of faults of any size none are
    series, rng = Series(), np.random.default_rng(1)
    for _ in range(7):
        assert np.isnan(series.said(1e4 * rng.normal())[0])


def test_a_level_that_is_believed_late_moves_as_any():
    series = Series()
    series.level = 100.0
    for k in range(31):
        assert np.isnan(series.said(-900.0 + 0.1 * k)[0])  # on a side of 0 where none was
    assert series.said(-896.0) == (-896.0, True)


def test_a_file_of_odds_without_end_is_refused():
    beyond = _beyond.start(2)
    assert _beyond.is_sound(beyond)
    for name, wrong in (("odds", 9.0), ("odds", np.nan), ("moved", np.inf), ("n", -1)):
        assert not _beyond.is_sound(beyond | {name: np.full_like(beyond[name], wrong)})


@pytest.mark.parametrize("horizon", [1, 5])
def test_setpoints_cost_what_the_last_value_costs(horizon):
    """A new level every 40 rows was lost for three rows each time: 3 of the last value's."""
    rng, n = np.random.default_rng(horizon), 480
    y = np.repeat(rng.uniform(0.0, 100.0, n // 40), 40) + 0.02 * rng.normal(size=n)
    said = OnlineForecaster(horizon).prequential_predict(y)[:, 0]
    late = slice(200, None)
    error = np.square(said.ravel() - y)[late].sum()
    assert error < 1.15 * np.square(np.diff(y, prepend=0.0))[late].sum()


@pytest.mark.parametrize("seed", range(2))
def test_a_ramp_is_followed(seed):
    """Of fifty deviations a row seven were lost: 9 to 12 times the squares of who has no guard."""
    y = 50.0 * np.maximum(np.arange(140.0) - 100.0, 0.0)
    y += np.random.default_rng(seed).normal(size=len(y))
    said = [OnlineForecaster(guard=guard).prequential_predict(y)[:, 0] for guard in (True, False)]
    ours, others = (np.square(one.ravel() - y)[100:].sum() for one in said)
    assert ours < 1.3 * others


@pytest.mark.long
@pytest.mark.parametrize("seed", range(3))
def test_faults_in_a_row_by_chance_are_no_level(seed):
    """Of one in eight, three come in a row: errors were 26 times those of who is told."""
    rng, t = np.random.default_rng(seed), np.arange(1200)
    y = 50.0 + 10.0 * np.sin(t * np.pi / 12.0) + rng.normal(size=len(t))
    faulty = rng.uniform(size=len(t)) < 0.12
    came = np.where(faulty, 9999.0 + 5.0 * rng.normal(size=len(t)), y)
    said, told = (
        OnlineForecaster(1).prequential_predict(z).ravel()
        for z in (came, np.where(faulty, np.nan, y))
    )
    good = ~faulty & (t >= 300)
    assert np.square(said - y)[good].mean() < 1.1 * np.square(told - y)[good].mean()
