"""Table 3 of J. Li, S. Liao, "Nearly optimal algorithms ..." (ICML 2023): NONS-ALD and its rivals.

Streams are permutations of the files, features scaled to [-1, 1] and targets to [0, 1] by the whole
file, with a Gaussian kernel whose sigma the paper chose for each file.
"""

import time
from itertools import product

import numpy as np
from sklearn.preprocessing import minmax_scale

from sklearn_okl.datasets import load_dataset

from .._progress import progress
from .._report import (
    RESULTS,
    counted,
    moments,
    print_environment,
    print_saved,
    streams_at_hand,
    table,
    with_spread,
)
from .nons_ald_lines import DATA, LINES, N_PERMUTATIONS, TITLES

_SPREADS = 2  # standard deviations by which a mean may exceed the published one
_SIZE_SHARE = 0.1  # by which the size of a dictionary may differ


def run(data=tuple(DATA), output=RESULTS, *, n_seeds=N_PERMUTATIONS, n_rows=None):
    """Run every line on every data set; print the tables and save the numbers."""
    streams = streams_at_hand(data, lambda name: load_stream(name, n_rows))
    if not streams:
        return 1
    where = print_environment()
    runs_each = sum(n_seeds + n_points(line) - 1 for line in LINES.values())
    results = {}
    with progress(runs_each * sum(len(y) for _, y in streams.values()), "row") as advance:
        for name, (X, y) in streams.items():
            results[name] = run_lines(
                LINES, name, X, y, n_seeds, lambda n, name=name: advance(n, TITLES[name])
            )

    for name, result in results.items():
        print("\n" + _table(name, result, len(streams[name][1]), n_rows is None))
    print("\nMSE, mean ± standard deviation over permutations. Differences are ours less the")
    print("published ones, in units of the larger of the two standard deviations. J is the size of")
    print(
        "the dictionary, D the number of frequencies. The published seconds are another machine's."
    )
    print("Parameters of rivals are chosen on the first permutation, for the smallest MSE; kors_mu")
    print("for the size nearest to the published one.")
    reached = None
    if n_rows is not None:
        print("Published figures are for whole streams, ours for the first rows of permutations.")
    elif n_seeds > 1:
        reached = _bars(results)
        print("\n".join(reached.values()))
    content = {
        "job": "nons_ald",
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows},
        "bars": reached,
        "results": results,
    }
    print_saved(output / "nons_ald.json", content)
    return 0


def load_stream(name, n_rows=None):
    """Return features and targets, scaled by the whole file; the cut is a random one."""
    if name not in DATA:
        raise ValueError(f"Table 3 has the sets {', '.join(DATA)}.")
    X, y = load_dataset(name, return_X_y=True)
    rows = slice(None) if n_rows is None else np.random.RandomState(0).permutation(len(y))[:n_rows]
    return minmax_scale(X, (-1, 1))[rows], minmax_scale(y)[rows]


def n_points(line):
    """Count the points of a line's grid."""
    return int(np.prod([len(values) for values in line.grid.values()]))


def run_lines(lines, name, X, y, n_seeds, advance):
    """Tune each line on the first permutation, then run it on all.

    Returns
    -------
    records : dict
        ``{label: {"mse": [...], "size": [...], "seconds": [...], "chosen": {...},
        "published": {...}}}``, a number a permutation.
    """
    records = {}
    for label, line in lines.items():
        tried = []
        for point in product(*line.grid.values()):
            chosen = dict(zip(line.grid, point, strict=True))
            tried.append((chosen, _one_run(line, name, X, y, 0, chosen)))
            advance(len(y))
        chosen, first = _best(line, name, tried)
        runs = [first]
        for seed in range(1, n_seeds):
            runs.append(_one_run(line, name, X, y, seed, chosen))
            advance(len(y))
        mse, size, seconds = (list(values) for values in zip(*runs, strict=True))
        records[label] = {
            "mse": mse,
            "size": size,
            "seconds": seconds,
            "chosen": chosen,
            "published": line.published[name]._asdict(),
        }
    return records


def _one_run(line, name, X, y, seed, chosen):
    """Return MSE, size of the dictionary or map, and seconds of a permutation."""
    order = np.random.RandomState(seed).permutation(len(y))
    X, y = X[order], y[order]
    settings = line.settings(len(y), random_state=seed, **chosen)
    model = line.model("rbf", 0.5 / DATA[name] ** 2, **settings)
    start = time.perf_counter()
    try:
        forecasts = model.prequential_predict(X, y)
    except ValueError:  # a step so long that the numbers overflow
        return np.inf, 0, np.nan
    seconds = time.perf_counter() - start
    is_map = hasattr(model, "frequencies_")
    size = model.frequencies_.shape[1] if is_map else len(model.components_)
    return float(np.mean((forecasts - y) ** 2)), size, seconds


def _best(line, name, tried):
    """Return the point of the grid to take, and what it gave."""
    if line.sized is not None:
        published = line.published[name].size
        off = {}
        for chosen, (_, size, _) in tried:
            off.setdefault(chosen[line.sized], []).append(abs(size - published))
        nearest = min(off, key=lambda value: np.mean(off[value]))
        tried = [trial for trial in tried if trial[0][line.sized] == nearest]
    return min(tried, key=lambda trial: trial[1][0])


def _difference(record):
    """Return our mean less the published one, in the larger standard deviation."""
    (mean, sd), published = moments(record["mse"]), record["published"]
    return (mean - published["mse"]) / max(sd or 0.0, published["sd"])


def _table(name, result, n_rows, whole):
    lines = []
    n_seeds = len(next(iter(result.values()))["mse"])
    for label, record in result.items():
        (mean, sd), published = moments(record["mse"]), record["published"]
        lines.append(
            (
                f"  {label}",
                f"{published['mse']:.5f} ± {published['sd']:.5f}",
                with_spread(mean, sd, 5),
                f"{_difference(record):+.1f} sd" if whole else "-",
                f"{published['size']}",
                f"{np.mean(record['size']):.0f}",
                f"{published['seconds']:.2f}",
                f"{np.mean(record['seconds']):.2f}",
                ", ".join(f"{key}={value:g}" for key, value in record["chosen"].items()) or "-",
            )
        )
    title = f"{TITLES[name]}, {n_rows} rows, {counted(n_seeds, 'permutation')}"
    header = (
        *(title, "published MSE", "MSE", "difference"),
        *("published size", "size", "published s", "s", "chosen"),
    )
    return table(header, lines)


def _bars(results):
    """Say for each line with a bar whether it is reached everywhere."""
    verdicts = {}
    for label, line in LINES.items():
        if not line.bar:
            continue
        records = {name: result[label] for name, result in results.items() if label in result}
        worse = [n for n, record in records.items() if _difference(record) > _SPREADS]
        off = [
            n
            for n, record in records.items()
            if abs(np.mean(record["size"]) / record["published"]["size"] - 1) > _SIZE_SHARE
        ]
        verdicts[label] = (
            f"{label}: MSE within {_SPREADS} standard deviations of the published one or below on "
            f"{len(records) - len(worse)} of {len(records)} sets"
            + (f", FAIL on {', '.join(worse)}" if worse else "")
            + f"; dictionary within {_SIZE_SHARE:.0%} on {len(records) - len(off)}"
            + (f", FAIL on {', '.join(off)}" if off else "")
            + "."
        )
    return verdicts
