"""Tables 1 to 5 of P. M. Ghari, Y. Shen, "Graph-aided online multi-kernel learning" (JMLR 2023).

The streams are those of its program: rows in the order of the files, scaled by the whole file. A
draw is a ``random_state``: of the features, and of the nodes and kernels that are asked. Beside the
tables and the JSON there are three PNGs:

- ``graph_aided_selected.png``, Figure 3: MSE and the number M of kernels asked;
- ``graph_aided_losses.png``, Figure 5: running MSE;
- ``graph_aided_regret.png``, Figure 6: regret, here against the best of Raker's experts, an online
  learner too (the published program compares with kernel ridge regression fitted to all rows).
"""

from functools import partial

import numpy as np

from sklearn_okl import RakerRegressor
from sklearn_okl.evaluation import compare

from .._plots import print_figures, save_curves, save_running_losses
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
from .graph_lines import (
    DATA,
    DEFAULT,
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
    results = {name: run_lines(name, *streams[name], n_seeds, exact) for name in streams}
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

    published = {
        name: {
            label: {kind: published_figure(name, label, kind) for kind in ("published", "seconds")}
            for label in result
        }
        for name, result in results.items()
    }
    content = {
        "job": "graph_aided",
        "environment": where,
        "settings": {"seeds": n_seeds, "rows": n_rows, "exact": exact},
        "results": results,
        "published": published,
    }
    print_saved(output / "graph_aided.json", content)
    print_figures(_save_figures(output, results))
    return 0


def run_lines(name, X, y, n_seeds, exact):
    """Run each line with each draw; return its record, that of Raker's best expert last."""
    found = {}
    for random in (True, False):
        models = {
            label: line.model
            for label, line in LINES.items()
            if line.random is random and (exact or len(y) <= FEW_ROWS or label != "OMKR")
        }
        if random:
            models[BEST_KERNEL] = partial(_best_kernel, X, y)
        comparison = compare(models, {name: (X, y)}, n_seeds if random else [0], verbose=True)
        found |= records(comparison)[name]
    return {label: found[label] for label in (*LINES, BEST_KERNEL) if label in found}


def _best_kernel(X, y, seed):
    """Return Raker with one kernel: the expert that has lost least, with its features."""
    raker = LINES["Raker"].model(seed).fit(X, y)
    best = int(raker.expert_losses_.argmin())
    kernel = {name: [value] for name, value in raker.kernels_[best].items()}
    return RakerRegressor(kernel, frequencies=[raker.frequencies_[best]])


def _title(name):
    return TITLES.get(name, name)


def _table(name, result, whole):
    n_rows = result["Raker"]["n_rows"]
    lines = []
    for label, record in result.items():
        published = published_figure(name, label)
        seconds = published_figure(name, label, "seconds")
        difference = record["mean"] - published if whole and published is not None else None
        lines.append(
            (
                f"  {label}",
                _cell(published, ".2f"),
                with_spread(record["mean"], record["sd"], 2),
                _cell(difference, "+z.2f"),
                _cell(_ratio(difference, record["sd"]), "+z.1f", " sd"),
                _cell(_ratio(difference, _error(record)), "+z.1f", " se"),
                f"{1e6 * np.median(record['seconds']) / n_rows:.1f}",
                _cell(seconds and 1e6 * seconds / (n_rows if whole else np.nan), ".0f"),
            )
        )
    title = f"{_title(name)}, {n_rows} rows, {counted(len(result['Raker']['values']), 'draw')}"
    header = (title, "published", "ours", "difference", "", "", "µs a row", "published")
    return table(header, lines)


def _cell(value, form, unit=""):
    return "-" if value is None or np.isnan(value) else f"{value:{form}}{unit}"


def _ratio(difference, scale):
    return None if difference is None or scale is None else difference / scale


def _error(record):
    """Return the mean's standard error, None for one draw."""
    return None if record["sd"] is None else record["sd"] / np.sqrt(len(record["values"]))


def _summary(results):
    """Say which published figures are reproduced."""
    n_raker = n_graph = n_program = 0
    raker, worse, other = [], [], []
    for name, result in results.items():
        for label, record in result.items():
            published = published_figure(name, label)
            if published is None:
                continue
            mean, spread, error = record["mean"], record["sd"], _error(record)
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


def _save_figures(output, results):
    streams = {_title(name): result for name, result in results.items()}
    title = "Mean squared error of the forecasts so far, mean of the draws"
    yield save_running_losses(output / "graph_aided_losses.png", streams, STYLES, title)

    regrets, selected = {}, {}
    for title, result in streams.items():
        best = _sums(result[BEST_KERNEL])
        regrets[title] = (
            ("rounds", "sum of squared errors, less the kernel's"),
            {
                graph: (result[graph + DEFAULT]["rows"], _sums(result[graph + DEFAULT]) - best)
                for graph in GRAPHS
            },
        )
        selected[title] = (
            ("kernels asked, M", "MSE × 10³"),
            {
                graph: (N_SELECTED, [result[f"{graph}, M = {m}"]["mean"] for m in N_SELECTED])
                for graph in GRAPHS
            },
        )
    title = "Regret against the best kernel in hindsight, mean of the draws"
    yield save_curves(output / "graph_aided_regret.png", regrets, GRAPH_STYLES, title)
    published = {
        _title(name): {
            graph: [published_figure(name, f"{graph}, M = {m}") for m in N_SELECTED]
            for graph in GRAPHS
        }
        for name in results
    }
    title = "Mean squared error and the number of kernels asked; crosses: published"
    path = output / "graph_aided_selected.png"
    yield save_curves(path, selected, GRAPH_STYLES, title, published)


def _sums(record):
    """Return the sums of losses after so many rows, means over the draws."""
    return 1e-3 * np.multiply(record["rows"], np.mean(record["curves"], axis=0))
