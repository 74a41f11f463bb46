"""New keys among others: what they lose in their first rows, alone, pooled, and keyed."""

import numpy as np

from sklearn_okl import KeyedRegressor, VAWRegressor

from ._report import table

N_FEATURES = 8
KINSHIPS = (1.0, 0.9, 0.5, 0.0)  # share of the variance of coefficients that keys have in common
AT = (1, 5, 20, 100)  # rows of a key
BAR = 1.05  # of the better of "own" and "pooled"


def report(n_keys=1000, seed=0):
    """Print the losses of a keyed model over the better of both others; return them."""
    found = {f"{kinship}": ratios(n_keys, kinship, seed) for kinship in KINSHIPS}
    rows = [
        [kinship, *(f"{ratio:.3f}" for ratio in of_rows), "holds" if max(of_rows) <= BAR else ""]
        for kinship, of_rows in found.items()
    ]
    header = ["kinship", *(f"after {n}" for n in AT), f"bar {BAR}"]
    print("\n" + table(header, sorted(rows, key=lambda row: row[-1])))
    return found


def ratios(n_keys, kinship, seed=0):
    """Return the mean losses of the first rows of keys, over those of the better way."""
    rng = np.random.default_rng(seed)
    n = max(AT)
    common, own = rng.normal(size=N_FEATURES), rng.normal(size=(n_keys, N_FEATURES))
    coef = np.sqrt(kinship) * common + np.sqrt(1.0 - kinship) * own
    X, keys = rng.normal(size=(n, n_keys, N_FEATURES)), np.arange(n_keys)
    Y = (X * coef).sum(axis=2) + 0.3 * rng.normal(size=(n, n_keys))
    ways = {
        "own": KeyedRegressor(VAWRegressor(), prior=None),
        "pooled": VAWRegressor(),
        "keyed": KeyedRegressor(VAWRegressor()),
    }
    losses = {name: np.empty((n, n_keys)) for name in ways}
    for t in range(n):
        for name, model in ways.items():
            params = {} if name == "pooled" else {"keys": keys}
            losses[name][t] = (model.prequential_predict(X[t], Y[t], **params) - Y[t]) ** 2
    means = {name: [float(part[:m].mean()) for m in AT] for name, part in losses.items()}
    better = np.minimum(means["own"], means["pooled"])
    return (np.array(means["keyed"]) / better).tolist()
