"""Banks of experts, learnt in groups and in tiles of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelRegressor
from sklearn_okl.base import _bank


@pytest.mark.long
def test_a_last_tile_of_few_rows():
    """Of rows 512 to 899 four are left over by tiles of 128; a group is then not whole."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = np.sin(X[:, 0])
    model = OnlineKernelRegressor(random_state=0)
    parts = [model.prequential_predict(X[rows], y[rows]) for rows in np.split(range(1000), [900])]
    whole = OnlineKernelRegressor(random_state=0).prequential_predict(X, y)
    assert_allclose(np.concatenate(parts), whole, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("n_bytes", "n_jobs", "expected"), [(1.0, 1, 1), (1.01, 1, 2), (3.0, 2, 4), (0.1, 3, 3)]
)
def test_a_bank_is_cut_where_its_arrays_are_larger_than_the_cache(n_bytes, n_jobs, expected):
    n = int(n_bytes * _bank._GROUP_BYTES) // 8
    groups = _bank._groups(8, {"P": np.zeros(n), "nested": {"b": np.zeros(0)}}, n_jobs)
    assert len(groups) == expected
    assert [row for part in groups for row in range(part.start, part.stop)] == list(range(8))
