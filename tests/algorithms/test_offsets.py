"""Exact kernels of rows far from the origin, as columns with an offset make them."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_okl import (
    AOGDALDRegressor,
    IOKSRegressor,
    KernelVAWRegressor,
    KOGDRegressor,
    KONSRegressor,
    LKMBooksRegressor,
    NOGDRegressor,
    NONSALDRegressor,
    OKSRegressor,
    OMKRRegressor,
    PKAWVRegressor,
    PROSNKONSRegressor,
)

GAMMA = 0.05
ONE = {"kernel": "rbf", "gamma": GAMMA}
GRID = {"kernels": {"kernel": ["rbf"], "gamma": [GAMMA]}}
MODELS = [
    AOGDALDRegressor(**ONE),
    IOKSRegressor(**GRID, random_state=0),
    KernelVAWRegressor(**ONE),
    KOGDRegressor(**ONE, eta0=0.9),
    KONSRegressor(**ONE),
    LKMBooksRegressor(**GRID, random_state=0),
    NOGDRegressor(**ONE),
    NONSALDRegressor(**ONE),
    OKSRegressor(**GRID, random_state=0),
    OMKRRegressor(**GRID, eta0=1.0),
    PKAWVRegressor(**ONE, random_state=0),
    PROSNKONSRegressor(**ONE, random_state=0),
]


def name_of(model):
    return type(model).__name__


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("model", MODELS, ids=name_of)
def test_an_offset_of_all_rows_changes_nothing_whatever_the_cut(model, d):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, d)) * 2**20) / 2**20 + 1e7  # exact, and so without it
    y = np.sin(2 * X[:, 0])
    expected = clone(model).prequential_predict(X - 1e7, y)
    at_once, by_rows = clone(model).prequential_predict(X, y), clone(model)
    np.testing.assert_allclose(at_once, expected, rtol=0, atol=1e-12)
    alone = [by_rows.prequential_predict(X[t : t + 1], y[t : t + 1]) for t in range(len(y))]
    np.testing.assert_allclose(np.concatenate(alone), at_once, rtol=0, atol=1e-12)


@pytest.mark.parametrize("d", [3, 20])
@pytest.mark.parametrize("far", [0, 30])
@pytest.mark.parametrize("model", [IOKSRegressor(**GRID), OKSRegressor(**GRID)], ids=name_of)
def test_one_row_far_off_leaves_the_others_as_they_are(model, far, d):
    X = np.random.default_rng(0).normal(size=(200, d))
    y = np.sin(2 * X[:, 0])
    forecasts = []
    for size in (1e3, 1e7):
        X[far] = size
        forecasts.append(clone(model).set_params(random_state=0).prequential_predict(X, y))
    np.testing.assert_allclose(*forecasts, rtol=0, atol=1e-6)
