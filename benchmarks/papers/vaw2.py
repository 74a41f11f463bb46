"""Table 3 and Figures 1 and 2 of D. B. Rokhlin, O. V. Gurtovaya (2025), the VAW² paper.

The streams are those of its program: rows in the order of the files, scaled by the whole file,
features drawn kernel by kernel from one generator. The experts never look at what combines them, so
their forecasts are the stream, and the models are what combines them; that the named algorithms
lose the same is checked in the same run.
"""

from functools import partial

import numpy as np
from sklearn.base import BaseEstimator

from sklearn_okl import VAWRegressor
from sklearn_okl.evaluation import compare
from sklearn_okl.kernels import kernel_list

from .._plots import BLUE, GREEN, ORANGE, PINK, print_figures, save_running_losses, save_weights
from .._report import (
    RESULTS,
    counted,
    print_environment,
    print_saved,
    records,
    streams_at_hand,
    table,
    with_spread,
)
from .experts import record_experts
from .later import print_later, run_later
from .rules import MAIN_RULES, RANGE, RULES, TABLE_3_DATA
from .streams import TITLES, load_stream, published_frequencies

FORECASTERS = ("ridge", "vaw")
BEST_KERNEL = "best kernel"
_TOLERANCE = 1e-9  # between the running losses of the named algorithms and the table's
_LAST_DIGIT = 0.01  # of the published figures


# line of the table -> style, for each job's figure of running losses
_TRUNC, _BEST = (0, (5, 2)), (0, (1, 1.2))
LINES = {
    "main": {
        f"{label}, {forecaster}": {"color": color, "linestyle": linestyle}
        for forecaster, color in (("ridge", ORANGE), ("vaw", BLUE))
        for label, linestyle in (("VAW²", "-"), ("VAW²(trunc)", _TRUNC), (BEST_KERNEL, _BEST))
    },
    "vaw2": {
        "VAW², ridge": {"color": ORANGE},
        "VAW², vaw": {"color": ORANGE, "linestyle": _TRUNC},
        "VAW-Aggr, ridge": {"color": GREEN},
        "VAW-EWA, ridge": {"color": BLUE},
        "VAW-ML-Prod, ridge": {"color": PINK},
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
    found = run_rules(rules, streams, n_seeds, n_jobs)
    results = records(found)
    smallest = min(streams, key=lambda name: len(streams[name][1]))
    error = check_algorithms(rules, smallest, streams[smallest], results[smallest], n_jobs)

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
        f"Named algorithms on {TITLES.get(smallest, smallest)}, first draw: running losses within "
        f"{error:.0e} of the table's{'' if agree else f', FAIL: more than {_TOLERANCE:g}'}."
    )

    later = [] if job == "main" else run_later(streams)
    if later:
        print_later(later)
    weights = {} if job == "main" else {name: _weights(*streams[name]) for name in streams}
    content = {
        "job": job,
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "n_jobs": n_jobs},
        "algorithms_within": error,
        "results": results,
        "later": later,
        "weights": {
            name: {label: values.tolist() for label, values in found.items()}
            for name, found in weights.items()
        },
    }
    print_saved(output / f"{job}.json", content)
    print_figures(_save_figures(job, output, results, weights, n_seeds))
    return 0 if agree else 1


def run_rules(rules, streams, n_seeds, n_jobs):
    """Return the comparison of each rule with each forecaster, and of the best kernels."""
    models = {
        line_of(label, forecaster): Combined(rule.aggregator(forecaster), k, rule.clipped)
        for label, rule in rules.items()
        for k, forecaster in enumerate(FORECASTERS)
    }
    for k, forecaster in enumerate(FORECASTERS):
        models[line_of(BEST_KERNEL, forecaster)] = Combined(None, k, False)
    made = {name: partial(forecasts_of_experts, X, y) for name, (X, y) in streams.items()}
    return compare(models, made, n_seeds, n_jobs=n_jobs, verbose=True)


def line_of(label, forecaster):
    """Return the name of a rule or of the best kernel on what a forecaster said."""
    return f"{label}, {forecaster}"


def forecasts_of_experts(X, y, seed):
    """Return the experts' forecasts (n, 2 (K + 1)), each forecaster's best one last, and targets.

    Which is the best is known at the end only.
    """
    frequencies, blocks = published_frequencies(X.shape[1], seed), []
    for forecaster in FORECASTERS:
        F, _ = record_experts(X, y, frequencies, forecaster, None, int)
        blocks += [F, F[:, [np.square(F - y[:, None]).sum(axis=0).argmin()]]]
    return np.hstack(blocks), y


class Combined(BaseEstimator):
    """An aggregator on the block of columns that one forecaster gives; without it, the best one."""

    def __init__(self, aggregator, block, clipped):
        self.aggregator = aggregator
        self.block = block
        self.clipped = clipped

    def prequential_predict(self, F, y):
        """Learn the next rows and return the forecasts made before each."""
        F = np.split(F, len(FORECASTERS), axis=1)[self.block]
        if self.aggregator is None:
            return F[:, -1]
        F = np.clip(F[:, :-1], *RANGE) if self.clipped else F[:, :-1]
        return self.aggregator.prequential_predict(F, y)


def check_algorithms(rules, name, stream, result, n_jobs):
    """Return the largest difference of running losses of the named algorithms from the table's."""
    frequencies = published_frequencies(stream[0].shape[1], seed=0)
    models = {
        line_of(label, forecaster): rule.algorithm(
            forecaster=forecaster, frequencies=frequencies, n_jobs=n_jobs, **rule.settings
        )
        for label, rule in rules.items()
        for forecaster in FORECASTERS
    }
    own = records(compare(models, {name: stream}, [0]))[name]
    return max(
        float(np.abs(np.subtract(own[label]["curves"][0], result[label]["curves"][0])).max())
        for label in models
    )


def _weights(X, y):
    """Return the kernels' weights after the last row, first draw, ridge, by rule."""
    F, y = forecasts_of_experts(X, y, seed=0)
    weights = {}
    for label in BARS:
        model = Combined(RULES[label].aggregator("ridge"), 0, RULES[label].clipped)
        model.prequential_predict(F, y)
        rule = model.aggregator
        weights[label] = rule.coef_ if isinstance(rule, VAWRegressor) else rule.weights_
    return weights


def _table(name, result, rules, whole):
    first = next(iter(result.values()))
    lines = []
    for label in (*rules, BEST_KERNEL):
        runs = [result[line_of(label, forecaster)] for forecaster in FORECASTERS]
        published = rules[label].published.get(name) if label in rules else None
        pace = 1e6 * np.mean([run["seconds"] for run in runs]) / first["n_rows"]
        compared = whole and first["sd"] and published is not None
        difference = round((runs[0]["mean"] - published) / runs[0]["sd"], 1) if compared else None
        cells = [with_spread(run["mean"], run["sd"], 3) for run in runs]
        lines.append(
            (
                f"  {label}",
                "-" if published is None else f"{published:.2f}",
                cells[0],
                "-" if difference is None else f"{difference + 0.0:+.1f} sd",
                cells[1],
                "-" if label == BEST_KERNEL else f"{pace:.1f}",
            )
        )
    n_seeds = len(first["values"])
    title = f"{TITLES.get(name, name)}, {first['n_rows']} rows, {counted(n_seeds, 'draw')}"
    return table((title, "published", "ridge", "difference", "vaw", "µs a row"), lines)


def _summary(results, rules):
    """Count the published figures that are reproduced."""
    pairs = [
        (result[line_of(label, "ridge")], rule.published[name])
        for name, result in results.items()
        for label, rule in rules.items()
        if name in rule.published
    ]
    same = sum(abs(run["mean"] - published) < _LAST_DIGIT for run, published in pairs)
    near = sum(abs(run["mean"] - published) <= 2 * run["sd"] for run, published in pairs)
    return (
        f"Of {len(pairs)} published figures, {near} are within two standard deviations of ours and "
        f"{same} within {_LAST_DIGIT}, a unit of their last digit."
    )


def _save_figures(job, output, results, weights, n_seeds):
    draws = "one draw" if n_seeds == 1 else f"mean of {n_seeds} draws"
    title = f"Mean squared error of the forecasts so far, {draws} of the features"
    path = output / ("main.png" if job == "main" else f"{job}_losses.png")
    streams = {TITLES.get(name, name): result for name, result in results.items()}
    yield save_running_losses(path, streams, LINES[job], title)
    if job == "main":
        return
    kernels = [point["kernel"] for point in kernel_list()]
    families = {"Gaussian": kernels.count("rbf"), "Laplacian": kernels.count("laplacian")}
    title = "Weights of the kernels after the last row, first draw of the features, ridge"
    drawn = {TITLES.get(name, name): found for name, found in weights.items()}
    yield save_weights(output / f"{job}_weights.png", drawn, BARS, families, title)
