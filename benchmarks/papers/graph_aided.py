"""Tables 1 to 5 of P. M. Ghari, Y. Shen, "Graph-aided online multi-kernel learning" (JMLR 2023).

The streams are those of its program: rows in the order of the files, scaled by the whole file. A
draw is a ``random_state``: of the features, and of the nodes and kernels that are asked. Beside the
tables and the JSON there are three PNGs:

- ``graph_aided_selected.png``, Figure 3: MSE and the number M of kernels asked;
- ``graph_aided_losses.png``, Figure 5: running MSE;
- ``graph_aided_regret.png``, Figure 6: regret, here against the best of Raker's experts, an online
  learner too (the published program compares with kernel ridge regression fitted to all rows).
"""

import time

import numpy as np

from sklearn_okl import RakerRegressor

from .._plots import print_figures, save_curves, save_running_losses
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
from .graph_lines import (
    DATA,
    DEFAULT,
    FREEZE_AFTER,
    GRAPH_STYLES,
    GRAPHS,
    LINES,
    N_DRAWS,
    N_SELECTED,
    PROGRAM,
    STYLES,
    published_figure,
)
from .streams import TITLES, load_stream

FEW_ROWS = 2000  # up to which OMKR's exact kernels are always run
BEST_KERNEL = "best kernel"


def run(data=DATA, output=RESULTS, *, n_seeds=N_DRAWS, n_rows=None, exact=False):
    """Run every line on every data set; print the tables and save figures and numbers."""
    streams = streams_at_hand(data, lambda name: load_stream(name, n_rows))
    if not streams:
        return 1
    where = print_environment()
    chosen = {
        name: {
            label: line
            for label, line in LINES.items()
            if exact or len(y) <= FEW_ROWS or label != "OMKR"
        }
        for name, (_, y) in streams.items()
    }
    n_rounds = sum(
        len(y) * sum(n_seeds if line.random else 1 for line in chosen[name].values())
        for name, (_, y) in streams.items()
    )
    results = {}
    with progress(n_rounds, "row") as advance:
        for name, (X, y) in streams.items():
            results[name] = run_lines(
                chosen[name], X, y, n_seeds, lambda n, name=name: advance(n, _title(name))
            )

    for name, result in results.items():
        print("\n" + _table(name, result, n_rows is None))
    print("\nMSE × 10³, mean ± standard deviation over draws of features and kernels. The last")
    print("published column is another machine's. Differences are ours less the published ones,")
    print("in units of the standard deviation and of the standard error of our mean alone.")
    print(f"Published means are of {N_DRAWS} draws too, and have an error of their own.")
    print("The published program never normalises RFOMKR's weights, hence its figures; ours does.")
    print("Its similarity graphs have NaN for distances: a neighbourhood is a kernel and the first")
    print('ones of the dictionary. Lines with "program" do the same, the others as the paper says.')
    print(
        '"best kernel" is known in hindsight only: Raker\'s expert with the smallest loss, alone.'
    )
    if not all("OMKR" in result for result in results.values()):
        print(f"OMKR's cost is quadratic: beyond {FEW_ROWS} rows only with --exact.")
    if n_rows is not None:
        print("Published figures are for whole streams, ours for the first rows only.")
    elif n_seeds > 1:
        print(_summary(results))

    content = {
        "job": "graph_aided",
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "exact": exact},
        "results": {name: _numbers(name, result) for name, result in results.items()},
    }
    print_saved(output / "graph_aided.json", content)
    print_figures(_save_figures(output, results))
    return 0


def run_lines(lines, X, y, n_seeds, advance):
    """Run each line with each draw.

    Returns
    -------
    runs : dict
        ``{label: {"mse": [MSE × 10³ of each draw], "losses": mean over draws, of shape (n,),
        "seconds": [...], "frozen_seconds": [...]}}``, the last ones those of the rows after
        `FREEZE_AFTER`. Labels are those of the lines and, for Raker's experts, `BEST_KERNEL`.
    """
    runs = {label: _Runs(len(y)) for label in (*lines, BEST_KERNEL)}
    for seed in range(n_seeds):
        for label, line in lines.items():
            if seed and not line.random:
                continue
            model = line.model(seed)
            runs[label].add(model, X, y)
            if label == "Raker":
                runs[BEST_KERNEL].add(_best_kernel(model), X, y)
            advance(len(y))
    return {label: record.content() for label, record in runs.items()}


class _Runs:
    """Losses and seconds of a line, draw by draw."""

    def __init__(self, n_rows):
        self.total = np.zeros(n_rows)
        self.mse, self.seconds, self.frozen_seconds = [], [], []

    def add(self, model, X, y):
        times, forecasts = [time.perf_counter()], []
        for rows in (slice(FREEZE_AFTER), slice(FREEZE_AFTER, None)):
            if len(y[rows]):
                forecasts.append(model.prequential_predict(X[rows], y[rows]))
            times.append(time.perf_counter())
        losses = (np.concatenate(forecasts) - y) ** 2
        self.total += losses
        self.mse.append(1e3 * float(losses.mean()))
        self.seconds.append(times[2] - times[0])
        self.frozen_seconds.append(times[2] - times[1])

    def content(self):
        return {
            "mse": self.mse,
            "losses": self.total / len(self.mse),
            "seconds": self.seconds,
            "frozen_seconds": self.frozen_seconds,
        }


def _best_kernel(raker):
    """Return Raker with one kernel: the expert that has lost least, with its features."""
    best = int(raker.expert_losses_.argmin())
    kernel = {name: [value] for name, value in raker.kernels_[best].items()}
    return RakerRegressor(kernel, frequencies=[raker.frequencies_[best]])


def _title(name):
    return TITLES.get(name, name)


def _table(name, result, whole):
    n_rows = len(result["Raker"]["losses"])
    lines = []
    for label, record in result.items():
        mean, spread, error = _moments(record["mse"])
        published = published_figure(name, label)
        seconds = published_figure(name, label, "seconds")
        difference = mean - published if whole and published is not None else None
        frozen = n_rows - FREEZE_AFTER
        lines.append(
            (
                f"  {label}",
                _cell(published, ".2f"),
                with_spread(mean, spread, 2),
                _cell(difference, "+z.2f"),
                _cell(_ratio(difference, spread), "+z.1f", " sd"),
                _cell(_ratio(difference, error), "+z.1f", " se"),
                f"{1e6 * np.median(record['seconds']) / n_rows:.1f}",
                f"{1e6 * np.median(record['frozen_seconds']) / frozen:.1f}" if frozen > 0 else "-",
                _cell(seconds and 1e6 * seconds / (n_rows if whole else np.nan), ".0f"),
            )
        )
    n_draws = len(result["Raker"]["mse"])
    header = (
        f"{_title(name)}, {n_rows} rows, {counted(n_draws, 'draw')}",
        *("published", "ours", "difference", "", ""),
        *("µs a row", f"after {FREEZE_AFTER}", "published"),
    )
    return table(header, lines)


def _cell(value, form, unit=""):
    return "-" if value is None or np.isnan(value) else f"{value:{form}}{unit}"


def _ratio(difference, scale):
    return None if difference is None or scale is None else difference / scale


def _moments(mse):
    """Return the mean, the standard deviation and the mean's standard error (None for one)."""
    mean, spread = moments(mse)
    return mean, spread, None if spread is None else spread / np.sqrt(len(mse))


def _summary(results):
    """Say which published figures are reproduced."""
    n_raker = n_graph = n_program = 0
    raker, worse, other = [], [], []
    for name, result in results.items():
        for label, record in result.items():
            published = published_figure(name, label)
            if published is None:
                continue
            mean, spread, error = _moments(record["mse"])
            if label == "Raker":
                n_raker += 1
                if abs(mean - published) > 2 * spread:
                    raker.append(_title(name))
            elif PROGRAM in label:
                n_program += 1
                if abs(mean - published) > 2 * np.sqrt(2) * error:
                    other.append(f"{label} on {_title(name)}")
            elif LINES[label].n_selected:
                n_graph += 1
                if mean - published > 2 * error:
                    worse.append(f"{label} on {_title(name)}")
    return (
        f"Raker is within two standard deviations of {n_raker - len(raker)} of {n_raker} published "
        f"figures{': not on ' + ', '.join(raker) if raker else ''}.\n"
        f"With graphs, {n_graph - len(worse)} of {n_graph} means are no worse than the published "
        f"ones by more than two standard errors{'; not ' + '; '.join(worse) if worse else ''}.\n"
        f"With the program's graphs, {n_program - len(other)} of {n_program} means are within two "
        "standard errors, of the difference of two means of as many draws, of the published ones"
        f"{'; not ' + '; '.join(other) if other else ''}."
    )


def _numbers(name, result):
    """Return what the JSON says of a data set."""
    numbers = {}
    for label, record in result.items():
        mean, spread, error = _moments(record["mse"])
        numbers[label] = {
            "published": published_figure(name, label),
            "published_seconds": published_figure(name, label, "seconds"),
            "mse_e3": record["mse"],
            "mean": mean,
            "sd": spread,
            "se": error,
            "seconds": record["seconds"],
            f"seconds_after_{FREEZE_AFTER}": record["frozen_seconds"],
            "running_loss": running_loss(record["losses"]),
        }
    return numbers


def _save_figures(output, results):
    losses = {
        _title(name): {label: result[label]["losses"] for label in STYLES}
        for name, result in results.items()
    }
    title = "Mean squared error of the forecasts so far, mean of the draws"
    yield save_running_losses(output / "graph_aided_losses.png", losses, STYLES, title)

    regrets, selected = {}, {}
    for name, result in results.items():
        best = result[BEST_KERNEL]["losses"]
        rounds = np.arange(1, len(best) + 1)
        regrets[_title(name)] = {
            graph: (rounds, np.cumsum(result[graph + DEFAULT]["losses"] - best)) for graph in GRAPHS
        }
        selected[_title(name)] = {
            graph: (N_SELECTED, [np.mean(result[f"{graph}, M = {m}"]["mse"]) for m in N_SELECTED])
            for graph in GRAPHS
        }
    path = output / "graph_aided_regret.png"
    axes = ("rounds", "sum of squared errors, less the kernel's")
    title = "Regret against the best kernel in hindsight, mean of the draws"
    yield save_curves(path, regrets, GRAPH_STYLES, axes, title)
    published = {
        _title(name): {
            graph: [published_figure(name, f"{graph}, M = {m}") for m in N_SELECTED]
            for graph in GRAPHS
        }
        for name in results
    }
    path, axes = output / "graph_aided_selected.png", ("kernels asked, M", "MSE × 10³")
    title = "Mean squared error and the number of kernels asked; crosses: published"
    yield save_curves(path, selected, GRAPH_STYLES, axes, title, published)
