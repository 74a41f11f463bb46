"""The streams of Figures 2 and 4 of R. Jézéquel, P. Gaillard, A. Rudi (2019), and a run on one."""

import time
from math import comb

import numpy as np
from sklearn.preprocessing import maxabs_scale, minmax_scale

from sklearn_okl.datasets import load_dataset

from .pkawv_lines import EXACT, TAYLOR, size, systems

DATA = {  # files of each stream, one after the other
    "casp": ("casp",),
    "ijcnn1": ("ijcnn1", "ijcnn1_test"),
    "cod_rna": ("cod_rna_test",),
    "susy": ("susy",),
}
TITLES = {"casp": "casp", "ijcnn1": "ijcnn1", "cod_rna": "cod-rna", "susy": "SUSY"}
REGRESSION = ("casp",)
_CENTRED = ("ijcnn1",)  # 0 is the middle of its features as they are published
_SIGMA = {"susy": 4.0}  # 1 elsewhere
EXACT_ROWS = 5000  # that the systems of quadratic cost learn at most: 100 to 200 MB
_MOST_COMPONENTS = 2500  # Taylor features of systems that are run
_CHUNK = 500  # rows between two looks at the clock


def load_stream(name, n_rows=None, seed=0):
    """Return rows and targets in [-1, 1], in an order of chance.

    Targets and features are scaled by the smallest and the largest value of each in the whole
    files. The features of ijcnn1, which lie about 0, are divided by the largest size: were its many
    zeros moved to -1, all rows would lie where the Taylor features nearly vanish, and PKAWV would
    do no better than a constant.
    """
    if name not in DATA:
        raise ValueError(f"Figures 2 and 4 have the sets {', '.join(DATA)}.")
    X, y = (
        np.concatenate(parts)
        for parts in zip(*(load_dataset(file, return_X_y=True) for file in DATA[name]), strict=True)
    )
    rows = np.random.RandomState(seed).permutation(len(y))[:n_rows]
    X = maxabs_scale(X) if name in _CENTRED else minmax_scale(X, (-1, 1))
    return X[rows], minmax_scale(y, (-1, 1))[rows]


def run_systems(name, X, y, seed, timeout, advance):
    """Run every system on a stream, as far as it comes in the time it has.

    Returns
    -------
    records : dict
        ``{label: {"rows": [...], "loss": [...], "seconds": [...], "size": ...}}``: mean loss and
        time of the first so many rows, at the ends of chunks. The loss is the square loss, or for
        two classes whether the sign is wrong.
    """
    gamma = 0.5 / _SIGMA.get(name, 1.0) ** 2
    records = {}
    for label, model in systems(len(y), gamma, seed, forecaster="ridge").items():
        if label in left_out(X.shape[1]):
            advance(len(y))
            continue
        records[label] = _run_one(name, label, model, X, y, timeout)
        advance(len(y))
    return records


def constant_loss(name, y):
    """Return the mean loss of the best constant forecast, known in hindsight only."""
    return float(y.var() if name in REGRESSION else min(np.mean(y > 0), np.mean(y < 0)))


def left_out(d):
    """Return the dimension of each system whose Taylor features are too many, by label."""
    dimensions = {label: comb(degree + d, degree) for degree, label in TAYLOR.items()}
    return {label: n for label, n in dimensions.items() if n > _MOST_COMPONENTS}


def _run_one(name, label, model, X, y, timeout):
    end = min(len(y), EXACT_ROWS) if label in EXACT else len(y)
    rows, losses, seconds = [], [], []
    total = spent = 0.0
    for low in range(0, end, _CHUNK):
        part = slice(low, min(low + _CHUNK, end))
        start = time.perf_counter()
        forecasts = model.prequential_predict(X[part], y[part])
        spent += time.perf_counter() - start
        wrong = np.where(forecasts > 0, 1.0, -1.0) != y[part]
        total += float(np.sum((forecasts - y[part]) ** 2 if name in REGRESSION else wrong))
        rows.append(part.stop)
        losses.append(total / part.stop)
        seconds.append(spent)
        if spent > timeout:
            break
    return {"rows": rows, "loss": losses, "seconds": seconds, "size": size(label, model)}


def loss_at(record, n_rows):
    """Return the mean loss of the first `n_rows` rows, an end of a chunk; None beyond the end."""
    return record["loss"][record["rows"].index(n_rows)] if n_rows in record["rows"] else None
