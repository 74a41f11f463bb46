"""Table 3 and Figures 1 and 2 of D. B. Rokhlin, O. V. Gurtovaya (2025), the VAW² paper.

The streams are those of its program: rows in the order of the files, scaled by the whole file,
features drawn kernel by kernel from one generator. The experts never look at what combines them,
so one draw's experts learn once for all lines of the table; that the named algorithms forecast the
same is checked in the same run.
"""

import time

import numpy as np

from sklearn_okl import VAWRegressor
from sklearn_okl.kernels import kernel_list

from .._plots import BLUE, GREEN, ORANGE, PINK, print_figures, save_running_losses, save_weights
from .._progress import progress
from .._report import (
    RESULTS,
    counted,
    moments,
    print_environment,
    print_saved,
    running_loss,
    streams_at_hand,
    table,
    with_spread,
)
from .experts import record_experts
from .rules import MAIN_RULES, RANGE, RULES, TABLE_3_DATA
from .streams import TITLES, load_stream, published_frequencies

FORECASTERS = ("ridge", "vaw")
BEST_KERNEL = "best kernel"
_TOLERANCE = 1e-9  # between the named algorithms and the table's forecasts
_LAST_DIGIT = 0.01  # of the published figures


# (label, forecaster) -> line, for each job's figure of running losses
_TRUNC, _BEST = (0, (5, 2)), (0, (1, 1.2))
LINES = {
    "main": {
        (label, forecaster): {"color": color, "linestyle": linestyle}
        for forecaster, color in (("ridge", ORANGE), ("vaw", BLUE))
        for label, linestyle in (("VAW²", "-"), ("VAW²(trunc)", _TRUNC), (BEST_KERNEL, _BEST))
    },
    "vaw2": {
        ("VAW²", "ridge"): {"color": ORANGE},
        ("VAW²", "vaw"): {"color": ORANGE, "linestyle": _TRUNC},
        ("VAW-Aggr", "ridge"): {"color": GREEN},
        ("VAW-EWA", "ridge"): {"color": BLUE},
        ("VAW-ML-Prod", "ridge"): {"color": PINK},
    },
}
BARS = {"VAW²": ORANGE, "VAW-EWA": BLUE, "VAW-ML-Prod": PINK}


def run(job, data=TABLE_3_DATA, output=RESULTS, *, n_seeds=5, n_rows=None, n_jobs=None):
    """Run every rule on every data set; print the tables and save figures and numbers."""
    streams = streams_at_hand(data, lambda name: load_stream(name, n_rows))
    if not streams:
        return 1
    rules = MAIN_RULES if job == "main" else RULES
    where = print_environment()
    results = {}
    smallest = min(streams, key=lambda name: len(streams[name][1]))
    n_checked = len(streams[smallest][1]) * len(rules) * len(FORECASTERS)
    n_rounds = len(FORECASTERS) * n_seeds * sum(len(y) for _, y in streams.values()) + n_checked
    with progress(n_rounds, "row") as advance:
        for name, (X, y) in streams.items():
            results[name] = run_rules(
                rules,
                X,
                y,
                n_seeds,
                n_jobs,
                lambda n, name=name: advance(n, TITLES.get(name, name)),
            )
        error = check_algorithms(
            rules, *streams[smallest], results[smallest], n_jobs, lambda n: advance(n, "check")
        )

    for name, result in results.items():
        print("\n" + _table(name, result, rules, n_rows is None))
    print("\nMSE × 10³, mean ± standard deviation over draws of the features.")
    print('"ridge" is the forecaster of the published program; "vaw" is the theorem\'s.')
    print('"best kernel" is known in hindsight only: the expert with the smallest loss, alone.')
    print("µs a row are a rule's own; the experts, which all rules share, learn once.")
    if n_rows is not None:
        print("Published figures are for whole streams, ours for the first rows only.")
    elif n_seeds > 1:
        print(_summary(results, rules))
    agree = error <= _TOLERANCE
    print(
        f"Named algorithms on {TITLES.get(smallest, smallest)}, first draw: forecasts within "
        f"{error:.0e} of the table's{'' if agree else f', FAIL: more than {_TOLERANCE:g}'}."
    )

    content = {
        "job": job,
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "n_jobs": n_jobs},
        "algorithms_within": error,
        "results": {name: _numbers(name, result, rules) for name, result in results.items()},
    }
    print_saved(output / f"{job}.json", content)
    print_figures(_save_figures(job, output, results, n_seeds))
    return 0 if agree else 1


def run_rules(rules, X, y, n_seeds, n_jobs, advance):
    """Run each rule with each forecaster and each draw of the features.

    Returns
    -------
    runs : dict
        ``{label: {forecaster: {"losses": [array (n,), ...], "seconds": [...], "forecasts": ...,
        "weights": ...}}}``: losses and seconds of each draw, forecasts (n,) and weights at the end
        (K,) of the first. Labels are those of the rules, ``"experts"``, which has seconds only,
        and ``"best kernel"``, which has losses only.
    """
    runs = {
        label: {forecaster: {"losses": [], "seconds": []} for forecaster in FORECASTERS}
        for label in (*rules, BEST_KERNEL, "experts")
    }
    for seed in range(n_seeds):
        frequencies = published_frequencies(X.shape[1], seed)
        for forecaster in FORECASTERS:
            F, seconds = record_experts(X, y, frequencies, forecaster, n_jobs, advance)
            runs["experts"][forecaster]["seconds"].append(seconds)
            losses = np.square(F - y[:, None])  # (n, K)
            best = losses[:, losses.sum(axis=0).argmin()]
            runs[BEST_KERNEL][forecaster]["losses"].append(best)
            clipped = np.clip(F, *RANGE)
            for label, rule in rules.items():
                model = rule.aggregator(forecaster)
                record = runs[label][forecaster]
                start = time.perf_counter()
                forecasts = model.prequential_predict(clipped if rule.clipped else F, y)
                record["seconds"].append(time.perf_counter() - start)
                record["losses"].append((forecasts - y) ** 2)
                if seed == 0:
                    weights = model.coef_ if isinstance(model, VAWRegressor) else model.weights_
                    record |= {"forecasts": forecasts, "weights": weights}
    return runs


def check_algorithms(rules, X, y, result, n_jobs, advance):
    """Return the largest difference of the named algorithms' forecasts from the first draw's."""
    frequencies = published_frequencies(X.shape[1], seed=0)
    worst = 0.0
    for label, rule in rules.items():
        for forecaster in FORECASTERS:
            model = rule.algorithm(
                forecaster=forecaster, frequencies=frequencies, n_jobs=n_jobs, **rule.settings
            )
            error = np.abs(model.prequential_predict(X, y) - result[label][forecaster]["forecasts"])
            worst = max(worst, float(error.max()))
            advance(len(y))
    return worst


def _table(name, result, rules, whole):
    n_seeds, n_rows = np.shape(result[BEST_KERNEL]["ridge"]["losses"])
    differences = _differences(name, result, rules) if whole and n_seeds > 1 else {}
    lines = []
    for label, runs in result.items():
        published = rules[label].published.get(name) if label in rules else None
        cells = [_mean_cell(runs[forecaster]["losses"]) for forecaster in FORECASTERS]
        difference = differences.get(label)
        lines.append(
            (
                f"  {label}",
                "-" if published is None else f"{published:.2f}",
                cells[0],
                "-" if difference is None else f"{round(difference, 1) + 0.0:+.1f} sd",
                cells[1],
                _speed_cell(runs, n_rows),
            )
        )
    title = f"{TITLES.get(name, name)}, {n_rows} rows, {counted(n_seeds, 'draw')}"
    return table((title, "published", "ridge", "difference", "vaw", "µs a row"), lines)


def _summary(results, rules):
    """Count the published figures that are reproduced."""
    pairs = [
        (_moments(result[label]["ridge"]["losses"]), rule.published[name])
        for name, result in results.items()
        for label, rule in rules.items()
        if name in rule.published
    ]
    same = sum(abs(mean - published) < _LAST_DIGIT for (_, mean, _), published in pairs)
    near = sum(abs(mean - published) <= 2 * spread for (_, mean, spread), published in pairs)
    return (
        f"Of {len(pairs)} published figures, {near} are within two standard deviations of ours and "
        f"{same} within {_LAST_DIGIT}, a unit of their last digit."
    )


def _mean_cell(losses):
    if not losses:
        return "-"
    return with_spread(*_moments(losses)[1:], 3)


def _speed_cell(runs, n_rows):
    seconds = [second for forecaster in FORECASTERS for second in runs[forecaster]["seconds"]]
    return f"{1e6 * np.mean(seconds) / n_rows:.1f}" if seconds else "-"


def _differences(name, result, rules):
    """Return our means less the published ones, in our standard deviations, by label."""
    differences = {}
    for label, rule in rules.items():
        if name in rule.published:
            _, mean, spread = _moments(result[label]["ridge"]["losses"])
            differences[label] = (mean - rule.published[name]) / spread
    return differences


def _moments(losses):
    """Return MSE × 10³ of each draw, their mean and their standard deviation (None for one)."""
    mse = [1e3 * float(values.mean()) for values in losses]
    return mse, *moments(mse)


def _numbers(name, result, rules):
    """Return what the JSON says of a data set."""
    numbers = {"experts": {f: {"seconds": run["seconds"]} for f, run in result["experts"].items()}}
    for label, runs in result.items():
        if label == "experts":
            continue
        published = rules[label].published.get(name) if label in rules else None
        numbers[label] = {"published": published}
        for forecaster, record in runs.items():
            mse, mean, spread = _moments(record["losses"])
            numbers[label][forecaster] = {
                "mse_e3": mse,
                "mean": mean,
                "sd": spread,
                "seconds": record["seconds"],
                "running_loss": running_loss(np.mean(record["losses"], axis=0)),
            }
            if "weights" in record:
                numbers[label][forecaster]["weights"] = record["weights"].tolist()
    return numbers


def _save_figures(job, output, results, n_seeds):
    lines = {f"{label}, {forecaster}": (label, forecaster) for label, forecaster in LINES[job]}
    styles = {text: LINES[job][key] for text, key in lines.items()}
    losses = {
        TITLES.get(name, name): {
            text: np.mean(result[label][forecaster]["losses"], axis=0)
            for text, (label, forecaster) in lines.items()
        }
        for name, result in results.items()
    }
    draws = "one draw" if n_seeds == 1 else f"mean of {n_seeds} draws"
    title = f"Mean squared error of the forecasts so far, {draws} of the features"
    path = output / ("main.png" if job == "main" else f"{job}_losses.png")
    yield save_running_losses(path, losses, styles, title)
    if job == "main":
        return
    weights = {
        TITLES.get(name, name): {label: result[label]["ridge"]["weights"] for label in BARS}
        for name, result in results.items()
    }
    kernels = [point["kernel"] for point in kernel_list()]
    families = {"Gaussian": kernels.count("rbf"), "Laplacian": kernels.count("laplacian")}
    title = "Weights of the kernels after the last row, first draw of the features, ridge"
    yield save_weights(output / f"{job}_weights.png", weights, BARS, families, title)
