"""Single rows of many keys, whose labels come late, twice, or never: counts, and memory."""

import pickle

import numpy as np

from sklearn_okl import KeyedRegressor, RowRegressor, VAWRegressor

N_FIELDS = 8
SHARE_LOST, SHARE_DOUBLED = 0.05, 0.05  # of the labels
MAX_DELAY, MAX_PENDING = 50, 100  # rows; a lost label's row is given up once it is the oldest


def soak(n_rows, n_keys=1000, seed=0, n_looks=4):
    """Ask and tell rows, and hold what the model counts against what was done.

    Returns
    -------
    found : dict
        ``learnt``, ``given_up``, ``pending`` and ``refused`` (labels that came again, or too late),
        ``right``: whether the model counts the same, and ``bytes``: its size at some moments, the
        first of them when each key has come.
    """
    rng, arriving = np.random.default_rng(seed), {}
    model = RowRegressor(KeyedRegressor(VAWRegressor(), prior=None), max_pending=MAX_PENDING)
    waiting, learnt, given_up, refused, sizes = {}, 0, 0, 0, []
    looks = set(np.linspace(n_rows / n_looks, n_rows, n_looks).astype(int).tolist())
    for t in range(n_rows):
        x = dict(zip("abcdefgh", rng.normal(size=N_FIELDS).tolist(), strict=True))
        key = t if t < n_keys else int(rng.integers(n_keys))
        while len(waiting) >= MAX_PENDING:
            del waiting[next(iter(waiting))]
            given_up += 1
        model.ask(t, x, key=key)
        waiting[t] = x["a"]
        for _ in range((rng.random() > SHARE_LOST) + (rng.random() < SHARE_DOUBLED)):
            arriving.setdefault(t + int(rng.integers(MAX_DELAY)), []).append((t, x["a"]))
        for name, label in arriving.pop(t, ()):
            try:
                model.tell(name, label)
                learnt += 1
                del waiting[name]  # a KeyError would say that the model has learnt it twice
            except ValueError:
                refused += 1
                if name in waiting:
                    raise
        if t + 1 in looks:
            sizes.append(len(pickle.dumps(model)))
    counts = {"learnt": learnt, "given_up": given_up, "pending": len(waiting), "refused": refused}
    counted = model.n_samples_seen_, model.n_given_up_, model.n_pending_
    inner = model.estimator_.n_samples_seen_, model.estimator_.n_keys_
    right = counted == tuple(counts.values())[:3] and inner[0] == learnt and inner[1] <= n_keys
    return counts | {"right": right and learnt + given_up + len(waiting) == n_rows, "bytes": sizes}
