"""Table 3 and Figure 1 of D. B. Rokhlin, O. V. Gurtovaya (2025), the VAW² paper.

The streams are those of its program: rows in the order of the files, scaled by the whole file,
features drawn kernel by kernel from one generator. The rows of the table are in `ROWS`: an
algorithm is added by one line there.
"""

import sys
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.datasets import load_diabetes

from sklearn_okl import FourierFeatures, VAW2Regressor, VAWRegressor
from sklearn_okl.datasets import load_dataset, make_ar4, scale_as_published
from sklearn_okl.kernels import kernel_list

from .._progress import progress
from .._report import environment, environment_line, save_json, table
from .running_loss import save_figure

TABLE_3_DATA = ("ar4", "airfoil", "bias_notebook", "concrete", "naval_notebook")
TITLES = {
    "ar4": "AR(4)",
    "airfoil": "Airfoil",
    "bias_notebook": "Bias",
    "concrete": "Concrete",
    "naval_notebook": "Naval",
    "diabetes": "Diabetes (scikit-learn)",
}
N_FREQUENCIES = 50
_CHUNK = 500  # rows between two steps of the progress bar
_CURVE_POINTS = 200  # of each running loss in the JSON


class Row(NamedTuple):
    """A row of the table.

    Attributes
    ----------
    estimator : callable
        Makes the estimator from keyword arguments, ``frequencies`` and ``n_jobs``.
    published : dict of str to float
        Published mean MSE × 10³, by data set.
    style : dict
        Keywords of the row's line in the figure.
    best_kernel : str or None
        If given, a row of this name follows: the expert that is best in hindsight, alone and
        unclipped.
    """

    estimator: Callable
    published: dict = {}
    style: dict = {}
    best_kernel: str | None = None


def _table_3(*figures):
    """Published means of a row of Table 3, from left to right."""
    return dict(zip(TABLE_3_DATA, figures, strict=True))


def _vaw2(**fixed):
    return lambda **drawn: VAW2Regressor(**fixed, **drawn)


_RIDGE, _VAW = {"color": "#c44e17"}, {"color": "#1f5fa8"}
_TRUNC, _BEST = {"linestyle": (0, (5, 2))}, {"linestyle": (0, (1, 1.2))}
ROWS = {
    "VAW², ridge": Row(
        _vaw2(forecaster="ridge"),
        _table_3(16.56, 22.80, 4.09, 10.96, 0.29),
        _RIDGE,
    ),
    "VAW²(trunc), ridge": Row(
        _vaw2(forecaster="ridge", clip_experts=True, y_range=(0, 1)),
        _table_3(16.51, 22.78, 4.09, 10.97, 0.29),
        _RIDGE | _TRUNC,
        best_kernel="best kernel, ridge",
    ),
    "VAW²": Row(_vaw2(), style=_VAW),
    "VAW²(trunc)": Row(
        _vaw2(clip_experts=True, y_range=(0, 1)), style=_VAW | _TRUNC, best_kernel="best kernel"
    ),
}


def run(job, data, output, *, n_seeds=5, n_rows=None, n_jobs=None):
    """Run every row on every data set; print the tables and save figure and numbers."""
    streams = {}
    for name in data:
        try:
            streams[name] = load_stream(name, n_rows)
        except (FileNotFoundError, ValueError) as error:  # the loader says what to do
            print(f"Left out {name}. {error}", file=sys.stderr)
    if not streams:
        print("No data set is left to run on.", file=sys.stderr)
        return 1
    where = environment()
    print(environment_line(where))
    results = {}
    n_rounds = len(ROWS) * n_seeds * sum(len(y) for _, y in streams.values())
    with progress(n_rounds, "row") as advance:
        for name, (X, y) in streams.items():
            results[name] = run_rows(ROWS, X, y, n_seeds, n_jobs, lambda n, row: advance(n, row))

    for name, result in results.items():
        print("\n" + _table(name, result, len(streams[name][1]), n_seeds, n_rows is None))
    print("\nMSE × 10³, mean ± standard deviation over draws of the features.")
    print('"ridge" is the forecaster of the published program; the others run the theorem\'s VAW.')
    print('"best kernel" is known in hindsight only: the expert with the smallest loss, alone.')
    if n_rows is not None:
        print("Published figures are for whole streams, ours for the first rows only.")

    content = {
        "job": job,
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "n_jobs": n_jobs},
        "results": {name: _numbers(name, result) for name, result in results.items()},
    }
    print(f"\nNumbers: {save_json(output / f'{job}.json', content)}")
    path = _save_figure(output / f"{job}.png", results, n_seeds)
    print(f"Figure:  {path}" if path else "Figure:  none, matplotlib is not installed.")
    return 0


def _save_figure(path, results, n_seeds):
    curves = {
        TITLES.get(name, name): {
            label: np.mean(runs["losses"], axis=0) for label, runs in result.items()
        }
        for name, result in results.items()
    }
    styles = {label: row.style for label, row in ROWS.items()}
    styles |= {row.best_kernel: row.style | _BEST for row in ROWS.values() if row.best_kernel}
    return save_figure(path, curves, styles, n_seeds)


def load_stream(name, n_rows=None):
    """Return the rows and targets of a stream, scaled by the whole file, then cut."""
    if name == "ar4":
        X, y = make_ar4()
    elif name == "diabetes":
        X, y = load_diabetes(return_X_y=True)
    else:
        X, y = load_dataset(name, return_X_y=True)
    X, y = scale_as_published(X, y)
    return X[:n_rows], y[:n_rows]


def published_frequencies(n_features, seed):
    """Draw frequencies in the order of the published program: (d, m) for each of the 76 kernels."""
    rng = np.random.RandomState(seed)  # the legacy generator, as there
    shape = (n_features, N_FREQUENCIES)
    return [
        kernel["gamma"] * rng.standard_cauchy(shape)
        if kernel["kernel"] == "laplacian"
        else np.sqrt(2 * kernel["gamma"]) * rng.randn(*shape)
        for kernel in kernel_list()
    ]


def run_rows(rows, X, y, n_seeds, n_jobs, advance):
    """Run each row of the table with each draw of the features.

    Returns
    -------
    runs : dict
        ``{label: {"losses": [array (n,), ...], "seconds": [...]}}``, an entry a draw.
    """
    labels = [label for name, row in rows.items() for label in (name, row.best_kernel) if label]
    runs = {label: {"losses": [], "seconds": []} for label in labels}

    def record(label, forecasts, seconds):
        runs[label]["losses"].append((forecasts - y) ** 2)
        runs[label]["seconds"].append(seconds)

    for seed in range(n_seeds):
        frequencies = published_frequencies(X.shape[1], seed)
        for label, row in rows.items():
            model = row.estimator(frequencies=frequencies, n_jobs=n_jobs)
            start = time.perf_counter()
            record(label, _learn(model, X, y, advance, label), time.perf_counter() - start)
            if row.best_kernel:
                start = time.perf_counter()
                forecasts = _learn_best_kernel(model, X, y)
                record(row.best_kernel, forecasts, time.perf_counter() - start)
    return runs


def _learn(model, X, y, advance, label):
    """Return the forecasts of each row made before its target was seen."""
    forecasts = np.empty(len(y))
    for start in range(0, len(y), _CHUNK):
        rows = slice(start, start + _CHUNK)
        forecasts[rows] = model.prequential_predict(X[rows], y[rows])
        advance(len(y[rows]), label)
    return forecasts


def _learn_best_kernel(model, X, y):
    """Run the expert with the smallest loss in hindsight again, alone, for its every forecast."""
    best = np.argmin(model.expert_losses_)
    Z = FourierFeatures(frequencies=model.frequencies_[best]).fit_transform(X)
    return VAWRegressor(model.alpha, forecaster=model.forecaster).prequential_predict(Z, y)


def _table(name, result, n_rows, n_seeds, whole):
    lines = []
    for label, runs in result.items():
        mse, mean, spread = _moments(runs)
        published = ROWS[label].published.get(name) if label in ROWS else None
        comparable = whole and published is not None and spread
        difference = (mean - published) / spread if comparable else None
        speed = 1e6 * np.mean(runs["seconds"]) / n_rows
        lines.append(
            (
                f"  {label}",
                f"{mean:.3f}" + (f" ± {spread:.3f}" if len(mse) > 1 else ""),
                "-" if published is None else f"{published:.2f}",
                "-" if difference is None else f"{round(difference, 1) + 0.0:+.1f} sd",
                f"{speed:.0f}",
            )
        )
    draws = "draw" if n_seeds == 1 else "draws"
    title = f"{TITLES.get(name, name)}, {n_rows} rows, {n_seeds} {draws}"
    return table((title, "MSE × 10³", "published", "difference", "µs a row"), lines)


def _moments(runs):
    """Return MSE × 10³ of each draw, their mean and their standard deviation (None for one)."""
    mse = [1e3 * float(losses.mean()) for losses in runs["losses"]]
    return mse, float(np.mean(mse)), float(np.std(mse, ddof=1)) if len(mse) > 1 else None


def _numbers(name, result):
    """Return what the JSON says of a data set."""
    numbers = {}
    for label, runs in result.items():
        mse, mean, spread = _moments(runs)
        n_rows = len(runs["losses"][0])
        at = np.unique(np.linspace(1, n_rows, min(n_rows, _CURVE_POINTS)).round().astype(int))
        running = np.cumsum(np.mean(runs["losses"], axis=0))[at - 1] / at
        numbers[label] = {
            "mse_e3": mse,
            "mean": mean,
            "sd": spread,
            "published": ROWS[label].published.get(name) if label in ROWS else None,
            "seconds": runs["seconds"],
            "running_loss": {"rows": at.tolist(), "mse_e3": (1e3 * running).tolist()},
        }
    return numbers
