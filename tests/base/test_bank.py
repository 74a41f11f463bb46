"""Banks of experts, learnt in groups and in tiles of rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_okl import OnlineKernelRegressor


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
