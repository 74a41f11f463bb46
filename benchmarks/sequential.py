"""False alarms and power of the test of a challenger against a champion, looked at in every row.

Each null stream is one on which the clipped difference of the losses has mean 0 given the past: the
two models' own errors are exchangeable in each row, whatever came before. Needs no download.
"""

import numpy as np
from scipy.stats import beta

from sklearn_okl.evaluation import SequentialComparison

from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, table

N_STREAMS, N_ROWS = 2000, 2000
MOST_FALSE, LEAST_POWER = 0.05, 0.8
_EXTRA = 0.05  # variance of the noise by which the champion is worse, where it is


def run(output=RESULTS, *, n_streams=N_STREAMS, n_rows=N_ROWS, quick=False):
    """Test streams of each kind; print those that miss their bars first, and save all."""
    if quick:
        n_streams, n_rows = min(n_streams, 100), min(n_rows, 600)
    where, lines = print_environment(), []
    with progress(len(KINDS) * n_streams, "stream") as advance:
        for name, (draw, is_null) in KINDS.items():
            found = []
            for seed in range(n_streams):
                losses = draw(np.random.default_rng([seed, len(lines)]), n_rows)
                found.append(SequentialComparison().update(*losses).rejected_)
                advance(1, name)
            lines.append(line_of(name, int(np.sum(found)), n_streams, is_null))
    lines.sort(key=lambda line: not line["missed"])
    header = ["", "rejected", "95 % limits", "bar", ""]
    print("\n" + table(header, [_cells(line) for line in lines]))
    print(f"{n_streams} streams of {n_rows} rows each, level 5 %, looked at in every row.")
    print_saved(output / "sequential.json", {"environment": where, "lines": lines})
    return int(any(line["missed"] for line in lines))


def line_of(name, n_rejected, n_streams, is_null):
    """Return the share of streams rejected with its Clopper-Pearson limits, and its bar."""
    share = n_rejected / n_streams
    low = beta.ppf(0.025, n_rejected, n_streams - n_rejected + 1) if n_rejected else 0.0
    high = beta.ppf(0.975, n_rejected + 1, n_streams - n_rejected) if share < 1 else 1.0
    bar = MOST_FALSE if is_null else LEAST_POWER
    missed = share > bar if is_null else share < bar
    return {
        "name": name,
        "share": share,
        "limits": [float(low), float(high)],
        "bar": bar,
        "is_null": is_null,
        "missed": bool(missed),
    }


def _squares(error, a, b):
    return (error - a) ** 2, (error - b) ** 2


def _gaussian(rng, n):
    return _squares(*rng.normal(size=(3, n)))


def _heavy(rng, n):
    return _squares(*rng.standard_t(3, size=(3, n)))


def _correlated(rng, n):
    """Errors that remember the row before, and a size of the models' own that does too."""
    steps, error = rng.normal(size=(2, n)), np.zeros((2, n))
    for t in range(1, n):
        error[:, t] = 0.9 * error[:, t - 1] + steps[:, t]
    a, b = np.exp(0.5 * error[1]) * rng.normal(size=(2, n))
    return _squares(error[0], a, b)


def _labels(rng, n):
    return tuple((rng.random((2, n)) < 0.3).astype(float))


def _worse(rng, n):
    error, noise = rng.normal(size=(2, n))
    return _squares(error, 0.0, np.sqrt(_EXTRA) * noise)


def _better(rng, n):
    return _worse(rng, n)[::-1]


def _better_heavy(rng, n):
    error, noise = rng.standard_t(3, size=n), rng.normal(size=n)
    return _squares(error, np.sqrt(_EXTRA) * noise, 0.0)


KINDS = {  # what draws losses of champion and challenger, and whether the null is true
    "null, Gaussian errors": (_gaussian, True),
    "null, t(3) errors": (_heavy, True),
    "null, correlated errors": (_correlated, True),
    "null, labels": (_labels, True),
    "null, champion better by variance .05": (_worse, True),
    "challenger better by variance .05": (_better, False),
    "the same, t(3) errors": (_better_heavy, False),
}


def _cells(line):
    low, high = line["limits"]
    bar = f"{'at most' if line['is_null'] else 'at least'} {line['bar']:.2f}"
    missed = "missed" if line["missed"] else ""
    return [line["name"], f"{line['share']:.4f}", f"{low:.4f} to {high:.4f}", bar, missed]
