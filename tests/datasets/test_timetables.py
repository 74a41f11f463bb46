"""Streams of hours: what the columns say is what the targets do."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl.datasets import make_timetable


@pytest.mark.parametrize("seed", [0, 7])
@pytest.mark.parametrize("order", ["random", "time"])
@pytest.mark.parametrize("holidays", [0.0, 0.2])
@pytest.mark.parametrize("n_columns", [1, 2, 3])
def test_targets_follow_from_the_columns(n_columns, holidays, order, seed):
    settings = {"n_columns": n_columns, "holidays": holidays, "order": order, "random_state": seed}
    X, y = make_timetable(9000, noise=0.0, **settings)
    assert X.shape == (9000, n_columns + (holidays > 0.0))
    for (*row,), target in zip(X[:2000], y[:2000], strict=False):
        is_holiday = holidays and row.pop()
        is_open = 8 <= row[0] <= 17 and not is_holiday and (n_columns < 2 or row[1] <= 4)
        is_summer = n_columns == 3 and 5 <= row[2] <= 7
        assert target == (10 if not is_open else 35 if is_summer else 50)
    assert [len(np.unique(column)) for column in X.T[:n_columns]] == [24, 7, 12][:n_columns]
    if order == "time":
        assert set(np.diff(X[:, 0])) == {1.0, -23.0}
    if holidays:
        assert 0.1 < X[:, -1].mean() < 0.3
    again, noisy = make_timetable(9000, noise=2.0, **settings)
    assert_array_equal(again, X)
    assert_allclose(np.std(noisy - y), 2.0, rtol=0.1)


@pytest.mark.parametrize(
    "settings", [{"n_columns": 4}, {"holidays": 1.1}, {"noise": -1.0}, {"order": "week"}]
)
def test_what_is_not_a_timetable_is_refused(settings):
    with pytest.raises(ValueError, match=next(iter(settings))):
        make_timetable(10, **settings)
