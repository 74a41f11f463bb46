"""Random frames of columns of all kinds, a faulty cell or target anywhere: nothing is refused.

However the rows are cut, and whenever a model is written and read back, forecasts are the same.
"""

import numpy as np
import pytest

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor, from_bytes, to_bytes

N_FRAMES, N_FRAMES_FULL = 50, 1000
FAULTS = [1e6, -9999.0, 1e30, 1e160, -1e300]
CUTS = [1, 2, 7, 60, 64, 300]
BUDGETS = ["fast"] * 3 + ["balanced"] + ["fast"] + ["tiny"] * 2 + ["fast"] * 3


def normal(rng, n):
    return rng.normal(size=n)


def walk(rng, n):
    return rng.normal(size=n).cumsum()


def heavy_tails(rng, n):
    return rng.standard_t(1.5, size=n) * 10.0 ** rng.uniform(-6.0, 6.0)


def lognormal(rng, n):
    return np.exp(3.0 * rng.normal(size=n))


def counts(rng, n):
    return rng.poisson(rng.uniform(0.05, 5.0), size=n)


def constant(rng, n):
    return np.full(n, rng.choice([0.0, 1.0, -3e5]))


def levels(rng, n):
    return np.repeat(100.0 * rng.normal(size=n // 50 + 1), 50)[:n] + 0.1 * rng.normal(size=n)


def new_unit(rng, n):
    factor = 10.0 ** rng.uniform(-4.0, 4.0)
    return rng.normal(size=n) * np.where(np.arange(n) > rng.integers(n), factor, 1.0)


def gaps(rng, n):
    return np.where(rng.uniform(size=n) < 0.2, np.nan, rng.normal(size=n))


def category(rng, n):
    return rng.choice(list("abcdefghijkl")[: rng.integers(1, 13)], size=n).astype(object)


def rare_text(rng, n):
    texts = np.where(rng.uniform(size=n) < rng.uniform(0.02, 0.6), "x", "y").astype(object)
    texts[rng.uniform(size=n) < 0.05] = None
    return texts


def runs_of_text(rng, n):
    return np.repeat(rng.choice(["u", "v"], size=n // 40 + 1), 40)[:n].astype(object)


def hour(rng, n):
    return (np.arange(n) + rng.integers(24)) % 24.0


def few_values(rng, n):
    return rng.integers(rng.integers(2, 9), size=n).astype(float)


def begins_late(rng, n):
    values = few_values(rng, n) if rng.uniform() < 0.5 else rare_text(rng, n)
    values[: int(10.0 ** rng.uniform(0.0, 2.2))] = None
    return values


KINDS = [
    *(normal, walk, heavy_tails, lognormal, counts, constant, levels, new_unit, gaps, begins_late),
    *(category, rare_text, runs_of_text, hour, few_values),
]


def place(rng, n):
    """Return a row: among the first, or anywhere."""
    return int(rng.integers(min(n, [8, 64, n][rng.integers(3)])))


def random_frame(rng, n):
    pd = pytest.importorskip("pandas")
    n_columns = rng.integers(1, 13) if rng.uniform() < 0.85 else rng.integers(13, 50)
    kinds = rng.choice(len(KINDS), size=n_columns)
    X = pd.DataFrame({f"c{j}": KINDS[kind](rng, n) for j, kind in enumerate(kinds)})
    y = np.zeros(n)
    for name in X:
        is_number = X[name].dtype.kind in "fi"
        y += X[name].rank(pct=True).fillna(0.5) if is_number else pd.factorize(X[name])[0] % 3
    y = y * 10.0 ** rng.uniform(-3.0, 3.0) + 0.1 * rng.normal(size=n)
    numbers = [name for name in X if X[name].dtype.kind == "f"]
    if numbers and rng.uniform() < 0.7:
        X.loc[place(rng, n), rng.choice(numbers)] = rng.choice(FAULTS)
    if rng.uniform() < 0.5:
        y[place(rng, n)] = rng.choice(FAULTS)
    return X, y


def in_parts(model, verb, X, y, rng, **first):
    low, parts = 0, []
    while low < len(y):
        high = low + int(rng.choice(CUTS))
        parts.append(getattr(model, verb)(X[low:high], y[low:high], **(first if low == 0 else {})))
        low = high
        if rng.uniform() < 0.05:
            model = from_bytes(to_bytes(model))
    return np.concatenate(parts)


def check_frame(seed, n_rows):
    rng = np.random.default_rng(seed)
    X, y = random_frame(rng, int(rng.integers(300, n_rows + 1)))
    delays, lags = [0, 0, 5, 0, 1, 20, 0, 70, 0], [4, 4, 4, 0, 1, 12]
    settings = {"budget": BUDGETS[seed % 10], "label_delay": delays[seed % 9]}
    settings["lags"] = int(rng.choice(lags))
    first, scale = {}, np.median(np.abs(y - np.median(y)))
    kind, verb = OnlineKernelRegressor, "prequential_predict"
    if seed % 4 == 1:
        y, scale = np.digitize(y, np.quantile(y, [0.3, 0.7][: rng.integers(1, 3)])), 1.0
        first = {"classes": np.unique(y)}
        kind, verb = OnlineKernelClassifier, "prequential_predict_proba"
    whole, cut = (kind(random_state=seed, **settings) for _ in range(2))
    expected = getattr(whole, verb)(X, y, **first)
    assert np.isfinite(expected).all()
    forecasts = in_parts(cut, verb, X, y, rng, **first)
    # rounding grows where a column has values twelve decades apart; another decision is no rounding
    assert (np.abs(forecasts - expected) <= 1e-3 * np.maximum(np.abs(expected), scale)).all()


@pytest.mark.long(every=21)
@pytest.mark.parametrize("seed", range(N_FRAMES))
def test_a_random_frame_is_learnt_however_it_is_cut(seed):
    check_frame(seed, 400)


@pytest.mark.slow
def test_a_thousand_frames(full_size):
    if not full_size:
        pytest.skip("OKL_FULL=1 runs them: about an hour")
    for seed in range(N_FRAMES, N_FRAMES + N_FRAMES_FULL):
        check_frame(seed, 1500)
