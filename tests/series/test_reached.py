"""How far intervals reached is told again when their row comes, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_okl.series import _intervals, _reached


@pytest.mark.parametrize("horizon", [1, 4])
def test_what_intervals_reached_is_told_again_to_the_last_bit(horizon):
    rng, m, n = np.random.default_rng(0), 3, 200
    state = _intervals.start(horizon, m)
    then, issued, sizes, missed = _reached.start(state), [], [], []
    for t in range(n):
        issued.append(_intervals.reaches(state, t, 5))
        sizes.append(_intervals.sizes(state, t, 5))
        past = [(max(t - h, 0), h) for h in range(horizon)]
        wanted = np.stack([issued[i][:, h] for i, h in past], axis=1)
        found = _reached.reaches(then, np.stack([sizes[i][h] for i, h in past]))
        assert_array_equal(found, wanted)
        errors = rng.standard_t(2, size=(horizon, m))
        errors[rng.random((horizon, m)) < 0.1] = np.nan
        errors[t < np.arange(horizon)] = np.nan
        _intervals.learn(state, t, 5, errors, found)
        missed.append(_reached.n_missed(errors, found))
        nothing = np.full(m, _reached.NOT_JUDGED)
        _reached.follow(then, np.stack([missed[t - h][h] if h <= t else nothing for _, h in past]))
    assert _reached.is_sound(then)
    assert not np.array_equal(then["radius"], _intervals.start(horizon, m)["radius"])


def test_what_was_not_judged_teaches_nothing():
    state = _intervals.start(2, 2)
    then, before = _reached.start(state), state["radius"].copy()
    missed = _reached.n_missed(np.full((2, 2), np.nan), _intervals.reaches(state, 0, 0))
    assert (missed == _reached.NOT_JUDGED).all()
    _reached.follow(then, missed)
    assert_array_equal(then["radius"], before)
