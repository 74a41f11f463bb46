"""The estimators without tuning against every published figure, and what other constants give.

One configuration for all sets: no argument but ``random_state``. The regression targets are scaled
to [0, 1] over the file as the publications do, which changes the unit of the figures only: the
forecasts are strictly causal and do not depend on units.
"""

from functools import partial

import numpy as np

from sklearn_okl import OnlineKernelClassifier, OnlineKernelRegressor
from sklearn_okl.datasets import load_dataset, make_ar4, make_friedman_stream
from sklearn_okl.evaluation import compare
from sklearn_okl.untuned import Constants

from . import default_streams
from ._progress import progress
from ._report import RESULTS, print_environment, print_saved, records, streams_at_hand
from .default_tables import PUBLISHED, choice_table, figures_table, missed, synthetic_table
from .peers.learners import learners
from .peers.report import run_line, scaled_by_the_past

BAR = 0.50  # for the geometric mean of the ratios of the regression sets
N_SEEDS = 10
N_ROWS_OF_CHOICE = 3000  # rows of each set for the choice of the constants
CHEAP_PEERS = ("VAW²", "Fourier + VAW")


CHOICES = {  # arguments of the estimator, and constants that are none
    "the default": ({}, Constants()),
    "no lags": ({"lags": 0}, Constants()),
    "2 lags": ({"lags": 2}, Constants()),
    "8 lags": ({"lags": 8}, Constants()),
    "ridges 1, 0.1": ({}, Constants(alphas=(1.0, 0.1))),
    "ridges 0.1, 0.01": ({}, Constants(alphas=(0.1, 0.01))),
    "half the frequencies": ({}, Constants(frequencies=0.5)),
    "twice the frequencies": ({}, Constants(frequencies=2.0)),
    "likelihoods fading by .9, .98": ({}, Constants(fadings=(0.9, 0.98))),
    "likelihoods fading by .98": ({}, Constants(fadings=(0.98,))),
    "no fading likelihoods": ({}, Constants(fadings=())),
    "no regressions": ({}, Constants(stacks=())),
    "no second level": ({}, Constants(fadings=(), stacks=())),
    "no refinement": ({}, Constants(births=())),
}


def run(
    data=tuple(PUBLISHED),
    output=RESULTS,
    *,
    n_seeds=N_SEEDS,
    n_rows=None,
    quick=False,
    accurate=False,
    peers=False,
):
    """Run the default on each set, vary its constants, watch drift and intervals; print tables."""
    if quick:
        n_seeds, n_rows = 1, min(n_rows or 300, 300)
    available = streams_at_hand(data, load_stream)
    if not available:
        return 1
    where = print_environment()
    budgets = ("fast", "balanced", *(["accurate"] if accurate else []))

    cells = [
        cell
        for name, stream in available.items()
        for cell in run_set(name, stream, budgets, n_seeds, n_rows, peers)
    ]
    print("\n" + figures_table(cells, budgets))
    means = {budget: geometric_mean(cells, budget) for budget in budgets}
    for budget, mean in means.items():
        if mean is not None:
            print(f"Geometric mean of the ratios of the regression sets, {budget}: {mean:.3f}")
    print(
        f"The bar for it is {BAR:.2f}. Figures: MSE x 10^3 with targets in [0, 1], or mistakes in"
    )
    print("percent; in brackets over the best published figure. ms: time a row.")
    print(f"Means of {n_seeds} permutations, or draws of the features where the order is given.")
    below = missed(cells)
    print("Missed: " + ("; ".join(below) or "none."))

    rows_of_choice = min(n_rows or N_ROWS_OF_CHOICE, N_ROWS_OF_CHOICE)
    ratios = vary(available, rows_of_choice)
    chosen = leave_one_out(ratios)
    print("\n" + choice_table(ratios, chosen, list(available)))
    print(
        f"The first {rows_of_choice} rows of each set; the last line takes for each set the choice"
    )
    print("that is best on the others. Geometric means over all sets.")

    synthetic = vary_synthetic(rows_of_choice, quick)
    print("\n" + synthetic_table(synthetic))
    print(
        f"Mean squared errors on {rows_of_choice} rows of made streams, over those of the default."
    )

    streams = default_streams.run(available, PUBLISHED, n_rows, quick)
    content = {
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows},
        "cells": cells,
        "geometric_means": means,
        "choices": {
            "rows": rows_of_choice,
            "ratios": ratios,
            "left_one_out": chosen,
            "synthetic": synthetic,
        },
        **streams,
    }
    print_saved(output / "default.json", content)
    return 0


def load_stream(name):
    """Return rows and targets of a set: labels, or numbers mapped to [0, 1]."""
    X, y = make_ar4() if name == "ar4" else load_dataset(name, return_X_y=True)
    if not PUBLISHED[name].classes:
        y = (y - y.min()) / (y.max() - y.min())
    return X, y


def ordered(name, stream, n_rows, seed):
    """Return the rows of a run: in the file's order, or permuted by a seed; then cut."""
    X, y = stream
    if PUBLISHED[name].permuted:
        order = np.random.RandomState(seed).permutation(len(y))
        X, y = X[order], y[order]
    return X[:n_rows], y[:n_rows]


def figure_of(y, forecasts, classes):
    """Return MSE x 10^3, or mistakes in percent."""
    return float(100 * np.mean(forecasts != y) if classes else 1e3 * np.mean((forecasts - y) ** 2))


def default_for(name, **arguments):
    """Return the estimator for a set."""
    classes = PUBLISHED[name].classes
    return (OnlineKernelClassifier if classes else OnlineKernelRegressor)(**arguments)


def run_set(name, stream, budgets, n_seeds, n_rows, peers):
    """Return a cell for each budget, and for the peers of a regression set."""
    best = PUBLISHED[name]
    score, factor = ("zero_one", 100) if best.classes else ("squared_error", 1e3)
    models = {budget: default_for(name, budget=budget) for budget in budgets}
    made = {name: partial(ordered, name, stream, n_rows)}
    runs = records(compare(models, made, n_seeds, scoring=score, verbose=True), factor)[name]
    X, y = ordered(name, stream, n_rows, 0)
    found = {budget: (run["values"], np.mean(run["seconds"])) for budget, run in runs.items()}
    found |= run_peers(X, y, best.classes, peers)
    return [
        {
            "data": name,
            "line": line,
            "rows": len(y),
            "figures": figures,
            "ratio": float(np.mean(figures)) / best.figure,
            "milliseconds": float(1e3 * seconds / len(y)),
        }
        for line, (figures, seconds) in found.items()
    ]


def run_peers(X, y, classes, everybody):
    """Return the figure and the seconds of each peer, on rows and targets scaled by the past.

    The peers learn labels as the numbers -1 and +1, and guess by the sign.
    """
    Z, _ = scaled_by_the_past(X)
    targets, spread = (y, 1.0) if classes else scaled_by_the_past(y)
    found = {}
    for label, line in learners().items():
        if not (everybody or label in CHEAP_PEERS):
            continue
        result = run_line(line, X, Z, targets)
        if classes:
            figure = figure_of(y, np.where(result.forecasts > 0.0, 1.0, -1.0), True)
        else:
            figure = figure_of(0.0, spread * (result.forecasts - targets), False)
        found[f"{line.home}: {label}"] = [figure], result.seconds
    return found


def geometric_mean(cells, line):
    """Return the geometric mean of a line's ratios on the regression sets; None without any."""
    ratios = [
        cell["ratio"]
        for cell in cells
        if cell["line"] == line and not PUBLISHED[cell["data"]].classes
    ]
    return float(np.exp(np.mean(np.log(ratios)))) if ratios else None


def vary(available, n_rows):
    """Return the ratio of each choice of the constants on each set, ``ratios[choice][set]``."""
    ratios = {choice: {} for choice in CHOICES}
    with progress(len(CHOICES) * len(available), "run") as advance:
        for name, stream in available.items():
            X, y = ordered(name, stream, n_rows, 0)
            for choice, (arguments, constants) in CHOICES.items():
                model = default_for(name, random_state=0, **arguments)
                model.constants = constants
                figure = figure_of(y, model.prequential_predict(X, y), PUBLISHED[name].classes)
                ratios[choice][name] = figure / PUBLISHED[name].figure
                advance(1, f"{name}, {choice}")
    return ratios


def synthetic_streams(n_rows, seed):
    """Return made streams, by name: what the constants were chosen on, and may be chosen on."""
    streams = {
        f"{drift or 'steady'}, {d}": make_friedman_stream(
            n_rows, n_features=d, drift=drift, random_state=100 + seed
        )
        for d in (5, 10)
        for drift in (None, "jump", "rotation")
    }
    X, y = make_friedman_stream(n_rows, n_features=5, random_state=200 + seed)
    X[n_rows // 2 :, 0] = 1.8 * X[n_rows // 2 :, 0] + 32.0  # Fahrenheit
    rng = np.random.RandomState(300 + seed)
    noise = rng.standard_normal(n_rows)
    y_ar = np.zeros(n_rows)
    for t in range(2, n_rows):  # its inputs say nothing, its past does
        y_ar[t] = 1.2 * y_ar[t - 1] - 0.5 * y_ar[t - 2] + noise[t]
    return streams | {"new unit": (X, y), "AR(2)": (rng.standard_normal((n_rows, 3)), y_ar)}


def vary_synthetic(n_rows, quick):
    """Return the loss of each choice on made streams over the default's, means over seeds."""
    seeds = (0,) if quick else (0, 1, 2)
    losses = {}
    with progress(len(CHOICES) * len(seeds), "run") as advance:
        for seed in seeds:
            for choice, (arguments, constants) in CHOICES.items():
                for name, (X, y) in synthetic_streams(n_rows, seed).items():
                    model = OnlineKernelRegressor(random_state=seed, **arguments)
                    model.constants = constants
                    loss = np.mean((model.prequential_predict(X, y) - y)[1:] ** 2)
                    losses.setdefault(choice, {}).setdefault(name, []).append(float(loss))
                advance(1, choice)
    own = losses["the default"]
    return {
        choice: {name: float(np.mean(found[name]) / np.mean(own[name])) for name in found}
        for choice, found in losses.items()
    }


def leave_one_out(ratios):
    """Return for each set the choice with the least geometric mean on the other sets."""
    names = list(next(iter(ratios.values())))

    def elsewhere(choice, left_out):
        return np.mean([np.log(r) for name, r in ratios[choice].items() if name != left_out])

    if len(names) == 1:
        return {names[0]: next(iter(ratios))}
    return {name: min(ratios, key=lambda choice: elsewhere(choice, name)) for name in names}
