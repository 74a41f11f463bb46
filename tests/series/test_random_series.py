"""Random series, gaps, faults and all: cut and stored anywhere, forecasts are the same numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_okl import OnlineForecaster, from_bytes, to_bytes

N_SERIES, N_SERIES_FULL = 30, 500
FAULTS = [1e6, -9999.0, 1e30, 1e99]
CUTS = [1, 1, 1, 2, 7, 16, 17, 50, 200]


def random_series(rng, n, m):
    t, season = np.arange(n)[:, None], int(rng.choice([7, 12, 24, 48]))
    y = rng.uniform(0.0, 3.0) * np.sin(2.0 * np.pi * (t + rng.integers(season, size=m)) / season)
    y += rng.uniform(0.0, 0.3) * rng.normal(size=(n, m)).cumsum(axis=0)
    y += rng.uniform(0.05, 1.0) * rng.normal(size=(n, m))
    kind = rng.choice(["plain"] * 4 + ["growth", "counts", "constant", "level", "unit"])
    if kind == "growth":
        y = np.exp(0.3 * y)
    if kind == "counts":
        y = rng.poisson(0.3, size=(n, m)).astype(float)
    if kind == "constant":
        y[:] = 3.0
    if kind == "level":
        y[n // 2 :] += 50.0
    if kind == "unit":
        y[n // 2 :] *= 10.0 ** rng.uniform(-3.0, 3.0)
    if rng.uniform() < 0.3:
        y[rng.uniform(size=(n, m)) < 0.1] = np.nan
    if rng.uniform() < 0.3:
        y[rng.integers(n), rng.integers(m)] = rng.choice(FAULTS)
    if rng.uniform() < 0.15:
        y[rng.uniform(size=(n, m)) < 0.05] = -9999.0
    if rng.uniform() < 0.2:
        y[: n // 3, 0] = np.nan
    return y


def random_columns(rng, n):
    X = rng.normal(size=(n, rng.integers(1, 4)))
    if rng.uniform() < 0.3:
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
    if rng.uniform() < 0.3:
        X[rng.integers(n), 0] = rng.choice(FAULTS)
    return X


def check_series(seed, most):
    rng = np.random.default_rng(seed)
    n, m = int(rng.choice(most)), int(rng.choice([1, 1, 2, 3, 6]))
    settings = {"horizon": int(rng.choice([1, 2, 5, 12, 24, 70])), "random_state": seed}
    settings |= {"pooled": True} if rng.uniform() < 0.2 else {}
    settings |= {"season_lengths": (7, 15)} if rng.uniform() < 0.2 else {}
    y, X = random_series(rng, n, m), None
    if rng.uniform() < 0.1 and np.nanmax(np.abs(y), initial=0.0) < 1e9:  # beyond, a sentence
        settings["guard"] = False
    if rng.uniform() < 0.3:
        X = random_columns(rng, n)
        settings["known_ahead"] = "all" if rng.uniform() < 0.5 else []
    whole, cut, low = OnlineForecaster(**settings), OnlineForecaster(**settings), 0
    expected = whole.prequential_predict(y, X)
    ahead = () if X is None or not settings["known_ahead"] else (X[:1],)
    while low < n:
        rows = slice(low, low + int(rng.choice(CUTS)))
        if low:
            said = cut.predict(*ahead, n_steps=1)
            assert_array_equal(np.isnan(said[0]), np.isnan(expected[low, 0]))
            ends = cut.predict_interval(*ahead, n_steps=1, coverage=[0.5, 0.9])
            assert not (ends[..., 0] > ends[..., 1]).any()
        if rng.uniform() < 0.1 and low:
            cut = from_bytes(to_bytes(cut))
        cut.partial_fit(y[rows], None if X is None else X[rows])
        low = rows.stop
    ahead = () if not ahead else (np.zeros((settings["horizon"], X.shape[1])),)
    said = whole.predict(*ahead)
    scale = np.nanmax(np.abs(said), initial=0.0)
    assert_allclose(cut.predict(*ahead), said, rtol=1e-6, atol=1e-6 * scale)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(N_SERIES))
def test_a_random_series_is_learnt_however_it_is_cut(seed):
    check_series(seed, [40, 120, 300])


@pytest.mark.slow
def test_many_series(full_size):
    if not full_size:
        pytest.skip("OKL_FULL=1 runs them: some twenty minutes")
    for seed in range(N_SERIES, N_SERIES + N_SERIES_FULL):
        check_series(seed, [40, 300, 700, 1100])
